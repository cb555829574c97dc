//! Transformations of graphs: each is a function from a graph to graphs.
//!
//! A transformed graph consists of the same nodes, so it is optimised, compiled and transformed again like
//! any other graph.
//!
//! - `derivative/`: differentiation: gradients, vector-Jacobian and Jacobian-vector products;
//! - `batching/`: one graph for every element of a batch, like JAX's `vmap`;
//! - `chunks/`: graphs over arrays in chunks: legal cuts, and the programs that run over the chunks;
//! - `control.rs`: loops and branches of a graph, and what depends on what through their regions;
//! - `variadic.rs`: reductions of several operands together by a body of scalars.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod batching;
pub mod chunks;
mod control;
mod derivative;
mod variadic;

pub use batching::{Vectorize, vmap_with_facts};
pub use derivative::{Differentiate, ParameterSelection, inline_gradients, jvp_with_facts};
pub use variadic::VariadicReduction;

use indim_builder::Value;
use indim_graph::GraphError;

/// The result of a method of the builder.
type BuildResult<T = Value> = Result<T, GraphError>;
