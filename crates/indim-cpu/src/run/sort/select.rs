//! Selections: sorts of which only some elements are read. Holds unsafe code.

use core::ops::{ControlFlow, Range};

use indim_executors::{Bases, StepProgress};
use indim_graph::SortResult;
use indim_kernels::{RowSelection, Selection, SortElement, SortKey, SortProgress, SortRows};

use super::BoundSort;

impl BoundSort {
    /// Selects elements of the rows of tiles, and stores them or their positions.
    ///
    /// # Safety
    /// The obligations of [`super::BoundNest::run`], for `tiles`; the key has elements of the width of `T`.
    pub(super) unsafe fn select<T: SortElement>(
        &self,
        selection: &Selection,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let mut rows = Vec::new();
        rows.resize_with(self.rows_per_tile, || selection.rows());
        let progress = &mut |items| steps.advance(items);
        let (mut positions, mut elements): (Vec<i64>, Vec<T::Storage>) = Default::default();
        for tile in tiles {
            let tile = self.rows_of(tile);
            let keys = self.block(bases, self.sort.keys[0].0, tile.clone());
            let rows = &mut rows[..tile.len()];
            // SAFETY: the caller ensures readable rows.
            unsafe { self.add_keys::<T>(selection, &keys, rows, progress)? }
            positions.clear();
            for row in rows {
                selection.finish(row, &mut positions);
            }
            let stores = (0..self.sort.stores).map(|store| self.block(bases, store, tile.clone()));
            let mut stores = stores.map(|block| block.part(selection.read()));
            // SAFETY: the caller ensures that the rows are readable in the keys, where all positions are those
            // of elements, and writable in each store.
            unsafe {
                match self.sort.result {
                    SortResult::Positions => {
                        stores.try_for_each(|block| block.write(&positions, |at| at, progress))?;
                    }
                    SortResult::Values => {
                        keys.gather::<T>(&positions, &mut elements);
                        stores.try_for_each(|block| block.write(&elements, |it| it, progress))?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Adds the keys of rows to their selections.
    ///
    /// # Safety
    /// The block has readable elements of type `T`.
    unsafe fn add_keys<T: SortElement>(
        &self,
        selection: &Selection,
        block: &SortRows,
        rows: &mut [RowSelection<T::SortKey>],
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let mask = self.mask::<T>();
        let mask = if selection.is_reversed() { mask ^ T::SortKey::MAX } else { mask };
        let mut keys = Vec::new();
        for part in selection.parts() {
            // SAFETY: the caller ensures readable elements.
            unsafe {
                let key = |_, element| T::key(element) ^ mask;
                block.part(part.clone()).read::<T, _>(&mut keys, key, progress)?;
            }
            for (row, keys) in rows.iter_mut().zip(keys.chunks_exact_mut(part.len())) {
                if selection.is_reversed() {
                    keys.reverse();
                }
                row.add(keys, self.length);
            }
        }
        ControlFlow::Continue(())
    }
}
