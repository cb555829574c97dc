//! The operands, axes and mask of a call of a function along axes, with the helper functions of the
//! definitions.

use indim_graph::{Array, GraphError, GraphErrorKind, Literal, count_of};
use indim_ops::{ArrayType, DType, DTypeClass, Op, ReduceOp};
use indim_shape::{RuleSet, Shape, TargetRule};

use super::options::{Initial, ReduceOptions};
use crate::builder::{BuildResult, GraphBuilder, Value};

/// The checked operands and options of a call.
#[derive(Clone)]
pub(super) struct ReductionContext<'a> {
    /// The first operand, which is reduced.
    pub(super) x: Value,
    /// The other operands.
    pub(super) others: &'a [Value],
    /// The type of `x`.
    pub(super) array_type: ArrayType,
    /// The reduced axes, in ascending order.
    pub(super) axes: Vec<usize>,
    /// A mask in the shape of `x`; `None` if all elements are selected.
    pub(super) selected: Option<Value>,
    /// The options of the call.
    pub(super) options: &'a ReduceOptions,
}

impl ReductionContext<'_> {
    pub(super) fn builder(&self) -> &GraphBuilder {
        self.x.builder()
    }

    pub(super) fn dtype(&self) -> DType {
        self.array_type.dtype
    }

    /// The shape without the reduced axes.
    pub(super) fn result_shape(&self) -> Shape {
        let shape = &self.array_type.shape;
        self.kept_axes().iter().map(|&axis| shape[axis]).collect()
    }

    /// The axes that are not reduced.
    fn kept_axes(&self) -> Vec<usize> {
        let is_kept = |axis: &usize| !self.axes.contains(axis);
        (0..self.array_type.shape.rank()).filter(is_kept).collect()
    }

    /// The operand's shape with size 1 for each reduced axis.
    pub(super) fn keepdims_shape(&self) -> Shape {
        let size =
            |axis: usize| if self.axes.contains(&axis) { 1 } else { self.array_type.shape[axis] };
        (0..self.array_type.shape.rank()).map(size).collect::<Vec<usize>>().into()
    }

    /// `value`, which has the operand's shape, with the identity of `op` in place of unselected elements.
    pub(super) fn mask(&self, op: ReduceOp, value: &Value) -> BuildResult {
        let Some(selected) = &self.selected else { return Ok(value.clone()) };
        let identity = Array::identity(op, value.array_type()?.dtype);
        let identity = identity.expect("invariant: the element type has been checked");
        Ok(selected.select(value, self.builder().constant(identity)))
    }

    /// The selected elements of `value`, which has the operand's shape, reduced along the axes, the last axis
    /// first. The result keeps the axes, with size 1.
    pub(super) fn fold_keepdims(&self, op: ReduceOp, value: &Value) -> BuildResult {
        self.fold_unmasked(op, self.mask(op, value)?)
    }

    /// Like [`ReductionContext::fold_keepdims`], for elements that need no mask.
    pub(super) fn fold_unmasked(&self, op: ReduceOp, mut folded: Value) -> BuildResult {
        for &axis in self.axes.iter().rev() {
            folded = self.builder().reduce(op, folded, axis as i64)?;
        }
        self.expand_reduced_axes(folded)
    }

    /// Adds an axis of size 1 to a reduced value for each reduced axis.
    pub(super) fn expand_reduced_axes(&self, folded: Value) -> BuildResult {
        let kept = self.builder().reshape_units(&folded, self.keepdims_shape())?;
        let kept_axes = self.kept_axes();
        let source_axis = |axis| kept_axes.iter().position(|&kept_axes| kept_axes == axis);
        Ok(self.builder().keep_axis_names(&folded, kept, source_axis))
    }

    /// Like [`ReductionContext::fold_keepdims`], in the shape of the result.
    pub(super) fn fold(&self, op: ReduceOp, value: &Value) -> BuildResult {
        self.to_result_shape(&self.fold_keepdims(op, value)?)
    }

    /// A reduced value whose reduced axes have size 1, in the shape of the result: without these axes,
    /// unless `keepdims` is set.
    pub(super) fn to_result_shape(&self, kept: &Value) -> BuildResult {
        match self.options.keepdims {
            true => Ok(kept.clone()),
            false => {
                let result = self.builder().reshape_units(kept, self.result_shape())?;
                let kept_axes = self.kept_axes();
                Ok(self
                    .builder()
                    .keep_axis_names(kept, result, |axis| kept_axes.get(axis).copied()))
            }
        }
    }

    /// `kept`, a reduced value whose reduced axes have size 1, combined by `op` with the initial value, if
    /// any. The initial value becomes an element of type `dtype`, then of the type of `kept`.
    pub(super) fn with_initial(&self, op: Op, kept: Value, dtype: DType) -> BuildResult {
        let Some(initial) = &self.options.initial else { return Ok(kept) };
        let initial = initial.element(self.builder(), dtype)?;
        let b = self.builder();
        let broadcast =
            b.broadcast_onto(initial, &TargetRule::Unidirectional, self.result_shape())?;
        let expanded = b.reshape_units(broadcast, self.keepdims_shape())?;
        let initial = b.convert(expanded, kept.array_type()?.dtype)?;
        b.elementwise(op, &[initial, kept], &RuleSet::None)
    }

    /// `kept`, a reduced value whose reduced axes have size 1, rounded to `dtype`, in the shape of the
    /// result.
    pub(super) fn round_to(&self, kept: Value, dtype: DType) -> BuildResult {
        self.to_result_shape(&self.builder().convert(kept, dtype)?)
    }

    /// The elements in double precision.
    pub(super) fn to_double(&self) -> BuildResult {
        let is_complex = self.dtype().class() == DTypeClass::Complex;
        self.builder().convert(&self.x, if is_complex { DType::C128 } else { DType::F64 })
    }

    /// The number of elements along the axes, minus `correction`; `None` if a mask determines it.
    pub(super) fn fixed_count(&self, correction: f64) -> Option<f64> {
        let sizes = self.axes.iter().map(|&axis| self.array_type.shape[axis]);
        self.selected.is_none().then(|| count_of(sizes, correction))
    }

    /// `value` divided by the number of elements along the axes minus `correction`. The divisor is a constant
    /// that depends on the sizes.
    pub(super) fn divide_by_fixed_count(&self, value: Value, correction: f64) -> BuildResult {
        let b = self.builder();
        let (of, dtype) = (b.id("mean", &self.x)?, value.array_type()?.dtype);
        Ok(value / b.count(of, &self.axes, correction, dtype))
    }

    /// Pins the sizes of the axes, because the graph depends on the number of elements.
    pub(super) fn pin_count(&self, reason: &'static str) {
        self.axes.iter().for_each(|&axis| self.builder().pin(&self.x, axis, reason));
    }

    /// The number of selected elements along the axes as an `f64`; the reduced axes have size 1.
    pub(super) fn count(&self) -> BuildResult {
        let all_elements = || {
            let one = self.builder().scalar(true);
            self.builder().broadcast_like(one, &[], &self.x)
        };
        let selected = self.selected.clone().map_or_else(all_elements, Ok)?;
        Ok(self.fold_keepdims(ReduceOp::Add, &selected.convert(DType::I64))?.convert(DType::F64))
    }

    /// The same call for only the elements that are not NaN.
    pub(super) fn without_nans(&self) -> Self {
        if !matches!(self.dtype().class(), DTypeClass::Float | DTypeClass::Complex) {
            return self.clone();
        }
        let is_number = !self.x.is_nan();
        let selected = match &self.selected {
            Some(selected) => selected & is_number,
            None => is_number,
        };
        ReductionContext { selected: Some(selected), ..self.clone() }
    }

    /// `value`, which has the operand's shape, with its reduced axes merged into one last axis; also returns
    /// that axis.
    pub(super) fn rows(&self, value: &Value) -> Result<(Value, usize), GraphError> {
        let shape = &self.array_type.shape;
        let kept_axes = self.kept_axes();
        let order: Vec<i64> = kept_axes.iter().chain(&self.axes).map(|&axis| axis as i64).collect();
        let mut sizes: Vec<usize> = kept_axes.iter().map(|&axis| shape[axis]).collect();
        sizes.push(self.axes.iter().map(|&axis| shape[axis]).product());
        // The reshape node itself states that several axes merge into one, by their sizes.
        let transposed = self.builder().transpose(value, &order)?;
        let rows = self.builder().reshape_units(&transposed, sizes)?;
        let source_axis = |axis: usize| Some(axis).filter(|&axis| axis < kept_axes.len());
        Ok((self.builder().keep_axis_names(&transposed, rows, source_axis), kept_axes.len()))
    }

    /// One element for each row of [`ReductionContext::rows`], in the shape of the result.
    pub(super) fn rows_to_result(&self, row_results: Value) -> BuildResult {
        self.to_result_shape(&self.expand_reduced_axes(row_results)?)
    }

    /// Broadcasts an operand whose axes are the reduced axes to the shape of `x`. A scalar and an operand
    /// in the shape of `x` are unchanged.
    pub(super) fn broadcast_along(&self, value: &Value) -> BuildResult {
        let shape = value.array_type()?.shape;
        if shape.is_scalar() || shape == self.array_type.shape {
            return Ok(value.clone());
        }
        let dims: Vec<i64> = self.axes.iter().map(|&axis| axis as i64).collect();
        self.builder().broadcast_like(value, &dims, &self.x)
    }
}

impl Initial {
    /// The initial value as an element of type `dtype`; an error if `dtype` cannot hold it.
    pub(super) fn element(&self, b: &GraphBuilder, dtype: DType) -> BuildResult {
        match self {
            Initial::Number(Literal::Bool(truth)) if dtype != DType::Bool => {
                b.number("initial", Literal::Int(i128::from(*truth)), dtype)
            }
            Initial::Number(number) => b.number("initial", *number, dtype),
            Initial::Value(value) if can_convert_initial(dtype, value.array_type()?.dtype) => {
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

/// Whether an initial value of type `given` may be converted to `dtype`.
fn can_convert_initial(dtype: DType, given: DType) -> bool {
    use DTypeClass::{Bool, Complex, Float};
    match (given.class(), dtype.class()) {
        (given, dtype) if given == dtype => true,
        (Bool, _) | (_, Complex) => true,
        (Complex, _) => false,
        (_, dtype) => dtype == Float,
    }
}
