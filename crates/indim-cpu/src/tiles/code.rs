//! The code of a tile: straight-line calls over virtual registers, for one level.
//!
//! Each access and each instruction's result has a virtual register. At run time it is the address of a
//! dense block: a block of the workspace, or the array itself if its memory is dense. The code is a list of
//! kernel calls, and one function after them if the nest has machine code.

use std::sync::Arc;

use indim_graph::TakeMode;
use indim_kernels::{KernelFn, Level};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Instruction, InstructionKind, Local, LoopNest};
use indim_loops::walk::runs;
use indim_ops::DType;
use smallvec::SmallVec;

use crate::tiles::functions::Functions;
use crate::tiles::gather::Gather;
use crate::tiles::store_fold::StoreFold;

/// Bytes of a block of the workspace: several fit L1 (32 KiB) together.
pub(crate) const REGISTER_BYTES: usize = 4096;

// A tile gathered into a block is copied run by run.
const _: () = assert!(REGISTER_BYTES <= runs::MAX_ELEMENTS);

/// Operands, values or stores whose data fits the stack.
pub(crate) const FEW: usize = 4;

/// A short list; a push for each item is faster than `collect`.
pub(crate) fn few<T>(items: impl Iterator<Item = T>) -> SmallVec<[T; FEW]> {
    let mut list = SmallVec::new();
    items.for_each(|item| list.push(item));
    list
}

/// A call from source registers to a destination register.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) destination: usize,
    pub(crate) callee: Callee,
}

/// The callee.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    /// A kernel of one operation.
    Kernel { kernel: KernelFn, sources: [usize; 3] },
    /// A gather: elements of the access `table` by the indices in a register.
    Take { gather: Gather, table: usize, indices: usize },
}

/// The stores of one value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    /// The first store.
    pub(crate) first: Option<usize>,
    pub(crate) count: usize,
}

/// The code of a loop nest.
#[derive(Debug, Clone)]
pub(crate) struct TileCode {
    /// The compiled nest. A run may have other sizes, which the bound nest has.
    pub(crate) nest: Arc<LoopNest>,
    pub(crate) calls: Vec<Call>,
    /// Machine code for the values that no call computes.
    pub(crate) functions: Option<Arc<Functions>>,
    /// Machine code that folds what it computes, for a nest with a reduced axis.
    pub(crate) folding: Option<Arc<Functions>>,
    /// Block of each instruction's result, as an offset in bytes in the workspace; `None` if it needs none.
    /// Wirings assign blocks to accesses.
    pub(crate) registers: Vec<Option<usize>>,
    pub(crate) register_count: usize,
    /// The stores of each register's value.
    pub(crate) stored: Vec<Stored>,
    /// For each access, whether it needs a dense block in any case.
    pub(crate) needs_block: Vec<bool>,
    /// For each access, whether only gathers read it, as a table or as indices: it needs no block.
    pub(crate) only_taken: Vec<bool>,
    pub(crate) block: usize,
    /// Cost of computing one element; see [`NestCode::cost`](crate::executor::NestCode::cost).
    pub(crate) cost: usize,
    /// The fold of each store, for a nest with a reduced axis.
    pub(crate) folds: Vec<StoreFold>,
}

impl TileCode {
    /// The shortest row, in elements, that is run row by row; `None` if tiles need dense blocks.
    pub(crate) fn minimum_row(&self) -> Option<usize> {
        let least = self.functions.as_deref().map(Functions::step);
        least.filter(|_| !self.needs_block.contains(&true))
    }

    /// Whether the function computes a value, so that it may write it row by row.
    pub(crate) fn is_of_function(&self, value: Local) -> bool {
        let Local::Instruction(index) = value else { return false };
        let is_taken = matches!(self.nest.instructions[index].kind, InstructionKind::Take { .. });
        self.functions.is_some() && !is_taken
    }

    /// Whether one pass over a tile computes everything.
    pub(crate) fn is_one_pass(&self) -> bool {
        self.calls.len() + usize::from(self.functions.is_some()) == 1
    }

    /// Whether the nest computes or gathers anything.
    pub(crate) fn computes(&self) -> bool {
        !self.calls.is_empty() || self.functions.is_some()
    }

    /// The virtual register of a value.
    pub(crate) fn slot(&self, local: Local) -> usize {
        slot(&self.nest, local)
    }

    /// The operand of the nest whose access has this register.
    pub(crate) fn operand(&self, slot: usize) -> usize {
        self.nest.stores.len() + slot
    }

    /// Bytes of an element of a register's value.
    pub(crate) fn element_size(&self, slot: usize) -> usize {
        let local = match slot.checked_sub(self.nest.accesses.len()) {
            Some(index) => Local::Instruction(index),
            None => Local::Access(slot),
        };
        self.nest.dtype(local).size()
    }

    /// Counts the memory of the code, without the functions compiled from it.
    pub(crate) fn count_bytes(&self, held: &mut MemoryUse) {
        held.own::<TileCode>(1);
        held.own::<Call>(self.calls.capacity());
        held.own::<Option<usize>>(self.registers.capacity());
        held.own::<Stored>(self.stored.capacity());
        held.own::<StoreFold>(self.folds.capacity());
        held.own::<bool>(self.needs_block.capacity() + self.only_taken.capacity());
        let functions = self.functions.iter().chain(&self.folding);
        functions.for_each(|functions| functions.count_bytes(held));
    }
}

/// The virtual register of a value of the nest.
pub(crate) fn slot(nest: &LoopNest, local: Local) -> usize {
    match local {
        Local::Access(index) => index,
        Local::Instruction(index) => nest.accesses.len() + index,
    }
}

/// Elements of a block: as many of the widest type as fit.
pub(crate) fn block(nest: &LoopNest) -> usize {
    let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
    let results = nest.instructions.iter().map(|instruction| instruction.dtype);
    REGISTER_BYTES / accesses.chain(results).map(DType::size).max().unwrap_or(1)
}

/// Bytes of an element of each operand.
pub(crate) fn element_sizes(nest: &LoopNest) -> SmallVec<[usize; FEW]> {
    few(nest.operands().map(|operand| operand.array_type.dtype.size()))
}

/// The stores of each register's value.
pub(crate) fn stored(nest: &LoopNest) -> Vec<Stored> {
    let mut stored = vec![Stored::default(); nest.accesses.len() + nest.instructions.len()];
    for (index, store) in nest.stores.iter().enumerate() {
        let of_value = &mut stored[slot(nest, store.source)];
        of_value.first.get_or_insert(index);
        of_value.count += 1;
    }
    stored
}

/// For each access, whether only gathers read it, so that it needs no block.
pub(crate) fn only_taken(nest: &LoopNest) -> Vec<bool> {
    let mut only_taken = vec![false; nest.accesses.len()];
    let is_take = |it: &&Instruction| matches!(it.kind, InstructionKind::Take { .. });
    let of_takes = nest.instructions.iter().filter(is_take).flat_map(|it| &it.operands);
    for access in of_takes.filter_map(Local::access) {
        only_taken[access] = true;
    }
    let of_others = nest.instructions.iter().filter(|it| !is_take(it)).flat_map(|it| &it.operands);
    let stored = nest.stores.iter().map(|store| &store.source);
    for access in of_others.chain(stored).filter_map(Local::access) {
        only_taken[access] = false;
    }
    only_taken
}

/// The accesses that a nest without reduction stores unchanged.
pub(crate) fn copied(nest: &LoopNest) -> impl Iterator<Item = usize> {
    let stores = nest.stores.iter().filter(|_| nest.reduced.is_none());
    stores.filter_map(|store| match store.source {
        Local::Access(index) => Some(index),
        Local::Instruction(_) => None,
    })
}

/// The callee of an instruction that gathers.
pub(crate) fn take_callee(
    nest: &LoopNest,
    instruction: &Instruction,
    mode: TakeMode,
    size: usize,
    level: Level,
) -> Callee {
    let [table, indices] = [0, 1].map(|operand| slot(nest, instruction.operands[operand]));
    let gather = Gather::new(mode, instruction.operand_dtype, instruction.dtype, size, level);
    Callee::Take { gather, table, indices }
}
