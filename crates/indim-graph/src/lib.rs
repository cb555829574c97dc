//! Graphs of element-wise operations: how they are made, checked and rewritten, and what they mean.
//!
//! Read in this order: `graph.rs` (values and nodes), `builder.rs` (how graphs are made), `verify.rs`
//! (their invariants), `passes/` (how they are rewritten), `derivative/` (how they are differentiated),
//! `eval.rs` (what they mean).
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod along;
mod array;
mod assemble;
mod builder;
mod composition;
mod derivative;
mod describe;
pub mod element_text;
mod error;
mod eval;
mod graph;
mod inline;
pub mod literal;
mod methods;
mod operand;
mod operators;
mod passes;
mod print;
mod reduce;
pub mod signature;
mod structural;
pub mod terminal;
mod verify;
mod views;

pub use along::{Along, AxisFunction, Initial};
pub use array::{Array, WrongElementCount};
pub use assemble::GraphAssembler;
pub use builder::{GraphBuilder, Value};
pub use composition::{Composition, Parameter, WholeNumbers};
pub use error::{GraphError, GraphErrorKind};
pub use eval::{EvalError, evaluate};
pub use graph::{Graph, Node, NodeKind, Operands, ValueId};
pub use literal::Literal;
pub use methods::Under;
pub use operand::Operand;
pub use passes::{expand_for_loops, optimize, remove_unused};
pub use verify::{VerifyError, VerifyErrorKind, verify};
pub use views::{AxisSlice, Index, PadMode, TakeMode};
