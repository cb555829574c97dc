//! The reduction tree over dense rows: each row becomes one element, and its lanes stay in registers. Holds
//! unsafe code.

use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_ops::{Element, Fold, ScalarBackend};

use super::block::Unaligned;
use super::fold::{FoldRows, FoldedRows, Read};

/// Folds each row to one element by the tree.
///
/// # Safety
/// - `results` is valid for writes of `rows.count` elements of the accumulators' type;
/// - `source` plus each of `rows.count` multiples of `rows.stride` is valid for reads of `rows.width`
///   elements of the source's type; none of them is a result; `rows.begins` says nothing;
/// - no pointer needs to be aligned;
/// - the processor has the level for which the function was looked up.
pub type RowFoldFn = unsafe fn(results: *mut u8, source: *const u8, rows: FoldedRows);

/// Number of wide lanes processed at a time at the end of a row: those that get an element.
const WIDE_LANES: usize = 8;

/// Lanes that are folded last, aligned: lanes across two cache lines would be read slowly right after they
/// were written.
#[repr(align(32))]
struct LastLanes<T>([T; 4]);

/// Maximum number of tree nodes that wait for a sibling.
const MAX_NODES: usize = (usize::BITS - BLOCK.ilog2()) as usize;

/// The fold `F` of rows of elements: `R` reads elements into the lanes of a block, `W` reads lanes into
/// nodes of type `T`.
pub(super) struct RowBody<F, R, W, T>(PhantomData<(F, R, W, T)>);

impl<F, R, W, T> FoldRows for RowBody<F, R, W, T>
where
    F: Fold<W::Source> + Fold<T>,
    R: Read<W::Source>,
    W: Read<T>,
    T: Element,
{
    #[inline(always)]
    unsafe fn run(results: *mut u8, source: *const u8, rows: FoldedRows) {
        let FoldedRows { count, stride, width, .. } = rows;
        let is_dense = are_dense(rows, Self::SOURCE_SIZE);
        let (covered, begun) = match width {
            // SAFETY: the caller's promise; dense rows lie one after another.
            2..=4 if is_dense => (0, unsafe { Self::narrow_rows(results, source, rows) }),
            // SAFETY: the caller's promise.
            0..LANES => (0, unsafe { Self::short_rows(results, source, rows) }),
            _ => (covered(rows, Self::SOURCE_SIZE, width.next_multiple_of(LANES)), 0),
        };
        for index in begun..count {
            let row = source.wrapping_offset(index as isize * stride);
            // SAFETY: the caller's promise, for one of the rows.
            unsafe { Self::write(results, index, Self::row(row, width, index < covered)) }
        }
    }
}

/// Whether rows are contiguous.
fn are_dense(rows: FoldedRows, source_size: usize) -> bool {
    rows.stride == (rows.width * source_size) as isize
}

/// Number of leading rows in which `elements` are readable: in dense rows the next row covers the
/// overrun, except for the last rows.
fn covered(rows: FoldedRows, source_size: usize, elements: usize) -> usize {
    let FoldedRows { count, width, .. } = rows;
    if !are_dense(rows, source_size) {
        return 0;
    }
    (count * width + width).saturating_sub(elements).checked_div(width).unwrap_or(0).min(count)
}

impl<F, R, W, T> RowBody<F, R, W, T>
where
    F: Fold<W::Source> + Fold<T>,
    R: Read<W::Source>,
    W: Read<T>,
    T: Element,
{
    const SOURCE_SIZE: usize = size_of::<<R::Source as Element>::Storage>();

    /// Number of lanes processed at a time at the end of a row; all of them for narrow lanes, which take
    /// few registers.
    const PART: usize = match size_of::<<W::Source as Element>::Storage>() {
        8.. => WIDE_LANES,
        _ => LANES,
    };

    /// # Safety
    /// The result of this index is valid for writes.
    #[inline(always)]
    unsafe fn write(results: *mut u8, index: usize, folded: T) {
        let result = results.wrapping_add(index * size_of::<T::Storage>());
        // SAFETY: the caller's promise.
        unsafe { *result.cast() = Unaligned::<T>(folded.to_storage()) }
    }

    /// Folds dense rows of two to four elements; returns the number of rows folded.
    ///
    /// # Safety
    /// Like [`RowFoldFn`]; rows lie one after another.
    #[inline(always)]
    unsafe fn narrow_rows(results: *mut u8, source: *const u8, rows: FoldedRows) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            match rows.width {
                2 => Self::dense_rows_of::<2>(results, source, rows.count),
                3 => Self::dense_rows_of::<3>(results, source, rows.count),
                _ => Self::dense_rows_of::<4>(results, source, rows.count),
            }
        }
        rows.count
    }

    /// Like [`RowBody::narrow_rows`], for rows of `N` elements: a loop over rows that the compiler
    /// vectorises, each row in a lane of its own.
    ///
    /// # Safety
    /// Like [`RowFoldFn`]; rows have `N` elements and are contiguous.
    #[inline(always)]
    unsafe fn dense_rows_of<const N: usize>(results: *mut u8, source: *const u8, count: usize) {
        let identity = <F as Fold<W::Source>>::identity::<ScalarBackend>();
        let source = source.cast::<[Unaligned<R::Source>; N]>();
        for index in 0..count {
            // SAFETY: the caller's promise.
            let row = unsafe { &*source.wrapping_add(index) };
            let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); 4];
            for lane in 0..N {
                let element = R::read(row[lane].get());
                wide[lane] =
                    W::read(<F as Fold<W::Source>>::combine::<ScalarBackend>(identity, element));
            }
            let [first, second, third, fourth] = wide;
            let all = Self::combined(Self::combined(Self::combined(first, second), third), fourth);
            // SAFETY: the caller's promise.
            unsafe { Self::write(results, index, all) }
        }
    }

    /// Folds rows with fewer elements than a block has lanes, each in the fewest lanes that hold it;
    /// returns the number of rows folded, those whose lanes are all readable.
    ///
    /// # Safety
    /// Like [`RowFoldFn`].
    #[inline(always)]
    unsafe fn short_rows(results: *mut u8, source: *const u8, rows: FoldedRows) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            match rows.width {
                0..=8 => Self::rows_of::<8>(results, source, rows),
                9..=16 => Self::rows_of::<16>(results, source, rows),
                17..=24 => Self::rows_of::<24>(results, source, rows),
                _ => Self::rows_of::<LANES>(results, source, rows),
            }
        }
    }

    /// Like [`RowBody::short_rows`], in `N` lanes.
    ///
    /// # Safety
    /// Like [`RowFoldFn`]; rows have at most `N` elements.
    #[inline(always)]
    unsafe fn rows_of<const N: usize>(
        results: *mut u8,
        source: *const u8,
        rows: FoldedRows,
    ) -> usize {
        let identity = <F as Fold<W::Source>>::identity::<ScalarBackend>();
        // An opaque width: straight-line code, not specialised for some lanes.
        let width = black_box(rows.width);
        let covered = covered(rows, Self::SOURCE_SIZE, N);
        for index in 0..covered {
            let row = source.wrapping_offset(index as isize * rows.stride);
            // SAFETY: so many elements can be read.
            let row = unsafe { &*row.cast::<[Unaligned<R::Source>; N]>() };
            let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); N];
            for lane in 0..N {
                let element = R::read(row[lane].get());
                let element = if lane < width { element } else { identity };
                wide[lane] =
                    W::read(<F as Fold<W::Source>>::combine::<ScalarBackend>(identity, element));
            }
            // SAFETY: the caller's promise.
            unsafe { Self::write(results, index, Self::folded(wide)) }
        }
        covered
    }

    /// # Safety
    /// `row` is valid for reads of `length` elements; if it `is_covered`, also of those up to the next
    /// multiple of `LANES`.
    #[inline(always)]
    unsafe fn row(row: *const u8, length: usize, is_covered: bool) -> T {
        let mut nodes = [MaybeUninit::<T>::uninit(); MAX_NODES];
        let mut top = 0;
        for block in 0.. {
            let start = block * BLOCK;
            let is_last = length - start <= BLOCK;
            let elements = row.wrapping_add(start * Self::SOURCE_SIZE);
            // SAFETY: the caller's promise.
            let mut node = unsafe { Self::block(elements, BLOCK.min(length - start), is_covered) };
            let combined = if is_last { top } else { block.trailing_ones() as usize };
            for _ in 0..combined {
                top -= 1;
                // SAFETY: the nodes below `top` have been written.
                node = Self::combined(unsafe { nodes[top].assume_init() }, node);
            }
            if is_last {
                return node;
            }
            nodes[top].write(node);
            top += 1;
        }
        unreachable!("invariant: some block is the last")
    }

    /// The fold of a block, which may be incomplete.
    ///
    /// # Safety
    /// Like [`RowBody::row`].
    #[inline(always)]
    unsafe fn block(elements: *const u8, length: usize, is_covered: bool) -> T {
        let identity = <F as Fold<W::Source>>::identity::<ScalarBackend>();
        let take = |lane: &mut W::Source, element| {
            *lane = <F as Fold<W::Source>>::combine::<ScalarBackend>(*lane, element);
        };
        let mut lanes = [identity; LANES];
        let whole = length / LANES;
        for row in 0..whole {
            let from = elements.wrapping_add(row * LANES * Self::SOURCE_SIZE);
            // SAFETY: the caller's promise.
            let row = unsafe { &*from.cast::<[Unaligned<R::Source>; LANES]>() };
            for lane in 0..LANES {
                take(&mut lanes[lane], R::read(row[lane].get()));
            }
        }
        // What the compiler knows of some lanes, it would compute apart from the others, by scalars.
        let rest = black_box(length % LANES);
        if rest > 0 {
            let from = elements.wrapping_add(whole * LANES * Self::SOURCE_SIZE);
            // The two do not meet before lanes are taken, so that they stay in registers.
            if is_covered {
                // SAFETY: the caller's promise.
                let row = unsafe { &*from.cast::<[Unaligned<R::Source>; LANES]>() };
                for part in 0..LANES / Self::PART {
                    if part * Self::PART < rest {
                        for lane in part * Self::PART..(part + 1) * Self::PART {
                            let element = R::read(row[lane].get());
                            take(&mut lanes[lane], if lane < rest { element } else { identity });
                        }
                    }
                }
            } else {
                // SAFETY: the caller's promise.
                let row = unsafe { Self::elements(from, rest) };
                for lane in 0..LANES {
                    take(&mut lanes[lane], row[lane]);
                }
            }
        }
        // The `map` of arrays is not always inlined.
        let mut wide = [<F as Fold<T>>::identity::<ScalarBackend>(); LANES];
        for lane in 0..LANES {
            wide[lane] = W::read(lanes[lane]);
        }
        Self::folded(wide)
    }

    /// The lanes of a block combined by halves; at least four lanes.
    #[inline(always)]
    fn folded<const N: usize>(mut lanes: [T; N]) -> T {
        Self::halve::<N, 16>(&mut lanes);
        Self::halve::<N, 8>(&mut lanes);
        Self::halve::<N, 4>(&mut lanes);
        // By way of memory, or the order in which the last four are combined would be that of all registers.
        let last = black_box(LastLanes([lanes[0], lanes[1], lanes[2], lanes[3]]));
        let LastLanes([first, second, third, fourth]) = last;
        Self::combined(Self::combined(Self::combined(first, second), third), fourth)
    }

    /// Combines lanes at a distance that is a constant, so that the loop is unrolled.
    #[inline(always)]
    fn halve<const N: usize, const HALF: usize>(lanes: &mut [T; N]) {
        for lane in HALF..const { if N < 2 * HALF { N } else { 2 * HALF } } {
            lanes[lane - HALF] = Self::combined(lanes[lane - HALF], lanes[lane]);
        }
    }

    #[inline(always)]
    fn combined(x: T, y: T) -> T {
        <F as Fold<T>>::combine::<ScalarBackend>(x, y)
    }

    /// `count` elements, padded with identities.
    ///
    /// # Safety
    /// `row` is valid for reads of `count` elements.
    #[inline(always)]
    unsafe fn elements(row: *const u8, count: usize) -> [W::Source; LANES] {
        let mut lanes = [<F as Fold<W::Source>>::identity::<ScalarBackend>(); LANES];
        for (lane, place) in lanes[..count].iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let element = unsafe { *row.cast::<Unaligned<R::Source>>().wrapping_add(lane) };
            *place = R::read(element.get());
        }
        lanes
    }
}
