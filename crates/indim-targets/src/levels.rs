//! The target of each level, and the levels that have one.

use std::sync::OnceLock;

use indim_ops::{InstructionSet, Level};

use crate::target::Target;

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
