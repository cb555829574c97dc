//! Checksums of the results of machine code for the functions of `indim-ops`.

use indim_codegen::Definition;
use indim_ops::Level;
use indim_ops::{DType, Op};
use indim_targets::{Function, OperandForm, OperandLayout, machine_code_levels};

use crate::random::Random;

/// Number of arguments per call.
const BLOCK: usize = 1 << 14;

/// The machine code of a function of `f32`.
pub(crate) fn code_of(level: Level, name: &str) -> Function {
    let op: Op = name.parse().expect("functions are operations");
    let body = Definition::Operation(op, DType::F32).body().expect("they take f32");
    let layout = OperandLayout {
        inputs: vec![OperandForm::Dense],
        is_streamed: vec![false],
        is_in_place: false,
        has_prefetch: false,
    };
    Function::compile(level, &body, &layout).expect("this processor has a target")
}

/// The sum of hashes of each argument with its result, as in the record.
pub(crate) fn checksum_of(function: &Function, arguments: impl Iterator<Item = u32>) -> u64 {
    let mut arguments = arguments.peekable();
    let mut sum = 0u64;
    while arguments.peek().is_some() {
        let mut block: Vec<u32> = arguments.by_ref().take(BLOCK).collect();
        let mut results = vec![0u32; block.len()];
        let mut operands = [results.as_mut_ptr().cast(), block.as_mut_ptr().cast()];
        // SAFETY: both vectors have `block.len()` elements, and this thread owns them.
        unsafe { function.run(&mut operands, &[0, 0], 1, block.len()) }
        for (argument, result) in block.into_iter().zip(results) {
            let pair = u64::from(argument) << 32 | u64::from(result);
            sum = sum.wrapping_add(Random(pair).bits());
        }
    }
    sum
}
