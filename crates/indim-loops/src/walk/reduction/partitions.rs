//! Partitions of a nest with a reduced axis, each with its own walk: units of columns, or tiles of rows.
//!
//! `reduction.rs` defines column, row, unit, segment and kept axis. A *step* is one index along the tile axis
//! (`walk/mod.rs`).

use core::ops::Range;

use smallvec::SmallVec;

use super::{
    MAX_DIRECT_STEPS, MAX_FOLDED_ROWS, MAX_TILE_STEPS, ReducedAxes, ReductionNest,
    floor_power_of_two, segment_steps,
};
use crate::strides::AxisStrides;
use crate::strides::coalesce::CoalescedAxes;
use crate::walk::{MAX_UNGATHERED_ROWS, Walk, operand_walk};

/// A partition of a nest, in which all units have the same form.
#[derive(Debug, Clone)]
pub struct NestPartition {
    /// The walk of the partition through memory.
    pub walk: Walk,
    /// The form of its units.
    pub form: UnitForm,
    /// Whether all operands are read in place.
    pub is_direct: bool,
    /// The stride between the results of a tile for each target, in bytes.
    pub result_strides: AxisStrides,
    /// The first column of the partition along the innermost kept axis.
    pub columns_before: usize,
    /// Whether machine code both computes and reduces the values.
    pub folds: bool,
    /// The tiles of a segment along the tile axis; the last segment may have fewer.
    segment_tiles: usize,
}

/// The form of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitForm {
    /// This number of columns; the tiles of a unit follow one another along the reduced axis.
    Columns(usize),
    /// A row of this number of elements; a tile has several rows, and so may a step of a tile.
    Row(usize),
}

impl UnitForm {
    /// The elements from one step of the columns, or from one row, to the next, if the values are dense.
    pub fn dense_stride(self) -> usize {
        match self {
            UnitForm::Columns(columns) => columns,
            UnitForm::Row(length) => length,
        }
    }
}

impl NestPartition {
    /// The number of parts that are reduced independently: segments of units of columns, or tiles of rows,
    /// each one segment.
    pub fn segments(&self) -> usize {
        self.walk.outer_sizes.iter().product::<usize>() * self.segments_along_axis()
    }

    /// The number of segments along the tile axis.
    pub fn segments_along_axis(&self) -> usize {
        self.walk.tiles_along_axis.div_ceil(self.segment_tiles)
    }

    /// Whether units are cut, so that the results of their segments must be combined.
    pub fn is_cut(&self) -> bool {
        matches!(self.form, UnitForm::Columns(_)) && self.segments_along_axis() > 1
    }

    /// Whether units are rows, and at most [`MAX_UNGATHERED_ROWS`], which are processed one by one, however
    /// short.
    pub fn has_few_rows(&self) -> bool {
        let outer = self.walk.outer_sizes.iter().product::<usize>();
        let rows = outer.saturating_mul(self.results(self.walk.tile_axis));
        matches!(self.form, UnitForm::Row(_)) && rows <= MAX_UNGATHERED_ROWS
    }

    /// The number of results of a tile of `steps` steps: one for each column, however many steps there
    /// are, or one for each row.
    pub fn results(&self, steps: usize) -> usize {
        match self.form {
            UnitForm::Columns(columns) => columns,
            UnitForm::Row(length) => steps * (self.walk.step_elements / length),
        }
    }

    /// The first tile of a segment, and its number of tiles.
    pub fn tiles_of(&self, segment: usize) -> (usize, usize) {
        let (tiles, segments) = (self.walk.tiles_along_axis, self.segments_along_axis());
        let first = segment % segments * self.segment_tiles;
        (segment / segments * tiles + first, self.segment_tiles.min(tiles - first))
    }
}

/// Splits a range of segments, numbered through all partitions of a nest, into ranges of each partition.
pub fn split_segments<'a>(
    partitions: impl Iterator<Item = &'a NestPartition>,
    segments: Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    partitions.map(move |partition| {
        let (start, end) = (first, first + partition.segments());
        first = end;
        segments.start.clamp(start, end) - start..segments.end.clamp(start, end) - start
    })
}

impl ReductionNest<'_> {
    /// The partition of columns `range` along the innermost kept axis, in units of `columns` columns.
    pub(super) fn columns(&self, columns: usize, range: Range<usize>) -> NestPartition {
        let ReducedAxes { kept, length, .. } = self.axes;
        let length = *length;
        let rank = kept.sizes.len().saturating_sub(1);
        let inner = (columns > 1).then_some(columns);
        // The loop over units is the outermost if an operand is then gathered once for all outer points.
        let unit_axis = if self.is_gathered_again() { 0 } else { rank };
        let sizes = SmallVec::from_slice(&kept.sizes[..rank]);
        let mut axes = CoalescedAxes::new(sizes, AxisStrides::new());
        axes.sizes.insert(unit_axis, range.len() / columns);
        axes.sizes.push(length);
        inner.into_iter().for_each(|columns| axes.sizes.push(columns));
        for operand in 0..self.axes.reduced_strides.len() {
            let column = self.kept_stride(operand);
            let (before, behind) = kept.strides_of(operand)[..rank].split_at(unit_axis);
            axes.strides.extend_from_slice(before);
            axes.strides.push(column * columns as isize);
            axes.strides.extend_from_slice(behind);
            axes.strides.push(self.reduced_stride(operand));
            inner.into_iter().for_each(|_| axes.strides.push(column));
            axes.offsets.push(kept.offsets[operand] + column * range.start as isize);
        }
        let innermost = |operand: usize| self.innermost(columns, operand);
        let is_dense = |operand| innermost(operand) == self.element_sizes[operand] as isize;
        let is_direct = self.are_direct(innermost);
        let is_row = |operand| is_dense(operand) || innermost(operand) == 0;
        let steps_are_rows = columns > 1
            && (is_direct
                || self.folds
                || self.minimum_row.is_some_and(|minimum| columns >= minimum)
                    && self.accesses().all(is_row));
        let units = axes.sizes[..=rank].iter().product();
        let segment = segment_steps(length, units, columns);
        let steps = match columns {
            _ if is_direct => MAX_DIRECT_STEPS,
            1 => floor_power_of_two(self.block),
            _ => MAX_TILE_STEPS.min(floor_power_of_two(self.block / columns)),
        };
        let walk = self.tile_walk(&axes, rank + 2, steps.min(segment), steps_are_rows);
        // A tile is a power of two of steps, unless it covers the whole axis.
        let segment_tiles = segment / walk.tile_steps.next_power_of_two();
        let partition = self.computed_partition(walk, UnitForm::Columns(columns), segment_tiles);
        NestPartition { is_direct, columns_before: range.start, folds: self.folds, ..partition }
    }

    /// Whether some access would be gathered again at each outer point: its columns are not contiguous, and
    /// it is constant along the outer axes.
    fn is_gathered_again(&self) -> bool {
        let kept = &self.axes.kept;
        let rank = kept.sizes.len().saturating_sub(1);
        let stays =
            |operand: usize| kept.strides_of(operand)[..rank].iter().all(|&stride| stride == 0);
        let is_apart = |operand: usize| {
            let column = self.kept_stride(operand);
            column != 0 && column != self.element_sizes[operand] as isize
        };
        rank > 0 && self.accesses().any(|operand| is_apart(operand) && stays(operand))
    }

    /// The kept axes (one of size 1 if the nest has none) and, innermost, the reduced axis.
    pub(super) fn with_rows(&self) -> CoalescedAxes {
        let kept = &self.axes.kept;
        let mut axes = CoalescedAxes::new(kept.sizes.clone(), kept.offsets.clone());
        if kept.sizes.is_empty() {
            axes.sizes.push(1);
        }
        axes.sizes.push(self.axes.length);
        for operand in 0..kept.operands() {
            axes.strides.extend_from_slice(kept.strides_of(operand));
            if kept.sizes.is_empty() {
                axes.strides.push(0);
            }
            axes.strides.push(self.reduced_stride(operand));
        }
        axes
    }

    /// The partition of whole rows, several in a tile.
    pub(super) fn rows(&self) -> NestPartition {
        let folds = self.folds_rows();
        // Nests that machine code could fold, but whose rows are too short, are computed first, so they are
        // not read in place.
        let is_direct =
            (folds || !self.folds) && self.are_direct(|operand| self.reduced_stride(operand));
        let length = self.axes.length;
        let axes = self.with_rows();
        let rank = axes.sizes.len();
        let rows = match is_direct {
            true => self.rows_of_a_tile(folds),
            false => (self.block / length).min(if folds { MAX_FOLDED_ROWS } else { self.block }),
        };
        let steps_are_rows =
            is_direct || folds || self.goes_by_rows(axes.sizes[..rank - 1].iter().product());
        let walk = self.tile_walk(&axes, rank - 1, rows, steps_are_rows);
        let partition = self.computed_partition(walk, UnitForm::Row(length), 1);
        NestPartition { is_direct, folds, ..partition }
    }

    /// A partition that computes or gathers its values before it reduces them.
    pub(super) fn computed_partition(
        &self,
        walk: Walk,
        form: UnitForm,
        segment_tiles: usize,
    ) -> NestPartition {
        NestPartition {
            walk,
            form,
            is_direct: false,
            result_strides: (0..self.targets).map(|target| self.kept_stride(target)).collect(),
            columns_before: 0,
            folds: false,
            segment_tiles,
        }
    }

    /// The walk over these axes; a tile covers those from `inner_from` on completely. `steps_are_rows` if an
    /// executor processes each step of a tile as one row.
    pub(super) fn tile_walk(
        &self,
        axes: &CoalescedAxes,
        inner_from: usize,
        tile_steps: usize,
        steps_are_rows: bool,
    ) -> Walk {
        let operand = |operand: usize| {
            operand_walk(axes, operand, self.element_sizes[operand], inner_from, steps_are_rows)
        };
        let tile_axis = axes.sizes[inner_from - 1];
        let tile_steps = tile_steps.min(tile_axis);
        Walk {
            outer_sizes: SmallVec::from_slice(&axes.sizes[..inner_from - 1]),
            tile_axis,
            tile_steps,
            tiles_along_axis: tile_axis.div_ceil(tile_steps),
            step_elements: axes.sizes[inner_from..].iter().product(),
            operands: (0..self.axes.reduced_strides.len()).map(operand).collect(),
        }
    }
}
