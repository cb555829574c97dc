//! Where the extreme of some elements is: what the blocks of a search are compared by, and how the one that
//! has the extreme is searched. Holds unsafe code.

use indim_ops::{DType, Element, Fold, FoldVisitor, Op, ReduceOp, Scalars};

/// What is found in some columns: of each the extreme, and where it is.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// Elements, one for each column.
    pub extremes: *mut u8,
    /// Their indices.
    pub indices: *mut usize,
}

/// What a search calls for its element type.
#[derive(Debug, Clone, Copy)]
pub struct SearchFunctions {
    /// Keeps of each column the further extreme of two: the one that was found first, or the one found at a
    /// new index. At index 0 nothing was found before.
    ///
    /// Safety: both hold so many columns.
    pub keep: unsafe fn(found: Found, extremes: *const u8, columns: usize, index: usize),
    /// The first NaN among so many elements, so many bytes apart, or else the first element equal to the
    /// extreme, which is there.
    ///
    /// Safety: the elements are valid for reads, and so is the extreme.
    pub find: unsafe fn(first: *const u8, count: usize, stride: isize, extreme: *const u8) -> usize,
}

/// The functions of the search `op` among elements of type `dtype`; `None` where it does not take the type.
pub fn search_functions(op: ReduceOp, dtype: DType) -> Option<SearchFunctions> {
    op.searched().visit(dtype, OfFold)
}

struct OfFold;

impl FoldVisitor for OfFold {
    type Output = SearchFunctions;

    fn fold<F: Fold<T>, T: Element>(self) -> SearchFunctions {
        match const { matches!(F::OP, Op::Max | Op::Min) } {
            true => SearchFunctions { keep: keep::<F, T>, find: find::<T> },
            false => unreachable!("invariant: extremes are searched"),
        }
    }
}

/// # Safety
/// See [`SearchFunctions::keep`].
unsafe fn keep<F: Fold<T>, T: Element>(
    found: Found,
    extremes: *const u8,
    columns: usize,
    index: usize,
) {
    // SAFETY: the caller's promise; all memory of threads, and what pieces leave, is aligned.
    let (kept, indices, extremes) = unsafe {
        (
            core::slice::from_raw_parts_mut(found.extremes.cast::<T::Stored>(), columns),
            core::slice::from_raw_parts_mut(found.indices, columns),
            core::slice::from_raw_parts(extremes.cast::<T::Stored>(), columns),
        )
    };
    if index == 0 {
        kept.copy_from_slice(extremes);
        indices.fill(0);
        return;
    }
    for ((kept, place), &stored) in kept.iter_mut().zip(indices).zip(extremes) {
        let (before, new) = (T::from_stored(*kept), T::from_stored(stored));
        // A NaN is the end of a search; nothing is equal to one. -0 and +0 are equal.
        let is_further = !is_nan(before) & (F::combine::<Scalars>(before, new) != before);
        *kept = if is_further { stored } else { *kept };
        *place = if is_further { index } else { *place };
    }
}

/// So many elements are compared at once, and so many of those among which it is.
const COMPARED: usize = 32;
const COMPARED_LAST: usize = 8;

/// # Safety
/// See [`SearchFunctions::find`].
unsafe fn find<T: Element>(
    first: *const u8,
    count: usize,
    stride: isize,
    extreme: *const u8,
) -> usize {
    // SAFETY: the caller's promise.
    let extreme = T::from_stored(unsafe { extreme.cast::<T::Stored>().read_unaligned() });
    let is_found = |place: *const u8| {
        // SAFETY: the caller's promise; only elements that there are are asked for.
        let x = T::from_stored(unsafe { place.cast::<T::Stored>().read_unaligned() });
        (x == extreme) | is_nan(x)
    };
    let size = size_of::<T::Stored>();
    let mut start = 0;
    if stride == size as isize {
        let has_it = |start: usize, count: usize| {
            let places = (start..start + count).map(|index| first.wrapping_add(index * size));
            places.fold(false, |any, place| any | is_found(place))
        };
        while start + COMPARED <= count && !has_it(start, COMPARED) {
            start += COMPARED;
        }
        while start + COMPARED_LAST <= count && !has_it(start, COMPARED_LAST) {
            start += COMPARED_LAST;
        }
    }
    // It is there, unless others write to a mapped file meanwhile.
    let is_at = |&index: &usize| is_found(first.wrapping_offset(index as isize * stride));
    (start..count).find(is_at).unwrap_or(0)
}

#[expect(clippy::eq_op, reason = "a NaN differs from itself")]
fn is_nan<T: Element>(x: T) -> bool {
    x != x
}
