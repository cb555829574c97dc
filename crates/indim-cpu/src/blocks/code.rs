//! What the block executor makes of a loop nest: straight-line code over slots, for one level.
//!
//! There is a slot for each access and one for each instruction's result; at run time a slot is the
//! address of a dense block: a register of the workspace, or, where memory is dense, the array itself.
//! The code is a list of calls, of kernels and of chains.

use std::sync::Arc;

use indim_graph::TakeMode;
use indim_kernels::chain::{ChainFn, chain_minimum};
use indim_kernels::{
    KernelFn, Level, bitcast_kernel, chain_kernel, convert_kernel, elementwise_kernel,
};
use indim_loops::loop_nest::{Compute, Instruction, Local, LoopNest};
use indim_ops::DType;

use crate::blocks::chain::Chain;
use crate::blocks::chain::find::{Task, find_tasks};
use crate::blocks::registers::{self, REGISTER_BYTES};
use crate::blocks::store_fold::StoreFold;
use crate::blocks::take::Taker;

/// A call of a kernel or a chain, from source slots to a destination slot.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) destination: usize,
    /// The bytes of an element of the result.
    pub(crate) result_size: usize,
    pub(crate) callee: Callee,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum Callee {
    /// One operation.
    Kernel { kernel: KernelFn, sources: [usize; 3] },
    /// Elements of a table, which is an access, by the indices in a slot.
    Take { taker: Taker, table: usize, indices: usize },
    /// Several operations, by so many links.
    Chain { chain: ChainFn, links: usize },
}

/// The stores of one value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    /// The first of them.
    pub(crate) first: Option<usize>,
    pub(crate) count: usize,
}

/// The code of a loop nest.
#[derive(Debug)]
pub(crate) struct BlockCode {
    pub(crate) nest: Arc<LoopNest>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) calls: Vec<Call>,
    /// For each instruction its register, and for each saved accumulator its place, if it needs one: in
    /// bytes from the first register. Accesses have no register until they need one.
    pub(crate) registers: Vec<Option<usize>>,
    pub(crate) register_count: usize,
    /// The stores of each slot's value.
    pub(crate) stored: Vec<Stored>,
    /// For each access, whether a kernel reads it, which needs a block of it in any case.
    pub(crate) is_read_by_kernel: Vec<bool>,
    /// For each access, whether elements are taken from it.
    pub(crate) is_table: Vec<bool>,
    pub(crate) block: usize,
    /// The bytes of the arrays that are read and written.
    pub(crate) bytes_moved: usize,
    /// The fewest elements of a row for which chains are worth their while; none if there are none, or
    /// if a kernel reads an access: kernels want blocks.
    pub(crate) minimum_row: Option<usize>,
    /// For each instruction, whether its result is left by a chain, and only stored.
    pub(crate) is_left_by_chain: Vec<bool>,
    /// What the stores of a nest with a reduced axis call.
    pub(crate) folds: Vec<StoreFold>,
}

impl BlockCode {
    /// Compiles a nest for `level`.
    pub(crate) fn compile(nest: &Arc<LoopNest>, level: Level) -> BlockCode {
        let tasks = find_tasks(nest);
        let calls = tasks.iter().map(|task| call(nest, task, level)).collect();
        let (registers, register_count) = registers::allocate(nest, &tasks);
        let accesses = nest.accesses.iter().map(|access| access.array_type.dtype);
        let results = nest.instructions.iter().map(|instruction| instruction.dtype);
        let widest = accesses.chain(results).map(DType::size).max().unwrap_or(1);
        let moved = nest.operands().map(|operand| nest.bytes_of(operand));
        let minimum_row = chains(&tasks).map(|chain| chain_minimum(chain.dtype)).max();
        let is_read_by_kernel = read_by_kernels(nest, &tasks);
        BlockCode {
            bytes_moved: moved.fold(0, usize::saturating_add),
            minimum_row: minimum_row.filter(|_| !is_read_by_kernel.contains(&true)),
            is_left_by_chain: left_by_chains(nest, &tasks),
            is_read_by_kernel,
            is_table: tables(nest),
            stored: stored(nest, &registers),
            folds: StoreFold::of(nest, level),
            nest: Arc::clone(nest),
            tasks,
            calls,
            registers,
            register_count,
            block: REGISTER_BYTES / widest,
        }
    }

    /// Whether a value is the result of a chain, and only stored.
    pub(crate) fn is_left_by_chain(&self, value: Local) -> bool {
        matches!(value, Local::Instruction(index) if self.is_left_by_chain[index])
    }

    /// The slot of a value.
    pub(crate) fn slot(&self, local: Local) -> usize {
        slot(&self.nest, local)
    }

    /// The slot of a saved accumulator: they come after the instructions.
    pub(crate) fn saved_slot(&self, index: usize) -> usize {
        self.nest.accesses.len() + self.nest.instructions.len() + index
    }

    /// The chains, in order.
    pub(crate) fn chains(&self) -> impl Iterator<Item = &Chain> {
        chains(&self.tasks)
    }
}

fn chains(tasks: &[Task]) -> impl Iterator<Item = &Chain> {
    tasks.iter().filter_map(|task| match task {
        Task::Chain(chain) => Some(chain),
        Task::Kernel(_) => None,
    })
}

fn slot(nest: &LoopNest, local: Local) -> usize {
    match local {
        Local::Access(index) => index,
        Local::Instruction(index) => nest.accesses.len() + index,
    }
}

fn call(nest: &LoopNest, task: &Task, level: Level) -> Call {
    let callee = match task {
        Task::Kernel(index) => kernel_callee(nest, &nest.instructions[*index], level),
        Task::Chain(chain) => Callee::Chain {
            chain: chain_kernel(chain.dtype, chain.has_mask(), level)
                .expect("invariant: chains are found for types that have them"),
            links: chain.links.len(),
        },
    };
    let result_size = nest.instructions[task.result()].dtype.size();
    Call { destination: slot(nest, Local::Instruction(task.result())), result_size, callee }
}

fn kernel_callee(nest: &LoopNest, instruction: &Instruction, level: Level) -> Callee {
    let kernel = match instruction.compute {
        Compute::Take { mode, size } => return take_callee(nest, instruction, mode, size),
        Compute::Elementwise(op) => elementwise_kernel(op, instruction.operand_dtype, level)
            .expect("invariant: lowering keeps the signatures of operations"),
        Compute::Convert => convert_kernel(instruction.operand_dtype, instruction.dtype, level),
        Compute::Bitcast => bitcast_kernel(instruction.dtype),
    };
    let mut sources = [0; 3];
    for (source, &operand) in sources.iter_mut().zip(&instruction.operands) {
        *source = slot(nest, operand);
    }
    Callee::Kernel { kernel, sources }
}

fn take_callee(nest: &LoopNest, instruction: &Instruction, mode: TakeMode, size: usize) -> Callee {
    let [table, indices] = [0, 1].map(|operand| slot(nest, instruction.operands[operand]));
    let taker = Taker::new(mode, instruction.operand_dtype, instruction.dtype, size);
    Callee::Take { taker, table, indices }
}

/// For each access, whether elements are taken from it: it is no block of values.
fn tables(nest: &LoopNest) -> Vec<bool> {
    let mut is_table = vec![false; nest.accesses.len()];
    for instruction in &nest.instructions {
        if let (Compute::Take { .. }, Local::Access(table)) =
            (instruction.compute, instruction.operands[0])
        {
            is_table[table] = true;
        }
    }
    is_table
}

fn left_by_chains(nest: &LoopNest, tasks: &[Task]) -> Vec<bool> {
    let mut is_left = vec![false; nest.instructions.len()];
    // Those who read a result come after it.
    for task in tasks {
        is_left[task.result()] = matches!(task, Task::Chain(_));
        for operand in task.operands(nest) {
            if let Local::Instruction(index) = operand {
                is_left[index] = false;
            }
        }
    }
    is_left
}

fn read_by_kernels(nest: &LoopNest, tasks: &[Task]) -> Vec<bool> {
    let mut is_read = vec![false; nest.accesses.len()];
    let kernels = tasks.iter().filter(|task| matches!(task, Task::Kernel(_)));
    let operands = kernels.flat_map(|task| task.operands(nest));
    let stored = nest.stores.iter().filter(|_| nest.reduced.is_none()).map(|store| store.source);
    for local in operands.chain(stored) {
        if let Local::Access(index) = local {
            is_read[index] = true;
        }
    }
    is_read
}

fn stored(nest: &LoopNest, registers: &[Option<usize>]) -> Vec<Stored> {
    let mut stored = vec![Stored::default(); nest.accesses.len() + registers.len()];
    for (index, store) in nest.stores.iter().enumerate() {
        let of_value = &mut stored[slot(nest, store.source)];
        of_value.first.get_or_insert(index);
        of_value.count += 1;
    }
    stored
}
