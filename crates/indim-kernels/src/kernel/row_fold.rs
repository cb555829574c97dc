//! The tree of reductions over rows whose elements lie one after another: each becomes one element, and its
//! lanes never leave the registers. Holds unsafe code.

use core::hint::black_box;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::meaning::reduction::{BLOCK, LANES};
use indim_ops::{Element, Fold, Scalars};

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

/// The most nodes that wait for others.
const MOST_NODES: usize = (usize::BITS - BLOCK.ilog2()) as usize;

/// The fold `F` of rows of elements, which lanes of a block read as `R` says; nodes of type `T` read the
/// lanes as `W` says.
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

impl<F, R, W, T> RowBody<F, R, W, T>
where
    F: Fold<W::Source> + Fold<T>,
    R: Read<W::Source>,
    W: Read<T>,
    T: Element,
{
    const SOURCE_SIZE: usize = size_of::<<R::Source as Element>::Stored>();

    /// # Safety
    /// `row` is valid for reads of `length` elements; if it `is_covered`, also of those up to the next
    /// multiple of `LANES`.
    #[inline(always)]
    unsafe fn row(row: *const u8, length: usize, is_covered: bool) -> T {
        let mut nodes = [MaybeUninit::<T>::uninit(); MOST_NODES];
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

    /// What comes of a block, of which elements may be lacking.
    ///
    /// # Safety
    /// As [`RowBody::row`].
    #[inline(always)]
    unsafe fn block(elements: *const u8, length: usize, is_covered: bool) -> T {
        let identity = <F as Fold<W::Source>>::identity::<Scalars>();
        let take = |lane: &mut W::Source, element| {
            *lane = <F as Fold<W::Source>>::combine::<Scalars>(*lane, element);
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
                for lane in 0..LANES {
                    let element = R::read(row[lane].get());
                    take(&mut lanes[lane], if lane < rest { element } else { identity });
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
        let mut wide = [<F as Fold<T>>::identity::<Scalars>(); LANES];
        for lane in 0..LANES {
            wide[lane] = W::read(lanes[lane]);
        }
        Self::folded(wide)
    }

    /// The lanes of a block folded by halves.
    #[inline(always)]
    fn folded(mut lanes: [T; LANES]) -> T {
        for half in [16, 8, 4] {
            for lane in 0..half {
                lanes[lane] = Self::combined(lanes[lane], lanes[lane + half]);
            }
        }
        // By way of memory, or the order in which the last four are combined would be that of all registers.
        let [first, second, third, fourth] = black_box([lanes[0], lanes[1], lanes[2], lanes[3]]);
        Self::combined(Self::combined(Self::combined(first, second), third), fourth)
    }

    #[inline(always)]
    fn combined(x: T, y: T) -> T {
        <F as Fold<T>>::combine::<Scalars>(x, y)
    }

    /// As many elements, and identities.
    ///
    /// # Safety
    /// `row` is valid for reads of as many.
    #[inline(always)]
    unsafe fn elements(row: *const u8, count: usize) -> [W::Source; LANES] {
        let mut lanes = [<F as Fold<W::Source>>::identity::<Scalars>(); LANES];
        for (lane, place) in lanes[..count].iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            let element = unsafe { *row.cast::<Unaligned<R::Source>>().wrapping_add(lane) };
            *place = R::read(element.get());
        }
        lanes
    }
}
