//! Names of values in messages: the expression that computes each value.

use core::ops::Index;

use indim_ops::{Op, SearchSide, UNARY_PRECEDENCE};
use indim_shape::AxisMap;

use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::sorting::SortResult;
use crate::terminal::{shown_within, width};
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
    let at_depth = |depth| piece(nodes, value, depth).text;
    let fitting = (1..=MAX_DEPTH).rev().map(at_depth).find(|text| width(text) <= MAX_WIDTH);
    fitting.unwrap_or_else(|| shown_within(&at_depth(1), MAX_WIDTH))
}

/// A part of a description, with the precedence of its outermost operation.
struct Piece {
    text: String,
    precedence: u8,
}

impl Piece {
    fn atom(text: impl Into<String>) -> Self {
        Piece { text: text.into(), precedence: ATOM }
    }

    /// The text as an operand of an operation with `precedence`.
    fn within(self, precedence: u8) -> String {
        match self.precedence < precedence {
            true => format!("({})", self.text),
            false => self.text,
        }
    }
}

/// The description of a value, in which operations nested deeper than `depth` are `...`.
fn piece(nodes: &impl Index<ValueId, Output = Node>, value: ValueId, depth: usize) -> Piece {
    let node = &nodes[value];
    match &node.kind {
        NodeKind::Parameter { name, .. } => return Piece::atom(shown_within(name, MAX_WIDTH)),
        NodeKind::Constant(array) => return constant(array),
        // A broadcast only repeats or permutes elements, so its operand describes it.
        NodeKind::BroadcastInDim(_) => return piece(nodes, node.operands[0], depth),
        _ if depth == 0 => return Piece::atom("..."),
        _ => {}
    }
    let operand = |index: usize| piece(nodes, node.operands[index], depth - 1);
    let (dtype, shape) = (node.array_type.dtype, &node.array_type.shape);
    match &node.kind {
        NodeKind::Elementwise(op) => {
            let operands = (0..node.operands.len()).map(operand).collect();
            match stated_map(nodes, node) {
                Some(map) => call(*op, operands, &format!(", dims={map}")),
                None => elementwise(*op, operands),
            }
        }
        NodeKind::Convert => Piece::atom(format!("{dtype}({})", operand(0).text)),
        NodeKind::Bitcast => Piece::atom(format!("bitcast_{dtype}({})", operand(0).text)),
        NodeKind::Reshape => Piece::atom(format!("reshape({}, {shape})", operand(0).text)),
        NodeKind::Reduce { op, axis } => {
            Piece::atom(format!("{op}({}, axis={axis})", operand(0).text))
        }
        NodeKind::Iota { axis } => Piece::atom(format!("iota({dtype}, {shape}, axis={axis})")),
        NodeKind::Slice(slices) => {
            let whole = &nodes[node.operands[0]].array_type.shape;
            Piece::atom(format!("{}[{}]", operand(0).within(ATOM), shown_slices(slices, whole)))
        }
        NodeKind::Window { axis, window } => {
            let windows = operand(0).text;
            Piece::atom(format!("sliding_window_view({windows}, {window}, axis={axis})"))
        }
        NodeKind::Concatenate { axis } => {
            let pieces: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|index| operand(index).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            Piece::atom(format!("concatenate([{}{rest}], axis={axis})", pieces.join(", ")))
        }
        NodeKind::Take { axis, mode: TakeMode::Error } => {
            Piece::atom(format!("take({}, {}, axis={axis})", operand(0).text, operand(1).text))
        }
        NodeKind::Take { axis, mode } => {
            let (x, indices) = (operand(0).text, operand(1).text);
            Piece::atom(format!("take({x}, {indices}, axis={axis}, mode={mode})"))
        }
        NodeKind::Scatter { axis, mode, .. } => {
            let [x, indices, updates] = [0, 1, 2].map(|index| operand(index).text);
            let name = node.kind.name();
            Piece::atom(format!("{name}({x}, {indices}, {updates}, axis={axis}, mode={mode})"))
        }
        NodeKind::Contract { summed } => {
            let (x, y) = (operand(0).text, operand(1).text);
            Piece::atom(format!("contract({x}, {y}, summed={summed})"))
        }
        NodeKind::Scan { op, axis, reverse, exclusive } => {
            let reverse = if *reverse { ", reverse=True" } else { "" };
            let exclusive = if *exclusive { ", exclusive=True" } else { "" };
            let (name, x) = (op.scan_name(), operand(0).text);
            Piece::atom(format!("{name}({x}, axis={axis}{reverse}{exclusive})"))
        }
        NodeKind::Sort { axis, descending, result } => {
            let keys: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|of| operand(of).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            let function = match result {
                SortResult::Values => "sort",
                SortResult::Positions => "argsort",
            };
            let order = if *descending { ", descending=True" } else { "" };
            Piece::atom(format!("{function}({}{rest}, axis={axis}{order})", keys.join(", ")))
        }
        NodeKind::SearchSorted { side } => {
            let (table, values) = (operand(0).text, operand(1).text);
            let side = if *side == SearchSide::Right { ", side=right" } else { "" };
            Piece::atom(format!("searchsorted({table}, {values}{side})"))
        }
        NodeKind::While { result, .. } | NodeKind::Branch { result, .. } => {
            let operands: Vec<String> = (0..node.operands.len().min(MAX_SHOWN_OPERANDS))
                .map(|index| operand(index).text)
                .collect();
            let rest = if node.operands.len() > MAX_SHOWN_OPERANDS { ", ..." } else { "" };
            let name = node.kind.name();
            Piece::atom(format!("{name}({}{rest})[{result}]", operands.join(", ")))
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
fn elementwise(op: Op, operands: Vec<Piece>) -> Piece {
    let sign = match op {
        Op::Neg => Some('-'),
        Op::Not => Some('~'),
        _ => None,
    };
    match (<[Piece; 2]>::try_from(operands), op.operator(), sign) {
        (Ok([left, right]), Some(operator), _) => {
            let precedence = operator.precedence();
            let (of_left, of_right) = match operator.groups_to_the_right() {
                true => (precedence + 1, precedence),
                false => (precedence, precedence + 1),
            };
            // Comparisons do not chain.
            let of_left = of_left + u8::from(operator.is_comparison());
            let (left, right) = (left.within(of_left), right.within(of_right));
            Piece { text: format!("{left} {} {right}", operator.symbol()), precedence }
        }
        (Ok(operands), ..) => call(op, operands.into(), ""),
        (Err(operands), _, Some(sign)) => {
            let operand = operands.into_iter().next().map(|piece| piece.within(UNARY_PRECEDENCE));
            let text = format!("{sign}{}", operand.unwrap_or_default());
            Piece { text, precedence: UNARY_PRECEDENCE }
        }
        (Err(operands), ..) => call(op, operands, ""),
    }
}

fn call(op: Op, operands: Vec<Piece>, attributes: &str) -> Piece {
    let operands: Vec<String> = operands.into_iter().map(|piece| piece.text).collect();
    Piece::atom(format!("{op}({}{attributes})", operands.join(", ")))
}

/// A scalar constant as a number, any other constant by its type.
fn constant(array: &Array) -> Piece {
    match array.scalar_text() {
        Some(text) if text.starts_with('-') => Piece { text, precedence: UNARY_PRECEDENCE },
        Some(text) => Piece::atom(text),
        None => Piece::atom(format!("constant {}", array.array_type())),
    }
}
