//! Eager operations, as `indim/_functions.py` calls them on arrays. Each operation is recorded like one
//! of a traced function, and its programs are cached.

use indim::array::Order;
use indim_text::{CallAttribute, CallOperand, RecordedCall};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::casting::Casting;
use crate::engine::{engine, is_for_engine};
use crate::error::computation_error;
use crate::expression::ExpressionArgument;
use crate::expression_cache::{ExpressionKey, cached_computation};
use crate::internal_error::guard;
use crate::operand::Operand;
use crate::out::variant_into;
use crate::recorder::attribute;
use crate::rule::rule_of_operations;
use crate::run::run;
use crate::structure::Structure;

/// Names of the operands in messages. An operation of more operands calls them `x0`, `x1`, ...
const OPERAND_NAMES: [&str; 3] = ["x", "y", "z"];

/// Attributes that are operands, with their names in messages.
const OPERAND_ATTRIBUTES: [(&str, &str); 2] = [("where", "w"), ("initial", "v")];

/// Applies one operation to arrays and numbers.
///
/// An attribute is a pair: its keyword, or `None` if it is positional; and a value that [`attribute`]
/// reads, or an operand for the keywords `where` and `initial`.
#[pyfunction]
#[pyo3(signature = (function, operands, attributes, rule, out=None))]
pub(crate) fn _apply<'py>(
    py: Python<'py>,
    function: String,
    mut operands: Vec<Bound<'py, PyAny>>,
    attributes: Vec<(Option<String>, Bound<'py, PyAny>)>,
    rule: &str,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    guard(py, || {
        let call = record_call(function, &mut operands, attributes)?;
        let expression = ExpressionArgument::Operation(&call);
        let key = ExpressionKey::new(&expression, rule_of_operations(rule)?, None);
        let cached = cached_computation(py, &expression, key)
            .map_err(|error| computation_error(py, &error))?;
        let names = &cached.computation.parameters;
        let bound = operands.iter().zip(names);
        let bound = bound.map(|(object, name)| Operand::from_python(object, name));
        let mut bound: Vec<Operand<'py>> = match bound.collect() {
            Err(error) if is_for_engine(py, &error) => {
                let objects = PyDict::new(py);
                operands.iter().zip(names).try_for_each(|(it, name)| objects.set_item(name, it))?;
                let results = py.None();
                let arguments = (expression.object(py)?, objects, rule, results, out);
                return engine(py, "evaluate")?.call1(arguments);
            }
            bound => bound?,
        };
        bound.iter_mut().try_for_each(Operand::refresh_dtype)?;
        let structure = Structure::Single;
        let outputs = out.map(|out| structure.outputs(out)).transpose()?;
        let compiled = variant_into(py, &cached, &bound, outputs.as_deref(), Casting::DEFAULT)?;
        let outputs = outputs.unwrap_or_default();
        let label = || call.function.clone();
        let results = run(py, &compiled, &bound, &outputs, Order::K, label)?;
        match out {
            Some(out) if structure.returns_out(out, &outputs) => Ok(out.clone()),
            _ => structure.unflatten(py, results),
        }
    })
}

/// The call over names; adds the attributes that are operands to `operands`, in the order of their names.
fn record_call<'py>(
    function: String,
    operands: &mut Vec<Bound<'py, PyAny>>,
    attributes: Vec<(Option<String>, Bound<'py, PyAny>)>,
) -> PyResult<RecordedCall> {
    let count = operands.len();
    let name = |position: usize| match OPERAND_NAMES.get(position) {
        Some(name) if count <= OPERAND_NAMES.len() => (*name).to_owned(),
        _ => format!("x{position}"),
    };
    let names = (0..count).map(|position| CallOperand::Name(name(position))).collect();
    let mut call_attributes = Vec::with_capacity(attributes.len());
    for (keyword, value) in attributes {
        let operand = OPERAND_ATTRIBUTES.iter().find(|(of, _)| keyword.as_deref() == Some(of));
        let value = match operand {
            Some((_, name)) => {
                operands.push(value);
                CallAttribute::Operand(CallOperand::Name((*name).to_owned()))
            }
            None => attribute(keyword.as_deref(), &value)?,
        };
        call_attributes.push((keyword, value));
    }
    Ok(RecordedCall { function, operands: names, attributes: call_attributes })
}
