//! Gathers with a value for indices out of range: `x.at[i, j].get(mode="fill")` in JAX.

use core::borrow::Borrow;

use indim_graph::{GraphError, Literal, TakeMode, ValueId};
use indim_ops::{DType, DTypeClass, Op};
use indim_shape::{RuleSet, Shape, TargetRule};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;
use crate::operand::sealed::Sealed;

impl GraphBuilder {
    /// A gather from several axes in which an index out of range gives `fill`. Axes and indices are those
    /// of [`gather`](GraphBuilder::gather); an index from −size to −1 counts from the end, as in JAX.
    /// `fill` is a number or a scalar, or has the shape of the result.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let i = b.parameter("i", DType::I64, [4])?;
    /// let graph = b.finish(&[b.gather_or_fill(&x, &[0], &[i], -1.0)?])?;
    /// let x = Array::new([3], vec![5.0f32, 6.0, 7.0])?;
    /// let i = Array::new([4], vec![0i64, -1, 3, -4])?;
    /// assert_eq!(evaluate(&graph, &[x, i])?[0].elements::<f32>(), Ok(&[5.0, 7.0, -1.0, -1.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`gather`](GraphBuilder::gather), such as `take-from-empty`; those of a select between the
    /// elements and `fill`.
    #[track_caller]
    pub fn gather_or_fill(
        &self,
        operand: impl Operand,
        axes: &[i64],
        indices: &[impl Borrow<Value>],
        fill: impl Operand,
    ) -> BuildResult {
        let id = self.operand_id("gather", operand)?;
        // Wrapping resolves negative indices; elements at indices out of range are replaced below.
        let taken = self.gather(self.value(id), axes, indices, TakeMode::Wrap)?;
        let axes = self.distinct_axes("gather", id, axes)?;
        let Some(mask) = self.all_in_range(id, &axes, indices)? else { return Ok(taken) };
        let mask = self.mask_of_gathered(&mask, id, &axes, &taken)?;
        let operands = [mask.into_arg(), taken.into_arg(), fill.into_arg()];
        self.operation(Op::Select, &operands, &RuleSet::Xla { dims: Vec::new() })
    }

    /// For each position of the indices, whether all of them are in range; `None` without indices.
    #[track_caller]
    fn all_in_range(
        &self,
        operand: ValueId,
        axes: &[usize],
        indices: &[impl Borrow<Value>],
    ) -> Result<Option<Value>, GraphError> {
        let shape = self.type_of(operand).shape;
        let mut all: Option<Value> = None;
        for (&axis, index) in axes.iter().zip(indices) {
            let mask = self.in_range_from_either_end(index.borrow(), shape[axis])?;
            all = Some(match all {
                Some(all) => self.elementwise(Op::And, &[all, mask], &RuleSet::Numpy)?,
                None => mask,
            });
        }
        Ok(all)
    }

    /// For each index, whether it is from `-size` to `size - 1`.
    #[track_caller]
    fn in_range_from_either_end(&self, index: &Value, size: usize) -> BuildResult {
        let from_start = self.in_range_mask(index, size)?;
        if index.array_type()?.dtype.class() == DTypeClass::Unsigned {
            return Ok(from_start);
        }
        // A sum beyond the largest i64 wraps to a negative number, which is out of range too.
        let index = self.convert(index, DType::I64)?;
        let size_value = self.literal(Literal::Int(size as i128), DType::I64)?;
        let from_end = self.in_range_mask(&self.add(&index, size_value, &[])?, size)?;
        self.or(from_start, from_end, &[])
    }

    /// The mask of indices, broadcast to the shape of the gathered elements.
    #[track_caller]
    fn mask_of_gathered(
        &self,
        mask: &Value,
        operand: ValueId,
        axes: &[usize],
        taken: &Value,
    ) -> BuildResult {
        let lowest = axes.iter().copied().min().unwrap_or(0);
        let kept_after = (lowest..self.type_of(operand).shape.rank())
            .filter(|axis| !axes.contains(axis))
            .count();
        let mut sizes = mask.array_type()?.shape.to_vec();
        sizes.resize(sizes.len() + kept_after, 1);
        let aligned = self.reshape(mask, Shape::from(sizes))?;
        self.broadcast_to_target(aligned, &TargetRule::Unidirectional, taken.array_type()?.shape)
    }
}
