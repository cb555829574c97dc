//! Running a compiled computation on arrays: outputs, threads, the interpreter's lock, interrupts.

use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use indim::{ArrayView, ArrayViewMut, Order, Progress, RunError, RunOptions};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::computation::Compiled;
use crate::numpy_api::NumpyArray;
use crate::operand::{Operand, inputs_among};
use crate::pool;

/// Below this much memory a run takes less time than giving the interpreter's lock away and back.
const DETACH_BYTES: usize = 64 * 1024;

/// How often a long run looks for Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `compiled` on operands it was compiled for, into `outputs`; where there is none, or `None`, into
/// new arrays.
///
/// # Errors
/// When an output cannot be written or outputs overlap; `KeyboardInterrupt`.
pub(crate) fn run<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    operands: &[Operand<'py>],
    outputs: &[Option<NumpyArray<'py>>],
    order: Order,
) -> PyResult<Vec<NumpyArray<'py>>> {
    let inputs = operands.iter().filter_map(|operand| match operand {
        Operand::Array(array) => Some(array),
        Operand::Number(_) | Operand::Constant(_) => None,
    });
    let numbers = compiled.numbers.inputs(&inputs_among(operands));
    let numbers = numbers.expect("invariant: the variant was chosen for these numbers");
    // From here on no Python code runs, which could change an array: only memory is asked for.
    let mut views: Vec<ArrayView<'_>> = Vec::with_capacity(compiled.dense_inputs.len());
    for array in inputs {
        views.push(array.view(compiled.dense_inputs.get(views.len()))?);
    }
    views.extend(numbers.iter().map(ArrayView::from_array));
    let outputs = whole_outputs(py, compiled, outputs, order, &views)?;
    let mut views_mut: Vec<ArrayViewMut<'_>> = Vec::with_capacity(outputs.len());
    for (array, dense) in outputs.iter().zip(&compiled.dense_outputs) {
        views_mut.push(array.view_mut(Some(dense))?);
    }
    if compiled.is_parallel {
        run_in_pool(py, compiled, &views, &mut views_mut)?;
    } else if compiled.bytes < DETACH_BYTES {
        run_here(compiled, &views, &mut views_mut).map_err(run_error)?;
    } else {
        py.detach(|| run_here(compiled, &views, &mut views_mut)).map_err(run_error)?;
    }
    drop(views_mut);
    Ok(outputs)
}

/// The arrays that are given, and new ones where none is.
fn whole_outputs<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    given: &[Option<NumpyArray<'py>>],
    order: Order,
    inputs: &[ArrayView<'_>],
) -> PyResult<Vec<NumpyArray<'py>>> {
    let types = compiled.executable.outputs();
    let given = |index: usize| given.get(index).and_then(Option::as_ref);
    let mut strides = Vec::new();
    if (0..types.len()).any(|index| given(index).is_none()) {
        check_memory(compiled)?;
        strides = compiled.executable.output_strides(order, inputs).map_err(run_error)?;
    }
    let mut outputs = Vec::with_capacity(types.len());
    for (index, of) in types.iter().enumerate() {
        let strides = strides.get(index).and_then(Option::as_deref);
        outputs.push(match given(index) {
            Some(array) => array.clone(),
            None => NumpyArray::uninitialised(py, of, strides)?,
        });
    }
    Ok(outputs)
}

/// Refuses a run into new arrays that would hold more than [`pool::memory_limit`].
fn check_memory(compiled: &Compiled) -> PyResult<()> {
    let Some(limit) = pool::memory_limit() else { return Ok(()) };
    let threads = if compiled.is_parallel { pool::get_num_threads() } else { 1 };
    compiled.executable.check_memory_limit(limit, threads, true).map_err(run_error)
}

fn run_here(
    compiled: &Compiled,
    inputs: &[ArrayView<'_>],
    outputs: &mut [ArrayViewMut<'_>],
) -> Result<(), RunError> {
    let options = RunOptions { memory_limit: pool::memory_limit(), ..RunOptions::default() };
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

/// Runs on the pool's threads, while this one waits and looks for signals.
fn run_in_pool(
    py: Python<'_>,
    compiled: &Compiled,
    inputs: &[ArrayView<'_>],
    outputs: &mut [ArrayViewMut<'_>],
) -> PyResult<()> {
    let pool = pool::pool(py)?;
    py.detach(move || {
        let is_stopped = AtomicBool::new(false);
        let finished = Finished::default();
        let mut result = Ok(());
        let mut signal = Ok(());
        let progress: &Progress<'_> = &|_| match is_stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let _announce = Announce(&finished);
                let memory_limit = pool::memory_limit();
                let options = RunOptions { progress, memory_limit, ..RunOptions::default() };
                result = compiled.executable.run_into_with(inputs, outputs, &options);
            });
            while !finished.wait(SIGNAL_INTERVAL) {
                signal = Python::attach(|py| py.check_signals());
                if signal.is_err() {
                    is_stopped.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        signal.and(result.map_err(run_error))
    })
}

/// Whether a run is over, to be waited for.
#[derive(Default)]
struct Finished {
    is_finished: Mutex<bool>,
    changed: Condvar,
}

impl Finished {
    /// Waits, but no longer than `limit`; returns whether the run is over.
    fn wait(&self, limit: Duration) -> bool {
        let guard = self.is_finished.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(guard, limit, |is_finished| !*is_finished);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Announces the end of a run when dropped, so also when it panics.
struct Announce<'a>(&'a Finished);

impl Drop for Announce<'_> {
    fn drop(&mut self) {
        *self.0.is_finished.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}
