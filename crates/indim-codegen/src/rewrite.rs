//! Peephole rewrites: removes instructions without effect, and replaces others by a known result or by a
//! cheaper equivalent.
//!
//! A rewrite preserves the bits of the result, except for NaNs from arithmetic, which are unspecified.
//! Floating-point operations are not contracted or reassociated.

use crate::bf16::{ZERO_BITS, has_zero_low_half};
use crate::body::{LaneType, Primitive, SsaInstruction, SsaValue};
use crate::divide::divide;
use crate::min_max::simplify_min_max;
use crate::rewriter::Rewriter;

/// Result of a rewrite.
pub(crate) enum Rewrite {
    /// The instruction equals this value.
    Value(SsaValue),
    /// The instruction equals this simpler one.
    Instruction(SsaInstruction),
    /// No rule applies.
    Unchanged,
}

/// Applies the first rule that matches. At least one operand is not a constant, and the constant operand
/// of a commutative instruction comes second.
pub(crate) fn rewrite(builder: &mut impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    use Primitive::*;
    match instruction.primitive {
        Select => select(builder, instruction),
        Bits => bits(builder, instruction),
        Cast => cast(builder, instruction),
        Not | Neg | Abs | Canonical => unary(builder, instruction),
        RoundBf16 if has_zero_low_half(builder, instruction.operands[0]) => {
            self::replacement(Canonical, instruction.lane, &instruction.operands[..1])
        }
        And | Or | Xor => bitwise(builder, instruction),
        Equal | Less | LessUnsigned => comparison(builder, instruction),
        Add | Sub | Mul | Div | Rem if instruction.lane.is_float() => {
            float_arithmetic(builder, instruction)
        }
        Add | Sub | Mul | Div | Rem | ShiftLeft | ShiftRightLogical | ShiftRightArithmetic => {
            integer_arithmetic(builder, instruction)
        }
        _ => Rewrite::Unchanged,
    }
}

fn replacement(primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> Rewrite {
    let mut array = [SsaValue(0); 3];
    array[..operands.len()].copy_from_slice(operands);
    Rewrite::Instruction(SsaInstruction { primitive, lane, operands: array })
}

/// A word with all bits of the type set.
fn all_ones(lane: LaneType) -> u64 {
    match lane {
        LaneType::Bool => 1,
        _ => u64::MAX >> (64 - 8 * lane.size()),
    }
}

fn select(
    builder: &mut impl Rewriter,
    &SsaInstruction { lane, operands, .. }: &SsaInstruction,
) -> Rewrite {
    let [condition, on_true, on_false] = operands;
    if on_true == on_false {
        return Rewrite::Value(on_true);
    }
    if let Some(bits) = builder.constant_bits(condition) {
        return Rewrite::Value(if bits != 0 { on_true } else { on_false });
    }
    let condition_instruction = *builder.instruction(condition);
    if condition_instruction.primitive == Primitive::Not {
        return replacement(
            Primitive::Select,
            lane,
            &[condition_instruction.operands[0], on_false, on_true],
        );
    }
    // An arm that is a select by the same condition.
    let [first, second] = [on_true, on_false].map(|arm| *builder.instruction(arm));
    let has_same_condition =
        |arm: &SsaInstruction| arm.primitive == Primitive::Select && arm.operands[0] == condition;
    if has_same_condition(&first) {
        return replacement(Primitive::Select, lane, &[condition, first.operands[1], on_false]);
    }
    if has_same_condition(&second) {
        return replacement(Primitive::Select, lane, &[condition, on_true, second.operands[2]]);
    }
    if lane == LaneType::Bool {
        return select_truth(builder, operands);
    }
    if !lane.is_float() {
        return Rewrite::Unchanged;
    }
    simplify_min_max(builder, lane, operands).map_or(Rewrite::Unchanged, Rewrite::Value)
}

/// Lowers a select between booleans with a constant arm to logic.
fn select_truth(builder: &mut impl Rewriter, operands: [SsaValue; 3]) -> Rewrite {
    let [condition, on_true, on_false] = operands;
    let bool = LaneType::Bool;
    let constants = [on_true, on_false].map(|arm| builder.constant_bits(arm));
    match constants {
        [Some(1), _] => replacement(Primitive::Or, bool, &[condition, on_false]),
        [Some(_), _] => {
            let not = builder.push(Primitive::Not, bool, &[condition]);
            replacement(Primitive::And, bool, &[not, on_false])
        }
        [_, Some(0)] => replacement(Primitive::And, bool, &[condition, on_true]),
        [_, Some(_)] => {
            let not = builder.push(Primitive::Not, bool, &[condition]);
            replacement(Primitive::Or, bool, &[not, on_true])
        }
        [None, None] => Rewrite::Unchanged,
    }
}

fn bits(
    builder: &impl Rewriter,
    &SsaInstruction { lane, operands, .. }: &SsaInstruction,
) -> Rewrite {
    let operand = *builder.instruction(operands[0]);
    match operand.primitive {
        _ if operand.lane == lane => Rewrite::Value(operands[0]),
        Primitive::Bits => replacement(Primitive::Bits, lane, &operand.operands[..1]),
        _ => Rewrite::Unchanged,
    }
}

/// A cast to the operand's own type is removed, and a cast between integers of one size becomes a
/// bitcast. A cast of a cast or bitcast becomes one cast, if that gives the same result.
fn cast(
    builder: &impl Rewriter,
    &SsaInstruction { lane, operands, .. }: &SsaInstruction,
) -> Rewrite {
    let operand = *builder.instruction(operands[0]);
    let between = operand.lane;
    if between == lane {
        return Rewrite::Value(operands[0]);
    }
    let is_integral = |lane: LaneType| !lane.is_float();
    if is_integral(between) && is_integral(lane) && between.size() == lane.size() {
        return replacement(Primitive::Bits, lane, &operands[..1]);
    }
    if !matches!(operand.primitive, Primitive::Cast | Primitive::Bits) {
        return Rewrite::Unchanged;
    }
    let first = builder.instruction(operand.operands[0]).lane;
    let are_integral = [first, between, lane].into_iter().all(is_integral);
    let is_direct = match operand.primitive {
        // Low bits of low bits, or low bits of an extension.
        _ if are_integral && lane.size() <= between.size() => true,
        Primitive::Cast if !is_exact(first, between) => false,
        Primitive::Cast => {
            first == lane || lane.is_float() || first.is_float() == between.is_float()
        }
        _ => false,
    };
    match is_direct {
        true => replacement(Primitive::Cast, lane, &operand.operands[..1]),
        false => Rewrite::Unchanged,
    }
}

/// Whether the conversion of numbers between the types is exact. The bits of NaNs may change.
fn is_exact(from: LaneType, to: LaneType) -> bool {
    match (from.is_float(), to.is_float()) {
        (true, _) => from == LaneType::F32 && to == LaneType::F64,
        (false, true) => 2 * from.size() <= to.size(),
        (false, false) if from.is_signed() => to.is_signed() && from.size() <= to.size(),
        (false, false) => from.size() < to.size() || (!to.is_signed() && from.size() == to.size()),
    }
}

/// Unary primitives that are their own inverse, or idempotent; also the magnitude of a negation.
fn unary(builder: &impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let operand = *builder.instruction(instruction.operands[0]);
    match (instruction.primitive, operand.primitive) {
        (Primitive::Not, Primitive::Not) | (Primitive::Neg, Primitive::Neg) => {
            Rewrite::Value(operand.operands[0])
        }
        (Primitive::Abs, Primitive::Neg) => {
            replacement(Primitive::Abs, instruction.lane, &operand.operands[..1])
        }
        (Primitive::Abs, Primitive::Abs) | (Primitive::Canonical, Primitive::Canonical) => {
            Rewrite::Value(instruction.operands[0])
        }
        _ => Rewrite::Unchanged,
    }
}

fn bitwise(builder: &mut impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let &SsaInstruction { primitive, lane, operands: [x, y, _] } = instruction;
    if x == y {
        return Rewrite::Value(match primitive {
            Primitive::Xor => builder.constant(lane, 0),
            _ => x,
        });
    }
    let ones = all_ones(lane);
    match (primitive, builder.constant_bits(y)) {
        (Primitive::And, Some(0)) => Rewrite::Value(y),
        (Primitive::Or | Primitive::Xor, Some(0)) => Rewrite::Value(x),
        (Primitive::And, Some(bits)) if bits == ones => Rewrite::Value(x),
        (Primitive::And, Some(bits))
            if bits == ones << ZERO_BITS & ones
                && lane.size() == 4
                && has_zero_low_half(builder, x) =>
        {
            Rewrite::Value(x)
        }
        (Primitive::Or, Some(bits)) if bits == ones => Rewrite::Value(y),
        (Primitive::Xor, Some(bits)) if bits == ones => replacement(Primitive::Not, lane, &[x]),
        _ => Rewrite::Unchanged,
    }
}

fn comparison(builder: &mut impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let &SsaInstruction { primitive, operands: [x, y, _], .. } = instruction;
    let SsaInstruction { lane, primitive: of_first, .. } = *builder.instruction(x);
    let mut constant = |value: bool| Rewrite::Value(builder.constant(LaneType::Bool, value.into()));
    // A NaN does not equal itself.
    if x == y && !(lane.is_float() && primitive == Primitive::Equal) {
        return constant(primitive == Primitive::Equal);
    }
    match (primitive, builder.constant_bits(y)) {
        (Primitive::Equal, Some(1)) if lane == LaneType::Bool => Rewrite::Value(x),
        (Primitive::Equal, Some(_)) if lane == LaneType::Bool => {
            replacement(Primitive::Not, lane, &[x])
        }
        (Primitive::LessUnsigned, Some(0)) => Rewrite::Value(builder.constant(LaneType::Bool, 0)),
        (Primitive::Less, Some(0))
            if of_first == Primitive::Abs || !(lane.is_signed() || lane.is_float()) =>
        {
            Rewrite::Value(builder.constant(LaneType::Bool, 0))
        }
        _ => Rewrite::Unchanged,
    }
}

fn float_arithmetic(builder: &mut impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let &SsaInstruction { primitive, lane, operands: [x, y, _] } = instruction;
    let Some(bits) = builder.constant_bits(y) else { return merge_negation(builder, instruction) };
    let (sign, one) = match lane {
        LaneType::F32 => (1 << 31, u64::from(1f32.to_bits())),
        _ => (1 << 63, 1f64.to_bits()),
    };
    match primitive {
        // `x + -0.0` and `x - 0.0` keep the sign of a zero; `x + 0.0` does not.
        Primitive::Add if bits == sign => Rewrite::Value(x),
        Primitive::Sub if bits == 0 => Rewrite::Value(x),
        Primitive::Mul if bits == one => Rewrite::Value(x),
        Primitive::Div => match exact_reciprocal(lane, bits) {
            Some(reciprocal) => {
                let reciprocal = builder.constant(lane, reciprocal);
                replacement(Primitive::Mul, lane, &[x, reciprocal])
            }
            None => Rewrite::Unchanged,
        },
        _ => merge_negation(builder, instruction),
    }
}

/// Merges a negation into a sum or difference; the result has the same bits, zeros included.
fn merge_negation(builder: &impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let &SsaInstruction { primitive, lane, operands: [x, y, _] } = instruction;
    let opposite = |value: SsaValue| {
        let instruction = builder.instruction(value);
        (instruction.primitive == Primitive::Neg).then_some(instruction.operands[0])
    };
    match (primitive, opposite(x), opposite(y)) {
        (Primitive::Add, _, Some(y)) => replacement(Primitive::Sub, lane, &[x, y]),
        (Primitive::Add, Some(x), _) => replacement(Primitive::Sub, lane, &[y, x]),
        (Primitive::Sub, _, Some(y)) => replacement(Primitive::Add, lane, &[x, y]),
        _ => Rewrite::Unchanged,
    }
}

/// The bits of the reciprocal of a power of two, if both are normal numbers. The product with it then has
/// the bits of the quotient.
fn exact_reciprocal(lane: LaneType, bits: u64) -> Option<u64> {
    let (mantissa_bits, sign) = match lane {
        LaneType::F32 => (23, 1u64 << 31),
        _ => (52, 1u64 << 63),
    };
    let exponents = (sign - 1) >> mantissa_bits;
    let exponent = (bits & !sign) >> mantissa_bits;
    let is_power = bits & ((1 << mantissa_bits) - 1) == 0;
    // `exponents` is the largest exponent field, which is odd, and the bias is `exponents / 2`. The
    // reciprocal has the exponent field `2 * bias - exponent`, which is `exponents - 1 - exponent`.
    let is_inverted = (1..exponents - 1).contains(&exponent);
    (is_power && is_inverted).then(|| (bits & sign) | (exponents - 1 - exponent) << mantissa_bits)
}

fn integer_arithmetic(builder: &mut impl Rewriter, instruction: &SsaInstruction) -> Rewrite {
    let &SsaInstruction { primitive, lane, operands: [x, y, _] } = instruction;
    if primitive == Primitive::Sub && x == y {
        return Rewrite::Value(builder.constant(lane, 0));
    }
    let Some(bits) = builder.constant_bits(y) else { return Rewrite::Unchanged };
    let is_shift = !matches!(
        primitive,
        Primitive::Add | Primitive::Sub | Primitive::Mul | Primitive::Div | Primitive::Rem
    );
    match (primitive, bits) {
        _ if is_shift && bits & (8 * lane.size() as u64 - 1) == 0 => Rewrite::Value(x),
        (Primitive::Add | Primitive::Sub, 0) | (Primitive::Mul | Primitive::Div, 1) => {
            Rewrite::Value(x)
        }
        (Primitive::ShiftLeft, _) => left_shift(builder, instruction, bits),
        (Primitive::Mul, 0) => Rewrite::Value(y),
        (Primitive::Mul, _) if bits.is_power_of_two() => {
            let amount = builder.constant(lane, bits.trailing_zeros().into());
            replacement(Primitive::ShiftLeft, lane, &[x, amount])
        }
        (Primitive::Sub, _) => {
            let negative = builder.constant(lane, bits.wrapping_neg() & all_ones(lane));
            replacement(Primitive::Add, lane, &[x, negative])
        }
        (Primitive::Add, _) => combine_added_constants(builder, instruction, bits),
        (Primitive::Rem, _) if bits.is_power_of_two() && !lane.is_signed() => {
            let below = builder.constant(lane, bits - 1);
            replacement(Primitive::And, lane, &[x, below])
        }
        (Primitive::Div | Primitive::Rem, _) => Rewrite::Value(divide(builder, primitive, x, bits)),
        _ => Rewrite::Unchanged,
    }
}

/// A left shift by a constant. A left shift of a logical right shift by the same amount becomes a
/// bitwise `and`. A left shift of a value that was cast to a narrower integer and back shifts the
/// original value, if it discards all bits that the casts change.
fn left_shift(builder: &mut impl Rewriter, instruction: &SsaInstruction, bits: u64) -> Rewrite {
    let &SsaInstruction { lane, operands: [x, amount, _], .. } = instruction;
    let width = 8 * lane.size() as u64;
    let bits = bits & (width - 1);
    let operand = *builder.instruction(x);
    let first = *builder.instruction(operand.operands[0]);
    match operand.primitive {
        Primitive::ShiftRightLogical
            if builder.constant_bits(operand.operands[1]).map(|bits| bits & (width - 1))
                == Some(bits) =>
        {
            let mask = builder.constant(lane, all_ones(lane) << bits & all_ones(lane));
            replacement(Primitive::And, lane, &[operand.operands[0], mask])
        }
        Primitive::Cast if first.primitive == Primitive::Cast => {
            let original = builder.instruction(first.operands[0]).lane;
            let is_kept = !first.lane.is_float() && bits + 8 * first.lane.size() as u64 >= width;
            match original == lane && is_kept {
                true => replacement(Primitive::ShiftLeft, lane, &[first.operands[0], amount]),
                false => Rewrite::Unchanged,
            }
        }
        _ => Rewrite::Unchanged,
    }
}

/// Combines two constants added one after the other; integer sums wrap, so the result is the same.
fn combine_added_constants(
    builder: &mut impl Rewriter,
    instruction: &SsaInstruction,
    bits: u64,
) -> Rewrite {
    let lane = instruction.lane;
    let sum = *builder.instruction(instruction.operands[0]);
    let first = match sum.primitive {
        Primitive::Add => builder.constant_bits(sum.operands[1]),
        _ => None,
    };
    let Some(first) = first else { return Rewrite::Unchanged };
    let sum_of_constants = builder.constant(lane, first.wrapping_add(bits) & all_ones(lane));
    replacement(Primitive::Add, lane, &[sum.operands[0], sum_of_constants])
}
