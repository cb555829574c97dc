//! Numeric parameters of functions, such as compositions and reductions: names, defaults and types.

use crate::literal::Literal;

/// A parameter of a composition or reduction, after its operands.
///
/// ```
/// use indim_graph::Literal;
/// use indim_graph::parameter::Parameter;
///
/// let decimals = Parameter::new::<i64>("decimals", &["0"]);
/// assert_eq!((decimals.name(), decimals.expected()), ("decimals", "a whole number"));
/// assert_eq!(decimals.default(), Some("0"));
/// assert!(decimals.accepts(Literal::Int(3)) && !decimals.accepts(Literal::Float(0.5)));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    name: &'static str,
    expected: &'static str,
    default: Option<&'static str>,
    accepts: fn(Literal) -> bool,
}

impl Parameter {
    /// A parameter of type `T`; `default` is empty or has one text.
    pub const fn new<T: ParameterType>(name: &'static str, default: &[&'static str]) -> Parameter {
        let default = if default.is_empty() { None } else { Some(default[0]) };
        Parameter { name, expected: T::EXPECTED, default, accepts: T::accepts }
    }

    /// An optional parameter that is not a number; `expected` describes it.
    pub const fn described(name: &'static str, expected: &'static str) -> Parameter {
        Parameter { name, expected, default: Some("None"), accepts: |_| false }
    }

    /// The keyword.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The expected kind, for messages: `a number`, `a whole number`, `True or False`.
    pub const fn expected(&self) -> &'static str {
        self.expected
    }

    /// The default in Python's syntax; `None` if the parameter is required. The text `"None"` means that
    /// the default is no literal; the documentation of the function describes a call without the
    /// parameter.
    pub fn default(&self) -> Option<&'static str> {
        self.default.map(|text| if text == "false" { "False" } else { text })
    }

    /// Whether the parameter accepts this number.
    pub fn accepts(&self, number: Literal) -> bool {
        (self.accepts)(number)
    }
}

/// A Rust type of parameters.
pub trait ParameterType: Sized {
    /// The expected kind, for messages.
    const EXPECTED: &'static str;

    /// The value of a literal; `None` for a literal of another kind.
    fn read(number: Literal) -> Option<Self>;

    /// Whether the type has a value for this literal.
    fn accepts(number: Literal) -> bool {
        Self::read(number).is_some()
    }
}

impl ParameterType for f64 {
    const EXPECTED: &'static str = "a number";

    fn read(number: Literal) -> Option<f64> {
        match number {
            Literal::Bool(_) | Literal::Complex(_) => None,
            Literal::Int(value) => Some(value as f64),
            Literal::Float(value) => Some(value),
        }
    }
}

impl ParameterType for Option<f64> {
    const EXPECTED: &'static str = f64::EXPECTED;

    fn read(number: Literal) -> Option<Self> {
        f64::read(number).map(Some)
    }
}

macro_rules! whole {
    ($($type:ident $expected:literal)*) => {$(
        impl ParameterType for $type {
            const EXPECTED: &'static str = $expected;

            fn read(number: Literal) -> Option<$type> {
                match number {
                    Literal::Int(value) => value.try_into().ok(),
                    _ => None,
                }
            }
        }
    )*};
}

whole! { i64 "a whole number" u32 "a whole number, not negative" }

impl ParameterType for bool {
    const EXPECTED: &'static str = "True or False";

    fn read(number: Literal) -> Option<bool> {
        match number {
            Literal::Bool(value) => Some(value),
            _ => None,
        }
    }
}

/// The argument, or the default.
///
/// # Panics
/// If the argument is of another type, or lacks and has no default: the caller checks this.
pub fn argument<T: ParameterType>(given: Option<Literal>, default: Option<T>) -> T {
    given
        .and_then(T::read)
        .or(default)
        .expect("invariant: the caller checks the arguments, and that none is missing")
}
