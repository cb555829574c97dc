//! Sizes that follow from other sizes: those of slices, reshapes, concatenations and paddings.
//!
//! A derivation computes a size from others at each binding. The class of the axis is a symbol of its own,
//! so nests and code see no arithmetic: `n - 1` is a symbol like `n`. A second derivation of one class is a
//! check that its result is the same.

use super::facts::SliceBounds;
use super::size::Size;

/// How the size of an axis follows from sizes `S`: axes while classes are found, then [`Size`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Derivation<S> {
    /// The number of elements of a slice. It is valid only if the bounds are in range, if the slice begins at
    /// `start`, because nests have this number in their offsets, and if `is_whole` tells whether it is the
    /// whole axis, because the graph then has no node for it.
    Slice {
        /// The sliced axis.
        of: S,
        bounds: SliceBounds,
        /// The first index, or its distance from the end of the axis if `bounds` start from the end.
        start: usize,
        is_whole: bool,
    },
    /// The product of `of`, divided by the product of `by` without remainder: the axis of a reshape.
    Quotient { of: Vec<S>, by: Vec<S> },
    /// The sum of the sizes of the parts of a concatenation.
    Sum { of: Vec<S> },
    /// The size `of` without the sizes `by`: the rest of an axis.
    Difference { of: S, by: Vec<S> },
}

impl<S: Copy> Derivation<S> {
    /// The sizes from which the size follows.
    pub(super) fn sources(&self) -> impl Iterator<Item = S> + '_ {
        let (first, second): (&[S], &[S]) = match self {
            Derivation::Slice { of, .. } => (core::slice::from_ref(of), &[]),
            Derivation::Quotient { of, by } => (of, by),
            Derivation::Sum { of } => (of, &[]),
            Derivation::Difference { of, by } => (core::slice::from_ref(of), by),
        };
        first.iter().chain(second).copied()
    }

    /// The derivation from `size(source)` for each source.
    pub(super) fn map<T>(&self, size: impl FnMut(S) -> T) -> Derivation<T> {
        let mut sizes = self.sources().map(size);
        match self {
            &Derivation::Slice { bounds, start, is_whole, .. } => {
                let of = sizes.next().expect("invariant: a slice has one source");
                Derivation::Slice { of, bounds, start, is_whole }
            }
            Derivation::Quotient { of, .. } => {
                let of = sizes.by_ref().take(of.len()).collect();
                Derivation::Quotient { of, by: sizes.collect() }
            }
            Derivation::Sum { .. } => Derivation::Sum { of: sizes.collect() },
            Derivation::Difference { .. } => {
                let of = sizes.next().expect("invariant: a difference is one of a size");
                Derivation::Difference { of, by: sizes.collect() }
            }
        }
    }
}

impl Derivation<Size> {
    /// Whether no source is a symbol.
    pub(super) fn is_known(&self) -> bool {
        self.sources().all(|size| size.known().is_some())
    }

    /// The size for these sizes of the symbols before it; `None` if the graph is not valid for them.
    pub(super) fn resolve(&self, symbols: &[usize]) -> Option<usize> {
        let product = |sizes: &[Size]| {
            let mut numbers = sizes.iter().map(|size| size.resolve(symbols));
            numbers.try_fold(1usize, |product, size| product.checked_mul(size))
        };
        match self {
            Derivation::Slice { of, bounds, start, is_whole } => {
                let size = of.resolve(symbols);
                let slice = bounds.slice(size)?;
                let is_same = bounds.start_of(&slice, size) == *start;
                (is_same && slice.is_whole(size) == *is_whole).then_some(slice.count())
            }
            Derivation::Quotient { of, by } => {
                let (of, by) = (product(of)?, product(by)?);
                of.checked_rem(by).filter(|rest| *rest == 0)?;
                Some(of / by)
            }
            Derivation::Sum { of } => {
                let mut sizes = of.iter().map(|size| size.resolve(symbols));
                sizes.try_fold(0usize, |sum, size| sum.checked_add(size))
            }
            Derivation::Difference { of, by } => {
                let mut sizes = by.iter().map(|size| size.resolve(symbols));
                sizes.try_fold(of.resolve(symbols), |rest, size| rest.checked_sub(size))
            }
        }
    }

    /// A number that divides the size that is derived, or from which it follows; at least 1. An axis of size
    /// 0 divides nothing.
    pub(super) fn divisor(&self) -> usize {
        match self {
            Derivation::Slice { bounds, .. } => {
                let step = bounds.step.unwrap_or(1).unsigned_abs();
                usize::try_from(step).unwrap_or(usize::MAX)
            }
            Derivation::Quotient { by, .. } => {
                let numbers = by.iter().filter_map(|size| size.known());
                numbers.filter(|number| *number != 0).fold(1, usize::saturating_mul)
            }
            Derivation::Sum { .. } | Derivation::Difference { .. } => 1,
        }
    }

    /// The largest number that is added or subtracted.
    pub(super) fn largest_offset(&self) -> usize {
        match self {
            Derivation::Slice { bounds, .. } => {
                let bounds = [bounds.start, bounds.stop].into_iter().flatten();
                let largest = bounds.map(i64::unsigned_abs).max().unwrap_or(0);
                usize::try_from(largest).unwrap_or(usize::MAX)
            }
            Derivation::Quotient { .. } => 0,
            Derivation::Sum { .. } | Derivation::Difference { .. } => {
                self.sources().filter_map(Size::known).fold(0, usize::saturating_add)
            }
        }
    }
}
