//! The builder's methods that move or convert elements: conversion, bitcast, broadcast, reshape,
//! transposition.

use indim_graph::signature::check_bitcast;
use indim_graph::{GraphErrorKind, Literal, NodeKind, ValueId};
use indim_ops::{ArrayType, DType};
use indim_shape::{AxisMap, Shape, TargetRule, check_broadcast_in_dim};

use crate::builder::{BuildResult, GraphBuilder, Value};
use crate::operand::Operand;

impl GraphBuilder {
    /// Conversion of every element to `dtype`.
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`, if the wider elements do not fit into
    /// memory.
    #[track_caller]
    pub fn convert(&self, operand: impl Operand, dtype: DType) -> BuildResult {
        let id = self.operand_id("convert", operand)?;
        let from = self.type_of(id);
        if from.dtype == dtype {
            return Ok(self.value(id));
        }
        let array_type = ArrayType::new(dtype, from.shape);
        self.check_size("convert", &array_type, &[id])?;
        Ok(self.add_node(NodeKind::Convert, &[id], array_type))
    }

    /// The same bits as another element type of the same width.
    ///
    /// # Errors
    /// [TY1](indim_shape::rules#element-types-ty) `element-type-not-allowed` for `bool`
    /// and complex numbers; `bitcast-width`.
    #[track_caller]
    pub fn bitcast(&self, operand: impl Operand, dtype: DType) -> BuildResult {
        let id = self.operand_id("bitcast", operand)?;
        let from = self.type_of(id);
        if let Err(kind) = check_bitcast(from.dtype, dtype) {
            return Err(self.error("bitcast", &[id], kind));
        }
        if from.dtype == dtype {
            return Ok(self.value(id));
        }
        Ok(self.add_node(NodeKind::Bitcast, &[id], ArrayType::new(dtype, from.shape)))
    }

    /// StableHLO's `broadcast_in_dim`: axis `i` of the operand maps to axis `dims[i]` of `shape`; `dims` may
    /// permute axes.
    ///
    /// # Errors
    /// [E1 to E5](indim_shape::rules#the-explicit-form-e).
    #[track_caller]
    pub fn broadcast_in_dim(
        &self,
        operand: impl Operand,
        dims: &[i64],
        shape: impl Into<Shape>,
    ) -> BuildResult {
        let shape = shape.into();
        let id = self.operand_id("broadcast_in_dim", operand)?;
        match check_broadcast_in_dim(&self.type_of(id).shape, dims, &shape) {
            Ok(map) => self.pin_broadcast_sizes(self.checked_broadcast(
                "broadcast_in_dim",
                id,
                &map,
                &shape,
            )?),
            Err(error) => Err(self.shape_error("broadcast_in_dim", &[id], error)),
        }
    }

    /// Zeros of an array type.
    ///
    /// ```
    /// use indim_builder::GraphBuilder;
    /// use indim_graph::evaluate;
    /// use indim_ops::{ArrayType, DType};
    ///
    /// let b = GraphBuilder::new();
    /// let graph = b.finish(&[b.zeros(&ArrayType::new(DType::F32, [2]))?])?;
    /// assert_eq!(evaluate(&graph, &[])?[0].elements::<f32>().unwrap(), [0.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn zeros(&self, of: &ArrayType) -> BuildResult {
        self.broadcast_in_dim(self.literal(Literal::Int(0), of.dtype)?, &[], &of.shape)
    }

    /// XLA's `Broadcast`: new axes of `sizes` in front.
    ///
    /// # Errors
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn broadcast(&self, operand: impl Operand, sizes: &[usize]) -> BuildResult {
        let value = self.broadcast_onto(operand, &TargetRule::XlaBroadcast, Shape::from(sizes))?;
        let given = 0..sizes.len();
        given.for_each(|axis| self.pin(&value, axis, "a broadcast to this size was asked for"));
        Ok(value)
    }

    /// A broadcast to a target shape under one of the target rules.
    ///
    /// # Errors
    /// The labels of [the rule](indim_shape::rules#onto-a-target-shape-t).
    #[track_caller]
    pub fn broadcast_to_target(
        &self,
        operand: impl Operand,
        rule: &TargetRule,
        target: impl Into<Shape>,
    ) -> BuildResult {
        self.pin_broadcast_sizes(self.broadcast_onto(operand, rule, target)?)
    }

    /// Like [`GraphBuilder::broadcast_to_target`], for a target shape taken from other values, whose
    /// sizes are not pinned.
    #[track_caller]
    pub(crate) fn broadcast_onto(
        &self,
        operand: impl Operand,
        rule: &TargetRule,
        target: impl Into<Shape>,
    ) -> BuildResult {
        let id = self.operand_id("broadcast", operand)?;
        match rule.elaborate(&self.type_of(id).shape, &target.into()) {
            Ok(broadcast) => {
                self.checked_broadcast("broadcast", id, &broadcast.maps()[0], broadcast.result())
            }
            Err(error) => Err(self.shape_error("broadcast", &[id], error)),
        }
    }

    /// Pins the axes of a broadcast to sizes that the caller gave.
    fn pin_broadcast_sizes(&self, value: Value) -> BuildResult {
        self.pin_all(value.expect_id(), "a broadcast to this size was asked for");
        Ok(value)
    }

    /// A broadcast by an axis map that was checked; checks the size of the result.
    #[track_caller]
    pub(crate) fn checked_broadcast(
        &self,
        operation: &'static str,
        operand: ValueId,
        map: &AxisMap,
        shape: &Shape,
    ) -> BuildResult {
        let result = ArrayType::new(self.type_of(operand).dtype, shape.clone());
        self.check_size(operation, &result, &[operand])?;
        Ok(self.value(self.add_broadcast(operand, map, shape)))
    }

    /// The same elements in row-major order under another shape.
    ///
    /// # Errors
    /// `reshape-element-count`.
    #[track_caller]
    pub fn reshape(&self, operand: impl Operand, shape: impl Into<Shape>) -> BuildResult {
        let id = self.operand_id("reshape", operand)?;
        let reshaped = self.reshape_unpinned(id, shape.into())?;
        for value in [id, reshaped.expect_id()] {
            self.pin_all(value, "a reshape to given sizes was asked for");
        }
        Ok(reshaped)
    }

    /// Like [`GraphBuilder::reshape`], but pins no size.
    #[track_caller]
    pub(crate) fn reshape_unpinned(&self, id: ValueId, shape: Shape) -> BuildResult {
        let from = self.type_of(id);
        if shape.element_count().ok() != from.shape.element_count().ok() {
            return Err(self.error(
                "reshape",
                &[id],
                GraphErrorKind::ReshapeElementCount { shape },
            ));
        }
        if shape == from.shape {
            return Ok(self.value(id));
        }
        Ok(self.add_node(NodeKind::Reshape, &[id], ArrayType::new(from.dtype, shape)))
    }

    /// Result axis `i` is axis `permutation[i]` of the operand.
    ///
    /// # Errors
    /// `not-a-permutation`.
    #[track_caller]
    pub fn transpose(&self, operand: impl Operand, permutation: &[i64]) -> BuildResult {
        let id = self.operand_id("transpose", operand)?;
        let from = self.type_of(id).shape;
        let Some(map) = inverse_permutation(permutation, from.rank()) else {
            let permutation = permutation.to_vec();
            return Err(self.error(
                "transpose",
                &[id],
                GraphErrorKind::NotAPermutation { permutation },
            ));
        };
        let mut sizes = vec![0; from.rank()];
        map.iter().zip(from.iter()).for_each(|(&axis, &size)| sizes[axis] = size);
        Ok(self.value(self.add_broadcast(id, &map, &Shape::from(sizes))))
    }
}

/// The axis map of a transposition in which result axis `i` is operand axis `permutation[i]`; `None` if the
/// list is not a permutation.
fn inverse_permutation(permutation: &[i64], rank: usize) -> Option<AxisMap> {
    if permutation.len() != rank {
        return None;
    }
    let mut inverse = vec![None; rank];
    for (axis, &from) in permutation.iter().enumerate() {
        let slot = inverse.get_mut(usize::try_from(from).ok()?)?;
        if slot.replace(axis).is_some() {
            return None;
        }
    }
    inverse.into_iter().collect::<Option<Vec<usize>>>().map(AxisMap::from)
}
