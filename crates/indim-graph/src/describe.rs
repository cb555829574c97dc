//! Names of values in messages: the expression that computes each value.

use core::ops::Index;

use indim_ops::{Op, SearchSide, UNARY_PRECEDENCE};
use indim_shape::AxisMap;

use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::sorting::SortResult;
use crate::terminal::{printable_within, width};
use crate::views::{AxisSlice, TakeMode};
use indim_arrays::Array;

/// Maximum columns of a description.
const MAX_WIDTH: usize = 40;

/// Maximum nesting of operations in a description; deeper operands become `...`.
const MAX_DEPTH: usize = 4;

/// Maximum number of operands shown of a concatenation, a sort, a loop or a branch.
const MAX_SHOWN_OPERANDS: usize = 3;

/// Precedence of text that never needs parentheses: a name, a number or a call.
const ATOM: u8 = u8::MAX;

impl Graph {
    /// The name of a value in messages: the parameter's name, or the expression that computes the value, such
    /// as `exp(u) * v`. The inner parts of a long expression are elided.
    ///
    /// ```
    /// use indim_ops::DType;
    /// use indim_builder::GraphBuilder;
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let y = b.exp(b.sub(&x, &x, &[])?)?;
    /// let graph = b.finish(&[y])?;
    /// assert_eq!(graph.value_name(graph.outputs()[0]), "exp(x - x)");
    /// # Ok::<(), indim_graph::GraphError>(())
    /// ```
    pub fn value_name(&self, value: ValueId) -> String {
        describe(self, value)
    }
}

/// A value as an expression over the parameters, such as `exp(u) * v`, or `... * v` if it is long.
pub(crate) fn describe(nodes: &impl Index<ValueId, Output = Node>, value: ValueId) -> String {
    let at_depth = |depth| expression_text(nodes, value, depth).text;
    let fitting = (1..=MAX_DEPTH).rev().map(at_depth).find(|text| width(text) <= MAX_WIDTH);
    fitting.unwrap_or_else(|| printable_within(&at_depth(1), MAX_WIDTH))
}

/// The text of an expression, with the precedence of its outermost operation.
struct ExpressionText {
    text: String,
    precedence: u8,
}

impl ExpressionText {
    fn atom(text: impl Into<String>) -> Self {
        ExpressionText { text: text.into(), precedence: ATOM }
    }

    /// The text as an operand of an operation with `precedence`.
    fn within(self, precedence: u8) -> String {
        match self.precedence < precedence {
            true => format!("({})", self.text),
            false => self.text,
        }
    }
}

/// The expression of a value, in which operations nested deeper than `depth` are `...`.
fn expression_text(
    nodes: &impl Index<ValueId, Output = Node>,
    value: ValueId,
    depth: usize,
) -> ExpressionText {
    let node = &nodes[value];
    match &node.kind {
        NodeKind::Parameter { name, .. } => {
            return ExpressionText::atom(printable_within(name, MAX_WIDTH));
        }
        NodeKind::Constant(array) => return constant(array),
        // A broadcast only repeats or permutes elements, so its operand describes it.
        NodeKind::BroadcastInDim(_) => return expression_text(nodes, node.operands[0], depth),
        _ if depth == 0 => return ExpressionText::atom("..."),
        _ => {}
    }
    let operand = |index: usize| expression_text(nodes, node.operands[index], depth - 1);
    let (dtype, shape) = (node.array_type.dtype, &node.array_type.shape);
    match &node.kind {
        NodeKind::Elementwise(op) => {
            let operands = (0..node.operands.len()).map(operand).collect();
            match stated_map(nodes, node) {
                Some(map) => call(*op, operands, &format!(", dims={map}")),
                None => elementwise(*op, operands),
            }
        }
        NodeKind::Convert => ExpressionText::atom(format!("{dtype}({})", operand(0).text)),
        NodeKind::Bitcast => ExpressionText::atom(format!("bitcast_{dtype}({})", operand(0).text)),
        NodeKind::Reshape => ExpressionText::atom(format!("reshape({}, {shape})", operand(0).text)),
        NodeKind::Reduce { op, axis } => {
            ExpressionText::atom(format!("{op}({}, axis={axis})", operand(0).text))
        }
        NodeKind::Iota { axis } => {
            ExpressionText::atom(format!("iota({dtype}, {shape}, axis={axis})"))
        }
        NodeKind::Slice(slices) => {
            let whole = &nodes[node.operands[0]].array_type.shape;
            ExpressionText::atom(format!(
                "{}[{}]",
                operand(0).within(ATOM),
                shown_slices(slices, whole)
            ))
        }
        NodeKind::Window { axis, window } => {
            let windows = operand(0).text;
            ExpressionText::atom(format!("sliding_window_view({windows}, {window}, axis={axis})"))
        }
        NodeKind::Concatenate { axis } => {
            let operands: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|index| operand(index).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            ExpressionText::atom(format!(
                "concatenate([{}{rest}], axis={axis})",
                operands.join(", ")
            ))
        }
        NodeKind::Take { axis, mode: TakeMode::Error } => ExpressionText::atom(format!(
            "take({}, {}, axis={axis})",
            operand(0).text,
            operand(1).text
        )),
        NodeKind::Take { axis, mode } => {
            let (x, indices) = (operand(0).text, operand(1).text);
            ExpressionText::atom(format!("take({x}, {indices}, axis={axis}, mode={mode})"))
        }
        NodeKind::Scatter { axis, mode, .. } => {
            let [x, indices, updates] = [0, 1, 2].map(|index| operand(index).text);
            let name = node.kind.name();
            ExpressionText::atom(format!(
                "{name}({x}, {indices}, {updates}, axis={axis}, mode={mode})"
            ))
        }
        NodeKind::Contract { summed } => {
            let (x, y) = (operand(0).text, operand(1).text);
            ExpressionText::atom(format!("contract({x}, {y}, summed={summed})"))
        }
        NodeKind::Scan { op, axis, reverse, exclusive } => {
            let reverse = if *reverse { ", reverse=True" } else { "" };
            let exclusive = if *exclusive { ", exclusive=True" } else { "" };
            let (name, x) = (op.scan_name(), operand(0).text);
            ExpressionText::atom(format!("{name}({x}, axis={axis}{reverse}{exclusive})"))
        }
        NodeKind::Sort { axis, descending, result } => {
            let keys: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|index| operand(index).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            let function = match result {
                SortResult::Values => "sort",
                SortResult::Positions => "argsort",
            };
            let order = if *descending { ", descending=True" } else { "" };
            ExpressionText::atom(format!(
                "{function}({}{rest}, axis={axis}{order})",
                keys.join(", ")
            ))
        }
        NodeKind::SearchSorted { side } => {
            let (table, values) = (operand(0).text, operand(1).text);
            let side = if *side == SearchSide::Right { ", side=right" } else { "" };
            ExpressionText::atom(format!("searchsorted({table}, {values}{side})"))
        }
        NodeKind::While { result, .. } | NodeKind::Branch { result, .. } => {
            let operands: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|index| operand(index).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            let name = node.kind.name();
            ExpressionText::atom(format!("{name}({}{rest})[{result}]", operands.join(", ")))
        }
        NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::BroadcastInDim(_) => {
            unreachable!("invariant: these kinds are described above")
        }
    }
}

/// Slices in Python's syntax; `:` for a whole axis.
fn shown_slices(slices: &[AxisSlice], whole: &[usize]) -> String {
    let shown = |(slice, &size): (&AxisSlice, &usize)| match slice.is_whole(size) {
        true => ":".to_owned(),
        false => slice.to_string(),
    };
    slices.iter().zip(whole).map(shown).collect::<Vec<String>>().join(", ")
}

/// The axis map that the text must state: the map of the first operand whose map is not the default. The
/// default map is the last axes of the result.
fn stated_map<'n>(
    nodes: &'n impl Index<ValueId, Output = Node>,
    node: &Node,
) -> Option<&'n AxisMap> {
    let rank = node.array_type.shape.rank();
    let is_last = |map: &AxisMap| map.iter().copied().eq(rank - map.len()..rank);
    let map = |&operand: &ValueId| match &nodes[operand].kind {
        NodeKind::BroadcastInDim(map) if !is_last(map) => Some(map),
        _ => None,
    };
    node.operands.iter().find_map(map)
}

/// An operation as an operator, if the language has one, or as a call.
fn elementwise(op: Op, operands: Vec<ExpressionText>) -> ExpressionText {
    let sign = match op {
        Op::Neg => Some('-'),
        Op::Not => Some('~'),
        _ => None,
    };
    match (<[ExpressionText; 2]>::try_from(operands), op.operator(), sign) {
        (Ok([left, right]), Some(operator), _) => {
            let precedence = operator.precedence();
            let (of_left, of_right) = match operator.groups_to_the_right() {
                true => (precedence + 1, precedence),
                false => (precedence, precedence + 1),
            };
            // Comparisons do not chain.
            let of_left = of_left + u8::from(operator.is_comparison());
            let (left, right) = (left.within(of_left), right.within(of_right));
            ExpressionText { text: format!("{left} {} {right}", operator.symbol()), precedence }
        }
        (Ok(operands), ..) => call(op, operands.into(), ""),
        (Err(operands), _, Some(sign)) => {
            let operand =
                operands.into_iter().next().map(|operand| operand.within(UNARY_PRECEDENCE));
            let text = format!("{sign}{}", operand.unwrap_or_default());
            ExpressionText { text, precedence: UNARY_PRECEDENCE }
        }
        (Err(operands), ..) => call(op, operands, ""),
    }
}

fn call(op: Op, operands: Vec<ExpressionText>, attributes: &str) -> ExpressionText {
    let operands: Vec<String> = operands.into_iter().map(|operand| operand.text).collect();
    ExpressionText::atom(format!("{op}({}{attributes})", operands.join(", ")))
}

/// A scalar constant as a number, any other constant by its type.
fn constant(array: &Array) -> ExpressionText {
    match array.scalar_text() {
        Some(text) if text.starts_with('-') => {
            ExpressionText { text, precedence: UNARY_PRECEDENCE }
        }
        Some(text) => ExpressionText::atom(text),
        None => ExpressionText::atom(format!("constant {}", array.array_type())),
    }
}
