//! NumPy's `casting`: the allowed casts of a result to the type of `out`.

use indim::DType;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// NumPy's `casting` argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Casting(&'static str);

impl Casting {
    /// The rule of NumPy's ufuncs.
    pub(crate) const DEFAULT: Casting = Casting("same_kind");

    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        let known = ["no", "equiv", "safe", "same_kind", "unsafe"];
        known.into_iter().find(|name| *name == text).map(Casting).ok_or_else(|| {
            PyValueError::new_err(format!("`casting` is one of {known:?}, not {text:?}"))
        })
    }

    /// Refuses the casts that NumPy refuses.
    pub(crate) fn check(self, py: Python<'_>, from: DType, to: DType) -> PyResult<()> {
        if from == to {
            return Ok(());
        }
        let check = py.import("indim._arrays")?.getattr("check_cast")?;
        check.call1((from.name(), to.name(), self.0))?;
        Ok(())
    }
}
