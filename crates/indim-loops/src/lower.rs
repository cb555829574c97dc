//! Lowering of a graph to loop nests.
//!
//! Materialised values of one iteration shape share a nest, together with the values that are computed for
//! them; `materialize.rs` selects the materialised values.

use core::ops::ControlFlow;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use indim_graph::{Array, Graph, NodeKind, ShapedGraph, Size, ValueId, expand_for_loops};
use indim_ops::DType;

use crate::interner::Interner;
use crate::limit_sorts::limit_sorts;
use crate::loop_nest::{BufferId, Control, LoopNest, LoopNests};
use crate::{body, checks, materialize};

/// Lowers a graph to concrete loop nests.
pub fn lower(graph: &Graph) -> LoopNests {
    lower_with(graph, &mut |_| ControlFlow::Continue(()))
        .expect("invariant: only `on_nest` stops lowering")
}

/// Like [`lower`], but calls `on_nest` with each new nest. `Break` stops lowering, and the result is
/// `None`. Several nests may recompute the same value, so together they may have more instructions than the
/// graph has nodes; a caller limits them this way.
pub fn lower_with(
    graph: &Graph,
    on_nest: &mut dyn FnMut(&LoopNest) -> ControlFlow<()>,
) -> Option<LoopNests> {
    lower_expanded(&ShapedGraph::concrete(&expand_for_loops(graph)), on_nest)
}

/// Lowers a graph with symbolic shapes to loop nests for any sizes of its symbols.
///
/// ```
/// use indim_builder::GraphBuilder;
/// use indim_graph::SymbolicGraph;
/// use indim_loops::lower_shaped;
/// use indim_ops::{DType, ReduceOp};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F64, [100, 3])?;
/// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x, 1)?])?;
/// let nests = lower_shaped(&SymbolicGraph::new(&graph, &b.size_facts()).shaped());
/// assert_eq!(nests.to_string(), "\
/// for i in [s0, s1] {
///   a0 = load parameter 0 : f64[s0, s1] [i0, i1]
///   store reduce_add.f64 a0 along i1 -> output 0 : f64[s0] [i0]
/// }");
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
pub fn lower_shaped(graph: &ShapedGraph<'_>) -> LoopNests {
    lower_shaped_with(graph, &mut |_| ControlFlow::Continue(()))
        .expect("invariant: only `on_nest` stops lowering")
}

/// Like [`lower_shaped`], but calls `on_nest` with each new nest, like [`lower_with`].
pub fn lower_shaped_with(
    graph: &ShapedGraph<'_>,
    on_nest: &mut dyn FnMut(&LoopNest) -> ControlFlow<()>,
) -> Option<LoopNests> {
    lower_expanded(&graph.expand_for_loops(), on_nest)
}

fn lower_expanded(
    graph: &ShapedGraph<'_>,
    on_nest: &mut dyn FnMut(&LoopNest) -> ControlFlow<()>,
) -> Option<LoopNests> {
    let materialized = materialize::materialize(graph);
    let mut buffers = Buffers::new(graph, &materialized);
    let mut nests = Vec::with_capacity(materialized.groups().len());
    for group in materialized.groups() {
        let nest = body::nest(graph, group, &materialized, &mut buffers);
        if on_nest(&nest).is_break() {
            return None;
        }
        nests.push(nest);
    }
    let checks = checks::checks(graph, &materialized, &mut buffers);
    limit_sorts(&mut nests, &checks);
    let type_of = |&value: &ValueId| body::type_of(graph, value);
    Some(LoopNests {
        checks,
        controls: buffers.controls,
        parameters: graph.parameters().iter().map(type_of).collect(),
        outputs: graph.outputs().iter().map(type_of).collect(),
        temporaries: buffers.temporaries.items().iter().map(type_of).collect(),
        constants: buffers.constants.items().iter().map(|&value| array_of(graph, value)).collect(),
        counters: buffers.counters.into_items(),
        nests: nests.into_iter().map(Arc::new).collect(),
    })
}

fn array_of(graph: &Graph, constant: ValueId) -> Array {
    match &graph[constant].kind {
        NodeKind::Constant(array) => array.clone(),
        _ => unreachable!("invariant: only constants are numbered as such"),
    }
}

/// The buffers of values, numbered by kind.
pub(crate) struct Buffers {
    constants: Interner<ValueId>,
    counters: Interner<(DType, Size)>,
    temporaries: Interner<ValueId>,
    pub(crate) controls: Vec<Control>,
    /// The outputs that return each value.
    outputs: HashMap<ValueId, Vec<usize>>,
}

impl Buffers {
    fn new(graph: &Graph, materialized: &materialize::Materialized) -> Self {
        let mut outputs: HashMap<ValueId, Vec<usize>> = HashMap::new();
        for (index, &value) in graph.outputs().iter().enumerate() {
            outputs.entry(value).or_default().push(index);
        }
        let is_temporary =
            |value: &ValueId| materialized.needs_dense(*value) || !outputs.contains_key(value);
        let temporaries = materialized.read_values().filter(is_temporary).collect();
        Buffers {
            constants: Interner::new(),
            counters: Interner::new(),
            temporaries,
            controls: Vec::new(),
            outputs,
        }
    }

    /// The buffer from which a materialised value is read.
    pub(crate) fn read_from(&self, value: ValueId) -> BufferId {
        let output = || self.outputs.get(&value).map(|indices| BufferId::Output(indices[0]));
        let temporary = self.temporaries.find(&value).map(BufferId::Temporary);
        temporary
            .or_else(output)
            .expect("invariant: a materialised value is a temporary or an output")
    }

    /// The buffers to which a materialised value is written.
    pub(crate) fn written_to(&self, value: ValueId) -> Vec<BufferId> {
        let outputs = self.outputs.get(&value).into_iter().flatten();
        let temporary = self.temporaries.find(&value);
        outputs
            .map(|&index| BufferId::Output(index))
            .chain(temporary.map(BufferId::Temporary))
            .collect()
    }

    /// The buffer of a constant. Equal constants are one value of the graph, so the value identifies it.
    pub(crate) fn constant(&mut self, value: ValueId) -> BufferId {
        BufferId::Constant(self.constants.intern(&value))
    }

    /// The buffer of the numbers 0, 1, 2, ... of this type and length.
    pub(crate) fn counter(&mut self, dtype: DType, length: Size) -> BufferId {
        BufferId::Counter(self.counters.intern(&(dtype, length)))
    }
}
