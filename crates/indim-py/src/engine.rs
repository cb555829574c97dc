//! Calls with arrays of other packages: Dask, Cubed, xarray and pandas. `indim/_engines.py` computes with
//! them; this file detects them and answers questions about programs.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use indim::RuleSet;
use indim::broadcast::AxisNames;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::cached_computation::CachedComputation;
use crate::error::computation_error;
use crate::expression::ExpressionArgument;
use crate::expression_cache::{ExpressionKey, cached_computation};
use crate::internal_error::guard;
use crate::operand::{Operand, OperandType};
use crate::results_argument::ResultsArgument;
use crate::rule::rule_of_operations;
use crate::structure::Structure;

static FOREIGN_ARRAY_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether an operand was refused because another engine computes with it.
pub(crate) fn is_for_engine(py: Python<'_>, error: &PyErr) -> bool {
    let class = FOREIGN_ARRAY_ERROR.import(py, "indim._foreign", "ForeignArrayError");
    class.is_ok_and(|class| error.is_instance(py, class))
}

/// The function of `indim/_engines.py` of this name.
pub(crate) fn engine<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("indim._engines")?.getattr(name)
}

/// The text of a graph, the arrays of its parameters, the container of its results, and the keys if that is
/// a dict.
pub(crate) type GraphParts<'py> = (String, Vec<Bound<'py, PyAny>>, &'static str, Vec<Py<PyAny>>);

/// The graph of a computation for these operands.
pub(crate) fn graph_parts<'py>(
    py: Python<'py>,
    cached: &Arc<CachedComputation>,
    operands: &[Operand<'py>],
    structure: &Structure,
) -> PyResult<GraphParts<'py>> {
    let text = graph_text(py, cached, operands)?;
    let (kind, keys) = structure.describe(py);
    Ok((text, arrays(operands), kind, keys))
}

/// The cache of graph texts, by computation and operand types; the last used is at the end.
static TEXTS: Mutex<Vec<GraphText>> = Mutex::new(Vec::new());

/// Limits of the cache: the number of texts, and the bytes of one text.
const MAX_TEXTS: usize = 32;
const MAX_TEXT_BYTES: usize = 64 << 10;

struct GraphText {
    computation: Weak<CachedComputation>,
    types: Vec<OperandType>,
    text: String,
}

/// The text of the graph of a computation for these operands.
fn graph_text(
    py: Python<'_>,
    cached: &Arc<CachedComputation>,
    operands: &[Operand<'_>],
) -> PyResult<String> {
    let is_match = |entry: &GraphText| {
        core::ptr::eq(entry.computation.as_ptr(), Arc::as_ptr(cached))
            && operands.iter().zip(&entry.types).all(|(operand, of)| operand.has_type(of))
    };
    let texts = || TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut texts = texts();
        if let Some(found) = texts.iter().rposition(is_match) {
            texts[found..].rotate_left(1);
            return Ok(texts[texts.len() - 1].text.clone());
        }
    }
    let types = operands.iter().map(|operand| operand.operand_type().without_inputs());
    let types: Vec<OperandType> = types.collect();
    let graph = cached.computation.graph(&types, &[], false);
    let text = graph.map_err(|error| computation_error(py, &error))?.to_string();
    if text.len() <= MAX_TEXT_BYTES {
        let entry = GraphText { computation: Arc::downgrade(cached), types, text: text.clone() };
        let mut texts = texts();
        texts.retain(|entry| entry.computation.strong_count() > 0);
        if texts.len() >= MAX_TEXTS {
            texts.remove(0);
        }
        texts.push(entry);
    }
    Ok(text)
}

/// The graph of an expression whose names stand for `operands`.
#[pyfunction]
pub(crate) fn _graph_of_expression<'py>(
    py: Python<'py>,
    ex: ExpressionArgument<'_>,
    operands: &Bound<'py, PyDict>,
    rule: &str,
    results: Option<&Bound<'py, PyAny>>,
) -> PyResult<GraphParts<'py>> {
    guard(py, || {
        let (form, names) = ResultsArgument::parse(results)?;
        let key = ExpressionKey::new(&ex, rule_of_operations(rule)?, names);
        let cached =
            cached_computation(py, &ex, key).map_err(|error| computation_error(py, &error))?;
        let operand =
            |name: &String| Operand::from_python(&operands.as_any().get_item(name)?, name);
        let parameters = &cached.computation.parameters;
        let operands: Vec<Operand<'py>> =
            parameters.iter().map(operand).collect::<PyResult<_>>()?;
        graph_parts(py, &cached, &operands, &form.structure(py, &cached))
    })
}

/// Whether an expression uses names of axes.
#[pyfunction]
pub(crate) fn _names_axes<'py>(
    py: Python<'py>,
    ex: ExpressionArgument<'_>,
    rule: &str,
) -> PyResult<bool> {
    let key = ExpressionKey::new(&ex, rule_of_operations(rule)?, None);
    let cached = cached_computation(py, &ex, key).map_err(|error| computation_error(py, &error))?;
    Ok(cached.computation.expressions().any(indim::text::Expression::names_axes))
}

/// The names of the axes of each array; `None` for an axis without.
type AxisNameLists = Vec<Vec<Option<String>>>;

/// The graph of an expression under rule named over `operands` with these axis `names`, and the axis names
/// of the results.
#[pyfunction]
pub(crate) fn _graph_by_names<'py>(
    py: Python<'py>,
    ex: ExpressionArgument<'_>,
    operands: &Bound<'py, PyDict>,
    names: &Bound<'py, PyDict>,
    results: Option<&Bound<'py, PyAny>>,
) -> PyResult<(GraphParts<'py>, AxisNameLists)> {
    guard(py, || {
        let (form, result_names) = ResultsArgument::parse(results)?;
        let key = ExpressionKey::new(&ex, Some(RuleSet::Named { names: Vec::new() }), result_names);
        let cached =
            cached_computation(py, &ex, key).map_err(|error| computation_error(py, &error))?;
        let operand =
            |name: &String| Operand::from_python(&operands.as_any().get_item(name)?, name);
        let parameters = &cached.computation.parameters;
        let operands: Vec<Operand<'py>> =
            parameters.iter().map(operand).collect::<PyResult<_>>()?;
        let types: Vec<OperandType> =
            operands.iter().map(|operand| operand.operand_type().without_inputs()).collect();
        let axis_names = parameters.iter().map(|parameter| {
            let parameter_axis_names: Option<Vec<String>> =
                names.get_item(parameter)?.map(|it| it.extract()).transpose()?;
            Ok(parameter_axis_names.unwrap_or_default().iter().map(String::as_str).collect())
        });
        let axis_names: Vec<AxisNames> = axis_names.collect::<PyResult<_>>()?;
        let (graph, result_axis_names) = cached
            .computation
            .graph_with_axis_names(&types, &axis_names)
            .map_err(|error| computation_error(py, &error))?;
        let (kind, keys) = form.structure(py, &cached).describe(py);
        let owned = |names: AxisNames| names.iter().map(|name| name.map(str::to_owned)).collect();
        let parts = (graph.to_string(), arrays(&operands), kind, keys);
        Ok((parts, result_axis_names.into_iter().map(owned).collect()))
    })
}

/// The arrays among operands.
fn arrays<'py>(operands: &[Operand<'py>]) -> Vec<Bound<'py, PyAny>> {
    let array = |operand: &Operand<'py>| match operand {
        Operand::Array(array) => Some(array.object().clone()),
        Operand::Number(_) | Operand::Constant(_) => None,
    };
    operands.iter().filter_map(array).collect()
}
