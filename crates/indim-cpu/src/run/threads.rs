//! How the tiles of a nest are shared out among threads. Holds unsafe code.

use core::ops::{ControlFlow, Range};

use crate::executor::{Bases, BoundNest};
#[cfg(feature = "rayon")]
use crate::run::chunks::{self, Work};
use crate::run::options::{RunOptions, Threads};

/// Work of a nest, in bytes moved, below which threads do not even share it while they are awake: some 10
/// microseconds.
const PARALLEL_BYTES: usize = 1024 * 1024;

/// A thread takes at least this much work at a time, in bytes moved.
const CHUNK_BYTES: usize = 256 * 1024;

/// Chunks per thread, so that a thread that is held up does not hold up all.
const CHUNKS_PER_THREAD: usize = 8;

/// Largest chunk, in bytes moved: after each `progress` is called, and threads wait for each other no longer.
const MAX_CHUNK_BYTES: usize = 8 * 1024 * 1024;

/// Whether so much work, in bytes moved, is enough for several threads.
pub(crate) fn is_parallel(work: usize) -> bool {
    work >= PARALLEL_BYTES
}

/// Runs a nest of so much work, by several threads where that pays, until `progress` stops it.
///
/// # Safety
/// As [`BoundNest::run`], for all tiles.
pub(crate) unsafe fn run(
    work: usize,
    bound: &dyn BoundNest,
    bases: &Bases<'_>,
    options: &RunOptions<'_>,
) -> ControlFlow<()> {
    let bound = bound.instead(work).unwrap_or(bound);
    // SAFETY: the caller's promise; the tiles have been run when they are finished.
    unsafe {
        bound.prepare(bases);
        run_tiles(work, bound, bases, options)?;
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
    options: &RunOptions<'_>,
) -> ControlFlow<()> {
    let per_tile = bound.tile_elements();
    share(bound.tiles(), work, options.threads, |tiles| {
        let elements = tiles.len() * per_tile;
        // SAFETY: the caller's promise; the ranges are disjoint.
        unsafe { bound.run(bases, tiles) }
        (options.progress)(elements)
    })
}

/// Runs `tiles` tiles, each once, in parallel if their `bytes` of work pay for it, until `run` stops it.
pub(crate) fn share<B: Send>(
    tiles: usize,
    bytes: usize,
    threads: Threads<'_>,
    run: impl Fn(Range<usize>) -> ControlFlow<B> + Sync,
) -> ControlFlow<B> {
    if !is_parallel(bytes) {
        return run(0..tiles);
    }
    let count = threads.count();
    let most = (bytes / MAX_CHUNK_BYTES).max(count * CHUNKS_PER_THREAD);
    let chunks = (bytes / CHUNK_BYTES).min(most).min(tiles).clamp(1, u32::MAX as usize);
    let run_chunk = |chunk: usize| run(tiles * chunk / chunks..tiles * (chunk + 1) / chunks);
    #[cfg(feature = "rayon")]
    if count.min(chunks) > 1 {
        let work = Work { chunks, bytes, threads: count.min(chunks) };
        return chunks::share(&work, threads.pool(), &run_chunk);
    }
    (0..chunks).try_for_each(run_chunk)
}
