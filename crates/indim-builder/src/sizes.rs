//! Size facts of the builder, so that one graph serves other sizes: sizes pinned to a number, and sizes equal
//! to those of another value.
//!
//! Each method that takes sizes from its caller pins them. Methods that only hand on the sizes of a value
//! use this file, or nodes that state the equality themselves.

use indim_graph::{SizeFacts, ValueId};
use indim_shape::{Shape, check_broadcast_in_dim};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// Facts about sizes of the graph that its nodes do not state.
    pub fn size_facts(&self) -> SizeFacts {
        self.facts()
    }

    /// Pins the size of an axis: the graph would be another one at another size. `reason` says why, as in
    /// "the mean divides by it". A value without this axis pins nothing.
    pub fn pin(&self, value: &Value, axis: usize, reason: &'static str) {
        if let Ok(id) = self.id("pin", value)
            && axis < self.type_of(id).shape.rank()
        {
            self.with_facts(|facts| facts.pin(id, axis, reason));
        }
    }

    /// Says so of every axis.
    pub(crate) fn pin_all(&self, value: ValueId, reason: &'static str) {
        let rank = self.type_of(value).shape.rank();
        self.with_facts(|facts| (0..rank).for_each(|axis| facts.pin(value, axis, reason)));
    }

    /// Says that two values have one shape, since that of one was made of the other's.
    pub(crate) fn equate(&self, value: ValueId, other: ValueId) {
        self.with_facts(|facts| facts.equate(value, other));
    }

    /// Like [`GraphBuilder::broadcast_in_dim`], onto the shape of another value.
    ///
    /// # Errors
    /// [E1 to E5](indim_shape::rules#the-explicit-form-e).
    #[track_caller]
    pub fn broadcast_like(&self, operand: impl Operand, dims: &[i64], like: &Value) -> BuildResult {
        let id = self.given_id("broadcast_in_dim", operand)?;
        let like = self.id("broadcast_in_dim", like)?;
        let shape = self.type_of(like).shape;
        match check_broadcast_in_dim(&self.type_of(id).shape, dims, &shape) {
            Ok(map) => {
                let placed = self.placed("broadcast_in_dim", id, &map, &shape)?;
                self.equate(placed.known_id(), like);
                Ok(placed)
            }
            Err(error) => Err(self.shape_error("broadcast_in_dim", &[id], error)),
        }
    }

    /// The same elements where axes of size 1 have been added or dropped; `shape` has the others of the
    /// operand.
    #[track_caller]
    pub(crate) fn reshape_units(
        &self,
        operand: impl Operand,
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let id = self.given_id("reshape", operand)?;
        self.reshaped(id, shape.into())
    }
}
