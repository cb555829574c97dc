//! The interface of rewrite rules to the body under construction.

use crate::body::{LaneType, Primitive, SsaInstruction, SsaValue};

/// A body under construction: reads and appends instructions.
pub(crate) trait Rewriter {
    /// The instruction that computes a value.
    fn instruction(&self, value: SsaValue) -> &SsaInstruction;

    /// The value of a primitive on earlier values; see [`BodyBuilder::push`](crate::BodyBuilder::push).
    fn push(&mut self, primitive: Primitive, lane: LaneType, operands: &[SsaValue]) -> SsaValue;

    /// A constant with these bits.
    fn constant(&mut self, lane: LaneType, bits: u64) -> SsaValue {
        self.push(Primitive::Constant(bits), lane, &[])
    }

    /// The bits of a constant; `None` for other values.
    fn constant_bits(&self, value: SsaValue) -> Option<u64> {
        match self.instruction(value).primitive {
            Primitive::Constant(bits) => Some(bits),
            _ => None,
        }
    }
}
