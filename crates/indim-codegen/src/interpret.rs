//! Interprets a body on the scalars of one point: the reference for machine code.

use indim_ops::DType;

use crate::body::{Body, LaneType, Primitive, SsaValue};
use crate::scalar::evaluate;

impl Primitive {
    /// Whether the primitive is arithmetic: the processor chooses sign and payload of a NaN result. For
    /// [`Primitive::WidenF16`], which is not arithmetic, the processor chooses only the payload.
    pub fn can_create_nan(self) -> bool {
        use Primitive::*;
        matches!(
            self,
            Add | Sub | Mul | Div | Rem | MulAdd | Sqrt | Floor | Ceil | Trunc | RoundEven | Cast
        )
    }
}

impl Body {
    /// Computes the outputs. An element is given by the words of its two lanes; the second is ignored in
    /// inputs and 0 in outputs unless the element is complex. In a boolean input, any nonzero word is
    /// true.
    ///
    /// # Panics
    /// If the body is invalid, or the number of elements is not that of the inputs.
    pub fn interpret(&self, inputs: &[[u64; 2]]) -> Vec<[u64; 2]> {
        self.interpret_with_nans(inputs, &mut |_, nan| nan)
    }

    /// Like [`Body::interpret`], with the NaNs of a processor: `choose_nan` receives the type and bits of
    /// each NaN result of arithmetic, and returns the bits that the processor would give.
    ///
    /// # Panics
    /// Like [`Body::interpret`].
    pub fn interpret_with_nans(
        &self,
        inputs: &[[u64; 2]],
        choose_nan: &mut dyn FnMut(LaneType, u64) -> u64,
    ) -> Vec<[u64; 2]> {
        let mut values: Vec<u64> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let mut operands = [0; 3];
            for (word, operand) in operands.iter_mut().zip(instruction.operands()) {
                *word = values[operand.index()];
            }
            let last = instruction.operands().last();
            let operand = last.map_or(instruction.lane, |&last| self.lane(last));
            let (primitive, lane) = (instruction.primitive, instruction.lane);
            let value = match primitive {
                Primitive::Load { input, component } => {
                    read(lane, inputs[input as usize][usize::from(component)])
                }
                Primitive::Lookup { table } => {
                    evaluate(primitive, operand, lane, operands, &self.tables[table as usize])
                }
                _ => evaluate(primitive, operand, lane, operands, &[]),
            };
            values.push(match primitive {
                _ if !is_nan(lane, value) => value,
                Primitive::WidenF16 => choose_nan(lane, value) & !SIGN_F32 | value & SIGN_F32,
                _ if primitive.can_create_nan() => choose_nan(lane, value),
                _ => value,
            });
        }
        let lanes = |&(dtype, [first, second]): &(DType, [SsaValue; 2])| match LaneType::of_element(
            dtype,
        ) {
            (_, 1) => [values[first.index()], 0],
            _ => [values[first.index()], values[second.index()]],
        };
        self.outputs.iter().map(lanes).collect()
    }
}

/// The sign bit of an `f32`.
const SIGN_F32: u64 = 1 << 31;

/// The value of a loaded lane: 0 or 1 for a boolean, else the word truncated to the type.
fn read(lane: LaneType, word: u64) -> u64 {
    match lane {
        LaneType::Bool => (word != 0).into(),
        _ => word & u64::MAX >> (64 - 8 * lane.size()),
    }
}

/// Whether a word holds a NaN.
pub(crate) fn is_nan(lane: LaneType, word: u64) -> bool {
    match lane {
        LaneType::F32 => f32::from_bits(word as u32).is_nan(),
        LaneType::F64 => f64::from_bits(word).is_nan(),
        _ => false,
    }
}
