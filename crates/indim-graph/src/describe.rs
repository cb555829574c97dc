//! Descriptions of values without names: the piece of expression that computes each.

use core::ops::Index;

use indim_ops::{Op, UNARY_PRECEDENCE};
use indim_shape::AxisMap;

use crate::array::Array;
use crate::graph::{Graph, Node, NodeKind, ValueId};
use crate::terminal::{shown_within, width};
use crate::views::{AxisSlice, TakeMode};

/// A description is cut to so many columns.
const WIDTH: usize = 40;

/// The maximal nesting of operations in a description; deeper ones are elided.
const DEPTH: usize = 4;

/// So many operands of a concatenation are described.
const SHOWN: usize = 3;

/// Text that stands alone, or in its own parentheses.
const CLOSED: u8 = u8::MAX;

impl Graph {
    /// The name of a value in messages: the parameter's name, or the piece of expression that
    /// computes it, such as `exp(u) * v`. The inner parts of a long one are left out.
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

/// A value as an expression over the parameters, such as `exp(u) * v`; the inner parts of a long one
/// are dots, as in `... * v`.
pub(crate) fn describe(nodes: &impl Index<ValueId, Output = Node>, value: ValueId) -> String {
    let at_depth = |depth| piece(nodes, value, depth).text;
    let fitting = (1..=DEPTH).rev().map(at_depth).find(|text| width(text) <= WIDTH);
    fitting.unwrap_or_else(|| shown_within(&at_depth(1), WIDTH))
}

/// A part of a description, and how tightly its last operation binds.
struct Piece {
    text: String,
    precedence: u8,
}

impl Piece {
    fn closed(text: impl Into<String>) -> Self {
        Piece { text: text.into(), precedence: CLOSED }
    }

    /// The text as an operand of what binds with `precedence`.
    fn within(self, precedence: u8) -> String {
        match self.precedence < precedence {
            true => format!("({})", self.text),
            false => self.text,
        }
    }
}

fn piece(nodes: &impl Index<ValueId, Output = Node>, value: ValueId, depth: usize) -> Piece {
    let node = &nodes[value];
    match &node.kind {
        NodeKind::Parameter { name, .. } => return Piece::closed(shown_within(name, WIDTH)),
        NodeKind::Constant(array) => return constant(array),
        // It has the elements of its operand, and what it adds are shapes.
        NodeKind::BroadcastInDim(_) => return piece(nodes, node.operands[0], depth),
        _ if depth == 0 => return Piece::closed("..."),
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
        NodeKind::Convert => Piece::closed(format!("{dtype}({})", operand(0).text)),
        NodeKind::Bitcast => Piece::closed(format!("bitcast_{dtype}({})", operand(0).text)),
        NodeKind::Reshape => Piece::closed(format!("reshape({}, {shape})", operand(0).text)),
        NodeKind::Reduce { op, axis } => {
            Piece::closed(format!("{op}({}, axis={axis})", operand(0).text))
        }
        NodeKind::Iota { axis } => Piece::closed(format!("iota({dtype}, {shape}, axis={axis})")),
        NodeKind::Slice(slices) => {
            let whole = &nodes[node.operands[0]].array_type.shape;
            Piece::closed(format!("{}[{}]", operand(0).within(CLOSED), shown_slices(slices, whole)))
        }
        NodeKind::Concatenate { axis } => {
            let pieces: Vec<String> =
                (0..node.operands.len().min(SHOWN)).map(|index| operand(index).text).collect();
            let rest = if node.operands.len() > SHOWN { ", ..." } else { "" };
            Piece::closed(format!("concatenate([{}{rest}], axis={axis})", pieces.join(", ")))
        }
        NodeKind::Take { axis, mode: TakeMode::Error } => {
            Piece::closed(format!("take({}, {}, axis={axis})", operand(0).text, operand(1).text))
        }
        NodeKind::Take { axis, mode } => {
            let (x, indices) = (operand(0).text, operand(1).text);
            Piece::closed(format!("take({x}, {indices}, axis={axis}, mode={mode})"))
        }
        NodeKind::ScatterAdd { axis, mode } => {
            let [x, indices, updates] = [0, 1, 2].map(|index| operand(index).text);
            Piece::closed(format!(
                "scatter_add({x}, {indices}, {updates}, axis={axis}, mode={mode})"
            ))
        }
        NodeKind::Parameter { .. } | NodeKind::Constant(_) | NodeKind::BroadcastInDim(_) => {
            unreachable!("invariant: what needs no depth is described above")
        }
    }
}

/// Slices as Python writes them; `:` for a whole axis.
fn shown_slices(slices: &[AxisSlice], whole: &[usize]) -> String {
    let shown = |(slice, &size): (&AxisSlice, &usize)| match slice.is_whole(size) {
        true => ":".to_owned(),
        false => slice.to_string(),
    };
    slices.iter().zip(whole).map(shown).collect::<Vec<String>>().join(", ")
}

/// The map of an operand that does not land on the last axes of the result, as it does where nothing is said.
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

/// An operation as an operator where the language has one, else as a call.
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
    Piece::closed(format!("{op}({}{attributes})", operands.join(", ")))
}

/// A number as it is written, any other constant by its type.
fn constant(array: &Array) -> Piece {
    match array.scalar_text() {
        Some(text) if text.starts_with('-') => Piece { text, precedence: UNARY_PRECEDENCE },
        Some(text) => Piece::closed(text),
        None => Piece::closed(format!("constant {}", array.array_type())),
    }
}
