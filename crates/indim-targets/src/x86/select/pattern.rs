//! Several primitives that one instruction computes.

use super::super::opcode::{self, Opcode};
use super::Selector;
use super::float::{NEGATED, UNORDERED, either, predicate};
use indim_codegen::{Body, LaneType, Primitive, Value};

/// What one instruction computes, with its operands in their order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern {
    /// The first operand where it is less, or greater, than the second, else the second.
    Extreme(Opcode, [Value; 2]),
    /// Whether a comparison of floats does not hold.
    Negated(u8, [Value; 2]),
    /// A product and a sum, rounded once, with the one or the other or both negated.
    Product(Opcode, [Value; 3]),
}

/// What is read to compute a value, with its pattern if it has one.
pub(super) fn operands<'a>(
    body: &'a Body,
    value: Value,
    pattern: &'a Option<Pattern>,
) -> &'a [Value] {
    match pattern {
        Some(Pattern::Extreme(_, operands) | Pattern::Negated(_, operands)) => operands,
        Some(Pattern::Product(_, operands)) => operands,
        None => body.instruction(value).operands(),
    }
}

impl Pattern {
    /// The pattern that ends with a value.
    pub(super) fn of(body: &Body, value: Value) -> Option<Pattern> {
        let instruction = body.instruction(value);
        let [first, second, third] = instruction.operands;
        match instruction.primitive {
            Primitive::Select => extreme(body, first, second, third),
            Primitive::Not => negated(body, first),
            Primitive::MulAdd => product(body, [first, second, third]),
            Primitive::Or => {
                let [x, y] = [nan(body, first)?, nan(body, second)?];
                (body.lane(x) == body.lane(y)).then_some(Pattern::Negated(UNORDERED, [x, y]))
            }
            _ => None,
        }
    }
}

/// Which of the values must be computed: those that outputs need, but for what a pattern leaves out.
pub(super) fn needed(body: &Body) -> (Vec<Option<Pattern>>, Vec<bool>) {
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
        patterns[index] = Pattern::of(body, Value(index as u32));
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

/// One of two numbers, by which is less.
fn extreme(body: &Body, condition: Value, on_true: Value, on_false: Value) -> Option<Pattern> {
    let [x, y] = compared(body, condition, Primitive::Less)?;
    let (less, greater) = opcodes(body.lane(on_true))?;
    if [x, y] == [on_true, on_false] {
        return Some(Pattern::Extreme(less, [x, y]));
    }
    ([y, x] == [on_true, on_false]).then_some(Pattern::Extreme(greater, [y, x]))
}

fn opcodes(lane: LaneType) -> Option<(Opcode, Opcode)> {
    Some(match lane {
        LaneType::F32 => (opcode::MIN_F32, opcode::MAX_F32),
        LaneType::F64 => (opcode::MIN_F64, opcode::MAX_F64),
        LaneType::I8 => (opcode::MIN_I8, opcode::MAX_I8),
        LaneType::U8 => (opcode::MIN_U8, opcode::MAX_U8),
        LaneType::I16 => (opcode::MIN_I16, opcode::MAX_I16),
        LaneType::U16 => (opcode::MIN_U16, opcode::MAX_U16),
        LaneType::I32 => (opcode::MIN_I32, opcode::MAX_I32),
        LaneType::U32 => (opcode::MIN_U32, opcode::MAX_U32),
        LaneType::Bool | LaneType::I64 | LaneType::U64 => return None,
    })
}

/// A comparison of floats that does not hold.
fn negated(body: &Body, condition: Value) -> Option<Pattern> {
    let primitive = body.instruction(condition).primitive;
    let operands = compared(body, condition, Primitive::Equal)
        .or_else(|| compared(body, condition, Primitive::Less))?;
    let is_float = body.lane(operands[0]).is_float();
    is_float.then(|| Pattern::Negated(predicate(primitive) | NEGATED, operands))
}

/// A float of which this is whether it is a NaN.
fn nan(body: &Body, value: Value) -> Option<Value> {
    let instruction = body.instruction(value);
    if instruction.primitive != Primitive::Not {
        return None;
    }
    let [x, y] = compared(body, instruction.operands[0], Primitive::Equal)?;
    (x == y && body.lane(x).is_float()).then_some(x)
}

/// A product and a sum, where the product or the addend is negated.
fn product(body: &Body, [x, y, z]: [Value; 3]) -> Option<Pattern> {
    let positive = |value: Value| {
        let instruction = body.instruction(value);
        (instruction.primitive == Primitive::Neg).then_some(instruction.operands[0])
    };
    let is_product_negated = positive(x).is_some() != positive(y).is_some();
    let opcodes = match (is_product_negated, positive(z).is_some()) {
        (true, false) => (opcode::ADDEND_MINUS_PRODUCT_F32, opcode::ADDEND_MINUS_PRODUCT_F64),
        (false, true) => (opcode::PRODUCT_MINUS_ADDEND_F32, opcode::PRODUCT_MINUS_ADDEND_F64),
        (true, true) => (opcode::NEGATED_SUM_F32, opcode::NEGATED_SUM_F64),
        (false, false) => return None,
    };
    let operands = [x, y, z].map(|value| positive(value).unwrap_or(value));
    Some(Pattern::Product(either(body.lane(x).size(), opcodes.0, opcodes.1), operands))
}

impl Selector<'_> {
    /// Computes a value with its pattern.
    pub(super) fn pattern(&mut self, value: Value, pattern: Pattern) {
        match pattern {
            Pattern::Extreme(opcode, operands) => {
                let size = self.body.lane(value).size();
                let [x, y] = operands.map(|operand| self.number(operand));
                let parts = self.pairs(opcode, size, x, y);
                self.set(value, parts);
            }
            Pattern::Product(opcode, operands) => {
                let size = self.body.lane(value).size();
                let [x, y, z] = operands.map(|operand| self.number(operand));
                let parts = self.mul_add(opcode, size, x, y, z);
                self.set(value, parts);
            }
            Pattern::Negated(predicate, operands) => {
                let size = self.body.lane(operands[0]).size();
                let [x, y] = operands.map(|operand| self.number(operand));
                let opcode = either(size, opcode::COMPARE_F32, opcode::COMPARE_F64);
                let parts = self.pairs_with(opcode, size, x, y, Some(predicate));
                self.set_mask(value, size, parts);
            }
        }
    }
}
