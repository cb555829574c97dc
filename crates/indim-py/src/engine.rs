//! Calls with arrays that others hold: Dask's chunks, and labelled arrays of xarray and pandas.
//! `indim/_engines.py` computes with them; here is seen that it has to, and what it asks about programs.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::asked::Form;
use crate::computation::Computation;
use crate::error::computation_error;
use crate::operand::{Operand, OperandType};
use crate::rule::rule_of_operations;
use crate::structure::Structure;
use crate::text_cache::{Asked, computation_of_text};

static FOREIGN: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether an operand was refused because another engine computes with it.
pub(crate) fn is_for_engine(py: Python<'_>, error: &PyErr) -> bool {
    let class = FOREIGN.import(py, "indim._foreign", "ForeignArrayError");
    class.is_ok_and(|class| error.is_instance(py, class))
}

/// The function of `indim/_engines.py` of this name.
pub(crate) fn engine<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("indim._engines")?.getattr(name)
}

/// The text of a graph, the arrays that its parameters stand for, how its results are returned, and the keys
/// where that is a dict.
pub(crate) type GraphParts<'py> = (String, Vec<Bound<'py, PyAny>>, &'static str, Vec<Py<PyAny>>);

/// The graph of a computation for these operands.
pub(crate) fn graph_parts<'py>(
    py: Python<'py>,
    computation: &Computation,
    operands: &[Operand<'py>],
    structure: &Structure,
) -> PyResult<GraphParts<'py>> {
    let types = operands.iter().map(|operand| operand.operand_type().without_inputs());
    let graph = computation.graph(&types.collect::<Vec<OperandType>>(), &[], false);
    let graph = graph.map_err(|error| computation_error(py, &error))?;
    let arrays = operands.iter().filter_map(|operand| match operand {
        Operand::Array(array) => Some(array.object().clone()),
        Operand::Number(_) | Operand::Constant(_) => None,
    });
    let (kind, keys) = structure.described(py);
    Ok((graph.to_string(), arrays.collect(), kind, keys))
}

/// The graph of an expression whose names stand for `operands`.
#[pyfunction]
pub(crate) fn _graph_of_expression<'py>(
    py: Python<'py>,
    ex: &str,
    operands: &Bound<'py, PyDict>,
    rule: &str,
    results: Option<&Bound<'py, PyAny>>,
) -> PyResult<GraphParts<'py>> {
    let (form, names) = Form::asked(results)?;
    let cached = computation_of_text(py, ex, Asked { rule: rule_of_operations(rule)?, names })
        .map_err(|error| computation_error(py, &error))?;
    let operand = |name: &String| Operand::from_python(&operands.as_any().get_item(name)?, name);
    let parameters = &cached.computation.parameters;
    let operands: Vec<Operand<'py>> = parameters.iter().map(operand).collect::<PyResult<_>>()?;
    graph_parts(py, &cached.computation, &operands, &form.structure(py, &cached))
}
