//! Nodes that a written model has from its source, because indim does not compute or write them.
//!
//! * `wire.rs`: fields of encoded messages; `inline.rs`: calls of functions replaced by their nodes, so that
//!   all these nodes lie in the graph;
//! * `metadata.rs`: properties and annotations of a model;
//! * `splice.rs`: the nodes of the source and the written nodes in one model.

mod inline;
mod metadata;
mod splice;
mod wire;

pub use inline::{IsSameOperator, inline_functions};
pub use metadata::Metadata;
pub use splice::{CarriedModel, CarriedNode, decode_all, untyped_value};
