//! A model read from a file, its inputs, and the program built for inputs of known types.

use core::fmt;

use indim_graph::{Array, Graph};
use indim_ops::{ArrayType, DType};

use crate::error::{FormatError, FormatErrorKind, Location};
use crate::shape_values::can_hold_shape;
use crate::source_operation::SourceOperation;
use crate::written::WrittenModel;

/// A model read from a file. It declares its inputs; its graph is built for inputs of given types.
pub trait Model: Send + Sync {
    /// The inputs in positional order.
    fn inputs(&self) -> &[ModelInput];

    /// Names of the outputs.
    fn outputs(&self) -> Vec<String>;

    /// Builds the program; `inputs` has one [`InputBinding`] per input.
    ///
    /// # Errors
    /// Returns the error in the file or in the inputs.
    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError>;

    /// Version of the operation set of the model, if its format has versions.
    fn opset(&self) -> Option<u32> {
        None
    }

    /// Whether a shape may depend on elements that are known only after a run, so that the program can be
    /// built only in stages.
    fn needs_stages(&self) -> bool {
        false
    }

    /// Whether nodes were left out, so that the program can only be written in the format of its file; see
    /// [`ReadOptions::carries`](crate::ReadOptions::carries).
    fn carries(&self) -> bool {
        false
    }

    /// Inserts the nodes that were left out into a written file of the same format.
    ///
    /// # Errors
    /// `unsupported` if such a node means something else in the written file; `cycle`, `damaged`.
    fn complete(
        &self,
        written: WrittenModel,
        _inputs: &[InputBinding],
    ) -> Result<WrittenModel, FormatError> {
        Ok(written)
    }

    /// Adds the metadata of the file to a written file, as far as this has the same format, and notes the
    /// metadata that it lacks.
    ///
    /// # Errors
    /// `damaged`.
    fn with_metadata(
        &self,
        written: WrittenModel,
        _is_own_format: bool,
    ) -> Result<WrittenModel, FormatError> {
        Ok(written)
    }

    /// Location in the file of the [`SourceOperation`] with this number.
    fn location(&self, number: usize) -> Location;
}

/// An input of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInput {
    /// Name of the input.
    pub name: String,
    /// Element type, if the file states it.
    pub dtype: Option<DType>,
    /// Size of each axis, if the file states the rank.
    pub sizes: Option<Vec<DeclaredSize>>,
    /// Whether the input is optional: the file holds default elements.
    pub has_default: bool,
    /// Whether its elements determine shapes or axes, so that the program depends on them.
    pub is_shape: bool,
}

/// The declared size of an axis of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclaredSize {
    /// A constant size.
    Known(usize),
    /// A symbolic size: equal to all other sizes of this name.
    Symbol(String),
    /// A bounded size.
    Range {
        /// Lower bound, inclusive.
        min: usize,
        /// Upper bound, inclusive, if any.
        max: Option<usize>,
    },
    /// Any size: `?` in MLIR, `-1` in ONNX.
    Dynamic,
}

/// The binding of an input: its type or its elements.
#[derive(Debug, Clone, PartialEq)]
pub enum InputBinding {
    /// Arrays of this type.
    Type(ArrayType),
    /// These elements: required before the build for an input with [`ModelInput::is_shape`].
    Elements(Array),
    /// The default elements in the file.
    Default,
}

/// A graph whose parameters are the bound inputs of the model, in their order.
#[derive(Debug, Clone)]
pub struct ModelProgram {
    /// The first outputs are the model's; the outputs compared by [`ModelProgram::expectations`] follow.
    pub graph: Graph,
    /// Names of the model's outputs.
    pub outputs: Vec<String>,
    /// Expected results that the file states.
    pub expectations: Vec<Expectation>,
    /// Source operations of the values, in the order of the values.
    pub origins: Vec<SourceOperation>,
    /// Changes that the reader made to the program of the file.
    pub remarks: Vec<String>,
}

/// The expectation that two outputs of the graph agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Index of the computed output.
    pub result: usize,
    /// Index of the output with the expected values.
    pub expected: usize,
    /// Required accuracy.
    pub tolerance: Tolerance,
    /// Location of the expectation in the file.
    pub location: Location,
}

/// Required accuracy of floats and complex numbers; integers and booleans must be equal under each
/// tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// Equality; NaN equals NaN.
    Exact,
    /// A difference of at most `absolute + relative * |expected|`.
    Close {
        /// Absolute tolerance.
        absolute: f64,
        /// Relative tolerance.
        relative: f64,
    },
    /// A distance of at least `min` and at most `max` ulps.
    Ulps {
        /// Lower bound, inclusive.
        min: u64,
        /// Upper bound, inclusive.
        max: u64,
    },
}

impl fmt::Display for DeclaredSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredSize::Known(size) => write!(formatter, "{size}"),
            DeclaredSize::Symbol(name) => {
                formatter.write_str(&indim_graph::terminal::printable(name))
            }
            DeclaredSize::Range { min, max: Some(max) } => {
                write!(formatter, "{min}..{max}")
            }
            DeclaredSize::Range { min, max: None } => write!(formatter, "{min}.."),
            DeclaredSize::Dynamic => formatter.write_str("?"),
        }
    }
}

impl ModelInput {
    /// An input whose type the file states.
    pub fn of_type(name: impl Into<String>, array_type: &ArrayType) -> ModelInput {
        ModelInput {
            name: name.into(),
            dtype: Some(array_type.dtype),
            sizes: Some(
                array_type.shape.sizes().iter().map(|&size| DeclaredSize::Known(size)).collect(),
            ),
            has_default: false,
            is_shape: false,
        }
    }

    /// The type, if the file states all of it.
    pub fn array_type(&self) -> Option<ArrayType> {
        let known = |size: &DeclaredSize| match size {
            DeclaredSize::Known(size) => Some(*size),
            DeclaredSize::Symbol(_) | DeclaredSize::Range { .. } | DeclaredSize::Dynamic => None,
        };
        let sizes: Vec<usize> = self.sizes.as_ref()?.iter().map(known).collect::<Option<_>>()?;
        Some(ArrayType::new(self.dtype?, sizes))
    }

    /// Whether the file states that the input is a shape: a short list of integers, or a single number.
    pub fn is_short_list(&self) -> bool {
        self.array_type().is_some_and(|array_type| {
            let count = array_type.shape.element_count().ok();
            can_hold_shape(self.dtype, count, array_type.shape.rank())
        })
    }

    /// The declared type: `f32[N, 3]`, with `?` for undeclared sizes.
    pub fn declared(&self) -> String {
        let dtype = self.dtype.map_or("?", DType::name);
        match &self.sizes {
            Some(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(DeclaredSize::to_string).collect();
                format!("{dtype}[{}]", sizes.join(", "))
            }
            None => format!("{dtype}[...]"),
        }
    }
}

impl InputBinding {
    /// The type of the bound array; `None` for the default.
    pub fn array_type(&self) -> Option<ArrayType> {
        match self {
            InputBinding::Type(array_type) => Some(array_type.clone()),
            InputBinding::Elements(array) => Some(array.array_type().clone()),
            InputBinding::Default => None,
        }
    }
}

/// The types of the bound inputs, `None` for inputs with their default.
///
/// # Errors
/// `input-count`, `input-missing`, `input-type`, `input-elements`: the bindings do not match the
/// declared inputs.
pub fn check_inputs(
    declared: &[ModelInput],
    given: &[InputBinding],
) -> Result<Vec<Option<ArrayType>>, FormatError> {
    if declared.len() != given.len() {
        let (expected, given) = (declared.len(), given.len());
        return Err(FormatErrorKind::InputCount { expected, given }.without_location());
    }
    let mut names: Vec<(&str, usize)> = Vec::new();
    let pairs = declared.iter().zip(given);
    pairs.map(|(input, bound)| check_input(input, bound, &mut names)).collect()
}

fn check_input<'i>(
    input: &'i ModelInput,
    bound: &InputBinding,
    names: &mut Vec<(&'i str, usize)>,
) -> Result<Option<ArrayType>, FormatError> {
    let Some(array_type) = bound.array_type() else {
        let name = input.name.clone();
        return match input.has_default {
            true => Ok(None),
            false => Err(FormatErrorKind::InputMissing { name, declared: input.declared() }
                .without_location()),
        };
    };
    if input.is_shape && matches!(bound, InputBinding::Type(_)) {
        return Err(FormatErrorKind::InputElements { name: input.name.clone() }.without_location());
    }
    if !matches_declaration(input, &array_type, names) {
        let (name, declared) = (input.name.clone(), input.declared());
        return Err(
            FormatErrorKind::InputType { name, declared, given: array_type }.without_location()
        );
    }
    Ok(Some(array_type))
}

/// Whether an array matches the declared input; sizes of one name must be equal.
fn matches_declaration<'i>(
    input: &'i ModelInput,
    given: &ArrayType,
    names: &mut Vec<(&'i str, usize)>,
) -> bool {
    let Some(sizes) = &input.sizes else {
        return input.dtype.is_none_or(|dtype| dtype == given.dtype);
    };
    let mut size_fits = |size: &'i DeclaredSize, given: usize| match size {
        DeclaredSize::Known(size) => *size == given,
        DeclaredSize::Dynamic => true,
        DeclaredSize::Range { min, max } => *min <= given && max.is_none_or(|max| given <= max),
        DeclaredSize::Symbol(name) => match names.iter().find(|(known, _)| known == name) {
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
