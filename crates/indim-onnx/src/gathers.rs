//! Gathers and scatters: `GatherElements`, `GatherND`, `Scatter`, `ScatterElements` and `ScatterND`.
//!
//! Negative indices count from the end; other indices out of range are run-time errors. Updates of one
//! element are combined in row-major order; ONNX does not define the order.

use indim_graph::TakeMode;
use indim_ops::ScatterOp;

use super::call::{Call, LoweringResult, single_result};
use indim_model::FormatErrorKind;

/// The opset that introduced the attribute `reduction`, with `add` and `mul`.
const REDUCTION_SINCE: i64 = 16;

/// The opset that introduced `max` and `min` as reductions.
const EXTREMES_SINCE: i64 = 18;

pub(super) fn gather_elements(call: &Call<'_>) -> LoweringResult {
    let (data, indices, axis) = (call.value(0)?, call.value(1)?, call.int("axis", 0)?);
    single_result(call.builder.gather_elements(data, indices, axis, TakeMode::Error)?)
}

pub(super) fn gather_nd(call: &Call<'_>) -> LoweringResult {
    let batch = call.int("batch_dims", 0)?;
    let batch = usize::try_from(batch)
        .map_err(|_| FormatErrorKind::attribute("batch_dims", format!("is {batch}")))?;
    single_result(call.builder.gather_nd(call.value(0)?, call.value(1)?, batch, TakeMode::Error)?)
}

pub(super) fn scatter_elements(call: &Call<'_>) -> LoweringResult {
    let [data, indices, updates] = [call.value(0)?, call.value(1)?, call.value(2)?];
    let (op, axis) = (reduction(call)?, call.int("axis", 0)?);
    let mode = TakeMode::Error;
    single_result(call.builder.scatter_elements(op, data, indices, updates, axis, mode)?)
}

pub(super) fn scatter_nd(call: &Call<'_>) -> LoweringResult {
    let [data, indices, updates] = [call.value(0)?, call.value(1)?, call.value(2)?];
    single_result(call.builder.scatter_nd(
        reduction(call)?,
        data,
        indices,
        updates,
        TakeMode::Error,
    )?)
}

/// The operation that combines an element with its updates.
fn reduction(call: &Call<'_>) -> Result<ScatterOp, FormatErrorKind> {
    let unknown = |name: &str| FormatErrorKind::attribute("reduction", format!("is `{name}`"));
    let name = call.text("reduction", "none")?;
    let since = match name.as_str() {
        "none" => return Ok(ScatterOp::Set),
        "add" | "mul" => REDUCTION_SINCE,
        _ => EXTREMES_SINCE,
    };
    // `set` is not a name of ONNX.
    let op = name.parse().ok().filter(|&op| op != ScatterOp::Set && call.version() >= since);
    op.ok_or_else(|| unknown(&name))
}
