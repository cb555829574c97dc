//! Graph → loop nests. Values of one iteration shape that are written to memory are computed together in one
//! nest, and with them everything they need that is not; `keep.rs` says which those are.

pub mod input_axes;
pub mod loop_nest;
pub mod replace;
pub mod scratch;

mod body;
mod keep;
mod numbered;
mod origin;

use core::ops::ControlFlow;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use indim_ops::DType;
use indim_shape::Shape;
use loop_nest::{BufferId, LoopNest, LoopNests};
use numbered::Numbered;

use crate::array::Array;
use crate::graph::{Graph, NodeKind, ValueId};
use crate::passes::expand_reductions;

/// Lowers a graph to loop nests.
pub fn lower(graph: &Graph) -> LoopNests {
    lower_with(graph, &mut |_| ControlFlow::Continue(()))
        .expect("invariant: nothing stops it but what hears of the nests")
}

/// As [`lower`]; `hear` is called with each nest when it is made, and stops it by `Break`: then there
/// is no result. A value that several nests need may be computed in each, so together they may have
/// more instructions than the graph has nodes.
pub fn lower_with(
    graph: &Graph,
    hear: &mut dyn FnMut(&LoopNest) -> ControlFlow<()>,
) -> Option<LoopNests> {
    let graph = &*expand_reductions(graph);
    let kept = keep::kept_values(graph);
    let mut buffers = Buffers::new(graph, &kept);
    let mut nests = Vec::with_capacity(kept.groups().len());
    for group in kept.groups() {
        let nest = body::nest(graph, group, &kept, &mut buffers);
        if hear(&nest).is_break() {
            return None;
        }
        nests.push(Arc::new(nest));
    }
    let type_of = |&value: &ValueId| graph[value].array_type.clone();
    Some(LoopNests {
        parameters: graph.parameters().iter().map(type_of).collect(),
        outputs: graph.outputs().iter().map(type_of).collect(),
        temporaries: buffers.temporaries.items().iter().map(type_of).collect(),
        constants: buffers.constants.items().iter().map(|&value| array_of(graph, value)).collect(),
        counters: buffers.counters.into_items(),
        nests,
    })
}

fn array_of(graph: &Graph, constant: ValueId) -> Array {
    match &graph[constant].kind {
        NodeKind::Constant(array) => array.clone(),
        _ => unreachable!("invariant: only constants are numbered as such"),
    }
}

/// Which array holds which value.
struct Buffers {
    constants: Numbered<ValueId>,
    counters: Numbered<(DType, usize)>,
    temporaries: Numbered<ValueId>,
    /// The outputs that return each value.
    outputs: HashMap<ValueId, Vec<usize>>,
}

impl Buffers {
    fn new(graph: &Graph, kept: &keep::Kept) -> Self {
        let mut outputs: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (index, &value) in graph.outputs().iter().enumerate() {
            outputs.entry(value).or_default().push(index);
        }
        let is_temporary =
            |value: &ValueId| kept.needs_dense(*value) || !outputs.contains_key(value);
        let temporaries = kept.read_values().filter(is_temporary).collect();
        Buffers { constants: Numbered::new(), counters: Numbered::new(), temporaries, outputs }
    }

    /// Where a kept value is read.
    fn read_from(&self, value: ValueId) -> BufferId {
        let output = || self.outputs.get(&value).map(|indices| BufferId::Output(indices[0]));
        let temporary = self.temporaries.find(&value).map(BufferId::Temporary);
        temporary.or_else(output).expect("invariant: a kept value is a temporary or an output")
    }

    /// Every place to which a kept value is written.
    fn written_to(&self, value: ValueId) -> Vec<BufferId> {
        let outputs = self.outputs.get(&value).into_iter().flatten();
        let temporary = self.temporaries.find(&value);
        outputs
            .map(|&index| BufferId::Output(index))
            .chain(temporary.map(BufferId::Temporary))
            .collect()
    }

    /// Equal constants are one value, which is quicker to look up than its elements.
    fn constant(&mut self, value: ValueId) -> BufferId {
        BufferId::Constant(self.constants.number(&value))
    }

    fn counter(&mut self, dtype: DType, length: usize) -> BufferId {
        BufferId::Counter(self.counters.number(&(dtype, length)))
    }
}

/// How the axes of a nest walk a value: for each axis of the nest the value's axis, if any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct View(Arc<[Option<usize>]>);

impl View {
    /// Every axis of the nest walks the same axis of the value.
    fn identity(shape: &Shape) -> Self {
        View(shape.iter().enumerate().map(|(axis, &size)| (size != 1).then_some(axis)).collect())
    }

    /// How a nest over `shape` walks what is left when `axis` goes.
    fn without_axis(shape: &Shape, axis: usize) -> Self {
        let left = |other: usize| match shape[other] {
            1 => None,
            _ if other == axis => None,
            _ => Some(if other < axis { other } else { other - 1 }),
        };
        View((0..shape.rank()).map(left).collect())
    }

    /// The view of the operand of a `BroadcastInDim` that lands so.
    fn of_broadcast(map: &[usize], operand: &Shape, result: &Shape) -> Self {
        let mut axes = vec![None; result.rank()];
        for (axis, &target) in map.iter().enumerate().filter(|&(axis, _)| operand[axis] != 1) {
            axes[target] = Some(axis);
        }
        View(axes.into())
    }

    /// The view of the operand of a reshape that only adds or drops axes of size 1.
    fn of_unit_reshape(result: &Shape, operand: &Shape) -> Self {
        let mut kept = (0..operand.rank()).filter(|&axis| operand[axis] != 1);
        View(result.iter().map(|&size| if size == 1 { None } else { kept.next() }).collect())
    }

    /// This view of a value that is itself seen through `next`.
    fn through(&self, next: &View) -> View {
        View(self.0.iter().map(|axis| next.0[(*axis)?]).collect())
    }
}

/// Whether a reshape only adds or drops axes of size 1, so that it is a view of any strides.
fn is_unit_reshape(result: &Shape, operand: &Shape) -> bool {
    let not_unit = |&&size: &&usize| size != 1;
    result.iter().filter(not_unit).eq(operand.iter().filter(not_unit))
}

/// Whether a node is read from memory rather than computed.
fn is_leaf(kind: &NodeKind) -> bool {
    matches!(kind, NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::Iota { .. })
}
