//! Outputs that lie exactly where an input lies: which of them are computed without a copy.
//!
//! A tile reads all its operands before it writes such an output, and no other tile reads what it
//! writes. So each element is read before it is written. Called by `executable.rs`.
//!
//! [`Executable::run_in_place`] asks for it without unsafe code.

use indim_graph::lower::loop_nest::{Access, BufferId, Local, Store};

use crate::arrays::view::{ArrayView, ArrayViewMut};
use crate::blocks::program::Program;
use crate::run::error::RunError;
use crate::run::executable::Executable;
use crate::run::options::RunOptions;

/// An input of [`Executable::run_in_place`].
#[derive(Debug)]
#[non_exhaustive]
pub enum InPlace<'a> {
    /// It stays as it is.
    Read(ArrayView<'a>),
    /// An output is written over it.
    Overwrite(ArrayViewMut<'a>),
}

impl Executable {
    /// Writes the outputs over inputs: the first output over the first that is to be overwritten, and so on.
    ///
    /// The result is as if the inputs had been copied first. Nothing is copied where each output has the
    /// strides of the input that it depends on, element by element.
    ///
    /// ```
    /// use indim_cpu::{ArrayViewMut, CompileOptions, InPlace, compile};
    /// use indim_ops::DType;
    /// use indim_graph::GraphBuilder;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F64, [3])?;
    /// let y = b.parameter("y", DType::F64, [3])?;
    /// let executable = compile(&b.finish(&[2 * x + y])?, &CompileOptions::default())?;
    ///
    /// let (mut x, y) = ([1.0, 2.0, 3.0], [0.5, 0.5, 0.5]);
    /// let over_x = InPlace::Overwrite(ArrayViewMut::from_slice([3], &mut x)?);
    /// executable.run_in_place(vec![over_x, InPlace::Read((&y).into())])?;
    /// assert_eq!(x, [2.5, 4.5, 6.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Executable::run_into`].
    pub fn run_in_place(&self, inputs: Vec<InPlace<'_>>) -> Result<(), RunError> {
        self.run_in_place_with(inputs, &RunOptions::default())
    }

    /// As [`Executable::run_in_place`], with options.
    ///
    /// # Errors
    /// As [`Executable::run_into_with`].
    pub fn run_in_place_with(
        &self,
        inputs: Vec<InPlace<'_>>,
        options: &RunOptions<'_>,
    ) -> Result<(), RunError> {
        let mut outputs = Vec::new();
        let read: Vec<Option<ArrayView<'_>>> = inputs
            .into_iter()
            .map(|input| match input {
                InPlace::Read(view) => Some(view),
                InPlace::Overwrite(view) => {
                    outputs.push(view);
                    None
                }
            })
            .collect();
        ArrayViewMut::with_reads(&mut outputs, |outputs, over| {
            let mut over = over.iter();
            let inputs: Vec<ArrayView<'_>> = read
                .iter()
                .filter_map(|view| view.as_ref().or_else(|| over.next()).cloned())
                .collect();
            self.run_into_with(&inputs, outputs, options)
        })
    }
}

/// For each output, whether it is written over an input: with all kernels of a tile done, and not by
/// one of them. `None` when an output overlaps an input in a way that needs a copy.
pub(crate) fn written_over_inputs(
    programs: &[Program],
    inputs: &[ArrayView<'_>],
    outputs: &[ArrayViewMut<'_>],
) -> Option<Vec<bool>> {
    let mut is_over_input = vec![false; outputs.len()];
    for (output, written) in outputs.iter().enumerate() {
        let layout = written.layout();
        for (parameter, read) in inputs.iter().enumerate() {
            if layout.shares_memory(&read.layout()) == Some(false) {
                continue;
            }
            if !is_same_memory(read, written) || !can_replace(programs, parameter, output) {
                return None;
            }
            is_over_input[output] = true;
        }
    }
    Some(is_over_input)
}

/// Whether each element of one lies where the same element of the other does.
fn is_same_memory(input: &ArrayView<'_>, output: &ArrayViewMut<'_>) -> bool {
    let (read, written) = (input.array_type(), output.array_type());
    let mut strides = input.strides().iter().zip(output.strides());
    input.first() == output.first()
        && read.dtype.size() == written.dtype.size()
        && read.shape == written.shape
        && read.shape.iter().all(|&size| strides.next().is_some_and(|(a, b)| size == 1 || a == b))
}

/// Whether the output's nest reads the parameter only where it writes the output, and nothing reads
/// the parameter later.
fn can_replace(programs: &[Program], parameter: usize, output: usize) -> bool {
    let is_output = |store: &&Store| store.target.buffer == BufferId::Output(output);
    let is_parameter = |access: &Access| access.buffer == BufferId::Parameter(parameter);
    let mut writers = programs.iter().enumerate().filter_map(|(index, program)| {
        Some((index, program, program.stores().iter().find(is_output)?))
    });
    let (Some((index, program, store)), None) = (writers.next(), writers.next()) else {
        return false;
    };
    let moves_as_output = |access: &&Access| {
        access.axes == store.target.axes && access.array_type.shape == store.target.array_type.shape
    };
    // A copied access is no register but the input itself.
    let is_copied = |store: &Store| match store.source {
        Local::Access(access) => is_parameter(&program.accesses()[access]),
        Local::Instruction(_) => false,
    };
    let mut reads = program.accesses().iter().filter(|access| is_parameter(access));
    reads.all(|access| moves_as_output(&access))
        && !program.stores().iter().any(is_copied)
        && !programs[index + 1..].iter().any(|later| later.accesses().iter().any(is_parameter))
}
