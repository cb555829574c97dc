//! Distribution of a nest's tiles to threads. Holds unsafe code.

use core::ops::{ControlFlow, Range};

#[cfg(feature = "rayon")]
use crate::run::chunks::{self, ChunkedWork};
use crate::run::options::{RunOptions, Threads};
use indim_executors::{Bases, BoundNest};

/// Work, in bytes moved, from which several threads run a nest if they are awake: some 10 microseconds.
const MIN_PARALLEL_BYTES: usize = 1024 * 1024;

/// Minimum work of a chunk, in bytes moved.
const MIN_CHUNK_BYTES: usize = 256 * 1024;

/// Chunks per thread, so that a delayed thread does not delay the run.
const CHUNKS_PER_THREAD: usize = 8;

/// Maximum work of a chunk, in bytes moved: it bounds the time between calls of `progress`, and the wait for
/// the last thread.
const MAX_CHUNK_BYTES: usize = 8 * 1024 * 1024;

/// Whether work of this many bytes moved is enough for several threads.
pub(crate) fn is_parallel(work: usize) -> bool {
    work >= MIN_PARALLEL_BYTES
}

/// Runs a nest of `work` bytes, on several threads if that pays, until `progress` stops it.
///
/// # Safety
/// Like [`BoundNest::prepare`], for all tiles.
pub(crate) unsafe fn run(
    work: usize,
    bound: &dyn BoundNest,
    bases: &Bases<'_>,
    options: &RunOptions<'_>,
) -> ControlFlow<()> {
    if !is_parallel(work) {
        // SAFETY: the caller has the same obligations.
        return unsafe { bound.run_whole(work, bases, options.progress) };
    }
    let bound = bound.tier_up(work).unwrap_or(bound);
    let bound = match bound.split_for_threads() {
        Some(divided) if options.threads.count() > 1 => divided,
        _ => bound,
    };
    // SAFETY: the caller has the obligations for all tiles; all tiles of the first pass run before `prepare`,
    // which returns before the first tile, and `finish` runs after the last one.
    unsafe {
        if let Some(first_pass) = bound.first_pass() {
            run_tiles(work, first_pass, bases, options)?;
        }
        bound.prepare(bases, options.progress)?;
        run_tiles(work, bound, bases, options)?;
        bound.finish(bases);
    }
    ControlFlow::Continue(())
}

/// Runs all tiles.
///
/// # Safety
/// Like [`BoundNest::run`], for all tiles.
unsafe fn run_tiles(
    work: usize,
    bound: &dyn BoundNest,
    bases: &Bases<'_>,
    options: &RunOptions<'_>,
) -> ControlFlow<()> {
    run_in_parallel(bound.tiles(), work, options.threads, |tiles| {
        // SAFETY: the caller has the obligations for all tiles; `run_in_parallel` runs each once, on one
        // thread.
        unsafe { bound.run_with_progress(bases, tiles, options.progress) }
    })
}

/// Runs `tiles` tiles, each once, in parallel if their `bytes` of work pay for it, until `run` stops it.
pub(crate) fn run_in_parallel<B: Send>(
    tiles: usize,
    bytes: usize,
    threads: Threads<'_>,
    run: impl Fn(Range<usize>) -> ControlFlow<B> + Sync,
) -> ControlFlow<B> {
    if !is_parallel(bytes) {
        return run(0..tiles);
    }
    let count = threads.count();
    let max_chunks = (bytes / MAX_CHUNK_BYTES).max(count * CHUNKS_PER_THREAD);
    let chunks = (bytes / MIN_CHUNK_BYTES).min(max_chunks).min(tiles).clamp(1, u32::MAX as usize);
    let run_chunk = |chunk: usize| run(tiles * chunk / chunks..tiles * (chunk + 1) / chunks);
    #[cfg(feature = "rayon")]
    if count.min(chunks) > 1 {
        let work = ChunkedWork { chunks, bytes, threads: count.min(chunks) };
        return chunks::run_chunks(&work, threads.pool(), &run_chunk);
    }
    (0..chunks).try_for_each(run_chunk)
}
