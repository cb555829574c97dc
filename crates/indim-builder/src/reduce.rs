//! Reductions along one axis.

use indim_graph::NodeKind;
use indim_graph::signature::check_reduction;
use indim_ops::ReduceOp;

use crate::builder::{BuildResult, GraphBuilder};
use crate::operand::Operand;

impl GraphBuilder {
    /// Reduces along one axis, which is removed. For several axes, reduce repeatedly, the last axis first.
    /// The result has the operand's element type, or `i64` for `argmax` and `argmin`. Sums and products take
    /// only `f64` and `c128` among floats and complex numbers; convert narrower types first.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x, 1)?, b.reduce(ReduceOp::ArgMax, &x, 1)?])?;
    /// let results = evaluate(&graph, &[Array::new([2, 3], vec![1, 2, 3, 10, 30, 20])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Ok(&[6, 60][..]));
    /// assert_eq!(results[1].elements::<i64>(), Ok(&[2, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; TY1; `empty-reduction` for an arg-reduction along an axis of size 0; E5
    /// `too-large` if the removal of an axis of size 0 makes the result too large.
    #[track_caller]
    pub fn reduce(&self, op: ReduceOp, operand: impl Operand, axis: i64) -> BuildResult {
        let id = self.operand_id(op.name(), operand)?;
        let (axis, array_type) = match check_reduction(op, axis, &self.type_of(id)) {
            Ok(checked) => checked,
            Err(kind) => return Err(self.error(op.name(), &[id], kind)),
        };
        // Without an axis of size 0, the product of the other sizes may be too large.
        self.check_size(op.name(), &array_type, &[id])?;
        Ok(self.add_node(NodeKind::Reduce { op, axis }, &[id], array_type))
    }
}
