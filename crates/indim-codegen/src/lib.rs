//! The SSA form of loop nests, which `indim-targets` compiles to machine code.
//!
//! A body is straight-line code over the primitives of `indim_ops::lane`, without control flow.
//!
//! - `body.rs`: bodies, primitives and lane types;
//! - `record.rs`: the lane back end that records a body; `definitions.rs`: the bodies of operations,
//!   conversions and reductions;
//! - `nest.rs`: the body of a loop nest; `fold.rs`: bodies that fold their results into accumulators;
//! - `builder.rs`: construction with value numbering and constant folding;
//! - `rewrite.rs`: peephole rewrites, through the interface of `rewriter.rs`; `divide.rs`: division by
//!   constants; `min_max.rs`: minimum and maximum with a constant;
//! - `simplify.rs`: dead-code elimination and removal of redundant NaN canonicalisation; `nans.rs`: NaN
//!   analysis; `bf16.rs`: detection and rounding of `bf16` values held in 32 bits;
//! - `scalar.rs`: primitives on scalars; `interpret.rs`: an interpreter of whole bodies;
//! - `print.rs`: bodies as text; `verify.rs`: the verifier.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bf16;
mod body;
mod builder;
mod definitions;
mod divide;
mod fold;
mod interpret;
mod min_max;
mod nans;
mod nest;
mod print;
mod record;
mod rewrite;
mod rewriter;
mod scalar;
mod simplify;
mod verify;

pub use body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
pub use builder::BodyBuilder;
pub use definitions::Definition;
pub use nest::{
    MAX_BODY_INSTRUCTIONS, NestBody, record_folds, record_nest, record_nest_with_constants,
};
pub use scalar::{ScalarFunction, ScalarVisitor, evaluate, visit_scalar_function};
pub use verify::BodyError;
