//! The interface of rewrite rules to the body under construction.

use crate::body::{Instruction, LaneType, Primitive, Value};

/// Instructions, with appending of new ones.
pub(crate) trait Instructions {
    /// The instruction that computes a value.
    fn instruction(&self, value: Value) -> &Instruction;

    /// The value of a primitive on earlier values.
    fn push(&mut self, primitive: Primitive, lane: LaneType, operands: &[Value]) -> Value;

    /// A constant with the same bits in every lane.
    fn constant(&mut self, lane: LaneType, bits: u64) -> Value {
        self.push(Primitive::Constant(bits), lane, &[])
    }

    /// The bits of a constant value; `None` for others.
    fn constant_bits(&self, value: Value) -> Option<u64> {
        match self.instruction(value).primitive {
            Primitive::Constant(bits) => Some(bits),
            _ => None,
        }
    }
}
