//! Selections: sorts of which only some elements are read. Holds unsafe code.

use core::convert::identity;
use core::ops::{ControlFlow, Range};

use indim_executors::{Bases, StepProgress};
use indim_graph::SortResult;
use indim_kernels::{RowSelection, Selection, SortElement, SortKey, SortProgress, SortRows};

use indim_ops::{DType, DTypeClass};

use super::BoundSort;

/// Whether elements of this type are selected. A whole sort of elements of one byte takes one pass, and
/// selections of complex numbers are rare.
pub(super) fn is_selected(dtype: DType) -> bool {
    dtype.class() != DTypeClass::Complex && dtype.size() > 1
}

/// Calls a method that is generic over a [`SortElement`] with the type of `$dtype`, of which elements are
/// selected, but with the unsigned type of the same width for a signed integer.
macro_rules! for_selected_width {
    ($dtype:expr, $this:ident.$method:ident $arguments:tt) => {
        match $dtype {
            DType::I16 | DType::U16 => $this.$method::<u16> $arguments,
            DType::I32 | DType::U32 => $this.$method::<u32> $arguments,
            DType::I64 | DType::U64 => $this.$method::<u64> $arguments,
            DType::F16 => $this.$method::<f16> $arguments,
            DType::Bf16 => $this.$method::<bf16> $arguments,
            DType::F32 => $this.$method::<f32> $arguments,
            DType::F64 => $this.$method::<f64> $arguments,
            _ => unreachable!("invariant: elements of other types are sorted"),
        }
    };
}
pub(super) use for_selected_width;

/// The elements selected from the rows of a tile.
struct TileSelection<'s, T: SortElement> {
    selection: &'s Selection,
    rows: Vec<RowSelection<T::SortKey>>,
    /// The positions of the elements, row by row.
    positions: Vec<i64>,
    elements: Vec<T::Storage>,
}

impl<'s, T: SortElement> TileSelection<'s, T> {
    /// A selection from the rows of one tile after another.
    fn new(selection: &'s Selection, rows_per_tile: usize) -> Self {
        let rows = (0..rows_per_tile).map(|_| selection.rows()).collect();
        TileSelection { selection, rows, positions: Vec::new(), elements: Vec::new() }
    }
}

impl BoundSort {
    /// Selects elements of the rows of tiles, and stores them or their positions.
    ///
    /// # Safety
    /// The obligations of [`super::BoundNest::run`], for `tiles`; the key has elements of the width of `T`.
    pub(super) unsafe fn select<T: SortElement>(
        &self,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let selections = self.selections.iter();
        let mut selections: Vec<TileSelection<'_, T>> =
            selections.map(|it| TileSelection::new(it, self.rows_per_tile)).collect();
        let progress = &mut |items| steps.advance(items);
        for tile in tiles {
            let tile = self.rows_of(tile);
            let keys = self.block(bases, self.sort.keys[0].0, tile.clone());
            for selection in &mut selections {
                // SAFETY: the caller ensures readable rows.
                unsafe { self.select_from(&keys, selection, progress)? }
            }
            for selection in &selections {
                let stores = (0..self.sort.stores).map(|it| self.block(bases, it, tile.clone()));
                for store in stores.map(|block| block.part(selection.selection.read())) {
                    let TileSelection { positions, elements, .. } = selection;
                    // SAFETY: the caller ensures that the rows are writable in each store.
                    unsafe {
                        match self.sort.result {
                            SortResult::Positions => store.write(positions, identity, progress)?,
                            SortResult::Values => store.write(elements, identity, progress)?,
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Selects elements of the rows of a tile.
    ///
    /// # Safety
    /// The block has readable elements of type `T`.
    unsafe fn select_from<T: SortElement>(
        &self,
        keys: &SortRows,
        selected: &mut TileSelection<'_, T>,
        progress: &mut SortProgress<'_>,
    ) -> ControlFlow<()> {
        let TileSelection { selection, rows, positions, elements } = selected;
        let rows = &mut rows[..keys.rows.len()];
        positions.clear();
        // SAFETY: the caller ensures readable elements, and all positions are those of elements.
        unsafe {
            self.add_keys::<T>(selection, keys, rows, progress)?;
            rows.iter_mut().for_each(|row| selection.finish(row, positions));
            if self.sort.result == SortResult::Values {
                keys.gather::<T>(positions, elements);
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
        let mask = self.mask::<T>(self.sort.keys[0].1);
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
