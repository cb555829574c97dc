//! Idioms: subgraphs that are written as one ONNX operator, such as a softmax or a matrix product. Their
//! inner nodes are not written.

use indim_builder::{Composition, Reduction};
use indim_graph::{Graph, NodeKind, ValueId};
use indim_model::{
    AxisOperation, CompositionMatch, CompositionMatcher, ProductMatch, ReductionMatch,
    ReductionMatcher,
};
use indim_ops::DType;
use indim_shape::Shape;

use super::model_writer::{ModelWriter, float_attribute, int_attribute, text_attribute};
use super::normalization::Normalization;
use crate::messages::AttributeProto;

/// A subgraph that is one operator.
#[derive(Clone)]
pub(super) enum Idiom {
    /// A composition.
    Composition(CompositionMatch),
    /// A softmax or a reduction.
    Reduction(ReductionMatch),
    /// A normalisation with gain and bias.
    Normalization(Normalization),
    /// A matrix product.
    Product(ProductMatch),
}

impl Idiom {
    /// The operands of the operator.
    fn operands(&self) -> Vec<ValueId> {
        match self {
            Idiom::Composition(found) => vec![found.operand],
            Idiom::Reduction(found) => vec![found.operand],
            Idiom::Normalization(found) => found.operands(),
            Idiom::Product(found) => found.operands().to_vec(),
        }
    }
}

/// The values that are written to the file, and the idioms among them.
pub(super) struct IdiomPlan {
    /// The idiom whose result is this value, if any.
    pub(super) idioms: Vec<Option<Idiom>>,
    /// Whether the value is written: a parameter, or a value on which an output depends, outside an
    /// idiom.
    pub(super) is_needed: Vec<bool>,
}

impl IdiomPlan {
    pub(super) fn of(graph: &Graph, opset: i64) -> IdiomPlan {
        let mut matcher = ReductionMatcher::default();
        let mut idioms = vec![None; graph.len()];
        let mut is_needed = vec![false; graph.len()];
        graph.outputs().iter().for_each(|output| is_needed[output.index()] = true);
        for (value, node) in graph.iter().rev() {
            is_needed[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
            if !is_needed[value.index()] {
                continue;
            }
            let found = idiom(graph, value, opset, &mut matcher);
            let read = found.as_ref().map(Idiom::operands);
            let read = read.as_deref().unwrap_or(&node.operands);
            read.iter().for_each(|operand| is_needed[operand.index()] = true);
            idioms[value.index()] = found;
        }
        IdiomPlan { idioms, is_needed }
    }
}

/// The idiom whose result is this value.
fn idiom(
    graph: &Graph,
    value: ValueId,
    opset: i64,
    matcher: &mut ReductionMatcher,
) -> Option<Idiom> {
    if let Some(found) = ProductMatch::find(graph, value) {
        return Some(Idiom::Product(found));
    }
    // Parameters, such as epsilon, become attributes, which ONNX stores as `f32`.
    if graph[value].array_type.dtype == DType::F32 {
        let found = CompositionMatcher::shared().find(graph, value);
        if let Some(found) = found.filter(|found| operator(found, opset).is_some()) {
            return Some(Idiom::Composition(found));
        }
        if let Some(found) = Normalization::find(graph, value, matcher) {
            return Some(Idiom::Normalization(found));
        }
    }
    let found = matcher.find(graph, value)?;
    axis_operator(&found, graph[value].array_type.dtype)?;
    Some(Idiom::Reduction(found))
}

/// The operator of a composition with its attributes; `None` if this opset lacks it.
fn operator(found: &CompositionMatch, opset: i64) -> Option<(&'static str, Vec<AttributeProto>)> {
    let number = |name: &str, index: usize| float_attribute(name, found.numbers[index] as f32);
    let (since, operator, attributes) = match found.composition {
        Composition::Elu => (1, "Elu", vec![number("alpha", 0)]),
        Composition::HardSigmoid => (1, "HardSigmoid", vec![number("alpha", 0), number("beta", 1)]),
        Composition::Relu => (1, "Relu", Vec::new()),
        Composition::Softsign => (1, "Softsign", Vec::new()),
        Composition::HardSwish => (14, "HardSwish", Vec::new()),
        Composition::Mish => (18, "Mish", Vec::new()),
        Composition::Gelu => (20, "Gelu", Vec::new()),
        Composition::GeluTanh => (20, "Gelu", vec![text_attribute("approximate", "tanh")]),
        Composition::Swish => (24, "Swish", vec![number("alpha", 0)]),
        _ => return None,
    };
    (opset >= since).then_some((operator, attributes))
}

/// An operator along axes.
#[derive(Clone, Copy)]
enum AxisOperator {
    /// A reduction; its axes are an input.
    SeveralAxes(&'static str),
    /// An operator along one axis; the axis is an attribute.
    OneAxis(&'static str),
}

/// The operator for a function along axes, on elements of type `dtype`. ONNX adds 16-bit floats in 16
/// bits, so a sum of them is no idiom: it is written node by node in double precision, as indim computes
/// it. Integers of 8 and 16 bits are excluded too, because the operators lack them.
fn axis_operator(found: &ReductionMatch, dtype: DType) -> Option<AxisOperator> {
    use AxisOperator::{OneAxis, SeveralAxes};
    let AxisOperation::Function(function) = found.function else { return None };
    let is_run = found.axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let is_wide = dtype.size() > 2;
    match function {
        Reduction::Softmax if is_run => Some(OneAxis("Softmax")),
        Reduction::LogSoftmax if is_run => Some(OneAxis("LogSoftmax")),
        Reduction::LogSumExp if is_wide => Some(SeveralAxes("ReduceLogSumExp")),
        Reduction::Mean if is_wide => Some(SeveralAxes("ReduceMean")),
        Reduction::Norm if is_wide => Some(SeveralAxes("ReduceL2")),
        Reduction::Prod if is_wide => Some(SeveralAxes("ReduceProd")),
        Reduction::Sum if is_wide => Some(SeveralAxes("ReduceSum")),
        _ => None,
    }
}

impl ModelWriter<'_> {
    pub(super) fn idiom(&mut self, value: ValueId, idiom: &Idiom) {
        match idiom {
            Idiom::Composition(found) => self.write_composition(value, found),
            Idiom::Reduction(found) => self.write_axis_operation(value, found),
            Idiom::Normalization(found) => self.normalization(value, found),
            Idiom::Product(found) => self.product(value, found),
        }
    }

    fn write_composition(&mut self, value: ValueId, found: &CompositionMatch) {
        let compact = self.compact_value(found.operand);
        let Some((operator, attributes)) = operator(found, self.opset) else { return };
        let name = self.node(operator, &[&compact.name], attributes);
        self.set_value(value, name, compact.sizes);
    }

    fn write_axis_operation(&mut self, value: ValueId, found: &ReductionMatch) {
        let array_type = self.graph[value].array_type.clone();
        let Some(operator) = axis_operator(found, array_type.dtype) else { return };
        let whole = self.materialized(found.operand);
        let name = match operator {
            AxisOperator::SeveralAxes(operator) => {
                let axes: Vec<i64> = found.axes.iter().map(|&axis| axis as i64).collect();
                let axes = self.integer_list(&axes);
                let keepdims = int_attribute("keepdims", i64::from(found.keepdims));
                self.node(operator, &[&whole, &axes], vec![keepdims])
            }
            AxisOperator::OneAxis(operator) => {
                let (from, merged) =
                    (&array_type.shape, merge_axes(&array_type.shape, &found.axes));
                let x = self.reshape_value(&whole, from, &merged);
                let axis = int_attribute("axis", found.axes[0] as i64);
                let name = self.node(operator, &[&x], vec![axis]);
                self.reshape_value(&name, &merged, from)
            }
        };
        self.set_value(value, name, array_type.shape);
    }
}

/// The shape with consecutive axes merged into one.
fn merge_axes(shape: &Shape, axes: &[usize]) -> Shape {
    let (first, end) = (axes[0], axes[0] + axes.len());
    let size: usize = shape[first..end].iter().product();
    shape[..first].iter().copied().chain([size]).chain(shape[end..].iter().copied()).collect()
}
