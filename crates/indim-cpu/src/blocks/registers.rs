//! Register allocation: values of a nest that share a block.

use indim_loops::loop_nest::{Local, LoopNest};

use crate::tiles::code::REGISTER_BYTES;

/// Assigns a block to each instruction's result, as an offset in bytes, and counts the blocks, by linear
/// scan. A block is free after the last instruction that reads it. A result never shares the block of its
/// operands, which kernels forbid.
pub(crate) fn allocate(nest: &LoopNest) -> (Vec<Option<usize>>, usize) {
    let last_uses = last_uses(nest);
    let mut registers: Vec<usize> = Vec::with_capacity(nest.instructions.len());
    let mut free: Vec<usize> = Vec::new();
    let mut is_free: Vec<bool> = Vec::new();
    for (position, instruction) in nest.instructions.iter().enumerate() {
        let register = free.pop().unwrap_or_else(|| {
            is_free.push(false);
            is_free.len() - 1
        });
        is_free[register] = false;
        registers.push(register);
        for operand in &instruction.operands {
            let &Local::Instruction(operand) = operand else { continue };
            let register = registers[operand];
            if last_uses[operand] == position && !is_free[register] {
                is_free[register] = true;
                free.push(register);
            }
        }
    }
    let places = registers.into_iter().map(|register| Some(register * REGISTER_BYTES));
    (places.collect(), is_free.len())
}

/// For each instruction, the position of the last reader of its result; stored results live to the end.
fn last_uses(nest: &LoopNest) -> Vec<usize> {
    let mut last_uses = vec![0; nest.instructions.len()];
    for (position, instruction) in nest.instructions.iter().enumerate() {
        for operand in &instruction.operands {
            if let &Local::Instruction(operand) = operand {
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
