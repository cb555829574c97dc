//! Elaboration of one element-wise operation: adds the nodes of its plan (`typing.rs`), with its literals and
//! rule.

use core::borrow::Borrow;
use core::ops::Range;

use indim_builder::Value;
use indim_graph::{GraphError, GraphErrorKind};
use indim_ops::{DType, Op};
use indim_shape::{RuleSet, Shape};

use super::elaborate::{ElaborateResult, ElaboratedOperand, Elaborator};
use super::error::{ExprError, ExprErrorKind};
use super::function::OpVariant;
use super::syntax::NodeIndex;
use super::typing::{self, OperandType, TypingPlan};
use crate::span::Span;
use indim_graph::Literal;

/// An element-wise operation to elaborate.
pub(super) struct ElementwiseCall<'o> {
    pub(super) op: Op,
    pub(super) variant: OpVariant,
    pub(super) nodes: &'o [NodeIndex],
    pub(super) rule: RuleSet,
    /// Whether an attribute of the call states the rule.
    pub(super) states_rule: bool,
    pub(super) mark: Span,
}

/// The operands of an operation or a composition, and their rule.
pub(super) struct OperandNodes<'o> {
    pub(super) nodes: &'o [NodeIndex],
    pub(super) rule: &'o RuleSet,
    /// Whether an attribute of the call states the rule.
    pub(super) states_rule: bool,
    pub(super) mark: Span,
}

impl<'b> Elaborator<'_, 'b> {
    /// The value of the operation.
    pub(super) fn elementwise(&self, operation: &ElementwiseCall<'_>) -> ElaborateResult<Value> {
        let ElementwiseCall { op, variant, nodes, mark, .. } = *operation;
        let types =
            nodes.iter().map(|&node| self.operand_type(node)).collect::<Result<Vec<_>, _>>()?;
        if op == Op::Pow {
            // The lowering of a power depends on the exponent, so pin it.
            self.literal(nodes[1]);
        }
        let numpy_call;
        let operation = match &operation.rule {
            RuleSet::Named { .. }
                if nodes.iter().filter(|node| self.is_array(**node)).count() < 2 =>
            {
                // With at most one array, no axes are matched.
                numpy_call = ElementwiseCall { rule: RuleSet::Numpy, ..*operation };
                &numpy_call
            }
            _ => operation,
        };
        let is_numpy = typing::promotes(&operation.rule);
        let plan = match is_numpy {
            true => typing::plan_numpy(op, variant, &types),
            false => typing::plan_without_promotion(op, variant, &types),
        };
        match plan.map_err(|kind| ExprError::new(kind, mark))? {
            TypingPlan::Compute { op, dtype } => self.compute(operation, op, dtype),
            TypingPlan::Identity => self.value(nodes[0]),
            TypingPlan::Complex(plan) => self
                .complex(plan, self.value(nodes[0])?)
                .map_err(|error| self.graph_error(error, nodes, mark)),
            TypingPlan::Zero => {
                let x = self.value(nodes[0])?;
                self.apply_to_equal_shapes(Op::Xor, &[&x, &x], operation)
            }
            TypingPlan::Multiplied { dtype } => {
                let x = self.operand_as(nodes[0], dtype, is_numpy)?;
                self.apply_to_equal_shapes(Op::Mul, &[&x, &x], operation)
            }
            TypingPlan::IntegerReciprocal { dtype } => {
                let one = self.scalar(Literal::Int(1), dtype, mark)?;
                let x = self.operand_as(nodes[0], dtype, is_numpy)?;
                self.apply(Op::Div, &[one, x], operation)
            }
            TypingPlan::ExactComparison { op } => self.exact_comparison(op, operation),
            TypingPlan::ConstantComparison { is_true } => {
                self.constant_comparison(is_true, operation)
            }
        }
    }

    /// Lowers `x ** 2` to `x * x`, like NumPy: a product is correctly rounded, a general power is not.
    /// Pins the exponent. `None` for any other power.
    pub(super) fn square(
        &self,
        nodes: &[NodeIndex; 2],
        mark: Span,
    ) -> ElaborateResult<Option<Value>> {
        let [base, exponent] = *nodes;
        let (OperandType::Array(dtype), Some(exponent)) =
            (self.operand_type(base)?, self.literal(exponent))
        else {
            return Ok(None);
        };
        let rule = self.rule_of(&[])?;
        if typing::promotes(&rule) && dtype.is_integer() && exponent.is_negative_int() {
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
        let operation = ElementwiseCall {
            op: Op::Mul,
            variant: OpVariant::Table,
            nodes,
            rule,
            states_rule: false,
            mark,
        };
        self.apply_to_equal_shapes(Op::Mul, &[&x, &x], &operation).map(Some)
    }

    /// The operation on operands that are converted to `dtype`.
    fn compute(
        &self,
        operation: &ElementwiseCall<'_>,
        op: Op,
        dtype: DType,
    ) -> ElaborateResult<Value> {
        if operation.variant == OpVariant::Logical && dtype != DType::Bool {
            return Err(self.not_allowed(operation, dtype));
        }
        let &ElementwiseCall { nodes, ref rule, states_rule, mark, .. } = operation;
        let operands = OperandNodes { nodes, rule, states_rule, mark };
        let (values, rule) =
            self.convert_operands(&operands, |position| op.operand_dtype(position, dtype))?;
        self.apply_under(&rule, op, &values, operation)
    }

    /// Converts the operands to their types and returns them with the rule to apply. Expands literals to the
    /// shape of an array if the rule takes no scalars.
    pub(super) fn convert_operands(
        &self,
        operands: &OperandNodes<'_>,
        dtype: impl Fn(usize) -> DType,
    ) -> ElaborateResult<(Vec<Value>, RuleSet)> {
        let &OperandNodes { nodes, rule, states_rule, .. } = operands;
        let is_numpy = typing::promotes(rule);
        let mut values = Vec::with_capacity(nodes.len());
        for (position, &node) in nodes.iter().enumerate() {
            values.push(self.operand_as(node, dtype(position), is_numpy)?);
        }
        let arrays = nodes.iter().filter(|node| self.is_array(**node)).count();
        if arrays <= 1 && !is_numpy && !states_rule {
            // Attributes of the rule of the whole expression do not apply to numbers.
            self.expand_literals(operands, 0..values.len(), &mut values)?;
            return Ok((values, RuleSet::None));
        }
        if arrays <= 1 && matches!(rule, RuleSet::Named { .. }) {
            return Ok((values, RuleSet::Numpy));
        }
        // Literals to expand: all under rules without scalars; under pdpd only the operand that is broadcast
        // onto.
        let expanded = match rule {
            RuleSet::Numpy | RuleSet::Named { .. } | RuleSet::Xla { .. } => 0..0,
            RuleSet::Pdpd { .. } if values.len() == 3 => 1..2,
            RuleSet::Pdpd { .. } => 0..1,
            _ => 0..values.len(),
        };
        self.expand_literals(operands, expanded, &mut values)?;
        Ok((values, rule.clone()))
    }

    /// Expands the literals at `positions` to the shape of the array of highest rank.
    fn expand_literals(
        &self,
        operands: &OperandNodes<'_>,
        positions: Range<usize>,
        values: &mut [Value],
    ) -> ElaborateResult<()> {
        let mut target: Option<(Shape, Value)> = None;
        for (value, &node) in values.iter().zip(operands.nodes) {
            if self.is_array(node) {
                let shape = self.array_shape(value, operands.mark)?;
                if target.as_ref().is_none_or(|(target, _)| shape.rank() > target.rank()) {
                    target = Some((shape, value.clone()));
                }
            }
        }
        let Some((_, target)) = target else { return Ok(()) };
        for position in positions {
            let node = operands.nodes[position];
            if !self.is_array(node) {
                values[position] = self
                    .builder
                    .broadcast_like(&values[position], &[], &target)
                    .map_err(|error| self.graph_error(error, &[node], operands.mark))?;
            }
        }
        Ok(())
    }

    /// A comparison with the same result for all elements.
    fn constant_comparison(
        &self,
        is_true: bool,
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        // The result depends on the number's value, so pin it.
        operation.nodes.iter().for_each(|&node| _ = self.literal(node));
        let mut arrays = operation.nodes.iter().filter(|node| self.is_array(**node));
        let x = self.value(*arrays.next().unwrap_or(&operation.nodes[0]))?;
        // An integer equals itself.
        let op = if is_true { Op::Eq } else { Op::Ne };
        self.apply_to_equal_shapes(op, &[&x, &x], operation)
    }

    /// A signed array `s` compared with `u` of u64: `s < u` if s is negative or, as u64, below u.
    fn exact_comparison(&self, op: Op, operation: &ElementwiseCall<'_>) -> ElaborateResult<Value> {
        let [x, y] = [self.value(operation.nodes[0])?, self.value(operation.nodes[1])?];
        let is_unsigned_first = self.dtype(&x, operation.mark)? == DType::U64;
        let signed = if is_unsigned_first { &y } else { &x };
        let is_negative = self.is_negative(signed, operation)?;
        // Operands in the order of the text, so that an error about shapes names them correctly.
        let values =
            [self.convert(x, DType::U64, operation)?, self.convert(y, DType::U64, operation)?];
        let as_unsigned = self.apply(op, &values, operation)?;
        let swapped = op.swapped().filter(|_| is_unsigned_first);
        let signed_first = swapped.unwrap_or(op);
        match signed_first {
            Op::Lt | Op::Le | Op::Ne => self.apply(Op::Or, &[as_unsigned, is_negative], operation),
            _ => {
                let is_not_negative =
                    self.apply_to_equal_shapes(Op::Not, &[is_negative], operation)?;
                self.apply(Op::And, &[as_unsigned, is_not_negative], operation)
            }
        }
    }

    fn is_negative(
        &self,
        signed: &Value,
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        let dtype = self.dtype(signed, operation.mark)?;
        let zero = self.scalar(Literal::Int(0), dtype, operation.mark)?;
        self.apply(Op::Lt, &[signed, &zero], operation)
    }

    fn apply(
        &self,
        op: Op,
        values: &[impl Borrow<Value>],
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        self.apply_under(&operation.rule, op, values, operation)
    }

    /// Applies an operation to operands of equal shapes, which need no rule.
    fn apply_to_equal_shapes(
        &self,
        op: Op,
        values: &[impl Borrow<Value>],
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        self.apply_under(&RuleSet::None, op, values, operation)
    }

    fn apply_under(
        &self,
        rule: &RuleSet,
        op: Op,
        values: &[impl Borrow<Value>],
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        self.builder
            .elementwise(op, values, rule)
            .map_err(|error| self.graph_error(error, operation.nodes, operation.mark))
    }

    fn convert(
        &self,
        value: Value,
        dtype: DType,
        operation: &ElementwiseCall<'_>,
    ) -> ElaborateResult<Value> {
        self.builder
            .convert(value, dtype)
            .map_err(|error| self.graph_error(error, operation.nodes, operation.mark))
    }

    /// The operand in the type of an operation. Arrays are converted only if `is_converting`, which is true
    /// under a rule with promotion.
    pub(super) fn operand_as(
        &self,
        node: NodeIndex,
        dtype: DType,
        is_converting: bool,
    ) -> ElaborateResult<Value> {
        match &self.operands[node] {
            ElaboratedOperand::Array(value) if !is_converting => Ok(value.clone()),
            _ => self.cast(node, dtype),
        }
    }

    fn not_allowed(&self, operation: &ElementwiseCall<'_>, dtype: DType) -> ExprError {
        let kind = GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype };
        let operands = operation
            .nodes
            .iter()
            .filter_map(|&node| Some((String::new(), self.value(node).ok()?.array_type().ok()?)))
            .collect();
        let error = GraphError::new(kind, operation.op.name(), operands);
        self.graph_error(error, operation.nodes, operation.mark)
    }
}
