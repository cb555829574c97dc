//! A loaded model, and its programs for sets of input types.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use indim_builder::GraphBuilder;
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, RunError, RunOptions, compile, sort_by_name,
};
use indim_model::outline::{OutlineOptions, ValueType};
use indim_model::{
    FormatError, FormatErrorKind, InputBinding, Model, ModelFormat, ModelInput, ModelProgram,
    ReadOptions, SourceFile, WriteOptions, WrittenModel,
};
use indim_ops::ArrayType;

use crate::explain::{Explanation, ValueOrigin};

use super::error::{LoadError, LoadErrorKind};
use super::open_model::open_model;
use super::registry::{outline, read, read_as, write};

/// Capacity of the program cache, in programs; the least recently used program is evicted.
const CACHE_CAPACITY: usize = 16;

/// A model from a file. Threads may share it.
pub struct LoadedModel {
    source: SourceFile,
    model: Box<dyn Model>,
    outputs: Vec<String>,
    options: CompileOptions,
    /// The program cache; the last used entry is at the end.
    program_cache: Mutex<Vec<(Vec<InputBinding>, Arc<LoadedProgram>)>>,
}

/// A model compiled for inputs of given types.
#[derive(Debug)]
pub struct LoadedProgram {
    /// The graph, with expectations and source operations.
    pub program: ModelProgram,
    /// The executable. Its inputs are the bound inputs of the model, its outputs those of the model.
    pub executable: Executable,
}

impl LoadedModel {
    /// Loads a file; its content determines the format. The file must stay as it is: large constants of ONNX
    /// are read when a program is compiled.
    ///
    /// # Errors
    /// `io`; those of [`read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let nothing = || SourceFile::new(path.to_string_lossy(), Bytes::new());
        let source = open_model(path).map_err(|error| LoadError::new(error, &nothing()))?;
        LoadedModel::from_source(source, &ReadOptions::default())
    }

    /// Loads a file in memory; `name` is for messages.
    ///
    /// # Errors
    /// Like [`read`].
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Bytes>) -> Result<Self, LoadError> {
        LoadedModel::from_source(SourceFile::new(name, bytes), &ReadOptions::default())
    }

    /// Loads a source file, which may have external files.
    ///
    /// # Errors
    /// Like [`read`].
    pub fn from_source(source: SourceFile, options: &ReadOptions) -> Result<Self, LoadError> {
        let model = read(&source, options);
        LoadedModel::new(source, model, options)
    }

    /// Like [`LoadedModel::from_source`], in this format.
    ///
    /// # Errors
    /// Like [`read_as`].
    pub fn read_as(
        format: ModelFormat,
        source: SourceFile,
        options: &ReadOptions,
    ) -> Result<Self, LoadError> {
        let model = read_as(format, &source, options);
        LoadedModel::new(source, model, options)
    }

    fn new(
        source: SourceFile,
        model: Result<Box<dyn Model>, FormatError>,
        read: &ReadOptions,
    ) -> Result<Self, LoadError> {
        match model {
            Ok(model) => {
                let (outputs, program_cache) = (model.outputs(), Mutex::default());
                let options = CompileOptions::default();
                Ok(LoadedModel { source, model, outputs, options, program_cache })
            }
            Err(error) => {
                let to_provide = values_to_provide(&error, &source, read);
                Err(LoadError::new(error, &source).providing(to_provide))
            }
        }
    }

    /// The same model with other compile options and an empty cache.
    #[must_use]
    pub fn compiled_with(self, options: CompileOptions) -> Self {
        LoadedModel { options, program_cache: Mutex::default(), ..self }
    }

    /// The source file of the model.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// The inputs, in positional order.
    pub fn inputs(&self) -> &[ModelInput] {
        self.model.inputs()
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Whether a shape may depend on elements that are known only after a run.
    pub(super) fn needs_stages(&self) -> bool {
        self.model.needs_stages()
    }

    /// The bindings of all inputs to their declared types or defaults.
    ///
    /// # Errors
    /// `input-missing` if an input has neither a complete type nor a default.
    pub fn declared(&self) -> Result<Vec<InputBinding>, LoadError> {
        let bound = |input: &ModelInput| match input.array_type() {
            _ if input.has_default => Ok(InputBinding::Default),
            Some(array_type) => Ok(InputBinding::Type(array_type)),
            None => Err(self.error(
                FormatErrorKind::InputMissing {
                    name: input.name.clone(),
                    declared: input.declared(),
                }
                .without_location(),
            )),
        };
        self.inputs().iter().map(bound).collect()
    }

    /// The program for these inputs.
    ///
    /// # Errors
    /// A mistake in the file, or in its inputs.
    pub fn program(&self, inputs: &[InputBinding]) -> Result<ModelProgram, LoadError> {
        self.model.build(inputs).map_err(|error| self.error(error))
    }

    /// The compiled program for these inputs, from the cache if possible.
    ///
    /// # Errors
    /// Those of [`LoadedModel::program`] and [`compile`].
    pub fn compiled(&self, inputs: &[InputBinding]) -> Result<Arc<LoadedProgram>, LoadError> {
        // A panic leaves the cache consistent.
        let lock_cache = || self.program_cache.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut cache = lock_cache();
            if let Some(found) = cache.iter().rposition(|(known, _)| known == inputs) {
                cache[found..].rotate_left(1);
                return Ok(Arc::clone(&cache[cache.len() - 1].1));
            }
        }
        if self.model.carries() {
            return Err(self.only_written());
        }
        let program = self.program(inputs)?;
        // Only `check` needs the expectations.
        let graph = program.graph.with_outputs(0..self.outputs.len());
        let executable = compile(&graph, &self.options).map_err(|error| self.error(error))?;
        let compiled = Arc::new(LoadedProgram { program, executable });
        let mut cache = lock_cache();
        if cache.len() >= CACHE_CAPACITY {
            cache.remove(0);
        }
        cache.push((inputs.to_vec(), Arc::clone(&compiled)));
        Ok(compiled)
    }

    /// Explains the program for these inputs: each broadcast has its place in the file and its rule there.
    ///
    /// # Errors
    /// Like [`LoadedModel::compiled`].
    pub fn explain(&self, inputs: &[InputBinding]) -> Result<Explanation, LoadError> {
        let program = self.program(inputs)?;
        let graph = program.graph.with_outputs(0..self.outputs.len());
        let origin = |value| {
            let before = program.origins.partition_point(|origin| origin.first <= value);
            let origin = program.origins.get(before.checked_sub(1)?)?;
            let place = self.model.location(origin.number).shown(&self.source);
            Some(ValueOrigin { place, rule: origin.rule.as_ref().map(ToString::to_string) })
        };
        Explanation::of_file(&graph, &self.options, origin).map_err(|e| self.error(e))
    }

    /// Loads the program again, without the nodes that indim cannot compute or write, if this error of
    /// loading or writing it comes from such nodes and `format` is its own format; else `None`, as for a
    /// protobuf of HLO, because HLO is written as text. The result cannot run: [`LoadedModel::write`] copies
    /// these nodes. The types in [`ReadOptions::declared`] are those that the file leaves open.
    ///
    /// ```
    /// # #[cfg(feature = "onnx")] {
    /// use indim::formats::{LoadedModel, ModelFormat, ReadOptions, SourceFile, WriteOptions};
    ///
    /// // y = com.acme.Foo(x)
    /// let file = b"\x08\x0a\x3a\x37\x0a\x15\x0a\x01x\x12\x01y\x22\x03Foo\x3a\x08com.acme\
    ///     \x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x03\
    ///     \x62\x0d\x0a\x01y\x12\x08\x0a\x06\x08\x01\x12\x02\x0a\x00\
    ///     \x42\x02\x10\x15";
    /// let source = SourceFile::new("foo.onnx", &file[..]);
    /// let (options, format) = (ReadOptions::default(), ModelFormat::Onnx);
    /// let error = LoadedModel::from_source(source.clone(), &options).unwrap_err();
    /// let model = LoadedModel::carrying(source, &options, format, &error).unwrap()?;
    /// let written = model.write(format, &model.declared()?, &WriteOptions::default())?;
    /// assert_eq!(written.carried, [("com.acme.Foo".to_owned(), 1)]);
    /// # }
    /// # Ok::<(), indim::formats::LoadError>(())
    /// ```
    pub fn carrying(
        source: SourceFile,
        options: &ReadOptions,
        format: ModelFormat,
        error: &LoadError,
    ) -> Option<Result<LoadedModel, LoadError>> {
        let is_of_nodes = match error.code() {
            "unsupported-op" | "unsupported-type" | "depends-on-data" => true,
            // Sizes that are not known, and functions without bodies.
            "unsupported" => matches!(format, ModelFormat::StableHlo | ModelFormat::Hlo),
            _ => false,
        };
        let is_own = ModelFormat::of(source.bytes()) == Some(format) && can_copy(&source);
        (is_of_nodes && is_own && !options.carries && options.part.is_whole())
            .then(|| LoadedModel::from_source(source, &options.clone().carries(true)))
    }

    /// Writes the program for these inputs as a file of another system, or, if it was loaded by
    /// [`LoadedModel::carrying`], of its own format.
    ///
    /// # Errors
    /// Those of [`LoadedModel::program`] and [`write()`]; `unsupported` if nodes of the source mean something
    /// else in the written file.
    pub fn write(
        &self,
        format: ModelFormat,
        inputs: &[InputBinding],
        options: &WriteOptions,
    ) -> Result<WrittenModel, LoadError> {
        if self.model.carries() && ModelFormat::of(self.source.bytes()) != Some(format) {
            return Err(self.only_written());
        }
        let program = self.program(inputs)?;
        let graph = program.graph.with_outputs(0..self.outputs.len());
        let source_opset = options.source_opset.or_else(|| self.model.opset());
        let options = options.clone().source_opset(source_opset);
        let written =
            write(format, &graph, &self.outputs, &options).map_err(|error| self.error(error))?;
        let is_own_format = ModelFormat::of(self.source.bytes()) == Some(format);
        let completed = self.model.complete(written, inputs);
        let completed = completed.and_then(|it| self.model.with_metadata(it, is_own_format));
        completed.map_err(|error| self.error(error))
    }

    /// Runs the program; `None` is an input with its default.
    ///
    /// # Errors
    /// Those of [`LoadedModel::compiled`] and of [`Executable::run`].
    pub fn run(&self, inputs: &[Option<ArrayView<'_>>]) -> Result<Vec<Array>, LoadError> {
        self.run_with(inputs, &RunOptions::default())
    }

    /// Like [`LoadedModel::run`], with named inputs in any order. An input that is not named has its default.
    ///
    /// ```
    /// use indim::Array;
    /// use indim::formats::LoadedModel;
    ///
    /// let text = "
    /// func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
    ///   %0 = stablehlo.subtract %x, %y : tensor<2xf32>
    ///   return %0 : tensor<2xf32>
    /// }";
    /// let model = LoadedModel::from_bytes("difference.mlir", text)?;
    /// let (x, y) = (Array::from(vec![3.0f32, 5.0]), Array::from(vec![1.0f32, 2.0]));
    /// let results = model.run_named(&[("y", y.view()), ("x", x.view())])?;
    /// assert_eq!(results[0].elements::<f32>(), Ok(&[2.0, 3.0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`LoadedModel::bind`] and [`LoadedModel::run`].
    pub fn run_named(&self, named: &[(&str, ArrayView<'_>)]) -> Result<Vec<Array>, LoadError> {
        self.run(&self.bind(named)?)
    }

    /// The arrays in the order of the inputs, for the methods that run; `None` is an input with its default.
    ///
    /// # Errors
    /// `unknown-input`; `duplicate-input`; `missing-input` for an input without a default.
    pub fn bind<'a>(
        &self,
        named: &[(&str, ArrayView<'a>)],
    ) -> Result<Vec<Option<ArrayView<'a>>>, LoadError> {
        let names: Vec<String> = self.inputs().iter().map(|input| input.name.clone()).collect();
        let arrays = sort_by_name(&names, named).map_err(|error| self.error(error))?;
        for (input, array) in self.inputs().iter().zip(&arrays) {
            if array.is_none() && !input.has_default {
                return Err(self.error(RunError::MissingInput { name: input.name.clone() }));
            }
        }
        Ok(arrays)
    }

    /// Like [`LoadedModel::run`], with options.
    ///
    /// # Errors
    /// Like [`LoadedModel::run`].
    pub fn run_with(
        &self,
        inputs: &[Option<ArrayView<'_>>],
        options: &RunOptions<'_>,
    ) -> Result<Vec<Array>, LoadError> {
        let compiled = self.compiled(&self.bound(inputs)?)?;
        let given: Vec<ArrayView<'_>> = inputs.iter().flatten().cloned().collect();
        compiled.executable.run_with(&given, options).map_err(|error| self.error(error))
    }

    /// The bindings for these arrays: types, or elements for inputs that determine shapes.
    ///
    /// # Errors
    /// Those of [`Executable::run`].
    pub fn bound(&self, inputs: &[Option<ArrayView<'_>>]) -> Result<Vec<InputBinding>, LoadError> {
        let bound = |(index, view): (usize, &Option<ArrayView<'_>>)| match view {
            Some(view) => self.bound_input(index, view),
            None => Ok(InputBinding::Default),
        };
        inputs.iter().enumerate().map(bound).collect()
    }

    /// The binding of an array for the input at this index: its type, or its elements if the input determines
    /// shapes.
    ///
    /// # Errors
    /// Those of [`Executable::run`].
    pub fn bound_input(
        &self,
        index: usize,
        view: &ArrayView<'_>,
    ) -> Result<InputBinding, LoadError> {
        match self.inputs().get(index) {
            Some(input) if input.is_shape => self.elements(view).map(InputBinding::Elements),
            _ => Ok(InputBinding::Type(view.array_type().clone())),
        }
    }

    /// Copies the elements of a view.
    pub(super) fn elements(&self, view: &ArrayView<'_>) -> Result<Array, LoadError> {
        let b = GraphBuilder::new();
        let ArrayType { dtype, shape } = view.array_type().clone();
        let value = b.parameter("x", dtype, shape).and_then(|x| b.finish(&[x]));
        let format = |error| FormatErrorKind::from(error).without_location();
        let graph = value.map_err(|error| self.error(format(error)))?;
        let copy = compile(&graph, &CompileOptions::default()).map_err(|e| self.error(e))?;
        let copied = copy.run(core::slice::from_ref(view)).map_err(|e| self.error(e))?;
        Ok(copied[0].clone())
    }

    /// The error for any other use of a program whose nodes are copied when it is written.
    fn only_written(&self) -> LoadError {
        let what =
            "a program with copied nodes is only written in its own format; this is".to_owned();
        self.error(FormatErrorKind::Unsupported { what }.without_location())
    }

    pub(super) fn error(&self, kind: impl Into<LoadErrorKind>) -> LoadError {
        LoadError::new(kind, &self.source)
    }
}

/// Names and types of the values that replace the unsupported operations of a program.
fn values_to_provide(
    error: &FormatError,
    source: &SourceFile,
    options: &ReadOptions,
) -> Vec<(String, ValueType)> {
    if !matches!(error.kind, FormatErrorKind::UnsupportedOperations(_)) {
        return Vec::new();
    }
    let Ok(outline) = outline(source, options, &OutlineOptions::default()) else {
        return Vec::new();
    };
    let values = outline.values_to_provide(&options.part);
    // If the caller provided all outputs, a run would compute nothing.
    let is_end = |name: &String| match options.part.to.is_empty() {
        true => outline.outputs.iter().any(|&it| outline.values[it].run_name() == Some(name)),
        false => options.part.to.contains(name),
    };
    let named = |&index: &usize| {
        let value = &outline.values[index];
        Some((value.run_name()?.to_owned(), value.value_type.clone()))
    };
    let Some(named) = values.iter().map(named).collect::<Option<Vec<(String, ValueType)>>>() else {
        return Vec::new();
    };
    if named.iter().all(|(name, _)| is_end(name)) || !is_enough(&named, source, options) {
        return Vec::new();
    }
    named
}

/// Whether the reader finds no unsupported operation if these values are given. The outline alone does
/// not tell, because the file may have further errors.
fn is_enough(named: &[(String, ValueType)], source: &SourceFile, options: &ReadOptions) -> bool {
    let mut options = options.clone();
    options.part.from.extend(named.iter().map(|(name, _)| name.clone()));
    let error = read(source, &options).err();
    error.is_none_or(|error| !matches!(error.kind, FormatErrorKind::UnsupportedOperations(_)))
}

impl core::fmt::Debug for LoadedModel {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter
            .debug_struct("LoadedModel")
            .field("source", &self.source)
            .field("inputs", &self.inputs())
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}

/// Whether nodes of a file can be copied into a file of the same format. HLO is written as text, so the nodes
/// of its protobufs cannot.
pub(super) fn can_copy(source: &SourceFile) -> bool {
    match ModelFormat::of(source.bytes()) {
        Some(ModelFormat::Hlo) => !ModelFormat::is_binary(source.bytes()),
        Some(_) => true,
        None => false,
    }
}
