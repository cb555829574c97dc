//! Lowering of XLA's operations to nodes, shared by StableHLO and HLO.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisSlice, Literal};
use indim_model::{BroadcastRule, FormatErrorKind};
use indim_ops::{ArrayType, DType, DTypeClass, Op};
use indim_shape::{Diagnostic, RuleSet, TargetRule};

use super::bitcast::bitcast;
use super::dot::DotOperation;
use super::fourier::FourierOperation;
use super::gather::{GatherOperation, dynamic_slice, dynamic_update_slice, torch_index_select};
use super::opcode::Comparison;
use super::windows::ConvolutionOperation;

/// An operation with one result, with its attributes.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// An element-wise operation; operands have equal shapes, except scalars of `clamp` and `select`.
    Elementwise(Op),
    /// An element-wise operation with NumPy's broadcast: chlo's `broadcast_*`. The optional list has the
    /// result axes of the operand with the lower rank, which must be those of NumPy's rule.
    Numpy(Op, Option<Vec<i64>>),
    /// `compare`.
    Compare(Comparison),
    /// chlo's `broadcast_compare`, with the optional list of `Numpy`.
    NumpyCompare(Comparison, Option<Vec<i64>>),
    /// Whether an element equals this infinity.
    IsInfinity(f64),
    /// Conversion to the element type of the result.
    Convert,
    /// Bitcast to the element type of the result.
    Bitcast,
    /// Reshape to the shape of the result.
    Reshape,
    /// Broadcast to the shape of the result: result axis of each operand axis.
    BroadcastInDim(Vec<i64>),
    /// Like `BroadcastInDim`, but sizes of 1 do not broadcast: HLO's `broadcast` only adds axes.
    HloBroadcast(Vec<i64>),
    /// Adds leading axes of these sizes.
    Broadcast(Vec<i64>),
    /// Operand axis of each result axis.
    Transpose(Vec<i64>),
    /// Reverses these axes.
    Reverse(Vec<i64>),
    /// Start, limit and stride of each axis.
    Slice(Vec<[i64; 3]>),
    /// Low, high and interior padding of each axis.
    Pad(Vec<[i64; 3]>),
    /// Concatenates along this axis.
    Concatenate(i64),
    /// Counts along this axis, in the type of the result.
    Iota(i64),
    /// A Fourier transform.
    Fft(FourierOperation),
    /// Gathers slices at indices.
    Gather(GatherOperation),
    /// The elements of this axis at indices, after this number of batch axes.
    TorchIndexSelect(i64, i64),
    /// A slice at starts that are operands.
    DynamicSlice {
        /// The sizes of the slice.
        sizes: Vec<i64>,
        /// The name of their attribute, for errors.
        attribute: &'static str,
    },
    /// Replaces a slice at starts that are operands.
    DynamicUpdateSlice,
    /// A matrix product.
    Dot(DotOperation),
    /// A convolution.
    Convolution(Box<ConvolutionOperation>),
    /// Rounds to these numbers of exponent and mantissa bits.
    ReducePrecision(u32, u32),
}

type BuildResult = Result<Value, FormatErrorKind>;

impl Operation {
    /// Number of operands; `None` for variadic operations.
    fn operand_count(&self) -> Option<usize> {
        Some(match self {
            Operation::Elementwise(op) | Operation::Numpy(op, _) => op.arity().count(),
            Operation::Compare(_)
            | Operation::NumpyCompare(..)
            | Operation::Pad(_)
            | Operation::Gather(_)
            | Operation::TorchIndexSelect(..)
            | Operation::Dot(_)
            | Operation::Convolution(_) => 2,
            Operation::Iota(_) => 0,
            Operation::Concatenate(_)
            | Operation::DynamicSlice { .. }
            | Operation::DynamicUpdateSlice => return None,
            _ => 1,
        })
    }

    /// The broadcast rule of its operands, if any.
    pub fn rule(&self) -> Option<BroadcastRule> {
        Some(match self {
            Operation::Elementwise(_) | Operation::Compare(_) => RuleSet::StableHlo.into(),
            Operation::Numpy(..) | Operation::NumpyCompare(..) => RuleSet::Numpy.into(),
            Operation::BroadcastInDim(dims) => {
                TargetRule::StableHloBroadcastInDim { dims: dims.clone() }.into()
            }
            Operation::HloBroadcast(dims) => TargetRule::HloBroadcast { dims: dims.clone() }.into(),
            Operation::Broadcast(_) => TargetRule::XlaBroadcast.into(),
            Operation::Dot(dot) => dot.rule().into(),
            _ => return None,
        })
    }

    /// Builds the operation on these operands; `stated` is the result type in the file.
    ///
    /// # Errors
    /// `wrong-count`, `attribute`, `type-mismatch`, and errors of the builder.
    pub fn build(
        &self,
        builder: &GraphBuilder,
        operands: &[Value],
        stated: Option<&ArrayType>,
    ) -> BuildResult {
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

    /// The error of the operation on operands with these names and types; `stated` is the result type in
    /// the file. `None` if there is no error, or the operation is not supported.
    pub fn problem(
        &self,
        operands: &[(String, ArrayType)],
        stated: &ArrayType,
    ) -> Option<Diagnostic> {
        let builder = GraphBuilder::new();
        let mut values: Vec<Value> = Vec::with_capacity(operands.len());
        for (position, operand @ (name, ArrayType { dtype, shape })) in operands.iter().enumerate()
        {
            let parameter = |name: &str| builder.parameter(name, *dtype, shape.clone());
            values.push(match operands[..position].iter().position(|before| before == operand) {
                Some(before) => values[before].clone(),
                // Values of different regions can have the same name.
                None => {
                    parameter(name).or_else(|_| parameter(&format!("operand {position}"))).ok()?
                }
            });
        }
        let built = self.build(&builder, &values, Some(stated));
        // The builder reports some errors when it reads the type.
        let typed = built.and_then(|value| Ok(value.array_type().map(drop)?));
        let is_unsupported = |kind: &FormatErrorKind| {
            kind.clone().without_location().is_out_of_scope()
                || matches!(kind, FormatErrorKind::Limit { .. })
        };
        typed.err().filter(|kind| !is_unsupported(kind)).map(FormatErrorKind::diagnostic)
    }

    fn value(
        &self,
        b: &GraphBuilder,
        operands: &[Value],
        stated: Option<&ArrayType>,
    ) -> BuildResult {
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
            Operation::NumpyCompare(comparison, dims) => {
                check_alignment(operands, dims.as_deref())?;
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
            Operation::Fft(fourier) => return fourier.build(b, &operands[0]),
            Operation::Slice(ranges) => return slice(b, &operands[0], ranges),
            Operation::Gather(gather) => return gather.build(b, &operands[0], &operands[1]),
            Operation::TorchIndexSelect(dim, batches) => {
                return torch_index_select(b, [&operands[0], &operands[1]], *dim, *batches);
            }
            Operation::DynamicSlice { sizes, attribute } => {
                return dynamic_slice(b, operands, (attribute, sizes));
            }
            Operation::DynamicUpdateSlice => return dynamic_update_slice(b, operands),
            Operation::Dot(dot) => return dot.build(b, &operands[0], &operands[1], stated()?),
            Operation::Convolution(convolution) => {
                return convolution.build(b, &operands[0], &operands[1], stated()?);
            }
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

/// Checks that the value has the type in the file; `type-mismatch` if not.
pub fn check_type(value: &Value, stated: &ArrayType) -> Result<(), FormatErrorKind> {
    let inferred = value.array_type()?;
    if inferred == *stated {
        return Ok(());
    }
    let (stated, inferred) = (stated.to_string(), inferred.to_string());
    Err(FormatErrorKind::TypeMismatch { stated, inferred })
}

fn elementwise(b: &GraphBuilder, op: Op, operands: &[Value], rule: &RuleSet) -> BuildResult {
    let is_integer = |value: &Value| value.array_type().is_ok_and(|t| t.dtype.is_integer());
    // chlo also squares integers.
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

/// `(x - y)(x + y) + 2xy i`: an infinite part does not make the result NaN, as it does in `z * z`.
fn square_of_complex(z: &Value) -> Value {
    let (x, y) = (z.real(), z.imag());
    let are_equal = x.abs().eq(y.abs()) & x.is_finite();
    let real = are_equal.select(0, (&x - &y) * (&x + &y));
    let half = &x * &y;
    real.complex(&half + &half)
}

/// The one of two complex numbers that comes first by `order`: the real parts decide, then the imaginary
/// parts.
fn lexicographic(b: &GraphBuilder, order: Op, operands: &[Value], rule: &RuleSet) -> BuildResult {
    let [x, y] = operands else { return Ok(b.elementwise(order, operands, rule)?) };
    let compare = |op, x: Value, y: Value| b.elementwise(op, &[x, y], rule);
    let is_before = compare(order, x.real(), y.real())?;
    let is_tied = compare(Op::Eq, x.real(), y.real())?;
    let is_first = is_before | (is_tied & compare(order, x.imag(), y.imag())?);
    Ok(b.elementwise(Op::Select, &[&is_first, x, y], rule)?)
}

/// A conversion of a complex number takes its real part, also to booleans.
fn convert(b: &GraphBuilder, operand: &Value, dtype: DType) -> BuildResult {
    let is_complex = |dtype: DType| dtype.class() == DTypeClass::Complex;
    match is_complex(operand.array_type()?.dtype) && !is_complex(dtype) {
        true => Ok(b.convert(b.real(operand)?, dtype)?),
        false => Ok(b.convert(operand, dtype)?),
    }
}

/// A list of axes must agree with NumPy's rule.
fn check_alignment(operands: &[Value], dims: Option<&[i64]>) -> Result<(), FormatErrorKind> {
    let Some(dims) = dims else { return Ok(()) };
    let mut ranks = Vec::with_capacity(operands.len());
    for operand in operands {
        ranks.push(operand.array_type()?.shape.rank() as i64);
    }
    let min_rank = ranks.iter().copied().min().unwrap_or(0);
    let max_rank = ranks.iter().copied().max().unwrap_or(0);
    if dims.iter().copied().eq(max_rank - min_rank..max_rank) {
        return Ok(());
    }
    let problem = "aligns the operands otherwise than NumPy's rule";
    Err(FormatErrorKind::attribute("broadcast_dimensions", problem))
}

fn slice(b: &GraphBuilder, operand: &Value, ranges: &[[i64; 3]]) -> BuildResult {
    let shape = operand.array_type()?.shape;
    let mut slices = Vec::with_capacity(ranges.len());
    for (axis, &[start, limit, stride]) in ranges.iter().enumerate() {
        // The builder reports a missing axis.
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

fn pad(b: &GraphBuilder, operand: &Value, value: &Value, widths: &[[i64; 3]]) -> BuildResult {
    let mut given = Vec::with_capacity(widths.len());
    for &[low, high, interior] in widths {
        let negative = || FormatErrorKind::attribute("interior_padding", "is negative");
        given.push((low, high, usize::try_from(interior).map_err(|_| negative())?));
    }
    Ok(b.pad(operand, value, &given)?)
}
