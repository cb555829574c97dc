//! Records the operations of a Python function, one by one, with their types.
//!
//! `indim/_tracing.py` uses a recorder while it runs a function on traced values. Each operation is
//! checked when it is recorded, so an error is raised at its line of the function. The recorded
//! computation is compiled later.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indim::graph::{Index, Literal};
use indim::text::{Binding, NumberProgram, Numbers};
use indim::{ArrayType, GraphBuilder, GraphError, RuleSet, Value};
use indim_graph::{PaddedWindow, SizeOrigin};
use indim_text::{CallAttribute, CallOperand, RecordedCall};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::computation::{Computation, Definition, Step};
use crate::error::{ComputationError, computation_error};
use crate::operand::{Operand, number};
use crate::regions::{Body, RegionKind, RegionStep};
use crate::rule::rule_of_operations;
use crate::transformation::{Transformation, Transformed};

/// Maximum number of operations of a function.
const MAX_OPERATIONS: usize = 100_000;

/// Maximum number of operations of a recording in which the origin of a size is searched: each search visits
/// all of them.
const MAX_SEARCHED_STEPS: usize = 1000;

/// An operand that no argument of the function is.
pub(crate) enum ImplicitOperand {
    /// An array from outside the arguments.
    Captured(Py<PyAny>),
    /// The size of an axis of the operand of a parameter; `name` is the name of the number.
    Size { parameter: usize, axis: usize, name: String },
}

#[derive(Default)]
struct Recording {
    computation: Computation,
    /// The graph of the operations so far, which checks each one.
    builder: GraphBuilder,
    /// The values of the graph by name.
    values: HashMap<String, Binding>,
    /// The numbers among the values that are inputs of the program.
    numbers: Numbers,
    /// The operands of the last parameters.
    implicit_operands: Vec<ImplicitOperand>,
    /// The sizes that the recording is valid for.
    size_use: SizeUse,
}

/// Description of a value: its name, its text in messages, the name of its element type, its shape.
type ValueDescription<'py> = (String, String, &'static str, Bound<'py, PyTuple>);

/// The operations of one function, for operands of certain types.
#[pyclass(frozen, module = "indim._indim")]
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Recording>);

/// A recorded function, the names of its results, and the names of the outer values that its parameters stand
/// for.
type RecordedFunctionParts<'py> = (Bound<'py, Recorder>, Vec<String>, Vec<String>);

/// A recorded function of a loop or branch; the names of its results; and for each parameter the name of
/// the outer value that it stands for, and the index of the loop's state that it is, or -1.
type RecordedBody<'py> = (Bound<'py, Recorder>, Vec<String>, Vec<String>, Vec<i64>);

/// A finished recording.
pub(crate) struct RecordedFunction {
    pub(crate) computation: Computation,
    pub(crate) implicit_operands: Vec<ImplicitOperand>,
    pub(crate) size_use: SizeUse,
    /// The guards on number arguments: the numbers for which the recording is valid.
    pub(crate) numbers: NumberProgram,
}

/// The sizes of arguments that a function read: its recording is valid for sizes that agree in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SizeUse {
    /// Nothing, or sizes that are inputs of the recording.
    #[default]
    None,
    /// The size of a result, which a broadcast of an axis of size 1 would change: each size must be 1 if it
    /// was.
    Ones,
    /// All sizes.
    All,
}

impl SizeUse {
    /// Whether the recording for arrays of the sizes `own` is valid for these sizes.
    pub(crate) fn accepts(self, sizes: &[usize], own: &[usize]) -> bool {
        let are_ones = || sizes.iter().zip(own).all(|(size, own)| (*size == 1) == (*own == 1));
        match self {
            SizeUse::None => sizes.len() == own.len(),
            SizeUse::Ones => sizes.len() == own.len() && are_ones(),
            SizeUse::All => sizes == own,
        }
    }
}

impl Recorder {
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn use_at_least(&self, size_use: SizeUse) {
        let mut recording = self.recording();
        recording.size_use = recording.size_use.max(size_use);
    }

    /// Ends the recording.
    pub(crate) fn finish(&self, outputs: Vec<String>) -> RecordedFunction {
        let recording = core::mem::take(&mut *self.recording());
        let computation = Computation { outputs, ..recording.computation };
        RecordedFunction {
            computation,
            implicit_operands: recording.implicit_operands,
            size_use: recording.size_use,
            numbers: recording.numbers.program(),
        }
    }

    /// Records a transformed function. Messages call the step `text`.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        (function, results, arguments): RecordedFunctionParts<'py>,
        transformation: Transformation,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let computation = self.copied(&function, results);
        let step = Transformed { names: Vec::new(), computation, arguments, transformation };
        let added = self.recording().transform(step, text);
        describe_all(py, added)
    }

    /// The recording so far of a function within this one, which goes on: several steps may transform it.
    fn copied(&self, function: &Bound<'_, Recorder>, outputs: Vec<String>) -> Computation {
        let (computation, size_use) = {
            let recording = function.get().recording();
            (recording.computation.clone(), recording.size_use)
        };
        self.use_at_least(size_use);
        Computation { outputs, ..computation }
    }

    /// Records a step over separately recorded functions. Messages call it `text`.
    fn add_region<'py>(
        &self,
        py: Python<'py>,
        functions: Vec<RecordedBody<'py>>,
        operands: Vec<String>,
        kind: RegionKind,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let mut bodies = Vec::with_capacity(functions.len());
        for (function, results, arguments, states) in functions {
            let computation = self.function(&function, results);
            let states = states.into_iter().map(|state| usize::try_from(state).ok()).collect();
            bodies.push(Body { computation, arguments, states });
        }
        let step = RegionStep { names: Vec::new(), operands, bodies, kind };
        let added = self.recording().region(step, text);
        describe_all(py, added)
    }

    /// Ends the recording of a function within this one.
    fn function(&self, function: &Bound<'_, Recorder>, results: Vec<String>) -> Computation {
        let recorded = function.get().finish(results);
        self.use_at_least(recorded.size_use);
        recorded.computation
    }
}

fn describe<'py>(
    py: Python<'py>,
    name: String,
    value_text: String,
    array_type: &ArrayType,
) -> PyResult<ValueDescription<'py>> {
    Ok((name, value_text, array_type.dtype.name(), PyTuple::new(py, array_type.shape.iter())?))
}

#[pymethods]
impl Recorder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Discards the recording.
    fn restart(&self) {
        let discarded = core::mem::take(&mut *self.recording());
        // Dropping objects may run Python code that traces, so it happens without the lock.
        drop(discarded);
    }

    /// A parameter of the type of `array`, under a name like `name`.
    fn parameter<'py>(
        &self,
        name: &str,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<ValueDescription<'py>> {
        let py = array.py();
        let array_type = match Operand::from_python(array, name)? {
            Operand::Array(array) => array.array_type(),
            Operand::Number(_) | Operand::Constant(_) => {
                return Err(PyValueError::new_err("a number is not a parameter"));
            }
        };
        let mut recording = self.recording();
        let name = recording.parameter(name, &array_type);
        // Creating objects may run Python code that traces.
        drop(recording);
        let name = name.map_err(|error| computation_error(py, &error.into()))?;
        describe(py, name.clone(), name, &array_type)
    }

    /// A parameter of the type of `value`, a value of the recorder `around`, under a name like `name`;
    /// without the axis `removed`, an axis of `value` counted from the front.
    #[pyo3(signature = (name, around, value, removed=None))]
    fn parameter_like<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        around: &Bound<'py, Recorder>,
        value: &str,
        removed: Option<usize>,
    ) -> PyResult<ValueDescription<'py>> {
        let array_type = around.get().recording().type_of(value);
        let mut array_type = array_type.map_err(|error| computation_error(py, &error.into()))?;
        if let Some(removed) = removed {
            let axes = array_type.shape.iter().copied().enumerate();
            let kept = axes.filter(|&(axis, _)| axis != removed).map(|(_, size)| size);
            array_type.shape = kept.collect();
        }
        let name = self.recording().parameter(name, &array_type);
        let name = name.map_err(|error| computation_error(py, &error.into()))?;
        describe(py, name.clone(), name, &array_type)
    }

    /// Adds a number among the arguments, under a name like `name`; returns its name.
    fn number(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
        let value = python_number(value)?;
        Ok(self.recording().number(name, value))
    }

    /// Records an operator on numbers, by name or by value. Returns the name of the result and its present
    /// value; the name is `None` if the recording is valid only for this value. Returns `None` if the result
    /// is not a number or is undefined.
    fn record_number<'py>(
        &self,
        py: Python<'py>,
        function: String,
        operands: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Option<(Option<String>, Bound<'py, PyAny>)>> {
        let operands = operands.iter().map(operand).collect::<PyResult<_>>()?;
        let call = RecordedCall { function, operands, attributes: Vec::new() };
        let added = self.recording().record_number(&call);
        added
            .map(|(name, value)| Ok((name, crate::argument::python_number(py, value)?)))
            .transpose()
    }

    /// The axes of parameters that have the size of an axis of a value for all sizes with which broadcasts
    /// are the same, each with the parameter's name; none for an added axis of size 1. `None` if it is
    /// unknown.
    fn size_origin(&self, name: &str, axis: usize) -> Option<Vec<(String, usize)>> {
        let recording = self.recording();
        if recording.computation.parameters.iter().any(|parameter| parameter == name) {
            return Some(vec![(name.to_owned(), axis)]);
        }
        let Some(Binding::Array(value)) = recording.values.get(name) else { return None };
        if recording.computation.steps.len() > MAX_SEARCHED_STEPS {
            return None;
        }
        let graph = recording.builder.finish(core::slice::from_ref(value)).ok()?;
        match recording.builder.size_facts().origin(&graph, (graph.outputs()[0], axis)) {
            SizeOrigin::Parameters(axes) => {
                let index = |of| graph.parameters().iter().position(|parameter| *parameter == of);
                let name = |of| Some(graph.parameter_name(index(of)?).to_owned());
                axes.into_iter().map(|(of, axis)| Some((name(of)?, axis))).collect()
            }
            SizeOrigin::One => Some(Vec::new()),
            SizeOrigin::Unknown => None,
        }
    }

    /// Records that the function read the size of a result of broadcasts.
    fn use_ones(&self) {
        self.use_at_least(SizeUse::Ones);
    }

    /// The size of an axis of an argument as a number, which each call reads: its name and its present value.
    /// `None` if no argument has this name.
    fn size(&self, parameter: &str, axis: usize) -> Option<(String, usize)> {
        self.recording().size(parameter, axis)
    }

    /// Makes the recording valid only for the present value of a number.
    fn pin(&self, name: &str) {
        if let Some(Binding::Input(number)) = self.recording().values.get(name) {
            number.pin();
        }
    }

    /// Adds an array from outside the arguments; returns its description, and its position among the
    /// operands that are no arguments.
    fn capture<'py>(
        &self,
        name: &str,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<(ValueDescription<'py>, usize)> {
        let description = self.parameter(name, array)?;
        let captured = ImplicitOperand::Captured(array.clone().unbind());
        let mut recording = self.recording();
        recording.implicit_operands.push(captured);
        Ok((description, recording.implicit_operands.len() - 1))
    }

    /// Replaces the captured array at a position by one of the same type.
    fn replace_capture(&self, position: usize, array: Bound<'_, PyAny>) -> PyResult<()> {
        let replaced = match self.recording().implicit_operands.get_mut(position) {
            Some(ImplicitOperand::Captured(captured)) => {
                core::mem::replace(captured, array.unbind())
            }
            _ => return Err(PyIndexError::new_err("no captured array has this position")),
        };
        // The last reference may run Python code, so it is dropped without the lock.
        drop(replaced);
        Ok(())
    }

    /// Records one operation: a function or the symbol of an operator, over numbers and earlier values by
    /// name, with attributes by keyword or position.
    fn record<'py>(
        &self,
        py: Python<'py>,
        function: String,
        operands: Vec<Bound<'py, PyAny>>,
        attributes: Vec<(Option<String>, Bound<'py, PyAny>)>,
        rule: &str,
    ) -> PyResult<ValueDescription<'py>> {
        let rule = rule_of_operations(rule)?;
        let operands = operands.iter().map(operand).collect::<PyResult<_>>()?;
        let attributes = attributes
            .into_iter()
            .map(|(keyword, value)| {
                let value = attribute(keyword.as_deref(), &value)?;
                Ok((keyword, value))
            })
            .collect::<PyResult<_>>()?;
        let call = RecordedCall { function, operands, attributes };
        // Creating errors and results may run Python code that traces, so it happens without the lock.
        let added = self.recording().record(&call, rule);
        let (name, value_text, array_type) = step_result(py, added)?;
        describe(py, name, value_text, &array_type)
    }

    /// Records the results of a separately recorded `function`, and its gradients with respect to the
    /// arguments at the positions `wrt`. `cotangents` are those of the results; without
    /// them the function has one result, a number. Messages call the step `text`.
    fn derive<'py>(
        &self,
        py: Python<'py>,
        function: RecordedFunctionParts<'py>,
        wrt: Vec<usize>,
        cotangents: Option<Vec<String>>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let transformation = Transformation::Gradients { wrt, cotangents };
        self.transform(py, function, transformation, text)
    }

    /// Records the results of a separately recorded `function`, then their derivatives in the direction of
    /// `tangents`, which belong to the arguments at the positions `wrt`. Messages call the step `text`.
    fn push_forward<'py>(
        &self,
        py: Python<'py>,
        function: RecordedFunctionParts<'py>,
        wrt: Vec<usize>,
        tangents: Vec<String>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let transformation = Transformation::Tangents { wrt, tangents };
        self.transform(py, function, transformation, text)
    }

    /// Records the results of a separately recorded `function` for every element of a batch. `in_axes` has
    /// the batch axis of each argument, `out_axes` that of each result. Messages call the step `text`.
    fn vectorize<'py>(
        &self,
        py: Python<'py>,
        function: RecordedFunctionParts<'py>,
        in_axes: Vec<Option<i64>>,
        out_axes: Vec<Option<i64>>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let transformation = Transformation::Batch { in_axes, out_axes };
        self.transform(py, function, transformation, text)
    }

    /// Records a loop or branch over separately recorded functions, as `RecordedBody` describes them.
    /// `operands` are the names of the initial states of a loop, or of the index of a branch. `limit` is
    /// the maximum number of steps of a loop; a branch has none. Messages call the step `text`.
    fn regions<'py>(
        &self,
        py: Python<'py>,
        functions: Vec<RecordedBody<'py>>,
        operands: Vec<String>,
        limit: Option<u64>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        let kind = limit.map_or(RegionKind::Branch, RegionKind::Loop);
        self.add_region(py, functions, operands, kind, text)
    }

    /// Records a reduction of arrays by a recorded function of accumulators and elements, which are its
    /// states. `operands` are the names of the arrays, then of their initial values. Messages call the step
    /// `text`.
    fn reduction<'py>(
        &self,
        py: Python<'py>,
        function: RecordedBody<'py>,
        operands: Vec<String>,
        axes: Vec<i64>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        self.use_sizes();
        self.add_region(py, vec![function], operands, RegionKind::Reduction(axes), text)
    }

    /// Like `reduction`, of the windows of each axis: size, stride, dilation, dilation of the axis, and the
    /// padding before and after it.
    fn window_reduction<'py>(
        &self,
        py: Python<'py>,
        function: RecordedBody<'py>,
        operands: Vec<String>,
        windows: Vec<(usize, usize, usize, usize, i64, i64)>,
        text: &str,
    ) -> PyResult<Vec<ValueDescription<'py>>> {
        self.use_sizes();
        let windows =
            windows.into_iter().map(|(size, stride, dilation, base_dilation, low, high)| {
                let is_reversed = false;
                PaddedWindow { size, stride, dilation, base_dilation, low, high, is_reversed }
            });
        let kind = RegionKind::WindowReduction(windows.collect());
        self.add_region(py, vec![function], operands, kind, text)
    }

    /// Records that the function reads sizes.
    fn use_sizes(&self) {
        self.use_at_least(SizeUse::All);
    }
}

/// The result of a recorded step, or its error as an exception. `added` is `None` for too many operations.
fn step_result<T>(py: Python<'_>, added: Option<Result<T, ComputationError>>) -> PyResult<T> {
    let too_many =
        || PyValueError::new_err(format!("a function has at most {MAX_OPERATIONS} operations"));
    added.ok_or_else(too_many)?.map_err(|error| computation_error(py, &error))
}

/// The descriptions of the values that a step added.
fn describe_all<'py>(
    py: Python<'py>,
    added: Option<Result<Vec<StepValue>, ComputationError>>,
) -> PyResult<Vec<ValueDescription<'py>>> {
    let values = step_result(py, added)?.into_iter();
    values.map(|(name, text, array_type)| describe(py, name, text, &array_type)).collect()
}

/// Reads an operand: the name of an earlier value, or a Python number.
fn operand(object: &Bound<'_, PyAny>) -> PyResult<CallOperand> {
    match object.cast::<PyString>() {
        Ok(name) => Ok(CallOperand::Name(name.to_str()?.to_owned())),
        Err(_) => Ok(CallOperand::Number(python_number(object)?)),
    }
}

/// Reads an attribute. The keyword `dtype` takes the name of an element type; `mode`, `side` and
/// `equation` take a text. Otherwise a tuple has the items of an index, a list has integers, pairs of
/// integers or axis names, and any other object is an operand.
pub(crate) fn attribute(
    keyword: Option<&str>,
    object: &Bound<'_, PyAny>,
) -> PyResult<CallAttribute> {
    if keyword == Some("dtype") {
        let name: String = object.extract()?;
        let dtype = name.parse().map_err(|_| PyValueError::new_err("no element type"))?;
        return Ok(CallAttribute::ElementType(dtype));
    }
    if matches!(keyword, Some("mode" | "side" | "norm" | "equation")) {
        return Ok(CallAttribute::Word(object.extract()?));
    }
    if let Ok(items) = object.cast::<PyTuple>() {
        let items = items.iter().map(|item| index(&item));
        return Ok(CallAttribute::Index(items.collect::<PyResult<_>>()?));
    }
    let Ok(list) = object.cast::<PyList>() else {
        return Ok(CallAttribute::Operand(operand(object)?));
    };
    if list.iter().any(|item| item.is_instance_of::<PyTuple>()) {
        return Ok(CallAttribute::Pairs(list.extract()?));
    }
    match list.iter().any(|item| item.is_instance_of::<PyString>()) {
        true => Ok(CallAttribute::Names(list.extract()?)),
        false => Ok(CallAttribute::Integers(list.extract()?)),
    }
}

/// Reads an item of an index: a number, a slice as a tuple of three numbers, `None`, `...`, or the name of an
/// earlier value.
fn index(object: &Bound<'_, PyAny>) -> PyResult<Index<CallOperand>> {
    if object.is_none() {
        return Ok(Index::NewAxis);
    }
    if object.is(object.py().Ellipsis()) {
        return Ok(Index::Ellipsis);
    }
    if let Ok(name) = object.cast::<PyString>() {
        return Ok(Index::Elements(CallOperand::Name(name.to_str()?.to_owned())));
    }
    match object.cast::<PyTuple>() {
        Ok(slice) => {
            let (start, stop, step) = slice.extract()?;
            Ok(Index::Slice { start, stop, step })
        }
        Err(_) => Ok(Index::At(object.extract()?)),
    }
}

fn python_number(object: &Bound<'_, PyAny>) -> PyResult<Literal> {
    let number = number(object, "a number")?;
    number.ok_or_else(|| PyValueError::new_err("neither the name of a value nor a Python number"))
}

/// A value added by a step: its name, its text in messages, and its type.
type StepValue = (String, String, ArrayType);

impl Recording {
    /// `name`, extended until no value has it.
    fn unused_name(&self, mut name: String) -> String {
        while self.values.contains_key(&name) {
            name.push('_');
        }
        name
    }

    /// Adds a parameter under a name like `name`; returns its name.
    fn parameter(&mut self, name: &str, array_type: &ArrayType) -> Result<String, GraphError> {
        let mut name = self.unused_name(name.to_owned());
        while self.builder.has_parameter(&name) {
            name = self.unused_name(name + "_");
        }
        let ArrayType { dtype, shape } = array_type.clone();
        let value = self.builder.parameter(&name, dtype, shape)?;
        self.computation.parameters.push(name.clone());
        self.values.insert(name.clone(), Binding::Array(value));
        Ok(name)
    }

    /// Adds a number among the arguments under a name like `name`; returns its name.
    fn number(&mut self, name: &str, value: Literal) -> String {
        let name = self.unused_name(name.to_owned());
        self.computation.parameters.push(name.clone());
        let number = self.numbers.input(&name, value);
        let binding = number.map_or(Binding::Number(value), Binding::Input);
        self.values.insert(name.clone(), binding);
        name
    }

    /// The number that stands for the size of an axis of a parameter, added at its first use.
    fn size(&mut self, parameter: &str, axis: usize) -> Option<(String, usize)> {
        let of_array = self.computation.parameters.iter().position(|name| name == parameter)?;
        // Each implicit operand has a parameter after those of the arguments.
        if of_array >= self.computation.parameters.len() - self.implicit_operands.len() {
            return None;
        }
        let Some(Binding::Array(value)) = self.values.get(parameter) else { return None };
        let size = value.array_type().ok()?.shape[axis];
        let is_known = |operand: &&ImplicitOperand| {
            matches!(operand, ImplicitOperand::Size { parameter, axis: known, .. }
                if *parameter == of_array && *known == axis)
        };
        if let Some(ImplicitOperand::Size { name, .. }) =
            self.implicit_operands.iter().find(is_known)
        {
            return Some((name.clone(), size));
        }
        let number = Literal::Int(i128::try_from(size).ok()?);
        let name = self.number(&format!("{parameter}_size_{axis}"), number);
        let operand = ImplicitOperand::Size { parameter: of_array, axis, name: name.clone() };
        self.implicit_operands.push(operand);
        Some((name, size))
    }

    /// Adds the result of an operator on numbers; the name is `None` if the result is a constant.
    /// Returns `None` for too many operations, and for a result that is undefined or not a number.
    fn record_number(&mut self, call: &RecordedCall) -> Option<(Option<String>, Literal)> {
        let index = self.computation.steps.len();
        if index == MAX_OPERATIONS {
            return None;
        }
        let name = self.unused_name(format!("_{index}"));
        let definition = Definition::of_call(&name, call, None).ok()?;
        let result = definition.numbers(&self.builder, &self.values).ok()?.pop()?;
        match result {
            Binding::Input(number) => {
                self.computation.value_texts.insert(&name, definition.expression.text());
                self.values.insert(name.clone(), Binding::Input(number.clone()));
                self.computation.steps.push(Step::Number(definition));
                Some((Some(name), number.value()))
            }
            Binding::Number(value) => Some((None, value)),
            _ => None,
        }
    }

    /// The type of a value.
    fn type_of(&self, name: &str) -> Result<ArrayType, GraphError> {
        match self.values.get(name) {
            Some(Binding::Array(value)) => value.array_type(),
            _ => unreachable!("invariant: traced values have the names of arrays"),
        }
    }

    /// Adds a transformed function, as [`Recording::record`] adds an operation.
    fn transform(
        &mut self,
        mut step: Transformed,
        text: &str,
    ) -> Option<Result<Vec<StepValue>, ComputationError>> {
        // Refuses too many operations before the work.
        self.result_names(0)?;
        let built = match step.build(&self.builder, &self.values) {
            Ok(built) => built,
            Err(error) => return Some(Err(step.computation.value_texts.with_value_texts(error))),
        };
        step.names = self.result_names(built.len())?;
        let added = self.add_values(&step.names, built, text);
        self.computation.steps.push(Step::Transformed(step));
        Some(added)
    }

    /// Adds a loop or branch, as [`Recording::record`] adds an operation.
    fn region(
        &mut self,
        mut step: RegionStep,
        text: &str,
    ) -> Option<Result<Vec<StepValue>, ComputationError>> {
        step.names = self.result_names(step.result_count())?;
        let built = match step.build(&self.builder, &self.values) {
            Ok(built) => built,
            Err(error) => return Some(Err(self.computation.value_texts.with_value_texts(error))),
        };
        let added = self.add_values(&step.names, built, text);
        self.computation.steps.push(Step::Region(step));
        Some(added)
    }

    /// Names for the results of the next step. `None` for too many operations.
    fn result_names(&self, count: usize) -> Option<Vec<String>> {
        let index = self.computation.steps.len();
        let name = |result| self.unused_name(format!("_{index}_{result}"));
        (index < MAX_OPERATIONS).then(|| (0..count).map(name).collect())
    }

    /// Adds the values of a step with several results.
    fn add_values(
        &mut self,
        names: &[String],
        built: Vec<Value>,
        text: &str,
    ) -> Result<Vec<StepValue>, ComputationError> {
        let mut added = Vec::with_capacity(built.len());
        for (name, value) in names.iter().cloned().zip(built) {
            let array_type = value.array_type()?;
            let value_text = self.computation.value_texts.insert(&name, text);
            self.values.insert(name.clone(), Binding::Array(value));
            added.push((name, value_text, array_type));
        }
        Ok(added)
    }

    /// Checks and adds an operation; returns its value. `None` for too many operations.
    fn record(
        &mut self,
        call: &RecordedCall,
        rule: Option<RuleSet>,
    ) -> Option<Result<StepValue, ComputationError>> {
        let index = self.computation.steps.len();
        if index == MAX_OPERATIONS {
            return None;
        }
        let name = self.unused_name(format!("_{index}"));
        let build = || {
            let definition = Definition::of_call(&name, call, rule)?;
            let value = definition.build(&self.builder, &self.values)?.swap_remove(0);
            let array_type = value.array_type()?;
            Ok((definition, value, array_type))
        };
        Some(match build() {
            Ok((definition, value, array_type)) => {
                let value_text =
                    self.computation.value_texts.insert(&name, definition.expression.text());
                self.values.insert(name.clone(), Binding::Array(value));
                self.computation.steps.push(Step::Definition(definition));
                Ok((name, value_text, array_type))
            }
            Err(error) => Err(self.computation.value_texts.with_value_texts(error)),
        })
    }
}
