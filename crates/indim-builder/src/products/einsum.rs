//! `einsum`, for any number of operands.

use core::borrow::Borrow;

use indim_graph::{AxisSlice, GraphError, GraphErrorKind, ValueId};
use indim_ops::DType;
use indim_shape::{Einsum, EinsumOperand, EinsumPlan};

use super::types::ProductTypes;
use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::reductions::{ReduceOptions, Reduction};

impl GraphBuilder {
    /// NumPy's `einsum`: an equation names the axes of each operand and of the result by letters. Equal
    /// letters are one axis; axes that the result lacks are summed.
    ///
    /// Three or more operands are multiplied in pairs, in an order that follows from their sizes only; the
    /// graph is then valid for these sizes only. Each product is rounded to the operands' type.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [7, 5, 3])?;
    /// let y = b.parameter("y", DType::F32, [7, 3, 4])?;
    /// assert_eq!(b.einsum("bij,bjk->bik", &[&x, &y])?.array_type()?.to_string(), "f32[7, 5, 4]");
    /// assert_eq!(b.einsum("bij->j", &[&x])?.array_type()?.to_string(), "f32[3]");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// TY2; [P5 to P8](indim_shape::rules#products-p); E5 `too-large`.
    #[track_caller]
    pub fn einsum(&self, equation: &str, operands: &[impl Borrow<Value>]) -> BuildResult {
        self.einsum_as(equation, operands, None)
    }

    /// Like [`GraphBuilder::einsum`], with a result of type `dtype`; the default is the operands' type.
    /// If `dtype` is wider, operands are converted to it first.
    ///
    /// # Errors
    /// Like [`GraphBuilder::einsum`].
    #[track_caller]
    pub fn einsum_as(
        &self,
        equation: &str,
        operands: &[impl Borrow<Value>],
        dtype: Option<DType>,
    ) -> BuildResult {
        let ids = self.ids("einsum", operands)?;
        let refused = |error| self.error("einsum", &ids, GraphErrorKind::Einsum(error));
        let einsum: Einsum = equation.parse().map_err(refused)?;
        let shapes: Vec<_> = ids.iter().map(|&id| self.type_of(id).shape).collect();
        let plan = einsum.elaborate(&shapes).map_err(refused)?;
        let own = self.check_types("einsum", &ids)?;
        let types = ProductTypes::new(own, dtype.unwrap_or(own));
        if plan.products.len() > 1 {
            let reason = "the order of the products of an einsum depends on it";
            ids.iter().for_each(|&id| self.pin_all(id, reason));
        }
        self.run_plan(&plan, &ids, types)
    }

    #[track_caller]
    fn run_plan(&self, plan: &EinsumPlan, ids: &[ValueId], types: ProductTypes) -> BuildResult {
        let mut values = Vec::with_capacity(ids.len());
        for (&id, steps) in ids.iter().zip(&plan.operands) {
            let value = self.convert(self.value(id), types.operands)?;
            values.push(self.prepare_operand(value, steps)?);
        }
        let own = ProductTypes { result: types.operands, ..types };
        for product in &plan.products {
            let [x, y] = product.operands;
            let right = values.remove(y);
            let left = values.remove(x);
            let is_last = values.is_empty();
            let types = if is_last { types } else { own };
            values.push(self.elaborated_product(
                "einsum",
                &product.form,
                [&left, &right],
                types,
            )?);
        }
        let value = self.convert(&values[0], types.result)?;
        let shape = value.array_type()?.shape;
        let mut sizes = vec![0; shape.rank()];
        plan.result.iter().zip(shape.iter()).for_each(|(&axis, &size)| sizes[axis] = size);
        self.checked_broadcast("einsum", value.expect_id(), &plan.result, &sizes.into())
    }

    /// Takes the diagonals of one operand, then the sums along axes that no product needs.
    fn prepare_operand(&self, value: Value, steps: &EinsumOperand) -> BuildResult {
        let mut value = value;
        for &axes in &steps.diagonals {
            value = self.diagonal(&value, axes)?;
        }
        if steps.summed.is_empty() {
            return Ok(value);
        }
        let axes: Vec<i64> = steps.summed.iter().map(|&axis| axis as i64).collect();
        let sum = match value.array_type()?.dtype {
            DType::Bool => Reduction::Any,
            _ => Reduction::Sum,
        };
        self.along(sum, value, ReduceOptions::axes(axes))
    }

    /// The elements with equal indices along two axes; the second axis is removed.
    fn diagonal(&self, value: &Value, [first, second]: [usize; 2]) -> Result<Value, GraphError> {
        let shape = value.array_type()?.shape;
        let rank = shape.rank();
        let mut order: Vec<usize> =
            (0..rank).filter(|&axis| ![first, second].contains(&axis)).collect();
        let kept: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        order.extend([first, second]);
        let order: Vec<i64> = order.into_iter().map(|axis| axis as i64).collect();
        let size = shape[first];
        let flat: Vec<usize> = kept.iter().copied().chain([size * size]).collect();
        let flat = self.reshape_units(self.transpose(value, &order)?, flat)?;
        let mut slices: Vec<AxisSlice> = kept.iter().map(|&size| AxisSlice::whole(size)).collect();
        slices.push(AxisSlice::new(0, size, size as isize + 1));
        let diagonal = self.slice(flat, &slices)?;
        // The diagonal is the last axis now.
        let position = |axis: usize| if axis < first { axis } else { axis - 1 };
        let permutation =
            (0..rank - 1).map(|axis| if axis == first { rank - 2 } else { position(axis) });
        self.transpose(diagonal, &permutation.map(|axis| axis as i64).collect::<Vec<i64>>())
    }
}
