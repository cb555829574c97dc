//! A scatter bound to sizes and strides: sorts updates by target, and combines those of a range of targets.
//! Holds unsafe code.

use core::mem::MaybeUninit;
use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use indim_executors::{Bases, BoundNest, StepProgress, TileProgress};
use indim_loops::MemoryUse;
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_ops::{Element, ScatterFold};

use super::Scatter;
use super::fold::{Accumulators, FoldFunctions, MAX_ACCUMULATORS, StridedRun, load};

/// Number of indices resolved at a time.
const MAX_RESOLVED_INDICES: usize = 256;

/// Entries of the list of starts that are cleared at a time: a fraction of a millisecond.
const CLEARED_STARTS: usize = 1 << 16;

/// A loop over an axis of the indices.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexLoop {
    pub(super) count: usize,
    /// Strides in bytes of the indices and of the updates.
    pub(super) index: isize,
    pub(super) update: isize,
}

/// A scatter bound to sizes and strides.
#[derive(Debug, Clone)]
pub(super) struct BoundScatter {
    pub(super) scatter: Scatter,
    /// Whether updates are copied to their targets, because both are contiguous along the innermost axis.
    pub(super) copies_rows: bool,
    pub(super) has_one_update: bool,
    /// Whether the only update is one row that is copied as a whole.
    pub(super) copies_one_row: bool,
    /// Whether the stores have the strides of the operand.
    pub(super) has_strides_of_operand: bool,
    /// Size of the scattered axis.
    pub(super) size: usize,
    /// Stride in bytes of each operand along the scattered axis.
    pub(super) axis_strides: Vec<isize>,
    /// The axes before and after the scattered axis.
    pub(super) outer: CoalescedAxes,
    pub(super) inner: CoalescedAxes,
    pub(super) loops: Vec<IndexLoop>,
    /// Elements of a target: the product of the axes after the scattered axis.
    pub(super) elements: usize,
    /// Number of targets over all outer indices.
    pub(super) rows: usize,
    pub(super) rows_per_tile: usize,
}

/// Target `t` is counted in entry `t + SHIFT` of the counting sort. The sums of the counts are then starts
/// shifted by one entry, and the second pass advances the start of each target to that of the next.
const SHIFT: usize = 2;

/// Entries of the list of starts in addition to one for each target: dropped updates and the shift.
pub(super) const EXTRA_STARTS: usize = 1 + SHIFT;

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

    /// Calls `visit` with the updates of all indices, in row-major order, until `steps` stops the run: the
    /// targets of at most [`MAX_RESOLVED_INDICES`] indices at a time, and the offsets of their updates. Not
    /// generic, because every fold would have a copy.
    ///
    /// # Safety
    /// `indices` is valid for reads of an index at every point of the loops.
    unsafe fn for_each_update_batch(
        &self,
        indices: *const u8,
        steps: &mut StepProgress<'_>,
        visit: &mut dyn FnMut(&[usize], UpdateOffsets),
    ) -> ControlFlow<()> {
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
                steps.advance(targets.len())?;
            }
        }
        ControlFlow::Continue(())
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
    pub(super) fn run_of(
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

    /// Combines the updates of one target, until `steps` stops the run; `row` numbers the targets over all
    /// outer indices.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile of the target;
    /// - each of `updates` is the offset of an update from the first update, in bytes.
    pub(super) unsafe fn fold_row(
        &self,
        bases: &Bases<'_>,
        row: usize,
        updates: &[isize],
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
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
                        steps.advance(count)?;
                    }
                    for store in 0..self.scatter.stores {
                        finish(run(store).at(first), folded, count);
                    }
                }
            }
        }
        ControlFlow::Continue(())
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
    unsafe fn fold_rows(
        &self,
        bases: &Bases<'_>,
        rows: Range<usize>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
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
                for row in rows {
                    let updates = updates_of(row % self.size);
                    if !updates.is_empty() {
                        // SAFETY: the caller has the same obligations for each of `rows`.
                        unsafe { self.fold_row(bases, row, updates, steps)? }
                    }
                    steps.advance(1)?;
                }
                return ControlFlow::Continue(());
            }
            // SAFETY: the caller has the same obligations.
            return unsafe { self.fold_or_store_rows(bases, rows, updates_of, steps) };
        }
        // SAFETY: the caller has the same obligations.
        let only = unsafe { self.only_target(bases) };
        // The only update has offset 0.
        let updates_of = |target: usize| &[0][..usize::from(target == only)];
        // SAFETY: the caller has the same obligations.
        unsafe { self.fold_or_store_rows(bases, rows, updates_of, steps) }
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
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
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
                    0 => self.fold_row(bases, rows.start, updates_of(target), steps)?,
                    _ => self.store_unchanged(bases, outer, target..target + unchanged),
                }
            }
            rows.start += unchanged.max(1);
            steps.advance(unchanged.max(1))?;
        }
        ControlFlow::Continue(())
    }

    /// Combines all updates in accumulators, one for each target and one for dropped updates.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::prepare`];
    /// - `has_accumulators`, and the scatter has elements of type `T`.
    pub(super) unsafe fn accumulate<F: ScatterFold<T>, T: Element>(
        &self,
        bases: &Bases<'_>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
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
                steps.advance(1)?;
            }
            accumulators.add(self.size).write_unaligned(F::Accumulator::default());
            self.for_each_update_batch(indices, steps, &mut |targets, offsets| {
                for (number, &target) in targets.iter().enumerate() {
                    let update = load::<T>(updates.wrapping_offset(offsets.of(number)));
                    let accumulator = accumulators.add(target);
                    let folded = F::combine(accumulator.read_unaligned(), update);
                    accumulator.write_unaligned(folded);
                }
            })
        }
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

    unsafe fn prepare(&self, bases: &Bases<'_>, progress: &TileProgress<'_>) -> ControlFlow<()> {
        let steps = &mut StepProgress::new(progress, 0, 1);
        if self.has_one_update {
            return ControlFlow::Continue(());
        }
        if self.has_accumulators() {
            // SAFETY: the caller has the same obligations; the functions are those of the elements' type.
            return unsafe { (self.scatter.functions.accumulate)(self, bases, steps) };
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
            let entries = self.size + EXTRA_STARTS;
            for first in (0..entries).step_by(CLEARED_STARTS) {
                let part = CLEARED_STARTS.min(entries - first);
                starts.add(first).write_bytes(0, part);
                steps.advance(part)?;
            }
            let starts = core::slice::from_raw_parts_mut(starts, entries);
            let mut count = 0;
            self.for_each_update_batch(indices, steps, &mut |targets, offsets| {
                for (number, &target) in targets.iter().enumerate() {
                    starts[target + SHIFT] += 1;
                    unsorted.add(count).write(Update { target, offset: offsets.of(number) });
                    count += 1;
                }
            })?;
            for next in SHIFT..starts.len() {
                starts[next] += starts[next - 1];
                steps.advance(1)?;
            }
            for &Update { target, offset } in core::slice::from_raw_parts(unsorted, count) {
                let number = &mut starts[target + 1];
                updates.add(*number).write(offset);
                *number += 1;
                steps.advance(1)?;
            }
        }
        ControlFlow::Continue(())
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller has the same obligations. Nothing stops this run.
        let _ = unsafe { self.run_with_progress(bases, tiles, &|_| ControlFlow::Continue(())) };
    }

    unsafe fn run_with_progress(
        &self,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        progress: &TileProgress<'_>,
    ) -> ControlFlow<()> {
        let rows =
            tiles.start * self.rows_per_tile..(tiles.end * self.rows_per_tile).min(self.rows);
        if self.has_one_update && self.is_in_place(bases.operands) {
            // SAFETY: `rows` are the targets of the caller's `tiles`.
            return unsafe { self.fold_only_update(bases, rows, progress) };
        }
        let elements = tiles.len() * self.tile_elements();
        // A target takes a step, and one for each of its updates.
        let mut steps = StepProgress::new(progress, elements, 1 + self.count() / self.size);
        // SAFETY: `rows` are the targets of the caller's `tiles`, and `BoundNest::run` requires `prepare`.
        unsafe {
            match self.has_accumulators() {
                true => self.store_accumulators(bases, rows),
                false => self.fold_rows(bases, rows, &mut steps)?,
            }
        }
        steps.finish()
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundScatter>(1);
        memory_use.add_allocation::<isize>(self.axis_strides.capacity());
        memory_use.add_allocation::<IndexLoop>(self.loops.capacity());
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
