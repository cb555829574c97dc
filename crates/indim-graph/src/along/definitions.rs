//! What the functions along axes are made of.

use indim_ops::{ArrayType, DType, DTypeClass, ReduceOp};
use indim_shape::Shape;

use super::Along;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::error::GraphError;

/// An operand and the axes along which it is reduced, in ascending order.
pub(super) struct Reduced<'a> {
    x: Value,
    array_type: ArrayType,
    axes: Vec<usize>,
    along: &'a Along,
}

impl<'a> Reduced<'a> {
    pub(super) fn new(x: Value, array_type: ArrayType, axes: Vec<usize>, along: &'a Along) -> Self {
        Reduced { x, array_type, axes, along }
    }

    fn builder(&self) -> &GraphBuilder {
        self.x.builder()
    }

    fn dtype(&self) -> DType {
        self.array_type.dtype
    }

    /// The number of elements that become one.
    fn count(&self) -> f64 {
        self.axes.iter().map(|&axis| self.array_type.shape[axis] as f64).product()
    }

    /// The operand's shape with axes of size 1 for those that are reduced.
    fn kept_shape(&self) -> Shape {
        let size =
            |axis: usize| if self.axes.contains(&axis) { 1 } else { self.array_type.shape[axis] };
        (0..self.array_type.shape.rank()).map(size).collect::<Vec<usize>>().into()
    }

    /// `value`, which has the operand's shape, reduced along the axes, the last axis first; they stay, with
    /// size 1.
    fn fold_kept(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let mut folded = value.clone();
        for &axis in self.axes.iter().rev() {
            folded = self.builder().reduce(op, folded, axis as i64)?;
        }
        self.builder().reshape(folded, self.kept_shape())
    }

    /// As [`Reduced::fold_kept`], in the shape that was asked for.
    fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        self.left(&self.fold_kept(op, value)?)
    }

    /// A reduced value with axes of size 1, in the shape that was asked for.
    fn left(&self, kept: &Value) -> BuildResult {
        if self.along.keepdims {
            return Ok(kept.clone());
        }
        let shape = &self.array_type.shape;
        let is_left = |axis: &usize| !self.axes.contains(axis);
        let left: Vec<usize> = (0..shape.rank()).filter(is_left).map(|axis| shape[axis]).collect();
        self.builder().reshape(kept, left)
    }

    /// The type in which elements are summed: floats in double precision.
    fn sum_dtype(&self) -> DType {
        match (self.dtype().class(), self.along.widens_integers) {
            (DTypeClass::Float, _) => DType::F64,
            (DTypeClass::Complex, _) => DType::C128,
            (DTypeClass::Unsigned, true) => DType::U64,
            (DTypeClass::Bool, _) | (DTypeClass::Signed, true) => DType::I64,
            _ => self.dtype(),
        }
    }

    /// The type of a sum: floats keep theirs.
    fn result_dtype(&self) -> DType {
        match self.dtype().class() {
            DTypeClass::Float | DTypeClass::Complex => self.dtype(),
            _ => self.sum_dtype(),
        }
    }

    /// The type of a mean.
    fn mean_dtype(&self) -> DType {
        match self.dtype().class() {
            DTypeClass::Float | DTypeClass::Complex => self.dtype(),
            _ => DType::F64,
        }
    }

    /// The elements in double precision.
    fn wide(&self) -> BuildResult {
        let is_complex = self.dtype().class() == DTypeClass::Complex;
        self.builder().convert(&self.x, if is_complex { DType::C128 } else { DType::F64 })
    }

    /// The mean in double precision, with axes of size 1.
    fn wide_mean(&self) -> BuildResult {
        Ok(self.fold_kept(ReduceOp::Add, &self.wide()?)? / self.count())
    }

    /// The variance as an `f64`, with axes of size 1.
    fn wide_variance(&self, correction: f64) -> BuildResult {
        let distances = self.builder().numpy().sub(self.wide()?, self.wide_mean()?)?;
        let sum = self.fold_kept(ReduceOp::Add, &squared_magnitudes(&distances)?)?;
        let degrees = self.count() - correction;
        Ok(if degrees > 0.0 { sum / degrees } else { sum * f64::NAN })
    }

    /// A value in double precision rounded to the type of the operand, and in the shape that was asked for.
    fn rounded(&self, kept: Value, dtype: DType) -> BuildResult {
        self.left(&self.builder().convert(kept, dtype)?)
    }

    /// The real type of the operand's parts; `f64` of integers.
    fn component_dtype(&self) -> DType {
        match self.mean_dtype() {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            dtype => dtype,
        }
    }

    /// The largest elements, 0 where they are not finite: what is taken away before `exp`.
    fn finite_maximum(&self) -> BuildResult {
        let largest = self.fold_kept(ReduceOp::Max, &self.x)?;
        Ok(largest.is_finite().select(&largest, 0))
    }

    fn is_nonzero(&self) -> BuildResult {
        self.builder().convert(&self.x, DType::Bool)
    }

    /// A search over the elements of all axes as if they were one.
    fn search(&self, op: ReduceOp) -> BuildResult {
        let shape = &self.array_type.shape;
        let is_left = |axis: &usize| !self.axes.contains(axis);
        let left: Vec<usize> = (0..shape.rank()).filter(is_left).collect();
        let order: Vec<i64> = left.iter().chain(&self.axes).map(|&axis| axis as i64).collect();
        let mut sizes: Vec<usize> = left.iter().map(|&axis| shape[axis]).collect();
        sizes.push(self.axes.iter().map(|&axis| shape[axis]).product());
        let rows = self.builder().reshape(self.builder().transpose(&self.x, &order)?, sizes)?;
        let found = self.builder().reduce(op, rows, left.len() as i64)?;
        self.left(&self.builder().reshape(found, self.kept_shape())?)
    }
}

/// The squared magnitudes of numbers in double precision.
fn squared_magnitudes(x: &Value) -> Result<Value, GraphError> {
    Ok(match x.array_type()?.dtype {
        DType::C128 => x.real() * x.real() + x.imag() * x.imag(),
        _ => x * x,
    })
}

pub(super) fn sum(r: &Reduced<'_>) -> BuildResult {
    let wide = r.builder().convert(&r.x, r.sum_dtype())?;
    r.rounded(r.fold_kept(ReduceOp::Add, &wide)?, r.result_dtype())
}

pub(super) fn prod(r: &Reduced<'_>) -> BuildResult {
    let wide = r.builder().convert(&r.x, r.sum_dtype())?;
    r.rounded(r.fold_kept(ReduceOp::Mul, &wide)?, r.result_dtype())
}

pub(super) fn mean(r: &Reduced<'_>) -> BuildResult {
    r.rounded(r.wide_mean()?, r.mean_dtype())
}

pub(super) fn var(r: &Reduced<'_>, correction: f64) -> BuildResult {
    r.rounded(r.wide_variance(correction)?, r.component_dtype())
}

pub(super) fn std(r: &Reduced<'_>, correction: f64) -> BuildResult {
    r.rounded(r.wide_variance(correction)?.sqrt(), r.component_dtype())
}

pub(super) fn max(r: &Reduced<'_>) -> BuildResult {
    r.fold(ReduceOp::Max, &r.x)
}

pub(super) fn min(r: &Reduced<'_>) -> BuildResult {
    r.fold(ReduceOp::Min, &r.x)
}

pub(super) fn ptp(r: &Reduced<'_>) -> BuildResult {
    Ok(max(r)? - min(r)?)
}

pub(super) fn argmax(r: &Reduced<'_>) -> BuildResult {
    r.search(ReduceOp::ArgMax)
}

pub(super) fn argmin(r: &Reduced<'_>) -> BuildResult {
    r.search(ReduceOp::ArgMin)
}

pub(super) fn all(r: &Reduced<'_>) -> BuildResult {
    r.fold(ReduceOp::And, &r.is_nonzero()?)
}

pub(super) fn any(r: &Reduced<'_>) -> BuildResult {
    r.fold(ReduceOp::Or, &r.is_nonzero()?)
}

pub(super) fn count_nonzero(r: &Reduced<'_>) -> BuildResult {
    r.fold(ReduceOp::Add, &r.is_nonzero()?.convert(DType::I64))
}

pub(super) fn norm(r: &Reduced<'_>) -> BuildResult {
    let sum = r.fold_kept(ReduceOp::Add, &squared_magnitudes(&r.wide()?)?)?;
    r.rounded(sum.sqrt(), r.component_dtype())
}

pub(super) fn logsumexp(r: &Reduced<'_>) -> BuildResult {
    let numpy = r.builder().numpy();
    let largest = r.finite_maximum()?;
    let exponentials = numpy.sub(&r.x, &largest)?.exp();
    let sum = r.fold_kept(ReduceOp::Add, &exponentials.convert(DType::F64))?;
    r.rounded(sum.log() + largest.convert(DType::F64), r.dtype())
}

pub(super) fn softmax(r: &Reduced<'_>) -> BuildResult {
    let numpy = r.builder().numpy();
    let exponentials = numpy.sub(&r.x, r.fold_kept(ReduceOp::Max, &r.x)?)?.exp();
    let sum = r.fold_kept(ReduceOp::Add, &exponentials.convert(DType::F64))?;
    numpy.div(&exponentials, sum.convert(r.dtype()))
}

pub(super) fn log_softmax(r: &Reduced<'_>) -> BuildResult {
    let numpy = r.builder().numpy();
    let below = numpy.sub(&r.x, r.fold_kept(ReduceOp::Max, &r.x)?)?;
    let sum = r.fold_kept(ReduceOp::Add, &below.exp().convert(DType::F64))?;
    numpy.sub(&below, sum.log().convert(r.dtype()))
}
