//! Compilation of a loop nest to calls of kernels.

use std::sync::Arc;

use indim_kernels::{bitcast_kernel, convert_kernel, elementwise_kernel};
use indim_loops::loop_nest::{InstructionKind, Local, LoopNest, NestInstruction};
use indim_ops::Level;

use crate::blocks::allocation;
use crate::tiles::code::{
    Call, Callee, TileCode, block_elements, copied, gather_callee, only_gathered, register,
    value_stores,
};
use crate::tiles::store_fold::StoreFold;
use crate::tiles::work;

/// Compiles a nest for `level`.
pub(crate) fn compile(nest: &Arc<LoopNest>, level: Level) -> TileCode {
    let call = |(index, instruction): (usize, &NestInstruction)| Call {
        destination: register(nest, Local::Instruction(index)),
        callee: callee(nest, instruction, level),
    };
    let (blocks, block_count) = allocation::allocate(nest);
    TileCode {
        calls: nest.instructions.iter().enumerate().map(call).collect(),
        functions: None,
        needs_block: read_by_kernels(nest),
        only_gathered: only_gathered(nest),
        value_stores: value_stores(nest),
        fold_functions: None,
        folds: StoreFold::of(nest, level),
        record_members: Vec::new(),
        block_elements: block_elements(nest),
        cost: work::compute_cost(nest),
        nest: Arc::clone(nest),
        blocks,
        block_count,
    }
}

fn callee(nest: &LoopNest, instruction: &NestInstruction, level: Level) -> Callee {
    let kernel = match instruction.kind {
        InstructionKind::Take { mode, size } => {
            return gather_callee(nest, instruction, mode, size, level);
        }
        InstructionKind::Elementwise(op) => {
            elementwise_kernel(op, instruction.operand_dtype, level)
                .expect("invariant: lowering keeps the signatures of operations")
        }
        InstructionKind::Convert => {
            convert_kernel(instruction.operand_dtype, instruction.dtype, level)
        }
        InstructionKind::Bitcast => bitcast_kernel(instruction.dtype),
        InstructionKind::Standalone(_) => {
            unreachable!("invariant: executors compile no nest that runs alone")
        }
    };
    let mut sources = [0; 3];
    for (source, &operand) in sources.iter_mut().zip(&instruction.operands) {
        *source = register(nest, operand);
    }
    Callee::Kernel { kernel, sources }
}

/// For each access, whether it needs a dense block: a kernel reads it, or a store copies it.
fn read_by_kernels(nest: &LoopNest) -> Vec<bool> {
    let mut is_read = vec![false; nest.accesses.len()];
    let calls_kernel = |it: &&NestInstruction| !matches!(it.kind, InstructionKind::Take { .. });
    let operands = nest.instructions.iter().filter(calls_kernel).flat_map(|it| &it.operands);
    for local in operands.copied().chain(copied(nest).map(Local::Access)) {
        if let Local::Access(index) = local {
            is_read[index] = true;
        }
    }
    is_read
}
