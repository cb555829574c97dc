//! Sorting: the total order of elements, stable sorts, and searches in sorted tables.
//!
//! Numbers have their usual order. -0 equals +0; all NaNs are equal, and greater than every number. This is
//! not the order of IEEE 754's `totalOrder`, which the operations `total_lt`, ... use (`float_bits.rs`).
//! `false` is less than `true`. Complex numbers are ordered by their real parts, then by their imaginary
//! parts, each in the order of floats. Sorts are stable: equal elements keep the order of their positions,
//! also in descending order, which puts NaN first.

use core::cmp::Ordering;

use crate::{Complex, Element, bf16, c64, c128, f16};

/// An element type with the total order of sorts.
pub trait SortOrder: Element {
    /// The order of two elements; equal elements may differ in their bits.
    ///
    /// ```
    /// use core::cmp::Ordering;
    /// use indim_ops::SortOrder;
    ///
    /// assert_eq!(f32::NAN.sort_cmp(f32::INFINITY), Ordering::Greater);
    /// assert_eq!((-0.0f32).sort_cmp(0.0), Ordering::Equal);
    /// ```
    fn sort_cmp(self, other: Self) -> Ordering;
}

macro_rules! ordered {
    ($($type:ident)*) => { $(
        impl SortOrder for $type {
            fn sort_cmp(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
        }
    )* };
}

macro_rules! floats {
    ($($type:ident)*) => { $(
        impl SortOrder for $type {
            fn sort_cmp(self, other: Self) -> Ordering {
                let numbers = self.partial_cmp(&other);
                numbers.unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
            }
        }
    )* };
}

macro_rules! halves {
    ($($type:ident)*) => { $(
        impl SortOrder for $type {
            fn sort_cmp(self, other: Self) -> Ordering {
                self.to_f32().sort_cmp(other.to_f32())
            }
        }
    )* };
}

macro_rules! complexes {
    ($($type:ident)*) => { $(
        impl SortOrder for $type {
            fn sort_cmp(self, other: Self) -> Ordering {
                let Complex { re, im } = other;
                self.re.sort_cmp(re).then_with(|| self.im.sort_cmp(im))
            }
        }
    )* };
}

ordered!(bool i8 i16 i32 i64 u8 u16 u32 u64);
floats!(f32 f64);
halves!(f16 bf16);
complexes!(c64 c128);

/// Sorts `positions` stably by their keys; the key of position `p` is `keys[p]`.
///
/// ```
/// use indim_ops::sort_positions;
///
/// let mut positions = vec![0, 1, 2, 3];
/// sort_positions(&mut positions, &[2.0f32, f32::NAN, 0.0, 2.0], true);
/// assert_eq!(positions, [1, 0, 3, 2]);
/// ```
///
/// # Panics
/// If a position is not one of `keys`.
pub fn sort_positions<T: SortOrder>(positions: &mut [usize], keys: &[T], descending: bool) {
    sort_by(positions, &mut |x, y| {
        let order = keys[x].sort_cmp(keys[y]);
        if descending { order.reverse() } else { order }
    });
}

/// Sorts stably. All element types share this code.
fn sort_by(positions: &mut [usize], order: &mut dyn FnMut(usize, usize) -> Ordering) {
    positions.sort_by(|&x, &y| order(x, y));
}

/// The position that a search returns if the table has elements equal to the value.
///
/// ```
/// use indim_ops::SearchSide;
///
/// assert_eq!("right".parse(), Ok(SearchSide::Right));
/// assert_eq!(SearchSide::Left.to_string(), "left");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchSide {
    /// Before equal elements: the number of elements that are less.
    Left,
    /// After equal elements: the number of elements that are less or equal.
    Right,
}

impl SearchSide {
    /// The name of the side.
    pub const fn name(self) -> &'static str {
        match self {
            SearchSide::Left => "left",
            SearchSide::Right => "right",
        }
    }
}

impl core::fmt::Display for SearchSide {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.name())
    }
}

impl core::str::FromStr for SearchSide {
    type Err = ();

    fn from_str(name: &str) -> Result<SearchSide, ()> {
        [SearchSide::Left, SearchSide::Right].into_iter().find(|side| side.name() == name).ok_or(())
    }
}

/// The position of `value` in a sorted table by a binary search.
///
/// The search halves a range of `count` elements, at first the whole table, until one is left. Each step
/// compares the last of the first `count / 2` elements with the value: if it lies before the value (or
/// equals the value, for [`SearchSide::Right`]), the range now begins after it. The range loses `count / 2`
/// elements either way. These steps also define the result for a table that is not sorted.
///
/// ```
/// use indim_ops::{SearchSide, search_sorted};
///
/// let table = [1.0f32, 2.0, 2.0, f32::NAN];
/// assert_eq!(search_sorted(&table, 2.0, SearchSide::Left), 1);
/// assert_eq!(search_sorted(&table, 2.0, SearchSide::Right), 3);
/// assert_eq!(search_sorted(&table, f32::NAN, SearchSide::Left), 3);
/// ```
pub fn search_sorted<T: SortOrder>(table: &[T], value: T, side: SearchSide) -> usize {
    let is_before = |element: T| match side {
        SearchSide::Left => element.sort_cmp(value).is_lt(),
        SearchSide::Right => element.sort_cmp(value).is_le(),
    };
    let (mut first, mut count) = (0, table.len());
    while count > 1 {
        let half = count / 2;
        if is_before(table[first + half - 1]) {
            first += half;
        }
        count -= half;
    }
    match table.get(first) {
        Some(&element) => first + usize::from(is_before(element)),
        None => 0,
    }
}
