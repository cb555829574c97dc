//! Minimum and maximum of a float and a constant, without the test whether both are equal.
//!
//! The definitions of minimum and maximum test `x == y` only to choose between zeros of different signs. With
//! a nonzero constant the test is redundant; with the constant 0 it merges with the test `x < y`.

use crate::body::{LaneType, Primitive, SsaValue};
use crate::rewriter::Rewriter;

/// Simplifies a select between floats that is part of a minimum or maximum with a constant.
pub(crate) fn simplify_min_max(
    builder: &mut impl Rewriter,
    lane: LaneType,
    operands: [SsaValue; 3],
) -> Option<SsaValue> {
    let [condition, on_true, on_false] = operands;
    let [x, y] = comparison_operands(builder, condition, Primitive::Equal)?;
    if x != y {
        return without_equality_test(builder, x, y, on_true, on_false);
    }
    // `x == x` tells whether `x` is a number.
    let extreme = min_max_with_zero(builder, lane, x, on_true)?;
    Some(builder.push(Primitive::Select, lane, &[condition, extreme, on_false]))
}

/// `on_false`, if the select by `x == constant` is redundant. Equal numbers have the same bits unless they
/// are zeros, so for a nonzero constant both arms give the same bits.
fn without_equality_test(
    builder: &impl Rewriter,
    x: SsaValue,
    constant: SsaValue,
    on_true: SsaValue,
    on_false: SsaValue,
) -> Option<SsaValue> {
    let bits = builder.constant_bits(constant)?;
    let magnitude = bits << (64 - 8 * builder.instruction(constant).lane.size()) << 1;
    let is_same = on_true == constant || on_true == x || is_bitwise_of(builder, on_true, x, bits);
    (magnitude != 0 && is_same && arms_by_order(builder, x, constant, on_false).is_some())
        .then_some(on_false)
}

/// The minimum or maximum of `x` and zero as one comparison. The result for NaNs may change: the caller
/// selects it only if `x` is a number.
fn min_max_with_zero(
    builder: &mut impl Rewriter,
    lane: LaneType,
    x: SsaValue,
    value: SsaValue,
) -> Option<SsaValue> {
    let select = *builder.instruction(value);
    let [condition, if_equal, otherwise] = select.operands;
    if select.primitive != Primitive::Select {
        return None;
    }
    let [first, zero] = comparison_operands(builder, condition, Primitive::Equal)?;
    let is_zero = builder.constant_bits(zero) == Some(0);
    let [above, below] = arms_by_order(builder, x, zero, otherwise)?;
    if first != x || !is_zero || above == below {
        return None;
    }
    let bool = LaneType::Bool;
    if if_equal == below {
        let is_above = builder.push(Primitive::Less, bool, &[zero, x]);
        return Some(builder.push(Primitive::Select, lane, &[is_above, above, below]));
    }
    (if_equal == above).then(|| {
        let is_below = builder.push(Primitive::Less, bool, &[x, zero]);
        builder.push(Primitive::Select, lane, &[is_below, below, above])
    })
}

/// The arms of a select between `x` and `y` by `Less`: the arm for `x > y`, then the arm for `x < y`.
fn arms_by_order(
    builder: &impl Rewriter,
    x: SsaValue,
    y: SsaValue,
    value: SsaValue,
) -> Option<[SsaValue; 2]> {
    let select = builder.instruction(value);
    let [condition, on_true, on_false] = select.operands;
    let is_one = |value| value == x || value == y;
    if select.primitive != Primitive::Select || !is_one(on_true) || !is_one(on_false) {
        return None;
    }
    match comparison_operands(builder, condition, Primitive::Less)? {
        compared if compared == [x, y] => Some([on_false, on_true]),
        compared if compared == [y, x] => Some([on_true, on_false]),
        _ => None,
    }
}

/// The operands of `condition`, if it is this comparison.
fn comparison_operands(
    builder: &impl Rewriter,
    condition: SsaValue,
    comparison: Primitive,
) -> Option<[SsaValue; 2]> {
    let instruction = builder.instruction(condition);
    let [x, y, _] = instruction.operands;
    (instruction.primitive == comparison).then_some([x, y])
}

/// Whether `value` is the bitwise `and` or `or` of `x` and the constant: if both have the same bits, so has
/// `value`.
fn is_bitwise_of(builder: &impl Rewriter, value: SsaValue, x: SsaValue, constant: u64) -> bool {
    let float = builder.instruction(value);
    let mixed = builder.instruction(float.operands[0]);
    let [bits, other, _] = mixed.operands;
    let bits = builder.instruction(bits);
    float.primitive == Primitive::Bits
        && matches!(mixed.primitive, Primitive::And | Primitive::Or)
        && bits.primitive == Primitive::Bits
        && bits.operands[0] == x
        && builder.constant_bits(other) == Some(constant)
}
