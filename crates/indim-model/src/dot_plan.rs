//! Values that a writer emits as one matrix product, and the intermediate values that it omits for them.

use crate::match_product::{DotForm, ProductMatch};
use crate::writer::{Notes, location_of};
use indim_graph::{Graph, NodeKind, ValueId};
use indim_ops::{DType, DTypeClass};

/// The values of a legalised graph that are written as matrix products, and those that are written at all.
#[derive(Debug)]
pub struct DotPlan {
    products: Vec<Option<WrittenDot>>,
    is_needed: Vec<bool>,
}

/// A value that is written as `dot_general`.
#[derive(Debug, Clone)]
pub struct WrittenDot {
    /// The operation.
    pub form: DotForm,
    /// The element type of both operands, to which other types are converted.
    pub operands: DType,
    /// The element type of the result.
    pub result: DType,
}

impl DotPlan {
    /// The plan of a graph; `notes` gets the products that are computed in a wider type.
    pub fn of(graph: &Graph, notes: &mut Notes) -> DotPlan {
        let mut plan =
            DotPlan { products: vec![None; graph.len()], is_needed: vec![false; graph.len()] };
        graph.outputs().iter().for_each(|output| plan.is_needed[output.index()] = true);
        for (value, node) in graph.iter().rev() {
            plan.is_needed[value.index()] |= matches!(node.kind, NodeKind::Parameter { .. });
            if !plan.is_needed[value.index()] {
                continue;
            }
            let found = ProductMatch::find(graph, value);
            let operands = found.as_ref().map(ProductMatch::operands);
            let read = operands.as_ref().map_or(&node.operands[..], |operands| operands);
            read.iter().for_each(|operand| plan.is_needed[operand.index()] = true);
            let Some(found) = found else { continue };
            if !found.is_exact {
                let location = location_of(graph, value);
                notes.composed(node.kind.name(), "a product in double precision", location);
            }
            plan.products[value.index()] = Some(WrittenDot::of(graph, &found));
        }
        plan
    }

    /// The product that computes a value, if it is written as one.
    pub fn product(&self, value: ValueId) -> Option<&WrittenDot> {
        self.products[value.index()].as_ref()
    }

    /// Whether the file contains a value: it is an output or a parameter, or a value in the file reads it.
    pub fn is_needed(&self, value: ValueId) -> bool {
        self.is_needed[value.index()]
    }
}

impl WrittenDot {
    fn of(graph: &Graph, found: &ProductMatch) -> WrittenDot {
        let [x, y] = found.operands().map(|operand| graph[operand].array_type.dtype);
        // Operands of one narrow type keep it, because XLA multiplies them in the type of the result.
        let is_narrow = x.class() != DTypeClass::Float || x.size() == 2;
        let operands = if x == y && is_narrow { x } else { found.dtype };
        WrittenDot { form: found.dot(), operands, result: found.dtype }
    }
}
