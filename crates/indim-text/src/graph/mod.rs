//! The text form of graphs: printed by `Display` of a graph, read back by `parse.rs`.
//!
//! ```text
//! graph {
//!   %0 = parameter "x" : f32[4, 3]
//!   %1 = constant : f32[3] { 1.5, -inf, nan }
//!   %2 = broadcast_in_dim %1 dims=[1] : f32[4, 3]
//!   %3 = add %0, %2 : f32[4, 3]
//!   return %3
//! }
//! ```
//!
//! A line gives a value, what is done to which operands, and the type of the result; the elements
//! of a constant follow its type, so that the reader knows what to expect. Printing what was read
//! back from a print gives the same text, and constants keep their bits.
//!
//! - `error.rs`: errors of the text form of graphs.

mod error;
mod parse;

pub use error::{ParseError, ParseErrorKind};
pub use parse::{parse_graph, parse_graph_up_to_rank};
