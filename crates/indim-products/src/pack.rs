//! Packing: panels of one operand, with the indices of a block in the order of their chains. Holds unsafe
//! code.

use crate::order::{BLOCK, PanelOrder, block_length};
use crate::real::{Real, Widen};

/// The arguments of packing: one run of the summed index in a panel. Strides and offsets are in bytes.
pub(crate) struct PackArguments {
    /// The panel: a row of `width` elements for each index of the piece.
    pub(crate) to: *mut u8,
    /// Elements of a row of the panel.
    pub(crate) width: usize,
    /// The source at the first index of the run.
    pub(crate) from: *const u8,
    /// Offsets of the source for each element of a row.
    pub(crate) offsets: *const isize,
    /// Number of offsets; the other elements of a row become zero.
    pub(crate) live: usize,
    /// Stride of the source between indices.
    pub(crate) step: isize,
    /// Position of the run in the piece.
    pub(crate) first: usize,
    /// Indices of the run.
    pub(crate) count: usize,
    /// Indices of the piece.
    pub(crate) length: usize,
}

/// Packing compiled for a level.
///
/// # Safety
/// - `to` is valid for writes of `length * width` elements, aligned to them;
/// - `offsets` has `live` elements, at most `width`;
/// - the source is valid for reads at each offset and index of the run, and does not overlap the panel;
/// - the run lies in the piece;
/// - the processor has the level.
pub(crate) type PackFn = unsafe fn(&PackArguments);

/// A part of a run in one block.
pub(crate) struct PackSegment {
    /// The block's rows of the panel.
    pub(crate) to: *mut u8,
    /// The source at the first index of the segment.
    pub(crate) from: *const u8,
    /// The first index of the segment in the block.
    pub(crate) within: usize,
    /// Indices of the segment.
    pub(crate) count: usize,
    pub(crate) places: PanelOrder,
}

/// Calls `pack` for the part of the run in each block.
#[inline(always)]
pub(crate) fn for_each_segment(
    pack: &PackArguments,
    size: usize,
    mut visit: impl FnMut(PackSegment),
) {
    let mut done = 0;
    while done < pack.count {
        let position = pack.first + done;
        let (start, within) = (position - position % BLOCK, position % BLOCK);
        let length = block_length(start, pack.length);
        let count = (length - within).min(pack.count - done);
        visit(PackSegment {
            to: pack.to.wrapping_add(start * pack.width * size),
            from: pack.from.wrapping_offset((done as isize).wrapping_mul(pack.step)),
            within,
            count,
            places: PanelOrder::new(length),
        });
        done += count;
    }
}

/// Packs element by element, converting from the source's type.
///
/// # Safety
/// Like [`PackFn`].
#[inline(always)]
pub(crate) unsafe fn run<S: Widen<E>, E: Real>(pack: &PackArguments) {
    for_each_segment(pack, size_of::<E>(), |segment| {
        // SAFETY: the caller ensures panel and source; places are below the length of the block.
        unsafe { segment_by_elements::<S, E>(pack, &segment, 0..segment.count) }
    });
}

/// Packs some indices of a segment.
///
/// # Safety
/// Like [`PackFn`].
#[inline(always)]
pub(crate) unsafe fn segment_by_elements<S: Widen<E>, E: Real>(
    pack: &PackArguments,
    segment: &PackSegment,
    indices: core::ops::Range<usize>,
) {
    for index in indices {
        let place = segment.places.of(segment.within + index);
        let from = segment.from.wrapping_offset((index as isize).wrapping_mul(pack.step));
        // SAFETY: the caller ensures panel, offsets and source.
        unsafe {
            let row = segment.to.cast::<E>().add(place * pack.width);
            for column in 0..pack.live {
                let element = from.wrapping_offset(*pack.offsets.add(column));
                row.add(column).write(element.cast::<S>().read_unaligned().widen());
            }
            for column in pack.live..pack.width {
                row.add(column).write(E::ZERO);
            }
        }
    }
}
