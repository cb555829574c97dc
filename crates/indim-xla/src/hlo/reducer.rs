//! Recognition of the computations that `reduce`, `sort` and `scatter` apply: as a reducer, a comparator
//! or updates.

use super::attribute::Attributes;
use super::literal;
use super::lowering::{ArrayOperation, Lowering, comparison};
use super::proto;
use super::syntax::{Computation, HloShape, Instruction, Module};
use crate::reducer::{Reducer, ReducerBody, Update};
use crate::select_scatter::SelectAndScatter;
use crate::sort::Comparator;

/// The reducer of a computation; `None` if indim lacks it.
pub(super) fn of(computation: &Computation, text: &str) -> Option<Reducer> {
    let mut body = ReducerBody::default();
    let results = results_of(computation, text, &mut body)?;
    let takes_all = computation.parameters.len() == 2 * results.len();
    let first = computation.parameters.first().map(|&index| &computation.instructions[index]);
    let element = match first.and_then(|first| first.shape.as_ref()) {
        Some(HloShape::Array(array_type, _)) => Some(array_type.dtype),
        _ => None,
    };
    takes_all.then(|| body.reducer(&results, element)).flatten()
}

/// The updates of the computation of a scatter; `None` if indim lacks them.
pub(super) fn updates_of(computation: &Computation, text: &str) -> Option<Vec<Update>> {
    let mut body = ReducerBody::default();
    let results = results_of(computation, text, &mut body)?;
    let takes_all = computation.parameters.len() == 2 * results.len();
    takes_all.then(|| body.updates(&results)).flatten()
}

/// The comparator of a computation for `count` sorted operands; `None` if indim lacks it.
pub(super) fn comparator_of(
    computation: &Computation,
    text: &str,
    count: usize,
) -> Option<Comparator> {
    let mut body = ReducerBody::default();
    let [result] = results_of(computation, text, &mut body)?[..] else { return None };
    let takes_all = computation.parameters.len() == 2 * count;
    takes_all.then(|| Comparator::of(&body, result, count)).flatten()
}

/// The bodies of a `select-and-scatter`; `None` if indim lacks them.
pub(super) fn select_and_scatter_of(
    instruction: &Instruction,
    module: &Module,
    text: &str,
) -> Option<SelectAndScatter> {
    let [select, scatter] = instruction.regions[..] else { return None };
    let returned = |number: usize| {
        let computation = &module.computations[number];
        let mut body = ReducerBody::default();
        let [result] = results_of(computation, text, &mut body)?[..] else { return None };
        (computation.parameters.len() == 2).then_some((body, result))
    };
    let (select, scatter) = (returned(select)?, returned(scatter)?);
    SelectAndScatter::of((&select.0, select.1), (&scatter.0, scatter.1))
}

/// The terms that a computation returns, by their indices in `body`.
fn results_of(computation: &Computation, text: &str, body: &mut ReducerBody) -> Option<Vec<usize>> {
    let count = computation.parameters.len();
    let arguments: Vec<usize> = (0..count).map(|number| body.argument(number)).collect();
    let mut terms: Vec<usize> = Vec::with_capacity(computation.instructions.len());
    for (number, instruction) in computation.instructions.iter().enumerate() {
        if instruction.opcode == "parameter" {
            let parameter = computation.parameters.iter().position(|&index| index == number)?;
            terms.push(arguments[parameter]);
            continue;
        }
        let operands: Vec<usize> = instruction.operands.iter().map(|&index| terms[index]).collect();
        let op = match Lowering::of(&instruction.opcode)? {
            Lowering::Constant => {
                terms.push(body.constant(scalar(instruction, text)));
                continue;
            }
            Lowering::Array(ArrayOperation::Elementwise(op)) => Some(op),
            Lowering::Array(ArrayOperation::Compare) => {
                comparison(Attributes { text, instruction }).ok()?.term()
            }
            Lowering::Bitcast | Lowering::Array(ArrayOperation::BitcastConvert) => {
                let Some(HloShape::Array(to, _)) = &instruction.shape else { return None };
                terms.push(body.bitcast(to.dtype, &operands));
                continue;
            }
            _ => None,
        };
        terms.push(body.operation(op, &operands));
    }
    let root = &computation.instructions[computation.root];
    Some(match root.opcode.as_str() {
        "tuple" => root.operands.iter().map(|&index| terms[index]).collect(),
        _ => vec![terms[computation.root]],
    })
}

/// The number of a constant with one element.
fn scalar(instruction: &Instruction, text: &str) -> Option<f64> {
    let shape = instruction.shape.as_ref()?;
    let arrays = match (instruction.content, &instruction.literal) {
        (Some(content), _) => literal::arrays(text, content, shape).ok()?,
        (None, Some(literal)) => proto::arrays(literal, shape).ok()?,
        (None, None) => return None,
    };
    let [array] = &arrays[..] else { return None };
    array.scalar_text()?.parse().ok()
}
