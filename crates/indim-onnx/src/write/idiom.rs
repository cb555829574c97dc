//! Compositions that are one operator of ONNX: the nodes that they are made of are not written.

use indim_builder::Composition;
use indim_graph::{Graph, NodeKind, ValueId};
use indim_model::{Recognised, Recogniser};
use indim_ops::DType;

use super::super::messages::AttributeProto;
use super::writing::{Writing, float, text};

/// What is written of a graph.
pub(super) struct Plan {
    /// For each value the composition that it is, if that is one operator.
    pub(super) idioms: Vec<Option<Recognised>>,
    /// Whether each value stands in the file.
    pub(super) is_needed: Vec<bool>,
}

impl Plan {
    pub(super) fn of(graph: &Graph, opset: i64) -> Plan {
        let recogniser = Recogniser::shared();
        let mut idioms = vec![None; graph.len()];
        let mut is_needed = vec![false; graph.len()];
        graph.outputs().iter().for_each(|output| is_needed[output.index()] = true);
        let values: Vec<ValueId> = graph.iter().map(|(value, _)| value).collect();
        for &value in values.iter().rev() {
            let node = &graph[value];
            is_needed[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
            if !is_needed[value.index()] {
                continue;
            }
            // The numbers are attributes, which are of 32 bits.
            let is_sought = node.array_type.dtype == DType::F32;
            let found = is_sought.then(|| recogniser.find(graph, value)).flatten();
            match found.filter(|found| operator(found, opset).is_some()) {
                Some(found) => {
                    is_needed[found.operand.index()] = true;
                    idioms[value.index()] = Some(found);
                }
                None => node.operands.iter().for_each(|operand| is_needed[operand.index()] = true),
            }
        }
        Plan { idioms, is_needed }
    }
}

/// The operator with its attributes, from the opset on that has it.
fn operator(found: &Recognised, opset: i64) -> Option<(&'static str, Vec<AttributeProto>)> {
    let number = |name: &str, index: usize| float(name, found.numbers[index] as f32);
    let (since, operator, attributes) = match found.composition {
        Composition::Elu => (1, "Elu", vec![number("alpha", 0)]),
        Composition::HardSigmoid => (1, "HardSigmoid", vec![number("alpha", 0), number("beta", 1)]),
        Composition::Softsign => (1, "Softsign", Vec::new()),
        Composition::HardSwish => (14, "HardSwish", Vec::new()),
        Composition::Mish => (18, "Mish", Vec::new()),
        Composition::Gelu => (20, "Gelu", Vec::new()),
        Composition::GeluTanh => (20, "Gelu", vec![text("approximate", "tanh")]),
        Composition::Swish => (24, "Swish", vec![number("alpha", 0)]),
        _ => return None,
    };
    (opset >= since).then_some((operator, attributes))
}

impl Writing<'_> {
    pub(super) fn idiom(&mut self, value: ValueId, found: &Recognised) {
        let piece = self.piece(found.operand);
        let Some((operator, attributes)) = operator(found, self.opset) else { return };
        let name = self.node(operator, &[&piece.name], attributes);
        self.set(value, name, piece.sizes);
    }
}
