//! How graphs are made, in the manner of XlaBuilder.
//!
//! A method of the builder either returns a value or says what is wrong. Nothing is implicit in the
//! graph: the rule of an operation is elaborated here, by `indim-shape`, into `BroadcastInDim` nodes.
//! The methods that the table of operations gives are in `methods.rs`. Operators on values
//! (`x * y + 2.0`, in `operators.rs`) are for equal shapes and scalars; their first mistake is kept and
//! returned by [`GraphBuilder::finish`].

use core::cell::RefCell;

use indim_shape::{AxisMap, RuleSet, Shape, ShapeError, TargetRule, check_broadcast_in_dim};

use crate::dtype::{ArrayType, DType};
use crate::element::{Array, Element};
use crate::error::{GraphError, GraphErrorKind};
use crate::graph::{Graph, GraphArena, Node, NodeKind, Operands, ValueId};
use crate::op::Op;
use crate::verify::check_bitcast;

/// Makes one graph.
///
/// ```
/// use indim_graph::{DType, GraphBuilder};
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let sum = b.add(x, v, &[1])?; // axis 0 of v lands on axis 1 of x
/// let graph = b.finish(&[sum])?;
/// assert_eq!(graph.outputs().len(), 1);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Default)]
pub struct GraphBuilder {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    arena: GraphArena,
    /// The first mistake of an operator, which cannot return it.
    first_error: Option<GraphError>,
}

/// A value of the graph that a builder makes.
#[derive(Debug, Clone, Copy)]
pub struct Value<'b> {
    builder: &'b GraphBuilder,
    /// `None` after an operator's mistake, which the builder keeps.
    id: Option<ValueId>,
}

impl<'b> Value<'b> {
    /// The builder of the value.
    pub fn builder(self) -> &'b GraphBuilder {
        self.builder
    }

    /// Element type and shape.
    ///
    /// # Errors
    /// The builder's first mistake, if the value is the result of one.
    pub fn array_type(self) -> Result<ArrayType, GraphError> {
        let id = self.id.ok_or_else(|| self.builder.kept_error())?;
        Ok(self.builder.type_of(id))
    }
}

/// What a method of the builder returns.
pub(crate) type BuildResult<'b> = Result<Value<'b>, GraphError>;

impl GraphBuilder {
    /// A builder without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// An input of the graph; arrays are bound to the parameters in the order of these calls.
    ///
    /// # Errors
    /// `duplicate-parameter`; E5 `too-large`.
    pub fn parameter(&self, name: &str, dtype: DType, shape: impl Into<Shape>) -> BuildResult<'_> {
        let array_type = ArrayType::new(dtype, shape);
        self.check_size("parameter", &array_type, &[])?;
        let index = self.state.borrow().arena.parameters().len();
        if self.state.borrow().arena.has_parameter(name) {
            let kind = GraphErrorKind::DuplicateParameter { name: name.to_owned() };
            return Err(self.error("parameter", &[], kind));
        }
        let kind = NodeKind::Parameter { index, name: name.to_owned() };
        Ok(self.add_node(kind, &[], array_type))
    }

    /// An array known now.
    pub fn constant(&self, array: Array) -> Value<'_> {
        let array_type = array.array_type();
        self.add_node(NodeKind::Constant(array), &[], array_type)
    }

    /// A constant of rank 0.
    pub fn scalar<T: Element>(&self, value: T) -> Value<'_> {
        self.constant(Array::scalar(value))
    }

    /// Each element is its index along `axis`, converted to `dtype`.
    ///
    /// # Errors
    /// `axis-out-of-range`; `element-type-not-allowed` for bool; E5 `too-large`.
    pub fn iota(&self, dtype: DType, shape: impl Into<Shape>, axis: i64) -> BuildResult<'_> {
        let array_type = ArrayType::new(dtype, shape);
        self.check_size("iota", &array_type, &[])?;
        if dtype == DType::Bool {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error("iota", &[], kind));
        }
        let rank = array_type.shape.rank();
        match usize::try_from(axis) {
            Ok(axis) if axis < rank => Ok(self.add_node(NodeKind::Iota { axis }, &[], array_type)),
            _ => Err(self.error("iota", &[], GraphErrorKind::AxisOutOfRange { axis, rank })),
        }
    }

    /// An operation of the table under a rule set, which elaborates into the explicit form.
    ///
    /// # Errors
    /// TY1, TY2 (X1), then the labels of the rule set.
    pub fn elementwise<'b>(
        &'b self,
        op: Op,
        operands: &[Value<'b>],
        rule: &RuleSet,
    ) -> BuildResult<'b> {
        let ids = self.ids(op.name(), operands)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        let dtype = op.check_signature(&types).map_err(|kind| self.error(op.name(), &ids, kind))?;
        let shapes: Vec<Shape> = types.into_iter().map(|t| t.shape).collect();
        let broadcast = (op.rule_set(rule))
            .elaborate(&shapes)
            .map_err(|error| self.shape_error(op.name(), &ids, error))?;
        let result = ArrayType::new(op.result_dtype(dtype), broadcast.result().clone());
        self.check_size(op.name(), &result, &ids)?;
        let expanded: Vec<ValueId> = ids
            .iter()
            .zip(broadcast.maps())
            .map(|(&id, map)| self.place(id, map, &result.shape))
            .collect();
        Ok(self.add_node(NodeKind::Elementwise(op), &expanded, result))
    }

    /// `operand` with its axes landing where `map` says; nothing is added where nothing changes.
    fn place(&self, operand: ValueId, map: &AxisMap, result: &Shape) -> ValueId {
        let operand_type = self.type_of(operand);
        if operand_type.shape == *result && map.is_identity_onto(result.rank()) {
            return operand;
        }
        let array_type = ArrayType::new(operand_type.dtype, result.clone());
        self.add_id(NodeKind::BroadcastInDim(map.clone()), &[operand], array_type)
    }

    /// Conversion of every element to `dtype`.
    ///
    /// # Errors
    /// E5 `too-large` when the wider elements do not fit.
    pub fn convert<'b>(&'b self, operand: Value<'b>, dtype: DType) -> BuildResult<'b> {
        let id = self.id("convert", operand)?;
        let from = self.type_of(id);
        if from.dtype == dtype {
            return Ok(operand);
        }
        let array_type = ArrayType::new(dtype, from.shape);
        self.check_size("convert", &array_type, &[id])?;
        Ok(self.add_node(NodeKind::Convert, &[id], array_type))
    }

    /// The same bits read as another element type of the same width.
    ///
    /// # Errors
    /// TY1 for `bool` and complex numbers; `bitcast-width`.
    pub fn bitcast<'b>(&'b self, operand: Value<'b>, dtype: DType) -> BuildResult<'b> {
        let id = self.id("bitcast", operand)?;
        let from = self.type_of(id);
        check_bitcast(from.dtype, dtype).map_err(|kind| self.error("bitcast", &[id], kind))?;
        if from.dtype == dtype {
            return Ok(operand);
        }
        Ok(self.add_node(NodeKind::Bitcast, &[id], ArrayType::new(dtype, from.shape)))
    }

    /// StableHLO's `broadcast_in_dim`: axis `i` of the operand lands on axis `dims[i]` of `shape`; it may permute.
    ///
    /// # Errors
    /// E1 to E5.
    pub fn broadcast_in_dim<'b>(
        &'b self,
        operand: Value<'b>,
        dims: &[i64],
        shape: impl Into<Shape>,
    ) -> BuildResult<'b> {
        let shape = shape.into();
        let id = self.id("broadcast_in_dim", operand)?;
        let map = check_broadcast_in_dim(&self.type_of(id).shape, dims, &shape)
            .map_err(|error| self.shape_error("broadcast_in_dim", &[id], error))?;
        self.placed("broadcast_in_dim", id, &map, &shape)
    }

    /// XLA's `Broadcast`: new axes of `sizes` in front.
    ///
    /// # Errors
    /// E5.
    pub fn broadcast<'b>(&'b self, operand: Value<'b>, sizes: &[usize]) -> BuildResult<'b> {
        self.broadcast_to_target(operand, &TargetRule::XlaBroadcast, Shape::from(sizes))
    }

    /// A broadcast to a target shape under one of the target rules.
    ///
    /// # Errors
    /// The labels of the rule.
    pub fn broadcast_to_target<'b>(
        &'b self,
        operand: Value<'b>,
        rule: &TargetRule,
        target: impl Into<Shape>,
    ) -> BuildResult<'b> {
        let id = self.id("broadcast", operand)?;
        let broadcast = rule
            .elaborate(&self.type_of(id).shape, &target.into())
            .map_err(|error| self.shape_error("broadcast", &[id], error))?;
        self.placed("broadcast", id, &broadcast.maps()[0], broadcast.result())
    }

    fn placed(
        &self,
        operation: &'static str,
        operand: ValueId,
        map: &AxisMap,
        shape: &Shape,
    ) -> BuildResult<'_> {
        let result = ArrayType::new(self.type_of(operand).dtype, shape.clone());
        self.check_size(operation, &result, &[operand])?;
        Ok(self.value(self.place(operand, map, shape)))
    }

    /// The same elements in row-major order under another shape.
    ///
    /// # Errors
    /// `reshape-element-count`.
    pub fn reshape<'b>(&'b self, operand: Value<'b>, shape: impl Into<Shape>) -> BuildResult<'b> {
        let shape = shape.into();
        let id = self.id("reshape", operand)?;
        let from = self.type_of(id);
        if shape.element_count().ok() != from.shape.element_count().ok() {
            return Err(self.error(
                "reshape",
                &[id],
                GraphErrorKind::ReshapeElementCount { shape },
            ));
        }
        if shape == from.shape {
            return Ok(operand);
        }
        Ok(self.add_node(NodeKind::Reshape, &[id], ArrayType::new(from.dtype, shape)))
    }

    /// Result axis `i` is axis `permutation[i]` of the operand.
    ///
    /// # Errors
    /// `not-a-permutation`.
    pub fn transpose<'b>(&'b self, operand: Value<'b>, permutation: &[i64]) -> BuildResult<'b> {
        let id = self.id("transpose", operand)?;
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
        Ok(self.value(self.place(id, &map, &Shape::from(sizes))))
    }

    /// The graph that returns `outputs`.
    ///
    /// The builder keeps its values: other graphs can be made of them.
    ///
    /// # Errors
    /// The first mistake of an operator; `foreign-value`.
    pub fn finish(&self, outputs: &[Value<'_>]) -> Result<Graph, GraphError> {
        let ids = self.ids("finish", outputs)?;
        if let Some(error) = &self.state.borrow().first_error {
            return Err(error.clone());
        }
        Ok(self.state.borrow().arena.snapshot(ids))
    }

    fn add_node(&self, kind: NodeKind, operands: &[ValueId], array_type: ArrayType) -> Value<'_> {
        self.value(self.add_id(kind, operands, array_type))
    }

    fn add_id(&self, kind: NodeKind, operands: &[ValueId], array_type: ArrayType) -> ValueId {
        let node = Node { kind, operands: Operands::new(operands), array_type };
        self.state.borrow_mut().arena.add(node)
    }

    fn value(&self, id: ValueId) -> Value<'_> {
        Value { builder: self, id: Some(id) }
    }

    fn type_of(&self, id: ValueId) -> ArrayType {
        self.state.borrow().arena[id].array_type.clone()
    }

    fn id(&self, operation: &'static str, value: Value<'_>) -> Result<ValueId, GraphError> {
        if !core::ptr::eq(value.builder, self) {
            return Err(self.error(operation, &[], GraphErrorKind::ForeignValue));
        }
        value.id.ok_or_else(|| self.kept_error())
    }

    fn ids(
        &self,
        operation: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<ValueId>, GraphError> {
        values.iter().map(|&value| self.id(operation, value)).collect()
    }

    fn kept_error(&self) -> GraphError {
        let state = self.state.borrow();
        state.first_error.clone().expect("invariant: a value without a node comes with an error")
    }

    fn check_size(
        &self,
        operation: &'static str,
        array_type: &ArrayType,
        operands: &[ValueId],
    ) -> Result<(), GraphError> {
        match array_type.shape.byte_count(array_type.dtype.size()) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.shape_error(operation, operands, error)),
        }
    }

    fn shape_error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        error: ShapeError,
    ) -> GraphError {
        self.error(operation, operands, GraphErrorKind::Shape(Box::new(error)))
    }

    fn error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        kind: GraphErrorKind,
    ) -> GraphError {
        let state = self.state.borrow();
        let describe = |&id: &ValueId| {
            let node = &state.arena[id];
            let name = match &node.kind {
                NodeKind::Parameter { name, .. } => name.clone(),
                _ => id.to_string(),
            };
            (name, node.array_type.clone())
        };
        GraphError { kind, operation, operands: operands.iter().map(describe).collect() }
    }

    /// What an operator makes of a result: on a mistake the builder keeps the first.
    pub(crate) fn keep<'b>(&'b self, result: BuildResult<'b>) -> Value<'b> {
        result.unwrap_or_else(|error| {
            self.state.borrow_mut().first_error.get_or_insert(error);
            Value { builder: self, id: None }
        })
    }
}

/// Where each operand axis goes when result axis `i` is operand axis `permutation[i]`.
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
