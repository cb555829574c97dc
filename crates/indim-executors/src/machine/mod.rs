//! The machine executor: kernels run a nest until its work pays for compilation, then machine code runs it.
//! Holds unsafe code.
//!
//! - `code.rs`: compilation of a nest;
//! - `listing.rs`: the listing of machine code.
//!
//! The loops over tiles, the functions and their tier-up budget are in `tiles/`.

mod code;
mod listing;

use core::fmt;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Instruction, InstructionKind, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::DType;
use indim_ops::Level;
use indim_targets::machine_code_levels;

use crate::blocks::{Blocks, KernelNestCode};
use crate::executor::{Bases, BoundNest, Executor, KernelFallback, NestCode};
use crate::tiles;
use crate::tiles::code::{BLOCK_BYTES, TileCode};
use crate::tiles::store_fold::accumulator_bytes;
use crate::tiles::tier_up::{TierUp, compile_cost};
use crate::tiles::tile::MARGIN_BYTES;

/// The machine executor.
#[derive(Debug)]
pub struct Machine {
    /// Whether machine code is generated at the first run, without a budget.
    pub is_forced: bool,
}

impl Executor for Machine {
    fn compile(
        &self,
        nest: &Arc<LoopNest>,
        constants: &Arc<[Array]>,
        level: Level,
    ) -> Arc<dyn NestCode> {
        if let Some(reason) = fallback(nest, level) {
            return Arc::new(KernelNestCode::compile(nest, level, reason));
        }
        let kernels = Arc::new(KernelNestCode::compile(nest, level, KernelFallback::Unsupported));
        let threshold = if self.is_forced { 0 } else { compile_cost(nest) };
        let tier_up = Arc::new(TierUp::new(threshold));
        let (constants, recorded) = (Arc::clone(constants), OnceLock::new());
        let max_blocks = code::max_blocks(nest);
        Arc::new(TieredNestCode { kernels, constants, level, tier_up, max_blocks, recorded })
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        // SAFETY: the caller has the same obligations.
        unsafe { Blocks.write_counter(first, dtype, length, level) }
    }
}

/// The reason why a nest has no machine code, if it is known before the nest is recorded.
fn fallback(nest: &LoopNest, level: Level) -> Option<KernelFallback> {
    // Machine code needs more instructions than the baseline of x86-64, so a caller who requests the baseline
    // on a better processor gets kernels.
    if level == Level::BASELINE && level != Level::detect() {
        return Some(KernelFallback::BaselineLevel);
    }
    if !machine_code_levels().contains(&level) {
        return Some(KernelFallback::Processor);
    }
    let takes = |it: &Instruction| matches!(it.kind, InstructionKind::Take { .. });
    nest.instructions.iter().all(takes).then(|| match nest.is_arg_reduction() {
        true => KernelFallback::ArgReduction,
        false => KernelFallback::NoOperation,
    })
}

/// A nest that may tier up to machine code.
#[derive(Debug)]
struct TieredNestCode {
    kernels: Arc<KernelNestCode>,
    constants: Arc<[Array]>,
    level: Level,
    tier_up: Arc<TierUp>,
    /// Upper bound of the blocks that the machine code needs for results.
    max_blocks: usize,
    /// The code with machine code, once recorded; the inner `None` means that it does not support the nest.
    recorded: OnceLock<Option<Arc<TileCode>>>,
}

/// Cost of a kernel call in addition to its elements: ten nanoseconds, in bytes moved.
const BYTES_PER_CALL: usize = 1000;

impl TieredNestCode {
    /// The code with machine code, recorded at the first call.
    fn code(&self) -> Option<&Arc<TileCode>> {
        if self.recorded.get().is_none() {
            // No lock is held meanwhile. If two threads record the nest, one result is dropped.
            let TieredNestCode { kernels, constants, level, tier_up, .. } = self;
            let recorded =
                code::compile(&kernels.code.nest, constants, *level, Arc::clone(tier_up));
            let mut held = MemoryUse::default();
            match &recorded {
                Some(code) => code.count_bytes(&mut held),
                None => tier_up.close(),
            }
            if self.recorded.set(recorded.map(Arc::new)).is_ok() {
                tier_up.add_bytes(held.bytes());
            }
        }
        self.recorded_code()
    }

    /// The code with machine code, if it has been recorded.
    fn recorded_code(&self) -> Option<&Arc<TileCode>> {
        self.recorded.get()?.as_ref()
    }

    /// Adds a run by kernels with this much work to the budget; returns whether it pays for a function.
    fn add_work(&self, work: usize) -> bool {
        self.tier_up.add_work(work.saturating_add(self.kernels.code.calls.len() * BYTES_PER_CALL))
    }
}

impl NestCode for TieredNestCode {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let recorded = self.recorded_code();
        let bind = |code| tiles::bind(code, nest, strides, is_over_input);
        if let Some(bound) = recorded.and_then(bind) {
            return Some(bound);
        }
        let kernels = bind(&self.kernels.code)?;
        Some(Arc::new(TieredBinding {
            nest: nest.to_nest(),
            kernels,
            strides: nest.list_strides(strides).into_owned(),
            is_over_input: is_over_input.to_vec(),
            machine: OnceLock::new(),
            code: self,
        }))
    }

    fn cost(&self) -> usize {
        self.kernels.cost()
    }

    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let blocks = self.max_blocks + nest.nest.accesses.len();
        let of_machine = blocks * BLOCK_BYTES + accumulator_bytes(nest, &self.kernels.code.folds);
        let margin = nest.nest.reduced.map_or(0, |_| MARGIN_BYTES);
        self.kernels.thread_bytes(nest).max(of_machine + margin)
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        self.kernels.shared_bytes(nest)
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        self.kernels.list(nest, formatter, describe)
    }

    fn machine_code(
        &self,
        nest: &Arc<LoopNest>,
        strides: &[AxisStrides],
        describe: &dyn Fn(&Access) -> String,
    ) -> Result<String, KernelFallback> {
        // The code is generated again, without a budget.
        let tier_up = Arc::new(TierUp::new(0));
        let code = code::compile(nest, &self.constants, self.level, tier_up);
        let code = Arc::new(code.ok_or(KernelFallback::Unsupported)?);
        if nest.shape.contains(&0) {
            return Err(KernelFallback::NoElements);
        }
        // The binding keeps the listed functions alive.
        let _bound = tiles::bind(&code, &SizedNest::own(nest), NestStrides::Explicit(strides), &[])
            .ok_or(KernelFallback::Memory)?;
        Ok(listing::list(&code, nest, describe))
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<TieredNestCode>(1);
        held.own::<TierUp>(1);
        self.kernels.count_bytes(held);
    }

    fn generated_bytes(&self) -> usize {
        self.tier_up.bytes()
    }
}

/// Code bound to strides: kernels at first, and machine code once the budget pays for it.
#[derive(Debug)]
struct TieredBinding {
    code: Arc<TieredNestCode>,
    nest: Arc<LoopNest>,
    kernels: Arc<dyn BoundNest>,
    strides: Vec<AxisStrides>,
    is_over_input: Vec<bool>,
    machine: OnceLock<Arc<dyn BoundNest>>,
}

impl BoundNest for TieredBinding {
    fn tier_up(&self, work: usize) -> Option<&dyn BoundNest> {
        if let Some(machine) = self.machine.get() {
            return Some(&**machine);
        }
        if !self.code.add_work(work) {
            return None;
        }
        let code = self.code.code()?;
        let nest = SizedNest::own(&self.nest);
        let strides = NestStrides::Explicit(&self.strides);
        let Some(bound) = tiles::bind(code, &nest, strides, &self.is_over_input) else {
            self.code.tier_up.reset();
            return None;
        };
        let mut held = MemoryUse::default();
        bound.count_bytes(&mut held);
        if self.machine.set(bound).is_ok() {
            self.code.tier_up.add_bytes(held.bytes());
        }
        self.machine.get().map(|machine| &**machine)
    }

    fn tiles(&self) -> usize {
        self.kernels.tiles()
    }

    fn tile_elements(&self) -> usize {
        self.kernels.tile_elements()
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        // SAFETY: the caller has the same obligations.
        unsafe { self.kernels.run(bases, tiles) }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        // SAFETY: the caller has the same obligations; kernels ran the tiles.
        unsafe { self.kernels.finish(bases) }
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<TieredBinding>(1);
        held.nest(&self.nest);
        held.own::<AxisStrides>(self.strides.capacity());
        self.strides.iter().for_each(|strides| held.small(strides));
        held.own::<bool>(self.is_over_input.capacity());
        self.kernels.count_bytes(held);
    }
}
