//! Compilation of a nest to machine code over tiles: gathers by kernels, and one function for all other
//! instructions.

use std::sync::Arc;

use indim_codegen::{NestBody, record_folds, record_nest_with_constants};
use indim_graph::Array;
use indim_loops::loop_nest::{InstructionKind, Local, LoopNest, NestInstruction};
use indim_ops::Level;

use crate::tiles::code::{
    BLOCK_BYTES, Call, TileCode, block_elements, copied, gather_callee, only_gathered, register,
    value_stores,
};
use crate::tiles::functions::Functions;
use crate::tiles::store_fold::StoreFold;
use crate::tiles::tier_up::TierUp;
use crate::tiles::work;

/// Records a nest; `None` if machine code does not support it.
pub(super) fn compile(
    nest: &Arc<LoopNest>,
    constants: &[Array],
    level: Level,
    tier_up: Arc<TierUp>,
) -> Option<TileCode> {
    let NestBody { body, inputs, outputs } = record_nest_with_constants(nest, constants)?;
    let registers = |locals: &[Local]| locals.iter().map(|&local| register(nest, local)).collect();
    let (blocks, block_count) = blocks(nest);
    let operands = [registers(&outputs), registers(&inputs)];
    let functions = Functions::new(level, body, operands, Arc::clone(&tier_up));
    Some(TileCode {
        fold_functions: fold_functions(level, nest, constants, &tier_up),
        functions: Some(Arc::new(functions)),
        calls: gather_calls(nest, level),
        needs_block: read_by_stores(nest),
        only_gathered: only_gathered(nest),
        value_stores: value_stores(nest),
        folds: StoreFold::of(nest, level),
        record_members: Vec::new(),
        block_elements: block_elements(nest),
        cost: work::compute_cost(nest),
        nest: Arc::clone(nest),
        blocks,
        block_count,
    })
}

/// Functions that fold the values they compute, for a nest with a reduced axis. Each store has one output, an
/// accumulator.
fn fold_functions(
    level: Level,
    nest: &LoopNest,
    constants: &[Array],
    tier_up: &Arc<TierUp>,
) -> Option<Arc<Functions>> {
    let (body, inputs) = record_folds(nest, constants)?;
    let inputs = inputs.iter().map(|&local| register(nest, local)).collect();
    let outputs = nest.stores.iter().map(|store| register(nest, store.source)).collect();
    Some(Arc::new(Functions::new(level, body, [outputs, inputs], Arc::clone(tier_up))))
}

fn is_gather(nest: &LoopNest, instruction: usize) -> bool {
    matches!(nest.instructions[instruction].kind, InstructionKind::Take { .. })
}

/// The gathers of a nest, with their positions.
fn gathers(nest: &LoopNest) -> impl Iterator<Item = (usize, &NestInstruction)> {
    let instructions = nest.instructions.iter().enumerate();
    instructions.filter(|(_, instruction)| matches!(instruction.kind, InstructionKind::Take { .. }))
}

fn gather_calls(nest: &LoopNest, level: Level) -> Vec<Call> {
    let call = |(index, instruction): (usize, &NestInstruction)| {
        let InstructionKind::Take { mode, size } = instruction.kind else { return None };
        Some(Call {
            destination: register(nest, Local::Instruction(index)),
            callee: gather_callee(nest, instruction, mode, size, level),
        })
    };
    gathers(nest).filter_map(call).collect()
}

/// Upper bound of the blocks that the code needs for results.
pub(super) fn max_blocks(nest: &LoopNest) -> usize {
    blocks(nest).1
}

/// For each gathered or stored value the offset of its block, in bytes, and the number of blocks.
fn blocks(nest: &LoopNest) -> (Vec<Option<usize>>, usize) {
    let mut has_block: Vec<bool> =
        (0..nest.instructions.len()).map(|index| is_gather(nest, index)).collect();
    for store in &nest.stores {
        if let Local::Instruction(index) = store.source {
            has_block[index] = true;
        }
    }
    let mut count = 0;
    let block = |has_block: bool| {
        has_block.then(|| {
            count += 1;
            (count - 1) * BLOCK_BYTES
        })
    };
    let blocks = has_block.into_iter().map(block).collect();
    (blocks, count)
}

/// For each access, whether it needs a dense block: a store copies it.
fn read_by_stores(nest: &LoopNest) -> Vec<bool> {
    let mut needs_block = vec![false; nest.accesses.len()];
    copied(nest).for_each(|access| needs_block[access] = true);
    needs_block
}
