//! Symbolic sizes: one graph is valid for all sizes of its parameters that meet its guards.
//!
//! A graph is built for the sizes of the first call. `classes.rs` groups the axes that have equal sizes
//! because of the nodes. A class is a *symbol* if it contains an axis of a parameter and no node requires a
//! specific number; otherwise it is a number. `facts.rs` has facts that only the builder knows: an axis
//! whose size it used as a number, bounds of slices as written, names of sizes, and constants that are
//! computed from sizes, such as the divisor of a mean (`counts.rs`). `derivation.rs` has sizes that follow
//! from others, such as those of slices and reshapes; `symbols.rs` chooses the symbols. `guards.rs` states
//! the valid sizes of the parameters, `resize.rs` makes the graph for other sizes. `size.rs` has the type of
//! a size. `origin.rs` tells where the size of an axis comes from. `shaped.rs` carries the symbolic shape of
//! each value through the passes, up to lowering.
//!
//! Sizes 0 and 1 determine which broadcasts are legal, and a size of 2^31 or more does not fit in an `i32`.
//! The size of such an axis is a number. If the size of an axis is neither a number, nor equal to that of a
//! parameter's axis, nor follows from others, all sizes become numbers. The sizes of the first call always
//! meet the guards.

mod classes;
mod counts;
mod derivation;
mod facts;
mod guards;
mod origin;
mod resize;
mod shaped;
mod size;
mod symbols;

pub use counts::SymbolicCount;
pub use facts::{SizeFacts, SliceBounds, SlicePadding, ValueAxis, count_of};
pub use guards::{GuardError, Guards};
pub use origin::SizeOrigin;
pub use resize::SymbolicGraph;
pub use shaped::ShapedGraph;
pub use size::{Size, SymbolicShape};
