//! Why a run does not start, or stops.

use core::fmt;

use indim_graph::GuardError;
use indim_ops::ArrayType;
use indim_shape::{Diagnostic, ErrorCode};

use crate::run::forecast::MemoryPiece;
use indim_arrays::ArrayError;

/// Why a run did not start, or stopped. `{:?}`, which `unwrap` and `?` in `main` show, has the code and the
/// message.
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
    /// There is not one input per parameter.
    InputCount {
        /// The number of parameters.
        expected: usize,
        /// The number of inputs.
        given: usize,
    },
    /// An input is not of its parameter's type.
    InputType {
        /// The parameter's name.
        name: String,
        /// The parameter's type.
        expected: ArrayType,
        /// The input's type.
        given: ArrayType,
    },
    /// The sizes of the inputs are none that the program was made for.
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
    /// There is not one array per output.
    OutputCount {
        /// The number of outputs.
        expected: usize,
        /// The number of arrays.
        given: usize,
    },
    /// An array is not of its output's type.
    OutputType {
        /// The output's position.
        output: usize,
        /// The output's type.
        expected: ArrayType,
        /// The array's type.
        given: ArrayType,
    },
    /// An element of one output shares memory with one of another, or with another of its own.
    OutputsOverlap {
        /// The position of one.
        first: usize,
        /// The position of the other; the same for one whose own elements share memory.
        second: usize,
    },
    /// Outputs lie in one another so intricately that whether they share memory is not decided in bounded
    /// time.
    OverlapUndecided {
        /// The position of one.
        first: usize,
        /// The position of the other; the same for the elements of one.
        second: usize,
    },
    /// The run would hold more memory than the caller allows; nothing has been allocated.
    MemoryLimit {
        /// The bytes that the run would hold beside the arrays it is given.
        bytes: usize,
        /// The bytes that are allowed.
        limit: usize,
        /// What takes the most.
        largest: MemoryPiece,
    },
    /// An index names no element, where that is an error; nothing has been written.
    IndexOutOfRange {
        /// What the indices are called.
        name: String,
        /// The index.
        index: i128,
        /// Where it stands among the indices: along each of their axes.
        position: Vec<usize>,
        /// The axis along which elements are taken.
        axis: usize,
        /// The size of that axis.
        size: usize,
    },
    /// Memory for outputs or temporaries.
    Memory(ArrayError),
    /// `progress` stopped the run; the caller's outputs may have been written in part.
    Stopped,
}

/// So many parameters are named in a message.
const LISTED: usize = 8;

impl RunError {
    /// A stable name of the kind of error.
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
            RunError::Memory(error) => error.error_code(),
            RunError::Stopped => ErrorCode::STOPPED,
        }
    }

    /// What people read of it.
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
                let listed: Vec<&str> = known.iter().take(LISTED).map(String::as_str).collect();
                let dots = if known.len() > LISTED { ", ..." } else { "" };
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
