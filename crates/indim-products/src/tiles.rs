//! Sums of macro tiles by register tiles (`tile.rs`), of operands that are packed or read in place. Holds
//! unsafe code.

use core::ops::Range;

use crate::axes::{Axes, ProductArray};
use crate::blocking::ProductMethod;
use crate::kernels::{MAX_TILE_COLUMNS, MAX_VECTOR_TILE_ROWS};
use crate::packed::Panel;
use crate::plan::ProductPlan;
use crate::run::{MacroTile, SumTarget};
use crate::tile::{TileArguments, TileResults};
use crate::vector::prefetch;

/// Minimum stride between summed indices whose elements are prefetched, in bytes: a quarter of a page. The
/// processor itself prefetches nearer ones.
const MIN_PREFETCH_STRIDE: usize = 1024;

/// Minimum rows for which columns are prefetched: for fewer rows, prefetching costs a tenth of the products.
const MIN_PREFETCH_ROWS: usize = 16;

/// Bytes of a cache line of most processors.
const CACHE_LINE_BYTES: usize = 64;

/// Maximum bytes of an element of a factor.
const MAX_ELEMENT_BYTES: usize = 8;

impl ProductPlan {
    /// Sums some indices of a macro tile by register tiles.
    ///
    /// # Safety
    /// Like [`ProductPlan::sum_slice`].
    pub(crate) unsafe fn tiles(
        &self,
        macro_tile: &MacroTile,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let blocking = &self.blocking;
        let are_rows_resident = blocking.packed_rows >= macro_tile.rows.len();
        let panel_rows = self.kernels.rows;
        if let Some([configure, _]) = self.kernels.tile_hooks {
            // SAFETY: the plan has a level of this processor.
            unsafe { configure() }
        }
        if are_rows_resident {
            // SAFETY: the packed rows lie in scratch memory, which has room for them.
            unsafe {
                self.pack_rows(
                    macro_tile,
                    macro_tile.rows.clone(),
                    indices.clone(),
                    panel_rows,
                    scratch,
                );
                self.compute_initial_sums(
                    macro_tile,
                    macro_tile.rows.clone(),
                    indices.clone(),
                    scratch,
                );
            }
        }
        for column in macro_tile.columns.clone().step_by(blocking.packed_columns) {
            let columns = column..macro_tile.columns.end.min(column + blocking.packed_columns);
            // SAFETY: the packed columns lie in scratch memory, which has room for them.
            unsafe { self.pack_columns(macro_tile, columns.clone(), indices.clone(), scratch) };
            for row in macro_tile.rows.clone().step_by(blocking.packed_rows) {
                let rows = row..macro_tile.rows.end.min(row + blocking.packed_rows);
                // SAFETY: the packed rows lie in scratch memory, which has room for them; then both
                // operands are packed, unless tiles read them in place.
                unsafe {
                    if !are_rows_resident {
                        self.pack_rows(
                            macro_tile,
                            rows.clone(),
                            indices.clone(),
                            panel_rows,
                            scratch,
                        );
                        self.compute_initial_sums(
                            macro_tile,
                            rows.clone(),
                            indices.clone(),
                            scratch,
                        );
                    }
                    self.packed_tiles(
                        macro_tile,
                        rows,
                        columns.clone(),
                        indices.clone(),
                        target,
                        scratch,
                    );
                }
            }
        }
        if let Some([_, release]) = self.kernels.tile_hooks {
            // SAFETY: the plan has a level of this processor.
            unsafe { release() }
        }
    }

    /// Packs columns, panel by panel, except whole panels that tiles read in place. Does nothing if the
    /// whole operand is packed.
    ///
    /// # Safety
    /// Like [`ProductPlan::sum_slice`].
    unsafe fn pack_columns(
        &self,
        macro_tile: &MacroTile,
        columns: Range<usize>,
        indices: Range<usize>,
        scratch: *mut u8,
    ) {
        if !macro_tile.packed_y.is_null() {
            return;
        }
        let kernels = &self.kernels;
        let buffer = scratch.wrapping_add(self.blocking.scratch.y);
        for column in columns.clone().step_by(kernels.columns()) {
            let used_width = kernels.columns().min(columns.end - column);
            if self.is_read_in_place(used_width) {
                continue;
            }
            let mut offsets = [0; MAX_TILE_COLUMNS];
            self.columns.write_offsets(column, ProductArray::Y, &mut offsets[..used_width]);
            let skipped = (column - columns.start) * indices.len() * kernels.size;
            let panel = Panel {
                to: buffer.wrapping_add(skipped),
                width: used_width.next_multiple_of(kernels.lanes),
                from: macro_tile.y,
                operand: ProductArray::Y,
                offsets: &offsets[..used_width],
                lanes: kernels.lanes,
            };
            // SAFETY: the panel lies in the packed columns; its offsets are those of the operand.
            unsafe {
                panel.pack(kernels.pack_y, &self.summed, &self.groups, indices.clone());
            }
        }
    }

    /// Packs rows, panel by panel of at most `panel_rows` rows, unless tiles read them in place or the whole
    /// operand is packed.
    ///
    /// # Safety
    /// Like [`ProductPlan::sum_slice`]; `panel_rows` is at most [`MAX_VECTOR_TILE_ROWS`].
    pub(crate) unsafe fn pack_rows(
        &self,
        macro_tile: &MacroTile,
        rows: Range<usize>,
        indices: Range<usize>,
        panel_rows: usize,
        scratch: *mut u8,
    ) {
        let is_in_place =
            self.blocking.is_x_in_place && self.blocking.method == ProductMethod::Tiles;
        if is_in_place || !macro_tile.packed_x.is_null() {
            return;
        }
        let kernels = &self.kernels;
        let buffer = scratch.wrapping_add(self.blocking.scratch.x);
        for row in rows.clone().step_by(panel_rows) {
            let used_width = panel_rows.min(rows.end - row);
            let mut offsets = [0; MAX_VECTOR_TILE_ROWS];
            self.rows.write_offsets(row, ProductArray::X, &mut offsets[..used_width]);
            let skipped = (row - rows.start) * indices.len() * kernels.size;
            let panel = Panel {
                to: buffer.wrapping_add(skipped),
                width: used_width,
                from: macro_tile.x,
                operand: ProductArray::X,
                offsets: &offsets[..used_width],
                lanes: kernels.lanes,
            };
            // SAFETY: the panel lies in the packed rows; its offsets are those of the operand.
            unsafe {
                panel.pack(kernels.pack_x, &self.summed, &self.groups, indices.clone());
            }
        }
    }

    /// Whether tiles read a panel of columns in place: it has whole vectors.
    fn is_read_in_place(&self, used_width: usize) -> bool {
        self.blocking.is_y_in_place && used_width.is_multiple_of(self.kernels.lanes)
    }

    /// The address of the panel of rows from `row` on, at the first of the indices: in the packed operand, or
    /// in scratch memory, where the rows from `first` on are packed.
    pub(crate) fn packed_rows(
        &self,
        macro_tile: &MacroTile,
        row: usize,
        first: usize,
        indices: &Range<usize>,
        scratch: *mut u8,
    ) -> *const u8 {
        let size = self.kernels.size;
        if macro_tile.packed_x.is_null() {
            let skipped = (row - first) * indices.len() * size;
            return scratch.wrapping_add(self.blocking.scratch.x + skipped).cast_const();
        }
        let width = self.kernels.rows.min(self.rows.size - row);
        let skipped = row * self.summed.size + indices.start * width;
        macro_tile.packed_x.wrapping_add(skipped * size)
    }

    /// Like [`ProductPlan::packed_rows`], for columns.
    fn packed_columns(
        &self,
        macro_tile: &MacroTile,
        column: usize,
        first: usize,
        indices: &Range<usize>,
        scratch: *mut u8,
    ) -> *const u8 {
        let (size, lanes) = (self.kernels.size, self.kernels.lanes);
        if macro_tile.packed_y.is_null() {
            let skipped = (column - first) * indices.len() * size;
            return scratch.wrapping_add(self.blocking.scratch.y + skipped).cast_const();
        }
        let width = self.kernels.columns().min(self.columns.size - column);
        let skipped = column * self.summed.size + indices.start * width.next_multiple_of(lanes);
        macro_tile.packed_y.wrapping_add(skipped * size)
    }

    /// Runs the register tiles of rows and columns that are packed or read in place.
    ///
    /// # Safety
    /// Like [`ProductPlan::sum_slice`]; both operands are packed, unless tiles read them in place.
    unsafe fn packed_tiles(
        &self,
        macro_tile: &MacroTile,
        rows: Range<usize>,
        columns: Range<usize>,
        indices: Range<usize>,
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let kernels = &self.kernels;
        for column in columns.clone().step_by(kernels.columns()) {
            let tile_columns = column..columns.end.min(column + kernels.columns());
            let y = match self.is_read_in_place(tile_columns.len()) {
                true => self.element(macro_tile.y, ProductArray::Y, column, indices.start),
                false => self.packed_columns(macro_tile, column, columns.start, &indices, scratch),
            };
            for row in rows.clone().step_by(kernels.rows) {
                let tile_rows = row..rows.end.min(row + kernels.rows);
                self.prefetch_columns(macro_tile, &rows, row, tile_columns.end, &indices);
                let x = match self.blocking.is_x_in_place {
                    true => self.element(macro_tile.x, ProductArray::X, row, indices.start),
                    false => self.packed_rows(macro_tile, row, rows.start, &indices, scratch),
                };
                let operands = (x, y, indices.len());
                // SAFETY: both panels have these rows, columns and indices.
                unsafe {
                    let tile_columns = tile_columns.clone();
                    self.tile(macro_tile, tile_rows, tile_columns, operands, target, scratch);
                }
            }
        }
    }

    /// Whether the panel after the one that tiles read is still in the operand: panels are read in place, or
    /// packed one by one. Otherwise it is packed already. To prefetch the operand again, for each share of
    /// the rows, makes products of 1024 x 1024 x 1024 `f32` 7 % slower.
    fn is_next_panel_unpacked(&self) -> bool {
        let blocking = &self.blocking;
        blocking.is_y_in_place || blocking.packed_columns <= self.kernels.columns()
    }

    /// Prefetches a share of the panel of columns from `column` on, while a tile of an earlier panel runs
    /// from `row` of `rows` on. Each index of a panel is far from the one before it, so the processor does
    /// not foresee it.
    fn prefetch_columns(
        &self,
        macro_tile: &MacroTile,
        rows: &Range<usize>,
        row: usize,
        column: usize,
        indices: &Range<usize>,
    ) {
        let kernels = &self.kernels;
        let step = self.summed.uniform_stride(ProductArray::Y);
        let size = self.columns.uniform_stride(ProductArray::Y);
        let is_unpacked = macro_tile.packed_y.is_null() && self.is_next_panel_unpacked();
        let (Some(step), Some(size), true) = (step, size, is_unpacked) else { return };
        let columns = column..macro_tile.columns.end.min(column + kernels.columns());
        let bytes = columns.len() * size.unsigned_abs();
        let is_far = step.unsigned_abs() >= MIN_PREFETCH_STRIDE && rows.len() >= MIN_PREFETCH_ROWS;
        if !is_far || bytes == 0 || bytes > MAX_TILE_COLUMNS * MAX_ELEMENT_BYTES {
            return;
        }
        let (tile, tiles) = ((row - rows.start) / kernels.rows, rows.len().div_ceil(kernels.rows));
        let share = indices.len() * tile / tiles..indices.len() * (tile + 1) / tiles;
        let mut from = self
            .element(macro_tile.y, ProductArray::Y, column, indices.start)
            .wrapping_offset((share.start as isize).wrapping_mul(step));
        for _ in share {
            for line in (0..bytes).step_by(CACHE_LINE_BYTES).chain([bytes - 1]) {
                prefetch(from.wrapping_add(line));
            }
            from = from.wrapping_offset(step);
        }
    }

    /// Runs one register tile.
    ///
    /// # Safety
    /// Like [`ProductPlan::packed_tiles`], for these rows and columns.
    unsafe fn tile(
        &self,
        macro_tile: &MacroTile,
        rows: Range<usize>,
        columns: Range<usize>,
        (x, y, length): (*const u8, *const u8, usize),
        target: SumTarget,
        scratch: *mut u8,
    ) {
        let (blocking, kernels) = (&self.blocking, &self.kernels);
        let vectors = columns.len().div_ceil(kernels.lanes);
        let width = vectors * kernels.lanes;
        let direct = match target {
            SumTarget::Result => self.direct_output(macro_tile, &rows, &columns),
            SumTarget::Wide(sums) => Some(TileResults {
                out: self.wide_sums(macro_tile, sums, [rows.start, columns.start]),
                out_row_stride: (self.wide_columns(macro_tile) * kernels.wide_size) as isize,
                is_wide: true,
            }),
        };
        let buffer = scratch.wrapping_add(blocking.scratch.tile_sums);
        let is_wide = !kernels.is_out_native;
        let size = if is_wide { kernels.wide_size } else { kernels.size };
        let buffered =
            TileResults { out: buffer, out_row_stride: (width * size) as isize, is_wide };
        let store = if is_wide { kernels.store } else { kernels.store_rounded };
        let functions = kernels.tile(rows.len(), vectors);
        let (run, x_row_stride, x_index_stride) = match blocking.is_x_in_place {
            true => {
                let [row, step] =
                    [&self.rows, &self.summed].map(|of| of.fastest_stride(ProductArray::X));
                (functions.in_place, row, step)
            }
            false => {
                let size = kernels.size as isize;
                (functions.packed, size, rows.len() as isize * size)
            }
        };
        let tile = TileArguments {
            x,
            y,
            x_row_stride,
            x_index_stride,
            is_x_packed: !blocking.is_x_in_place,
            y_index_stride: self.summed.fastest_stride(ProductArray::Y),
            is_y_packed: !self.is_read_in_place(columns.len()),
            length,
            rows: rows.len(),
            columns: columns.len(),
            initial_sums: self.initial_sums_from(macro_tile, rows.start, scratch),
            results: direct.unwrap_or(buffered),
            nodes: scratch.wrapping_add(blocking.scratch.tile_nodes),
        };
        // SAFETY:
        // - the caller ensures the operands;
        // - results go to elements of the result, to sums of the target, or to the buffer of a tile;
        // - the plan has a level of this processor, and its slices fit the nodes.
        unsafe {
            run(&tile);
            if direct.is_none() {
                self.store_tile(store, macro_tile, [rows, columns], buffer, width);
            }
        }
    }

    /// The place of a tile in the result; `None` if the tile goes through a buffer, because the result has
    /// another type, its columns are not contiguous or its rows have no single stride.
    fn direct_output(
        &self,
        macro_tile: &MacroTile,
        rows: &Range<usize>,
        columns: &Range<usize>,
    ) -> Option<TileResults> {
        let [of_rows, of_columns] = [&self.rows, &self.columns];
        let is_dense = of_columns.fastest_stride(ProductArray::Out) == self.out_size as isize;
        let is_in_run = |axes: &Axes, range: &Range<usize>| {
            let run = axes.uniform_run_length(ProductArray::Out).max(1);
            range.start / run == (range.end - 1) / run
        };
        let is_contiguous = columns.len() == 1 || is_dense && is_in_run(of_columns, columns);
        let can_store = self.kernels.is_out_native && is_contiguous && is_in_run(of_rows, rows);
        let offset = |axes: &Axes, start| axes.offset(start, ProductArray::Out);
        can_store.then(|| TileResults {
            out: macro_tile
                .out
                .wrapping_offset(offset(of_rows, rows.start))
                .wrapping_offset(offset(of_columns, columns.start)),
            out_row_stride: of_rows.fastest_stride(ProductArray::Out),
            is_wide: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use indim_ops::{DType, Level};

    use super::*;
    use crate::product::{AxisClass, Product, ProductAxis};

    #[test]
    fn packed_panels_are_not_prefetched() {
        let product = |rows: usize, columns: usize, summed: usize| {
            let axis = |class, size, x, y, out| {
                let [x, y, out] = [x, y, out].map(|elements: usize| 4 * elements as isize);
                ProductAxis { class, size, x, y, out }
            };
            let axes = vec![
                axis(AxisClass::Row, rows, summed, 0, columns),
                axis(AxisClass::Column, columns, 0, 1, 1),
                axis(AxisClass::Summed, summed, 1, columns, 0),
            ];
            let [x, y, compute, out] = [DType::F32; 4];
            Product { x, y, compute, out, axes }
        };
        for &level in Level::available() {
            let plan = |product: &Product| ProductPlan::new(product, level, 1).unwrap();
            // The rows exceed L2. Each share of them packs many panels of columns.
            assert!(!plan(&product(1024, 1024, 1024)).is_next_panel_unpacked(), "{level}");
            assert!(plan(&product(64, 3136, 256)).is_next_panel_unpacked(), "{level}");
        }
    }
}
