//! Activation functions of cells, by their names in model files.

use indim_builder::Value;
use indim_graph::GraphError;

/// An activation function of a recurrent cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CellActivation {
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// `max(x, 0)`.
    Relu,
    /// `x / (1 + abs(x))`.
    Softsign,
    /// `log(1 + exp(x))`.
    Softplus,
    /// `alpha * x + beta`.
    Affine(f64, f64),
    /// `x`, times `alpha` below 0.
    LeakyRelu(f64),
    /// `x` above `alpha`, else 0.
    ThresholdedRelu(f64),
    /// `alpha * tanh(beta * x)`.
    ScaledTanh(f64, f64),
    /// `alpha * x + beta`, clamped to the range from 0 to 1.
    HardSigmoid(f64, f64),
    /// `x`, or `alpha * (exp(x) - 1)` below 0.
    Elu(f64),
}

impl CellActivation {
    /// The function with this name, in upper or lower case. `alpha` and `beta` return the next number of
    /// their list, or `None` for the default; they are called only for a function that has the parameter.
    ///
    /// ```
    /// use indim_model::recurrent::CellActivation;
    ///
    /// let none = || None;
    /// assert_eq!(CellActivation::named("TANH", none, none), Some(CellActivation::Tanh));
    /// let leaky = CellActivation::named("LeakyRelu", || Some(0.5), none);
    /// assert_eq!(leaky, Some(CellActivation::LeakyRelu(0.5)));
    /// assert_eq!(CellActivation::named("softmax", none, none), None);
    /// ```
    pub fn named(
        name: &str,
        mut alpha: impl FnMut() -> Option<f64>,
        mut beta: impl FnMut() -> Option<f64>,
    ) -> Option<CellActivation> {
        // Model files have `f32` numbers, so the defaults are `f32` too.
        let mut alpha = |default: f32| alpha().unwrap_or(default.into());
        let mut beta = |default: f32| beta().unwrap_or(default.into());
        Some(match name.to_ascii_lowercase().as_str() {
            "sigmoid" => CellActivation::Sigmoid,
            "tanh" => CellActivation::Tanh,
            "relu" => CellActivation::Relu,
            "softsign" => CellActivation::Softsign,
            "softplus" => CellActivation::Softplus,
            "affine" => CellActivation::Affine(alpha(1.0), beta(0.0)),
            "leakyrelu" => CellActivation::LeakyRelu(alpha(0.01)),
            "thresholdedrelu" => CellActivation::ThresholdedRelu(alpha(1.0)),
            "scaledtanh" => CellActivation::ScaledTanh(alpha(1.0), beta(1.0)),
            "hardsigmoid" => CellActivation::HardSigmoid(alpha(0.2), beta(0.5)),
            "elu" => CellActivation::Elu(alpha(1.0)),
            _ => return None,
        })
    }

    /// Applies the function to a value.
    pub(super) fn of(self, x: &Value) -> Result<Value, GraphError> {
        let b = x.builder();
        match self {
            CellActivation::Sigmoid => Ok(x.logistic()),
            CellActivation::Tanh => Ok(x.tanh()),
            CellActivation::Relu => b.relu(x),
            CellActivation::Softsign => b.softsign(x),
            CellActivation::Softplus => b.softplus(x),
            CellActivation::Affine(alpha, beta) => Ok(x * alpha + beta),
            CellActivation::LeakyRelu(alpha) => Ok(x.lt(0).select(x * alpha, x)),
            CellActivation::ThresholdedRelu(alpha) => Ok(x.gt(alpha).select(x, 0)),
            CellActivation::ScaledTanh(alpha, beta) => Ok((x * beta).tanh() * alpha),
            CellActivation::HardSigmoid(alpha, beta) => b.hard_sigmoid(x, alpha, beta),
            CellActivation::Elu(alpha) => b.elu(x, alpha),
        }
    }
}
