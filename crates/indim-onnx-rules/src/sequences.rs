//! Shape rules of sequences and optional values.
//!
//! A sequence has the type of a list, such as `seq(f32[2, 3])[4]`, and one type for all its elements. A size
//! that differs between elements is a new name. An optional value has the type of its value.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_onnx_file::types::element_name;

use crate::call::{RuleCall, RuleError, RuleResult, known_size, single_result};
use crate::typed_value::{OF_EACH, TypedValue, join_types};

/// The type of the elements and the length of the sequence that is operand 0.
fn sequence_operand<'c>(
    call: &'c RuleCall<'_>,
) -> Result<(&'c ValueType, &'c SymbolicSize), RuleError> {
    let operand = call.operand(0)?;
    operand.item.as_ref().zip(operand.length()).ok_or(RuleError::Unknown)
}

fn sequence_result(item: ValueType, length: SymbolicSize) -> RuleResult {
    Ok(vec![TypedValue::sequence(item, length)])
}

pub(crate) fn empty(call: &RuleCall<'_>) -> RuleResult {
    let element = element_name(call.node.int("dtype", 1)?);
    sequence_result(ValueType { element: Some(element.into()), sizes: None }, known_size(0))
}

pub(crate) fn construct(call: &RuleCall<'_>) -> RuleResult {
    let name = format!("{}{OF_EACH}", call.result);
    let mut item = call.operand(0)?.value_type.clone();
    for position in 1..call.operands.len() {
        item = join_types(&item, &call.operand(position)?.value_type, &name);
    }
    sequence_result(item, known_size(call.operands.len() as i64))
}

pub(crate) fn at(call: &RuleCall<'_>) -> RuleResult {
    single_result(sequence_operand(call)?.0.clone())
}

pub(crate) fn insert(call: &RuleCall<'_>) -> RuleResult {
    let (item, length) = sequence_operand(call)?;
    let inserted = &call.operand(1)?.value_type;
    let joined = match length.is(0) {
        true => inserted.completed_by(item),
        false => join_types(item, inserted, &format!("{}{OF_EACH}", call.result)),
    };
    sequence_result(joined, call.or_new_symbol(length.plus(&known_size(1)), 0))
}

pub(crate) fn erase(call: &RuleCall<'_>) -> RuleResult {
    let (item, length) = sequence_operand(call)?;
    sequence_result(item.clone(), call.or_new_symbol(length.plus(&known_size(-1)), 0))
}

pub(crate) fn length(call: &RuleCall<'_>) -> RuleResult {
    let typed = TypedValue::of(ValueType::new("i64", Vec::new()));
    Ok(vec![typed.with_elements(Some(vec![sequence_operand(call)?.1.clone()]))])
}

/// `SplitToSequence`: parts of one size, of listed sizes, or of size 1, whose axis may be dropped.
pub(crate) fn split(call: &RuleCall<'_>) -> RuleResult {
    let mut sizes = call.sizes(0)?.to_vec();
    let axis = call.axis(call.node.int("axis", 0)?, sizes.len())?;
    let differing = SymbolicSize::open(&format!("{}{OF_EACH}", call.result), axis);
    let whole = sizes[axis].clone();
    let (part, count) = match call.optional(1) {
        None => (known_size(1), whole),
        Some(split) if split.value_type.sizes.as_ref().is_some_and(Vec::is_empty) => {
            let part = call.first_symbol(1);
            let number = part.as_ref().and_then(SymbolicSize::number).filter(|&part| part > 0);
            let is_exact =
                number.is_some_and(|part| whole.divided_exactly(&known_size(part)).is_some());
            let count =
                number.and_then(|part| whole.plus(&known_size(part - 1))?.floor_divided(part));
            let part = part.filter(|_| is_exact).unwrap_or(differing);
            (part, call.or_new_symbol(count, 0))
        }
        Some(split) => {
            let parts = call.symbols(1).unwrap_or_default();
            let first = parts.first().filter(|first| parts.iter().all(|part| part == *first));
            let count = split.value_type.sizes.as_ref().and_then(|sizes| sizes.first().cloned());
            (first.cloned().unwrap_or(differing), call.or_new_symbol(count, 0))
        }
    };
    match call.optional(1).is_none() && call.node.int("keepdims", 1)? == 0 {
        true => drop(sizes.remove(axis)),
        false => sizes[axis] = part,
    }
    sequence_result(ValueType::new(&call.element(0)?, sizes), count)
}

/// `ConcatFromSequence`: the elements side by side along an axis, or stacked along a new one.
pub(crate) fn concat(call: &RuleCall<'_>) -> RuleResult {
    let (item, length) = sequence_operand(call)?;
    let mut sizes = item.sizes.clone().ok_or(RuleError::Unknown)?;
    let axis = call.node.required_int("axis")?;
    if call.node.int("new_axis", 0)? != 0 {
        let axis = call.axis(axis, sizes.len() + 1)?;
        sizes.insert(axis, length.clone());
    } else {
        let axis = call.axis(axis, sizes.len())?;
        let differs = sizes[axis].name().is_some_and(|name| name.contains(OF_EACH));
        let total = sizes[axis].times(length).filter(|_| !differs);
        sizes[axis] = call.or_new_symbol(total, axis);
    }
    single_result(ValueType { element: item.element.clone(), sizes: Some(sizes) })
}

/// `Optional`, `OptionalGetElement`: the value itself.
pub(crate) fn optional(call: &RuleCall<'_>) -> RuleResult {
    match call.optional(0) {
        Some(_) => crate::elementwise::identity(call),
        None => Err(RuleError::Unknown),
    }
}

pub(crate) fn is_present(_: &RuleCall<'_>) -> RuleResult {
    single_result(ValueType::new("bool", Vec::new()))
}
