//! Stable sorts of a few items, such as the axes of an array.

use core::cmp::Ordering;

/// Sorts a few items, stably.
///
/// This is an insertion sort, so it takes few bytes for each type and order. The sort of the standard
/// library, which is for many items, is compiled to about 6,000 bytes for each.
///
/// ```
/// use indim_shape::sort_few_by;
///
/// let mut sizes = [3, 1, 2];
/// sort_few_by(&mut sizes, |x, y| y.cmp(x));
/// assert_eq!(sizes, [3, 2, 1]);
/// ```
pub fn sort_few_by<T>(items: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    for count in 1..items.len() {
        let mut place = count;
        while place > 0 && order(&items[place], &items[place - 1]) == Ordering::Less {
            items.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Sorts a few items by a key, stably; see [`sort_few_by`].
///
/// ```
/// use indim_shape::sort_few_by_key;
///
/// let strides = [4, 1, 4];
/// let mut axes = [0, 1, 2];
/// sort_few_by_key(&mut axes, |&axis| strides[axis]);
/// assert_eq!(axes, [1, 0, 2]);
/// ```
pub fn sort_few_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_few_by(items, |x, y| key(x).cmp(&key(y)));
}
