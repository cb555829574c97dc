//! The container of several results, and of their arrays in `out`: none, a tuple, a list, a dict, or nested
//! containers.

use pyo3::PyTraverseError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::numpy_api::NumpyArray;
use crate::out::{output_array, wrong_count};

/// The container of the results.
#[derive(Debug)]
pub(crate) enum Structure {
    Single,
    Tuple,
    List,
    /// A dict with these keys.
    Dict(Vec<Py<PyAny>>),
    /// Other containers, like this template, which has a number for each result.
    Tree(Py<PyAny>),
}

static FILLED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static OUTPUTS_LIKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl Structure {
    /// The arrays of `out`, in the order of the results; `None` requests a new array.
    pub(crate) fn outputs<'py>(
        &self,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Option<NumpyArray<'py>>>> {
        let array = |object: &Bound<'py, PyAny>, name: &str| match object.is_none() {
            true => Ok(None),
            false => output_array(object, name).map(Some),
        };
        match self {
            // For a single result `out` may also be a tuple of one array, as for NumPy's ufuncs: see the
            // last arm.
            Structure::Single if !out.is_instance_of::<PyTuple>() => Ok(vec![array(out, "out")?]),
            Structure::Dict(keys) => {
                if out.len()? != keys.len() {
                    return Err(wrong_count(out.len()?, keys.len()));
                }
                let item = |key: &Py<PyAny>| array(&out.get_item(key)?, &format!("out[{key}]"));
                keys.iter().map(item).collect()
            }
            Structure::Tree(template) => {
                let py = out.py();
                let outputs_like = OUTPUTS_LIKE.import(py, "indim._trees", "outputs_like")?;
                let objects = outputs_like.call1((template, out))?;
                objects.try_iter()?.map(|object| array(&object?, "out")).collect()
            }
            _ => {
                let objects = out.try_iter().map_err(|_| {
                    PyTypeError::new_err("`out` is a tuple of arrays, one for each result")
                })?;
                let item = |(index, object): (usize, PyResult<Bound<'py, PyAny>>)| {
                    array(&object?, &format!("out[{index}]"))
                };
                objects.enumerate().map(item).collect()
            }
        }
    }

    /// Whether a call returns `out` itself. It does not if `out` has a `None`, whose result is a new array,
    /// or if `out` is the tuple of one array for a single result.
    pub(crate) fn returns_out(
        &self,
        out: &Bound<'_, PyAny>,
        outputs: &[Option<NumpyArray<'_>>],
    ) -> bool {
        let is_tuple_of_one = matches!(self, Structure::Single) && out.is_instance_of::<PyTuple>();
        !is_tuple_of_one && outputs.iter().all(Option::is_some)
    }

    /// The structure of a traced function's results, by its name in `indim/_trees.py`, and the keys of a dict
    /// or the template of nested containers.
    pub(crate) fn new(kind: &str, mut keys: Vec<Py<PyAny>>) -> Self {
        match kind {
            "tuple" => Structure::Tuple,
            "list" => Structure::List,
            "dict" => Structure::Dict(keys),
            "tree" => Structure::Tree(keys.swap_remove(0)),
            _ => Structure::Single,
        }
    }

    /// Its name in `indim/_trees.py`, and the keys of a dict or the template of nested containers.
    pub(crate) fn describe(&self, py: Python<'_>) -> (&'static str, Vec<Py<PyAny>>) {
        match self {
            Structure::Single => ("single", Vec::new()),
            Structure::Tuple => ("tuple", Vec::new()),
            Structure::List => ("list", Vec::new()),
            Structure::Dict(keys) => ("dict", keys.iter().map(|key| key.clone_ref(py)).collect()),
            Structure::Tree(template) => ("tree", vec![template.clone_ref(py)]),
        }
    }

    /// The results as they are returned.
    pub(crate) fn unflatten<'py>(
        &self,
        py: Python<'py>,
        results: Vec<NumpyArray<'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut objects = results.into_iter().map(NumpyArray::into_object);
        match self {
            Structure::Single => {
                objects.next().ok_or_else(|| PyValueError::new_err("the function returned nothing"))
            }
            Structure::Tuple => Ok(PyTuple::new(py, objects.collect::<Vec<_>>())?.into_any()),
            Structure::List => Ok(PyList::new(py, objects.collect::<Vec<_>>())?.into_any()),
            Structure::Dict(keys) => {
                let dict = PyDict::new(py);
                for (key, object) in keys.iter().zip(objects) {
                    dict.set_item(key, object)?;
                }
                Ok(dict.into_any())
            }
            Structure::Tree(template) => {
                let filled = FILLED.import(py, "indim._trees", "filled")?;
                filled.call1((template, objects.collect::<Vec<_>>()))
            }
        }
    }

    /// Visits the held objects for the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Structure::Single | Structure::Tuple | Structure::List => Ok(()),
            Structure::Dict(keys) => keys.iter().try_for_each(|key| visit.call(key)),
            Structure::Tree(template) => visit.call(template),
        }
    }
}
