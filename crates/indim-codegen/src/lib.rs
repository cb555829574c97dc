//! Machine code: the body of a loop nest as one fused loop in vector registers.
//!
//! A body is straight-line code over the primitives of the lane algebra (`body.rs`). `recorded.rs` is the
//! family of lanes that records one, `definitions.rs` what operations and conversions record, `nest.rs` what
//! becomes of a loop nest; `builder.rs` shares values and folds them as they come (`fold.rs`), `simplify.rs`
//! leaves out what no output needs. What primitives give is in `scalar.rs`, of whole bodies `interpret.rs`. A
//! target makes instructions of a body, for one `layout.rs` of its operands: `x86/`. `function.rs` puts them
//! into executable memory and calls them; what a target has no instruction for is called `out_of_line.rs`.
//!
//! `perf_map.rs` names them for profilers.
//!
//! Unsafe code stands only in `function.rs` and `out_of_line.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod body;
mod builder;
mod definitions;
mod divide;
mod extreme;
mod fold;
mod function;
mod instructions;
mod interpret;
mod layout;
mod nans;
mod nest;
#[cfg(not(target_arch = "x86_64"))]
mod no_target;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for targets to call"))]
mod out_of_line;
mod perf_map;
mod print;
mod recorded;
mod scalar;
mod simplify;
mod target;
mod verify;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use body::{Body, Instruction, LaneType, Primitive, Value};
pub use builder::BodyBuilder;
pub use definitions::Definition;
pub use function::{Function, Refused, is_available};
pub use layout::{Form, Layout};
pub use nest::{LARGEST_BODY, NestBody, record_nest, record_nest_with};
pub use scalar::evaluate;
pub use verify::BodyError;
