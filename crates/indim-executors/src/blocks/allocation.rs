//! Allocation of blocks to virtual registers: values with disjoint live ranges share a block.

use indim_loops::loop_nest::{Local, LoopNest};

use crate::tiles::code::BLOCK_BYTES;

/// Linear scan: returns for each instruction the offset of its block in the workspace, in bytes (never
/// `None`, because each kernel writes a block), and the number of blocks. A block is free after the last
/// instruction that reads it. A result never gets the block of an operand, because the destination of a
/// kernel must not overlap its sources.
pub(crate) fn allocate(nest: &LoopNest) -> (Vec<Option<usize>>, usize) {
    let last_uses = last_uses(nest);
    let mut blocks: Vec<usize> = Vec::with_capacity(nest.instructions.len());
    let mut free: Vec<usize> = Vec::new();
    let mut is_free: Vec<bool> = Vec::new();
    for (position, instruction) in nest.instructions.iter().enumerate() {
        let block = free.pop().unwrap_or_else(|| {
            is_free.push(false);
            is_free.len() - 1
        });
        is_free[block] = false;
        blocks.push(block);
        for operand in &instruction.operands {
            let &Local::Instruction(operand) = operand else { continue };
            let block = blocks[operand];
            if last_uses[operand] == position && !is_free[block] {
                is_free[block] = true;
                free.push(block);
            }
        }
    }
    let offsets = blocks.into_iter().map(|block| Some(block * BLOCK_BYTES));
    (offsets.collect(), is_free.len())
}

/// For each instruction, the position of the last reader of its result. Stored results live to the end.
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
