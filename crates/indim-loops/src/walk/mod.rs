//! Walks: how a loop nest goes through memory, once the strides of its arrays are known.
//!
//! The coalesced axes are cut into tiles of at most one block. A tile covers the innermost axes
//! whole, as many as fit, and a number of steps along the next one: a long row is cut into pieces,
//! and of short rows (three colours, four columns) many are taken together. So no loop runs over
//! three elements, and an operand that does not move with the tiles is brought into a block once.
//!
//! An executor may go through a tile row by row. Then rows are not joined further, and an operand that
//! differs from row to row (a column, a row out of a wider array) is used where it is.
//!
//! `position.rs` goes from tile to tile, `runs.rs` through the runs of one; `reduction.rs` is for nests with a
//! reduced axis.

pub mod position;
pub mod reduction;
pub mod runs;

use runs::Run;
use smallvec::SmallVec;

use crate::memory_use::MemoryUse;
use crate::strides::AxisStrides;
use crate::strides::coalesce::CoalescedAxes;

/// Shorter rows than this are only worth it if some operand changes with the row, or if they are whole
/// accumulators; otherwise it is cheaper to repeat a row in a block, once for all tiles.
const MIN_REPEATED_ROW: usize = 512;

/// So few rows are gone through one by one, however short they are: gathering them would take longer.
pub const MAX_UNGATHERED_ROWS: usize = 16;

/// The memory layout of the elements of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileLayout {
    /// One after another: the tile is used where it is.
    Dense,
    /// One element for the whole tile.
    Single,
    /// Runs within runs, outermost first; the count of the first is per step of the tile.
    Strided(SmallVec<[Run; 2]>),
}

/// The memory layout of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// Element after element.
    Dense,
    /// One element for the whole row.
    Single,
}

/// The walk of one operand.
#[derive(Debug, Clone)]
pub struct OperandWalk {
    /// From the array's first element to the nest's first point, in bytes.
    pub offset: isize,
    /// The stride along each outer axis, in bytes.
    pub outer_strides: AxisStrides,
    /// The stride of one step of the tile axis, in bytes.
    pub step_stride: isize,
    /// The memory layout of a tile.
    pub layout: TileLayout,
    /// The memory layout of a step, if steps are rows.
    pub row: Option<RowForm>,
}

impl OperandWalk {
    /// From one element to the next of the innermost run of a tile, in bytes.
    pub fn inner_stride(&self, element_size: usize) -> isize {
        match &self.layout {
            TileLayout::Dense => element_size as isize,
            TileLayout::Single => 0,
            TileLayout::Strided(runs) => runs.last().map_or(0, |run| run.stride),
        }
    }
}

/// The walk of a nest over its operands: the stores first, then the accesses.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The sizes of the axes outside the tiles, outermost first.
    pub outer_sizes: SmallVec<[usize; 4]>,
    /// The size of the axis that is cut into tiles.
    pub tile_axis: usize,
    /// Steps along that axis in one tile; the last tile of an axis may have fewer.
    pub tile_steps: usize,
    /// Tiles along that axis.
    pub tiles_along_axis: usize,
    /// Elements in one step.
    pub step_elements: usize,
    /// The walk of each operand.
    pub operands: Vec<OperandWalk>,
}

impl Walk {
    /// The walk over these axes; operands have elements of `element_sizes` bytes, and strides are in
    /// bytes. A tile has at most `block` elements; where all operands are used as they are, an inner
    /// axis of at least `minimum_row` elements is a row, any if that is 1.
    pub fn new(
        axes: &CoalescedAxes,
        element_sizes: &[usize],
        block: usize,
        minimum_row: Option<usize>,
    ) -> Walk {
        let rank = axes.sizes.len();
        let has_rows = minimum_row.is_some_and(|minimum| has_rows(axes, element_sizes, minimum));
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
            operand_walk(axes, operand, element_sizes[operand], inner_from, has_rows)
        };
        let operands = (0..axes.operands()).map(operand).collect();
        let tile_steps = even_steps(tile_axis, block / step_elements);
        Walk {
            outer_sizes: SmallVec::from_slice(&axes.sizes[..outer_rank]),
            tile_axis,
            tile_steps,
            tiles_along_axis: tile_axis.div_ceil(tile_steps),
            step_elements,
            operands,
        }
    }

    /// Counts the memory that the walk holds.
    pub fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.outer_sizes);
        held.own::<OperandWalk>(self.operands.capacity());
        for operand in &self.operands {
            held.small(&operand.outer_strides);
            if let TileLayout::Strided(runs) = &operand.layout {
                held.small(runs);
            }
        }
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        self.outer_sizes.iter().product::<usize>() * self.tiles_along_axis
    }
}

/// The steps of a tile along an axis, at most so many. Tiles differ little in length, so that no short one is
/// left over.
pub fn even_steps(axis: usize, most: usize) -> usize {
    axis.div_ceil(axis.div_ceil(most))
}

/// Whether the innermost axis is a row: long enough, of at least `minimum` elements as in [`Walk::new`], and
/// dense or a single element everywhere.
pub fn has_rows(axes: &CoalescedAxes, element_sizes: &[usize], minimum: usize) -> bool {
    let Some(&length) = axes.sizes.last() else { return false };
    let is_row = |(strides, &size): (&[isize], &usize)| {
        strides.last().is_some_and(|&stride| stride == 0 || stride == size as isize)
    };
    let changes = |strides: &[isize]| match *strides {
        [.., before, last] => before != 0 && before != last * length as isize,
        _ => false,
    };
    // The widest accumulator is two of the narrowest, which fill the minimum.
    let is_whole = length.is_multiple_of(2 * minimum);
    let minimum = match is_whole || axes.all_strides().any(changes) {
        true => minimum,
        false if minimum == 1 => minimum,
        false => minimum.max(MIN_REPEATED_ROW),
    };
    length >= minimum && axes.all_strides().zip(element_sizes).all(is_row)
}

fn operand_walk(
    axes: &CoalescedAxes,
    operand: usize,
    element_size: usize,
    inner_from: usize,
    has_rows: bool,
) -> OperandWalk {
    let strides = axes.strides_of(operand);
    let row_form = match strides.last() {
        Some(0) => Some(RowForm::Single),
        Some(&stride) => (stride == element_size as isize).then_some(RowForm::Dense),
        None => None,
    };
    let step_stride = if inner_from == 0 { 0 } else { strides[inner_from - 1] };
    let mut runs: SmallVec<[Run; 2]> = SmallVec::new();
    runs.push(Run { count: 1, stride: step_stride });
    for (&count, &stride) in axes.sizes.iter().zip(strides).skip(inner_from) {
        let run = Run { count, stride };
        merge_run(&mut runs, run, inner_from == 0);
    }
    let is_single = runs.iter().all(|run| run.count == 1) && inner_from == 0;
    let is_dense =
        is_single || matches!(runs[..], [Run { stride, .. }] if stride == element_size as isize);
    OperandWalk {
        offset: axes.offsets[operand],
        outer_strides: SmallVec::from_slice(&strides[..inner_from.saturating_sub(1)]),
        step_stride,
        layout: match runs[..] {
            _ if is_dense => TileLayout::Dense,
            [Run { stride: 0, .. }] => TileLayout::Single,
            _ => TileLayout::Strided(runs),
        },
        row: row_form.filter(|_| has_rows),
    }
}

/// Adds a run, which is merged with the last one if it continues that. The first stands for a number of steps
/// known later; a single step (`is_single_step`) has no stride of its own and merges with anything.
fn merge_run(merged: &mut SmallVec<[Run; 2]>, run: Run, is_single_step: bool) {
    match merged.last_mut() {
        Some(last) if is_single_step && last.count == 1 => *last = run,
        Some(last) if run.stride.checked_mul(run.count as isize) == Some(last.stride) => {
            *last = Run { count: last.count * run.count, stride: run.stride };
        }
        _ => merged.push(run),
    }
}
