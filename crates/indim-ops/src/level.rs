//! Instruction-set levels of kernels and machine code: detection and selection.

use core::fmt;
use core::str::FromStr;
use std::string::{String, ToString as _};
use std::sync::OnceLock;
use std::vec::Vec;

/// An instruction set that this processor has.
///
/// Kernels are compiled for the baseline and for AVX2; higher levels run the AVX2 kernels. Machine code of
/// a loop nest, and the register tiles of products, use all instructions of their level: AVX2 and AVX-512 on
/// x86-64, NEON on aarch64.
///
/// A `Level` value exists only if this processor has its instructions: the baseline is the target's
/// minimum, and no constructor returns a level that the processor lacks. Code that has a `Level` may
/// therefore run the kernels and the machine code of this level.
///
/// ```
/// use indim_ops::Level;
///
/// assert!(Level::available().contains(&Level::detect()));
/// assert_eq!("baseline".parse(), Ok(Level::BASELINE));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Level(InstructionSet);

/// The instruction set of a [`Level`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum InstructionSet {
    /// The target's minimum: SSE2 on x86-64, NEON on aarch64.
    Baseline,
    /// AVX2 with FMA, F16C (conversions of f16), BMI1, BMI2, LZCNT and POPCNT.
    Avx2,
    /// The instructions of `Avx2`, and AVX-512 (F, BW, CD, DQ, VL).
    Avx512,
}

impl Level {
    /// The target's minimum.
    pub const BASELINE: Level = Level(InstructionSet::Baseline);

    /// AVX2 with fused multiply-add and conversions of f16, if this processor has it.
    ///
    /// ```
    /// use indim_ops::Level;
    ///
    /// assert!(Level::avx2().is_none_or(|level| level.to_string() == "avx2"));
    /// ```
    pub fn avx2() -> Option<Level> {
        let levels = Level::available().iter().copied();
        levels.into_iter().find(|level| level.0 == InstructionSet::Avx2)
    }

    /// The highest level of this processor.
    pub fn detect() -> Level {
        *Level::available().last().unwrap_or(&Level::BASELINE)
    }

    /// The levels of this processor, lowest first.
    pub fn available() -> &'static [Level] {
        static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
        LEVELS.get_or_init(|| {
            let sets = [InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512];
            sets.into_iter().filter(|&set| is_available(set)).map(Level).collect()
        })
    }

    /// The instruction set.
    pub fn instruction_set(self) -> InstructionSet {
        self.0
    }

    /// Whether the level has instructions that add products of bytes to sums of 32 bits, and this processor
    /// has them: VNNI at the level of AVX-512. They change the time of products of 8-bit integers only.
    ///
    /// ```
    /// assert!(!indim_ops::Level::BASELINE.has_byte_products());
    /// ```
    pub fn has_byte_products(self) -> bool {
        self.0 == InstructionSet::Avx512 && has_vnni()
    }
}

/// Whether this processor has all of these features of x86-64.
macro_rules! has {
    ($($feature:tt)*) => {{
        #[cfg(target_arch = "x86_64")]
        { $(std::arch::is_x86_feature_detected!($feature))&&* }
        #[cfg(not(target_arch = "x86_64"))]
        { false }
    }};
}

fn has_vnni() -> bool {
    has!("avx512vnni")
}

fn is_available(set: InstructionSet) -> bool {
    match set {
        InstructionSet::Baseline => true,
        InstructionSet::Avx2 => has!("avx2" "f16c" "fma" "bmi1" "bmi2" "lzcnt" "popcnt"),
        InstructionSet::Avx512 => {
            is_available(InstructionSet::Avx2)
                && has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl")
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            InstructionSet::Baseline => "baseline",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512 => "avx512",
        })
    }
}

/// The error for a text that names no level of this processor.
///
/// ```
/// let error = "sse9".parse::<indim_ops::Level>().unwrap_err();
/// assert!(error.to_string().starts_with("`sse9` is not a level of this processor; it has baseline"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLevel {
    name: String,
}

impl fmt::Display for UnknownLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not a level of this processor; it has ", self.name)?;
        for (index, level) in Level::available().iter().enumerate() {
            write!(formatter, "{}{level}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let named = Level::available().iter().find(|level| level.to_string() == name);
        named.copied().ok_or_else(|| UnknownLevel { name: String::from(name) })
    }
}
