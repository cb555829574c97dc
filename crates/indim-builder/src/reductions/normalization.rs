//! Layer normalisation and RMS normalisation.

use indim_ops::DType;

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};

impl ReductionContext<'_> {
    /// The type in which elements are scaled: `f32` for 16-bit floats.
    fn scaling_dtype(&self) -> DType {
        if self.dtype() == DType::F64 { DType::F64 } else { DType::F32 }
    }

    /// `x / sqrt(square + epsilon) * gain`; `gain` is the second operand.
    fn scaled(&self, x: &Value, square: &Value, epsilon: f64) -> BuildResult {
        let numpy = self.builder().numpy();
        let deviation = (square + epsilon).sqrt().convert(self.scaling_dtype());
        let gain = self.broadcast_along(&self.others[0])?.convert(self.scaling_dtype());
        numpy.mul(numpy.div(x, deviation)?, gain)
    }
}

pub(super) fn layer_norm(r: &ReductionContext<'_>, epsilon: f64) -> BuildResult {
    let numpy = r.builder().numpy();
    let mean = r.wide_mean()?.convert(r.scaling_dtype());
    let distances = numpy.sub(r.x.convert(r.scaling_dtype()), mean)?;
    let scaled = r.scaled(&distances, &r.wide_variance(0.0)?, epsilon)?;
    let bias = r.broadcast_along(&r.others[1])?.convert(r.scaling_dtype());
    r.builder().convert(numpy.add(scaled, bias)?, r.dtype())
}

pub(super) fn rms_norm(r: &ReductionContext<'_>, epsilon: f64) -> BuildResult {
    let x = r.x.convert(r.scaling_dtype());
    r.builder().convert(r.scaled(&x, &r.wide_mean_square()?, epsilon)?, r.dtype())
}
