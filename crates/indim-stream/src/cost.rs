//! The I/O cost of a job: bytes moved between memory and storage, for pieces of one shape.
//!
//! A run of bytes that lie together costs some more than its bytes, and so does a piece; a chunk is read as a
//! whole.

use indim_shape::Shape;

use crate::input::StorageInfo;
use crate::job::{Job, Operand};

/// Cost of one seek, in bytes: the bytes a sequential read moves in that time.
const RUN_BYTES: u128 = 16 << 10;

/// Cost of starting a piece, in bytes.
const PIECE_BYTES: u128 = 256 << 10;

/// The cost of the job with pieces of this shape, in bytes.
pub(crate) fn cost(job: &Job, piece: &[usize]) -> u128 {
    let counts = job.counts(piece);
    let pieces: u128 = counts.iter().map(|&count| count as u128).product();
    let read = job.inputs.iter().filter(|(_, stored)| !stored.is_held).map(|(operand, stored)| {
        let visits = visits(job, operand, &counts);
        visits.saturating_mul(moved(operand, stored, piece))
    });
    let written =
        job.outputs.iter().flat_map(|output| {
            let is_reduced = job.reduced.is_some();
            output.sinks.iter().filter(move |_| !is_reduced).map(move |(_, stored)| {
                pieces.saturating_mul(moved(&output.operand, stored, piece))
            })
        });
    let begun = pieces.saturating_mul(PIECE_BYTES);
    read.chain(written).fold(begun, u128::saturating_add)
}

/// How often a region of an operand is read. A region that the next piece shares stays in memory for it.
fn visits(job: &Job, operand: &Operand, counts: &[usize]) -> u128 {
    let order = job.order();
    let moves = |axis: &usize| counts[*axis] > 1 && operand.axes.contains(&Some(*axis));
    let last = order.iter().rposition(moves);
    let outer = last.map_or(&[][..], |last| &order[..=last]);
    outer.iter().map(|&axis| counts[axis] as u128).product()
}

/// The cost of one region of an operand, in bytes.
fn moved(operand: &Operand, stored: &StorageInfo, piece: &[usize]) -> u128 {
    let (shape, extents) = (&operand.array_type.shape, operand.extents(piece));
    let size = operand.array_type.dtype.size() as u128;
    if let Some(chunks) = &stored.chunks {
        let along = |((&extent, &chunk), &whole): ((&usize, &usize), &usize)| {
            let chunk = chunk.max(1);
            let touched = match extent {
                _ if extent >= whole => whole.div_ceil(chunk),
                _ if extent % chunk == 0 => extent / chunk,
                _ => (extent / chunk + 2).min(whole.div_ceil(chunk)),
            };
            touched as u128 * chunk as u128
        };
        let touched = extents.iter().zip(chunks).zip(shape.iter()).map(along);
        return touched.fold(size, u128::saturating_mul);
    }
    let elements: u128 = extents.iter().map(|&extent| extent as u128).product();
    let runs = elements / run(shape, &extents, stored.is_column_major).max(1);
    elements.saturating_mul(size).saturating_add(runs.saturating_mul(RUN_BYTES))
}

/// The number of contiguous elements in one run of a region.
fn run(shape: &Shape, extents: &Shape, is_column_major: bool) -> u128 {
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
