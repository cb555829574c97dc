//! Recognition of the reducer that a computation of `reduce` applies.

use super::attribute::Attributes;
use super::lowering::{ArrayOperation, Lowering, comparison};
use super::syntax::Computation;
use crate::reducer::{Reducer, ReducerBody};

/// The reducer of a computation; `None` if indim lacks it.
pub(super) fn of(computation: &Computation, text: &str) -> Option<Reducer> {
    let mut body = ReducerBody::default();
    let count = computation.parameters.len();
    let arguments: Vec<usize> = (0..count).map(|number| body.argument(number)).collect();
    let mut terms: Vec<usize> = Vec::with_capacity(computation.instructions.len());
    for (number, instruction) in computation.instructions.iter().enumerate() {
        if instruction.opcode == "parameter" {
            let parameter = computation.parameters.iter().position(|&place| place == number)?;
            terms.push(arguments[parameter]);
            continue;
        }
        let operands: Vec<usize> = instruction.operands.iter().map(|&place| terms[place]).collect();
        let op = match Lowering::of(&instruction.opcode)? {
            Lowering::Array(ArrayOperation::Elementwise(op)) => Some(op),
            Lowering::Array(ArrayOperation::Compare) => {
                comparison(Attributes { text, instruction }).ok()?.ordinary()
            }
            _ => None,
        };
        terms.push(body.operation(op, &operands));
    }
    let root = &computation.instructions[computation.root];
    let results: Vec<usize> = match root.opcode.as_str() {
        "tuple" => root.operands.iter().map(|&place| terms[place]).collect(),
        _ => vec![terms[computation.root]],
    };
    (count == 2 * results.len()).then(|| body.reducer(&results)).flatten()
}
