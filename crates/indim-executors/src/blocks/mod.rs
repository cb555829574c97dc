//! The block executor: a nest becomes straight-line calls of kernels over dense blocks in L1, tile by tile.
//! Holds unsafe code.
//!
//! - `code.rs`: compilation of a nest;
//! - `allocation.rs`: allocation of blocks to virtual registers;
//! - `listing.rs`: the listing.
//!
//! The loops over tiles are in `tiles/`.

mod allocation;
mod code;
mod listing;

use core::fmt;
use std::sync::Arc;

use indim_graph::Array;
use indim_kernels::convert_kernel;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Access, LoopNest};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_ops::DType;
use indim_ops::Level;

use crate::executor::{BoundNest, Executor, KernelFallback, NestCode};
use crate::tiles;
use crate::tiles::code::{BLOCK_BYTES, TileCode};
use crate::tiles::store_fold::{accumulator_bytes, segment_bytes};

/// The block executor.
#[derive(Debug)]
pub struct Blocks;

impl Executor for Blocks {
    fn compile(&self, nest: &Arc<LoopNest>, _: &Arc<[Array]>, level: Level) -> Arc<dyn NestCode> {
        Arc::new(KernelNestCode::compile(nest, level, KernelFallback::Requested))
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, level: Level) {
        const BLOCK: usize = 128;
        let kernel = convert_kernel(DType::U64, dtype, level);
        let mut numbers = [0u64; BLOCK];
        for start in (0..length).step_by(BLOCK) {
            let count = BLOCK.min(length - start);
            let written = numbers[..count].iter_mut().zip(start as u64..);
            written.for_each(|(element, number)| *element = number);
            let source = numbers.as_ptr().cast::<u8>();
            let to = first.wrapping_add(start * dtype.size());
            // SAFETY:
            // - `numbers` has `count` elements, which the kernel reads;
            // - elements `start..start + count` are among the caller's `length` writable elements;
            // - `level` is one of this processor.
            unsafe { kernel(to, [source; 3], count) }
        }
    }
}

/// A nest compiled to calls of kernels.
#[derive(Debug)]
pub(crate) struct KernelNestCode {
    pub(crate) code: Arc<TileCode>,
    /// The reason why kernels run the nest.
    reason: KernelFallback,
}

impl KernelNestCode {
    /// Compiles a nest for `level`; `reason` tells why it has no machine code.
    pub(crate) fn compile(
        nest: &Arc<LoopNest>,
        level: Level,
        reason: KernelFallback,
    ) -> KernelNestCode {
        KernelNestCode::new(Arc::new(code::compile(nest, level)), reason)
    }

    pub(crate) fn new(code: Arc<TileCode>, reason: KernelFallback) -> KernelNestCode {
        KernelNestCode { code, reason }
    }
}

impl NestCode for KernelNestCode {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        is_over_input: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        tiles::bind(&self.code, nest, strides, is_over_input)
    }

    fn cost(&self) -> usize {
        self.code.cost
    }

    /// Bytes of blocks and accumulators if every access is gathered.
    fn thread_bytes(&self, nest: &SizedNest<'_>) -> usize {
        let blocks = (self.code.block_count + nest.nest.accesses.len()) * BLOCK_BYTES;
        blocks + accumulator_bytes(nest, &self.code.folds)
    }

    fn shared_bytes(&self, nest: &SizedNest<'_>) -> usize {
        segment_bytes(nest, &self.code.folds)
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        describe: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        listing::list(&self.code, nest, formatter, describe)
    }

    fn fallback(&self) -> KernelFallback {
        self.reason
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<KernelNestCode>(1);
        self.code.count_bytes(memory_use);
    }
}
