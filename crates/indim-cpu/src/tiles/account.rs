//! When machine code is made of a nest: once the work done without it has cost more than making it would.
//!
//! Work is weighed as everywhere, in bytes that could be moved instead.
//!
//! Measured on an AMD EPYC (Zen 3), with optimisations, the best of 50: to record
//! and to make a function takes 14 µs for one addition, 17 µs for five operations, 40 µs for `exp` with its
//! 54 primitives, 210 µs for `pow` with 305, 150 µs for 200 additions and products. The first one of its kind
//! takes two to four times as long.

use std::sync::atomic::{AtomicUsize, Ordering};

use indim_loops::loop_nest::{Compute, LoopNest};
use indim_ops::Fact;

/// Bytes that kernels move in a microsecond in the nearest caches, where runs are small enough to be weighed.
const BYTES_PER_MICROSECOND: usize = 100_000;

/// What it takes to make a function, and for each primitive that it computes: 15 µs and 0.7 µs.
const FUNCTION_PRICE: usize = 15 * BYTES_PER_MICROSECOND;
const PRIMITIVE_PRICE: usize = 7 * BYTES_PER_MICROSECOND / 10;

/// Without optimisation kernels take some 300 times as long, and functions 30 times as long to be made, which
/// then are as fast as ever: so functions pay off after a tenth of the work.
const KERNEL_SLOWDOWN: usize = if cfg!(unoptimised) { 10 } else { 1 };

/// The primitives of an operation that is cheap, and of another one, about.
const CHEAP_PRIMITIVES: usize = 1;
const OTHER_PRIMITIVES: usize = 60;

/// What a nest has cost since a function was made of it, and what another would cost. Threads may lose one
/// another's counts, which only means that the function is made a little later.
#[derive(Debug)]
pub(crate) struct Account {
    spent: AtomicUsize,
    price: AtomicUsize,
    /// The bytes that functions hold, with what is bound to them.
    held: AtomicUsize,
}

impl Account {
    /// Of functions that are worth so much work.
    pub(crate) fn new(price: usize) -> Account {
        Account {
            spent: AtomicUsize::new(0),
            price: AtomicUsize::new(price),
            held: AtomicUsize::new(0),
        }
    }

    /// Notes so much work; says whether that makes another function worth its price.
    pub(crate) fn note(&self, work: usize) -> bool {
        let spent = self.spent.load(Ordering::Relaxed).saturating_add(work);
        self.spent.store(spent, Ordering::Relaxed);
        self.affords()
    }

    /// Whether another function is worth its price.
    pub(crate) fn affords(&self) -> bool {
        self.spent.load(Ordering::Relaxed) >= self.price.load(Ordering::Relaxed)
    }

    /// Pays for a function.
    pub(crate) fn pay(&self) {
        let spent = self.spent.load(Ordering::Relaxed);
        let left = spent.saturating_sub(self.price.load(Ordering::Relaxed));
        self.spent.store(left, Ordering::Relaxed);
    }

    /// Forgets what has been spent: nothing came of it, and is not tried again before as much has been.
    pub(crate) fn forfeit(&self) {
        self.spent.store(0, Ordering::Relaxed);
    }

    /// Lets no more functions be made.
    pub(crate) fn close(&self) {
        self.forfeit();
        self.price.store(usize::MAX, Ordering::Relaxed);
    }

    /// Notes memory that is held from now on.
    pub(crate) fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

/// What a function for a nest costs, in bytes that could be moved meanwhile.
pub(crate) fn price(nest: &LoopNest) -> usize {
    let primitives = nest.instructions.iter().map(|instruction| match instruction.compute {
        Compute::Elementwise(op) if !op.is(Fact::Cheap) => OTHER_PRIMITIVES,
        _ => CHEAP_PRIMITIVES,
    });
    (FUNCTION_PRICE + primitives.sum::<usize>() * PRIMITIVE_PRICE) / KERNEL_SLOWDOWN
}
