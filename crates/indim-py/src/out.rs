//! `out`: arrays that a caller gives for the results.

use std::sync::Arc;

use indim::ArrayType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::cached_computation::CachedComputation;
use crate::casting::Casting;
use crate::computation::{CastTarget, CompiledVariant};
use crate::error::computation_error;
use crate::numpy_api::{NumpyArray, ObjectKind};
use crate::operand::Operand;

/// A NumPy array to write to.
pub(crate) fn output_array<'py>(out: &Bound<'py, PyAny>, name: &str) -> PyResult<NumpyArray<'py>> {
    let problem = match NumpyArray::classify(out)? {
        ObjectKind::Array(array) if array.is_writeable() => return Ok(array),
        ObjectKind::Array(_) => {
            return Err(PyValueError::new_err(format!("`{name}` is read-only")));
        }
        ObjectKind::Foreign => "has an element type or byte order that indim does not write",
        ObjectKind::Other => "is not a NumPy array",
    };
    Err(PyTypeError::new_err(format!("`{name}` {problem}")))
}

/// The variant for these operands whose results are converted and broadcast to the types of `outputs`. A
/// result keeps its own type if its output is `None`; without `outputs` all results do.
pub(crate) fn variant_into(
    py: Python<'_>,
    cached: &CachedComputation,
    operands: &[Operand<'_>],
    outputs: Option<&[Option<NumpyArray<'_>>]>,
    casting: Casting,
) -> PyResult<Arc<CompiledVariant>> {
    let variant = |targets: &[CastTarget]| {
        cached.variant(operands, targets).map_err(|error| computation_error(py, &error))
    };
    let uncast = variant(&[])?;
    let Some(outputs) = outputs else { return Ok(uncast) };
    let types = uncast.executable.outputs();
    if outputs.len() != types.len() {
        return Err(wrong_count(outputs.len(), types.len()));
    }
    let fits = |(output, of): (&Option<NumpyArray<'_>>, &ArrayType)| {
        output.as_ref().is_none_or(|output| output.has_type(of))
    };
    if outputs.iter().zip(types).all(fits) {
        return Ok(uncast);
    }
    let target = |(output, of): (&Option<NumpyArray<'_>>, &ArrayType)| {
        let Some(output) = output else { return Ok(CastTarget { array_type: of.clone() }) };
        casting.check(py, of.dtype, output.dtype())?;
        Ok(CastTarget { array_type: output.array_type() })
    };
    variant(&outputs.iter().zip(types).map(target).collect::<PyResult<Vec<_>>>()?)
}

/// The exception for `out` with too many arrays, or too few.
pub(crate) fn wrong_count(given: usize, expected: usize) -> PyErr {
    PyValueError::new_err(format!("`out` has {given} arrays for {expected} results"))
}
