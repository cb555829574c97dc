//! The order in which a reducing job reads its input, and the pieces of a job.

use core::ops::Range;

use indim_io::ArrayRegion;
use indim_ops::meaning::reduction::{REDUCTION_BLOCK, REDUCTION_LANES};
use indim_transforms::chunks::lane_groups;

use crate::job::Job;

/// How pieces along a reduced axis are read and combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// In order, and each piece is reduced independently. The pieces are nodes of the summation tree, or
    /// have any size if the order does not affect the result.
    Independent,
    /// In order, and pieces have any size: the lanes of an incomplete block are carried to the next
    /// piece.
    Carried,
    /// By groups of this number of neighbouring lanes. A piece has the rows of one group, in up to 16
    /// regions: one region for each 32 consecutive rows of a block.
    LaneGroups(usize),
}

/// A piece of a job: the unit of reading, computing and writing.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Its regions: one, or several if rows are read by lanes.
    pub(crate) regions: Vec<ArrayRegion>,
    /// Whether it is the last along the reduced axis.
    pub(crate) is_last: bool,
}

impl Piece {
    /// The number of elements.
    pub(crate) fn element_count(&self) -> usize {
        let counts = self.regions.iter().map(|region| region.extents().element_count());
        counts.map(|count| count.unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
    }
}

impl RowOrder {
    /// Maximum extent of a piece along the reduced axis, which has this length. The extent of a piece
    /// with several regions is the sum of their extents.
    pub(crate) fn max_extent(self, size: usize) -> usize {
        match self {
            RowOrder::Independent | RowOrder::Carried => size,
            RowOrder::LaneGroups(group) => {
                group * size.div_ceil(REDUCTION_LANES).min(REDUCTION_BLOCK / REDUCTION_LANES)
            }
        }
    }

    /// The number of pieces of this extent along the reduced axis.
    pub(crate) fn count(self, size: usize, extent: usize) -> usize {
        match self {
            RowOrder::Independent | RowOrder::Carried => size.div_ceil(extent.max(1)),
            RowOrder::LaneGroups(group) => {
                let region_count = (extent / group).max(1);
                let of_block = |rows: usize| {
                    let groups = (0..REDUCTION_LANES.min(rows)).step_by(group);
                    groups
                        .map(|lane| (rows - lane).div_ceil(REDUCTION_LANES).div_ceil(region_count))
                        .sum::<usize>()
                };
                size / REDUCTION_BLOCK * of_block(REDUCTION_BLOCK)
                    + of_block(size % REDUCTION_BLOCK)
            }
        }
    }

    /// For each piece, the rows of each of its regions along the reduced axis.
    fn rows(
        self,
        size: usize,
        extent: usize,
    ) -> Box<dyn Iterator<Item = Vec<Range<usize>>> + Send> {
        let up_to = move |start: usize, length: usize| start..(start + length).min(size);
        match self {
            RowOrder::Independent | RowOrder::Carried => {
                let extent = extent.max(1);
                let starts = (0..size).step_by(extent);
                Box::new(starts.map(move |start| vec![up_to(start, extent)]))
            }
            RowOrder::LaneGroups(group) => {
                let region_count = (extent / group).max(1);
                let of_group = move |first: usize, end: usize| {
                    let starts: Vec<usize> = (first..end).step_by(REDUCTION_LANES).collect();
                    let pieces = starts.chunks(region_count);
                    let ranges = pieces.map(|starts| {
                        starts.iter().map(|&start| up_to(start, group)).collect::<Vec<_>>()
                    });
                    ranges.collect::<Vec<_>>()
                };
                let of_block = move |block: usize| {
                    let end = (block + REDUCTION_BLOCK).min(size);
                    lane_groups(group).into_iter().flat_map(move |lane| of_group(block + lane, end))
                };
                Box::new((0..size).step_by(REDUCTION_BLOCK).flat_map(of_block))
            }
        }
    }
}

impl Job {
    /// The pieces in the order of their elements. Pieces along the reduced axis follow one another, in the
    /// row order of the job.
    pub(crate) fn pieces(&self, extents: &[usize]) -> impl Iterator<Item = Piece> + Send + use<> {
        let reduced = self.reduced.map(|(axis, _)| axis);
        let mut steps = extents.to_vec();
        if let Some(axis) = reduced {
            steps[axis] = self.shape[axis].max(1);
        }
        let (size, order) = (reduced.map_or(0, |axis| self.shape[axis]), self.row_order);
        let extent = reduced.map_or(0, |axis| extents[axis]);
        ArrayRegion::grid(&self.shape, &steps).flat_map(move |whole| {
            let rows: Box<dyn Iterator<Item = Vec<Range<usize>>> + Send> = match reduced {
                Some(_) => order.rows(size, extent),
                None => Box::new(core::iter::once(Vec::new())),
            };
            let mut rows = rows.peekable();
            core::iter::from_fn(move || {
                let ranges = rows.next()?;
                let region = |range: &Range<usize>| {
                    let (mut starts, mut extents) =
                        (whole.starts().to_vec(), whole.extents().to_vec());
                    if let Some(axis) = reduced {
                        (starts[axis], extents[axis]) = (range.start, range.len());
                    }
                    ArrayRegion::new(starts, extents)
                };
                let regions = match reduced {
                    Some(_) => ranges.iter().map(region).collect(),
                    None => vec![whole.clone()],
                };
                Some(Piece { regions, is_last: rows.peek().is_none() })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_once_and_lanes_in_order() {
        for order in [
            RowOrder::Independent,
            RowOrder::Carried,
            RowOrder::LaneGroups(1),
            RowOrder::LaneGroups(4),
            RowOrder::LaneGroups(16),
        ] {
            for size in [1, 3, 31, 40, 512, 600, 1100] {
                for parts in [1, 3, 16] {
                    let unit = if let RowOrder::LaneGroups(group) = order { group } else { 1 };
                    let extent = (unit * parts).min(order.max_extent(size));
                    let pieces: Vec<Vec<Range<usize>>> = order.rows(size, extent).collect();
                    assert_eq!(
                        pieces.len(),
                        order.count(size, extent),
                        "{order:?} {size} {extent}"
                    );
                    let mut rows: Vec<usize> = pieces.concat().into_iter().flatten().collect();
                    for lane in 0..REDUCTION_LANES {
                        let of_lane = rows.iter().filter(|&&row| row % REDUCTION_LANES == lane);
                        assert!(of_lane.is_sorted());
                    }
                    rows.sort_unstable();
                    assert!(rows.into_iter().eq(0..size), "{order:?} {size} {extent}");
                }
            }
        }
    }
}
