//! The machine executor: a nest runs by blocks until machine code is worth its price, and then by that.
//!
//! `code.rs` has what a nest becomes, `listing.rs` writes it for people. The loops over tiles, the functions
//! and their price are in `tiles/`.

mod code;
mod listing;

use core::fmt;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, Compute, Instruction, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::DType;
use indim_targets::TargetKind;

use crate::blocks::{BlockCode, Blocks};
use crate::executor::{Bases, BoundNest, Executor, KernelFallback, NestCode};
use crate::tiles;
use crate::tiles::account::{Account, price};
use crate::tiles::code::{REGISTER_BYTES, TileCode};
use crate::tiles::store_fold::accumulator_bytes;
use crate::tiles::tile::MARGIN_BYTES;

/// The machine executor.
#[derive(Debug)]
pub(crate) struct Machine {
    /// Whether machine code is made before the first run, whatever it costs.
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
        let account = Arc::new(Account::new(price));
        let (constants, recorded) = (Arc::clone(constants), OnceLock::new());
        let most_registers = code::most_registers(nest);
        Arc::new(MachineCode { blocks, constants, level, account, most_registers, recorded })
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        // SAFETY: the caller's promise.
        unsafe { Blocks.write_counter(first, dtype, length, level) }
    }
}

/// What machine code at a level is made for, if there is any for this processor.
fn target(level: Level) -> Option<TargetKind> {
    let is_avx2 = Level::avx2() == Some(level);
    if is_avx2 && TargetKind::available().contains(&TargetKind::Avx2) {
        return Some(TargetKind::Avx2);
    }
    TargetKind::best()
}

/// Why a nest has no machine code, as far as that is known before it is recorded.
fn by_kernels(nest: &LoopNest, level: Level) -> Option<KernelFallback> {
    if target(level).is_none() {
        return Some(KernelFallback::Processor);
    }
    // Who chooses the baseline of a processor that has more gets nothing better.
    if level == Level::BASELINE && level != Level::detect() {
        return Some(KernelFallback::LowLevel);
    }
    let takes = |it: &Instruction| matches!(it.compute, Compute::Take { .. });
    nest.instructions.iter().all(takes).then(|| match nest.searches() {
        true => KernelFallback::Searches,
        false => KernelFallback::ComputesNothing,
    })
}

/// A nest that may be run by machine code.
#[derive(Debug)]
struct MachineCode {
    blocks: Arc<BlockCode>,
    constants: Arc<[Array]>,
    level: Level,
    account: Arc<Account>,
    /// The most registers of what the nest becomes.
    most_registers: usize,
    /// What the nest becomes, once it is recorded; `None` for one that is not covered.
    recorded: OnceLock<Option<Arc<TileCode>>>,
}

/// What a call of a kernel weighs beside its elements: ten nanoseconds, in bytes that could be moved.
const BYTES_PER_CALL: usize = 1000;

impl MachineCode {
    /// The nest over tiles, which is recorded now if it has not been.
    fn code(&self) -> Option<&Arc<TileCode>> {
        if self.recorded.get().is_none() {
            // Nobody waits for another thread that does the same.
            let MachineCode { blocks, constants, level, account, .. } = self;
            let recorded = code::compile(&blocks.code.nest, constants, *level, Arc::clone(account));
            let mut held = MemoryUse::default();
            match &recorded {
                Some(code) => code.count_bytes(&mut held),
                None => account.close(),
            }
            if self.recorded.set(recorded.map(Arc::new)).is_ok() {
                account.hold(held.bytes());
            }
        }
        self.known_code()
    }

    /// The nest over tiles, if it has been recorded.
    fn known_code(&self) -> Option<&Arc<TileCode>> {
        self.recorded.get()?.as_ref()
    }

    /// Notes a run of so much work by blocks; says whether that makes a function worth its price.
    fn note(&self, work: usize) -> bool {
        self.account.note(work.saturating_add(self.blocks.code.calls.len() * BYTES_PER_CALL))
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
        // Made once more, whatever it costs.
        let account = Arc::new(Account::new(0));
        let code = code::compile(nest, &self.constants, self.level, account);
        let code = Arc::new(code.ok_or(KernelFallback::NotCovered)?);
        if nest.shape.contains(&0) {
            return Err(KernelFallback::NoElements);
        }
        // What is listed is what this holds.
        let _bound = tiles::bind(&code, &SizedNest::own(nest), NestStrides::Given(strides), &[])
            .ok_or(KernelFallback::Memory)?;
        Ok(listing::list(&code, nest, describe))
    }

    fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<MachineCode>(1);
        held.own::<Account>(1);
        self.blocks.count_bytes(held);
    }

    fn made_bytes(&self) -> usize {
        self.account.held()
    }
}

/// Code bound to strides, by blocks until machine code is worth its price.
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
        let strides = NestStrides::Given(&self.strides);
        let Some(bound) = tiles::bind(code, &nest, strides, &self.is_over_input) else {
            self.code.account.forfeit();
            return None;
        };
        let mut held = MemoryUse::default();
        bound.count_bytes(&mut held);
        if self.machine.set(bound).is_ok() {
            self.code.account.hold(held.bytes());
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
        // SAFETY: the caller's promise.
        unsafe { self.blocks.run(bases, tiles) }
    }

    unsafe fn finish(&self, bases: &Bases<'_>) {
        // SAFETY: the caller's promise.
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
