//! The element type in which an operation computes: literals adapt, and NumPy's rule converts.
//!
//! This file plans; `elementwise.rs` adds the nodes. `promotion.rs` of `indim-ops` has NumPy's promotion of
//! pairs.

use indim_builder::{Composition, IntegerPromotion, Reduction};
use indim_ops::{Arity, DType, DTypeClass, Op, float_for, promote, promote_all, shift_right};
use indim_shape::RuleSet;

use super::error::ExprErrorKind;
use super::function::OpVariant;
use indim_graph::Literal;
use indim_graph::literal::integer_range;

/// The type of an operand: a literal, or an array's element type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OperandType {
    Literal(Literal),
    Array(DType),
}

/// The plan of an operation: the operations and types that compute it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypingPlan {
    /// `op` on operands of `dtype`, except for the predicate of `select`.
    Compute { op: Op, dtype: DType },
    /// The operand itself.
    Identity,
    /// `x * x`, because the table has no square of `dtype`.
    Multiplied { dtype: DType },
    /// 0 everywhere, in the operand's type.
    Zero,
    /// A function of complex numbers that the table has for real numbers only.
    Complex(ComplexPlan),
    /// `1 / x` in integers.
    IntegerReciprocal { dtype: DType },
    /// A comparison of signed integers with u64, exact although no type represents both.
    ExactComparison { op: Op },
    /// A comparison with a number outside of the type's range: the same result for all elements.
    ConstantComparison { is_true: bool },
}

/// Functions of complex numbers that are computed from real and imaginary parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ComplexPlan {
    /// `log(x) / log(2)`.
    Log2,
    /// `log(x) / log(10)`.
    Log10,
    /// `exp(x * log(2))`.
    Exp2,
    /// Each part rounded.
    Round,
}

/// Whether the rule promotes element types as NumPy does: numpy, and named, because xarray's arrays are
/// NumPy's. "The numpy rule" in comments about element types means both.
pub(super) fn promotes(rule: &RuleSet) -> bool {
    matches!(rule, RuleSet::Numpy | RuleSet::Named { .. })
}

type TypingResult<T> = Result<T, ExprErrorKind>;

/// The plan under a rule without promotion: the first array determines the type, literals adapt to it, and
/// the builder refuses arrays of other types.
pub(super) fn plan_without_promotion(
    op: Op,
    variant: OpVariant,
    operands: &[OperandType],
) -> TypingResult<TypingPlan> {
    let equal = &operands[usize::from(op.first_is_bool())..];
    let dtype = strict_dtype(equal, op.takes(DType::I64))?;
    if let (true, OperandType::Literal(literal)) = (op.first_is_bool(), operands[0])
        && !literal.is_of_kind(DType::Bool)
    {
        return Err(ExprErrorKind::LiteralKind { literal, dtype: DType::Bool });
    }
    let op = if variant == OpVariant::ShiftBySign { shift_right(dtype) } else { op };
    Ok(TypingPlan::Compute { op, dtype })
}

/// The element type of the first array, or the default type of the literals if no operand is an array.
/// Every literal must be of the kind of this type.
fn strict_dtype(operands: &[OperandType], takes_i64: bool) -> TypingResult<DType> {
    let first = arrays(operands).next();
    let dtype = first.unwrap_or_else(|| literal_dtype(operands, takes_i64));
    for literal in literals(operands) {
        if !literal.is_of_kind(dtype) {
            return Err(ExprErrorKind::LiteralKind { literal, dtype });
        }
    }
    Ok(dtype)
}

/// The type in which a composition computes under a rule without promotion.
pub(super) fn strict_composition(
    composition: Composition,
    operands: &[OperandType],
) -> TypingResult<DType> {
    strict_dtype(operands, composition.takes(DType::I64))
}

/// The type in which a composition computes under the numpy rule: the common type if the composition takes
/// it, else for whole numbers and truth values the type that its table row states, else `f64` or `c128` if
/// the common type promotes to it. Otherwise the builder refuses the common type.
pub(super) fn numpy_composition(
    composition: Composition,
    operands: &[OperandType],
) -> TypingResult<DType> {
    let common = common_dtype(operands, composition.takes(DType::I64))?;
    if composition.takes(common) {
        return Ok(common);
    }
    if composition == Composition::Positive {
        let (operation, instead) = (composition.name(), Some("i8(x)"));
        return Err(ExprErrorKind::NotDefinedInNumpy { operation, dtype: common, instead });
    }
    if common == DType::Bool || common.is_integer() {
        return Ok(match composition.integer_promotion() {
            IntegerPromotion::F64 => DType::F64,
            IntegerPromotion::FunctionFloat => float_dtype(common, operands),
        });
    }
    let holds = |wide: DType| composition.takes(wide) && promote(common, wide) == Some(wide);
    Ok([DType::F64, DType::C128].into_iter().find(|wide| holds(*wide)).unwrap_or(common))
}

/// The type of the operands of a reduction.
pub(super) fn reduction(
    function: Reduction,
    operands: &[OperandType],
    is_numpy: bool,
) -> TypingResult<DType> {
    let takes_i64 = function.takes(DType::I64);
    if !is_numpy {
        return strict_dtype(operands, takes_i64);
    }
    let common = common_dtype(operands, takes_i64)?;
    let is_whole = common == DType::Bool || common.is_integer();
    Ok(if is_whole && function.takes_only_floats() { DType::F64 } else { common })
}

/// The type of the operands of a product.
pub(super) fn product(operands: &[OperandType], is_numpy: bool) -> TypingResult<DType> {
    if is_numpy { common_dtype(operands, true) } else { strict_dtype(operands, true) }
}

/// The plan under the numpy rule.
pub(super) fn plan_numpy(
    op: Op,
    variant: OpVariant,
    operands: &[OperandType],
) -> TypingResult<TypingPlan> {
    let equal = &operands[usize::from(op.first_is_bool())..];
    if is_comparison(op)
        && let Some(plan) = integer_comparison(op, equal)
    {
        return Ok(plan);
    }
    if variant == OpVariant::Logical {
        return Ok(TypingPlan::Compute { op, dtype: DType::Bool });
    }
    let common = common_dtype(equal, op.takes(DType::I64))?;
    let is_whole = common == DType::Bool || common.is_integer();
    match variant {
        OpVariant::TrueDivide if is_whole => Ok(TypingPlan::Compute { op, dtype: DType::F64 }),
        // NumPy's fabs, unlike abs, is for real numbers.
        OpVariant::FloatOnly if common.class() == DTypeClass::Complex && op.takes(common) => {
            let instead = Some("abs(x)");
            Err(ExprErrorKind::NotDefinedInNumpy { operation: "fabs", dtype: common, instead })
        }
        OpVariant::FloatOnly if is_whole => {
            Ok(TypingPlan::Compute { op, dtype: float_dtype(common, equal) })
        }
        OpVariant::ShiftBySign => {
            let dtype = if common == DType::Bool { DType::I8 } else { common };
            Ok(TypingPlan::Compute { op: shift_right(dtype), dtype })
        }
        _ => plan_numpy_by_table(op, common, equal),
    }
}

/// NumPy's plan for an operation on `dtype`: the table's operation if it takes the type, else NumPy's
/// substitute.
fn plan_numpy_by_table(op: Op, dtype: DType, operands: &[OperandType]) -> TypingResult<TypingPlan> {
    let is_bool = dtype == DType::Bool;
    let refuse =
        |instead| Err(ExprErrorKind::NotDefinedInNumpy { operation: op.name(), dtype, instead });
    if op.takes(dtype) {
        return Ok(TypingPlan::Compute { op, dtype });
    }
    let is_whole = is_bool || dtype.is_integer();
    if dtype.class() == DTypeClass::Complex
        && let Some(plan) = complex_plan(op)
    {
        return Ok(TypingPlan::Complex(plan));
    }
    match op {
        Op::Sub if is_bool => refuse(Some("a ^ b")),
        Op::Neg if is_bool => refuse(Some("~x")),
        Op::Sign if is_bool => refuse(None),
        Op::Floor | Op::Ceil | Op::Trunc | Op::Abs if is_whole => Ok(TypingPlan::Identity),
        Op::RoundEven | Op::Conj if dtype.is_integer() => Ok(TypingPlan::Identity),
        Op::Real if is_whole => Ok(TypingPlan::Identity),
        Op::Imag if is_whole => Ok(TypingPlan::Zero),
        // Integers have no NaN, so these are `max` and `min`.
        Op::Fmax if is_whole => Ok(TypingPlan::Compute { op: Op::Max, dtype }),
        Op::Fmin if is_whole => Ok(TypingPlan::Compute { op: Op::Min, dtype }),
        // NumPy converts truth values to i8, in which x * x is x for 0 and 1.
        Op::Conj if is_bool => Ok(TypingPlan::Multiplied { dtype: DType::I8 }),
        Op::Square if is_whole => Ok(TypingPlan::Multiplied { dtype: without_bool(dtype) }),
        Op::Reciprocal if is_whole => {
            Ok(TypingPlan::IntegerReciprocal { dtype: without_bool(dtype) })
        }
        _ if is_bool && op.takes(DType::I8) => Ok(TypingPlan::Compute { op, dtype: DType::I8 }),
        _ if is_whole && op.takes(DType::F64) => {
            Ok(TypingPlan::Compute { op, dtype: float_dtype(dtype, operands) })
        }
        // The builder's own error is clear for one operand, for complex numbers, which NumPy orders, and for
        // storage types.
        _ if op.arity() == Arity::Unary
            || matches!(dtype.class(), DTypeClass::Complex | DTypeClass::Storage) =>
        {
            Ok(TypingPlan::Compute { op, dtype })
        }
        _ => refuse(None),
    }
}

fn complex_plan(op: Op) -> Option<ComplexPlan> {
    Some(match op {
        Op::Log2 => ComplexPlan::Log2,
        Op::Log10 => ComplexPlan::Log10,
        Op::Exp2 => ComplexPlan::Exp2,
        Op::RoundEven => ComplexPlan::Round,
        _ => return None,
    })
}

/// NumPy has no arithmetic loops for bool and uses i8.
fn without_bool(dtype: DType) -> DType {
    if dtype == DType::Bool { DType::I8 } else { dtype }
}

/// The float type in which NumPy computes functions such as `sqrt` of integers: the widest of the float
/// types of the individual operands. i8 with u16 gives f32, although the float type of their common type,
/// i32, is f64.
fn float_dtype(common: DType, operands: &[OperandType]) -> DType {
    let widest = arrays(operands).map(float_for).max_by_key(|dtype| dtype.size());
    let has_integer = arrays(operands).any(DType::is_integer);
    match widest {
        Some(float) if has_integer && float.size() <= DType::F32.size() => float,
        _ => float_for(common),
    }
}

/// The type of elements of `dtype` with a complex number: c64 for floats below f64.
fn complex_dtype(dtype: DType) -> DType {
    match dtype {
        DType::C64 | DType::F32 | DType::F16 | DType::Bf16 => DType::C64,
        narrow if narrow.is_float8() => DType::C64,
        _ => DType::C128,
    }
}

fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

/// The plan of a comparison of integers that no common type can compute; `None` for any other comparison.
fn integer_comparison(op: Op, operands: &[OperandType]) -> Option<TypingPlan> {
    use OperandType::{Array, Literal as Constant};
    match *operands {
        [Array(x), Array(y)] => {
            let is_signed = |dtype: DType| dtype.class() == DTypeClass::Signed;
            let is_mixed = (is_signed(x) && y == DType::U64) || (x == DType::U64 && is_signed(y));
            is_mixed.then_some(TypingPlan::ExactComparison { op })
        }
        [Array(dtype), Constant(literal)] => out_of_range(op, dtype, literal),
        [Constant(literal), Array(dtype)] => out_of_range(op.swapped()?, dtype, literal),
        _ => None,
    }
}

/// The plan of a comparison of elements of `dtype` with a literal, if the literal is out of the range of
/// an integer type.
fn out_of_range(op: Op, dtype: DType, literal: Literal) -> Option<TypingPlan> {
    let (Literal::Int(value), Some((low, _))) = (literal, integer_range(dtype)) else {
        return None;
    };
    if literal.fits(dtype) || dtype.is_storage() {
        return None;
    }
    // Every element is greater than a number below the range, and less than one above it.
    let is_true = match op {
        Op::Ne => true,
        Op::Lt | Op::Le => value >= low,
        Op::Gt | Op::Ge => value < low,
        _ => false,
    };
    Some(TypingPlan::ConstantComparison { is_true })
}

fn arrays(operands: &[OperandType]) -> impl Iterator<Item = DType> {
    operands.iter().filter_map(|operand| match operand {
        OperandType::Array(dtype) => Some(*dtype),
        OperandType::Literal(_) => None,
    })
}

fn literals(operands: &[OperandType]) -> impl Iterator<Item = Literal> {
    operands.iter().filter_map(|operand| match operand {
        OperandType::Literal(literal) => Some(*literal),
        OperandType::Array(_) => None,
    })
}

/// The type of literals without an array: bool, i64, f64 or c128 by their kinds; f64 in place of i64 if the
/// operation does not take i64.
fn literal_dtype(operands: &[OperandType], takes_i64: bool) -> DType {
    let dtype = literals(operands).map(Literal::default_dtype).max().unwrap_or(DType::Bool);
    if dtype == DType::I64 && !takes_i64 { DType::F64 } else { dtype }
}

/// The common type of the arrays. A float literal turns integers and bool into f64, a whole number turns
/// bool into i64, and a complex number turns a real type into the complex type of its precision. Without
/// an array, the type is that of [`literal_dtype`].
fn common_dtype(operands: &[OperandType], takes_i64: bool) -> TypingResult<DType> {
    let common = promote_all(arrays(operands).collect())
        .map_err(|(left, right)| ExprErrorKind::NoPromotion { left, right })?;
    let Some(common) = common else { return Ok(literal_dtype(operands, takes_i64)) };
    Ok(literals(operands).fold(common, |common, literal| match literal {
        Literal::Float(_) if common == DType::Bool || common.is_integer() => DType::F64,
        Literal::Int(_) if common == DType::Bool => DType::I64,
        Literal::Complex(_) => complex_dtype(common),
        _ => common,
    }))
}
