//! Chains: several cheap operations in one pass over a block.

mod element;
pub(crate) mod find;
mod line;
pub(crate) mod links;
mod mask;
pub(crate) mod pieces;
