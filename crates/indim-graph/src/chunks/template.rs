//! The program of a stage for chunks of any sizes: a graph in which the sizes along the stage's axes are
//! open.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use crate::assemble::GraphAssembler;
use crate::graph::{Graph, NodeKind, ValueId};
use crate::verify::VerifyErrorKind;
use crate::views::AxisSlice;

use super::demand::{Axes, operand_axes};

/// The size of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// The same for all chunks.
    Fixed(usize),
    /// That of the chunk along this axis of the stage.
    Chunk(usize),
}

#[derive(Debug, Clone)]
struct TemplateNode {
    kind: NodeKind,
    operands: Vec<usize>,
    dtype: DType,
    sizes: Vec<Size>,
}

/// A graph in which sizes are open. Its parameters come first.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    nodes: Vec<TemplateNode>,
    outputs: Vec<usize>,
}

/// A value as it is read.
pub(super) type Reading = (ValueId, Axes);

impl Template {
    /// The program that computes what is demanded of the values that are given.
    pub(super) fn new(
        graph: &Graph,
        demanded: &BTreeMap<ValueId, Vec<Axes>>,
        given: &[Reading],
    ) -> (Template, HashMap<Reading, usize>) {
        let mut template = Template::default();
        let mut places: HashMap<Reading, usize> = HashMap::new();
        for (index, (value, axes)) in given.iter().enumerate() {
            let kind = NodeKind::Parameter { index, name: format!("x{index}") };
            places.insert((*value, axes.clone()), template.add(graph, *value, kind, vec![], axes));
        }
        for (&value, readings) in demanded {
            let node = &graph[value];
            for axes in readings {
                if places.contains_key(&(value, axes.clone())) {
                    continue;
                }
                let operand = |(position, &operand): (usize, &ValueId)| {
                    places[&(operand, operand_axes(graph, node, position, axes))]
                };
                let operands = node.operands.iter().enumerate().map(operand).collect();
                let place = template.add(graph, value, node.kind.clone(), operands, axes);
                places.insert((value, axes.clone()), place);
            }
        }
        (template, places)
    }

    fn add(
        &mut self,
        graph: &Graph,
        value: ValueId,
        kind: NodeKind,
        operands: Vec<usize>,
        axes: &[Option<usize>],
    ) -> usize {
        let ArrayType { dtype, shape } = &graph[value].array_type;
        let size =
            |(&axis, &size): (&Option<usize>, &usize)| axis.map_or(Size::Fixed(size), Size::Chunk);
        let sizes = axes.iter().zip(shape.iter()).map(size).collect();
        self.nodes.push(TemplateNode { kind, operands, dtype: *dtype, sizes });
        self.nodes.len() - 1
    }

    /// Returns the value at `place`.
    pub(super) fn give(&mut self, place: usize) {
        self.outputs.push(place);
    }

    /// Reduces the value at `place`, and returns the result with an axis of size 1 in the place of the one
    /// that goes.
    pub(super) fn give_reduced(&mut self, place: usize, kind: NodeKind, axis: usize) {
        let TemplateNode { dtype, mut sizes, .. } = self.nodes[place].clone();
        sizes.remove(axis);
        self.nodes.push(TemplateNode { kind, operands: vec![place], dtype, sizes: sizes.clone() });
        sizes.insert(axis, Size::Fixed(1));
        let operands = vec![self.nodes.len() - 1];
        self.nodes.push(TemplateNode { kind: NodeKind::Reshape, operands, dtype, sizes });
        self.outputs.push(self.nodes.len() - 1);
    }

    /// The graph for chunks of these sizes along the axes of the stage.
    ///
    /// # Errors
    /// When there is no array of such a size.
    pub(super) fn graph(&self, chunk: &[usize]) -> Result<Graph, VerifyErrorKind> {
        let mut assembler = GraphAssembler::new();
        let mut values: Vec<ValueId> = Vec::with_capacity(self.nodes.len());
        let mut shapes: Vec<Shape> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let size = |size: &Size| match *size {
                Size::Fixed(size) => size,
                Size::Chunk(axis) => chunk[axis],
            };
            let shape: Shape = node.sizes.iter().map(size).collect::<Vec<usize>>().into();
            let kind = match &node.kind {
                NodeKind::Slice(slices) => {
                    NodeKind::Slice(slices_of_chunk(slices, node, &shapes[node.operands[0]]))
                }
                kind => kind.clone(),
            };
            let operands: Vec<ValueId> =
                node.operands.iter().map(|&operand| values[operand]).collect();
            let array_type = ArrayType::new(node.dtype, shape.clone());
            values.push(assembler.add(kind, &operands, array_type)?);
            shapes.push(shape);
        }
        assembler.finish(self.outputs.iter().map(|&output| values[output]).collect())
    }
}

/// Slices, of which those along the axes of a stage are the whole axis.
fn slices_of_chunk(slices: &[AxisSlice], node: &TemplateNode, shape: &[usize]) -> Arc<[AxisSlice]> {
    let of_axis = |(axis, slice): (usize, &AxisSlice)| match node.sizes[axis] {
        Size::Fixed(_) => *slice,
        Size::Chunk(_) => AxisSlice::whole(shape[axis]),
    };
    slices.iter().enumerate().map(of_axis).collect()
}
