//! A computation: values defined one after another, each by an expression over parameters and
//! earlier values.
//!
//! A text given to `evaluate` is one definition, and so is an eager operation; `jit` records one for each
//! operation of a function. A computation has no types: it is compiled for those of each call.

use core::fmt;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use indim::broadcast::{AxisNames, TargetRule};
use indim::graph::{Literal, SizeFacts, SymbolicGraph};
use indim::run::{
    ExecutorChoice, SymbolicExecutable, UnknownExecutor, compile_symbolic_with, compile_with,
};
use indim::text::ExprError;
use indim::text::{Binding, Expression, NumberProgram, Numbers, ParseLimits};
use indim::{
    ArrayType, CompileOptions, DType, Executable, Graph, GraphBuilder, GraphError, RuleSet, Shape,
};
use indim_text::{CallOperand, RecordedCall};
use pyo3::exceptions::PyRuntimeError;

use crate::detached::detach_with_signals;
use crate::error::ComputationError;
use crate::memory_use::MemoryUse;
use crate::numpy_api::DenseArray;
use crate::operand::OperandType;
use crate::pool;
use crate::regions::RegionStep;
use crate::transformation::Transformed;
use crate::value_texts::ValueTexts;

/// An operation or expression, and the names of the values that it defines.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// The names of the values in later definitions: several for an expression with several results.
    pub(crate) names: Vec<String>,
    pub(crate) expression: Expression,
    pub(crate) rule: Option<RuleSet>,
}

/// One step of a computation.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Values that an operation or expression computes.
    Definition(Definition),
    /// A number that an operation computes from numbers.
    Number(Definition),
    /// The results of a transformed function.
    Transformed(Transformed),
    /// The results of a loop or branch.
    Region(RegionStep),
}

/// Parameters, the steps in order, and which values are returned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Computation {
    pub(crate) parameters: Vec<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<String>,
    /// The text of the values in messages.
    pub(crate) value_texts: ValueTexts,
}

/// The type of the caller's array in `out`, to which an output is converted and broadcast.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CastTarget {
    pub(crate) array_type: ArrayType,
}

impl Definition {
    /// Parses a text with these results; without names, those of the text. Without a rule, and under
    /// rules `numpy` and `named`, it refuses calls that mean something else in numexpr, for which the
    /// text may be written, such as `max(x, 1)`.
    pub(crate) fn parse(
        text: &str,
        results: Option<&[String]>,
        rule: Option<RuleSet>,
    ) -> Result<Self, ComputationError> {
        let parsed =
            Expression::parse(text, &ParseLimits::default()).and_then(|expression| match results {
                Some(names) => expression.with_results(names),
                None => Ok(expression),
            });
        let has_numpy_axes = matches!(rule, None | Some(RuleSet::Numpy | RuleSet::Named { .. }));
        let checked = parsed.and_then(|expression| {
            let check = has_numpy_axes.then(|| expression.check_axes_of_numexpr());
            check.unwrap_or(Ok(())).map(|()| expression)
        });
        let expression = checked.map_err(|error| ComputationError::Definition {
            text: text.to_owned(),
            error: Box::new(error),
        })?;
        // No parameter has one of these names, because a parameter's name does not begin with a digit.
        let names = (0..expression.results().len()).map(|index| index.to_string()).collect();
        Ok(Definition { names, expression, rule })
    }

    /// The definition of one operation, without a text.
    pub(crate) fn of_call(
        name: &str,
        call: &RecordedCall,
        rule: Option<RuleSet>,
    ) -> Result<Self, ComputationError> {
        let expression = Expression::of_call(call).map_err(|error| {
            ComputationError::Definition { text: call.to_string(), error: Box::new(error) }
        })?;
        Ok(Definition { names: vec![name.to_owned()], expression, rule })
    }

    /// Adds the definition to a graph; returns a value for each name.
    pub(crate) fn build(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<Vec<indim::Value>, ComputationError> {
        let (bindings, rule) = (self.bindings(values), self.rule.as_ref());
        self.expression.build_results(builder, &bindings, rule).map_err(|error| self.error(error))
    }

    /// The numbers that the definition computes from numbers, one for each name.
    pub(crate) fn numbers(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<Vec<Binding>, ComputationError> {
        let (bindings, rule) = (self.bindings(values), self.rule.as_ref());
        self.expression.build_bindings(builder, &bindings, rule).map_err(|error| self.error(error))
    }

    /// The values of its operand names.
    fn bindings(&self, values: &HashMap<String, Binding>) -> Vec<(&str, Binding)> {
        let names = self.expression.names().into_iter().chain(self.expression.constants());
        names.filter_map(|name| Some((name, values.get(name)?.clone()))).collect()
    }

    fn error(&self, error: ExprError) -> ComputationError {
        let text = self.expression.text().to_owned();
        ComputationError::Definition { text, error: Box::new(error) }
    }
}

impl Step {
    /// The names of its values in later steps.
    fn names(&self) -> &[String] {
        match self {
            Step::Definition(definition) | Step::Number(definition) => &definition.names,
            Step::Transformed(transformed) => &transformed.names,
            Step::Region(region) => &region.names,
        }
    }

    /// Adds the step to a graph; returns a value for each name.
    fn build(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<Vec<Binding>, ComputationError> {
        let built = match self {
            Step::Definition(definition) => definition.build(builder, values)?,
            Step::Transformed(transformed) => transformed.build(builder, values)?,
            Step::Region(region) => region.build(builder, values)?,
            Step::Number(definition) => return definition.numbers(builder, values),
        };
        Ok(built.into_iter().map(Binding::Array).collect())
    }

    /// Whether another step computes the same.
    fn is_same(&self, other: &Step) -> bool {
        match (self, other) {
            (Step::Definition(x), Step::Definition(y)) | (Step::Number(x), Step::Number(y)) => {
                x.names == y.names && x.rule == y.rule && x.expression.text() == y.expression.text()
            }
            (Step::Transformed(x), Step::Transformed(y)) => x.is_same(y),
            (Step::Region(x), Step::Region(y)) => x.is_same(y),
            _ => false,
        }
    }

    /// The length of its text in bytes; of a transformed function, loop or branch, that of the functions'
    /// steps.
    fn text_length(&self) -> usize {
        match self {
            Step::Definition(definition) | Step::Number(definition) => {
                definition.expression.text().len()
            }
            Step::Transformed(transformed) => transformed.computation.text_length(),
            Step::Region(region) => region.text_length(),
        }
    }
}

impl Computation {
    /// The computation of one text with these results; without names, those of the text. Constants that it
    /// uses are its last parameters, so that a caller can bind their names.
    pub(crate) fn of_expression(
        text: &str,
        results: Option<&[String]>,
        rule: Option<RuleSet>,
    ) -> Result<Self, ComputationError> {
        let definition = detach_with_signals(|_| Definition::parse(text, results, rule))?;
        let names =
            definition.expression.names().into_iter().chain(definition.expression.constants());
        let parameters = names.map(str::to_owned).collect();
        let (outputs, value_texts) = (definition.names.clone(), ValueTexts::default());
        Ok(Computation {
            parameters,
            steps: vec![Step::Definition(definition)],
            outputs,
            value_texts,
        })
    }

    /// The computation of one operation, whose parameters are the names in it.
    pub(crate) fn of_operation(
        call: &RecordedCall,
        rule: Option<RuleSet>,
    ) -> Result<Self, ComputationError> {
        let definition = Definition::of_call("result", call, rule)?;
        let names = definition.expression.names().into_iter();
        let (parameters, outputs) = (names.map(str::to_owned).collect(), definition.names.clone());
        let (steps, value_texts) = (vec![Step::Definition(definition)], ValueTexts::default());
        Ok(Computation { parameters, steps, outputs, value_texts })
    }

    /// Whether another has the same operations on the same parameters.
    pub(crate) fn is_same(&self, other: &Computation) -> bool {
        self.parameters == other.parameters
            && self.outputs == other.outputs
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(|(x, y)| x.is_same(y))
    }

    /// The bytes of the texts of all steps.
    pub(crate) fn text_length(&self) -> usize {
        self.steps.iter().map(Step::text_length).sum()
    }

    /// The expressions among the steps.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.steps.iter().filter_map(|step| match step {
            Step::Definition(definition) | Step::Number(definition) => Some(&definition.expression),
            Step::Transformed(_) | Step::Region(_) => None,
        })
    }

    /// The graph for operands of these types, one for each parameter.
    ///
    /// With `as_stored` bool arrays are read as u8 and converted, because NumPy's bool arrays may contain
    /// any byte.
    pub(crate) fn graph(
        &self,
        types: &[OperandType],
        targets: &[CastTarget],
        as_stored: bool,
    ) -> Result<Graph, ComputationError> {
        let UnfinishedGraph { b, outputs, .. } = self.build_graph(types, targets, as_stored)?;
        Ok(b.finish(&outputs)?)
    }

    /// Like [`Computation::graph`] without `as_stored`, with the facts about the sizes of the graph.
    pub(crate) fn graph_and_facts(
        &self,
        types: &[OperandType],
    ) -> Result<(Graph, SizeFacts), ComputationError> {
        let UnfinishedGraph { b, outputs, .. } = self.build_graph(types, &[], false)?;
        Ok((b.finish(&outputs)?, b.size_facts()))
    }

    /// Like [`Computation::graph`], for operands whose axes have these names, with those of the results.
    pub(crate) fn graph_with_axis_names(
        &self,
        types: &[OperandType],
        names: &[AxisNames],
    ) -> Result<(Graph, Vec<AxisNames>), ComputationError> {
        let (b, numbers) = (GraphBuilder::new(), Numbers::default());
        let values = self.bind_parameters(&b, &numbers, types, false)?;
        for (parameter, names) in self.parameters.iter().zip(names) {
            if let Some(Binding::Array(value)) = values.get(parameter) {
                b.name_axes(value, names.clone())?;
            }
        }
        let values = self.add_steps(&b, values)?;
        let outputs = self.outputs.iter().map(|name| self.output(&b, &values, name));
        let outputs: Vec<indim::Value> = outputs.collect::<Result<_, _>>()?;
        let names = outputs.iter().map(indim::Value::axis_names).collect();
        Ok((b.finish(&outputs)?, names))
    }

    /// Like [`Computation::graph`], with the guards on its numbers.
    pub(crate) fn graph_and_numbers(
        &self,
        types: &[OperandType],
    ) -> Result<(Graph, NumberProgram), ComputationError> {
        let UnfinishedGraph { b, outputs, numbers } = self.build_graph(types, &[], false)?;
        Ok((b.finish(&outputs)?, numbers))
    }

    /// Like [`Computation::graph`] with `as_stored`, for all sizes and numbers: the graph with the
    /// guards on its sizes, and the program of its numbers with the guards on them.
    fn symbolic(
        &self,
        types: &[OperandType],
        targets: &[CastTarget],
    ) -> Result<(SymbolicGraph, NumberProgram), ComputationError> {
        let UnfinishedGraph { b, outputs, numbers } = self.build_graph(types, targets, true)?;
        Ok((SymbolicGraph::new(&b.finish(&outputs)?, &b.size_facts()), numbers))
    }

    /// The unfinished graph of the computation, whose outputs are converted to `targets`.
    fn build_graph(
        &self,
        types: &[OperandType],
        targets: &[CastTarget],
        as_stored: bool,
    ) -> Result<UnfinishedGraph, ComputationError> {
        let (b, numbers) = (GraphBuilder::new(), Numbers::default());
        let values = self.bind_parameters(&b, &numbers, types, as_stored)?;
        let values = self.add_steps(&b, values)?;
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (index, name) in self.outputs.iter().enumerate() {
            let mut value = self.output(&b, &values, name)?;
            if let Some(target) = targets.get(index) {
                value = b.convert(value, target.array_type.dtype)?;
                let shape = target.array_type.shape.clone();
                // A broadcast to a target pins the sizes of its result, so it is left out if it changes
                // nothing.
                if value.array_type()?.shape != shape {
                    value = b
                        .broadcast_to_target(value, &TargetRule::Unidirectional, shape)
                        .map_err(result_error)?;
                }
            }
            outputs.push(value);
        }
        Ok(UnfinishedGraph { b, outputs, numbers: numbers.program() })
    }

    /// Adds all steps to the graph; `values` has the parameters. Returns the parameters and the values of
    /// the steps, by name.
    fn add_steps(
        &self,
        b: &GraphBuilder,
        mut values: HashMap<String, Binding>,
    ) -> Result<HashMap<String, Binding>, ComputationError> {
        for step in &self.steps {
            let built =
                step.build(b, &values).map_err(|error| self.value_texts.with_value_texts(error))?;
            values.extend(step.names().iter().cloned().zip(built));
        }
        Ok(values)
    }

    /// The bindings of the parameters, by name.
    fn bind_parameters(
        &self,
        b: &GraphBuilder,
        numbers: &Numbers,
        types: &[OperandType],
        as_stored: bool,
    ) -> Result<HashMap<String, Binding>, GraphError> {
        let bound = |(name, of): (&String, &OperandType)| {
            let binding = match of {
                OperandType::Number(number) => Binding::Number(*number),
                OperandType::Input(number) => {
                    numbers.input(name, *number).map_or(Binding::Number(*number), Binding::Input)
                }
                OperandType::Array(of) => Binding::Array(parameter(b, name, of, as_stored)?),
            };
            Ok((name.clone(), binding))
        };
        self.parameters.iter().zip(types).map(bound).collect()
    }

    /// The value of an output; a parameter that is a number becomes a scalar.
    fn output(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
        name: &str,
    ) -> Result<indim::Value, ComputationError> {
        match values.get(name) {
            Some(Binding::Array(value)) => Ok(value.clone()),
            _ => {
                let operands = vec![CallOperand::Name(name.to_owned())];
                let copy =
                    RecordedCall { function: "copy".to_owned(), operands, attributes: Vec::new() };
                Ok(Definition::of_call("result", &copy, None)?
                    .build(builder, values)?
                    .swap_remove(0))
            }
        }
    }

    /// Compiles for operands of these types, without the interpreter's lock; the caller holds no other lock.
    pub(crate) fn compile(
        &self,
        types: Vec<OperandType>,
        targets: Vec<CastTarget>,
    ) -> Result<CompiledVariant, ComputationError> {
        let (executable, numbers) = detach_with_signals(|signals| {
            let UnfinishedGraph { b, outputs, numbers } =
                self.build_graph(&types, &targets, true)?;
            let graph = b.finish(&outputs)?;
            let executable = compile_with(&graph, &compile_options()?, &mut || signals.check())?;
            Ok((executable, numbers))
        })?;
        Ok(CompiledVariant { targets, ..CompiledVariant::of(executable, types, Arc::new(numbers)) })
    }

    /// Like [`Computation::compile`], with the program for all sizes, if sizes may vary.
    pub(crate) fn compile_symbolic(
        &self,
        types: Vec<OperandType>,
        targets: Vec<CastTarget>,
    ) -> Result<(CompiledVariant, Option<SymbolicProgram>), ComputationError> {
        let (fixed, executable, numbers) = detach_with_signals(|signals| {
            let (symbolic, numbers) = self.symbolic(&types, &targets)?;
            let options = compile_options()?;
            if symbolic.guards().symbol_count() == 0 {
                let fixed = compile_with(symbolic.graph(), &options, &mut || signals.check())?;
                return Ok((Some(fixed), None, numbers));
            }
            let executable = compile_symbolic_with(&symbolic, &options, &mut || signals.check())?;
            Ok((None, Some(executable), numbers))
        })?;
        let numbers = Arc::new(numbers);
        let program = executable.map(|executable| {
            let memory_use = MemoryUse::new(executable.held_bytes());
            let (types, numbers) = (types.clone(), Arc::clone(&numbers));
            let target_dtypes = dtypes(&targets);
            SymbolicProgram { types, target_dtypes, executable, numbers, _memory_use: memory_use }
        });
        let bound = program.as_ref().and_then(|program| program.bind(&types, &targets));
        let fixed = fixed.map(|executable| CompiledVariant {
            targets,
            ..CompiledVariant::of(executable, types, numbers)
        });
        let compiled = bound.or(fixed).expect("invariant: the first sizes meet the guards");
        Ok((compiled, program))
    }
}

impl CompiledVariant {
    /// Builds and compiles a graph without the interpreter's lock.
    pub(crate) fn new(
        graph: impl FnOnce() -> Result<Graph, ComputationError> + Send,
    ) -> Result<CompiledVariant, ComputationError> {
        let executable = detach_with_signals(|signals| {
            Ok(compile_with(&graph()?, &compile_options()?, &mut || signals.check())?)
        })?;
        Ok(CompiledVariant::of(executable, Vec::new(), Arc::default()))
    }

    /// A program compiled for operands of these types.
    fn of(
        executable: Executable,
        types: Vec<OperandType>,
        numbers: Arc<NumberProgram>,
    ) -> CompiledVariant {
        let (is_parallel, has_loops) = (executable.is_parallel(), executable.has_loops());
        let forecast = executable.forecast();
        let bytes = forecast.bytes_read.saturating_add(forecast.bytes_written);
        let memory_use = MemoryUse::new(executable.own_bytes());
        let dense = |types: &[ArrayType]| types.iter().map(DenseArray::new).collect();
        CompiledVariant {
            types,
            targets: Vec::new(),
            numbers,
            dense_inputs: dense(executable.parameters()),
            dense_outputs: dense(executable.outputs()),
            executable,
            is_parallel,
            has_loops,
            bytes,
            _memory_use: memory_use,
        }
    }
}

/// The compile options of this process. The environment variable `INDIM_EXECUTOR` selects an executor; the
/// process reads it once.
pub(crate) fn compile_options() -> Result<CompileOptions, ComputationError> {
    static EXECUTOR: OnceLock<Result<ExecutorChoice, UnknownExecutor>> = OnceLock::new();
    let read = || match std::env::var_os("INDIM_EXECUTOR") {
        Some(name) => name.to_string_lossy().parse(),
        None => Ok(ExecutorChoice::Automatic),
    };
    match EXECUTOR.get_or_init(read) {
        Ok(executor) => {
            Ok(CompileOptions::new().memory_limit(pool::memory_limit()).executor(*executor))
        }
        Err(error) => {
            let message = format!("INDIM_EXECUTOR: {error}");
            Err(ComputationError::Exception(PyRuntimeError::new_err(message)))
        }
    }
}

/// A computation compiled for operands of certain element types and ranks, and all sizes that meet its
/// guards.
pub(crate) struct SymbolicProgram {
    /// The types it was first compiled for, one per parameter.
    types: Vec<OperandType>,
    /// The types its outputs are converted to; empty without conversion.
    target_dtypes: Vec<DType>,
    executable: SymbolicExecutable,
    /// Computes the inputs that follow the arrays, and checks for which numbers the program is valid.
    numbers: Arc<NumberProgram>,
    /// The memory use of the program itself.
    _memory_use: MemoryUse,
}

impl SymbolicProgram {
    /// Whether operands of these types differ from those of the first compilation only in sizes, and in
    /// numbers for which the program is valid.
    pub(crate) fn accepts(&self, types: &[OperandType], targets: &[CastTarget]) -> bool {
        types.len() == self.types.len()
            && dtypes(targets) == self.target_dtypes
            && types.iter().zip(&self.types).all(|(of, own)| of.has_same_kind(own))
            && self.numbers.is_valid_for(&inputs_of(types))
    }

    /// The program bound to operands of these types; `None` if their sizes do not meet the guards.
    pub(crate) fn bind(
        &self,
        types: &[OperandType],
        targets: &[CastTarget],
    ) -> Option<CompiledVariant> {
        let mut shapes: Vec<&[usize]> = types.iter().filter_map(OperandType::sizes).collect();
        // Numbers are the last inputs.
        shapes.resize(self.executable.guards().parameters().len(), &[]);
        let executable = self.executable.bind_once(&shapes).ok()?;
        let mut pairs = targets.iter().zip(executable.outputs());
        if !pairs.all(|(target, output)| target.array_type == *output) {
            return None;
        }
        let numbers = Arc::clone(&self.numbers);
        let compiled = CompiledVariant::of(executable, types.to_vec(), numbers);
        Some(CompiledVariant { targets: targets.to_vec(), ..compiled })
    }
}

/// A graph under construction, its outputs, and the program that computes its number inputs, which
/// follow its arrays.
struct UnfinishedGraph {
    b: GraphBuilder,
    outputs: Vec<indim::Value>,
    numbers: NumberProgram,
}

/// The element types of targets.
fn dtypes(targets: &[CastTarget]) -> Vec<DType> {
    targets.iter().map(|target| target.array_type.dtype).collect()
}

/// The numbers that are inputs.
fn inputs_of(types: &[OperandType]) -> Vec<Literal> {
    types.iter().filter_map(OperandType::input).collect()
}

/// The error of a result that does not broadcast to `out`.
fn result_error(mut error: GraphError) -> GraphError {
    error.operation = "out";
    for (name, _) in &mut error.operands {
        "the result".clone_into(name);
    }
    error
}

/// Adds a parameter. With `as_stored`, a bool array has the type of the bytes that NumPy stores, `u8`.
pub(crate) fn parameter(
    b: &GraphBuilder,
    name: &str,
    array_type: &ArrayType,
    as_stored: bool,
) -> Result<indim::Value, GraphError> {
    let shape: Shape = array_type.shape.clone();
    if as_stored && array_type.dtype == DType::Bool {
        return b.convert(b.parameter(name, DType::U8, shape)?, DType::Bool);
    }
    b.parameter(name, array_type.dtype, shape)
}

/// A computation compiled for operands of certain types, or a graph that `CompiledVariant::new`
/// compiled.
pub(crate) struct CompiledVariant {
    /// The types of its parameters; empty for a graph.
    pub(crate) types: Vec<OperandType>,
    /// The types its outputs were converted to; empty without conversion.
    pub(crate) targets: Vec<CastTarget>,
    /// Computes the inputs that follow the arrays, and checks for which numbers the variant is valid.
    pub(crate) numbers: Arc<NumberProgram>,
    pub(crate) executable: Executable,
    /// The usual memory layout of its inputs and outputs.
    pub(crate) dense_inputs: Vec<DenseArray>,
    pub(crate) dense_outputs: Vec<DenseArray>,
    /// Whether a run is large enough for several threads.
    pub(crate) is_parallel: bool,
    /// Whether the program has a loop, which may run for any time.
    pub(crate) has_loops: bool,
    /// The bytes that a run reads and writes.
    pub(crate) bytes: usize,
    /// The memory use of the program itself.
    _memory_use: MemoryUse,
}

impl CompiledVariant {
    /// Whether operands of these types differ from those of the variant only in sizes, and in numbers for
    /// which the variant is valid.
    pub(crate) fn has_kind(&self, types: &[OperandType], targets: &[CastTarget]) -> bool {
        self.types.len() == types.len()
            && dtypes(&self.targets) == dtypes(targets)
            && self.types.iter().zip(types).all(|(own, of)| own.has_same_kind(of))
            && self.numbers.is_valid_for(&inputs_of(types))
    }
}

impl fmt::Debug for CompiledVariant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CompiledVariant")
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}
