//! Free sizes of a graph: one graph is valid for all arrays of its element types and ranks
//! whose sizes meet some guards.
//!
//! A graph is made for the sizes that are seen first. `classes.rs` finds which axes have one size by what
//! their nodes do; a class that holds an axis of a parameter, and that nothing needs as a number, is a
//! *symbol*. What only the maker of a graph knows of its sizes are `facts.rs`: that one was a number to it,
//! as that of a slice, or has a name, or that a constant follows it, as the divisor of a mean does
//! (`counts.rs`). `guards.rs` says which sizes of the parameters a graph stands for, `resize.rs` makes the
//! graph for others.
//!
//! Sizes 0 and 1 decide what is legal and what is expanded, and the indices along an axis of 2^31 elements or
//! more do not fit in 32 bits: an axis of such a size is a number, and no symbol stands for it. What is not
//! known to follow from the parameters is a number too, and what is not known at all makes numbers of all
//! sizes. The sizes that are seen first always meet the guards.

mod classes;
mod counts;
mod facts;
mod guards;
mod resize;

pub use counts::SymbolicCount;
pub use facts::{SizeFacts, count_of};
pub use guards::{GuardError, Guards, Size};
pub use resize::SymbolicGraph;
