//! The aarch64 target with NEON.
//!
//! In reading order:
//!
//! - `opcode.rs`: the table of vector instructions and their encodings;
//! - `select/`: lowering of primitives;
//! - `emit.rs`: the encoder, with the loops over rows and steps; `emit/fold.rs`: the loops of bodies that
//!   fold;
//! - `assembler.rs`: encoding of instructions over general registers, loads, stores and jumps.

mod assembler;
mod emit;
mod opcode;
mod select;

use indim_codegen::Body;

use crate::compile::compile;
use crate::compile_fold::compile_fold;
use crate::layout::OperandLayout;
use crate::target::{CompiledCode, Target};

/// aarch64 with NEON. All processors that run a hard-float operating system have it.
pub(crate) struct Neon;

impl Target for Neon {
    /// NEON has non-temporal stores only for pairs of registers (`stnp`); the encoder does not use them.
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
