//! Access to the nodes of a builder, for crates that transform graphs.

use indim_graph::{Array, Graph, GraphError, GraphErrorKind, NodeKind, SizeFacts, ValueId};
use indim_ops::ArrayType;
use indim_shape::{AxisMap, Shape};

use crate::builder::{BuildResult, GraphBuilder, Value};

/// Access to the nodes of a [`GraphBuilder`], for crates that transform graphs.
///
/// The methods of the builder itself infer the type of a node. Here the caller states it; the builder
/// panics if it is not the type that it infers.
pub trait NodeAccess {
    /// The id of a value in this graph. A value of an outer builder is captured as a parameter.
    ///
    /// # Errors
    /// `foreign-value`; the deferred error of a value without a node.
    #[track_caller]
    fn id(&self, operation: &'static str, value: &Value) -> Result<ValueId, GraphError>;

    /// A node of this kind and type.
    fn add_node(&self, kind: NodeKind, operands: &[ValueId], array_type: ArrayType) -> Value;

    /// The nodes of `graph`, with these values in place of its parameters: the value of each node. The
    /// arguments are values of this builder and have the types of the parameters. Without the size facts of
    /// the graph's builder, every size counts as fixed.
    fn inline_nodes(
        &self,
        graph: &Graph,
        facts: Option<&SizeFacts>,
        arguments: &[Value],
    ) -> Vec<Value>;

    /// Broadcasts a value by an axis map; adds no node for an identity.
    ///
    /// # Errors
    /// E5 `too-large`.
    #[track_caller]
    fn checked_broadcast(
        &self,
        operation: &'static str,
        operand: ValueId,
        map: &AxisMap,
        shape: &Shape,
    ) -> BuildResult;

    /// Like [`GraphBuilder::reshape`], but pins no size.
    ///
    /// # Errors
    /// `reshape-element-count`.
    #[track_caller]
    fn reshape_unpinned(&self, operand: ValueId, shape: Shape) -> BuildResult;

    /// States that two values have equal shapes for all sizes.
    fn equate(&self, value: &Value, other: &Value);

    /// A reshape to the shape of another value, which pins no size.
    ///
    /// # Errors
    /// `reshape-element-count`.
    #[track_caller]
    fn reshape_like(&self, operand: &Value, like: &Value) -> BuildResult;

    /// `elements` with `widths` copies of the scalar `value` before and after them along an axis. They then
    /// have the size of the sliced value again. `slice` has this value and the slice.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::concatenate`].
    #[track_caller]
    fn pad_slice(
        &self,
        slice: [&Value; 2],
        axis: usize,
        elements: &Value,
        value: &Value,
        widths: [usize; 2],
    ) -> BuildResult;

    /// Inserts `count` copies of the scalar `value` between each two neighbours along an axis.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::concatenate`].
    #[track_caller]
    fn insert_interior(&self, x: &Value, value: &Value, axis: usize, count: usize) -> BuildResult;

    /// The part of an axis of a concatenation that has the elements of `part`, after those of `before`.
    ///
    /// # Errors
    /// Those of [`GraphBuilder::slice`].
    #[track_caller]
    fn part_of_axis(&self, x: &Value, axis: usize, before: &[Value], part: &Value) -> BuildResult;

    /// States that two axes, each of a value, have equal sizes for all sizes.
    fn equate_axes(&self, axis: (&Value, usize), other: (&Value, usize));

    /// States the size facts of another graph's builder, whose values are these values here.
    fn state_facts(&self, facts: &SizeFacts, values: &[Value]);

    /// A constant as a value of its own, even if an equal one exists: for other sizes they may differ.
    fn add_distinct(&self, constant: &Array) -> Value;

    /// For each index, whether it is from 0 to `size - 1`; a negative index does not count from the end.
    ///
    /// # Errors
    /// Those of comparisons of the indices.
    #[track_caller]
    fn in_range_mask(&self, indices: &Value, size: usize) -> BuildResult;

    /// The operand of a conversion; `None` if the value is not one.
    fn operand_of_conversion(&self, value: &Value) -> Option<Value>;

    /// An error of an operation, with the names and types of its operands.
    #[track_caller]
    fn error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        kind: GraphErrorKind,
    ) -> GraphError;

    /// The value of an operator, which cannot return an error. The builder stores the first error for
    /// [`GraphBuilder::finish`].
    fn defer_error(&self, result: BuildResult) -> Value;
}

impl NodeAccess for GraphBuilder {
    #[track_caller]
    fn id(&self, operation: &'static str, value: &Value) -> Result<ValueId, GraphError> {
        GraphBuilder::id(self, operation, value)
    }

    fn add_node(&self, kind: NodeKind, operands: &[ValueId], array_type: ArrayType) -> Value {
        GraphBuilder::add_node(self, kind, operands, array_type)
    }

    fn inline_nodes(
        &self,
        graph: &Graph,
        facts: Option<&SizeFacts>,
        arguments: &[Value],
    ) -> Vec<Value> {
        let arguments: Vec<ValueId> = arguments.iter().map(Value::expect_id).collect();
        GraphBuilder::inline_nodes(self, graph, facts, &arguments)
    }

    #[track_caller]
    fn checked_broadcast(
        &self,
        operation: &'static str,
        operand: ValueId,
        map: &AxisMap,
        shape: &Shape,
    ) -> BuildResult {
        GraphBuilder::checked_broadcast(self, operation, operand, map, shape)
    }

    #[track_caller]
    fn reshape_unpinned(&self, operand: ValueId, shape: Shape) -> BuildResult {
        GraphBuilder::reshape_unpinned(self, operand, shape)
    }

    fn equate(&self, value: &Value, other: &Value) {
        // A value without an id has an error, which `finish` returns.
        if let (Ok(value), Ok(other)) = (self.id("equate", value), self.id("equate", other)) {
            GraphBuilder::equate(self, value, other);
        }
    }

    #[track_caller]
    fn reshape_like(&self, operand: &Value, like: &Value) -> BuildResult {
        let (id, like) = (self.id("reshape", operand)?, self.id("reshape", like)?);
        let reshaped = GraphBuilder::reshape_unpinned(self, id, self.type_of(like).shape)?;
        let result = reshaped.expect_id();
        GraphBuilder::equate(self, result, like);
        if !self.type_of(like).shape.is_scalar() {
            self.with_facts(|facts| facts.reshape([id, result], 0));
        }
        Ok(reshaped)
    }

    #[track_caller]
    fn pad_slice(
        &self,
        slice: [&Value; 2],
        axis: usize,
        elements: &Value,
        value: &Value,
        widths: [usize; 2],
    ) -> BuildResult {
        GraphBuilder::pad_slice(self, slice, axis, elements, value, widths)
    }

    #[track_caller]
    fn insert_interior(&self, x: &Value, value: &Value, axis: usize, count: usize) -> BuildResult {
        GraphBuilder::insert_interior(self, x, value, axis, count)
    }

    #[track_caller]
    fn part_of_axis(&self, x: &Value, axis: usize, before: &[Value], part: &Value) -> BuildResult {
        GraphBuilder::part_of_axis(self, x, axis, before, part)
    }

    fn equate_axes(&self, (value, axis): (&Value, usize), (other, other_axis): (&Value, usize)) {
        if let (Ok(value), Ok(other)) = (self.id("equate", value), self.id("equate", other)) {
            self.with_facts(|facts| facts.equate_axes((value, axis), (other, other_axis)));
        }
    }

    fn state_facts(&self, facts: &SizeFacts, values: &[Value]) {
        let ids: Vec<ValueId> = values.iter().map(Value::expect_id).collect();
        GraphBuilder::state_facts(self, Some(facts), &ids);
    }

    fn add_distinct(&self, constant: &Array) -> Value {
        self.value(GraphBuilder::add_distinct(self, constant.clone()))
    }

    #[track_caller]
    fn in_range_mask(&self, indices: &Value, size: usize) -> BuildResult {
        GraphBuilder::in_range_mask(self, indices, size)
    }

    fn operand_of_conversion(&self, value: &Value) -> Option<Value> {
        let operand = GraphBuilder::operand_of_conversion(self, value.expect_id())?;
        Some(self.value(operand))
    }

    #[track_caller]
    fn error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        kind: GraphErrorKind,
    ) -> GraphError {
        GraphBuilder::error(self, operation, operands, kind)
    }

    fn defer_error(&self, result: BuildResult) -> Value {
        GraphBuilder::defer_error(self, result)
    }
}
