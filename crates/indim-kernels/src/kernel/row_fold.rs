//! The reduction tree over rows of contiguous elements: each row becomes one element, and its lanes stay in
//! registers. Holds unsafe code.
//!
//! Whole vectors may read past the end of a row, if the rows after it are readable there; the additional
//! lanes get the identity.

use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_ops::{Element, Fold, ScalarBackend};

use super::block::Unaligned;
use super::fold::{FoldRows, FoldedRows, LoadOperand};

/// Folds each row to one element by the tree. Row `i` begins at `source + i * rows.stride`;
/// `rows.starts_from_identity` is ignored. Pointers need no alignment.
///
/// # Safety
/// - `results` is valid for writes of `rows.count` elements of the accumulators' type;
/// - each of `rows.count` rows is valid for reads of `rows.width` elements of the source's type;
/// - no row overlaps the results;
/// - the processor has the level for which the function was looked up.
pub type RowFoldFn = unsafe fn(results: *mut u8, source: *const u8, rows: FoldedRows);

/// Number of lanes of at least 8 bytes that are processed together at the end of a row. Groups of lanes
/// without an element are skipped.
const WIDE_LANES: usize = 8;

/// The last four lanes, aligned: a load right after the stores is slow if it crosses a cache line.
#[repr(align(32))]
struct LastLanes<T>([T; 4]);

/// Maximum number of tree nodes that wait for a sibling.
const MAX_NODES: usize = (usize::BITS - REDUCTION_BLOCK.ilog2()) as usize;

/// The fold `F` of rows: `R` reads elements into the lanes of a block, `W` reads lanes into nodes of type
/// `T`.
pub(super) struct RowBody<F, R, W, T>(PhantomData<(F, R, W, T)>);

impl<F, R, W, T> FoldRows for RowBody<F, R, W, T>
where
    F: Fold<W::Operand> + Fold<T>,
    R: LoadOperand<W::Operand>,
    W: LoadOperand<T>,
    T: Element,
{
    #[inline(always)]
    unsafe fn run(results: *mut u8, source: *const u8, rows: FoldedRows) {
        let FoldedRows { count, stride, width, .. } = rows;
        let is_dense = are_dense(rows, Self::SOURCE_SIZE);
        let (overreadable, done) = match width {
            // SAFETY: the caller has the obligations of `RowFoldFn`; the rows are contiguous.
            2..=4 if is_dense => (0, unsafe { Self::narrow_rows(results, source, rows) }),
            // SAFETY: the caller has the obligations of `RowFoldFn`; rows have fewer than `REDUCTION_LANES`
            // elements.
            0..REDUCTION_LANES => (0, unsafe { Self::short_rows(results, source, rows) }),
            _ => (
                overreadable_rows(rows, Self::SOURCE_SIZE, width.next_multiple_of(REDUCTION_LANES)),
                0,
            ),
        };
        for index in done..count {
            let row = source.wrapping_offset(index as isize * stride);
            // SAFETY:
            // - `index` is below `count`, so the caller ensures a readable row and a writable result;
            // - rows below `overreadable` are readable up to the next multiple of `REDUCTION_LANES`.
            unsafe { Self::write(results, index, Self::fold_row(row, width, index < overreadable)) }
        }
    }
}

/// Whether rows are contiguous.
fn are_dense(rows: FoldedRows, source_size: usize) -> bool {
    rows.stride == (rows.width * source_size) as isize
}

/// Number of leading rows from whose start `elements` elements are readable. A read past the end of a
/// contiguous row ends in the rows after it, so only the last rows do not count. Returns 0 if rows are not
/// contiguous.
fn overreadable_rows(rows: FoldedRows, source_size: usize, elements: usize) -> usize {
    let FoldedRows { count, width, .. } = rows;
    if !are_dense(rows, source_size) {
        return 0;
    }
    (count * width + width).saturating_sub(elements).checked_div(width).unwrap_or(0).min(count)
}

impl<F, R, W, T> RowBody<F, R, W, T>
where
    F: Fold<W::Operand> + Fold<T>,
    R: LoadOperand<W::Operand>,
    W: LoadOperand<T>,
    T: Element,
{
    const SOURCE_SIZE: usize = size_of::<<R::Operand as Element>::Storage>();

    /// Number of lanes that are processed together at the end of a row. Lanes of less than 8 bytes are
    /// all processed together, because they take few registers.
    const TAIL_LANES: usize = match size_of::<<W::Operand as Element>::Storage>() {
        8.. => WIDE_LANES,
        _ => REDUCTION_LANES,
    };

    /// Writes result `index`.
    ///
    /// # Safety
    /// Result `index` is valid for writes.
    #[inline(always)]
    unsafe fn write(results: *mut u8, index: usize, folded: T) {
        let result = results.wrapping_add(index * size_of::<T::Storage>());
        // SAFETY: the caller ensures a writable result; `Unaligned` needs no alignment.
        unsafe { *result.cast() = Unaligned::<T>(folded.to_storage()) }
    }

    /// Folds contiguous rows of two to four elements; returns the number of rows folded, which is all.
    ///
    /// # Safety
    /// - the obligations of [`RowFoldFn`];
    /// - the rows are contiguous.
    #[inline(always)]
    unsafe fn narrow_rows(results: *mut u8, source: *const u8, rows: FoldedRows) -> usize {
        // SAFETY: the caller has the same obligations, and each arm has the width of the rows.
        unsafe {
            match rows.width {
                2 => Self::dense_rows::<2>(results, source, rows.count),
                3 => Self::dense_rows::<3>(results, source, rows.count),
                _ => Self::dense_rows::<4>(results, source, rows.count),
            }
        }
        rows.count
    }

    /// Like [`RowBody::narrow_rows`], for rows of `N` elements. The compiler vectorises the loop over rows:
    /// each row has a lane of the vector.
    ///
    /// # Safety
    /// - the obligations of [`RowFoldFn`];
    /// - the rows are contiguous and have `N` elements.
    #[inline(always)]
    unsafe fn dense_rows<const N: usize>(results: *mut u8, source: *const u8, count: usize) {
        let identity = <F as Fold<W::Operand>>::identity::<ScalarBackend>();
        let source = source.cast::<[Unaligned<R::Operand>; N]>();
        for index in 0..count {
            // SAFETY: `index` is below `count`, so the caller ensures a readable row of `N` elements here.
            let row = unsafe { &*source.wrapping_add(index) };
            let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); 4];
            for lane in 0..N {
                let element = R::read(row[lane].get());
                wide[lane] =
                    W::read(<F as Fold<W::Operand>>::combine::<ScalarBackend>(identity, element));
            }
            let [first, second, third, fourth] = wide;
            let all = Self::combine(Self::combine(Self::combine(first, second), third), fourth);
            // SAFETY: `index` is below `count`, the caller's number of writable results.
            unsafe { Self::write(results, index, all) }
        }
    }

    /// Folds rows with fewer elements than a block has lanes, each in 8, 16, 24 or 32 lanes. Returns the
    /// number of rows folded: the leading rows from whose start that many elements are readable.
    ///
    /// # Safety
    /// - the obligations of [`RowFoldFn`];
    /// - rows have fewer than `REDUCTION_LANES` elements.
    #[inline(always)]
    unsafe fn short_rows(results: *mut u8, source: *const u8, rows: FoldedRows) -> usize {
        // SAFETY: the caller has the same obligations, and each arm has at least as many lanes as the rows
        // have elements.
        unsafe {
            match rows.width {
                0..=8 => Self::rows_in_lanes::<8>(results, source, rows),
                9..=16 => Self::rows_in_lanes::<16>(results, source, rows),
                17..=24 => Self::rows_in_lanes::<24>(results, source, rows),
                _ => Self::rows_in_lanes::<REDUCTION_LANES>(results, source, rows),
            }
        }
    }

    /// Like [`RowBody::short_rows`], in `N` lanes.
    ///
    /// # Safety
    /// - the obligations of [`RowFoldFn`];
    /// - rows have at most `N` elements.
    #[inline(always)]
    unsafe fn rows_in_lanes<const N: usize>(
        results: *mut u8,
        source: *const u8,
        rows: FoldedRows,
    ) -> usize {
        let identity = <F as Fold<W::Operand>>::identity::<ScalarBackend>();
        // An opaque width, so that the compiler does not specialise the code for the lanes of a `match` arm.
        let width = black_box(rows.width);
        let overreadable = overreadable_rows(rows, Self::SOURCE_SIZE, N);
        for index in 0..overreadable {
            let row = source.wrapping_offset(index as isize * rows.stride);
            // SAFETY: `overreadable_rows` counts rows from whose start `N` elements are readable.
            let row = unsafe { &*row.cast::<[Unaligned<R::Operand>; N]>() };
            let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); N];
            for lane in 0..N {
                let element = R::read(row[lane].get());
                let element = if lane < width { element } else { identity };
                wide[lane] =
                    W::read(<F as Fold<W::Operand>>::combine::<ScalarBackend>(identity, element));
            }
            // SAFETY: `index` is below `rows.count`, the number of writable results.
            unsafe { Self::write(results, index, Self::fold_lanes(wide)) }
        }
        overreadable
    }

    /// Folds a row by the tree.
    ///
    /// # Safety
    /// `row` is valid for reads of `length` elements; if `may_overread`, also up to the next multiple of
    /// `REDUCTION_LANES`.
    #[inline(always)]
    unsafe fn fold_row(row: *const u8, length: usize, may_overread: bool) -> T {
        let mut nodes = [MaybeUninit::<T>::uninit(); MAX_NODES];
        let mut top = 0;
        for block in 0.. {
            let start = block * REDUCTION_BLOCK;
            let is_last = length - start <= REDUCTION_BLOCK;
            let elements = row.wrapping_add(start * Self::SOURCE_SIZE);
            // SAFETY:
            // - elements from `start` on are in the row;
            // - `REDUCTION_BLOCK` is a multiple of `REDUCTION_LANES`, so an over-read ends where the caller
            //   allows it.
            let mut node = unsafe {
                Self::fold_block(elements, REDUCTION_BLOCK.min(length - start), may_overread)
            };
            let merged = if is_last { top } else { block.trailing_ones() as usize };
            for _ in 0..merged {
                top -= 1;
                // SAFETY: nodes below `top` are initialised: each was written before `top` passed it.
                node = Self::combine(unsafe { nodes[top].assume_init() }, node);
            }
            if is_last {
                return node;
            }
            nodes[top].write(node);
            top += 1;
        }
        unreachable!("invariant: some block is the last")
    }

    /// Folds a block, or the incomplete last block of a row.
    ///
    /// # Safety
    /// Like [`RowBody::fold_row`], for the elements of the block.
    #[inline(always)]
    unsafe fn fold_block(elements: *const u8, length: usize, may_overread: bool) -> T {
        let identity = <F as Fold<W::Operand>>::identity::<ScalarBackend>();
        let accumulate = |lane: &mut W::Operand, element| {
            *lane = <F as Fold<W::Operand>>::combine::<ScalarBackend>(*lane, element);
        };
        let mut lanes = [identity; REDUCTION_LANES];
        let full_rows = length / REDUCTION_LANES;
        for row in 0..full_rows {
            let from = elements.wrapping_add(row * REDUCTION_LANES * Self::SOURCE_SIZE);
            // SAFETY: the block has `full_rows * REDUCTION_LANES` readable elements.
            let row = unsafe { &*from.cast::<[Unaligned<R::Operand>; REDUCTION_LANES]>() };
            for lane in 0..REDUCTION_LANES {
                accumulate(&mut lanes[lane], R::read(row[lane].get()));
            }
        }
        // Opaque: with a known number of lanes the compiler computes some of them by scalar instructions.
        let rest = black_box(length % REDUCTION_LANES);
        if rest > 0 {
            let from = elements.wrapping_add(full_rows * REDUCTION_LANES * Self::SOURCE_SIZE);
            // Each branch accumulates by itself, so that the lanes stay in registers.
            if may_overread {
                // SAFETY: the caller allows reads up to the next multiple of `REDUCTION_LANES`.
                let row = unsafe { &*from.cast::<[Unaligned<R::Operand>; REDUCTION_LANES]>() };
                for group in 0..REDUCTION_LANES / Self::TAIL_LANES {
                    if group * Self::TAIL_LANES < rest {
                        for lane in group * Self::TAIL_LANES..(group + 1) * Self::TAIL_LANES {
                            let element = R::read(row[lane].get());
                            accumulate(
                                &mut lanes[lane],
                                if lane < rest { element } else { identity },
                            );
                        }
                    }
                }
            } else {
                // SAFETY: the block has `rest` elements after its full rows.
                let row = unsafe { Self::elements(from, rest) };
                for lane in 0..REDUCTION_LANES {
                    accumulate(&mut lanes[lane], row[lane]);
                }
            }
        }
        // Not `lanes.map`, which is not always inlined.
        let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); REDUCTION_LANES];
        for lane in 0..REDUCTION_LANES {
            wide[lane] = W::read(lanes[lane]);
        }
        Self::fold_lanes(wide)
    }

    /// Combines the lanes of a block by halves; `N` is at least 4.
    #[inline(always)]
    fn fold_lanes<const N: usize>(mut lanes: [T; N]) -> T {
        Self::halve::<N, 16>(&mut lanes);
        Self::halve::<N, 8>(&mut lanes);
        Self::halve::<N, 4>(&mut lanes);
        // Through memory: otherwise the compiler arranges all registers in the order of the last four lanes.
        let last = black_box(LastLanes([lanes[0], lanes[1], lanes[2], lanes[3]]));
        let LastLanes([first, second, third, fourth]) = last;
        Self::combine(Self::combine(Self::combine(first, second), third), fourth)
    }

    /// Combines lanes `HALF` apart. The distance is a constant, so that the loop is unrolled.
    #[inline(always)]
    fn halve<const N: usize, const HALF: usize>(lanes: &mut [T; N]) {
        for lane in HALF..const { if N < 2 * HALF { N } else { 2 * HALF } } {
            lanes[lane - HALF] = Self::combine(lanes[lane - HALF], lanes[lane]);
        }
    }

    #[inline(always)]
    fn combine(x: T, y: T) -> T {
        <F as Fold<T>>::combine::<ScalarBackend>(x, y)
    }

    /// `count` elements, padded with the identity.
    ///
    /// # Safety
    /// `row` is valid for reads of `count` elements.
    #[inline(always)]
    unsafe fn elements(row: *const u8, count: usize) -> [W::Operand; REDUCTION_LANES] {
        let mut lanes = [<F as Fold<W::Operand>>::identity::<ScalarBackend>(); REDUCTION_LANES];
        for (lane, place) in lanes[..count].iter_mut().enumerate() {
            // SAFETY: `lane` is below `count`, the caller's number of readable elements.
            let element = unsafe { *row.cast::<Unaligned<R::Operand>>().wrapping_add(lane) };
            *place = R::read(element.get());
        }
        lanes
    }
}
