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

use indim_codegen::compile::{EncoderInput, compile};
use indim_codegen::compile_fold::compile_fold;
use indim_codegen::layout::OperandLayout;
use indim_codegen::target::{CompiledCode, Target};
use opcode::Opcode;

/// aarch64 with NEON. All processors that run a hard-float operating system have it.
pub(crate) struct Neon;

impl Target for Neon {
    /// NEON has non-temporal stores only for pairs of registers (`stnp`); the encoder does not use them.
    fn has_non_temporal_stores(&self) -> bool {
        false
    }

    /// `None` for a body that folds more than `MAX_FOLD_INPUTS` inputs, or that `compile_fold` refuses.
    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<CompiledCode> {
        let encode = |input: &EncoderInput<'_, Opcode>| emit::emit(input, listing);
        match body.folds() {
            false => Some(compile(body, layout, encode)),
            true if body.non_accumulator_input_count() > emit::MAX_FOLD_INPUTS => None,
            true => compile_fold(body, layout, encode),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/aarch64.rs"]
mod tests;
