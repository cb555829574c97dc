//! The graph builder, similar to XlaBuilder.
//!
//! A method of the builder returns a value or an error. The graph has no implicit broadcasts: the builder
//! asks `indim-shape` to elaborate the rule of an operation into `BroadcastInDim` nodes. An assembler
//! verifies each node again, so a bug in the builder cannot make an invalid graph.
//!
//! `methods.rs` defines the methods of the table of operations, `structural.rs` the methods that move or
//! convert elements, and `operand.rs` the operands of both. Operators on values (`2.0 * x + y`, in
//! `operators.rs`) take equal shapes and scalars; [`GraphBuilder::finish`] returns the first error of an
//! operator.

use core::fmt;
use core::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim_graph::signature::{check_operation, existing_axis, rule_set_of};
use indim_graph::{
    Array, Graph, GraphAssembler, GraphError, GraphErrorKind, Literal, NamedValues, Node, NodeKind,
    Operands, SizeFacts, ValueId, count_of,
};
use indim_ops::{ArrayType, DType, Element, Op};
use indim_shape::{AxisMap, RuleSet, Shape, ShapeError};

use crate::operand::OperandArg;

/// Builds a graph. A clone builds the same graph, also in another thread.
///
/// ```
/// use indim_ops::DType;
/// use indim_builder::GraphBuilder;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let v = b.parameter("v", DType::F32, [3])?;
/// let sum = b.add(&x, &v, &[1])?; // axis 0 of v maps to axis 1 of x
/// let graph = b.finish(&[sum])?;
/// assert_eq!(graph.outputs().len(), 1);
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct GraphBuilder {
    state: Arc<Mutex<BuilderState>>,
}

/// The graph under construction, which clones of a builder share.
#[derive(Debug, Default)]
struct BuilderState {
    assembler: GraphAssembler,
    /// Size facts that nodes do not state.
    facts: SizeFacts,
    /// Names of axes.
    names: NamedValues,
    /// The first error of an operator, which cannot return it.
    first_error: Option<GraphError>,
    /// For the body of a loop or branch, the builder outside it.
    outer: Option<GraphBuilder>,
    /// The values of the outer builder that the body uses, each with its parameter.
    captures: Vec<(ValueId, ValueId)>,
}

impl BuilderState {
    fn add(&mut self, kind: NodeKind, operands: &[ValueId], array_type: ArrayType) -> ValueId {
        let added = self.assembler.add(kind, operands, array_type);
        let id = added.expect("invariant: the caller has checked the node");
        if !self.names.is_empty() {
            self.propagate_names(id);
        }
        id
    }

    /// Propagates axis names to a new node.
    fn propagate_names(&mut self, id: ValueId) {
        let Node { kind, operands, array_type } = &self.assembler[id];
        let shape = |&operand: &ValueId| (operand, &self.assembler[operand].array_type.shape);
        let operands: Vec<(ValueId, &Shape)> = operands.iter().map(shape).collect();
        self.names.propagate(id, kind, &operands, &array_type.shape);
    }
}

/// A value of a graph under construction.
///
/// Its operators and methods take equal shapes, or a scalar and any shape. Operands are values, owned or
/// borrowed, and numbers, which take the value's element type. Operators and methods of a value return no
/// errors: the builder defers the first error to [`GraphBuilder::finish`].
///
/// ```
/// use indim_ops::DType;
/// use indim_builder::{GraphBuilder, Value};
///
/// fn gelu(x: &Value) -> Value {
///     0.5 * x * (x * -0.5f64.sqrt()).erfc()
/// }
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let graph = b.finish(&[gelu(&x).maximum(-1)])?;
/// # Ok::<(), indim_graph::GraphError>(())
/// ```
#[derive(Clone)]
pub struct Value {
    builder: GraphBuilder,
    /// `None` after an error of an operator, which the builder defers.
    id: Option<ValueId>,
}

impl Value {
    /// The builder of the value.
    pub fn builder(&self) -> &GraphBuilder {
        &self.builder
    }

    /// Element type and shape. If you use a size to decide how to build the graph, call
    /// [`GraphBuilder::pin`].
    ///
    /// # Errors
    /// The builder's first error, if the value depends on one.
    pub fn array_type(&self) -> Result<ArrayType, GraphError> {
        let id = self.id.ok_or_else(|| self.builder.deferred_error())?;
        Ok(self.builder.type_of(id))
    }

    /// The element type; `None` after an error.
    pub(crate) fn dtype(&self) -> Option<DType> {
        Some(self.builder.state().assembler[self.id?].array_type.dtype)
    }

    /// The id of a value that has no error, which the caller has checked.
    pub(crate) fn expect_id(&self) -> ValueId {
        self.id.expect("invariant: the value has no error")
    }

    /// Whether the value has no axes.
    pub(crate) fn is_scalar(&self) -> bool {
        let state = self.builder.state();
        self.id.is_some_and(|id| state.assembler[id].array_type.shape.is_scalar())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => write!(formatter, "Value({id}: {})", self.builder.type_of(id)),
            None => formatter.write_str("Value(error)"),
        }
    }
}

/// The result of a builder's method.
pub(crate) type BuildResult<T = Value> = Result<T, GraphError>;

impl GraphBuilder {
    /// A builder without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the graph. The lock is not reentrant: while a method holds this guard, it must not call
    /// another method that locks.
    fn state(&self) -> MutexGuard<'_, BuilderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an input of the graph; arrays are bound to the parameters in the order of these calls.
    ///
    /// # Errors
    /// `duplicate-parameter`; [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn parameter(&self, name: &str, dtype: DType, shape: impl Into<Shape>) -> BuildResult {
        let array_type = ArrayType::new(dtype, shape);
        self.check_size("parameter", &array_type, &[])?;
        let name = name.to_owned();
        let mut state = self.state();
        if state.assembler.has_parameter(&name) {
            drop(state);
            return Err(self.error("parameter", &[], GraphErrorKind::DuplicateParameter { name }));
        }
        let index = state.assembler.parameter_count();
        let id = state.add(NodeKind::Parameter { index, name }, &[], array_type);
        Ok(self.value(id))
    }

    /// The id of the next new node; later nodes have ids from this one on.
    pub fn next_id(&self) -> ValueId {
        ValueId::from_index(self.state().assembler.value_count())
    }

    /// Whether a parameter has this name.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.state().assembler.has_parameter(name)
    }

    /// A constant array.
    pub fn constant(&self, array: Array) -> Value {
        let array_type = array.array_type().clone();
        self.add_node(NodeKind::Constant(array), &[], array_type)
    }

    /// A scalar constant.
    pub fn scalar<T: Element>(&self, value: T) -> Value {
        self.constant(Array::from_element(value))
    }

    /// The index of each element along `axis`, converted to `dtype`.
    ///
    /// # Errors
    /// `axis-out-of-range`; `element-type-not-allowed` for bool and storage types;
    /// [E5](indim_shape::rules#the-explicit-form-e) `too-large`.
    #[track_caller]
    pub fn iota(&self, dtype: DType, shape: impl Into<Shape>, axis: i64) -> BuildResult {
        let array_type = ArrayType::new(dtype, shape);
        self.check_size("iota", &array_type, &[])?;
        if dtype == DType::Bool || dtype.is_storage() {
            let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
            return Err(self.error("iota", &[], kind));
        }
        let rank = array_type.shape.rank();
        match usize::try_from(axis) {
            Ok(axis) if axis < rank => Ok(self.add_node(NodeKind::Iota { axis }, &[], array_type)),
            _ => Err(self.error("iota", &[], GraphErrorKind::AxisOutOfRange { axis, rank })),
        }
    }

    /// An operation of the table under a rule set, elaborated into the explicit form.
    ///
    /// # Errors
    /// [TY1, TY2](indim_shape::rules#element-types-ty) (X1), then the
    /// labels of [the rule set](indim_shape::rules).
    #[track_caller]
    pub fn elementwise(
        &self,
        op: Op,
        operands: &[impl core::borrow::Borrow<Value>],
        rule: &RuleSet,
    ) -> BuildResult {
        let ids = self.ids(op.name(), operands)?;
        self.elementwise_ids(op, &ids, rule)
    }

    #[track_caller]
    pub(crate) fn elementwise_ids(&self, op: Op, ids: &[ValueId], rule: &RuleSet) -> BuildResult {
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        let dtype = match check_operation(op, &types) {
            Ok(dtype) => dtype,
            Err(kind) => return Err(self.error(op.name(), ids, kind)),
        };
        let (rule, result) = (rule_set_of(op, rule), op.result_dtype(dtype));
        let (expanded, result) = self.expand(op.name(), ids, types, &rule, result)?;
        Ok(self.add_node(NodeKind::Elementwise(op), &expanded, result))
    }

    /// The operands of the function `name`, broadcast to the shape of its result. `result` checks their types
    /// and returns the result's element type.
    #[track_caller]
    pub(crate) fn broadcast_operands<const COUNT: usize>(
        &self,
        name: &'static str,
        operands: [OperandArg; COUNT],
        rule: &RuleSet,
        result: impl FnOnce(&[ArrayType]) -> Result<DType, GraphErrorKind>,
    ) -> Result<[Value; COUNT], GraphError> {
        let ids = self.ids_of(name, &operands, 0)?;
        let types: Vec<ArrayType> = ids.iter().map(|&id| self.type_of(id)).collect();
        let dtype = match result(&types) {
            Ok(dtype) => dtype,
            Err(kind) => return Err(self.error(name, &ids, kind)),
        };
        let (expanded, _) = self.expand(name, &ids, types, rule, dtype)?;
        // All operands now have the shape of the result.
        expanded[1..].iter().for_each(|&other| self.equate(expanded[0], other));
        Ok(core::array::from_fn(|position| self.value(expanded[position])))
    }

    /// The operands broadcast to the result's shape under `rule`, and the result's type.
    #[track_caller]
    fn expand(
        &self,
        operation: &'static str,
        ids: &[ValueId],
        types: Vec<ArrayType>,
        rule: &RuleSet,
        dtype: DType,
    ) -> Result<(Vec<ValueId>, ArrayType), GraphError> {
        let rule = &self.with_axis_names(rule, ids);
        let wider = |a: DType, b: DType| if b.size() > a.size() { b } else { a };
        let widest = types.iter().map(|t| t.dtype).fold(dtype, wider);
        let shapes: Vec<Shape> = types.into_iter().map(|t| t.shape).collect();
        let broadcast = match rule.elaborate(&shapes) {
            Ok(broadcast) => broadcast,
            Err(error) => return Err(self.shape_error(operation, ids, error)),
        };
        // If an operand already has the shape of the result, the result shares its allocation.
        let same = broadcast.operands().iter().find(|shape| *shape == broadcast.result());
        let result = ArrayType::new(dtype, same.unwrap_or(broadcast.result()).clone());
        // The broadcast operands must fit into memory too, and may have wider elements than the result,
        // as in a comparison.
        self.check_size(operation, &ArrayType::new(widest, &result.shape), ids)?;
        let expanded = ids
            .iter()
            .zip(broadcast.maps())
            .map(|(&id, map)| self.add_broadcast(id, map, &result.shape))
            .collect();
        Ok((expanded, result))
    }

    /// Broadcasts `operand` by an axis map that was checked; adds no node for an identity.
    pub(crate) fn add_broadcast(&self, operand: ValueId, map: &AxisMap, result: &Shape) -> ValueId {
        let operand_type = self.type_of(operand);
        if operand_type.shape == *result && map.is_identity_onto(result.rank()) {
            return operand;
        }
        let array_type = ArrayType::new(operand_type.dtype, result.clone());
        self.add_id(NodeKind::BroadcastInDim(map.clone()), &[operand], array_type)
    }

    /// The graph that returns `outputs`.
    ///
    /// The builder can still be used, for more values and other graphs.
    ///
    /// # Errors
    /// The first error of an operator; `foreign-value`.
    #[track_caller]
    pub fn finish(
        &self,
        outputs: &[impl core::borrow::Borrow<Value>],
    ) -> Result<Graph, GraphError> {
        let ids = self.ids("finish", outputs)?;
        if let Some(error) = &self.state().first_error {
            return Err(error.clone());
        }
        let graph = self.state().assembler.snapshot(ids);
        Ok(graph.expect("invariant: the outputs are values of this builder"))
    }

    pub(crate) fn add_node(
        &self,
        kind: NodeKind,
        operands: &[ValueId],
        array_type: ArrayType,
    ) -> Value {
        self.value(self.add_id(kind, operands, array_type))
    }

    pub(crate) fn add_id(
        &self,
        kind: NodeKind,
        operands: &[ValueId],
        array_type: ArrayType,
    ) -> ValueId {
        self.state().add(kind, operands, array_type)
    }

    pub(crate) fn value(&self, id: ValueId) -> Value {
        Value { builder: self.clone(), id: Some(id) }
    }

    /// A scalar constant that depends on sizes: the number of elements along these axes of a value, minus
    /// `correction`. Equal counts share one constant.
    pub(crate) fn count(
        &self,
        of: ValueId,
        axes: &[usize],
        correction: f64,
        dtype: DType,
    ) -> Value {
        let shape = self.type_of(of).shape;
        let mut state = self.state();
        let value_axes: Vec<(ValueId, usize)> = axes.iter().map(|&axis| (of, axis)).collect();
        let has_dtype = |&value: &ValueId| state.assembler[value].array_type.dtype == dtype;
        let existing = state.facts.counts_of(value_axes.clone(), correction).find(has_dtype);
        let id = existing.unwrap_or_else(|| {
            let count = count_of(axes.iter().map(|&axis| shape[axis]), correction);
            let id = state.assembler.add_distinct(Literal::Float(count).element(dtype));
            state.facts.add_count(id, value_axes, correction);
            id
        });
        drop(state);
        self.value(id)
    }

    /// A constant as a value of its own, even if an equal one exists.
    pub(crate) fn add_distinct(&self, constant: Array) -> ValueId {
        self.state().assembler.add_distinct(constant)
    }

    /// Calls `update` with the axis names.
    pub(crate) fn with_names<T>(&self, update: impl FnOnce(&mut NamedValues) -> T) -> T {
        update(&mut self.state().names)
    }

    /// A copy of the size facts.
    pub(crate) fn facts(&self) -> SizeFacts {
        self.state().facts.clone()
    }

    /// Calls `add` to add size facts.
    pub(crate) fn with_facts(&self, add: impl FnOnce(&mut SizeFacts)) {
        add(&mut self.state().facts);
    }

    /// Whether a value is a parameter.
    pub(crate) fn is_parameter(&self, id: ValueId) -> bool {
        matches!(self.state().assembler[id].kind, NodeKind::Parameter { .. })
    }

    /// The operand of a conversion; `None` if the value is not one.
    pub(crate) fn operand_of_conversion(&self, id: ValueId) -> Option<ValueId> {
        let node = &self.state().assembler[id];
        matches!(node.kind, NodeKind::Convert).then(|| node.operands[0])
    }

    /// The kind and the operands of a value's node.
    pub(crate) fn node(&self, id: ValueId) -> (NodeKind, Operands) {
        let node = &self.state().assembler[id];
        (node.kind.clone(), node.operands.clone())
    }

    pub(crate) fn type_of(&self, id: ValueId) -> ArrayType {
        self.state().assembler[id].array_type.clone()
    }

    /// A builder for the body of a loop or branch in the graph of this builder.
    pub(crate) fn body_builder(&self) -> GraphBuilder {
        let nested = GraphBuilder::new();
        nested.state().outer = Some(self.clone());
        nested
    }

    /// The values of the outer builder that a body uses, in the order of their parameters.
    pub(crate) fn captures(&self) -> Vec<ValueId> {
        self.state().captures.iter().map(|&(outer, _)| outer).collect()
    }

    fn outer_builder(&self) -> Option<GraphBuilder> {
        self.state().outer.clone()
    }

    /// Whether this is the builder of a body inside `other`.
    pub(crate) fn is_inside(&self, other: &GraphBuilder) -> bool {
        // The usual case, without a lock.
        if Arc::ptr_eq(&self.state, &other.state) {
            return false;
        }
        let outers = core::iter::successors(self.outer_builder(), GraphBuilder::outer_builder);
        outers.into_iter().any(|outer| Arc::ptr_eq(&outer.state, &other.state))
    }

    /// The parameter of a body that stands for a value of an outer builder, added at its first use. Every
    /// builder between the two captures the value as well.
    #[track_caller]
    fn capture(&self, operation: &'static str, value: &Value) -> Result<ValueId, GraphError> {
        let Some(outer) = self.outer_builder().filter(|_| self.is_inside(&value.builder)) else {
            return Err(self.error(operation, &[], GraphErrorKind::ForeignValue));
        };
        let id = outer.id(operation, value)?;
        let existing = self.state().captures.iter().find(|(existing, _)| *existing == id).copied();
        if let Some((_, parameter)) = existing {
            return Ok(parameter);
        }
        let ArrayType { dtype, shape } = outer.type_of(id);
        let name = format!("c{}", self.state().captures.len());
        let parameter = self.parameter(&name, dtype, shape)?.expect_id();
        self.state().captures.push((id, parameter));
        Ok(parameter)
    }

    /// The id of a value in this graph. A value of an outer builder is captured as a parameter.
    #[track_caller]
    pub(crate) fn id(&self, operation: &'static str, value: &Value) -> Result<ValueId, GraphError> {
        if !Arc::ptr_eq(&value.builder.state, &self.state) {
            return self.capture(operation, value);
        }
        match value.id {
            Some(id) => Ok(id),
            None => Err(self.deferred_error()),
        }
    }

    #[track_caller]
    pub(crate) fn ids(
        &self,
        operation: &'static str,
        values: &[impl core::borrow::Borrow<Value>],
    ) -> Result<Vec<ValueId>, GraphError> {
        let mut ids = Vec::with_capacity(values.len());
        for value in values {
            ids.push(self.id(operation, core::borrow::Borrow::borrow(value))?);
        }
        Ok(ids)
    }

    fn deferred_error(&self) -> GraphError {
        let state = self.state();
        state.first_error.clone().expect("invariant: a value without a node comes with an error")
    }

    /// Checks that the number of bytes of an array of this type fits `isize`: E5 `too-large`.
    #[track_caller]
    pub(crate) fn check_size(
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

    /// The axis counted from the front; `rank` is the number of axes, and a negative `axis` counts from
    /// the end.
    #[track_caller]
    pub(crate) fn checked_axis(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        axis: i64,
        rank: usize,
    ) -> Result<usize, GraphError> {
        self.checked(operation, operands, existing_axis(axis, rank))
    }

    /// The result of a check of these operands. A closure in `map_err` would not pass the caller's line on.
    #[track_caller]
    pub(crate) fn checked<T>(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        result: Result<T, GraphErrorKind>,
    ) -> Result<T, GraphError> {
        match result {
            Ok(value) => Ok(value),
            Err(kind) => Err(self.error(operation, operands, kind)),
        }
    }

    #[track_caller]
    pub(crate) fn shape_error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        error: ShapeError,
    ) -> GraphError {
        self.error(operation, operands, GraphErrorKind::Shape(Box::new(error)))
    }

    #[track_caller]
    pub(crate) fn error(
        &self,
        operation: &'static str,
        operands: &[ValueId],
        kind: GraphErrorKind,
    ) -> GraphError {
        let state = self.state();
        let assembler = &state.assembler;
        let operand = |&id: &ValueId| (assembler.value_name(id), assembler[id].array_type.clone());
        let operands = operands.iter().map(operand).collect();
        GraphError::new(kind, operation, operands).at(Location::caller())
    }

    /// The value of an operator, which cannot return an error. The builder stores the first error for
    /// [`GraphBuilder::finish`].
    pub(crate) fn defer_error(&self, result: BuildResult) -> Value {
        result.unwrap_or_else(|error| {
            self.state().first_error.get_or_insert(error);
            Value { builder: self.clone(), id: None }
        })
    }
}
