//! Which function a name calls, and what it takes; which operation an operator stands for.
//!
//! Every operation of the table is a function under its name and its aliases. Some names mean
//! slightly more than the operation: that is their [`Manner`]. Called by the parser and by
//! elaboration.

use core::str::FromStr;

use super::syntax::BinaryOperator;
use crate::dtype::DType;
use crate::op::{Arity, Op};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Elementwise { op: Op, manner: Manner },
    Structural(Structural),
}

/// The functions that are no operations of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structural {
    /// An element type as a function.
    Cast(DType),
    Convert,
    BroadcastInDim,
    Broadcast,
    BroadcastTo,
    Reshape,
    Transpose,
    Iota,
    /// The operand itself.
    Copy,
    /// 1 in the type and shape of the operand.
    OnesLike,
    /// Whether the sign bit is set, of -0.0 and NaN too.
    SignBit,
}

/// What a name says beyond its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// The operation as the table has it.
    Table,
    /// Integers are divided as floats under the numpy rule.
    TrueDivide,
    /// The operands are truth values: under the numpy rule they are converted, elsewhere they must be.
    Logical,
    /// Integers are converted under the numpy rule although the operation, or an identity, would do.
    FloatOnly,
    /// The name means different operations under NumPy and under XLA.
    NumpyOnly,
    /// The operands come as `x, low, high`.
    Clip,
    /// `>>`: copies of the sign on signed integers, zeros on unsigned ones.
    ShiftBySign,
}

/// Something to say to a function beside its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Dims,
    Axis,
    Shape,
    Sizes,
    Permutation,
    ElementType,
}

impl Attribute {
    const ALL: &[Attribute] = &[
        Attribute::Dims,
        Attribute::Axis,
        Attribute::Shape,
        Attribute::Sizes,
        Attribute::Permutation,
        Attribute::ElementType,
    ];

    /// The keyword, then other spellings of it.
    const fn keywords(self) -> &'static [&'static str] {
        match self {
            Attribute::Dims => &["dims", "broadcast_dimensions"],
            Attribute::Axis => &["axis"],
            Attribute::Shape => &["shape"],
            Attribute::Sizes => &["sizes", "broadcast_sizes"],
            Attribute::Permutation => &["permutation", "axes"],
            Attribute::ElementType => &["dtype"],
        }
    }

    pub(super) const fn keyword(self) -> &'static str {
        self.keywords()[0]
    }

    pub(super) fn from_keyword(keyword: &str) -> Option<Attribute> {
        Self::ALL.iter().copied().find(|attribute| attribute.keywords().contains(&keyword))
    }
}

/// What stands at one position of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Operand,
    Attribute(Attribute),
}

const OPERANDS: [Parameter; 3] = [Parameter::Operand; 3];

const STRUCTURAL: &[(&str, Structural)] = &[
    ("convert", Structural::Convert),
    ("broadcast_in_dim", Structural::BroadcastInDim),
    ("broadcast", Structural::Broadcast),
    ("broadcast_to", Structural::BroadcastTo),
    ("reshape", Structural::Reshape),
    ("transpose", Structural::Transpose),
    ("iota", Structural::Iota),
    ("copy", Structural::Copy),
    ("ones_like", Structural::OnesLike),
    ("signbit", Structural::SignBit),
];

/// Names that mean more than the operation they are spelled like.
const MANNERS: &[(&str, Op, Manner)] = &[
    ("divide", Op::Div, Manner::TrueDivide),
    ("true_divide", Op::Div, Manner::TrueDivide),
    ("logical_and", Op::And, Manner::Logical),
    ("logical_or", Op::Or, Manner::Logical),
    ("logical_xor", Op::Xor, Manner::Logical),
    ("logical_not", Op::Not, Manner::Logical),
    ("rint", Op::RoundEven, Manner::FloatOnly),
    ("fabs", Op::Abs, Manner::FloatOnly),
    ("mod", Op::PyMod, Manner::NumpyOnly),
    ("remainder", Op::PyMod, Manner::NumpyOnly),
    ("clip", Op::Clamp, Manner::Clip),
    ("right_shift", Op::ShrArithmetic, Manner::ShiftBySign),
    ("bitwise_right_shift", Op::ShrArithmetic, Manner::ShiftBySign),
];

/// Names of NumPy for operations that the table may call otherwise.
const NUMPY_SPELLINGS: &[(&str, &str)] = &[
    ("power", "pow"),
    ("around", "round_even"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arcsinh", "asinh"),
    ("arccosh", "acosh"),
    ("arctanh", "atanh"),
    ("conjugate", "conj"),
    ("bitwise_count", "popcnt"),
];

impl Function {
    pub(super) fn from_name(name: &str) -> Option<Function> {
        if let Some((_, function)) = STRUCTURAL.iter().find(|(known, _)| *known == name) {
            return Some(Function::Structural(*function));
        }
        if let Some((_, op, manner)) = MANNERS.iter().find(|(known, ..)| *known == name) {
            return Some(Function::Elementwise { op: *op, manner: *manner });
        }
        if let Ok(dtype) = DType::from_str(name) {
            return Some(Function::Structural(Structural::Cast(dtype)));
        }
        let spelling = NUMPY_SPELLINGS.iter().find(|(known, _)| *known == name);
        let op = Op::from_str(name).ok().or_else(|| Op::from_str(spelling?.1).ok())?;
        Some(Function::Elementwise { op, manner: Manner::Table })
    }

    /// The names that a misspelt one may have meant.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        let operations = Op::ALL
            .iter()
            .flat_map(|op| core::iter::once(op.name()).chain(op.aliases().iter().copied()));
        let structural = STRUCTURAL.iter().map(|(name, _)| *name);
        let manners = MANNERS.iter().map(|(name, ..)| *name);
        let types = DType::ALL.iter().map(|dtype| dtype.name());
        operations.chain(structural).chain(manners).chain(types)
    }

    /// What stands at the positions of a call, in order.
    pub(super) fn parameters(self) -> &'static [Parameter] {
        use Parameter::{Attribute as A, Operand};
        let structural = match self {
            Function::Elementwise { op, .. } => return &OPERANDS[..op.arity().count()],
            Function::Structural(structural) => structural,
        };
        match structural {
            Structural::Cast(_) | Structural::Copy | Structural::OnesLike | Structural::SignBit => {
                &[Operand]
            }
            Structural::Convert => &[Operand, A(Attribute::ElementType)],
            Structural::BroadcastInDim => &[Operand, A(Attribute::Shape), A(Attribute::Dims)],
            Structural::Broadcast => &[Operand, A(Attribute::Sizes)],
            Structural::BroadcastTo | Structural::Reshape => &[Operand, A(Attribute::Shape)],
            Structural::Transpose => &[Operand, A(Attribute::Permutation)],
            Structural::Iota => {
                &[A(Attribute::ElementType), A(Attribute::Shape), A(Attribute::Axis)]
            }
        }
    }

    /// Whether `attribute` may be given, by keyword at least.
    pub(super) fn takes(self, attribute: Attribute) -> bool {
        let is_broadcasting =
            matches!(self, Function::Elementwise { op, .. } if op.arity() != Arity::Unary);
        let is_rule_attribute = matches!(attribute, Attribute::Dims | Attribute::Axis);
        self.parameters().contains(&Parameter::Attribute(attribute))
            || (is_broadcasting && is_rule_attribute)
    }

    /// The attributes without which a call makes no sense.
    pub(super) fn required(self) -> impl Iterator<Item = Attribute> {
        self.parameters().iter().filter_map(|parameter| match parameter {
            Parameter::Attribute(Attribute::Permutation | Attribute::Axis) | Parameter::Operand => {
                None
            }
            Parameter::Attribute(attribute) => Some(*attribute),
        })
    }

    /// The keywords a call may have, for messages.
    pub(super) fn keywords(self) -> Vec<&'static str> {
        Attribute::ALL.iter().filter(|a| self.takes(**a)).map(|a| a.keyword()).collect()
    }

    pub(super) fn operand_count(self) -> usize {
        self.parameters().iter().filter(|parameter| **parameter == Parameter::Operand).count()
    }
}

/// The operation that an operator stands for.
pub(super) fn operation_of(operator: BinaryOperator) -> (Op, Manner) {
    let op = match operator {
        BinaryOperator::Less => Op::Lt,
        BinaryOperator::LessEqual => Op::Le,
        BinaryOperator::Greater => Op::Gt,
        BinaryOperator::GreaterEqual => Op::Ge,
        BinaryOperator::Equal => Op::Eq,
        BinaryOperator::NotEqual => Op::Ne,
        BinaryOperator::Or => Op::Or,
        BinaryOperator::Xor => Op::Xor,
        BinaryOperator::And => Op::And,
        BinaryOperator::ShiftLeft => Op::Shl,
        BinaryOperator::ShiftRight => return (Op::ShrArithmetic, Manner::ShiftBySign),
        BinaryOperator::Add => Op::Add,
        BinaryOperator::Subtract => Op::Sub,
        BinaryOperator::Multiply => Op::Mul,
        BinaryOperator::Divide => return (Op::Div, Manner::TrueDivide),
        BinaryOperator::FloorDivide => Op::FloorDiv,
        BinaryOperator::Modulo => Op::PyMod,
        BinaryOperator::Power => Op::Pow,
    };
    (op, Manner::Table)
}

/// The operator that is written for an operation.
pub(super) fn operator_of(op: Op) -> Option<BinaryOperator> {
    BinaryOperator::ALL.iter().copied().find(|operator| operation_of(*operator).0 == op)
}
