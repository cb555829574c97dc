//! The tier-up budget of a nest: machine code is generated once runs by kernels have cost as much as
//! compilation.
//!
//! The unit of work is a byte moved: the time in which memory could move one byte.
//!
//! Time to record and compile a function (AMD EPYC, Zen 3; optimised build; best of 50):
//!
//! | body | time |
//! |---|---|
//! | one addition | 14 µs |
//! | five operations | 17 µs |
//! | `exp`, 54 primitives | 40 µs |
//! | 200 additions and products | 150 µs |
//! | `pow`, 305 primitives | 210 µs |
//!
//! The first function of a kind takes two to four times as long.

use std::sync::atomic::{AtomicUsize, Ordering};

use indim_loops::loop_nest::{InstructionKind, LoopNest};
use indim_ops::Fact;

/// Bytes that kernels move per microsecond in L1. For larger runs the time of compilation hardly matters.
const BYTES_PER_MICROSECOND: usize = 100_000;

/// Cost of compiling a function, 15 µs, and of each primitive in it, 0.7 µs; in bytes moved.
const FUNCTION_COST: usize = 15 * BYTES_PER_MICROSECOND;
const PRIMITIVE_COST: usize = 7 * BYTES_PER_MICROSECOND / 10;

/// Divisor of the compile cost: in an unoptimised build kernels take some 300 times as long, compilation some
/// 30 times and functions as long as before, so a tenth of the work pays for a function.
const COMPILE_COST_DIVISOR: usize = if cfg!(unoptimised) { 10 } else { 1 };

/// Approximate primitives of a cheap operation, and of any other operation.
const CHEAP_PRIMITIVES: usize = 1;
const OTHER_PRIMITIVES: usize = 60;

/// The work of a nest since its last compilation, and the cost of the next one. Updates by several threads
/// may get lost, which only delays compilation.
#[derive(Debug)]
pub(crate) struct TierUp {
    work: AtomicUsize,
    threshold: AtomicUsize,
    /// Bytes of memory of the functions and of the bindings to them.
    bytes: AtomicUsize,
}

impl TierUp {
    /// A budget for functions that each cost `threshold`.
    pub(crate) fn new(threshold: usize) -> TierUp {
        TierUp {
            work: AtomicUsize::new(0),
            threshold: AtomicUsize::new(threshold),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Adds work to the budget; returns whether it pays for another function.
    pub(crate) fn add_work(&self, work: usize) -> bool {
        let work = self.work.load(Ordering::Relaxed).saturating_add(work);
        self.work.store(work, Ordering::Relaxed);
        self.can_pay()
    }

    /// Whether the budget pays for another function.
    pub(crate) fn can_pay(&self) -> bool {
        self.work.load(Ordering::Relaxed) >= self.threshold.load(Ordering::Relaxed)
    }

    /// Subtracts the cost of a function.
    pub(crate) fn spend(&self) {
        let work = self.work.load(Ordering::Relaxed);
        let left = work.saturating_sub(self.threshold.load(Ordering::Relaxed));
        self.work.store(left, Ordering::Relaxed);
    }

    /// Empties the budget after a failed compilation, so that the next attempt follows as much work again.
    pub(crate) fn reset(&self) {
        self.work.store(0, Ordering::Relaxed);
    }

    /// Ends compilation: no amount of work pays for another function.
    pub(crate) fn close(&self) {
        self.reset();
        self.threshold.store(usize::MAX, Ordering::Relaxed);
    }

    /// Adds bytes of memory.
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of memory added so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Cost of compiling a function for the nest, in bytes moved.
pub(crate) fn compile_cost(nest: &LoopNest) -> usize {
    let primitives = nest.instructions.iter().map(|instruction| match instruction.kind {
        InstructionKind::Elementwise(op) if !op.is(Fact::Cheap) => OTHER_PRIMITIVES,
        _ => CHEAP_PRIMITIVES,
    });
    (FUNCTION_COST + primitives.sum::<usize>() * PRIMITIVE_COST) / COMPILE_COST_DIVISOR
}
