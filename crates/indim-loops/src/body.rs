//! The body of one nest: accesses, instructions, stores.

use foldhash::{HashMap, HashMapExt};
use indim_ops::{ArrayType, DType};

use crate::keep::{Kept, Source, computed_values, iteration, sought};
use crate::loop_nest::{Access, Compute, Instruction, Local, LoopNest, Store};
use crate::lower::Buffers;
use crate::numbered::Numbered;
use crate::view::View;
use indim_graph::{Graph, NodeKind, ValueId};

/// The nest that computes the kept values of `group`, which have one shape.
pub(crate) fn nest(
    graph: &Graph,
    group: &[ValueId],
    kept: &Kept,
    buffers: &mut Buffers,
) -> LoopNest {
    let (shape, reduced) = iteration(graph, group[0]);
    let computed = computed_values(graph, group, kept);
    let mut body = Body {
        graph,
        group,
        kept,
        buffers,
        accesses: Numbered::new(),
        instructions: Vec::new(),
        locals: HashMap::new(),
    };
    computed.iter().for_each(|(&value, view)| body.compute(value, view));
    let stores = group.iter().flat_map(|&value| body.stores(value)).collect();
    LoopNest {
        shape,
        reduced,
        accesses: body.accesses.into_items(),
        instructions: body.instructions,
        stores,
    }
}

struct Body<'a> {
    graph: &'a Graph,
    group: &'a [ValueId],
    kept: &'a Kept,
    buffers: &'a mut Buffers,
    accesses: Numbered<Access>,
    instructions: Vec<Instruction>,
    locals: HashMap<ValueId, Local>,
}

impl Body<'_> {
    fn compute(&mut self, value: ValueId, view: &View) {
        let node = &self.graph[value];
        let operands =
            node.operands.iter().map(|&operand| self.local(operand, view.clone())).collect();
        let compute = match node.kind {
            NodeKind::Elementwise(op) => Compute::Elementwise(op),
            NodeKind::Convert => Compute::Convert,
            NodeKind::Bitcast => Compute::Bitcast,
            _ => unreachable!("invariant: other kinds are views or leaves"),
        };
        let last = *node.operands.last().expect("invariant: computed nodes have operands");
        self.instructions.push(Instruction {
            compute,
            operands,
            operand_dtype: self.graph[last].array_type.dtype,
            dtype: node.array_type.dtype,
        });
        let local = Local::Instruction(self.instructions.len() - 1);
        self.locals.insert(value, local);
    }

    /// The local that holds `value` as seen through `view`.
    fn local(&mut self, value: ValueId, view: View) -> Local {
        match self.kept.source(self.graph, self.group, value, view) {
            Source::Computed(value, _) => self.locals[&value],
            Source::Kept(value, view, shape) => {
                let buffer = self.buffers.read_from(value);
                let dtype = self.graph[value].array_type.dtype;
                self.access(Access { buffer, array_type: ArrayType { dtype, shape }, axes: view.0 })
            }
            Source::Leaf(value, view) => {
                let access = self.leaf(value, view);
                self.access(access)
            }
        }
    }

    fn leaf(&mut self, value: ValueId, View(axes): View) -> Access {
        let node = &self.graph[value];
        let array_type = node.array_type.clone();
        match &node.kind {
            NodeKind::Parameter { index, .. } => {
                Access { buffer: crate::loop_nest::BufferId::Parameter(*index), array_type, axes }
            }
            NodeKind::Constant(_) => {
                Access { buffer: self.buffers.constant(value), array_type, axes }
            }
            NodeKind::Iota { axis } => {
                let length = array_type.shape[*axis];
                let buffer = self.buffers.counter(array_type.dtype, length);
                let along = |walked: Option<usize>| walked.filter(|other| other == axis).map(|_| 0);
                let array_type = ArrayType::new(array_type.dtype, [length]);
                Access { buffer, array_type, axes: axes.iter().copied().map(along).collect() }
            }
            _ => unreachable!("invariant: only leaves are read as leaves"),
        }
    }

    fn access(&mut self, access: Access) -> Local {
        Local::Access(self.accesses.number(&access))
    }

    fn stores(&mut self, value: ValueId) -> Vec<Store> {
        let node = &self.graph[value];
        let array_type = node.array_type.clone();
        let (source, reduction, axes) = match node.kind {
            NodeKind::Reduce { op, axis } => {
                let operand = sought(self.graph, &value)[0];
                let shape = &self.graph[operand].array_type.shape;
                let view = View::identity(shape);
                let axes = View::without_axis(shape, axis).0;
                (self.local(operand, view), Some(op), axes)
            }
            _ => {
                let view = View::identity(&array_type.shape);
                let source = self.local(value, view.clone());
                (self.clean(source, array_type.dtype), None, view.0)
            }
        };
        let target = |buffer| Access { buffer, array_type: array_type.clone(), axes: axes.clone() };
        let store = |buffer| Store { source, reduction, target: target(buffer) };
        self.buffers.written_to(value).into_iter().map(store).collect()
    }

    /// What is stored of a value: a bool that is stored as it was read passes through a conversion, which
    /// leaves only 0 and 1 of what may be any byte.
    fn clean(&mut self, source: Local, dtype: DType) -> Local {
        if dtype != DType::Bool || matches!(source, Local::Instruction(_)) {
            return source;
        }
        let (compute, operands) = (Compute::Convert, vec![source]);
        self.instructions.push(Instruction { compute, operands, operand_dtype: dtype, dtype });
        Local::Instruction(self.instructions.len() - 1)
    }
}
