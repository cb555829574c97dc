//! Recognition of the reducer in the body of a `stablehlo.reduce`.

use std::collections::HashMap;

use super::attribute::Attributes;
use super::lowering::{ArrayOperation, Lowering, comparison};
use super::syntax::{Block, Operation};
use indim_xla::reducer::{Reducer, ReducerBody};

/// The reducer of a reduction; `None` if indim lacks it.
pub(super) fn of(operation: &Operation, attributes: &Attributes<'_>) -> Option<Reducer> {
    if let Some(applies) = attributes.optional(operation, "applies") {
        let name = applies.of(attributes.text).replacen("mhlo.", "stablehlo.", 1);
        let Lowering::Array(ArrayOperation::Elementwise(op)) = Lowering::of(&name)? else {
            return None;
        };
        let mut body = ReducerBody::default();
        let arguments = [body.argument(0), body.argument(1)];
        let result = body.operation(Some(op), &arguments);
        return body.reducer(&[result]);
    }
    match &operation.regions[..] {
        [block] => of_block(block, attributes),
        _ => None,
    }
}

fn of_block(block: &Block, attributes: &Attributes<'_>) -> Option<Reducer> {
    let text = attributes.text;
    let mut body = ReducerBody::default();
    let mut terms: HashMap<&str, usize> = HashMap::new();
    for (number, argument) in block.arguments.iter().enumerate() {
        terms.insert(argument.name.of(text), body.argument(number));
    }
    for operation in &block.operations {
        let operands = operation.operands.iter().map(|operand| terms.get(operand.name.of(text)));
        let operands: Vec<usize> = operands.map(|term| term.copied()).collect::<Option<_>>()?;
        let op = match Lowering::of(&operation.name)? {
            Lowering::Return => {
                let takes_all = block.arguments.len() == 2 * operands.len();
                return takes_all.then(|| body.reducer(&operands)).flatten();
            }
            Lowering::Array(ArrayOperation::Elementwise(op)) => Some(op),
            Lowering::Array(ArrayOperation::Compare) => {
                comparison(operation, attributes).ok()?.ordinary()
            }
            _ => None,
        };
        let term = body.operation(op, &operands);
        if let [result] = operation.results[..] {
            terms.insert(result.name.of(text), term);
        }
    }
    None
}
