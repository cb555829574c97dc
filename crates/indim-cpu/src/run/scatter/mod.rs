//! Scatters: nests that combine updates with elements selected by indices. No executor compiles them.
//!
//! `bound.rs`: a scatter bound to sizes and strides, and its run; `only_update.rs`: one update in place;
//! `fold.rs`: the folds of each element type.
//!
//! A *target* is an index along the scattered axis, with all its elements along the axes after the
//! scattered axis. Each target combines its updates in row-major order, so every number of threads gives
//! the same bits.
//! - If a target is one element, one thread combines all updates in accumulators, and a tile rounds and
//!   stores a range of them.
//! - A single update needs no order: a tile is a range of targets.
//! - Otherwise one thread sorts the updates by target with a counting sort, which is stable. A tile is a
//!   range of targets.
//!
//! If the result lies over the operand, only the targets of updates are written, except by accumulators. A
//! scatter that changes the bits of other elements does this from the second run on the same arrays on.

mod bound;
mod fold;
mod only_update;

use core::fmt;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Local, LoopNest, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::coalesce_some;
use indim_ops::{DType, Level, ScatterOp};

use indim_executors::{BoundNest, Gather, KernelFallback, NestCode};

use bound::{BoundScatter, EXTRA_STARTS, IndexLoop};
use fold::{FoldFunctions, FoldFunctionsVisitor, MAX_ACCUMULATOR_BYTES};

/// A scatter for arrays of any sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    /// The scattered axis, and the rank of the result.
    axis: usize,
    rank: usize,
    gather: Gather,
    functions: FoldFunctions,
    /// Whether elements without updates keep their bits. Folds of floats make NaN canonical, and a `bool`
    /// becomes 0 or 1.
    keeps_bits: bool,
    /// Whether a target with updates gets the bits of the last one.
    copies_updates: bool,
    /// Bytes of an element.
    element_bytes: usize,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// Operands of the nest: the array whose elements are combined with updates, the indices, the updates.
    operand: usize,
    indices: usize,
    updates: usize,
}

/// Approximate elements of a tile: enough that distributing tiles over threads costs little.
const TILE_ELEMENTS: usize = 4096;

impl Scatter {
    /// Returns `None` for a nest that is not a scatter.
    pub(crate) fn compile(nest: &LoopNest, level: Level) -> Option<Arc<dyn NestCode>> {
        let (StandaloneInstruction::Scatter { op, axis, mode, size }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let [Local::Access(operand), Local::Access(indices), Local::Access(updates)] =
            instruction.operands[..]
        else {
            return None;
        };
        let index = nest.accesses[indices].array_type.dtype;
        let stores = nest.stores.len();
        let dtype = instruction.dtype;
        Some(Arc::new(Scatter {
            keeps_bits: dtype.is_integer() || op == ScatterOp::Set && dtype != DType::Bool,
            copies_updates: op == ScatterOp::Set && dtype != DType::Bool,
            element_bytes: dtype.size(),
            axis,
            rank: nest.stores[0].target.axes.len(),
            gather: Gather::of_scatter(mode, index, dtype, size, level),
            functions: op.visit(dtype, FoldFunctionsVisitor)?,
            stores,
            operand: stores + operand,
            indices: stores + indices,
            updates: stores + updates,
        }))
    }
}

impl NestCode for Scatter {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let (strides, shape) = (nest.list_strides(strides), &nest.shape);
        if shape[..self.rank].contains(&0) {
            return None;
        }
        let outer = coalesce_some(0, 0..self.axis, shape, &strides)?;
        let inner = coalesce_some(0, self.axis + 1..self.rank, shape, &strides)?;
        let of_axis = |axis: usize| IndexLoop {
            count: shape[axis],
            index: strides[self.indices][axis],
            update: strides[self.updates][axis],
        };
        // If an axis of the indices has size 0, the product of the other sizes may overflow.
        let loops = match shape[self.rank..].contains(&0) {
            true => vec![IndexLoop { count: 0, index: 0, update: 0 }],
            false => (self.rank..shape.len()).map(of_axis).collect(),
        };
        let elements: usize = inner.sizes.iter().product();
        let has_one_update = shape[self.rank..].iter().all(|&size| size == 1);
        let has_strides_of_operand = |store: usize| {
            let same = |axis: usize| strides[store][axis] == strides[self.operand][axis];
            (0..self.rank).all(|axis| shape[axis] == 1 || same(axis))
        };
        let is_contiguous = |operand: usize| {
            let stride = inner.strides_of(operand).last();
            stride.is_none_or(|&stride| stride == self.element_bytes as isize)
        };
        let mut copied = (0..self.stores).chain([self.updates]);
        let copies_rows = self.copies_updates && copied.all(is_contiguous);
        let is_one_row = outer.sizes.is_empty() && inner.sizes.len() <= 1;
        Some(Arc::new(BoundScatter {
            copies_rows,
            copies_one_row: copies_rows && has_one_update && is_one_row,
            has_one_update,
            has_strides_of_operand: (0..self.stores).all(has_strides_of_operand),
            size: shape[self.axis],
            axis_strides: strides.iter().map(|strides| strides[self.axis]).collect(),
            rows: outer.sizes.iter().product::<usize>() * shape[self.axis],
            rows_per_tile: (TILE_ELEMENTS / elements).max(1),
            outer,
            inner,
            loops,
            elements,
            scatter: *self,
        }))
    }

    fn cost(&self) -> usize {
        0
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let product = |sizes: &[usize]| sizes.iter().fold(1, |n: usize, &m| n.saturating_mul(m));
        if nest.shape[self.rank..].iter().all(|&size| size == 1) {
            return 0;
        }
        if product(&nest.shape[..self.rank]) == nest.shape[self.axis] {
            let accumulators = nest.shape[self.axis].saturating_add(1);
            return accumulators.saturating_mul(MAX_ACCUMULATOR_BYTES);
        }
        let indices = product(&nest.shape[self.rank..]);
        let starts = nest.shape[self.axis].saturating_add(EXTRA_STARTS);
        indices.saturating_mul(3).saturating_add(starts).saturating_mul(size_of::<usize>())
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let [operand, indices, updates] = [self.operand, self.indices, self.updates]
            .map(|operand| describe(&nest.accesses[operand - self.stores]));
        let Some((StandaloneInstruction::Scatter { op, .. }, _)) = nest.standalone_instruction()
        else {
            return Ok(());
        };
        writeln!(formatter, "group {indices} by target")?;
        for store in &nest.stores {
            let target = describe(&store.target);
            writeln!(formatter, "  {operand} {op} {updates} of each target -> {target}")?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Scatter
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<Scatter>(1);
    }
}
