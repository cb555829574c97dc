//! Requested results of a text and their container: `results=` of `evaluate`, `validate` and `explain`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::cached_computation::CachedComputation;
use crate::structure::Structure;

/// The container of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Those that the text gives: an array, or a tuple of several.
    AsGiven,
    /// That of a name.
    One,
    /// Those of several names, as a dict.
    Named,
}

impl Form {
    /// The names that `results=` asks for, `None` for what the text gives.
    pub(crate) fn asked(
        results: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Form, Option<Vec<String>>)> {
        let Some(results) = results else { return Ok((Form::AsGiven, None)) };
        if let Ok(name) = results.extract::<String>() {
            return Ok((Form::One, Some(vec![name])));
        }
        let names = results.extract().map_err(|_| {
            PyTypeError::new_err("`results` is the name of a result, or a sequence of names")
        })?;
        Ok((Form::Named, Some(names)))
    }

    /// The container of this computation's results.
    pub(crate) fn structure(self, py: Python<'_>, cached: &CachedComputation) -> Structure {
        match self {
            Form::AsGiven if cached.computation.outputs.len() != 1 => Structure::Tuple,
            Form::AsGiven | Form::One => Structure::Single,
            Form::Named => {
                let expressions = cached.computation.expressions();
                let names = expressions.flat_map(|expression| expression.results());
                let key = |name: &str| PyString::new(py, name).into_any().unbind();
                Structure::Dict(names.flatten().map(key).collect())
            }
        }
    }
}
