//! The text form of graphs: `Display` of a graph prints it, `parse.rs` parses it.
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
//! A line states a value, its operation, operands and attributes, and the result type. The elements of a
//! constant follow its type, so that the parser knows how to read them. A printed graph that is parsed and
//! printed again gives the same text; constants keep their bits.
//!
//! The regions of loops and branches stand before the graph, each as `@0 = graph { ... }`; nodes name them:
//!
//! ```text
//! %3 = while %0, %1 condition=@0 body=@1 limit=4294967296 result=0 : i64[]
//! %4 = branch %2, %0 branches=@2, @3 result=0 : f32[3]
//! ```
//!
//! - `error.rs`: errors in the text form of graphs.

mod error;
mod parse;

pub use error::{ParseError, ParseErrorKind};
pub use parse::{parse_graph, parse_graph_up_to_rank};
