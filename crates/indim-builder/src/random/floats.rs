//! Uniform and normal random numbers.

use indim_graph::GraphErrorKind;
use indim_ops::DType;
use indim_shape::Shape;

use crate::builder::{BuildResult, GraphBuilder};
use crate::composition::float_format;
use crate::operand::Operand;

impl GraphBuilder {
    /// Random floats from 0 to below 1, equal to those of `jax.random.uniform`: random bits are the
    /// mantissa of a number from 1 to below 2, from which 1 is subtracted. `key` is a `u32[2]`.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let key = b.parameter("key", DType::U32, [2])?;
    /// let graph = b.finish(&[b.random_uniform(&key, DType::F32, [2, 2])?])?;
    /// let numbers = &evaluate(&graph, &[Array::new([2], vec![0u32, 42])?])?[0];
    /// assert!(numbers.elements::<f32>().unwrap().iter().all(|x| (0.0..1.0).contains(x)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `random-key`; TY1 for a type that is no float; [E5](indim_shape::rules#the-explicit-form-e)
    /// `too-large`.
    #[track_caller]
    pub fn random_uniform(
        &self,
        key: impl Operand,
        dtype: DType,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        self.uniform_of("random_uniform", key, dtype, shape)
    }

    /// Uniform numbers; `operation` is the name of the function in errors.
    #[track_caller]
    fn uniform_of(
        &self,
        operation: &'static str,
        key: impl Operand,
        dtype: DType,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let Some((pattern, exponent, mantissa)) = float_format(dtype) else {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error(operation, &[], kind));
        };
        // A mantissa of fewer than 8 bits needs one random byte only.
        let drawn = if mantissa < 8 { DType::U8 } else { pattern };
        let bits = self.bits_of(operation, key, drawn, shape)?;
        let mantissas = bits.shr_logical(8 * drawn.size() as u32 - mantissa).convert(pattern);
        let one = ((1u64 << (exponent - 1)) - 1) << mantissa;
        Ok(self.bitcast(mantissas | one, dtype)? - 1.0)
    }

    /// Random floats of the standard normal distribution: `sqrt(2) * erf_inv(u)`, where `u` are uniform
    /// numbers between -1 and 1. They are those of `jax.random.normal`, except that its `erf_inv` is another
    /// approximation. `key` is a `u32[2]`.
    ///
    /// # Errors
    /// Like [`GraphBuilder::random_uniform`].
    #[track_caller]
    pub fn random_normal(
        &self,
        key: impl Operand,
        dtype: DType,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let uniform = self.uniform_of("random_normal", key, dtype, shape)?;
        let mantissa = float_format(dtype).map_or(0, |(_, _, mantissa)| mantissa);
        // The smallest number above -1.
        let lowest = 0.5f64.powi(mantissa as i32 + 1) - 1.0;
        let between = (uniform * 2.0 + lowest).maximum(lowest);
        Ok(between.erf_inv() * core::f64::consts::SQRT_2)
    }
}
