//! Types of every node of a model, also of those that indim does not compute.
//!
//! - `walker.rs`: goes through graphs, functions and regions, each with its own names; `scope.rs`: the names;
//!   `repeated.rs`: axes along which constants repeat, evenly spaced constants;
//! - `node.rs`: the types of one node: from its shape rule, its lowering, the file, the caller;
//!   `lowered.rs`: from its lowering; `control.rs`: from the bodies of `If`, `Loop` and `Scan`;
//! - `rules.rs`: the table of shape rules; `call.rs`: a node with the types of its operands. The rules are in
//!   `creation.rs`, `elementwise.rs`, `indexing.rs`, `learning.rs`, `products.rs`, `recurrent.rs`,
//!   `sequences.rs`, `strings.rs`, `views.rs`, `windows.rs`.

mod call;
mod control;
mod creation;
mod elementwise;
mod indexing;
mod learning;
mod lowered;
mod node;
mod products;
mod recurrent;
mod repeated;
mod rules;
mod scope;
mod sequences;
mod strings;
mod views;
mod walker;
mod windows;

pub(super) use walker::outline;
