//! Memory use of graphs and loop nests.

use std::sync::Arc;

use foldhash::HashSet;
use indim_graph::{Array, Graph, Node, NodeKind, Region, Size, SymbolicShape};
use indim_ops::DType;
use indim_shape::{AxisMap, Shape};
use smallvec::SmallVec;

use crate::loop_nest::{
    Access, Control, IndexCheck, Local, LoopNest, LoopNests, SizeTerms, Store, SymbolicType,
};

/// Approximate overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;

/// Counts the bytes of data structures. Shared allocations, such as the sizes of a shape, count once.
///
/// ```
/// use indim_loops::MemoryUse;
/// use indim_shape::Shape;
///
/// let mut memory_use = MemoryUse::default();
/// let shape = Shape::from([2, 3]);
/// memory_use.add_shape(&shape);
/// let bytes = memory_use.bytes();
/// memory_use.add_shape(&shape.clone());
/// assert_eq!((bytes, memory_use.bytes()), (2 * size_of::<usize>() + 16, bytes));
/// ```
#[derive(Debug, Default)]
pub struct MemoryUse {
    bytes: usize,
    /// The addresses of the shared allocations counted so far.
    shared: HashSet<usize>,
}

impl MemoryUse {
    /// The bytes counted so far.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Counts an unshared allocation of `capacity` items.
    pub fn add_allocation<T>(&mut self, capacity: usize) {
        let bytes = capacity.saturating_mul(size_of::<T>());
        self.bytes = self.bytes.saturating_add(bytes + if bytes == 0 { 0 } else { ALLOCATION });
    }

    /// Counts the heap allocation of a list, if it has spilled.
    pub fn add_small_vec<A: smallvec::Array>(&mut self, list: &SmallVec<A>) {
        if list.spilled() {
            self.add_allocation::<A::Item>(list.capacity());
        }
    }

    /// Counts a shared allocation the first time; returns whether it is new.
    pub fn add_shared<T>(&mut self, items: &[T]) -> bool {
        let is_new = self.shared.insert(items.as_ptr() as usize);
        if is_new {
            self.add_allocation::<T>(items.len());
        }
        is_new
    }

    /// Counts the sizes of a shape.
    pub fn add_shape(&mut self, shape: &Shape) {
        self.add_shared(shape.sizes());
    }

    fn add_symbolic_shape(&mut self, shape: &SymbolicShape) {
        self.add_shared(shape.sizes());
    }

    fn add_axis_map(&mut self, map: &AxisMap) {
        self.add_shared(&map[..]);
    }

    /// Counts the elements and the shape of an array.
    pub fn add_array(&mut self, array: &Array) {
        self.add_shape(array.shape());
        self.add_shared(array.bytes());
    }

    fn add_access(&mut self, access: &Access) {
        self.add_symbolic_shape(&access.array_type.shape);
        if self.add_shared(&access.axes) {
            let boxes = access.axes.iter().filter(|index| index.size_terms.is_some()).count();
            self.add_allocation::<SizeTerms>(boxes);
        }
    }

    /// Counts a loop nest.
    pub fn add_nest(&mut self, nest: &LoopNest) {
        if !self.add_shared(core::slice::from_ref(nest)) {
            return;
        }
        self.add_symbolic_shape(&nest.shape);
        self.add_allocation::<Access>(nest.accesses.capacity());
        nest.accesses.iter().for_each(|access| self.add_access(access));
        if self.add_shared(&nest.instructions) {
            for instruction in nest.instructions.iter() {
                self.add_allocation::<Local>(instruction.operands.capacity());
            }
        }
        self.add_allocation::<Store>(nest.stores.capacity());
        nest.stores.iter().for_each(|store| self.add_access(&store.target));
    }

    /// Counts the loop nests of a graph, with its constants.
    pub fn add_loops(&mut self, loops: &LoopNests) {
        for types in [&loops.parameters, &loops.outputs, &loops.temporaries] {
            self.add_allocation::<SymbolicType>(types.capacity());
            types.iter().for_each(|of| self.add_symbolic_shape(&of.shape));
        }
        self.add_allocation::<Array>(loops.constants.capacity());
        loops.constants.iter().for_each(|array| self.add_array(array));
        self.add_allocation::<(DType, Size)>(loops.counters.capacity());
        self.add_allocation::<Arc<LoopNest>>(loops.nests.capacity());
        loops.nests.iter().for_each(|nest| self.add_nest(nest));
        self.add_allocation::<Control>(loops.controls.capacity());
        for control in &loops.controls {
            self.add_allocation::<usize>(control.results.capacity());
            control.regions().for_each(|region| self.add_region(region));
        }
        self.add_allocation::<IndexCheck>(loops.checks.capacity());
        for check in &loops.checks {
            self.add_allocation::<u8>(check.name.capacity());
            self.add_access(&check.access);
            self.add_symbolic_shape(&check.shape);
        }
    }

    /// Counts a region of a graph.
    fn add_region(&mut self, region: &Region) {
        if self.add_shared(core::slice::from_ref(region.graph())) {
            self.add_graph(region.graph());
        }
    }

    /// Counts a graph, with its constants.
    pub fn add_graph(&mut self, graph: &Graph) {
        self.add_allocation::<Node>(graph.len());
        for (_, node) in graph.iter() {
            self.add_shape(&node.array_type.shape);
            if !node.operands.shared().is_empty() {
                self.add_shared(node.operands.shared());
            }
            match &node.kind {
                NodeKind::Parameter { name, .. } => self.add_allocation::<u8>(name.len()),
                NodeKind::Constant(array) => self.add_array(array),
                NodeKind::BroadcastInDim(map) => self.add_axis_map(map),
                NodeKind::Slice(slices) => drop(self.add_shared(slices)),
                kind => kind.regions().for_each(|region| self.add_region(region)),
            }
        }
    }
}
