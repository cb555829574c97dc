//! A body run at one point, on scalars: what machine code must give.

use indim_ops::DType;

use crate::body::{Body, LaneType, Primitive, Value};
use crate::scalar::evaluate;

impl Primitive {
    /// Whether it is arithmetic: if its result is a NaN, sign and payload are whatever the processor makes;
    /// of
    /// [`Primitive::WidenF16`], which is none, the payload is.
    pub fn makes_nans(self) -> bool {
        use Primitive::*;
        matches!(
            self,
            Add | Sub | Mul | Div | Rem | MulAdd | Sqrt | Floor | Ceil | Trunc | RoundEven | Cast
        )
    }
}

impl Body {
    /// The outputs for elements of the inputs, all as the words of their lanes; what is beyond the lanes of
    /// an element is not read, and 0 in the result. Any word but 0 is a true one.
    ///
    /// # Panics
    /// Where the body does not verify, or there are not as many elements as inputs.
    pub fn interpret(&self, inputs: &[[u64; 2]]) -> Vec<[u64; 2]> {
        self.interpret_with_nans(inputs, &mut |_, nan| nan)
    }

    /// As [`Body::interpret`], with the NaNs of some processor: `made` is given the type and the
    /// bits of each NaN that arithmetic makes, and says which NaN it is.
    ///
    /// # Panics
    /// As [`Body::interpret`].
    pub fn interpret_with_nans(
        &self,
        inputs: &[[u64; 2]],
        made: &mut dyn FnMut(LaneType, u64) -> u64,
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
                Primitive::Load { input, part } => {
                    read(lane, inputs[input as usize][usize::from(part)])
                }
                Primitive::Lookup { table } => {
                    evaluate(primitive, operand, lane, operands, &self.tables[table as usize])
                }
                _ => evaluate(primitive, operand, lane, operands, &[]),
            };
            values.push(match primitive {
                _ if !is_nan(lane, value) => value,
                Primitive::WidenF16 => made(lane, value) & !SIGN_F32 | value & SIGN_F32,
                _ if primitive.makes_nans() => made(lane, value),
                _ => value,
            });
        }
        let lanes =
            |&(dtype, [first, second]): &(DType, [Value; 2])| match LaneType::of_element(dtype) {
                (_, 1) => [values[first.index()], 0],
                _ => [values[first.index()], values[second.index()]],
            };
        self.outputs.iter().map(lanes).collect()
    }
}

/// The sign bit of an `f32`.
const SIGN_F32: u64 = 1 << 31;

fn read(lane: LaneType, word: u64) -> u64 {
    match lane {
        LaneType::Bool => (word != 0).into(),
        _ => word & u64::MAX >> (64 - 8 * lane.size()),
    }
}

/// Whether these are the bits of a NaN.
pub(crate) fn is_nan(lane: LaneType, word: u64) -> bool {
    match lane {
        LaneType::F32 => f32::from_bits(word as u32).is_nan(),
        LaneType::F64 => f64::from_bits(word).is_nan(),
        _ => false,
    }
}
