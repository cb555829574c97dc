//! The block executor: runs a program over tiles. Holds unsafe code.
//!
//! For each tile the slots get their addresses: dense memory is used where it is, other operands are
//! gathered into a register, and results go straight to dense outputs. Then every step runs over the
//! tile. An operand whose tile has not moved since the last one stays in its register.

use core::cell::RefCell;
use core::ops::Range;

use crate::blocks::chain::pieces::{Link, Rows};
use crate::blocks::memory::{Run, gather, scatter, settle};
use crate::blocks::program::{Program, REGISTER_BYTES, Work};
use crate::blocks::wiring::{Destination, Wiring};
use crate::walk::{Plan, TileLayout};

/// One cache line; what the workspace is made of.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

/// What a thread needs to run tiles, kept between runs.
#[derive(Default)]
struct Workspace {
    registers: Vec<Line>,
    /// The address of each slot's block.
    slots: Vec<*mut u8>,
    /// The links of the program's chains, with the addresses of this tile's operands.
    links: Vec<Link>,
    /// For each access, what its register holds.
    gathered: Vec<Gathered>,
    /// The index along each outer axis.
    outer: Vec<usize>,
    /// For each operand, the offset in bytes that the outer indices make.
    offsets: Vec<isize>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// The addresses of the first elements: the stores first, then the accesses.
pub(crate) struct Bases<'a>(pub(crate) &'a [*mut u8]);

// SAFETY: the addresses are of arrays that the caller of `run_tiles` lends for the run; threads
// write disjoint tiles.
unsafe impl Sync for Bases<'_> {}

/// Runs `program` over some of the tiles of `plan`.
///
/// # Safety
/// - `bases` are the first elements of the program's stores and accesses, in this order, `plan` was
///   made from their shapes and strides, and `wiring` for the plan: every element it reaches is valid
///   for reads, and for writes of the stores;
/// - no store overlaps another operand, but for one that is not direct and lies exactly over an access
///   that moves as it does; nobody else uses the stores' elements in `tiles`;
/// - the processor has the level for which the program was compiled.
pub(crate) unsafe fn run_tiles(
    program: &Program,
    plan: &Plan,
    wiring: &Wiring,
    bases: &Bases<'_>,
    tiles: Range<usize>,
) {
    WORKSPACE.with_borrow_mut(|workspace| {
        workspace.prepare(wiring, program.accesses().len());
        let Workspace { slots, links, gathered, outer, offsets, .. } = workspace;
        let mut walk = Walk::new(plan, tiles.start, outer, offsets);
        let mut executor =
            Executor { program, plan, wiring, bases: bases.0, slots, links, gathered };
        for _ in tiles {
            // SAFETY: the caller's promise, for one of the tiles.
            unsafe { executor.run_tile(&walk) }
            walk.advance();
        }
        if wiring.streams {
            settle();
        }
    });
}

impl Workspace {
    /// Gives each slot with a register its address, and forgets what registers held.
    fn prepare(&mut self, wiring: &Wiring, accesses: usize) {
        let lines = wiring.register_count * (REGISTER_BYTES / size_of::<Line>());
        if self.registers.len() < lines {
            self.registers.resize(lines, Line([0; 64]));
        }
        let first = self.registers.as_mut_ptr().cast::<u8>();
        let address = |register: Option<usize>| match register {
            Some(offset) => first.wrapping_add(offset),
            None => core::ptr::null_mut(),
        };
        self.slots.clear();
        self.slots.extend(wiring.registers.iter().map(|&register| address(register)));
        self.links.clear();
        let link = |&kind| Link { kind, operand: core::ptr::null() };
        self.links.extend(wiring.links.iter().map(link));
        self.gathered.clear();
        self.gathered.resize(accesses, Gathered { source: core::ptr::null(), count: 0 });
    }
}

/// A position among the tiles.
struct Walk<'a> {
    plan: &'a Plan,
    outer: &'a mut Vec<usize>,
    offsets: &'a mut Vec<isize>,
    /// The tile along the tile axis.
    tile: usize,
    /// Steps before this tile.
    first_step: usize,
    /// Steps in this tile.
    steps: usize,
}

impl<'a> Walk<'a> {
    fn new(
        plan: &'a Plan,
        tile: usize,
        outer: &'a mut Vec<usize>,
        offsets: &'a mut Vec<isize>,
    ) -> Self {
        let along_axis = plan.tiles_along_axis();
        outer.clear();
        outer.resize(plan.outer_sizes.len(), 0);
        let mut row = tile / along_axis;
        for (index, &size) in outer.iter_mut().zip(&plan.outer_sizes).rev() {
            *index = row % size;
            row /= size;
        }
        offsets.clear();
        offsets.extend(plan.operands.iter().map(|operand| {
            let along = outer.iter().zip(&operand.outer_strides);
            operand.offset + along.map(|(&index, &stride)| index as isize * stride).sum::<isize>()
        }));
        let mut walk =
            Walk { plan, outer, offsets, tile: tile % along_axis, first_step: 0, steps: 0 };
        walk.set_steps();
        walk
    }

    fn set_steps(&mut self) {
        self.first_step = self.tile * self.plan.tile_steps;
        // Past the last tile there are none.
        self.steps = self.plan.tile_steps.min(self.plan.tile_axis.saturating_sub(self.first_step));
    }

    fn advance(&mut self) {
        self.tile += 1;
        if self.first_step + self.steps == self.plan.tile_axis {
            self.tile = 0;
            self.advance_outer();
        }
        self.set_steps();
    }

    fn advance_outer(&mut self) {
        let plan = self.plan;
        for axis in (0..self.outer.len()).rev() {
            self.outer[axis] += 1;
            let has_wrapped = self.outer[axis] == plan.outer_sizes[axis];
            let distance = if has_wrapped { 1 - plan.outer_sizes[axis] as isize } else { 1 };
            for (offset, operand) in self.offsets.iter_mut().zip(&plan.operands) {
                *offset += distance * operand.outer_strides[axis];
            }
            if !has_wrapped {
                return;
            }
            self.outer[axis] = 0;
        }
    }
}

/// What a register of an access holds.
#[derive(Clone, Copy)]
struct Gathered {
    source: *const u8,
    count: usize,
}

struct Executor<'a> {
    program: &'a Program,
    plan: &'a Plan,
    wiring: &'a Wiring,
    bases: &'a [*mut u8],
    slots: &'a mut [*mut u8],
    links: &'a mut [Link],
    gathered: &'a mut [Gathered],
}

impl Executor<'_> {
    /// # Safety
    /// As [`run_tiles`], for the tile at `walk`.
    unsafe fn run_tile(&mut self, walk: &Walk<'_>) {
        let count = walk.steps * self.plan.step_elements;
        // SAFETY: the caller's promise; slots hold `count` elements, a block at most.
        unsafe {
            self.bind_stores(walk);
            self.bind_accesses(walk, count);
            self.run_steps(walk.steps);
            self.write_stores(walk);
        }
    }

    /// # Safety
    /// The slots hold the elements of `steps` steps.
    unsafe fn run_steps(&mut self, steps: usize) {
        for (link, template) in self.links.iter_mut().zip(&self.program.links) {
            link.operand = self.slots[template.slot].cast_const();
        }
        let elements = self.plan.step_elements;
        let rows = match self.wiring.by_rows {
            true => Rows { count: steps, elements, step: 0, streams: false },
            false => Rows { count: 1, elements: steps * elements, step: 0, streams: false },
        };
        let mut links = &mut self.links[..];
        for (step, target) in self.program.steps.iter().zip(&self.wiring.destinations) {
            let destination = self.slots[step.destination];
            // SAFETY: the caller's promise; a destination's register is none of its sources.
            unsafe {
                match step.work {
                    Work::Kernel { kernel, sources } => {
                        let sources = sources.map(|slot| self.slots[slot].cast_const());
                        kernel(destination, sources, steps * elements);
                    }
                    Work::Chain { chain, links: length } => {
                        let (own, rest) = links.split_at_mut(length);
                        let &Destination { step, streams } = target;
                        chain(destination, own, Rows { step, streams, ..rows });
                        links = rest;
                    }
                }
            }
        }
    }

    /// The address of the first element of operand `operand` in the tile.
    fn tile_address(&self, operand: usize, walk: &Walk<'_>) -> *mut u8 {
        let step = walk.first_step as isize * self.plan.operands[operand].step_stride;
        self.bases[operand].wrapping_offset(walk.offsets[operand] + step)
    }

    fn bind_stores(&mut self, walk: &Walk<'_>) {
        for (store, target) in self.program.stores().iter().enumerate() {
            if self.wiring.is_direct[store] {
                self.slots[self.program.slot(target.source)] = self.tile_address(store, walk);
            }
        }
    }

    /// # Safety
    /// As [`run_tiles`].
    unsafe fn bind_accesses(&mut self, walk: &Walk<'_>, count: usize) {
        let stores = self.wiring.is_direct.len();
        for access in 0..self.gathered.len() {
            let source = self.tile_address(stores + access, walk);
            if self.wiring.registers[access].is_none() {
                self.slots[access] = source;
                continue;
            }
            let repeated = [Run { count: self.plan.step_elements, stride: 0 }];
            let runs = match &self.plan.operands[stores + access].layout {
                TileLayout::Strided(runs) => &runs[..],
                _ => &repeated,
            };
            let held = self.gathered[access];
            if held.source == source.cast_const() && held.count >= count {
                continue;
            }
            let size = self.program.accesses()[access].array_type.dtype.size();
            let step_stride = self.plan.operands[stores + access].step_stride;
            let steps = Run { count: walk.steps, stride: step_stride };
            // SAFETY: the runs of this tile lie in the access's array, the register holds a block.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let to = self.slots[access].wrapping_add(block_offset);
                gather(to, source.wrapping_offset(offset), steps, run, size);
            });
            self.gathered[access] = Gathered { source, count };
        }
    }

    /// # Safety
    /// As [`run_tiles`].
    unsafe fn write_stores(&mut self, walk: &Walk<'_>) {
        for (store, target) in self.program.stores().iter().enumerate() {
            if self.wiring.is_direct[store] {
                continue;
            }
            let operand = &self.plan.operands[store];
            let size = target.target.array_type.dtype.size();
            let to = self.tile_address(store, walk);
            let from = self.slots[self.program.slot(target.source)].cast_const();
            let steps = Run { count: walk.steps, stride: operand.step_stride };
            let whole = [Run { count: self.plan.step_elements, stride: size as isize }];
            let runs = match &operand.layout {
                TileLayout::Strided(runs) => runs,
                _ => &whole[..],
            };
            // SAFETY: the runs of this tile lie in the store's array, the slot holds a block.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let from = from.wrapping_add(block_offset);
                scatter(to.wrapping_offset(offset), from, steps, run, size);
            });
        }
    }
}

/// The most levels of a tile's runs: one for the steps, and axes of at least two elements in a block.
const MOST_LEVELS: usize = 1 + REGISTER_BYTES.ilog2() as usize;

/// Calls `each` with the two innermost levels of a tile's runs at every position of the outer ones:
/// the offset in the block, the offset in memory, and the two levels.
fn for_each_run(
    runs: &[Run],
    steps: Run,
    element_size: usize,
    mut each: impl FnMut(usize, isize, Run, Run),
) {
    let once = Run { count: 1, stride: 0 };
    let [first, rest @ ..] = runs else { return };
    let mut levels = [once; MOST_LEVELS];
    // One run a step: the steps continue it (`merge_runs`), or it is a single element.
    levels[0] = match first.count == 1 && !rest.is_empty() {
        true => steps,
        false => Run { count: first.count * steps.count, ..*first },
    };
    levels[1..runs.len()].copy_from_slice(rest);
    let (outer, inner_steps, run) = match &levels[..runs.len()] {
        [outer @ .., steps, run] => (outer, *steps, *run),
        _ => (&[][..], once, levels[0]),
    };
    let block_bytes = run.count * inner_steps.count * element_size;
    let mut index = [0; MOST_LEVELS];
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
mod tests {
    use super::*;

    /// The offsets in memory of all elements, in the order of the block.
    fn offsets(runs: &[Run], steps: Run) -> Vec<isize> {
        let mut found = Vec::new();
        for_each_run(runs, steps, 1, |block_offset, offset, steps, run| {
            assert_eq!(block_offset, found.len());
            for step in 0..steps.count as isize {
                let along = |i: usize| offset + step * steps.stride + i as isize * run.stride;
                found.extend((0..run.count).map(along));
            }
        });
        found
    }

    #[test]
    fn as_many_levels_as_a_block_can_have() {
        let steps = Run { count: 1, stride: 0 };
        // The bits of the position in the block, in reverse: no two levels merge.
        let bits = REGISTER_BYTES.ilog2();
        let mut runs = vec![Run { count: 1, stride: 0 }];
        runs.extend((0..bits).map(|bit| Run { count: 2, stride: 1 << bit }));
        let reversed = |position: usize| (position.reverse_bits() >> (usize::BITS - bits)) as isize;
        let expected: Vec<isize> = (0..REGISTER_BYTES).map(reversed).collect();
        assert_eq!(offsets(&runs, steps), expected);
    }

    #[test]
    fn steps_continue_the_first_run_or_lie_around_it() {
        let steps = Run { count: 3, stride: 100 };
        let run = |count, stride| Run { count, stride };
        assert_eq!(offsets(&[run(1, 100)], steps), [0, 100, 200]);
        assert_eq!(offsets(&[run(2, 50)], steps), [0, 50, 100, 150, 200, 250]);
        assert_eq!(offsets(&[run(1, 0), run(2, 7)], steps), [0, 7, 100, 107, 200, 207]);
        assert_eq!(
            offsets(&[run(1, 0), run(2, 30), run(2, -1)], run(2, 100)),
            [0, -1, 30, 29, 100, 99, 130, 129]
        );
    }
}
