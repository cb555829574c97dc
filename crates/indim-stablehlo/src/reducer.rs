//! Recognition of the reducer in the body of a `stablehlo.reduce`, the comparator of a `sort`, and the
//! combination of an element with an update in a `scatter`.

use std::collections::HashMap;

use indim_ops::{ArrayType, Op};
use indim_text::Span;

use super::attribute::AttributeReader;
use super::dense::Dense;
use super::lowering::{ArrayOperation, Lowering, comparison};
use super::syntax::{Block, SyntaxOperation, Type};
use indim_xla::reducer::{Reducer, ReducerBody, Update};
use indim_xla::select_scatter::SelectAndScatter;
use indim_xla::sort::Comparator;

/// The reducer of a reduction; `None` if indim lacks it.
pub(super) fn of(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Option<Reducer> {
    if let Some(op) = applied(operation, attributes) {
        let mut body = ReducerBody::default();
        let arguments = [body.argument(0), body.argument(1)];
        let result = body.operation(Some(op), &arguments);
        return body.reducer(&[result], None);
    }
    match &operation.regions[..] {
        [block] => of_block(block, attributes),
        _ => None,
    }
}

/// The element-wise operation that a reduction in the short form `applies`.
pub(super) fn applied(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Option<Op> {
    let applies = attributes.optional(operation, "applies")?;
    let name = applies.of(attributes.text).replacen("mhlo.", "stablehlo.", 1);
    match Lowering::of(&name)? {
        Lowering::Array(ArrayOperation::Elementwise(op)) => Some(op),
        _ => None,
    }
}

/// The comparator of a sort; `None` if indim lacks it.
pub(super) fn comparator_of(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Option<Comparator> {
    let [block] = &operation.regions[..] else { return None };
    comparator_of_block(block, attributes, operation.operands.len())
}

/// The comparator of a sort of `count` operands by a block; `None` if indim lacks it.
pub(super) fn comparator_of_block(
    block: &Block,
    attributes: &AttributeReader<'_>,
    count: usize,
) -> Option<Comparator> {
    let mut body = ReducerBody::default();
    let [result] = results_of(block, attributes, &mut body)?[..] else { return None };
    (2 * count == block.arguments.len()).then(|| Comparator::of(&body, result, count)).flatten()
}

/// How a scatter combines each update with an element; `None` if indim lacks it.
pub(super) fn updates_of(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Option<Vec<Update>> {
    let [block] = &operation.regions[..] else { return None };
    let mut body = ReducerBody::default();
    let results = results_of(block, attributes, &mut body)?;
    (block.arguments.len() == 2 * results.len()).then(|| body.updates(&results)).flatten()
}

/// The bodies of a `select_and_scatter`; `None` if indim lacks them.
pub(super) fn select_and_scatter_of(
    operation: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Option<SelectAndScatter> {
    let [select, scatter] = &operation.regions[..] else { return None };
    let returned = |block: &Block| {
        let mut body = ReducerBody::default();
        let [result] = results_of(block, attributes, &mut body)?[..] else { return None };
        (block.arguments.len() == 2).then_some((body, result))
    };
    let (select, scatter) = (returned(select)?, returned(scatter)?);
    SelectAndScatter::of((&select.0, select.1), (&scatter.0, scatter.1))
}

fn of_block(block: &Block, attributes: &AttributeReader<'_>) -> Option<Reducer> {
    let mut body = ReducerBody::default();
    let results = results_of(block, attributes, &mut body)?;
    let element = match block.arguments.first().map(|argument| &argument.value_type) {
        Some(Type::Array(array_type)) => Some(array_type.dtype),
        _ => None,
    };
    (block.arguments.len() == 2 * results.len()).then(|| body.reducer(&results, element)).flatten()
}

/// The terms that a block returns, by their indices in `body`.
fn results_of(
    block: &Block,
    attributes: &AttributeReader<'_>,
    body: &mut ReducerBody,
) -> Option<Vec<usize>> {
    let text = attributes.text;
    let mut terms: HashMap<&str, usize> = HashMap::new();
    for (number, argument) in block.arguments.iter().enumerate() {
        terms.insert(argument.name.of(text), body.argument(number));
    }
    for operation in &block.operations {
        let mut operands = Vec::with_capacity(operation.operands.len());
        for operand in &operation.operands {
            let name = operand.name.of(text);
            operands.push(match terms.get(name) {
                Some(&term) => term,
                None => {
                    let outer = attributes.outer_constant(name, operation.span)?;
                    let value = single(attributes, outer.value, Some(&outer.array_type));
                    *terms.entry(name).or_insert(body.constant(value))
                }
            });
        }
        let op = match Lowering::of(&operation.name)? {
            Lowering::Return => return Some(operands),
            Lowering::Array(ArrayOperation::Elementwise(op)) => Some(op),
            Lowering::Array(ArrayOperation::Compare) => {
                comparison(operation, attributes).ok()?.term()
            }
            Lowering::Constant => {
                let term = body.constant(scalar(operation, attributes));
                if let [result] = operation.results[..] {
                    terms.insert(result.name.of(text), term);
                }
                continue;
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

/// The value of a constant with one element.
fn scalar(operation: &SyntaxOperation, attributes: &AttributeReader<'_>) -> Option<f64> {
    single(attributes, attributes.optional(operation, "value")?, operation.first_array_type())
}

/// The element of a constant of one element, whose value has this span.
fn single(
    attributes: &AttributeReader<'_>,
    value: Span,
    array_type: Option<&ArrayType>,
) -> Option<f64> {
    let element = Dense::read_all(attributes, value, array_type, 1).ok()??;
    element.scalar_text()?.parse().ok()
}
