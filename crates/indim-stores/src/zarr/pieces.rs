//! The cells of a grid that a region meets, one after another: there may be as many as elements.

use crate::Region;

/// A cell of a grid, and its part of a region.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// The position of the cell in the grid.
    pub(super) index: Vec<u64>,
    /// The first element of the cell in the array.
    pub(super) origin: Vec<usize>,
    /// The part of the array that the cell and the region share.
    pub(super) common: Region,
}

impl Piece {
    fn of(index: Vec<usize>, region: &Region, sizes: &[usize]) -> Self {
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
        Piece { index, origin, common: Region::new(starts, extents) }
    }

    /// Where the part begins in the cell, or in another part of the array that begins there.
    pub(super) fn starts_from(&self, origin: &[usize]) -> Vec<usize> {
        self.common.starts().iter().zip(origin).map(|(start, origin)| start - origin).collect()
    }
}

/// The cells of these sizes that a region meets, in row-major order.
pub(super) fn pieces(region: &Region, sizes: &[usize]) -> impl Iterator<Item = Piece> + use<> {
    let sizes: Vec<usize> = sizes.iter().map(|&size| size.max(1)).collect();
    let ranges = || region.ranges().zip(&sizes);
    let first: Vec<usize> = ranges().map(|(range, size)| range.start / size).collect();
    let counts: Vec<usize> = ranges()
        .zip(&first)
        .map(|((range, size), first)| range.end.div_ceil(*size) - first)
        .collect();
    let region = region.clone();
    Region::grid(&counts.as_slice().into(), &vec![1; counts.len()]).map(move |cell| {
        let index = cell.starts().iter().zip(&first).map(|(cell, first)| cell + first).collect();
        Piece::of(index, &region, &sizes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_region_meets_cover_it() {
        let region = Region::new([3, 0], [6, 2]);
        let pieces: Vec<Piece> = pieces(&region, &[4, 5]).collect();
        let found: Vec<_> =
            pieces.iter().map(|it| (it.index.clone(), it.common.to_string())).collect();
        let expected = [
            (vec![0, 0], "[3:4, 0:2]".to_owned()),
            (vec![1, 0], "[4:8, 0:2]".to_owned()),
            (vec![2, 0], "[8:9, 0:2]".to_owned()),
        ];
        assert_eq!(found, expected);
        assert_eq!(pieces[1].starts_from(region.starts()), [1, 0]);
    }

    #[test]
    fn a_region_of_very_many_cells_takes_no_memory_for_them() {
        let region = Region::new([0], [usize::MAX / 2]);
        assert_eq!(pieces(&region, &[2]).nth(1).unwrap().common, Region::new([2], [2]));
    }
}
