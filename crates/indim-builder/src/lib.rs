//! Builds the graphs of `indim-graph`.
//!
//! Read in this order: `builder.rs` (the builder and its values), `operand.rs` (operands of its methods),
//! `methods.rs` and `operators.rs` (element-wise operations), `structural.rs`, `reduce.rs`, `products/`,
//! `sorting/`, `views/`, `gathers/` and `regions/` (other kinds of nodes), then the functions composed of
//! these in `composition/`, `reductions/`, `windows/` (convolutions and pooling), `random/` and `fourier/`.
//! `indim-transforms` differentiates and vectorises the graphs.
//!
//! - `axis_names.rs`: names of axes: given for parameters, propagated to other values;
//! - `inline.rs`: inlining of a graph into a builder;
//! - `node_access.rs`: nodes by their ids, for crates that transform graphs;
//! - `sizes.rs`: size facts, so that one graph is valid for many sizes: sizes pinned to a number, and equal
//!   shapes;
//! - `stop_gradient.rs`: values without a derivative;
//! - `symbols.rs`: parameters with named sizes: `["n", "3"]`;
//! - `value_methods.rs`: methods of values for products, conversions, shapes and sorts.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod axis_names;
mod builder;
mod composition;
mod fourier;
mod gathers;
mod inline;
mod methods;
mod node_access;
mod operand;
mod operators;
mod products;
mod random;
mod reduce;
mod reductions;
mod regions;
mod sizes;
mod sorting;
mod stop_gradient;
mod structural;
mod symbols;
mod value_methods;
mod views;
mod windows;

pub use builder::{GraphBuilder, Value};
pub use composition::{Composition, IntegerPromotion};
pub use fourier::FourierOptions;
pub use gathers::StartedSlices;
pub use methods::RuleScope;
pub use node_access::NodeAccess;
pub use operand::Operand;
pub use reductions::{Initial, ReduceOptions, Reduction};
pub use regions::build::BranchBody;
pub use regions::capture::RegionBody;
pub use views::{Index, PadMode};
pub use windows::{Convolution, ConvolutionAxes, PoolDivisor};
