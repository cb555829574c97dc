//! A call of an operator: its operands and attributes, for the lowering to nodes.

use indim_builder::{GraphBuilder, Value};
use indim_graph::signature::existing_axis;
use indim_graph::{Array, GraphError, GraphErrorKind};
use indim_ops::DType;
use indim_shape::{RuleSet, Shape, TargetRule};

use indim_model::shape_values::KnownValue;
use indim_model::{FormatErrorKind, RuleNote};
use indim_onnx_file::flatten::FlatNode;
use indim_onnx_file::tensor::Tensors;

/// The results of an operator, in order, or its error.
pub(super) type LoweringResult = Result<Vec<KnownValue>, FormatErrorKind>;

/// A node with the values of its operands.
pub(super) struct Call<'c> {
    pub(super) builder: &'c GraphBuilder,
    pub(super) node: &'c FlatNode,
    pub(super) operands: &'c [Option<KnownValue>],
    pub(super) tensors: &'c Tensors,
    /// Note of the broadcast rule of the node, which the lowering fills in.
    pub(super) rule: &'c RuleNote,
}

/// A single result.
pub(super) fn single_result(value: Value) -> LoweringResult {
    Ok(vec![value.into()])
}

/// A call reads the attributes of its node.
impl core::ops::Deref for Call<'_> {
    type Target = FlatNode;

    fn deref(&self) -> &FlatNode {
        self.node
    }
}

impl Call<'_> {
    /// The operator's version: the last opset, up to that of the model, that introduced or changed the
    /// operator.
    pub(super) fn version(&self) -> i64 {
        self.node.version
    }

    /// The operand at this position, if the node has it.
    pub(super) fn optional(&self, position: usize) -> Option<&KnownValue> {
        self.operands.get(position)?.as_ref()
    }

    /// The required operand at this position; its elements may be unknown.
    ///
    /// # Errors
    /// `wrong-count`: the operand is missing.
    pub(super) fn required(&self, position: usize) -> Result<&KnownValue, FormatErrorKind> {
        self.optional(position).ok_or_else(|| FormatErrorKind::Count {
            what: "operands",
            expected: format!("at least {}", position + 1),
            given: self.operands.iter().flatten().count(),
        })
    }

    /// # Errors
    /// Those of [`Call::required`].
    pub(super) fn value(&self, position: usize) -> Result<&Value, FormatErrorKind> {
        self.required(position).map(|known| &known.value)
    }

    pub(super) fn shape(&self, position: usize) -> Result<Shape, FormatErrorKind> {
        Ok(self.value(position)?.array_type()?.shape)
    }

    pub(super) fn dtype(&self, position: usize) -> Result<DType, FormatErrorKind> {
        Ok(self.value(position)?.array_type()?.dtype)
    }

    /// The elements of an operand, which must be known at build time.
    ///
    /// # Errors
    /// `depends-on-data`, with the name of the operand.
    pub(super) fn elements(&self, position: usize) -> Result<&Array, FormatErrorKind> {
        let known = self.required(position)?;
        let name = || self.node.node.proto.input[position].clone();
        let unknown = || FormatErrorKind::DependsOnData { chain: vec![name()] };
        known.elements.as_ref().ok_or_else(unknown)
    }

    /// The elements of an operand as integers.
    ///
    /// # Errors
    /// `depends-on-data`; `unexpected` if the elements are not whole numbers.
    pub(super) fn integers(&self, position: usize) -> Result<Vec<i64>, FormatErrorKind> {
        let elements = self.elements(position)?;
        indim_model::integers(elements)
            .ok_or_else(|| FormatErrorKind::Unexpected { expected: "whole numbers".to_owned() })
    }

    /// The elements of an optional operand as integers.
    ///
    /// # Errors
    /// Those of [`Call::integers`].
    pub(super) fn optional_integers(
        &self,
        position: usize,
    ) -> Result<Option<Vec<i64>>, FormatErrorKind> {
        self.optional(position).map(|_| self.integers(position)).transpose()
    }

    /// An operand with one element, reshaped to a scalar.
    pub(super) fn scalar(&self, position: usize) -> Result<Value, FormatErrorKind> {
        Ok(self.builder.reshape(self.value(position)?, Shape::scalar())?)
    }

    /// A list of integers: an attribute before version `since`, an operand from that version on.
    pub(super) fn integer_list(
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

    /// Normalises an axis of an operand of this rank; negative axes count from the end.
    ///
    /// # Errors
    /// `axis-out-of-range`.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, FormatErrorKind> {
        existing_axis(axis, rank).map_err(|kind| self.graph_error(kind))
    }

    /// Normalises distinct axes and keeps their order.
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

    /// The error with the operator's name, and the names and types of its operands.
    pub(super) fn graph_error(&self, kind: GraphErrorKind) -> FormatErrorKind {
        let operand = |(position, known): (usize, &Option<KnownValue>)| {
            let name = self.node.node.proto.input.get(position)?.clone();
            Some((name, known.as_ref()?.value.array_type().ok()?))
        };
        let operands = self.operands.iter().enumerate().filter_map(operand).collect();
        GraphError::new(kind, self.node.operator, operands).into()
    }

    /// Fails unless `takes` accepts the element type of an operand.
    ///
    /// # Errors
    /// `element-type-not-allowed` (TY1): the operator does not support the element type of an operand.
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

    /// The broadcast rule of binary operators; before opset 7 the attributes `broadcast` and `axis`
    /// state it. Records the rule in the note.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn broadcast_rule(&self) -> Result<RuleSet, FormatErrorKind> {
        Ok(self.rule.of(self.node.broadcast_rule()?))
    }

    /// Broadcasts an operand to `shape`, with the last axes aligned, and records the rule in the note.
    /// The result has exactly this shape.
    pub(super) fn broadcast_onto(
        &self,
        value: &Value,
        shape: &Shape,
    ) -> Result<Value, FormatErrorKind> {
        let rule = self.rule.of(TargetRule::Unidirectional);
        Ok(self.builder.broadcast_to_target(value, &rule, shape)?)
    }
}
