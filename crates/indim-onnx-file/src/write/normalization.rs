//! Normalisations that are one node: standardisation, then gain and bias.

use indim_graph::{Graph, NodeKind, ValueId};
use indim_model::{AxisOperation, Epsilon, ReductionMatcher};
use indim_ops::{DType, Op};
use indim_shape::Shape;

use super::model_writer::{ModelWriter, float_attribute, int_attribute};

/// `(x - mean) / sqrt(variance + epsilon) * gain + bias`
#[derive(Clone)]
pub(super) struct Normalization {
    operand: ValueId,
    epsilon: f64,
    /// The first normalised axis; all axes from it on are normalised.
    first_axis: usize,
    /// The axes of the operand to which the axes of gain and bias belong.
    parameter_axes: Vec<usize>,
    gain: Option<ValueId>,
    bias: Option<ValueId>,
}

impl Normalization {
    /// The normalisation of f32 whose result is this value.
    pub(super) fn find(
        graph: &Graph,
        value: ValueId,
        along: &mut ReductionMatcher,
    ) -> Option<Normalization> {
        let node = &graph[value];
        let product = |value: ValueId| match graph[value].kind {
            NodeKind::Elementwise(Op::Mul) => Some(operand_orders(&graph[value].operands)),
            _ => None,
        };
        match node.kind {
            NodeKind::Elementwise(Op::Div) => Normalization::of(graph, value, [None; 2], along),
            NodeKind::Elementwise(Op::Mul) => {
                operand_orders(&node.operands).into_iter().find_map(|(standard, gain)| {
                    Normalization::of(graph, standard, [Some(gain), None], along)
                })
            }
            NodeKind::Elementwise(Op::Add) => {
                let sums = operand_orders(&node.operands).into_iter();
                let all = sums.filter_map(|(scaled, bias)| Some((product(scaled)?, bias)));
                let mut all = all.flat_map(|(ways, bias)| ways.map(|(x, gain)| (x, gain, bias)));
                all.find_map(|(standard, gain, bias)| {
                    Normalization::of(graph, standard, [Some(gain), Some(bias)], along)
                })
            }
            _ => None,
        }
    }

    fn of(
        graph: &Graph,
        standard: ValueId,
        [gain, bias]: [Option<ValueId>; 2],
        along: &mut ReductionMatcher,
    ) -> Option<Normalization> {
        let NodeKind::Elementwise(Op::Div) = graph[standard].kind else { return None };
        let found = along.find(graph, standard)?;
        let AxisOperation::Standardised(Epsilon::InsideRoot(epsilon)) = found.function else {
            return None;
        };
        let (first, rank) = (found.axes[0], graph[standard].array_type.shape.rank());
        if !found.axes.iter().copied().eq(first..rank) {
            return None;
        }
        let parameters = |axes: &[usize]| {
            let lying =
                |value: Option<ValueId>| value.map(|value| broadcast_source(graph, value, axes));
            let lying = [gain, bias].map(lying);
            (!lying.contains(&Some(None))).then(|| lying.map(Option::flatten))
        };
        let (operand, first_axis) = (found.operand, first);
        let with = |parameter_axes: Vec<usize>| {
            let [gain, bias] = parameters(&parameter_axes)?;
            Some(Normalization { operand, epsilon, first_axis, parameter_axes, gain, bias })
        };
        let is_of_images = first == 2 && gain.is_some() && bias.is_some();
        with(found.axes.clone()).or_else(|| is_of_images.then(|| with(vec![1])).flatten())
    }

    pub(super) fn operands(&self) -> Vec<ValueId> {
        [Some(self.operand), self.gain, self.bias].into_iter().flatten().collect()
    }
}

fn operand_orders(operands: &[ValueId]) -> [(ValueId, ValueId); 2] {
    [(operands[0], operands[1]), (operands[1], operands[0])]
}

/// The operand of a broadcast that maps the axes of its operand to exactly `axes`, without a change of
/// size, or that broadcasts a scalar. For another value that value itself, if `axes` are as many as its
/// axes. Else `None`.
fn broadcast_source(graph: &Graph, value: ValueId, axes: &[usize]) -> Option<ValueId> {
    let node = &graph[value];
    let shape = &node.array_type.shape;
    match &node.kind {
        NodeKind::BroadcastInDim(map) => {
            let lies = map.is_empty() || map[..] == *axes;
            let operand = node.operands[0];
            let sizes = graph[operand].array_type.shape.iter();
            let is_whole = map.iter().zip(sizes).all(|(&axis, &size)| shape[axis] == size);
            (lies && is_whole).then_some(operand)
        }
        _ => (axes.len() == shape.rank()).then_some(value),
    }
}

impl ModelWriter<'_> {
    pub(super) fn normalization(&mut self, value: ValueId, found: &Normalization) {
        let shape = self.graph[value].array_type.shape.clone();
        let sizes: Shape = found.parameter_axes.iter().map(|&axis| shape[axis]).collect();
        let x = self.materialized(found.operand);
        let gain = match found.gain {
            Some(gain) => self.parameter(gain, &sizes),
            None => {
                let one = self.number(1.0, DType::F32);
                self.expand(&one, &sizes)
            }
        };
        let bias = found.bias.map(|bias| self.parameter(bias, &sizes));
        let inputs = [Some(x), Some(gain), bias].into_iter().flatten().collect::<Vec<_>>();
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let epsilon = float_attribute("epsilon", found.epsilon as f32);
        let is_layer = found.parameter_axes[0] == found.first_axis;
        let name = match is_layer {
            true => {
                let axis = int_attribute("axis", found.first_axis as i64);
                self.node("LayerNormalization", &inputs, vec![axis, epsilon])
            }
            false => self.node("InstanceNormalization", &inputs, vec![epsilon]),
        };
        self.set_value(value, name, shape);
    }

    fn parameter(&mut self, value: ValueId, sizes: &Shape) -> String {
        let whole = self.materialized(value);
        match self.graph[value].array_type.shape.is_scalar() {
            true => self.expand(&whole, sizes),
            false => whole,
        }
    }

    fn expand(&mut self, name: &str, sizes: &Shape) -> String {
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        let target = self.integer_list(&sizes);
        self.op("Expand", &[name, &target])
    }
}
