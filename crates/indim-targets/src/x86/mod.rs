//! The x86-64 targets: AVX2 with FMA and F16C, and AVX-512.
//!
//! In reading order:
//!
//! - `instruction_set.rs`: the differences between the two instruction sets;
//! - `opcode.rs`: the table of common instructions; `avx2/` and `avx512/`: instructions and sequences of one
//!   set;
//! - `select/`: lowering of primitives;
//! - `emit.rs`: the encoder, with the loops over rows and steps; `roles.rs`: roles of the general registers;
//! - `assembler.rs`: encoding of single instructions, by `iced-x86`; `intel_syntax.rs`: instructions as text.

mod assembler;
mod avx2;
mod avx512;
mod emit;
mod instruction_set;
mod intel_syntax;
mod opcode;
mod roles;
mod select;

use indim_codegen::Body;

use indim_codegen::compile::{EncoderInput, compile};
use indim_codegen::compile_fold::compile_fold;
use indim_codegen::layout::OperandLayout;
use indim_codegen::target::{CompiledCode, Target};
use instruction_set::X86InstructionSet;
use opcode::Opcode;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;

impl Target for Avx2 {
    fn has_non_temporal_stores(&self) -> bool {
        true
    }

    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<CompiledCode> {
        compile_for::<Avx2>(body, layout, listing)
    }
}

impl Target for Avx512 {
    fn has_non_temporal_stores(&self) -> bool {
        true
    }

    fn compile(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<CompiledCode> {
        compile_for::<Avx512>(body, layout, listing)
    }
}

/// Compiles a body. `None` for a body that folds more than `MAX_FOLD_INPUTS` inputs, because each needs a
/// pointer register, and for a body that `compile_fold` refuses.
fn compile_for<S: X86InstructionSet>(
    body: &Body,
    layout: &OperandLayout,
    listing: Option<&mut String>,
) -> Option<CompiledCode> {
    let encode = |input: &EncoderInput<'_, Opcode<S>>| emit::emit::<S>(input, listing);
    match body.folds() {
        false => Some(compile(body, layout, encode)),
        true if body.non_accumulator_input_count() > emit::MAX_FOLD_INPUTS => None,
        true => compile_fold(body, layout, encode),
    }
}
