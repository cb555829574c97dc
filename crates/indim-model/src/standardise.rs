//! Standardisation, `(x - mean) / deviation`, shared by the normalisations of several formats.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_graph::GraphError;
use indim_shape::ReductionRuleName;

/// The number that keeps a deviation from 0, and its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Epsilon {
    /// `sqrt(variance + epsilon)`
    InsideRoot(f64),
    /// `sqrt(variance) + epsilon`
    OutsideRoot(f64),
}

/// `x` minus its mean along the axes, and the deviation with `epsilon`, whose reduced axes have size 1.
///
/// # Errors
/// Those of [`GraphBuilder::along`](indim_builder::GraphBuilder::along) and of `sub`.
pub fn centre(x: &Value, axes: &[usize], epsilon: Epsilon) -> Result<(Value, Value), GraphError> {
    let b = x.builder();
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    let options = ReduceOptions::axes(axes).keepdims(true).rule(ReductionRuleName::Xla);
    let distances = b.numpy().sub(x, b.along(Reduction::Mean, x, &options)?)?;
    let deviation = match epsilon {
        Epsilon::InsideRoot(epsilon) => (b.along(Reduction::Var, x, &options)? + epsilon).sqrt(),
        Epsilon::OutsideRoot(epsilon) => b.along(Reduction::Std, x, &options)? + epsilon,
    };
    Ok((distances, deviation))
}

/// `(x - mean) / deviation` along the axes.
///
/// # Errors
/// Those of [`centre`].
pub fn standardise(x: &Value, axes: &[usize], epsilon: Epsilon) -> Result<Value, GraphError> {
    let (distances, deviation) = centre(x, axes, epsilon)?;
    x.builder().numpy().div(distances, deviation)
}
