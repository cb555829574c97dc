//! Where no target is for the processor: blocks run.

use crate::layout::Layout;
use crate::target::{Code, Target};
use indim_codegen::Body;

/// No target.
pub(crate) struct NoTarget;

impl Target for NoTarget {
    fn is_available(&self) -> bool {
        false
    }

    fn streams(&self) -> bool {
        false
    }

    fn compile(&self, _: &Body, _: &Layout, _: Option<&mut String>) -> Code {
        unreachable!("invariant: nothing is compiled where nothing is available")
    }
}
