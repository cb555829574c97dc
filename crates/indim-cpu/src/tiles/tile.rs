//! The code of a nest bound to a walk, and the loop over its tiles. Holds unsafe code.
//!
//! For each tile the virtual registers get their addresses: dense memory is used in place, other operands
//! are gathered into a block, and results go straight to dense outputs. Then every call runs over the tile.
//! An operand whose tile has not moved stays in its block.

use core::cell::RefCell;
use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::position::Position;
use indim_loops::walk::runs::{Run, for_each_run};
use indim_loops::walk::{MAX_UNGATHERED_ROWS, TileLayout, Walk, has_rows};
use indim_targets::Function;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::REGISTER_BYTES;
use crate::tiles::code::{Callee, TileCode, element_sizes};
use crate::tiles::gather::GatherOperands;
use crate::tiles::memory::{gather, scatter, settle};
use crate::tiles::whole::{Placed, Whole};
use crate::tiles::wiring::Wiring;
use crate::tiles::work;

/// A cache line, the unit of the workspace.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct CacheLine(#[allow(dead_code)] [u8; 64]);

/// Memory of a thread for running tiles, reused between runs.
#[derive(Default)]
pub(super) struct Workspace {
    registers: Vec<CacheLine>,
    /// Address of each virtual register in this tile.
    pub(super) slots: Vec<*mut u8>,
    /// Addresses of the function's outputs, then of its inputs, in this tile.
    pub(super) operands: Vec<*mut u8>,
    /// The gathered elements in each access's block.
    pub(super) gathered: Vec<Gathered>,
    /// The index along each outer axis.
    pub(super) outer: Vec<usize>,
    /// Offset of each operand that the outer indices make, in bytes.
    pub(super) offsets: Vec<isize>,
    /// The lanes and nodes of reductions.
    accumulators: Vec<CacheLine>,
}

/// Bytes before the first block that a function may read when it folds: one step of its loop.
pub(crate) const MARGIN_BYTES: usize = 256;

thread_local! {
    pub(super) static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// The code of a nest under a walk.
#[derive(Debug)]
pub(crate) struct BoundTiles {
    code: Arc<TileCode>,
    walk: Walk,
    wiring: Wiring,
    function: Option<Arc<Function>>,
    whole: Option<Whole>,
}

/// Upper bound of a tile without gathered operands, in blocks.
const LONG_TILE: usize = 16;

/// Upper bound of a tile's work, in bytes moved: that of a chunk, so that threads can share short runs.
const TILE_BYTES: usize = 256 * 1024;

impl BoundTiles {
    /// See [`bind`](crate::tiles::bind).
    pub(crate) fn new(
        code: &Arc<TileCode>,
        nest: &SizedNest<'_>,
        axes: &CoalescedAxes,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Self> {
        let (walk, wiring) = walk(code, nest, axes, strides, is_over_input);
        let function = wiring.find_function(code)?;
        if wiring.has_short_rows(code, &walk) && !has_few_rows(axes) {
            // A function with long steps would run these short rows slowly, so they are gathered.
            return BoundTiles::new(code, nest, axes, strides, is_over_input);
        }
        let whole = Whole::new(code, &walk, &wiring);
        Some(BoundTiles { code: Arc::clone(code), walk, wiring, function, whole })
    }
}

/// The shortest row over these axes that is run row by row; `None` if tiles need dense blocks.
pub(super) fn minimum_row(code: &TileCode, axes: &CoalescedAxes) -> Option<usize> {
    let usual = code.minimum_row()?;
    Some(if has_few_rows(axes) { 1 } else { usual })
}

/// Whether a nest over these axes has few rows.
pub(super) fn has_few_rows(axes: &CoalescedAxes) -> bool {
    let outer = axes.sizes.split_last().map_or(&[][..], |(_, outer)| outer);
    outer.iter().fold(1usize, |rows, &size| rows.saturating_mul(size)) <= MAX_UNGATHERED_ROWS
}

/// The walk of the code over arrays of these strides.
fn walk(
    code: &TileCode,
    nest: &SizedNest<'_>,
    axes: &CoalescedAxes,
    strides: NestStrides<'_>,
    is_over_input: &[bool],
) -> (Walk, Wiring) {
    let sizes = element_sizes(nest.nest);
    let minimum_row = minimum_row(code, axes);
    let with_tiles_of = |block| {
        let walk = Walk::new(axes, &sizes, block, minimum_row);
        let mut wiring = Wiring::new(code, nest, &walk, &code.needs_block, is_over_input, false);
        if code.only_taken.contains(&true) {
            wiring.add_takes(code, axes, &walk, &table_strides(code, nest, strides));
        }
        (walk, wiring)
    };
    let long_tile = long_tile(code, nest);
    // Only a tile over axes of rows keeps all operands in place, unless its strided operands are gathers.
    let are_apart = !code.only_taken.contains(&true)
        && axes.sizes.len() > 1
        && axes.sizes.last().is_some_and(|&length| length <= long_tile)
        && !minimum_row.is_some_and(|minimum| has_rows(axes, &sizes, minimum));
    if code.is_one_pass() && !are_apart {
        let (walk, wiring) = with_tiles_of(long_tile);
        if !wiring.uses_registers() {
            return (walk, wiring);
        }
    }
    with_tiles_of(code.block)
}

/// Upper bound of the elements of a tile without gathered operands.
pub(super) fn long_tile(code: &TileCode, nest: &SizedNest<'_>) -> usize {
    let elements = TILE_BYTES / work::of_element(nest, code.cost).max(1);
    elements.clamp(code.block, code.block * LONG_TILE)
}

/// For each access, the stride of its indexed axis; 0 without one.
fn table_strides(code: &TileCode, nest: &SizedNest<'_>, strides: NestStrides<'_>) -> Vec<isize> {
    let rank = code.nest.shape.rank();
    let of_accesses = &nest.list_strides(strides)[code.nest.stores.len()..];
    of_accesses.iter().map(|strides| strides.get(rank).copied().unwrap_or(0)).collect()
}

impl BoundNest for BoundTiles {
    fn tiles(&self) -> usize {
        self.walk.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.walk.tile_steps * self.walk.step_elements
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        if let (Some(whole), Some(function), Some(wired)) =
            (&self.whole, &self.function, &self.wiring.function)
        {
            let address =
                |placed: Placed| bases.operands[placed.operand].wrapping_offset(placed.offset);
            // SAFETY: the caller vouches for the only tile; the function was compiled for this wiring.
            return unsafe { whole.run(function, &wired.row_strides, address) };
        }
        WORKSPACE.with_borrow_mut(|workspace| {
            workspace.prepare(&self.code, &self.wiring);
            let BoundTiles { code, walk, wiring, function, .. } = self;
            let Workspace { slots, operands, gathered, outer, offsets, .. } = workspace;
            let mut position = Position::new(walk, tiles.start, outer, offsets);
            let (function, bases) = (function.as_deref(), bases.operands);
            let mut tile = Tile { code, walk, wiring, function, bases, slots, operands, gathered };
            for _ in tiles {
                // SAFETY: the caller vouches for `tiles`, this one among them.
                unsafe { tile.run(&position) }
                position.advance();
            }
            if wiring.streams {
                settle();
            }
        });
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundTiles>(1);
        self.whole.iter().for_each(|whole| whole.count_bytes(held));
        self.walk.count_bytes(held);
        self.wiring.count_bytes(held);
    }
}

impl Workspace {
    /// Memory for the lanes and nodes of a reduction, with undefined content.
    pub(super) fn accumulators(&mut self, bytes: usize) -> *mut u8 {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        if self.accumulators.len() < lines {
            self.accumulators.resize(lines, CacheLine([0; 64]));
        }
        self.accumulators.as_mut_ptr().cast()
    }

    /// Gives each virtual register with a block its address, and marks all blocks as empty.
    pub(super) fn prepare(&mut self, code: &TileCode, wiring: &Wiring) {
        let margin = if wiring.folds { MARGIN_BYTES } else { 0 };
        let bytes = wiring.register_count * REGISTER_BYTES + margin;
        let lines = bytes / size_of::<CacheLine>();
        if self.registers.len() < lines {
            self.registers.resize(lines, CacheLine([0; 64]));
        }
        let first = self.registers.as_mut_ptr().cast::<u8>().wrapping_add(margin);
        let address = |register: Option<usize>| match register {
            Some(offset) => first.wrapping_add(offset),
            None => core::ptr::null_mut(),
        };
        self.slots.clear();
        let registers = wiring.registers.iter().chain(&code.registers);
        self.slots.extend(registers.map(|&register| address(register)));
        self.gathered.clear();
        self.gathered
            .resize(wiring.registers.len(), Gathered { source: core::ptr::null(), count: 0 });
    }
}

/// The elements in the block of an access.
#[derive(Clone, Copy)]
pub(super) struct Gathered {
    source: *const u8,
    count: usize,
}

/// The state that the tiles of a run share.
pub(super) struct Tile<'a> {
    pub(super) code: &'a TileCode,
    pub(super) walk: &'a Walk,
    pub(super) wiring: &'a Wiring,
    pub(super) function: Option<&'a Function>,
    pub(super) bases: &'a [*mut u8],
    pub(super) slots: &'a mut [*mut u8],
    pub(super) operands: &'a mut Vec<*mut u8>,
    pub(super) gathered: &'a mut [Gathered],
}

impl Tile<'_> {
    /// # Safety
    /// Like [`BoundNest::run`], for the tile at `position`.
    unsafe fn run(&mut self, position: &Position<'_>) {
        // SAFETY: the caller vouches for the tile at `position`.
        unsafe {
            self.bind_stores(position);
            self.compute(position);
            self.write_stores(position);
        }
    }

    /// Computes the values of all virtual registers.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for the tile at `position`; registers of direct stores have their addresses.
    pub(super) unsafe fn compute(&mut self, position: &Position<'_>) {
        // SAFETY: the caller vouches for the tile, and each register has room for its elements.
        unsafe {
            self.bind(position);
            self.make_calls(position);
            self.run_function(position.steps);
        }
    }

    /// Gives each access its elements of the tile, in place or gathered.
    ///
    /// # Safety
    /// Like [`Tile::compute`].
    pub(super) unsafe fn bind(&mut self, position: &Position<'_>) {
        // SAFETY: the caller vouches for the tile.
        unsafe { self.bind_accesses(position, position.steps * self.walk.step_elements) }
    }

    /// Address of a virtual register's values.
    pub(super) fn slot(&self, slot: usize) -> *const u8 {
        self.slots[slot].cast_const()
    }

    /// # Safety
    /// The virtual registers have the operands of the tile at `position`.
    unsafe fn make_calls(&mut self, position: &Position<'_>) {
        let count = position.steps * self.walk.step_elements;
        for (number, call) in self.code.calls.iter().enumerate() {
            let destination = self.slots[call.destination];
            // SAFETY: the caller vouches for the operands; the allocator never gives a destination the
            // block of a source.
            unsafe {
                match call.callee {
                    Callee::Kernel { kernel, sources } => {
                        let sources = sources.map(|slot| self.slots[slot].cast_const());
                        kernel(destination, sources, count);
                    }
                    Callee::Take { gather, table, indices } => {
                        let take = self.wiring.takes[number].as_ref();
                        let take = take.expect("invariant: wirings know how each call gathers");
                        let [table, indices] = [table, indices].map(|slot| self.slot(slot));
                        let sides = GatherOperands { destination, table, indices };
                        if take.in_place {
                            self.slots[call.destination] = gather.row(&take.walk, sides).cast_mut();
                        } else {
                            gather.take(&take.walk, position.steps, sides);
                        }
                    }
                }
            }
        }
    }

    /// # Safety
    /// The virtual registers have the operands of a tile of this many steps.
    unsafe fn run_function(&mut self, steps: usize) {
        let Some((function, wiring)) = self.function.zip(self.wiring.function.as_ref()) else {
            return;
        };
        let Some(functions) = &self.code.functions else { return };
        self.operands.clear();
        let slots = functions.outputs.iter().chain(&functions.inputs);
        self.operands.extend(slots.map(|&slot| self.slots[slot]));
        let (rows, elements) = self.wiring.rows(steps, self.walk.step_elements);
        // SAFETY:
        // - the caller vouches for the operands;
        // - the function was compiled for their layout;
        // - outputs overlap inputs only exactly, in functions compiled for that.
        unsafe { function.run(self.operands, &wiring.row_strides, rows, elements) }
    }

    /// Address of the first element of operand `operand` in the tile.
    pub(super) fn tile_address(&self, operand: usize, position: &Position<'_>) -> *mut u8 {
        self.bases[operand].wrapping_offset(position.offset(operand))
    }

    fn bind_stores(&mut self, position: &Position<'_>) {
        for (store, target) in self.code.nest.stores.iter().enumerate() {
            if self.wiring.is_direct[store] {
                self.slots[self.code.slot(target.source)] = self.tile_address(store, position);
            }
        }
    }

    /// # Safety
    /// Like [`BoundNest::run`].
    unsafe fn bind_accesses(&mut self, position: &Position<'_>, count: usize) {
        let stores = self.wiring.is_direct.len();
        for access in 0..self.gathered.len() {
            let source = self.tile_address(stores + access, position);
            if self.wiring.registers[access].is_none() {
                self.slots[access] = source;
                continue;
            }
            let held = self.gathered[access];
            if held.source == source.cast_const() && held.count >= count {
                continue;
            }
            let size = self.code.nest.accesses[access].array_type.dtype.size();
            let single = Run { count: self.walk.step_elements, stride: 0 };
            let (steps, runs) = runs(self.walk, stores + access, position, &single);
            // SAFETY: the runs of this tile lie in the access's array, and the block has room for the tile.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let to = self.slots[access].wrapping_add(block_offset);
                gather(to, source.wrapping_offset(offset), steps, run, size);
            });
            self.gathered[access] = Gathered { source, count };
        }
    }

    /// # Safety
    /// Like [`BoundNest::run`].
    unsafe fn write_stores(&mut self, position: &Position<'_>) {
        for (store, target) in self.code.nest.stores.iter().enumerate() {
            if self.wiring.is_direct[store] {
                continue;
            }
            let size = target.target.array_type.dtype.size();
            let to = self.tile_address(store, position);
            let from = self.slots[self.code.slot(target.source)].cast_const();
            let dense = Run { count: self.walk.step_elements, stride: size as isize };
            let (steps, runs) = runs(self.walk, store, position, &dense);
            // SAFETY: the runs of this tile lie in the store's array, and the register has the tile's
            // values.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let from = from.wrapping_add(block_offset);
                scatter(to.wrapping_offset(offset), from, steps, run, size);
            });
        }
    }
}

/// Steps of the tile, and the runs of an operand in one; a whole tile for an operand that is not strided.
fn runs<'r>(
    walk: &'r Walk,
    operand: usize,
    position: &Position<'_>,
    whole: &'r Run,
) -> (Run, &'r [Run]) {
    let operand = &walk.operands[operand];
    let steps = Run { count: position.steps, stride: operand.step_stride };
    match &operand.layout {
        TileLayout::Strided(runs) => (steps, runs),
        _ => (steps, core::slice::from_ref(whole)),
    }
}
