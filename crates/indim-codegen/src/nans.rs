//! NaN analysis: whether a value may be a NaN, and whether that NaN is canonical.

use indim_ops::lane::FloatBits;

use crate::body::{LaneType, Primitive, SsaInstruction, SsaValue};
use crate::builder::BodyBuilder;
use crate::interpret::is_nan;
use crate::rewriter::Rewriter;

/// The set of NaNs that a value may be. The order is that of set inclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nans {
    None,
    Canonical,
    Any,
}

/// The NaNs that the result of an instruction may be; `nans` holds those of earlier values.
pub(crate) fn possible_nans(
    builder: &BodyBuilder,
    nans: &[Nans],
    instruction: &SsaInstruction,
) -> Nans {
    // Unused operands are value 0.
    let first = nans.get(instruction.operands[0].index()).copied().unwrap_or(Nans::None);
    let operand = builder.instruction(instruction.operands[0]).lane;
    match instruction.primitive {
        _ if !instruction.lane.is_float() => Nans::None,
        Primitive::Constant(bits) => match is_nan(instruction.lane, bits) {
            true if bits == canonical_nan(instruction.lane) => Nans::Canonical,
            true => Nans::Any,
            false => Nans::None,
        },
        Primitive::Canonical | Primitive::RoundBf16 => first.min(Nans::Canonical),
        // The canonical NaN is positive.
        Primitive::Abs => first,
        Primitive::Select => {
            let [_, on_true, on_false] = instruction.operands;
            nans[on_true.index()].max(nans[on_false.index()])
        }
        Primitive::Cast if !operand.is_float() => Nans::None,
        // Applied to numbers or infinities, these never make a NaN.
        Primitive::Neg
        | Primitive::Cast
        | Primitive::Floor
        | Primitive::Ceil
        | Primitive::Trunc
        | Primitive::RoundEven
            if first == Nans::None =>
        {
            Nans::None
        }
        _ => Nans::Any,
    }
}

fn canonical_nan(lane: LaneType) -> u64 {
    match lane {
        LaneType::F32 => f32::NAN_BITS as u64,
        _ => f64::NAN_BITS as u64,
    }
}

/// Whether a value is a number or the canonical NaN. The conditions of selects are taken into account.
pub(crate) fn is_canonical(builder: &BodyBuilder, nans: &[Nans], value: SsaValue) -> bool {
    let instruction = builder.instruction(value);
    let is_chosen = || {
        instruction.primitive == Primitive::Select
            && SelectNans { builder, nans }.of(instruction, &Facts::default(), MAX_DEPTH)
                < Nans::Any
    };
    nans[value.index()] < Nans::Any || is_chosen()
}

/// Maximum nesting depth of analysed selects: each level may double the number of arms.
const MAX_DEPTH: usize = 4;

/// Facts implied by the conditions of enclosing selects.
#[derive(Clone, Default)]
struct Facts {
    /// Values that are not NaNs.
    numbers: Vec<SsaValue>,
    /// Two values that compare equal. If both are zeros, their signs may differ.
    equal: Option<[SsaValue; 2]>,
}

impl Facts {
    /// These facts with `more` values that are not NaNs, without the equality.
    fn and_numbers(&self, more: &[SsaValue]) -> Facts {
        Facts { numbers: [&self.numbers, more].concat(), equal: None }
    }
}

/// NaN analysis of selects: their conditions imply facts about their arms.
struct SelectNans<'a> {
    builder: &'a BodyBuilder,
    nans: &'a [Nans],
}

impl SelectNans<'_> {
    /// The NaNs that a select may be, given `known` facts. `depth` limits the analysis of nested selects.
    fn of(&self, select: &SsaInstruction, known: &Facts, depth: usize) -> Nans {
        let [condition, on_true, on_false] = select.operands;
        let condition = self.builder.instruction(condition);
        let [x, y, _] = condition.operands;
        let (mut if_true, mut if_false) = (known.clone(), known.clone());
        match condition.primitive {
            // `Equal` and `Less` are false if an operand is a NaN.
            Primitive::Equal | Primitive::Less => {
                if_true = known.and_numbers(&[x, y]);
                if_true.equal = (condition.primitive == Primitive::Equal).then_some([x, y]);
            }
            Primitive::Or => {
                let tested = [x, y].into_iter().filter_map(|either| self.nan_test_operand(either));
                if_false = known.and_numbers(&tested.collect::<Vec<_>>());
            }
            _ => {}
        }
        self.of_arm(on_true, &if_true, depth).max(self.of_arm(on_false, &if_false, depth))
    }

    /// The NaNs that an arm of a select may be, given the facts that its choice implies.
    fn of_arm(&self, value: SsaValue, known: &Facts, depth: usize) -> Nans {
        let instruction = self.builder.instruction(value);
        match instruction.primitive {
            _ if known.numbers.contains(&value) => Nans::None,
            Primitive::Select if depth > 0 => self.of(instruction, known, depth - 1),
            Primitive::Bits if self.is_one_of_equal(instruction, known) => Nans::None,
            _ => self.nans[value.index()],
        }
    }

    /// The operand of a NaN test, `!(x == x)`.
    fn nan_test_operand(&self, value: SsaValue) -> Option<SsaValue> {
        let not = self.builder.instruction(value);
        let equal = self.builder.instruction(not.operands[0]);
        let is_test = not.primitive == Primitive::Not && equal.primitive == Primitive::Equal;
        let [x, y, _] = equal.operands;
        (is_test && x == y).then_some(x)
    }

    /// Whether `bits` is the bitwise `and` or `or` of two values known to be equal. Equal numbers have the
    /// same bits, except for zeros of different signs, so the result is one of them or a zero.
    fn is_one_of_equal(&self, bits: &SsaInstruction, known: &Facts) -> bool {
        let Some([x, y]) = known.equal else { return false };
        let mixed = self.builder.instruction(bits.operands[0]);
        let [first, second, _] = mixed.operands;
        matches!(mixed.primitive, Primitive::And | Primitive::Or)
            && (self.is_bits_of(first, x) && self.is_bits_of(second, y)
                || self.is_bits_of(first, y) && self.is_bits_of(second, x))
    }

    /// Whether `bits` is the bitcast of `float`, or both are constants with equal bits.
    fn is_bits_of(&self, bits: SsaValue, float: SsaValue) -> bool {
        let instruction = self.builder.instruction(bits);
        match instruction.primitive {
            Primitive::Bits => instruction.operands[0] == float,
            Primitive::Constant(bits) => self.builder.constant_bits(float) == Some(bits),
            _ => false,
        }
    }
}
