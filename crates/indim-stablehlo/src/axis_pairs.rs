//! Operand axes whose sizes must agree, such as those that a product sums. They find errors in programs
//! that leave sizes open.

use indim_model::outline::AxisPair;

use super::attribute::AttributeReader;
use super::syntax::SyntaxOperation;
use super::{dot, windows};

/// The axis pairs of an operation; empty for one that has none. `ranks` has the rank of each operand, if it
/// is known.
pub(super) fn axis_pairs(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Vec<AxisPair> {
    let pairs = match operation.name.rsplit('.').next().unwrap_or_default() {
        "dot_general" => product(operation, attributes),
        "concatenate" => concatenation(operation, attributes, ranks),
        "convolution" => convolution(operation, attributes),
        _ => None,
    };
    pairs.unwrap_or_default()
}

type Pairs = Option<Vec<AxisPair>>;

/// The batch axes and the summed axes.
fn product(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Pairs {
    let dimensions = dot::general(operation, attributes).ok()?.dimensions?;
    let first = dimensions.lhs_batch.iter().chain(&dimensions.lhs_contracting);
    let second = dimensions.rhs_batch.iter().chain(&dimensions.rhs_contracting);
    let axis = |&axis: &i64| usize::try_from(axis).ok();
    first.zip(second).map(|(a, b)| Some(AxisPair::equal((0, axis(a)?), (1, axis(b)?)))).collect()
}

/// All axes but the joined one, of each operand after the first.
fn concatenation(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Pairs {
    let joined = usize::try_from(attributes.integer(operation, "dimension").ok()?).ok()?;
    let rank = (*ranks.first()?)?;
    let others = move || (0..rank).filter(move |&axis| axis != joined);
    let of_operand =
        |operand: usize| others().map(move |axis| AxisPair::equal((0, axis), (operand, axis)));
    Some((1..ranks.len()).flat_map(of_operand).collect())
}

/// The features, unless the convolution has groups.
fn convolution(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Pairs {
    let convolution = windows::convolution(operation, attributes).ok()?;
    let [operand, kernel, _] = &convolution.axes;
    let features = AxisPair::equal((0, operand.feature), (1, kernel.feature));
    Some(if convolution.feature_groups == 1 { vec![features] } else { Vec::new() })
}
