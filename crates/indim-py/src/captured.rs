//! Objects that a traced function read from outside its arguments, and checks that they are unchanged.
//!
//! `indim/_captured.py` finds the captures when the function is traced; each call checks them here.

use pyo3::PyTraverseError;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::numpy_api::{NumpyArray, ObjectKind};

/// A capture as Python describes it: its kind, its holder, its key, the value at tracing.
pub(crate) type CaptureDescription<'py> =
    (String, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A name, attribute or container outside the arguments, and its value at tracing. The reference keeps
/// other objects from reusing the value's identity.
enum Capture {
    /// A name of a module; `None` if it did not exist.
    Name { names: Py<PyDict>, name: Py<PyString>, value: Option<Py<PyAny>> },
    /// An attribute, or the content of a closure's cell.
    Attribute { holder: Py<PyAny>, name: Py<PyString>, value: Option<Py<PyAny>> },
    /// The elements of a list, set or deque.
    Elements { container: Py<PyAny>, elements: Vec<Py<PyAny>> },
    /// The keys of a dict, then its values.
    Dict { dict: Py<PyDict>, entries: Vec<Py<PyAny>> },
    /// The elements of an array that NumPy may have read, in a copy.
    Contents { array: Py<PyAny>, copy: Py<PyAny> },
}

/// The dependencies of a trace other than its arguments.
pub(crate) struct Captures(Vec<Capture>);

impl Captures {
    pub(crate) fn new(py: Python<'_>, descriptions: Vec<CaptureDescription<'_>>) -> PyResult<Self> {
        let missing = py.import("indim._captured")?.getattr("MISSING")?;
        let capture = |(kind, holder, key, value): CaptureDescription<'_>| {
            let value_at_tracing = || (!value.is(&missing)).then(|| value.clone().unbind());
            Ok(match kind.as_str() {
                "name" => Capture::Name {
                    names: holder.cast_into::<PyDict>()?.unbind(),
                    name: key.cast_into::<PyString>()?.unbind(),
                    value: value_at_tracing(),
                },
                "attribute" => Capture::Attribute {
                    holder: holder.unbind(),
                    name: key.cast_into::<PyString>()?.unbind(),
                    value: value_at_tracing(),
                },
                "contents" => Capture::Contents { array: holder.unbind(), copy: value.unbind() },
                _ => Capture::entries(holder, &value.cast_into::<PyTuple>()?),
            })
        };
        descriptions.into_iter().map(capture).collect::<PyResult<_>>().map(Captures)
    }

    /// Whether all values are those at tracing.
    pub(crate) fn are_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        for capture in &self.0 {
            if !capture.is_unchanged(py)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Visits the held objects for the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.iter().try_for_each(|capture| capture.traverse(visit))
    }
}

impl Capture {
    fn entries(holder: Bound<'_, PyAny>, values: &Bound<'_, PyTuple>) -> Capture {
        let values = values.iter().map(Bound::unbind).collect();
        match holder.cast_into::<PyDict>() {
            Ok(dict) => Capture::Dict { dict: dict.unbind(), entries: values },
            Err(error) => {
                Capture::Elements { container: error.into_inner().unbind(), elements: values }
            }
        }
    }

    fn is_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        match self {
            Capture::Name { names, name, value } => {
                is_same(names.bind(py).get_item(name)?.as_ref(), value.as_ref())
            }
            Capture::Attribute { holder, name, value } => match holder.bind(py).getattr(name) {
                Ok(current) => is_same(Some(&current), value.as_ref()),
                // Reading an empty cell raises `ValueError`.
                Err(error)
                    if error.is_instance_of::<PyAttributeError>(py)
                        || error.is_instance_of::<PyValueError>(py) =>
                {
                    Ok(value.is_none())
                }
                Err(error) => Err(error),
            },
            Capture::Elements { container, elements } => {
                let container = container.bind(py);
                // An error says that another thread changes the container meanwhile.
                let current = container.try_iter()?.map_while(Result::ok);
                are_same(container.len()?, current, elements)
            }
            Capture::Dict { dict, entries } => {
                let dict = dict.bind(py);
                let current = dict.keys().into_iter().chain(dict.values());
                are_same(2 * dict.len(), current, entries)
            }
            Capture::Contents { array, copy } => has_contents(array.bind(py), copy.bind(py)),
        }
    }

    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Capture::Name { names, value, .. } => {
                visit.call(names)?;
                visit.call(value)
            }
            Capture::Attribute { holder, value, .. } => {
                visit.call(holder)?;
                visit.call(value)
            }
            Capture::Elements { container, elements } => {
                visit.call(container)?;
                elements.iter().try_for_each(|element| visit.call(element))
            }
            Capture::Dict { dict, entries } => {
                visit.call(dict)?;
                entries.iter().try_for_each(|entry| visit.call(entry))
            }
            Capture::Contents { array, copy } => {
                visit.call(array)?;
                visit.call(copy)
            }
        }
    }
}

/// Whether an array has the element type, sizes and bytes of its copy at tracing.
fn has_contents(array: &Bound<'_, PyAny>, copy: &Bound<'_, PyAny>) -> PyResult<bool> {
    let known = match (NumpyArray::classify(array)?, NumpyArray::classify(copy)?) {
        (ObjectKind::Array(array), ObjectKind::Array(copy)) => array.has_contents_of(&copy),
        _ => None,
    };
    match known {
        Some(is_same) => Ok(is_same),
        // A strided array, or one of a type that the machine does not compute in, such as dates.
        None => {
            let function = array.py().import("indim._contents")?.getattr("has_contents")?;
            function.call1((array, copy))?.extract()
        }
    }
}

fn are_same<'py>(
    count: usize,
    mut current: impl Iterator<Item = Bound<'py, PyAny>>,
    traced: &[Py<PyAny>],
) -> PyResult<bool> {
    if count != traced.len() {
        return Ok(false);
    }
    for traced in traced {
        // The comparison runs no Python code, so no container shrank.
        let Some(current) = current.next() else { return Ok(false) };
        if !is_same(Some(&current), Some(traced))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a value is the one at tracing: the same object, or a number or text that a traced function
/// cannot tell from it. Two missing values are the same.
fn is_same(current: Option<&Bound<'_, PyAny>>, traced: Option<&Py<PyAny>>) -> PyResult<bool> {
    let (current, traced) = match (current, traced) {
        (Some(current), Some(traced)) => (current, traced.bind(current.py())),
        (current, traced) => return Ok(current.is_none() && traced.is_none()),
    };
    if current.is(traced) {
        return Ok(true);
    }
    if let (Ok(current), Ok(traced)) =
        (current.cast_exact::<PyFloat>(), traced.cast_exact::<PyFloat>())
    {
        // -0.0 is not 0.0, and a NaN is itself.
        return Ok(current.value().to_bits() == traced.value().to_bits());
    }
    let is_value = current.is_exact_instance_of::<PyInt>()
        || current.is_exact_instance_of::<PyString>()
        || current.is_exact_instance_of::<PyBool>();
    Ok(is_value && current.get_type().is(traced.get_type()) && current.eq(traced)?)
}
