//! Polynomials by pieces: eight pieces to each power of two, whose coefficients stand in tables.
//!
//! A piece is so narrow that the first two coefficients dominate. They are pairs, and so are the last
//! steps, so the value of the polynomial is right to about 58 bits. Coefficients are gathered, so a lane of
//! any piece costs the same.

use super::pair::{Pair, two_product, two_sum_ordered};
use crate::lane::{FloatLane, IntLane};

/// The coefficients of `PIECES` polynomials as bit patterns. The first two rows hold the low parts of
/// the constant and the linear coefficients; then come the coefficients, constant first.
pub(super) type Table<const PIECES: usize, const ROWS: usize> = [[u64; PIECES]; ROWS];

/// The table of these numbers.
pub(super) const fn table<const PIECES: usize, const ROWS: usize>(
    numbers: [[f64; PIECES]; ROWS],
) -> Table<PIECES, ROWS> {
    let mut bits = [[0; PIECES]; ROWS];
    let mut row = 0;
    while row < ROWS {
        let mut piece = 0;
        while piece < PIECES {
            bits[row][piece] = numbers[row][piece].to_bits();
            piece += 1;
        }
        row += 1;
    }
    bits
}

/// A piece: its number, and its middle.
pub(super) struct Piece<F: FloatLane> {
    pub(super) index: F::Bits,
    pub(super) center: F,
}

impl<F: FloatLane> Piece<F> {
    /// The piece that holds `x`, a 64-bit float; `first`, a power of two, is where the pieces begin.
    #[inline(always)]
    pub(super) fn around(x: F, first: f64) -> Self {
        // Of the 52 bits of the fraction the upper 3 number the piece.
        let low_bits = F::Bits::constant(49);
        let bits = x.to_bits();
        let index = bits.sub(F::constant(first).to_bits()).shr_logical(low_bits);
        let middle = F::Bits::constant(1 << 48);
        let center = F::from_bits(bits.shr_logical(low_bits).shl(low_bits).or(middle));
        Piece { index, center }
    }
}

/// The number of row `row` at `index`.
#[inline(always)]
pub(super) fn entry<F: FloatLane, const PIECES: usize, const ROWS: usize>(
    table: &Table<PIECES, ROWS>,
    row: usize,
    index: F::Bits,
) -> F {
    F::from_bits(index.lookup(&table[row]))
}

/// The polynomial number `index` at `x`, which is so small that the constant coefficient dominates; the low
/// part is small against the high one.
#[inline(always)]
pub(super) fn polynomial_at<F: FloatLane, const PIECES: usize, const ROWS: usize>(
    table: &Table<PIECES, ROWS>,
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
