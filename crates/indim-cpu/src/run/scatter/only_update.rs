//! Scatters of one update in place, such as the row of a stack that a step of a loop writes. Holds unsafe
//! code.

use core::ops::{ControlFlow, Range};

use indim_executors::{Bases, StepProgress, TileProgress};

use super::bound::BoundScatter;

impl BoundScatter {
    /// The target of the only update; the size of the axis for a dropped update.
    ///
    /// # Safety
    /// The index is readable.
    pub(super) unsafe fn only_target(&self, bases: &Bases<'_>) -> usize {
        let mut target = [self.size];
        let index = bases.operands[self.scatter.indices].cast_const();
        // SAFETY: the caller ensures a readable index.
        unsafe { self.scatter.gather.resolve(&mut target, index, 0) }
        target[0]
    }

    /// Combines the only update with its targets among `rows`, and reports the elements of these targets.
    /// The targets lie in the operand, so the other rows stay as they are.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`](indim_executors::BoundNest::run), for the tiles of `rows`.
    pub(super) unsafe fn fold_only_update(
        &self,
        bases: &Bases<'_>,
        rows: Range<usize>,
        progress: &TileProgress<'_>,
    ) -> ControlFlow<()> {
        // SAFETY: the caller has the same obligations.
        let only = unsafe { self.only_target(bases) };
        if self.copies_one_row {
            let is_written = only < self.size && rows.contains(&only);
            for store in (0..self.scatter.stores).filter(|_| is_written) {
                let from = self.run_of(bases, self.scatter.updates, (0, 0), 0).first.cast_const();
                let to = self.run_of(bases, store, (0, only), 0).first;
                // SAFETY: the update and the row each have this many contiguous bytes, which the caller
                // ensures are valid.
                unsafe { core::ptr::copy(from, to, self.elements * self.scatter.element_bytes) }
            }
            return progress(if is_written { self.elements } else { 0 });
        }
        let mut changed = (rows.start / self.size..=rows.end / self.size)
            .map(|outer| outer * self.size + only)
            .filter(|row| only < self.size && rows.contains(row));
        let elements = changed.clone().count() * self.elements;
        let mut steps = StepProgress::new(progress, elements, 1);
        // SAFETY: the caller has the same obligations for each of `rows`; the only update has offset 0.
        changed.try_for_each(|row| unsafe { self.fold_row(bases, row, &[0], &mut steps) })?;
        steps.finish()
    }
}
