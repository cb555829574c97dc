//! Chunks of a run, distributed to the calling thread and its helpers.

use core::ops::{ControlFlow, Range};
use core::sync::atomic::{AtomicU64, Ordering};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use smallvec::SmallVec;

use crate::run::team::Caller;

/// Work in chunks, large enough for several threads if helpers are awake.
pub(crate) struct ChunkedWork {
    pub(crate) chunks: usize,
    /// Work of all chunks, in bytes moved.
    pub(crate) bytes: usize,
    /// Number of threads, including the calling thread.
    pub(crate) threads: usize,
}

/// Runs each chunk once, on this thread and helpers from the pool, until `run` returns `Break`.
pub(crate) fn run_chunks<B: Send>(
    work: &ChunkedWork,
    pool: Option<&ThreadPool>,
    run: &(dyn Fn(usize) -> ControlFlow<B> + Sync),
) -> ControlFlow<B> {
    let mut caller = Caller::of_this_thread(pool);
    if !caller.pays_for_helpers(work.bytes) {
        let flow = (0..work.chunks).try_for_each(run);
        caller.store_for_thread();
        return flow;
    }
    let ranges = Ranges::new(work.chunks, work.threads);
    let stopped = Mutex::new(None);
    let panic = caller.run(work.threads - 1, pool, &|thread| {
        let remaining = EmptyOnDrop(&ranges);
        while let Some(chunk) = remaining.0.next(thread) {
            if let ControlFlow::Break(reason) = run(chunk) {
                stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
                break;
            }
        }
    });
    caller.store_for_thread();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
    let stopped = stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
    stopped.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Chunks that have not started: one range for each thread. The chunks of a thread are adjacent, and mostly
/// the same in the next run over the same memory.
struct Ranges(SmallVec<[AtomicU64; 8]>);

/// Bit position of the end of a range in its word; the bits below are the start.
const END_SHIFT: u32 = u64::BITS / 2;

impl Ranges {
    fn new(chunks: usize, threads: usize) -> Ranges {
        let start = |thread: usize| (chunks * thread / threads) as u64;
        let range = |thread: usize| AtomicU64::new(pack_range(start(thread)..start(thread + 1)));
        Ranges((0..threads).map(range).collect())
    }

    /// The next chunk of a thread: the first of its own range, or else the last of another range.
    fn next(&self, thread: usize) -> Option<usize> {
        let others = (1..self.0.len()).map(|step| &self.0[(thread + step) % self.0.len()]);
        let mut stolen = others.filter_map(|range| take_chunk(range, Range::next_back));
        take_chunk(&self.0[thread], Range::next).or_else(|| stolen.next())
    }
}

/// Removes a chunk from a range; `None` if the range is empty. Relaxed order suffices, because a chunk is
/// only a number.
fn take_chunk(range: &AtomicU64, next: impl Fn(&mut Range<u64>) -> Option<u64>) -> Option<usize> {
    let mut taken = None;
    let without_chunk = |word: u64| {
        let mut range = (word & ((1 << END_SHIFT) - 1))..(word >> END_SHIFT);
        taken = next(&mut range);
        taken.map(|_| pack_range(range))
    };
    range.fetch_update(Ordering::Relaxed, Ordering::Relaxed, without_chunk).ok()?;
    taken.map(|chunk| chunk as usize)
}

fn pack_range(range: Range<u64>) -> u64 {
    range.start | range.end << END_SHIFT
}

/// Empties all ranges on drop: after the last chunk, a chunk that stops the run, or a panic.
struct EmptyOnDrop<'a>(&'a Ranges);

impl Drop for EmptyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.0.iter().for_each(|range| range.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_is_taken_once_from_its_own_range_first() {
        for (chunks, threads) in [(1, 2), (7, 3), (16, 2), (100, 7)] {
            let ranges = Ranges::new(chunks, threads);
            let last = threads - 1;
            let mut taken: Vec<usize> = std::iter::from_fn(|| ranges.next(last)).collect();
            let own = chunks - chunks * last / threads;
            assert!(taken[..own].iter().copied().eq(chunks - own..chunks), "{taken:?}");
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..chunks), "{chunks} chunks of {threads} threads");
            assert_eq!(ranges.next(0), None);
        }
    }
}
