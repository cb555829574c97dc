//! The syntax tree: nodes in one list, operands before the operations that use them.
//!
//! A traversal is a loop over the list, at any nesting depth. `parser.rs` makes the tree, `elaborate.rs`
//! reads it.

use indim_builder::Index;
use indim_graph::Literal;
use indim_ops::{BinaryOperator, DType};

use super::function::Function;
use super::lexer::Symbol;
use super::parameter::AttributeKey;
use super::product_function::ProductFunction;
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

    /// The symbol in a text.
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

/// An operator between two operands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InfixOperator {
    /// An operator of the table of operations.
    Elementwise(BinaryOperator),
    /// `@`, the matrix product.
    MatrixProduct,
}

impl InfixOperator {
    /// The operator of a symbol.
    pub(super) const fn from_symbol(symbol: Symbol) -> Option<Self> {
        match (symbol, binary_operator(symbol)) {
            (Symbol::At, _) => Some(InfixOperator::MatrixProduct),
            (_, Some(operator)) => Some(InfixOperator::Elementwise(operator)),
            (_, None) => None,
        }
    }

    /// The operator of the table with the same precedence: `*` for `@`.
    pub(super) const fn like(self) -> BinaryOperator {
        match self {
            InfixOperator::Elementwise(operator) => operator,
            InfixOperator::MatrixProduct => BinaryOperator::Multiply,
        }
    }

    /// The node of the operation on two operands.
    pub(super) fn node(self, operands: [NodeIndex; 2]) -> SyntaxNodeKind {
        match self {
            InfixOperator::Elementwise(operator) => SyntaxNodeKind::Binary { operator, operands },
            InfixOperator::MatrixProduct => SyntaxNodeKind::Call {
                function: Function::Product(ProductFunction::Matmul),
                operands: operands.to_vec(),
                attributes: Vec::new(),
            },
        }
    }
}

/// The binary operator of a symbol.
const fn binary_operator(symbol: Symbol) -> Option<BinaryOperator> {
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
    /// Names of axes.
    Names(Vec<String>),
    /// `None`: all axes, or, in a function such as `take`, the elements in row-major order.
    All,
    ElementType(DType),
    /// An argument that must elaborate to a number, such as a parameter of a composition, or to a value, such
    /// as `where`.
    Number(NodeIndex),
    /// A pair for each axis, or one pair for all axes.
    Pairs(Vec<(i64, i64)>),
    /// An unquoted word, such as a mode, or an equation.
    Word(String),
    /// Axes of two operands, in pairs.
    AxisLists([Vec<i64>; 2]),
}

/// An item of an index. An array index may elaborate to a number.
pub(super) type IndexItem = Index<NodeIndex>;

/// An attribute with its value and span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedAttribute {
    pub(super) attribute: AttributeKey,
    pub(super) value: AttributeValue,
    pub(super) span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum SyntaxNodeKind {
    Literal(Literal),
    /// An input or constant: its position in the expression's list of names.
    Name(usize),
    /// A name that an earlier statement assigned: the node of its value.
    LocalName(NodeIndex),
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
        attributes: Vec<NamedAttribute>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SyntaxNode {
    pub(super) kind: SyntaxNodeKind,
    /// The span of the whole node, with its parentheses.
    pub(super) extent: Span,
    /// The span that errors mark: the operator, the name of the function, the brackets of an index, or the
    /// whole literal or name.
    pub(super) mark: Span,
}
