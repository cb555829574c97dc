//! In-place reductions. Dense operands need no walk: every offset follows from the shape.

use smallvec::SmallVec;

use super::{ReducedAxes, ReductionNest, last, piece_steps};
use crate::memory_use::MemoryUse;
use crate::strides::coalesce::CoalescedAxes;
use crate::strides::{AxisStrides, zero_strides};

/// Rows along the reduced axis that follow one another at the same distance.
#[derive(Debug)]
pub struct DirectRows {
    /// Their number.
    pub rows: usize,
    /// The elements of each.
    pub length: usize,
    /// The rows of a tile; the last one may have fewer.
    pub tile_rows: usize,
    /// For each operand from one row to the next, in bytes.
    pub across: AxisStrides,
}

/// Adjacent columns along the reduced axis, or rows that are one column each.
///
/// A unit is a number of columns; where units are few and long they are cut into pieces.
#[derive(Debug)]
pub struct DirectColumns {
    /// All columns of a point of the outer axes.
    columns: usize,
    /// For each operand from one column to the next, in bytes.
    across: AxisStrides,
    /// For each operand how far the first column lies from where it begins, in bytes.
    offsets: AxisStrides,
    /// The kept axes, if columns are not all of them: outside the innermost are the outer axes.
    kept: Option<Box<CoalescedAxes>>,
    /// The columns of a unit; the last one of all columns may have fewer.
    pub unit_columns: usize,
    /// The elements of a column.
    pub length: usize,
    /// The elements of it that are a piece; the last one may have fewer.
    pub piece_steps: usize,
    /// The pieces of a unit; the results of several pieces must be combined.
    pub pieces: usize,
    /// The units of all columns of a point.
    units_across: usize,
    /// The number of units.
    pub units: usize,
}

/// One of the units.
#[derive(Debug)]
pub struct Unit {
    /// The index along each outer axis.
    outer: SmallVec<[usize; 4]>,
    first: usize,
    /// Its columns.
    pub columns: usize,
}

impl ReductionNest<'_> {
    /// The rows of tiles of several, if they are read where they lie; `None` where a function would fold them
    /// that are too short for it.
    pub(super) fn direct_rows(&self) -> Option<DirectRows> {
        let ReducedAxes { kept, length, .. } = self.axes;
        let is_direct = self.are_direct(|operand| self.along(operand));
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
    /// Those of a nest, so many of them a unit.
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
        // Tiny runs, which divisions would hold up, have one.
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

    /// The unit and the piece of it that the tile of this index is.
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

    /// From one column of an operand to the next, in bytes.
    #[inline]
    pub fn across(&self, operand: usize) -> isize {
        self.across[operand]
    }

    /// Whether all units have as many columns.
    pub fn is_even(&self) -> bool {
        self.columns.is_multiple_of(self.unit_columns)
    }

    /// Counts the memory that they hold.
    pub fn count_bytes(&self, held: &mut MemoryUse) {
        held.small(&self.across);
        held.small(&self.offsets);
        if let Some(kept) = &self.kept {
            held.own::<CoalescedAxes>(1);
            kept.count_bytes(held);
        }
    }
}

/// For each operand the stride along the innermost axis; 0 without axes.
fn innermost_strides(axes: &CoalescedAxes) -> AxisStrides {
    let mut strides = zero_strides(axes.operands());
    for (operand, stride) in strides.iter_mut().enumerate() {
        *stride = last(axes, operand);
    }
    strides
}
