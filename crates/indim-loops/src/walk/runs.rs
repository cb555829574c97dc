//! Runs of a tile: nested loops over strided elements.

/// A run: elements, or inner runs, at a constant stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementRun {
    /// The number of elements, or of inner runs.
    pub count: usize,
    /// The stride in bytes between elements, or between inner runs.
    pub stride: isize,
}

/// Maximum elements of a tile that is gathered or scattered run by run. A tile that uses no blocks may
/// have more.
pub const MAX_TILE_ELEMENTS: usize = 4096;

/// Maximum nesting of a tile's runs: one for the steps, and one for each axis of at least two elements.
const MAX_RUN_DEPTH: usize = 1 + MAX_TILE_ELEMENTS.ilog2() as usize;

/// Calls `each(block_offset, offset, steps, run)` at every position of the outer runs of a tile, with the
/// byte offsets in the block and in memory, and the two innermost runs.
pub fn for_each_run(
    runs: &[ElementRun],
    steps: ElementRun,
    element_size: usize,
    mut each: impl FnMut(usize, isize, ElementRun, ElementRun),
) {
    let once = ElementRun { count: 1, stride: 0 };
    let [first, rest @ ..] = runs else { return };
    let mut levels = [once; MAX_RUN_DEPTH];
    // The first run is one step of the tile. If its count is 1 and it has inner runs, the steps are a loop
    // around these; otherwise the steps continue the first run (see `merge_run`).
    levels[0] = match first.count == 1 && !rest.is_empty() {
        true => steps,
        false => ElementRun { count: first.count * steps.count, ..*first },
    };
    levels[1..runs.len()].copy_from_slice(rest);
    let (outer, inner_steps, run) = match &levels[..runs.len()] {
        [outer @ .., steps, run] => (outer, *steps, *run),
        _ => (&[][..], once, levels[0]),
    };
    let block_bytes = run.count * inner_steps.count * element_size;
    let mut index = [0; MAX_RUN_DEPTH];
    let (mut block_offset, mut offset) = (0, 0isize);
    loop {
        each(block_offset, offset, inner_steps, run);
        block_offset += block_bytes;
        let mut level = outer.len();
        loop {
            if level == 0 {
                return;
            }
            level -= 1;
            index[level] += 1;
            offset += outer[level].stride;
            if index[level] < outer[level].count {
                break;
            }
            offset -= outer[level].stride * outer[level].count as isize;
            index[level] = 0;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runs.rs"]
mod tests;
