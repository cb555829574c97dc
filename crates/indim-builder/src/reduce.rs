//! Reductions and scans along one axis.

use indim_graph::NodeKind;
use indim_graph::signature::{check_reduction, check_scan};
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

    /// A scan along one axis: at each position the fold of the elements up to it, in the operand's shape
    /// and element type. With `reverse` it runs from the last element to the first; with `exclusive` each
    /// result leaves its own element out. Sums and products fold floats in `f64` and complex numbers in
    /// `c128`, and round each result ([`indim_ops::meaning::scan`] defines the order).
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::{Array, evaluate};
    /// use indim_ops::{DType, ReduceOp};
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::I32, [4])?;
    /// let sums = b.scan(ReduceOp::Add, &x, 0, false, false)?;
    /// let rest = b.scan(ReduceOp::Add, &x, 0, true, true)?;
    /// let graph = b.finish(&[sums, rest])?;
    /// let results = evaluate(&graph, &[Array::new([4], vec![1, 2, 3, 4])?])?;
    /// assert_eq!(results[0].elements::<i32>(), Ok(&[1, 3, 6, 10][..]));
    /// assert_eq!(results[1].elements::<i32>(), Ok(&[9, 7, 4, 0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `axis-out-of-range`; TY1.
    #[track_caller]
    pub fn scan(
        &self,
        op: ReduceOp,
        operand: impl Operand,
        axis: i64,
        reverse: bool,
        exclusive: bool,
    ) -> BuildResult {
        let name = op.scan_name();
        let id = self.operand_id(name, operand)?;
        let array_type = self.type_of(id);
        match check_scan(op, axis, &array_type) {
            Ok(axis) => {
                let kind = NodeKind::Scan { op, axis, reverse, exclusive };
                Ok(self.add_node(kind, &[id], array_type))
            }
            Err(kind) => Err(self.error(name, &[id], kind)),
        }
    }
}
