//! A program: named steps, each an expression over parameters and earlier steps.
//!
//! An expression given to `evaluate` is a program of one step; `jit` records one step for each
//! operation of a function. A program knows no types: it is compiled for those of each call.

use core::fmt;
use std::collections::HashMap;

use indim::{
    ArrayType, Binding, CompileError, CompileOptions, DType, Executable, ExprError, Expression,
    Graph, GraphBuilder, GraphError, Limits, RuleSet, Shape, TargetRule, compile_with,
};
use indim_text::{Call, CallOperand};

use pyo3::PyErr;

use crate::cached_program::Held;
use crate::detached::detached;
use crate::operand::OperandType;
use crate::pieces::Pieces;
use crate::pool;

/// One operation or expression of a program.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// What later steps call its value.
    pub(crate) name: String,
    pub(crate) expression: Expression,
    pub(crate) rule: Option<RuleSet>,
}

/// Parameters, steps in order, and which values are returned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(crate) parameters: Vec<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Vec<String>,
    /// What messages call the values of steps.
    pub(crate) pieces: Pieces,
}

/// What an output is converted to, because the caller's array is so.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Target {
    pub(crate) array_type: ArrayType,
}

/// A mistake in a program, with the text of the step where it was found.
#[derive(Debug)]
pub(crate) enum ProgramError {
    /// In a step.
    Step { text: String, error: Box<ExprError> },
    /// Outside of the steps.
    Graph(Box<GraphError>),
    /// When the graph was compiled.
    Compile(CompileError),
    /// A signal raised an exception meanwhile.
    Interrupted(PyErr),
}

impl From<CompileError> for ProgramError {
    fn from(error: CompileError) -> Self {
        ProgramError::Compile(error)
    }
}

impl From<GraphError> for ProgramError {
    fn from(error: GraphError) -> Self {
        ProgramError::Graph(Box::new(error))
    }
}

impl Step {
    /// Reads the text of a step.
    pub(crate) fn parse(
        name: &str,
        text: &str,
        rule: Option<RuleSet>,
    ) -> Result<Self, ProgramError> {
        let expression = Expression::parse(text, &Limits::default()).map_err(|error| {
            ProgramError::Step { text: text.to_owned(), error: Box::new(error) }
        })?;
        Ok(Step { name: name.to_owned(), expression, rule })
    }

    /// The step of one operation, which has no text to be read.
    pub(crate) fn recorded(
        name: &str,
        call: &Call,
        rule: Option<RuleSet>,
    ) -> Result<Self, ProgramError> {
        let expression = Expression::of_call(call).map_err(|error| ProgramError::Step {
            text: call.to_string(),
            error: Box::new(error),
        })?;
        Ok(Step { name: name.to_owned(), expression, rule })
    }

    /// Adds the step to a graph.
    pub(crate) fn build(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
    ) -> Result<indim::Value, ProgramError> {
        let names = self.expression.names().into_iter().chain(self.expression.constants());
        let bindings: Vec<(&str, Binding)> =
            names.filter_map(|name| Some((name, values.get(name)?.clone()))).collect();
        self.expression.build_bound(builder, &bindings, self.rule.as_ref()).map_err(|error| {
            let text = self.expression.text().to_owned();
            ProgramError::Step { text, error: Box::new(error) }
        })
    }
}

impl Program {
    /// The program that computes one expression. Constants that it uses are its last parameters, since
    /// something else may be bound to them.
    pub(crate) fn of_expression(text: &str, rule: Option<RuleSet>) -> Result<Self, ProgramError> {
        let step = detached(|_| Step::parse("result", text, rule))?;
        let names = step.expression.names().into_iter().chain(step.expression.constants());
        let parameters = names.map(str::to_owned).collect();
        let outputs = vec!["result".to_owned()];
        Ok(Program { parameters, steps: vec![step], outputs, pieces: Pieces::default() })
    }

    /// Whether another has the same operations on the same parameters.
    pub(crate) fn is_same(&self, other: &Program) -> bool {
        let is_same = |x: &Step, y: &Step| {
            x.name == y.name && x.rule == y.rule && x.expression.text() == y.expression.text()
        };
        self.parameters == other.parameters
            && self.outputs == other.outputs
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(|(x, y)| is_same(x, y))
    }

    /// The graph for operands of these types, one for each parameter.
    ///
    /// `as_stored` makes it fit for NumPy's memory, whose bool arrays may hold any byte: they are read
    /// as u8 and converted.
    pub(crate) fn graph(
        &self,
        types: &[OperandType],
        targets: &[Target],
        as_stored: bool,
    ) -> Result<Graph, ProgramError> {
        let b = GraphBuilder::new();
        let mut values: HashMap<String, Binding> = HashMap::new();
        for (name, operand_type) in self.parameters.iter().zip(types) {
            let binding = match operand_type {
                OperandType::Number(number) => Binding::Number(*number),
                OperandType::Array(array_type) => {
                    Binding::Array(parameter(&b, name, array_type, as_stored)?)
                }
            };
            values.insert(name.clone(), binding);
        }
        for step in &self.steps {
            let value = step.build(&b, &values).map_err(|error| self.pieces.in_words(error))?;
            values.insert(step.name.clone(), Binding::Array(value));
        }
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (index, name) in self.outputs.iter().enumerate() {
            let mut value = self.output(&b, &values, name)?;
            if let Some(target) = targets.get(index) {
                value = b.convert(value, target.array_type.dtype)?;
                let shape = target.array_type.shape.clone();
                value = b
                    .broadcast_to_target(value, &TargetRule::Unidirectional, shape)
                    .map_err(about_result)?;
            }
            outputs.push(value);
        }
        Ok(b.finish(&outputs)?)
    }

    /// The value of an output; a parameter that is a number becomes a scalar.
    fn output(
        &self,
        builder: &GraphBuilder,
        values: &HashMap<String, Binding>,
        name: &str,
    ) -> Result<indim::Value, ProgramError> {
        match values.get(name) {
            Some(Binding::Array(value)) => Ok(value.clone()),
            _ => {
                let operands = vec![CallOperand::Name(name.to_owned())];
                let copy = Call { function: "copy".to_owned(), operands, attributes: Vec::new() };
                Step::recorded("result", &copy, None)?.build(builder, values)
            }
        }
    }

    /// Compiles for operands of these types, without the interpreter's lock; the caller holds no other.
    pub(crate) fn compile(
        &self,
        types: Vec<OperandType>,
        targets: Vec<Target>,
    ) -> Result<Compiled, ProgramError> {
        let executable = detached(|signals| {
            let graph = self.graph(&types, &targets, true)?;
            let memory_limit = pool::memory_limit();
            let options = CompileOptions { memory_limit, ..CompileOptions::default() };
            Ok(compile_with(&graph, &options, &mut || signals.look())?)
        })?;
        let is_parallel = executable.is_parallel();
        let forecast = executable.forecast();
        let bytes = forecast.bytes_read.saturating_add(forecast.bytes_written);
        let held = Held::new(executable.held_bytes());
        Ok(Compiled { types, targets, executable, is_parallel, bytes, _held: held })
    }
}

/// The error of a result that does not broadcast to `out`.
fn about_result(mut error: GraphError) -> GraphError {
    error.operation = "out";
    for (name, _) in &mut error.operands {
        "the result".clone_into(name);
    }
    error
}

fn parameter(
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

/// A program compiled for operands of certain types.
pub(crate) struct Compiled {
    /// What it takes, one for each parameter.
    pub(crate) types: Vec<OperandType>,
    /// What its outputs were converted to; empty when they were not.
    pub(crate) targets: Vec<Target>,
    pub(crate) executable: Executable,
    /// Whether a run is work for several threads.
    pub(crate) is_parallel: bool,
    /// The bytes that a run reads and writes.
    pub(crate) bytes: usize,
    /// The memory of the program itself.
    _held: Held,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Compiled").field("types", &self.types).finish_non_exhaustive()
    }
}
