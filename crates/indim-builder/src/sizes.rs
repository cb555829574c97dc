//! Size facts, so that one graph is valid for many sizes: sizes pinned to a number, and equal shapes.
//!
//! A method that takes sizes from its caller pins them. A method that takes sizes from another value
//! states the equality (`equate`), or adds nodes that imply it.

use indim_graph::{SizeFacts, ValueId};
use indim_shape::{Shape, check_broadcast_in_dim};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// Facts about the sizes of the graph that its nodes do not state.
    pub fn size_facts(&self) -> SizeFacts {
        self.facts()
    }

    /// Pins the size of an axis: the graph is then valid for this size only. `reason` is text such as
    /// "the mean divides by it". Does nothing if the value has no such axis.
    pub fn pin(&self, value: &Value, axis: usize, reason: &'static str) {
        if let Ok(id) = self.id("pin", value)
            && axis < self.type_of(id).shape.rank()
        {
            self.with_facts(|facts| facts.pin(id, axis, reason));
        }
    }

    /// Pins the sizes of all axes.
    pub(crate) fn pin_all(&self, value: ValueId, reason: &'static str) {
        let rank = self.type_of(value).shape.rank();
        self.with_facts(|facts| (0..rank).for_each(|axis| facts.pin(value, axis, reason)));
    }

    /// States that two values have equal shapes by construction.
    pub(crate) fn equate(&self, value: ValueId, other: ValueId) {
        self.with_facts(|facts| facts.equate(value, other));
    }

    /// Like [`GraphBuilder::broadcast_in_dim`], onto the shape of another value.
    ///
    /// # Errors
    /// [E1 to E5](indim_shape::rules#the-explicit-form-e).
    #[track_caller]
    pub fn broadcast_like(&self, operand: impl Operand, dims: &[i64], like: &Value) -> BuildResult {
        let id = self.operand_id("broadcast_in_dim", operand)?;
        let like = self.id("broadcast_in_dim", like)?;
        let shape = self.type_of(like).shape;
        match check_broadcast_in_dim(&self.type_of(id).shape, dims, &shape) {
            Ok(map) => {
                let value = self.checked_broadcast("broadcast_in_dim", id, &map, &shape)?;
                self.equate(value.expect_id(), like);
                Ok(value)
            }
            Err(error) => Err(self.shape_error("broadcast_in_dim", &[id], error)),
        }
    }

    /// A reshape that only adds or drops axes of size 1, and therefore pins no size.
    #[track_caller]
    pub(crate) fn reshape_units(
        &self,
        operand: impl Operand,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let id = self.operand_id("reshape", operand)?;
        self.reshape_unpinned(id, shape.into())
    }

    /// Like [`GraphBuilder::reshape`], for a shape whose size along the axis `inferred` follows from the
    /// others: it is not pinned, and neither are the sizes of the operand.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::SymbolicGraph;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [12])?;
    /// let graph = b.finish(&[b.reshape_inferred(&x, [3, 4], Some(0))?])?;
    /// let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    /// assert_eq!(symbolic.guards().symbols(&[&[20]]), Ok(vec![20, 5]));
    /// assert_eq!(symbolic.guards().symbols(&[&[21]]).unwrap_err().code(), "guard-not-met");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    /// `reshape-element-count`.
    #[track_caller]
    pub fn reshape_inferred(
        &self,
        operand: impl Operand,
        shape: impl Into<Shape>,
        inferred: Option<usize>,
    ) -> BuildResult {
        let Some(inferred) = inferred else { return self.reshape(operand, shape) };
        let id = self.operand_id("reshape", operand)?;
        let reshaped = self.reshape_unpinned(id, shape.into())?;
        let result = reshaped.expect_id();
        for axis in (0..self.type_of(result).shape.rank()).filter(|axis| *axis != inferred) {
            self.pin(&reshaped, axis, "a reshape to given sizes was asked for");
        }
        self.with_facts(|facts| facts.reshape([id, result], inferred));
        Ok(reshaped)
    }
}
