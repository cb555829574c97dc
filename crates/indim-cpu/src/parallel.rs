//! How the tiles of a plan are shared out among threads.

use indim_graph::lower::loop_nest::Access;
use rayon::prelude::*;

use crate::execute::{Bases, run_tiles};
use crate::plan::Plan;
use crate::program::Program;
use crate::wiring::Wiring;

/// Below this much work, measured in bytes moved, a second thread costs more than it saves.
const SERIAL_BYTES: usize = 1024 * 1024;

/// A thread takes at least this much work at a time, in bytes moved.
const CHUNK_BYTES: usize = 256 * 1024;

/// Chunks per thread, so that a thread that is held up does not hold up all.
const CHUNKS_PER_THREAD: usize = 8;

/// A computed value weighs as much as this many bytes moved.
const BYTES_PER_INSTRUCTION: usize = 2;

/// Runs all tiles of `plan`, by several threads where that pays.
///
/// # Safety
/// As [`run_tiles`], for all tiles.
pub(crate) unsafe fn run(
    program: &Program,
    plan: &Plan,
    wiring: &Wiring,
    bases: &Bases<'_>,
    progress: &(dyn Fn(usize) + Sync),
) {
    let tiles = plan.tiles();
    let per_tile = plan.tile_steps * plan.step_elements;
    let bytes = tiles.saturating_mul(per_tile).saturating_mul(bytes_per_element(program));
    let threads = rayon::current_num_threads();
    let chunks = match bytes < SERIAL_BYTES {
        true => 1,
        false => (bytes / CHUNK_BYTES).clamp(1, tiles.min(threads * CHUNKS_PER_THREAD)),
    };
    let run_chunk = |chunk: usize| {
        let range = tiles * chunk / chunks..tiles * (chunk + 1) / chunks;
        let elements = range.len() * per_tile;
        // SAFETY: the caller's promise; the ranges of the chunks are disjoint.
        unsafe { run_tiles(program, plan, wiring, bases, range) }
        progress(elements);
    };
    match chunks {
        1 => run_chunk(0),
        _ if threads == 1 => (0..chunks).for_each(run_chunk),
        _ => (0..chunks).into_par_iter().for_each(run_chunk),
    }
}

/// The weight of one element: what is moved and what is computed.
fn bytes_per_element(program: &Program) -> usize {
    let size = |access: &Access| access.array_type.dtype.size();
    let read: usize = program.accesses().iter().map(size).sum();
    let written: usize = program.stores().iter().map(|store| size(&store.target)).sum();
    read + written + program.instruction_count() * BYTES_PER_INSTRUCTION
}
