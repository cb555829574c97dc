//! The table of XLA's element-wise operations, by their names in StableHLO and chlo; HLO writes them with
//! dashes.

use indim_model::FormatErrorKind;
use indim_ops::{DType, DTypeClass, Op};

/// The dialect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// StableHLO, and HLO.
    StableHlo,
    /// chlo, and HLO.
    ChloAndHlo,
    /// chlo; HLO has a name for it, but XLA does not compile it.
    ChloAndNameInHlo,
    /// chlo only.
    Chlo,
}

/// The operations by name.
const TABLE: [(&str, Op, Dialect); 61] = [
    ("abs", Op::Abs, Dialect::StableHlo),
    ("acos", Op::Acos, Dialect::ChloAndNameInHlo),
    ("acosh", Op::Acosh, Dialect::ChloAndNameInHlo),
    ("add", Op::Add, Dialect::StableHlo),
    ("and", Op::And, Dialect::StableHlo),
    ("asin", Op::Asin, Dialect::ChloAndNameInHlo),
    ("asinh", Op::Asinh, Dialect::ChloAndNameInHlo),
    ("atan", Op::Atan, Dialect::ChloAndNameInHlo),
    ("atan2", Op::Atan2, Dialect::StableHlo),
    ("atanh", Op::Atanh, Dialect::ChloAndNameInHlo),
    ("cbrt", Op::Cbrt, Dialect::StableHlo),
    ("ceil", Op::Ceil, Dialect::StableHlo),
    ("clamp", Op::Clamp, Dialect::StableHlo),
    ("complex", Op::Complex, Dialect::StableHlo),
    ("conj", Op::Conj, Dialect::Chlo),
    ("cosh", Op::Cosh, Dialect::ChloAndNameInHlo),
    ("cosine", Op::Cos, Dialect::StableHlo),
    ("count_leading_zeros", Op::Clz, Dialect::StableHlo),
    ("digamma", Op::Digamma, Dialect::Chlo),
    ("divide", Op::Div, Dialect::StableHlo),
    ("erf", Op::Erf, Dialect::ChloAndHlo),
    ("erf_inv", Op::ErfInv, Dialect::Chlo),
    ("erfc", Op::Erfc, Dialect::Chlo),
    ("exponential", Op::Exp, Dialect::StableHlo),
    ("exponential_minus_one", Op::Expm1, Dialect::StableHlo),
    ("floor", Op::Floor, Dialect::StableHlo),
    ("imag", Op::Imag, Dialect::StableHlo),
    ("is_finite", Op::IsFinite, Dialect::StableHlo),
    ("is_inf", Op::IsInf, Dialect::Chlo),
    ("lgamma", Op::Lgamma, Dialect::Chlo),
    ("log", Op::Log, Dialect::StableHlo),
    ("log_plus_one", Op::Log1p, Dialect::StableHlo),
    ("logistic", Op::Logistic, Dialect::StableHlo),
    ("maximum", Op::Max, Dialect::StableHlo),
    ("minimum", Op::Min, Dialect::StableHlo),
    ("mulhi", Op::Mulhi, Dialect::ChloAndHlo),
    ("multiply", Op::Mul, Dialect::StableHlo),
    ("negate", Op::Neg, Dialect::StableHlo),
    ("next_after", Op::Nextafter, Dialect::Chlo),
    ("not", Op::Not, Dialect::StableHlo),
    ("or", Op::Or, Dialect::StableHlo),
    ("popcnt", Op::Popcnt, Dialect::StableHlo),
    ("power", Op::Pow, Dialect::StableHlo),
    ("real", Op::Real, Dialect::StableHlo),
    ("remainder", Op::Rem, Dialect::StableHlo),
    ("round_nearest_afz", Op::RoundAway, Dialect::StableHlo),
    ("round_nearest_even", Op::RoundEven, Dialect::StableHlo),
    ("rsqrt", Op::Rsqrt, Dialect::StableHlo),
    ("select", Op::Select, Dialect::StableHlo),
    ("shift_left", Op::Shl, Dialect::StableHlo),
    ("shift_right_arithmetic", Op::ShrArithmetic, Dialect::StableHlo),
    ("shift_right_logical", Op::ShrLogical, Dialect::StableHlo),
    ("sign", Op::Sign, Dialect::StableHlo),
    ("sine", Op::Sin, Dialect::StableHlo),
    ("sinh", Op::Sinh, Dialect::ChloAndNameInHlo),
    ("sqrt", Op::Sqrt, Dialect::StableHlo),
    ("square", Op::Square, Dialect::Chlo),
    ("subtract", Op::Sub, Dialect::StableHlo),
    ("tan", Op::Tan, Dialect::StableHlo),
    ("tanh", Op::Tanh, Dialect::StableHlo),
    ("xor", Op::Xor, Dialect::StableHlo),
];

/// Names of the operations with their dialects.
pub fn names() -> impl Iterator<Item = (&'static str, Dialect)> {
    TABLE.iter().map(|&(name, _, dialect)| (name, dialect))
}

/// The operation with this name.
pub fn elementwise(name: &str) -> Option<Op> {
    TABLE.iter().find(|(known, ..)| *known == name).map(|(_, op, _)| *op)
}

/// Name and dialect of the operation.
pub fn name_of(op: Op) -> Option<(&'static str, Dialect)> {
    TABLE.iter().find(|(_, known, _)| *known == op).map(|(name, _, dialect)| (*name, *dialect))
}

/// The direction of a comparison, and whether it uses the total order; `None` for another operation.
pub fn direction_of(op: Op) -> Option<(&'static str, bool)> {
    Some(match op {
        Op::Eq => ("EQ", false),
        Op::Ne => ("NE", false),
        Op::Lt => ("LT", false),
        Op::Le => ("LE", false),
        Op::Gt => ("GT", false),
        Op::Ge => ("GE", false),
        Op::TotalEq => ("EQ", true),
        Op::TotalNe => ("NE", true),
        Op::TotalLt => ("LT", true),
        Op::TotalLe => ("LE", true),
        Op::TotalGt => ("GT", true),
        Op::TotalGe => ("GE", true),
        _ => return None,
    })
}

/// The comparison type, as StableHLO writes it, for elements of this type.
pub fn order_of(dtype: DType, is_total: bool) -> &'static str {
    match dtype.class() {
        DTypeClass::Float | DTypeClass::Complex if is_total => "TOTALORDER",
        DTypeClass::Float | DTypeClass::Complex => "FLOAT",
        DTypeClass::Signed => "SIGNED",
        DTypeClass::Unsigned | DTypeClass::Bool => "UNSIGNED",
        DTypeClass::Storage => unreachable!("invariant: storage types are not compared"),
    }
}

/// A `compare`: its direction as operations, and its comparison type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    /// The operation in the order of numbers, in which NaNs are unordered.
    ordinary: Op,
    /// The operation in the total order.
    total: Op,
    order: ComparisonType,
}

/// The comparison type; only the total order changes the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparisonType {
    Unspecified,
    Float,
    Total,
    Signed,
    Unsigned,
}

impl Comparison {
    /// The comparison with this direction and this comparison type, by their names in StableHLO and HLO.
    ///
    /// # Errors
    /// `attribute`.
    pub fn of(direction: &str, order: Option<&str>) -> Result<Self, FormatErrorKind> {
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
            None | Some("NOTYPE") => ComparisonType::Unspecified,
            Some("FLOAT") => ComparisonType::Float,
            Some("TOTALORDER") => ComparisonType::Total,
            Some("SIGNED") => ComparisonType::Signed,
            Some("UNSIGNED") => ComparisonType::Unsigned,
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
    /// `attribute` if the comparison type does not fit the elements.
    pub fn op(self, dtype: DType) -> Result<Op, FormatErrorKind> {
        let class = dtype.class();
        let is_float = matches!(class, DTypeClass::Float | DTypeClass::Complex);
        let fits = match self.order {
            ComparisonType::Unspecified => true,
            ComparisonType::Float | ComparisonType::Total => is_float,
            ComparisonType::Signed => class == DTypeClass::Signed,
            ComparisonType::Unsigned => matches!(class, DTypeClass::Unsigned | DTypeClass::Bool),
        };
        if !fits {
            let problem = format!("does not fit elements of type {dtype}");
            return Err(FormatErrorKind::attribute("compare_type", problem));
        }
        Ok(if self.order == ComparisonType::Total { self.total } else { self.ordinary })
    }

    /// The operation as a term of a recognised body: in the total order if the comparison type demands
    /// it, else the ordinary operation.
    pub const fn term(self) -> Option<Op> {
        match self.order {
            ComparisonType::Total => Some(self.total),
            _ => Some(self.ordinary),
        }
    }

    /// The operation in the order of numbers; `None` if the comparison type demands the total order.
    pub const fn ordinary(self) -> Option<Op> {
        match self.order {
            ComparisonType::Total => None,
            _ => Some(self.ordinary),
        }
    }
}
