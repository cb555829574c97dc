//! How the graphs of `indim-graph` are made.
//!
//! Read in this order: `builder.rs` (a graph in the making), `operand.rs` (what its methods take),
//! `methods.rs` and `operators.rs` (the operations), `structural.rs`, `reduce.rs` and `views/` (the other
//! kinds of nodes), then what is made of these: `composition/`, `along/`, and `derivative/`, how graphs are
//! differentiated.
//!
//! - `axis_names.rs`: the names of the axes of values: those of parameters are given, those of other values
//!   follow from what their nodes do with the axes of their operands, as `named_values.rs` says;
//! - `inline.rs`: a graph within another one: its nodes added to a builder, over values in place of its
//!   parameters;
//! - `named_values.rs`: propagation of axis names through the nodes of a graph;
//! - `sizes.rs`: size facts of the builder, so that one graph serves other sizes: sizes pinned to a number,
//!   and sizes equal to those of another value;
//! - `symbols.rs`: parameters whose sizes have names: `["n", "3"]`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod along;
mod axis_names;
mod builder;
mod composition;
mod derivative;
mod inline;
mod methods;
mod named_values;
mod operand;
mod operators;
mod reduce;
mod sizes;
mod structural;
mod symbols;
mod views;

pub use along::{Initial, ReduceOptions, Reduction};
pub use builder::{GraphBuilder, Value};
pub use composition::{Composition, Parameter, WholeNumbers};
pub use derivative::Differentiate;
pub use methods::RuleScope;
pub use operand::Operand;
pub use views::{Index, PadMode};
