//! An ONNX model: its flattened nodes, inputs and outputs.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use indim_graph::Array;
use indim_model::{
    DeclaredSize, FormatError, FormatErrorKind, FormatLimits, InputBinding, Location, Model,
    ModelInput, ModelProgram, ReadOptions, SourceFile, WrittenModel,
};
use indim_ops::DType;

use super::analysis::{determines_shapes, shape_operands};
use super::build::ProgramBuilder;
use super::operators::{Operator, Step};
use super::part;
use indim_onnx_file::body::{GraphBody, ModelFunction, check_many, decoded, domain_of};
use indim_onnx_file::carry::Metadata;
use indim_onnx_file::flatten::{Flattener, Functions, ValueNumber, mark_live, prune, remove_dead};
use indim_onnx_file::inlined::check_inlined;
use indim_onnx_file::messages::{
    FunctionProto, GraphProto, ModelProto, OperatorSetIdProto, TensorProto, ValueInfoProto,
};
use indim_onnx_file::sparse::make_dense;
use indim_onnx_file::tensor::Tensors;
use indim_onnx_file::types::{declared_at, declared_input, dtype_of};

/// The IR version since which a model states the operator sets that it imports.
pub(super) const OPSETS_SINCE: i64 = 3;

/// A model read from a file.
pub(super) struct OnnxModel {
    pub(super) source: SourceFile,
    pub(super) limits: FormatLimits,
    pub(super) inputs: Vec<ModelInput>,
    pub(super) input_numbers: Vec<ValueNumber>,
    /// The initializers: arrays of the file.
    pub(super) initializers: Vec<Initializer>,
    pub(super) nodes: Vec<Step>,
    pub(super) value_count: usize,
    /// Remarks about unused content of the file.
    pub(super) remarks: Vec<String>,
    /// Outputs as the file declares them.
    pub(super) outputs: Vec<ModelInput>,
    pub(super) output_numbers: Vec<ValueNumber>,
    /// The imported opset of ONNX's own operators.
    opset: Option<u32>,
    /// See [`Model::needs_stages`].
    needs_stages: bool,
}

/// An array of the file, with its value in the flattened model.
pub(super) struct Initializer {
    tensor: TensorProto,
    pub(super) number: ValueNumber,
    /// The array, which all programs of the model share; read on first use.
    array: OnceLock<Array>,
}

impl Initializer {
    /// The place in the file, for messages.
    pub(super) fn location(&self) -> Location {
        declared_at("initializer", &self.tensor.name)
    }

    /// The array.
    ///
    /// # Errors
    /// Those of [`Tensors::array`].
    pub(super) fn array(&self, tensors: &Tensors) -> Result<Array, FormatErrorKind> {
        if let Some(array) = self.array.get() {
            return Ok(array.clone());
        }
        let array = tensors.array(&self.tensor)?;
        Ok(self.array.get_or_init(|| array).clone())
    }
}

impl Model for OnnxModel {
    fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    fn outputs(&self) -> Vec<String> {
        self.outputs.iter().map(|output| output.name.clone()).collect()
    }

    fn build(&self, inputs: &[InputBinding]) -> Result<ModelProgram, FormatError> {
        ProgramBuilder::new(self).program(inputs)
    }

    fn opset(&self) -> Option<u32> {
        self.opset
    }

    fn with_metadata(
        &self,
        written: WrittenModel,
        is_own_format: bool,
    ) -> Result<WrittenModel, FormatError> {
        let metadata = Metadata::read(self.source.bytes());
        match is_own_format {
            true => metadata.keep(written).map_err(FormatErrorKind::without_location),
            false => Ok(WrittenModel { dropped: metadata.dropped(), ..written }),
        }
    }

    fn needs_stages(&self) -> bool {
        self.needs_stages
    }

    /// Location of a node by its position in the list.
    fn location(&self, number: usize) -> Location {
        self.nodes.get(number).map_or_else(Location::default, |step| step.node.location())
    }
}

impl OnnxModel {
    /// The part of a model that the options ask for, with `starts` as the values at which it starts.
    ///
    /// # Errors
    /// Returns the error in the file.
    pub(super) fn new(
        proto: ModelProto,
        source: &SourceFile,
        options: &ReadOptions,
        starts: Vec<ModelInput>,
    ) -> Result<OnnxModel, FormatError> {
        let limits = &options.limits;
        let missing =
            || FormatErrorKind::Unexpected { expected: "a model with a graph".to_owned() };
        let mut graph = proto.graph.ok_or_else(|| missing().without_location())?;
        let dense = make_dense(&mut graph, &Tensors::new(source, limits));
        dense.map_err(|kind| kind.at(Location::described("a sparse initializer".to_owned())))?;
        let functions = functions_of(&proto.functions, limits)?;
        let mut opsets = proto.opset_import;
        if opsets.is_empty() && proto.ir_version < OPSETS_SINCE {
            opsets.push(OperatorSetIdProto { domain: String::new(), version: 1 });
        }
        let body = GraphBody::new(&graph.node, &opsets, limits)?;
        check_inlined(&body, &functions, limits)?;
        let mut flattening = Flattener::new(&functions, limits);
        let mut names = GraphNames::default();
        let inputs = names.inputs(&graph, &mut flattening, limits)?;
        let initializers = names.initializers(&graph, &mut flattening, limits)?;
        let outputs = part::outputs(&options.part, &graph.output, limits)?;
        let location =
            |output: &ModelInput| (output.name.clone(), declared_at("output", &output.name));
        let mut required_outputs: Vec<(String, Location)> = outputs.iter().map(location).collect();
        required_outputs
            .extend(starts.iter().map(|start| (start.name.clone(), Location::default())));
        let mut output_numbers = flattening.graph(&body, names.values, &required_outputs)?;
        let start_numbers = output_numbers.split_off(outputs.len());
        let Flattener { mut nodes, mut opaque, value_count, remarks, .. } = flattening;
        part::cut_at_starts(&mut nodes, &mut opaque, &start_numbers);
        let kept = part::live_values(&options.part, &nodes, &opaque, &output_numbers, value_count);
        let unsupported = prune(&mut nodes, &opaque, &output_numbers, value_count);
        if nodes.iter().any(|step| !step.regions.is_empty()) {
            let used = mark_live(&nodes, &[], &output_numbers, 0..value_count);
            remove_dead(&mut nodes, &used, 0);
        }
        let mut model = OnnxModel {
            source: source.clone(),
            limits: *limits,
            inputs,
            input_numbers: names.input_numbers,
            initializers,
            nodes,
            value_count,
            remarks,
            outputs,
            output_numbers,
            opset: body.opset("").and_then(|opset| u32::try_from(opset).ok()),
            needs_stages: false,
        };
        if let Some(kept) = kept {
            model.restrict_to_part(&kept, starts, start_numbers);
        }
        model.mark_shape_inputs();
        unsupported.check()?;
        Ok(model)
    }

    /// Keeps only the nodes, initializers and inputs on which the outputs depend, and adds the starts of
    /// the part as inputs.
    fn restrict_to_part(
        &mut self,
        live: &[bool],
        starts: Vec<ModelInput>,
        numbers: Vec<ValueNumber>,
    ) {
        let is_live = |number: &ValueNumber| live[*number] || numbers.contains(number);
        self.nodes.retain(|step| step.node.results.iter().flatten().any(|it| live[*it]));
        self.initializers.retain(|initializer| is_live(&initializer.number));
        let inputs = core::mem::take(&mut self.inputs).into_iter();
        let own = inputs.zip(core::mem::take(&mut self.input_numbers));
        let mut inputs: Vec<(ModelInput, ValueNumber)> =
            own.filter(|(_, number)| is_live(number)).collect();
        for start in starts.into_iter().zip(numbers) {
            if inputs.iter().all(|(_, number)| *number != start.1) {
                inputs.push(start);
            }
        }
        (self.inputs, self.input_numbers) = inputs.into_iter().unzip();
    }

    /// Marks inputs that have a default and inputs that determine shapes. Moves required inputs first:
    /// before IR version 4 a file lists every initializer as an input too.
    fn mark_shape_inputs(&mut self) {
        let determines = determines_shapes(&self.nodes, self.value_count);
        let mut is_filled = vec![false; self.value_count];
        self.initializers.iter().for_each(|initializer| is_filled[initializer.number] = true);
        let inputs = core::mem::take(&mut self.inputs);
        let mut numbered: Vec<(ModelInput, ValueNumber)> =
            inputs.into_iter().zip(core::mem::take(&mut self.input_numbers)).collect();
        let shape_operands: HashSet<ValueNumber> =
            self.nodes.iter().flat_map(shape_operands).collect();
        self.needs_stages = is_computed_by_loop(&self.nodes, &determines)
            || numbered.iter().any(|(input, number)| {
                determines[*number] && !shape_operands.contains(number) && !input.is_short_list()
            });
        for (input, number) in &mut numbered {
            input.has_default = is_filled[*number];
            input.is_shape =
                determines[*number] && can_determine_shapes(input, shape_operands.contains(number));
        }
        numbered.sort_by_key(|(input, _)| input.has_default);
        (self.inputs, self.input_numbers) = numbered.into_iter().unzip();
    }
}

/// Whether a loop computes a value that determines shapes.
fn is_computed_by_loop(nodes: &[Step], determines: &[bool]) -> bool {
    let is_loop = |step: &&Step| matches!(step.node.operator, "Loop" | "Scan");
    let results = nodes.iter().filter(is_loop).flat_map(|step| step.node.results.iter().flatten());
    results.copied().any(|result| determines[result])
}

/// Whether the elements of an input can determine shapes: integers and booleans can, and single elements
/// of any type, such as the bounds of a range, and a short list that a node reads as a shape operand, such as
/// the scales of axes.
fn can_determine_shapes(input: &ModelInput, is_shape_operand: bool) -> bool {
    let is_whole = match input.dtype {
        Some(dtype) => dtype.is_integer() || dtype == DType::Bool,
        None => is_shape_operand,
    };
    let is_one = |sizes: &[DeclaredSize]| sizes.iter().all(|size| *size == DeclaredSize::Known(1));
    let is_list = |sizes: &[DeclaredSize]| match *sizes {
        [DeclaredSize::Known(size)] => is_shape_operand && size <= indim_shape::MAX_RANK,
        [_] => is_shape_operand,
        _ => false,
    };
    is_whole || input.sizes.as_deref().is_some_and(|sizes| is_one(sizes) || is_list(sizes))
}

/// The values of a graph's names before its first node.
#[derive(Default)]
struct GraphNames {
    values: HashMap<String, Option<ValueNumber>>,
    input_numbers: Vec<ValueNumber>,
}

impl GraphNames {
    fn inputs(
        &mut self,
        graph: &GraphProto,
        flattening: &mut Flattener<'_, Operator>,
        limits: &FormatLimits,
    ) -> Result<Vec<ModelInput>, FormatError> {
        let inputs = declared(&graph.input, "input", limits)?;
        for input in &inputs {
            let number = flattening.new_value();
            self.input_numbers.push(number);
            if self.values.insert(input.name.clone(), Some(number)).is_some() {
                let name = input.name.clone();
                let location = declared_at("input", &name);
                return Err(FormatErrorKind::Duplicate { what: "input", name }.at(location));
            }
        }
        Ok(inputs)
    }

    /// The arrays of the file. An array with the name of an input is the default of that input.
    fn initializers(
        &mut self,
        graph: &GraphProto,
        flattening: &mut Flattener<'_, Operator>,
        limits: &FormatLimits,
    ) -> Result<Vec<Initializer>, FormatError> {
        check_many("initializers", graph.initializer.len(), limits)?;
        let mut initializers: Vec<Initializer> = Vec::new();
        let first_own = flattening.value_count;
        let mut is_filled = vec![false; first_own];
        for (index, bytes) in graph.initializer.iter().enumerate() {
            let location = || Location::described(format!("initializer {index}"));
            let tensor: TensorProto = decoded(bytes.clone(), location)?;
            let stated = dtype_of(tensor.data_type.into());
            stated.map_err(|kind| kind.at(declared_at("initializer", &tensor.name)))?;
            let number = match self.values.get(&tensor.name) {
                Some(&Some(number)) if number < first_own && !is_filled[number] => {
                    is_filled[number] = true;
                    number
                }
                Some(_) => {
                    let name = tensor.name;
                    return Err(
                        FormatErrorKind::Duplicate { what: "initializer", name }.at(location())
                    );
                }
                None => flattening.new_value(),
            };
            self.values.insert(tensor.name.clone(), Some(number));
            initializers.push(Initializer { tensor, number, array: OnceLock::new() });
        }
        Ok(initializers)
    }
}

/// Decodes the declarations of inputs or outputs; `what` names them in errors.
pub(super) fn declared(
    infos: &[bytes::Bytes],
    what: &'static str,
    limits: &FormatLimits,
) -> Result<Vec<ModelInput>, FormatError> {
    check_many(what, infos.len(), limits)?;
    let one = |(index, bytes): (usize, &bytes::Bytes)| {
        let location = || Location::described(format!("{what} {index}"));
        let info: ValueInfoProto = decoded(bytes.clone(), location)?;
        declared_input(&info, limits).map_err(|kind| kind.at(declared_at(what, &info.name)))
    };
    infos.iter().enumerate().map(one).collect()
}

/// Decodes the functions of a model.
pub(super) fn functions_of(
    functions: &[bytes::Bytes],
    limits: &FormatLimits,
) -> Result<Functions, FormatError> {
    check_many("functions", functions.len(), limits)?;
    let mut known = Functions::new();
    for (index, bytes) in functions.iter().enumerate() {
        let location = || Location::described(format!("function {index}"));
        let proto: FunctionProto = decoded(bytes.clone(), location)?;
        let domain = domain_of(&proto.domain).to_owned();
        let key = (domain, proto.name.clone(), proto.overload.clone());
        let function = ModelFunction::new(proto, limits)?;
        let name = function.shown.clone();
        if known.insert(key, Arc::new(function)).is_some() {
            return Err(FormatErrorKind::Duplicate { what: "function", name }.at(location()));
        }
    }
    Ok(known)
}
