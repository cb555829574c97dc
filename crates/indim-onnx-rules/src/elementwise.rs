//! Shape rules of element-wise operators.

use indim_model::outline::{SymbolicSize, ValueType};
use indim_shape::{RuleSet, TargetRule};

use crate::call::{RuleCall, RuleError, RuleResult, array_result, shape_error, single_result};
use crate::typed_value::TypedValue;
use indim_onnx_file::types::{dtype_named, element_name};

/// `Trilu`: the type of operand 0, matrices.
pub(crate) fn triangle(call: &RuleCall<'_>) -> RuleResult {
    call.sizes_of_least_rank(2)?;
    same_type(call)
}

/// The type of operand 0.
pub(crate) fn same_type(call: &RuleCall<'_>) -> RuleResult {
    single_result(call.operand(0)?.value_type.clone())
}

/// Operand 0 with its elements.
pub(crate) fn identity(call: &RuleCall<'_>) -> RuleResult {
    Ok(vec![TypedValue { name: String::new(), ..call.operand(0)?.clone() }])
}

/// `Ceil`, `Floor`, `Round`: whole numbers stay as they are, so known elements do too.
pub(crate) fn rounding(call: &RuleCall<'_>) -> RuleResult {
    let elements = call.symbols(0);
    Ok(vec![TypedValue::of(call.operand(0)?.value_type.clone()).with_elements(elements)])
}

/// `SwiGLU`: two operands of one shape.
pub(crate) fn gated(call: &RuleCall<'_>) -> RuleResult {
    call.expect_sizes(1, "the gate", call.sizes(0)?)?;
    same_type(call)
}

/// Booleans in the shape of operand 0.
pub(crate) fn predicate(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?.to_vec();
    let not = |size: &SymbolicSize| size.number().map(|n| SymbolicSize::known(i64::from(n == 0)));
    let elements = match call.node.operator {
        "Not" => call.symbols(0).and_then(|all| all.iter().map(not).collect()),
        _ => None,
    };
    Ok(vec![TypedValue::of(ValueType::new("bool", sizes)).with_elements(elements)])
}

/// The sizes of the result: by NumPy's rule, or before opset 7 by the rule in the attributes `broadcast`
/// and `axis`.
fn binary_sizes(call: &RuleCall<'_>) -> Result<Vec<SymbolicSize>, RuleError> {
    call.broadcast(call.node.broadcast_rule()?, call.named(&[0, 1])?, None)
}

/// Arithmetic on two operands; the result has the element type of the first.
pub(crate) fn arithmetic(call: &RuleCall<'_>) -> RuleResult {
    let sizes = binary_sizes(call)?;
    let compute = match call.node.operator {
        "Add" => SymbolicSize::plus,
        "Sub" => SymbolicSize::minus,
        "Mul" => SymbolicSize::times,
        "Div" => divide_sizes,
        _ => |_: &SymbolicSize, _: &SymbolicSize| None,
    };
    let elements = broadcast_pairs(call, 0, 1)
        .and_then(|pairs| pairs.iter().map(|(a, b)| compute(a, b)).collect::<Option<Vec<_>>>());
    Ok(vec![TypedValue::of(common_type(call, sizes)).with_elements(elements)])
}

/// The first known element type of the operands, with these sizes. The operands have one element type, and
/// that of one behind an opaque node may be unknown.
fn common_type(call: &RuleCall<'_>, sizes: Vec<SymbolicSize>) -> ValueType {
    let mut types = (0..call.operands.len()).map(|position| call.element_type(position));
    let known = types.find(|value_type| value_type.element.is_some()).unwrap_or_default();
    ValueType { sizes: Some(sizes), ..known }
}

/// Integer division of sizes, which are not negative.
fn divide_sizes(a: &SymbolicSize, b: &SymbolicSize) -> Option<SymbolicSize> {
    a.divided_exactly(b).or_else(|| a.floor_divided(b.number()?))
}

/// Comparisons and logical operations.
pub(crate) fn comparison(call: &RuleCall<'_>) -> RuleResult {
    let sizes = binary_sizes(call)?;
    let elements = match call.node.operator {
        "Equal" => broadcast_pairs(call, 0, 1)
            .and_then(|pairs| pairs.iter().map(|(a, b)| is_equal(a, b)).collect()),
        _ => None,
    };
    Ok(vec![TypedValue::of(ValueType::new("bool", sizes)).with_elements(elements)])
}

/// 1 or 0 if it is certain whether two elements are equal. A symbol stands for a size, so it differs from
/// a negative number.
fn is_equal(a: &SymbolicSize, b: &SymbolicSize) -> Option<SymbolicSize> {
    let difference = a.minus(b)?.number();
    let is_negative = |size: &SymbolicSize| size.number().is_some_and(|n| n < 0);
    match difference {
        Some(difference) => Some(SymbolicSize::known(i64::from(difference == 0))),
        None if is_negative(a) || is_negative(b) => Some(SymbolicSize::known(0)),
        None => None,
    }
}

/// Pairs of elements of two operands. A single element is paired with each element of the other operand.
fn broadcast_pairs(
    call: &RuleCall<'_>,
    first: usize,
    second: usize,
) -> Option<Vec<(SymbolicSize, SymbolicSize)>> {
    let (a, b) = (call.symbols(first)?, call.symbols(second)?);
    let count = a.len().max(b.len());
    let at = |list: &[SymbolicSize], index: usize| match list.len() {
        1 => list.first().cloned(),
        length if length == count => list.get(index).cloned(),
        _ => None,
    };
    (0..count).map(|index| Some((at(&a, index)?, at(&b, index)?))).collect()
}

/// `Max`, `Min`, `Sum`, `Mean`: any number of operands.
pub(crate) fn variadic(call: &RuleCall<'_>) -> RuleResult {
    let positions: Vec<usize> = (0..call.operands.len()).collect();
    let rule = if call.node.version >= 8 { RuleSet::Numpy } else { RuleSet::None };
    let sizes = match positions.len() {
        1 => call.sizes(0)?.to_vec(),
        _ => call.broadcast(rule, call.named(&positions)?, None)?,
    };
    single_result(common_type(call, sizes))
}

pub(crate) fn choose(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.numpy(&[0, 1, 2])?;
    let elements = || {
        let conditions = call.symbols(0)?;
        let pairs = broadcast_pairs(call, 1, 2)?;
        let one = |(index, (a, b)): (usize, (SymbolicSize, SymbolicSize))| {
            let condition =
                if conditions.len() == 1 { &conditions[0] } else { conditions.get(index)? };
            Some(if condition.number()? != 0 { a } else { b })
        };
        pairs.into_iter().enumerate().map(one).collect::<Option<Vec<_>>>()
    };
    let elements = elements();
    let element = call.element(1).or_else(|_| call.element(2))?;
    Ok(vec![TypedValue::of(ValueType::new(&element, sizes)).with_elements(elements)])
}

/// The slope broadcasts to the operand; the operand does not grow.
pub(crate) fn slope(call: &RuleCall<'_>) -> RuleResult {
    let target = call.sizes(0)?.to_vec();
    if call.node.version >= 7 {
        call.broadcast(TargetRule::Unidirectional, call.named(&[1])?, Some(&target))?;
    }
    array_result(&call.element(0)?, target)
}

pub(crate) fn cast(call: &RuleCall<'_>) -> RuleResult {
    let element = match call.node.version < 6 {
        true => dtype_named(&call.node.text("to", "")?)?.name().to_owned(),
        false => element_name(call.node.required_int("to")?),
    };
    cast_to(call, &element)
}

pub(crate) fn cast_like(call: &RuleCall<'_>) -> RuleResult {
    cast_to(call, &call.element(1)?)
}

fn cast_to(call: &RuleCall<'_>, element: &str) -> RuleResult {
    let value_type = ValueType::new(element, call.sizes(0)?.to_vec());
    let is_bool = element == "bool";
    let elements = call.symbols(0).filter(|_| !is_bool);
    Ok(vec![TypedValue::of(value_type).with_elements(elements)])
}

pub(crate) fn bit_cast(call: &RuleCall<'_>) -> RuleResult {
    array_result(&element_name(call.node.required_int("to")?), call.sizes(0)?.to_vec())
}

/// The operand, and a mask: of booleans, or before version 10 of the operand's type.
pub(crate) fn dropout(call: &RuleCall<'_>) -> RuleResult {
    let operand = call.operand(0)?.value_type.clone();
    let mask = match call.node.version < 10 {
        true => operand.clone(),
        false => ValueType { element: Some("bool".into()), ..operand.clone() },
    };
    Ok(vec![TypedValue::of(operand), TypedValue::of(mask)])
}

/// `QuantizeLinear`: the element type of the zero point, else that of `output_dtype`, else `u8`.
pub(crate) fn quantize(call: &RuleCall<'_>) -> RuleResult {
    check_scales(call)?;
    let element = match (call.optional(2), call.node.optional_int("output_dtype")?) {
        (Some(_), _) => call.element(2)?,
        (None, None | Some(0)) => "u8".to_owned(),
        (None, Some(number)) => element_name(number),
    };
    array_result(&element, call.sizes(0)?.to_vec())
}

/// The opset since which a scale can have one element for each index of an axis.
const AXES_SINCE: i64 = 13;

/// One scale, or one for each index of an axis. Scale and zero point have one shape.
fn check_scales(call: &RuleCall<'_>) -> Result<(), RuleError> {
    let is_blocked = call.node.int("block_size", 0)? != 0;
    if let Ok(scale @ [_, _, ..]) = call.sizes(1)
        && !is_blocked
        && !scale.iter().all(|size| size.is(1))
    {
        return shape_error(format!("the scale has rank {}, not 0 or 1", scale.len()));
    }
    if let (Ok([count]), Ok(sizes), false) = (call.sizes(1), call.sizes(0), is_blocked) {
        let is_list = call.node.version >= AXES_SINCE && !count.is(1);
        let axis = match is_list {
            true => Some(call.axis(call.node.int("axis", 1)?, sizes.len())?),
            false => None,
        };
        call.expect_parameters(1, "the scale", axis.map(|axis| &sizes[axis]))?;
    }
    let has_one = |position| {
        call.sizes(position)
            .is_ok_and(|sizes| matches!(sizes, [] | [_]) && sizes.iter().all(|size| size.is(1)))
    };
    match call.sizes(1) {
        // A scalar and a list of one element are the same parameter.
        Ok(_) if has_one(1) && has_one(2) => Ok(()),
        Ok(scale) => call.expect_sizes(2, "the zero point", scale),
        Err(_) => Ok(()),
    }
}

/// `DequantizeLinear`: the element type of `output_dtype`, else that of the scale.
pub(crate) fn dequantize(call: &RuleCall<'_>) -> RuleResult {
    check_scales(call)?;
    let element = match call.node.optional_int("output_dtype")? {
        None | Some(0) => call.element(1)?,
        Some(number) => element_name(number),
    };
    array_result(&element, call.sizes(0)?.to_vec())
}

/// `DynamicQuantizeLinear`: bytes, a scale and a zero point.
pub(crate) fn quantize_by_data(call: &RuleCall<'_>) -> RuleResult {
    let sizes = call.sizes(0)?.to_vec();
    let types = [("u8", sizes), ("f32", Vec::new()), ("u8", Vec::new())];
    Ok(types.map(|(element, sizes)| TypedValue::of(ValueType::new(element, sizes))).into())
}
