//! Operators of expressions, as in Python: the symbol, the precedence and the operation of each.

use crate::dtype::{DType, DTypeClass};
use crate::op::Op;

macro_rules! binary_operators {
    ($($name:ident $text:literal $precedence:literal $op:ident;)*) => {
        /// An operator between two operands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum BinaryOperator {
            $(
                #[doc = concat!("`x ", $text, " y`")]
                $name,
            )*
        }

        impl BinaryOperator {
            /// Every operator, the loosest first.
            pub const ALL: &[BinaryOperator] = &[$(BinaryOperator::$name,)*];

            /// Its symbol.
            pub const fn symbol(self) -> &'static str {
                match self { $(BinaryOperator::$name => $text,)* }
            }

            /// The precedence, as in Python: a higher one binds tighter.
            pub const fn precedence(self) -> u8 {
                match self { $(BinaryOperator::$name => $precedence,)* }
            }

            /// The operation of the operator. For `>>` it depends on the element type: see [`shift_right`].
            pub const fn op(self) -> Op {
                match self { $(BinaryOperator::$name => Op::$op,)* }
            }
        }
    };
}

binary_operators! {
    Less "<" 1 Lt;
    LessEqual "<=" 1 Le;
    Greater ">" 1 Gt;
    GreaterEqual ">=" 1 Ge;
    Equal "==" 1 Eq;
    NotEqual "!=" 1 Ne;
    Or "|" 2 Or;
    Xor "^" 3 Xor;
    And "&" 4 And;
    ShiftLeft "<<" 5 Shl;
    ShiftRight ">>" 5 ShrArithmetic;
    Add "+" 6 Add;
    Subtract "-" 6 Sub;
    Multiply "*" 7 Mul;
    Divide "/" 7 Div;
    FloorDivide "//" 7 FloorDiv;
    Modulo "%" 7 PyMod;
    Power "**" 9 Pow;
}

/// Precedence of unary operators: between `*` and `**`.
pub const UNARY_PRECEDENCE: u8 = 8;

impl BinaryOperator {
    /// Whether the operator is a comparison; comparisons do not chain.
    pub const fn is_comparison(self) -> bool {
        self.precedence() == BinaryOperator::Less.precedence()
    }

    /// Whether `a ∘ b ∘ c` is `a ∘ (b ∘ c)`: true only for `**`.
    pub const fn groups_to_the_right(self) -> bool {
        matches!(self, BinaryOperator::Power)
    }
}

impl Op {
    /// The operator of the operation, if it has one; `>>` is found for `shr_arithmetic` only.
    pub fn operator(self) -> Option<BinaryOperator> {
        BinaryOperator::ALL.iter().copied().find(|operator| operator.op() == self)
    }
}

/// The operation of `>>` on this element type.
pub fn shift_right(dtype: DType) -> Op {
    match dtype.class() {
        DTypeClass::Unsigned => Op::ShrLogical,
        _ => Op::ShrArithmetic,
    }
}
