//! Bodies as text, one line per value: `v3 = add.f32 v1, v2`.

use core::fmt;

use crate::body::{Body, LaneType, Primitive, SsaInstruction, SsaValue};
use crate::scalar::Word;

/// The name of the type, such as `f32`.
impl fmt::Display for LaneType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            LaneType::Bool => "bool",
            LaneType::I8 => "i8",
            LaneType::I16 => "i16",
            LaneType::I32 => "i32",
            LaneType::I64 => "i64",
            LaneType::U8 => "u8",
            LaneType::U16 => "u16",
            LaneType::U32 => "u32",
            LaneType::U64 => "u64",
            LaneType::F32 => "f32",
            LaneType::F64 => "f64",
        })
    }
}

impl fmt::Display for SsaValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}", self.0)
    }
}

impl Primitive {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Primitive::Load { .. } => "load",
            Primitive::Constant(_) => "constant",
            Primitive::Bits => "bits",
            Primitive::Select => "select",
            Primitive::Equal => "equal",
            Primitive::Less => "less",
            Primitive::LessUnsigned => "less_unsigned",
            Primitive::And => "and",
            Primitive::Or => "or",
            Primitive::Xor => "xor",
            Primitive::Not => "not",
            Primitive::Add => "add",
            Primitive::Sub => "sub",
            Primitive::Mul => "mul",
            Primitive::MulHigh => "mul_high",
            Primitive::Div => "div",
            Primitive::Rem => "rem",
            Primitive::ShiftLeft => "shift_left",
            Primitive::ShiftRightLogical => "shift_right_logical",
            Primitive::ShiftRightArithmetic => "shift_right_arithmetic",
            Primitive::LeadingZeros => "leading_zeros",
            Primitive::CountOnes => "count_ones",
            Primitive::Lookup { .. } => "lookup",
            Primitive::MulAdd => "mul_add",
            Primitive::Sqrt => "sqrt",
            Primitive::Abs => "abs",
            Primitive::Neg => "neg",
            Primitive::Floor => "floor",
            Primitive::Ceil => "ceil",
            Primitive::Trunc => "trunc",
            Primitive::RoundEven => "round_even",
            Primitive::Cast => "cast",
            Primitive::Canonical => "canonical",
            Primitive::WidenF16 => "widen_f16",
            Primitive::RoundToF16 => "round_to_f16",
            Primitive::RoundBf16 => "round_bf16",
        }
    }
}

/// The instructions, then the outputs.
///
/// ```
/// use indim_codegen::Definition;
/// use indim_ops::{DType, Op};
/// let body = Definition::Operation(Op::Add, DType::F32).body().unwrap();
/// assert_eq!(body.to_string(), "\
/// v0 = load.f32 input 0
/// v1 = load.f32 input 1
/// v2 = add.f32 v0, v1
/// v3 = canonical.f32 v2
/// output 0: f32 = v3
/// ");
/// ```
impl fmt::Display for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for index in 0..self.instructions.len() {
            writeln!(formatter, "{}", self.display_value(SsaValue(index as u32)))?;
        }
        (0..self.outputs.len())
            .try_for_each(|index| writeln!(formatter, "{}", self.display_output(index)))
    }
}

impl Body {
    /// The line of a value: `v3 = add.f32 v1, v2`.
    pub fn display_value(&self, value: SsaValue) -> impl fmt::Display {
        fmt::from_fn(move |formatter| {
            write!(formatter, "{value} = ")?;
            self.write(formatter, self.instruction(value))
        })
    }

    /// The line of an output: `output 0: f32 = v3`.
    pub fn display_output(&self, index: usize) -> impl fmt::Display {
        let (dtype, [first, second]) = self.outputs[index];
        fmt::from_fn(move |formatter| {
            write!(formatter, "output {index}: {dtype} = {first}")?;
            match LaneType::of_element(dtype) {
                (_, 1) => {}
                _ => write!(formatter, ", {second}")?,
            }
            match self.identities.get(index) {
                Some(bits) => write!(formatter, ", initially {bits:#x}"),
                None => Ok(()),
            }
        })
    }

    fn write(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        instruction: &SsaInstruction,
    ) -> fmt::Result {
        let (lane, operands) = (instruction.lane, instruction.operands());
        let name = instruction.primitive.name();
        let last = operands.last().map(|&last| self.lane(last));
        match (instruction.primitive, last) {
            (Primitive::Bits | Primitive::Cast, Some(from)) => {
                write!(formatter, "{name}.{from}.{lane}")?;
            }
            (_, from) => write!(formatter, "{name}.{}", from.unwrap_or(lane))?,
        }
        match instruction.primitive {
            Primitive::Load { input, component } => {
                write!(formatter, " input {input}")?;
                let is_complex = LaneType::of_element(self.inputs[input as usize]).1 > 1;
                formatter.write_str(if !is_complex {
                    ""
                } else if component == 0 {
                    ".re"
                } else {
                    ".im"
                })?;
            }
            Primitive::Constant(bits) => write_constant(formatter, lane, bits)?,
            Primitive::Lookup { table } => write!(formatter, " table {table},")?,
            _ => {}
        }
        for (index, operand) in operands.iter().enumerate() {
            write!(formatter, "{} {operand}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Writes the number. A float is followed by its bits, because digits do not identify a NaN.
fn write_constant(formatter: &mut fmt::Formatter<'_>, lane: LaneType, bits: u64) -> fmt::Result {
    match lane {
        LaneType::Bool => write!(formatter, " {}", bits != 0),
        LaneType::F32 => write!(formatter, " {:?} {bits:#010x}", f32::from_word(bits)),
        LaneType::F64 => write!(formatter, " {:?} {bits:#018x}", f64::from_word(bits)),
        _ if lane.is_signed() => {
            let unused = 64 - 8 * lane.size();
            write!(formatter, " {}", (bits << unused) as i64 >> unused)
        }
        _ => write!(formatter, " {bits}"),
    }
}
