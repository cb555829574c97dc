//! Operand axes of a layer whose sizes must agree, such as the inner axes of a matrix product. They find
//! errors in networks that leave sizes open.

use indim_model::outline::AxisPair;

use crate::call::axis_from_front;
use crate::layer::Layer;
use crate::network::Network;

/// Pairs of axes, each after its operand, for recurrent layers: sequences have the operands `X`, states,
/// lengths, `W`, `R`, `B`; cells have no lengths, and no axis of directions or steps.
type AxisTable = &'static [((usize, usize), (usize, usize))];

const LSTM_SEQUENCE: AxisTable = &[
    ((0, 0), (1, 0)),
    ((0, 0), (2, 0)),
    ((0, 2), (4, 2)),
    ((1, 1), (4, 0)),
    ((2, 1), (4, 0)),
    ((1, 2), (5, 2)),
    ((2, 2), (5, 2)),
    ((4, 0), (5, 0)),
    ((4, 1), (5, 1)),
    ((4, 1), (6, 1)),
];
/// The biases of a `GRUSequence` can have an additional part, so they are not compared.
const GRU_SEQUENCE: AxisTable = &[
    ((0, 0), (1, 0)),
    ((0, 2), (3, 2)),
    ((1, 1), (3, 0)),
    ((1, 2), (4, 2)),
    ((3, 0), (4, 0)),
    ((3, 1), (4, 1)),
];
const LSTM_CELL: AxisTable = &[
    ((0, 0), (1, 0)),
    ((0, 0), (2, 0)),
    ((0, 1), (3, 1)),
    ((1, 1), (4, 1)),
    ((2, 1), (4, 1)),
    ((3, 0), (4, 0)),
    ((3, 0), (5, 0)),
];
const GRU_CELL: AxisTable =
    &[((0, 0), (1, 0)), ((0, 1), (2, 1)), ((1, 1), (3, 1)), ((2, 0), (3, 0))];

/// The axis pairs of a layer; empty for an operation that has none.
pub(super) fn axis_pairs(network: &Network, layer: &Layer) -> Vec<AxisPair> {
    let equal = |table: AxisTable| table.iter().map(|&(a, b)| AxisPair::equal(a, b)).collect();
    let kernel_axes =
        |axes: Vec<usize>| vec![AxisPair { axes: [(0, vec![1]), (1, axes)], may_expand: false }];
    match layer.operation.to_ascii_lowercase().as_str() {
        "matmul" => matrix_product(network, layer).unwrap_or_default(),
        "concat" => concatenation(network, layer).unwrap_or_default(),
        "convolution" => kernel_axes(vec![1]),
        "convolutionbackpropdata" => kernel_axes(vec![0]),
        // The kernel has the groups first: `[groups, out, in, ...]`, or `[groups, in, out, ...]`.
        "groupconvolution" => kernel_axes(vec![0, 2]),
        "groupconvolutionbackpropdata" => kernel_axes(vec![0, 1]),
        "lstmsequence" => equal(LSTM_SEQUENCE),
        "grusequence" | "rnnsequence" => equal(GRU_SEQUENCE),
        "lstmcell" => equal(LSTM_CELL),
        "grucell" | "rnncell" => equal(GRU_CELL),
        _ => Vec::new(),
    }
}

/// The number of axes that the port of an operand's source states.
fn rank(network: &Network, layer: &Layer, operand: usize) -> Option<usize> {
    let source = layer.sources.get(operand)?;
    Some(network.layers[source.layer].outputs.get(source.output)?.sizes.len())
}

/// The inner axes, and the batch axes, which broadcast. A vector is not transposed.
fn matrix_product(network: &Network, layer: &Layer) -> Option<Vec<AxisPair>> {
    let [first, second] = [rank(network, layer, 0)?, rank(network, layer, 1)?];
    let flag = |name: &str, rank: usize| {
        layer.flag(name, Some(false)).ok().map(|is_transposed| is_transposed && rank > 1)
    };
    let (a, b) = (flag("transpose_a", first)?, flag("transpose_b", second)?);
    let row = first.checked_sub(if a { 2 } else { 1 })?;
    let column = second.checked_sub(if b || second == 1 { 1 } else { 2 })?;
    let batch = (3..=first.min(second)).map(|from_end| {
        let pair = AxisPair::equal((0, first - from_end), (1, second - from_end));
        AxisPair { may_expand: true, ..pair }
    });
    Some(core::iter::once(AxisPair::equal((0, row), (1, column))).chain(batch).collect())
}

/// All axes but the joined one, of each operand after the first.
fn concatenation(network: &Network, layer: &Layer) -> Option<Vec<AxisPair>> {
    let rank = rank(network, layer, 0)?;
    let joined = axis_from_front(layer.integer("axis", None).ok()?, rank)?;
    let others = move || (0..rank).filter(move |&axis| axis != joined);
    let of_operand =
        |operand: usize| others().map(move |axis| AxisPair::equal((0, axis), (operand, axis)));
    Some((1..layer.sources.len()).flat_map(of_operand).collect())
}
