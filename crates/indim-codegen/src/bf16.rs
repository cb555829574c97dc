//! Detection of `bf16` values held in 32 bits, and lowering of their rounding.
//!
//! Between two operations on `bf16`, a result is rounded, narrowed to 16 bits and widened again. Widening
//! gives the rounded `f32` back, so the narrowing is not needed. A value with a zero low half is a `bf16`
//! already and needs no rounding.

use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::builder::BodyBuilder;
use crate::rewriter::Rewriter;

/// Number of low bits that are 0 in a `bf16` value held in 32 bits.
pub(crate) const ZERO_BITS: u32 = 16;

/// Mask of the upper half of 32 bits.
const UPPER_HALF: u64 = 0xffff_0000;

/// Bits of the canonical NaN of `f32`.
const NAN: u64 = 0x7fc0_0000;

/// Maximum depth of the search through operands.
const MAX_DEPTH: usize = 6;

/// Whether the low half of a 32-bit value is known to be 0. Such a float is a `bf16` value.
pub(crate) fn has_zero_low_half(builder: &impl Rewriter, value: SsaValue) -> bool {
    is_upper_half(builder, value, MAX_DEPTH)
}

/// Like [`has_zero_low_half`]; follows operands to this depth.
fn is_upper_half(builder: &impl Rewriter, value: SsaValue, depth: usize) -> bool {
    let instruction = builder.instruction(value);
    let is_operand_upper = |position: usize| {
        depth > 0 && is_upper_half(builder, instruction.operands[position], depth - 1)
    };
    match instruction.primitive {
        Primitive::Constant(bits) => bits & !UPPER_HALF == 0,
        Primitive::RoundBf16 => true,
        Primitive::ShiftLeft => builder
            .constant_bits(instruction.operands[1])
            .is_some_and(|amount| amount & 31 >= ZERO_BITS.into()),
        Primitive::Bits | Primitive::Neg | Primitive::Abs | Primitive::Canonical => {
            is_operand_upper(0)
        }
        Primitive::And => is_operand_upper(0) || is_operand_upper(1),
        Primitive::Or => is_operand_upper(0) && is_operand_upper(1),
        Primitive::Select => is_operand_upper(1) && is_operand_upper(2),
        _ => false,
    }
}

/// Rounds an `f32` to `bf16`; returns the bits as a 16-bit integer.
pub(crate) fn push_bf16_bits(builder: &mut BodyBuilder, x: SsaValue) -> SsaValue {
    let int = LaneType::I32;
    let rounded = builder.push(Primitive::RoundBf16, LaneType::F32, &[x]);
    let bits = builder.push(Primitive::Bits, int, &[rounded]);
    let amount = builder.constant(int, ZERO_BITS.into());
    let upper = builder.push(Primitive::ShiftRightLogical, int, &[bits, amount]);
    builder.push(Primitive::Cast, LaneType::I16, &[upper])
}

impl Body {
    /// Lowers [`Primitive::RoundBf16`] to integer arithmetic.
    pub(crate) fn with_lowered_rounding(self) -> Body {
        if self.instructions.iter().all(|instruction| instruction.primitive != Primitive::RoundBf16)
        {
            return self;
        }
        let mut builder = BodyBuilder::new(self.inputs.clone());
        let mut values = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let operands = instruction.operands().iter().map(|operand| values[operand.index()]);
            let operands: Vec<SsaValue> = operands.collect();
            values.push(match instruction.primitive {
                Primitive::RoundBf16 => lower_rounding(&mut builder, operands[0]),
                _ => builder.push_from(&self, instruction, &operands),
            });
        }
        for (dtype, lanes) in &self.outputs {
            let count = LaneType::of_element(*dtype).1;
            let lanes: Vec<SsaValue> = lanes[..count].iter().map(|it| values[it.index()]).collect();
            builder.output(*dtype, lanes);
        }
        Body { identities: self.identities, ..builder.finish() }
    }
}

/// Rounds to the nearest `bf16` value, half to even: adds 0x7fff, plus the last bit of the upper half, and
/// clears the low half. A NaN becomes canonical.
fn lower_rounding(builder: &mut BodyBuilder, x: SsaValue) -> SsaValue {
    let int = LaneType::I32;
    let [amount, one, below_half, upper] =
        [ZERO_BITS.into(), 1, 0x7fff, UPPER_HALF].map(|bits| builder.constant(int, bits));
    let bits = builder.push(Primitive::Bits, int, &[x]);
    let last = builder.push(Primitive::ShiftRightLogical, int, &[bits, amount]);
    let is_odd = builder.push(Primitive::And, int, &[last, one]);
    let added = builder.push(Primitive::Add, int, &[is_odd, below_half]);
    let sum = builder.push(Primitive::Add, int, &[bits, added]);
    let rounded = builder.push(Primitive::And, int, &[sum, upper]);
    let rounded = builder.push(Primitive::Bits, LaneType::F32, &[rounded]);
    let is_number = builder.push(Primitive::Equal, LaneType::Bool, &[x, x]);
    let nan = builder.constant(LaneType::F32, NAN);
    builder.push(Primitive::Select, LaneType::F32, &[is_number, rounded, nan])
}
