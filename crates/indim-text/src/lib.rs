//! What people write and read: the expression language, and the text form of graphs.
//!
//! `expression/` reads expressions into the nodes of a graph, `graph/` the text form that graphs print
//! themselves in; `catalogue.rs` says the tables of operations and compositions in words.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

pub mod catalogue;
mod expression;
mod graph;
mod shorten;
mod suggest;

pub use expression::{
    Binding, Call, CallAttribute, CallOperand, ExprError, ExprErrorKind, Expression, Limits,
    promote,
};
pub use graph::{ParseError, ParseErrorKind, parse_graph, parse_graph_up_to_rank};
