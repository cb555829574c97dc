//! Folds of one element type: accumulators take elements and updates of a target, and are rounded and stored.
//! Holds unsafe code.

use core::ops::ControlFlow;

use indim_executors::{Bases, StepProgress};
use indim_ops::{Element, ScatterFold, ScatterVisitor};

use super::bound::BoundScatter;

/// Elements of a target that are combined together: enough for vectors, few enough to clear for each target.
pub(super) const MAX_ACCUMULATORS: usize = 64;

/// Maximum bytes of an accumulator: complex numbers have the largest.
pub(super) const MAX_ACCUMULATOR_BYTES: usize = 16;

/// The instances of generic functions for one fold and element type.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoldFunctions {
    /// Sets accumulators to the elements of a run; see `StridedRun::begin`.
    pub(super) begin: unsafe fn(StridedRun, *mut u8, usize),
    /// Combines accumulators with the updates of a run; see `StridedRun::combine`.
    pub(super) combine: unsafe fn(StridedRun, *mut u8, usize),
    /// Rounds and stores accumulators; see `StridedRun::finish`.
    pub(super) finish: unsafe fn(StridedRun, *const u8, usize),
    /// Combines all updates in accumulators; see `BoundScatter::accumulate`.
    pub(super) accumulate:
        unsafe fn(&BoundScatter, &Bases<'_>, &mut StepProgress<'_>) -> ControlFlow<()>,
    /// Bytes of an accumulator.
    pub(super) accumulator_bytes: usize,
}

/// Memory for the accumulators of any fold.
#[repr(align(16))]
pub(super) struct Accumulators {
    _bytes: [u8; MAX_ACCUMULATORS * MAX_ACCUMULATOR_BYTES],
}

/// Instantiates [`FoldFunctions`].
pub(super) struct FoldFunctionsVisitor;

impl ScatterVisitor for FoldFunctionsVisitor {
    type Output = FoldFunctions;

    fn scatter<F: ScatterFold<T>, T: Element>(self) -> FoldFunctions {
        const { assert!(size_of::<F::Accumulator>() <= MAX_ACCUMULATOR_BYTES) };
        FoldFunctions {
            begin: StridedRun::begin::<F, T>,
            combine: StridedRun::combine::<F, T>,
            finish: StridedRun::finish::<F, T>,
            accumulate: BoundScatter::accumulate::<F, T>,
            accumulator_bytes: size_of::<F::Accumulator>(),
        }
    }
}

/// A run of elements at one stride, in bytes.
#[derive(Clone, Copy)]
pub(super) struct StridedRun {
    pub(super) first: *mut u8,
    pub(super) stride: isize,
}

impl StridedRun {
    /// The run from element `number` on.
    pub(super) fn at(self, number: usize) -> StridedRun {
        self.offset_by(self.stride * number as isize)
    }

    /// The run at an offset.
    pub(super) fn offset_by(self, bytes: isize) -> StridedRun {
        StridedRun { first: self.first.wrapping_offset(bytes), ..self }
    }

    /// Calls `visit` with the number and the address of each of `count` elements.
    #[inline(always)]
    fn visit<T: Element>(self, count: usize, mut visit: impl FnMut(usize, *mut u8)) {
        let mut visit_at_stride = |stride: isize| {
            for number in 0..count {
                visit(number, self.first.wrapping_offset(number as isize * stride));
            }
        };
        // A constant stride lets the compiler use vectors.
        match self.stride == size_of::<T>() as isize {
            true => visit_at_stride(size_of::<T>() as isize),
            false => visit_at_stride(self.stride),
        }
    }

    /// Sets `count` accumulators to the elements of the run.
    ///
    /// # Safety
    /// - the run has `count` readable elements of type `T`;
    /// - `folded` is valid for writes of `count` accumulators, and nothing else accesses them.
    unsafe fn begin<F: ScatterFold<T>, T: Element>(self, folded: *mut u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, from| {
            // SAFETY: the caller ensures a readable element and an accumulator for each number.
            unsafe { folded.add(number).write_unaligned(F::begin(load(from))) }
        });
    }

    /// Combines `count` accumulators with the updates of the run.
    ///
    /// # Safety
    /// - the run has `count` readable elements of type `T`;
    /// - `folded` has `count` accumulators, and nothing else accesses them.
    unsafe fn combine<F: ScatterFold<T>, T: Element>(self, folded: *mut u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, from| {
            // SAFETY: the caller ensures a readable element and an accumulator for each number.
            unsafe {
                let accumulator = folded.add(number);
                accumulator.write_unaligned(F::combine(accumulator.read_unaligned(), load(from)));
            }
        });
    }

    /// Writes the results of `count` accumulators to the run.
    ///
    /// # Safety
    /// - the run has `count` writable elements of type `T`;
    /// - `folded` has `count` accumulators.
    unsafe fn finish<F: ScatterFold<T>, T: Element>(self, folded: *const u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, to| {
            // SAFETY: the caller ensures an accumulator and a writable element for each number.
            unsafe {
                let result = F::finish(folded.add(number).read_unaligned());
                to.cast::<T::Storage>().write_unaligned(result.to_storage());
            }
        });
    }
}

/// Reads an element.
///
/// # Safety
/// The address is valid for reads of an element.
#[inline(always)]
pub(super) unsafe fn load<T: Element>(from: *const u8) -> T {
    // SAFETY: any bits are a valid representation, and the caller ensures a readable element.
    T::from_storage(unsafe { from.cast::<T::Storage>().read_unaligned() })
}
