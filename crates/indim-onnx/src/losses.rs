//! Losses of classifiers: `NegativeLogLikelihoodLoss` and `SoftmaxCrossEntropyLoss`.

use indim_builder::{Reduction, Value};
use indim_graph::{Literal, TakeMode};
use indim_model::FormatErrorKind;
use indim_model::shape_values::KnownValue;
use indim_ops::DType;

use super::call::{Call, LoweringResult, single_result};
use super::reductions::reduce_options;

/// `NegativeLogLikelihoodLoss`: the operand has the logarithms of the probabilities.
pub(super) fn negative_log_likelihood(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    single_result(loss(call, call.value(0)?)?)
}

/// `SoftmaxCrossEntropyLoss`: the operand has scores, whose softmax are the probabilities. The second result
/// has their logarithms.
pub(super) fn softmax_cross_entropy(call: &Call<'_>) -> LoweringResult {
    call.check_dtype(0, DType::is_float)?;
    let options = reduce_options(&[1], false);
    let logarithms = call.builder.along(Reduction::LogSoftmax, call.value(0)?, &options)?;
    Ok([loss(call, &logarithms)?, logarithms].map(KnownValue::from).into())
}

/// The loss of the class of each element, from the logarithms `[batch, classes, ..]` and the classes
/// `[batch, ..]`.
fn loss(call: &Call<'_>, logarithms: &Value) -> Result<Value, FormatErrorKind> {
    let (b, dtype, shape) = (call.builder, call.dtype(0)?, call.shape(1)?);
    let classes = b.convert(call.value(1)?, DType::I64)?;
    let zero = b.literal(Literal::Int(0), dtype)?;
    let one = b.literal(Literal::Int(1), dtype)?;
    let ignored = call.optional_int("ignore_index")?.map(|ignored| classes.eq(ignored));
    // An ignored class need not exist.
    let existing = match &ignored {
        Some(ignored) => ignored.select(0i64, &classes),
        None => classes,
    };
    let mut sizes = shape.to_vec();
    sizes.insert(1.min(sizes.len()), 1);
    let indices = b.reshape(&existing, sizes)?;
    let of_class = b.take_along_axis(logarithms, indices, 1, TakeMode::Error)?;
    let mut losses = -b.reshape(of_class, &shape)?;
    let mut weights = match call.optional(2) {
        Some(weights) => Some(b.take(&weights.value, &existing, 0, TakeMode::Error)?),
        None => ignored.as_ref().map(|_| one),
    };
    if let Some(weights) = &mut weights {
        if let Some(ignored) = &ignored {
            losses = ignored.select(&zero, losses);
            *weights = ignored.select(&zero, &*weights);
        }
        losses = losses * &*weights;
    }
    let axes: Vec<usize> = (0..shape.rank()).collect();
    let reduce =
        |function: Reduction, x: &Value| b.along(function, x, reduce_options(&axes, false));
    Ok(match (&call.text("reduction", "mean")?[..], weights) {
        ("none", _) => losses,
        ("sum", _) => reduce(Reduction::Sum, &losses)?,
        ("mean", None) => reduce(Reduction::Mean, &losses)?,
        ("mean", Some(weights)) => {
            reduce(Reduction::Sum, &losses)? / reduce(Reduction::Sum, &weights)?
        }
        _ => return Err(FormatErrorKind::attribute("reduction", "is none of none, mean and sum")),
    })
}
