//! Decompositions of operations that ONNX lacks, each with a description that the writer reports to the
//! user.

use indim_ops::{DType, Op};

use super::model_writer::ModelWriter;

/// The name of the value, and the description of its decomposition; `None` for an operation that the
/// writer cannot decompose.
type DecomposedName = Option<(String, &'static str)>;

impl ModelWriter<'_> {
    /// Decomposes an operation on operands of one type.
    pub(super) fn composition(&mut self, op: Op, inputs: &[&str], dtype: DType) -> DecomposedName {
        let x = *inputs.first()?;
        let y = inputs.get(1).copied().unwrap_or(x);
        if dtype == DType::Bool {
            return self.of_booleans(op, x, y);
        }
        if dtype.is_integer() {
            return self.of_integers(op, x, y, dtype);
        }
        if dtype.is_float() && dtype.size() == 2 {
            return self.of_halves(op, inputs, dtype);
        }
        Some(match op {
            Op::Trunc => (self.trunc(x, dtype), "Where(x < 0, Ceil(x), Floor(x))"),
            Op::RoundAway => {
                (self.round_away(x, dtype), "the truncated number and, from a half on, its sign")
            }
            Op::IsFinite => (self.is_finite(x, dtype), "Abs(x) < inf"),
            Op::Rsqrt => {
                let root = self.op("Sqrt", &[x]);
                (self.op("Reciprocal", &[&root]), "Reciprocal(Sqrt(x)), rounded twice")
            }
            Op::Exp2 => {
                let two = self.number(2.0, dtype);
                (self.op("Pow", &[&two, x]), "Pow(2, x)")
            }
            Op::Log2 => {
                (self.logarithm(x, core::f64::consts::LN_2, dtype), "Log(x) / ln 2, rounded twice")
            }
            Op::Log10 => (
                self.logarithm(x, core::f64::consts::LN_10, dtype),
                "Log(x) / ln 10, rounded twice",
            ),
            Op::Expm1 => (self.expm1(x, dtype), "Exp(x) - 1, by Tanh near 0"),
            Op::Log1p => (self.log1p(x, dtype), "Log(1 + x), corrected near 0"),
            Op::Cbrt => (self.cube_root(x, dtype), "Sign(x) * Pow(Abs(x), 1/3)"),
            Op::Erfc => {
                let (one, erf) = (self.number(1.0, dtype), self.op("Erf", &[x]));
                (self.op("Sub", &[&one, &erf]), "1 - Erf(x), which cancels where x is large")
            }
            Op::FloorDiv => (self.floor_divide(x, y, dtype), "(x - Mod(x, y)) / y, less 1 below"),
            Op::PyMod => (self.floor_remainder(x, y, dtype), "Mod with fmod = 1, moved by y"),
            Op::Hypot => (self.hypot(x, y, dtype), "the larger times Sqrt(1 + quotient^2)"),
            Op::Copysign => (self.copy_sign(x, y, dtype), "Where(y or 1/y < 0, -Abs(x), Abs(x))"),
            Op::Atan2 => (self.angle(x, y, dtype), "Atan of the quotient, in its quadrant"),
            Op::Logaddexp => (self.log_add_exp(x, y, dtype), "Max(x, y) + Softplus(-Abs(x - y))"),
            Op::Fmax => (self.extreme("Max", x, y), "Max, past NaNs"),
            Op::Fmin => (self.extreme("Min", x, y), "Min, past NaNs"),
            Op::Prelu => (self.prelu(x, y, dtype), "Where(x < 0, x * y, x)"),
            Op::SquaredDifference => (self.squared_difference(x, y), "the square of Sub(x, y)"),
            Op::Fma => {
                let product = self.op("Mul", &[x, y]);
                (self.op("Add", &[&product, inputs.get(2)?]), "Add(Mul(x, y), z), rounded twice")
            }
            _ => return None,
        })
    }

    fn of_booleans(&mut self, op: Op, x: &str, y: &str) -> DecomposedName {
        let [operator, negated, other] = match op {
            Op::Ne => return Some((self.op("Xor", &[x, y]), "Xor")),
            Op::Lt => ["And", x, y],
            Op::Le => ["Or", x, y],
            Op::Gt => ["And", y, x],
            Op::Ge => ["Or", y, x],
            _ => return None,
        };
        let negated = self.op("Not", &[negated]);
        Some((self.op(operator, &[&negated, other]), "And or Or, and Not"))
    }

    /// 16-bit floats are computed in 32 bits, as in indim's kernels.
    fn of_halves(&mut self, op: Op, inputs: &[&str], dtype: DType) -> DecomposedName {
        let wide: Vec<String> = inputs.iter().map(|input| self.cast(input, DType::F32)).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        let (computed, by) = self.composition(op, &wide, DType::F32)?;
        Some(match op.result_dtype(dtype) {
            DType::Bool => (computed, by),
            _ => (self.cast(&computed, dtype), by),
        })
    }

    fn of_integers(&mut self, op: Op, x: &str, y: &str, dtype: DType) -> DecomposedName {
        Some(match op {
            Op::FloorDiv => {
                let rest = self.op("Mod", &[x, y]);
                let multiple = self.op("Sub", &[x, &rest]);
                (self.op("Div", &[&multiple, y]), "Div(x - Mod(x, y), y)")
            }
            Op::SquaredDifference => (self.squared_difference(x, y), "the square of Sub(x, y)"),
            Op::Prelu => (self.prelu(x, y, dtype), "Where(x < 0, x * y, x)"),
            _ => return None,
        })
    }

    fn trunc(&mut self, x: &str, dtype: DType) -> String {
        let zero = self.number(0.0, dtype);
        let is_below = self.op("Less", &[x, &zero]);
        let (up, down) = (self.op("Ceil", &[x]), self.op("Floor", &[x]));
        self.op("Where", &[&is_below, &up, &down])
    }

    fn round_away(&mut self, x: &str, dtype: DType) -> String {
        let whole = self.trunc(x, dtype);
        let fraction = self.op("Sub", &[x, &whole]);
        let fraction = self.op("Abs", &[&fraction]);
        let half = self.number(0.5, dtype);
        let is_further = self.op("GreaterOrEqual", &[&fraction, &half]);
        let sign = self.op("Sign", &[x]);
        let further = self.op("Add", &[&whole, &sign]);
        self.op("Where", &[&is_further, &further, &whole])
    }

    fn is_finite(&mut self, x: &str, dtype: DType) -> String {
        let infinity = self.number(f64::INFINITY, dtype);
        let size = self.op("Abs", &[x]);
        self.op("Less", &[&size, &infinity])
    }

    /// `Log(x) / of_base`; `of_base` is the natural logarithm of the base.
    fn logarithm(&mut self, x: &str, of_base: f64, dtype: DType) -> String {
        let (log, base) = (self.op("Log", &[x]), self.number(of_base, dtype));
        self.op("Div", &[&log, &base])
    }

    /// `exp(x) - 1`; below a magnitude of 0.5 it is `2 t / (1 - t)` with `t = tanh(x / 2)`, which does
    /// not cancel.
    fn expm1(&mut self, x: &str, dtype: DType) -> String {
        let [half, one] = [0.5, 1.0].map(|number| self.number(number, dtype));
        let halved = self.op("Mul", &[x, &half]);
        let t = self.op("Tanh", &[&halved]);
        let twice = self.op("Add", &[&t, &t]);
        let rest = self.op("Sub", &[&one, &t]);
        let near_zero = self.op("Div", &[&twice, &rest]);
        let exponential = self.op("Exp", &[x]);
        let far_from_zero = self.op("Sub", &[&exponential, &one]);
        let size = self.op("Abs", &[x]);
        let is_near = self.op("Less", &[&size, &half]);
        self.op("Where", &[&is_near, &near_zero, &far_from_zero])
    }

    /// `log(u) * x / (u - 1)` with rounded `u = 1 + x`; `x` if `u` is 1, and `log(u)` if `x` is above 1.
    fn log1p(&mut self, x: &str, dtype: DType) -> String {
        let one = self.number(1.0, dtype);
        let u = self.op("Add", &[x, &one]);
        let log = self.op("Log", &[&u]);
        let distance = self.op("Sub", &[&u, &one]);
        let correction = self.op("Div", &[x, &distance]);
        let corrected = self.op("Mul", &[&log, &correction]);
        let is_one = self.op("Equal", &[&u, &one]);
        let near_zero = self.op("Where", &[&is_one, x, &corrected]);
        let is_large = self.op("Greater", &[x, &one]);
        self.op("Where", &[&is_large, &log, &near_zero])
    }

    fn cube_root(&mut self, x: &str, dtype: DType) -> String {
        let third = self.number(1.0 / 3.0, dtype);
        let (size, sign) = (self.op("Abs", &[x]), self.op("Sign", &[x]));
        let root = self.op("Pow", &[&size, &third]);
        self.op("Mul", &[&sign, &root])
    }

    /// The remainder with the sign of `x`, and whether the signs of the remainder and of `y` differ.
    fn remainder(&mut self, x: &str, y: &str, dtype: DType) -> [String; 2] {
        let zero = self.number(0.0, dtype);
        let rest = self.node("Mod", &[x, y], vec![super::model_writer::int_attribute("fmod", 1)]);
        let [below, above] = ["Less", "Greater"].map(|order| self.op(order, &[&rest, &zero]));
        let [below_y, above_y] = ["Less", "Greater"].map(|order| self.op(order, &[y, &zero]));
        let (first, second) =
            (self.op("And", &[&below, &above_y]), self.op("And", &[&above, &below_y]));
        let differ = self.op("Or", &[&first, &second]);
        [rest, differ]
    }

    fn floor_remainder(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let [rest, differ] = self.remainder(x, y, dtype);
        let moved = self.op("Add", &[&rest, y]);
        self.op("Where", &[&differ, &moved, &rest])
    }

    /// `floor(x / y)`, computed as `(x - remainder) / y`, less 1 if the signs of the remainder and of
    /// `y` differ. The exact result is an integer, so the computed one is rounded to an integer. If `y`
    /// is 0, the result is `x / y`.
    fn floor_divide(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let [zero, one] = [0.0, 1.0].map(|number| self.number(number, dtype));
        let [rest, differ] = self.remainder(x, y, dtype);
        let multiple = self.op("Sub", &[x, &rest]);
        let quotient = self.op("Div", &[&multiple, y]);
        let less = self.op("Sub", &[&quotient, &one]);
        let quotient = self.op("Where", &[&differ, &less, &quotient]);
        let whole = match self.native_operation(Op::RoundEven, &[&quotient], dtype) {
            Some(whole) => whole,
            None => quotient,
        };
        let by_zero = self.op("Equal", &[y, &zero]);
        let infinite = self.op("Div", &[x, y]);
        self.op("Where", &[&by_zero, &infinite, &whole])
    }

    fn hypot(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let [zero, one, infinity] =
            [0.0, 1.0, f64::INFINITY].map(|number| self.number(number, dtype));
        let (x, y) = (self.op("Abs", &[x]), self.op("Abs", &[y]));
        let (large, small) = (self.op("Max", &[&x, &y]), self.op("Min", &[&x, &y]));
        let quotient = self.op("Div", &[&small, &large]);
        let square = self.op("Mul", &[&quotient, &quotient]);
        let sum = self.op("Add", &[&square, &one]);
        let root = self.op("Sqrt", &[&sum]);
        let scaled = self.op("Mul", &[&large, &root]);
        let is_zero = self.op("Equal", &[&large, &zero]);
        let finite = self.op("Where", &[&is_zero, &zero, &scaled]);
        let (first, second) =
            (self.op("Equal", &[&x, &infinity]), self.op("Equal", &[&y, &infinity]));
        let is_infinite = self.op("Or", &[&first, &second]);
        self.op("Where", &[&is_infinite, &infinity, &finite])
    }

    /// Whether the sign bit of a number is set; for 0 the sign of the reciprocal decides.
    fn is_signed(&mut self, x: &str, dtype: DType) -> String {
        let zero = self.number(0.0, dtype);
        let inverse = self.op("Reciprocal", &[x]);
        let [below, inverse_below] = [x, &inverse].map(|number| self.op("Less", &[number, &zero]));
        self.op("Or", &[&below, &inverse_below])
    }

    fn copy_sign(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let is_negative = self.is_signed(y, dtype);
        let size = self.op("Abs", &[x]);
        let negative = self.op("Neg", &[&size]);
        self.op("Where", &[&is_negative, &negative, &size])
    }

    /// `atan2(x, y)`: the angle of the point with ordinate `x` and abscissa `y`. It is computed in the
    /// first quadrant, then moved to the quadrant of the point. The quotient of two zeros counts as 0,
    /// that of two infinities as 1.
    fn angle(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let [zero, one, infinity, half_turn] = [0.0, 1.0, f64::INFINITY, core::f64::consts::PI]
            .map(|number| self.number(number, dtype));
        let [ordinate, abscissa] = [x, y].map(|part| self.op("Abs", &[part]));
        let mut quotient = self.op("Div", &[&ordinate, &abscissa]);
        for (both, instead) in [(&zero, &zero), (&infinity, &one)] {
            let [first, second] =
                [&ordinate, &abscissa].map(|part| self.op("Equal", &[part, both]));
            let are_both = self.op("And", &[&first, &second]);
            quotient = self.op("Where", &[&are_both, instead, &quotient]);
        }
        let near_zero = self.op("Atan", &[&quotient]);
        let far_from_zero = self.op("Sub", &[&half_turn, &near_zero]);
        let is_behind = self.is_signed(y, dtype);
        let angle = self.op("Where", &[&is_behind, &far_from_zero, &near_zero]);
        self.copy_sign(&angle, x, dtype)
    }

    /// `log(exp(x) + exp(y))`. The difference of equal infinities is taken as 0, which gives `x + ln 2`.
    fn log_add_exp(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let largest = self.op("Max", &[x, y]);
        let difference = self.op("Sub", &[x, y]);
        let distance = self.op("Abs", &[&difference]);
        let distance = self.op("Neg", &[&distance]);
        let rest = self.op("Softplus", &[&distance]);
        let ln_2 = self.number(core::f64::consts::LN_2, dtype);
        let is_equal = self.op("Equal", &[x, y]);
        let rest = self.op("Where", &[&is_equal, &ln_2, &rest]);
        self.op("Add", &[&largest, &rest])
    }

    /// The maximum or minimum; if one operand is a NaN, the other operand.
    fn extreme(&mut self, operator: &str, x: &str, y: &str) -> String {
        let (first, second) = (self.op("IsNaN", &[x]), self.op("IsNaN", &[y]));
        let extreme = self.op(operator, &[x, y]);
        let past_second = self.op("Where", &[&second, x, &extreme]);
        self.op("Where", &[&first, y, &past_second])
    }

    fn prelu(&mut self, x: &str, y: &str, dtype: DType) -> String {
        let zero = self.number(0.0, dtype);
        let is_below = self.op("Less", &[x, &zero]);
        let below = self.op("Mul", &[x, y]);
        self.op("Where", &[&is_below, &below, x])
    }

    fn squared_difference(&mut self, x: &str, y: &str) -> String {
        let difference = self.op("Sub", &[x, y]);
        self.op("Mul", &[&difference, &difference])
    }
}
