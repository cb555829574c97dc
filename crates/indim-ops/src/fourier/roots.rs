//! Roots of unity in `f64`, and the matrices of small Fourier transforms.
//!
//! An index is reduced to an octant by integer arithmetic, so cosine and sine get an angle of at most π/4.
//! Their definitions are indim's own, so the constants have the same bits on every machine.

use alloc::vec::Vec;

use crate::op::{Unary, operations};

/// The cosine and sine of `index / length` of a full turn.
///
/// ```
/// use indim_ops::fourier::roots::root_of_unity;
///
/// assert_eq!(root_of_unity(1, 4), [0.0, 1.0]);
/// assert_eq!(root_of_unity(6, 8), [0.0, -1.0]);
/// assert_eq!(root_of_unity(1, 8), [0.5f64.sqrt(); 2]);
/// ```
///
/// # Panics
/// If `length` is 0.
pub fn root_of_unity(index: u64, length: u64) -> [f64; 2] {
    let (index, length) = (u128::from(index % length), u128::from(length));
    let (octant, rest) = (8 * index / length, 8 * index % length);
    // In odd octants, the angle to the next multiple of a quarter turn.
    let rest = if octant % 2 == 0 { rest } else { length - rest };
    let angle = rest as f64 / length as f64 * core::f64::consts::FRAC_PI_4;
    let (cos, sin) = match rest == length {
        // One rounding of the root of 1/2, for both.
        true => (core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::FRAC_1_SQRT_2),
        false => (
            <operations::Cos as Unary<f64>>::apply(angle),
            <operations::Sin as Unary<f64>>::apply(angle),
        ),
    };
    // +0 and not -0 on the axes.
    let negative = |x: f64| 0.0 - x;
    match octant {
        0 => [cos, sin],
        1 => [sin, cos],
        2 => [negative(sin), cos],
        3 => [negative(cos), sin],
        4 => [negative(cos), negative(sin)],
        5 => [negative(sin), negative(cos)],
        6 => [sin, negative(cos)],
        _ => [cos, negative(sin)],
    }
}

/// Cosines and sines of `row * step * column / length` of a full turn, for each row and column in row-major
/// order. The sines are those of a forward transform: the negative ones, unless it is `inverse`.
pub fn roots(
    [rows, columns]: [usize; 2],
    step: usize,
    length: usize,
    inverse: bool,
) -> [Vec<f64>; 2] {
    let mut parts = [Vec::new(), Vec::new()];
    for row in 0..rows as u64 {
        for column in 0..columns as u64 {
            let [cos, sin] = root_of_unity(row * step as u64 * column, length as u64);
            parts[0].push(cos);
            parts[1].push(if inverse { sin } else { 0.0 - sin });
        }
    }
    parts
}

/// The matrix of a transform of length `radix` of real numbers, or of complex numbers as pairs of `parts` 2:
/// its axes are the part of the result, the index of the result, which is below `rows`, the part of the
/// operand, and the index of the operand.
///
/// ```
/// use indim_ops::fourier::roots::transform_matrix;
///
/// assert_eq!(transform_matrix(2, 2, 1, false), [1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0]);
/// ```
pub fn transform_matrix(rows: usize, radix: usize, parts: usize, inverse: bool) -> Vec<f64> {
    let [cos, sin] = roots([rows, radix], 1, radix, inverse);
    let mut matrix = Vec::with_capacity(2 * rows * parts * radix);
    for result_part in 0..2 {
        for row in 0..rows {
            for part in 0..parts {
                let row = row * radix..(row + 1) * radix;
                match (result_part, part) {
                    (0, 0) | (1, 1) => matrix.extend_from_slice(&cos[row]),
                    (1, 0) => matrix.extend_from_slice(&sin[row]),
                    _ => matrix.extend(sin[row].iter().map(|sin| 0.0 - sin)),
                }
            }
        }
    }
    matrix
}

/// The matrix that sums the real parts of an inverse transform of length `radix` from the first half of its
/// terms; the others are their conjugates. Its axes are the index of the result, the part and the index of
/// the term. `inverse` is as for [`roots`].
pub fn real_synthesis_matrix(radix: usize, inverse: bool) -> Vec<f64> {
    let terms = radix / 2 + 1;
    let [cos, sin] = roots([radix, terms], 1, radix, inverse);
    // A term that is its own conjugate counts once.
    let weight = |term: usize| if term == 0 || 2 * term == radix { 1.0 } else { 2.0 };
    let mut matrix = Vec::with_capacity(2 * radix * terms);
    for row in 0..radix {
        matrix.extend((0..terms).map(|term| weight(term) * cos[row * terms + term]));
        matrix.extend((0..terms).map(|term| 0.0 - weight(term) * sin[row * terms + term]));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octants_are_mirrored_exactly() {
        for length in [1, 2, 3, 4, 5, 7, 8, 12, 100, 1024, 999_983] {
            for index in 0..length.min(1000) {
                let [cos, sin] = root_of_unity(index, length);
                let angle = core::f64::consts::TAU * index as f64 / length as f64;
                assert!((cos - angle.cos()).abs() < 2e-15 && (sin - angle.sin()).abs() < 2e-15);
                let [mirrored_cos, mirrored_sin] = root_of_unity(length - index, length);
                assert_eq!([cos, sin], [mirrored_cos, 0.0 - mirrored_sin]);
                assert!((cos * cos + sin * sin - 1.0).abs() < 4e-16);
            }
        }
    }
}
