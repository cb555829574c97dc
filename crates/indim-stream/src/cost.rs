//! The I/O cost of a job: bytes moved between memory and storage, for pieces of one shape.
//!
//! Each piece has a fixed cost in addition to its bytes. In storage without chunks, each contiguous run
//! of bytes has one too. A chunk is read as a whole.

use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::extents::common_multiple;
use crate::input::StorageInfo;
use crate::job::{Job, JobOperand};
use crate::rows::RowOrder;

/// Cost of one seek, in bytes: the bytes that a sequential read moves in the time of a seek.
const SEEK_COST_BYTES: u128 = 16 << 10;

/// Cost of starting a piece, in bytes.
const PIECE_COST_BYTES: u128 = 256 << 10;

/// The cost of the job with pieces of this shape, in bytes. The outputs of a reducing job do not count.
pub(crate) fn cost(job: &Job, piece: &[usize]) -> u128 {
    let counts = job.piece_counts(piece);
    let pieces: u128 = counts.iter().map(|&count| count as u128).product();
    let read =
        job.inputs.iter().filter(|(_, stored)| !stored.is_in_memory).map(|(operand, stored)| {
            match decoded_bytes(job, operand, stored, piece) {
                Some(bytes) => bytes,
                None => region_read_count(job, operand, &counts)
                    .saturating_mul(unchunked_region_cost(operand, stored, piece)),
            }
        });
    let written = job.outputs.iter().flat_map(|output| {
        let is_reduced = job.reduced.is_some();
        let sinks = output.sinks.iter().filter(move |_| !is_reduced);
        sinks.map(|(_, stored)| {
            let chunked = decoded_bytes(job, &output.operand, stored, piece);
            chunked.unwrap_or_else(|| {
                pieces.saturating_mul(unchunked_region_cost(&output.operand, stored, piece))
            })
        })
    });
    let begun = pieces.saturating_mul(PIECE_COST_BYTES);
    let carried = match job.row_order {
        RowOrder::Independent => 0,
        // The lanes are read and written once for every few rows. The estimate is one byte for each
        // element of the job.
        RowOrder::Carried | RowOrder::LaneGroups(_) => {
            job.shape.iter().map(|&size| size as u128).product::<u128>()
        }
    };
    read.chain(written).chain([carried]).fold(begun, u128::saturating_add)
}

/// The bytes that all pieces together decode of an operand, or write: whole chunks, each counted as often as
/// it is decoded. `None` for storage without chunks.
pub(crate) fn decoded_bytes(
    job: &Job,
    operand: &JobOperand,
    stored: &StorageInfo,
    piece: &[usize],
) -> Option<u128> {
    let (shape, counts) = (&operand.array_type.shape, job.piece_counts(piece));
    let chunks = stored.chunks.as_ref()?;
    let decoded = |((&axis, &size), &chunk): ((&Option<usize>, &usize), &usize)| {
        let chunk = chunk.max(1);
        let touched = match axis {
            Some(axis) if !job.is_by_lanes(axis) => touched_chunk_count(size, piece[axis], chunk),
            // Groups of lanes consist of whole chunks.
            _ => size.div_ceil(chunk),
        };
        touched as u128 * chunk as u128
    };
    let once = operand.axes.iter().zip(shape.iter()).zip(chunks).map(decoded);
    let once = once.fold(operand.array_type.dtype.size() as u128, u128::saturating_mul);
    // Pieces along axes that do not cut the operand visit it again.
    let moves = |axis: &usize| operand.axes.contains(&Some(*axis));
    let own = (0..counts.len()).filter(moves).map(|axis| counts[axis] as u128).product::<u128>();
    Some(once.saturating_mul(region_read_count(job, operand, &counts) / own.max(1)))
}

/// The bytes of all chunks of an array.
pub(crate) fn stored_bytes(array_type: &ArrayType, chunks: &[usize]) -> u128 {
    let whole = |(&size, &chunk): (&usize, &usize)| size.next_multiple_of(chunk.max(1)) as u128;
    let sizes = array_type.shape.iter().zip(chunks).map(whole);
    sizes.fold(array_type.dtype.size() as u128, u128::saturating_mul)
}

/// The number of chunks that all pieces together touch along an axis: the number of intervals between the
/// borders of pieces and of chunks.
fn touched_chunk_count(size: usize, extent: usize, chunk: usize) -> usize {
    let (pieces, chunks) = (size.div_ceil(extent.max(1)), size.div_ceil(chunk));
    // Borders of both pieces and chunks are counted once.
    let common = common_multiple(extent.max(1), chunk, size);
    let shared = size.saturating_sub(1) / common.max(1);
    (pieces + chunks).saturating_sub(1 + shared)
}

/// The number of region reads of an operand. If the next piece has the same region, it is not read again.
fn region_read_count(job: &Job, operand: &JobOperand, counts: &[usize]) -> u128 {
    let order = job.order();
    let moves = |axis: &usize| counts[*axis] > 1 && operand.axes.contains(&Some(*axis));
    let last = order.iter().rposition(moves);
    let outer = last.map_or(&[][..], |last| &order[..=last]);
    outer.iter().map(|&axis| counts[axis] as u128).product()
}

/// The cost, in bytes, of one region of an operand stored without chunks.
fn unchunked_region_cost(operand: &JobOperand, stored: &StorageInfo, piece: &[usize]) -> u128 {
    let (shape, extents) = (&operand.array_type.shape, operand.extents(piece));
    let size = operand.array_type.dtype.size() as u128;
    let elements: u128 = extents.iter().map(|&extent| extent as u128).product();
    let runs = elements / contiguous_run(shape, &extents, stored.is_column_major).max(1);
    elements.saturating_mul(size).saturating_add(runs.saturating_mul(SEEK_COST_BYTES))
}

/// The number of elements in one contiguous run of a region.
fn contiguous_run(shape: &Shape, extents: &Shape, is_column_major: bool) -> u128 {
    let rank = shape.rank();
    let mut run = 1;
    for step in 0..rank {
        let axis = if is_column_major { step } else { rank - 1 - step };
        run *= extents[axis] as u128;
        if extents[axis] != shape[axis] {
            break;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_counted_as_often_as_pieces_touch_them() {
        for size in [1, 7, 24, 100] {
            for extent in [1, 2, 5, 24, 100] {
                for chunk in [1, 3, 6, 24, 100] {
                    let starts = (0..size).step_by(extent);
                    let of_piece = |start: usize| {
                        let end = (start + extent).min(size);
                        end.div_ceil(chunk) - start / chunk
                    };
                    let expected: usize = starts.map(of_piece).sum();
                    assert_eq!(
                        touched_chunk_count(size, extent, chunk),
                        expected,
                        "{size} {extent} {chunk}"
                    );
                }
            }
        }
    }
}
