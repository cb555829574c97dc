//! Scans: nests that fold all elements up to each position of an axis. No executor compiles them. Holds
//! unsafe code.
//!
//! A *line* is the elements along the axis, at one index of the other axes. A *strip* is one line, or
//! neighbouring lines that are short or whose elements are adjacent in memory.
//! `indim_ops::meaning::scan` defines blocks and the order of the fold, so every division into tiles gives
//! the same bits:
//! - many strips: a tile is one or more strips;
//! - few long strips on one thread: a tile is some blocks of a strip, run in order. Each tile stores its
//!   final state, from which the next tile continues;
//! - few long strips on several threads: a first pass folds each block, `prepare` computes the state at the
//!   beginning of each block, and tiles of blocks run in any order.

use core::fmt;
use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use indim_executors::{Bases, BoundNest, KernelFallback, NestCode, TileProgress};
use indim_kernels::{BlockLanes, ScanCarries, fold_line, scan_line};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Local, LoopNest, StandaloneInstruction};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_ops::meaning::scan::{RUN_LENGTH, SCAN_BLOCK};
use indim_ops::{DType, Element, Fold, ReduceOp, ScanCarry, ScanElement, ScanVisitor, visit_scan};

use crate::run::scan_strips::{OuterAxis, ScanStrip, ScanStrips};

/// A scan for arrays of any sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scan {
    op: ReduceOp,
    pub(super) axis: usize,
    pub(super) reverse: bool,
    exclusive: bool,
    pub(super) dtype: DType,
    /// Number of stores, which are the first operands of the nest.
    stores: usize,
    /// The scanned operand of the nest.
    pub(super) operand: usize,
}

/// Minimum elements of a line that is divided into blocks: a pass over fewer takes microseconds.
const MIN_DIVIDED_ELEMENTS: usize = 1 << 15;

/// Maximum number of lines that are divided into blocks: more lines occupy every thread undivided.
const MAX_DIVIDED_LINES: usize = 1 << 12;

/// Minimum number of strips that are not divided into blocks, because they occupy every thread.
const MIN_UNDIVIDED_STRIPS: usize = 64;

/// Approximate elements of a tile.
const TILE_ELEMENTS: usize = 1 << 15;

/// Positions between the row of lines that is scanned and the row that is prefetched: the half of a
/// microsecond for rows of 256 bytes.
const PREFETCH_DISTANCE: usize = 8;

/// Bytes of a cache line of x86-64.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// Cost of an element, in bytes moved in the same time: a float takes a conversion and four additions.
const BYTES_PER_ELEMENT: usize = 8;

impl Scan {
    /// Returns `None` for a nest that is not a scan.
    pub(crate) fn compile(nest: &LoopNest) -> Option<Arc<dyn NestCode>> {
        let (StandaloneInstruction::Scan { op, axis, reverse, exclusive }, instruction) =
            nest.standalone_instruction()?
        else {
            return None;
        };
        let [Local::Access(operand)] = instruction.operands[..] else { return None };
        let stores = nest.stores.len();
        let operand = stores + operand;
        let dtype = instruction.dtype;
        Some(Arc::new(Scan { op, axis, reverse, exclusive, dtype, stores, operand }))
    }

    /// Bytes of the state of a line between two blocks.
    fn carry_bytes(&self) -> usize {
        visit_scan(self.op, self.dtype, CarryBytes).unwrap_or(0)
    }

    /// Whether `lines` lines of `length` elements may be divided into blocks.
    fn may_divide(lines: usize, length: usize) -> bool {
        length >= MIN_DIVIDED_ELEMENTS && lines <= MAX_DIVIDED_LINES
    }
}

/// Computes the bytes of the state of a line.
struct CarryBytes;

impl ScanVisitor for CarryBytes {
    type Output = usize;

    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) -> usize {
        size_of::<ScanCarry<A>>()
    }
}

impl NestCode for Scan {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let strides = nest.list_strides(strides);
        let strips = ScanStrips::new(&self, &nest.shape, &strides)?;
        let lines = strips.outer.iter().map(|axis| axis.size).product::<usize>() * strips.lanes;
        let is_divided =
            Scan::may_divide(lines, strips.length) && strips.count() < MIN_UNDIVIDED_STRIPS;
        let pass = |division| ScanPass { scan: *self, strips: strips.clone(), lines, division };
        Some(Arc::new(match is_divided {
            false => BoundScan { whole: pass(Division::Strips), divided: None },
            true => BoundScan {
                whole: pass(Division::Continued),
                divided: Some(TwoPassScan {
                    folds: pass(Division::Folds),
                    results: pass(Division::Blocks),
                }),
            },
        }))
    }

    fn cost(&self) -> usize {
        BYTES_PER_ELEMENT
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let length = nest.shape[self.axis];
        let lines = nest.lines(self.axis);
        match Scan::may_divide(lines, length) {
            false => 0,
            true => {
                lines.saturating_mul(length.div_ceil(SCAN_BLOCK)).saturating_mul(self.carry_bytes())
            }
        }
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        let operand = describe(&nest.accesses[self.operand - self.stores]);
        let Scan { op, axis, .. } = self;
        let name = op.scan_name();
        let direction = if self.reverse { " backwards" } else { "" };
        let shifted = if self.exclusive { ", exclusive" } else { "" };
        for store in &nest.stores {
            let target = describe(&store.target);
            writeln!(
                formatter,
                "{name} of {operand} along i{axis}{direction}{shifted} -> {target}"
            )?;
        }
        Ok(())
    }

    fn fallback(&self) -> KernelFallback {
        KernelFallback::Scan
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<Scan>(1);
    }
}

/// The division of a scan into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Division {
    /// Each tile computes the results of one or more whole strips.
    Strips,
    /// Each tile computes the results of some blocks of a strip, from the final state of the tile before.
    Continued,
    /// Each tile only folds some blocks of a strip.
    Folds,
    /// Each tile computes the results of some blocks of a strip, from states that `prepare` has computed.
    Blocks,
}

/// One pass of a scan, bound to sizes and strides.
#[derive(Debug)]
struct ScanPass {
    scan: Scan,
    strips: ScanStrips,
    /// Number of lines.
    lines: usize,
    division: Division,
}

impl ScanPass {
    /// Number of strips, or of blocks if strips are divided, in a tile.
    fn per_tile(&self) -> usize {
        let elements = match self.division {
            Division::Strips => self.strips.length * self.strips.width(),
            _ => SCAN_BLOCK * self.strips.width(),
        };
        (TILE_ELEMENTS / elements).max(1)
    }

    /// Number of tiles of a strip, if strips are divided.
    fn tiles_of_strip(&self) -> usize {
        self.strips.blocks().div_ceil(self.per_tile())
    }
}

/// The tiles that a run computes.
struct TileRun<'a> {
    pass: &'a ScanPass,
    bases: &'a Bases<'a>,
    tiles: Range<usize>,
}

impl ScanVisitor for TileRun<'_> {
    type Output = ();

    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) {
        let rows = RowFunctions {
            read: StridedElements::read::<T, A>,
            write: StridedElements::write::<T, A>,
        };
        // SAFETY: a `TileRun` is made only under the obligations of `BoundNest::run` for its tiles, and the
        // elements have type `T`.
        unsafe { self.run::<F, A>(rows) }
    }
}

/// Functions that read and write elements of one type as `A`. All types that are folded as `A` share the rest
/// of the code.
#[derive(Clone, Copy)]
struct RowFunctions<A> {
    read: unsafe fn(StridedElements, &mut [A]),
    write: unsafe fn(StridedElements, &[A]),
}

impl TileRun<'_> {
    /// # Safety
    /// The obligations of [`BoundNest::run`] for the tiles.
    unsafe fn run<F: Fold<A>, A: Element>(&self, rows: RowFunctions<A>) {
        let pass = self.pass;
        let (per_tile, blocks) = (pass.per_tile(), pass.strips.blocks());
        // Shared by all strips: clearing it once for each would cost as much as a scan of 50 elements.
        let mut elements = [A::default(); SCAN_BLOCK];
        let elements = &mut elements;
        for tile in self.tiles.clone() {
            if pass.division == Division::Strips {
                let all = pass.strips.count();
                for number in tile * per_tile..((tile + 1) * per_tile).min(all) {
                    // SAFETY: the strip is one of the tile's.
                    unsafe {
                        let strip = pass.strips.strip(number);
                        self.blocks::<F, A>(rows, &strip, 0..blocks, elements);
                    }
                }
                continue;
            }
            let (number, part) = (tile / pass.tiles_of_strip(), tile % pass.tiles_of_strip());
            let range = part * per_tile..((part + 1) * per_tile).min(blocks);
            let strip = pass.strips.strip(number);
            // SAFETY: the blocks are those of the tile.
            unsafe {
                match pass.division {
                    Division::Folds => self.folds::<F, A>(rows, &strip, range),
                    _ => self.blocks::<F, A>(rows, &strip, range, elements),
                }
            }
        }
    }

    /// The address of the states of the lines of a strip before a block, in shared memory.
    fn block_carries<A>(&self, strip: &ScanStrip, block: usize) -> *mut ScanCarry<A> {
        let first = self.bases.shared.cast::<ScanCarry<A>>();
        first.wrapping_add(block * self.pass.lines + strip.line)
    }

    /// The elements of operand `operand` at position `position` of the axis, for the lines of a strip.
    fn row(&self, strip: &ScanStrip, operand: usize, position: usize) -> StridedElements {
        let strips = &self.pass.strips;
        let offset = strip.offsets[operand] + position as isize * strips.axis_strides[operand];
        let first = self.bases.operands[operand].wrapping_offset(offset);
        StridedElements { first, stride: strips.lane_strides[operand] }
    }

    /// Asks the processor for the elements of the lines of a strip at position `position`, in the operand and
    /// the first store, if their rows are not adjacent: the processor does not foresee that they are read.
    fn prefetch(&self, strip: &ScanStrip, position: usize) {
        let size = self.pass.scan.dtype.size();
        let bytes = strip.width * size;
        for operand in [0, self.pass.scan.operand] {
            let row = self.row(strip, operand, position);
            let distance = self.pass.strips.axis_strides[operand].unsigned_abs();
            if row.stride == size as isize && distance > bytes {
                prefetch(row.first, bytes);
            }
        }
    }

    /// The elements of operand `operand` from position `position` of the axis on, for a strip of one line.
    fn line(&self, strip: &ScanStrip, operand: usize, position: usize) -> StridedElements {
        StridedElements {
            stride: self.pass.strips.axis_strides[operand],
            ..self.row(strip, operand, position)
        }
    }

    /// Computes the results of these blocks.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`] for these blocks of the strip.
    unsafe fn blocks<F: Fold<A>, A: Element>(
        &self,
        rows: RowFunctions<A>,
        strip: &ScanStrip,
        blocks: Range<usize>,
        elements: &mut [A; SCAN_BLOCK],
    ) {
        let mut carry = ScanCarries::first::<F>();
        let division = self.pass.division;
        if division != Division::Strips && blocks.start > 0 {
            let block_carries = self.block_carries::<A>(strip, blocks.start);
            for lane in 0..strip.width {
                // SAFETY: the tile before, or `prepare`, has written the state of this line; only this thread
                // accesses it.
                carry.set(lane, unsafe { block_carries.wrapping_add(lane).read_unaligned() });
            }
        }
        let end = blocks.end;
        for block in blocks {
            // SAFETY: the caller has the obligations for the block.
            unsafe { self.block::<F, A>(rows, strip, block, &mut carry, elements) }
        }
        if division == Division::Continued && end < self.pass.strips.blocks() {
            let block_carries = self.block_carries::<A>(strip, end);
            for lane in 0..strip.width {
                // SAFETY: the shared memory has a state of each line for each block; tiles run one after
                // another.
                unsafe { block_carries.wrapping_add(lane).write_unaligned(carry.get(lane)) }
            }
        }
    }

    /// Computes the results of one block, and the states after it. A block that is not full is the last of
    /// its strip, so its state is not used.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`] for the block.
    unsafe fn block<F: Fold<A>, A: Element>(
        &self,
        rows: RowFunctions<A>,
        strip: &ScanStrip,
        block: usize,
        carry: &mut ScanCarries<A>,
        elements: &mut [A; SCAN_BLOCK],
    ) {
        let Scan { stores, operand, exclusive, .. } = self.pass.scan;
        let (first, count) = self.extent(block);
        if self.pass.strips.lanes == 1 {
            let elements = &mut elements[..count];
            // SAFETY: the elements of the block are valid in the operand.
            unsafe { (rows.read)(self.line(strip, operand, first), elements) }
            let total = scan_line::<F, A>(&carry.get(0), elements, exclusive);
            for store in 0..stores {
                // SAFETY: the elements of the block are valid in the stores.
                unsafe { (rows.write)(self.line(strip, store, first), elements) }
            }
            return carry.set(0, carry.get(0).after::<F>(block, total));
        }
        let mut lines = BlockLanes::<A>::after::<F>(strip.width, carry);
        for position in first..first + count {
            self.prefetch(strip, position + PREFETCH_DISTANCE);
            // SAFETY: the elements of the strip at this position are valid in the operand.
            unsafe { (rows.read)(self.row(strip, operand, position), lines.elements()) }
            lines.results::<F>(carry, exclusive);
            for store in 0..stores {
                // SAFETY: the elements of the strip at this position are valid in the stores.
                unsafe { (rows.write)(self.row(strip, store, position), lines.elements()) }
            }
            if (position + 1).is_multiple_of(RUN_LENGTH) {
                lines.end_run::<F>();
            }
        }
        carry.end_block::<F>(block, &lines);
    }

    /// Writes the fold of each of these blocks to shared memory, in the place of the block's state. A block
    /// that is not full is the last of its strip, so its fold is not used.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`] for these blocks of the strip.
    unsafe fn folds<F: Fold<A>, A: Element>(
        &self,
        rows: RowFunctions<A>,
        strip: &ScanStrip,
        blocks: Range<usize>,
    ) {
        let none = ScanCarry::first::<F>();
        for block in blocks {
            let block_carries = self.block_carries::<A>(strip, block);
            // SAFETY: the caller has the obligations for the block.
            let lines = unsafe { self.fold::<F, A>(rows, strip, block) };
            for (lane, &blocks) in lines.totals::<F>().iter().enumerate() {
                // SAFETY: the shared memory has a state of each line for each block; no other tile writes
                // these.
                unsafe {
                    block_carries.wrapping_add(lane).write_unaligned(ScanCarry { blocks, ..none })
                }
            }
        }
    }

    /// The fold of one block for each line; not computed for a block that is not full.
    ///
    /// # Safety
    /// The obligations of [`BoundNest::run`] for the block.
    unsafe fn fold<F: Fold<A>, A: Element>(
        &self,
        rows: RowFunctions<A>,
        strip: &ScanStrip,
        block: usize,
    ) -> BlockLanes<A> {
        let operand = self.pass.scan.operand;
        let (first, count) = self.extent(block);
        let mut lines = BlockLanes::<A>::new::<F>(strip.width);
        if count < SCAN_BLOCK {
            return lines;
        }
        if self.pass.strips.lanes == 1 {
            let mut elements = [A::default(); SCAN_BLOCK];
            // SAFETY: the elements of the block are valid in the operand.
            unsafe { (rows.read)(self.line(strip, operand, first), &mut elements) }
            return BlockLanes::of_total(fold_line::<F, A>(&elements));
        }
        for position in first..first + count {
            // SAFETY: the elements of the strip at this position are valid in the operand.
            unsafe { (rows.read)(self.row(strip, operand, position), lines.elements()) }
            lines.push::<F>();
            if (position + 1).is_multiple_of(RUN_LENGTH) {
                lines.end_run::<F>();
            }
        }
        lines
    }

    /// The first position of a block, and its number of elements.
    fn extent(&self, block: usize) -> (usize, usize) {
        let first = block * SCAN_BLOCK;
        (first, SCAN_BLOCK.min(self.pass.strips.length - first))
    }
}

/// Elements at one stride, in bytes.
#[derive(Clone, Copy)]
struct StridedElements {
    first: *mut u8,
    stride: isize,
}

impl StridedElements {
    /// Reads elements of type `T` in the type of the fold.
    ///
    /// # Safety
    /// The row has an element of type `T` that is valid for reads for each of `elements`.
    unsafe fn read<T: ScanElement<A>, A: Element>(self, elements: &mut [A]) {
        let read_at_stride = |elements: &mut [A], stride: isize| {
            for (number, element) in elements.iter_mut().enumerate() {
                let from = self.first.wrapping_offset(number as isize * stride);
                // SAFETY: the caller ensures a readable element for each of `elements`.
                let stored = unsafe { from.cast::<T::Storage>().read_unaligned() };
                *element = T::from_storage(stored).widen();
            }
        };
        // A constant stride lets the compiler use vectors.
        match self.stride == size_of::<T>() as isize {
            true => read_at_stride(elements, size_of::<T>() as isize),
            false => read_at_stride(elements, self.stride),
        }
    }

    /// Writes elements of type `T`, rounded, with canonical NaNs.
    ///
    /// # Safety
    /// The row has an element of type `T` that is valid for writes for each of `elements`.
    unsafe fn write<T: ScanElement<A>, A: Element>(self, elements: &[A]) {
        let write_at_stride = |stride: isize| {
            for (number, &element) in elements.iter().enumerate() {
                let to = self.first.wrapping_offset(number as isize * stride);
                let stored = T::narrow(element).to_storage();
                // SAFETY: the caller ensures a writable element for each of `elements`.
                unsafe { to.cast::<T::Storage>().write_unaligned(stored) }
            }
        };
        match self.stride == size_of::<T>() as isize {
            true => write_at_stride(size_of::<T>() as isize),
            false => write_at_stride(self.stride),
        }
    }
}

/// Asks the processor for the cache lines of `bytes` bytes from `first` on, which need not be valid.
fn prefetch(first: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(CACHE_LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction reads nothing, and ignores addresses that are not valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (first, bytes);
}

/// Replaces the folds of all blocks in shared memory by the states before the blocks.
struct Carries<'a> {
    pass: &'a ScanPass,
    bases: &'a Bases<'a>,
}

impl ScanVisitor for Carries<'_> {
    type Output = ();

    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) {
        let block_carries = self.bases.shared.cast::<ScanCarry<A>>();
        for line in 0..self.pass.lines {
            let mut carry = ScanCarry::first::<F>();
            for block in 0..self.pass.strips.blocks() {
                let slot = block_carries.wrapping_add(block * self.pass.lines + line);
                // SAFETY: the first pass has written the fold of each block of each line; `Carries` is made
                // only under the obligations of `BoundNest::prepare`.
                let total = unsafe {
                    let total = slot.read_unaligned().blocks;
                    slot.write_unaligned(carry);
                    total
                };
                carry = carry.after::<F>(block, total);
            }
        }
    }
}

impl BoundNest for ScanPass {
    fn tiles(&self) -> usize {
        match self.division {
            Division::Strips => self.strips.count().div_ceil(self.per_tile()),
            _ => self.strips.count() * self.tiles_of_strip(),
        }
    }

    fn tile_elements(&self) -> usize {
        match self.division {
            Division::Strips => self.per_tile() * self.strips.length * self.strips.width(),
            Division::Continued | Division::Blocks => {
                self.per_tile() * SCAN_BLOCK * self.strips.width()
            }
            // Progress counts results, and the first pass stores none.
            Division::Folds => 0,
        }
    }

    unsafe fn prepare(&self, bases: &Bases<'_>, _: &TileProgress<'_>) -> ControlFlow<()> {
        if self.division == Division::Blocks {
            visit_scan(self.scan.op, self.scan.dtype, Carries { pass: self, bases });
        }
        ControlFlow::Continue(())
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        visit_scan(self.scan.op, self.scan.dtype, TileRun { pass: self, bases, tiles });
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<ScanPass>(1);
        memory_use.add_allocation::<OuterAxis>(self.strips.outer.capacity());
    }
}

/// A scan of many strips for any number of threads, or a scan of few long strips for one thread, with its
/// division for several threads.
#[derive(Debug)]
struct BoundScan {
    whole: ScanPass,
    divided: Option<TwoPassScan>,
}

impl BoundNest for BoundScan {
    fn split_for_threads(&self) -> Option<&dyn BoundNest> {
        self.divided.as_ref().map(|divided| divided as &dyn BoundNest)
    }

    fn tiles(&self) -> usize {
        self.whole.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.whole.tile_elements()
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller has the same obligations.
        unsafe { self.whole.run(bases, tiles) }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.whole.count_bytes(memory_use);
        self.divided.iter().for_each(|divided| divided.count_bytes(memory_use));
    }
}

/// A scan of few long lines for several threads, in two passes.
#[derive(Debug)]
struct TwoPassScan {
    /// The first pass, which folds each block.
    folds: ScanPass,
    /// The second pass, which computes the results.
    results: ScanPass,
}

impl BoundNest for TwoPassScan {
    fn first_pass(&self) -> Option<&dyn BoundNest> {
        Some(&self.folds)
    }

    fn tiles(&self) -> usize {
        self.results.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.results.tile_elements()
    }

    unsafe fn prepare(&self, bases: &Bases<'_>, progress: &TileProgress<'_>) -> ControlFlow<()> {
        // SAFETY: the caller has the same obligations; the first pass has run.
        unsafe { self.results.prepare(bases, progress) }
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller has the same obligations.
        unsafe { self.results.run(bases, tiles) }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.folds.count_bytes(memory_use);
        self.results.count_bytes(memory_use);
    }
}
