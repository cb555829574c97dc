//! What an operator is given: operands and attributes, of which it makes nodes.

use indim_builder::{GraphBuilder, Value};
use indim_graph::signature::existing_axis;
use indim_graph::{Array, GraphError, GraphErrorKind};
use indim_ops::DType;
use indim_shape::{RuleSet, Shape, TargetRule};

use super::flat_node::FlatNode;
use super::tensor::Tensors;
use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, RuleNote};

/// The results of an operator, as many as it may have; or what is wrong.
pub(super) type Made = Result<Vec<KnownValue>, FormatErrorKind>;

/// One node, with the values of its operands.
pub(super) struct Call<'c> {
    pub(super) builder: &'c GraphBuilder,
    pub(super) node: &'c FlatNode,
    pub(super) operands: &'c [Option<KnownValue>],
    pub(super) tensors: &'c Tensors,
    pub(super) rule: &'c RuleNote,
}

/// One result.
pub(super) fn one(value: Value) -> Made {
    Ok(vec![value.into()])
}

impl Call<'_> {
    /// The version of the operator: the one in which it last changed, as far as the model's opset knows.
    pub(super) fn version(&self) -> i64 {
        self.node.version
    }

    /// An operand that may be left out.
    pub(super) fn optional(&self, position: usize) -> Option<&KnownValue> {
        self.operands.get(position)?.as_ref()
    }

    /// # Errors
    /// `wrong-count`: it is left out.
    pub(super) fn known(&self, position: usize) -> Result<&KnownValue, FormatErrorKind> {
        self.optional(position).ok_or_else(|| FormatErrorKind::Count {
            what: "operands",
            expected: format!("at least {}", position + 1),
            given: self.operands.iter().flatten().count(),
        })
    }

    /// # Errors
    /// As [`Call::known`].
    pub(super) fn value(&self, position: usize) -> Result<&Value, FormatErrorKind> {
        self.known(position).map(|known| &known.value)
    }

    pub(super) fn shape(&self, position: usize) -> Result<Shape, FormatErrorKind> {
        Ok(self.value(position)?.array_type()?.shape)
    }

    pub(super) fn dtype(&self, position: usize) -> Result<DType, FormatErrorKind> {
        Ok(self.value(position)?.array_type()?.dtype)
    }

    /// The elements of an operand, which must be known.
    ///
    /// # Errors
    /// `depends-on-data`, with the name of the operand.
    pub(super) fn elements(&self, position: usize) -> Result<&Array, FormatErrorKind> {
        let known = self.known(position)?;
        let name = || self.node.node.proto.input[position].clone();
        let unknown = || FormatErrorKind::DependsOnData { chain: vec![name()] };
        known.elements.as_ref().ok_or_else(unknown)
    }

    /// The elements of an operand as whole numbers.
    ///
    /// # Errors
    /// `depends-on-data`; `unexpected` for other elements.
    pub(super) fn integers(&self, position: usize) -> Result<Vec<i64>, FormatErrorKind> {
        let elements = self.elements(position)?;
        indim_model::integers(elements)
            .ok_or_else(|| FormatErrorKind::Unexpected { expected: "whole numbers".to_owned() })
    }

    /// The elements of an operand as whole numbers, if it is there.
    ///
    /// # Errors
    /// As [`Call::integers`].
    pub(super) fn optional_integers(
        &self,
        position: usize,
    ) -> Result<Option<Vec<i64>>, FormatErrorKind> {
        self.optional(position).map(|_| self.integers(position)).transpose()
    }

    /// One number: an operand without axes, or with one element.
    pub(super) fn scalar(&self, position: usize) -> Result<Value, FormatErrorKind> {
        Ok(self.builder.reshape(self.value(position)?, Shape::scalar())?)
    }

    /// What was once an attribute and is an operand from version `since` on: a list of whole numbers.
    pub(super) fn list(
        &self,
        name: &str,
        position: usize,
        since: i64,
    ) -> Result<Option<Vec<i64>>, FormatErrorKind> {
        match self.version() >= since {
            true => self.optional_integers(position),
            false => self.ints(name),
        }
    }

    /// An axis of an operand with so many; negative ones count from the end.
    ///
    /// # Errors
    /// `axis-out-of-range`.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, FormatErrorKind> {
        existing_axis(axis, rank).map_err(|kind| self.graph_error(kind))
    }

    /// Axes, none of them twice, in the order in which they are given.
    ///
    /// # Errors
    /// `axis-out-of-range`, `axes-not-unique`.
    pub(super) fn axes(&self, given: &[i64], rank: usize) -> Result<Vec<usize>, FormatErrorKind> {
        let mut axes = Vec::with_capacity(given.len().min(rank));
        for &axis in given {
            let axis = self.axis(axis, rank)?;
            if axes.contains(&axis) {
                let kind = GraphErrorKind::AxesNotUnique { axes: given.to_vec() };
                return Err(self.graph_error(kind));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// What is wrong with this node as one of a graph.
    pub(super) fn graph_error(&self, kind: GraphErrorKind) -> FormatErrorKind {
        let operand = |(position, known): (usize, &Option<KnownValue>)| {
            let name = self.node.node.proto.input.get(position)?.clone();
            Some((name, known.as_ref()?.value.array_type().ok()?))
        };
        let operands = self.operands.iter().enumerate().filter_map(operand).collect();
        GraphError::new(kind, self.node.operator, operands).into()
    }

    /// # Errors
    /// TY1: an operand is of another element type than the operator takes.
    pub(super) fn check_dtype(
        &self,
        operand: usize,
        takes: impl Fn(DType) -> bool,
    ) -> Result<(), FormatErrorKind> {
        let dtype = self.dtype(operand)?;
        match takes(dtype) {
            true => Ok(()),
            false => {
                Err(self.graph_error(GraphErrorKind::ElementTypeNotAllowed { operand, dtype }))
            }
        }
    }

    /// The rule by which operators of two operands broadcast: before opset 7 an attribute says it.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn rule(&self) -> Result<RuleSet, FormatErrorKind> {
        Ok(self.rule.of(match self.version() >= 7 {
            true => RuleSet::Numpy,
            false => RuleSet::OnnxLegacy {
                broadcast: self.int("broadcast", 0)? != 0,
                axis: self.optional_int("axis")?,
            },
        }))
    }

    /// An operand broadcast onto the last axes of `shape`, which does not grow.
    pub(super) fn onto(&self, value: &Value, shape: &Shape) -> Result<Value, FormatErrorKind> {
        let rule = self.rule.of(TargetRule::Unidirectional);
        Ok(self.builder.broadcast_to_target(value, &rule, shape)?)
    }
}
