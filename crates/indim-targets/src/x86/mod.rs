//! The target x86-64 with AVX2, FMA and F16C.
//!
//! Read in this order: `opcode.rs` (which instructions there are), `select/` (which of them compute a body),
//! `emit.rs` (the loops around them; `emit/fold.rs` where they fold), `assembler.rs` (bytes).

mod assembler;
mod emit;
mod opcode;
mod select;
mod written;

use indim_codegen::Body;

use crate::compile::compile;
use crate::compile_fold::compile_fold;
use crate::layout::Layout;
use crate::target::{Code, Target};

/// x86-64 with AVX2, FMA and F16C.
pub(crate) struct Avx2;

impl Target for Avx2 {
    fn is_available(&self) -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }

    fn streams(&self) -> bool {
        true
    }

    fn fold(&self, body: &Body, layout: &Layout, listing: Option<&mut String>) -> Option<Code> {
        if body.operand_count() > emit::MOST_OPERANDS {
            return None;
        }
        compile_fold(body, layout, |parts| emit::emit(parts, listing))
    }

    fn compile(&self, body: &Body, layout: &Layout, listing: Option<&mut String>) -> Code {
        compile(body, layout, |parts| emit::emit(parts, listing))
    }
}
