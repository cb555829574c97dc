//! Units and tiles along several kept axes.
//!
//! A unit usually has columns, and a tile has rows, along the innermost kept axis alone. If both this axis
//! and the reduced axis are short, it takes longer to begin such a unit or tile than to reduce it. Then units
//! and tiles also cover the axes around it, and pass through blocks.

use core::ops::Range;

use smallvec::SmallVec;

use super::{MAX_TILE_STEPS, NestPartition, ReductionNest, UnitForm, floor_power_of_two};
use crate::strides::AxisStrides;
use crate::strides::coalesce::CoalescedAxes;
use crate::walk::balanced_steps;

/// Maximum elements of a unit or tile along one kept axis, if others are joined with it.
const MAX_JOINED_ELEMENTS: usize = 256;

/// The kept axes that a unit or a step covers.
#[derive(Debug, Clone, Copy)]
struct JoinedAxes {
    /// The kept axis that is cut; the axes inside it are covered completely.
    cut: usize,
    /// The points of the axes inside it.
    inner: usize,
}

impl ReductionNest<'_> {
    /// The partitions whose units or tiles cover several kept axes; `None` if the innermost kept axis is long
    /// enough, or if results along several axes have no single stride.
    pub(super) fn joined_partitions(&self) -> Option<Vec<NestPartition>> {
        if !self.joins_axes {
            return None;
        }
        if self.are_tiles_of_rows() {
            return Some(vec![self.joined_rows(self.joined_axes(self.block / self.axes.length)?)]);
        }
        let max_columns = self.max_unit_columns(false);
        let joined = self.joined_axes(max_columns)?;
        let size = self.axes.kept.sizes[joined.cut];
        let count = balanced_steps(size, max_columns / joined.inner);
        let whole = size / count * count;
        let mut partitions = vec![self.joined_columns(joined, count, 0..whole)];
        if whole < size {
            partitions.push(self.joined_columns(joined, size - whole, whole..size));
        }
        Some(partitions)
    }

    /// The axes to join, so that a unit or tile covers at most `max` points of them.
    fn joined_axes(&self, max: usize) -> Option<JoinedAxes> {
        let sizes = &self.axes.kept.sizes;
        let (mut cut, mut inner) = (sizes.len().checked_sub(2)?, *sizes.last()?);
        let is_short = inner.saturating_mul(self.axes.length) <= MAX_JOINED_ELEMENTS;
        if !is_short || inner > max / 2 || !self.has_one_run(cut) {
            return None;
        }
        while cut > 0 && inner.saturating_mul(sizes[cut]) <= max / 2 && self.has_one_run(cut - 1) {
            inner *= sizes[cut];
            cut -= 1;
        }
        Some(JoinedAxes { cut, inner })
    }

    /// Whether the results along this kept axis and the next inner one have a single stride.
    fn has_one_run(&self, axis: usize) -> bool {
        let kept = &self.axes.kept;
        let extent = kept.sizes[axis + 1] as isize;
        (0..self.targets).all(|target| {
            let strides = kept.strides_of(target);
            strides[axis + 1].checked_mul(extent) == Some(strides[axis])
        })
    }

    /// The partition of indices `range` of the cut axis, in units of `count` indices each.
    fn joined_columns(
        &self,
        joined: JoinedAxes,
        count: usize,
        range: Range<usize>,
    ) -> NestPartition {
        let (kept, length) = (&self.axes.kept, self.axes.length);
        let (outer, inner) = (&kept.sizes[..joined.cut], &kept.sizes[joined.cut + 1..]);
        let mut axes = CoalescedAxes::new(SmallVec::from_slice(outer), AxisStrides::new());
        axes.sizes.extend([range.len() / count, length, count]);
        axes.sizes.extend_from_slice(inner);
        for operand in 0..kept.operands() {
            let strides = kept.strides_of(operand);
            let stride = strides[joined.cut];
            axes.strides.extend_from_slice(&strides[..joined.cut]);
            axes.strides.extend([stride * count as isize, self.reduced_stride(operand), stride]);
            axes.strides.extend_from_slice(&strides[joined.cut + 1..]);
            axes.offsets.push(kept.offsets[operand] + stride * range.start as isize);
        }
        let columns = count * joined.inner;
        // The axis is short, so a unit is one segment.
        let steps = MAX_TILE_STEPS.min(floor_power_of_two(self.block / columns));
        let walk = self.tile_walk(&axes, joined.cut + 2, steps, false);
        let tiles = walk.tiles_along_axis;
        self.computed_partition(walk, UnitForm::Columns(columns), tiles)
    }

    /// The partition of tiles of rows. Each step of a tile covers the inner axes.
    fn joined_rows(&self, joined: JoinedAxes) -> NestPartition {
        let length = self.axes.length;
        let steps = (self.block / (joined.inner * length)).max(1);
        let steps = balanced_steps(self.axes.kept.sizes[joined.cut], steps);
        let walk = self.tile_walk(&self.with_rows(), joined.cut + 1, steps, false);
        self.computed_partition(walk, UnitForm::Row(length), 1)
    }
}
