//! The verifier: re-checks the invariants of `graph.rs` on a finished graph.
//!
//! The builder shares most rules: `indim-shape` checks broadcasts, and the functions of `signature.rs`
//! check operand and result types. Only the rules of parameters, operand counts, equal shapes, `iota` and
//! reshapes stand here. The assembler verifies each new node; tests verify the graphs that the passes
//! return.

use core::fmt;
use std::collections::HashSet;

use indim_ops::{ArrayType, DType};
use indim_shape::{ErrorCode, check_broadcast_in_dim};

use crate::error::{GraphError, GraphErrorKind};
use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::print::describe_node;
use crate::regions::check::{check_branch, check_result, check_while};
use crate::signature::{
    check_bitcast, check_concatenation, check_contraction, check_operation, check_reduction,
    check_scan, check_scatter, check_search, check_slices, check_sort, check_take, check_window,
};

/// A graph that breaks an invariant.
///
/// ```
/// use indim_graph::{Graph, Node, NodeKind, Operands, ValueId};
/// use indim_ops::{ArrayType, DType, Op};
///
/// let node = Node {
///     kind: NodeKind::Elementwise(Op::Neg),
///     operands: Operands::new(&[ValueId::from_index(0)]), // itself
///     array_type: ArrayType::new(DType::F32, [2]),
/// };
/// let error = Graph::from_nodes(vec![node], vec![]).unwrap_err();
/// assert_eq!(error.code(), "operand-not-earlier");
/// assert_eq!(error.value, Some(ValueId::from_index(0)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyError {
    /// The value whose node is invalid; `None` for an invalid output.
    pub value: Option<ValueId>,
    /// Its node as text.
    pub node: String,
    /// The violation.
    pub kind: VerifyErrorKind,
}

/// The kinds of broken invariants.
///
/// ```
/// use indim_graph::{VerifyErrorKind, ValueId};
///
/// let kind = VerifyErrorKind::UnknownOutput { output: ValueId::from_index(7) };
/// assert_eq!(kind.code(), "unknown-output");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VerifyErrorKind {
    /// An error that the builder reports too: signatures, broadcasts, sizes.
    Rule(Box<GraphError>),
    /// An operand is not an earlier value.
    OperandNotEarlier {
        /// The operand.
        operand: ValueId,
    },
    /// An operand of an element-wise node, a conversion or a bitcast does not have the result's shape.
    OperandShape {
        /// The operand's position.
        operand: usize,
        /// Its type.
        found: ArrayType,
    },
    /// The node's type is not the type that follows from its kind and operands.
    ResultType {
        /// The type that follows.
        expected: ArrayType,
    },
    /// The index of a parameter is not its position among the parameters.
    ParameterIndex {
        /// The index it should have.
        expected: usize,
        /// The index it has.
        found: usize,
    },
    /// An output is not a value of the graph.
    UnknownOutput {
        /// The output.
        output: ValueId,
    },
}

impl VerifyErrorKind {
    /// The stable code: `operand-shape`, `size-mismatch`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            VerifyErrorKind::Rule(error) => error.error_code(),
            VerifyErrorKind::OperandNotEarlier { .. } => ErrorCode::OPERAND_NOT_EARLIER,
            VerifyErrorKind::OperandShape { .. } => ErrorCode::OPERAND_SHAPE,
            VerifyErrorKind::ResultType { .. } => ErrorCode::RESULT_TYPE,
            VerifyErrorKind::ParameterIndex { .. } => ErrorCode::PARAMETER_INDEX,
            VerifyErrorKind::UnknownOutput { .. } => ErrorCode::UNKNOWN_OUTPUT,
        }
    }
}

impl VerifyError {
    /// The stable code: `operand-shape`, `size-mismatch`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        self.kind.error_code()
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(_) => write!(formatter, "`{}`: {}", self.node, self.kind),
            None => self.kind.fmt(formatter),
        }
    }
}

impl core::error::Error for VerifyError {}

impl fmt::Display for VerifyErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerifyErrorKind::Rule(error) => error.fmt(formatter),
            VerifyErrorKind::OperandNotEarlier { operand } => {
                write!(formatter, "operand {operand} is not an earlier value")
            }
            VerifyErrorKind::OperandShape { operand, found } => write!(
                formatter,
                "operand {operand} is {found}, which is not the shape of the result; \
                 use broadcast_in_dim to expand it"
            ),
            VerifyErrorKind::ResultType { expected } => {
                write!(formatter, "the type of the result should be {expected}")
            }
            VerifyErrorKind::ParameterIndex { expected, found } => {
                write!(formatter, "the parameter has index {found}, but its position is {expected}")
            }
            VerifyErrorKind::UnknownOutput { output } => {
                write!(formatter, "output {output} is not a value of the graph")
            }
        }
    }
}

/// Checks every invariant of a graph.
///
/// # Errors
/// The first invalid node in execution order, or else the first invalid output.
pub fn verify(graph: &Graph) -> Result<(), VerifyError> {
    let mut names = HashSet::new();
    for (value, node) in graph.iter() {
        let position = names.len();
        if let NodeKind::Parameter { index, name } = &node.kind {
            check_parameter(*index, position, name, names.insert(name))
                .map_err(|kind| error_at(value, node, kind))?;
        }
        check_at(graph, value, node).map_err(|kind| error_at(value, node, kind))?;
    }
    match graph.outputs().iter().find(|output| output.index() >= graph.len()) {
        Some(&output) => Err(VerifyError {
            value: None,
            node: String::new(),
            kind: VerifyErrorKind::UnknownOutput { output },
        }),
        None => Ok(()),
    }
}

fn error_at(value: ValueId, node: &Node, kind: VerifyErrorKind) -> VerifyError {
    VerifyError { value: Some(value), node: describe_node(value, node), kind }
}

/// Checks the index of a parameter at `position` among the parameters, and that its name is new.
pub(crate) fn check_parameter(
    index: usize,
    position: usize,
    name: &str,
    is_new: bool,
) -> Result<(), VerifyErrorKind> {
    if !is_new {
        let name = name.to_owned();
        return Err(rule_error("parameter", &[], GraphErrorKind::DuplicateParameter { name }));
    }
    match index == position {
        true => Ok(()),
        false => Err(VerifyErrorKind::ParameterIndex { expected: position, found: index }),
    }
}

fn check_at(graph: &Graph, value: ValueId, node: &Node) -> Result<(), VerifyErrorKind> {
    if let Some(&operand) = node.operands.iter().find(|&&operand| operand >= value) {
        return Err(VerifyErrorKind::OperandNotEarlier { operand });
    }
    let operands: Vec<ArrayType> =
        node.operands.iter().map(|&operand| graph[operand].array_type.clone()).collect();
    check_node(&node.kind, &operands, &node.array_type)
}

/// Checks a node of this kind and type whose operands have the types `operands`.
pub(crate) fn check_node(
    kind: &NodeKind,
    operands: &[ArrayType],
    result: &ArrayType,
) -> Result<(), VerifyErrorKind> {
    let broken = |error| rule_error(kind.name(), operands, error);
    if let Err(error) = result.shape.byte_count(result.dtype.size()) {
        return Err(broken(GraphErrorKind::Shape(Box::new(error))));
    }
    let expected = operand_count(kind).unwrap_or(operands.len());
    if operands.len() != expected {
        let given = operands.len();
        return Err(broken(GraphErrorKind::WrongOperandCount { expected, given }));
    }
    match kind {
        NodeKind::Parameter { .. } => Ok(()),
        NodeKind::Constant(array) => expect_type(array.array_type().clone(), result),
        NodeKind::Iota { axis } => check_iota(*axis, result).map_err(broken),
        NodeKind::Elementwise(op) => {
            let dtype = check_operation(*op, operands).map_err(broken)?;
            check_operand_shapes(operands, result)?;
            expect_type(ArrayType::new(op.result_dtype(dtype), &result.shape), result)
        }
        NodeKind::Convert => check_operand_shapes(operands, result),
        NodeKind::Bitcast => {
            check_operand_shapes(operands, result)?;
            check_bitcast(operands[0].dtype, result.dtype).map_err(broken)
        }
        NodeKind::BroadcastInDim(map) => {
            expect_type(ArrayType::new(operands[0].dtype, &result.shape), result)?;
            let dims: Vec<i64> = map.iter().map(|&axis| as_i64(axis)).collect();
            match check_broadcast_in_dim(&operands[0].shape, &dims, &result.shape) {
                Ok(_) => Ok(()),
                Err(error) => Err(broken(GraphErrorKind::Shape(Box::new(error)))),
            }
        }
        NodeKind::Reshape => {
            expect_type(ArrayType::new(operands[0].dtype, &result.shape), result)?;
            check_reshape(&operands[0], result).map_err(broken)
        }
        NodeKind::Reduce { op, axis } => {
            let (_, expected) =
                check_reduction(*op, as_i64(*axis), &operands[0]).map_err(broken)?;
            expect_type(expected, result)
        }
        NodeKind::Slice(slices) => {
            expect_type(check_slices(slices, &operands[0]).map_err(broken)?, result)
        }
        NodeKind::Window { axis, window } => {
            let checked = check_window(as_i64(*axis), window, &operands[0]);
            expect_type(checked.map_err(broken)?.1, result)
        }
        NodeKind::Concatenate { axis } => {
            let (_, expected) = check_concatenation(as_i64(*axis), operands).map_err(broken)?;
            expect_type(expected, result)
        }
        NodeKind::Take { axis, .. } => {
            let [operand, indices] = [&operands[0], &operands[1]];
            let (_, expected) = check_take(as_i64(*axis), operand, indices).map_err(broken)?;
            expect_type(expected, result)
        }
        NodeKind::Scatter { op, axis, mode } => {
            let operands = [&operands[0], &operands[1], &operands[2]];
            let (_, expected) =
                check_scatter(*op, as_i64(*axis), *mode, operands).map_err(broken)?;
            expect_type(expected, result)
        }
        NodeKind::Contract { summed } => {
            expect_type(check_contraction(*summed, operands).map_err(broken)?, result)
        }
        NodeKind::Scan { op, axis, .. } => {
            check_scan(*op, as_i64(*axis), &operands[0]).map_err(broken)?;
            expect_type(operands[0].clone(), result)
        }
        NodeKind::Sort { axis, result: of, .. } => {
            let (_, expected) = check_sort(as_i64(*axis), *of, operands).map_err(broken)?;
            expect_type(expected, result)
        }
        NodeKind::SearchSorted { .. } => {
            expect_type(check_search(&operands[0], &operands[1]).map_err(broken)?, result)
        }
        NodeKind::While { condition, body, result: of, .. } => {
            let states = check_while(condition, body, operands).map_err(broken)?;
            expect_type(check_result(*of, states.iter()).map_err(broken)?, result)
        }
        NodeKind::Branch { branches, result: of } => {
            let results = check_branch(branches, operands).map_err(broken)?;
            expect_type(check_result(*of, results).map_err(broken)?, result)
        }
    }
}

fn as_i64(axis: usize) -> i64 {
    i64::try_from(axis).unwrap_or(i64::MAX)
}

/// The error as the builder reports it, with operands named by their positions.
fn rule_error(
    operation: &'static str,
    operands: &[ArrayType],
    kind: GraphErrorKind,
) -> VerifyErrorKind {
    let named =
        |(position, operand): (usize, &ArrayType)| (format!("operand {position}"), operand.clone());
    let operands = operands.iter().enumerate().map(named).collect();
    VerifyErrorKind::Rule(Box::new(GraphError::new(kind, operation, operands)))
}

/// The number of operands of a node; `None` for any number.
fn operand_count(kind: &NodeKind) -> Option<usize> {
    Some(match kind {
        NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::Iota { .. } => 0,
        NodeKind::Elementwise(op) => op.arity().count(),
        NodeKind::Convert
        | NodeKind::Bitcast
        | NodeKind::BroadcastInDim(_)
        | NodeKind::Reshape
        | NodeKind::Reduce { .. }
        | NodeKind::Scan { .. }
        | NodeKind::Slice(_)
        | NodeKind::Window { .. } => 1,
        NodeKind::Take { .. } | NodeKind::Contract { .. } | NodeKind::SearchSorted { .. } => 2,
        NodeKind::Scatter { .. } => 3,
        NodeKind::Concatenate { .. }
        | NodeKind::Sort { .. }
        | NodeKind::While { .. }
        | NodeKind::Branch { .. } => return None,
    })
}

fn expect_type(expected: ArrayType, result: &ArrayType) -> Result<(), VerifyErrorKind> {
    match expected == *result {
        true => Ok(()),
        false => Err(VerifyErrorKind::ResultType { expected }),
    }
}

fn check_operand_shapes(operands: &[ArrayType], result: &ArrayType) -> Result<(), VerifyErrorKind> {
    match operands.iter().enumerate().find(|(_, operand)| operand.shape != result.shape) {
        Some((operand, found)) => {
            Err(VerifyErrorKind::OperandShape { operand, found: found.clone() })
        }
        None => Ok(()),
    }
}

fn check_iota(axis: usize, result: &ArrayType) -> Result<(), GraphErrorKind> {
    let rank = result.shape.rank();
    if result.dtype == DType::Bool || result.dtype.is_storage() {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: result.dtype });
    }
    match axis < rank {
        true => Ok(()),
        false => Err(GraphErrorKind::AxisOutOfRange { axis: as_i64(axis), rank }),
    }
}

fn check_reshape(operand: &ArrayType, result: &ArrayType) -> Result<(), GraphErrorKind> {
    match operand.shape.element_count().ok() == result.shape.element_count().ok() {
        true => Ok(()),
        false => Err(GraphErrorKind::ReshapeElementCount { shape: result.shape.clone() }),
    }
}
