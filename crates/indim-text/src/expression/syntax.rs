//! The syntax tree: nodes in one list, operands before the operations that use them.
//!
//! A walk over the tree is a loop over the list, however deep the text was. Made by `parser.rs`,
//! read by `elaborate.rs`.

use indim_builder::Index;
use indim_graph::Literal;
use indim_ops::{BinaryOperator, DType};

use super::function::{Attribute, Function};
use super::lexer::Symbol;
use crate::span::Span;

/// The position of a node in its list.
pub(super) type NodeIndex = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Negate,
    Plus,
    Not,
}

impl UnaryOperator {
    pub(super) const ALL: [UnaryOperator; 3] =
        [UnaryOperator::Negate, UnaryOperator::Plus, UnaryOperator::Not];

    /// How it is written.
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::Not => "~",
        }
    }

    pub(super) const fn from_symbol(symbol: Symbol) -> Option<Self> {
        match symbol {
            Symbol::Minus => Some(UnaryOperator::Negate),
            Symbol::Plus => Some(UnaryOperator::Plus),
            Symbol::Tilde => Some(UnaryOperator::Not),
            _ => None,
        }
    }
}

/// The operator between two operands that a symbol stands for.
pub(super) const fn binary_operator(symbol: Symbol) -> Option<BinaryOperator> {
    Some(match symbol {
        Symbol::Less => BinaryOperator::Less,
        Symbol::LessEqual => BinaryOperator::LessEqual,
        Symbol::Greater => BinaryOperator::Greater,
        Symbol::GreaterEqual => BinaryOperator::GreaterEqual,
        Symbol::Equal => BinaryOperator::Equal,
        Symbol::NotEqual => BinaryOperator::NotEqual,
        Symbol::Or => BinaryOperator::Or,
        Symbol::Xor => BinaryOperator::Xor,
        Symbol::And => BinaryOperator::And,
        Symbol::ShiftLeft => BinaryOperator::ShiftLeft,
        Symbol::ShiftRight => BinaryOperator::ShiftRight,
        Symbol::Plus => BinaryOperator::Add,
        Symbol::Minus => BinaryOperator::Subtract,
        Symbol::Star => BinaryOperator::Multiply,
        Symbol::Slash => BinaryOperator::Divide,
        Symbol::DoubleSlash => BinaryOperator::FloorDivide,
        Symbol::Percent => BinaryOperator::Modulo,
        Symbol::DoubleStar => BinaryOperator::Power,
        _ => return None,
    })
}

/// The value of a keyword such as `dims=[1]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AttributeValue {
    Integers(Vec<i64>),
    /// Axes by their names.
    Names(Vec<String>),
    /// `None`: all axes.
    All,
    ElementType(DType),
    /// A number of a composition, which elaboration must find to be one.
    Number(NodeIndex),
    /// Two numbers for each axis, or for all of them.
    Pairs(Vec<(i64, i64)>),
    /// One of several names.
    Word(String),
}

/// One index between brackets. An array index may be a named number.
pub(super) type IndexItem = Index<NodeIndex>;

/// An attribute as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GivenAttribute {
    pub(super) attribute: Attribute,
    pub(super) value: AttributeValue,
    pub(super) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Literal(Literal),
    /// The position of the name in the expression's list of names.
    Name(usize),
    /// A name that an earlier statement assigned, and its value.
    Assigned(NodeIndex),
    Unary {
        operator: UnaryOperator,
        operand: NodeIndex,
    },
    Binary {
        operator: BinaryOperator,
        operands: [NodeIndex; 2],
    },
    Index {
        operand: NodeIndex,
        items: Vec<IndexItem>,
    },
    Call {
        function: Function,
        operands: Vec<NodeIndex>,
        attributes: Vec<GivenAttribute>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// All of its text, with the parentheses around it.
    pub(super) extent: Span,
    /// Span that errors mark: the operator, or the name of the function.
    pub(super) mark: Span,
}
