//! Text front ends: the expression language, and the text form of graphs.
//!
//! `expression/` parses expressions and builds graphs from them. `graph/` parses the text form of graphs.
//! Both use `cursor.rs`, `span.rs` and `limits.rs`. `catalogue.rs` describes every operation and function.
//!
//! - `shorten.rs`: shortened quotations of a text for messages;
//! - `suggest.rs`: suggestions for misspelt names.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

pub mod catalogue;
mod cursor;
mod expression;
mod graph;
mod limits;
mod shorten;
mod span;
mod suggest;

pub use cursor::Cursor;
pub use expression::{
    Binding, CallAttribute, CallOperand, ExprError, ExprErrorKind, Expression, Number,
    NumberProgram, Numbers, RecordedCall, StatementError,
};
pub use graph::{ParseError, ParseErrorKind, parse_graph, parse_graph_up_to_rank};
pub use indim_graph::type_text::{
    parse_array_type, parse_axis_names, parse_integers, parse_symbolic_type, parse_type,
    split_axis_names, split_trailing_axis_names,
};
pub use indim_ops::promote;
pub use limits::{LimitError, ParseLimits};
pub use span::Span;
pub use suggest::closest;
