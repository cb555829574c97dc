//! THE table of XLA's element-wise operations, by the names of StableHLO and chlo, which HLO writes with
//! dashes.

use indim_ops::{DType, DTypeClass, Op};

use crate::error::FormatErrorKind;

/// The operation that XLA calls so.
pub(crate) fn elementwise(name: &str) -> Option<Op> {
    Some(match name {
        "abs" => Op::Abs,
        "acos" => Op::Acos,
        "acosh" => Op::Acosh,
        "add" => Op::Add,
        "and" => Op::And,
        "asin" => Op::Asin,
        "asinh" => Op::Asinh,
        "atan" => Op::Atan,
        "atan2" => Op::Atan2,
        "atanh" => Op::Atanh,
        "cbrt" => Op::Cbrt,
        "ceil" => Op::Ceil,
        "clamp" => Op::Clamp,
        "complex" => Op::Complex,
        "conj" => Op::Conj,
        "cosh" => Op::Cosh,
        "cosine" => Op::Cos,
        "count_leading_zeros" => Op::Clz,
        "divide" => Op::Div,
        "erf" => Op::Erf,
        "erfc" => Op::Erfc,
        "exponential" => Op::Exp,
        "exponential_minus_one" => Op::Expm1,
        "floor" => Op::Floor,
        "imag" => Op::Imag,
        "is_finite" => Op::IsFinite,
        "is_inf" => Op::IsInf,
        "log" => Op::Log,
        "log_plus_one" => Op::Log1p,
        "logistic" => Op::Logistic,
        "maximum" => Op::Max,
        "minimum" => Op::Min,
        "mulhi" => Op::Mulhi,
        "multiply" => Op::Mul,
        "negate" => Op::Neg,
        "next_after" => Op::Nextafter,
        "not" => Op::Not,
        "or" => Op::Or,
        "popcnt" => Op::Popcnt,
        "power" => Op::Pow,
        "real" => Op::Real,
        "remainder" => Op::Rem,
        "round_nearest_afz" => Op::RoundAway,
        "round_nearest_even" => Op::RoundEven,
        "rsqrt" => Op::Rsqrt,
        "select" => Op::Select,
        "shift_left" => Op::Shl,
        "shift_right_arithmetic" => Op::ShrArithmetic,
        "shift_right_logical" => Op::ShrLogical,
        "sign" => Op::Sign,
        "sine" => Op::Sin,
        "sinh" => Op::Sinh,
        "sqrt" => Op::Sqrt,
        "square" => Op::Square,
        "subtract" => Op::Sub,
        "tan" => Op::Tan,
        "tanh" => Op::Tanh,
        "xor" => Op::Xor,
        _ => return None,
    })
}

/// How `compare` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The operation where NaNs equal nothing.
    ordinary: Op,
    /// The operation in the total order.
    total: Op,
    order: Order,
}

/// What a comparison says of the elements: only the total order changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Unsaid,
    Float,
    Total,
    Signed,
    Unsigned,
}

impl Comparison {
    /// # Errors
    /// `attribute`.
    pub(crate) fn of(direction: &str, order: Option<&str>) -> Result<Self, FormatErrorKind> {
        let (ordinary, total) = match direction {
            "EQ" => (Op::Eq, Op::TotalEq),
            "NE" => (Op::Ne, Op::TotalNe),
            "LT" => (Op::Lt, Op::TotalLt),
            "LE" => (Op::Le, Op::TotalLe),
            "GT" => (Op::Gt, Op::TotalGt),
            "GE" => (Op::Ge, Op::TotalGe),
            _ => {
                let problem = "is none of EQ, NE, LT, LE, GT, GE";
                return Err(FormatErrorKind::attribute("comparison_direction", problem));
            }
        };
        let order = match order {
            None | Some("NOTYPE") => Order::Unsaid,
            Some("FLOAT") => Order::Float,
            Some("TOTALORDER") => Order::Total,
            Some("SIGNED") => Order::Signed,
            Some("UNSIGNED") => Order::Unsigned,
            Some(_) => {
                let problem = "is none of FLOAT, TOTALORDER, SIGNED, UNSIGNED";
                return Err(FormatErrorKind::attribute("compare_type", problem));
            }
        };
        Ok(Comparison { ordinary, total, order })
    }

    /// The operation on elements of this type.
    ///
    /// # Errors
    /// `attribute`, where the elements are of another kind than it says.
    pub(crate) fn op(self, dtype: DType) -> Result<Op, FormatErrorKind> {
        let class = dtype.class();
        let is_float = matches!(class, DTypeClass::Float | DTypeClass::Complex);
        let fits = match self.order {
            Order::Unsaid => true,
            Order::Float | Order::Total => is_float,
            Order::Signed => class == DTypeClass::Signed,
            Order::Unsigned => matches!(class, DTypeClass::Unsigned | DTypeClass::Bool),
        };
        if !fits {
            let problem = format!("does not fit elements of type {dtype}");
            return Err(FormatErrorKind::attribute("compare_type", problem));
        }
        Ok(if self.order == Order::Total { self.total } else { self.ordinary })
    }

    /// The operation, as if NaNs did not matter: for the recognition of reducers.
    pub(crate) const fn ordinary(self) -> Option<Op> {
        match self.order {
            Order::Total => None,
            _ => Some(self.ordinary),
        }
    }
}
