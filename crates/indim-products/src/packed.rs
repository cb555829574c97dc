//! Operands that are packed as a whole, so that many runs read the same panels. Holds unsafe code.
//!
//! A panel has all summed indices, block by block. A block of a panel does not depend on slices, so plans for
//! other numbers of threads, and for other sizes of the other operand, have the same layout.

use core::fmt;
use core::ops::Range;

use indim_ops::Level;

use crate::axes::{Axes, FactorGroups, ProductArray};
use crate::blocking::ProductMethod;
use crate::kernels::{MAX_TILE_COLUMNS, MAX_VECTOR_TILE_ROWS};
use crate::pack::{PackArguments, PackFn, RowRun, split_row};
use crate::plan::ProductPlan;

/// The layout of an operand that is packed as a whole: its panels, one batch element after another.
///
/// The layouts of plans for products of the same element types are equal if they give the same bytes for the
/// same operand.
#[derive(Clone)]
pub struct PackedLayout {
    operand: ProductArray,
    /// The axes as the operand has them; one batch element if the operand is broadcast along the batch.
    batch: Axes,
    free: Axes,
    summed: Axes,
    groups: FactorGroups,
    /// Rows or columns of a panel.
    panel: usize,
    /// The last panel is filled with zeros up to a multiple of this.
    granularity: usize,
    lanes: usize,
    /// Bytes of an element in a panel.
    size: usize,
    /// Whether the panels are for register tiles of AMX.
    is_for_tiles_of_bytes: bool,
    level: Level,
    pack: PackFn,
}

impl PartialEq for PackedLayout {
    /// For given element types, the fields that are compared determine the function that packs.
    fn eq(&self, other: &Self) -> bool {
        let key = |of: &Self| {
            let numbers = [of.panel, of.granularity, of.lanes, of.size];
            (of.operand, numbers, of.is_for_tiles_of_bytes, of.level, of.groups)
        };
        let axes = |of: &Self| [of.batch.clone(), of.free.clone(), of.summed.clone()];
        key(self) == key(other) && axes(self) == axes(other)
    }
}

impl fmt::Debug for PackedLayout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = [self.batch.size, self.free.size, self.summed.size];
        formatter
            .debug_struct("PackedLayout")
            .field("batch, rows or columns, summed", &sizes)
            .field("panel", &self.panel)
            .finish_non_exhaustive()
    }
}

impl PackedLayout {
    /// Bytes of all panels; saturates.
    pub fn bytes(&self) -> usize {
        self.batch.size.saturating_mul(self.batch_bytes())
    }

    /// Bytes of the panels of a batch element; saturates.
    fn batch_bytes(&self) -> usize {
        let width = self.free.size.checked_next_multiple_of(self.granularity);
        width.unwrap_or(usize::MAX).saturating_mul(self.summed.size).saturating_mul(self.size)
    }

    /// Bytes that the layout holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        [&self.batch, &self.free, &self.summed].iter().map(|axes| axes.heap_bytes()).sum()
    }

    /// Packs an operand.
    ///
    /// # Safety
    /// - `from`, the first element of the operand, is valid for reads at the sum of the offsets of every
    ///   index of its axes in the product;
    /// - `to` is valid for writes of [`PackedLayout::bytes`] bytes, aligned to 64, and does not overlap the
    ///   operand.
    pub unsafe fn pack(&self, from: *const u8, to: *mut u8) {
        for batch in 0..self.batch.size {
            let from = from.wrapping_offset(self.batch.offset(batch, self.operand));
            let to = to.wrapping_add(batch * self.batch_bytes());
            for first in (0..self.free.size).step_by(self.panel) {
                let used_width = self.panel.min(self.free.size - first);
                let mut offsets = [0; MAX_PANEL];
                self.free.write_offsets(first, self.operand, &mut offsets[..used_width]);
                let panel = Panel {
                    to: to.wrapping_add(first * self.summed.size * self.size),
                    width: used_width.next_multiple_of(self.granularity),
                    from,
                    operand: self.operand,
                    offsets: &offsets[..used_width],
                    lanes: self.lanes,
                };
                // SAFETY:
                // - panels lie one after another in the caller's memory, which has room for all;
                // - the caller ensures the operand, whose offsets these are;
                // - a level exists only on a processor that has it.
                unsafe { panel.pack(self.pack, &self.summed, &self.groups, 0..self.summed.size) }
            }
        }
    }
}

/// Rows or columns of a macro tile from which each run packs the other operand, if its elements have 4 bytes
/// or more: this is a few per cent of the work, and panels for all runs would be a second copy of the
/// operand. Narrow integers and floats take less time to multiply, so they have no such limit.
const MIN_USES_OF_CHEAP_PANELS: usize = 512;

/// Maximum rows or columns of a panel.
const MAX_PANEL: usize = MAX_TILE_COLUMNS;

const _: () = assert!(MAX_PANEL >= MAX_VECTOR_TILE_ROWS);

impl ProductPlan {
    /// The layout of an operand, 0 for `x` and 1 for `y`, that is packed before a run: a run with these
    /// panels in [`ProductPointers::packed`](crate::ProductPointers::packed) packs less. `None` if runs
    /// read this operand in place, or use each packed element so often that packing costs little.
    pub fn packed_layout(&self, operand: usize) -> Option<PackedLayout> {
        let operand = match (operand == 0) != self.is_exchanged {
            true => ProductArray::X,
            false => ProductArray::Y,
        };
        let (blocking, kernels) = (&self.blocking, &self.kernels);
        let (free, is_in_place, panel, granularity, pack) = match operand {
            ProductArray::X => {
                (&self.rows, blocking.is_x_in_place, kernels.rows, 1, kernels.pack_x)
            }
            _ => (
                &self.columns,
                blocking.is_y_in_place,
                kernels.columns(),
                kernels.lanes,
                kernels.pack_y,
            ),
        };
        let uses = match operand {
            ProductArray::X => blocking.columns.min(self.columns.size),
            _ => blocking.rows.min(self.rows.size),
        };
        let is_cheap = uses >= MIN_USES_OF_CHEAP_PANELS && kernels.size >= 4;
        let is_empty = [&self.batch, free, &self.summed].iter().any(|axes| axes.size == 0);
        if is_in_place || is_cheap || is_empty || blocking.method != ProductMethod::Tiles {
            return None;
        }
        let batch = self.batch.of_array(operand);
        Some(PackedLayout {
            operand,
            batch: if self.batch.is_broadcast(operand) { Axes::none() } else { batch },
            free: free.of_array(operand),
            summed: self.summed.of_array(operand),
            groups: self.groups.of_array(operand),
            panel,
            granularity,
            lanes: kernels.lanes,
            size: kernels.size,
            is_for_tiles_of_bytes: kernels.tile_hooks.is_some(),
            level: self.level,
            pack,
        })
    }

    /// Offset of the panels of a batch element in an operand that is packed as a whole, in bytes.
    pub(crate) fn packed_batch_offset(&self, operand: ProductArray, batch: usize) -> usize {
        if self.batch.is_broadcast(operand) {
            return 0;
        }
        let width = match operand {
            ProductArray::X => self.rows.size,
            _ => self.columns.size.next_multiple_of(self.kernels.lanes),
        };
        batch * width * self.summed.size * self.kernels.size
    }
}

/// A panel to pack.
pub(crate) struct Panel<'a> {
    /// Memory of the panel.
    pub(crate) to: *mut u8,
    /// Elements of a row of the panel, with padding.
    pub(crate) width: usize,
    /// The first element of the operand.
    pub(crate) from: *const u8,
    pub(crate) operand: ProductArray,
    /// Byte offsets of the packed rows or columns in the operand.
    pub(crate) offsets: &'a [isize],
    /// Elements of a vector.
    pub(crate) lanes: usize,
}

impl Panel<'_> {
    /// Packs the panel, one index run at a time: summed indices with one stride in the operand.
    ///
    /// # Safety
    /// - the panel is valid for writes of `indices.len()` rows of `self.width` elements, one row for each
    ///   summed index;
    /// - the operand is valid for reads at each of its offsets and indices;
    /// - `pack` suits the type of the operand, and the processor has its level.
    pub(crate) unsafe fn pack(
        &self,
        pack: PackFn,
        summed: &Axes,
        groups: &FactorGroups,
        indices: Range<usize>,
    ) {
        let mut row_runs = [RowRun::default(); MAX_TILE_COLUMNS];
        let row_run_count = split_row(self.offsets, self.lanes, &mut row_runs);
        let (index_run, index_stride) =
            (summed.fastest_size(), summed.fastest_stride(self.operand));
        let mut index = indices.start;
        while index < indices.end {
            let count = (index_run - index % index_run).min(indices.end - index);
            let arguments = PackArguments {
                to: self.to,
                width: self.width,
                from: self.from.wrapping_offset(summed.offset(index, self.operand)),
                row_runs: row_runs.as_ptr(),
                row_run_count,
                used_width: self.offsets.len(),
                index_stride,
                factor_stride: groups.stride(self.operand),
                tail: if index + count == summed.size { groups.tail } else { 0 },
                index_run_start: index - indices.start,
                index_run_length: count,
                slice_length: indices.len(),
            };
            // SAFETY: the caller ensures panel and operand; the index run lies in the slice.
            unsafe { pack(&arguments) };
            index += count;
        }
    }
}
