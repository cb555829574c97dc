//! The tree of reductions over rows whose elements lie one after another: each becomes one element, and its
//! lanes never leave the registers. Holds unsafe code.

use core::marker::PhantomData;

use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_ops::{DType, Element, Fold, ReduceOp, Scalars};

use super::block::Unaligned;
use super::fold::{FoldRows, FoldedRows, Read};

/// Folds rows: what the tree makes of each is an element of its own.
///
/// # Safety
/// - `results` is valid for writes of `rows.count` elements of the accumulators' type;
/// - `source` plus each of `rows.count` multiples of `rows.stride` is valid for reads of `rows.width`
///   elements of the source's type; none of them is a result; `rows.begins` says nothing;
/// - no pointer needs to be aligned;
/// - the processor has the level for which the function was looked up.
pub type RowFoldFn = unsafe fn(results: *mut u8, source: *const u8, rows: FoldedRows);

/// Whether identities may stand for the elements that a block lacks. Not in complex products: there a product
/// with 1 may make a NaN of an infinity.
pub(super) fn is_neutral(op: ReduceOp, dtype: DType) -> bool {
    op != ReduceOp::Mul || dtype != DType::C128
}

/// The most nodes that wait for others.
const MOST_NODES: usize = (usize::BITS - BLOCK.ilog2()) as usize;

/// The fold `F` of rows of elements that become such of type `T` as `R` says.
pub(super) struct RowBody<F, R, T>(PhantomData<(F, R, T)>);

impl<F: Fold<T>, R: Read<T>, T: Element> FoldRows for RowBody<F, R, T> {
    #[inline(always)]
    unsafe fn run(results: *mut u8, source: *const u8, rows: FoldedRows) {
        let FoldedRows { count, stride, width, .. } = rows;
        let is_dense = stride == (width * Self::SOURCE_SIZE) as isize;
        // Behind all but the last of dense rows there are others, so that their last lanes are read whole.
        let elements = count * width + width;
        let covered = elements.saturating_sub(width.next_multiple_of(LANES)) / width;
        for index in 0..count {
            let row = source.wrapping_offset(index as isize * stride);
            let result = results.wrapping_add(index * size_of::<T::Stored>());
            // SAFETY: the caller's promise, for one of the rows.
            unsafe {
                let folded = Self::row(row, width, is_dense && index < covered);
                *result.cast() = Unaligned::<T>(folded.to_stored());
            }
        }
    }
}

impl<F: Fold<T>, R: Read<T>, T: Element> RowBody<F, R, T> {
    const SOURCE_SIZE: usize = size_of::<<R::Source as Element>::Stored>();

    /// # Safety
    /// `row` is valid for reads of `length` elements; if it `is_covered`, also of those up to the next
    /// multiple of `LANES`.
    #[inline(always)]
    unsafe fn row(row: *const u8, length: usize, is_covered: bool) -> T {
        if length <= BLOCK {
            // SAFETY: the caller's promise.
            return unsafe { Self::block(row, length, is_covered) };
        }
        let mut nodes = [F::identity::<Scalars>(); MOST_NODES];
        let mut top = 0;
        for block in 0..length.div_ceil(BLOCK) {
            let start = block * BLOCK;
            let elements = row.wrapping_add(start * Self::SOURCE_SIZE);
            // SAFETY: the caller's promise.
            let mut node = unsafe { Self::block(elements, BLOCK.min(length - start), is_covered) };
            for _ in 0..block.trailing_ones() {
                top -= 1;
                node = F::combine::<Scalars>(nodes[top], node);
            }
            nodes[top] = node;
            top += 1;
        }
        let fold = |folded, &node: &T| F::combine::<Scalars>(node, folded);
        nodes[..top - 1].iter().rev().fold(nodes[top - 1], fold)
    }

    /// What comes of a block, of which elements may be lacking.
    ///
    /// # Safety
    /// As [`RowBody::row`].
    #[inline(always)]
    unsafe fn block(elements: *const u8, length: usize, is_covered: bool) -> T {
        let mut lanes = [F::identity::<Scalars>(); LANES];
        let whole = length / LANES;
        for row in 0..whole {
            let from = elements.wrapping_add(row * LANES * Self::SOURCE_SIZE);
            // SAFETY: the caller's promise.
            let row = unsafe { &*from.cast::<[Unaligned<R::Source>; LANES]>() };
            for lane in 0..LANES {
                lanes[lane] = F::combine::<Scalars>(lanes[lane], R::read(row[lane].get()));
            }
        }
        let rest = length % LANES;
        if rest > 0 {
            let from = elements.wrapping_add(whole * LANES * Self::SOURCE_SIZE);
            // The two do not meet before lanes are taken, so that they stay in registers.
            if is_covered {
                // SAFETY: the caller's promise.
                let row = unsafe { &*from.cast::<[Unaligned<R::Source>; LANES]>() };
                for lane in 0..LANES {
                    let element = R::read(row[lane].get());
                    let element = if lane < rest { element } else { F::identity::<Scalars>() };
                    lanes[lane] = F::combine::<Scalars>(lanes[lane], element);
                }
            } else {
                // SAFETY: the caller's promise.
                let row = unsafe { Self::elements(from, rest) };
                for lane in 0..LANES {
                    lanes[lane] = F::combine::<Scalars>(lanes[lane], row[lane]);
                }
            }
        }
        for half in [16, 8, 4] {
            for lane in 0..half {
                lanes[lane] = F::combine::<Scalars>(lanes[lane], lanes[lane + half]);
            }
        }
        let [first, second, third, fourth, ..] = lanes;
        let folded = F::combine::<Scalars>(F::combine::<Scalars>(first, second), third);
        F::combine::<Scalars>(folded, fourth)
    }

    /// As many elements, and identities.
    ///
    /// # Safety
    /// `row` is valid for reads of as many.
    #[inline(always)]
    unsafe fn elements(row: *const u8, count: usize) -> [T; LANES] {
        let mut lanes = [F::identity::<Scalars>(); LANES];
        for (lane, place) in lanes[..count].iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let element = unsafe { *row.cast::<Unaligned<R::Source>>().wrapping_add(lane) };
            *place = R::read(element.get());
        }
        lanes
    }
}
