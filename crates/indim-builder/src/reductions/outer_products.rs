//! Sums of outer products. `sum(x[:, :, None] * y[None], axis=1)` is a product of matrices, and becomes the
//! contraction that `x @ y` is.

use indim_graph::{GraphError, NodeKind, ValueId};
use indim_ops::{DType, DTypeClass, Op, ReduceOp};
use indim_shape::{AxisMap, Shape};

use super::context::ReductionContext;
use crate::builder::{GraphBuilder, Value};

/// A factor of a product: a value, and its broadcast to the shape of the product.
struct Factor {
    value: Value,
    map: AxisMap,
    /// For each axis of the product, whether the factor differs along it.
    varies: Vec<bool>,
}

impl ReductionContext<'_> {
    /// The sum of the operand as an `f64` contraction; the reduced axes have size 1. `None` unless the
    /// operand multiplies two floats, each factor has an axis that the other one lacks, and both factors
    /// have the last reduced axis.
    ///
    /// The structure of the graph decides, before any pass, so the bits do not depend on other uses of the
    /// product. A mask or another element type of the result leaves a sum.
    pub(super) fn sum_of_outer_product(&self) -> Result<Option<Value>, GraphError> {
        let Some((&summed, rest)) = self.axes.split_last() else { return Ok(None) };
        let keeps_type = self.options.dtype.is_none_or(|dtype| dtype == self.dtype());
        let is_plain = self.selected.is_none() && keeps_type;
        if !is_plain || self.dtype().class() != DTypeClass::Float {
            return Ok(None);
        }
        let Some(factors) = self.builder().factors(self.builder().id("sum", &self.x)?)? else {
            return Ok(None);
        };
        if !is_outer_product(&factors, summed) {
            return Ok(None);
        }
        let [x, y] = factors.map(|factor| self.contraction_operand(&factor, summed));
        let mut total = self.builder().contract(x?, y?, 1)?;
        for &axis in rest.iter().rev() {
            total = self.builder().reduce(ReduceOp::Add, total, axis as i64)?;
        }
        self.expand_reduced_axes(total).map(Some)
    }

    /// The factor in the shape of the product, with the summed axis last. 16-bit floats become `f32`.
    fn contraction_operand(&self, factor: &Factor, summed: usize) -> Result<Value, GraphError> {
        let shape = &self.array_type.shape;
        let last = shape.rank() - 1;
        let moved = |&axis: &usize| match axis {
            axis if axis == summed => last,
            axis => axis - usize::from(axis > summed),
        };
        let map = AxisMap::from(factor.map.iter().map(moved).collect::<Vec<usize>>());
        let kept = (0..=last).filter(|&axis| axis != summed);
        let shape: Shape = kept.chain([summed]).map(|axis| shape[axis]).collect();
        let b = self.builder();
        let wide = if self.dtype().size() == 2 { DType::F32 } else { self.dtype() };
        let value = b.convert(&factor.value, wide)?;
        b.checked_broadcast("sum", value.expect_id(), &map, &shape)
    }
}

/// Whether both factors differ along the summed axis, and each along an axis that the other one lacks.
fn is_outer_product([x, y]: &[Factor; 2], summed: usize) -> bool {
    let differs = |one: &Factor, other: &Factor| {
        let mut axes = 0..one.varies.len();
        axes.any(|axis| axis != summed && one.varies[axis] && !other.varies[axis])
    };
    x.varies[summed] && y.varies[summed] && differs(x, y) && differs(y, x)
}

impl GraphBuilder {
    /// The factors of a product of two broadcasts; `None` for other values.
    fn factors(&self, product: ValueId) -> Result<Option<[Factor; 2]>, GraphError> {
        let (kind, operands) = self.node(product);
        if kind != NodeKind::Elementwise(Op::Mul) {
            return Ok(None);
        }
        let [x, y] = [self.factor(operands[0])?, self.factor(operands[1])?];
        Ok(x.zip(y).map(|(x, y)| [x, y]))
    }

    /// A broadcast, or a conversion of one; `None` for other values.
    fn factor(&self, id: ValueId) -> Result<Option<Factor>, GraphError> {
        let (shape, dtype) = (self.type_of(id).shape, self.type_of(id).dtype);
        let broadcast = self.operand_of_conversion(id).unwrap_or(id);
        let (NodeKind::BroadcastInDim(map), operands) = self.node(broadcast) else {
            return Ok(None);
        };
        let source = self.type_of(operands[0]).shape;
        let mut varies = vec![false; shape.rank()];
        for (axis, &to) in map.iter().enumerate() {
            varies[to] = source[axis] != 1;
        }
        let value = self.convert(self.value(operands[0]), dtype)?;
        Ok(Some(Factor { value, map, varies }))
    }
}
