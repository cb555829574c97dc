//! The code of a tile: straight-line calls over virtual registers, for one level.
//!
//! Each access and each instruction has a virtual register for its values. In a tile a register is an
//! address: of a block of the workspace, or of the array itself if its memory is dense there. The code is a
//! list of calls; if the nest has machine code, one function runs after them.

use std::sync::Arc;

use indim_graph::TakeMode;
use indim_kernels::KernelFn;
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{InstructionKind, Local, LoopNest, NestInstruction};
use indim_loops::walk::runs;
use indim_ops::DType;
use indim_ops::Level;
use smallvec::SmallVec;

use crate::tiles::functions::Functions;
use crate::tiles::gather::Gather;
use crate::tiles::store_fold::StoreFold;

/// Bytes of a block of the workspace: the blocks of several registers fit L1 (32 KiB).
pub(crate) const BLOCK_BYTES: usize = 4096;

// A block is gathered run by run, and it has at most `BLOCK_BYTES` elements.
const _: () = assert!(BLOCK_BYTES <= runs::MAX_TILE_ELEMENTS);

/// Maximum length of a list of operands, values or stores that needs no heap allocation.
pub(crate) const INLINE_ITEMS: usize = 4;

/// Collects a short list. For few items a push for each is faster than `collect`.
pub(crate) fn short_list<T>(items: impl Iterator<Item = T>) -> SmallVec<[T; INLINE_ITEMS]> {
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

/// The callee of a call, with its source registers.
#[derive(Debug, Clone)]
pub(crate) enum Callee {
    /// A kernel of one operation.
    Kernel { kernel: KernelFn, sources: [usize; 3] },
    /// A gather from the array of the access `table`, by the indices in a register.
    Gather { gather: Gather, table: usize, indices: usize },
}

/// The stores of one value: the first, and their number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueStores {
    pub(crate) first: Option<usize>,
    pub(crate) count: usize,
}

/// The code of a loop nest.
#[derive(Debug, Clone)]
pub(crate) struct TileCode {
    /// The compiled nest. Runs may have other sizes; the binding has those.
    pub(crate) nest: Arc<LoopNest>,
    pub(crate) calls: Vec<Call>,
    /// Machine code for the values that no call computes; `None` if calls compute all.
    pub(crate) functions: Option<Arc<Functions>>,
    /// Machine code that folds the values it computes, for a nest with a reduced axis.
    pub(crate) fold_functions: Option<Arc<Functions>>,
    /// For each instruction, the offset of its block in the workspace, in bytes; `None` if it needs no block.
    /// Wirings assign blocks to accesses.
    pub(crate) blocks: Vec<Option<usize>>,
    pub(crate) block_count: usize,
    /// For each register, the stores of its value.
    pub(crate) value_stores: Vec<ValueStores>,
    /// For each access, whether it needs a dense block under every walk.
    pub(crate) needs_block: Vec<bool>,
    /// For each access, whether only gathers read it, as a table or as indices; it then needs no block.
    pub(crate) only_gathered: Vec<bool>,
    /// Elements of a block: as many of the widest type as fit.
    pub(crate) block_elements: usize,
    /// Cost of computing one element; see [`NestCode::cost`](crate::executor::NestCode::cost).
    pub(crate) cost: usize,
    /// The fold of each store, for a nest with a reduced axis.
    pub(crate) folds: Vec<StoreFold>,
    /// For each access, its position in records that the function may read as a whole; empty without records.
    pub(crate) record_members: Vec<Option<RecordMember>>,
}

/// An access as a member of records: several accesses read neighbouring elements at the same stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordMember {
    /// Identifies the array of records: accesses with equal numbers read the same records.
    pub(crate) records: u8,
    /// Index of the element in a record.
    pub(crate) member: u8,
    /// Number of elements in a record.
    pub(crate) factor: u8,
}

impl TileCode {
    /// Elements of the shortest row that the function runs row by row; `None` if tiles need dense blocks.
    pub(crate) fn minimum_row(&self) -> Option<usize> {
        let step = self.functions.as_deref().map(Functions::step);
        step.filter(|_| !self.needs_block.contains(&true))
    }

    /// Whether the function computes the value, so that it may write it row by row.
    pub(crate) fn is_computed_by_function(&self, value: Local) -> bool {
        let Local::Instruction(index) = value else { return false };
        let is_gathered =
            matches!(self.nest.instructions[index].kind, InstructionKind::Take { .. });
        self.functions.is_some() && !is_gathered
    }

    /// Whether one pass over a tile computes all values.
    pub(crate) fn is_one_pass(&self) -> bool {
        self.calls.len() + usize::from(self.functions.is_some()) == 1
    }

    /// Whether the nest computes or gathers anything.
    pub(crate) fn computes(&self) -> bool {
        !self.calls.is_empty() || self.functions.is_some()
    }

    /// The virtual register of a value.
    pub(crate) fn register(&self, local: Local) -> usize {
        register(&self.nest, local)
    }

    /// The operand of the nest for the access with this register.
    pub(crate) fn operand(&self, register: usize) -> usize {
        self.nest.stores.len() + register
    }

    /// Element size of a register's values, in bytes.
    pub(crate) fn element_size(&self, register: usize) -> usize {
        let local = match register.checked_sub(self.nest.accesses.len()) {
            Some(index) => Local::Instruction(index),
            None => Local::Access(register),
        };
        self.nest.dtype(local).size()
    }

    /// The position of an operand in records, if `stride`, its stride along the innermost axis in bytes, is
    /// the size of a record.
    pub(crate) fn record_member(&self, operand: usize, stride: isize) -> Option<RecordMember> {
        let access = operand.checked_sub(self.nest.stores.len())?;
        let member = (*self.record_members.get(access)?)?;
        let size = self.nest.accesses[access].array_type.dtype.size();
        (stride == (size * usize::from(member.factor)) as isize).then_some(member)
    }

    /// Counts the memory of the code. Compiled functions are not included.
    pub(crate) fn count_bytes(&self, memory_use: &mut MemoryUse) {
        memory_use.add_allocation::<TileCode>(1);
        memory_use.add_allocation::<Call>(self.calls.capacity());
        memory_use.add_allocation::<Option<usize>>(self.blocks.capacity());
        memory_use.add_allocation::<ValueStores>(self.value_stores.capacity());
        memory_use.add_allocation::<StoreFold>(self.folds.capacity());
        memory_use.add_allocation::<Option<RecordMember>>(self.record_members.capacity());
        memory_use
            .add_allocation::<bool>(self.needs_block.capacity() + self.only_gathered.capacity());
        let functions = self.functions.iter().chain(&self.fold_functions);
        functions.for_each(|functions| functions.count_bytes(memory_use));
    }
}

/// The virtual register of a value of the nest.
pub(crate) fn register(nest: &LoopNest, local: Local) -> usize {
    match local {
        Local::Access(index) => index,
        Local::Instruction(index) => nest.accesses.len() + index,
    }
}

/// See [`TileCode::block_elements`].
pub(crate) fn block_elements(nest: &LoopNest) -> usize {
    let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
    let results = nest.instructions.iter().map(|instruction| instruction.dtype);
    BLOCK_BYTES / accesses.chain(results).map(DType::size).max().unwrap_or(1)
}

/// Element size of each operand, in bytes.
pub(crate) fn element_sizes(nest: &LoopNest) -> SmallVec<[usize; INLINE_ITEMS]> {
    short_list(nest.operands().map(|operand| operand.array_type.dtype.size()))
}

/// See [`TileCode::value_stores`].
pub(crate) fn value_stores(nest: &LoopNest) -> Vec<ValueStores> {
    let mut value_stores =
        vec![ValueStores::default(); nest.accesses.len() + nest.instructions.len()];
    for (index, store) in nest.stores.iter().enumerate() {
        let of_value = &mut value_stores[register(nest, store.source)];
        of_value.first.get_or_insert(index);
        of_value.count += 1;
    }
    value_stores
}

/// See [`TileCode::only_gathered`].
pub(crate) fn only_gathered(nest: &LoopNest) -> Vec<bool> {
    let mut only_gathered = vec![false; nest.accesses.len()];
    let is_take = |it: &&NestInstruction| matches!(it.kind, InstructionKind::Take { .. });
    let of_gathers = nest.instructions.iter().filter(is_take).flat_map(|it| &it.operands);
    for access in of_gathers.filter_map(Local::access) {
        only_gathered[access] = true;
    }
    let of_others = nest.instructions.iter().filter(|it| !is_take(it)).flat_map(|it| &it.operands);
    let value_stores = nest.stores.iter().map(|store| &store.source);
    for access in of_others.chain(value_stores).filter_map(Local::access) {
        only_gathered[access] = false;
    }
    only_gathered
}

/// The accesses that a nest without reduction stores unchanged.
pub(crate) fn copied(nest: &LoopNest) -> impl Iterator<Item = usize> {
    let stores = nest.stores.iter().filter(|_| nest.reduced.is_none());
    stores.filter_map(|store| match store.source {
        Local::Access(index) => Some(index),
        Local::Instruction(_) => None,
    })
}

/// The callee of a gather instruction.
pub(crate) fn gather_callee(
    nest: &LoopNest,
    instruction: &NestInstruction,
    mode: TakeMode,
    size: usize,
    level: Level,
) -> Callee {
    let [table, indices] = [0, 1].map(|operand| register(nest, instruction.operands[operand]));
    let gather = Gather::new(mode, instruction.operand_dtype, instruction.dtype, size, level);
    Callee::Gather { gather, table, indices }
}
