//! Element-wise operations as ONNX operators: one node, or a few if ONNX has another form of the
//! operation; else the decomposition in `compositions.rs`, which the writer reports to the user.

use indim_graph::{Array, Node, ValueId};
use indim_model::location_of;
use indim_ops::{DType, DTypeClass, Op};

use super::model_writer::{CompactValue, ModelWriter, int_attribute, text_attribute};

/// Operations on numbers that are one operator.
const NAMES: &[(Op, &str)] = &[
    (Op::Abs, "Abs"),
    (Op::Sign, "Sign"),
    (Op::Floor, "Floor"),
    (Op::Ceil, "Ceil"),
    (Op::RoundEven, "Round"),
    (Op::IsNan, "IsNaN"),
    (Op::IsInf, "IsInf"),
    (Op::Reciprocal, "Reciprocal"),
    (Op::Sqrt, "Sqrt"),
    (Op::Exp, "Exp"),
    (Op::Log, "Log"),
    (Op::Sin, "Sin"),
    (Op::Cos, "Cos"),
    (Op::Tan, "Tan"),
    (Op::Tanh, "Tanh"),
    (Op::Asin, "Asin"),
    (Op::Acos, "Acos"),
    (Op::Atan, "Atan"),
    (Op::Sinh, "Sinh"),
    (Op::Cosh, "Cosh"),
    (Op::Asinh, "Asinh"),
    (Op::Acosh, "Acosh"),
    (Op::Atanh, "Atanh"),
    (Op::Erf, "Erf"),
    (Op::Logistic, "Sigmoid"),
    (Op::Real, "Identity"),
    (Op::Conj, "Identity"),
    (Op::Add, "Add"),
    (Op::Sub, "Sub"),
    (Op::Mul, "Mul"),
    (Op::Div, "Div"),
    (Op::Max, "Max"),
    (Op::Min, "Min"),
    (Op::Eq, "Equal"),
    (Op::Lt, "Less"),
    (Op::Le, "LessOrEqual"),
    (Op::Gt, "Greater"),
    (Op::Ge, "GreaterOrEqual"),
    (Op::Select, "Where"),
];

/// Operations on booleans that are one operator, except `Select` and `Eq`, which are in `NAMES`.
const BOOLEAN_OPERATORS: &[(Op, &str)] = &[
    (Op::Not, "Not"),
    (Op::And, "And"),
    (Op::Or, "Or"),
    (Op::Xor, "Xor"),
    (Op::Add, "Or"),
    (Op::Mul, "And"),
    (Op::Max, "Or"),
    (Op::Min, "And"),
];

/// Operations on the bits of integers that are one operator.
const BITWISE_OPERATORS: &[(Op, &str)] = &[
    (Op::Not, "BitwiseNot"),
    (Op::And, "BitwiseAnd"),
    (Op::Or, "BitwiseOr"),
    (Op::Xor, "BitwiseXor"),
];

/// Operations whose operators lack `f16` or `bf16` before opset 22 (`IsInf` before opset 20).
const WIDE_BEFORE_22: &[Op] = &[
    Op::Acos,
    Op::Acosh,
    Op::Asin,
    Op::Asinh,
    Op::Atan,
    Op::Atanh,
    Op::Cos,
    Op::Cosh,
    Op::Sin,
    Op::Sinh,
    Op::Tan,
    Op::RoundEven,
    Op::IsInf,
];

fn name_in(table: &[(Op, &'static str)], op: Op) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == op).map(|(_, name)| *name)
}

impl ModelWriter<'_> {
    /// Writes an operation on its operands.
    pub(super) fn elementwise(&mut self, value: ValueId, node: &Node, op: Op) {
        let operands: Vec<CompactValue> =
            node.operands.iter().map(|&operand| self.compact_value(operand)).collect();
        let sizes = ModelWriter::broadcast_sizes(&operands);
        let inputs: Vec<&str> = operands.iter().map(|operand| operand.name.as_str()).collect();
        // The first operand of a select is a boolean.
        let last = node.operands.last().copied();
        let dtype = last.map_or(node.array_type.dtype, |last| self.graph[last].array_type.dtype);
        let name = match self.native_operation(op, &inputs, dtype) {
            Some(name) => name,
            None => match self.composition(op, &inputs, dtype) {
                Some((name, by)) => {
                    let location = location_of(self.graph, value);
                    self.notes.composed(op.name(), by, location);
                    name
                }
                None => {
                    let location = location_of(self.graph, value);
                    self.notes.unsupported(op.name(), Some(format!("on {dtype}")), location);
                    inputs[0].to_owned()
                }
            },
        };
        self.set_value(value, name, sizes);
    }

    /// Writes an operation that ONNX has, as one node or a few; `None` if it needs a decomposition.
    pub(super) fn native_operation(
        &mut self,
        op: Op,
        inputs: &[&str],
        dtype: DType,
    ) -> Option<String> {
        if dtype == DType::Bool {
            let name = match op {
                Op::Select | Op::Eq => name_in(NAMES, op),
                _ => name_in(BOOLEAN_OPERATORS, op),
            };
            return name.map(|name| self.op(name, inputs));
        }
        if let Some(name) = name_in(BITWISE_OPERATORS, op) {
            return Some(self.op(name, inputs));
        }
        if op == Op::Div && dtype.is_integer() {
            self.notes.warning("whole numbers divided by 0 are undefined in ONNX");
        }
        let is_half = dtype.is_float() && dtype.size() == 2;
        if is_half && self.opset < 22 && WIDE_BEFORE_22.contains(&op) {
            return self.through_f32(op, inputs, dtype);
        }
        match op {
            Op::Neg if dtype.class() != DTypeClass::Unsigned => Some(self.op("Neg", inputs)),
            Op::Neg => {
                let zero = self.number(0.0, dtype);
                Some(self.op("Sub", &[&zero, inputs[0]]))
            }
            Op::Square => Some(self.op("Mul", &[inputs[0], inputs[0]])),
            Op::Ne => {
                let equal = self.op("Equal", inputs);
                Some(self.op("Not", &[&equal]))
            }
            Op::Pow => self.power(inputs, dtype),
            Op::Rem => Some(self.node("Mod", inputs, vec![int_attribute("fmod", 1)])),
            Op::PyMod if dtype.is_integer() || self.opset >= 28 => Some(self.op("Mod", inputs)),
            Op::Clamp => Some(self.clamp(inputs)),
            Op::Shl | Op::ShrLogical | Op::ShrArithmetic => self.shift(op, inputs, dtype),
            _ => name_in(NAMES, op).map(|name| self.op(name, inputs)),
        }
    }

    /// Computes 16-bit floats in 32 bits, as indim's kernels do.
    fn through_f32(&mut self, op: Op, inputs: &[&str], dtype: DType) -> Option<String> {
        let wide: Vec<String> = inputs.iter().map(|input| self.cast(input, DType::F32)).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        let computed = self.op(name_in(NAMES, op)?, &wide);
        match op.result_dtype(dtype) {
            DType::Bool => Some(computed),
            _ => Some(self.cast(&computed, dtype)),
        }
    }

    /// Writes a clamp as `Max` and `Min`, because `Clip` accepts only scalar bounds. If the bounds cross,
    /// the upper bound wins, as in all of indim.
    fn clamp(&mut self, inputs: &[&str]) -> String {
        let above = self.op("Max", &[inputs[0], inputs[1]]);
        self.op("Min", &[&above, inputs[2]])
    }

    /// Writes a power. `Pow` lacks most integer types: these are computed as `i64`, whose low bits are
    /// the same.
    fn power(&mut self, inputs: &[&str], dtype: DType) -> Option<String> {
        if dtype.is_float() || matches!(dtype, DType::I32 | DType::I64) {
            return Some(self.op("Pow", inputs));
        }
        let exponent = match dtype {
            DType::U64 => self.small_exponent(inputs[1]),
            _ => inputs[1].to_owned(),
        };
        let wide: Vec<String> =
            [inputs[0], &exponent].iter().map(|input| self.cast(input, DType::I64)).collect();
        let power = self.op("Pow", &[&wide[0], &wide[1]]);
        Some(self.cast(&power, dtype))
    }

    /// A `u64` exponent below 2^63 with the same powers: bit 63 moves to bit 62.
    ///
    /// Modulo 2^64, odd numbers to the power of 2^62 are 1, and even numbers to any power from 64 on are
    /// 0.
    fn small_exponent(&mut self, exponent: &str) -> String {
        let masks = [1, 1 << 62, u64::MAX >> 1];
        let [one, bit_62, low_bits] = masks.map(|mask| self.constant(&Array::from_scalar(mask)));
        let right = vec![text_attribute("direction", "RIGHT")];
        let halved = self.node("BitShift", &[exponent, &one], right);
        let moved = self.op("BitwiseAnd", &[&halved, &bit_62]);
        let lower = self.op("BitwiseAnd", &[exponent, &low_bits]);
        self.op("BitwiseOr", &[&lower, &moved])
    }

    /// Before opset 28 ONNX shifts only unsigned integers, by amounts below their width.
    fn shift(&mut self, op: Op, inputs: &[&str], dtype: DType) -> Option<String> {
        let is_signed = dtype.class() == DTypeClass::Signed;
        let direction = if op == Op::Shl { "LEFT" } else { "RIGHT" };
        let shifted = |model_writer: &mut Self, inputs: &[&str]| {
            model_writer.node("BitShift", inputs, vec![text_attribute("direction", direction)])
        };
        match op {
            Op::ShrArithmetic if self.opset < 28 || !is_signed => return None,
            Op::ShrLogical if is_signed => {}
            _ if self.opset >= 28 || !is_signed => {
                if self.opset < 28 {
                    self.notes
                        .warning("shifts by the width and beyond are undefined before opset 28");
                }
                return Some(shifted(self, inputs));
            }
            _ => {}
        }
        let unsigned = match dtype {
            DType::I8 => DType::U8,
            DType::I16 => DType::U16,
            DType::I32 => DType::U32,
            _ => DType::U64,
        };
        self.notes.warning(
            "signed numbers are shifted as unsigned ones: negative ones are expected to wrap",
        );
        let bits: Vec<String> = inputs.iter().map(|input| self.cast(input, unsigned)).collect();
        let moved = shifted(self, &[&bits[0], &bits[1]]);
        Some(self.cast(&moved, dtype))
    }
}
