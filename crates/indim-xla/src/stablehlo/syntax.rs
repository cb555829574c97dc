//! What a text of StableHLO says, before it means anything: functions, blocks, operations, each with its
//! place. The pretty and the generic form of an operation are the same here.

use std::collections::HashMap;

use indim_ops::ArrayType;
use indim_text::Span;

/// A text.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) functions: Vec<Function>,
    /// The numbers of functions by their names.
    pub(super) by_name: HashMap<String, usize>,
    /// Attributes with a name, and what stands behind the name.
    pub(super) aliases: HashMap<String, Span>,
    /// The blobs at the end of a file: strings of hexadecimal digits.
    pub(super) resources: HashMap<String, Span>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    /// Without its mark and quotes.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) is_public: bool,
    pub(super) results: Vec<FunctionResult>,
    /// The block of its operations, whose arguments are those of the function; a declaration has none.
    pub(super) body: Option<Block>,
}

/// A result of a function.
#[derive(Debug)]
pub(super) struct FunctionResult {
    pub(super) value_type: Type,
    pub(super) attributes: Vec<Attribute>,
}

/// A list of operations.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) arguments: Vec<Argument>,
    pub(super) operations: Vec<Operation>,
    /// Where it ends.
    pub(super) end: Span,
}

/// An argument of a block.
#[derive(Debug)]
pub(super) struct Argument {
    /// With its mark.
    pub(super) name: Span,
    pub(super) value_type: Type,
    /// What stands between the brackets of its `loc(..)`.
    pub(super) location: Option<Span>,
}

/// An operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// With the dialect: `stablehlo.add`.
    pub(super) name: String,
    /// Where the name stands.
    pub(super) span: Span,
    pub(super) results: Vec<Results>,
    pub(super) operands: Vec<Use>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) regions: Vec<Block>,
    pub(super) signature: Signature,
}

/// Names of results: `%0`, or `%0:2`, which is two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Results {
    pub(super) name: Span,
    pub(super) count: usize,
}

/// A value that an operation takes: `%0`, or `%0#1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use {
    /// Without the number.
    pub(super) name: Span,
    pub(super) index: usize,
}

/// An attribute. Its value is read by whoever needs it.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub(super) name: String,
    /// `None` of a mark without a value.
    pub(super) value: Option<Span>,
}

/// The types that stand behind an operation.
#[derive(Debug)]
pub(super) enum Signature {
    /// `(T, U) -> V`.
    Function(Vec<Type>, Vec<Type>),
    /// `T, U`: what they are of depends on the operation.
    List(Vec<Type>),
    /// Nothing.
    None,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// `tensor<2x3xf32>`.
    Array(ArrayType),
    /// `tuple<T, U>`.
    Tuple(Vec<Type>),
    /// An array whose sizes are not all known, where it stands.
    Dynamic(Span),
    /// Any other, where it stands.
    Other(Span),
}

impl Module {
    /// The function with this name.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Signature {
    /// All types in it.
    pub(super) fn types(&self) -> impl Iterator<Item = &Type> {
        let (first, second): (&[Type], &[Type]) = match self {
            Signature::Function(operands, results) => (operands, results),
            Signature::List(types) => (types, &[]),
            Signature::None => (&[], &[]),
        };
        first.iter().chain(second)
    }
}
