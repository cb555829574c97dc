//! Runs that write outputs over inputs, so that callers need no unsafe code. Holds unsafe code.

use crate::run::error::RunError;
use crate::run::executable::Executable;
use crate::run::options::RunOptions;
use indim_arrays::{ArrayView, ArrayViewMut};

/// An input of [`Executable::run_in_place`].
///
/// ```
/// use indim_cpu::{ArrayView, ArrayViewMut, InPlace};
///
/// let (mut x, y) = ([1.0f32, 2.0], [3.0f32, 4.0]);
/// let inputs = [
///     InPlace::Overwrite(ArrayViewMut::from_slice([2], &mut x)?),
///     InPlace::Read(ArrayView::from_slice([2], &y)?),
/// ];
/// assert!(matches!(inputs[0], InPlace::Overwrite(_)));
/// # Ok::<(), indim_cpu::ArrayError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InPlace<'a> {
    /// An input that the run only reads.
    Read(ArrayView<'a>),
    /// An input that an output overwrites.
    Overwrite(ArrayViewMut<'a>),
}

impl Executable {
    /// Writes the outputs over inputs: the first output over the first `Overwrite`, and so on.
    ///
    /// The result is as if the inputs had been copied first. Nothing is copied if each element of an output
    /// depends only on the element of the input that it overwrites, and both have the same strides.
    ///
    /// ```
    /// use indim_cpu::{ArrayViewMut, CompileOptions, InPlace, compile};
    /// use indim_ops::DType;
    /// use indim_builder::GraphBuilder;
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
    /// Like [`Executable::run_into`].
    pub fn run_in_place(&self, inputs: Vec<InPlace<'_>>) -> Result<(), RunError> {
        self.run_in_place_with(inputs, &RunOptions::default())
    }

    /// Like [`Executable::run_in_place`], with options.
    ///
    /// # Errors
    /// Like [`Executable::run_into_with`].
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
        let run = |outputs: &mut [ArrayViewMut<'_>], over: &[ArrayView<'_>]| {
            let mut over = over.iter();
            let inputs: Vec<ArrayView<'_>> = read
                .iter()
                .filter_map(|view| view.as_ref().or_else(|| over.next()).cloned())
                .collect();
            self.run_into_with(&inputs, outputs, options)
        };
        // SAFETY: `run_into_with` compares the memory of inputs and outputs, and computes into a copy if a
        // write could precede a read of the same element.
        unsafe { ArrayViewMut::with_reads(&mut outputs, run) }
    }
}
