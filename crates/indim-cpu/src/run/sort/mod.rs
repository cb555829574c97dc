//! Sorts: nests that sort along an axis. No executor compiles them. Holds unsafe code.
//!
//! - `columns.rs`: sorts of several short rows together;
//! - `select.rs`: selections of some elements of sorted rows.
//!
//! A row is the elements along the sorted axis. A tile is a block of rows, which is copied to dense memory,
//! sorted row by row, or several rows together, and written. The sort is stable, so every algorithm and
//! every number of threads gives the same bits.

mod columns;
mod select;

use core::convert::identity;
use core::fmt;
use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use indim_executors::{Bases, BoundNest, KernelFallback, NestCode, StepProgress, TileProgress};
use indim_graph::SortResult;
use indim_kernels::{
    ColumnRow, KeyedPosition, Selection, SortElement, SortKey, SortPosition, SortRows, SortScratch,
    count_bytes, for_sort_width, max_passes, position_column_bytes, sort_positions,
};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Local, LoopNest, SortedRanges, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::{DType, DTypeClass, bf16, c64, c128, f16};
use indim_shape::sort_few_by_key;

use columns::{ColumnSort, rows_together};
use select::for_selected_width;

/// A sort for arrays of any sizes.
#[derive(Debug, Clone)]
pub(crate) struct Sort {
    axis: usize,
    descending: bool,
    result: SortResult,
    /// The positions along the axis that are read; no others need be stored.
    read: SortedRanges,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// The operand and the element type of each key, the first most significant.
    keys: Vec<(usize, DType)>,
}

/// Approximate elements of a tile of short rows: enough that distributing tiles over threads costs little.
const TILE_ELEMENTS: usize = 4096;

/// Bytes of neighbouring columns that are copied together: a cache line.
const COLUMN_BYTES: usize = 64;

/// Maximum bytes of columns that are copied together, so that they stay in L2 or the last-level cache.
const MAX_COLUMNS_BYTES: usize = 4 << 20;

/// Minimum number of tiles, so that several threads have work. A nest with fewer rows gets one tile per row.
const MIN_TILES: usize = 8;

/// Passes over the elements of a row in addition to those of its sort: reads, writes, and lists of positions.
const OTHER_PASSES: usize = 5;

/// Cost of sorting an element, in bytes moved in the same time: about 10 nanoseconds.
const BYTES_PER_ELEMENT: usize = 100;

impl Sort {
    /// Returns `None` for a nest that is not a sort.
    pub(crate) fn compile(nest: &LoopNest) -> Option<Arc<dyn NestCode>> {
        let (StandaloneInstruction::Sort { axis, descending, result, read }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let stores = nest.stores.len();
        let key = |local: &Local| {
            let access = local.access()?;
            Some((stores + access, nest.accesses[access].array_type.dtype))
        };
        let keys = instruction.operands.iter().map(key).collect::<Option<_>>()?;
        Some(Arc::new(Sort { axis, descending, result, read, stores, keys }))
    }

    /// Number of rows of a tile. `is_strided` tells whether elements adjacent in memory are in different
    /// rows.
    fn rows_per_tile(&self, rows: usize, length: usize, is_strided: bool) -> usize {
        let size = self.key_bytes();
        let mut tile = TILE_ELEMENTS / length.max(1);
        if is_strided {
            let max = MAX_COLUMNS_BYTES / length.saturating_mul(size).max(1);
            tile = tile.max((COLUMN_BYTES / size).min(max));
        }
        tile.clamp(1, rows.div_ceil(MIN_TILES).max(1)).next_multiple_of(self.rows_together(length))
    }

    /// The selections that replace a sort of rows of `length` elements; none if they are sorted.
    fn selections(&self, length: usize) -> Vec<Selection> {
        let read: Vec<_> = self.read.ranges().map(|range| range.positions(length)).collect();
        match self.keys[..] {
            [(_, dtype)] if select::is_selected(dtype) => Selection::of_ranges(&read, length),
            _ => Vec::new(),
        }
    }

    /// Number of rows that are sorted together.
    fn rows_together(&self, length: usize) -> usize {
        match self.result {
            SortResult::Values => rows_together(self.keys[0].1, length),
            SortResult::Positions => 1,
        }
    }

    /// Bytes of the largest key.
    fn key_bytes(&self) -> usize {
        self.keys.iter().map(|(_, dtype)| dtype.size()).max().unwrap_or(1)
    }

    /// Bytes of scratch memory for each element of a block, and for each element of the row being sorted.
    fn bytes_per_element(&self) -> [usize; 2] {
        let size = self.key_bytes();
        let item = match size {
            0..=4 => size_of::<KeyedPosition<u32, u32>>(),
            5..=8 => size_of::<KeyedPosition<u64, u64>>(),
            _ => size_of::<KeyedPosition<u128, u64>>(),
        };
        match self.result {
            SortResult::Values => [size, size],
            // For the block keys with positions, and positions; for the row a list of each.
            SortResult::Positions => [item + size_of::<u64>(), item + size],
        }
    }
}

impl NestCode for Sort {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let strides = nest.list_strides(strides);
        if nest.shape.contains(&0) {
            return None;
        }
        Some(Arc::new(BoundSort::new(self, &nest.shape, &strides)))
    }

    fn cost(&self) -> usize {
        BYTES_PER_ELEMENT
    }

    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let length = nest.shape[self.axis];
        let rows = self.rows_per_tile(nest.lines(self.axis), length, true);
        let selections = self.selections(length);
        if !selections.is_empty() {
            let row_bytes = selections.iter().map(|it| it.row_bytes(self.key_bytes()));
            return rows.saturating_mul(row_bytes.sum());
        }
        let block = rows.saturating_mul(length);
        let [of_block, of_row] = self.bytes_per_element();
        let bytes = block.saturating_mul(of_block);
        let counts = count_bytes(length, self.key_bytes());
        let columns = match (self.result, self.rows_together(length)) {
            (SortResult::Positions, _) => position_column_bytes(length),
            (SortResult::Values, 1) => 0,
            (SortResult::Values, _) => length.saturating_mul(size_of::<ColumnRow>()),
        };
        let of_row = length.saturating_mul(of_row);
        bytes.saturating_add(of_row).saturating_add(counts).saturating_add(columns)
    }

    fn shared_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let key = |&(operand, _): &(usize, DType)| describe(&nest.accesses[operand - self.stores]);
        let keys: Vec<String> = self.keys.iter().map(key).collect();
        let order = if self.descending { "descending " } else { "" };
        for store in &nest.stores {
            let (result, target) = (self.result, describe(&store.target));
            let (keys, axis, read) = (keys.join(", "), self.axis, self.read);
            writeln!(formatter, "sort {keys} along i{axis}: {order}{result}{read} -> {target}")?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Sort
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<Sort>(1);
        memory_use.add_allocation::<(usize, DType)>(self.keys.capacity());
    }
}

/// A sort bound to sizes and strides.
#[derive(Debug)]
struct BoundSort {
    sort: Arc<Sort>,
    /// Elements of a row.
    length: usize,
    /// Stride in bytes of each operand along a row.
    element_strides: Vec<isize>,
    /// The other axes: the size, and the stride in bytes of each operand. Rows are numbered in their order.
    outer_axes: Vec<(usize, Vec<isize>)>,
    rows: usize,
    rows_per_tile: usize,
    /// The selections that replace the sort of each row; none if rows are sorted.
    selections: Vec<Selection>,
    /// Whether blocks are copied row by row, and not column by column.
    is_by_rows: bool,
}

impl BoundSort {
    fn new(sort: Arc<Sort>, shape: &[usize], strides: &[AxisStrides]) -> BoundSort {
        let axis = sort.axis;
        let key = sort.keys[0].0;
        let element_strides: Vec<isize> = strides.iter().map(|strides| strides[axis]).collect();
        let mut outer_axes: Vec<(usize, Vec<isize>)> = (0..shape.len())
            .filter(|&other| other != axis && shape[other] > 1)
            .map(|other| (shape[other], strides.iter().map(|strides| strides[other]).collect()))
            .collect();
        // The axis with the smallest stride is innermost, so consecutive rows are neighbours in memory.
        sort_few_by_key(&mut outer_axes, |(_, strides)| {
            core::cmp::Reverse(strides[key].unsigned_abs())
        });
        let nearest =
            outer_axes.last().map_or(usize::MAX, |(_, strides)| strides[key].unsigned_abs());
        let is_by_rows = element_strides[key].unsigned_abs() <= nearest;
        let rows = outer_axes.iter().map(|(size, _)| size).product();
        BoundSort {
            length: shape[axis],
            selections: sort.selections(shape[axis]),
            rows_per_tile: sort.rows_per_tile(rows, shape[axis], !is_by_rows),
            sort,
            element_strides,
            outer_axes,
            rows,
            is_by_rows,
        }
    }

    /// Offset of the first element of a row of an operand, in bytes.
    fn offset(&self, operand: usize, mut row: usize) -> isize {
        let mut offset = 0;
        for (size, strides) in self.outer_axes.iter().rev() {
            offset += (row % size) as isize * strides[operand];
            row /= size;
        }
        offset
    }

    /// The rows of an operand.
    fn block(&self, bases: &Bases<'_>, operand: usize, rows: Range<usize>) -> SortRows {
        let first = |row| bases.operands[operand].wrapping_offset(self.offset(operand, row));
        SortRows {
            rows: rows.map(first).collect(),
            length: self.length,
            element_stride: self.element_strides[operand],
            is_by_rows: self.is_by_rows,
        }
    }

    /// The bits that are inverted in each key of the width of `T`, for elements of type `dtype`: the sign of
    /// signed integers, and all for a descending order.
    fn mask<T: SortElement>(&self, dtype: DType) -> T::SortKey {
        let is_signed = dtype.class() == DTypeClass::Signed;
        let sign = if is_signed { T::SortKey::SIGN } else { T::SortKey::default() };
        sign ^ if self.sort.descending { T::SortKey::MAX } else { T::SortKey::default() }
    }

    /// Sorts the rows of tiles and stores their elements.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`], for `tiles`; the key has elements of the width of `T`.
    unsafe fn sort_values<T: SortElement>(
        &self,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let mask = self.mask::<T>(self.sort.keys[0].1);
        let progress = &mut |items| steps.advance(items);
        let (mut elements, mut scratch) = (Vec::new(), SortScratch::default());
        let dtype = self.sort.keys[0].1;
        let mut columns = ColumnSort::new(dtype, self.sort.descending, self.length);
        let together = match columns {
            Some(_) => rows_together(dtype, self.length),
            None => self.rows_per_tile,
        };
        for tile in tiles {
            let of_tile = self.rows_of(tile);
            for first in of_tile.clone().step_by(together) {
                let rows = first..(first + together).min(of_tile.end);
                let keys = self.block(bases, self.sort.keys[0].0, rows.clone());
                let mut stores =
                    (0..self.sort.stores).map(|store| self.block(bases, store, rows.clone()));
                // SAFETY: the caller ensures that the rows of the tile are readable in the keys, and writable
                // in each store.
                unsafe {
                    if columns.as_mut().is_some_and(|it| it.sort::<T>(&keys, stores.clone())) {
                        continue;
                    }
                    keys.read::<T, _>(&mut elements, |_, element| element, progress)?;
                    for row in elements.chunks_exact_mut(self.length) {
                        let key = |element| T::key(element) ^ mask;
                        scratch.sort_elements(row, key, T::bits, progress)?;
                    }
                    stores.try_for_each(|block| block.write(&elements, identity, progress))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Sorts the rows of tiles and stores the positions of their elements.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`], for `tiles`.
    unsafe fn sort_positions<P: SortPosition>(
        &self,
        bases: &Bases<'_>,
        tiles: Range<usize>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let mut positions: Vec<P> = Vec::new();
        for tile in tiles {
            let rows = self.rows_of(tile);
            positions.clear();
            for &(operand, dtype) in self.sort.keys.iter().rev() {
                let block = self.block(bases, operand, rows.clone());
                // SAFETY: the caller ensures that the rows of the tile are readable, with elements of the
                // width of the access.
                unsafe {
                    for_sort_width!(dtype, self.sort_by(dtype, &block, &mut positions, steps))?;
                }
            }
            let progress = &mut |items| steps.advance(items);
            for store in 0..self.sort.stores {
                let block = self.block(bases, store, rows.clone());
                // SAFETY: the caller ensures that the rows of the tile are writable in each store.
                unsafe { block.write(&positions, |position| position.get() as i64, progress)? }
            }
        }
        ControlFlow::Continue(())
    }

    /// Sorts the positions of each row by the key in `block`; no `positions` stand for those of rows that are
    /// not sorted yet.
    ///
    /// # Safety
    /// The block has readable elements of type `T`, of the width of `dtype`.
    unsafe fn sort_by<T: SortElement>(
        &self,
        dtype: DType,
        block: &SortRows,
        positions: &mut Vec<impl SortPosition>,
        steps: &mut StepProgress<'_>,
    ) -> ControlFlow<()> {
        let mask = self.mask::<T>(dtype);
        let item = |position, element| KeyedPosition::new(T::key(element) ^ mask, position);
        let mut items = Vec::new();
        let progress = &mut |items| steps.advance(items);
        // SAFETY: the caller ensures that the block has readable elements of type `T`.
        unsafe { block.read::<T, _>(&mut items, item, progress)? }
        sort_positions(&mut items, self.length, positions, progress)
    }

    fn rows_of(&self, tile: usize) -> Range<usize> {
        let first = tile * self.rows_per_tile;
        first..(first + self.rows_per_tile).min(self.rows)
    }
}

impl BoundNest for BoundSort {
    fn tiles(&self) -> usize {
        self.rows.div_ceil(self.rows_per_tile)
    }

    fn tile_elements(&self) -> usize {
        self.rows_per_tile * self.length
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
        let dtype = self.sort.keys[0].1;
        let passes = (max_passes(self.sort.key_bytes()) + OTHER_PASSES) * self.sort.keys.len();
        let mut steps = StepProgress::new(progress, tiles.len() * self.tile_elements(), passes);
        // SAFETY: the caller has the same obligations; the access of the key has elements of this type, or of
        // the signed type of its width.
        unsafe {
            match self.sort.result {
                _ if !self.selections.is_empty() => {
                    for_selected_width!(dtype, self.select(bases, tiles, &mut steps))?;
                }
                SortResult::Values => {
                    for_sort_width!(dtype, self.sort_values(bases, tiles, &mut steps))?;
                }
                SortResult::Positions if u32::try_from(self.length).is_ok() => {
                    self.sort_positions::<u32>(bases, tiles, &mut steps)?;
                }
                SortResult::Positions => self.sort_positions::<u64>(bases, tiles, &mut steps)?,
            }
        }
        steps.finish()
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundSort>(1);
        memory_use.add_allocation::<Selection>(self.selections.capacity());
        memory_use.add_allocation::<isize>(self.element_strides.capacity());
        memory_use.add_allocation::<(usize, Vec<isize>)>(self.outer_axes.capacity());
        self.outer_axes
            .iter()
            .for_each(|(_, strides)| memory_use.add_allocation::<isize>(strides.capacity()));
    }
}
