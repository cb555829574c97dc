//! Walks of nests with a reduced axis.
//!
//! The kept axes are coalesced among themselves. The reduced axis is never merged and never reversed,
//! because the order along it matters. A *unit* is reduced as a whole: adjacent columns along the innermost
//! kept axis, over the whole reduced axis. Its tiles are consecutive ranges of steps along the reduced axis.
//! If rows are short, a tile is several rows, and each row is a unit. Few long units are cut into *pieces*,
//! which are nodes of the summation tree.
//!
//! - `direct.rs`: in-place reductions of dense operands, without a walk;
//! - `regions.rs`: regions of a nest whose tiles are walked: units of columns, or tiles of rows.

mod direct;
mod regions;

use core::ops::Range;

use indim_ops::meaning::reduction::{BLOCK, LANES};

use super::{MAX_UNGATHERED_ROWS, even_steps};
use crate::strides::coalesce::{CoalescedAxes, coalesce_some};
use crate::strides::{AxisStrides, zero_strides};
pub use direct::{DirectColumns, DirectRows, Unit};
pub use regions::{NestRegion, UnitForm, split_pieces};

/// The axes of a nest with a reduced one. Operands are the targets of the stores, then the accesses.
#[derive(Debug)]
pub struct ReducedAxes {
    /// The kept axes, in the order of the main operand's memory; of the results', if it lacks one of them.
    pub kept: CoalescedAxes,
    /// For each operand the stride along the reduced axis, in bytes.
    pub along: AxisStrides,
    /// The elements along it.
    pub length: usize,
    /// The operand whose memory says in which direction to walk.
    pub main: usize,
}

impl ReducedAxes {
    /// Those of a nest with axes of these sizes and operands of these strides, in bytes, walked as the memory
    /// of `main` says; `None` if there is nothing to write.
    pub fn new(
        sizes: &[usize],
        reduced: usize,
        strides: &[AxisStrides],
        main: usize,
    ) -> Option<ReducedAxes> {
        let axes = (0..sizes.len()).filter(|&axis| axis != reduced);
        // An operand that does not move on some axis gives no order there; then the results do.
        let is_moved = |axis: usize| sizes[axis] == 1 || strides[main][axis] != 0;
        let leading = if axes.clone().all(is_moved) { main } else { 0 };
        let kept = coalesce_some(leading, axes, sizes, strides)?;
        let mut along = zero_strides(strides.len());
        along.iter_mut().zip(strides).for_each(|(along, strides)| *along = strides[reduced]);
        Some(ReducedAxes { kept, along, length: sizes[reduced], main })
    }
}

/// The operands and axes of a nest with a reduced axis.
#[derive(Debug)]
pub struct ReductionNest<'a> {
    /// Its axes.
    pub axes: &'a ReducedAxes,
    /// For each operand the bytes of an element.
    pub element_sizes: &'a [usize],
    /// The number of operands that are targets.
    pub targets: usize,
    /// The most elements of a tile that passes through registers.
    pub block: usize,
    /// The fewest elements of a row that is read where it lies, if any are.
    pub minimum_row: Option<usize>,
    /// Whether nothing is computed, so that what lies dense is read where it is.
    pub is_direct: bool,
    /// Whether a function folds what it computes, from where it lies dense or stays put.
    pub folds: bool,
    /// Whether kernels for whole rows exist.
    pub has_row_kernels: bool,
    /// Whether wide columns have lanes; else values are taken in turn.
    pub has_lanes: bool,
}

/// The walk of a nest with a reduced axis.
#[derive(Debug)]
pub enum ReductionWalk {
    /// All it does is to reduce rows that are read where they lie.
    Rows(DirectRows),
    /// In-place columns.
    Columns(DirectColumns),
    /// Anything else.
    Regions(Vec<NestRegion>),
}

/// Units are cut until there are about so many pieces, which threads share; never more. That depends on
/// sizes alone, but not for the sake of the bits: any cut gives the same.
pub const MAX_PIECES: usize = 64;

/// The fewest elements of a piece.
pub const MIN_PIECE_ELEMENTS: usize = 16 * BLOCK;

/// The steps of a piece of one of so many units with so many columns: a node of the tree.
fn piece_steps(length: usize, units: usize, columns: usize) -> usize {
    let pieces = (MAX_PIECES / units.max(1)).max(1);
    length.div_ceil(pieces).max(MIN_PIECE_ELEMENTS.div_ceil(columns)).max(BLOCK).next_power_of_two()
}

/// The most nodes that wait for others, along an axis of so many elements.
pub fn max_nodes(length: usize) -> usize {
    length.div_ceil(BLOCK).checked_ilog2().map_or(1, |log| log as usize + 2)
}

/// An axis of at most so many elements is short: columns are gathered rather than rows folded.
const MAX_SHORT_AXIS: usize = 8;

/// Rows along a short axis that are read where they lie are folded all the same if they have so many
/// elements, if they lie one after another, or if they are so few that gathering takes longer to begin with.
const MIN_DIRECT_ROW_ELEMENTS: usize = 5;
const MAX_SHORT_ROWS: usize = 256;

/// The most elements of a tile of rows that are read where they are, and the most rows.
const MAX_DIRECT_ROW_ELEMENTS: usize = 64 * BLOCK;
const MAX_DIRECT_ROWS: usize = 1024;

/// Rows that are folded as they are computed: how many elements they have at most where several are a tile,
/// the elements of such a tile, and its rows.
const MAX_FOLDED_ROW_ELEMENTS: usize = 8 * BLOCK;
const MAX_FOLDED_TILE_ELEMENTS: usize = 32 * BLOCK;
const MAX_FOLDED_ROWS: usize = 128;
/// The fewest elements of such a row.
const MIN_FOLDED_ROW_ELEMENTS: usize = 2 * LANES;

/// So many columns are taken together at most where they are gathered or computed.
const MAX_UNIT_COLUMNS: usize = 256;
/// So many columns are taken together at most.
pub const MAX_DIRECT_COLUMNS: usize = 512;

/// Units begin a multiple of so many columns apart: cache lines of most element types.
const COLUMN_ALIGNMENT: usize = 16;

/// Like [`MAX_UNIT_COLUMNS`], where every step goes into another lane: pages are read in long pieces, and all lanes
/// stay in the second cache.
const MAX_LANE_COLUMNS: usize = 512;

/// Along an axis that cannot be cut there are so many units at least, of so many columns, where threads may
/// share them: there are so many elements.
const MIN_UNITS: usize = 4;
const MIN_UNIT_COLUMNS: usize = 64;
const MIN_SHARED_ELEMENTS: usize = 16 * 1024;

/// The steps of a tile that is read where it is; a multiple of the elements of a block of the tree.
pub const MAX_DIRECT_STEPS: usize = 16 * BLOCK;

/// The most steps of any other tile.
const MAX_TILE_STEPS: usize = 512;

impl ReductionNest<'_> {
    /// The walk of the nest.
    pub fn walk(&self) -> ReductionWalk {
        if self.are_tiles_of_rows() {
            if let Some(rows) = self.direct_rows() {
                return ReductionWalk::Rows(rows);
            }
        } else {
            let columns = self.unit_columns();
            if self.are_direct(|operand| self.innermost(columns, operand)) {
                return ReductionWalk::Columns(DirectColumns::new(self.axes, columns));
            }
        }
        ReductionWalk::Regions(self.regions())
    }

    /// The parts of the nest, whether or not it is read where it lies.
    pub fn regions(&self) -> Vec<NestRegion> {
        if self.are_tiles_of_rows() {
            return vec![self.rows()];
        }
        let kept = &self.axes.kept;
        let inner = kept.sizes.last().copied().unwrap_or(1);
        let columns = self.unit_columns();
        let whole = inner / columns * columns;
        let mut parts = vec![self.columns(columns, 0..whole)];
        if whole < inner {
            parts.push(self.columns(inner - whole, whole..inner));
        }
        parts
    }

    /// Whether units are rows; a tile then has several.
    fn are_tiles_of_rows(&self) -> bool {
        self.are_rows() && self.has_row_kernels && self.axes.length <= self.max_row_elements()
    }

    /// Whether units are rows, and not columns side by side.
    fn are_rows(&self) -> bool {
        let column = self.across(self.axes.main).unsigned_abs();
        let is_by_columns = column != 0 && column < self.along(self.axes.main).unsigned_abs();
        !is_by_columns
            && (self.axes.length > MAX_SHORT_AXIS || self.is_one_tile() || self.are_read_as_rows())
    }

    /// The columns that are taken together.
    fn unit_columns(&self) -> usize {
        if self.are_rows() {
            return 1;
        }
        let ReducedAxes { kept, length, .. } = self.axes;
        let inner = kept.sizes.last().copied().unwrap_or(1);
        let outer: usize = kept.sizes.iter().rev().skip(1).product();
        let is_direct = self.are_direct(|operand| self.across(operand));
        let most = match (is_direct, self.has_lanes) {
            (true, _) => MAX_DIRECT_COLUMNS,
            (false, true) => MAX_LANE_COLUMNS.min(self.block),
            (false, false) => MAX_UNIT_COLUMNS.min(self.block),
        };
        let shared = (inner * outer).div_ceil(MIN_UNITS).next_multiple_of(MIN_UNIT_COLUMNS);
        let is_shared =
            *length <= BLOCK && (inner * outer).saturating_mul(*length) >= MIN_SHARED_ELEMENTS;
        let most = if is_shared { most.min(shared) } else { most };
        // Units differ little, so that no small one is left over.
        even_steps(inner, most).next_multiple_of(COLUMN_ALIGNMENT).min(most).min(inner)
    }

    /// The stride within a step of so many columns.
    fn innermost(&self, columns: usize, operand: usize) -> isize {
        match columns {
            1 => self.along(operand),
            _ => self.across(operand),
        }
    }

    /// The rows of a tile that are read where they lie, where a function folds them if it `folds`.
    fn rows_of_a_tile(&self, folds: bool) -> usize {
        let length = self.axes.length;
        match folds {
            true => (MAX_FOLDED_TILE_ELEMENTS / length).clamp(1, MAX_FOLDED_ROWS),
            false => (MAX_DIRECT_ROW_ELEMENTS / length).min(MAX_DIRECT_ROWS),
        }
    }

    fn accesses(&self) -> Range<usize> {
        self.targets..self.axes.along.len()
    }

    /// Whether values are read where they are: nothing is computed before they are folded, and all lie dense
    /// at these strides; of those that a function folds some may stay put.
    fn are_direct(&self, stride: impl Fn(usize) -> isize) -> bool {
        let is_direct = |operand| match stride(operand) {
            0 => self.folds,
            stride => stride == self.element_sizes[operand] as isize,
        };
        (self.is_direct || self.folds) && self.accesses().all(is_direct)
    }

    /// Whether all rows are one tile, which kernels fold.
    fn is_one_tile(&self) -> bool {
        let ReducedAxes { kept, length, .. } = self.axes;
        let elements = kept.sizes.iter().fold(*length, |all, &size| all.saturating_mul(size));
        elements <= self.block && self.has_row_kernels
    }

    /// Whether a function goes through so many rows one by one, however short they are: gathering what
    /// changes from row to row would take longer.
    fn goes_by_rows(&self, rows: usize) -> bool {
        let is_row = |operand| {
            let along = self.along(operand);
            along == 0 || along == self.element_sizes[operand] as isize
        };
        rows <= MAX_UNGATHERED_ROWS && self.minimum_row.is_some() && self.accesses().all(is_row)
    }

    /// Whether kernels fold rows along a short axis where they lie.
    fn are_read_as_rows(&self) -> bool {
        let length = self.axes.length;
        let bytes = |operand: usize| (length * self.element_sizes[operand]) as isize;
        let pays = length >= MIN_DIRECT_ROW_ELEMENTS
            || self.accesses().all(|operand| self.across(operand) == bytes(operand))
            || self.axes.kept.sizes.iter().product::<usize>() <= MAX_SHORT_ROWS;
        let is_direct = !self.folds && self.are_direct(|operand| self.along(operand));
        pays && is_direct && self.has_row_kernels
    }

    /// Whether rows are folded as they are computed. Those that have fewer elements, or whose last ones fill
    /// only some lanes, are done faster one step after the other.
    fn folds_rows(&self) -> bool {
        let length = self.axes.length;
        self.folds
            && length
                >= if length.is_multiple_of(LANES) { MIN_FOLDED_ROW_ELEMENTS } else { BLOCK / 2 }
    }

    /// The most elements of a row that goes with others into a tile.
    fn max_row_elements(&self) -> usize {
        match self.are_direct(|operand| self.along(operand)) {
            true if self.folds => MAX_FOLDED_ROW_ELEMENTS,
            true => MAX_DIRECT_ROW_ELEMENTS,
            false => self.block,
        }
    }

    /// The stride along the reduced axis.
    fn along(&self, operand: usize) -> isize {
        self.axes.along[operand]
    }

    /// The stride along the innermost kept axis.
    fn across(&self, operand: usize) -> isize {
        last(&self.axes.kept, operand)
    }
}

/// The stride along the innermost axis; 0 without axes.
fn last(axes: &CoalescedAxes, operand: usize) -> isize {
    axes.strides_of(operand).last().copied().unwrap_or(0)
}

/// The largest power of two that is not above `number`, which is not 0.
fn power_below(number: usize) -> usize {
    1 << number.ilog2()
}
