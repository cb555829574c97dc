//! Functions on rules: shapes, conversions between rule sets, explanations, the oracle.

use indim::array::{MAX_RANK, RankLimitError};
use indim::broadcast::{
    Attributes, AxisNames, Broadcast, RuleChoice, RuleSetName, convert_broadcast,
};
use indim::errors::{Diagnostic, ErrorCode};
use indim::explain::{
    ExplainedBroadcast, Explanation, InputType, SymbolicExpression, TypedInput, check_axis_names,
};
use indim::graph::{Composition, Literal, Reduction};
use indim::text::{Expression, NumberProgram};
use indim::{DType, Shape};
use indim_text::catalogue::{self, EntryKind};
use pyo3::exceptions::{PyDeprecationWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::computation::{Computation, Definition, compile_options};
use crate::error::{
    compile_error, computation_error, diagnostic_error, input_error, rank_limit_error, shape_error,
};
use crate::internal_error::guard;
use crate::operand::{Operand, OperandType};
use crate::rule::{attribute_error, parse_rule, rule_of_operations};

/// The attributes of a rule, as Python passes them.
struct AttributeArguments {
    broadcast_dimensions: Option<Vec<i64>>,
    axis: Option<i64>,
    target: Option<Vec<usize>>,
    names: Option<Vec<Vec<String>>>,
}

/// `broadcast_dimensions`, or its former name `dims` with a warning.
fn renamed_dims(
    py: Python<'_>,
    broadcast_dimensions: Option<Vec<i64>>,
    dims: Option<Vec<i64>>,
) -> PyResult<Option<Vec<i64>>> {
    if dims.is_some() {
        let category = py.get_type::<PyDeprecationWarning>();
        PyErr::warn(py, &category, c"`dims=` is now `broadcast_dimensions=`", 1)?;
    }
    Ok(broadcast_dimensions.or(dims))
}

/// The broadcast of `shapes` under a rule.
fn elaborate(
    py: Python<'_>,
    shapes: &[Vec<usize>],
    rule: &str,
    attributes: AttributeArguments,
) -> PyResult<Broadcast> {
    let rule: RuleChoice = parse_rule(rule)?;
    let AttributeArguments { broadcast_dimensions: dims, axis, target, names } = attributes;
    let name_counts = names.iter().flatten().map(Vec::len);
    let lists = shapes.iter().chain(&target).map(Vec::len).chain(dims.as_ref().map(Vec::len));
    let lists = lists.chain(name_counts);
    let longest = lists.max().unwrap_or(0);
    RankLimitError::check(longest, MAX_RANK).map_err(|error| rank_limit_error(py, error))?;
    let target = target.map(Shape::from);
    let attributes =
        Attributes { dims, axis, target, names: names.map(axis_names), ..Attributes::default() };
    let rule = rule.with_attributes(&attributes).map_err(attribute_error)?;
    let shapes: Vec<Shape> = shapes.iter().map(|sizes| Shape::from(&sizes[..])).collect();
    let form = rule.elaborate(&shapes, attributes.target.as_ref());
    form.map_err(|error| shape_error(py, &error, "broadcast"))
}

/// The names of the axes of each operand.
fn axis_names(names: Vec<Vec<String>>) -> Vec<AxisNames> {
    names.iter().map(|names| names.iter().map(String::as_str).collect()).collect()
}

/// The shape that operands of these shapes broadcast to under a rule set.
#[pyfunction]
#[pyo3(signature = (
    *shapes, rule="numpy", broadcast_dimensions=None, axis=None, target=None, names=None, dims=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's arguments, by keyword")]
pub(crate) fn broadcast_shapes<'py>(
    py: Python<'py>,
    shapes: Vec<Vec<usize>>,
    rule: &str,
    broadcast_dimensions: Option<Vec<i64>>,
    axis: Option<i64>,
    target: Option<Vec<usize>>,
    names: Option<Vec<Vec<String>>>,
    dims: Option<Vec<i64>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let broadcast_dimensions = renamed_dims(py, broadcast_dimensions, dims)?;
    guard(py, || {
        let attributes = AttributeArguments { broadcast_dimensions, axis, target, names };
        let form = elaborate(py, &shapes, rule, attributes)?;
        PyTuple::new(py, form.result().iter())
    })
}

/// Converts the broadcast of these shapes under `rule` to rule set `to`.
#[pyfunction]
#[pyo3(signature = (
    *shapes, to, rule="numpy", broadcast_dimensions=None, axis=None, target=None, names=None, dims=None
))]
#[expect(clippy::too_many_arguments, reason = "Python's arguments, by keyword")]
pub(crate) fn convert(
    py: Python<'_>,
    shapes: Vec<Vec<usize>>,
    to: &str,
    rule: &str,
    broadcast_dimensions: Option<Vec<i64>>,
    axis: Option<i64>,
    target: Option<Vec<usize>>,
    names: Option<Vec<Vec<String>>>,
    dims: Option<Vec<i64>>,
) -> PyResult<String> {
    let broadcast_dimensions = renamed_dims(py, broadcast_dimensions, dims)?;
    guard(py, || {
        let attributes = AttributeArguments { broadcast_dimensions, axis, target, names };
        let form = elaborate(py, &shapes, rule, attributes)?;
        match convert_broadcast(&form, parse_rule::<RuleSetName>(to)?) {
            Ok(converted) => Ok(converted.to_string()),
            Err(reason) => {
                Err(PyValueError::new_err(format!("error[{}]: {reason}", ErrorCode::INEXPRESSIBLE)))
            }
        }
    })
}

/// Explains a broadcast of shapes: text, JSON, SVG.
#[pyfunction]
#[pyo3(signature = (shapes, rule, broadcast_dimensions=None, axis=None, target=None, names=None))]
pub(crate) fn _explain_shapes(
    py: Python<'_>,
    shapes: Vec<Vec<usize>>,
    rule: &str,
    broadcast_dimensions: Option<Vec<i64>>,
    axis: Option<i64>,
    target: Option<Vec<usize>>,
    names: Option<Vec<Vec<String>>>,
) -> PyResult<(String, String, String)> {
    guard(py, || {
        let attributes = AttributeArguments { broadcast_dimensions, axis, target, names };
        let form = elaborate(py, &shapes, rule, attributes)?;
        let labels =
            (0..shapes.len()).map(|index| (format!("operand {index}"), String::new())).collect();
        let explained = ExplainedBroadcast::new("broadcast", labels, form);
        Ok((explained.to_string(), explained.to_json(), explained.to_svg()))
    })
}

/// Explains an expression over arrays; only their types and shapes matter.
#[pyfunction]
pub(crate) fn _explain_expression(
    py: Python<'_>,
    text: &str,
    operands: Vec<(String, Bound<'_, PyAny>)>,
    rule: &str,
) -> PyResult<ExplanationTexts> {
    guard(py, || {
        let computation = Computation::of_expression(text, None, rule_of_operations(rule)?)
            .map_err(|error| computation_error(py, &error))?;
        let mut types = Vec::with_capacity(operands.len());
        for name in &computation.parameters {
            match operands.iter().find(|(operand_name, _)| operand_name == name) {
                Some((_, object)) => types.push(Operand::from_python(object, name)?.operand_type()),
                None => match Literal::constant(name) {
                    Some(number) => types.push(OperandType::Number(number)),
                    None => break,
                },
            }
        }
        let explained = explain_computation(py, &computation, &types, &NumberProgram::default())?;
        let has = |it: &Expression, name: &str| it.mentions(name) || it.assigns(name);
        check_operands(&operands, |name| computation.expressions().any(|it| has(it, name)))?;
        Ok(explained)
    })
}

/// Refuses operands that the expression does not name.
fn check_operands(
    operands: &[(String, Bound<'_, PyAny>)],
    has: impl Fn(&str) -> bool,
) -> PyResult<()> {
    match operands.iter().find(|(name, _)| !has(name)) {
        Some((name, _)) => Err(PyTypeError::new_err(format!(
            "`{name}` is neither a name of the expression nor an argument of explain"
        ))),
        None => Ok(()),
    }
}

/// Like [`_explain_expression`]; operands may be types as text, with names of sizes and axes.
#[pyfunction]
pub(crate) fn _explain_types(
    py: Python<'_>,
    text: &str,
    operands: Vec<(String, Bound<'_, PyAny>)>,
    rule: &str,
) -> PyResult<ExplanationTexts> {
    guard(py, || {
        let operation_rule = rule_of_operations(rule)?;
        let expression = Definition::parse(text, None, operation_rule.clone())
            .map_err(|error| computation_error(py, &error))?
            .expression;
        let mentioned = operands.iter().filter(|(name, _)| expression.mentions(name));
        let inputs = mentioned.map(|(name, object)| typed_input(py, name, object));
        let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
        let refused = |error: Diagnostic| diagnostic_error(py, &error, "ExprError");
        if let Some(input) = inputs.iter().find(|input| input.axis_names.is_some()) {
            check_axis_names(input.name, parse_rule(rule)?, "rule=\"named\"").map_err(refused)?;
        }
        let symbolic = SymbolicExpression::new(&expression, &inputs, operation_rule.as_ref())
            .map_err(|error| input_error(py, text, error))?;
        symbolic.check_free().map_err(refused)?;
        check_operands(&operands, |name| expression.mentions(name) || expression.assigns(name))?;
        let options = compile_options().map_err(|error| computation_error(py, &error))?;
        let explanation = Explanation::new(symbolic.graph.graph(), &options);
        let (text, json, svg, machine_code) =
            explanation_texts(explanation.map_err(compile_error)?);
        let mut text = text + symbolic.axes_text();
        if symbolic.has_names() {
            text += &symbolic.sizes_text();
        }
        Ok((text.trim_end().to_owned(), json, svg, machine_code))
    })
}

/// An operand of an explanation: a type as text, an array, or a number.
fn typed_input<'n>(
    py: Python<'_>,
    name: &'n str,
    object: &Bound<'_, PyAny>,
) -> PyResult<TypedInput<'n>> {
    if let Ok(text) = object.extract::<&str>() {
        return TypedInput::parse(name, text)
            .map_err(|error| diagnostic_error(py, &error, "ExprError"));
    }
    let input_type = match Operand::from_python(object, name)?.operand_type() {
        OperandType::Array(array_type) => InputType::Known(array_type),
        OperandType::Input(number) | OperandType::Number(number) => InputType::Number(number),
    };
    Ok(TypedInput { name, input_type, axis_names: None })
}

/// Text, JSON, SVG, and the machine code, which is listed on request.
pub(crate) type ExplanationTexts = (String, String, String, MachineCode);

/// Lists the machine code of an explained program.
#[pyclass(frozen, module = "indim._indim")]
pub(crate) struct MachineCode(Explanation);

#[pymethods]
impl MachineCode {
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.machine_code_text())
    }
}

/// Explains a computation for operands of these types; `numbers` are those for which it was recorded.
pub(crate) fn explain_computation(
    py: Python<'_>,
    computation: &Computation,
    types: &[OperandType],
    numbers: &NumberProgram,
) -> PyResult<ExplanationTexts> {
    let explained = computation.graph_and_numbers(types);
    let (graph, computed_numbers) = explained.map_err(|error| computation_error(py, &error))?;
    let options = compile_options().map_err(|error| computation_error(py, &error))?;
    let explanation = Explanation::new(&graph, &options).map_err(compile_error)?;
    let (text, json, svg, machine_code) = explanation_texts(explanation);
    let mut guards = numbers.guards();
    guards.extend(computed_numbers.guards());
    guards.sort();
    guards.dedup();
    let numbers_text = match guards.is_empty() {
        true => String::new(),
        false => format!("\nnumbers\n   the program is made for {}\n", guards.join(", ")),
    };
    Ok((text + &numbers_text, json, svg, machine_code))
}

/// An explanation as text, JSON, SVG and machine code.
pub(crate) fn explanation_texts(explanation: Explanation) -> ExplanationTexts {
    let [text, json, svg] = [explanation.to_string(), explanation.to_json(), explanation.to_svg()];
    (text, json, svg, MachineCode(explanation))
}

/// The verdict on one case, as JSON text.
#[pyfunction]
pub(crate) fn _verdict(py: Python<'_>, case: &str) -> String {
    py.detach(|| indim_oracle::verdict(case))
}

/// The names in an expression, in order of first occurrence, and the constants.
#[pyfunction]
pub(crate) fn _names_of(py: Python<'_>, ex: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let definition =
        Definition::parse(ex, None, None).map_err(|error| computation_error(py, &error))?;
    Ok((owned(definition.expression.names()), owned(definition.expression.constants())))
}

/// Every element type: its name in indim and in NumPy.
#[pyfunction]
pub(crate) fn _element_types() -> Vec<(&'static str, &'static str)> {
    DType::ALL.iter().map(|dtype| (dtype.name(), dtype.numpy_name())).collect()
}

/// Every operation of the table: name, number of operands, documentation, other names.
#[pyfunction]
pub(crate) fn _operations() -> Vec<(&'static str, usize, &'static str, Vec<&'static str>)> {
    let operations = catalogue::entries().filter(|entry| entry.kind == EntryKind::Operation);
    operations
        .map(|entry| (entry.name, entry.operands.len(), entry.doc, entry.other_names))
        .collect()
}

/// A parameter, other than operands and axes, of a composition or of a function along axes: name,
/// expected kind, default.
type Number = (&'static str, &'static str, Option<&'static str>);

/// A composition: name, number of operands, number parameters, documentation, aliases.
type CompositionRow = (&'static str, usize, Vec<Number>, &'static str, Vec<&'static str>);

/// Every composition of the table.
#[pyfunction]
pub(crate) fn _compositions() -> Vec<CompositionRow> {
    let row = |composition: &Composition| {
        let numbers = composition.parameters().iter();
        let numbers =
            numbers.map(|number| (number.name(), number.expected(), number.default())).collect();
        let count = composition.arity().count();
        let aliases = composition.aliases().to_vec();
        (composition.name(), count, numbers, composition.doc(), aliases)
    };
    Composition::ALL.iter().map(row).collect()
}

/// Every data movement function, and indexing: name, documentation, other names.
#[pyfunction]
pub(crate) fn _view_functions() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let functions = catalogue::entries().filter(|entry| entry.kind == EntryKind::DataMovement);
    functions.map(|entry| (entry.name, entry.doc, entry.other_names)).collect()
}

/// A function along axes: name, operands, default axes, arguments, documentation, aliases.
type ReductionRow = (
    &'static str,
    &'static [&'static str],
    Option<&'static [i64]>,
    Vec<Number>,
    &'static str,
    &'static [&'static str],
);

/// Every function along axes.
#[pyfunction]
pub(crate) fn _axis_functions() -> Vec<ReductionRow> {
    let row = |function: &Reduction| {
        let arguments = function.arguments();
        let arguments = arguments
            .iter()
            .map(|argument| (argument.name(), argument.expected(), argument.default()))
            .collect();
        let (operands, axes) = (function.operands(), function.default_axes());
        (function.name(), operands, axes, arguments, function.doc(), function.aliases())
    };
    Reduction::ALL.iter().map(row).collect()
}
