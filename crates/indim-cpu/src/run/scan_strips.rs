//! Strips of a scan bound to sizes and strides: a strip is one line, or neighbouring lines that are short or
//! whose elements are adjacent in memory.

use indim_kernels::MAX_SCAN_LANES;
use indim_loops::strides::AxisStrides;
use indim_loops::strides::coalesce::coalesce_some;
use indim_ops::meaning::scan::SCAN_BLOCK;

use crate::run::scan::Scan;

/// Minimum number of neighbouring lines that are scanned together, one vector lane each.
const MIN_LANES: usize = 6;

/// Maximum length of dense lines that are scanned together, one vector lane each. For short lines the set-up
/// of each line costs more than strided reads.
const MAX_SHORT_LINE: usize = 32;

/// An axis across lines, other than the axis of the lanes.
#[derive(Debug, Clone)]
pub(super) struct OuterAxis {
    pub(super) size: usize,
    /// The stride of each operand, in bytes.
    pub(super) strides: AxisStrides,
}

/// The strips of a scan bound to sizes and strides.
#[derive(Debug, Clone)]
pub(super) struct ScanStrips {
    /// Elements of a line, never 0.
    pub(super) length: usize,
    /// Offset in bytes of each operand's first element in the direction of the scan.
    pub(super) first: AxisStrides,
    /// Stride in bytes of each operand along the axis, in the direction of the scan.
    pub(super) axis_strides: AxisStrides,
    /// Size of the axis of the lanes, along which neighbouring lines are scanned together; 1 without it.
    pub(super) lanes: usize,
    /// Stride in bytes of each operand along the axis of the lanes.
    pub(super) lane_strides: AxisStrides,
    /// The remaining axes.
    pub(super) outer: Vec<OuterAxis>,
}

impl ScanStrips {
    /// Returns `None` for a scan without elements.
    pub(super) fn new(scan: &Scan, shape: &[usize], strides: &[AxisStrides]) -> Option<ScanStrips> {
        let length = shape[scan.axis];
        let outer_axes = (0..shape.len()).filter(|&axis| axis != scan.axis);
        let axes = coalesce_some(0, outer_axes, shape, strides)?;
        let last = isize::try_from(length.checked_sub(1)?).ok()?;
        let (mut first, mut axis_strides) = (axes.offsets.clone(), AxisStrides::new());
        for (first, strides) in first.iter_mut().zip(strides) {
            let stride = strides[scan.axis];
            *first += if scan.reverse { last * stride } else { 0 };
            axis_strides.push(if scan.reverse { -stride } else { stride });
        }
        let axis = |axis: usize| OuterAxis {
            size: axes.sizes[axis],
            strides: (0..strides.len()).map(|operand| axes.strides_of(operand)[axis]).collect(),
        };
        let mut outer: Vec<OuterAxis> = (0..axes.sizes.len()).map(axis).collect();
        let is_dense = |stride: isize| stride.unsigned_abs() == scan.dtype.size();
        let are_lines_dense = is_dense(axis_strides[scan.operand]) && is_dense(axis_strides[0]);
        let is_side_by_side = |axis: &OuterAxis| {
            axis.size >= MIN_LANES
                && (is_dense(axis.strides[scan.operand]) || is_dense(axis.strides[0]))
        };
        let lane_axis = match (are_lines_dense, length <= MAX_SHORT_LINE) {
            (true, true) => outer.iter().rposition(|axis| axis.size >= MIN_LANES),
            (true, false) => None,
            (false, _) => outer.iter().position(is_side_by_side),
        };
        let (lanes, lane_strides) = match lane_axis.map(|axis| outer.remove(axis)) {
            Some(axis) => (axis.size, axis.strides),
            None => (1, axis_strides.iter().map(|_| 0).collect()),
        };
        Some(ScanStrips { length, first, axis_strides, lanes, lane_strides, outer })
    }

    /// Number of lines of a full strip.
    pub(super) fn width(&self) -> usize {
        self.lanes.min(MAX_SCAN_LANES)
    }

    /// Number of strips at one index of the outer axes.
    pub(super) fn strips_per_outer_index(&self) -> usize {
        self.lanes.div_ceil(self.width())
    }

    pub(super) fn count(&self) -> usize {
        self.outer.iter().map(|axis| axis.size).product::<usize>() * self.strips_per_outer_index()
    }

    pub(super) fn blocks(&self) -> usize {
        self.length.div_ceil(SCAN_BLOCK)
    }

    /// Strip `number`; strips are numbered with the axis of the lanes innermost.
    pub(super) fn strip(&self, number: usize) -> ScanStrip {
        let (mut outer, first) =
            (number / self.strips_per_outer_index(), number % self.strips_per_outer_index());
        let lane = first * self.width();
        let line = outer * self.lanes + lane;
        let mut offsets = self.first.clone();
        for (offset, stride) in offsets.iter_mut().zip(&self.lane_strides) {
            *offset += lane as isize * stride;
        }
        for axis in self.outer.iter().rev() {
            let index = (outer % axis.size) as isize;
            outer /= axis.size;
            for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                *offset += index * stride;
            }
        }
        ScanStrip { line, width: self.width().min(self.lanes - lane), offsets }
    }
}

/// A strip: some neighbouring lines.
pub(super) struct ScanStrip {
    /// The number of the first line. Lines are numbered with the lanes innermost.
    pub(super) line: usize,
    pub(super) width: usize,
    /// The offset of the first element in each operand, in bytes.
    pub(super) offsets: AxisStrides,
}
