//! The list of targets, and detection of those that this machine runs.

use core::fmt;
use std::sync::OnceLock;

use crate::target::Target;

/// A target: an architecture and the instruction sets that code uses.
///
/// ```
/// use indim_targets::TargetKind;
///
/// let best = TargetKind::best();
/// assert_eq!(best, TargetKind::available().last().copied());
/// assert_eq!(TargetKind::Avx512.to_string(), "avx512");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 (F, BW, CD, DQ and VL) and BMI2.
    Avx512,
    /// aarch64 with NEON, on Linux.
    Neon,
}

impl TargetKind {
    const ALL: [TargetKind; 3] = [TargetKind::Avx2, TargetKind::Avx512, TargetKind::Neon];

    /// The targets that this machine runs, in ascending preference.
    pub fn available() -> &'static [TargetKind] {
        static AVAILABLE: OnceLock<Vec<TargetKind>> = OnceLock::new();
        AVAILABLE.get_or_init(|| {
            let is_available = |kind: &TargetKind| kind.target().is_some_and(Target::is_available);
            TargetKind::ALL.into_iter().filter(is_available).collect()
        })
    }

    /// The preferred target that this machine runs; `None` if it runs none.
    pub fn best() -> Option<TargetKind> {
        TargetKind::available().last().copied()
    }

    /// The implementation; `None` if this build is for another architecture.
    pub(crate) fn target(self) -> Option<&'static dyn Target> {
        match self {
            #[cfg(target_arch = "x86_64")]
            TargetKind::Avx2 => Some(&crate::x86::Avx2),
            #[cfg(target_arch = "x86_64")]
            TargetKind::Avx512 => Some(&crate::x86::Avx512),
            #[cfg(target_arch = "aarch64")]
            TargetKind::Neon => Some(&crate::aarch64::Neon),
            #[allow(unreachable_patterns, reason = "some builds have all targets")]
            _ => None,
        }
    }
}

impl fmt::Display for TargetKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            TargetKind::Avx2 => "avx2",
            TargetKind::Avx512 => "avx512",
            TargetKind::Neon => "neon",
        })
    }
}
