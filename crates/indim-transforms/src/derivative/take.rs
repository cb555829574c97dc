//! Derivatives of gathers, scatters and windows: the transpose of a gather is a scatter that adds.

use indim_graph::{AxisWindow, GraphError, Literal, ScatterMode, TakeMode};
use indim_ops::{ArrayType, DType, ScatterOp};

use crate::BuildResult;
use indim_builder::{GraphBuilder, NodeAccess, Value};

/// The cotangent of the operand: for each element, the sum of the cotangents of all results that were
/// gathered from it.
pub(super) fn take(
    axis: usize,
    mode: TakeMode,
    operand: &Value,
    indices: &Value,
    cotangent: &Value,
) -> BuildResult {
    let b = cotangent.builder();
    let zeros = b.zeros(&operand.array_type()?)?;
    b.scatter_add(zeros, indices, cotangent, axis as i64, mode)
}

/// The parameters, operands and result of a scatter node.
pub(super) struct ScatterRule<'a> {
    pub(super) op: ScatterOp,
    pub(super) axis: usize,
    pub(super) mode: ScatterMode,
    pub(super) operand: &'a Value,
    pub(super) indices: &'a Value,
    pub(super) updates: &'a Value,
    pub(super) result: &'a Value,
}

impl ScatterRule<'_> {
    /// The cotangents of the operand and of the updates; `None` for products, which have no rule.
    pub(super) fn cotangents(&self, cotangent: &Value) -> Result<Option<[Value; 2]>, GraphError> {
        match self.op {
            ScatterOp::Add => Ok(Some([cotangent.clone(), self.gather_at_updates(cotangent)?])),
            ScatterOp::Set => self.set_cotangents(cotangent).map(Some),
            ScatterOp::Min | ScatterOp::Max => self.extreme_cotangents(cotangent).map(Some),
            ScatterOp::Mul => Ok(None),
        }
    }

    /// For each update, the element of `x` at its index; 0 for dropped updates.
    fn gather_at_updates(&self, x: &Value) -> BuildResult {
        let b = x.builder();
        let ScatterMode::Take(mode) = self.mode else {
            let clipped = b.take(x, self.indices, self.axis as i64, TakeMode::Clip)?;
            let zeros = b.zeros(&clipped.array_type()?)?;
            return b.select(
                self.broadcast_to_updates(b, &self.in_range_mask(b)?)?,
                clipped,
                zeros,
            );
        };
        b.take(x, self.indices, self.axis as i64, mode)
    }

    /// For each index, whether it is in range.
    fn in_range_mask(&self, b: &GraphBuilder) -> BuildResult {
        b.in_range_mask(self.indices, self.operand.array_type()?.shape[self.axis])
    }

    /// Broadcasts a value with an element for each index to one with an element for each update.
    fn broadcast_to_updates(&self, b: &GraphBuilder, of_indices: &Value) -> BuildResult {
        let rank = of_indices.array_type()?.shape.rank();
        let dims: Vec<i64> = (self.axis..self.axis + rank).map(|axis| axis as i64).collect();
        b.broadcast_like(of_indices, &dims, self.updates)
    }

    /// The cotangents of `set`: the last update of an element gets the whole cotangent; the replaced
    /// element and earlier updates get 0.
    fn set_cotangents(&self, cotangent: &Value) -> Result<[Value; 2], GraphError> {
        let b = cotangent.builder();
        let axis = self.axis as i64;
        let none = b.zeros(&self.updates.array_type()?)?;
        let to_operand =
            b.scatter(ScatterOp::Set, cotangent, self.indices, &none, axis, self.mode)?;
        let shape = self.indices.array_type()?.shape;
        if shape.is_scalar() {
            // The only update is the last one.
            return Ok([to_operand, self.gather_at_updates(cotangent)?]);
        }
        let count = shape.element_count().unwrap_or(usize::MAX);
        // Scatters the numbers of the updates in the same way: an update whose number arrives is the
        // last.
        let numbers = b.reshape(b.iota(DType::I64, [count], 0)?, shape)?;
        let size = self.operand.array_type()?.shape[self.axis];
        let first = b.zeros(&ArrayType::new(DType::I64, [size]))?;
        let last = b.scatter(ScatterOp::Set, first, self.indices, &numbers, 0, self.mode)?;
        let mode = match self.mode {
            ScatterMode::Take(mode) => mode,
            // The cotangent of a dropped update is 0 already.
            ScatterMode::Drop => TakeMode::Clip,
        };
        let is_last = match size {
            0 => b.broadcast_like(b.scalar(false), &[], &numbers)?,
            _ => b.eq(b.take(last, self.indices, 0, mode)?, numbers, &[])?,
        };
        let is_last = self.broadcast_to_updates(b, &is_last)?;
        Ok([to_operand, b.select(is_last, self.gather_at_updates(cotangent)?, none)?])
    }

    /// The cotangents of `min` and `max`: the element and the updates that equal the result share the
    /// cotangent equally; NaNs, if any, share it instead.
    fn extreme_cotangents(&self, cotangent: &Value) -> Result<[Value; 2], GraphError> {
        let b = cotangent.builder();
        let dtype = cotangent.array_type()?.dtype;
        let attains =
            |x: &Value, result: &Value| b.or(b.eq(x, result, &[])?, b.ne(x, x, &[])?, &[]);
        let of_operand = attains(self.operand, self.result)?;
        let mut of_updates = attains(self.updates, &self.gather_at_updates(self.result)?)?;
        if self.mode == ScatterMode::Drop {
            of_updates =
                b.and(of_updates, self.broadcast_to_updates(b, &self.in_range_mask(b)?)?, &[])?;
        }
        let (counted, added) = (b.convert(&of_operand, dtype)?, b.convert(&of_updates, dtype)?);
        let count = b.scatter_add(counted, self.indices, added, self.axis as i64, self.mode)?;
        let share = b.div(cotangent, count, &[])?;
        let only = |attains: Value, share: Value| {
            let zeros = b.zeros(&share.array_type()?)?;
            b.select(attains, share, zeros)
        };
        Ok([only(of_operand, share.clone())?, only(of_updates, self.gather_at_updates(&share)?)?])
    }
}

/// The cotangent of the operand of a window node: for each element, the sum of its cotangents in all windows.
pub(super) fn window(
    axis: usize,
    window: &AxisWindow,
    operand: &Value,
    cotangent: &Value,
) -> BuildResult {
    let b = cotangent.builder();
    let of_operand = operand.array_type()?;
    let shape = [window.positions(of_operand.shape[axis]), window.size()];
    let steps = [window.stride(), window.dilation()];
    let moved = |along: usize| {
        let counted = b.iota(DType::I64, shape, along as i64)?;
        b.mul(counted, b.literal(Literal::Int(steps[along] as i128), DType::I64)?, &[])
    };
    let indices = b.add(moved(0)?, moved(1)?, &[])?;
    let rank = of_operand.shape.rank();
    // The axis of the elements of a window moves next to the axis of positions.
    let order = (0..=axis).chain([rank]).chain(axis + 1..rank).map(|from| from as i64);
    let updates = b.transpose(cotangent, &order.collect::<Vec<i64>>())?;
    // No index is out of range, so the mode has no effect.
    b.scatter_add(b.zeros(&of_operand)?, indices, updates, axis as i64, TakeMode::Clip)
}
