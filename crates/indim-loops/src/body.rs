//! The body of one nest: accesses, instructions, stores.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};
use indim_graph::{NodeKind, ShapedGraph, SymbolicShape, ValueId};
use indim_ops::{DType, conversion_through};

use crate::interner::Interner;
use crate::loop_nest::{
    Access, AxisIndex, BufferId, Control, InstructionKind, Local, LoopNest, NestInstruction,
    NestReduction, SortedRanges, StandaloneInstruction, Store, SymbolicType,
};
use crate::lower::Buffers;
use crate::materialize::{Materialized, NestValues, computed_values};
use crate::value_source::{
    OperandView, ValueSource, indexed_size, is_control, is_standalone, iteration, operand_views,
    reduced,
};
use crate::view::View;

/// The nest that computes the materialised values `nest`, which have one iteration shape.
pub(crate) fn nest(
    graph: &ShapedGraph<'_>,
    nest: &NestValues,
    materialized: &Materialized,
    buffers: &mut Buffers,
) -> LoopNest {
    let group = &nest.values[..];
    let (shape, reduced) = iteration(graph, group[0]);
    let computed = computed_values(graph, group, materialized);
    let mut body = NestBuilder {
        graph,
        group,
        materialized,
        buffers,
        accesses: Interner::new(),
        instructions: Vec::new(),
        locals: HashMap::new(),
    };
    computed.iter().for_each(|(&value, view)| body.compute(value, view));
    let mut stores = Vec::new();
    let mut results = Vec::new();
    for &value in group {
        stores.extend(body.stores(nest, value));
        if let Some(result) = result_of_control(&graph[value].kind) {
            results.resize(stores.len(), result);
        }
    }
    body.buffers.controls.extend(Control::of(&graph[group[0]].kind, results));
    LoopNest {
        shape,
        reduced,
        accesses: body.accesses.into_items().into_iter().map(|(access, _)| access).collect(),
        instructions: body.instructions.into(),
        stores,
    }
}

/// The position of the result that a node of a loop or branch stands for; `None` for other nodes.
fn result_of_control(kind: &NodeKind) -> Option<usize> {
    match *kind {
        NodeKind::While { result, .. } | NodeKind::Branch { result, .. } => Some(result),
        _ => None,
    }
}

/// A nest under construction.
struct NestBuilder<'a> {
    graph: &'a ShapedGraph<'a>,
    group: &'a [ValueId],
    materialized: &'a Materialized,
    buffers: &'a mut Buffers,
    /// The accesses; the flag is set for the table of a gather.
    accesses: Interner<(Access, bool)>,
    instructions: Vec<NestInstruction>,
    locals: HashMap<ValueId, Local>,
}

impl NestBuilder<'_> {
    /// Adds the instructions that compute `value`, which the nest sees under `view`.
    fn compute(&mut self, value: ValueId, view: &View) {
        let node = &self.graph[value];
        // A loop or branch with several results has one instruction.
        if is_control(&node.kind) && !self.instructions.is_empty() {
            self.locals.insert(value, Local::Instruction(0));
            return;
        }
        let operand_views = operand_views(self.graph, value, view);
        let mut operands: Vec<Local> =
            operand_views.into_iter().map(|operand| self.local(operand)).collect();
        let kind = match node.kind {
            NodeKind::Take { axis, mode } => InstructionKind::Take {
                mode,
                size: indexed_size(self.graph, node.operands[0], axis),
            },
            NodeKind::Scatter { op, axis, mode } => {
                let size = indexed_size(self.graph, value, axis);
                InstructionKind::Standalone(StandaloneInstruction::Scatter { op, axis, mode, size })
            }
            NodeKind::Contract { summed } => {
                InstructionKind::Standalone(StandaloneInstruction::Contract { summed })
            }
            NodeKind::Scan { op, axis, reverse, exclusive } => {
                InstructionKind::Standalone(StandaloneInstruction::Scan {
                    op,
                    axis,
                    reverse,
                    exclusive,
                })
            }
            NodeKind::Sort { axis, descending, result } => {
                InstructionKind::Standalone(StandaloneInstruction::Sort {
                    axis,
                    descending,
                    result,
                    read: SortedRanges::WHOLE,
                })
            }
            NodeKind::SearchSorted { side } => {
                InstructionKind::Standalone(StandaloneInstruction::SearchSorted { side })
            }
            NodeKind::While { .. } | NodeKind::Branch { .. } => {
                let index = self.buffers.controls.len();
                InstructionKind::Standalone(StandaloneInstruction::Control { index })
            }
            NodeKind::Elementwise(op) => InstructionKind::Elementwise(op),
            NodeKind::Convert => InstructionKind::Convert,
            NodeKind::Bitcast => InstructionKind::Bitcast,
            _ => unreachable!("invariant: other kinds are views or leaves"),
        };
        let last = node.operands.last();
        // A loop without states has no operands.
        let mut operand_dtype = last.map_or(DType::Bool, |&last| self.graph[last].array_type.dtype);
        let dtype = node.array_type.dtype;
        while let (InstructionKind::Convert, Some(through)) =
            (&kind, conversion_through(operand_dtype, dtype))
        {
            let kind = InstructionKind::Convert;
            self.instructions.push(NestInstruction {
                kind,
                operands,
                operand_dtype,
                dtype: through,
            });
            operands = vec![Local::Instruction(self.instructions.len() - 1)];
            operand_dtype = through;
        }
        self.instructions.push(NestInstruction { kind, operands, operand_dtype, dtype });
        let local = Local::Instruction(self.instructions.len() - 1);
        self.locals.insert(value, local);
    }

    /// The local that holds an operand.
    fn local(&mut self, operand: OperandView) -> Local {
        // An executor does not load a table into a block, so a table never shares an access with other
        // operands.
        let is_table = operand.view.is_of_table();
        let source = self.materialized.source(self.graph, self.group, operand);
        match access(self.graph, self.buffers, source) {
            Ok(access) => Local::Access(self.accesses.intern(&(access, is_table))),
            Err(computed) => self.locals[&computed],
        }
    }

    /// The stores of a materialised value: to its buffers, and to its slices of concatenations.
    fn stores(&mut self, nest: &NestValues, value: ValueId) -> Vec<Store> {
        let node = &self.graph[value];
        let stored = self.materialized.stored(value);
        let array_type = type_of(self.graph, stored);
        let (source, reduction, axes) = match node.kind {
            NodeKind::Reduce { op, axis } => {
                let shape = self.graph.shape(node.operands[0]);
                let axes = View::without_axis(shape, axis).axes;
                let dtype = self.graph[node.operands[0]].array_type.dtype;
                let source = self.local(reduced(self.graph, value, View::identity(shape)));
                (source, Some(NestReduction { op, dtype }), axes)
            }
            ref kind if is_control(kind) => {
                let whole = View::of_whole(array_type.shape.rank());
                (self.locals[&value], None, whole.axes)
            }
            ref kind if is_standalone(kind) => {
                (self.locals[&value], None, View::identity(&array_type.shape).axes)
            }
            _ => {
                let view = View::identity(&array_type.shape);
                let source = self.local(OperandView::new(value, view.clone()));
                (self.normalize_bool(source, array_type.dtype), None, view.axes)
            }
        };
        let mut stores = Vec::new();
        for buffer in self.buffers.written_to(stored) {
            let target = Access { buffer, array_type: array_type.clone(), axes: axes.clone() };
            stores.push(Store { source, reduction, target });
        }
        for place in self.materialized.concat_targets(nest, stored) {
            let array_type = type_of(self.graph, place.concatenation);
            let axes = offset_axes(&axes, &place.starts);
            for buffer in self.buffers.written_to(place.concatenation) {
                let target = Access { buffer, array_type: array_type.clone(), axes: axes.clone() };
                stores.push(Store { source, reduction, target });
            }
        }
        stores
    }

    /// The stored form of a value. A bool that was only loaded or moved may be any byte; a conversion
    /// normalises it to 0 or 1.
    fn normalize_bool(&mut self, source: Local, dtype: DType) -> Local {
        let is_moved = match source {
            Local::Access(_) => true,
            Local::Instruction(index) => {
                matches!(
                    self.instructions[index].kind,
                    InstructionKind::Bitcast | InstructionKind::Take { .. }
                )
            }
        };
        if dtype != DType::Bool || !is_moved {
            return source;
        }
        let (kind, operands) = (InstructionKind::Convert, vec![source]);
        self.instructions.push(NestInstruction { kind, operands, operand_dtype: dtype, dtype });
        Local::Instruction(self.instructions.len() - 1)
    }
}

/// The type of a value.
pub(crate) fn type_of(graph: &ShapedGraph<'_>, value: ValueId) -> SymbolicType {
    SymbolicType { dtype: graph[value].array_type.dtype, shape: graph.shape(value).clone() }
}

/// The access of a nest to a value in memory; `Err` with the value if the nest itself computes it.
pub(crate) fn access(
    graph: &ShapedGraph<'_>,
    buffers: &mut Buffers,
    source: ValueSource,
) -> Result<Access, ValueId> {
    match source {
        ValueSource::Computed(value, _) => Err(value),
        ValueSource::Materialized(value, view, shape) => {
            let buffer = buffers.read_from(value);
            let array_type = SymbolicType { dtype: graph[value].array_type.dtype, shape };
            Ok(Access { buffer, array_type, axes: view.axes })
        }
        ValueSource::Leaf(value, view) => Ok(leaf_access(graph, buffers, value, view)),
    }
}

/// The access to a parameter, a constant or a counter.
fn leaf_access(
    graph: &ShapedGraph<'_>,
    buffers: &mut Buffers,
    value: ValueId,
    View { axes, .. }: View,
) -> Access {
    let array_type = type_of(graph, value);
    match &graph[value].kind {
        NodeKind::Parameter { index, .. } => {
            Access { buffer: BufferId::Parameter(*index), array_type, axes }
        }
        NodeKind::Constant(_) => Access { buffer: buffers.constant(value), array_type, axes },
        NodeKind::Iota { axis } => {
            let length = array_type.shape[*axis];
            let buffer = buffers.counter(array_type.dtype, length);
            let shape = SymbolicShape::from_iter([length]);
            let array_type = SymbolicType { dtype: array_type.dtype, shape };
            Access { buffer, array_type, axes: Arc::from([axes[*axis].clone()]) }
        }
        _ => unreachable!("invariant: only leaves are read as leaves"),
    }
}

/// The indices of a slice in its larger array: `axes` are the indices of the slice as an array of its
/// own, `starts` the position of its first element in the larger array.
fn offset_axes(axes: &[AxisIndex], starts: &[AxisIndex]) -> Arc<[AxisIndex]> {
    axes.iter().zip(starts).map(|(axis, start)| axis.moved_to(start)).collect()
}
