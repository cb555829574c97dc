//! The verifier of bodies.

use core::fmt;

use crate::body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
use crate::scalar::accepts;

/// A violated invariant of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// An instruction uses a value that is not computed before it.
    UseBeforeDefinition(SsaValue),
    /// The primitive is undefined for these operand and result types.
    Types(SsaValue),
    /// A load from an undeclared input, of a missing lane, or of the wrong type.
    Input(SsaValue),
    /// The bits of a constant do not fit its type.
    Constant(SsaValue),
    /// A lookup in an undeclared table, or in one whose length is not a power of two.
    Table(SsaValue),
    /// An output has no value of its lane type; or an output that is an accumulator is complex or has no
    /// input of its type.
    Output(usize),
}

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::UseBeforeDefinition(value) => {
                write!(formatter, "{value} uses a value that is not computed before it")
            }
            BodyError::Types(value) => {
                write!(formatter, "{value} applies a primitive to types for which it is undefined")
            }
            BodyError::Input(value) => {
                write!(formatter, "{value} loads a lane that no input has, or as another type")
            }
            BodyError::Constant(value) => {
                write!(formatter, "{value} has more bits than its type")
            }
            BodyError::Table(value) => {
                write!(
                    formatter,
                    "{value} looks up a table that is missing or whose length is not a power of two"
                )
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
    /// Checks that operands precede their uses, that all types match, that inputs and tables exist, and
    /// that constants fit their types.
    ///
    /// # Errors
    /// The violated invariant of the first invalid instruction or output.
    pub fn verify(&self) -> Result<(), BodyError> {
        for (index, instruction) in self.instructions.iter().enumerate() {
            self.verify_instruction(SsaValue(index as u32), instruction)?;
        }
        for (index, (dtype, lanes)) in self.outputs.iter().enumerate() {
            let (lane, count) = LaneType::of_element(*dtype);
            let is_lane = |value: &SsaValue| {
                self.instructions.get(value.index()).is_some_and(|found| found.lane == lane)
            };
            if !lanes[..count].iter().all(is_lane) || !self.is_result_or_accumulator(index) {
                return Err(BodyError::Output(index));
            }
        }
        Ok(())
    }

    /// Whether an output is a result, or a single-lane accumulator whose previous value is an input.
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

    fn verify_instruction(
        &self,
        value: SsaValue,
        instruction: &SsaInstruction,
    ) -> Result<(), BodyError> {
        if instruction.operands().iter().any(|operand| *operand >= value) {
            return Err(BodyError::UseBeforeDefinition(value));
        }
        let fits = |holds: bool, error: BodyError| if holds { Ok(()) } else { Err(error) };
        match instruction.primitive {
            Primitive::Load { input, component } => {
                let element = self.inputs.get(input as usize).copied().map(LaneType::of_element);
                let is_lane =
                    |(lane, count)| lane == instruction.lane && usize::from(component) < count;
                fits(element.is_some_and(is_lane), BodyError::Input(value))
            }
            Primitive::Constant(bits) => {
                let size = 8 * instruction.lane.size() as u32;
                let width = if instruction.lane == LaneType::Bool { 1 } else { size };
                fits(u64::BITS - bits.leading_zeros() <= width, BodyError::Constant(value))
            }
            primitive => {
                if let Primitive::Lookup { table } = primitive {
                    let table = self.tables.get(table as usize);
                    let is_table = table.is_some_and(|table| table.len().is_power_of_two());
                    fits(is_table, BodyError::Table(value))?;
                }
                let operands = instruction.operands().iter().map(|&operand| self.lane(operand));
                let operands: Vec<LaneType> = operands.collect();
                fits(accepts(primitive, &operands, instruction.lane), BodyError::Types(value))
            }
        }
    }
}
