//! In-place reductions. Dense operands need no walk: every offset follows from the shape.

use smallvec::SmallVec;

use super::{ReducedAxes, ReductionNest, last, piece_steps};
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
    pub across: AxisStrides,
}

/// In-place columns along the reduced axis; a row is a unit of one column.
///
/// Few long units are cut into pieces.
#[derive(Debug)]
pub struct DirectColumns {
    /// The size of the innermost kept axis.
    columns: usize,
    /// The stride of each operand from one column to the next, in bytes.
    across: AxisStrides,
    /// The offset of each operand's first column from the array's first element, in bytes.
    offsets: AxisStrides,
    /// The kept axes, if they are several; all but the innermost are the outer axes.
    kept: Option<Box<CoalescedAxes>>,
    /// The columns of a unit; the last unit along the innermost kept axis may have fewer.
    pub unit_columns: usize,
    /// The elements of a column.
    pub length: usize,
    /// The elements of a column in one piece; the last piece may have fewer.
    pub piece_steps: usize,
    /// The pieces of a unit; the results of several pieces must be combined.
    pub pieces: usize,
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
        let across = innermost_strides(kept);
        let tile_rows = self.rows_of_a_tile(self.folds).min(rows);
        Some(DirectRows { rows, length: *length, tile_rows, across })
    }
}

impl DirectColumns {
    /// The columns of a nest, in units of `unit_columns` columns.
    pub(super) fn new(axes: &ReducedAxes, unit_columns: usize) -> Self {
        let ReducedAxes { kept, length, .. } = axes;
        let (columns, outer) = kept.sizes.split_last().unwrap_or((&1, &[]));
        let units_across = columns.div_ceil(unit_columns);
        let units = outer.iter().product::<usize>() * units_across;
        let piece_steps = piece_steps(*length, units, unit_columns);
        DirectColumns {
            columns: *columns,
            across: innermost_strides(kept),
            offsets: AxisStrides::from_slice(&kept.offsets),
            kept: (kept.sizes.len() > 1).then(|| Box::new(kept.clone())),
            unit_columns,
            length: *length,
            piece_steps,
            pieces: length.div_ceil(piece_steps),
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

    /// The unit and the index of its piece for tile `tile`: each piece is one tile.
    #[inline]
    pub fn piece(&self, tile: usize) -> (Unit, usize) {
        match self.pieces {
            1 => (self.unit(tile), 0),
            pieces => (self.unit(tile / pieces), tile % pieces),
        }
    }

    /// The byte offset of a unit from an operand's first element.
    #[inline]
    pub fn offset(&self, unit: &Unit, operand: usize) -> isize {
        let strides = self.kept.iter().flat_map(|kept| kept.strides_of(operand));
        let along = unit.outer.iter().zip(strides);
        let outer: isize = along.map(|(&index, &stride)| index as isize * stride).sum();
        self.offsets[operand] + outer + unit.first as isize * self.across[operand]
    }

    /// The stride of an operand from one column to the next, in bytes.
    #[inline]
    pub fn column_stride(&self, operand: usize) -> isize {
        self.across[operand]
    }

    /// Whether all units have the same number of columns.
    pub fn is_even(&self) -> bool {
        self.columns.is_multiple_of(self.unit_columns)
    }

    /// Counts the memory of this structure.
    pub fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.across);
        held.small(&self.offsets);
        if let Some(kept) = &self.kept {
            held.own::<CoalescedAxes>(1);
            kept.count_bytes(held);
        }
    }
}

/// The stride of each operand along the innermost axis; 0 without axes.
fn innermost_strides(axes: &CoalescedAxes) -> AxisStrides {
    let mut strides = zero_strides(axes.operands());
    for (operand, stride) in strides.iter_mut().enumerate() {
        *stride = last(axes, operand);
    }
    strides
}
