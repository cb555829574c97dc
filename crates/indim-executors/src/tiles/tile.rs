//! The code of a nest bound to a walk, and the loop over its tiles. Holds unsafe code.
//!
//! Each tile binds the virtual registers to addresses: dense memory is used in place, other operands are
//! gathered into a block, and results go straight to dense outputs. Then every call runs over the tile. An
//! operand at the same address as in the last tile stays in its block.

use core::cell::RefCell;
use core::ops::Range;
use std::sync::Arc;

use indim_loops::MemoryUse;
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::coalesce::CoalescedAxes;
use indim_loops::walk::position::Position;
use indim_loops::walk::runs::{ElementRun, for_each_run};
use indim_loops::walk::{
    MAX_UNGATHERED_ROWS, RowForm, RowLimits, TileLayout, Walk, has_rows, with_split_rows,
};
use indim_targets::Function;

use crate::executor::{Bases, BoundNest};
use crate::tiles::code::BLOCK_BYTES;
use crate::tiles::code::{Callee, TileCode, element_sizes};
use crate::tiles::gather::GatherOperands;
use crate::tiles::memory::{
    MAX_REPEATED_RUN_BYTES, fence_non_temporal_stores, gather, gather_repeated, has_strided_copy,
    scatter,
};
use crate::tiles::single_call::{OperandAddress, SingleCall};
use crate::tiles::wiring::Wiring;
use crate::tiles::work;

/// A cache line, the unit of the workspace.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct CacheLine(#[allow(dead_code)] [u8; 64]);

/// Memory of a thread for running tiles, reused between runs.
#[derive(Default)]
pub(super) struct Workspace {
    blocks: Vec<CacheLine>,
    /// Address of each virtual register in the current tile.
    pub(super) registers: Vec<*mut u8>,
    /// Addresses of the function's outputs, then of its inputs, in the current tile.
    pub(super) operands: Vec<*mut u8>,
    /// For each access, the elements in its block.
    pub(super) gathered: Vec<GatheredElements>,
    /// Index along each outer axis, for a [`Position`].
    pub(super) outer: Vec<usize>,
    /// Offset of each operand at those indices, in bytes, for a [`Position`].
    pub(super) offsets: Vec<isize>,
    /// Lanes and nodes of reductions.
    accumulators: Vec<CacheLine>,
}

/// Bytes before the first block that a fold function may read: one step of its loop.
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
    single_call: Option<SingleCall>,
}

/// Upper bound of a tile that uses no blocks, in multiples of a block.
const MAX_TILE_BLOCKS: usize = 16;

/// Upper bound of the work of a tile, in bytes moved: the smallest chunk of tiles that a thread takes
/// (`MIN_CHUNK_BYTES` in `run/threads.rs` of `indim-cpu`), so that threads can share short runs.
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
        let sizes = element_sizes(nest.nest);
        let cut = row_limits(code, axes).and_then(|limits| {
            let is_cut = |cut: &CoalescedAxes| {
                !has_rows(axes, &sizes, limits) && has_rows(cut, &sizes, limits)
            };
            split_rows(axes, limits).filter(is_cut)
        });
        let axes = cut.as_ref().unwrap_or(axes);
        let (walk, wiring) = walk(code, nest, axes, strides, is_over_input);
        let function = wiring.find_function(code)?;
        if wiring.has_short_rows(code, &walk) && !has_few_rows(axes) {
            // The function just compiled has longer steps than assumed and would run these rows slowly, so
            // this binding gathers them.
            return BoundTiles::new(code, nest, axes, strides, is_over_input);
        }
        let single_call = SingleCall::new(code, &walk, &wiring);
        Some(BoundTiles { code: Arc::clone(code), walk, wiring, function, single_call })
    }
}

/// Bounds of the rows over these axes that the function runs row by row; `None` if tiles need dense blocks.
pub(super) fn row_limits(code: &TileCode, axes: &CoalescedAxes) -> Option<RowLimits> {
    let usual = code.minimum_row()?;
    Some(match has_few_rows(axes) {
        true => RowLimits { min_elements: 1, max_repeated_elements: 0 },
        // Calls before the function read whole tiles.
        false if !code.calls.is_empty() => {
            RowLimits { min_elements: usual, max_repeated_elements: 0 }
        }
        false => RowLimits {
            min_elements: usual,
            max_repeated_elements: BLOCK_BYTES / widest_access(code),
        },
    })
}

/// The axes with their rows cut into segments, if an operand repeats one strided row for all rows and that
/// row is too long to be gathered.
fn split_rows(axes: &CoalescedAxes, limits: RowLimits) -> Option<CoalescedAxes> {
    let repeats =
        |operand: usize| matches!(*axes.strides_of(operand), [.., 0, stride] if stride != 0);
    let is_repeated = limits.max_repeated_elements > 0 && (0..axes.operands()).any(repeats);
    is_repeated.then(|| with_split_rows(axes, limits.max_repeated_elements)).flatten()
}

/// Size of the widest element that the nest reads, in bytes.
fn widest_access(code: &TileCode) -> usize {
    let sizes = code.nest.accesses.iter().map(|access| access.array_type.dtype.size());
    sizes.max().unwrap_or(1)
}

/// Whether the function runs over rows of these axes, or over a single row. If `may_gather`, a kernel may
/// gather strided elements of a single row, and one row that all rows share.
pub(super) fn is_by_rows(code: &TileCode, axes: &CoalescedAxes, may_gather: bool) -> bool {
    let (sizes, stores) = (element_sizes(&code.nest), code.nest.stores.len());
    let is_gathered = |operand: usize, stride: isize| {
        let is_read = may_gather && operand >= stores;
        is_read && has_strided_copy(sizes[operand], stride)
    };
    match row_limits(code, axes) {
        Some(limits) if axes.sizes.len() > 1 => {
            let limits = RowLimits {
                max_repeated_elements: if may_gather { limits.max_repeated_elements } else { 0 },
                ..limits
            };
            has_rows(axes, &sizes, limits)
                || split_rows(axes, limits).is_some_and(|cut| has_rows(&cut, &sizes, limits))
        }
        Some(_) => (0..axes.operands()).all(|operand| match *axes.strides_of(operand) {
            [stride] if stride == 0 || stride == sizes[operand] as isize => true,
            [stride] => {
                code.record_member(operand, stride).is_some() || is_gathered(operand, stride)
            }
            _ => true,
        }),
        None => false,
    }
}

/// Whether a nest over these axes has few rows.
pub(super) fn has_few_rows(axes: &CoalescedAxes) -> bool {
    let outer = axes.sizes.split_last().map_or(&[][..], |(_, outer)| outer);
    outer.iter().fold(1usize, |rows, &size| rows.saturating_mul(size)) <= MAX_UNGATHERED_ROWS
}

/// The walk and wiring of the code over arrays with these strides.
fn walk(
    code: &TileCode,
    nest: &SizedNest<'_>,
    axes: &CoalescedAxes,
    strides: NestStrides<'_>,
    is_over_input: &[bool],
) -> (Walk, Wiring) {
    let sizes = element_sizes(nest.nest);
    let limits = row_limits(code, axes);
    let with_tiles_of = |block_elements| {
        let walk = Walk::new(axes, &sizes, block_elements, limits);
        let mut wiring = Wiring::new(code, nest, &walk, &code.needs_block, is_over_input, false);
        if code.only_gathered.contains(&true) {
            wiring.add_gathers(code, axes, &walk, &table_strides(code, nest, strides));
        }
        (walk, wiring)
    };
    let long_tile = long_tile(code, nest);
    // A tile over several axes reads strided operands in place only if it is walked row by row, or if they
    // are the operands of gathers. Otherwise a tile without blocks is impossible, and is not tried.
    let needs_blocks = !code.only_gathered.contains(&true)
        && axes.sizes.len() > 1
        && axes.sizes.last().is_some_and(|&length| length <= long_tile)
        && !limits.is_some_and(|limits| has_rows(axes, &sizes, limits));
    if code.is_one_pass() && !needs_blocks {
        let (walk, wiring) = with_tiles_of(long_tile);
        if !wiring.uses_blocks(&walk) {
            return (walk, wiring);
        }
    }
    with_tiles_of(code.block_elements)
}

/// Upper bound of the elements of a tile without blocks.
pub(super) fn long_tile(code: &TileCode, nest: &SizedNest<'_>) -> usize {
    let elements = TILE_BYTES / work::element_cost(nest, code.cost).max(1);
    elements.clamp(code.block_elements, code.block_elements * MAX_TILE_BLOCKS)
}

/// For each access, the stride of its indexed axis in bytes; 0 without one.
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
        if let (Some(single_call), Some(function), Some(wired)) =
            (&self.single_call, &self.function, &self.wiring.function)
        {
            let address = |address: OperandAddress| {
                bases.operands[address.operand].wrapping_offset(address.offset)
            };
            // SAFETY:
            // - `SingleCall::new` has checked that the nest has one tile, which the caller runs here;
            // - `find_function` compiled the function for this wiring.
            return unsafe { single_call.run(function, &wired.row_strides, address) };
        }
        WORKSPACE.with_borrow_mut(|workspace| {
            workspace.prepare(&self.code, &self.wiring);
            let BoundTiles { code, walk, wiring, function, .. } = self;
            let Workspace { registers, operands, gathered, outer, offsets, .. } = workspace;
            let mut position = Position::new(walk, tiles.start, outer, offsets);
            let (function, bases) = (function.as_deref(), bases.operands);
            let mut tile =
                Tile { code, walk, wiring, function, bases, registers, operands, gathered };
            for _ in tiles {
                // SAFETY: `position` is at one of the caller's `tiles`, and `prepare` gave each block an
                // address.
                unsafe { tile.run(&position) }
                position.advance();
            }
            if wiring.is_streamed {
                fence_non_temporal_stores();
            }
        });
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<BoundTiles>(1);
        self.single_call.iter().for_each(|single_call| single_call.count_bytes(memory_use));
        self.walk.count_bytes(memory_use);
        self.wiring.count_bytes(memory_use);
    }
}

impl Workspace {
    /// Memory for the lanes and nodes of a reduction, aligned to a cache line. The content is unspecified.
    pub(super) fn accumulators(&mut self, bytes: usize) -> *mut u8 {
        let lines = bytes.div_ceil(size_of::<CacheLine>());
        if self.accumulators.len() < lines {
            self.accumulators.resize(lines, CacheLine([0; 64]));
        }
        self.accumulators.as_mut_ptr().cast()
    }

    /// Binds each virtual register with a block to its address, and marks all blocks as empty.
    pub(super) fn prepare(&mut self, code: &TileCode, wiring: &Wiring) {
        let margin = if wiring.folds { MARGIN_BYTES } else { 0 };
        let bytes = wiring.block_count * BLOCK_BYTES + margin;
        let lines = bytes / size_of::<CacheLine>();
        if self.blocks.len() < lines {
            self.blocks.resize(lines, CacheLine([0; 64]));
        }
        let first = self.blocks.as_mut_ptr().cast::<u8>().wrapping_add(margin);
        let address = |block: Option<usize>| match block {
            Some(offset) => first.wrapping_add(offset),
            None => core::ptr::null_mut(),
        };
        self.registers.clear();
        let blocks = wiring.blocks.iter().chain(&code.blocks);
        self.registers.extend(blocks.map(|&block| address(block)));
        self.gathered.clear();
        self.gathered
            .resize(wiring.blocks.len(), GatheredElements { source: core::ptr::null(), count: 0 });
    }
}

/// The gathered elements in the block of an access: `count` elements from `source` on.
#[derive(Clone, Copy)]
pub(super) struct GatheredElements {
    source: *const u8,
    count: usize,
}

/// The state of a loop over tiles.
pub(super) struct Tile<'a> {
    pub(super) code: &'a TileCode,
    pub(super) walk: &'a Walk,
    pub(super) wiring: &'a Wiring,
    pub(super) function: Option<&'a Function>,
    pub(super) bases: &'a [*mut u8],
    pub(super) registers: &'a mut [*mut u8],
    pub(super) operands: &'a mut Vec<*mut u8>,
    pub(super) gathered: &'a mut [GatheredElements],
}

impl Tile<'_> {
    /// Runs the tile at `position`.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this tile;
    /// - [`Workspace::prepare`] has run for this code and wiring.
    unsafe fn run(&mut self, position: &Position<'_>) {
        // SAFETY:
        // - the caller has the same obligations;
        // - `bind_stores` binds the registers of direct stores before `compute`;
        // - `compute` has filled the registers that `write_stores` reads.
        unsafe {
            self.bind_stores(position);
            self.compute(position);
            self.write_stores(position);
        }
    }

    /// Computes the values of all virtual registers.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile at `position`;
    /// - [`Workspace::prepare`] has run for this code and wiring;
    /// - registers of direct stores are bound to this tile.
    pub(super) unsafe fn compute(&mut self, position: &Position<'_>) {
        // SAFETY:
        // - the caller has the same obligations;
        // - after `bind` every register is bound to this tile: registers of accesses here, those of direct
        //   stores by the caller, and all other registers to blocks, which have room for a tile.
        unsafe {
            self.bind(position);
            self.run_calls(position);
            self.run_function(position.steps);
        }
    }

    /// Binds the register of each access to its elements of the tile, in place or gathered.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile at `position`;
    /// - [`Workspace::prepare`] has run for this code and wiring.
    pub(super) unsafe fn bind(&mut self, position: &Position<'_>) {
        // SAFETY: the caller has the same obligations; the count is that of the tile.
        unsafe { self.bind_accesses(position, position.steps * self.walk.step_elements) }
    }

    /// Address of a virtual register.
    pub(super) fn address(&self, register: usize) -> *const u8 {
        self.registers[register].cast_const()
    }

    /// Runs the calls over the tile at `position`, in order.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this tile;
    /// - every virtual register is bound to this tile.
    unsafe fn run_calls(&mut self, position: &Position<'_>) {
        let count = position.steps * self.walk.step_elements;
        for (number, call) in self.code.calls.iter().enumerate() {
            let destination = self.registers[call.destination];
            // SAFETY:
            // - the caller has bound each source and destination to memory of `count` elements: an array that
            //   `BoundNest::run` requires to be valid, or a block;
            // - the destination overlaps no source: block allocation gives a result another block than its
            //   operands, and `direct_stores` excludes arrays over an input that a call may read;
            // - earlier calls have written the sources that are results;
            // - the wiring has the strides of the table and of the indices, and a gather stays within the
            //   axis.
            unsafe {
                match call.callee {
                    Callee::Kernel { kernel, sources } => {
                        let sources = sources.map(|register| self.registers[register].cast_const());
                        kernel(destination, sources, count);
                    }
                    Callee::Gather { gather, table, indices } => {
                        let wired = self.wiring.gathers[number].as_ref();
                        let wired = wired.expect("invariant: `add_gathers` wires each gather");
                        let [table, indices] =
                            [table, indices].map(|register| self.address(register));
                        let operands = GatherOperands { destination, table, indices };
                        if wired.is_in_place {
                            let row = gather.row(&wired.walk, operands);
                            self.registers[call.destination] = row.cast_mut();
                        } else {
                            gather.gather(&wired.walk, position.steps, operands);
                        }
                    }
                }
            }
        }
    }

    /// Runs the function over a tile of `steps` steps, if the nest has one.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for this tile;
    /// - every virtual register is bound to this tile, and all calls have run.
    unsafe fn run_function(&mut self, steps: usize) {
        let Some((function, wiring)) = self.function.zip(self.wiring.function.as_ref()) else {
            return;
        };
        let Some(functions) = &self.code.functions else { return };
        self.operands.clear();
        let registers = functions.outputs.iter().chain(&functions.inputs);
        self.operands.extend(registers.map(|&register| self.registers[register]));
        let (rows, elements) = self.wiring.rows(steps, self.walk.step_elements);
        // SAFETY:
        // - the caller has bound each operand to memory of this tile;
        // - `find_function` compiled the function for the layout and strides of this wiring;
        // - an output overlaps an input only exactly (`BoundNest::run`), and then the function was compiled
        //   with `is_in_place`.
        unsafe { function.run(self.operands, &wiring.row_strides, rows, elements) }
    }

    /// Address of the first element of operand `operand` in the tile.
    pub(super) fn tile_address(&self, operand: usize, position: &Position<'_>) -> *mut u8 {
        self.bases[operand].wrapping_offset(position.offset(operand))
    }

    /// Binds the registers of direct stores to the arrays.
    fn bind_stores(&mut self, position: &Position<'_>) {
        for (store, target) in self.code.nest.stores.iter().enumerate() {
            if self.wiring.is_direct[store] {
                self.registers[self.code.register(target.source)] =
                    self.tile_address(store, position);
            }
        }
    }

    /// Binds accesses to their `count` elements of the tile at `position`.
    ///
    /// # Safety
    /// Like [`Tile::bind`]; `count` is the number of elements of the tile.
    unsafe fn bind_accesses(&mut self, position: &Position<'_>, count: usize) {
        let stores = self.wiring.is_direct.len();
        for access in 0..self.gathered.len() {
            let source = self.tile_address(stores + access, position);
            if self.wiring.blocks[access].is_none() {
                self.registers[access] = source;
                continue;
            }
            let is_repeated = self.walk.operands[stores + access].row == Some(RowForm::Repeated);
            let count = if is_repeated { self.walk.step_elements } else { count };
            let present = self.gathered[access];
            if present.source == source.cast_const() && present.count >= count {
                continue;
            }
            let size = self.code.nest.accesses[access].array_type.dtype.size();
            let single = ElementRun { count: self.walk.step_elements, stride: 0 };
            let (steps, runs) = runs(self.walk, stores + access, position, &single);
            let steps = ElementRun { count: if is_repeated { 1 } else { steps.count }, ..steps };
            if let Some((repeats, run)) = repeated_run(runs, steps, size) {
                let to = self.registers[access];
                // SAFETY: like the gather of each run below.
                unsafe { gather_repeated(to, source.cast_const(), [steps, run], repeats, size) }
                self.gathered[access] = GatheredElements { source, count };
                continue;
            }
            // SAFETY:
            // - `BoundNest::run` requires that the access is readable at every point of the tile, and the
            //   runs visit those points;
            // - a tile with gathered operands has at most the elements of a block, and this thread owns the
            //   blocks.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let to = self.registers[access].wrapping_add(block_offset);
                gather(to, source.wrapping_offset(offset), steps, run, size);
            });
            self.gathered[access] = GatheredElements { source, count };
        }
    }

    /// Copies values to the stores that are not direct.
    ///
    /// # Safety
    /// - the obligations of [`BoundNest::run`], for the tile at `position`;
    /// - the registers have the values of this tile.
    unsafe fn write_stores(&mut self, position: &Position<'_>) {
        for (store, target) in self.code.nest.stores.iter().enumerate() {
            if self.wiring.is_direct[store] {
                continue;
            }
            let size = target.target.array_type.dtype.size();
            let to = self.tile_address(store, position);
            let from = self.registers[self.code.register(target.source)].cast_const();
            let dense = ElementRun { count: self.walk.step_elements, stride: size as isize };
            let (steps, runs) = runs(self.walk, store, position, &dense);
            // SAFETY:
            // - `BoundNest::run` requires that the store is writable at every point of the tile and that its
            //   elements are distinct, and the runs visit those points;
            // - the register has a value for each of them.
            for_each_run(runs, steps, size, |block_offset, offset, steps, run| unsafe {
                let from = from.wrapping_add(block_offset);
                scatter(to.wrapping_offset(offset), from, steps, run, size);
            });
        }
    }
}

/// If each step of a tile repeats one short run: the number of repetitions, and the run. `None` if the tile
/// has fewer steps than repetitions.
fn repeated_run(
    runs: &[ElementRun],
    steps: ElementRun,
    element_size: usize,
) -> Option<(usize, ElementRun)> {
    let [ElementRun { count: 1, .. }, ElementRun { count: repeats, stride: 0 }, run] = *runs else {
        return None;
    };
    let is_short = run.count * element_size <= MAX_REPEATED_RUN_BYTES;
    (is_short && steps.count >= repeats).then_some((repeats, run))
}

/// The steps of the tile at `position`, and the runs of an operand within a step: `all` is the run of an
/// operand that is not strided.
fn runs<'r>(
    walk: &'r Walk,
    operand: usize,
    position: &Position<'_>,
    all: &'r ElementRun,
) -> (ElementRun, &'r [ElementRun]) {
    let operand = &walk.operands[operand];
    let steps = ElementRun { count: position.steps, stride: operand.step_stride };
    match &operand.layout {
        TileLayout::Strided(runs) => (steps, runs),
        _ => (steps, core::slice::from_ref(all)),
    }
}
