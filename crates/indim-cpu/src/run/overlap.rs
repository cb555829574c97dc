//! Checks for arrays of a run that share memory.
//!
//! An output may lie exactly over an input. A tile reads its operands before it writes such an output, and
//! no other tile reads the elements that this tile writes, so each element is read before it is written.

use core::ops::Range;

use crate::run::bound_program::BoundProgram;
use crate::run::error::RunError;
use indim_arrays::{ArrayView, ArrayViewMut};

/// Refuses outputs if any two elements share a byte.
pub(crate) fn check_overlap(outputs: &[ArrayViewMut<'_>]) -> Result<(), RunError> {
    for (second, output) in outputs.iter().enumerate() {
        for (first, other) in outputs[..second].iter().enumerate() {
            refuse(other.layout().shares_memory(&output.layout()), first, second)?;
        }
        refuse(output.has_separate_elements().map(|is_separate| !is_separate), second, second)?;
    }
    Ok(())
}

/// Refuses outputs that share memory, and undecided cases. `first` and `second` are equal for elements of one
/// output.
fn refuse(shares: Option<bool>, first: usize, second: usize) -> Result<(), RunError> {
    match shares {
        Some(false) => Ok(()),
        Some(true) => Err(RunError::OutputsOverlap { first, second }),
        None => Err(RunError::OverlapUndecided { first, second }),
    }
}

/// For each output, whether it lies exactly over an input, so that a tile must read all its operands before
/// it writes. Empty if none does; `None` if an overlap requires a copy.
pub(crate) fn written_over_inputs(
    program: &BoundProgram,
    inputs: &[ArrayView<'_>],
    outputs: &[ArrayViewMut<'_>],
) -> Option<Vec<bool>> {
    let mut is_over_input = Vec::new();
    for (output, written) in outputs.iter().enumerate() {
        let range = written.range();
        for (parameter, read) in inputs.iter().enumerate() {
            // The cheap test comes first, because most arrays lie apart.
            if are_apart(read.range(), range)
                || written.layout().shares_memory(&read.layout()) == Some(false)
            {
                continue;
            }
            if !is_same_memory(read, written) || !program.can_replace(parameter, output) {
                return None;
            }
            is_over_input.resize(outputs.len(), false);
            is_over_input[output] = true;
        }
    }
    Some(is_over_input)
}

fn are_apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}

/// Whether each element of the input has the address of the same element of the output.
fn is_same_memory(input: &ArrayView<'_>, output: &ArrayViewMut<'_>) -> bool {
    let (read, written) = (input.array_type(), output.array_type());
    let mut strides = input.byte_strides().iter().zip(output.byte_strides());
    input.first() == output.first()
        && read.dtype.size() == written.dtype.size()
        && read.shape == written.shape
        && read.shape.iter().all(|&size| strides.next().is_some_and(|(a, b)| size == 1 || a == b))
}
