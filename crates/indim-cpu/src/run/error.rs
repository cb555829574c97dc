//! Errors of a run.

use core::fmt;

use indim_graph::GuardError;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::run::memory_piece::MemoryPiece;
use indim_arrays::ArrayError;

/// The reason why a run did not start or did not finish. Its `Debug` form, which `unwrap` and `?` in `main`
/// print, is the code and the message.
///
/// ```
/// use indim_cpu::{ArrayView, CompileOptions, RunError, compile};
/// use indim_builder::GraphBuilder;
/// use indim_ops::DType;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [2])?;
/// let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
/// let error = executable.run(&[]).unwrap_err();
/// assert_eq!(error, RunError::InputCount { expected: 1, given: 0 });
/// let error = executable.run(&[ArrayView::from_slice([2], &[1.0f64, 2.0])?]).unwrap_err();
/// assert_eq!(
///     format!("{error:?}"),
///     "error[input-type]: parameter `x` is f32[2], the input is f64[2]",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// The number of inputs differs from the number of parameters.
    InputCount {
        /// The number of parameters.
        expected: usize,
        /// The number of inputs.
        given: usize,
    },
    /// The type of an input differs from that of its parameter.
    InputType {
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        expected: ArrayType,
        /// The input's type.
        given: ArrayType,
    },
    /// The program has a guard that the sizes of the inputs do not meet.
    GuardNotMet(GuardError),
    /// No parameter has the name of an input.
    UnknownInput {
        /// The name.
        name: String,
        /// The names of the parameters.
        known: Vec<String>,
    },
    /// Two inputs have the same name.
    DuplicateInput {
        /// The name.
        name: String,
    },
    /// A parameter has no input.
    MissingInput {
        /// The parameter's name.
        name: String,
    },
    /// The number of arrays differs from the number of outputs.
    OutputCount {
        /// The number of outputs.
        expected: usize,
        /// The number of arrays.
        given: usize,
    },
    /// The type of an array differs from that of its output.
    OutputType {
        /// The output's position.
        output: usize,
        /// The output's type.
        expected: ArrayType,
        /// The array's type.
        given: ArrayType,
    },
    /// Two outputs, or two elements of one output, share memory.
    OutputsOverlap {
        /// The position of the first output.
        first: usize,
        /// The position of the second output; equal to `first` for elements of one output.
        second: usize,
    },
    /// The overlap test finds no answer in bounded time for the strides of two outputs.
    OverlapUndecided {
        /// The position of the first output.
        first: usize,
        /// The position of the second output; equal to `first` for elements of one output.
        second: usize,
    },
    /// The run would hold more memory than the caller allows. Nothing has been allocated.
    MemoryLimit {
        /// The bytes that the run would hold in addition to the arrays of the caller.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
        /// The largest piece of that memory.
        largest: MemoryPiece,
    },
    /// An index is out of range, and its mode makes that an error. Nothing has been written.
    IndexOutOfRange {
        /// The name of the array of indices.
        name: String,
        /// The index.
        index: i128,
        /// The position of the index in that array, one number for each axis.
        position: Vec<usize>,
        /// The axis that is indexed.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// A loop needs more steps than its limit. Nothing has been written.
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// Outputs or temporaries could not be allocated. The outputs of the caller may be partly written.
    Memory(ArrayError),
    /// `progress` stopped the run. The outputs of the caller may be partly written.
    Stopped,
}

/// Upper bound of the parameters that a message lists.
const MAX_LISTED_PARAMETERS: usize = 8;

impl RunError {
    /// The stable code of the error.
    ///
    /// ```
    /// assert_eq!(indim_cpu::RunError::Stopped.code(), "stopped");
    /// ```
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub fn error_code(&self) -> ErrorCode {
        match self {
            RunError::InputCount { .. } => ErrorCode::INPUT_COUNT,
            RunError::InputType { .. } => ErrorCode::INPUT_TYPE,
            RunError::GuardNotMet(error) => error.error_code(),
            RunError::UnknownInput { .. } => ErrorCode::UNKNOWN_INPUT,
            RunError::DuplicateInput { .. } => ErrorCode::DUPLICATE_INPUT,
            RunError::MissingInput { .. } => ErrorCode::MISSING_INPUT,
            RunError::OutputCount { .. } => ErrorCode::OUTPUT_COUNT,
            RunError::OutputType { .. } => ErrorCode::OUTPUT_TYPE,
            RunError::OutputsOverlap { .. } => ErrorCode::OUTPUTS_OVERLAP,
            RunError::OverlapUndecided { .. } => ErrorCode::OVERLAP_UNDECIDED,
            RunError::MemoryLimit { .. } => ErrorCode::MEMORY_LIMIT,
            RunError::IndexOutOfRange { .. } => ErrorCode::INDEX_OUT_OF_RANGE,
            RunError::StepLimit { .. } => ErrorCode::STEP_LIMIT,
            RunError::Memory(error) => error.error_code(),
            RunError::Stopped => ErrorCode::STOPPED,
        }
    }

    /// The error with its code, as users read it.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.error_code(), self.to_string())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::InputCount { expected, given } => {
                write!(formatter, "{given} inputs were given for {expected} parameters")
            }
            RunError::InputType { name, expected, given } => {
                write!(formatter, "parameter `{name}` is {expected}, the input is {given}")
            }
            RunError::GuardNotMet(error) => write!(formatter, "{error}"),
            RunError::UnknownInput { name, known } => {
                write!(formatter, "no parameter is called {name:?}; ")?;
                let listed: Vec<&str> =
                    known.iter().take(MAX_LISTED_PARAMETERS).map(String::as_str).collect();
                let dots = if known.len() > MAX_LISTED_PARAMETERS { ", ..." } else { "" };
                write!(formatter, "the parameters are {}{dots}", listed.join(", "))
            }
            RunError::DuplicateInput { name } => {
                write!(formatter, "two inputs are called {name:?}")
            }
            RunError::MissingInput { name } => {
                write!(formatter, "no input was given for parameter `{name}`")
            }
            RunError::OutputCount { expected, given } => {
                write!(formatter, "{given} arrays were given for {expected} outputs")
            }
            RunError::OutputType { output, expected, given } => {
                write!(formatter, "output {output} is {expected}, the array for it is {given}")
            }
            RunError::OutputsOverlap { first, second } if first == second => {
                write!(formatter, "elements of output {first} share memory")
            }
            RunError::OutputsOverlap { first, second } => {
                write!(formatter, "outputs {first} and {second} share memory")
            }
            RunError::OverlapUndecided { first, second } => write!(
                formatter,
                "whether outputs {first} and {second} share memory cannot be decided in bounded time: \
                 give them memory of their own"
            ),
            RunError::MemoryLimit { bytes, limit, largest } => write!(
                formatter,
                "the run needs {bytes} bytes of memory, the limit is {limit}; the largest piece is \
                 {largest}: raise the limit, or compute a part of the result at a time"
            ),
            RunError::IndexOutOfRange { name, index, position, axis, size } => write!(
                formatter,
                "index {index}, at {position:?} of `{name}`, names no element of axis {axis}, which has size \
                 {size}: take with mode clip or wrap, or mend the indices"
            ),
            RunError::StepLimit { limit } => write!(
                formatter,
                "a loop needs more than {limit} steps, its limit: check that the body changes what the \
                 condition reads, or raise the limit"
            ),
            RunError::Memory(error) => write!(formatter, "{error}"),
            RunError::Stopped => formatter.write_str("the run was stopped"),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.diagnostic().to_string().trim_end())
    }
}

impl core::error::Error for RunError {}

impl From<GuardError> for RunError {
    fn from(error: GuardError) -> Self {
        RunError::GuardNotMet(error)
    }
}

impl From<ArrayError> for RunError {
    fn from(error: ArrayError) -> Self {
        RunError::Memory(error)
    }
}
