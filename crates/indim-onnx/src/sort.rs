//! The lowering of `TopK`.

use indim_graph::AxisSlice;
use indim_model::FormatErrorKind;
use indim_model::shape_values::KnownValue;

use super::call::{Call, LoweringResult};

/// The greatest or smallest elements along an axis, and their positions: a slice of a sort. The results
/// are sorted even if ONNX allows any order (`sorted` is 0).
pub(super) fn top_k(call: &Call<'_>) -> LoweringResult {
    let shape = call.shape(0)?;
    let axis = call.axis(call.int("axis", -1)?, shape.rank())?;
    let missing = || FormatErrorKind::attribute("k", "is missing");
    let given = match call.version() < 10 {
        true => call.optional_int("k")?.map(|count| vec![count]),
        false => call.optional_integers(1)?,
    };
    let count = match given.ok_or_else(missing)?[..] {
        [count] => usize::try_from(count).ok().filter(|&count| count <= shape[axis]),
        _ => None,
    };
    let wrong = || {
        let problem = format!("is not a number up to {}, the size of axis {axis}", shape[axis]);
        FormatErrorKind::attribute("k", problem)
    };
    let mut first: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    first[axis] = AxisSlice::new(0, count.ok_or_else(wrong)?, 1);
    let largest = call.int("largest", 1)? != 0;
    let (b, x) = (call.builder, call.value(0)?);
    let sorted = [b.sort(x, axis as i64, largest)?, b.argsort(x, axis as i64, largest)?];
    let results = sorted.map(|sorted| b.slice(sorted, &first).map(KnownValue::from));
    Ok(results.into_iter().collect::<Result<Vec<KnownValue>, _>>()?)
}
