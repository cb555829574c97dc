//! Which values may be NaNs, and which NaNs.

use indim_ops::lane::FloatBits;

use crate::body::{Instruction, LaneType, Primitive, Value};
use crate::builder::BodyBuilder;
use crate::instructions::Instructions;
use crate::interpret::is_nan;

/// Which NaNs a value may be, from few to many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nans {
    None,
    Canonical,
    Any,
}

/// Which NaNs an instruction may give, from those of the values before it.
pub(crate) fn possible_nans(
    builder: &BodyBuilder,
    nans: &[Nans],
    instruction: &Instruction,
) -> Nans {
    // What is no operand is the value 0.
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
        // Of a number, infinite or not, these make a number.
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

/// Whether a value is a number or the canonical NaN, also by the conditions under which it is chosen.
pub(crate) fn is_canonical(builder: &BodyBuilder, nans: &[Nans], value: Value) -> bool {
    let instruction = builder.instruction(value);
    let is_chosen = || {
        instruction.primitive == Primitive::Select
            && Chosen { builder, nans }.of(instruction, &Known::default(), DEPTH) < Nans::Any
    };
    nans[value.index()] < Nans::Any || is_chosen()
}

/// So deep in choices among choices conditions are remembered: there may be twice as many arms with each.
const DEPTH: usize = 4;

/// What conditions say where they hold.
#[derive(Clone, Default)]
struct Known {
    numbers: Vec<Value>,
    /// Two numbers that are equal; two zeros may differ in their signs.
    equal: Option<[Value; 2]>,
}

impl Known {
    fn and_numbers(&self, more: &[Value]) -> Known {
        Known { numbers: [&self.numbers, more].concat(), equal: None }
    }
}

/// Which NaNs a choice may give: where its condition holds, or does not, some values are known to be numbers.
struct Chosen<'a> {
    builder: &'a BodyBuilder,
    nans: &'a [Nans],
}

impl Chosen<'_> {
    fn of(&self, select: &Instruction, known: &Known, depth: usize) -> Nans {
        let [condition, on_true, on_false] = select.operands;
        let condition = self.builder.instruction(condition);
        let [x, y, _] = condition.operands;
        let (mut if_true, mut if_false) = (known.clone(), known.clone());
        match condition.primitive {
            // No NaN equals anything, or is less than something.
            Primitive::Equal | Primitive::Less => {
                if_true = known.and_numbers(&[x, y]);
                if_true.equal = (condition.primitive == Primitive::Equal).then_some([x, y]);
            }
            Primitive::Or => {
                let tested = [x, y].into_iter().filter_map(|either| self.tested_for_nan(either));
                if_false = known.and_numbers(&tested.collect::<Vec<_>>());
            }
            _ => {}
        }
        self.of_arm(on_true, &if_true, depth).max(self.of_arm(on_false, &if_false, depth))
    }

    fn of_arm(&self, value: Value, known: &Known, depth: usize) -> Nans {
        let instruction = self.builder.instruction(value);
        match instruction.primitive {
            _ if known.numbers.contains(&value) => Nans::None,
            Primitive::Select if depth > 0 => self.of(instruction, known, depth - 1),
            Primitive::Bits if self.is_one_of_equal(instruction, known) => Nans::None,
            _ => self.nans[value.index()],
        }
    }

    /// The value of which this is whether it is a NaN.
    fn tested_for_nan(&self, value: Value) -> Option<Value> {
        let not = self.builder.instruction(value);
        let equal = self.builder.instruction(not.operands[0]);
        let is_test = not.primitive == Primitive::Not && equal.primitive == Primitive::Equal;
        let [x, y, _] = equal.operands;
        (is_test && x == y).then_some(x)
    }

    /// Whether it is one of two equal numbers, or a zero if they are: all bits that both have, or either.
    fn is_one_of_equal(&self, bits: &Instruction, known: &Known) -> bool {
        let Some([x, y]) = known.equal else { return false };
        let mixed = self.builder.instruction(bits.operands[0]);
        let [first, second, _] = mixed.operands;
        matches!(mixed.primitive, Primitive::And | Primitive::Or)
            && (self.is_bits_of(first, x) && self.is_bits_of(second, y)
                || self.is_bits_of(first, y) && self.is_bits_of(second, x))
    }

    fn is_bits_of(&self, bits: Value, float: Value) -> bool {
        let instruction = self.builder.instruction(bits);
        match instruction.primitive {
            Primitive::Bits => instruction.operands[0] == float,
            Primitive::Constant(bits) => self.builder.constant_bits(float) == Some(bits),
            _ => false,
        }
    }
}
