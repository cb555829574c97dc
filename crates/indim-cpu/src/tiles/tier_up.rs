//! The tier-up budget of a nest: machine code is generated once the kernels have cost more than
//! compilation.
//!
//! Work is weighed in bytes that could be moved in the same time.
//!
//! Measured on an AMD EPYC (Zen 3), with optimisations, the best of 50: to record and compile a function
//! takes 14 µs for one addition, 17 µs for five operations, 40 µs for `exp` with its 54 primitives, 210 µs
//! for `pow` with 305, 150 µs for 200 additions and products. The first function of a kind takes two to
//! four times as long.

use std::sync::atomic::{AtomicUsize, Ordering};

use indim_loops::loop_nest::{InstructionKind, LoopNest};
use indim_ops::Fact;

/// Bytes that kernels move in a microsecond in L1, where runs are small enough for the cost to matter.
const BYTES_PER_MICROSECOND: usize = 100_000;

/// Cost of compiling a function, and of each primitive in it: 15 µs and 0.7 µs, in bytes moved.
const FUNCTION_PRICE: usize = 15 * BYTES_PER_MICROSECOND;
const PRIMITIVE_PRICE: usize = 7 * BYTES_PER_MICROSECOND / 10;

/// Without optimisation kernels take some 300 times as long and compilation 30 times, while functions run
/// as fast as ever. So a function repays a tenth of the work.
const KERNEL_SLOWDOWN: usize = if cfg!(unoptimised) { 10 } else { 1 };

/// Primitives of a cheap operation, and of any other one, about.
const CHEAP_PRIMITIVES: usize = 1;
const OTHER_PRIMITIVES: usize = 60;

/// The work of a nest since its last compilation, and the price of the next one. Threads may lose one
/// another's counts, which only delays the compilation a little.
#[derive(Debug)]
pub(crate) struct TierUp {
    spent: AtomicUsize,
    price: AtomicUsize,
    /// Bytes of the functions and of the bindings to them.
    held: AtomicUsize,
}

impl TierUp {
    /// A budget for functions that cost `price`.
    pub(crate) fn new(price: usize) -> TierUp {
        TierUp {
            spent: AtomicUsize::new(0),
            price: AtomicUsize::new(price),
            held: AtomicUsize::new(0),
        }
    }

    /// Adds work to the budget; returns whether it repays another function.
    pub(crate) fn note(&self, work: usize) -> bool {
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(work);
        self.spent.store(spent, Ordering::Relaxed);
        self.affords()
    }

    /// Whether the budget repays another function.
    pub(crate) fn affords(&self) -> bool {
        self.spent.load(Ordering::Relaxed) >= self.price.load(Ordering::Relaxed)
    }

    /// Subtracts the price of a function.
    pub(crate) fn pay(&self) {
        let spent = self.spent.load(Ordering::Relaxed);
        let left = spent.saturating_sub(self.price.load(Ordering::Relaxed));
        self.spent.store(left, Ordering::Relaxed);
    }

    /// Resets the budget after a refused compilation, so that it is tried again only after as much work.
    pub(crate) fn forfeit(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Ends compilation for good.
    pub(crate) fn close(&self) {
        self.forfeit();
        self.price.store(usize::MAX, Ordering::Relaxed);
    }

    /// Adds bytes of memory.
    pub(crate) fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes of memory added so far.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

/// Price of a function for a nest, in bytes that could be moved in the same time.
pub(crate) fn price(nest: &LoopNest) -> usize {
    let primitives = nest.instructions.iter().map(|instruction| match instruction.kind {
        InstructionKind::Elementwise(op) if !op.is(Fact::Cheap) => OTHER_PRIMITIVES,
        _ => CHEAP_PRIMITIVES,
    });
    (FUNCTION_PRICE + primitives.sum::<usize>() * PRIMITIVE_PRICE) / KERNEL_SLOWDOWN
}
