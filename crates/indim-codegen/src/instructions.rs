//! The instructions of a body that grows, as the rules see them that make it simpler.

use crate::body::{Instruction, LaneType, Primitive, Value};

/// Instructions, and how there come to be more of them.
pub(crate) trait Instructions {
    /// The instruction that computes a value.
    fn instruction(&self, value: Value) -> &Instruction;

    /// The value that a primitive gives for earlier values.
    fn push(&mut self, primitive: Primitive, lane: LaneType, operands: &[Value]) -> Value;

    /// The same bits in every lane.
    fn constant(&mut self, lane: LaneType, bits: u64) -> Value {
        self.push(Primitive::Constant(bits), lane, &[])
    }

    /// The bits of a value that is a constant.
    fn constant_bits(&self, value: Value) -> Option<u64> {
        match self.instruction(value).primitive {
            Primitive::Constant(bits) => Some(bits),
            _ => None,
        }
    }
}
