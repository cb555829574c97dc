//! What runs over a tile of a loop nest: straight-line code over slots, for one level.
//!
//! There is a slot for each access and one for each instruction's result; at run time a slot is the
//! address of a dense block: a register of the workspace, or, where memory is dense, the array itself.
//! The code is a list of calls, and, where machine code has been made of the nest, one function after them.

use std::sync::Arc;

use indim_graph::TakeMode;
use indim_kernels::{KernelFn, Level};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_loops::walk::runs;
use indim_ops::DType;
use smallvec::SmallVec;

use crate::tiles::functions::Functions;
use crate::tiles::store_fold::StoreFold;
use crate::tiles::take::Taker;

/// The bytes of a register: several fit into a first-level cache of 32 KiB together.
pub(crate) const REGISTER_BYTES: usize = 4096;

// A tile that is gathered into a register is gone through run by run.
const _: () = assert!(REGISTER_BYTES <= runs::MAX_ELEMENTS);

/// Of so many operands, values or stores what is known of each needs no memory of its own.
pub(crate) const FEW: usize = 4;

/// A list of few, for which a push for each is faster than `collect`.
pub(crate) fn few<T>(items: impl Iterator<Item = T>) -> SmallVec<[T; FEW]> {
    let mut list = SmallVec::new();
    items.for_each(|item| list.push(item));
    list
}

/// A call, from source slots to a destination slot.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) destination: usize,
    pub(crate) callee: Callee,
}

/// What is called.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    /// One operation.
    Kernel { kernel: KernelFn, sources: [usize; 3] },
    /// Elements of a table, which is an access, by the indices in a slot.
    Take { taker: Taker, table: usize, indices: usize },
}

/// The stores of one value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    /// The first of them.
    pub(crate) first: Option<usize>,
    pub(crate) count: usize,
}

/// The code of a loop nest.
#[derive(Debug, Clone)]
pub(crate) struct TileCode {
    /// The nest that was compiled. What is run may be of other sizes, which are asked of the nest that the
    /// code is bound to.
    pub(crate) nest: Arc<LoopNest>,
    pub(crate) calls: Vec<Call>,
    /// The machine code that computes what calls do not.
    pub(crate) functions: Option<Arc<Functions>>,
    /// The machine code that also folds what it computes, for a nest with a reduced axis.
    pub(crate) folding: Option<Arc<Functions>>,
    /// For each instruction its register, if it needs one: in bytes from the first register. Accesses have no
    /// register until they need one.
    pub(crate) registers: Vec<Option<usize>>,
    pub(crate) register_count: usize,
    /// The stores of each slot's value.
    pub(crate) stored: Vec<Stored>,
    /// For each access, whether a block of it is needed in any case.
    pub(crate) needs_block: Vec<bool>,
    /// For each access, whether only gathers read it, as a table or as indices: it is read where it lies.
    pub(crate) only_taken: Vec<bool>,
    pub(crate) block: usize,
    /// What is computed for an element, in bytes that could be moved instead.
    pub(crate) cost: usize,
    /// What the stores of a nest with a reduced axis call.
    pub(crate) folds: Vec<StoreFold>,
}

impl TileCode {
    /// The fewest elements of a row that is worth its while; none where rows are not, or if some access must
    /// be a block: that of a whole tile.
    pub(crate) fn minimum_row(&self) -> Option<usize> {
        let least = self.functions.as_deref().map(Functions::step);
        least.filter(|_| !self.needs_block.contains(&true))
    }

    /// Whether the function writes a value, which it may do row by row.
    pub(crate) fn is_of_function(&self, value: Local) -> bool {
        let Local::Instruction(index) = value else { return false };
        let is_taken = matches!(self.nest.instructions[index].compute, Compute::Take { .. });
        self.functions.is_some() && !is_taken
    }

    /// Whether each tile is gone through once.
    pub(crate) fn is_one_pass(&self) -> bool {
        self.calls.len() + usize::from(self.functions.is_some()) == 1
    }

    /// Whether anything is computed, or taken.
    pub(crate) fn computes(&self) -> bool {
        !self.calls.is_empty() || self.functions.is_some()
    }

    /// The slot of a value.
    pub(crate) fn slot(&self, local: Local) -> usize {
        slot(&self.nest, local)
    }

    /// The operand of the nest in the slot of an access.
    pub(crate) fn operand(&self, slot: usize) -> usize {
        self.nest.stores.len() + slot
    }

    /// The bytes of an element of a slot's value.
    pub(crate) fn element_size(&self, slot: usize) -> usize {
        let local = match slot.checked_sub(self.nest.accesses.len()) {
            Some(index) => Local::Instruction(index),
            None => Local::Access(slot),
        };
        self.nest.dtype(local).size()
    }

    /// Counts the memory that the code holds, without the functions that are made of it.
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

/// The slot of a value of the nest.
pub(crate) fn slot(nest: &LoopNest, local: Local) -> usize {
    match local {
        Local::Access(index) => index,
        Local::Instruction(index) => nest.accesses.len() + index,
    }
}

/// The elements of a block: as many as fit into a register, whatever they are.
pub(crate) fn block(nest: &LoopNest) -> usize {
    let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
    let results = nest.instructions.iter().map(|instruction| instruction.dtype);
    REGISTER_BYTES / accesses.chain(results).map(DType::size).max().unwrap_or(1)
}

/// The bytes of an element of each operand of the nest.
pub(crate) fn element_sizes(nest: &LoopNest) -> SmallVec<[usize; FEW]> {
    few(nest.operands().map(|operand| operand.array_type.dtype.size()))
}

/// For each slot the stores of its value.
pub(crate) fn stored(nest: &LoopNest) -> Vec<Stored> {
    let mut stored = vec![Stored::default(); nest.accesses.len() + nest.instructions.len()];
    for (index, store) in nest.stores.iter().enumerate() {
        let of_value = &mut stored[slot(nest, store.source)];
        of_value.first.get_or_insert(index);
        of_value.count += 1;
    }
    stored
}

/// For each access, whether gathers read it, and nothing else: it is no block of values.
pub(crate) fn only_taken(nest: &LoopNest) -> Vec<bool> {
    let mut only_taken = vec![false; nest.accesses.len()];
    let is_take = |it: &&Instruction| matches!(it.compute, Compute::Take { .. });
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

/// The accesses that are stored as they are, where none are reduced.
pub(crate) fn copied(nest: &LoopNest) -> impl Iterator<Item = usize> {
    let stores = nest.stores.iter().filter(|_| nest.reduced.is_none());
    stores.filter_map(|store| match store.source {
        Local::Access(index) => Some(index),
        Local::Instruction(_) => None,
    })
}

/// What an instruction calls that takes elements of a table.
pub(crate) fn take_callee(
    nest: &LoopNest,
    instruction: &Instruction,
    mode: TakeMode,
    size: usize,
    level: Level,
) -> Callee {
    let [table, indices] = [0, 1].map(|operand| slot(nest, instruction.operands[operand]));
    let taker = Taker::new(mode, instruction.operand_dtype, instruction.dtype, size, level);
    Callee::Take { taker, table, indices }
}
