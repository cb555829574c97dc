//! Activations: functions of neural networks that are compositions of operations of the table.
//!
//! Each is a few nodes, which the executors fuse; so there is nothing to define, and on the 16-bit
//! floats every step is rounded. Their parameters are constants of the operand's element type.

use crate::builder::{GraphBuilder, Value};
use crate::error::GraphError;
use crate::op::Op;
use indim_shape::RuleSet;

type BuildResult = Result<Value, GraphError>;

/// The factors of `selu` (Klambauer et al., Self-Normalizing Neural Networks, 2017).
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;

/// `sqrt(2 / π)`.
const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;

/// Activations as compositions. Each takes floats, `relu` also signed integers.
impl GraphBuilder {
    /// `max(x, 0)`; a NaN stays.
    ///
    /// # Errors
    /// TY1.
    pub fn relu(&self, x: &Value) -> BuildResult {
        self.max(x, self.alike(x, 0.0)?, &[])
    }

    /// `x` where `x > 0`, else `alpha * expm1(x)`.
    ///
    /// # Errors
    /// TY1.
    pub fn elu(&self, x: &Value, alpha: f64) -> BuildResult {
        let below = self.times(&self.expm1(x)?, alpha)?;
        let is_above = self.gt(x, self.alike(x, 0.0)?, &[])?;
        self.elementwise(Op::Select, &[&is_above, x, &below], &RuleSet::None)
    }

    /// `1.0507… * elu(x, 1.6732…)`.
    ///
    /// # Errors
    /// TY1.
    pub fn selu(&self, x: &Value) -> BuildResult {
        self.times(&self.elu(x, SELU_ALPHA)?, SELU_SCALE)
    }

    /// `x * erfc(-x / sqrt 2) / 2`, which is `x` times the normal distribution's function.
    ///
    /// # Errors
    /// TY1.
    pub fn gelu(&self, x: &Value) -> BuildResult {
        let argument = self.times(x, -core::f64::consts::FRAC_1_SQRT_2)?;
        self.mul(self.times(x, 0.5)?, self.erfc(argument)?, &[])
    }

    /// `x / 2 * (1 + tanh(sqrt(2 / π) * (x + 0.044715 x³)))`, the usual approximation of [`gelu`](Self::gelu).
    ///
    /// # Errors
    /// TY1.
    pub fn gelu_tanh(&self, x: &Value) -> BuildResult {
        let cubic = self.times(&self.mul(self.square(x)?, x, &[])?, 0.044_715)?;
        let argument = self.times(&self.add(x, cubic, &[])?, SQRT_2_OVER_PI)?;
        let sum = self.add(self.tanh(argument)?, self.alike(x, 1.0)?, &[])?;
        self.mul(self.times(x, 0.5)?, sum, &[])
    }

    /// `x * logistic(beta * x)`; with `beta` 1 it is also called silu.
    ///
    /// # Errors
    /// TY1.
    pub fn swish(&self, x: &Value, beta: f64) -> BuildResult {
        let argument = if beta == 1.0 { x.clone() } else { self.times(x, beta)? };
        self.mul(x, self.logistic(argument)?, &[])
    }

    /// `log(e^x + 1)`, without overflow.
    ///
    /// # Errors
    /// TY1.
    pub fn softplus(&self, x: &Value) -> BuildResult {
        self.logaddexp(x, self.alike(x, 0.0)?, &[])
    }

    /// `x / (1 + |x|)`.
    ///
    /// # Errors
    /// TY1.
    pub fn softsign(&self, x: &Value) -> BuildResult {
        self.div(x, self.add(self.abs(x)?, self.alike(x, 1.0)?, &[])?, &[])
    }

    /// `x * tanh(softplus(x))`.
    ///
    /// # Errors
    /// TY1.
    pub fn mish(&self, x: &Value) -> BuildResult {
        self.mul(x, self.tanh(self.softplus(x)?)?, &[])
    }

    /// `alpha * x + beta` between 0 and 1.
    ///
    /// # Errors
    /// TY1.
    pub fn hard_sigmoid(&self, x: &Value, alpha: f64, beta: f64) -> BuildResult {
        let line = self.add(self.times(x, alpha)?, self.alike(x, beta)?, &[])?;
        self.clamp(self.alike(x, 0.0)?, line, self.alike(x, 1.0)?)
    }

    /// `x * (x + 3 between 0 and 6) / 6`.
    ///
    /// # Errors
    /// TY1.
    pub fn hard_swish(&self, x: &Value) -> BuildResult {
        let shifted = self.add(x, self.alike(x, 3.0)?, &[])?;
        let bounded = self.clamp(self.alike(x, 0.0)?, shifted, self.alike(x, 6.0)?)?;
        self.div(self.mul(x, bounded, &[])?, self.alike(x, 6.0)?, &[])
    }

    /// `x * factor`.
    fn times(&self, x: &Value, factor: f64) -> BuildResult {
        self.mul(x, self.alike(x, factor)?, &[])
    }

    /// A scalar of the element type of `x`.
    fn alike(&self, x: &Value, value: f64) -> BuildResult {
        self.convert(self.scalar(value), x.array_type()?.dtype)
    }
}

#[cfg(test)]
mod tests {
    use crate::dtype::DType;
    use crate::element::Array;
    use crate::eval::evaluate;

    use super::*;

    fn apply(activation: impl Fn(&GraphBuilder, &Value) -> BuildResult, argument: f64) -> f64 {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [1]).unwrap();
        let graph = b.finish(&[activation(&b, &x).unwrap()]).unwrap();
        let results = evaluate(&graph, &[Array::new([1], vec![argument]).unwrap()]).unwrap();
        results[0].elements::<f64>().unwrap()[0]
    }

    /// Values of PyTorch's functions, from their formulas in 50 digits.
    #[test]
    fn activations_have_the_values_of_their_formulas() {
        let near = |result: f64, expected: f64| {
            assert!((result - expected).abs() <= 4e-15 * expected.abs(), "{result} {expected}");
        };
        near(apply(|b, x| b.relu(x), -2.0), 0.0);
        near(apply(|b, x| b.elu(x, 0.5), -1.0), -0.316_060_279_414_278_84);
        near(apply(|b, x| b.elu(x, 0.5), 2.0), 2.0);
        near(apply(|b, x| b.selu(x), -1.0), -1.111_330_737_812_562_7);
        near(apply(|b, x| b.gelu(x), -1.0), -0.158_655_253_931_457_05);
        near(apply(|b, x| b.gelu(x), -3.0), -0.004_049_694_094_890_284);
        near(apply(|b, x| b.gelu_tanh(x), -1.0), -0.158_808_009_391_723_24);
        near(apply(|b, x| b.swish(x, 1.0), -1.0), -0.268_941_421_369_995_1);
        near(apply(|b, x| b.swish(x, 2.0), 1.0), 0.880_797_077_977_882_4);
        near(apply(|b, x| b.softplus(x), -40.0), 4.248_354_255_291_589e-18);
        near(apply(|b, x| b.softplus(x), 1000.0), 1000.0);
        near(apply(|b, x| b.softsign(x), -3.0), -0.75);
        near(apply(|b, x| b.mish(x), 1.0), 0.865_098_388_267_310_3);
        near(apply(|b, x| b.hard_sigmoid(x, 0.2, 0.5), 1.0), 0.7);
        near(apply(|b, x| b.hard_sigmoid(x, 0.2, 0.5), -9.0), 0.0);
        near(apply(|b, x| b.hard_swish(x), 1.0), 2.0 / 3.0);
        near(apply(|b, x| b.hard_swish(x), 4.0), 4.0);
    }

    #[test]
    fn relu_takes_integers_and_elu_does_not() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::I32, [2, 3]).unwrap();
        assert!(b.relu(&x).is_ok());
        assert_eq!(b.elu(&x, 1.0).unwrap_err().code(), "element-type-not-allowed");
    }
}
