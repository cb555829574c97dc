//! What the block executor makes of a loop nest: calls of kernels and of chains.

use std::sync::Arc;

use indim_kernels::chain::chain_minimum;
use indim_kernels::{Level, bitcast_kernel, chain_kernel, convert_kernel, elementwise_kernel};
use indim_loops::loop_nest::{Compute, Instruction, Local, LoopNest};

use crate::blocks::registers;
use crate::tiles::chain::find::{Task, find_tasks};
use crate::tiles::code::{
    Call, Callee, TileCode, block, bytes_moved, copied, slot, stored, tables, take_callee,
};
use crate::tiles::store_fold::StoreFold;

/// Compiles a nest for `level`.
pub(crate) fn compile(nest: &Arc<LoopNest>, level: Level) -> TileCode {
    let tasks = find_tasks(nest);
    let calls = tasks.iter().map(|task| call(nest, task, level)).collect();
    let (registers, register_count) = registers::allocate(nest, &tasks);
    TileCode {
        bytes_moved: bytes_moved(nest),
        chain_minimum: tasks.iter().filter_map(Task::chain).map(|c| chain_minimum(c.dtype)).max(),
        is_left_in_rows: left_by_chains(nest, &tasks),
        needs_block: read_by_kernels(nest, &tasks),
        is_table: tables(nest),
        stored: stored(nest, nest.accesses.len() + registers.len()),
        folds: StoreFold::of(nest, level),
        block: block(nest),
        nest: Arc::clone(nest),
        functions: None,
        tasks,
        calls,
        registers,
        register_count,
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
    for local in operands.chain(copied(nest).map(Local::Access)) {
        if let Local::Access(index) = local {
            is_read[index] = true;
        }
    }
    is_read
}
