//! Scatters: nests that combine updates with elements selected by indices. No executor compiles them. Holds
//! unsafe code.
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

use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Local, LoopNest, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::{CoalescedAxes, coalesce_some};
use indim_ops::{DType, Element, Level, ScatterFold, ScatterOp, ScatterVisitor};

use indim_executors::Gather;
use indim_executors::{Bases, BoundNest, KernelFallback, NestCode};

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

/// Number of indices resolved at a time.
const MAX_RESOLVED_INDICES: usize = 256;

/// Elements of a target that are combined together: enough for vectors, few enough to clear for each target.
const MAX_ACCUMULATORS: usize = 64;

/// Maximum bytes of an accumulator: complex numbers have the largest.
const MAX_ACCUMULATOR_BYTES: usize = 16;

/// The instances of generic functions for one fold and element type.
#[derive(Debug, Clone, Copy)]
struct FoldFunctions {
    /// Sets accumulators to the elements of a run; see `StridedRun::begin`.
    begin: unsafe fn(StridedRun, *mut u8, usize),
    /// Combines accumulators with the updates of a run; see `StridedRun::combine`.
    combine: unsafe fn(StridedRun, *mut u8, usize),
    /// Rounds and stores accumulators; see `StridedRun::finish`.
    finish: unsafe fn(StridedRun, *const u8, usize),
    /// Combines all updates in accumulators; see `BoundScatter::accumulate`.
    accumulate: unsafe fn(&BoundScatter, &Bases<'_>),
    /// Bytes of an accumulator.
    accumulator_bytes: usize,
}

/// Memory for the accumulators of any fold.
#[repr(align(16))]
struct Accumulators {
    _bytes: [u8; MAX_ACCUMULATORS * MAX_ACCUMULATOR_BYTES],
}

/// Instantiates [`FoldFunctions`].
struct FoldFunctionsVisitor;

impl ScatterVisitor for FoldFunctionsVisitor {
    type Output = FoldFunctions;

    fn scatter<F: ScatterFold<T>, T: Element>(self) -> FoldFunctions {
        const { assert!(size_of::<F::Accumulator>() <= MAX_ACCUMULATOR_BYTES) };
        FoldFunctions {
            begin: StridedRun::begin::<F, T>,
            combine: StridedRun::combine::<F, T>,
            finish: StridedRun::finish::<F, T>,
            accumulate: BoundScatter::accumulate::<F, T>,
            accumulator_bytes: size_of::<F::Accumulator>(),
        }
    }
}

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
        Some(Arc::new(BoundScatter {
            copies_rows: self.copies_updates && copied.all(is_contiguous),
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

/// A loop over an axis of the indices.
#[derive(Debug, Clone, Copy)]
struct IndexLoop {
    count: usize,
    /// Strides in bytes of the indices and of the updates.
    index: isize,
    update: isize,
}

/// A scatter bound to sizes and strides.
#[derive(Debug, Clone)]
struct BoundScatter {
    scatter: Scatter,
    /// Whether updates are copied to their targets, because both are contiguous along the innermost axis.
    copies_rows: bool,
    has_one_update: bool,
    /// Whether the stores have the strides of the operand.
    has_strides_of_operand: bool,
    /// Size of the scattered axis.
    size: usize,
    /// Stride in bytes of each operand along the scattered axis.
    axis_strides: Vec<isize>,
    /// The axes before and after the scattered axis.
    outer: CoalescedAxes,
    inner: CoalescedAxes,
    loops: Vec<IndexLoop>,
    /// Elements of a target: the product of the axes after the scattered axis.
    elements: usize,
    /// Number of targets over all outer indices.
    rows: usize,
    rows_per_tile: usize,
}

/// Target `t` is counted in entry `t + SHIFT` of the counting sort. The sums of the counts are then starts
/// shifted by one entry, and the second pass advances the start of each target to that of the next.
const SHIFT: usize = 2;

/// Entries of the list of starts in addition to one for each target: dropped updates and the shift.
const EXTRA_STARTS: usize = 1 + SHIFT;

/// The updates sorted by target, in shared memory.
#[derive(Clone, Copy)]
struct SortedUpdates {
    /// For each target, the position of its first sorted update; one more entry is the number of updates.
    starts: *mut usize,
    /// For each sorted update, its offset from the first update of the array, in bytes.
    updates: *mut isize,
}

/// An update before the sort. Each index is read only once, because another process may change a mapped file
/// during the run.
#[derive(Clone, Copy)]
struct Update {
    /// Index along the scattered axis; its size for a dropped update.
    target: usize,
    /// Offset of the update from the first update, in bytes.
    offset: isize,
}

impl BoundScatter {
    /// The lists of sorted updates in shared memory.
    fn sorted(&self, bases: &Bases<'_>) -> SortedUpdates {
        let starts = bases.shared.cast::<usize>();
        SortedUpdates { starts, updates: starts.wrapping_add(self.size + EXTRA_STARTS).cast() }
    }

    /// Number of indices.
    fn count(&self) -> usize {
        self.loops.iter().map(|level| level.count).product()
    }

    /// Calls `visit` with the updates of all indices, in row-major order: the targets of at most
    /// [`MAX_RESOLVED_INDICES`] indices at a time, and the offsets of their updates. Not generic, because
    /// every fold would have a copy.
    ///
    /// # Safety
    /// `indices` is valid for reads of an index at every point of the loops.
    unsafe fn for_each_update_batch(
        &self,
        indices: *const u8,
        visit: &mut dyn FnMut(&[usize], UpdateOffsets),
    ) {
        const SINGLE_ITERATION: IndexLoop = IndexLoop { count: 1, index: 0, update: 0 };
        let (inner, outer) = self.loops.split_last().unwrap_or((&SINGLE_ITERATION, &[]));
        let mut targets = [0; MAX_RESOLVED_INDICES];
        for number in 0..outer.iter().map(|level| level.count).product() {
            let index =
                unravel_offset(number, outer.iter().map(|level| (level.count, level.index)));
            let update =
                unravel_offset(number, outer.iter().map(|level| (level.count, level.update)));
            for first in (0..inner.count).step_by(MAX_RESOLVED_INDICES) {
                let targets = &mut targets[..MAX_RESOLVED_INDICES.min(inner.count - first)];
                let along = |stride: isize| stride * first as isize;
                let from = indices.wrapping_offset(index + along(inner.index));
                // SAFETY: the caller ensures readable indices at every point of the loops; these are points
                // `first..first + targets.len()` of the inner loop.
                unsafe { self.scatter.gather.resolve(targets, from, inner.index) }
                let first = update + inner.update * first as isize;
                visit(targets, UpdateOffsets { first, stride: inner.update });
            }
        }
    }

    /// Whether accumulators combine the updates: there may be several, a target is one element, and the
    /// axes before the scattered axis have one point.
    fn has_accumulators(&self) -> bool {
        self.elements == 1 && self.rows == self.size && !self.has_one_update
    }

    /// Whether the stores lie over the operand, with these addresses.
    fn is_over_operand(&self, operands: &[*mut u8]) -> bool {
        let is_over = |store: usize| operands[store] == operands[self.scatter.operand];
        self.has_strides_of_operand && (0..self.scatter.stores).all(is_over)
    }

    /// Whether only the targets of updates change, with these addresses.
    fn is_in_place(&self, operands: &[*mut u8]) -> bool {
        self.scatter.keeps_bits && !self.has_accumulators() && self.is_over_operand(operands)
    }

    /// The elements of a target along the innermost axis, at point `number` of its other axes.
    fn run_of(
        &self,
        bases: &Bases<'_>,
        operand: usize,
        (outer, target): (usize, usize),
        number: usize,
    ) -> StridedRun {
        let strides = self.inner.strides_of(operand);
        let axes = self.inner.sizes.split_last().map_or(&[][..], |(_, axes)| axes);
        let outer_strides = self.outer.strides_of(operand).iter().copied();
        let of_outer = self.outer.sizes.iter().copied().zip(outer_strides);
        let of_inner = axes.iter().copied().zip(strides.iter().copied());
        let offset = self.outer.offsets[operand]
            + self.inner.offsets[operand]
            + target as isize * self.axis_strides[operand]
            + unravel_offset(outer, of_outer)
            + unravel_offset(number, of_inner);
        StridedRun {
            first: bases.operands[operand].wrapping_offset(offset),
            stride: strides.last().copied().unwrap_or(0),
        }
    }

    /// Combines the updates of one target; `row` numbers the targets over all outer indices.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile of the target;
    /// - each of `updates` is the offset of an update from the first update, in bytes.
    unsafe fn fold_row(&self, bases: &Bases<'_>, row: usize, updates: &[isize]) {
        let place = (row / self.size, row % self.size);
        let (axes, length) = match self.inner.sizes.split_last() {
            Some((&length, axes)) => (axes, length),
            None => (&[][..], 1),
        };
        let FoldFunctions { begin, combine, finish, .. } = self.scatter.functions;
        let mut accumulators = MaybeUninit::<Accumulators>::uninit();
        let folded = accumulators.as_mut_ptr().cast();
        for number in 0..axes.iter().product() {
            let run = |operand: usize| self.run_of(bases, operand, place, number);
            let (from, updated) = (run(self.scatter.operand), run(self.scatter.updates));
            if let (true, Some(&last)) = (self.copies_rows, updates.last()) {
                let from = updated.offset_by(last).first.cast_const();
                for store in 0..self.scatter.stores {
                    // SAFETY: the update and the target have `length` contiguous elements along the innermost
                    // axis, which the caller ensures are valid.
                    unsafe {
                        core::ptr::copy(
                            from,
                            run(store).first,
                            length * self.scatter.element_bytes,
                        );
                    }
                }
                continue;
            }
            for first in (0..length).step_by(MAX_ACCUMULATORS) {
                let count = MAX_ACCUMULATORS.min(length - first);
                // SAFETY:
                // - elements `first..first + count` of the target are valid in the operand and the stores,
                //   which the caller ensures;
                // - `update` is the offset of a point of the updates, and the caller ensures that all
                //   updates are readable;
                // - there are at least `count` accumulators of any type, which `begin` sets.
                unsafe {
                    begin(from.at(first), folded, count);
                    for &update in updates {
                        combine(updated.at(first).offset_by(update), folded, count);
                    }
                    for store in 0..self.scatter.stores {
                        finish(run(store).at(first), folded, count);
                    }
                }
            }
        }
    }

    /// Rounds and stores the accumulators of these targets.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tiles of the targets;
    /// - `accumulate` has run.
    unsafe fn store_accumulators(&self, bases: &Bases<'_>, targets: Range<usize>) {
        let functions = self.scatter.functions;
        let accumulators = bases.shared.wrapping_add(targets.start * functions.accumulator_bytes);
        for store in 0..self.scatter.stores {
            let mut run = self.run_of(bases, store, (0, 0), 0);
            run.stride = self.axis_strides[store];
            // SAFETY: `accumulate` has written an accumulator for each target, and the caller ensures that
            // the elements of the targets are writable.
            unsafe { (functions.finish)(run.at(targets.start), accumulators, targets.len()) }
        }
    }

    /// Stores the elements of targets without updates, which have one index `outer` along the axes before the
    /// scattered one. A target is one element.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`], for the tiles of the targets.
    unsafe fn store_unchanged(&self, bases: &Bases<'_>, outer: usize, targets: Range<usize>) {
        let run = |operand: usize| StridedRun {
            stride: self.axis_strides[operand],
            ..self.run_of(bases, operand, (outer, targets.start), 0)
        };
        let FoldFunctions { begin, finish, .. } = self.scatter.functions;
        let mut accumulators = MaybeUninit::<Accumulators>::uninit();
        let folded = accumulators.as_mut_ptr().cast();
        for first in (0..targets.len()).step_by(MAX_ACCUMULATORS) {
            let count = MAX_ACCUMULATORS.min(targets.len() - first);
            // SAFETY:
            // - the caller ensures that the operand and the stores have an element for each target;
            // - there are at least `count` accumulators of any type, which `begin` sets.
            unsafe {
                begin(run(self.scatter.operand).at(first), folded, count);
                for store in 0..self.scatter.stores {
                    finish(run(store).at(first), folded, count);
                }
            }
        }
    }

    /// Combines the updates of these targets.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tiles of the targets;
    /// - `prepare` has sorted the updates, if they are several.
    unsafe fn fold_rows(&self, bases: &Bases<'_>, rows: Range<usize>) {
        if !self.has_one_update {
            let SortedUpdates { starts, updates } = self.sorted(bases);
            let updates_of = |target: usize| {
                // SAFETY: `prepare` has written the start of each target, the end of the last one, and the
                // offset of each update; starts increase up to the number of updates.
                unsafe {
                    let (first, end) = (*starts.add(target), *starts.add(target + 1));
                    core::slice::from_raw_parts(updates.add(first), end - first)
                }
            };
            if self.is_in_place(bases.operands) {
                let updated = rows.map(|row| (row, updates_of(row % self.size)));
                let updated = updated.filter(|(_, updates)| !updates.is_empty());
                // SAFETY: the caller has the same obligations for each of `rows`.
                return updated
                    .for_each(|(row, updates)| unsafe { self.fold_row(bases, row, updates) });
            }
            // SAFETY: the caller has the same obligations.
            return unsafe { self.fold_or_store_rows(bases, rows, updates_of) };
        }
        // SAFETY: the caller has the same obligations.
        let only = unsafe { self.only_target(bases) };
        if self.is_in_place(bases.operands) {
            let changed = (rows.start / self.size..=rows.end / self.size)
                .map(|outer| outer * self.size + only)
                .filter(|row| only < self.size && rows.contains(row));
            // SAFETY: the caller has the same obligations for each of `rows`; the only update has offset 0.
            return changed.for_each(|row| unsafe { self.fold_row(bases, row, &[0]) });
        }
        // The only update has offset 0.
        let updates_of = |target: usize| &[0][..usize::from(target == only)];
        // SAFETY: the caller has the same obligations.
        unsafe { self.fold_or_store_rows(bases, rows, updates_of) }
    }

    /// Combines the updates of these targets; `updates_of` gives the offsets of those of each.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tiles of the targets;
    /// - each offset is that of an update from the first update, in bytes.
    #[inline(always)]
    unsafe fn fold_or_store_rows<'u>(
        &self,
        bases: &Bases<'_>,
        mut rows: Range<usize>,
        updates_of: impl Fn(usize) -> &'u [isize],
    ) {
        while !rows.is_empty() {
            let (outer, target) = (rows.start / self.size, rows.start % self.size);
            // Targets of one element are stored together, which vectors make fast.
            let end = match self.elements {
                1 => self.size.min(target + rows.len()),
                _ => target,
            };
            let unchanged =
                (target..end).take_while(|&target| updates_of(target).is_empty()).count();
            // SAFETY: the caller has the same obligations for each of `rows`.
            unsafe {
                match unchanged {
                    0 => self.fold_row(bases, rows.start, updates_of(target)),
                    _ => self.store_unchanged(bases, outer, target..target + unchanged),
                }
            }
            rows.start += unchanged.max(1);
        }
    }

    /// The target of the only update; the size of the axis for a dropped update.
    ///
    /// # Safety
    /// The index is readable.
    unsafe fn only_target(&self, bases: &Bases<'_>) -> usize {
        let mut target = [self.size];
        let index = bases.operands[self.scatter.indices].cast_const();
        // SAFETY: the caller ensures a readable index.
        unsafe { self.scatter.gather.resolve(&mut target, index, 0) }
        target[0]
    }

    /// Combines all updates in accumulators, one for each target and one for dropped updates.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::prepare`];
    /// - `has_accumulators`, and the scatter has elements of type `T`.
    unsafe fn accumulate<F: ScatterFold<T>, T: Element>(&self, bases: &Bases<'_>) {
        let accumulators = bases.shared.cast::<F::Accumulator>();
        let run = |operand: usize| self.run_of(bases, operand, (0, 0), 0).first;
        let (operand, updates) = (run(self.scatter.operand), run(self.scatter.updates));
        let stride = self.axis_strides[self.scatter.operand];
        let indices = bases.operands[self.scatter.indices].cast_const();
        // SAFETY:
        // - `shared_bytes` counts an accumulator for each target and one more;
        // - only this nest accesses the shared memory, and no tile runs before this function returns;
        // - the caller ensures that the operand, indices and updates are readable;
        // - `Gather` resolves each index to a target, or to the size.
        unsafe {
            for target in 0..self.size {
                let from = operand.wrapping_offset(target as isize * stride);
                accumulators.add(target).write_unaligned(F::begin(load::<T>(from)));
            }
            accumulators.add(self.size).write_unaligned(F::Accumulator::default());
            self.for_each_update_batch(indices, &mut |targets, offsets| {
                for (number, &target) in targets.iter().enumerate() {
                    let update = load::<T>(updates.wrapping_offset(offsets.of(number)));
                    let accumulator = accumulators.add(target);
                    let folded = F::combine(accumulator.read_unaligned(), update);
                    accumulator.write_unaligned(folded);
                }
            });
        }
    }
}

/// Offsets of some updates at one stride, in bytes.
#[derive(Clone, Copy)]
struct UpdateOffsets {
    first: isize,
    stride: isize,
}

impl UpdateOffsets {
    #[inline(always)]
    fn of(self, number: usize) -> isize {
        self.first + self.stride * number as isize
    }
}

/// Reads an element.
///
/// # Safety
/// The address is valid for reads of an element.
#[inline(always)]
unsafe fn load<T: Element>(from: *const u8) -> T {
    // SAFETY: any bits are a valid representation, and the caller ensures a readable element.
    T::from_storage(unsafe { from.cast::<T::Storage>().read_unaligned() })
}

/// Offset of point `number` in row-major order, for axes of these sizes and strides.
fn unravel_offset(
    mut number: usize,
    axes: impl DoubleEndedIterator<Item = (usize, isize)>,
) -> isize {
    let mut offset = 0;
    for (size, stride) in axes.rev() {
        offset += (number % size) as isize * stride;
        number /= size;
    }
    offset
}

/// A run of elements at one stride, in bytes.
#[derive(Clone, Copy)]
struct StridedRun {
    first: *mut u8,
    stride: isize,
}

impl StridedRun {
    /// The run from element `number` on.
    fn at(self, number: usize) -> StridedRun {
        self.offset_by(self.stride * number as isize)
    }

    /// The run at an offset.
    fn offset_by(self, bytes: isize) -> StridedRun {
        StridedRun { first: self.first.wrapping_offset(bytes), ..self }
    }

    /// Calls `visit` with the number and the address of each of `count` elements.
    #[inline(always)]
    fn visit<T: Element>(self, count: usize, mut visit: impl FnMut(usize, *mut u8)) {
        let mut visit_at_stride = |stride: isize| {
            for number in 0..count {
                visit(number, self.first.wrapping_offset(number as isize * stride));
            }
        };
        // A constant stride lets the compiler use vectors.
        match self.stride == size_of::<T>() as isize {
            true => visit_at_stride(size_of::<T>() as isize),
            false => visit_at_stride(self.stride),
        }
    }

    /// Sets `count` accumulators to the elements of the run.
    ///
    /// # Safety
    /// - the run has `count` readable elements of type `T`;
    /// - `folded` is valid for writes of `count` accumulators, and nothing else accesses them.
    unsafe fn begin<F: ScatterFold<T>, T: Element>(self, folded: *mut u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, from| {
            // SAFETY: the caller ensures a readable element and an accumulator for each number.
            unsafe { folded.add(number).write_unaligned(F::begin(load(from))) }
        });
    }

    /// Combines `count` accumulators with the updates of the run.
    ///
    /// # Safety
    /// - the run has `count` readable elements of type `T`;
    /// - `folded` has `count` accumulators, and nothing else accesses them.
    unsafe fn combine<F: ScatterFold<T>, T: Element>(self, folded: *mut u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, from| {
            // SAFETY: the caller ensures a readable element and an accumulator for each number.
            unsafe {
                let accumulator = folded.add(number);
                accumulator.write_unaligned(F::combine(accumulator.read_unaligned(), load(from)));
            }
        });
    }

    /// Writes the results of `count` accumulators to the run.
    ///
    /// # Safety
    /// - the run has `count` writable elements of type `T`;
    /// - `folded` has `count` accumulators.
    unsafe fn finish<F: ScatterFold<T>, T: Element>(self, folded: *const u8, count: usize) {
        let folded = folded.cast::<F::Accumulator>();
        self.visit::<T>(count, |number, to| {
            // SAFETY: the caller ensures an accumulator and a writable element for each number.
            unsafe {
                let result = F::finish(folded.add(number).read_unaligned());
                to.cast::<T::Storage>().write_unaligned(result.to_storage());
            }
        });
    }
}

impl BoundNest for BoundScatter {
    fn tiles(&self) -> usize {
        self.rows.div_ceil(self.rows_per_tile)
    }

    fn tile_elements(&self) -> usize {
        self.rows_per_tile * self.elements
    }

    fn work_for_addresses(&self, operands: &[*mut u8]) -> Option<usize> {
        let targets = self.count().min(self.size);
        let changed = (self.elements * (self.rows / self.size)).saturating_mul(targets);
        self.is_in_place(operands).then(|| changed.saturating_mul(2 * self.scatter.element_bytes))
    }

    fn for_later_runs(&self, operands: &[*mut u8]) -> Option<Arc<dyn BoundNest>> {
        // The first run has made every NaN canonical and every truth value 0 or 1.
        if self.scatter.keeps_bits || self.has_accumulators() || !self.is_over_operand(operands) {
            return None;
        }
        let scatter = Scatter { keeps_bits: true, ..self.scatter };
        Some(Arc::new(BoundScatter { scatter, ..self.clone() }))
    }

    unsafe fn prepare(&self, bases: &Bases<'_>) {
        if self.has_one_update {
            return;
        }
        if self.has_accumulators() {
            // SAFETY: the caller has the same obligations; the functions are those of the elements' type.
            return unsafe { (self.scatter.functions.accumulate)(self, bases) };
        }
        let SortedUpdates { starts, updates } = self.sorted(bases);
        let unsorted = updates.wrapping_add(self.count()).cast::<Update>();
        let indices = bases.operands[self.scatter.indices].cast_const();
        // SAFETY:
        // - `shared_bytes` counts the starts and, for each index, a sorted and an unsorted update, which is
        //   two words;
        // - only this nest accesses the shared memory, and no tile runs before this function returns;
        // - `Gather` resolves each index to a target or to the size, so starts and updates stay within their
        //   lists;
        // - the caller ensures that all indices are readable.
        unsafe {
            starts.write_bytes(0, self.size + EXTRA_STARTS);
            let starts = core::slice::from_raw_parts_mut(starts, self.size + EXTRA_STARTS);
            let mut count = 0;
            self.for_each_update_batch(indices, &mut |targets, offsets| {
                for (number, &target) in targets.iter().enumerate() {
                    starts[target + SHIFT] += 1;
                    unsorted.add(count).write(Update { target, offset: offsets.of(number) });
                    count += 1;
                }
            });
            for next in SHIFT..starts.len() {
                starts[next] += starts[next - 1];
            }
            for &Update { target, offset } in core::slice::from_raw_parts(unsorted, count) {
                let number = &mut starts[target + 1];
                updates.add(*number).write(offset);
                *number += 1;
            }
        }
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        let rows =
            tiles.start * self.rows_per_tile..(tiles.end * self.rows_per_tile).min(self.rows);
        // SAFETY: `rows` are the targets of the caller's `tiles`, and `BoundNest::run` requires `prepare`.
        unsafe {
            match self.has_accumulators() {
                true => self.store_accumulators(bases, rows),
                false => self.fold_rows(bases, rows),
            }
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundScatter>(1);
        memory_use.add_allocation::<isize>(self.axis_strides.capacity());
        memory_use.add_allocation::<IndexLoop>(self.loops.capacity());
    }
}
