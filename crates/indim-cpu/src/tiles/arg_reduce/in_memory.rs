//! Arg-reductions of arrays in memory, whose blocks can be read twice. Holds unsafe code.
//!
//! Each column keeps its extreme so far and the first block that has it. At the end only that block is
//! searched for the index.

use core::ops::Range;

use indim_kernels::{ColumnExtremes, SearchedRows};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reduction::{NestRegion, ReducedAxes, ReductionNest, UnitForm};
use indim_ops::DType;
use indim_ops::meaning::reduction::{BLOCK, LANES};
use smallvec::smallvec;

use super::found::{Finding, StoreArgReduction, is_short, place};
use super::{Among, SearchPart, Searching};
use crate::tiles::code::TileCode;
use crate::tiles::memory::{Run, gather};
use crate::tiles::tile::Workspace;
use crate::tiles::tree::Values;

/// The array of one arg-reduction; the walk's operands are its target and this array.
#[derive(Debug)]
pub(super) struct InMemory {
    /// The searched operand of the nest.
    source: usize,
    /// Columns that are searched together.
    width: usize,
    /// Stride between columns, or between elements of a row, in bytes.
    inner_stride: isize,
    /// Columns of a step, or elements of a row.
    inner: usize,
    /// Upper bound of the steps of a block.
    block: usize,
    /// Offset in a thread's memory of the elements of a strided block, gathered.
    gathered: usize,
}

/// The parts of the arg-reductions of these accesses, one for each store.
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
        let of_store = ReductionNest {
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
        .regions();
        parts.extend(of_store.into_iter().map(|part| search_part(code, store, source, part)));
    }
    Some(parts)
}

fn search_part(code: &TileCode, store: usize, source: usize, part: NestRegion) -> SearchPart {
    let size = code.folds[store].size;
    // In the row form a step is a row, read like the columns of one block.
    let (width, block, inner) = match part.form {
        UnitForm::Columns(columns) => (columns, block_steps(columns), columns),
        UnitForm::Row(length) => (1, part.walk.tile_steps, length),
    };
    let mut bytes = 0;
    let stride = part.result_strides[0];
    let search = StoreArgReduction::new(code, store, (part.form, block), stride, &mut bytes);
    let gathered = place(&mut bytes, if part.is_direct { 0 } else { block * inner }, size);
    let inner_stride = part.walk.operands[1].inner_stride(size);
    let among = Among::Memory(InMemory { source, width, inner_stride, inner, block, gathered });
    SearchPart { part, searches: smallvec![search], bytes, among }
}

/// Steps of a block of one column; shorter rows are searched several to a tile.
const ROW_BLOCK: usize = 2 * BLOCK;

/// Steps of a block of `columns` columns: few enough for a fast search, and folded at once.
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
    /// Like [`BoundNest::run`](crate::executor::BoundNest::run), for pieces of this part.
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
            // SAFETY: the caller vouches for the pieces, and the thread's memory has the room that `new`
            // counted.
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

    /// Finds the extremes of `steps` steps from `source` on, with their indices.
    ///
    /// # Safety
    /// The steps are valid for reads; `found` has room for all columns.
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
            // SAFETY: the caller vouches for the steps and for `found`.
            return unsafe { self.search_short(searching, finding, source, steps, found) };
        }
        let (tree, functions) = (finding.columns(), &finding.search.functions);
        for (index, start) in (0..steps).step_by(block).enumerate() {
            let count = block.min(steps - start);
            // SAFETY: the caller vouches for the steps; `values` makes each block dense.
            unsafe {
                tree.take(self.values(searching, source, start, count), 0..count);
                tree.finish(count);
                (functions.keep)(found, tree.nodes, width, index);
            }
        }
        let step_stride = searching.part.part.walk.operands[1].step_stride;
        for column in 0..width {
            // SAFETY: each column has the number of a block of these steps that contains its extreme.
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

    /// Like [`InMemory::search_columns`], for wide columns along a short axis.
    ///
    /// # Safety
    /// Like [`InMemory::search_columns`].
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
            // SAFETY: the caller vouches for the steps and for `found`; blocks are folded in order.
            unsafe {
                let rows = self.values(searching, source, start, count);
                let searched = SearchedRows { count, stride: rows.step_stride, width, start };
                (finding.search.functions.take)(found, rows.first, searched);
            }
        }
    }

    /// The values of some steps, made dense if they are strided.
    ///
    /// # Safety
    /// The steps are valid for reads.
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
        // SAFETY: the caller vouches for the steps; `gathered` has room for a block.
        unsafe { gather(gathered, first, steps, run, size) }
        Values { first: gathered, step_stride: (self.inner * size) as isize }
    }
}
