//! Which values of a nest share a register.

use indim_kernels::chain::ACCUMULATOR_BYTES;
use indim_loops::loop_nest::{Local, LoopNest};

use crate::tiles::chain::find::Task;
use crate::tiles::code::REGISTER_BYTES;

/// Registers for the tasks' results and for saved accumulators, by one scan: a register is free again
/// after the last task that reads it. A result never takes the register of its own operands, which
/// kernels forbid.
pub(crate) fn allocate(nest: &LoopNest, tasks: &[Task]) -> (Vec<Option<usize>>, usize) {
    let last_uses = last_uses(nest, tasks);
    let mut registers: Vec<Option<usize>> = vec![None; nest.instructions.len()];
    let mut free: Vec<usize> = Vec::new();
    let mut is_free: Vec<bool> = Vec::new();
    for (position, task) in tasks.iter().enumerate() {
        let register = free.pop().unwrap_or_else(|| {
            is_free.push(false);
            is_free.len() - 1
        });
        is_free[register] = false;
        registers[task.result()] = Some(register);
        for operand in task.operands(nest) {
            let Local::Instruction(operand) = operand else { continue };
            let Some(register) = registers[operand] else { continue };
            if last_uses[operand] == position && !is_free[register] {
                is_free[register] = true;
                free.push(register);
            }
        }
    }
    let count = is_free.len();
    registers.iter_mut().flatten().for_each(|register| *register *= REGISTER_BYTES);
    let saved =
        tasks.iter().map(|task| if let Task::Chain(chain) = task { chain.saved } else { 0 });
    let saved = saved.max().unwrap_or(0);
    let place = |index| Some(count * REGISTER_BYTES + index * ACCUMULATOR_BYTES);
    registers.extend((0..saved).map(place));
    (registers, count + (saved * ACCUMULATOR_BYTES).div_ceil(REGISTER_BYTES))
}

/// For each instruction, the position of the last task that reads its result; stored results live to
/// the end.
fn last_uses(nest: &LoopNest, tasks: &[Task]) -> Vec<usize> {
    let mut last_uses = vec![0; nest.instructions.len()];
    for (position, task) in tasks.iter().enumerate() {
        for operand in task.operands(nest) {
            if let Local::Instruction(operand) = operand {
                last_uses[operand] = position;
            }
        }
    }
    for store in &nest.stores {
        if let Local::Instruction(index) = store.source {
            last_uses[index] = usize::MAX;
        }
    }
    last_uses
}
