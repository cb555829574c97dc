//! What XLA's operations become, whichever spelling they were read from.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisSlice, Literal};
use indim_model::{BroadcastRule, FormatErrorKind};
use indim_ops::{ArrayType, DType, DTypeClass, Op};
use indim_shape::{RuleSet, TargetRule};

use super::gather::Gather;
use super::opcode::Comparison;

/// An operation of one result, with what it says beside its operands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    /// Of the table; the operands have equal shapes, but for scalars of `clamp` and `select`.
    Elementwise(Op),
    /// Of the table, broadcast as NumPy does: chlo's `broadcast_*`, which may repeat where the axes of the
    /// operand with fewer of them land.
    Numpy(Op, Option<Vec<i64>>),
    /// `compare`.
    Compare(Comparison),
    /// chlo's `broadcast_compare`.
    NumpyCompare(Comparison),
    /// Whether an element is this infinity.
    IsInfinity(f64),
    /// To the element type of the result.
    Convert,
    /// To the element type of the result, with the same bits.
    Bitcast,
    /// To the shape of the result.
    Reshape,
    /// To the shape of the result: on which of its axes each axis lands.
    BroadcastInDim(Vec<i64>),
    /// The same, but that sizes of 1 stay: HLO's `broadcast` only adds axes.
    HloBroadcast(Vec<i64>),
    /// New axes of these sizes in front.
    Broadcast(Vec<i64>),
    /// Of which axis each axis of the result is.
    Transpose(Vec<i64>),
    /// Along these axes.
    Reverse(Vec<i64>),
    /// Start, limit and stride for each axis.
    Slice(Vec<[i64; 3]>),
    /// Low, high and interior for each axis.
    Pad(Vec<[i64; 3]>),
    /// Along this axis.
    Concatenate(i64),
    /// Along this axis, of the type of the result.
    Iota(i64),
    /// The elements that indices name.
    Gather(Gather),
    /// To so many bits for the exponent and the mantissa.
    ReducePrecision(u32, u32),
}

type Built = Result<Value, FormatErrorKind>;

impl Operation {
    /// How many operands it takes; `None` for any number.
    fn operand_count(&self) -> Option<usize> {
        Some(match self {
            Operation::Elementwise(op) | Operation::Numpy(op, _) => op.arity().count(),
            Operation::Compare(_)
            | Operation::NumpyCompare(_)
            | Operation::Pad(_)
            | Operation::Gather(_) => 2,
            Operation::Iota(_) => 0,
            Operation::Concatenate(_) => return None,
            _ => 1,
        })
    }

    /// The rule by which it broadcasts its operands, if it does.
    pub(crate) fn rule(&self) -> Option<BroadcastRule> {
        Some(match self {
            Operation::Elementwise(_) | Operation::Compare(_) => RuleSet::StableHlo.into(),
            Operation::Numpy(..) | Operation::NumpyCompare(_) => RuleSet::Numpy.into(),
            Operation::BroadcastInDim(dims) => {
                TargetRule::StableHloBroadcastInDim { dims: dims.clone() }.into()
            }
            Operation::HloBroadcast(dims) => TargetRule::HloBroadcast { dims: dims.clone() }.into(),
            Operation::Broadcast(_) => TargetRule::XlaBroadcast.into(),
            _ => return None,
        })
    }

    /// The value that it makes of these operands; `stated` is the type that the file says it has.
    ///
    /// # Errors
    /// `wrong-count`, `attribute`, `type-mismatch`, and what the builder says.
    pub(crate) fn build(
        &self,
        builder: &GraphBuilder,
        operands: &[Value],
        stated: Option<&ArrayType>,
    ) -> Built {
        if let Some(expected) = self.operand_count().filter(|&count| count != operands.len()) {
            let (expected, given) = (expected.to_string(), operands.len());
            return Err(FormatErrorKind::Count { what: "operands", expected, given });
        }
        let value = self.value(builder, operands, stated)?;
        match stated {
            Some(stated) => check_type(&value, stated).map(|()| value),
            None => Ok(value),
        }
    }

    fn value(&self, b: &GraphBuilder, operands: &[Value], stated: Option<&ArrayType>) -> Built {
        let stated = || {
            let expected = "the type of the result".to_owned();
            stated.ok_or(FormatErrorKind::Unexpected { expected })
        };
        let built = match self {
            Operation::Elementwise(op) => {
                return elementwise(b, *op, operands, &RuleSet::StableHlo);
            }
            Operation::Numpy(op, dims) => {
                check_alignment(operands, dims.as_deref())?;
                return elementwise(b, *op, operands, &RuleSet::Numpy);
            }
            Operation::Compare(comparison) => {
                let op = comparison.op(operands[0].array_type()?.dtype)?;
                b.elementwise(op, operands, &RuleSet::StableHlo)
            }
            Operation::NumpyCompare(comparison) => {
                let op = comparison.op(operands[0].array_type()?.dtype)?;
                b.elementwise(op, operands, &RuleSet::Numpy)
            }
            Operation::IsInfinity(infinity) => {
                let dtype = operands[0].array_type()?.dtype;
                b.eq(&operands[0], b.literal(Literal::Float(*infinity), dtype)?, &[])
            }
            Operation::Convert => return convert(b, &operands[0], stated()?.dtype),
            Operation::Bitcast => return bitcast(b, &operands[0], stated()?),
            Operation::Reshape => b.reshape(&operands[0], stated()?.shape.clone()),
            Operation::BroadcastInDim(dims) => {
                b.broadcast_in_dim(&operands[0], dims, stated()?.shape.clone())
            }
            Operation::HloBroadcast(dims) => {
                let rule = TargetRule::HloBroadcast { dims: dims.clone() };
                b.broadcast_to_target(&operands[0], &rule, stated()?.shape.clone())
            }
            Operation::Broadcast(sizes) => {
                let size = |&size: &i64| usize::try_from(size).ok();
                let sizes: Option<Vec<usize>> = sizes.iter().map(size).collect();
                let negative = || FormatErrorKind::attribute("broadcast_sizes", "is negative");
                b.broadcast(&operands[0], &sizes.ok_or_else(negative)?)
            }
            Operation::Transpose(permutation) => b.transpose(&operands[0], permutation),
            Operation::Reverse(axes) => b.reverse(&operands[0], axes),
            Operation::Slice(ranges) => return slice(b, &operands[0], ranges),
            Operation::Gather(gather) => return gather.build(b, &operands[0], &operands[1]),
            Operation::Pad(widths) => return pad(b, &operands[0], &operands[1], widths),
            Operation::Concatenate(axis) => b.concatenate(operands, *axis),
            Operation::Iota(axis) => {
                let stated = stated()?;
                b.iota(stated.dtype, stated.shape.clone(), *axis)
            }
            Operation::ReducePrecision(exponent, mantissa) => {
                b.reduce_precision(&operands[0], *exponent, *mantissa)
            }
        };
        Ok(built?)
    }
}

/// `type-mismatch` where the value is not of the type that the file says.
pub(crate) fn check_type(value: &Value, stated: &ArrayType) -> Result<(), FormatErrorKind> {
    let inferred = value.array_type()?;
    if inferred == *stated {
        return Ok(());
    }
    let (stated, inferred) = (stated.to_string(), inferred.to_string());
    Err(FormatErrorKind::TypeMismatch { stated, inferred })
}

fn elementwise(b: &GraphBuilder, op: Op, operands: &[Value], rule: &RuleSet) -> Built {
    let is_integer = |value: &Value| value.array_type().is_ok_and(|t| t.dtype.is_integer());
    // chlo squares integers too.
    if op == Op::Square && operands.iter().all(is_integer) {
        return Ok(b.elementwise(Op::Mul, &[&operands[0], &operands[0]], rule)?);
    }
    let is_complex =
        |value: &Value| value.array_type().is_ok_and(|it| it.dtype.class() == DTypeClass::Complex);
    match op {
        _ if !operands.iter().all(is_complex) => Ok(b.elementwise(op, operands, rule)?),
        Op::Square => Ok(square_of_complex(&operands[0])),
        Op::Max => lexicographic(b, Op::Gt, operands, rule),
        Op::Min => lexicographic(b, Op::Lt, operands, rule),
        Op::Atan2 | Op::Cbrt => {
            let what = format!("`{op}` of complex numbers is");
            Err(FormatErrorKind::Unsupported { what })
        }
        _ => Ok(b.elementwise(op, operands, rule)?),
    }
}

/// `(x - y)(x + y) + 2xy i`: one infinite part does not make a NaN of the result, as it does in `z * z`.
fn square_of_complex(z: &Value) -> Value {
    let (x, y) = (z.real(), z.imag());
    let are_equal = x.abs().eq(y.abs()) & x.is_finite();
    let real = are_equal.select(0, (&x - &y) * (&x + &y));
    let half = &x * &y;
    real.complex(&half + &half)
}

/// The complex number that comes first, or last, by its real part, then by its imaginary part.
fn lexicographic(b: &GraphBuilder, order: Op, operands: &[Value], rule: &RuleSet) -> Built {
    let [x, y] = operands else { return Ok(b.elementwise(order, operands, rule)?) };
    let compare = |op, x: Value, y: Value| b.elementwise(op, &[x, y], rule);
    let is_before = compare(order, x.real(), y.real())?;
    let is_tied = compare(Op::Eq, x.real(), y.real())?;
    let is_first = is_before | (is_tied & compare(order, x.imag(), y.imag())?);
    Ok(b.elementwise(Op::Select, &[&is_first, x, y], rule)?)
}

/// Of a complex number the real part is converted, to truth values too.
fn convert(b: &GraphBuilder, operand: &Value, dtype: DType) -> Built {
    let is_complex = |dtype: DType| dtype.class() == DTypeClass::Complex;
    match is_complex(operand.array_type()?.dtype) && !is_complex(dtype) {
        true => Ok(b.convert(b.real(operand)?, dtype)?),
        false => Ok(b.convert(operand, dtype)?),
    }
}

/// A list of axes has to say what NumPy's rule says.
fn check_alignment(operands: &[Value], dims: Option<&[i64]>) -> Result<(), FormatErrorKind> {
    let Some(dims) = dims else { return Ok(()) };
    let mut ranks = Vec::with_capacity(operands.len());
    for operand in operands {
        ranks.push(operand.array_type()?.shape.rank() as i64);
    }
    let least = ranks.iter().copied().min().unwrap_or(0);
    let most = ranks.iter().copied().max().unwrap_or(0);
    if dims.iter().copied().eq(most - least..most) {
        return Ok(());
    }
    let problem = "aligns the operands otherwise than NumPy's rule";
    Err(FormatErrorKind::attribute("broadcast_dimensions", problem))
}

fn bitcast(b: &GraphBuilder, operand: &Value, stated: &ArrayType) -> Built {
    let from = operand.array_type()?;
    // The elements may keep a type that has no bits to speak of.
    if from.dtype == stated.dtype {
        return Ok(operand.clone());
    }
    if from.dtype.size() != stated.dtype.size() {
        let what = format!("a bitcast of {} to {}, elements of another width, is", from, stated);
        return Err(FormatErrorKind::Unsupported { what });
    }
    Ok(b.bitcast(operand, stated.dtype)?)
}

fn slice(b: &GraphBuilder, operand: &Value, ranges: &[[i64; 3]]) -> Built {
    let shape = operand.array_type()?.shape;
    let mut slices = Vec::with_capacity(ranges.len());
    for (axis, &[start, limit, stride]) in ranges.iter().enumerate() {
        // Of an axis that there is not, the builder says so.
        let size = shape.sizes().get(axis).map_or(i64::MAX, |&size| size as i64);
        if start < 0 || limit < start || limit > size || stride < 1 {
            let problem = format!("{start}:{limit}:{stride} leaves axis {axis} of size {size}");
            return Err(FormatErrorKind::attribute("slice", problem));
        }
        let count = (limit - start) as u64;
        let count = count.div_ceil(stride as u64) as usize;
        slices.push(AxisSlice::new(start as usize, count, stride as isize));
    }
    Ok(b.slice(operand, &slices)?)
}

fn pad(b: &GraphBuilder, operand: &Value, value: &Value, widths: &[[i64; 3]]) -> Built {
    let mut given = Vec::with_capacity(widths.len());
    for &[low, high, interior] in widths {
        let negative = || FormatErrorKind::attribute("interior_padding", "is negative");
        given.push((low, high, usize::try_from(interior).map_err(|_| negative())?));
    }
    Ok(b.pad(operand, value, &given)?)
}
