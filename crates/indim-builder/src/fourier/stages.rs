//! A transform along one axis: stages of small transforms, and a convolution for lengths with a large prime
//! factor.
//!
//! Values have the axes part (real, imaginary), before, along and after the axis of the transform. A stage of
//! radix `r` contracts the axis with the matrix of a transform of length `r`, and multiplies by roots of
//! unity. The last stages see longer rows, because the results of earlier stages precede the axes after.

use core::f64::consts::PI;

use indim_graph::{Array, AxisSlice, GraphError};
use indim_ops::DType;
use indim_ops::fourier::radix::{convolution_length, radices};
use indim_ops::fourier::roots::{real_synthesis_matrix, roots, transform_matrix};
use indim_shape::Shape;

use crate::builder::{BuildResult, GraphBuilder, Value};

/// The largest table of roots of unity, in elements. Larger ones are products of two tables, which fit L1.
const MAX_TABLE: usize = 4096;

/// The sizes of a value.
pub(super) fn sizes_of(x: &Value) -> Result<Vec<usize>, GraphError> {
    Ok(x.array_type()?.shape.to_vec())
}

impl GraphBuilder {
    /// The transform of complex numbers along axis 2 of `[2, before, length, after]`.
    #[track_caller]
    pub(super) fn transform_of_complex(&self, x: &Value, inverse: bool) -> BuildResult {
        match radices(sizes_of(x)?[2]) {
            Some(radices) => self.fourier_stages(x, &radices, inverse),
            None => self.chirp_transform(x, inverse),
        }
    }

    /// The first `count` results of the transform of real numbers `[1, before, length, after]`. After the
    /// first stage, half of the small transforms are conjugates of others.
    #[track_caller]
    pub(super) fn transform_of_real(&self, x: &Value, count: usize, inverse: bool) -> BuildResult {
        let sizes = sizes_of(x)?;
        let (before, length, after) = (sizes[1], sizes[2], sizes[3]);
        let Some(radices) = radices(length) else {
            return self.range(&self.chirp_transform(x, inverse)?, 2, 0, count);
        };
        let (radix, rest) = (radices[0], length / radices[0]);
        let half = radix / 2 + 1;
        let x = self.fourier_stage(x, [radix, half], inverse)?;
        let x = self.reshape(x, [2, before, rest, half * after])?;
        let x = self.fourier_stages(&x, &radices[1..], inverse)?;
        let x = self.reshape(x, [2, before, rest, half, after])?;
        let rows = count.div_ceil(radix);
        let mirrored =
            self.range(&self.range(&x, 2, rest - rows, rest)?, 3, 1, radix.div_ceil(2))?;
        let mirrored = self.conjugate(&self.reverse(mirrored, &[2, 3])?)?;
        let x = self.concatenate(&[self.range(&x, 2, 0, rows)?, mirrored], 3)?;
        self.range(&self.reshape(x, [2, before, rows * radix, after])?, 2, 0, count)
    }

    /// The `length` real numbers whose transform begins with the elements of axis 2 of `x`.
    #[track_caller]
    pub(super) fn real_from_half(&self, x: &Value, length: usize) -> BuildResult {
        let sizes = sizes_of(x)?;
        let (before, after) = (sizes[1], sizes[3]);
        let x =
            self.pad(x, 0.0, &[(0, 2 - sizes[0] as i64, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)])?;
        let others = self.reverse(self.range(&x, 2, 1, length.div_ceil(2))?, &[2])?;
        let x = self.concatenate(&[x, self.conjugate(&others)?], 2)?;
        let Some(radices) = radices(length) else {
            return self.range(&self.chirp_transform(&x, true)?, 0, 0, 1);
        };
        let (radix, rest) = (radices[0], length / radices[0]);
        let half = radix / 2 + 1;
        let x = self.reshape(x, [2, before, rest, radix, after])?;
        let x = self.reshape(self.range(&x, 3, 0, half)?, [2, before, rest, half * after])?;
        let x = self.fourier_stages(&x, &radices[1..], true)?;
        let x = self.reshape(x, [2, before, rest, half, after])?;
        let x = self.times_roots(&x, length, true)?;
        let matrix = Array::new([radix, 2, half], real_synthesis_matrix(radix, true));
        let matrix = self.constant(matrix.expect("invariant: the matrix has this shape"));
        let shape = Shape::from([before, radix, rest, after, 2, half]);
        let matrix = self.broadcast_in_dim(matrix, &[1, 4, 5], shape.clone())?;
        let x = self.broadcast_in_dim(x, &[4, 0, 2, 5, 3], shape)?;
        self.reshape(self.contract(matrix, x, 2)?, [1, before, length, after])
    }

    /// All stages of a transform along axis 2, whose size is the product of the radices.
    #[track_caller]
    fn fourier_stages(&self, x: &Value, radices: &[usize], inverse: bool) -> BuildResult {
        let sizes = sizes_of(x)?;
        let mut x = x.clone();
        for &radix in radices {
            let stage = self.fourier_stage(&x, [radix, radix], inverse)?;
            let (rest, inner) = (sizes_of(&stage)?[2], sizes_of(&stage)?[4]);
            x = self.reshape(stage, [2, sizes[1], rest, radix * inner])?;
        }
        self.reshape(x, [2, sizes[1], sizes[2], sizes[3]])
    }

    /// One stage: the first `rows` of the `radix` results of small transforms, times roots of unity. The
    /// result is `[2, before, rest, rows, after]`.
    #[track_caller]
    fn fourier_stage(&self, x: &Value, [radix, rows]: [usize; 2], inverse: bool) -> BuildResult {
        let sizes = sizes_of(x)?;
        let (parts, before, rest, after) = (sizes[0], sizes[1], sizes[2] / radix, sizes[3]);
        let x = self.reshape(x, [parts, before, radix, rest, after])?;
        let matrix = transform_matrix(rows, radix, parts, inverse);
        let matrix = Array::new([2, rows, parts, radix], matrix);
        let matrix = self.constant(matrix.expect("invariant: the matrix has this shape"));
        let shape = Shape::from([2, before, rest, rows, after, parts, radix]);
        let matrix = self.broadcast_in_dim(matrix, &[0, 3, 5, 6], shape.clone())?;
        let x = self.broadcast_in_dim(x, &[5, 1, 6, 2, 4], shape)?;
        self.times_roots(&self.contract(matrix, x, 2)?, radix * rest, inverse)
    }

    /// Multiplies `[2, before, rest, rows, after]` by roots of unity, whose index is that of the axis rest
    /// times that of the rows.
    #[track_caller]
    fn times_roots(&self, x: &Value, length: usize, inverse: bool) -> BuildResult {
        let sizes = sizes_of(x)?;
        let (rest, rows) = (sizes[2], sizes[3]);
        if rest == 1 {
            return Ok(x.clone());
        }
        let table = |count: usize, step: usize, shape: [usize; 3]| {
            let parts = roots([count, rows], step, length, inverse);
            parts.map(|part| {
                self.constant(Array::new(shape, part).expect("invariant: as many roots"))
            })
        };
        if rest * rows <= MAX_TABLE {
            let [re, im] = table(rest, 1, [1, rest, rows]);
            let x = self.reshape(x, [2, sizes[1], 1, rest, rows, sizes[4]])?;
            return self.reshape(self.times(&x, &re, &im)?, sizes);
        }
        let low = (1..=rest.isqrt()).rev().find(|low| rest.is_multiple_of(*low)).unwrap_or(1);
        let grid = Shape::from([rest / low, low, rows]);
        let [a, b] = [table(rest / low, low, [rest / low, 1, rows]), table(low, 1, [1, low, rows])];
        let spread = |part: &Value| self.broadcast_in_dim(part, &[0, 1, 2], grid.clone());
        let ([a_re, a_im], [b_re, b_im]) =
            ([spread(&a[0])?, spread(&a[1])?], [spread(&b[0])?, spread(&b[1])?]);
        let re = &a_re * &b_re - &a_im * &b_im;
        let im = a_re * b_im + a_im * b_re;
        let x = self.reshape(x, [2, sizes[1], rest / low, low, rows, sizes[4]])?;
        self.reshape(self.times(&x, &re, &im)?, sizes)
    }

    /// Complex products: `x` has the axes part, before, the axes of `re` and `im`, and after.
    #[track_caller]
    fn times(&self, x: &Value, re: &Value, im: &Value) -> BuildResult {
        let mut shape = sizes_of(x)?;
        let dims: Vec<i64> = (2..shape.len() as i64 - 1).collect();
        let spread = |part: &Value, shape: &[usize]| self.broadcast_in_dim(part, &dims, shape);
        if shape[0] == 1 {
            let products = [x * spread(re, &shape)?, x * spread(im, &shape)?];
            return self.concatenate(&products, 0);
        }
        shape[0] = 2;
        let signs = self.signs(&shape, [-1.0, 1.0])?;
        Ok(x * spread(re, &shape)? + self.reverse(x, &[0])? * (spread(im, &shape)? * signs))
    }

    /// The conjugates.
    #[track_caller]
    fn conjugate(&self, x: &Value) -> BuildResult {
        Ok(x * self.signs(&sizes_of(x)?, [1.0, -1.0])?)
    }

    /// A factor for the real and one for the imaginary parts.
    #[track_caller]
    fn signs(&self, shape: &[usize], signs: [f64; 2]) -> BuildResult {
        let signs = Array::new([2], signs.to_vec()).expect("invariant: two elements");
        self.broadcast_in_dim(self.constant(signs), &[0], shape)
    }

    /// Elements `start..end` of an axis.
    #[track_caller]
    fn range(&self, x: &Value, axis: usize, start: usize, end: usize) -> BuildResult {
        let sizes = sizes_of(x)?;
        let mut slices: Vec<AxisSlice> = sizes.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[axis] = AxisSlice::new(start, end - start, 1);
        self.slice(x, &slices)
    }

    /// Bluestein's transform: with `jk = (j² + k² - (k - j)²) / 2` it is a convolution with the roots of
    /// unity of index `j²/2`, the chirp, and multiplications by the chirp before and after.
    #[track_caller]
    fn chirp_transform(&self, x: &Value, inverse: bool) -> BuildResult {
        let sizes = sizes_of(x)?;
        let length = sizes[2];
        let padded = convolution_length(length);
        // Squares are reduced modulo twice the length as integers, so that angles are exact up to a rounding.
        let index = self.iota(DType::U64, [length], 0)?;
        let turns = (&index * &index % (2 * length as u64)).convert(DType::F64);
        let turns = turns.gt(length as f64).select(&turns - 2.0 * length as f64, &turns);
        let angle = turns / length as f64 * PI;
        let (cos, sin) = (angle.cos(), angle.sin());
        let (im, kernel_im) = if inverse { (sin.clone(), -sin) } else { (-&sin, sin) };
        let kernel = self.stack(&[&cos, &kernel_im], 0)?;
        let tail = self.reverse(self.range(&kernel, 1, 1, length)?, &[1])?;
        let gap = padded as i64 - 2 * length as i64 + 1;
        let kernel = self.pad(kernel, 0.0, &[(0, 0, 0), (0, gap, 0)])?;
        let kernel = self.reshape(self.concatenate(&[kernel, tail], 1)?, [2, 1, padded, 1])?;
        let kernel = self.transform_of_complex(&kernel, false)? * (1.0 / padded as f64);
        let part = |part| self.reshape(self.range(&kernel, 0, part, part + 1)?, [padded]);
        let (kernel_re, kernel_im) = (part(0)?, part(1)?);
        let x = self.times(x, &cos, &im)?;
        let extra = (padded - length) as i64;
        let x = self.pad(x, 0.0, &[(0, 0, 0), (0, 0, 0), (0, extra, 0), (0, 0, 0)])?;
        let x = self.times(&self.transform_of_complex(&x, false)?, &kernel_re, &kernel_im)?;
        let x = self.range(&self.transform_of_complex(&x, true)?, 2, 0, length)?;
        self.times(&x, &cos, &im)
    }
}
