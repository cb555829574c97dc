//! What a file becomes: a model, and of that, for inputs of known types, a program.

use core::fmt;

use indim_graph::{Array, Graph};
use indim_ops::{ArrayType, DType};

use crate::error::{FormatError, FormatErrorKind, Location};
use crate::origin::SourceOperation;

/// What was read from a file. Its inputs are known; its graph is made for types of theirs.
pub trait Model: Send + Sync {
    /// The inputs, in the order in which they are given.
    fn inputs(&self) -> &[ModelInput];

    /// The names of the outputs.
    fn outputs(&self) -> Vec<String>;

    /// The program for these inputs, one [`Bound`] for each.
    ///
    /// # Errors
    /// What is wrong with the file, or with the inputs for it.
    fn build(&self, inputs: &[Bound]) -> Result<ModelProgram, FormatError>;

    /// The version of the operation set in which the program is written, where its format has several.
    fn opset(&self) -> Option<u32> {
        None
    }

    /// The place in the file that an [`SourceOperation`] of a program of this model has this number for.
    fn place(&self, number: usize) -> Location;
}

/// An input of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInput {
    /// The name.
    pub name: String,
    /// The element type, where the file says it.
    pub dtype: Option<DType>,
    /// The size of each axis, where the file says how many there are.
    pub sizes: Option<Vec<Size>>,
    /// Whether it need not be given: the file holds its elements too.
    pub has_default: bool,
    /// Whether its elements say a shape or axes, so that the program depends on them.
    pub is_shape: bool,
}

/// The size of an axis of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Size {
    /// So many elements.
    Known(usize),
    /// As many as wherever else this name stands.
    Named(String),
    /// Neither fewer nor more.
    Between {
        /// At least so many elements.
        least: usize,
        /// At most so many, if there is a bound.
        most: Option<usize>,
    },
    /// Any number.
    Any,
}

/// What an input is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Arrays of this type.
    Type(ArrayType),
    /// These elements: an input whose [`ModelInput::is_shape`] is given them before there is a program.
    Elements(Array),
    /// Nothing: what the file holds.
    Default,
}

/// A graph whose parameters are the inputs of the model that were given, in their order.
#[derive(Debug, Clone)]
pub struct ModelProgram {
    /// Its first outputs are the model's, then come those that [`ModelProgram::expectations`] compare.
    pub graph: Graph,
    /// The names of the model's outputs.
    pub outputs: Vec<String>,
    /// What the program says of its own results.
    pub expectations: Vec<Expectation>,
    /// What values come from, in their order.
    pub origins: Vec<SourceOperation>,
    /// What the reader did that its file does not say.
    pub remarks: Vec<String>,
}

/// That two outputs of the graph agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Which output of the graph is compared.
    pub result: usize,
    /// With which other one.
    pub expected: usize,
    /// How well they have to agree.
    pub agreement: Agreement,
    /// Where the file says so.
    pub place: Location,
}

/// How well numbers have to agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Agreement {
    /// They are equal; NaN only where NaN is expected.
    Equal,
    /// They differ by at most `absolute + relative * |expected|`.
    Near {
        /// For numbers of any size.
        absolute: f64,
        /// For larger numbers.
        relative: f64,
    },
    /// At least `least` and at most `most` floats lie between them.
    Ulps {
        /// At least so many.
        least: u64,
        /// At most so many.
        most: u64,
    },
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Known(size) => write!(formatter, "{size}"),
            Size::Named(name) => formatter.write_str(&indim_graph::terminal::shown(name)),
            Size::Between { least, most: Some(most) } => write!(formatter, "{least}..{most}"),
            Size::Between { least, most: None } => write!(formatter, "{least}.."),
            Size::Any => formatter.write_str("?"),
        }
    }
}

impl ModelInput {
    /// An input whose type the file says.
    pub fn of_type(name: impl Into<String>, array_type: &ArrayType) -> ModelInput {
        ModelInput {
            name: name.into(),
            dtype: Some(array_type.dtype),
            sizes: Some(array_type.shape.sizes().iter().map(|&size| Size::Known(size)).collect()),
            has_default: false,
            is_shape: false,
        }
    }

    /// The type, where the file says all of it.
    pub fn array_type(&self) -> Option<ArrayType> {
        let known = |size: &Size| match size {
            Size::Known(size) => Some(*size),
            Size::Named(_) | Size::Between { .. } | Size::Any => None,
        };
        let sizes: Vec<usize> = self.sizes.as_ref()?.iter().map(known).collect::<Option<_>>()?;
        Some(ArrayType::new(self.dtype?, sizes))
    }

    /// As the file declares it: `f32[N, 3]`, `?` for what it leaves open.
    pub fn declared(&self) -> String {
        let dtype = self.dtype.map_or("?", DType::name);
        match &self.sizes {
            Some(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(Size::to_string).collect();
                format!("{dtype}[{}]", sizes.join(", "))
            }
            None => format!("{dtype}[...]"),
        }
    }
}

impl Bound {
    /// The type, if something is given.
    pub fn array_type(&self) -> Option<ArrayType> {
        match self {
            Bound::Type(array_type) => Some(array_type.clone()),
            Bound::Elements(array) => Some(array.array_type()),
            Bound::Default => None,
        }
    }
}

/// The types of inputs that are given, `None` for those that are not.
///
/// # Errors
/// `input-count`, `input-type`, `input-elements`: they are not what the model declares.
pub fn check_inputs(
    declared: &[ModelInput],
    given: &[Bound],
) -> Result<Vec<Option<ArrayType>>, FormatError> {
    if declared.len() != given.len() {
        let (expected, given) = (declared.len(), given.len());
        return Err(FormatErrorKind::InputCount { expected, given }.nowhere());
    }
    let mut names: Vec<(&str, usize)> = Vec::new();
    let pairs = declared.iter().zip(given);
    pairs.map(|(input, bound)| check_input(input, bound, &mut names)).collect()
}

fn check_input<'i>(
    input: &'i ModelInput,
    bound: &Bound,
    names: &mut Vec<(&'i str, usize)>,
) -> Result<Option<ArrayType>, FormatError> {
    let Some(array_type) = bound.array_type() else {
        let name = input.name.clone();
        return match input.has_default {
            true => Ok(None),
            false => {
                Err(FormatErrorKind::InputMissing { name, declared: input.declared() }.nowhere())
            }
        };
    };
    if input.is_shape && matches!(bound, Bound::Type(_)) {
        return Err(FormatErrorKind::InputElements { name: input.name.clone() }.nowhere());
    }
    if !fits(input, &array_type, names) {
        let (name, declared) = (input.name.clone(), input.declared());
        return Err(FormatErrorKind::InputType { name, declared, given: array_type }.nowhere());
    }
    Ok(Some(array_type))
}

/// Whether an array is one that the input takes; sizes that have names are the same wherever these stand.
fn fits<'i>(input: &'i ModelInput, given: &ArrayType, names: &mut Vec<(&'i str, usize)>) -> bool {
    let Some(sizes) = &input.sizes else {
        return input.dtype.is_none_or(|dtype| dtype == given.dtype);
    };
    let mut size_fits = |size: &'i Size, given: usize| match size {
        Size::Known(size) => *size == given,
        Size::Any => true,
        Size::Between { least, most } => *least <= given && most.is_none_or(|most| given <= most),
        Size::Named(name) => match names.iter().find(|(known, _)| known == name) {
            Some((_, known)) => *known == given,
            None => {
                names.push((name, given));
                true
            }
        },
    };
    input.dtype.is_none_or(|dtype| dtype == given.dtype)
        && sizes.len() == given.shape.rank()
        && sizes.iter().zip(given.shape.sizes()).all(|(size, &given)| size_fits(size, given))
}
