//! The machine executor: kernels run a nest until its work pays for compilation, then machine code runs it.
//! Holds unsafe code.
//!
//! - `code.rs`: compilation of a nest;
//! - `listing.rs`: the listing of machine code;
//! - `unroll.rs`: reductions along short axes, unrolled to code without accumulators.
//!
//! The loops over tiles, the functions and their tier-up budget are in `tiles/`.

mod code;
mod listing;
mod unroll;

use core::fmt;
use core::ops::Range;
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, InstructionKind, LoopNest, NestInstruction};
use indim_loops::resize::{NestStrides, SizedNest, Sizes};
use indim_loops::strides::AxisStrides;
use indim_loops::unroll::MAX_UNROLLED;
use indim_ops::DType;
use indim_ops::Level;
use indim_targets::machine_code_levels;
use smallvec::SmallVec;

use crate::blocks::{Blocks, KernelNestCode};
use crate::executor::{Bases, BoundNest, Executor, KernelFallback, NestCode};
use crate::tiles;
use crate::tiles::code::{BLOCK_BYTES, TileCode};
use crate::tiles::store_fold::accumulator_bytes;
use crate::tiles::tier_up::{TierUp, compile_cost};
use crate::tiles::tile::MARGIN_BYTES;
use unroll::{UnrolledCode, UnrolledCodes};

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
        let reason = fallback(nest, level);
        // A reduction of elements in memory has machine code if it is unrolled.
        let is_unrolled = reason == Some(KernelFallback::NoOperation) && nest.reduced.is_some();
        let unsupported = reason.unwrap_or(KernelFallback::Unsupported);
        let kernels = KernelNestCode::compile(nest, level, unsupported);
        if reason.is_some() && !is_unrolled {
            return Arc::new(kernels);
        }
        let threshold = if self.is_forced { 0 } else { compile_cost(nest) };
        Arc::new(TieredNestCode {
            kernels: Arc::new(kernels),
            constants: Arc::clone(constants),
            level,
            tier_up: Arc::new(TierUp::new(threshold)),
            max_blocks: code::max_blocks(nest),
            recorded: OnceLock::new(),
            unrolled: UnrolledCodes::default(),
        })
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        // SAFETY: the caller has the same obligations.
        unsafe { Blocks.write_counter(first, dtype, length, level) }
    }
}

/// The reason why a nest has no machine code, if it is known before the nest is recorded.
fn fallback(nest: &LoopNest, level: Level) -> Option<KernelFallback> {
    match machine_code_levels() {
        [] => return Some(KernelFallback::Processor),
        levels if levels.contains(&level) => {}
        _ => return Some(KernelFallback::BaselineLevel),
    }
    let takes = |it: &NestInstruction| matches!(it.kind, InstructionKind::Take { .. });
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
    /// The tile code with machine code, once recorded; the inner `None` means that machine code does not
    /// support the nest.
    recorded: OnceLock<Option<Arc<TileCode>>>,
    unrolled: UnrolledCodes,
}

/// Cost of a kernel call in addition to its elements: ten nanoseconds, in bytes moved.
const BYTES_PER_CALL: usize = 1000;

impl TieredNestCode {
    /// The tile code with machine code, recorded at the first call.
    fn code(&self) -> Option<&Arc<TileCode>> {
        if self.recorded.get().is_none() {
            // No lock is held meanwhile. If two threads record the nest, one result is dropped.
            let TieredNestCode { kernels, constants, level, tier_up, .. } = self;
            let recorded =
                code::compile(&kernels.code.nest, constants, *level, Arc::clone(tier_up));
            let mut memory_use = MemoryUse::default();
            match &recorded {
                Some(code) => code.count_bytes(&mut memory_use),
                None => tier_up.close(),
            }
            if self.recorded.set(recorded.map(Arc::new)).is_ok() {
                tier_up.add_bytes(memory_use.bytes());
            }
        }
        self.recorded_code()
    }

    /// The tile code with machine code, if it has been recorded.
    fn recorded_code(&self) -> Option<&Arc<TileCode>> {
        self.recorded.get()?.as_ref()
    }

    /// Whether the nest has machine code for any sizes, not only unrolled code for short axes.
    fn is_for_any_sizes(&self) -> bool {
        self.kernels.fallback() != KernelFallback::NoOperation
    }

    /// The code of the nest unrolled for a reduced axis of `length` elements, recorded at the first call.
    fn unrolled(&self, length: usize) -> Option<&Arc<UnrolledCode>> {
        let slot = self.unrolled.get(length)?;
        if slot.get().is_none() {
            // Like `code`, without a lock.
            let TieredNestCode { kernels, constants, level, tier_up, .. } = self;
            let (nest, tier_up) = (&kernels.code.nest, Arc::clone(tier_up));
            let compiled = UnrolledCode::compile(nest, constants, length, *level, tier_up);
            let mut memory_use = MemoryUse::default();
            compiled.iter().for_each(|code| code.count_bytes(&mut memory_use));
            if slot.set(compiled.map(Arc::new)).is_ok() {
                self.tier_up.add_bytes(memory_use.bytes());
            }
        }
        self.recorded_unrolled(length)
    }

    /// The unrolled code, if it has been recorded.
    fn recorded_unrolled(&self, length: usize) -> Option<&Arc<UnrolledCode>> {
        self.unrolled.get(length)?.get()?.as_ref()
    }

    /// Binds machine code: unrolled code if it runs row by row, else the code for any sizes. Code that has
    /// not been recorded is recorded only if `records`. `None` without recorded code, or if a function is
    /// not available.
    fn bind_machine(
        &self,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
        records: bool,
    ) -> Option<Arc<dyn BoundNest>> {
        let length = nest.length();
        let unrolled = match records {
            true => self.unrolled(length),
            false => self.recorded_unrolled(length),
        };
        if let Some(bound) = unrolled.and_then(|unrolled| unrolled.bind(nest, strides)) {
            return Some(bound);
        }
        let code = match records {
            true if self.is_for_any_sizes() => self.code(),
            _ => self.recorded_code(),
        };
        tiles::bind(code?, nest, strides, is_over_input)
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
        if let Some(bound) = self.bind_machine(nest, strides, is_over_input, false) {
            return Some(bound);
        }
        let kernels = tiles::bind(&self.kernels.code, nest, strides, is_over_input)?;
        if !self.is_for_any_sizes() && !(2..=MAX_UNROLLED).contains(&nest.length()) {
            return Some(kernels);
        }
        Some(Arc::new(TieredBinding {
            nest: Arc::clone(nest.nest),
            sizes: nest.sizes().0.into(),
            kernels,
            strides: nest.list_strides(strides).into_owned(),
            is_over_input: is_over_input.to_vec(),
            replacement: OnceLock::new(),
            code: self,
        }))
    }

    fn cost(&self) -> usize {
        self.kernels.cost()
    }

    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let copies = if nest.length() <= MAX_UNROLLED { nest.length().max(1) } else { 1 };
        let blocks = self.max_blocks + nest.nest.accesses.len() * copies;
        let machine_bytes =
            blocks * BLOCK_BYTES + accumulator_bytes(nest, &self.kernels.code.folds);
        let margin = nest.nest.reduced.map_or(0, |_| MARGIN_BYTES);
        self.kernels.thread_bytes(nest).max(machine_bytes + margin)
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
        let (sized, strides) = (SizedNest::with_own_sizes(nest), NestStrides::Explicit(strides));
        if let Some(unrolled) = UnrolledCode::compile(
            nest,
            &self.constants,
            sized.length(),
            self.level,
            Arc::clone(&tier_up),
        ) && let Some(_bound) = unrolled.bind(&sized, strides)
        {
            return Ok(unrolled.list(describe));
        }
        if !self.is_for_any_sizes() {
            return Err(self.kernels.fallback());
        }
        let code = code::compile(nest, &self.constants, self.level, tier_up);
        let code = Arc::new(code.ok_or(KernelFallback::Unsupported)?);
        if sized.shape.contains(&0) {
            return Err(KernelFallback::NoElements);
        }
        // The binding keeps the listed functions alive.
        let _bound = tiles::bind(&code, &sized, strides, &[]).ok_or(KernelFallback::Memory)?;
        Ok(listing::list(&code, nest, describe))
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<TieredNestCode>(1);
        memory_use.add_allocation::<TierUp>(1);
        self.kernels.count_bytes(memory_use);
    }

    fn generated_bytes(&self) -> usize {
        self.tier_up.bytes()
    }
}

/// Number of symbols whose sizes fit inline, without an allocation.
const INLINE_SIZES: usize = 4;

/// Code bound to strides: kernels at first, and machine code once the budget pays for it.
#[derive(Debug)]
struct TieredBinding {
    code: Arc<TieredNestCode>,
    nest: Arc<LoopNest>,
    /// The size of each symbol of the program.
    sizes: SmallVec<[usize; INLINE_SIZES]>,
    kernels: Arc<dyn BoundNest>,
    strides: Vec<AxisStrides>,
    is_over_input: Vec<bool>,
    /// The code that replaces `kernels` once the budget pays: machine code, or `kernels` if the nest has none
    /// for these strides.
    replacement: OnceLock<Arc<dyn BoundNest>>,
}

impl BoundNest for TieredBinding {
    fn tier_up(&self, work: usize) -> Option<&dyn BoundNest> {
        if let Some(replacement) = self.replacement.get() {
            return Some(&**replacement);
        }
        if !self.code.add_work(work) {
            return None;
        }
        let nest = SizedNest::new(&self.nest, Sizes(&self.sizes));
        let strides = NestStrides::Explicit(&self.strides);
        let bound = self.code.bind_machine(&nest, strides, &self.is_over_input, true);
        // If the nest has only unrolled code, and it does not support these strides, the kernels stay.
        let kernels = (!self.code.is_for_any_sizes()).then(|| Arc::clone(&self.kernels));
        let Some(bound) = bound.or(kernels) else {
            self.code.tier_up.reset();
            return None;
        };
        let mut memory_use = MemoryUse::default();
        bound.count_bytes(&mut memory_use);
        if self.replacement.set(bound).is_ok() {
            self.code.tier_up.add_bytes(memory_use.bytes());
        }
        self.replacement.get().map(|replacement| &**replacement)
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

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<TieredBinding>(1);
        memory_use.add_nest(&self.nest);
        memory_use.add_small_vec(&self.sizes);
        memory_use.add_allocation::<AxisStrides>(self.strides.capacity());
        self.strides.iter().for_each(|strides| memory_use.add_small_vec(strides));
        memory_use.add_allocation::<bool>(self.is_over_input.capacity());
        self.kernels.count_bytes(memory_use);
    }
}
