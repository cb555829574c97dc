//! The boundary between Rust and Python: a panic becomes `indim.InternalError`; the page of an error code.

use indim::errors::Diagnostic;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs the body of an exported function; a panic in it raises `indim.InternalError`.
pub(crate) fn guard<R>(py: Python<'_>, body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    indim::internal_error::catch(body).unwrap_or_else(|panic| Err(internal_error(py, &panic)))
}

fn internal_error(py: Python<'_>, panic: &Diagnostic) -> PyErr {
    let message = panic.to_string();
    let make = || -> PyResult<PyErr> {
        let class = py.import("indim._errors")?.getattr("InternalError")?;
        Ok(PyErr::from_value(class.call1((message.trim_end(),))?))
    };
    make().unwrap_or_else(|error| error)
}

/// The page of an error code, such as ``"size-mismatch"``: title, explanation, example and origin.
///
/// Raises ``ValueError`` for a text that is not an error code; the message suggests a similar one.
#[pyfunction]
pub(crate) fn explain_error(code: &str) -> PyResult<String> {
    indim::errors::error_page(code).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Panics, for the test of the boundary.
#[pyfunction]
pub(crate) fn _break_invariant(py: Python<'_>) -> PyResult<()> {
    guard(py, || panic!("invariant: broken by a test"))
}
