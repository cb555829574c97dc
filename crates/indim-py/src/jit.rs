//! `CompiledFunction`: the result of `@indim.jit`.
//!
//! A call looks up the trace for the types and ranks of its arguments, and for their sizes if the function
//! read sizes. If none exists,
//! `indim/_trace_function.py` runs the function on traced values, which makes the trace. Then the call looks
//! up the variant of the trace's computation for the operands; a missing variant is compiled
//! (`cached_computation.rs`). A function whose sizes depend on data runs in stages (`indim/_data_stages.py`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indim::array::Order;
use indim::graph::Literal;
use indim::text::NumberProgram;
use pyo3::PyTraverseError;
use pyo3::exceptions::PyValueError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::argument::{Argument, ArgumentDescription, ArgumentType};
use crate::cached_computation::CachedComputation;
use crate::captured::{CaptureDescription, Captures};
use crate::casting::Casting;
use crate::computation::CompiledVariant;
use crate::engine::{GraphParts, engine, graph_parts, is_for_engine};
use crate::error::computation_error;
use crate::internal_error::guard;
use crate::numpy_api::NumpyArray;
use crate::operand::{Operand, OperandType};
use crate::order::{order_name, parse_order};
use crate::out::variant_into;
use crate::parameters::{Keywords, ParameterDescription, Parameters};
use crate::progress::with_setting;
use crate::recorder::{ImplicitOperand, Recorder, SizeUse};
use crate::rules::{ExplanationTexts, explain_computation};
use crate::run::run;
use crate::structure::Structure;
use crate::written::{Destination, ExportParts, write_traced};

/// Maximum cached traces of a function; the oldest is evicted first.
const MAX_TRACES: usize = 64;

/// The operations of a function for arguments of certain types.
struct Trace {
    arguments: Vec<ArgumentType>,
    /// The sizes that the trace is valid for.
    size_use: SizeUse,
    /// The guards on number arguments: the numbers for which the trace is valid.
    numbers: NumberProgram,
    /// The operands of the last parameters: captured arrays, and sizes that the function read as numbers.
    implicit_operands: Vec<ImplicitOperand>,
    /// Objects that the function may have read, other than its arguments.
    captures: Captures,
    cached: Arc<CachedComputation>,
    structure: Structure,
}

/// Result of `indim/_trace_function.py`: the container of the results, the keys of a dict or the template of
/// nested containers, the names of the results, and the captures, which the function may have read outside
/// its arguments.
type TraceParts<'py> = (String, Vec<Py<PyAny>>, Vec<String>, Vec<CaptureDescription<'py>>);

/// A Python function that is compiled for the types and ranks it is called with.
///
/// The subclass in `indim/_jit.py` adds `__dict__`, whose contents the garbage collector can then visit.
#[pyclass(frozen, subclass, module = "indim._indim", name = "CompiledFunction")]
pub(crate) struct CompiledFunction {
    function: Py<PyAny>,
    parameters: Parameters,
    /// Runs the function on traced values.
    trace: Py<PyAny>,
    traces: Mutex<Vec<Arc<Trace>>>,
    /// Whether a size depended on data, so that calls run in stages.
    has_stages: AtomicBool,
}

static SIZE_FROM_DATA_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether a size depends on data, which a trace does not have.
fn is_size_from_data(py: Python<'_>, error: &PyErr) -> bool {
    let class = SIZE_FROM_DATA_ERROR.import(py, "indim._data_stages", "SizeFromDataError");
    class.is_ok_and(|class| error.is_instance(py, class))
}

static SHAPE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Whether an operation does not take the shapes of its operands.
fn is_shape_error(py: Python<'_>, error: &PyErr) -> bool {
    let class = SHAPE_ERROR.import(py, "indim._errors", "ShapeError");
    class.is_ok_and(|class| error.is_instance(py, class))
}

impl CompiledFunction {
    fn traces(&self) -> MutexGuard<'_, Vec<Arc<Trace>>> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arguments<'py>(&self, args: &Bound<'py, PyTuple>) -> PyResult<Vec<Argument<'py>>> {
        let mut arguments = Vec::with_capacity(args.len());
        for (position, object) in args.iter_borrowed().enumerate() {
            arguments.push(self.parameters.argument(position, &object)?);
        }
        arguments.iter_mut().try_for_each(Argument::refresh_dtype)?;
        Ok(arguments)
    }

    /// The trace for these arguments; traced now if none exists, or if a captured object has changed since.
    fn trace(&self, py: Python<'_>, arguments: &[Argument<'_>]) -> PyResult<Arc<Trace>> {
        // Comparing static arguments runs Python code, which must not run under the lock. The last trace is
        // the most likely one.
        let last = self.traces().last().cloned();
        if let Some(last) = last
            && last.accepts(arguments)?
            && last.captures.are_unchanged(py)?
        {
            return Ok(last);
        }
        let known: Vec<Arc<Trace>> = self.traces().clone();
        let mut stale = None;
        for trace in known.iter().rev() {
            if !trace.accepts(arguments)? {
                continue;
            }
            if trace.captures.are_unchanged(py)? {
                return Ok(Arc::clone(trace));
            }
            stale = Some(trace);
            break;
        }
        let trace = Arc::new(self.record(py, arguments, stale)?);
        let evicted = self.insert(&trace, stale);
        // Dropping objects may run Python code that calls this function, so it is done without the lock.
        drop(evicted);
        Ok(trace)
    }

    /// A new trace for the sizes of these arguments; `None` if that for their types and ranks has a program
    /// for these sizes, or is already one for these sizes alone.
    fn trace_for_sizes<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Arc<Trace>>> {
        let arguments = self.arguments(args)?;
        let known = self.trace(py, &arguments)?;
        let operands = known.operands(py, arguments)?;
        if known.size_use == SizeUse::All || known.cached.variant(&operands, &[]).is_ok() {
            return Ok(None);
        }
        let arguments = self.arguments(args)?;
        let trace =
            Arc::new(Trace { size_use: SizeUse::All, ..self.record(py, &arguments, None)? });
        drop(self.insert(&trace, None));
        Ok(Some(trace))
    }

    /// The program of a trace for these arguments, compiled now if none exists.
    fn compiled_call<'py>(
        &self,
        py: Python<'py>,
        trace: Arc<Trace>,
        arguments: Vec<Argument<'py>>,
        options: &Options<'py>,
    ) -> PyResult<CompiledCall<'py>> {
        let operands = trace.operands(py, arguments)?;
        let outputs = options.out.as_ref().map(|out| trace.structure.outputs(out)).transpose()?;
        let (cached, casting) = (&trace.cached, options.casting);
        let compiled = variant_into(py, cached, &operands, outputs.as_deref(), casting)?;
        Ok(CompiledCall { trace, operands, outputs, compiled })
    }

    /// The result of `read` for a trace and its operands; for a new trace for the sizes of these arguments if
    /// the operations of an earlier one do not take them.
    fn with_trace<'py, T>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        read: impl Fn(&Trace, &[Operand<'py>]) -> PyResult<T>,
    ) -> PyResult<T> {
        let arguments = self.arguments(args)?;
        let trace = self.trace(py, &arguments)?;
        match read(&trace, &trace.operands(py, arguments)?) {
            Err(error) if is_shape_error(py, &error) => {
                let Some(trace) = self.trace_for_sizes(py, args)? else { return Err(error) };
                read(&trace, &trace.operands(py, self.arguments(args)?)?)
            }
            result => result,
        }
    }

    /// Adds a trace, and replaces a stale one; returns evicted traces.
    fn insert(&self, trace: &Arc<Trace>, stale: Option<&Arc<Trace>>) -> Option<Arc<Trace>> {
        let mut traces = self.traces();
        let position_of_stale =
            traces.iter().position(|known| stale.is_some_and(|stale| Arc::ptr_eq(known, stale)));
        let evicted = match position_of_stale {
            Some(position) => Some(traces.remove(position)),
            None if traces.len() >= MAX_TRACES => Some(traces.remove(0)),
            None => None,
        };
        traces.push(Arc::clone(trace));
        evicted
    }

    /// Runs the function on traced values. Programs compiled for a `stale` trace are reused if the new one
    /// has the same operations.
    fn record(
        &self,
        py: Python<'_>,
        arguments: &[Argument<'_>],
        stale: Option<&Arc<Trace>>,
    ) -> PyResult<Trace> {
        let recorder = Bound::new(py, Recorder::default())?;
        let mut values: Vec<ArgumentDescription<'_>> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            values.push(argument.describe(py, self.parameters.name(position).to_owned())?);
        }
        let traced = self.trace.bind(py).call1((&self.function, &recorder, values))?;
        let (kind, keys, outputs, capture_descriptions): TraceParts<'_> = traced.extract()?;
        let structure = Structure::new(&kind, keys);
        let recorded = recorder.get().finish(outputs);
        let known = stale.filter(|stale| stale.cached.computation.is_same(&recorded.computation));
        let cached = match known {
            Some(stale) => Arc::clone(&stale.cached),
            None => CachedComputation::new(py, recorded.computation),
        };
        Ok(Trace {
            arguments: arguments.iter().map(Argument::argument_type).collect(),
            size_use: recorded.size_use,
            numbers: recorded.numbers,
            implicit_operands: recorded.implicit_operands,
            captures: Captures::new(py, capture_descriptions)?,
            cached,
            structure,
        })
    }
}

/// A call that is ready to run.
struct CompiledCall<'py> {
    trace: Arc<Trace>,
    operands: Vec<Operand<'py>>,
    outputs: Option<Vec<Option<NumpyArray<'py>>>>,
    compiled: Arc<CompiledVariant>,
}

/// The name of a function in profiles.
fn name_of(function: &Bound<'_, PyAny>) -> String {
    let name = function.getattr("__qualname__").and_then(|name| name.extract());
    name.unwrap_or_else(|_| "a function".to_owned())
}

/// Whether a traced value is among the arguments, or in their containers.
fn has_tracer(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let has_tracer = args.py().import("indim._tracing")?.getattr("has_tracer")?;
    has_tracer.call1((args,))?.is_truthy()
}

impl Trace {
    /// Whether the arguments at tracing had the types of these arguments, and the trace is valid for the
    /// numbers and sizes among these.
    fn accepts(&self, arguments: &[Argument<'_>]) -> PyResult<bool> {
        if self.arguments.len() != arguments.len() {
            return Ok(false);
        }
        for (argument, expected) in arguments.iter().zip(&self.arguments) {
            if !argument.has_type(expected, self.size_use)? {
                return Ok(false);
            }
        }
        Ok(self.numbers.is_empty() || self.numbers.is_valid_for(&self.number_inputs(arguments)))
    }

    /// The numbers among the arguments, then the sizes that the function read.
    fn number_inputs(&self, arguments: &[Argument<'_>]) -> Vec<Literal> {
        let mut operands = Vec::new();
        arguments.iter().for_each(|argument| argument.add_operands(&mut operands));
        let numbers = operands.iter().filter_map(|operand| operand.input());
        let sizes = self.implicit_operands.iter().filter_map(|operand| match operand {
            ImplicitOperand::Size { parameter, axis, .. } => operands.get(*parameter)?.size(*axis),
            ImplicitOperand::Captured(_) => None,
        });
        numbers.chain(sizes).collect()
    }

    /// Visits the held objects for the garbage collector.
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.arguments.iter().try_for_each(|argument| argument.traverse(visit))?;
        self.implicit_operands.iter().try_for_each(|operand| match operand {
            ImplicitOperand::Captured(object) => visit.call(object),
            ImplicitOperand::Size { .. } => Ok(()),
        })?;
        self.structure.traverse(visit)?;
        self.captures.traverse(visit)
    }

    /// The operands of the computation: arrays and number inputs among the arguments, then the implicit
    /// ones.
    fn operands<'py>(
        &self,
        py: Python<'py>,
        arguments: Vec<Argument<'py>>,
    ) -> PyResult<Vec<Operand<'py>>> {
        let mut operands = Vec::with_capacity(self.cached.computation.parameters.len());
        for argument in arguments {
            argument.into_operands(&mut operands);
        }
        for operand in &self.implicit_operands {
            operands.push(match operand {
                ImplicitOperand::Captured(object) => {
                    Operand::from_python(object.bind(py), "captured array")?
                }
                ImplicitOperand::Size { parameter, axis, .. } => {
                    // Another thread may have changed the shape after the trace accepted it.
                    let size = operands.get(*parameter).and_then(|array| array.size(*axis));
                    Operand::Number(size.ok_or_else(|| {
                        PyValueError::new_err("an argument changed its shape during the call")
                    })?)
                }
            });
        }
        Ok(operands)
    }
}

#[pymethods]
impl CompiledFunction {
    #[new]
    fn new(
        py: Python<'_>,
        function: Py<PyAny>,
        parameters: Vec<ParameterDescription<'_>>,
        bind: Py<PyAny>,
        trace: Py<PyAny>,
    ) -> PyResult<Self> {
        let parameters = Parameters::new(py, parameters, bind)?;
        let (traces, has_stages) = Default::default();
        Ok(CompiledFunction { function, parameters, trace, traces, has_stages })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(py, || {
            let options = Options::take(kwargs, &slf.get().parameters)?;
            let progress = options.progress.as_ref();
            with_setting(py, progress, || called(slf, py, args, &options))
        })
    }

    /// Text, JSON and SVG that explain the computation for these arguments; without arguments, the last
    /// recorded trace, for the types that it was last compiled for.
    #[pyo3(signature = (*args, **kwargs))]
    fn _explain<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<ExplanationTexts>> {
        guard(py, || {
            let has_arguments = !args.is_empty() || kwargs.is_some_and(|kwargs| !kwargs.is_empty());
            let explain = |trace: &Trace, types: &[OperandType]| {
                explain_computation(py, &trace.cached.computation, types, &trace.numbers).map(Some)
            };
            if has_arguments {
                let args = self.parameters.bind_arguments(args, &keywords(kwargs)?)?;
                return self.with_trace(py, &args, |trace, operands| {
                    let types: Vec<OperandType> =
                        operands.iter().map(Operand::operand_type).collect();
                    explain(trace, &types)
                });
            }
            let Some(trace) = self.traces().last().cloned() else { return Ok(None) };
            let Some(types) = trace.cached.last_types() else { return Ok(None) };
            explain(&trace, &types)
        })
    }

    /// The graph for these arguments.
    fn _graph<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
    ) -> PyResult<GraphParts<'py>> {
        guard(py, || {
            self.with_trace(py, args, |trace, operands| {
                graph_parts(py, &trace.cached, operands, &trace.structure)
            })
        })
    }

    /// The computation for these arguments in the file format of another system.
    fn _export<'py>(
        &self,
        py: Python<'py>,
        destination: Destination,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<ExportParts<'py>> {
        guard(py, || {
            let args = self.parameters.bind_arguments(args, &keywords(Some(kwargs))?)?;
            self.with_trace(py, &args, |trace, operands| {
                let types = operands.iter().map(|operand| operand.operand_type().without_inputs());
                let types: Vec<OperandType> = types.collect();
                let graph = trace.cached.computation.graph(&types, &[], false);
                let graph = graph.map_err(|error| computation_error(py, &error))?;
                write_traced(py, &graph, &destination)
            })
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        visit.call(&self.trace)?;
        self.parameters.traverse(&visit)?;
        // The lock's owner uses the traces; traces that are not visited are not collected.
        let Ok(traces) = self.traces.try_lock() else { return Ok(()) };
        traces.iter().try_for_each(|trace| trace.traverse(&visit))
    }

    /// The number of cached traces: one for each combination of types, ranks, static arguments, sizes that
    /// the function read, and guards on numbers.
    #[getter]
    fn trace_count(&self) -> usize {
        self.traces().len()
    }
}

/// The results of a call.
fn called<'py>(
    slf: &Bound<'py, CompiledFunction>,
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    options: &Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let this = slf.get();
    let args = this.parameters.bind_arguments(args, &options.rest)?;
    let arguments = match this.arguments(&args) {
        // The caller is being traced: the operations become part of its trace.
        Err(_) if has_tracer(&args)? => {
            let inlined = py.import("indim._trace_function")?.getattr("inlined")?;
            return inlined.call1((this.function.bind(py), args));
        }
        // An argument is an array of Dask, xarray or pandas: `indim/_engines.py` computes the call.
        Err(error) if is_for_engine(py, &error) => {
            let out = options.out.as_ref();
            return engine(py, "call")?.call1((slf, this.function.bind(py), args, out));
        }
        arguments => arguments?,
    };
    let trace = match this.has_stages.load(Ordering::Relaxed) {
        true => return run_in_stages(slf, &args, options),
        false => this.trace(py, &arguments),
    };
    let trace = match trace {
        Err(error) if is_size_from_data(py, &error) => {
            this.has_stages.store(true, Ordering::Relaxed);
            return run_in_stages(slf, &args, options);
        }
        trace => trace?,
    };
    let call = match this.compiled_call(py, trace, arguments, options) {
        Err(error) if is_shape_error(py, &error) => {
            // Other shapes may ask for other operations than those of an earlier trace.
            let Some(trace) = this.trace_for_sizes(py, &args)? else {
                return Err(error);
            };
            this.compiled_call(py, trace, this.arguments(&args)?, options)?
        }
        call => call?,
    };
    let CompiledCall { trace, operands, outputs, compiled } = call;
    let outputs = outputs.unwrap_or_default();
    let label = || name_of(this.function.bind(py));
    let results = run(py, &compiled, &operands, &outputs, options.order, label)?;
    match &options.out {
        Some(out) if trace.structure.returns_out(out, &outputs) => Ok(out.clone()),
        _ => trace.structure.unflatten(py, results),
    }
}

/// The results of a function whose sizes depend on data.
fn run_in_stages<'py>(
    function: &Bound<'py, CompiledFunction>,
    args: &Bound<'py, PyTuple>,
    options: &Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let run = function.py().import("indim._data_stages")?.getattr("run")?;
    let body = function.get().function.bind(function.py());
    run.call1((function, body, args, &options.out, order_name(options.order)))
}

/// The options of a call, and the keyword arguments of the function.
struct Options<'py> {
    out: Option<Bound<'py, PyAny>>,
    order: Order,
    casting: Casting,
    progress: Option<Bound<'py, PyAny>>,
    rest: Keywords<'py>,
}

impl<'py> Options<'py> {
    /// Splits the keyword arguments of a call into options and arguments of the function. A parameter of
    /// the function takes precedence over an option of the same name.
    fn take(kwargs: Option<&Bound<'py, PyDict>>, parameters: &Parameters) -> PyResult<Self> {
        let mut options = Options {
            out: None,
            order: Order::K,
            casting: Casting::DEFAULT,
            progress: None,
            rest: Vec::new(),
        };
        for (key, value) in kwargs.into_iter().flatten() {
            let key = key.cast_into::<PyString>()?;
            let is_given = !value.is_none();
            match key.to_cow()?.as_ref() {
                name @ ("out" | "order" | "casting" | "progress")
                    if parameters.takes_keyword(name) =>
                {
                    options.rest.push((key.clone(), value));
                }
                "out" => options.out = is_given.then_some(value),
                "order" if is_given => options.order = parse_order(&text_of(&value)?)?,
                "casting" if is_given => options.casting = Casting::parse(&text_of(&value)?)?,
                "progress" => options.progress = is_given.then_some(value),
                "order" | "casting" => {}
                _ => {
                    options.rest.push((key.clone(), value));
                }
            }
        }
        Ok(options)
    }
}

fn keywords<'py>(kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Keywords<'py>> {
    let pair = |(key, value): (Bound<'py, PyAny>, _)| Ok((key.cast_into::<PyString>()?, value));
    kwargs.into_iter().flatten().map(pair).collect()
}

fn text_of(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.cast::<PyString>()?.to_cow()?.into_owned())
}
