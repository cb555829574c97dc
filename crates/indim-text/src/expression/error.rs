//! Errors of expressions: typed data, a stable code, the span in the text.
//!
//! Errors of shapes and element types are [`GraphError`]s of the builder with a span. `draw.rs` draws errors.

use core::fmt;
use core::ops::Range;

use indim_graph::{GraphError, Literal};
use indim_ops::DType;
use indim_shape::{AttributeError, ErrorCode};

use super::statement_error::StatementError;
use crate::limits::LimitError;
use crate::shorten::shorten;
use crate::span::Span;

/// An error in an expression.
///
/// ```
/// use indim_text::{Expression, ParseLimits};
///
/// let text = "x + sni(y)";
/// let error = Expression::parse(text, &ParseLimits::default()).unwrap_err();
/// assert_eq!((error.code(), &text[error.span.clone()]), ("unknown-function", "sni"));
/// assert!(error.draw(text).contains("did you mean `sin`?"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExprError {
    /// The kind of the error.
    pub kind: ExprErrorKind,
    /// The byte range of the text.
    pub span: Range<usize>,
}

/// The kinds of errors in expressions.
///
/// ```
/// use indim_text::{ExprErrorKind, Expression, ParseLimits};
///
/// let error = Expression::parse("", &ParseLimits::default()).unwrap_err();
/// assert_eq!(error.kind, ExprErrorKind::Empty);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExprErrorKind {
    /// The text exceeds a limit.
    Limit(LimitError),
    /// An illegal assignment, or unknown or several results.
    Statement(StatementError),
    /// The text has no expression.
    Empty,
    /// A character that begins no token.
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A text in quotes.
    StringLiteral,
    /// A malformed number.
    BadNumber,
    /// A whole number that does not fit 128 bits, or 64 bits in a list.
    NumberTooLarge,
    /// An unexpected token.
    Unexpected {
        /// The text found; empty at the end.
        found: String,
        /// The expected tokens.
        expected: &'static str,
    },
    /// A parenthesis or bracket that is never closed.
    Unclosed,
    /// `a < b < c`.
    ChainedComparison,
    /// An operator of another language, such as `and` or `&&`.
    ForeignOperator {
        /// The operator found.
        operator: &'static str,
        /// The element-wise operator.
        instead: &'static str,
    },
    /// Syntax or a function of another language or system.
    ForeignSpelling {
        /// The spelling in the text.
        found: String,
        /// The replacement.
        instead: String,
    },
    /// A function that is neither element-wise nor a reduction, such as `median(x)` or `trace(x)`.
    NotElementwise {
        /// The function or operator.
        name: String,
    },
    /// A number between brackets that is not an index.
    BadIndex {
        /// The number.
        literal: Literal,
    },
    /// `squeeze` names an axis whose size is not 1.
    SqueezedSize {
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// No function has this name.
    UnknownFunction {
        /// The name.
        name: String,
        /// A similar name.
        suggestion: Option<String>,
    },
    /// The function takes no such keyword.
    UnknownKeyword {
        /// The function.
        function: String,
        /// The keyword.
        keyword: String,
        /// The keywords it takes.
        known: Vec<&'static str>,
    },
    /// An attribute is given twice.
    DuplicateKeyword {
        /// The keyword.
        keyword: &'static str,
    },
    /// A call with the wrong number of operands.
    WrongOperandCount {
        /// The function.
        function: String,
        /// The number that the function takes.
        expected: usize,
        /// The number in the call.
        given: usize,
    },
    /// An attribute is missing.
    MissingArgument {
        /// The function.
        function: String,
        /// The attribute.
        argument: &'static str,
    },
    /// An argument of the wrong kind, such as an array in place of a number.
    BadArgument {
        /// The function.
        function: &'static str,
        /// The keyword.
        argument: &'static str,
        /// The expected form.
        expected: &'static str,
    },
    /// Nothing is bound to the name.
    UnknownName {
        /// The name.
        name: String,
        /// A similar bound name.
        suggestion: Option<String>,
    },
    /// `dims=` or `axis=` under a rule set without this attribute, or both in one call.
    Attribute(AttributeError),
    /// A name that means different operations under different rule sets.
    AmbiguousFunction {
        /// The name.
        name: String,
    },
    /// A whole number that is an axis in numexpr and NumPy, and an operand in expressions.
    AxisOrOperand {
        /// `max` or `min`.
        function: &'static str,
        /// The text of the first operand.
        operand: String,
        /// The text of the number.
        number: String,
    },
    /// A size is negative.
    NegativeSize {
        /// The size.
        size: i64,
    },
    /// The size -1 of a reshape cannot be inferred.
    SizeNotInferable,
    /// A literal is out of range of the element type.
    LiteralOutOfRange {
        /// The literal.
        literal: Literal,
        /// The element type.
        dtype: DType,
    },
    /// A literal and the element type have different kinds, under a rule set without promotion.
    LiteralKind {
        /// The literal.
        literal: Literal,
        /// The element type.
        dtype: DType,
    },
    /// A float literal in a bitwise operation.
    LiteralNotWhole {
        /// The operator.
        operator: &'static str,
        /// The literal.
        literal: Literal,
    },
    /// Arithmetic of literals overflows 128 bits.
    LiteralOverflow,
    /// A literal is divided by zero.
    LiteralDivisionByZero,
    /// A literal is shifted by a negative amount.
    LiteralNegativeShift,
    /// NumPy has no common type.
    NoPromotion {
        /// The type of one operand.
        left: DType,
        /// The type of another.
        right: DType,
    },
    /// NumPy does not define the operation on this type.
    NotDefinedInNumpy {
        /// The operation.
        operation: &'static str,
        /// The common type of the operands.
        dtype: DType,
        /// The replacement, if one is known.
        instead: Option<&'static str>,
    },
    /// An integer with a negative exponent.
    NegativeIntegerPower {
        /// The type of the base.
        dtype: DType,
    },
    /// An error of the graph builder.
    Graph(Box<GraphError>),
}

impl ExprError {
    pub(super) fn new(kind: ExprErrorKind, span: Span) -> Self {
        ExprError { kind, span: span.start..span.end }
    }

    pub(super) fn limit(error: LimitError, span: Span) -> Self {
        ExprError::new(ExprErrorKind::Limit(error), span)
    }

    pub(super) fn statement(error: StatementError, span: Span) -> Self {
        ExprError::new(ExprErrorKind::Statement(error), span)
    }

    /// The stable code: `unknown-name`, `size-mismatch`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        use ExprErrorKind as K;
        match &self.kind {
            K::Limit(error) => error.error_code(),
            K::Statement(error) => error.error_code(),
            K::Empty => ErrorCode::EMPTY_EXPRESSION,
            K::UnexpectedCharacter { .. } => ErrorCode::UNEXPECTED_CHARACTER,
            K::StringLiteral => ErrorCode::STRING_LITERAL,
            K::BadNumber => ErrorCode::BAD_NUMBER,
            K::NumberTooLarge => ErrorCode::NUMBER_TOO_LARGE,
            K::Unexpected { .. } => ErrorCode::UNEXPECTED_TOKEN,
            K::Unclosed => ErrorCode::UNCLOSED,
            K::ChainedComparison => ErrorCode::CHAINED_COMPARISON,
            K::ForeignOperator { .. } => ErrorCode::FOREIGN_OPERATOR,
            K::ForeignSpelling { .. } => ErrorCode::FOREIGN_SPELLING,
            K::NotElementwise { .. } => ErrorCode::NOT_ELEMENT_WISE,
            K::BadIndex { .. } => ErrorCode::BAD_INDEX,
            K::SqueezedSize { .. } => ErrorCode::SQUEEZED_SIZE,
            K::UnknownFunction { .. } => ErrorCode::UNKNOWN_FUNCTION,
            K::UnknownKeyword { .. } => ErrorCode::UNKNOWN_KEYWORD,
            K::DuplicateKeyword { .. } => ErrorCode::DUPLICATE_KEYWORD,
            K::WrongOperandCount { .. } => ErrorCode::WRONG_OPERAND_COUNT,
            K::MissingArgument { .. } => ErrorCode::MISSING_ARGUMENT,
            K::BadArgument { .. } => ErrorCode::BAD_ARGUMENT,
            K::UnknownName { .. } => ErrorCode::UNKNOWN_NAME,
            K::Attribute(error) => error.error_code(),
            K::AmbiguousFunction { .. } => ErrorCode::AMBIGUOUS_FUNCTION,
            K::AxisOrOperand { .. } => ErrorCode::AXIS_OR_OPERAND,
            K::NegativeSize { .. } => ErrorCode::NEGATIVE_SIZE,
            K::SizeNotInferable => ErrorCode::SIZE_NOT_INFERABLE,
            K::LiteralOutOfRange { .. } => ErrorCode::LITERAL_OUT_OF_RANGE,
            K::LiteralKind { .. } => ErrorCode::LITERAL_KIND,
            K::LiteralNotWhole { .. } => ErrorCode::LITERAL_NOT_WHOLE,
            K::LiteralOverflow => ErrorCode::LITERAL_OVERFLOW,
            K::LiteralDivisionByZero => ErrorCode::LITERAL_DIVISION_BY_ZERO,
            K::LiteralNegativeShift => ErrorCode::LITERAL_NEGATIVE_SHIFT,
            K::NoPromotion { .. } => ErrorCode::NO_PROMOTION,
            K::NotDefinedInNumpy { .. } => ErrorCode::NOT_DEFINED_IN_NUMPY,
            K::NegativeIntegerPower { .. } => ErrorCode::NEGATIVE_INTEGER_POWER,
            K::Graph(error) => error.error_code(),
        }
    }

    /// The help text, if one is known.
    pub(super) fn help(&self) -> Option<String> {
        use ExprErrorKind as K;
        let help = match &self.kind {
            K::Statement(error) => error.help(),
            K::ChainedComparison => "write (a < b) & (b < c)".to_owned(),
            K::ForeignOperator { instead, .. } => {
                format!("write {instead}, with parentheses around comparisons: (a < b) & (c < d)")
            }
            K::ForeignSpelling { instead, .. } => format!("write {instead}"),
            K::NotElementwise { name } => format!(
                "indim computes element by element, and reduces along axes: compute `{}` where the \
                 arrays come from, and bind its result to a name",
                shorten(name)
            ),
            K::StringLiteral => "write names without quotes, as in x.astype(f32)".to_owned(),
            K::NotDefinedInNumpy { operation: "xor", dtype, .. } if dtype.is_float() => {
                "a power is written x ** 2".to_owned()
            }
            K::UnknownFunction { suggestion: Some(name), .. }
            | K::UnknownName { suggestion: Some(name), .. } => {
                format!("did you mean `{}`?", shorten(name))
            }
            K::BadArgument { expected, .. } => format!(
                "write {expected}, or a name that stands for one: arrays cannot stand here, but the formula, \
                 written out, takes them"
            ),
            K::Attribute(error) => error.advice(),
            K::AmbiguousFunction { .. } => {
                "write py_mod (sign of the divisor) or rem (sign of the dividend)".to_owned()
            }
            K::LiteralOutOfRange { literal: Literal::Int(value), dtype } => {
                wider_type_help(*value, *dtype)
            }
            K::AxisOrOperand { function, operand, number } => {
                let (operand, number) = (shorten(operand), shorten(number));
                format!(
                    "write {function}({operand}, axis={number}) to reduce, or {function}imum({operand}, \
                     {number}) to compare"
                )
            }
            K::UnknownKeyword { keyword, known, .. }
                if keyword == "ddof" && known.contains(&"correction") =>
            {
                "write correction=: what NumPy calls ddof goes by this name".to_owned()
            }
            K::LiteralKind { literal, .. } => {
                format!("convert the array, as in {}(x)", literal.default_dtype())
            }
            K::NoPromotion { left, right } => {
                format!("convert one of them, as in f32(x): {left} and {right} have no common type")
            }
            K::NotDefinedInNumpy { instead: Some(instead), .. } => format!("write {instead}"),
            K::NegativeIntegerPower { .. } => "write f64(x) ** -1".to_owned(),
            _ => return None,
        };
        Some(help)
    }
}

/// The help text for a whole number that `dtype` does not represent.
fn wider_type_help(value: i128, dtype: DType) -> String {
    let is_widest = matches!(dtype, DType::I64 | DType::U64);
    match (u64::try_from(value), i64::try_from(value)) {
        (_, Ok(_)) if !is_widest || value < 0 => "use a wider type, as in i64(x)".to_owned(),
        (Ok(_), _) if dtype != DType::U64 => {
            format!("write it as u64, as in u64({value}), or as a float: {value}.0")
        }
        _ => format!("no integer type holds it: write it as a float, {value}.0"),
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl core::error::Error for ExprError {}

impl fmt::Display for ExprErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ExprErrorKind as K;
        match self {
            K::Limit(error) => error.fmt(f),
            K::Statement(error) => error.fmt(f),
            K::Empty => f.write_str("there is no expression"),
            K::UnexpectedCharacter { character } => write!(f, "{character:?} has no meaning here"),
            K::StringLiteral => f.write_str("there are no strings in expressions"),
            K::BadNumber => f.write_str("this is not a number"),
            K::NumberTooLarge => f.write_str("this number is too large"),
            K::Unexpected { found, expected } if found.is_empty() => {
                write!(f, "expected {expected}, but the expression ends here")
            }
            K::Unexpected { found, expected } => {
                write!(f, "expected {expected}, found `{}`", shorten(found))
            }
            K::Unclosed => f.write_str("this is never closed"),
            K::ChainedComparison => f.write_str("comparisons do not chain"),
            K::ForeignOperator { operator, .. } => {
                write!(f, "`{operator}` does not work on arrays")
            }
            K::ForeignSpelling { found, .. } => {
                write!(f, "`{}` is not of this language", shorten(found))
            }
            K::NotElementwise { name } => {
                write!(f, "`{}` neither computes element by element nor reduces", shorten(name))
            }
            K::BadIndex { literal } => {
                write!(f, "{literal} is not an index: that is a whole number of 64 bits")
            }
            K::SqueezedSize { axis, size } => {
                write!(f, "axis {axis} has size {size}; only an axis of size 1 can go")
            }
            K::Graph(error) => f.write_str(&error.headline()),
            K::UnknownFunction { name, .. } => {
                write!(f, "there is no function `{}`", shorten(name))
            }
            K::UnknownKeyword { function, keyword, known } if known.is_empty() => {
                let (function, keyword) = (shorten(function), shorten(keyword));
                write!(f, "`{function}` takes no keywords, but `{keyword}=` is given")
            }
            K::UnknownKeyword { function, keyword, known } => {
                let (function, keyword) = (shorten(function), shorten(keyword));
                write!(f, "`{function}` takes no `{keyword}=`; it takes ")?;
                known.iter().enumerate().try_for_each(|(index, keyword)| {
                    write!(f, "{}`{keyword}=`", if index == 0 { "" } else { ", " })
                })
            }
            K::DuplicateKeyword { keyword } => write!(f, "`{keyword}` is given twice"),
            K::WrongOperandCount { function, expected, given } => {
                let plural = if *expected == 1 { "" } else { "s" };
                write!(f, "`{function}` takes {expected} operand{plural}, not {given}")
            }
            K::MissingArgument { function, argument } => {
                write!(f, "`{function}` needs `{argument}=`")
            }
            K::BadArgument { function, argument, expected } => {
                write!(f, "`{argument}` of `{function}` must be {expected}")
            }
            K::UnknownName { name, .. } => {
                write!(f, "nothing is bound to `{}`", shorten(name))
            }
            K::Attribute(error) => write!(f, "{error}"),
            K::AmbiguousFunction { name } => {
                write!(f, "`{name}` has one meaning in NumPy and another in XLA")
            }
            K::AxisOrOperand { function, operand, number } => {
                let (operand, number) = (shorten(operand), shorten(number));
                write!(
                    f,
                    "`{function}({operand}, {number})` has two meanings: numexpr and NumPy reduce along axis \
                     {number}, indim compares each element with {number}"
                )
            }
            K::NegativeSize { size } => write!(f, "an axis cannot have size {size}"),
            K::SizeNotInferable => {
                f.write_str("no single size in place of -1 keeps the number of elements")
            }
            K::LiteralOutOfRange { literal, dtype } => {
                write!(f, "{literal} is not a value of {dtype}")
            }
            K::LiteralKind { literal, dtype } => {
                let kind = literal.kind_name();
                write!(f, "{literal} is a {kind}, but meets {dtype} under a rule without promotion")
            }
            K::LiteralNotWhole { operator, literal } => {
                write!(f, "`{operator}` works on whole numbers, not on {literal}")
            }
            K::LiteralOverflow => f.write_str("the numbers written here lead out of 128 bits"),
            K::LiteralDivisionByZero => f.write_str("the numbers written here divide by zero"),
            K::LiteralNegativeShift => f.write_str("a shift by a negative amount"),
            K::NoPromotion { left, right } => {
                write!(f, "{left} and {right} have no common type under rule numpy")
            }
            K::NotDefinedInNumpy { operation, dtype, .. } => {
                write!(f, "`{operation}` is not defined on {dtype}, the common type here")
            }
            K::NegativeIntegerPower { dtype } => {
                write!(f, "a negative power of {dtype} is not a whole number")
            }
        }
    }
}
