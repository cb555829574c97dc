//! Which arrays of a run may share memory, and how.
//!
//! A tile reads all its operands before it writes an output that lies over an input, and no other tile
//! reads what it writes. So each element is read before it is written.

use core::ops::Range;

use indim_loops::groups::NestGroup;
use indim_loops::loop_nest::LoopNests;
use indim_loops::replace::can_replace;

use crate::run::error::RunError;
use indim_arrays::{ArrayView, ArrayViewMut};

/// Refuses outputs in which a byte would belong to two elements.
pub(crate) fn check_overlap(outputs: &[ArrayViewMut<'_>]) -> Result<(), RunError> {
    for (second, output) in outputs.iter().enumerate() {
        for (first, other) in outputs[..second].iter().enumerate() {
            refuse(other.layout().shares_memory(&output.layout()), first, second)?;
        }
        refuse(output.has_separate_elements().map(|is_separate| !is_separate), second, second)?;
    }
    Ok(())
}

/// Refuses two outputs, or one with itself, if they share memory, or where that is left undecided.
fn refuse(shares: Option<bool>, first: usize, second: usize) -> Result<(), RunError> {
    match shares {
        Some(false) => Ok(()),
        Some(true) => Err(RunError::OutputsOverlap { first, second }),
        None => Err(RunError::OverlapUndecided { first, second }),
    }
}

/// For each output, whether it is written over an input: with all kernels of a tile done, and not by
/// one of them; empty if none is. `None` when an output overlaps an input in a way that needs a copy.
pub(crate) fn written_over_inputs(
    loops: &LoopNests,
    groups: &[NestGroup],
    inputs: &[ArrayView<'_>],
    outputs: &[ArrayViewMut<'_>],
) -> Option<Vec<bool>> {
    let mut is_over_input = Vec::new();
    for (output, written) in outputs.iter().enumerate() {
        let range = written.range();
        for (parameter, read) in inputs.iter().enumerate() {
            // Asked first, for that is so in most runs.
            if are_apart(read.range(), range)
                || written.layout().shares_memory(&read.layout()) == Some(false)
            {
                continue;
            }
            let is_read_before = can_replace(loops, parameter, output)
                && groups.iter().all(|group| group.can_replace(loops, parameter, output));
            if !is_same_memory(read, written) || !is_read_before {
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

/// Whether each element of one lies where the same element of the other does.
fn is_same_memory(input: &ArrayView<'_>, output: &ArrayViewMut<'_>) -> bool {
    let (read, written) = (input.array_type(), output.array_type());
    let mut strides = input.strides().iter().zip(output.strides());
    input.first() == output.first()
        && read.dtype.size() == written.dtype.size()
        && read.shape == written.shape
        && read.shape.iter().all(|&size| strides.next().is_some_and(|(a, b)| size == 1 || a == b))
}
