//! How the tiles of a nest are shared out among threads. Holds unsafe code.

use core::ops::{ControlFlow, Range};

#[cfg(feature = "rayon")]
use rayon::prelude::*;

use crate::executor::{Bases, BoundNest};
use crate::run::options::Progress;

/// Below this much work, measured in bytes moved, a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1024 * 1024;

/// A thread takes at least this much work at a time, in bytes moved.
const CHUNK_BYTES: usize = 256 * 1024;

/// Chunks per thread, so that a thread that is held up does not hold up all.
const CHUNKS_PER_THREAD: usize = 8;

/// Between two calls of `progress` a thread does about this much work.
const PIECE_BYTES: usize = 8 * 1024 * 1024;

/// The threads that a run may use: those of the current pool, or one without the feature `rayon`.
pub(crate) fn thread_count() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Whether so much work, in bytes moved, is enough for several threads.
pub(crate) fn is_parallel(work: usize) -> bool {
    work >= SERIAL_BYTES
}

/// Runs a nest of so much work, by several threads where that pays, until `progress` stops it.
///
/// # Safety
/// As [`BoundNest::run`], for all tiles.
pub(crate) unsafe fn run(
    work: usize,
    bound: &dyn BoundNest,
    bases: &Bases<'_>,
    progress: &Progress<'_>,
) -> ControlFlow<()> {
    let bound = bound.instead(work).unwrap_or(bound);
    // SAFETY: the caller's promise; the tiles have been run when they are finished.
    unsafe {
        bound.prepare(bases);
        run_tiles(work, bound, bases, progress)?;
        bound.finish(bases);
    }
    ControlFlow::Continue(())
}

/// # Safety
/// As [`BoundNest::run`], for all tiles.
unsafe fn run_tiles(
    work: usize,
    bound: &dyn BoundNest,
    bases: &Bases<'_>,
    progress: &Progress<'_>,
) -> ControlFlow<()> {
    let per_tile = bound.tile_elements();
    share(bound.tiles(), work, |tiles| {
        let elements = tiles.len() * per_tile;
        // SAFETY: the caller's promise; the ranges are disjoint.
        unsafe { bound.run(bases, tiles) }
        progress(elements)
    })
}

/// Has `run` do so many tiles of together so many bytes of work, each once: by several threads where that
/// pays, until it stops.
pub(crate) fn share<B: Send>(
    tiles: usize,
    bytes: usize,
    run: impl Fn(Range<usize>) -> ControlFlow<B> + Sync,
) -> ControlFlow<B> {
    if bytes < SERIAL_BYTES {
        return run(0..tiles);
    }
    let threads = thread_count();
    let chunks = (bytes / CHUNK_BYTES).clamp(1, tiles.min(threads * CHUNKS_PER_THREAD));
    let pieces = (bytes / chunks / PIECE_BYTES).max(1);
    // A chunk is run in pieces, between which the run can be stopped.
    let run_pieces = |chunk: usize| {
        let chunk = tiles * chunk / chunks..tiles * (chunk + 1) / chunks;
        let at = |piece: usize| chunk.start + chunk.len() * piece / pieces;
        (0..pieces).try_for_each(|piece| run(at(piece)..at(piece + 1)))
    };
    #[cfg(feature = "rayon")]
    if threads > 1 {
        return (0..chunks).into_par_iter().try_for_each(run_pieces);
    }
    (0..chunks).try_for_each(run_pieces)
}
