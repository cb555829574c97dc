//! Operands from Python: arrays, and numbers that adapt to the arrays they meet.
//!
//! NumPy arrays are read without a copy. NumPy converts other objects to arrays: by the buffer protocol,
//! `__array_interface__`, `__array__`, DLPack, and last as sequences of numbers.

use indim::ArrayType;
use indim::array::c128;
use indim::graph::Literal;
use indim::text::Numbers;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt};

use crate::numpy_api::{NumpyArray, ObjectKind};

/// One operand of a call.
pub(crate) enum Operand<'py> {
    /// Elements in memory.
    Array(NumpyArray<'py>),
    /// A weak number, which adapts to the element types of arrays; an input of the program if possible.
    Number(Literal),
    /// A named constant such as `pi`; part of the compiled computation.
    Constant(Literal),
}

/// The type of an operand that a computation was compiled for.
#[derive(Debug, Clone)]
pub(crate) enum OperandType {
    /// Any array of this type.
    Array(ArrayType),
    /// Any number of this kind (integer, float or complex); the value is the one at compilation.
    Input(Literal),
    /// This number.
    Number(Literal),
}

impl OperandType {
    /// Whether it differs from `other` at most in the sizes of an array or the value of an input number.
    pub(crate) fn has_same_kind(&self, other: &OperandType) -> bool {
        match (self, other) {
            (OperandType::Array(x), OperandType::Array(y)) => {
                x.dtype == y.dtype && x.shape.rank() == y.shape.rank()
            }
            (OperandType::Input(x), OperandType::Input(y)) => is_same_kind(*x, *y),
            (OperandType::Number(x), OperandType::Number(y)) => x.is_identical(*y),
            _ => false,
        }
    }

    /// The number, if a program takes it as an input.
    pub(crate) fn input(&self) -> Option<Literal> {
        match self {
            OperandType::Input(number) => Some(*number),
            OperandType::Array(_) | OperandType::Number(_) => None,
        }
    }

    /// The type for a program in which numbers are constants, not inputs.
    pub(crate) fn without_inputs(self) -> OperandType {
        match self {
            OperandType::Input(number) => OperandType::Number(number),
            other => other,
        }
    }

    /// The sizes of an array.
    pub(crate) fn sizes(&self) -> Option<&[usize]> {
        match self {
            OperandType::Array(of) => Some(&of.shape),
            OperandType::Input(_) | OperandType::Number(_) => None,
        }
    }
}

impl<'py> Operand<'py> {
    /// Reads `object`; messages use `name`.
    ///
    /// # Errors
    /// If it cannot be converted to an array of numbers, or is a whole number beyond 128 bits.
    pub(crate) fn from_python(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        match NumpyArray::classify(object)? {
            ObjectKind::Array(array) => {
                refuse_mask(object, name)?;
                Ok(Operand::Array(array))
            }
            ObjectKind::Foreign => convert(object, name).map(Operand::Array),
            ObjectKind::Other => match number(object, name)? {
                Some(number) => Ok(Operand::Number(number)),
                None if is_traced_number(object)? => {
                    Operand::from_python(&object.call_method0("_plain")?, name)
                }
                None => convert(object, name).map(Operand::Array),
            },
        }
    }

    /// Like [`Operand::from_python`], with a number as an array without axes.
    ///
    /// # Errors
    /// Like [`Operand::from_python`].
    pub(crate) fn array_from_python(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        match Operand::from_python(object, name)? {
            array @ Operand::Array(_) => Ok(array),
            Operand::Number(_) | Operand::Constant(_) => convert(object, name).map(Operand::Array),
        }
    }

    /// Reads the element type again, after all operands of a call are converted: a conversion may run Python
    /// code that changes another operand.
    ///
    /// # Errors
    /// If the type of an array changed to one that the machine does not compute in.
    pub(crate) fn refresh_dtype(&mut self) -> PyResult<()> {
        match self {
            Operand::Array(array) => array.refresh_dtype(),
            Operand::Number(_) | Operand::Constant(_) => Ok(()),
        }
    }

    /// The type to compile for.
    pub(crate) fn operand_type(&self) -> OperandType {
        match self {
            Operand::Array(array) => OperandType::Array(array.array_type()),
            Operand::Number(number) if Numbers::accepts(*number) => OperandType::Input(*number),
            Operand::Number(number) | Operand::Constant(number) => OperandType::Number(*number),
        }
    }

    /// The number, if a program takes it as an input.
    pub(crate) fn input(&self) -> Option<Literal> {
        match self {
            Operand::Number(number) if Numbers::accepts(*number) => Some(*number),
            _ => None,
        }
    }

    /// The size of an axis of an array as a number; `None` for a number, and if there is no such axis.
    pub(crate) fn size(&self, axis: usize) -> Option<Literal> {
        match self {
            Operand::Array(array) => array
                .sizes()
                .get(axis)
                .and_then(|&size| i128::try_from(size).ok())
                .map(Literal::Int),
            Operand::Number(_) | Operand::Constant(_) => None,
        }
    }

    /// Whether a computation that was compiled for `expected` takes this operand.
    pub(crate) fn has_type(&self, expected: &OperandType) -> bool {
        match (self, expected) {
            (Operand::Array(array), OperandType::Array(expected)) => array.has_type(expected),
            (Operand::Number(number), OperandType::Input(expected)) => {
                is_same_kind(*number, *expected) && Numbers::accepts(*number)
            }
            (
                Operand::Number(number) | Operand::Constant(number),
                OperandType::Number(expected),
            ) => number.is_identical(*expected),
            _ => false,
        }
    }
}

/// The numbers among operands that are inputs of programs.
pub(crate) fn number_inputs(operands: &[Operand<'_>]) -> Vec<Literal> {
    operands.iter().filter_map(Operand::input).collect()
}

/// Whether two numbers are of one kind, such as two integers.
fn is_same_kind(x: Literal, y: Literal) -> bool {
    core::mem::discriminant(&x) == core::mem::discriminant(&y)
}

/// Whether `object` is a number of Python or NumPy.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyComplex>()
        || is_numpy_scalar(object)?)
}

/// Whether `object` is a traced number, whose plain value an untraced call uses.
fn is_traced_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.get_type().is(TRACED_NUMBER.import(py, "indim._numbers", "Number")?))
}

/// A Python number; `None` for other objects, among them NumPy's scalars, which have an element type.
pub(crate) fn number(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Literal>> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Literal::Float(value.value())));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(Literal::Bool(value.is_true())));
    }
    let is_number = object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyComplex>();
    if !is_number || is_numpy_scalar(object)? {
        return Ok(None);
    }
    if let Ok(value) = object.cast::<PyInt>() {
        let value = value.extract::<i128>().map_err(|_| {
            PyOverflowError::new_err(format!("`{name}` does not fit an integer of 128 bits"))
        })?;
        return Ok(Some(Literal::Int(value)));
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Literal::Float(value.value())));
    }
    let value = object.cast::<PyComplex>()?;
    Ok(Some(Literal::Complex(c128::new(value.real(), value.imag()))))
}

static NUMPY_GENERIC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static MASKED_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TRACED_NUMBER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Initialises lazy statics, except for `numpy.ma`, which takes long to import and is rarely used.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    NUMPY_GENERIC.import(py, "numpy", "generic")?;
    NDARRAY.import(py, "numpy", "ndarray")?;
    TRACED_NUMBER.import(py, "indim._numbers", "Number")?;
    AS_ARRAY.import(py, "indim._arrays", "as_array").map(|_| ())
}

/// Refuses a masked array, because the result would lose its mask.
fn refuse_mask(array: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    let py = array.py();
    if array.get_type().is(NDARRAY.import(py, "numpy", "ndarray")?)
        || !array.is_instance(MASKED_ARRAY.import(py, "numpy.ma", "MaskedArray")?)?
    {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "`{name}` is a masked array; compute on `{name}.data`, or on `{name}.filled(...)`"
    )))
}

/// Whether `object` is one of NumPy's scalars; some are Python numbers too.
fn is_numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    object.is_instance(NUMPY_GENERIC.import(py, "numpy", "generic")?)
}

/// Converts `object` to an array that the machine computes in, without a copy if possible.
fn convert<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<NumpyArray<'py>> {
    let py = object.py();
    let array = AS_ARRAY.import(py, "indim._arrays", "as_array")?.call1((object, name))?;
    match NumpyArray::classify(&array)? {
        ObjectKind::Array(array) => Ok(array),
        _ => Err(PyTypeError::new_err(format!(
            "`{name}` has elements of type {}, which indim does not compute with",
            array.getattr("dtype")?
        ))),
    }
}
