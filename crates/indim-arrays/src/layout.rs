//! Overlap of strided arrays, decided exactly, like `numpy.shares_memory`.
//!
//! Two arrays share a byte if `a + Σ sᵢxᵢ + p = b + Σ tⱼyⱼ + q` has a solution. `a` and `b` are the
//! addresses of the first elements, `sᵢ` and `tⱼ` the strides in bytes, `xᵢ` and `yⱼ` the indices; byte
//! `p` of an element of one array is byte `q` of an element of the other. With positive strides, and the
//! indices of one array counted from the end, this is `Σ coefficient · unknown = total` over bounded
//! non-negative integers. The problem is NP-hard (it contains subset sum), so the search is bounded.
//! Layouts made by slicing, transposing and interleaving take a few steps.

use core::ops::Range;

use indim_ops::ArrayType;
use indim_shape::sort_few_by_key;

/// Maximum number of values of unknowns that a search tries before it gives up: a few milliseconds.
const MAX_STEPS: usize = 1 << 16;

/// The memory layout of an array.
#[derive(Debug, Clone)]
pub struct StridedLayout<'a> {
    /// The addresses of the bytes, from the lowest to one past the highest; empty without elements.
    pub range: Range<usize>,
    /// The size of an element in bytes.
    pub element_size: usize,
    /// The size of each axis.
    pub sizes: &'a [usize],
    /// The stride along each axis, in bytes.
    pub byte_strides: &'a [isize],
}

/// The distances in bytes from the first element of an array to its lowest byte and to one past its highest.
///
/// `None` for an array without elements, or if the distances do not fit `isize`.
pub(crate) fn extent(array_type: &ArrayType, strides: &[isize]) -> Option<(isize, isize)> {
    let (mut low, mut high) = (0isize, isize::try_from(array_type.dtype.size()).ok()?);
    for (&size, &stride) in array_type.shape.iter().zip(strides) {
        let last = isize::try_from(size.checked_sub(1)?).ok()?;
        let reach = last.checked_mul(stride)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    Some((low, high))
}

impl<'a> StridedLayout<'a> {
    /// The layout of an array of this type, with these strides in bytes, whose first element is at address
    /// `first`.
    pub fn new(array_type: &'a ArrayType, strides: &'a [isize], first: usize) -> Self {
        let range = match extent(array_type, strides) {
            Some((low, high)) => first.wrapping_add_signed(low)..first.wrapping_add_signed(high),
            None => first..first,
        };
        let (element_size, sizes) = (array_type.dtype.size(), array_type.shape.sizes());
        StridedLayout { range, element_size, sizes, byte_strides: strides }
    }

    /// Whether some byte belongs to an element of each array; `None` if the search gives up.
    ///
    /// ```
    /// use indim_arrays::StridedLayout;
    ///
    /// // The two columns of a matrix, and the whole matrix.
    /// let column = |first| {
    ///     let range = first..first + 36;
    ///     StridedLayout { range, element_size: 4, sizes: &[5], byte_strides: &[8] }
    /// };
    /// assert_eq!(column(0).shares_memory(&column(4)), Some(false));
    /// let matrix = StridedLayout { range: 0..40, element_size: 4, sizes: &[5, 2], byte_strides: &[8, 4] };
    /// assert_eq!(matrix.shares_memory(&column(4)), Some(true));
    /// ```
    pub fn shares_memory(&self, other: &StridedLayout<'_>) -> Option<bool> {
        let (a, b) = (&self.range, &other.range);
        if a.start.max(b.start) >= a.end.min(b.end) {
            return Some(false);
        }
        let bytes = self.element_size + other.element_size - 2;
        let terms = self.terms().chain(other.terms()).chain([Term::new(1, bytes)]);
        // The distance from the lowest byte of `self` to the highest byte of `other`.
        let total = b.end as i128 - 1 - a.start as i128;
        Equation::new(terms).has_solution(total)
    }

    /// Whether no two elements share a byte; `None` if the search gives up.
    pub fn has_separate_elements(&self) -> Option<bool> {
        let mut terms: Vec<Term> = self.terms().collect();
        sort_few_by_key(&mut terms, |term| term.coefficient);
        if self.range.is_empty() || is_nested(&terms, self.element_size) {
            return Some(true);
        }
        // Two elements that share a byte differ in some index. Each term in turn is `first`, the term of
        // the first index that differs; by symmetry its difference is positive: 1 to `max`. The
        // differences of the later indices, from -`max` to `max`, are shifted by `max`, so that all
        // unknowns begin at 0.
        let bytes = 2 * (self.element_size as i128 - 1);
        let mut is_decided = true;
        for (position, first) in terms.iter().enumerate() {
            let difference = Term { coefficient: first.coefficient, max: first.max - 1 };
            let rest = &terms[position + 1..];
            let differences = rest.iter().map(|term| Term { max: 2 * term.max, ..*term });
            let total =
                rest.iter().map(Term::max_value).sum::<i128>() + bytes / 2 - first.coefficient;
            let all = differences.chain([difference, Term { coefficient: 1, max: bytes }]);
            match Equation::new(all).has_solution(total) {
                Some(true) => return Some(false),
                Some(false) => {}
                None => is_decided = false,
            }
        }
        is_decided.then_some(true)
    }

    /// The unknowns of this array: one term for each axis of more than one element.
    fn terms(&self) -> impl Iterator<Item = Term> {
        let axes = self.sizes.iter().zip(self.byte_strides).filter(|&(&size, _)| size > 1);
        axes.map(|(&size, stride)| Term::new(stride.unsigned_abs(), size - 1))
    }
}

/// Whether the stride of each axis is at least the extent of all axes with smaller strides, which is true for
/// slices of dense arrays. `terms` are sorted by stride.
fn is_nested(terms: &[Term], element_size: usize) -> bool {
    let mut reach = element_size as i128;
    terms.iter().all(|term| {
        let steps_over = term.coefficient >= reach;
        reach += term.max_value();
        steps_over
    })
}

/// `coefficient` times an unknown from 0 to `max`.
#[derive(Debug, Clone, Copy)]
struct Term {
    coefficient: i128,
    max: i128,
}

impl Term {
    fn new(coefficient: usize, max: usize) -> Term {
        Term { coefficient: coefficient as i128, max: max as i128 }
    }

    /// The largest value of the term. Distances inside an array fit an address, so the product does not
    /// overflow.
    fn max_value(&self) -> i128 {
        self.coefficient.saturating_mul(self.max)
    }
}

/// The left side of `Σ coefficient · unknown = total`, largest coefficients first.
struct Equation {
    terms: Vec<Term>,
    /// For each position, the largest sum of the terms from this position on; then a last entry, 0.
    max_sums: Vec<i128>,
    /// For each position, the greatest common divisor of the coefficients from this position on; then a
    /// last entry, 0.
    divisors: Vec<i128>,
}

impl Equation {
    fn new(terms: impl Iterator<Item = Term>) -> Equation {
        let mut terms: Vec<Term> = terms.filter(|term| term.max_value() != 0).collect();
        sort_few_by_key(&mut terms, |term| core::cmp::Reverse(term.coefficient));
        // Unknowns with the same coefficient merge into their sum.
        terms.dedup_by(|next, kept| {
            let is_same = next.coefficient == kept.coefficient;
            if is_same {
                kept.max += next.max;
            }
            is_same
        });
        let (mut max_sums, mut divisors) = (vec![0], vec![0]);
        for (index, term) in terms.iter().rev().enumerate() {
            max_sums.push(term.max_value().saturating_add(max_sums[index]));
            divisors.push(greatest_common_divisor(term.coefficient, divisors[index]));
        }
        max_sums.reverse();
        divisors.reverse();
        Equation { terms, max_sums, divisors }
    }

    /// Whether the equation has a solution for this total; `None` after [`MAX_STEPS`] values of
    /// unknowns.
    fn has_solution(&self, total: i128) -> Option<bool> {
        self.can_sum_to(total, 0, &mut MAX_STEPS.clone())
    }

    /// Whether the terms from `position` on can sum to `total`.
    ///
    /// The recursion depth is the number of terms: two arrays have at most 126 axes of more than one element.
    fn can_sum_to(&self, total: i128, position: usize, steps_left: &mut usize) -> Option<bool> {
        if total < 0 || total > self.max_sums[position] {
            return Some(false);
        }
        if total == 0 {
            return Some(true);
        }
        if total % self.divisors[position] != 0 {
            return Some(false);
        }
        let Term { coefficient, max } = self.terms[position];
        let rest = self.max_sums[position + 1];
        // The remainder must be in the range of the later terms, and a multiple of their divisor.
        let lowest = (total - rest + coefficient - 1).div_euclid(coefficient).max(0);
        let highest = (total / coefficient).min(max);
        let (first, step) = self.feasible_values(total, position);
        let mut unknown = lowest + (first - lowest).rem_euclid(step);
        while unknown <= highest {
            *steps_left = steps_left.checked_sub(1)?;
            if self.can_sum_to(total - coefficient * unknown, position + 1, steps_left)? {
                return Some(true);
            }
            unknown += step;
        }
        Some(false)
    }

    /// The values of the unknown at `position` for which the remainder is a multiple of the divisor of the
    /// later coefficients: one such value, and the distance between them.
    fn feasible_values(&self, total: i128, position: usize) -> (i128, i128) {
        let (divisor, later) = (self.divisors[position], self.divisors[position + 1]);
        if later == 0 {
            // For the last term, the bounds already require remainder 0.
            return (0, 1);
        }
        let step = later / divisor;
        let inverse = inverse(self.terms[position].coefficient / divisor % step, step);
        (total / divisor % step * inverse % step, step)
    }
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The inverse of `a` modulo `modulus`, which is coprime to `a`.
fn inverse(a: i128, modulus: i128) -> i128 {
    let (mut remainders, mut factors) = ((modulus, a), (0, 1));
    while remainders.1 != 0 {
        let quotient = remainders.0 / remainders.1;
        remainders = (remainders.1, remainders.0 - quotient * remainders.1);
        factors = (factors.1, factors.0 - quotient * factors.1);
    }
    factors.0.rem_euclid(modulus)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array whose lowest byte is at `lowest`.
    fn layout<'a>(
        lowest: usize,
        element_size: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> StridedLayout<'a> {
        let reach = |(&size, &stride): (&usize, &isize)| (size - 1) * stride.unsigned_abs();
        let reach: usize = sizes.iter().zip(strides).map(reach).sum();
        StridedLayout {
            range: lowest..lowest + reach + element_size,
            element_size,
            sizes,
            byte_strides: strides,
        }
    }

    /// The first byte of every element.
    fn elements(layout: &StridedLayout<'_>) -> Vec<usize> {
        let mut places = vec![layout.range.start];
        for (&size, stride) in layout.sizes.iter().zip(layout.byte_strides) {
            let steps = |place: usize| (0..size).map(move |i| place + i * stride.unsigned_abs());
            places = places.into_iter().flat_map(steps).collect();
        }
        places
    }

    /// The bytes of all elements, one bit each, and whether no byte belongs to two elements.
    fn separate_bytes(layout: &StridedLayout<'_>) -> (u128, bool) {
        let mut is_separate = true;
        let bytes = elements(layout).into_iter().fold(0, |bytes: u128, place| {
            let element = ((1u128 << layout.element_size) - 1) << place;
            is_separate &= bytes & element == 0;
            bytes | element
        });
        (bytes, is_separate)
    }

    /// Axes of one to three elements with small strides, in both directions.
    fn shapes() -> Vec<(Vec<usize>, Vec<isize>)> {
        let axes = || {
            let strides = |size| [0, 1, 2, 3, 5, -6, 7].map(|stride| (size, stride));
            [1, 2, 3].into_iter().flat_map(strides)
        };
        let mut shapes = vec![(vec![], vec![])];
        shapes.extend(axes().map(|(size, stride)| (vec![size], vec![stride])));
        for (m, s) in axes() {
            shapes.extend(axes().map(|(n, t)| (vec![m, n], vec![s, t])));
        }
        shapes
    }

    #[test]
    fn every_pair_of_small_arrays_is_decided_as_by_counting_bytes() {
        let shapes = shapes();
        let (mut sharing, mut apart) = (0, 0);
        for (index, (sizes, strides)) in shapes.iter().enumerate() {
            let a = layout(20, [1, 2, 4][index % 3], sizes, strides);
            let bytes = separate_bytes(&a).0;
            for (other, (sizes, strides)) in shapes.iter().enumerate() {
                for lowest in (0..40).skip(other % 4).step_by(4) {
                    let b = layout(lowest, [1, 2, 3][other % 3], sizes, strides);
                    let expected = bytes & separate_bytes(&b).0 != 0;
                    assert_eq!(a.shares_memory(&b), Some(expected), "{a:?} {b:?}");
                    *(if expected { &mut sharing } else { &mut apart }) += 1;
                }
            }
        }
        assert!(sharing > 100_000 && apart > 100_000, "{sharing} {apart}");
    }

    #[test]
    fn elements_of_small_arrays_are_separate_as_by_counting_bytes() {
        let mut interleaved = 0;
        for (sizes, strides) in shapes() {
            for third in [None, Some((2, 4)), Some((3, 11)), Some((2, -9))] {
                let (mut sizes, mut strides) = (sizes.clone(), strides.clone());
                if let Some((size, stride)) = third {
                    sizes.push(size);
                    strides.push(stride);
                }
                for element_size in [1, 2, 3] {
                    let a = layout(3, element_size, &sizes, &strides);
                    let expected = separate_bytes(&a).1;
                    assert_eq!(a.has_separate_elements(), Some(expected), "{a:?}");
                    let mut terms: Vec<Term> = a.terms().collect();
                    terms.sort_unstable_by_key(|term| term.coefficient);
                    interleaved += u32::from(expected && !is_nested(&terms, element_size));
                }
            }
        }
        assert!(interleaved > 100, "{interleaved}");
    }

    #[test]
    fn large_arrays_take_few_steps() {
        // Two columns of a matrix, of elements of 8 bytes in rows of 16.
        let columns = [0, 8].map(|start| layout(start, 8, &[1 << (usize::BITS - 24)], &[16]));
        assert_eq!(columns[0].shares_memory(&columns[1]), Some(false));
        // One byte further they touch.
        let shifted = layout(7, 8, &[1 << (usize::BITS - 24)], &[16]);
        assert_eq!(columns[0].shares_memory(&shifted), Some(true));
        // Every second and every third element, one of them reversed: they share every sixth.
        const COUNT: usize = if usize::BITS < 64 { 1 << 24 } else { 1 << 30 };
        let (second, third) = (layout(8, 8, &[COUNT], &[16]), layout(0, 8, &[COUNT], &[-24]));
        assert_eq!(second.shares_memory(&third), Some(true));
        let (even, odd) = (layout(0, 8, &[9, 1 << 20], &[48, 480]), layout(24, 8, &[9], &[48]));
        assert_eq!(even.shares_memory(&odd), Some(false));
    }

    #[test]
    #[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
    fn a_long_search_gives_up() {
        // A subset sum of even numbers.
        let strides: Vec<isize> = (0..26).map(|i| 2 * (700_000_001 + 7_919 * i * i * i)).collect();
        let sizes = vec![2; 26];
        let a = layout(0, 1, &sizes, &strides);
        let total: isize = strides.iter().sum();
        let b = layout(total as usize / 4 * 2, 1, &[], &[]);
        assert_eq!(a.shares_memory(&b), None);
    }
}
