//! What the computation of a `reduce` computes.

use super::attribute::Attributes;
use super::meaning::{Meaning, Shaped, comparison};
use super::syntax::Computation;
use crate::reducer::{Body, Reducer};

/// The reducer that a computation is, if it is one that indim has.
pub(super) fn of(computation: &Computation, text: &str) -> Option<Reducer> {
    let mut body = Body::default();
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
        let op = match Meaning::of(&instruction.opcode)? {
            Meaning::Array(Shaped::Elementwise(op)) => Some(op),
            Meaning::Array(Shaped::Compare) => {
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
