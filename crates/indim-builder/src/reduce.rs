//! Reductions along one axis.

use indim_graph::NodeKind;
use indim_graph::signature::check_reduction;
use indim_ops::ReduceOp;

use crate::builder::{BuildResult, GraphBuilder};
use crate::operand::Operand;

impl GraphBuilder {
    /// Reduces along one axis, which goes; several axes are several reductions, the last axis first. The
    /// element type stays, but that `argmax` and `argmin` give `i64`: sums and products of floats are those
    /// of `f64` and `c128`, to which narrower ones are converted before.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [2, 3])?;
    /// let graph = b.finish(&[b.reduce(ReduceOp::Add, &x, 1)?, b.reduce(ReduceOp::ArgMax, &x, 1)?])?;
    /// let results = evaluate(&graph, &[Array::new([2, 3], vec![1, 2, 3, 10, 30, 20])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Some(&[6, 60][..]));
    /// assert_eq!(results[1].elements::<i64>(), Some(&[2, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; TY1; `empty-reduction`, of a search along an axis of size 0; E5 `too-large` where
    /// an axis of size 0 goes.
    #[track_caller]
    pub fn reduce(&self, op: ReduceOp, operand: impl Operand, axis: i64) -> BuildResult {
        let id = self.given_id(op.name(), operand)?;
        let (axis, array_type) = match check_reduction(op, axis, &self.type_of(id)) {
            Ok(checked) => checked,
            Err(kind) => return Err(self.error(op.name(), &[id], kind)),
        };
        // Without an axis of size 0 the others may be too much.
        self.check_size(op.name(), &array_type, &[id])?;
        Ok(self.add_node(NodeKind::Reduce { op, axis }, &[id], array_type))
    }
}
