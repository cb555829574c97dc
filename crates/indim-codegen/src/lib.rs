//! Code generation that is the same on all machines: the SSA form of loop nests, instruction selection and
//! register allocation. `indim-targets` has the instructions of each machine, their encoding and calls.
//!
//! A body is straight-line code over the primitives of `indim_ops::lane`, without control flow. These
//! modules record and simplify bodies:
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
//!
//! A target (`target.rs`) compiles a body for one operand layout (`layout.rs`). The targets share these
//! modules, in the order of compilation:
//!
//! - `compile.rs`: the pipeline from a body to the encoder's input; `compile_fold.rs`: the same for bodies
//!   that fold;
//! - `select/`: instruction selection; `machine.rs`: its result, machine instructions over virtual registers;
//! - `allocate.rs`: register allocation; `pool.rs`: the constant pool;
//! - `listing.rs`: code as text.
//!
//! Code computes the *rows* of a matrix. A loop computes each row by *steps*: a step computes a fixed
//! number of neighbouring elements, its *lanes*. The elements after the last whole step of a row are its
//! *tail*. In a body that folds, every *unit* is such a matrix, and its rows are folded into one row of
//! accumulators. The *home* of a value is memory that always holds the value.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod allocate;
mod bf16;
mod body;
mod builder;
pub mod compile;
pub mod compile_fold;
mod definitions;
mod divide;
mod fold;
mod interpret;
pub mod layout;
pub mod listing;
pub mod machine;
mod min_max;
mod nans;
mod nest;
pub mod pool;
mod print;
mod record;
mod rewrite;
mod rewriter;
mod scalar;
pub mod select;
mod simplify;
pub mod target;
mod verify;

pub use body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
pub use builder::BodyBuilder;
pub use definitions::Definition;
pub use nest::{
    MAX_BODY_INSTRUCTIONS, NestBody, record_folds, record_nest, record_nest_with_constants,
};
pub use scalar::{ScalarFunction, ScalarVisitor, evaluate, visit_scalar_function};
pub use verify::BodyError;
