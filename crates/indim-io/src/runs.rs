//! Contiguous runs of a region in a file, in file order.

use std::io::{self, ErrorKind, Seek, SeekFrom, Write};

use crate::ArrayRegion;
use indim_ops::ArrayType;

/// Contiguous elements in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRun {
    /// Index of the first element among the elements of the array, in the order of the file.
    pub start: usize,
    /// Number of elements.
    pub elements: usize,
}

/// The runs of a region, in the order of the file.
pub struct FileRuns {
    /// Extents in the region and strides in the file, in elements, of the axes outside a run, slowest
    /// first.
    outer: Vec<(usize, usize)>,
    /// Position in the region along each of these axes.
    index: Vec<usize>,
    next: Option<FileRun>,
}

impl FileRuns {
    /// The runs of a region of an array of this shape, which is stored row-major or column-major.
    pub fn new(shape: &[usize], region: &ArrayRegion, is_column_major: bool) -> Self {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if is_column_major {
            axes.reverse();
        }
        let (starts, extents) = (region.starts(), region.extents());
        let (mut stride, mut start, mut elements) = (1, 0, 1);
        let (mut outer, mut is_run) = (Vec::new(), true);
        for &axis in axes.iter().rev() {
            start += starts[axis] * stride;
            match is_run {
                true => elements *= extents[axis],
                false => outer.push((extents[axis], stride)),
            }
            // A run extends to the next axis if the region spans this one.
            is_run &= extents[axis] == shape[axis];
            stride *= shape[axis];
        }
        outer.reverse();
        let is_empty = extents.contains(&0);
        let next = (!is_empty).then_some(FileRun { start, elements });
        FileRuns { index: vec![0; outer.len()], outer, next }
    }
}

impl Iterator for FileRuns {
    type Item = FileRun;

    fn next(&mut self) -> Option<FileRun> {
        let run = self.next?;
        let mut following = run;
        self.next = None;
        for (index, &(size, stride)) in self.index.iter_mut().zip(&self.outer).rev() {
            *index += 1;
            following.start += stride;
            if *index < size {
                self.next = Some(following);
                break;
            }
            following.start -= stride * size;
            *index = 0;
        }
        Some(run)
    }
}

/// Writes a region to a stream that has `written` elements of the array; returns the new count. The region
/// must continue in row-major order.
///
/// # Errors
/// Those of the stream; `NotSeekable` for a region that does not continue.
pub fn write_next(
    stream: &mut dyn Write,
    written: usize,
    array_type: &ArrayType,
    region: &ArrayRegion,
    bytes: &[u8],
) -> io::Result<usize> {
    let mut next = written;
    for run in FileRuns::new(&array_type.shape, region, false) {
        if run.start != next {
            let message = "a stream is written in the order of the elements";
            return Err(io::Error::new(ErrorKind::NotSeekable, message));
        }
        next += run.elements;
    }
    stream.write_all(bytes)?;
    Ok(next)
}

/// Writes a region to a file with the row-major array at byte offset `start`.
///
/// # Errors
/// Those of the file.
pub fn write_runs(
    file: &mut (impl Write + Seek),
    start: u64,
    array_type: &ArrayType,
    region: &ArrayRegion,
    mut bytes: &[u8],
) -> io::Result<()> {
    let size = array_type.dtype.size();
    for run in FileRuns::new(&array_type.shape, region, false) {
        let (first, rest) = bytes.split_at(run.elements * size);
        file.seek(SeekFrom::Start(start + (run.start * size) as u64))?;
        file.write_all(first)?;
        bytes = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every region of small arrays, against index arithmetic.
    #[test]
    fn runs_are_the_elements_of_a_region() {
        for shape in [&[][..], &[3], &[2, 3], &[3, 1, 2], &[2, 3, 2], &[2, 0]] {
            for is_column_major in [false, true] {
                for region in regions(shape) {
                    let runs = FileRuns::new(shape, &region, is_column_major);
                    let found = runs.flat_map(|run| run.start..run.start + run.elements);
                    let found: Vec<usize> = found.collect();
                    let expected = element_indices(shape, &region, is_column_major);
                    assert_eq!(found, expected, "{shape:?} {region} {is_column_major}");
                }
            }
        }
    }

    fn regions(shape: &[usize]) -> Vec<ArrayRegion> {
        let mut regions = vec![(Vec::new(), Vec::new())];
        for &size in shape {
            let longer = regions.iter().flat_map(|(starts, extents): &(Vec<usize>, Vec<usize>)| {
                let along =
                    (0..=size).flat_map(move |start| (0..=size - start).map(move |of| (start, of)));
                along.map(move |(start, extent)| {
                    ([&starts[..], &[start]].concat(), [&extents[..], &[extent]].concat())
                })
            });
            regions = longer.collect();
        }
        regions.into_iter().map(|(starts, extents)| ArrayRegion::new(starts, extents)).collect()
    }

    /// Index in the file of each element of a region, ascending.
    fn element_indices(shape: &[usize], region: &ArrayRegion, is_column_major: bool) -> Vec<usize> {
        let count: usize = shape.iter().product();
        let index = |position: usize| {
            let (mut rest, mut index) = (position, vec![0; shape.len()]);
            let mut axes: Vec<usize> = (0..shape.len()).collect();
            if !is_column_major {
                axes.reverse();
            }
            for axis in axes {
                index[axis] = rest % shape[axis];
                rest /= shape[axis];
            }
            index
        };
        let is_in =
            |index: &[usize]| region.ranges().zip(index).all(|(range, at)| range.contains(at));
        (0..count).filter(|&position| is_in(&index(position))).collect()
    }
}
