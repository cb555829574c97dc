//! Searches among what lies in memory: a block of it can be read again. Holds unsafe code.
//!
//! Of each column the extreme so far is kept, with the first block that has it: at the end that block alone
//! is searched.

use core::ops::Range;

use indim_kernels::{ColumnExtremes, SearchedRows};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reducing::{NestRegion, ReducedAxes, Reducing, UnitForm};
use indim_ops::DType;
use indim_ops::meaning::reduction::{BLOCK, LANES};
use smallvec::smallvec;

use super::found::{Finding, StoreSearch, is_short, place};
use super::{Among, SearchPart, Searching};
use crate::tiles::code::TileCode;
use crate::tiles::memory::{Run, gather};
use crate::tiles::tile::Workspace;
use crate::tiles::tree::Values;

/// What one of the searches reads; the walk's operands are its target and this.
#[derive(Debug)]
pub(super) struct InMemory {
    /// The operand of the nest that is searched among.
    source: usize,
    /// The columns that are searched together.
    width: usize,
    /// From one column to the next, or from one element of a row, in bytes.
    inner_stride: isize,
    /// The columns of a step, or the elements of a row.
    inner: usize,
    /// The most steps of a block.
    block: usize,
    /// Where the elements of a block are that do not lie dense, in a thread's memory.
    gathered: usize,
}

/// The parts of the searches among these accesses, one for each store.
pub(super) fn parts(
    code: &TileCode,
    nest: &SizedNest<'_>,
    accesses: &[usize],
    strides: NestStrides<'_>,
) -> Option<Vec<SearchPart>> {
    let strides = nest.list_strides(strides);
    let mut parts = Vec::new();
    for (store, &access) in accesses.iter().enumerate() {
        let source = code.operand(access);
        let fold = &code.folds[store];
        let of_store = [&strides[store], &strides[source]].map(AxisStrides::clone);
        let axes = ReducedAxes::new(&nest.shape, nest.nest.reduced?, &of_store, 1)?;
        let has_row_kernels =
            fold.rows.is_some() && axes.length <= ROW_BLOCK || is_short(axes.length);
        let of_store = Reducing {
            axes: &axes,
            element_sizes: &[DType::I64.size(), fold.source_size],
            targets: 1,
            block: code.block,
            minimum_row: None,
            folds: false,
            is_direct: true,
            has_row_kernels,
            has_lanes: false,
        }
        .parts();
        parts.extend(of_store.into_iter().map(|part| search_part(code, store, source, part)));
    }
    Some(parts)
}

fn search_part(code: &TileCode, store: usize, source: usize, part: NestRegion) -> SearchPart {
    let size = code.folds[store].size;
    // The steps of rows are rows, which go through memory as columns of one block do.
    let (width, block, inner) = match part.form {
        UnitForm::Columns(columns) => (columns, block_steps(columns), columns),
        UnitForm::Row(length) => (1, part.walk.tile_steps, length),
    };
    let mut bytes = 0;
    let stride = part.result_strides[0];
    let search = StoreSearch::new(code, store, (part.form, block), stride, &mut bytes);
    let gathered = place(&mut bytes, if part.is_direct { 0 } else { block * inner }, size);
    let inner_stride = part.walk.operands[1].inner_stride(size);
    let among = Among::Memory(InMemory { source, width, inner_stride, inner, block, gathered });
    SearchPart { part, searches: smallvec![search], bytes, among }
}

/// The steps of a block of one column; rows that are no longer are searched several in a tile.
const ROW_BLOCK: usize = 2 * BLOCK;

/// The steps of a block of so many columns: one that is searched fast, and folded at once.
fn block_steps(columns: usize) -> usize {
    match columns {
        1 => ROW_BLOCK,
        _ if columns < LANES => BLOCK,
        _ => 16,
    }
}

impl InMemory {
    /// Searches these pieces.
    ///
    /// # Safety
    /// As [`BoundNest::run`](crate::executor::BoundNest::run), for pieces of this part.
    pub(super) unsafe fn search(
        &self,
        searching: &Searching<'_>,
        workspace: &mut Workspace,
        pieces: Range<usize>,
    ) {
        let Some(finding) = searching.findings().next() else { return };
        let mut position = searching.position(workspace, pieces.start);
        for piece in pieces {
            let source = searching.bases.operands[self.source].wrapping_offset(position.offset(1));
            // SAFETY: the caller's promise.
            unsafe {
                match searching.part.part.form {
                    UnitForm::Columns(_) => {
                        let found = finding.found(searching.left_by(piece));
                        let steps = searching.steps(piece).len();
                        self.search_columns(searching, &finding, source, steps, found);
                        searching.end_piece(&position, piece);
                    }
                    UnitForm::Row(length) => {
                        let rows = self.values(searching, source, 0, position.steps);
                        let target = searching.target(0, &position);
                        finding.search_rows(rows, (position.steps, length), target);
                    }
                }
            }
            (0..searching.part.part.tiles_of(piece).1).for_each(|_| position.advance());
        }
    }

    /// Finds the extremes of so many steps from `source` on, and where they are.
    ///
    /// # Safety
    /// The steps are valid for reads, `found` has room.
    unsafe fn search_columns(
        &self,
        searching: &Searching<'_>,
        finding: &Finding<'_>,
        source: *const u8,
        steps: usize,
        found: ColumnExtremes,
    ) {
        let InMemory { width, block, .. } = *self;
        if width >= LANES && is_short(searching.part.part.walk.tile_axis) {
            // SAFETY: the caller's promise.
            return unsafe { self.search_short(searching, finding, source, steps, found) };
        }
        let (tree, functions) = (finding.columns(), &finding.search.functions);
        for (index, start) in (0..steps).step_by(block).enumerate() {
            let count = block.min(steps - start);
            // SAFETY: the caller's promise.
            unsafe {
                tree.take(self.values(searching, source, start, count), 0..count);
                tree.finish(count);
                (functions.keep)(found, tree.nodes, width, index);
            }
        }
        let step_stride = searching.part.part.walk.operands[1].step_stride;
        for column in 0..width {
            // SAFETY: the caller's promise; a block has been noted for each column, and has its extreme.
            unsafe {
                let index = found.indices.add(column);
                let start = *index * block;
                let along = start as isize * step_stride + column as isize * self.inner_stride;
                let (count, first) = (block.min(steps - start), source.wrapping_offset(along));
                let extreme = found.extremes.add(column * finding.fold.size);
                *index = start + (functions.find)(first, count, step_stride, extreme);
            }
        }
    }

    /// As [`InMemory::search_columns`], of wide columns along a short axis.
    ///
    /// # Safety
    /// As [`InMemory::search_columns`].
    unsafe fn search_short(
        &self,
        searching: &Searching<'_>,
        finding: &Finding<'_>,
        source: *const u8,
        steps: usize,
        found: ColumnExtremes,
    ) {
        let InMemory { width, block, .. } = *self;
        for start in (0..steps).step_by(block) {
            let count = block.min(steps - start);
            // SAFETY: the caller's promise; blocks are taken in their order.
            unsafe {
                let rows = self.values(searching, source, start, count);
                let searched = SearchedRows { count, stride: rows.step_stride, width, start };
                (finding.search.functions.take)(found, rows.first, searched);
            }
        }
    }

    /// Some steps, with columns, or elements of rows, that lie one after another.
    ///
    /// # Safety
    /// They are valid for reads.
    unsafe fn values(
        &self,
        searching: &Searching<'_>,
        source: *const u8,
        start: usize,
        count: usize,
    ) -> Values {
        let part = &searching.part.part;
        let step_stride = part.walk.operands[1].step_stride;
        let first = source.wrapping_offset(start as isize * step_stride);
        if part.is_direct {
            return Values { first, step_stride };
        }
        let size = searching.code.folds[searching.part.searches[0].store].size;
        let gathered = searching.memory.wrapping_add(self.gathered);
        let steps = Run { count, stride: step_stride };
        let run = Run { count: self.inner, stride: self.inner_stride };
        // SAFETY: the caller's promise.
        unsafe { gather(gathered, first, steps, run, size) }
        Values { first: gathered, step_stride: (self.inner * size) as isize }
    }
}
