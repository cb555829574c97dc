//! The target of each level, and the levels that have one.

use std::sync::OnceLock;

use indim_codegen::LaneType;
use indim_ops::{DType, InstructionSet, Level};

use indim_codegen::layout::MAX_INTERLEAVE_FACTOR;
use indim_codegen::target::Target;

/// The levels of this processor for which machine code can be compiled, lowest first.
///
/// ```
/// use indim_ops::Level;
/// use indim_targets::machine_code_levels;
///
/// assert!(machine_code_levels().iter().all(|level| Level::available().contains(level)));
/// ```
pub fn machine_code_levels() -> &'static [Level] {
    static LEVELS: OnceLock<Vec<Level>> = OnceLock::new();
    LEVELS.get_or_init(|| {
        let levels = Level::available().iter().copied();
        levels.filter(|&level| target(level).is_some()).collect()
    })
}

/// Whether functions of a level can read inputs of the form [`OperandForm::Interleaved`]: records of
/// `factor` elements of type `dtype`.
///
/// [`OperandForm::Interleaved`]: crate::OperandForm::Interleaved
///
/// ```
/// use indim_ops::{DType, Level};
/// assert!(!indim_targets::can_deinterleave(Level::BASELINE, DType::F32, 3));
/// ```
pub fn can_deinterleave(level: Level, dtype: DType, factor: usize) -> bool {
    let is_avx512 =
        cfg!(target_arch = "x86_64") && level.instruction_set() == InstructionSet::Avx512;
    let is_one_lane = LaneType::of_element(dtype).1 == 1 && matches!(dtype.size(), 4 | 8);
    is_avx512 && is_one_lane && (2..=MAX_INTERLEAVE_FACTOR).contains(&factor)
}

/// The target that compiles for a level; `None` if this build has none.
pub(crate) fn target(level: Level) -> Option<&'static dyn Target> {
    match level.instruction_set() {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => Some(&crate::x86::Avx2),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => Some(&crate::x86::Avx512),
        // Tested only on little-endian Linux.
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Baseline if cfg!(all(target_endian = "little", target_os = "linux")) => {
            Some(&crate::aarch64::Neon)
        }
        _ => None,
    }
}
