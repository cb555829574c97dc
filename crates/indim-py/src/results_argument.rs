//! The argument `results=` of `evaluate`, `validate` and `explain`: requested results and their container.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cached_computation::CachedComputation;
use crate::structure::Structure;

/// The form of the argument, which determines the container of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultsArgument {
    /// Absent: the results of the text, an array or a tuple of several.
    Default,
    /// One name: an array.
    One,
    /// Several names: a dict.
    Named,
}

impl ResultsArgument {
    /// The form, and the requested names; `None` for the results of the text.
    pub(crate) fn parse(
        results: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(ResultsArgument, Option<Vec<String>>)> {
        let Some(results) = results else { return Ok((ResultsArgument::Default, None)) };
        if let Ok(name) = results.extract::<String>() {
            return Ok((ResultsArgument::One, Some(vec![name])));
        }
        let names = results.extract().map_err(|_| {
            PyTypeError::new_err("`results` is the name of a result, or a sequence of names")
        })?;
        Ok((ResultsArgument::Named, Some(names)))
    }

    /// The container of this computation's results.
    pub(crate) fn structure(self, py: Python<'_>, cached: &CachedComputation) -> Structure {
        match self {
            ResultsArgument::Default if cached.computation.outputs.len() != 1 => Structure::Tuple,
            ResultsArgument::Default | ResultsArgument::One => Structure::Single,
            ResultsArgument::Named => {
                let expressions = cached.computation.expressions();
                let names = expressions.flat_map(|expression| expression.results());
                let key = |name: &str| PyString::new(py, name).into_any().unbind();
                Structure::Dict(names.flatten().map(key).collect())
            }
        }
    }
}
