//! The arguments of a compiled function: operands, static objects, and containers of both.
//!
//! The function gets a list, tuple, dict or dataclass with arrays as a container of traced values. A list
//! that holds only numbers is an array, as in NumPy. `None` is a static object everywhere.

use indim::graph::Literal;
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyInt, PyList, PyString, PyTuple, PyType};

use crate::numpy_api::{NumpyArray, ObjectKind};
use crate::operand::{Operand, OperandType, is_number};
use crate::recorder::SizeUse;

/// The maximum nesting depth of containers.
const MAX_DEPTH: usize = 32;

/// An argument of a call.
pub(crate) enum Argument<'py> {
    Operand(Operand<'py>),
    Static {
        value: Bound<'py, PyAny>,
        /// Equal for values that the function cannot tell apart.
        key: Bound<'py, PyAny>,
    },
    Container(Container<'py>),
}

/// A list, tuple, dict, dataclass or object of a registered class, with its items.
pub(crate) struct Container<'py> {
    container: Bound<'py, PyAny>,
    /// The keys of a dict or the names of fields, else nothing.
    keys: Vec<Bound<'py, PyAny>>,
    items: Vec<Argument<'py>>,
}

/// The type of an argument. The types of all arguments are the key of a trace.
pub(crate) enum ArgumentType {
    Operand(OperandType),
    /// A static argument, by its key.
    Static(Py<PyAny>),
    Container {
        class: Py<PyType>,
        keys: Vec<Py<PyAny>>,
        items: Vec<ArgumentType>,
    },
}

/// An argument for `indim/_trace_function.py`: name, kind, object, and the items of a container. The kinds
/// are `"array"`, `"number"` (an input), `"constant"` (part of the program), `"static"` and `"container"`.
pub(crate) type ArgumentDescription<'py> =
    (String, &'static str, Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>);

static STATIC_KEY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static NOT_AN_ARRAY_ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static FIELDS_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Imports objects now that would otherwise be imported at their first use.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    NOT_AN_ARRAY_ERROR.import(py, "indim._arrays", "not_an_array_error")?;
    STATIC_KEY.import(py, "indim._statics", "key").map(|_| ())
}

/// The error of an argument that is not an array, with advice.
fn not_an_array_error(error: PyErr, object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let py = object.py();
    let advise = NOT_AN_ARRAY_ERROR.import(py, "indim._arrays", "not_an_array_error");
    match advise.and_then(|advise| advise.call1((error.value(py), object, name))) {
        Ok(advised) => PyErr::from_value(advised),
        Err(_) => error,
    }
}

impl<'py> Argument<'py> {
    /// A static argument: the function gets the object itself.
    pub(crate) fn new_static(value: Bound<'py, PyAny>) -> PyResult<Self> {
        let is_simple = value.is_none()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyBool>();
        if is_simple {
            return Ok(Argument::Static { key: value.clone(), value });
        }
        let key = STATIC_KEY.import(value.py(), "indim._statics", "key")?.call1((&value,))?;
        Ok(Argument::Static { value, key })
    }

    /// An argument of arrays or numbers; messages use `name`.
    ///
    /// # Errors
    /// If the argument or one of its items cannot be converted to an array of numbers.
    pub(crate) fn of_arrays(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        Self::from_nested(object, name, 0)
    }

    fn from_nested(object: &Bound<'py, PyAny>, name: &str, depth: usize) -> PyResult<Self> {
        if object.is_none() {
            return Self::new_static(object.clone());
        }
        // Alone, an empty list is an array, as in NumPy; within a container it is an empty container.
        let is_empty_container = depth > 0 && is_empty_list(object);
        if !is_empty_container && !holds_arrays(object, name, depth)? {
            if let Some(fields) = fields_of(object)? {
                return Self::from_fields(object, fields, name, depth);
            }
            let operand = Operand::from_python(object, name);
            return operand
                .map(Argument::Operand)
                .map_err(|error| not_an_array_error(error, object, name));
        }
        let (keys, values): (Vec<_>, Vec<_>) = match object.cast::<PyDict>() {
            Ok(dict) => dict.iter().unzip(),
            Err(_) => (Vec::new(), object.try_iter()?.collect::<PyResult<_>>()?),
        };
        let mut items = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            let position = keys.get(index).map_or(Ok(index.to_string()), |key| {
                key.repr().map(|text| text.to_string_lossy().into_owned())
            })?;
            items.push(Self::from_nested(value, &format!("{name}[{position}]"), depth + 1)?);
        }
        Ok(Argument::Container(Container { container: object.clone(), keys, items }))
    }

    /// An argument with fields; static fields are passed unchanged.
    fn from_fields(
        object: &Bound<'py, PyAny>,
        fields: Vec<Field<'py>>,
        name: &str,
        depth: usize,
    ) -> PyResult<Self> {
        if depth > MAX_DEPTH {
            return Err(too_deep(name));
        }
        let (mut keys, mut items) = (Vec::new(), Vec::new());
        for (key, is_static, value) in fields {
            items.push(match is_static {
                true => Self::new_static(value)?,
                false => Self::from_nested(&value, &format!("{name}.{key}"), depth + 1)?,
            });
            keys.push(key);
        }
        Ok(Argument::Container(Container { container: object.clone(), keys, items }))
    }

    /// Whether a trace that was recorded for `expected` is valid for this argument: an array needs an
    /// equal element type and rank, and sizes that `size_use` accepts.
    pub(crate) fn has_type(&self, expected: &ArgumentType, size_use: SizeUse) -> PyResult<bool> {
        match (self, expected) {
            (Argument::Operand(operand), ArgumentType::Operand(expected)) => {
                Ok(match (operand, expected) {
                    (Operand::Array(array), OperandType::Array(of)) => {
                        array.dtype() == of.dtype
                            && size_use.accepts(array.sizes(), of.shape.sizes())
                    }
                    _ => operand.has_type(expected),
                })
            }
            (Argument::Static { key, .. }, ArgumentType::Static(expected)) => {
                is_equal(key, expected.bind(key.py()))
            }
            (Argument::Container(container), ArgumentType::Container { class, keys, items }) => {
                container.has_type(class, keys, items, size_use)
            }
            _ => Ok(false),
        }
    }

    /// The type of this argument.
    pub(crate) fn argument_type(&self) -> ArgumentType {
        match self {
            Argument::Operand(operand) => ArgumentType::Operand(operand.operand_type()),
            Argument::Static { key, .. } => ArgumentType::Static(key.clone().unbind()),
            Argument::Container(Container { container, keys, items }) => ArgumentType::Container {
                class: container.get_type().unbind(),
                keys: keys.iter().map(|key| key.clone().unbind()).collect(),
                items: items.iter().map(Argument::argument_type).collect(),
            },
        }
    }

    /// The argument for the tracer, under a name that is valid in expressions.
    pub(crate) fn describe(
        &self,
        py: Python<'py>,
        name: String,
    ) -> PyResult<ArgumentDescription<'py>> {
        Ok(match self {
            Argument::Operand(Operand::Array(array)) => {
                (name, "array", array.object().clone(), Vec::new())
            }
            Argument::Operand(operand @ Operand::Number(number)) => {
                let kind = if operand.input().is_some() { "number" } else { "constant" };
                (name, kind, python_number(py, *number)?, Vec::new())
            }
            Argument::Operand(Operand::Constant(_)) => {
                unreachable!("invariant: an argument is given")
            }
            Argument::Static { value, .. } => (name, "static", value.clone(), Vec::new()),
            Argument::Container(Container { container, keys, items }) => {
                let mut descriptions = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let item_name = match keys.get(index) {
                        Some(key) if is_identifier(key)? => format!("{name}_{key}"),
                        _ => format!("{name}_{index}"),
                    };
                    descriptions.push(item.describe(py, item_name)?.into_pyobject(py)?.into_any());
                }
                (name, "container", container.clone(), descriptions)
            }
        })
    }

    /// Reads the element types again, after all arguments are converted.
    ///
    /// # Errors
    /// Like [`Operand::refresh_dtype`].
    pub(crate) fn refresh_dtype(&mut self) -> PyResult<()> {
        match self {
            Argument::Operand(operand) => operand.refresh_dtype(),
            Argument::Static { .. } => Ok(()),
            Argument::Container(container) => {
                container.items.iter_mut().try_for_each(Argument::refresh_dtype)
            }
        }
    }

    /// Adds the arrays and the numbers that are inputs to `operands`, in the order of the tracer's
    /// parameters.
    pub(crate) fn into_operands(self, operands: &mut Vec<Operand<'py>>) {
        match self {
            Argument::Operand(operand @ Operand::Array(_)) => operands.push(operand),
            Argument::Operand(operand) if operand.input().is_some() => operands.push(operand),
            Argument::Operand(_) | Argument::Static { .. } => {}
            Argument::Container(Container { items, .. }) => {
                for item in items {
                    item.into_operands(operands);
                }
            }
        }
    }

    /// Adds references to the operands of [`Argument::into_operands`].
    pub(crate) fn add_operands<'a>(&'a self, operands: &mut Vec<&'a Operand<'py>>) {
        match self {
            Argument::Operand(operand @ Operand::Array(_)) => operands.push(operand),
            Argument::Operand(operand) if operand.input().is_some() => operands.push(operand),
            Argument::Operand(_) | Argument::Static { .. } => {}
            Argument::Container(container) => {
                container.items.iter().for_each(|item| item.add_operands(operands));
            }
        }
    }
}

impl ArgumentType {
    /// Visits the held objects for the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            ArgumentType::Operand(_) => Ok(()),
            ArgumentType::Static(key) => visit.call(key),
            ArgumentType::Container { class, keys, items } => {
                visit.call(class)?;
                keys.iter().try_for_each(|key| visit.call(key))?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
        }
    }
}

impl Container<'_> {
    fn has_type(
        &self,
        class: &Py<PyType>,
        keys: &[Py<PyAny>],
        items: &[ArgumentType],
        size_use: SizeUse,
    ) -> PyResult<bool> {
        let py = self.container.py();
        let has_same_structure = self.container.get_type().is(class)
            && self.keys.len() == keys.len()
            && self.items.len() == items.len();
        if !has_same_structure {
            return Ok(false);
        }
        for (key, expected) in self.keys.iter().zip(keys) {
            if !is_equal(key, expected.bind(py))? {
                return Ok(false);
            }
        }
        for (item, expected) in self.items.iter().zip(items) {
            if !item.has_type(expected, size_use)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether two objects are of one type and equal.
fn is_equal(key: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> PyResult<bool> {
    if key.is(expected) {
        return Ok(true);
    }
    if !key.get_type().is(expected.get_type()) {
        return Ok(false);
    }
    key.eq(expected).map_err(|cause| {
        let error = PyTypeError::new_err(
            "a static argument has no plain answer to `==`, so its values cannot be told apart; pass what \
             the function needs of it: numbers, strings, tuples or NumPy arrays",
        );
        error.set_cause(key.py(), Some(cause));
        error
    })
}

fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()
}

/// Whether `object` is a list without items.
fn is_empty_list(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyList>().is_ok_and(|list| list.is_empty())
}

fn too_deep(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "`{name}` lies deeper than {MAX_DEPTH} containers in one another"
    ))
}

/// A field of an object: its name, whether it is static, and its value.
type Field<'py> = (Bound<'py, PyAny>, bool, Bound<'py, PyAny>);

/// The fields of a dataclass or of an object of a registered class; `None` for other objects.
fn fields_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Field<'py>>>> {
    let is_array = !matches!(NumpyArray::classify(object)?, ObjectKind::Other);
    if is_sequence(object) || is_array || is_number(object)? {
        return Ok(None);
    }
    let fields_of = FIELDS_OF.import(object.py(), "indim._trees", "fields_of")?;
    fields_of.call1((object,))?.extract()
}

/// Whether `object` is a container of arrays: a dict, a tuple, or a list that does not consist of numbers and
/// nested lists or tuples of numbers alone.
fn holds_arrays(object: &Bound<'_, PyAny>, name: &str, depth: usize) -> PyResult<bool> {
    if object.is_instance_of::<PyDict>() || object.is_instance_of::<PyTuple>() {
        return if depth > MAX_DEPTH { Err(too_deep(name)) } else { Ok(true) };
    }
    Ok(object.is_instance_of::<PyList>() && !holds_numbers(object, name, depth)?)
}

/// Whether a list or tuple, but no named tuple, consists of numbers and nested lists or tuples of numbers.
fn holds_numbers(object: &Bound<'_, PyAny>, name: &str, depth: usize) -> PyResult<bool> {
    if depth > MAX_DEPTH {
        return Err(too_deep(name));
    }
    if object.is_instance_of::<PyTuple>() && object.hasattr("_fields")? {
        return Ok(false);
    }
    for item in object.try_iter()? {
        let item = item?;
        let is_nested = is_sequence(&item);
        if !(if is_nested { holds_numbers(&item, name, depth + 1)? } else { is_number(&item)? }) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_identifier(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    match key.cast::<PyString>() {
        Ok(text) => text.call_method0("isidentifier")?.is_truthy(),
        Err(_) => Ok(false),
    }
}

/// The number as a Python object.
pub(crate) fn python_number(py: Python<'_>, number: Literal) -> PyResult<Bound<'_, PyAny>> {
    Ok(match number {
        Literal::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Literal::Int(value) => value.into_pyobject(py)?.into_any(),
        Literal::Float(value) => value.into_pyobject(py)?.into_any(),
        Literal::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
    })
}
