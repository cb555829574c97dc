//! Programs in files of other systems, as `indim/_models.py` loads them.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use indim::array::{Order, row_major_byte_strides};
use indim::formats::{
    DeclaredSize, InputBinding, LoadedModel, ModelInput, ProgramPart, ReadOptions, SourceFile,
    StagedModel, open_model,
};
use indim::run::{Threads, in_default_float_environment};
use indim::{ArrayView, DType, Graph, GraphBuilder, GraphError, RunOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::carried::{NamedInput, write_or_carry};
use crate::computation::{CompiledVariant, parameter};
use crate::detached::Signals;
use crate::error::{computation_error, load_error};
use crate::internal_error::guard;
use crate::numpy_api::NumpyArray;
use crate::operand::Operand;
use crate::order::parse_order;
use crate::pool;
use crate::rules::{ExplanationTexts, explanation_texts};
use crate::run::run;
use crate::written::{Destination, ExportParts};

/// Maximum number of compiled programs of one model; beyond it the least recently used is evicted.
const MAX_PROGRAMS: usize = 16;

/// A program from a file.
#[pyclass(frozen, name = "_Model", module = "indim._indim")]
pub(crate) struct Model {
    model: StagedModel,
    read: ReadOptions,
    /// Compiled programs of the last stage with their input types, least recently used first.
    programs: Mutex<Vec<(Vec<InputBinding>, Arc<CompiledVariant>)>>,
}

/// An input: name, element type, sizes (numbers, names, ranges, or `None`), whether it has a default, and
/// whether its elements are the sizes of a shape.
type InputDescription<'py> =
    (String, Option<&'static str>, Option<Vec<Bound<'py, PyAny>>>, bool, bool);

#[pymethods]
impl Model {
    /// Loads the program in a file, or in `content`; messages then call it `path`. `part` has the values at
    /// which the program starts and ends.
    #[new]
    #[pyo3(signature = (path, content=None, function=None, part=None))]
    fn new(
        py: Python<'_>,
        path: &str,
        content: Option<Vec<u8>>,
        function: Option<String>,
        part: Option<(Vec<String>, Vec<String>)>,
    ) -> PyResult<Model> {
        let source = match content {
            Some(content) => SourceFile::new(path, content),
            None => py.detach(|| open_model(path))?,
        };
        let (from, to) = part.unwrap_or_default();
        let part = ProgramPart { from, to };
        let options = ReadOptions::new().function(function).part(part);
        let model = py.detach(|| StagedModel::from_source(source, &options));
        let model = model.map_err(|error| load_error(py, &error))?;
        Ok(Model { model, read: options, programs: Mutex::default() })
    }

    /// The inputs of the program.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<InputDescription<'py>>> {
        let size = |size: &DeclaredSize| -> PyResult<Bound<'py, PyAny>> {
            Ok(match size {
                DeclaredSize::Known(size) => size.into_pyobject(py)?.into_any(),
                DeclaredSize::Dynamic => py.None().into_bound(py),
                size => size.to_string().into_pyobject(py)?.into_any(),
            })
        };
        let describe = |input: &indim::formats::ModelInput| {
            let sizes = input.sizes.as_ref().map(|sizes| sizes.iter().map(size).collect());
            let dtype = input.dtype.map(indim::DType::numpy_name);
            let sizes: Option<Vec<_>> = sizes.transpose()?;
            Ok((input.name.clone(), dtype, sizes, input.has_default, input.is_shape))
        };
        self.model.inputs().iter().map(describe).collect()
    }

    /// The names of the results.
    fn outputs(&self) -> Vec<String> {
        self.model.outputs().to_vec()
    }

    /// The file's name and content, from which another process loads the model.
    fn content(&self) -> PyResult<(&str, Cow<'_, [u8]>)> {
        let source = self.model.last().source();
        Ok((source.name(), Cow::Owned(source.whole_bytes()?.to_vec())))
    }

    /// Runs the program on one object per input; `None` is an omitted input.
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Option<Bound<'py, PyAny>>>,
        order: &str,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        guard(py, || {
            let order: Order = parse_order(order)?;
            let inputs = match self.model.has_stages() {
                true => self.run_stages(py, inputs)?,
                false => inputs,
            };
            let (bindings, operands) = bind_inputs(py, self.model.last(), &inputs)?;
            let compiled = self.find_or_compile(py, bindings)?;
            let results = run(py, &compiled, &operands, &[], order, || "a model".to_owned())?;
            Ok(results.into_iter().map(|array| array.into_object()).collect())
        })
    }

    /// Writes the program for these inputs as a file of another system, or of its own with copied nodes.
    fn write<'py>(
        &self,
        py: Python<'py>,
        destination: Destination,
        inputs: Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<ExportParts<'py>> {
        guard(py, || {
            let names = self.model.inputs().iter().map(|input| input.name.clone());
            let inputs: Vec<NamedInput<'py>> = names.zip(inputs).collect();
            let source = self.model.last().source();
            write_or_carry(py, self.model.whole(), (source, &self.read), &inputs, &destination)
        })
    }

    /// Text, JSON and SVG that explain the program for these inputs; `None` stands for the declared type.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<ExplanationTexts> {
        guard(py, || {
            let model = self.model.whole().map_err(|error| load_error(py, &error))?;
            let bindings = bind_declared_inputs(py, model, &inputs)?;
            let explained = py.detach(|| model.explain(&bindings));
            Ok(explanation_texts(explained.map_err(|error| load_error(py, &error))?))
        })
    }
}

impl Model {
    /// Runs all stages but the last; returns the inputs of the last one.
    fn run_stages<'py>(
        &self,
        py: Python<'py>,
        inputs: Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let declared = self.model.inputs();
        let operand = |(input, object): (&ModelInput, &Option<Bound<'py, PyAny>>)| {
            let object = object.as_ref()?;
            Some(Operand::array_from_python(object, &input.name))
        };
        let operands: Vec<Option<Operand<'py>>> = declared
            .iter()
            .zip(&inputs)
            .map(|pair| operand(pair).transpose())
            .collect::<PyResult<_>>()?;
        let masks: Vec<Option<Bound<'py, PyBytes>>> = operands
            .iter()
            .map(|operand| match operand {
                Some(Operand::Array(array)) if array.dtype() == DType::Bool => {
                    mask_bytes(array).map(Some)
                }
                _ => Ok(None),
            })
            .collect::<PyResult<_>>()?;
        // From here on no Python code runs that could change an array.
        let mut views: Vec<Option<ArrayView<'_>>> = Vec::with_capacity(operands.len());
        for (operand, mask) in operands.iter().zip(&masks) {
            views.push(match (operand, mask) {
                (Some(Operand::Array(array)), Some(mask)) => {
                    let (of, bytes) = (array.array_type(), mask.as_bytes());
                    let view =
                        ArrayView::from_bytes(of.clone(), row_major_byte_strides(&of), bytes, 0);
                    Some(view.map_err(|error| PyValueError::new_err(error.to_string()))?)
                }
                (Some(Operand::Array(array)), None) => Some(array.view(None)?),
                _ => None,
            });
        }
        let pool = pool::pool(py)?;
        let threads = pool.as_deref().map_or(Threads::Caller, Threads::Pool);
        let (values, raised) = py.detach(|| {
            let signals = Mutex::new(Signals::default());
            let owner = thread::current().id();
            let progress = |_: usize| match thread::current().id() == owner {
                true => signals.lock().unwrap_or_else(PoisonError::into_inner).check(),
                false => ControlFlow::Continue(()),
            };
            let options = RunOptions::new()
                .threads(threads)
                .memory_limit(pool::memory_limit())
                .progress(&progress);
            let values = in_default_float_environment(|| self.model.run_stages(&views, &options));
            let signals = signals.into_inner().unwrap_or_else(PoisonError::into_inner);
            (values, signals.into_raised())
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let values = values.map_err(|error| load_error(py, &error))?;
        let numpy = py.import("numpy")?;
        let value = |input: &ModelInput| {
            let Some(array) = values.get(&input.name) else {
                let given = declared.iter().position(|known| known.name == input.name);
                return Ok(given.and_then(|given| inputs.get(given)?.clone()));
            };
            let array =
                array.to_row_major().map_err(|error| PyValueError::new_err(error.to_string()))?;
            let bytes = PyBytes::new(py, array.bytes());
            let flat = numpy.call_method1("frombuffer", (bytes, array.dtype().numpy_name()))?;
            let sizes: Vec<usize> = array.shape().iter().copied().collect();
            flat.call_method1("reshape", (sizes,)).map(Some)
        };
        self.model.last().inputs().iter().map(value).collect()
    }

    fn find_or_compile(
        &self,
        py: Python<'_>,
        bindings: Vec<InputBinding>,
    ) -> PyResult<Arc<CompiledVariant>> {
        // No Python code runs under this lock. The list stays valid if a holder panics, so poison is ignored.
        let lock = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut programs = lock();
            if let Some(found) = programs.iter().rposition(|(known, _)| *known == bindings) {
                programs[found..].rotate_left(1);
                return Ok(Arc::clone(&programs[programs.len() - 1].1));
            }
        }
        let program = py.detach(|| self.model.last().program(&bindings));
        let program = program.map_err(|error| load_error(py, &error))?;
        let graph = program.graph.with_outputs(0..self.model.outputs().len());
        let compiled = CompiledVariant::new(|| Ok(as_stored(&graph)?));
        let compiled = Arc::new(compiled.map_err(|error| computation_error(py, &error))?);
        let mut programs = lock();
        let oldest = (programs.len() >= MAX_PROGRAMS).then(|| programs.remove(0));
        programs.push((bindings, Arc::clone(&compiled)));
        drop(programs);
        // Evicted programs are freed after the lock is released, because that may take long.
        drop(oldest);
        Ok(compiled)
    }
}

/// The input types for the program; `None` stands for the declared type.
pub(crate) fn bind_declared_inputs(
    py: Python<'_>,
    model: &LoadedModel,
    inputs: &[Option<Bound<'_, PyAny>>],
) -> PyResult<Vec<InputBinding>> {
    let (mut bindings, _) = bind_inputs(py, model, inputs)?;
    for (binding, input) in bindings.iter_mut().zip(model.inputs()) {
        if let (InputBinding::Default, false, Some(declared)) =
            (&binding, input.has_default, input.array_type())
        {
            *binding = InputBinding::Type(declared);
        }
    }
    Ok(bindings)
}

/// The input types for the program, and the inputs that are arrays.
fn bind_inputs<'py>(
    py: Python<'py>,
    model: &LoadedModel,
    inputs: &[Option<Bound<'py, PyAny>>],
) -> PyResult<(Vec<InputBinding>, Vec<Operand<'py>>)> {
    let (mut bindings, mut operands) = (Vec::new(), Vec::new());
    for (index, object) in inputs.iter().enumerate() {
        let name = model.inputs().get(index).map_or("input", |input| &input.name);
        let Some(object) = object else {
            bindings.push(InputBinding::Default);
            continue;
        };
        let operand = Operand::array_from_python(object, name)?;
        if let Operand::Array(array) = &operand {
            bindings.push(match model.inputs().get(index) {
                Some(input) if input.is_shape => {
                    let bound = model.bound_input(index, &array.view(None)?);
                    bound.map_err(|error| load_error(py, &error))?
                }
                _ => InputBinding::Type(array.array_type()),
            });
        }
        operands.push(operand);
    }
    operands.iter_mut().try_for_each(Operand::refresh_dtype)?;
    Ok((bindings, operands))
}

/// The elements of a bool array in row-major order, as 0 and 1: NumPy's arrays may contain other bytes.
fn mask_bytes<'py>(array: &NumpyArray<'py>) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = array.object().call_method1("view", ("uint8",))?;
    let is_true = bytes.call_method1("__ne__", (0,))?;
    Ok(is_true.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// The graph with parameters as NumPy stores them: bool arrays are read as u8.
pub(crate) fn as_stored(graph: &Graph) -> Result<Graph, GraphError> {
    let b = GraphBuilder::new();
    let parameters = graph.parameters().iter().enumerate();
    let arguments = parameters.map(|(index, &value)| {
        parameter(&b, graph.parameter_name(index), &graph[value].array_type, true)
    });
    let results = b.inline(graph, &arguments.collect::<Result<Vec<_>, _>>()?)?;
    b.finish(&results)
}
