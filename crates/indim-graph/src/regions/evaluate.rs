//! Reference evaluation of loops and branches.

use indim_arrays::Array;
use indim_ops::DType;

use super::{Region, chosen_branch};
use crate::eval::{EvalError, evaluate};

/// The final value of state `result` of a loop.
pub(crate) fn evaluate_while(
    condition: &Region,
    body: &Region,
    limit: u64,
    result: usize,
    operands: &[&Array],
) -> Result<Array, EvalError> {
    let mut values: Vec<Array> = operands.iter().map(|&operand| operand.clone()).collect();
    let mut steps = 0;
    while is_true(&evaluate(condition.graph(), &values)?[0]) {
        if steps == limit {
            return Err(EvalError::StepLimit { limit });
        }
        let states = evaluate(body.graph(), &values)?;
        values.splice(..states.len(), states);
        steps += 1;
    }
    Ok(values.swap_remove(result))
}

/// Result `result` of the region that the index selects.
pub(crate) fn evaluate_branch(
    branches: &[Region],
    result: usize,
    operands: &[&Array],
) -> Result<Array, EvalError> {
    let branch = chosen_branch(index(operands[0]), branches.len());
    let arguments: Vec<Array> = operands[1..].iter().map(|&operand| operand.clone()).collect();
    Ok(evaluate(branches[branch].graph(), &arguments)?.swap_remove(result))
}

fn is_true(array: &Array) -> bool {
    index(array) != 0
}

/// The value of a scalar integer or bool: the index of a branch, or the condition of a loop.
fn index(array: &Array) -> i128 {
    macro_rules! read {
        ($($variant:ident $type:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => array.scalar::<$type>().map(i128::from).unwrap_or(-1),)*
                _ => unreachable!("invariant: the verifier checked the index"),
            }
        };
    }
    read! {
        Bool bool; I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64;
    }
}
