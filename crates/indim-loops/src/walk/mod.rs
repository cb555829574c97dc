//! Walks: the order in which a loop nest iterates over memory, for given strides.
//!
//! The coalesced axes are cut into tiles of at most one block, or of more if no operand passes through a
//! block. A tile covers as many of the innermost axes as fit, and several steps along the next axis, the
//! tile axis. A long row is thus split, and many short rows (three colours, four columns) form one tile.
//! No loop has a trip count of three, and an operand that is invariant over tiles is gathered into a
//! block once.
//!
//! An executor may process a tile row by row. Then a step of a tile is one row, and an operand whose rows
//! are not contiguous with each other (a column, a row of a wider array) is used in place.
//!
//! - `position.rs`: iteration over the tiles;
//! - `runs.rs`: the runs of contiguous or strided elements in a tile;
//! - `reduction.rs`: walks of nests with a reduced axis.

pub mod position;
pub mod reduction;
pub mod runs;

use runs::ElementRun;
use smallvec::SmallVec;

use crate::memory_use::MemoryUse;
use crate::strides::AxisStrides;
use crate::strides::coalesce::CoalescedAxes;

/// Minimum elements of a row, unless some operand has rows that are not contiguous with each other, or the
/// row is a multiple of the widest accumulator. Below this it is cheaper to repeat a row in a block, once for
/// all tiles.
const MIN_REPEATED_ROW: usize = 512;

/// Maximum number of rows that are processed one by one at any length, because gathering them takes longer.
pub const MAX_UNGATHERED_ROWS: usize = 16;

/// The memory layout of the elements of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileLayout {
    /// Contiguous elements, used in place.
    Dense,
    /// One element, broadcast over the tile.
    Scalar,
    /// Nested runs, outermost first; the count of the first run is per step of the tile.
    Strided(SmallVec<[ElementRun; 2]>),
}

/// The memory layout of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// Contiguous elements.
    Dense,
    /// One element, broadcast over the row.
    Scalar,
    /// Strided elements, the same for all rows along the axis around them. One row is gathered for all
    /// rows.
    Repeated,
}

/// The walk of one operand.
#[derive(Debug, Clone)]
pub struct OperandWalk {
    /// Offset in bytes of the nest's first point from the array's first element.
    pub offset: isize,
    /// The stride along each outer axis, in bytes.
    pub outer_strides: AxisStrides,
    /// The stride along the tile axis, in bytes.
    pub step_stride: isize,
    /// The memory layout of a tile.
    pub layout: TileLayout,
    /// The memory layout of a step, if steps are rows.
    pub row: Option<RowForm>,
}

impl OperandWalk {
    /// The stride in bytes of the innermost run of a tile.
    pub fn inner_stride(&self, element_size: usize) -> isize {
        match &self.layout {
            TileLayout::Dense => element_size as isize,
            TileLayout::Scalar => 0,
            TileLayout::Strided(runs) => runs.last().map_or(0, |run| run.stride),
        }
    }
}

/// The walk of a nest. Operands are the targets of the stores, then the accesses.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The sizes of the axes outside the tiles, outermost first.
    pub outer_sizes: SmallVec<[usize; 4]>,
    /// The size of the tile axis, which is cut into tiles.
    pub tile_axis: usize,
    /// Steps along the tile axis in one tile; the last tile may have fewer.
    pub tile_steps: usize,
    /// Tiles along the tile axis.
    pub tiles_along_axis: usize,
    /// Elements in one step.
    pub step_elements: usize,
    /// The walk of each operand.
    pub operands: Vec<OperandWalk>,
}

impl Walk {
    /// The walk over these axes, with strides in bytes and operands of `element_sizes` bytes an element. A
    /// tile has at most `block` elements. If the innermost axis forms rows within `limits`, a step of a tile
    /// is one row.
    pub fn new(
        axes: &CoalescedAxes,
        element_sizes: &[usize],
        block: usize,
        limits: Option<RowLimits>,
    ) -> Walk {
        let rank = axes.sizes.len();
        let has_rows = limits.is_some_and(|limits| has_rows(axes, element_sizes, limits));
        let mut inner_from = rank;
        let mut step_elements = 1;
        while inner_from > 0 && axes.sizes[inner_from - 1] * step_elements <= block {
            if has_rows && inner_from < rank {
                break;
            }
            inner_from -= 1;
            step_elements *= axes.sizes[inner_from];
        }
        let has_rows = has_rows && inner_from < rank;
        let tile_axis = if inner_from == 0 { 1 } else { axes.sizes[inner_from - 1] };
        let outer_rank = inner_from.saturating_sub(1);
        let operand = |operand: usize| {
            let mut walk =
                operand_walk(axes, operand, element_sizes[operand], inner_from, has_rows);
            if has_rows && walk.row.is_none() {
                walk.row = Some(RowForm::Repeated);
            }
            walk
        };
        let operands = (0..axes.operands()).map(operand).collect();
        let tile_steps = balanced_steps(tile_axis, block / step_elements);
        Walk {
            outer_sizes: SmallVec::from_slice(&axes.sizes[..outer_rank]),
            tile_axis,
            tile_steps,
            tiles_along_axis: tile_axis.div_ceil(tile_steps),
            step_elements,
            operands,
        }
    }

    /// Counts the memory of this structure.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.outer_sizes);
        memory_use.add_allocation::<OperandWalk>(self.operands.capacity());
        for operand in &self.operands {
            memory_use.add_small_vec(&operand.outer_strides);
            if let TileLayout::Strided(runs) = &operand.layout {
                memory_use.add_small_vec(runs);
            }
        }
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        self.outer_sizes.iter().product::<usize>() * self.tiles_along_axis
    }
}

/// Steps of a tile along an axis of `axis` elements, at most `max`. The steps are spread evenly, so that the
/// last tile is not much shorter than the others.
pub fn balanced_steps(axis: usize, max: usize) -> usize {
    axis.div_ceil(axis.div_ceil(max))
}

/// Limits on the number of elements of a row.
#[derive(Debug, Clone, Copy)]
pub struct RowLimits {
    /// Minimum elements of a row.
    pub min_elements: usize,
    /// Maximum elements of a row that is gathered for all rows; 0 if none is.
    pub max_repeated_elements: usize,
}

/// Whether the steps of a tile are rows along the innermost axis: the axis has at least the minimum of
/// elements (and `MIN_REPEATED_ROW` elements, except in the cases named there), and each operand is dense
/// or constant along it, or is the same for all rows.
pub fn has_rows(axes: &CoalescedAxes, element_sizes: &[usize], limits: RowLimits) -> bool {
    let Some(&length) = axes.sizes.last() else { return false };
    let RowLimits { min_elements, max_repeated_elements } = limits;
    let is_row = |(strides, &size): (&[isize], &usize)| {
        length <= max_repeated_elements && is_repeated(strides)
            || strides.last().is_some_and(|&stride| stride == 0 || stride == size as isize)
    };
    let changes = |strides: &[isize]| match *strides {
        [.., before, last] => before != 0 && before != last * length as isize,
        _ => false,
    };
    // The widest accumulator has twice the elements of the narrowest, which has `min_elements`.
    let is_whole = length.is_multiple_of(2 * min_elements);
    let min_elements = match is_whole || axes.all_strides().any(changes) {
        true => min_elements,
        false if min_elements == 1 => min_elements,
        false => min_elements.max(MIN_REPEATED_ROW),
    };
    length >= min_elements && axes.all_strides().zip(element_sizes).all(is_row)
}

/// Whether an operand with these strides has one row for all steps along the axis around it.
fn is_repeated(strides: &[isize]) -> bool {
    matches!(strides, [.., 0, _])
}

/// Splits the innermost axis of `axes` into shorter rows of at most `max` elements. The number of rows
/// becomes the outermost axis, so an operand that has one row for all rows has one shorter row for all rows.
/// `None` if no number of equal rows suits, or if the axis is short enough.
pub fn with_split_rows(axes: &CoalescedAxes, max: usize) -> Option<CoalescedAxes> {
    let (&length, outer) = axes.sizes.split_last().filter(|(_, outer)| !outer.is_empty())?;
    if length <= max {
        return None;
    }
    let first = length.div_ceil(max);
    let count = (first..=2 * first).find(|&count| length.is_multiple_of(count))?;
    let row = length / count;
    let mut cut = CoalescedAxes::new(SmallVec::new(), axes.offsets.clone());
    cut.sizes.push(count);
    cut.sizes.extend_from_slice(outer);
    cut.sizes.push(row);
    for strides in axes.all_strides() {
        let inner = strides[outer.len()];
        cut.strides.push(inner.wrapping_mul(row as isize));
        cut.strides.extend_from_slice(strides);
    }
    Some(cut)
}

/// The walk of one operand; a tile covers the axes from `inner_from` on completely.
fn operand_walk(
    axes: &CoalescedAxes,
    operand: usize,
    element_size: usize,
    inner_from: usize,
    has_rows: bool,
) -> OperandWalk {
    let strides = axes.strides_of(operand);
    let row_form = match strides.last() {
        Some(0) => Some(RowForm::Scalar),
        Some(&stride) => (stride == element_size as isize).then_some(RowForm::Dense),
        None => None,
    };
    let step_stride = if inner_from == 0 { 0 } else { strides[inner_from - 1] };
    let mut runs: SmallVec<[ElementRun; 2]> = SmallVec::new();
    runs.push(ElementRun { count: 1, stride: step_stride });
    for (&count, &stride) in axes.sizes.iter().zip(strides).skip(inner_from) {
        let run = ElementRun { count, stride };
        merge_run(&mut runs, run, inner_from == 0);
    }
    let is_single = runs.iter().all(|run| run.count == 1) && inner_from == 0;
    let is_dense = is_single
        || matches!(runs[..], [ElementRun { stride, .. }] if stride == element_size as isize);
    OperandWalk {
        offset: axes.offsets[operand],
        outer_strides: SmallVec::from_slice(&strides[..inner_from.saturating_sub(1)]),
        step_stride,
        layout: match runs[..] {
            _ if is_dense => TileLayout::Dense,
            [ElementRun { stride: 0, .. }] => TileLayout::Scalar,
            _ => TileLayout::Strided(runs),
        },
        row: row_form.filter(|_| has_rows),
    }
}

/// Adds a run inside the last run, and merges the two if the stride of the last run is the extent of the
/// new run. The first run stands for the steps of a tile, whose number is known later. If every tile is a
/// single step (`is_single_step`), the stride of the first run is irrelevant and the new run replaces it.
fn merge_run(merged: &mut SmallVec<[ElementRun; 2]>, run: ElementRun, is_single_step: bool) {
    match merged.last_mut() {
        Some(last) if is_single_step && last.count == 1 => *last = run,
        Some(last) if run.stride.checked_mul(run.count as isize) == Some(last.stride) => {
            *last = ElementRun { count: last.count * run.count, stride: run.stride };
        }
        _ => merged.push(run),
    }
}
