//! The bodies of loop nests as straight-line code, from which `indim-targets` makes machine code.
//!
//! A body is straight-line code over the primitives of the lane algebra.
//!
//! - `body.rs`: bodies, their primitives and lane types;
//! - `recorded.rs`: the lane back end that records a body; `definitions.rs`: operations and conversions as
//!   bodies;
//! - `nest.rs`: the body of a loop nest; `folded.rs`: bodies that fold their results into accumulators;
//! - `builder.rs`: construction with value numbering and rewrites (`fold.rs`); `simplify.rs`: dead-code
//!   elimination; `nans.rs` and `rounded.rs`: facts about NaNs and `bf16` values;
//! - `scalar.rs`: primitives on scalars; `interpret.rs`: an interpreter of whole bodies.
//! - `divide.rs`: division of integers by a constant, without dividing: processors have no instruction for
//!   it in vectors;
//! - `extreme.rs`: minimum and maximum of a float and a constant: drops tests of equality, which only
//!   concern the signs of zeros;
//! - `instructions.rs`: the interface of rewrite rules to the body under construction;
//! - `print.rs`: bodies as text: a line for each value, `v3 = add.f32 v1, v2`;
//! - `verify.rs`: the verifier of bodies.
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
