//! Compilation of a nest to machine code over tiles: gathers by kernels, and one function for all other
//! instructions.

use std::sync::Arc;

use indim_codegen::{NestBody, record_folds, record_nest_with};
use indim_graph::Array;
use indim_kernels::Level;
use indim_loops::loop_nest::{Instruction, InstructionKind, Local, LoopNest};
use indim_targets::TargetKind;

use super::target;
use crate::tiles::code::{
    Call, REGISTER_BYTES, TileCode, block, copied, only_taken, slot, stored, take_callee,
};
use crate::tiles::functions::Functions;
use crate::tiles::store_fold::StoreFold;
use crate::tiles::tier_up::TierUp;
use crate::tiles::work;

/// Records a nest; `None` if machine code does not cover it.
pub(super) fn compile(
    nest: &Arc<LoopNest>,
    constants: &[Array],
    level: Level,
    tier_up: Arc<TierUp>,
) -> Option<TileCode> {
    let target = target(level)?;
    let NestBody { body, inputs, outputs } = record_nest_with(nest, constants)?;
    let slots = |locals: &[Local]| locals.iter().map(|&local| slot(nest, local)).collect();
    let (registers, register_count) = registers(nest);
    let operands = [slots(&outputs), slots(&inputs)];
    let functions = Functions::new(target, body, operands, Arc::clone(&tier_up));
    Some(TileCode {
        folding: folding(target, nest, constants, &tier_up),
        functions: Some(Arc::new(functions)),
        calls: take_calls(nest, level),
        needs_block: stored_as_read(nest),
        only_taken: only_taken(nest),
        stored: stored(nest),
        folds: StoreFold::of(nest, level),
        block: block(nest),
        cost: work::computed(nest),
        nest: Arc::clone(nest),
        registers,
        register_count,
    })
}

/// Functions that fold the computed values; their outputs are the stores.
fn folding(
    target: TargetKind,
    nest: &LoopNest,
    constants: &[Array],
    tier_up: &Arc<TierUp>,
) -> Option<Arc<Functions>> {
    let (body, inputs) = record_folds(nest, constants)?;
    let inputs = inputs.iter().map(|&local| slot(nest, local)).collect();
    let outputs = nest.stores.iter().map(|store| slot(nest, store.source)).collect();
    Some(Arc::new(Functions::new(target, body, [outputs, inputs], Arc::clone(tier_up))))
}

fn takes(nest: &LoopNest, instruction: usize) -> bool {
    matches!(nest.instructions[instruction].kind, InstructionKind::Take { .. })
}

/// The gathers of a nest.
fn all_takes(nest: &LoopNest) -> impl Iterator<Item = (usize, &Instruction)> {
    let instructions = nest.instructions.iter().enumerate();
    instructions.filter(|(_, instruction)| matches!(instruction.kind, InstructionKind::Take { .. }))
}

fn take_calls(nest: &LoopNest, level: Level) -> Vec<Call> {
    let call = |(index, instruction): (usize, &Instruction)| {
        let InstructionKind::Take { mode, size } = instruction.kind else { return None };
        Some(Call {
            destination: slot(nest, Local::Instruction(index)),
            callee: take_callee(nest, instruction, mode, size, level),
        })
    };
    all_takes(nest).filter_map(call).collect()
}

/// Upper bound of the blocks of such code: gathered and stored values.
pub(super) fn most_registers(nest: &LoopNest) -> usize {
    registers(nest).1
}

/// A block for each gathered or stored value, and their number.
fn registers(nest: &LoopNest) -> (Vec<Option<usize>>, usize) {
    let mut has_register: Vec<bool> =
        (0..nest.instructions.len()).map(|index| takes(nest, index)).collect();
    for store in &nest.stores {
        if let Local::Instruction(index) = store.source {
            has_register[index] = true;
        }
    }
    let mut count = 0;
    let place = |has_register: bool| {
        has_register.then(|| {
            count += 1;
            (count - 1) * REGISTER_BYTES
        })
    };
    let registers = has_register.into_iter().map(place).collect();
    (registers, count)
}

/// For each access, whether a store copies it: then it needs a dense block.
fn stored_as_read(nest: &LoopNest) -> Vec<bool> {
    let mut needs_block = vec![false; nest.accesses.len()];
    copied(nest).for_each(|access| needs_block[access] = true);
    needs_block
}
