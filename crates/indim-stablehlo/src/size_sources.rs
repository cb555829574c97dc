//! For each result axis, the operand axis of the same size, for sizes that the file leaves open.

use super::attribute::AttributeReader;
use super::syntax::SyntaxOperation;
use super::{dot, windows};

/// For each axis of the first result, the operand and the axis of the same size, if the operation
/// determines them. `ranks` has the rank of each operand, if it is known.
pub(super) fn size_sources(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Vec<Option<(usize, usize)>> {
    let sources = match operation.name.rsplit('.').next().unwrap_or_default() {
        "transpose" => permuted(operation, attributes),
        "reduce" => reduction_axes(operation, attributes, ranks),
        "concatenate" => concatenated(operation, attributes, ranks),
        "dot_general" => product(operation, attributes, ranks),
        "convolution" => convolution(operation, attributes),
        "pad" => padded(operation, attributes),
        "reverse" | "sort" => first_operand_shape(ranks),
        _ => None,
    };
    sources.unwrap_or_default()
}

fn rank(ranks: &[Option<usize>], operand: usize) -> Option<usize> {
    ranks.get(operand).copied().flatten()
}

/// The axes in a list of non-negative numbers.
fn axes(list: &[i64]) -> Option<Vec<usize>> {
    list.iter().map(|&axis| usize::try_from(axis).ok()).collect()
}

type Sources = Option<Vec<Option<(usize, usize)>>>;

/// The shape of the first operand.
fn first_operand_shape(ranks: &[Option<usize>]) -> Sources {
    Some((0..rank(ranks, 0)?).map(|axis| Some((0, axis))).collect())
}

fn permuted(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Sources {
    let permutation = axes(&attributes.integers(operation, "permutation").ok()?)?;
    Some(permutation.into_iter().map(|axis| Some((0, axis))).collect())
}

/// The result of a reduction has the axes that are not reduced.
fn reduction_axes(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Sources {
    let reduced = axes(&attributes.integers(operation, "dimensions").ok()?)?;
    let kept = (0..rank(ranks, 0)?).filter(|axis| !reduced.contains(axis));
    Some(kept.map(|axis| Some((0, axis))).collect())
}

fn concatenated(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Sources {
    let joined = usize::try_from(attributes.integer(operation, "dimension").ok()?).ok()?;
    Some((0..rank(ranks, 0)?).map(|axis| (axis != joined).then_some((0, axis))).collect())
}

/// A product has the batch axes, then the axes of each operand that are neither batch axes nor summed.
fn product(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    ranks: &[Option<usize>],
) -> Sources {
    let dimensions = dot::general(operation, attributes).ok()?.dimensions?;
    let batch = axes(&dimensions.lhs_batch)?;
    // For each operand, its batch axes and its summed axes. The result has the other axes, after the
    // batch axes.
    let summed_axes = [
        [&dimensions.lhs_batch[..], &dimensions.lhs_contracting].concat(),
        [&dimensions.rhs_batch[..], &dimensions.rhs_contracting].concat(),
    ];
    let mut sources: Vec<Option<(usize, usize)>> =
        batch.into_iter().map(|axis| Some((0, axis))).collect();
    for (operand, summed_axes) in summed_axes.iter().enumerate() {
        let summed_axes = axes(summed_axes)?;
        let free_axes = (0..rank(ranks, operand)?).filter(|axis| !summed_axes.contains(axis));
        sources.extend(free_axes.map(|axis| Some((operand, axis))));
    }
    Some(sources)
}

/// The batch of a convolution, unless it has batch groups.
fn convolution(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Sources {
    let convolution = windows::convolution(operation, attributes).ok()?;
    let [operand, _, result] = &convolution.axes;
    let source = |axis: usize| (axis == result.batch).then_some((0, operand.batch));
    let rank = result.spatial.len() + 2;
    (convolution.batch_groups == 1).then(|| (0..rank).map(source).collect())
}

/// The axes without padding.
fn padded(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Sources {
    let list = |name: &str| attributes.integers(operation, name).ok();
    let (low, high) = (list("edge_padding_low")?, list("edge_padding_high")?);
    let interior = list("interior_padding")?;
    let counts = low.iter().zip(&high).zip(&interior);
    let is_kept = counts.map(|((low, high), interior)| [*low, *high, *interior] == [0; 3]);
    Some(is_kept.enumerate().map(|(axis, is)| is.then_some((0, axis))).collect())
}
