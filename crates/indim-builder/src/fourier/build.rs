//! The builder's method for Fourier transforms: axes, sizes, normalisation and element types.

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, Literal, ValueId};
use indim_ops::fourier::function::{FourierNorm, FourierTransform};
use indim_ops::fourier::radix::MAX_FOURIER_LENGTH;
use indim_ops::{DType, DTypeClass, Op};
use indim_shape::RuleSet;

use super::stages::sizes_of;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

/// The parameters of a Fourier transform: by default it is along the last axis, as long as this axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FourierOptions {
    /// The axes; negative ones count from the end. Transforms of real numbers halve the last one listed.
    pub axes: Vec<i64>,
    /// The length along each of these axes: the operand is cropped, or padded with zeros at the end. For real
    /// results the last length is that of the result.
    pub sizes: Option<Vec<usize>>,
    /// The normalisation.
    pub norm: FourierNorm,
}

impl Default for FourierOptions {
    fn default() -> Self {
        FourierOptions { axes: vec![-1], sizes: None, norm: FourierNorm::default() }
    }
}

/// The element type of the result for operands of type `dtype`.
fn result_dtype(dtype: DType, transform: FourierTransform) -> DType {
    let is_single = dtype == DType::C64 || (dtype.is_float() && dtype.size() <= 4);
    match (transform.has_real_result(), is_single) {
        // Floats of 16 bits keep their type, as in NumPy.
        (true, true) if dtype.is_float() && dtype.size() == 2 => dtype,
        (true, true) => DType::F32,
        (true, false) => DType::F64,
        (false, true) => DType::C64,
        (false, false) => DType::C128,
    }
}

impl GraphBuilder {
    /// A Fourier transform along some axes: the functions of `numpy.fft`.
    ///
    /// It is computed in `f64` and rounded once. Complex results are `c64` for `c64` and floats of at most 32
    /// bits, else `c128`. Real results have the type of the operand's parts, or `f64` for integers. The order
    /// of operations is part of the definition: see `docs/fourier.md`. Lengths are numbers of the graph, so
    /// symbolic sizes of the operand are pinned.
    ///
    /// ```
    /// use indim_builder::{FourierOptions, GraphBuilder};
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, c128, fourier::function::FourierTransform};
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [4])?;
    /// let spectrum = b.fourier(&x, FourierTransform::Rfft, &FourierOptions::default())?;
    /// let graph = b.finish(&[spectrum])?;
    /// let x = Array::new([4], vec![1.0, 2.0, 3.0, 4.0])?;
    /// let expected = [c128::new(10.0, 0.0), c128::new(-2.0, 2.0), c128::new(-2.0, 0.0)];
    /// assert_eq!(evaluate(&graph, &[x])?[0].elements::<c128>().unwrap(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// TY1 for complex operands of `Rfft` and `Ihfft`; `axis-out-of-range`; `fourier-length` for a length
    /// that is 0 or at least 2^31, or another number of sizes than axes; E5 `too-large`.
    #[track_caller]
    pub fn fourier(
        &self,
        x: impl Operand,
        transform: FourierTransform,
        options: &FourierOptions,
    ) -> BuildResult {
        let id = self.operand_id("fft", x)?;
        let dtype = self.type_of(id).dtype;
        let is_complex = dtype.class() == DTypeClass::Complex;
        if dtype.is_storage() || (is_complex && transform.takes_real()) {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error("fft", &[id], kind));
        }
        let lengths = self.fourier_lengths(id, transform, options)?;
        let mut steps: Vec<(usize, usize, bool)> = Vec::new();
        for (position, &(axis, length)) in lengths.iter().enumerate() {
            steps.push((axis + 1, length, position + 1 == lengths.len()));
        }
        if !transform.has_real_result() {
            steps.reverse();
        }
        let result_dtype = result_dtype(dtype, transform);
        let mut result_shape = self.type_of(id).shape.to_vec();
        for &(axis, length, is_last) in &steps {
            let is_half = transform.takes_real() && is_last;
            result_shape[axis - 1] = if is_half { length / 2 + 1 } else { length };
        }
        if result_shape.contains(&0) {
            // Products of the other sizes may be too large.
            let zero = self.literal(Literal::Int(0), result_dtype)?;
            return self.broadcast_in_dim(zero, &[], result_shape);
        }
        let x = self.value(id);
        let parts = match is_complex {
            true if transform == FourierTransform::Hfft => vec![x.real(), -x.imag()],
            true => vec![x.real(), x.imag()],
            false => vec![x],
        };
        let parts: Vec<Value> = parts.iter().map(|part| part.convert(DType::F64)).collect();
        // Converted before they are stacked, so that a contraction reads real operands in place.
        let mut x = self.stack(&parts, 0)?;
        for (axis, length, is_last) in steps {
            x = self.fourier_step(&x, transform, [axis, length], is_last)?;
        }
        let count: f64 = lengths.iter().map(|&(_, length)| length as f64).product();
        let scale = match (options.norm, transform.is_inverse()) {
            (FourierNorm::Ortho, _) => 1.0 / count.sqrt(),
            (FourierNorm::Backward, true) | (FourierNorm::Forward, false) => 1.0 / count,
            _ => 1.0,
        };
        let x = if scale == 1.0 { x } else { x * scale };
        if transform.has_real_result() {
            return self.convert(self.fourier_part(&x, 0)?, result_dtype);
        }
        let imag = self.fourier_part(&x, 1)?;
        let imag = if transform == FourierTransform::Ihfft { -imag } else { imag };
        let parts = [self.fourier_part(&x, 0)?, imag];
        let complex = self.elementwise(Op::Complex, &parts, &RuleSet::None)?;
        self.convert(complex, result_dtype)
    }

    /// The axes, each with the length of the transform.
    #[track_caller]
    fn fourier_lengths(
        &self,
        id: ValueId,
        transform: FourierTransform,
        options: &FourierOptions,
    ) -> Result<Vec<(usize, usize)>, GraphError> {
        let shape = self.type_of(id).shape;
        let FourierOptions { axes, sizes, .. } = options;
        let error = |problem| Err(self.error("fft", &[id], GraphErrorKind::Fourier(problem)));
        let is_short = sizes.as_ref().is_some_and(|sizes| sizes.len() != axes.len());
        if is_short || axes.is_empty() {
            return error(format!("axes {axes:?} and sizes {sizes:?} do not match"));
        }
        let mut lengths = Vec::new();
        for (position, &axis) in axes.iter().enumerate() {
            let axis = self.checked_axis("fft", &[id], axis, shape.rank())?;
            let length = match sizes {
                Some(sizes) => sizes[position],
                None if transform.has_real_result() && position + 1 == axes.len() => {
                    2 * shape[axis].saturating_sub(1)
                }
                None => shape[axis],
            };
            if !(1..=MAX_FOURIER_LENGTH).contains(&length) {
                return error(format!("{length} is no length of a transform along axis {axis}"));
            }
            lengths.push((axis, length));
        }
        Ok(lengths)
    }

    /// The transform along one axis of real and imaginary parts, the first axis of `x`.
    #[track_caller]
    fn fourier_step(
        &self,
        x: &Value,
        transform: FourierTransform,
        [axis, length]: [usize; 2],
        is_last: bool,
    ) -> BuildResult {
        let is_real = transform.has_real_result() && is_last;
        let is_half = transform.takes_real() && is_last;
        let wanted = if is_real { length / 2 + 1 } else { length };
        let mut shape = x.array_type()?.shape.to_vec();
        let mut widths = vec![(0, 0, 0); shape.len()];
        widths[axis].1 = wanted as i64 - shape[axis] as i64;
        let x = self.pad(x, 0.0, &widths)?;
        let product = |sizes: &[usize]| sizes.iter().product::<usize>();
        let (before, after) = (product(&shape[1..axis]), product(&shape[axis + 1..]));
        let x = self.reshape(x, [shape[0], before, wanted, after])?;
        let is_inverse = transform == FourierTransform::Ifft || transform.has_real_result();
        shape[axis] = if is_half { length / 2 + 1 } else { length };
        let x = match shape[0] {
            _ if is_real => self.real_from_half(&x, length)?,
            1 => self.transform_of_real(&x, shape[axis], is_inverse)?,
            _ => self.transform_of_complex(&x, is_inverse)?,
        };
        shape[0] = sizes_of(&x)?[0];
        self.reshape(x, shape)
    }

    /// The real or imaginary part.
    #[track_caller]
    fn fourier_part(&self, x: &Value, part: usize) -> BuildResult {
        let shape = x.array_type()?.shape;
        let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices[0] = AxisSlice::new(part, 1, 1);
        self.reshape(self.slice(x, &slices)?, &shape[1..])
    }
}
