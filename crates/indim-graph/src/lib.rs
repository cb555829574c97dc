//! Graphs of element-wise operations: their types, meaning, checks, passes and loops.
//!
//! Read in this order: `op.rs` (the table of operations), `lane.rs` and `meaning/` (what they
//! compute), `graph.rs` (values and nodes), `builder.rs` (how graphs are made).
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

// x87 computes in 80 bits: every function would give other bits, and none the promised accuracy.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!("indim needs SSE2 on 32-bit x86: build for i686, or with `-C target-feature=+sse2`");

mod builder;
pub mod catalogue;
mod complex;
mod composition;
mod dtype;
mod element;
mod error;
mod eval;
mod graph;
mod half;
mod held_bytes;
pub mod lane;
pub mod lower;
pub mod meaning;
mod methods;
mod op;
mod operand;
mod operators;
mod passes;
mod signature;
pub mod terminal;
mod text;
mod verify;

pub use builder::{GraphBuilder, Value};
pub use complex::{Complex, c64, c128};
pub use composition::{Composition, Parameter};
pub use dtype::{ArrayType, DType, DTypeClass, UnknownDType};
pub use element::{Array, ArrayData, Element, FromWide, Widened, WrongElementCount};
#[doc(hidden)]
pub use error::place_below_headline;
pub use error::{GraphError, GraphErrorKind};
pub use eval::{EvalError, evaluate};
pub use graph::{Graph, Node, NodeKind, Operands, ValueId};
pub use half::{bf16, f16};
pub use held_bytes::HeldBytes;
pub use meaning::convert::{ConvertTo, ConvertVisitor, visit_convert};
pub use methods::Under;
pub use op::{Arity, Binary, Law, Op, OpVisitor, Ternary, Unary, UnknownOp, operations};
pub use operand::Operand;
pub use passes::optimize;
pub use text::graph::{ParseError, ParseErrorKind};
pub use text::{Binding, ExprError, ExprErrorKind, Expression, Limits, Literal, promote};
pub use verify::{VerifyError, VerifyErrorKind, verify};
