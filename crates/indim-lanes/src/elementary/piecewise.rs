//! Piecewise polynomials: eight intervals for each power of two, with tables of coefficients.
//!
//! An interval is so narrow that the first two coefficients dominate. These coefficients and the last
//! steps are pairs, so the value of the polynomial is exact to about 58 bits. Coefficients are gathered,
//! so every interval costs the same.

use super::pair::{Pair, two_product, two_sum_ordered};
use crate::lane::{FloatLane, IntLane};

/// The coefficients of `INTERVALS` polynomials as bit patterns. The first two rows hold the low parts of
/// the constant and the linear coefficients; then come the coefficients, constant first.
pub(super) type Table<const INTERVALS: usize, const ROWS: usize> = [[u64; INTERVALS]; ROWS];

/// The table of these numbers.
pub(super) const fn table<const INTERVALS: usize, const ROWS: usize>(
    numbers: [[f64; INTERVALS]; ROWS],
) -> Table<INTERVALS, ROWS> {
    let mut bits = [[0; INTERVALS]; ROWS];
    let mut row = 0;
    while row < ROWS {
        let mut interval = 0;
        while interval < INTERVALS {
            bits[row][interval] = numbers[row][interval].to_bits();
            interval += 1;
        }
        row += 1;
    }
    bits
}

/// An interval: its index in the table, and its centre.
pub(super) struct Interval<F: FloatLane> {
    pub(super) index: F::Bits,
    pub(super) center: F,
}

impl<F: FloatLane> Interval<F> {
    /// The interval that contains `x`, a 64-bit float. The first interval starts at `first`, a power of two.
    #[inline(always)]
    pub(super) fn around(x: F, first: f64) -> Self {
        // The upper 3 of the 52 bits of the fraction are the index of the interval within a power of two.
        let low_bits = F::Bits::constant(49);
        let bits = x.to_bits();
        let index = bits.sub(F::constant(first).to_bits()).shr_logical(low_bits);
        let middle = F::Bits::constant(1 << 48);
        let center = F::from_bits(bits.shr_logical(low_bits).shl(low_bits).or(middle));
        Interval { index, center }
    }
}

/// The entry of row `row` at `index`.
#[inline(always)]
pub(super) fn entry<F: FloatLane, const INTERVALS: usize, const ROWS: usize>(
    table: &Table<INTERVALS, ROWS>,
    row: usize,
    index: F::Bits,
) -> F {
    F::from_bits(index.lookup(&table[row]))
}

/// The polynomial of interval `index` at `x`, the distance from the point around which the table expands
/// the function: the interval's centre, or a zero. `x` is so small that the constant coefficient
/// dominates. The low part of the result is small against the high part.
#[inline(always)]
pub(super) fn polynomial_at<F: FloatLane, const INTERVALS: usize, const ROWS: usize>(
    table: &Table<INTERVALS, ROWS>,
    index: F::Bits,
    x: F,
) -> Pair<F> {
    let mut sum: F = entry(table, ROWS - 1, index);
    for row in (4..ROWS - 1).rev() {
        sum = sum.mul_add(x, entry(table, row, index));
    }
    let slope = two_sum_ordered(entry(table, 3, index), x.mul(sum));
    let slope = slope.add_low(entry(table, 1, index));
    let product = two_product(x, slope.high).add_low(x.mul(slope.low));
    let sum = two_sum_ordered(entry(table, 2, index), product.high);
    sum.add_low(product.low.add(entry(table, 0, index)))
}
