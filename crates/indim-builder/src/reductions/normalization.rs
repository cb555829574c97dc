//! Layer normalisation and RMS normalisation.

use indim_ops::DType;

use super::context::ReductionContext;
use crate::builder::{BuildResult, Value};

impl ReductionContext<'_> {
    /// The type in which elements are scaled: `f32` for 16-bit floats.
    fn scaling_dtype(&self) -> DType {
        if self.dtype() == DType::F64 { DType::F64 } else { DType::F32 }
    }

    /// `x / sqrt(square + epsilon) * gain`. `square` is the variance or the mean square, and `gain` the
    /// second operand of the call.
    fn scale_by_deviation(&self, x: &Value, square: &Value, epsilon: f64) -> BuildResult {
        let numpy = self.builder().numpy();
        let deviation = (square + epsilon).sqrt().convert(self.scaling_dtype());
        let gain = self.broadcast_along(&self.others[0])?.convert(self.scaling_dtype());
        numpy.mul(numpy.div(x, deviation)?, gain)
    }
}

pub(super) fn layer_norm(call: &ReductionContext<'_>, epsilon: f64) -> BuildResult {
    let numpy = call.builder().numpy();
    let mean = call.wide_mean()?.convert(call.scaling_dtype());
    let distances = numpy.sub(call.x.convert(call.scaling_dtype()), mean)?;
    let scaled = call.scale_by_deviation(&distances, &call.wide_variance(0.0)?, epsilon)?;
    let bias = call.broadcast_along(&call.others[1])?.convert(call.scaling_dtype());
    call.builder().convert(numpy.add(scaled, bias)?, call.dtype())
}

pub(super) fn rms_norm(call: &ReductionContext<'_>, epsilon: f64) -> BuildResult {
    let x = call.x.convert(call.scaling_dtype());
    call.builder()
        .convert(call.scale_by_deviation(&x, &call.wide_mean_square()?, epsilon)?, call.dtype())
}
