//! Memory use of graphs and loop nests.

use std::sync::Arc;

use foldhash::HashSet;
use indim_graph::{Array, Graph, Node, NodeKind, Region};
use indim_ops::{ArrayType, DType};
use indim_shape::{AxisMap, Shape};
use smallvec::SmallVec;

use crate::loop_nest::{Access, Control, IndexCheck, Local, LoopNest, LoopNests, Store};

/// Approximate overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;

/// Counts the bytes of data structures. Shared allocations, such as the sizes of a shape, count once.
///
/// ```
/// use indim_loops::MemoryUse;
/// use indim_shape::Shape;
///
/// let mut held = MemoryUse::default();
/// let shape = Shape::from([2, 3]);
/// held.shape(&shape);
/// let bytes = held.bytes();
/// held.shape(&shape.clone());
/// assert_eq!((bytes, held.bytes()), (2 * size_of::<usize>() + 16, bytes));
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
    pub fn own<T>(&mut self, capacity: usize) {
        let bytes = capacity.saturating_mul(size_of::<T>());
        self.bytes = self.bytes.saturating_add(bytes + if bytes == 0 { 0 } else { ALLOCATION });
    }

    /// Counts the heap allocation of a list, if it has spilled.
    pub fn small<A: smallvec::Array>(&mut self, list: &SmallVec<A>) {
        if list.spilled() {
            self.own::<A::Item>(list.capacity());
        }
    }

    /// Counts a shared allocation the first time; returns whether it is new.
    pub fn share<T>(&mut self, items: &[T]) -> bool {
        let is_new = self.shared.insert(items.as_ptr() as usize);
        if is_new {
            self.own::<T>(items.len());
        }
        is_new
    }

    /// Counts the sizes of a shape.
    pub fn shape(&mut self, shape: &Shape) {
        self.share(shape.sizes());
    }

    fn axis_map(&mut self, map: &AxisMap) {
        self.share(&map[..]);
    }

    /// Counts the elements of an array.
    pub fn array(&mut self, array: &Array) {
        self.shape(array.shape());
        self.share(array.bytes());
    }

    fn access(&mut self, access: &Access) {
        self.shape(&access.array_type.shape);
        self.share(&access.axes);
    }

    /// Counts a loop nest.
    pub fn nest(&mut self, nest: &LoopNest) {
        if !self.share(core::slice::from_ref(nest)) {
            return;
        }
        self.shape(&nest.shape);
        self.own::<Access>(nest.accesses.capacity());
        nest.accesses.iter().for_each(|access| self.access(access));
        if self.share(&nest.instructions) {
            for instruction in nest.instructions.iter() {
                self.own::<Local>(instruction.operands.capacity());
            }
        }
        self.own::<Store>(nest.stores.capacity());
        nest.stores.iter().for_each(|store| self.access(&store.target));
    }

    /// Counts the loop nests of a graph, with its constants.
    pub fn loops(&mut self, loops: &LoopNests) {
        for types in [&loops.parameters, &loops.outputs, &loops.temporaries] {
            self.own::<ArrayType>(types.capacity());
            types.iter().for_each(|array_type| self.shape(&array_type.shape));
        }
        self.own::<Array>(loops.constants.capacity());
        loops.constants.iter().for_each(|array| self.array(array));
        self.own::<(DType, usize)>(loops.counters.capacity());
        self.own::<Arc<LoopNest>>(loops.nests.capacity());
        loops.nests.iter().for_each(|nest| self.nest(nest));
        self.own::<Control>(loops.controls.capacity());
        for control in &loops.controls {
            self.own::<usize>(control.results.capacity());
            control.regions().for_each(|region| self.region(region));
        }
        self.own::<IndexCheck>(loops.checks.capacity());
        for check in &loops.checks {
            self.own::<u8>(check.name.capacity());
            self.access(&check.access);
            self.shape(&check.shape);
        }
    }

    /// Counts a region of a graph.
    fn region(&mut self, region: &Region) {
        if self.share(core::slice::from_ref(region.graph())) {
            self.graph(region.graph());
        }
    }

    /// Counts a graph, with its constants.
    pub fn graph(&mut self, graph: &Graph) {
        self.own::<Node>(graph.len());
        for (_, node) in graph.iter() {
            self.shape(&node.array_type.shape);
            if !node.operands.shared().is_empty() {
                self.share(node.operands.shared());
            }
            match &node.kind {
                NodeKind::Parameter { name, .. } => self.own::<u8>(name.len()),
                NodeKind::Constant(array) => self.array(array),
                NodeKind::BroadcastInDim(map) => self.axis_map(map),
                NodeKind::Slice(slices) => drop(self.share(slices)),
                kind => kind.regions().for_each(|region| self.region(region)),
            }
        }
    }
}
