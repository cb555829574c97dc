//! Resolution of function names and operators: their operation and parameters.
//!
//! Every operation, composition and reduction of the tables is a function under its name and its aliases.
//! Some names modify their operation: see [`OpVariant`].

use core::str::FromStr;

use indim_builder::{Composition, Reduction};
use indim_ops::fourier::function::FourierFunction;
use indim_ops::{Arity, BinaryOperator, DType, Op};

use super::data_movement_function::{DATA_MOVEMENT, DataMovementFunction};
use super::parameter::{AttributeKey, CallParameter};
use super::product_function::{PRODUCTS, ProductFunction};
use super::random_function::{RANDOM, RandomFunction};

/// A function of the expression language, by the table that defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Elementwise { op: Op, variant: OpVariant },
    Composition(Composition),
    Reduction(Reduction),
    Structural(StructuralFunction),
    DataMovement(DataMovementFunction),
    Product(ProductFunction),
    Random(RandomFunction),
    Fourier(&'static FourierFunction),
}

/// Functions that are in none of the other tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StructuralFunction {
    /// A conversion by the name of an element type, such as `f32(x)`.
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
    /// Ones, in the type and shape of the operand.
    OnesLike,
    /// Whether the sign bit is set, of -0.0 and NaN too.
    SignBit,
}

/// The variant of an operation that a function name or operator stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpVariant {
    /// The operation of the table.
    Table,
    /// Under the numpy rule, integers are divided as floats.
    TrueDivide,
    /// The operands are truth values. The numpy rule converts them; other rules require `bool`.
    Logical,
    /// Under the numpy rule, integers are converted to floats even if the operation takes them.
    FloatOnly,
    /// The name means different operations in NumPy and in XLA, so only the numpy rule allows it.
    NumpyOnly,
    /// The operands are in the order `x, low, high`.
    Clip,
    /// `>>`: copies of the sign on signed integers, zeros on unsigned ones.
    ShiftBySign,
}

/// The names of structural functions; a cast has the name of its element type.
const STRUCTURAL: &[(&str, StructuralFunction)] = &[
    ("convert", StructuralFunction::Convert),
    ("broadcast_in_dim", StructuralFunction::BroadcastInDim),
    ("broadcast", StructuralFunction::Broadcast),
    ("broadcast_to", StructuralFunction::BroadcastTo),
    ("reshape", StructuralFunction::Reshape),
    ("transpose", StructuralFunction::Transpose),
    ("iota", StructuralFunction::Iota),
    ("copy", StructuralFunction::Copy),
    ("ones_like", StructuralFunction::OnesLike),
    ("signbit", StructuralFunction::SignBit),
];

/// Function names that stand for a variant of an operation.
const VARIANTS: &[(&str, Op, OpVariant)] = &[
    ("divide", Op::Div, OpVariant::TrueDivide),
    ("true_divide", Op::Div, OpVariant::TrueDivide),
    ("logical_and", Op::And, OpVariant::Logical),
    ("logical_or", Op::Or, OpVariant::Logical),
    ("logical_xor", Op::Xor, OpVariant::Logical),
    ("logical_not", Op::Not, OpVariant::Logical),
    ("rint", Op::RoundEven, OpVariant::FloatOnly),
    ("fabs", Op::Abs, OpVariant::FloatOnly),
    ("mod", Op::PyMod, OpVariant::NumpyOnly),
    ("remainder", Op::PyMod, OpVariant::NumpyOnly),
    ("clip", Op::Clamp, OpVariant::Clip),
    ("right_shift", Op::ShrArithmetic, OpVariant::ShiftBySign),
    ("bitwise_right_shift", Op::ShrArithmetic, OpVariant::ShiftBySign),
];

/// All other names of the operation or composition `name`, including names of its variants.
pub(crate) fn other_names(name: &'static str, aliases: &[&'static str]) -> Vec<&'static str> {
    let variants = VARIANTS.iter().filter(|(_, op, _)| op.name() == name).map(|(known, ..)| *known);
    let all = aliases.iter().copied().chain(variants);
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
        if let Some(function) = DataMovementFunction::from_name(name) {
            return Some(Function::DataMovement(function));
        }
        if let Some(function) = ProductFunction::from_name(name) {
            return Some(Function::Product(function));
        }
        if let Some(function) = RandomFunction::from_name(name) {
            return Some(Function::Random(function));
        }
        if let Some(function) = FourierFunction::from_name(name) {
            return Some(Function::Fourier(function));
        }
        if let Some((_, op, variant)) = VARIANTS.iter().find(|(known, ..)| *known == name) {
            return Some(Function::Elementwise { op: *op, variant: *variant });
        }
        if let Ok(dtype) = DType::from_str(name) {
            return Some(Function::Structural(StructuralFunction::Cast(dtype)));
        }
        let op = Op::from_str(name).ok();
        let elementwise = op.map(|op| Function::Elementwise { op, variant: OpVariant::Table });
        let composition = || Composition::from_str(name).ok().map(Function::Composition);
        let reduction = || Reduction::from_str(name).ok().map(Function::Reduction);
        elementwise.or_else(composition).or_else(reduction)
    }

    /// The function for `count` operands: `max` and `min` of one operand are reductions.
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

    /// All function names, for suggestions.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        let operations = Op::ALL
            .iter()
            .flat_map(|op| core::iter::once(op.name()).chain(op.aliases().iter().copied()));
        let compositions = Composition::ALL.iter().flat_map(|composition| {
            core::iter::once(composition.name()).chain(composition.aliases().iter().copied())
        });
        let reduction = Reduction::ALL.iter().flat_map(|function| {
            core::iter::once(function.name()).chain(function.aliases().iter().copied())
        });
        let structural = STRUCTURAL.iter().map(|(name, _)| *name);
        let movements = DATA_MOVEMENT.iter().flat_map(|row| [&[row.name], row.aliases].concat());
        let products = PRODUCTS.iter().map(|product| product.name);
        let random = RANDOM.iter().map(|function| function.name);
        let fourier = FourierFunction::ALL.iter().map(|function| function.name);
        let structural = structural.chain(movements).chain(products).chain(random).chain(fourier);
        let variants = VARIANTS.iter().map(|(name, ..)| *name);
        let types = DType::ALL.iter().map(|dtype| dtype.name());
        operations
            .chain(compositions)
            .chain(reduction)
            .chain(structural)
            .chain(variants)
            .chain(types)
    }

    /// The parameter at a position of a call.
    pub(super) fn parameter(self, position: usize) -> Option<CallParameter> {
        match self {
            Function::Elementwise { op, .. } => {
                (position < op.arity().count()).then_some(CallParameter::Operand)
            }
            Function::Composition(composition) => {
                let Some(position) = position.checked_sub(composition.arity().count()) else {
                    return Some(CallParameter::Operand);
                };
                let parameter = composition.parameters().get(position)?;
                Some(CallParameter::Attribute(AttributeKey::Argument(parameter.name())))
            }
            Function::Reduction(function) => reduction_parameter(function, position),
            Function::Structural(structural) => structural.parameters().get(position).copied(),
            Function::DataMovement(function) => function.parameter(position),
            Function::Product(product) => product.parameter(position),
            Function::Random(function) => function.parameter(position),
            Function::Fourier(_) => fourier_parameter(position),
        }
    }

    /// Whether the operands are given as a list.
    pub(super) fn takes_list(self) -> bool {
        matches!(self, Function::DataMovement(function) if function.takes_list())
    }

    /// Whether the first argument is an equation in quotes, and any number of operands follow.
    pub(super) fn takes_equation(self) -> bool {
        matches!(self, Function::Product(product) if product.takes_equation())
    }

    /// Whether `attribute`, which is `Axis` or `Axes`, may be `None` in the text.
    pub(super) fn accepts_axis_none(self, attribute: AttributeKey) -> bool {
        attribute == AttributeKey::Axes
            || matches!(self, Function::DataMovement(function) if function.flattens_without_axis())
    }

    /// The parameters of a call, in order.
    fn parameters(self) -> impl Iterator<Item = CallParameter> {
        (0..).map_while(move |position| self.parameter(position))
    }

    /// The attribute of a keyword.
    pub(super) fn attribute(self, keyword: &str) -> Option<AttributeKey> {
        let known = |attribute: &AttributeKey| match attribute {
            AttributeKey::Argument(name) => *name == keyword,
            shared => shared.keywords().contains(&keyword),
        };
        self.attributes().find(known)
    }

    /// The attributes that a call may have.
    fn attributes(self) -> impl Iterator<Item = AttributeKey> {
        let arguments = self.parameters().filter_map(|parameter| match parameter {
            CallParameter::Attribute(argument @ AttributeKey::Argument(_)) => Some(argument),
            _ => None,
        });
        let shared = AttributeKey::ALL.iter().copied();
        arguments.chain(shared.filter(move |attribute| self.takes(*attribute)))
    }

    /// Whether a call may have this attribute, which is one of `AttributeKey::ALL`.
    fn takes(self, attribute: AttributeKey) -> bool {
        let arity = match self {
            Function::Elementwise { op, .. } => op.arity(),
            Function::Composition(composition) => composition.arity(),
            // In the functions below, `axis` is not the attribute of a rule set. Only reductions that
            // pair two operands broadcast them, so only these take `dims`.
            Function::Reduction(function)
                if function.pairs() && attribute == AttributeKey::Dims =>
            {
                Arity::Binary
            }
            Function::Structural(_)
            | Function::Reduction(_)
            | Function::DataMovement(_)
            | Function::Product(_)
            | Function::Random(_)
            | Function::Fourier(_) => Arity::Unary,
        };
        let is_rule_attribute = matches!(attribute, AttributeKey::Dims | AttributeKey::Axis);
        self.parameters().any(|parameter| parameter == CallParameter::Attribute(attribute))
            || (arity != Arity::Unary && is_rule_attribute)
    }

    /// The required attributes.
    pub(super) fn required(self) -> impl Iterator<Item = AttributeKey> {
        self.parameters().filter_map(move |parameter| match parameter {
            CallParameter::Attribute(_) if matches!(self, Function::Reduction(_)) => None,
            CallParameter::Attribute(
                AttributeKey::Permutation
                | AttributeKey::Axis
                | AttributeKey::Axes
                | AttributeKey::Mode
                | AttributeKey::Side,
            )
            | CallParameter::Operand => None,
            CallParameter::Attribute(AttributeKey::Argument(name)) if self.has_default(name) => {
                None
            }
            CallParameter::Attribute(attribute) if self.can_omit(attribute) => None,
            CallParameter::Attribute(attribute) => Some(attribute),
        })
    }

    /// Whether a call of a product, of random numbers or of a Fourier transform may leave this attribute out.
    fn can_omit(self, attribute: AttributeKey) -> bool {
        match self {
            Function::Product(_) => attribute != AttributeKey::Equation,
            Function::Random(function) => function.has_default(attribute),
            Function::Fourier(_) => true,
            _ => false,
        }
    }

    fn has_default(self, argument: &str) -> bool {
        let composition = match self {
            Function::Composition(composition) => composition,
            function => return matches!(function, Function::DataMovement(_)),
        };
        let mut parameters = composition.parameters().iter();
        parameters.any(|parameter| parameter.name() == argument && parameter.default().is_some())
    }

    /// The keywords of a call, for messages.
    pub(super) fn keywords(self) -> Vec<&'static str> {
        self.attributes().map(AttributeKey::keyword).collect()
    }

    pub(super) fn operand_count(self) -> usize {
        self.parameters().filter(|parameter| *parameter == CallParameter::Operand).count()
    }
}

/// The parameter at a position of a call of a Fourier transform.
fn fourier_parameter(position: usize) -> Option<CallParameter> {
    use AttributeKey::{Axes, Lengths, Norm};
    match position.checked_sub(1) {
        None => Some(CallParameter::Operand),
        Some(position) => {
            [Lengths, Axes, Norm].get(position).copied().map(CallParameter::Attribute)
        }
    }
}

/// The parameter at a position of a call of a reduction.
fn reduction_parameter(function: Reduction, position: usize) -> Option<CallParameter> {
    let Some(position) = position.checked_sub(function.operands().len()) else {
        return Some(CallParameter::Operand);
    };
    let Some(position) = position.checked_sub(1) else {
        return Some(CallParameter::Attribute(AttributeKey::Axes));
    };
    let argument = function.arguments().into_iter().nth(position)?;
    Some(CallParameter::Attribute(match argument.name() {
        "dtype" => AttributeKey::ElementType,
        name => AttributeKey::Argument(name),
    }))
}

impl StructuralFunction {
    /// The parameters of a call, in order.
    const fn parameters(self) -> &'static [CallParameter] {
        use CallParameter::{Attribute as A, Operand};
        match self {
            StructuralFunction::Cast(_)
            | StructuralFunction::Copy
            | StructuralFunction::OnesLike
            | StructuralFunction::SignBit => &[Operand],
            StructuralFunction::Convert => &[Operand, A(AttributeKey::ElementType)],
            StructuralFunction::BroadcastInDim => {
                &[Operand, A(AttributeKey::Shape), A(AttributeKey::Dims)]
            }
            StructuralFunction::Broadcast => &[Operand, A(AttributeKey::Sizes)],
            StructuralFunction::BroadcastTo | StructuralFunction::Reshape => {
                &[Operand, A(AttributeKey::Shape)]
            }
            StructuralFunction::Transpose => &[Operand, A(AttributeKey::Permutation)],
            StructuralFunction::Iota => {
                &[A(AttributeKey::ElementType), A(AttributeKey::Shape), A(AttributeKey::Axis)]
            }
        }
    }
}

/// The operation of an operator, and its variant.
pub(super) const fn operation_of(operator: BinaryOperator) -> (Op, OpVariant) {
    let variant = match operator {
        BinaryOperator::ShiftRight => OpVariant::ShiftBySign,
        BinaryOperator::Divide => OpVariant::TrueDivide,
        _ => OpVariant::Table,
    };
    (operator.op(), variant)
}
