//! The cells of a chunk grid that intersect a region. An iterator yields the cells, because a region may
//! have as many cells as elements.

use crate::ArrayRegion;

/// A cell of a chunk grid, and its intersection with a region.
#[derive(Debug, Clone)]
pub struct GridCell {
    /// Index of the cell in the grid.
    pub index: Vec<u64>,
    /// Index of the first element of the cell in the array.
    pub origin: Vec<usize>,
    /// The intersection of cell and region, in indices of the array.
    pub intersection: ArrayRegion,
}

impl GridCell {
    fn of(index: Vec<usize>, region: &ArrayRegion, sizes: &[usize]) -> Self {
        let origin: Vec<usize> =
            index.iter().zip(sizes).map(|(index, size)| index * size).collect();
        let starts: Vec<usize> =
            origin.iter().zip(region.starts()).map(|(cell, region)| *cell.max(region)).collect();
        let ends = origin.iter().zip(sizes).map(|(start, size)| start.saturating_add(*size));
        let extents: Vec<usize> = ends
            .zip(region.ranges())
            .zip(&starts)
            .map(|((end, range), start)| end.min(range.end) - start)
            .collect();
        let index = index.into_iter().map(|index| index as u64).collect();
        GridCell { index, origin, intersection: ArrayRegion::new(starts, extents) }
    }

    /// Start of the intersection relative to `origin`, the first element of the cell or of the region.
    pub fn starts_relative_to(&self, origin: &[usize]) -> Vec<usize> {
        self.intersection
            .starts()
            .iter()
            .zip(origin)
            .map(|(start, origin)| start - origin)
            .collect()
    }
}

impl GridCell {
    /// Index of the cell among the cells of a shard, whose first element has the index `shard` in the
    /// array; cells have shape `sizes`.
    pub fn index_in(&self, shard: &[usize], sizes: &[usize]) -> Vec<u64> {
        let offsets = self.origin.iter().zip(shard).map(|(inner, outer)| inner - outer);
        offsets.zip(sizes).map(|(offset, size)| (offset / size) as u64).collect()
    }
}

/// The cells of shape `sizes` that intersect a region, in row-major order.
pub fn cells(region: &ArrayRegion, sizes: &[usize]) -> impl Iterator<Item = GridCell> + use<> {
    let sizes: Vec<usize> = sizes.iter().map(|&size| size.max(1)).collect();
    let ranges = || region.ranges().zip(&sizes);
    let first: Vec<usize> = ranges().map(|(range, size)| range.start / size).collect();
    let counts: Vec<usize> = ranges()
        .zip(&first)
        .map(|((range, size), first)| range.end.div_ceil(*size) - first)
        .collect();
    let region = region.clone();
    ArrayRegion::grid(&counts.as_slice().into(), &vec![1; counts.len()]).map(move |cell| {
        let index = cell.starts().iter().zip(&first).map(|(cell, first)| cell + first).collect();
        GridCell::of(index, &region, &sizes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_region_meets_cover_it() {
        let region = ArrayRegion::new([3, 0], [6, 2]);
        let cells: Vec<GridCell> = cells(&region, &[4, 5]).collect();
        let found: Vec<_> =
            cells.iter().map(|it| (it.index.clone(), it.intersection.to_string())).collect();
        let expected = [
            (vec![0, 0], "[3:4, 0:2]".to_owned()),
            (vec![1, 0], "[4:8, 0:2]".to_owned()),
            (vec![2, 0], "[8:9, 0:2]".to_owned()),
        ];
        assert_eq!(found, expected);
        assert_eq!(cells[1].starts_relative_to(region.starts()), [1, 0]);
    }

    #[test]
    fn a_region_of_very_many_cells_takes_no_memory_for_them() {
        let region = ArrayRegion::new([0], [usize::MAX / 2]);
        assert_eq!(cells(&region, &[2]).nth(1).unwrap().intersection, ArrayRegion::new([2], [2]));
    }
}
