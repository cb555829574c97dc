//! Operand of a function along axes, with its reduced axes and its mask: the vocabulary of their definitions.

use indim_graph::{Array, GraphError, GraphErrorKind, Literal, count_of};
use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp};
use indim_shape::{RuleSet, Shape, TargetRule};

use super::arguments::{Initial, ReduceOptions};
use crate::builder::{BuildResult, GraphBuilder, Value};

/// An operand and the axes along which it is reduced, in ascending order.
#[derive(Clone)]
pub(super) struct Reduced<'a> {
    pub(super) x: Value,
    /// The operands behind the first.
    pub(super) others: &'a [Value],
    pub(super) array_type: ArrayType,
    pub(super) axes: Vec<usize>,
    /// Truth values in the shape of `x`: the elements that are taken; without them all.
    pub(super) selected: Option<Value>,
    pub(super) along: &'a ReduceOptions,
}

impl Reduced<'_> {
    pub(super) fn builder(&self) -> &GraphBuilder {
        self.x.builder()
    }

    pub(super) fn dtype(&self) -> DType {
        self.array_type.dtype
    }

    /// The sizes of the axes that are left.
    fn left_shape(&self) -> Shape {
        let shape = &self.array_type.shape;
        self.left_axes().iter().map(|&axis| shape[axis]).collect()
    }

    /// The axes that are left.
    fn left_axes(&self) -> Vec<usize> {
        let is_left = |axis: &usize| !self.axes.contains(axis);
        (0..self.array_type.shape.rank()).filter(is_left).collect()
    }

    /// The operand's shape with axes of size 1 for those that are reduced.
    pub(super) fn kept_shape(&self) -> Shape {
        let size =
            |axis: usize| if self.axes.contains(&axis) { 1 } else { self.array_type.shape[axis] };
        (0..self.array_type.shape.rank()).map(size).collect::<Vec<usize>>().into()
    }

    /// `value`, which has the operand's shape, with what `op` does not see in place of the elements that are
    /// not taken.
    pub(super) fn taken(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let Some(selected) = &self.selected else { return Ok(value.clone()) };
        let identity = Array::identity(op, value.array_type()?.dtype);
        let stand_in = identity.expect("invariant: the element type has been checked");
        Ok(selected.select(value, self.builder().constant(stand_in)))
    }

    /// `value`, which has the operand's shape, reduced along the axes, the last axis first; they stay, with
    /// size 1.
    pub(super) fn fold_kept(&self, op: ReduceOp, value: &Value) -> BuildResult {
        self.fold_every(op, self.taken(op, value)?)
    }

    /// Like [`Reduced::fold_kept`], of elements among which those that are not taken are no more.
    pub(super) fn fold_every(&self, op: ReduceOp, mut folded: Value) -> BuildResult {
        for &axis in self.axes.iter().rev() {
            folded = self.builder().reduce(op, folded, axis as i64)?;
        }
        self.kept(folded)
    }

    /// A reduced value with axes of size 1 for those that are reduced.
    fn kept(&self, folded: Value) -> BuildResult {
        let kept = self.builder().reshape_units(&folded, self.kept_shape())?;
        let left = self.left_axes();
        let place = |axis| left.iter().position(|&left| left == axis);
        Ok(self.builder().keep_axis_names(&folded, kept, place))
    }

    /// Like [`Reduced::fold_kept`], in the shape that was asked for.
    pub(super) fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        self.left(&self.fold_kept(op, value)?)
    }

    /// A reduced value with axes of size 1, in the shape that was asked for.
    pub(super) fn left(&self, kept: &Value) -> BuildResult {
        match self.along.keepdims {
            true => Ok(kept.clone()),
            false => {
                let result = self.builder().reshape_units(kept, self.left_shape())?;
                let left = self.left_axes();
                Ok(self.builder().keep_axis_names(kept, result, |axis| left.get(axis).copied()))
            }
        }
    }

    /// A reduced value with axes of size 1, combined with what is given to begin with as an element of type
    /// `dtype`.
    pub(super) fn begun(&self, op: Op, kept: Value, dtype: DType) -> BuildResult {
        let Some(initial) = &self.along.initial else { return Ok(kept) };
        let initial = initial.element(self.builder(), dtype)?;
        let b = self.builder();
        let everywhere = b.spread(initial, &TargetRule::Unidirectional, self.left_shape())?;
        let everywhere = b.reshape_units(everywhere, self.kept_shape())?;
        let initial = b.convert(everywhere, kept.array_type()?.dtype)?;
        b.elementwise(op, &[initial, kept], &RuleSet::None)
    }

    /// A value in double precision rounded to `dtype`, and in the shape that was asked for.
    pub(super) fn rounded(&self, kept: Value, dtype: DType) -> BuildResult {
        self.left(&self.builder().convert(kept, dtype)?)
    }

    /// The elements in double precision.
    pub(super) fn wide(&self) -> BuildResult {
        let is_complex = self.dtype().class() == DTypeClass::Complex;
        self.builder().convert(&self.x, if is_complex { DType::C128 } else { DType::F64 })
    }

    /// The number of elements that become one, less a number, if it is the same everywhere.
    pub(super) fn fixed_count(&self, less: f64) -> Option<f64> {
        let sizes = self.axes.iter().map(|&axis| self.array_type.shape[axis]);
        self.selected.is_none().then(|| count_of(sizes, less))
    }

    /// A value divided by the number of elements that become one, less a number; that follows their sizes.
    pub(super) fn over_fixed_count(&self, value: Value, less: f64) -> BuildResult {
        let b = self.builder();
        let (of, dtype) = (b.id("mean", &self.x)?, value.array_type()?.dtype);
        Ok(value / b.count(of, &self.axes, less, dtype))
    }

    /// Says that what is made of it is so for this number of elements.
    pub(super) fn pin_count(&self, reason: &'static str) {
        self.axes.iter().for_each(|&axis| self.builder().pin(&self.x, axis, reason));
    }

    /// The number of elements that become one as an `f64`, with axes of size 1.
    pub(super) fn count(&self) -> BuildResult {
        let everywhere = || {
            let one = self.builder().scalar(true);
            self.builder().broadcast_like(one, &[], &self.x)
        };
        let selected = self.selected.clone().map_or_else(everywhere, Ok)?;
        Ok(self.fold_kept(ReduceOp::Add, &selected.convert(DType::I64))?.convert(DType::F64))
    }

    /// The elements that are no NaNs alone.
    pub(super) fn without_nans(&self) -> Self {
        if !matches!(self.dtype().class(), DTypeClass::Float | DTypeClass::Complex) {
            return self.clone();
        }
        let is_number = !self.x.is_nan();
        let selected = match &self.selected {
            Some(selected) => selected & is_number,
            None => is_number,
        };
        Reduced { selected: Some(selected), ..self.clone() }
    }

    /// `value`, which has the operand's shape, with its reduced axes as one last axis, and that axis.
    pub(super) fn rows(&self, value: &Value) -> Result<(Value, usize), GraphError> {
        let shape = &self.array_type.shape;
        let left = self.left_axes();
        let order: Vec<i64> = left.iter().chain(&self.axes).map(|&axis| axis as i64).collect();
        let mut sizes: Vec<usize> = left.iter().map(|&axis| shape[axis]).collect();
        sizes.push(self.axes.iter().map(|&axis| shape[axis]).product());
        // The reshape node itself states that several axes merge into one, by their sizes.
        let turned = self.builder().transpose(value, &order)?;
        let rows = self.builder().reshape_units(&turned, sizes)?;
        let place = |axis: usize| Some(axis).filter(|&axis| axis < left.len());
        Ok((self.builder().keep_axis_names(&turned, rows, place), left.len()))
    }

    /// One element for each row of [`Reduced::rows`], in the shape that was asked for.
    pub(super) fn of_rows(&self, found: Value) -> BuildResult {
        self.left(&self.kept(found)?)
    }

    /// An operand that has an axis for each one that is reduced, along these; one in the operand's shape and
    /// a scalar stay.
    pub(super) fn lying_along(&self, value: &Value) -> BuildResult {
        let shape = value.array_type()?.shape;
        if shape.is_scalar() || shape == self.array_type.shape {
            return Ok(value.clone());
        }
        let dims: Vec<i64> = self.axes.iter().map(|&axis| axis as i64).collect();
        self.builder().broadcast_like(value, &dims, &self.x)
    }
}

impl Initial {
    /// The number or scalar as an element of type `dtype`.
    fn element(&self, b: &GraphBuilder, dtype: DType) -> BuildResult {
        match self {
            Initial::Number(Literal::Bool(truth)) if dtype != DType::Bool => {
                b.number("initial", Literal::Int(i128::from(*truth)), dtype)
            }
            Initial::Number(number) => b.number("initial", *number, dtype),
            Initial::Value(value) if holds(dtype, value.array_type()?.dtype) => {
                b.convert(value, dtype)
            }
            Initial::Value(value) => {
                let found = value.array_type()?.dtype;
                let kind = GraphErrorKind::ElementTypeMismatch {
                    operand: 0,
                    dtype: found,
                    expected: dtype,
                };
                Err(b.error("initial", &[b.id("initial", value)?], kind))
            }
        }
    }
}

/// Whether a value of type `given` is meant to be of type `dtype` where they meet.
fn holds(dtype: DType, given: DType) -> bool {
    use DTypeClass::{Bool, Complex, Float};
    match (given.class(), dtype.class()) {
        (given, dtype) if given == dtype => true,
        (Bool, _) | (_, Complex) => true,
        (Complex, _) => false,
        (_, dtype) => dtype == Float,
    }
}
