//! The syntax tree of StableHLO: functions, blocks and operations with their spans. Pretty and generic
//! forms of an operation have the same tree.

use std::collections::HashMap;

use indim_ops::ArrayType;
use indim_text::Span;

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) functions: Vec<Function>,
    /// Index of each function by its name.
    pub(super) by_name: HashMap<String, usize>,
    /// Attribute aliases: name and value.
    pub(super) aliases: HashMap<String, Span>,
    /// The blobs at the end of a file: strings of hexadecimal digits.
    pub(super) resources: HashMap<String, Span>,
    /// The constants of one element in the bodies of functions, by name, in the order of the text. Regions
    /// may read them.
    pub(super) constants: HashMap<String, Vec<SingleConstant>>,
    /// Whether a module contains a module.
    pub(super) is_nested: bool,
}

/// A constant of one element.
#[derive(Debug)]
pub(super) struct SingleConstant {
    /// The whole text of its function.
    pub(super) function: Span,
    /// The span of its value.
    pub(super) value: Span,
    pub(super) array_type: ArrayType,
}

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    /// The name without `@` and quotes.
    pub(super) name: String,
    /// The place of the name in the text.
    pub(super) span: Span,
    /// The whole text of the function.
    pub(super) text: Span,
    pub(super) is_public: bool,
    pub(super) results: Vec<FunctionResult>,
    /// The body, whose arguments are those of the function; `None` for a declaration.
    pub(super) body: Option<Block>,
}

/// A result of a function.
#[derive(Debug)]
pub(super) struct FunctionResult {
    pub(super) value_type: Type,
    pub(super) attributes: Vec<SyntaxAttribute>,
}

/// A list of operations.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) arguments: Vec<Argument>,
    pub(super) operations: Vec<SyntaxOperation>,
    /// Span of its end.
    pub(super) end: Span,
}

/// An argument of a block.
#[derive(Debug)]
pub(super) struct Argument {
    /// The name with `%`.
    pub(super) name: Span,
    pub(super) value_type: Type,
    /// The span between the brackets of its `loc(..)`.
    pub(super) location: Option<Span>,
}

/// An operation.
#[derive(Debug)]
pub(super) struct SyntaxOperation {
    /// The name with its dialect: `stablehlo.add`.
    pub(super) name: String,
    /// Span of the name.
    pub(super) span: Span,
    /// The whole text of the operation, from the names of its results to its location.
    pub(super) text: Span,
    pub(super) results: Vec<ResultNames>,
    pub(super) operands: Vec<ValueUse>,
    pub(super) attributes: Vec<SyntaxAttribute>,
    pub(super) regions: Vec<Block>,
    pub(super) signature: Signature,
}

/// Names of results: `%0`, or `%0:2` for two results.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResultNames {
    pub(super) name: Span,
    pub(super) count: usize,
}

/// A use of a value: `%0`, or `%0#1`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueUse {
    /// The name without the index.
    pub(super) name: Span,
    pub(super) index: usize,
}

/// An attribute with the span of its value.
#[derive(Debug, Clone)]
pub(super) struct SyntaxAttribute {
    pub(super) name: String,
    /// `None` for a unit attribute.
    pub(super) value: Option<Span>,
}

/// The types after an operation.
#[derive(Debug)]
pub(super) enum Signature {
    /// `(T, U) -> V`.
    Function(Vec<Type>, Vec<Type>),
    /// `T, U`: the operation determines the values that have these types.
    List(Vec<Type>),
    /// No types.
    None,
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// `tensor<2x3xf32>`.
    Array(ArrayType),
    /// `tuple<T, U>`.
    Tuple(Vec<Type>),
    /// An array with a dynamic size, and its span.
    Dynamic(Span),
    /// Any other type, and its span.
    Other(Span),
}

impl Module {
    /// Index of the function with this name.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl SyntaxOperation {
    /// The type of result `number`, if the signature states it. A list with another number of types states
    /// only the type of the first result: its last type.
    pub(super) fn result_type(&self, number: usize) -> Option<&Type> {
        let count: usize = self.results.iter().map(|names| names.count).sum();
        match &self.signature {
            Signature::Function(_, results) => results.get(number),
            Signature::List(types) if types.len() == count => types.get(number),
            // One type for all operands and results, or the last one for the result.
            Signature::List(types) if number == 0 => types.last(),
            Signature::List(_) | Signature::None => None,
        }
    }

    /// The type of the first result, if it is an array.
    pub(super) fn first_array_type(&self) -> Option<&ArrayType> {
        match self.result_type(0)? {
            Type::Array(stated) => Some(stated),
            Type::Tuple(_) | Type::Dynamic(_) | Type::Other(_) => None,
        }
    }
}

impl Signature {
    /// All types in the signature.
    pub(super) fn types(&self) -> impl Iterator<Item = &Type> {
        let (first, second): (&[Type], &[Type]) = match self {
            Signature::Function(operands, results) => (operands, results),
            Signature::List(types) => (types, &[]),
            Signature::None => (&[], &[]),
        };
        first.iter().chain(second)
    }
}
