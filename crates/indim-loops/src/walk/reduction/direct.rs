//! In-place reductions. Dense operands need no walk: every offset follows from the shape.

use smallvec::SmallVec;

use super::{ReducedAxes, ReductionNest, innermost_stride, segment_steps};
use crate::memory_use::MemoryUse;
use crate::strides::coalesce::CoalescedAxes;
use crate::strides::{AxisStrides, zero_strides};

/// In-place rows along the reduced axis, with a constant stride between rows.
#[derive(Debug)]
pub struct DirectRows {
    /// The number of rows.
    pub rows: usize,
    /// The elements of a row.
    pub length: usize,
    /// The rows of a tile; the last tile may have fewer.
    pub tile_rows: usize,
    /// The stride of each operand from one row to the next, in bytes.
    pub row_strides: AxisStrides,
}

/// In-place columns along the reduced axis; a row is a unit of one column.
///
/// Few long units are cut into segments.
#[derive(Debug)]
pub struct DirectColumns {
    /// The size of the innermost kept axis.
    columns: usize,
    /// The stride of each operand from one column to the next, in bytes.
    column_strides: AxisStrides,
    /// The offset of each operand's first column from the array's first element, in bytes.
    offsets: AxisStrides,
    /// The kept axes, if they are several; all but the innermost are the outer axes.
    kept: Option<Box<CoalescedAxes>>,
    /// The columns of a unit; the last unit along the innermost kept axis may have fewer.
    pub unit_columns: usize,
    /// The elements of a column.
    pub length: usize,
    /// The elements of a column in one segment; the last segment may have fewer.
    pub segment_steps: usize,
    /// The segments of a unit; the results of several segments must be combined.
    pub segments: usize,
    /// The units along the innermost kept axis.
    units_across: usize,
    /// The number of units.
    pub units: usize,
}

/// A unit: adjacent columns at one point of the outer axes.
#[derive(Debug)]
pub struct Unit {
    /// The index along each outer axis.
    outer: SmallVec<[usize; 4]>,
    /// The first column.
    first: usize,
    /// The number of columns.
    pub columns: usize,
}

impl ReductionNest<'_> {
    /// The nest as in-place rows; `None` if it is not one sequence of rows at a constant stride, or if the
    /// rows are too short for machine code that reduces them.
    pub(super) fn direct_rows(&self) -> Option<DirectRows> {
        let ReducedAxes { kept, length, .. } = self.axes;
        let is_direct = self.are_direct(|operand| self.reduced_stride(operand));
        let is_turned = kept.offsets.iter().any(|&offset| offset != 0);
        if !is_direct || self.folds && !self.folds_rows() || kept.sizes.len() > 1 || is_turned {
            return None;
        }
        let rows = kept.sizes.first().copied().unwrap_or(1);
        let row_strides = innermost_strides(kept);
        let tile_rows = self.rows_of_a_tile(self.folds).min(rows);
        Some(DirectRows { rows, length: *length, tile_rows, row_strides })
    }
}

impl DirectColumns {
    /// The columns of a nest, in units of `unit_columns` columns.
    pub(super) fn new(axes: &ReducedAxes, unit_columns: usize) -> Self {
        let ReducedAxes { kept, length, .. } = axes;
        let (columns, outer) = kept.sizes.split_last().unwrap_or((&1, &[]));
        let units_across = columns.div_ceil(unit_columns);
        let units = outer.iter().product::<usize>() * units_across;
        let segment_steps = segment_steps(*length, units, unit_columns);
        DirectColumns {
            columns: *columns,
            column_strides: innermost_strides(kept),
            offsets: AxisStrides::from_slice(&kept.offsets),
            kept: (kept.sizes.len() > 1).then(|| Box::new(kept.clone())),
            unit_columns,
            length: *length,
            segment_steps,
            segments: length.div_ceil(segment_steps),
            units_across,
            units,
        }
    }

    fn outer_sizes(&self) -> &[usize] {
        let sizes = self.kept.as_deref().and_then(|kept| kept.sizes.split_last());
        sizes.map_or(&[], |(_, outer)| outer)
    }

    /// The unit of this index.
    #[inline]
    pub fn unit(&self, index: usize) -> Unit {
        // Small nests have one unit and skip the division.
        let (mut rest, place) = match self.units {
            1 => (0, 0),
            _ => (index / self.units_across, index % self.units_across),
        };
        let first = place * self.unit_columns;
        let mut outer = SmallVec::new();
        for &size in self.outer_sizes().iter().rev() {
            outer.push(rest % size);
            rest /= size;
        }
        outer.reverse();
        Unit { outer, first, columns: self.unit_columns.min(self.columns - first) }
    }

    /// The unit and the index of its segment for tile `tile`: each segment is one tile.
    #[inline]
    pub fn segment(&self, tile: usize) -> (Unit, usize) {
        match self.segments {
            1 => (self.unit(tile), 0),
            segments => (self.unit(tile / segments), tile % segments),
        }
    }

    /// The byte offset of a unit from an operand's first element.
    #[inline]
    pub fn offset(&self, unit: &Unit, operand: usize) -> isize {
        let strides = self.kept.iter().flat_map(|kept| kept.strides_of(operand));
        let outer = unit.outer.iter().zip(strides);
        let outer: isize = outer.map(|(&index, &stride)| index as isize * stride).sum();
        self.offsets[operand] + outer + unit.first as isize * self.column_strides[operand]
    }

    /// The stride of an operand from one column to the next, in bytes.
    #[inline]
    pub fn column_stride(&self, operand: usize) -> isize {
        self.column_strides[operand]
    }

    /// Whether all units have the same number of columns.
    pub fn is_even(&self) -> bool {
        self.columns.is_multiple_of(self.unit_columns)
    }

    /// Counts the memory of this structure.
    pub fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_small_vec(&self.column_strides);
        memory_use.add_small_vec(&self.offsets);
        if let Some(kept) = &self.kept {
            memory_use.add_allocation::<CoalescedAxes>(1);
            kept.count_bytes(memory_use);
        }
    }
}

/// The stride of each operand along the innermost axis; 0 without axes.
fn innermost_strides(axes: &CoalescedAxes) -> AxisStrides {
    let mut strides = zero_strides(axes.operands());
    for (operand, stride) in strides.iter_mut().enumerate() {
        *stride = innermost_stride(axes, operand);
    }
    strides
}
