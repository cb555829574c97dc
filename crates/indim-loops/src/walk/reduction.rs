//! Walks of nests with a reduced axis.
//!
//! Kept axes are those that are not reduced; they are coalesced. The reduced axis is never merged and
//! never reversed, because its order determines the bits. A *column* is all elements along the reduced
//! axis at one point of the kept axes; it is a *row* if the reduced axis is the innermost in memory. A
//! *unit* is reduced as a whole: adjacent columns along the innermost kept axis. Its tiles are
//! consecutive ranges of steps along the reduced axis. Short rows share a tile, and each row is a unit.
//! Few long units are cut into *segments*, which are nodes of the summation tree.
//!
//! - `direct.rs`: in-place reductions of dense operands, without a walk;
//! - `partitions.rs`: partitions of a nest whose tiles are walked: units of columns, or tiles of rows;
//! - `joined.rs`: units and tiles along several kept axes.

mod direct;
mod joined;
mod partitions;

use core::ops::Range;

use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};

use super::{MAX_UNGATHERED_ROWS, balanced_steps};
use crate::strides::coalesce::{CoalescedAxes, coalesce_some};
use crate::strides::{AxisStrides, zero_strides};
pub use direct::{DirectColumns, DirectRows, Unit};
pub use partitions::{NestPartition, UnitForm, split_segments};

/// The axes of a nest with a reduced axis. Operands are the targets of the stores, then the accesses.
#[derive(Debug)]
pub struct ReducedAxes {
    /// The kept axes, in the memory order of the main operand; of the first result, if the main operand is
    /// constant along one of them.
    pub kept: CoalescedAxes,
    /// The stride of each operand along the reduced axis, in bytes.
    pub reduced_strides: AxisStrides,
    /// The size of the reduced axis.
    pub length: usize,
    /// The operand whose memory order decides whether units are rows or columns.
    pub main: usize,
}

impl ReducedAxes {
    /// The axes of a nest with these `sizes` and `strides` in bytes, where `main` is the main operand; `None`
    /// for an empty result.
    pub fn new(
        sizes: &[usize],
        reduced: usize,
        strides: &[AxisStrides],
        main: usize,
    ) -> Option<ReducedAxes> {
        let axes = (0..sizes.len()).filter(|&axis| axis != reduced);
        // An operand that is constant along an axis does not order it; the first result does.
        let is_moved = |axis: usize| sizes[axis] == 1 || strides[main][axis] != 0;
        let leading = if axes.clone().all(is_moved) { main } else { 0 };
        let kept = coalesce_some(leading, axes, sizes, strides)?;
        let mut reduced_strides = zero_strides(strides.len());
        for (stride, strides) in reduced_strides.iter_mut().zip(strides) {
            *stride = strides[reduced];
        }
        Some(ReducedAxes { kept, reduced_strides, length: sizes[reduced], main })
    }
}

/// The description of a nest with a reduced axis, for which this module chooses a walk.
#[derive(Debug)]
pub struct ReductionNest<'a> {
    /// Its axes.
    pub axes: &'a ReducedAxes,
    /// The element size of each operand in bytes.
    pub element_sizes: &'a [usize],
    /// The number of operands that are targets of stores.
    pub targets: usize,
    /// Maximum elements of a tile that passes through blocks.
    pub block: usize,
    /// Minimum elements of a row that is read in place; `None` if rows are never read in place.
    pub minimum_row: Option<usize>,
    /// Whether the nest has no instructions, so that dense operands are reduced in place.
    pub is_direct: bool,
    /// Whether machine code both computes and reduces the values, from operands that are dense or constant.
    pub folds: bool,
    /// Whether kernels that reduce whole rows exist.
    pub has_row_kernels: bool,
    /// Whether wide columns use the lanes of the reduction; otherwise values are combined one after another.
    pub has_lanes: bool,
    /// Whether a unit or tile may cover several kept axes.
    pub joins_axes: bool,
}

/// The walk of a nest with a reduced axis.
#[derive(Debug)]
pub enum ReductionWalk {
    /// In-place rows.
    Rows(DirectRows),
    /// In-place columns.
    Columns(DirectColumns),
    /// Partitions with a walk each.
    Partitions(Vec<NestPartition>),
}

/// Maximum number of segments: units are cut until threads have about this many to share. The number depends
/// only on sizes, although every cut gives the same bits.
pub const MAX_SEGMENTS: usize = 64;

/// Minimum elements of a segment.
pub const MIN_SEGMENT_ELEMENTS: usize = 16 * REDUCTION_BLOCK;

/// Steps of a segment, which is a node of the summation tree, for `units` units of `columns` columns each.
fn segment_steps(length: usize, units: usize, columns: usize) -> usize {
    let segments = (MAX_SEGMENTS / units.max(1)).max(1);
    length
        .div_ceil(segments)
        .max(MIN_SEGMENT_ELEMENTS.div_ceil(columns))
        .max(REDUCTION_BLOCK)
        .next_power_of_two()
}

/// Maximum number of pending nodes of the summation tree along an axis of `length` elements.
pub fn max_nodes(length: usize) -> usize {
    length.div_ceil(REDUCTION_BLOCK).checked_ilog2().map_or(1, |log| log as usize + 2)
}

/// Maximum elements of a short reduced axis: columns are gathered instead of reducing rows.
const MAX_SHORT_AXIS: usize = 8;

/// Minimum elements of short in-place rows that are reduced as rows, although they are neither contiguous
/// with each other nor few.
const MIN_DIRECT_ROW_ELEMENTS: usize = 5;
/// Maximum number of short in-place rows that are reduced as rows at any length, because the start-up of a
/// gather takes longer.
const MAX_SHORT_ROWS: usize = 256;

/// Maximum elements of a tile of in-place rows, and so of one such row.
const MAX_DIRECT_ROW_ELEMENTS: usize = 64 * REDUCTION_BLOCK;
/// Maximum number of in-place rows in a tile.
const MAX_DIRECT_ROWS: usize = 1024;

/// Maximum elements of a row that shares a tile with others, if machine code computes and reduces it.
const MAX_FOLDED_ROW_ELEMENTS: usize = 8 * REDUCTION_BLOCK;
/// Maximum elements of a tile of rows that machine code computes and reduces.
const MAX_FOLDED_TILE_ELEMENTS: usize = 32 * REDUCTION_BLOCK;
/// Maximum number of rows in a tile that machine code computes and reduces.
const MAX_FOLDED_ROWS: usize = 128;
/// Minimum elements of a row that machine code computes and reduces in one pass.
const MIN_FOLDED_ROW_ELEMENTS: usize = 2 * REDUCTION_LANES;

/// Maximum columns of a unit that is gathered or computed.
const MAX_UNIT_COLUMNS: usize = 256;
/// Maximum columns of a unit that is read in place.
pub const MAX_DIRECT_COLUMNS: usize = 512;

/// The number of columns of a unit is a multiple of this, unless the axis is shorter: 16 elements of 4 or
/// 8 bytes fill whole cache lines.
const COLUMN_ALIGNMENT: usize = 16;

/// Maximum columns of a unit that is gathered or computed and uses lanes: memory pages are read in long
/// contiguous stretches, and all lanes fit L2.
const MAX_LANE_COLUMNS: usize = 512;

/// Minimum number of units, so that threads can share them, if the reduced axis is too short to cut.
const MIN_UNITS: usize = 4;
/// Minimum columns of a unit that is made smaller, so that threads can share the units.
const MIN_UNIT_COLUMNS: usize = 64;
/// Minimum elements of a nest whose units are made for threads to share.
const MIN_SHARED_ELEMENTS: usize = 16 * 1024;

/// Maximum steps of a tile that is read in place; a multiple of [`REDUCTION_BLOCK`], so that tiles are nodes
/// of the summation tree.
pub const MAX_DIRECT_STEPS: usize = 16 * REDUCTION_BLOCK;

/// Maximum steps of any other tile.
const MAX_TILE_STEPS: usize = 512;

impl ReductionNest<'_> {
    /// Chooses the walk of the nest.
    pub fn walk(&self) -> ReductionWalk {
        if self.are_tiles_of_rows() {
            if let Some(rows) = self.direct_rows() {
                return ReductionWalk::Rows(rows);
            }
        } else if let Some(partitions) = self.joined_partitions() {
            return ReductionWalk::Partitions(partitions);
        } else {
            let columns = self.unit_columns();
            if self.are_direct(|operand| self.innermost(columns, operand)) {
                return ReductionWalk::Columns(DirectColumns::new(self.axes, columns));
            }
        }
        ReductionWalk::Partitions(match self.are_tiles_of_rows() {
            true => self.partitions(),
            false => self.unit_partitions(),
        })
    }

    /// The nest as partitions, even if it could be reduced in place.
    pub fn partitions(&self) -> Vec<NestPartition> {
        self.joined_partitions().unwrap_or_else(|| self.unit_partitions())
    }

    /// The partitions whose units or tiles cover the innermost kept axis alone.
    fn unit_partitions(&self) -> Vec<NestPartition> {
        if self.are_tiles_of_rows() {
            return vec![self.rows()];
        }
        let kept = &self.axes.kept;
        let inner = kept.sizes.last().copied().unwrap_or(1);
        let columns = self.unit_columns();
        let whole = inner / columns * columns;
        let mut partitions = vec![self.columns(columns, 0..whole)];
        if whole < inner {
            partitions.push(self.columns(inner - whole, whole..inner));
        }
        partitions
    }

    /// Whether units are rows that share tiles.
    fn are_tiles_of_rows(&self) -> bool {
        self.are_rows() && self.has_row_kernels && self.axes.length <= self.max_row_elements()
    }

    /// Whether units are rows rather than adjacent columns.
    fn are_rows(&self) -> bool {
        let column = self.kept_stride(self.axes.main).unsigned_abs();
        let is_by_columns =
            column != 0 && column < self.reduced_stride(self.axes.main).unsigned_abs();
        !is_by_columns
            && (self.axes.length > MAX_SHORT_AXIS || self.is_one_tile() || self.are_read_as_rows())
    }

    /// The number of columns of a unit; 1 if units are rows.
    fn unit_columns(&self) -> usize {
        if self.are_rows() {
            return 1;
        }
        let inner = self.axes.kept.sizes.last().copied().unwrap_or(1);
        let is_direct = self.are_direct(|operand| self.kept_stride(operand));
        let max_columns = self.max_unit_columns(is_direct);
        // Columns are spread evenly, so that the last unit is not much smaller than the others.
        balanced_steps(inner, max_columns)
            .next_multiple_of(COLUMN_ALIGNMENT)
            .min(max_columns)
            .min(inner)
    }

    /// The maximum number of columns of a unit, which is read in place if `is_direct`.
    fn max_unit_columns(&self, is_direct: bool) -> usize {
        let ReducedAxes { kept, length, .. } = self.axes;
        let max = match (is_direct, self.has_lanes) {
            (true, _) => MAX_DIRECT_COLUMNS,
            (false, true) => MAX_LANE_COLUMNS.min(self.block),
            (false, false) => MAX_UNIT_COLUMNS.min(self.block),
        };
        let columns: usize = kept.sizes.iter().product();
        let shared = columns.div_ceil(MIN_UNITS).next_multiple_of(MIN_UNIT_COLUMNS);
        let is_shared =
            *length <= REDUCTION_BLOCK && columns.saturating_mul(*length) >= MIN_SHARED_ELEMENTS;
        if is_shared { max.min(shared) } else { max }
    }

    /// The innermost stride of a unit of `columns` columns.
    fn innermost(&self, columns: usize, operand: usize) -> isize {
        match columns {
            1 => self.reduced_stride(operand),
            _ => self.kept_stride(operand),
        }
    }

    /// The number of in-place rows of a tile; `folds` if machine code computes and reduces them.
    fn rows_of_a_tile(&self, folds: bool) -> usize {
        let length = self.axes.length;
        match folds {
            true => (MAX_FOLDED_TILE_ELEMENTS / length).clamp(1, MAX_FOLDED_ROWS),
            false => (MAX_DIRECT_ROW_ELEMENTS / length).min(MAX_DIRECT_ROWS),
        }
    }

    fn accesses(&self) -> Range<usize> {
        self.targets..self.axes.reduced_strides.len()
    }

    /// Whether all values are read in place, if these are their innermost strides: no instruction precedes
    /// the reduction, and operands are dense. Machine code also accepts constant operands.
    fn are_direct(&self, stride: impl Fn(usize) -> isize) -> bool {
        let is_direct = |operand| match stride(operand) {
            0 => self.folds,
            stride => stride == self.element_sizes[operand] as isize,
        };
        (self.is_direct || self.folds) && self.accesses().all(is_direct)
    }

    /// Whether all rows fit in one tile, which kernels reduce.
    fn is_one_tile(&self) -> bool {
        let ReducedAxes { kept, length, .. } = self.axes;
        let elements = kept.sizes.iter().fold(*length, |all, &size| all.saturating_mul(size));
        elements <= self.block && self.has_row_kernels
    }

    /// Whether machine code processes `rows` rows one by one at any length, because gathering them takes
    /// longer.
    fn goes_by_rows(&self, rows: usize) -> bool {
        let is_row = |operand| {
            let stride = self.reduced_stride(operand);
            stride == 0 || stride == self.element_sizes[operand] as isize
        };
        rows <= MAX_UNGATHERED_ROWS && self.minimum_row.is_some() && self.accesses().all(is_row)
    }

    /// Whether kernels reduce rows along a short axis in place.
    fn are_read_as_rows(&self) -> bool {
        let length = self.axes.length;
        let bytes = |operand: usize| (length * self.element_sizes[operand]) as isize;
        let pays = length >= MIN_DIRECT_ROW_ELEMENTS
            || self.accesses().all(|operand| self.kept_stride(operand) == bytes(operand))
            || self.axes.kept.sizes.iter().product::<usize>() <= MAX_SHORT_ROWS;
        let is_direct = !self.folds && self.are_direct(|operand| self.reduced_stride(operand));
        pays && is_direct && self.has_row_kernels
    }

    /// Whether machine code computes and reduces rows in one pass. For very short rows, and short rows
    /// whose tail fills only some lanes, it is faster to compute first and to reduce in a second pass.
    fn folds_rows(&self) -> bool {
        let length = self.axes.length;
        self.folds
            && length
                >= if length.is_multiple_of(REDUCTION_LANES) {
                    MIN_FOLDED_ROW_ELEMENTS
                } else {
                    REDUCTION_BLOCK / 2
                }
    }

    /// Maximum elements of a row that shares a tile with others.
    fn max_row_elements(&self) -> usize {
        match self.are_direct(|operand| self.reduced_stride(operand)) {
            true if self.folds => MAX_FOLDED_ROW_ELEMENTS,
            true => MAX_DIRECT_ROW_ELEMENTS,
            false => self.block,
        }
    }

    /// The stride along the reduced axis.
    fn reduced_stride(&self, operand: usize) -> isize {
        self.axes.reduced_strides[operand]
    }

    /// The stride along the innermost kept axis.
    fn kept_stride(&self, operand: usize) -> isize {
        innermost_stride(&self.axes.kept, operand)
    }
}

/// The stride along the innermost axis; 0 without axes.
fn innermost_stride(axes: &CoalescedAxes, operand: usize) -> isize {
    axes.strides_of(operand).last().copied().unwrap_or(0)
}

/// The largest power of two that is at most `number`, which is not 0.
fn floor_power_of_two(number: usize) -> usize {
    1 << number.ilog2()
}
