//! The syntax tree: nodes in one list, operands before the operations that use them.
//!
//! A walk over the tree is a loop over the list, however deep the text was. Made by `parser.rs`,
//! read by `elaborate.rs`.

use super::error::Span;
use super::function::{Attribute, Function};
use super::lexer::Symbol;
use super::literal::Literal;
use crate::dtype::DType;

/// The position of a node in its list.
pub(super) type NodeIndex = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnaryOperator {
    Negate,
    Plus,
    Not,
}

impl UnaryOperator {
    pub(super) const fn from_symbol(symbol: Symbol) -> Option<Self> {
        match symbol {
            Symbol::Minus => Some(UnaryOperator::Negate),
            Symbol::Plus => Some(UnaryOperator::Plus),
            Symbol::Tilde => Some(UnaryOperator::Not),
            _ => None,
        }
    }
}

macro_rules! binary_operators {
    ($($name:ident $text:literal $precedence:literal;)*) => {
        /// An operator between two operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum BinaryOperator { $($name,)* }

        impl BinaryOperator {
            pub(super) const ALL: &[BinaryOperator] = &[$(BinaryOperator::$name,)*];

            /// How it is written.
            pub(super) const fn symbol(self) -> &'static str {
                match self { $(BinaryOperator::$name => $text,)* }
            }

            /// The higher binds tighter, as in Python.
            pub(super) const fn precedence(self) -> u8 {
                match self { $(BinaryOperator::$name => $precedence,)* }
            }
        }
    };
}

binary_operators! {
    Less "<" 1;
    LessEqual "<=" 1;
    Greater ">" 1;
    GreaterEqual ">=" 1;
    Equal "==" 1;
    NotEqual "!=" 1;
    Or "|" 2;
    Xor "^" 3;
    And "&" 4;
    ShiftLeft "<<" 5;
    ShiftRight ">>" 5;
    Add "+" 6;
    Subtract "-" 6;
    Multiply "*" 7;
    Divide "/" 7;
    FloorDivide "//" 7;
    Modulo "%" 7;
    Power "**" 9;
}

/// The operators before an operand stand between `*` and `**`.
pub(super) const UNARY_PRECEDENCE: u8 = 8;

impl BinaryOperator {
    pub(super) const fn from_symbol(symbol: Symbol) -> Option<Self> {
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

    pub(super) const fn is_comparison(self) -> bool {
        self.precedence() == BinaryOperator::Less.precedence()
    }

    /// `a ** b ** c` is `a ** (b ** c)`; the others group to the left.
    pub(super) const fn groups_to_the_right(self) -> bool {
        matches!(self, BinaryOperator::Power)
    }
}

/// The value of a keyword such as `dims=[1]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AttributeValue {
    Integers(Vec<i64>),
    ElementType(DType),
    /// A number of a composition, which elaboration must find to be one.
    Number(NodeIndex),
}

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
    Unary {
        operator: UnaryOperator,
        operand: NodeIndex,
    },
    Binary {
        operator: BinaryOperator,
        operands: [NodeIndex; 2],
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
    /// What an error points at: the operator, or the name of the function.
    pub(super) mark: Span,
}
