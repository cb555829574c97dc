//! Resolution of function names and operators: their operation and parameters.
//!
//! Every operation and every composition of the tables is a function under its name and its aliases. Some
//! names mean slightly more than the operation: that is their [`Manner`]. Called by the parser and by
//! elaboration.

use core::str::FromStr;

use indim_builder::{Composition, Reduction};
use indim_ops::{Arity, BinaryOperator, DType, Op};

use super::view_function::{VIEWS, ViewFunction};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Elementwise { op: Op, manner: Manner },
    Composition(Composition),
    Reduction(Reduction),
    Structural(Structural),
    View(ViewFunction),
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

/// Modifiers that a name adds to its operation.
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

/// A parameter of a function that is not an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attribute {
    Dims,
    Axis,
    /// The axes along which a function reduces.
    Axes,
    Shape,
    Sizes,
    Permutation,
    ElementType,
    /// How far elements are moved.
    Shift,
    /// How much is added in front of axes and behind them.
    Widths,
    /// One of the ways of a function.
    Mode,
    /// A number of a composition, by its keyword.
    Argument(&'static str),
}

impl Attribute {
    /// Those that functions share.
    const ALL: &[Attribute] = &[
        Attribute::Dims,
        Attribute::Axis,
        Attribute::Axes,
        Attribute::Shape,
        Attribute::Sizes,
        Attribute::Permutation,
        Attribute::ElementType,
        Attribute::Shift,
        Attribute::Widths,
        Attribute::Mode,
    ];

    /// The keyword, then other spellings of it.
    const fn keywords(self) -> &'static [&'static str] {
        match self {
            Attribute::Dims => &["dims", "broadcast_dimensions"],
            Attribute::Axis | Attribute::Axes => &["axis"],
            Attribute::Shape => &["shape"],
            Attribute::Sizes => &["sizes", "broadcast_sizes"],
            Attribute::Permutation => &["permutation", "axes"],
            Attribute::ElementType => &["dtype"],
            Attribute::Shift => &["shift"],
            Attribute::Widths => &["pad_width"],
            Attribute::Mode => &["mode"],
            Attribute::Argument(_) => &[],
        }
    }

    pub(super) const fn keyword(self) -> &'static str {
        match self {
            Attribute::Argument(name) => name,
            _ => self.keywords()[0],
        }
    }
}

/// Parameter at one position of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Operand,
    Attribute(Attribute),
}

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

/// Every name beside `name` that calls the operation or composition of that name, among them those that
/// mean slightly more.
pub(crate) fn other_names(name: &'static str, aliases: &[&'static str]) -> Vec<&'static str> {
    let manners = MANNERS.iter().filter(|(_, op, _)| op.name() == name).map(|(known, ..)| *known);
    let all = aliases.iter().copied().chain(manners);
    let mut names = Vec::new();
    for known in all {
        if !names.contains(&known) {
            names.push(known);
        }
    }
    names
}

impl Function {
    pub(super) fn from_name(name: &str) -> Option<Function> {
        if let Some((_, function)) = STRUCTURAL.iter().find(|(known, _)| *known == name) {
            return Some(Function::Structural(*function));
        }
        if let Some(function) = ViewFunction::from_name(name) {
            return Some(Function::View(function));
        }
        if let Some((_, op, manner)) = MANNERS.iter().find(|(known, ..)| *known == name) {
            return Some(Function::Elementwise { op: *op, manner: *manner });
        }
        if let Ok(dtype) = DType::from_str(name) {
            return Some(Function::Structural(Structural::Cast(dtype)));
        }
        let op = Op::from_str(name).ok();
        let elementwise = op.map(|op| Function::Elementwise { op, manner: Manner::Table });
        let composition = || Composition::from_str(name).ok().map(Function::Composition);
        let along = || Reduction::from_str(name).ok().map(Function::Reduction);
        elementwise.or_else(composition).or_else(along)
    }

    /// The function with so many operands: `max` and `min` of one are those along axes.
    pub(super) fn of_operands(self, count: usize) -> Function {
        match self {
            Function::Elementwise { op: Op::Max, .. } if count == 1 => {
                Function::Reduction(Reduction::Max)
            }
            Function::Elementwise { op: Op::Min, .. } if count == 1 => {
                Function::Reduction(Reduction::Min)
            }
            function => function,
        }
    }

    /// The names that a misspelt one may have meant.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        let operations = Op::ALL
            .iter()
            .flat_map(|op| core::iter::once(op.name()).chain(op.aliases().iter().copied()));
        let compositions = Composition::ALL.iter().flat_map(|composition| {
            core::iter::once(composition.name()).chain(composition.aliases().iter().copied())
        });
        let along = Reduction::ALL.iter().flat_map(|function| {
            core::iter::once(function.name()).chain(function.aliases().iter().copied())
        });
        let structural = STRUCTURAL.iter().map(|(name, _)| *name);
        let views = VIEWS.iter().flat_map(|view| [&[view.name], view.aliases].concat());
        let structural = structural.chain(views);
        let manners = MANNERS.iter().map(|(name, ..)| *name);
        let types = DType::ALL.iter().map(|dtype| dtype.name());
        operations.chain(compositions).chain(along).chain(structural).chain(manners).chain(types)
    }

    /// The argument at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<Parameter> {
        match self {
            Function::Elementwise { op, .. } => {
                (position < op.arity().count()).then_some(Parameter::Operand)
            }
            Function::Composition(composition) => {
                let Some(position) = position.checked_sub(composition.arity().count()) else {
                    return Some(Parameter::Operand);
                };
                let parameter = composition.parameters().get(position)?;
                Some(Parameter::Attribute(Attribute::Argument(parameter.name())))
            }
            Function::Reduction(function) => along_parameter(function, position),
            Function::Structural(structural) => structural.parameters().get(position).copied(),
            Function::View(view) => view.parameter(position),
        }
    }

    /// Whether the operands are given as a list.
    pub(super) fn takes_list(self) -> bool {
        matches!(self, Function::View(view) if view.takes_list())
    }

    /// Whether this attribute may be `None`.
    pub(super) fn takes_no_axis(self, attribute: Attribute) -> bool {
        attribute == Attribute::Axes || matches!(self, Function::View(view) if view.takes_flat())
    }

    /// Parameters of a call, in order of position.
    fn parameters(self) -> impl Iterator<Item = Parameter> {
        (0..).map_while(move |position| self.parameter(position))
    }

    /// The attribute that a keyword gives.
    pub(super) fn attribute(self, keyword: &str) -> Option<Attribute> {
        let known = |attribute: &Attribute| match attribute {
            Attribute::Argument(name) => *name == keyword,
            shared => shared.keywords().contains(&keyword),
        };
        self.attributes().find(known)
    }

    /// The attributes that may be given, by keyword at least.
    fn attributes(self) -> impl Iterator<Item = Attribute> {
        let arguments = self.parameters().filter_map(|parameter| match parameter {
            Parameter::Attribute(argument @ Attribute::Argument(_)) => Some(argument),
            _ => None,
        });
        let shared = Attribute::ALL.iter().copied();
        arguments.chain(shared.filter(move |attribute| self.takes(*attribute)))
    }

    /// Whether the attribute, which functions share, may be given.
    fn takes(self, attribute: Attribute) -> bool {
        let arity = match self {
            Function::Elementwise { op, .. } => op.arity(),
            Function::Composition(composition) => composition.arity(),
            // `axis` is another attribute of these.
            Function::Reduction(function) if function.pairs() && attribute == Attribute::Dims => {
                Arity::Binary
            }
            Function::Structural(_) | Function::Reduction(_) | Function::View(_) => Arity::Unary,
        };
        let is_rule_attribute = matches!(attribute, Attribute::Dims | Attribute::Axis);
        self.parameters().any(|parameter| parameter == Parameter::Attribute(attribute))
            || (arity != Arity::Unary && is_rule_attribute)
    }

    /// The attributes without which a call makes no sense.
    pub(super) fn required(self) -> impl Iterator<Item = Attribute> {
        self.parameters().filter_map(move |parameter| match parameter {
            Parameter::Attribute(_) if matches!(self, Function::Reduction(_)) => None,
            Parameter::Attribute(
                Attribute::Permutation | Attribute::Axis | Attribute::Axes | Attribute::Mode,
            )
            | Parameter::Operand => None,
            Parameter::Attribute(Attribute::Argument(name)) if self.has_default(name) => None,
            Parameter::Attribute(attribute) => Some(attribute),
        })
    }

    fn has_default(self, argument: &str) -> bool {
        let composition = match self {
            Function::Composition(composition) => composition,
            function => return matches!(function, Function::View(_)),
        };
        let mut parameters = composition.parameters().iter();
        parameters.any(|parameter| parameter.name() == argument && parameter.default().is_some())
    }

    /// The keywords a call may have, for messages.
    pub(super) fn keywords(self) -> Vec<&'static str> {
        self.attributes().map(Attribute::keyword).collect()
    }

    pub(super) fn operand_count(self) -> usize {
        self.parameters().filter(|parameter| *parameter == Parameter::Operand).count()
    }
}

/// Parameter at a position of a call of a function along axes.
fn along_parameter(function: Reduction, position: usize) -> Option<Parameter> {
    let Some(position) = position.checked_sub(function.operands().len()) else {
        return Some(Parameter::Operand);
    };
    let Some(position) = position.checked_sub(1) else {
        return Some(Parameter::Attribute(Attribute::Axes));
    };
    let argument = function.arguments().into_iter().nth(position)?;
    Some(Parameter::Attribute(match argument.name() {
        "dtype" => Attribute::ElementType,
        name => Attribute::Argument(name),
    }))
}

impl Structural {
    /// Parameters of a call, in order of position.
    const fn parameters(self) -> &'static [Parameter] {
        use Parameter::{Attribute as A, Operand};
        match self {
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
}

/// The operation that an operator stands for.
pub(super) const fn operation_of(operator: BinaryOperator) -> (Op, Manner) {
    let manner = match operator {
        BinaryOperator::ShiftRight => Manner::ShiftBySign,
        BinaryOperator::Divide => Manner::TrueDivide,
        _ => Manner::Table,
    };
    (operator.op(), manner)
}
