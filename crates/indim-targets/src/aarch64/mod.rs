//! The target aarch64 with NEON.
//!
//! Read in this order: `opcode.rs` (instructions), `select/` (instruction selection), `emit.rs` (the
//! loops), `assembler.rs` (bytes).

mod assembler;
mod emit;
mod opcode;
mod select;

use indim_codegen::Body;

use crate::compile::compile;
use crate::compile_fold::compile_fold;
use crate::layout::OperandLayout;
use crate::target::{CompiledCode, Target};

/// aarch64 with NEON, which every aarch64 processor has that runs a hard-float operating system.
pub(crate) struct Neon;

impl Target for Neon {
    fn is_available(&self) -> bool {
        // Elsewhere it has not been tried.
        cfg!(all(target_arch = "aarch64", target_endian = "little", target_os = "linux"))
    }

    /// Only for pairs of registers.
    fn streams(&self) -> bool {
        false
    }

    fn fold(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<CompiledCode> {
        if body.operand_count() > emit::MAX_OPERANDS {
            return None;
        }
        compile_fold(body, layout, |parts| emit::emit(parts, listing))
    }

    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> CompiledCode {
        compile(body, layout, |parts| emit::emit(parts, listing))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/aarch64.rs"]
mod tests;
