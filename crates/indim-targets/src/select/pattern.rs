//! Patterns: several primitives that one instruction computes.

use indim_codegen::{Body, LaneType, Primitive, Value};

use super::TargetLowering;
use super::ternary_logic::ternary_logic;

/// A pattern's operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternKind {
    /// The first operand where it is less than the second, else the second.
    Min,
    /// The first operand where it is greater than the second, else the second.
    Max,
    /// Whether a comparison of floats does not hold.
    Negated(Primitive),
    /// Whether either of two floats is a NaN.
    Unordered,
    /// A fused multiply-add with the product, the addend or both negated.
    MulAdd { is_product_negated: bool, is_addend_negated: bool },
    /// The upper 16 of 32 bits, as an integer of 16.
    UpperHalf,
    /// Bitwise operations on three integers, as a truth table.
    TernaryLogic(u8),
}

/// A matched pattern and its operands, in the instruction's order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    pub(crate) kind: PatternKind,
    /// Unused operands are value 0.
    pub(crate) operands: [Value; 3],
}

impl Pattern {
    fn of_two(kind: PatternKind, [x, y]: [Value; 2]) -> Pattern {
        Pattern { kind, operands: [x, y, Value(0)] }
    }

    /// The pattern that ends with a value, if the target has an instruction for it.
    fn of<O: TargetLowering>(body: &Body, value: Value) -> Option<Pattern> {
        let instruction = body.instruction(value);
        let [first, second, third] = instruction.operands;
        let pattern = match instruction.primitive {
            Primitive::Select => extreme(body, first, second, third),
            Primitive::Not if instruction.lane == LaneType::Bool => negated(body, first),
            Primitive::MulAdd => product(body, [first, second, third]),
            Primitive::Or if instruction.lane == LaneType::Bool => unordered(body, first, second),
            Primitive::And | Primitive::Or | Primitive::Xor | Primitive::Not => {
                let (operands, table) = ternary_logic(body, value)?;
                Some(Pattern { kind: PatternKind::TernaryLogic(table), operands })
            }
            Primitive::Cast if instruction.lane.size() == 2 => upper_half(body, first),
            _ => None,
        };
        pattern.filter(|it| O::has_pattern(it.kind, body.lane(it.operands[0])))
    }

    fn operands(&self) -> &[Value] {
        let count = match self.kind {
            PatternKind::UpperHalf => 1,
            PatternKind::MulAdd { .. } | PatternKind::TernaryLogic(_) => 3,
            _ => 2,
        };
        &self.operands[..count]
    }
}

/// The operands read to compute a value, through its pattern if it has one.
pub(super) fn operands<'a>(
    body: &'a Body,
    value: Value,
    pattern: &'a Option<Pattern>,
) -> &'a [Value] {
    match pattern {
        Some(pattern) => pattern.operands(),
        None => body.instruction(value).operands(),
    }
}

/// Values that must be computed: those that outputs need, without the inner values of patterns.
pub(super) fn needed<O: TargetLowering>(body: &Body) -> (Vec<Option<Pattern>>, Vec<bool>) {
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
        patterns[index] = Pattern::of::<O>(body, Value(index as u32));
        let operands = operands(body, Value(index as u32), &patterns[index]);
        operands.iter().for_each(|operand| is_needed[operand.index()] = true);
    }
    (patterns, is_needed)
}

/// The operands of a comparison.
fn compared(body: &Body, value: Value, primitive: Primitive) -> Option<[Value; 2]> {
    let instruction = body.instruction(value);
    let [x, y, _] = instruction.operands;
    (instruction.primitive == primitive).then_some([x, y])
}

/// A minimum or maximum: a choice of two numbers by which is less.
fn extreme(body: &Body, condition: Value, on_true: Value, on_false: Value) -> Option<Pattern> {
    let [x, y] = compared(body, condition, Primitive::Less)?;
    if [x, y] == [on_true, on_false] {
        return Some(Pattern::of_two(PatternKind::Min, [x, y]));
    }
    let is_greater = [y, x] == [on_true, on_false];
    is_greater.then_some(Pattern::of_two(PatternKind::Max, [y, x]))
}

/// A comparison of floats that does not hold.
fn negated(body: &Body, condition: Value) -> Option<Pattern> {
    let primitive = body.instruction(condition).primitive;
    let operands = compared(body, condition, Primitive::Equal)
        .or_else(|| compared(body, condition, Primitive::Less))?;
    let is_float = body.lane(operands[0]).is_float();
    is_float.then_some(Pattern::of_two(PatternKind::Negated(primitive), operands))
}

/// Whether either of two floats is a NaN.
fn unordered(body: &Body, first: Value, second: Value) -> Option<Pattern> {
    let [x, y] = [nan(body, first)?, nan(body, second)?];
    let is_one_type = body.lane(x) == body.lane(y);
    is_one_type.then_some(Pattern::of_two(PatternKind::Unordered, [x, y]))
}

/// The float that a value tests for NaN.
fn nan(body: &Body, value: Value) -> Option<Value> {
    let instruction = body.instruction(value);
    if instruction.primitive != Primitive::Not {
        return None;
    }
    let [x, y] = compared(body, instruction.operands[0], Primitive::Equal)?;
    (x == y && body.lane(x).is_float()).then_some(x)
}

/// The 32-bit operand of a logical shift right by 16.
fn upper_half(body: &Body, shifted: Value) -> Option<Pattern> {
    use Primitive::{Constant, ShiftRightArithmetic, ShiftRightLogical};
    let shift = body.instruction(shifted);
    let [x, amount, _] = shift.operands;
    let is_half = matches!(shift.primitive, ShiftRightLogical | ShiftRightArithmetic)
        && shift.lane.size() == 4
        && matches!(body.instruction(amount).primitive, Constant(bits) if bits & 31 == 16);
    is_half.then_some(Pattern::of_two(PatternKind::UpperHalf, [x, Value(0)]))
}

/// A product and a sum, where the product or the addend is negated.
fn product(body: &Body, operands: [Value; 3]) -> Option<Pattern> {
    let positive = |value: Value| {
        let instruction = body.instruction(value);
        (instruction.primitive == Primitive::Neg).then_some(instruction.operands[0])
    };
    let [x, y, z] = operands.map(|value| positive(value).is_some());
    let kind = PatternKind::MulAdd { is_product_negated: x != y, is_addend_negated: z };
    let operands = operands.map(|value| positive(value).unwrap_or(value));
    Some(Pattern { kind, operands })
}
