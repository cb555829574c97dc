//! The machine executor: a nest runs by blocks until its work repays compilation, then by machine code.
//! Holds unsafe code.
//!
//! `code.rs` compiles a nest, `listing.rs` lists it. The loops over tiles, the functions and their tier-up
//! budget are in `tiles/`.

mod code;
mod listing;

use core::fmt;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Instruction, InstructionKind, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::DType;
use indim_targets::TargetKind;

use crate::blocks::{BlockCode, Blocks};
use crate::executor::{Bases, BoundNest, Executor, KernelFallback, NestCode};
use crate::tiles;
use crate::tiles::code::{REGISTER_BYTES, TileCode};
use crate::tiles::store_fold::accumulator_bytes;
use crate::tiles::tier_up::{TierUp, price};
use crate::tiles::tile::MARGIN_BYTES;

/// The machine executor.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Whether machine code is generated before the first run, without a budget.
    pub(crate) is_forced: bool,
}

impl Executor for Machine {
    fn compile(
        &self,
        nest: &Arc<LoopNest>,
        constants: &Arc<[Array]>,
        level: Level,
    ) -> Arc<dyn NestCode> {
        if let Some(reason) = by_kernels(nest, level) {
            return Arc::new(BlockCode::compile(nest, level, reason));
        }
        let blocks = Arc::new(BlockCode::compile(nest, level, KernelFallback::NotCovered));
        let price = if self.is_forced { 0 } else { price(nest) };
        let tier_up = Arc::new(TierUp::new(price));
        let (constants, recorded) = (Arc::clone(constants), OnceLock::new());
        let most_registers = code::most_registers(nest);
        Arc::new(MachineCode { blocks, constants, level, tier_up, most_registers, recorded })
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        // SAFETY: the caller vouches for the elements.
        unsafe { Blocks.write_counter(first, dtype, length, level) }
    }
}

/// The target of machine code at a level; `None` without a code generator for this processor.
fn target(level: Level) -> Option<TargetKind> {
    let is_avx2 = Level::avx2() == Some(level);
    if is_avx2 && TargetKind::available().contains(&TargetKind::Avx2) {
        return Some(TargetKind::Avx2);
    }
    TargetKind::best()
}

/// The reason why a nest has no machine code, as far as known before it is recorded.
fn by_kernels(nest: &LoopNest, level: Level) -> Option<KernelFallback> {
    if target(level).is_none() {
        return Some(KernelFallback::Processor);
    }
    // Machine code needs more than the baseline, so a caller who asks for that on a better processor gets
    // kernels.
    if level == Level::BASELINE && level != Level::detect() {
        return Some(KernelFallback::LowLevel);
    }
    let takes = |it: &Instruction| matches!(it.kind, InstructionKind::Take { .. });
    nest.instructions.iter().all(takes).then(|| match nest.searches() {
        true => KernelFallback::Searches,
        false => KernelFallback::ComputesNothing,
    })
}

/// A nest that may tier up to machine code.
#[derive(Debug)]
struct MachineCode {
    blocks: Arc<BlockCode>,
    constants: Arc<[Array]>,
    level: Level,
    tier_up: Arc<TierUp>,
    /// Upper bound of the blocks of the nest's machine code.
    most_registers: usize,
    /// The code over tiles, once recorded; `None` inside if machine code does not cover the nest.
    recorded: OnceLock<Option<Arc<TileCode>>>,
}

/// Cost of a kernel call, elements excluded: ten nanoseconds, in bytes that could be moved.
const BYTES_PER_CALL: usize = 1000;

impl MachineCode {
    /// The code over tiles, recorded on the first call.
    fn code(&self) -> Option<&Arc<TileCode>> {
        if self.recorded.get().is_none() {
            // No lock is held meanwhile: another thread may record the same.
            let MachineCode { blocks, constants, level, tier_up, .. } = self;
            let recorded = code::compile(&blocks.code.nest, constants, *level, Arc::clone(tier_up));
            let mut held = MemoryUse::default();
            match &recorded {
                Some(code) => code.count_bytes(&mut held),
                None => tier_up.close(),
            }
            if self.recorded.set(recorded.map(Arc::new)).is_ok() {
                tier_up.hold(held.bytes());
            }
        }
        self.known_code()
    }

    /// The code over tiles, if it has been recorded.
    fn known_code(&self) -> Option<&Arc<TileCode>> {
        self.recorded.get()?.as_ref()
    }

    /// Adds a run of this much work by blocks to the budget; returns whether it repays a function.
    fn note(&self, work: usize) -> bool {
        self.tier_up.note(work.saturating_add(self.blocks.code.calls.len() * BYTES_PER_CALL))
    }
}

impl NestCode for MachineCode {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let recorded = self.known_code();
        let bind = |code| tiles::bind(code, nest, strides, is_over_input);
        if let Some(bound) = recorded.and_then(bind) {
            return Some(bound);
        }
        let blocks = bind(&self.blocks.code)?;
        Some(Arc::new(BoundLater {
            nest: nest.to_nest(),
            blocks,
            strides: nest.list_strides(strides).into_owned(),
            is_over_input: is_over_input.to_vec(),
            machine: OnceLock::new(),
            code: self,
        }))
    }

    fn cost(&self) -> usize {
        self.blocks.cost()
    }

    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let registers = self.most_registers + nest.nest.accesses.len();
        let of_machine =
            registers * REGISTER_BYTES + accumulator_bytes(nest, &self.blocks.code.folds);
        let margin = nest.nest.reduced.map_or(0, |_| MARGIN_BYTES);
        self.blocks.thread_bytes(nest).max(of_machine + margin)
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        self.blocks.shared_bytes(nest)
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        self.blocks.list(nest, formatter, describe)
    }

    fn machine_code(
        &self,
        nest: &Arc<LoopNest>,
        strides: &[AxisStrides],
        describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        // Generated again, without a budget.
        let tier_up = Arc::new(TierUp::new(0));
        let code = code::compile(nest, &self.constants, self.level, tier_up);
        let code = Arc::new(code.ok_or(KernelFallback::NotCovered)?);
        if nest.shape.contains(&0) {
            return Err(KernelFallback::NoElements);
        }
        // The binding keeps the listed functions alive.
        let _bound = tiles::bind(&code, &SizedNest::own(nest), NestStrides::Explicit(strides), &[])
            .ok_or(KernelFallback::Memory)?;
        Ok(listing::list(&code, nest, describe))
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<MachineCode>(1);
        held.own::<TierUp>(1);
        self.blocks.count_bytes(held);
    }

    fn made_bytes(&self) -> usize {
        self.tier_up.held()
    }
}

/// Code bound to strides: by blocks until machine code repays its compilation.
#[derive(Debug)]
struct BoundLater {
    code: Arc<MachineCode>,
    nest: Arc<LoopNest>,
    blocks: Arc<dyn BoundNest>,
    strides: Vec<AxisStrides>,
    is_over_input: Vec<bool>,
    machine: OnceLock<Arc<dyn BoundNest>>,
}

impl BoundNest for BoundLater {
    fn instead(&self, work: usize) -> Option<&dyn BoundNest> {
        if let Some(machine) = self.machine.get() {
            return Some(&**machine);
        }
        if !self.code.note(work) {
            return None;
        }
        let code = self.code.code()?;
        let nest = SizedNest::own(&self.nest);
        let strides = NestStrides::Explicit(&self.strides);
        let Some(bound) = tiles::bind(code, &nest, strides, &self.is_over_input) else {
            self.code.tier_up.forfeit();
            return None;
        };
        let mut held = MemoryUse::default();
        bound.count_bytes(&mut held);
        if self.machine.set(bound).is_ok() {
            self.code.tier_up.hold(held.bytes());
        }
        self.machine.get().map(|machine| &**machine)
    }

    fn tiles(&self) -> usize {
        self.blocks.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.blocks.tile_elements()
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller vouches for `tiles` and their operands.
        unsafe { self.blocks.run(bases, tiles) }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        // SAFETY: the caller vouches for all tiles, which have run.
        unsafe { self.blocks.finish(bases) }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<BoundLater>(1);
        held.nest(&self.nest);
        held.own::<AxisStrides>(self.strides.capacity());
        self.strides.iter().for_each(|strides| held.small(strides));
        held.own::<bool>(self.is_over_input.capacity());
        self.blocks.count_bytes(held);
    }
}
