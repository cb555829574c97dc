//! The bodies of loop nests as straight-line code, from which `indim-targets` makes machine code.
//!
//! A body is straight-line code over the primitives of the lane algebra (`body.rs`). `recorded.rs` is the
//! lane back end that records one, `definitions.rs` what operations and conversions record, `nest.rs` what
//! becomes of a loop nest, `folded.rs` what folds the results of one; `builder.rs` shares values and folds
//! them as they come (`fold.rs`), `simplify.rs` leaves out what no output needs, `rounded.rs` knows which
//! numbers are those of a `bf16`. What primitives give is in
//! `scalar.rs`, of whole bodies `interpret.rs`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod body;
mod builder;
mod definitions;
mod divide;
mod extreme;
mod fold;
mod folded;
mod instructions;
mod interpret;
mod nans;
mod nest;
mod print;
mod recorded;
mod rounded;
mod scalar;
mod simplify;
mod verify;

pub use body::{Body, Instruction, LaneType, Primitive, Value};
pub use builder::BodyBuilder;
pub use definitions::Definition;
pub use nest::{LARGEST_BODY, NestBody, record_folds, record_nest, record_nest_with};
pub use scalar::{ScalarFunction, Visitor, evaluate, visit};
pub use verify::BodyError;
