//! How the tiles of a plan are shared out among threads.

use core::ops::{ControlFlow, Range};

use indim_graph::lower::loop_nest::Access;
#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::blocks::execute::{Bases, run_tiles};
use crate::blocks::program::{Program, Step, Work};
use crate::blocks::wiring::Wiring;
use crate::run::options::Progress;
use crate::walk::Plan;

/// Below this much work, measured in bytes moved, a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1024 * 1024;

/// A thread takes at least this much work at a time, in bytes moved.
const CHUNK_BYTES: usize = 256 * 1024;

/// Chunks per thread, so that a thread that is held up does not hold up all.
const CHUNKS_PER_THREAD: usize = 8;

/// Between two calls of `progress` a thread does about this much work.
const PIECE_BYTES: usize = 8 * 1024 * 1024;

/// A link of a chain weighs as much as this many bytes moved.
const BYTES_PER_LINK: usize = 2;

/// A kernel of its own weighs as much as this many bytes moved, because most are functions: `exp` of f32
/// takes as long as 40 bytes, `sin` as 120.
const BYTES_PER_KERNEL: usize = 48;

/// The threads that a run may use: those of the current pool, or one without the feature `rayon`.
pub(crate) fn thread_count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Whether a run is work enough for several threads.
pub(crate) fn is_parallel(program: &Program) -> bool {
    work(program) >= SERIAL_BYTES
}

/// Runs all tiles of `plan`, by several threads where that pays, until `progress` stops it.
///
/// # Safety
/// As [`run_tiles`], for all tiles.
pub(crate) unsafe fn run(
    program: &Program,
    plan: &Plan,
    wiring: &Wiring,
    bases: &Bases<'_>,
    progress: &Progress<'_>,
) -> ControlFlow<()> {
    let tiles = plan.tiles();
    let per_tile = plan.tile_steps * plan.step_elements;
    let run_chunk = |range: Range<usize>| {
        let elements = range.len() * per_tile;
        // SAFETY: the caller's promise; the ranges of the chunks are disjoint.
        unsafe { run_tiles(program, plan, wiring, bases, range) }
        progress(elements)
    };
    let bytes = work(program);
    if bytes < SERIAL_BYTES {
        return run_chunk(0..tiles);
    }
    let threads = thread_count();
    let chunks = (bytes / CHUNK_BYTES).clamp(1, tiles.min(threads * CHUNKS_PER_THREAD));
    let pieces = (bytes / chunks / PIECE_BYTES).max(1);
    // A chunk is run in pieces, between which the run can be stopped.
    let run_pieces = |chunk: usize| {
        let chunk = tiles * chunk / chunks..tiles * (chunk + 1) / chunks;
        let at = |piece: usize| chunk.start + chunk.len() * piece / pieces;
        (0..pieces).try_for_each(|piece| run_chunk(at(piece)..at(piece + 1)))
    };
    #[cfg(feature = "rayon")]
    if threads > 1 {
        return (0..chunks).into_par_iter().try_for_each(run_pieces);
    }
    (0..chunks).try_for_each(run_pieces)
}

/// The weight of a whole run, however its arrays lie in memory.
fn work(program: &Program) -> usize {
    let elements =
        program.sizes().iter().fold(1usize, |product, &size| product.saturating_mul(size));
    elements.saturating_mul(bytes_per_element(program))
}

/// The weight of one element: what is moved and what is computed.
fn bytes_per_element(program: &Program) -> usize {
    let size = |access: &Access| access.array_type.dtype.size();
    let read: usize = program.accesses().iter().map(size).sum();
    let written: usize = program.stores().iter().map(|store| size(&store.target)).sum();
    let weight = |step: &Step| match step.work {
        Work::Kernel { .. } => BYTES_PER_KERNEL,
        Work::Chain { links, .. } => links * BYTES_PER_LINK,
    };
    read + written + program.steps.iter().map(weight).sum::<usize>()
}
