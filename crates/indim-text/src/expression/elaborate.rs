//! Elaboration: turns the syntax tree into nodes of a graph, with names, literals and rules resolved.
//!
//! One loop visits the nodes, operands before operations. `elementwise.rs` adds the nodes of an
//! element-wise operation, `structure.rs` those of reshapes and conversions. `typing.rs` determines
//! element types, the builder shapes.

use std::collections::HashMap;

use indim_builder::{GraphBuilder, Value};
use indim_graph::{GraphError, evaluate};
use indim_ops::{BinaryOperator, DType, Op};
use indim_shape::{AxisNames, RankLimitError, RuleChoice, RuleSet, Shape};

use super::elementwise::ElementwiseCall;
use super::error::{ExprError, ExprErrorKind};
use super::folding::{fold_binary, fold_unary};
use super::function::{Function, OpVariant, operation_of};
use super::numbers::{Number, Numbers};
use super::parameter::AttributeKey;
use super::statement_error::StatementError;
use super::structure::StructuralCall;
use super::syntax::{
    AttributeValue, NamedAttribute, NodeIndex, SyntaxNode, SyntaxNodeKind, UnaryOperator,
};
use super::typing::{OperandType, promotes};
use super::{Binding, Expression};
use crate::limits::LimitError;
use crate::span::Span;
use crate::suggest::closest;
use indim_graph::Literal;

pub(super) type ElaborateResult<T> = Result<T, ExprError>;

/// The elaborated form of a syntax node.
#[derive(Debug, Clone)]
pub(super) enum ElaboratedOperand {
    Literal(Literal),
    /// A number that is an input.
    Number(Number),
    Array(Value),
}

impl From<Binding> for ElaboratedOperand {
    fn from(binding: Binding) -> Self {
        match binding {
            Binding::Array(value) => ElaboratedOperand::Array(value),
            Binding::Number(literal) => ElaboratedOperand::Literal(literal),
            Binding::Input(number) => ElaboratedOperand::Number(number),
        }
    }
}

impl From<ElaboratedOperand> for Binding {
    fn from(operand: ElaboratedOperand) -> Self {
        match operand {
            ElaboratedOperand::Array(value) => Binding::Array(value),
            ElaboratedOperand::Literal(literal) => Binding::Number(literal),
            ElaboratedOperand::Number(number) => Binding::Input(number),
        }
    }
}

/// The operand for a number computed from inputs: an input if [`Numbers::accepts`] it, else a pinned
/// constant.
fn number_operand(number: Number) -> ElaboratedOperand {
    match Numbers::accepts(number.value()) {
        true => ElaboratedOperand::Number(number),
        false => ElaboratedOperand::Literal(number.pin()),
    }
}

/// The state of the elaboration of one expression.
pub(super) struct Elaborator<'e, 'b> {
    expression: &'e Expression,
    pub(super) builder: &'b GraphBuilder,
    pub(super) rule: Option<&'e RuleSet>,
    bindings: HashMap<&'e str, Binding>,
    /// The elaborated forms of the nodes before the current one.
    pub(super) operands: Vec<ElaboratedOperand>,
}

/// Elaborates all nodes of an expression.
pub(super) fn elaborate<'e, 'b>(
    expression: &'e Expression,
    builder: &'b GraphBuilder,
    bindings: &[(&'e str, Binding)],
    rule: Option<&'e RuleSet>,
) -> ElaborateResult<Elaborator<'e, 'b>> {
    let bindings: HashMap<&str, Binding> = bindings.iter().cloned().collect();
    for assignments in &expression.assignments {
        if bindings.contains_key(assignments.name.as_str()) {
            let error = StatementError::AssignedInput { name: assignments.name.clone() };
            return Err(ExprError::statement(error, assignments.span));
        }
    }
    let operands = Vec::with_capacity(expression.nodes.len());
    let mut elaborator = Elaborator { expression, builder, rule, bindings, operands };
    for node in &expression.nodes {
        let operand = elaborator.node(node)?;
        elaborator.check_rank(&operand, node.mark)?;
        elaborator.operands.push(operand);
    }
    Ok(elaborator)
}

impl<'e, 'b> Elaborator<'e, 'b> {
    fn node(&self, node: &'e SyntaxNode) -> ElaborateResult<ElaboratedOperand> {
        match &node.kind {
            SyntaxNodeKind::Literal(literal) => Ok(ElaboratedOperand::Literal(*literal)),
            SyntaxNodeKind::Name(index) => self.name(&self.expression.names[*index], node.mark),
            SyntaxNodeKind::LocalName(node) => Ok(self.operands[*node].clone()),
            SyntaxNodeKind::Unary { operator, operand } => {
                self.unary(*operator, *operand, node.mark)
            }
            SyntaxNodeKind::Binary { operator, operands } => {
                self.binary(*operator, operands, node.mark)
            }
            SyntaxNodeKind::Index { operand, items } => {
                self.index(*operand, items, node.mark).map(ElaboratedOperand::Array)
            }
            SyntaxNodeKind::Call { function, operands, attributes } => {
                self.call(*function, operands, attributes, node.mark).map(ElaboratedOperand::Array)
            }
        }
    }

    fn check_rank(&self, operand: &ElaboratedOperand, mark: Span) -> ElaborateResult<()> {
        let ElaboratedOperand::Array(value) = operand else { return Ok(()) };
        let rank = self.array_shape(value, mark)?.rank();
        RankLimitError::check(rank, self.expression.max_rank)
            .map_err(|error| ExprError::limit(LimitError::Rank(error), mark))
    }

    fn name(&self, name: &str, mark: Span) -> ElaborateResult<ElaboratedOperand> {
        if let Some(binding) = self.bindings.get(name) {
            return Ok(binding.clone().into());
        }
        Literal::constant(name).map(ElaboratedOperand::Literal).ok_or_else(|| {
            let suggestion = closest(name, self.bindings.keys().copied()).map(str::to_owned);
            ExprError::new(ExprErrorKind::UnknownName { name: name.to_owned(), suggestion }, mark)
        })
    }

    fn unary(
        &self,
        operator: UnaryOperator,
        operand: NodeIndex,
        mark: Span,
    ) -> ElaborateResult<ElaboratedOperand> {
        if let Some(x) = self.number_value(operand) {
            let folded = fold_unary(operator, x).map_err(|kind| ExprError::new(kind, mark))?;
            return Ok(match &self.operands[operand] {
                ElaboratedOperand::Number(number) => number_operand(number.unary(operator, folded)),
                _ => ElaboratedOperand::Literal(folded),
            });
        }
        let op = match operator {
            UnaryOperator::Plus => return self.plus(operand, mark),
            UnaryOperator::Negate => Op::Neg,
            UnaryOperator::Not => Op::Not,
        };
        let rule = self.rule_of(&[])?;
        self.elementwise(&ElementwiseCall {
            op,
            variant: OpVariant::Table,
            nodes: &[operand],
            rule,
            states_rule: false,
            mark,
        })
        .map(ElaboratedOperand::Array)
    }

    /// `+x` is `x`; the numpy rule refuses truth values.
    fn plus(&self, operand: NodeIndex, mark: Span) -> ElaborateResult<ElaboratedOperand> {
        let value = self.value(operand)?;
        let dtype = self.dtype(&value, mark)?;
        if dtype == DType::Bool && promotes(&self.rule_of(&[])?) {
            let kind =
                ExprErrorKind::NotDefinedInNumpy { operation: "+", dtype, instead: Some("i8(x)") };
            return Err(ExprError::new(kind, mark));
        }
        Ok(ElaboratedOperand::Array(value))
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        nodes: &[NodeIndex; 2],
        mark: Span,
    ) -> ElaborateResult<ElaboratedOperand> {
        if let [Some(x), Some(y)] = nodes.map(|node| self.number_value(node)) {
            let folded = fold_binary(operator, x, y).map_err(|kind| ExprError::new(kind, mark))?;
            let Some(folded) = folded else {
                return self.fold_by_table(operator, nodes, mark).map(ElaboratedOperand::Literal);
            };
            let operand = |node: NodeIndex| match &self.operands[node] {
                ElaboratedOperand::Number(number) => Ok(number),
                _ => Err(self.literal(node).unwrap_or(folded)),
            };
            let number = Number::binary(operator, nodes.map(operand), folded);
            return Ok(number.map_or(ElaboratedOperand::Literal(folded), number_operand));
        }
        if operator == BinaryOperator::Power
            && let Some(square) = self.square(nodes, mark)?
        {
            return Ok(ElaboratedOperand::Array(square));
        }
        let (op, variant) = operation_of(operator);
        let rule = self.rule_of(&[])?;
        let operation = ElementwiseCall { op, variant, nodes, rule, states_rule: false, mark };
        self.elementwise(&operation).map(ElaboratedOperand::Array)
    }

    /// Folds two literals by evaluating the operation of the table on f64, or c128 for complex numbers.
    fn fold_by_table(
        &self,
        operator: BinaryOperator,
        nodes: &[NodeIndex; 2],
        mark: Span,
    ) -> ElaborateResult<Literal> {
        let (op, _) = operation_of(operator);
        let is_complex =
            |node: &NodeIndex| matches!(self.number_value(*node), Some(Literal::Complex(_)));
        let dtype = if nodes.iter().any(is_complex) { DType::C128 } else { DType::F64 };
        let b = GraphBuilder::new();
        let fold = || {
            let scalars = nodes.map(|node| match (self.literal(node), &self.operands[node]) {
                (None, ElaboratedOperand::Array(value)) => Ok(value.clone()),
                (literal, _) => b.literal(literal.unwrap_or(Literal::Int(0)), dtype),
            });
            let [x, y] = scalars;
            let result = b.elementwise(op, &[x?, y?], &RuleSet::None)?;
            b.finish(&[result])
        };
        let graph = fold().map_err(|error| self.graph_error(error, nodes, mark))?;
        let outputs = evaluate(&graph, &[]).expect("invariant: an operation on scalars evaluates");
        let [result] = outputs.as_slice() else { unreachable!("invariant: one result") };
        let literal = match result.array_type().dtype {
            DType::Bool => result.scalar().map(Literal::Bool),
            DType::F64 => result.scalar().map(Literal::Float),
            _ => result.scalar().map(Literal::Complex),
        };
        Ok(literal.expect("invariant: the type of a scalar"))
    }

    fn call(
        &self,
        function: Function,
        nodes: &[NodeIndex],
        attributes: &[NamedAttribute],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let (op, variant) = match function {
            Function::Elementwise { op, variant } => (op, variant),
            Function::Structural(structural) => {
                return self.structural(structural, nodes, attributes, mark);
            }
            Function::DataMovement(function) => {
                return self.movement(function, nodes, attributes, mark);
            }
            Function::Product(function) => {
                return self.product(function, nodes, attributes, mark);
            }
            Function::Random(function) => {
                return self.random(function, &StructuralCall { nodes, attributes, mark });
            }
            Function::Fourier(function) => {
                return self.fourier(function, &StructuralCall { nodes, attributes, mark });
            }
            Function::Composition(composition) => {
                return self.composition(composition, nodes, attributes, mark);
            }
            Function::Reduction(function) => {
                return self.reduction(function, nodes, attributes, mark);
            }
        };
        let rule = self.rule_of(attributes)?;
        if variant == OpVariant::NumpyOnly && !promotes(&rule) {
            let name = self.text(mark).to_owned();
            return Err(ExprError::new(ExprErrorKind::AmbiguousFunction { name }, mark));
        }
        let states_rule = !attributes.is_empty();
        let (OpVariant::Clip, &[x, low, high]) = (variant, nodes) else {
            return self.elementwise(&ElementwiseCall {
                op,
                variant,
                nodes,
                rule,
                states_rule,
                mark,
            });
        };
        let by_name = matches!(rule, RuleSet::Named { .. });
        let reordered = [low, x, high];
        let operation = ElementwiseCall { op, variant, nodes: &reordered, rule, states_rule, mark };
        let clipped = self.elementwise(&operation)?;
        if by_name { self.transpose_to_order_of(clipped, nodes, mark) } else { Ok(clipped) }
    }

    /// Transposes a result to the order in which the operands `nodes` name the axes. `clip` elaborates its
    /// operands in another order, and the order of operands determines the order of named axes.
    fn transpose_to_order_of(
        &self,
        value: Value,
        nodes: &[NodeIndex],
        mark: Span,
    ) -> ElaborateResult<Value> {
        let lists: Vec<AxisNames> = nodes
            .iter()
            .filter_map(|&node| match &self.operands[node] {
                ElaboratedOperand::Array(operand) => Some(operand.axis_names()),
                _ => None,
            })
            .collect();
        let mut order: Vec<&str> = Vec::new();
        for name in lists.iter().flat_map(|names| names.iter().flatten()) {
            if !order.contains(&name) {
                order.push(name);
            }
        }
        if order.len() != value.axis_names().len() {
            return Ok(value);
        }
        let names = AxisNames::from(order);
        self.builder
            .transpose_to(value, &names)
            .map_err(|error| self.graph_error(error, nodes, mark))
    }

    /// The rule of one operation: the requested rule with the attributes of the call.
    pub(super) fn rule_of(&self, attributes: &[NamedAttribute]) -> ElaborateResult<RuleSet> {
        let mut rule_attributes = self.rule.map(RuleSet::attributes).unwrap_or_default();
        let mut call_attributes = Vec::new();
        for attribute in attributes {
            let AttributeValue::Integers(values) = &attribute.value else { continue };
            match attribute.attribute {
                AttributeKey::Dims => rule_attributes.dims = Some(values.clone()),
                AttributeKey::Axis => rule_attributes.axis = values.first().copied(),
                _ => continue,
            }
            call_attributes.push(attribute);
        }
        let Some(last) = call_attributes.last() else {
            return Ok(self.rule.cloned().unwrap_or(RuleSet::Numpy));
        };
        let choice = self.rule.map_or(RuleChoice::AsWritten, |rule| RuleChoice::Named(rule.name()));
        choice.elementwise(&rule_attributes).map_err(|error| {
            let name = error.attribute().map(|attribute| attribute.as_str());
            let is_named =
                |attribute: &&&NamedAttribute| Some(attribute.attribute.keyword()) == name;
            let span = call_attributes.iter().find(is_named).unwrap_or(last).span;
            ExprError::new(ExprErrorKind::Attribute(error), span)
        })
    }

    pub(super) fn is_array(&self, node: NodeIndex) -> bool {
        matches!(self.operands[node], ElaboratedOperand::Array(_))
    }

    /// The operand as an array of `dtype`. An array is converted; a number must fit the type.
    pub(super) fn cast(&self, node: NodeIndex, dtype: DType) -> ElaborateResult<Value> {
        let extent = self.expression.nodes[node].extent;
        match &self.operands[node] {
            ElaboratedOperand::Literal(literal) => self.scalar(*literal, dtype, extent),
            ElaboratedOperand::Number(number) => self.input(number, dtype, extent),
            ElaboratedOperand::Array(value) => self
                .builder
                .convert(value, dtype)
                .map_err(|error| self.graph_error(error, &[node], extent)),
        }
    }

    /// The operand as an array. A literal gets its default element type.
    pub(super) fn value(&self, node: NodeIndex) -> ElaborateResult<Value> {
        match &self.operands[node] {
            ElaboratedOperand::Array(value) => Ok(value.clone()),
            ElaboratedOperand::Literal(literal) => {
                let extent = self.expression.nodes[node].extent;
                self.scalar(*literal, literal.default_dtype(), extent)
            }
            ElaboratedOperand::Number(number) => {
                let extent = self.expression.nodes[node].extent;
                self.input(number, number.value().default_dtype(), extent)
            }
        }
    }

    /// A number as an element of `dtype`: a parameter, or a constant if the number is pinned or does not fit.
    fn input(&self, number: &Number, dtype: DType, span: Span) -> ElaborateResult<Value> {
        match number.is_pinned() || !number.value().fits(dtype) {
            true => self.scalar(number.pin(), dtype, span),
            false => {
                number.cast(self.builder, dtype).map_err(|error| self.graph_error(error, &[], span))
            }
        }
    }

    /// The number of a node as a constant; pins an input. `None` for an array.
    pub(super) fn literal(&self, node: NodeIndex) -> Option<Literal> {
        match &self.operands[node] {
            ElaboratedOperand::Literal(literal) => Some(*literal),
            ElaboratedOperand::Number(number) => Some(number.pin()),
            ElaboratedOperand::Array(_) => None,
        }
    }

    /// The current number of a node, without pinning it. `None` for an array.
    fn number_value(&self, node: NodeIndex) -> Option<Literal> {
        match &self.operands[node] {
            ElaboratedOperand::Literal(literal) => Some(*literal),
            ElaboratedOperand::Number(number) => Some(number.value()),
            ElaboratedOperand::Array(_) => None,
        }
    }

    pub(super) fn scalar(
        &self,
        literal: Literal,
        dtype: DType,
        span: Span,
    ) -> ElaborateResult<Value> {
        if !literal.fits(dtype) {
            return Err(ExprError::new(ExprErrorKind::LiteralOutOfRange { literal, dtype }, span));
        }
        self.builder.literal(literal, dtype).map_err(|error| self.graph_error(error, &[], span))
    }

    pub(super) fn operand_type(&self, node: NodeIndex) -> ElaborateResult<OperandType> {
        match &self.operands[node] {
            ElaboratedOperand::Literal(literal) => Ok(OperandType::Literal(*literal)),
            ElaboratedOperand::Number(number) => Ok(OperandType::Literal(number.value())),
            ElaboratedOperand::Array(value) => {
                self.dtype(value, self.expression.nodes[node].extent).map(OperandType::Array)
            }
        }
    }

    pub(super) fn dtype(&self, value: &Value, span: Span) -> ElaborateResult<DType> {
        let array_type = value.array_type().map_err(|error| self.graph_error(error, &[], span))?;
        Ok(array_type.dtype)
    }

    pub(super) fn array_shape(&self, value: &Value, span: Span) -> ElaborateResult<Shape> {
        let array_type = value.array_type().map_err(|error| self.graph_error(error, &[], span))?;
        Ok(array_type.shape)
    }

    /// The span of a whole node.
    pub(super) fn extent(&self, node: NodeIndex) -> Span {
        self.expression.nodes[node].extent
    }

    pub(super) fn text(&self, span: Span) -> &'e str {
        span.of(&self.expression.text)
    }

    /// The builder's error with a span, and with the operands' texts as their names.
    pub(super) fn graph_error(
        &self,
        mut error: GraphError,
        nodes: &[NodeIndex],
        mark: Span,
    ) -> ExprError {
        if error.operands.len() == nodes.len() {
            for ((name, _), node) in error.operands.iter_mut().zip(nodes) {
                let extent = self.expression.nodes[*node].extent;
                *name = crate::shorten::shorten(self.text(extent));
            }
        }
        error.location = None;
        ExprError::new(ExprErrorKind::Graph(Box::new(error)), mark)
    }
}
