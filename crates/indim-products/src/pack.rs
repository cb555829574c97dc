//! Packing: panels of one operand, with the indices of a block in the order of their chains. Holds unsafe
//! code.

use crate::element::{FactorPair, ProductElement, Widen};
use crate::order::{PanelOrder, REDUCTION_BLOCK, block_length};
use crate::vector::Vector;

/// A *row run*: consecutive elements in a row of a panel that have one stride in the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowRun {
    /// The offset of the source for the first element, in bytes.
    pub(crate) offset: isize,
    /// Bytes of the source from one element to the next.
    pub(crate) stride: isize,
    /// Position of the first element in the row.
    pub(crate) first: usize,
    /// Number of elements.
    pub(crate) count: usize,
}

/// Divides a row of a panel, given by its offsets in the source, into row runs. None crosses a multiple of
/// `lanes`, so each is at most a vector. Returns their number.
pub(crate) fn split_row(offsets: &[isize], lanes: usize, runs: &mut [RowRun]) -> usize {
    let mut number = 0;
    let mut first = 0;
    while first < offsets.len() {
        let end = offsets.len().min(first / lanes * lanes + lanes);
        let stride = match end - first {
            1 => 0,
            _ => offsets[first + 1].wrapping_sub(offsets[first]),
        };
        let follows = |index: &usize| offsets[*index].wrapping_sub(offsets[*index - 1]) == stride;
        let count = 1 + (first + 1..end).take_while(follows).count();
        runs[number] = RowRun { offset: offsets[first], stride, first, count };
        (number, first) = (number + 1, first + count);
    }
    number
}

/// The arguments of packing one *index run* in one panel: summed indices with one stride in the source.
/// The row runs divide each row of the panel. Strides and offsets are in bytes.
pub(crate) struct PackArguments {
    /// The panel: a row of `width` elements for each index of the slice.
    pub(crate) to: *mut u8,
    /// Elements of a row of the panel.
    pub(crate) width: usize,
    /// The source at the first index of the index run.
    pub(crate) from: *const u8,
    /// The row runs of a row, in order, without gaps.
    pub(crate) row_runs: *const RowRun,
    /// Number of row runs.
    pub(crate) row_run_count: usize,
    /// Number of elements of all row runs; the other elements of a row become zero.
    pub(crate) used_width: usize,
    /// Stride of the source between indices.
    pub(crate) index_stride: isize,
    /// For panels of groups, the stride of the source between the elements of a group.
    pub(crate) factor_stride: isize,
    /// For panels of groups, the number of elements in the last group of the index run if it is
    /// incomplete, otherwise 0. Missing elements are zero.
    pub(crate) tail: usize,
    /// Position of the index run in the slice.
    pub(crate) index_run_start: usize,
    /// Number of indices of the index run.
    pub(crate) index_run_length: usize,
    /// Number of indices of the slice.
    pub(crate) slice_length: usize,
}

/// Packing compiled for a level.
///
/// # Safety
/// - `to` is valid for writes of `slice_length * width` elements, aligned to them;
/// - `row_runs` has `row_run_count` row runs of `used_width` elements together, at most `width`;
///   `used_width` is more than `width` less the lanes of a vector;
/// - the source is valid for reads of each element of each row run, at each index, and does not overlap the
///   panel;
/// - the indices of the index run lie in the slice;
/// - the processor has the level.
pub(crate) type PackFn = unsafe fn(&PackArguments);

/// The part of an index run that lies in one block.
pub(crate) struct PackSegment {
    /// The block's rows of the panel.
    pub(crate) to: *mut u8,
    /// The source at the first index of the segment.
    pub(crate) from: *const u8,
    /// The first index of the segment in the block.
    pub(crate) block_index: usize,
    /// Number of indices of the segment.
    pub(crate) count: usize,
    pub(crate) order: PanelOrder,
}

/// Calls `visit` for the part of the index run in each block; without an order of summation, indices
/// ascend.
#[inline(always)]
pub(crate) fn for_each_segment(
    pack: &PackArguments,
    size: usize,
    is_ordered: bool,
    mut visit: impl FnMut(PackSegment),
) {
    let mut done = 0;
    while done < pack.index_run_length {
        let position = pack.index_run_start + done;
        let (start, block_index) =
            (position - position % REDUCTION_BLOCK, position % REDUCTION_BLOCK);
        let length = block_length(start, pack.slice_length);
        let count = (length - block_index).min(pack.index_run_length - done);
        visit(PackSegment {
            to: pack.to.wrapping_add(start * pack.width * size),
            from: pack.from.wrapping_offset((done as isize).wrapping_mul(pack.index_stride)),
            block_index,
            count,
            order: PanelOrder::new(length, is_ordered),
        });
        done += count;
    }
}

/// Packs element by element, converting from the source's type.
///
/// # Safety
/// Like [`PackFn`].
#[inline(always)]
pub(crate) unsafe fn run<S: Widen<E>, E: ProductElement>(pack: &PackArguments) {
    for_each_segment(pack, size_of::<E>(), E::IS_ORDERED, |segment| {
        // SAFETY: the caller ensures panel and source; positions are below the length of the block.
        unsafe { segment_by_elements::<S, E>(pack, &segment, 0..segment.count) }
    });
}

/// Packs some indices of a segment.
///
/// # Safety
/// Like [`PackFn`].
#[inline(always)]
unsafe fn segment_by_elements<S: Widen<E>, E: ProductElement>(
    pack: &PackArguments,
    segment: &PackSegment,
    indices: core::ops::Range<usize>,
) {
    for index in indices {
        let position = segment.order.position(segment.block_index + index);
        let from = segment.from.wrapping_offset((index as isize).wrapping_mul(pack.index_stride));
        // SAFETY: the caller ensures panel, row runs and source.
        unsafe {
            let row = segment.to.cast::<E>().add(position * pack.width);
            for run in core::slice::from_raw_parts(pack.row_runs, pack.row_run_count) {
                let mut element = from.wrapping_offset(run.offset);
                for column in run.first..run.first + run.count {
                    row.add(column).write(element.cast::<S>().read_unaligned().widen());
                    element = element.wrapping_offset(run.stride);
                }
            }
            for column in pack.used_width..pack.width {
                row.add(column).write(E::ZERO);
            }
        }
    }
}

/// Packs pairs of neighbouring indices, element by element.
///
/// # Safety
/// Like [`PackFn`]; the source is also valid for reads of the second element of each pair.
#[inline(always)]
pub(crate) unsafe fn pairs<S: Widen<i16>>(pack: &PackArguments) {
    let mut done = 0;
    for_each_segment(pack, size_of::<FactorPair>(), FactorPair::IS_ORDERED, |segment| {
        for index in 0..segment.count {
            let position = segment.order.position(segment.block_index + index);
            let from =
                segment.from.wrapping_offset((index as isize).wrapping_mul(pack.index_stride));
            let is_alone = pack.tail > 0 && done + index + 1 == pack.index_run_length;
            // SAFETY: the caller ensures panel, row runs and source.
            unsafe {
                let row = segment.to.cast::<FactorPair>().add(position * pack.width);
                for run in core::slice::from_raw_parts(pack.row_runs, pack.row_run_count) {
                    let mut element = from.wrapping_offset(run.offset);
                    for column in run.first..run.first + run.count {
                        let first = element.cast::<S>().read_unaligned().widen();
                        let second = match is_alone {
                            true => 0,
                            false => {
                                let second = element.wrapping_offset(pack.factor_stride);
                                second.cast::<S>().read_unaligned().widen()
                            }
                        };
                        row.add(column).write(FactorPair::new(first, second));
                        element = element.wrapping_offset(run.stride);
                    }
                }
                for column in pack.used_width..pack.width {
                    row.add(column).write(FactorPair(0));
                }
            }
        }
        done += segment.count;
    });
}

/// Packs by vectors from the element type of the panel. A row run that is not contiguous is read at its
/// stride.
///
/// # Safety
/// Like [`PackFn`].
#[inline(always)]
pub(crate) unsafe fn by_vectors<V: Vector>(pack: &PackArguments) {
    let size = size_of::<V::Element>();
    for_each_segment(pack, size, V::Element::IS_ORDERED, |segment| {
        for index in 0..segment.count {
            let position = segment.order.position(segment.block_index + index);
            let from =
                segment.from.wrapping_offset((index as isize).wrapping_mul(pack.index_stride));
            let row = segment.to.wrapping_add(position * pack.width * size);
            // SAFETY: the caller ensures panel, row runs and source. A row with padding
            // (`used_width < width`) has whole vectors, so its last vector lies in the row.
            unsafe {
                if pack.used_width < pack.width {
                    V::zero().store(row.wrapping_add((pack.width - V::LANES) * size));
                }
                for run in core::slice::from_raw_parts(pack.row_runs, pack.row_run_count) {
                    let to = row.wrapping_add(run.first * size);
                    copy_row_run::<V>(run, from.wrapping_offset(run.offset), to);
                }
            }
        }
    });
}

/// Copies a row run.
///
/// # Safety
/// - `from` is valid for reads of each element of the row run, `to` for writes of as many;
/// - the processor has the instructions of `V`.
#[inline(always)]
unsafe fn copy_row_run<V: Vector>(run: &RowRun, from: *const u8, to: *mut u8) {
    let size = size_of::<V::Element>();
    let is_contiguous = run.stride == size as isize;
    // SAFETY: the caller ensures the elements and the instructions.
    unsafe {
        if run.count == V::LANES && is_contiguous {
            V::load(from).store(to);
        } else if is_contiguous {
            V::load_first(from, run.count).store_first(to, run.count);
        } else if run.count == V::LANES {
            V::load_strided(from, run.stride).store(to);
        } else {
            for index in 0..run.count {
                let from = from.wrapping_offset((index as isize).wrapping_mul(run.stride));
                let element = from.cast::<V::Element>().read_unaligned();
                to.cast::<V::Element>().add(index).write_unaligned(element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RowRun, split_row};

    #[test]
    fn runs_have_one_step_and_cross_no_vector() {
        let offsets = [0, 4, 8, 12, 16, 20, 100, 104, 108, 50, 40, 30, 7];
        let mut runs = [RowRun::default(); 13];
        let count = split_row(&offsets, 4, &mut runs);
        let mut next = 0;
        for run in &runs[..count] {
            assert_eq!(run.first, next);
            assert_eq!(run.first / 4, (run.first + run.count - 1) / 4);
            for index in 0..run.count {
                let offset = run.offset + index as isize * run.stride;
                assert_eq!(offset, offsets[run.first + index]);
            }
            next += run.count;
        }
        assert_eq!(next, offsets.len());
        assert_eq!(count, 6, "{:?}", &runs[..count]);
    }
}
