//! Shape rules of ONNX operators: the types of a node's results from those of its operands, with symbolic
//! sizes. `indim-onnx` walks models with them.
//!
//! - `rules.rs`: the table of the rules; `inference.rs`: applies one to a node;
//! - `call.rs`: a node with the types of its operands; `typed_value.rs`: types with their few known elements;
//! - the rules: `creation.rs`, `elementwise.rs`, `indexing.rs`, `learning.rs`, `products.rs`, `recurrent.rs`,
//!   `sequences.rs`, `strings.rs`, `views.rs`, `windows.rs`.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod call;
mod creation;
mod elementwise;
mod indexing;
mod inference;
mod learning;
mod products;
mod recurrent;
mod rules;
mod sequences;
mod strings;
mod typed_value;
mod views;
mod windows;

pub use call::counted_axis;
pub use creation::{header, small_array};
pub use inference::{NodeInference, label};
pub use rules::RuleRow;
pub use typed_value::TypedValue;
