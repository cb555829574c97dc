//! From the syntax tree to a graph: names, literals and rules become explicit nodes.
//!
//! One loop over the nodes, operands before operations. The element types are decided in
//! `typing.rs`, the shapes by the builder.

use core::ops::Range;
use std::collections::HashMap;

use indim_shape::{RuleSet, Shape};

use super::error::{ExprError, ExprErrorKind, Span};
use super::function::{Attribute, Function, Manner, operation_of};
use super::literal::{Literal, fold_binary, fold_unary};
use super::suggest::closest;
use super::syntax::{
    AttributeValue, BinaryOperator, GivenAttribute, Node, NodeIndex, NodeKind, UnaryOperator,
};
use super::typing::{self, OperandType, Plan};
use super::{Binding, Expression};
use crate::builder::{GraphBuilder, Value};
use crate::dtype::DType;
use crate::error::{GraphError, GraphErrorKind};
use crate::eval::evaluate;
use crate::op::Op;

pub(super) type Elaborated<T> = Result<T, ExprError>;

/// What a node has become.
#[derive(Debug, Clone, Copy)]
enum Operand<'b> {
    Literal(Literal),
    Array(Value<'b>),
}

impl<'b> From<Binding<'b>> for Operand<'b> {
    fn from(binding: Binding<'b>) -> Self {
        match binding {
            Binding::Array(value) => Operand::Array(value),
            Binding::Number(literal) => Operand::Literal(literal),
        }
    }
}

pub(super) struct Elaborator<'e, 'b> {
    expression: &'e Expression,
    pub(super) builder: &'b GraphBuilder,
    pub(super) rule: Option<&'e RuleSet>,
    bindings: HashMap<&'e str, Binding<'b>>,
    /// What the nodes before the present one have become.
    operands: Vec<Operand<'b>>,
}

/// One element-wise operation on its way to the graph.
struct Operation<'o> {
    op: Op,
    manner: Manner,
    nodes: &'o [NodeIndex],
    rule: RuleSet,
    /// Whether the operation says its rule itself, by an attribute.
    states_rule: bool,
    mark: Span,
}

pub(super) fn elaborate<'e, 'b>(
    expression: &'e Expression,
    builder: &'b GraphBuilder,
    bindings: &[(&'e str, Binding<'b>)],
    rule: Option<&'e RuleSet>,
) -> Elaborated<Value<'b>> {
    let bindings = bindings.iter().copied().collect();
    let operands = Vec::with_capacity(expression.nodes.len());
    let mut elaborator = Elaborator { expression, builder, rule, bindings, operands };
    for node in &expression.nodes {
        let operand = elaborator.node(node)?;
        elaborator.operands.push(operand);
    }
    elaborator.value(expression.nodes.len() - 1)
}

impl<'e, 'b> Elaborator<'e, 'b> {
    fn node(&self, node: &'e Node) -> Elaborated<Operand<'b>> {
        match &node.kind {
            NodeKind::Literal(literal) => Ok(Operand::Literal(*literal)),
            NodeKind::Name(index) => self.name(&self.expression.names[*index], node.mark),
            NodeKind::Unary { operator, operand } => self.unary(*operator, *operand, node.mark),
            NodeKind::Binary { operator, operands } => self.binary(*operator, operands, node.mark),
            NodeKind::Call { function, operands, attributes } => {
                self.call(*function, operands, attributes, node.mark).map(Operand::Array)
            }
        }
    }

    fn name(&self, name: &str, mark: Span) -> Elaborated<Operand<'b>> {
        if let Some(binding) = self.bindings.get(name) {
            return Ok((*binding).into());
        }
        Literal::constant(name).map(Operand::Literal).ok_or_else(|| {
            let suggestion = closest(name, self.bindings.keys().copied()).map(str::to_owned);
            ExprError::new(ExprErrorKind::UnknownName { name: name.to_owned(), suggestion }, mark)
        })
    }

    fn unary(
        &self,
        operator: UnaryOperator,
        operand: NodeIndex,
        mark: Span,
    ) -> Elaborated<Operand<'b>> {
        if let Operand::Literal(x) = self.operands[operand] {
            let folded = fold_unary(operator, x).map_err(|kind| ExprError::new(kind, mark))?;
            return Ok(Operand::Literal(folded));
        }
        let op = match operator {
            UnaryOperator::Plus => return self.plus(operand, mark),
            UnaryOperator::Negate => Op::Neg,
            UnaryOperator::Not => Op::Not,
        };
        let rule = self.rule_of(&[])?;
        self.elementwise(&Operation {
            op,
            manner: Manner::Table,
            nodes: &[operand],
            rule,
            states_rule: false,
            mark,
        })
        .map(Operand::Array)
    }

    /// `+x` is `x`, but for truth values under the numpy rule.
    fn plus(&self, operand: NodeIndex, mark: Span) -> Elaborated<Operand<'b>> {
        let value = self.value(operand)?;
        let dtype = self.dtype(value, mark)?;
        if dtype == DType::Bool && self.rule_of(&[])? == RuleSet::Numpy {
            let kind =
                ExprErrorKind::NotDefinedInNumpy { operation: "+", dtype, instead: Some("i8(x)") };
            return Err(ExprError::new(kind, mark));
        }
        Ok(Operand::Array(value))
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        nodes: &[NodeIndex; 2],
        mark: Span,
    ) -> Elaborated<Operand<'b>> {
        let [x, y] = nodes.map(|node| self.operands[node]);
        if let (Operand::Literal(x), Operand::Literal(y)) = (x, y) {
            let folded = fold_binary(operator, x, y).map_err(|kind| ExprError::new(kind, mark))?;
            return match folded {
                Some(literal) => Ok(Operand::Literal(literal)),
                None => self.fold_by_table(operator, nodes, mark).map(Operand::Literal),
            };
        }
        if operator == BinaryOperator::Power
            && let Some(square) = self.square(nodes, mark)?
        {
            return Ok(Operand::Array(square));
        }
        let (op, manner) = operation_of(operator);
        let rule = self.rule_of(&[])?;
        let operation = Operation { op, manner, nodes, rule, states_rule: false, mark };
        self.elementwise(&operation).map(Operand::Array)
    }

    /// Two literals through the definition of the table, on f64.
    fn fold_by_table(
        &self,
        operator: BinaryOperator,
        nodes: &[NodeIndex; 2],
        mark: Span,
    ) -> Elaborated<Literal> {
        let (op, _) = operation_of(operator);
        let b = GraphBuilder::new();
        let fold = || {
            let scalars = nodes.map(|node| match self.operands[node] {
                Operand::Literal(literal) => literal.scalar(&b, DType::F64),
                Operand::Array(value) => Ok(value),
            });
            let [x, y] = scalars;
            let result = b.elementwise(op, &[x?, y?], &RuleSet::None)?;
            b.finish(&[result])
        };
        let graph = fold().map_err(|error| self.graph_error(error, nodes, mark))?;
        let outputs = evaluate(&graph, &[]);
        let element =
            outputs.ok().and_then(|outputs| Some(*outputs[0].elements::<f64>()?.first()?));
        Ok(Literal::Float(element.expect("invariant: a binary operation on f64 scalars evaluates")))
    }

    fn call(
        &self,
        function: Function,
        nodes: &[NodeIndex],
        attributes: &[GivenAttribute],
        mark: Span,
    ) -> Elaborated<Value<'b>> {
        let (op, manner) = match function {
            Function::Elementwise { op, manner } => (op, manner),
            Function::Structural(structural) => {
                return self.structural(structural, nodes, attributes, mark);
            }
        };
        let rule = self.rule_of(attributes)?;
        if manner == Manner::NumpyOnly && rule != RuleSet::Numpy {
            let name = self.text(mark).to_owned();
            return Err(ExprError::new(ExprErrorKind::AmbiguousFunction { name }, mark));
        }
        let reordered;
        let nodes = match (manner, nodes) {
            (Manner::Clip, &[x, low, high]) => {
                reordered = [low, x, high];
                &reordered[..]
            }
            _ => nodes,
        };
        let states_rule = !attributes.is_empty();
        self.elementwise(&Operation { op, manner, nodes, rule, states_rule, mark })
    }

    /// The rule of one operation: its own attributes, within the rule asked for.
    fn rule_of(&self, attributes: &[GivenAttribute]) -> Elaborated<RuleSet> {
        let given = attributes.iter().find_map(|given| match (&given.attribute, &given.value) {
            (Attribute::Dims | Attribute::Axis, AttributeValue::Integers(values)) => {
                Some((given, values))
            }
            _ => None,
        });
        let Some((given, values)) = given else {
            return Ok(self.rule.cloned().unwrap_or(RuleSet::Numpy));
        };
        if let [_, second, ..] = attributes {
            return Err(ExprError::new(ExprErrorKind::ConflictingAttributes, second.span));
        }
        let axis = values.first().copied();
        match (given.attribute, self.rule) {
            (Attribute::Dims, None | Some(RuleSet::Xla { .. })) => {
                Ok(RuleSet::Xla { dims: values.clone() })
            }
            (Attribute::Axis, None | Some(RuleSet::Pdpd { .. })) => Ok(RuleSet::Pdpd { axis }),
            (Attribute::Axis, Some(RuleSet::OnnxLegacy { broadcast, .. })) => {
                Ok(RuleSet::OnnxLegacy { broadcast: *broadcast, axis })
            }
            (attribute, rule) => {
                let needs = if attribute == Attribute::Dims { "xla" } else { "pdpd" };
                let rule = rule.map_or("numpy", RuleSet::name);
                let kind =
                    ExprErrorKind::ForeignAttribute { keyword: attribute.keyword(), rule, needs };
                Err(ExprError::new(kind, given.span))
            }
        }
    }

    fn elementwise(&self, operation: &Operation<'_>) -> Elaborated<Value<'b>> {
        let Operation { op, manner, nodes, mark, .. } = *operation;
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        let is_numpy = operation.rule == RuleSet::Numpy;
        let plan = match is_numpy {
            true => typing::numpy(op, manner, &types),
            false => typing::strict(op, manner, &types),
        };
        match plan.map_err(|kind| ExprError::new(kind, mark))? {
            Plan::Compute { op, dtype } => self.compute(operation, op, dtype),
            Plan::Identity => self.value(nodes[0]),
            Plan::Complex(plan) => self
                .complex(plan, self.value(nodes[0])?)
                .map_err(|error| self.graph_error(error, nodes, mark)),
            Plan::Zero => {
                let x = self.value(nodes[0])?;
                self.apply_to_equal_shapes(Op::Xor, &[x, x], operation)
            }
            Plan::Multiplied { dtype } => {
                let x = self.operand_as(nodes[0], dtype, is_numpy)?;
                self.apply_to_equal_shapes(Op::Mul, &[x, x], operation)
            }
            Plan::IntegerReciprocal { dtype } => {
                let one = self.scalar(Literal::Int(1), dtype, mark)?;
                let x = self.operand_as(nodes[0], dtype, is_numpy)?;
                self.apply(Op::Div, &[one, x], operation)
            }
            Plan::ExactComparison { op } => self.exact_comparison(op, operation),
            Plan::ConstantComparison { is_true } => {
                let is_array =
                    |node: &&NodeIndex| matches!(self.operands[**node], Operand::Array(_));
                let array = nodes.iter().find(is_array).copied().unwrap_or(nodes[0]);
                let x = self.value(array)?;
                // An integer equals itself: a constant with the shape of the array.
                self.apply_to_equal_shapes(
                    if is_true { Op::Eq } else { Op::Ne },
                    &[x, x],
                    operation,
                )
            }
        }
    }

    /// `x ** 2` is a multiplication, as in NumPy: it is exact where a general power is not.
    fn square(&self, nodes: &[NodeIndex; 2], mark: Span) -> Elaborated<Option<Value<'b>>> {
        let [base, exponent] = *nodes;
        let (OperandType::Array(dtype), Operand::Literal(exponent)) =
            (self.operand_type(base)?, self.operands[exponent])
        else {
            return Ok(None);
        };
        let rule = self.rule_of(&[])?;
        if rule == RuleSet::Numpy && dtype.is_integer() && exponent.is_negative_int() {
            return Err(ExprError::new(ExprErrorKind::NegativeIntegerPower { dtype }, mark));
        }
        let is_two = match exponent {
            Literal::Int(2) => dtype != DType::Bool,
            Literal::Float(exponent) => exponent == 2.0 && dtype.is_float(),
            _ => false,
        };
        if !is_two {
            return Ok(None);
        }
        let x = self.value(base)?;
        let operation =
            Operation { op: Op::Mul, manner: Manner::Table, nodes, rule, states_rule: false, mark };
        self.apply_to_equal_shapes(Op::Mul, &[x, x], &operation).map(Some)
    }

    fn compute(&self, operation: &Operation<'_>, op: Op, dtype: DType) -> Elaborated<Value<'b>> {
        let is_numpy = operation.rule == RuleSet::Numpy;
        if operation.manner == Manner::Logical && dtype != DType::Bool {
            return Err(self.not_allowed(operation, dtype));
        }
        let mut values = Vec::with_capacity(operation.nodes.len());
        for (index, &node) in operation.nodes.iter().enumerate() {
            values.push(self.operand_as(node, op.operand_dtype(index, dtype), is_numpy)?);
        }
        let arrays = operation.nodes.iter().filter(|node| self.is_array(**node)).count();
        if arrays <= 1 && !is_numpy && !operation.states_rule {
            // Attributes asked for the whole expression are not meant for numbers.
            self.expand_literals(operation, 0..values.len(), &mut values)?;
            return self.apply_to_equal_shapes(op, &values, operation);
        }
        // The rules that take no scalars; pdpd takes them but for the operand that stands firm.
        let expanded = match operation.rule {
            RuleSet::Numpy | RuleSet::Xla { .. } => 0..0,
            RuleSet::Pdpd { .. } if values.len() == 3 => 1..2,
            RuleSet::Pdpd { .. } => 0..1,
            _ => 0..values.len(),
        };
        self.expand_literals(operation, expanded, &mut values)?;
        self.apply(op, &values, operation)
    }

    fn is_array(&self, node: NodeIndex) -> bool {
        matches!(self.operands[node], Operand::Array(_))
    }

    /// The literals at `positions` take the shape of the array of highest rank.
    fn expand_literals(
        &self,
        operation: &Operation<'_>,
        positions: Range<usize>,
        values: &mut [Value<'b>],
    ) -> Elaborated<()> {
        let mut target: Option<Shape> = None;
        for (value, &node) in values.iter().zip(operation.nodes) {
            if self.is_array(node) {
                let shape = self.array_shape(*value, operation.mark)?;
                if target.as_ref().is_none_or(|target| shape.rank() > target.rank()) {
                    target = Some(shape);
                }
            }
        }
        let Some(target) = target else { return Ok(()) };
        for position in positions {
            let node = operation.nodes[position];
            if !self.is_array(node) {
                values[position] = self
                    .builder
                    .broadcast_in_dim(values[position], &[], &target)
                    .map_err(|error| self.graph_error(error, &[node], operation.mark))?;
            }
        }
        Ok(())
    }

    /// A signed array `s` beside `u` of u64: `s < u` where s is negative or, as u64, below u.
    fn exact_comparison(&self, op: Op, operation: &Operation<'_>) -> Elaborated<Value<'b>> {
        let [x, y] = [self.value(operation.nodes[0])?, self.value(operation.nodes[1])?];
        let is_unsigned_first = self.dtype(x, operation.mark)? == DType::U64;
        let signed = if is_unsigned_first { y } else { x };
        let is_negative = self.is_negative(signed, operation)?;
        // Operands as the text has them, so that an error about shapes names them right.
        let values =
            [self.convert(x, DType::U64, operation)?, self.convert(y, DType::U64, operation)?];
        let as_unsigned = self.apply(op, &values, operation)?;
        let seen_from_signed = if is_unsigned_first { typing::mirrored(op) } else { op };
        match seen_from_signed {
            Op::Lt | Op::Le | Op::Ne => self.apply(Op::Or, &[as_unsigned, is_negative], operation),
            _ => {
                let is_not_negative =
                    self.apply_to_equal_shapes(Op::Not, &[is_negative], operation)?;
                self.apply(Op::And, &[as_unsigned, is_not_negative], operation)
            }
        }
    }

    fn is_negative(&self, signed: Value<'b>, operation: &Operation<'_>) -> Elaborated<Value<'b>> {
        let dtype = self.dtype(signed, operation.mark)?;
        let zero = self.scalar(Literal::Int(0), dtype, operation.mark)?;
        self.apply(Op::Lt, &[signed, zero], operation)
    }

    fn apply(
        &self,
        op: Op,
        values: &[Value<'b>],
        operation: &Operation<'_>,
    ) -> Elaborated<Value<'b>> {
        self.builder
            .elementwise(op, values, &operation.rule)
            .map_err(|error| self.graph_error(error, operation.nodes, operation.mark))
    }

    /// For one operand, or operands made from one: they need no rule.
    fn apply_to_equal_shapes(
        &self,
        op: Op,
        values: &[Value<'b>],
        operation: &Operation<'_>,
    ) -> Elaborated<Value<'b>> {
        self.builder
            .elementwise(op, values, &RuleSet::None)
            .map_err(|error| self.graph_error(error, operation.nodes, operation.mark))
    }

    pub(super) fn cast(&self, node: NodeIndex, dtype: DType) -> Elaborated<Value<'b>> {
        let extent = self.expression.nodes[node].extent;
        match self.operands[node] {
            Operand::Literal(literal) => self.scalar(literal, dtype, extent),
            Operand::Array(value) => self
                .builder
                .convert(value, dtype)
                .map_err(|error| self.graph_error(error, &[node], extent)),
        }
    }

    fn convert(
        &self,
        value: Value<'b>,
        dtype: DType,
        operation: &Operation<'_>,
    ) -> Elaborated<Value<'b>> {
        self.builder
            .convert(value, dtype)
            .map_err(|error| self.graph_error(error, operation.nodes, operation.mark))
    }

    /// The operand as an array; literals that no array gave a type take their own.
    pub(super) fn value(&self, node: NodeIndex) -> Elaborated<Value<'b>> {
        match self.operands[node] {
            Operand::Array(value) => Ok(value),
            Operand::Literal(literal) => {
                let extent = self.expression.nodes[node].extent;
                self.scalar(literal, literal.default_dtype(), extent)
            }
        }
    }

    /// The operand in the type of an operation; arrays are converted only where the rule says so.
    fn operand_as(
        &self,
        node: NodeIndex,
        dtype: DType,
        is_converting: bool,
    ) -> Elaborated<Value<'b>> {
        match self.operands[node] {
            Operand::Array(value) if !is_converting => Ok(value),
            _ => self.cast(node, dtype),
        }
    }

    fn scalar(&self, literal: Literal, dtype: DType, span: Span) -> Elaborated<Value<'b>> {
        if !literal.fits(dtype) {
            return Err(ExprError::new(ExprErrorKind::LiteralOutOfRange { literal, dtype }, span));
        }
        literal.scalar(self.builder, dtype).map_err(|error| self.graph_error(error, &[], span))
    }

    fn operand_type(&self, node: NodeIndex) -> Elaborated<OperandType> {
        match self.operands[node] {
            Operand::Literal(literal) => Ok(OperandType::Literal(literal)),
            Operand::Array(value) => {
                self.dtype(value, self.expression.nodes[node].extent).map(OperandType::Array)
            }
        }
    }

    fn dtype(&self, value: Value<'b>, span: Span) -> Elaborated<DType> {
        let array_type = value.array_type().map_err(|error| self.graph_error(error, &[], span))?;
        Ok(array_type.dtype)
    }

    pub(super) fn array_shape(&self, value: Value<'b>, span: Span) -> Elaborated<Shape> {
        let array_type = value.array_type().map_err(|error| self.graph_error(error, &[], span))?;
        Ok(array_type.shape)
    }

    pub(super) fn text(&self, span: Span) -> &'e str {
        &self.expression.text[span.start..span.end]
    }

    fn not_allowed(&self, operation: &Operation<'_>, dtype: DType) -> ExprError {
        let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
        let operands = operation
            .nodes
            .iter()
            .filter_map(|&node| Some((String::new(), self.value(node).ok()?.array_type().ok()?)))
            .collect();
        let error = GraphError { kind, operation: operation.op.name(), operands };
        self.graph_error(error, operation.nodes, operation.mark)
    }

    /// The builder's error at its place, with the operands called as they are written.
    pub(super) fn graph_error(
        &self,
        mut error: GraphError,
        nodes: &[NodeIndex],
        mark: Span,
    ) -> ExprError {
        if error.operands.len() == nodes.len() {
            for ((name, _), node) in error.operands.iter_mut().zip(nodes) {
                let extent = self.expression.nodes[*node].extent;
                *name = super::draw::shorten(self.text(extent));
            }
        }
        ExprError::new(ExprErrorKind::Graph(Box::new(error)), mark)
    }
}
