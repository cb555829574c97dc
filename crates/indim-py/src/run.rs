//! Running a compiled computation on arrays: outputs, threads, the interpreter's lock, interrupts.

use core::ops::Range;
use std::sync::Arc;

use indim::array::Order;
use indim::run::{NestTimes, Progress, Threads, in_default_float_environment};
use indim::{ArrayView, ArrayViewMut, RunError, RunOptions};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::computation::CompiledVariant;
use crate::detached::SharedSignals;
use crate::numpy_api::NumpyArray;
use crate::operand::{Operand, number_inputs};
use crate::pool;
use crate::profile::RunTimes;
use crate::progress::RunProgress;

/// Minimum memory traffic, in bytes, for which the interpreter's lock is released: a smaller run takes less
/// time than the release.
const DETACH_BYTES: usize = 64 * 1024;

/// Runs `compiled` on operands of its types, into `outputs`. A missing output, or `None`, is a new array.
/// `label` names it in a profile.
///
/// # Errors
/// If an output cannot be written, or outputs overlap; `IndexError` for an index out of range;
/// `MemoryError`; `KeyboardInterrupt`.
pub(crate) fn run<'py>(
    py: Python<'py>,
    compiled: &Arc<CompiledVariant>,
    operands: &[Operand<'py>],
    outputs: &[Option<NumpyArray<'py>>],
    order: Order,
    label: impl FnOnce() -> String,
) -> PyResult<Vec<NumpyArray<'py>>> {
    let inputs = operands.iter().filter_map(|operand| match operand {
        Operand::Array(array) => Some(array),
        Operand::Number(_) | Operand::Constant(_) => None,
    });
    let numbers =
        in_default_float_environment(|| compiled.numbers.inputs(&number_inputs(operands)));
    let numbers = numbers.expect("invariant: the variant was chosen for these numbers");
    // From here on no Python code runs that could change an array; only memory is allocated.
    let mut views: Vec<ArrayView<'_>> = Vec::with_capacity(compiled.dense_inputs.len());
    for array in inputs {
        views.push(array.view(compiled.dense_inputs.get(views.len()))?);
    }
    views.extend(numbers.iter().map(ArrayView::from));
    let outputs = all_outputs(py, compiled, outputs, order, &views)?;
    let mut views_mut: Vec<ArrayViewMut<'_>> = Vec::with_capacity(outputs.len());
    for (array, dense) in outputs.iter().zip(&compiled.dense_outputs) {
        views_mut.push(array.view_mut(Some(dense))?);
    }
    let times = RunTimes::start();
    if compiled.bytes < DETACH_BYTES && !compiled.is_parallel && !compiled.has_loops {
        run_attached(compiled, &views, &mut views_mut, times.as_ref()).map_err(run_error)?;
    } else {
        run_detached(py, compiled, &views, &mut views_mut, times.as_ref())?;
    }
    if let Some(times) = times {
        times.finish(compiled, label());
    }
    drop(views_mut);
    Ok(outputs)
}

/// The given output arrays, and new arrays for the others.
fn all_outputs<'py>(
    py: Python<'py>,
    compiled: &CompiledVariant,
    out: &[Option<NumpyArray<'py>>],
    order: Order,
    inputs: &[ArrayView<'_>],
) -> PyResult<Vec<NumpyArray<'py>>> {
    let types = compiled.executable.outputs();
    let output = |index: usize| out.get(index).and_then(Option::as_ref);
    let mut strides = Vec::new();
    if (0..types.len()).any(|index| output(index).is_none()) {
        check_memory(compiled)?;
        strides = compiled.executable.output_byte_strides(order, inputs).map_err(run_error)?;
    }
    let mut outputs = Vec::with_capacity(types.len());
    for (index, of) in types.iter().enumerate() {
        let strides = strides.get(index).and_then(Option::as_deref);
        outputs.push(match output(index) {
            Some(array) => array.clone(),
            None => NumpyArray::uninitialised(py, of, strides)?,
        });
    }
    Ok(outputs)
}

/// Refuses a run into new arrays that would hold more than [`pool::memory_limit`].
fn check_memory(compiled: &CompiledVariant) -> PyResult<()> {
    let Some(limit) = pool::memory_limit() else { return Ok(()) };
    let threads = if compiled.is_parallel { pool::get_num_threads() } else { 1 };
    compiled.executable.check_memory_limit(limit, threads, true).map_err(run_error)
}

fn run_attached(
    compiled: &CompiledVariant,
    inputs: &[ArrayView<'_>],
    outputs: &mut [ArrayViewMut<'_>],
    times: Option<&RunTimes>,
) -> Result<(), RunError> {
    let (threads, memory_limit) = (Threads::Caller, pool::memory_limit());
    let mut options = RunOptions::new().threads(threads).memory_limit(memory_limit);
    let nest_times = times.map(|times| |nests: &Range<usize>, time| times.add(nests, time));
    options.nest_times = nest_times.as_ref().map(|times| times as &NestTimes<'_>);
    compiled.executable.run_into_with(inputs, outputs, &options)
}

fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::Memory(_) | RunError::MemoryLimit { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        RunError::IndexOutOfRange { .. } => PyIndexError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Runs without the interpreter's lock. This thread computes and checks for signals; the threads of the pool
/// help if there is enough work.
fn run_detached(
    py: Python<'_>,
    compiled: &CompiledVariant,
    inputs: &[ArrayView<'_>],
    outputs: &mut [ArrayViewMut<'_>],
    times: Option<&RunTimes>,
) -> PyResult<()> {
    let pool = if compiled.is_parallel { pool::pool(py)? } else { None };
    let threads = pool.as_deref().map_or(Threads::Caller, Threads::Pool);
    let run_progress = RunProgress::new(&compiled.executable, compiled.has_loops);
    let result = py.detach(|| {
        let signals = SharedSignals::new(&run_progress);
        let progress: &Progress<'_> = &|elements| signals.check_after(elements);
        let memory_limit = pool::memory_limit();
        let mut options =
            RunOptions::new().progress(progress).memory_limit(memory_limit).threads(threads);
        let nest_times = times.map(|times| |nests: &Range<usize>, time| times.add(nests, time));
        options.nest_times = nest_times.as_ref().map(|times| times as &NestTimes<'_>);
        let result = compiled.executable.run_into_with(inputs, outputs, &options);
        signals.raised().map_or_else(|| result.map_err(run_error), Err)
    });
    result.and(run_progress.finish(py))
}
