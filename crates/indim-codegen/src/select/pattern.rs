//! Patterns: groups of primitives that one instruction computes.

use crate::{Body, LaneType, Primitive, SsaValue};

use super::TargetLowering;
use super::ternary_logic::ternary_logic;

/// The operation of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternKind {
    /// The first operand if it is less than the second, else the second: `minps` of x86-64.
    Min,
    /// The first operand if it is greater than the second, else the second: `maxps` of x86-64.
    Max,
    /// The negation of a comparison of floats; true if an operand is a NaN.
    NegatedComparison(Primitive),
    /// Whether at least one of two floats is a NaN.
    Unordered,
    /// A fused multiply-add, with a negated product or addend.
    MulAdd {
        /// Whether the product is negated.
        is_product_negated: bool,
        /// Whether the addend is negated.
        is_addend_negated: bool,
    },
    /// The upper half of a 32-bit integer, as a 16-bit one.
    UpperHalf,
    /// Bitwise operations on three integers, given by their truth table: `vpternlog` of AVX-512.
    TernaryLogic(u8),
}

/// A matched pattern, with the operands in the instruction's order.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// The operation.
    pub kind: PatternKind,
    /// Unused operands are value 0.
    pub operands: [SsaValue; 3],
}

impl Pattern {
    fn binary(kind: PatternKind, [x, y]: [SsaValue; 2]) -> Pattern {
        Pattern { kind, operands: [x, y, SsaValue(0)] }
    }

    /// The pattern whose result is `value`, if the target has an instruction for it.
    fn of<O: TargetLowering>(body: &Body, value: SsaValue) -> Option<Pattern> {
        let instruction = body.instruction(value);
        let [first, second, third] = instruction.operands;
        let pattern = match instruction.primitive {
            Primitive::Select => match_min_max(body, first, second, third),
            Primitive::Not if instruction.lane == LaneType::Bool => {
                match_negated_comparison(body, first)
            }
            Primitive::MulAdd => match_mul_add(body, [first, second, third]),
            Primitive::Or if instruction.lane == LaneType::Bool => {
                match_unordered(body, first, second)
            }
            Primitive::And | Primitive::Or | Primitive::Xor | Primitive::Not => {
                let (operands, table) = ternary_logic(body, value)?;
                Some(Pattern { kind: PatternKind::TernaryLogic(table), operands })
            }
            Primitive::Cast if instruction.lane.size() == 2 => match_upper_half(body, first),
            _ => None,
        };
        pattern.filter(|it| O::has_pattern(it.kind, body.lane(it.operands[0])))
    }

    fn operands(&self) -> &[SsaValue] {
        let count = match self.kind {
            PatternKind::UpperHalf => 1,
            PatternKind::MulAdd { .. } | PatternKind::TernaryLogic(_) => 3,
            _ => 2,
        };
        &self.operands[..count]
    }
}

/// The operands of the pattern that ends with a value; without a pattern, those of its instruction.
pub(super) fn operands<'a>(
    body: &'a Body,
    value: SsaValue,
    pattern: &'a Option<Pattern>,
) -> &'a [SsaValue] {
    match pattern {
        Some(pattern) => pattern.operands(),
        None => body.instruction(value).operands(),
    }
}

/// Matches patterns backwards from the outputs. Returns, for each value, the pattern that ends with it,
/// and whether the value is computed. An inner value of a pattern is computed only if a value outside
/// the pattern uses it too.
pub(super) fn match_patterns<O: TargetLowering>(body: &Body) -> (Vec<Option<Pattern>>, Vec<bool>) {
    let mut patterns = vec![None; body.instructions.len()];
    let mut is_needed = vec![false; body.instructions.len()];
    for (dtype, lanes) in &body.outputs {
        let count = LaneType::of_element(*dtype).1;
        lanes[..count].iter().for_each(|lane| is_needed[lane.index()] = true);
    }
    for index in (0..body.instructions.len()).rev() {
        if !is_needed[index] {
            continue;
        }
        patterns[index] = Pattern::of::<O>(body, SsaValue(index as u32));
        let operands = operands(body, SsaValue(index as u32), &patterns[index]);
        operands.iter().for_each(|operand| is_needed[operand.index()] = true);
    }
    (patterns, is_needed)
}

/// The operands of `value`, if it is the comparison `primitive`.
fn match_comparison(body: &Body, value: SsaValue, primitive: Primitive) -> Option<[SsaValue; 2]> {
    let instruction = body.instruction(value);
    let [x, y, _] = instruction.operands;
    (instruction.primitive == primitive).then_some([x, y])
}

/// Matches a minimum or maximum: a select between the operands of a `Less`.
fn match_min_max(
    body: &Body,
    condition: SsaValue,
    on_true: SsaValue,
    on_false: SsaValue,
) -> Option<Pattern> {
    let [x, y] = match_comparison(body, condition, Primitive::Less)?;
    if [x, y] == [on_true, on_false] {
        return Some(Pattern::binary(PatternKind::Min, [x, y]));
    }
    let is_greater = [y, x] == [on_true, on_false];
    is_greater.then_some(Pattern::binary(PatternKind::Max, [y, x]))
}

/// Matches the negation of a comparison of floats.
fn match_negated_comparison(body: &Body, condition: SsaValue) -> Option<Pattern> {
    let primitive = body.instruction(condition).primitive;
    let operands = match_comparison(body, condition, Primitive::Equal)
        .or_else(|| match_comparison(body, condition, Primitive::Less))?;
    let is_float = body.lane(operands[0]).is_float();
    is_float.then_some(Pattern::binary(PatternKind::NegatedComparison(primitive), operands))
}

/// Matches the `or` of two NaN tests.
fn match_unordered(body: &Body, first: SsaValue, second: SsaValue) -> Option<Pattern> {
    let [x, y] = [nan_test_operand(body, first)?, nan_test_operand(body, second)?];
    let is_one_type = body.lane(x) == body.lane(y);
    is_one_type.then_some(Pattern::binary(PatternKind::Unordered, [x, y]))
}

/// The operand of a NaN test, `!(x == x)`.
fn nan_test_operand(body: &Body, value: SsaValue) -> Option<SsaValue> {
    let instruction = body.instruction(value);
    if instruction.primitive != Primitive::Not {
        return None;
    }
    let [x, y] = match_comparison(body, instruction.operands[0], Primitive::Equal)?;
    (x == y && body.lane(x).is_float()).then_some(x)
}

/// Matches the narrowing of a 32-bit value shifted right by 16 bits.
fn match_upper_half(body: &Body, shifted: SsaValue) -> Option<Pattern> {
    use Primitive::{Constant, ShiftRightArithmetic, ShiftRightLogical};
    let shift = body.instruction(shifted);
    let [x, amount, _] = shift.operands;
    let is_half = matches!(shift.primitive, ShiftRightLogical | ShiftRightArithmetic)
        && shift.lane.size() == 4
        && matches!(body.instruction(amount).primitive, Constant(bits) if bits & 31 == 16);
    is_half.then_some(Pattern::binary(PatternKind::UpperHalf, [x, SsaValue(0)]))
}

/// Matches a fused multiply-add; negations of its operands become part of it.
fn match_mul_add(body: &Body, operands: [SsaValue; 3]) -> Option<Pattern> {
    let positive = |value: SsaValue| {
        let instruction = body.instruction(value);
        (instruction.primitive == Primitive::Neg).then_some(instruction.operands[0])
    };
    let [x, y, z] = operands.map(|value| positive(value).is_some());
    let kind = PatternKind::MulAdd { is_product_negated: x != y, is_addend_negated: z };
    let operands = operands.map(|value| positive(value).unwrap_or(value));
    Some(Pattern { kind, operands })
}
