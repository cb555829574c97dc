//! `evaluate`, `re_evaluate` and `validate`, compatible with numexpr.

use core::cell::RefCell;
use std::sync::Arc;

use indim::array::Order;
use indim::graph::Literal;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyWeakrefMethods, PyWeakrefReference};

use crate::cached_computation::CachedComputation;
use crate::casting::Casting;
use crate::engine::{engine, is_for_engine};
use crate::error::computation_error;
use crate::expression::ExpressionArgument;
use crate::expression_cache::{ExpressionKey, cached_computation};
use crate::internal_error::guard;
use crate::numpy_api::{Caller, NumpyArray};
use crate::operand::Operand;
use crate::order::parse_order;
use crate::out::{output_array, variant_into};
use crate::progress::with_setting;
use crate::results_argument::ResultsArgument;
use crate::rule::rule_of_operations;
use crate::run::run;
use crate::structure::Structure;

/// The last evaluation, for `re_evaluate`. It keeps no array alive.
struct LastEvaluation {
    computation: Arc<CachedComputation>,
    form: ResultsArgument,
    /// The arrays of `out`; none without it.
    outputs: Vec<Option<Py<PyWeakrefReference>>>,
    order: Order,
    casting: Casting,
}

thread_local! {
    static LAST_EVALUATION: RefCell<Option<Arc<LastEvaluation>>> = const { RefCell::new(None) };
}

/// numexpr's arguments that have no effect here.
const IGNORED: [&str; 5] = ["truediv", "optimization", "sanitize", "disable_cache", "ex_uses_vml"];

/// The value of numexpr's `_frame_depth` that means the direct caller: of `evaluate`, and of
/// `re_evaluate` and `validate`.
const EVALUATE_DEPTH: usize = 3;
const RE_EVALUATE_DEPTH: usize = 2;

/// The scopes of name lookup: keywords, then local names, then global names.
struct NameScopes<'a, 'py> {
    keywords: Option<&'a Bound<'py, PyDict>>,
    local: Option<Bound<'py, PyAny>>,
    global: Option<Bound<'py, PyAny>>,
    /// The names of the calling code, in place of an absent `local` or `global`.
    caller: Caller<'py>,
}

/// The operands of a computation; or, if another engine has to compute, the reason and the objects by
/// name.
enum OperandLookup<'py> {
    Operands(Vec<Operand<'py>>),
    Foreign(PyErr, Bound<'py, PyDict>),
}

impl<'py> OperandLookup<'py> {
    /// The operands.
    ///
    /// # Errors
    /// If another engine has to compute.
    fn operands(self) -> PyResult<Vec<Operand<'py>>> {
        match self {
            OperandLookup::Operands(operands) => Ok(operands),
            OperandLookup::Foreign(error, objects) => {
                let advice = PyTypeError::new_err(
                    "re_evaluate takes neither labels nor chunks: call evaluate with the text, which it \
                     keeps compiled, and whose results have them",
                );
                advice.set_cause(objects.py(), Some(error));
                Err(advice)
            }
        }
    }
}

impl<'a, 'py> NameScopes<'a, 'py> {
    fn new(
        py: Python<'py>,
        keywords: Option<&'a Bound<'py, PyDict>>,
        local: Option<Bound<'py, PyAny>>,
        global: Option<Bound<'py, PyAny>>,
        callers_skipped: usize,
    ) -> PyResult<Self> {
        let caller = match (&local, &global) {
            (Some(_), Some(_)) => Caller::default(),
            _ if callers_skipped == 0 => Caller::innermost(py),
            _ => Caller::outer(py, callers_skipped)?,
        };
        Ok(NameScopes { keywords, local, global, caller })
    }

    fn find(&self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(keywords) = self.keywords
            && let Some(object) = keywords.get_item(name)?
        {
            return Ok(Some(object));
        }
        let local = self.local.as_ref().or(self.caller.local.as_ref());
        let global = self.global.as_ref().or(self.caller.global.as_ref());
        for namespace in [local, global].into_iter().flatten() {
            if let Ok(namespace) = namespace.cast::<PyDict>() {
                if let Some(object) = namespace.get_item(name)? {
                    return Ok(Some(object));
                }
                continue;
            }
            match namespace.get_item(name) {
                Ok(object) => return Ok(Some(object)),
                Err(error) if error.is_instance_of::<PyKeyError>(namespace.py()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The operands of a computation. The computation reports names that are not found.
    fn operands(
        &self,
        py: Python<'py>,
        cached: &CachedComputation,
    ) -> PyResult<OperandLookup<'py>> {
        let found = match self.find_operands(py, cached) {
            Err(error) if is_for_engine(py, &error) => {
                self.objects(py, cached).map(|objects| OperandLookup::Foreign(error, objects))
            }
            operands => operands.map(OperandLookup::Operands),
        };
        self.caller.clear_copies()?;
        found
    }

    /// The objects that the names of a computation are bound to, for another engine.
    fn objects(&self, py: Python<'py>, cached: &CachedComputation) -> PyResult<Bound<'py, PyDict>> {
        let objects = PyDict::new(py);
        for (name, text) in cached.names.iter().zip(&cached.computation.parameters) {
            match (self.find(name.bind(py))?, Literal::constant(text)) {
                (Some(object), _) => objects.set_item(name, object)?,
                (None, Some(Literal::Float(number))) => objects.set_item(name, number)?,
                (None, Some(Literal::Bool(truth))) => objects.set_item(name, truth)?,
                _ => return Err(self.unknown_name(py, cached, &[])),
            }
        }
        Ok(objects)
    }

    fn find_operands(
        &self,
        py: Python<'py>,
        cached: &CachedComputation,
    ) -> PyResult<Vec<Operand<'py>>> {
        let mut operands = Vec::with_capacity(cached.names.len());
        for (name, text) in cached.names.iter().zip(&cached.computation.parameters) {
            match self.find(name.bind(py))? {
                Some(object) => operands.push(Operand::from_python(&object, text)?),
                None => match Literal::constant(text) {
                    Some(number) => operands.push(Operand::Constant(number)),
                    None => return Err(self.unknown_name(py, cached, &operands)),
                },
            }
        }
        operands.iter_mut().try_for_each(Operand::refresh_dtype)?;
        Ok(operands)
    }

    /// The error of a computation whose names are not all bound.
    fn unknown_name(
        &self,
        py: Python<'_>,
        cached: &CachedComputation,
        found: &[Operand<'_>],
    ) -> PyErr {
        let types: Vec<_> = found.iter().map(Operand::operand_type).collect();
        match cached.computation.graph(&types, &[], false) {
            Err(error) => computation_error(py, &error),
            Ok(_) => PyKeyError::new_err("a name of the expression is not bound"),
        }
    }
}

/// Evaluates an expression over arrays.
///
/// Names are looked up among the keywords, then in `local_dict` (the caller's local names), then in
/// `global_dict` (the caller's global names); names that a statement of the text assigns are not looked up.
/// The result is a new array, or `out`; several results are a tuple. `results` selects results by name: one
/// name gives the array, a sequence of names a dict. `progress` takes the values of `set_progress`, for this
/// call; if the text has the name `progress`, the keyword is its value.
#[pyfunction]
#[pyo3(signature = (
    ex, local_dict=None, global_dict=None, out=None, order="K", casting="same_kind", rule="as-written",
    *, results=None, progress=None, _frame_depth=EVALUATE_DEPTH, **kwargs
))]
#[expect(clippy::too_many_arguments, reason = "numexpr's signature")]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    ex: ExpressionArgument<'_>,
    local_dict: Option<Bound<'py, PyAny>>,
    global_dict: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    order: &str,
    casting: &str,
    rule: &str,
    results: Option<&Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
    _frame_depth: usize,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(py, || {
        let (order, casting) = (parse_order(order)?, Casting::parse(casting)?);
        let (form, names) = ResultsArgument::parse(results)?;
        let key = ExpressionKey::new(&ex, rule_of_operations(rule)?, names);
        let cached =
            cached_computation(py, &ex, key).map_err(|error| computation_error(py, &error))?;
        let mut progress = progress;
        let kwargs = with_name_of_progress(py, &cached, &mut progress, kwargs)?;
        let (progress, kwargs) = (progress.as_ref(), kwargs.as_ref());
        check_keywords(&cached, kwargs)?;
        let skipped = _frame_depth.saturating_sub(EVALUATE_DEPTH);
        let names = NameScopes::new(py, kwargs, local_dict, global_dict, skipped)?;
        let operands = match names.operands(py, &cached)? {
            OperandLookup::Operands(operands) => operands,
            OperandLookup::Foreign(_, objects) => {
                let arguments = (ex.object(py)?, objects, rule, results, out);
                let evaluate = engine(py, "evaluate")?;
                return with_setting(py, progress, || evaluate.call1(arguments));
            }
        };
        let structure = form.structure(py, &cached);
        let outputs = outputs(&structure, out.as_ref())?;
        let compiled = variant_into(py, &cached, &operands, outputs.as_deref(), casting)?;
        let outputs = outputs.unwrap_or_default();
        let label = || label(&cached);
        let run = || run(py, &compiled, &operands, &outputs, order, label);
        let results = with_setting(py, progress, run)?;
        store_last(cached, form, &outputs, order, casting)?;
        match &out {
            Some(out) if structure.returns_out(out, &outputs) => Ok(out.clone()),
            _ => structure.unflatten(py, results),
        }
    })
}

/// The name of an expression in profiles: its text.
fn label(cached: &CachedComputation) -> String {
    let texts = cached.computation.expressions().map(indim::text::Expression::text);
    texts.collect::<Vec<_>>().join("; ")
}

/// The keywords, with the argument `progress` if the expression has this name; it is none then.
fn with_name_of_progress<'py>(
    py: Python<'py>,
    cached: &CachedComputation,
    progress: &mut Option<Bound<'py, PyAny>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let is_name = cached.computation.parameters.iter().any(|name| name == "progress");
    let Some(value) = progress.take_if(|_| is_name) else { return Ok(keywords.cloned()) };
    let keywords = keywords.map_or_else(|| Ok(PyDict::new(py)), |keywords| keywords.copy())?;
    keywords.set_item("progress", value)?;
    Ok(Some(keywords))
}

/// The arrays of `out`, if it is given.
fn outputs<'py>(
    structure: &Structure,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Vec<Option<NumpyArray<'py>>>>> {
    out.map(|out| structure.outputs(out)).transpose()
}

/// Refuses a keyword that the expression assigns, or that is neither a name of the expression nor one of
/// numexpr's arguments without effect.
fn check_keywords(
    cached: &CachedComputation,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let Some(keywords) = keywords else { return Ok(()) };
    for key in keywords.keys() {
        let key: String = key.extract()?;
        let computation = &cached.computation;
        let is_known = computation.parameters.contains(&key)
            || computation.expressions().any(|expression| expression.mentions(&key))
            || IGNORED.contains(&key.as_str());
        if computation.expressions().any(|expression| expression.assigns(&key)) {
            return Err(PyTypeError::new_err(format!(
                "`{key}` is assigned in the expression: give the keyword another name"
            )));
        }
        if !is_known {
            return Err(PyTypeError::new_err(format!(
                "`{key}` is neither a name of the expression nor an argument of evaluate"
            )));
        }
    }
    Ok(())
}

fn store_last<'py>(
    computation: Arc<CachedComputation>,
    form: ResultsArgument,
    outputs: &[Option<NumpyArray<'py>>],
    order: Order,
    casting: Casting,
) -> PyResult<()> {
    let reference = |array: &NumpyArray<'py>| PyWeakrefReference::new(array.object());
    let outputs = outputs
        .iter()
        .map(|array| Ok(array.as_ref().map(reference).transpose()?.map(Bound::unbind)))
        .collect::<PyResult<Vec<_>>>()?;
    let previous = LAST_EVALUATION.with_borrow_mut(|last| {
        let is_same = last.as_ref().is_some_and(|last| {
            Arc::ptr_eq(&last.computation, &computation)
                && last.form == form
                && last.outputs.is_empty()
                && outputs.is_empty()
                && last.order == order
                && last.casting == casting
        });
        if is_same {
            None
        } else {
            last.replace(Arc::new(LastEvaluation { computation, form, outputs, order, casting }))
        }
    });
    // Dropping objects may run Python code that evaluates, so it is done when nothing is borrowed.
    drop(previous);
    Ok(())
}

/// Evaluates the last expression of this thread again, with the values that its names have now.
///
/// It writes to the same arrays of `out` if they still exist. Names that were keywords are looked up like
/// others. `progress` is that of `evaluate`.
#[pyfunction]
#[pyo3(signature = (
    local_dict=None, global_dict=None, _frame_depth=RE_EVALUATE_DEPTH, *, progress=None
))]
pub(crate) fn re_evaluate<'py>(
    py: Python<'py>,
    local_dict: Option<Bound<'py, PyAny>>,
    global_dict: Option<Bound<'py, PyAny>>,
    _frame_depth: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(py, || {
        let last = LAST_EVALUATION.with_borrow(Clone::clone).ok_or_else(|| {
            PyRuntimeError::new_err("nothing to evaluate again; call evaluate or validate first")
        })?;
        let skipped = _frame_depth.saturating_sub(RE_EVALUATE_DEPTH);
        let names = NameScopes::new(py, None, local_dict, global_dict, skipped)?;
        let operands = names.operands(py, &last.computation)?.operands()?;
        let outputs = last.outputs.iter().map(|output| {
            let array = output.as_ref().and_then(|output| output.bind(py).upgrade());
            array.map(|array| output_array(&array, "out")).transpose()
        });
        let outputs = outputs.collect::<PyResult<Vec<_>>>()?;
        let out = (!outputs.is_empty()).then_some(&outputs[..]);
        let compiled = variant_into(py, &last.computation, &operands, out, last.casting)?;
        let label = || label(&last.computation);
        let run = || run(py, &compiled, &operands, &outputs, last.order, label);
        let results = with_setting(py, progress.as_ref(), run)?;
        last.form.structure(py, &last.computation).unflatten(py, results)
    })
}

/// Checks an expression as `evaluate` would, without computing. Returns the exception, or `None`.
#[pyfunction]
#[pyo3(signature = (
    ex, local_dict=None, global_dict=None, out=None, order="K", casting="same_kind", rule="as-written",
    *, results=None, _frame_depth=RE_EVALUATE_DEPTH, **kwargs
))]
#[expect(clippy::too_many_arguments, reason = "numexpr's signature")]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    ex: ExpressionArgument<'_>,
    local_dict: Option<Bound<'py, PyAny>>,
    global_dict: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    order: &str,
    casting: &str,
    rule: &str,
    results: Option<&Bound<'py, PyAny>>,
    _frame_depth: usize,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    guard(py, || {
        let check = || -> PyResult<()> {
            let (order, casting) = (parse_order(order)?, Casting::parse(casting)?);
            let (form, names) = ResultsArgument::parse(results)?;
            let key = ExpressionKey::new(&ex, rule_of_operations(rule)?, names);
            let cached =
                cached_computation(py, &ex, key).map_err(|error| computation_error(py, &error))?;
            check_keywords(&cached, kwargs)?;
            let skipped = _frame_depth.saturating_sub(RE_EVALUATE_DEPTH);
            let names = NameScopes::new(py, kwargs, local_dict, global_dict, skipped)?;
            let operands = match names.operands(py, &cached)? {
                OperandLookup::Operands(operands) => operands,
                OperandLookup::Foreign(_, objects) => {
                    let arguments = (ex.object(py)?, objects, rule, results, out);
                    engine(py, "evaluate")?.call1(arguments)?;
                    return Ok(());
                }
            };
            let outputs = outputs(&form.structure(py, &cached), out.as_ref())?;
            variant_into(py, &cached, &operands, outputs.as_deref(), casting)?;
            store_last(cached, form, &outputs.unwrap_or_default(), order, casting)
        };
        match check() {
            Ok(()) => Ok(None),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyException>(py) => {
                Ok(Some(error.into_value(py).into_bound(py).into_any()))
            }
            Err(error) => Err(error),
        }
    })
}
