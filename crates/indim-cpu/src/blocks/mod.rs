//! The block executor: a nest becomes straight-line code of kernels and chains, which run over dense blocks
//! in the nearest cache, tile by tile. Holds unsafe code.
//!
//! Read `code.rs` (what a nest becomes), `chain/` (which instructions run in one pass), `wiring.rs` (where
//! its slots lie under a walk), `tiles.rs` (the loop over tiles), `reduce.rs` (the one over a reduced
//! axis), `tree.rs` (in which order that combines), `search.rs` (the one that finds where an element is).

pub(crate) mod chain;
pub(crate) mod code;
mod listing;
pub mod memory;
mod reduce;
mod registers;
mod search;
mod store_fold;
mod take;
mod tiles;
mod tree;
mod wiring;

use core::fmt;
use std::sync::Arc;

use indim_kernels::{Level, convert_kernel};
use indim_loops::HeldBytes;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_ops::DType;

use crate::executor::{BoundNest, Executor, NestCode};
use chain::Link;
use chain::find::Task;
use code::{BlockCode, Call, Callee, Stored};
use reduce::BoundReduction;
use registers::REGISTER_BYTES;
use search::BoundSearch;
use store_fold::{StoreFold, accumulator_bytes, piece_bytes};
use tiles::BoundBlocks;

/// The block executor.
#[derive(Debug)]
pub(crate) struct Blocks;

impl Executor for Blocks {
    fn compile(&self, nest: &Arc<LoopNest>, level: Level) -> Arc<dyn NestCode> {
        Arc::new(BlockCode::compile(nest, level))
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        const BLOCK: usize = 1024;
        let kernel = convert_kernel(DType::U64, dtype, level);
        let mut numbers = [0u64; BLOCK];
        for start in (0..length).step_by(BLOCK) {
            let count = BLOCK.min(length - start);
            numbers.iter_mut().zip(start as u64..).for_each(|(slot, number)| *slot = number);
            let source = numbers.as_ptr().cast::<u8>();
            let place = first.wrapping_add(start * dtype.size());
            // SAFETY: `count` numbers are read, and as many elements of the caller's written.
            unsafe { kernel(place, [source; 3], count) }
        }
    }
}

/// A kernel of its own weighs as much as this many bytes moved, because most are functions: `exp` of f32
/// takes as long as 40 bytes, `sin` as 120.
const BYTES_PER_KERNEL: usize = 48;

/// An element that is taken weighs as much as this many bytes moved.
const BYTES_PER_TAKE: usize = 8;

/// A link of a chain weighs as much as this many bytes moved.
const BYTES_PER_LINK: usize = 2;

impl NestCode for BlockCode {
    fn bind(
        self: Arc<Self>,
        strides: &[Vec<isize>],
        is_over_input: &[bool],
    ) -> Option<Box<dyn BoundNest>> {
        match self.nest.reduced {
            Some(_) if self.nest.searches() => Some(Box::new(BoundSearch::new(self, strides)?)),
            Some(_) => Some(Box::new(BoundReduction::new(self, strides)?)),
            None => Some(Box::new(BoundBlocks::new(self, strides, is_over_input)?)),
        }
    }

    fn cost(&self) -> usize {
        let cost = |call: &Call| match call.callee {
            Callee::Kernel { .. } => BYTES_PER_KERNEL,
            Callee::Take { .. } => BYTES_PER_TAKE,
            Callee::Chain { links, .. } => links * BYTES_PER_LINK,
        };
        self.calls.iter().map(cost).sum()
    }

    /// The registers: every access may have to be gathered.
    fn thread_bytes(&self) -> usize {
        let registers = (self.register_count + self.nest.accesses.len()) * REGISTER_BYTES;
        registers + accumulator_bytes(&self.nest, &self.folds)
    }

    fn shared_bytes(&self) -> usize {
        piece_bytes(&self.nest, &self.folds)
    }

    fn list(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        listing::list(self, formatter, describe)
    }

    fn count_bytes(&self, held: &mut HeldBytes) {
        held.own::<BlockCode>(1);
        held.own::<Task>(self.tasks.capacity());
        self.chains().for_each(|chain| held.own::<Link>(chain.links.capacity()));
        held.own::<Call>(self.calls.capacity());
        held.own::<Option<usize>>(self.registers.capacity());
        held.own::<Stored>(self.stored.capacity());
        held.own::<StoreFold>(self.folds.capacity());
        held.own::<bool>(self.is_read_by_kernel.capacity() + self.is_left_by_chain.capacity());
        held.own::<bool>(self.is_table.capacity());
    }
}
