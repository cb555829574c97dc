//! The expression of a computation, as Python passes it: a text, or an operation.

use std::borrow::Cow;

use indim_text::RecordedCall;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// One operation; the engines of other packages receive it in place of a text.
#[pyclass(frozen, module = "indim._indim")]
pub(crate) struct Operation(RecordedCall);

#[pymethods]
impl Operation {
    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// The argument `ex` of `evaluate` and the engines: a text, or an operation.
pub(crate) enum ExpressionArgument<'a> {
    Text(&'a str),
    Operation(&'a RecordedCall),
}

impl<'a, 'py> FromPyObject<'a, 'py> for ExpressionArgument<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if !object.is_instance_of::<PyString>()
            && let Ok(operation) = object.cast::<Operation>()
        {
            return Ok(ExpressionArgument::Operation(&operation.get().0));
        }
        Ok(ExpressionArgument::Text(object.extract()?))
    }
}

impl<'a> ExpressionArgument<'a> {
    /// The text, or a text that identifies the operation. Printing the operation would search the tables of
    /// functions, which takes microseconds.
    pub(crate) fn key(&self) -> Cow<'a, str> {
        match self {
            ExpressionArgument::Text(text) => Cow::Borrowed(text),
            ExpressionArgument::Operation(RecordedCall { function, operands, attributes }) => {
                let count = operands.len();
                Cow::Owned(match attributes.is_empty() {
                    true => format!("{function} {count}"),
                    false => format!("{function} {count} {attributes:?}"),
                })
            }
        }
    }

    /// The argument as a Python object.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            ExpressionArgument::Text(text) => Ok(PyString::new(py, text).into_any()),
            ExpressionArgument::Operation(call) => {
                Ok(Bound::new(py, Operation((*call).clone()))?.into_any())
            }
        }
    }
}
