//! The targets x86-64 with AVX2, FMA and F16C, and with AVX-512.
//!
//! Read in this order: `instruction_set.rs` (in what they differ), `opcode.rs` (which instructions both
//! have), `select/` (which of them compute a body), `avx2/` and `avx512/` (what takes each of them others),
//! `emit.rs` (the loops around them; `roles.rs` in which registers, `emit/row.rs` before each row,
//! `emit/fold.rs` where they fold, `emit/tail.rs` for less than a step), `assembler.rs` (bytes).

mod assembler;
mod avx2;
mod avx512;
mod emit;
mod instruction_set;
mod opcode;
mod roles;
mod select;
mod written;

use indim_codegen::Body;

use crate::compile::compile;
use crate::compile_fold::compile_fold;
use crate::layout::OperandLayout;
use crate::target::{Code, Target};
use instruction_set::InstructionSet;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;

impl Target for Avx2 {
    fn is_available(&self) -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }

    fn streams(&self) -> bool {
        true
    }

    fn fold(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<Code> {
        fold::<Avx2>(body, layout, listing)
    }

    fn compile(&self, body: &Body, layout: &OperandLayout, listing: Option<&mut String>) -> Code {
        compile(body, layout, |parts| emit::emit::<Avx2>(parts, listing))
    }
}

impl Target for Avx512 {
    fn is_available(&self) -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("bmi2")
    }

    fn streams(&self) -> bool {
        true
    }

    fn fold(
        &self,
        body: &Body,
        layout: &OperandLayout,
        listing: Option<&mut String>,
    ) -> Option<Code> {
        fold::<Avx512>(body, layout, listing)
    }

    fn compile(&self, body: &Body, layout: &OperandLayout, listing: Option<&mut String>) -> Code {
        compile(body, layout, |parts| emit::emit::<Avx512>(parts, listing))
    }
}

/// Code that folds, unless there are more operands than registers to point to them.
fn fold<S: InstructionSet>(
    body: &Body,
    layout: &OperandLayout,
    listing: Option<&mut String>,
) -> Option<Code> {
    if body.operand_count() > emit::MAX_OPERANDS {
        return None;
    }
    compile_fold(body, layout, |parts| emit::emit::<S>(parts, listing))
}
