//! The verifier of bodies.

use core::fmt;

use crate::body::{Body, Instruction, LaneType, Primitive, Value};
use crate::scalar::takes;

/// A violated invariant of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// An operand is not computed earlier.
    NotEarlier(Value),
    /// The primitive is undefined for these operand and result types.
    Types(Value),
    /// A load from an undeclared input, of a missing part, or of the wrong type.
    Input(Value),
    /// The bits of a constant do not fit its type.
    Constant(Value),
    /// A lookup in an undeclared table, or in one whose length is not a power of two.
    Table(Value),
    /// An output is no value, or not of the type of its element's lanes; an accumulator has more than one, or
    /// no input of its type.
    Output(usize),
}

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::NotEarlier(value) => {
                write!(formatter, "{value} takes a value that is not computed before it")
            }
            BodyError::Types(value) => {
                write!(formatter, "{value} applies a primitive to types that it is not for")
            }
            BodyError::Input(value) => {
                write!(formatter, "{value} reads no lane of an input, or as another type")
            }
            BodyError::Constant(value) => {
                write!(formatter, "{value} has more bits than its type")
            }
            BodyError::Table(value) => {
                write!(formatter, "{value} looks up a table that is missing or of odd length")
            }
            BodyError::Output(output) => {
                write!(
                    formatter,
                    "output {output} has no value of its type, or no input to fold into"
                )
            }
        }
    }
}

impl core::error::Error for BodyError {}

impl Body {
    /// Checks that operands precede their uses, and that all types match.
    ///
    /// # Errors
    /// The first instruction or output that violates an invariant.
    pub fn verify(&self) -> Result<(), BodyError> {
        for (index, instruction) in self.instructions.iter().enumerate() {
            self.verify_instruction(Value(index as u32), instruction)?;
        }
        for (index, (dtype, lanes)) in self.outputs.iter().enumerate() {
            let (lane, count) = LaneType::of_element(*dtype);
            let is_lane = |value: &Value| {
                self.instructions.get(value.index()).is_some_and(|found| found.lane == lane)
            };
            if !lanes[..count].iter().all(is_lane) || !self.is_result_or_accumulator(index) {
                return Err(BodyError::Output(index));
            }
        }
        Ok(())
    }

    /// Whether an output is no accumulator, or one of a single lane that is also an input.
    fn is_result_or_accumulator(&self, output: usize) -> bool {
        let Some(operands) = self.inputs.len().checked_sub(self.identities.len()) else {
            return false;
        };
        let (dtype, _) = self.outputs[output];
        !self.folds()
            || self.identities.len() == self.outputs.len()
                && self.inputs[operands + output] == dtype
                && LaneType::of_element(dtype).1 == 1
    }

    fn verify_instruction(&self, value: Value, given: &Instruction) -> Result<(), BodyError> {
        if given.operands().iter().any(|operand| *operand >= value) {
            return Err(BodyError::NotEarlier(value));
        }
        let fits = |holds: bool, error: BodyError| if holds { Ok(()) } else { Err(error) };
        match given.primitive {
            Primitive::Load { input, part } => {
                let element = self.inputs.get(input as usize).copied().map(LaneType::of_element);
                let is_lane = |(lane, count)| lane == given.lane && usize::from(part) < count;
                fits(element.is_some_and(is_lane), BodyError::Input(value))
            }
            Primitive::Constant(bits) => {
                let size = 8 * given.lane.size() as u32;
                let width = if given.lane == LaneType::Bool { 1 } else { size };
                fits(u64::BITS - bits.leading_zeros() <= width, BodyError::Constant(value))
            }
            primitive => {
                if let Primitive::Lookup { table } = primitive {
                    let table = self.tables.get(table as usize);
                    let is_table = table.is_some_and(|table| table.len().is_power_of_two());
                    fits(is_table, BodyError::Table(value))?;
                }
                let operands = given.operands().iter().map(|&operand| self.lane(operand));
                let operands: Vec<LaneType> = operands.collect();
                fits(takes(primitive, &operands, given.lane), BodyError::Types(value))
            }
        }
    }
}
