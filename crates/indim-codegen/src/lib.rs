//! Machine code: the body of a loop nest as one fused loop in vector registers.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod body;

pub use body::{Body, Instruction, LaneType, Primitive, Value};
