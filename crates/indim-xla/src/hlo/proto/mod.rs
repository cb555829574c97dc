//! HLO protobufs, `*.hlo.pb`, decoded to the syntax tree of the text.
//!
//! `messages.rs`: the messages; `shape.rs`: types; `literal.rs`: constants; `synthetic_text.rs`: attributes
//! synthesised as HLO text, so that one reader of attributes serves both forms.

mod literal;
mod messages;
mod shape;
mod synthetic_text;

use std::collections::HashMap;

use bytes::Bytes;
use indim_model::{FormatError, FormatErrorKind, FormatLimits, Location};
use indim_shape::MAX_RANK;
use indim_text::Span;

use super::syntax::{Computation, Instruction, Module};
pub(super) use literal::arrays;
use messages::{
    HloComputationProto, HloInstructionProto, HloModuleProto, HloProto, OpMetadata, PaddingConfig,
    Window, WindowDimension,
};
use shape::Shapes;
pub(super) use synthetic_text::SyntheticText;

/// Reads a module, alone or in a dump of XLA. Spans refer to the returned text.
///
/// # Errors
/// `damaged`, `undefined`, `duplicate`, `limit`, `attribute`.
pub(super) fn read(
    file: &Bytes,
    limits: &FormatLimits,
) -> Result<(Module, SyntheticText), FormatError> {
    let proto = module(file).map_err(FormatErrorKind::without_location)?;
    let mut reading = ModuleReader {
        limits,
        shapes: Shapes { limits, parts: 0 },
        module: Module::default(),
        synthetic_text: SyntheticText::default(),
        numbers: HashMap::new(),
        instructions: 0,
    };
    for (index, encoded) in proto.computations.iter().enumerate() {
        let location = || Location::described(format!("computation {index}"));
        let computation = decode(encoded.clone()).map_err(|kind| kind.at(location()))?;
        reading.computation(&computation)?;
    }
    let ModuleReader { mut module, synthetic_text, numbers, .. } = reading;
    let by_id = numbers.get(&proto.entry_computation_id);
    module.entry = by_id.or(module.by_name.get(&proto.entry_computation_name)).copied();
    match module.entry {
        Some(_) => Ok((module, synthetic_text)),
        None => {
            let name = proto.entry_computation_name;
            Err(FormatErrorKind::Undefined { what: "computation", name }.without_location())
        }
    }
}

/// Decodes a message.
///
/// # Errors
/// `damaged`.
fn decode<M: prost::Message + Default>(bytes: Bytes) -> Result<M, FormatErrorKind> {
    M::decode(bytes).map_err(|error| FormatErrorKind::Damaged { problem: error.to_string() })
}

/// A dump has the module in its first field, where a module has its name; a name does not decode as a
/// module.
fn module(file: &Bytes) -> Result<HloModuleProto, FormatErrorKind> {
    let first = decode::<HloProto>(file.clone())?.hlo_module;
    let dumped = first.and_then(|first| decode::<HloModuleProto>(first).ok());
    match dumped.filter(|module| !module.computations.is_empty()) {
        Some(module) => Ok(module),
        None => decode(file.clone()),
    }
}

struct ModuleReader<'l> {
    limits: &'l FormatLimits,
    shapes: Shapes<'l>,
    module: Module,
    synthetic_text: SyntheticText,
    /// Index of each computation by its identifier in the file.
    numbers: HashMap<i64, usize>,
    /// Number of instructions so far, in all computations.
    instructions: usize,
}

impl ModuleReader<'_> {
    fn computation(&mut self, proto: &HloComputationProto) -> Result<(), FormatError> {
        let shown = indim_graph::terminal::printable(&proto.name);
        let fail =
            |kind: FormatErrorKind| kind.at(Location::described(format!("computation `{shown}`")));
        self.instructions = self.instructions.saturating_add(proto.instructions.len());
        let limit = self.limits.operations;
        if self.instructions > limit {
            return Err(fail(FormatErrorKind::Limit { what: "instructions", limit }));
        }
        let name = self.synthetic_text.add(&proto.name);
        let mut instructions = Vec::with_capacity(proto.instructions.len());
        let mut numbers = HashMap::with_capacity(proto.instructions.len());
        for encoded in &proto.instructions {
            let instruction: HloInstructionProto = decode(encoded.clone()).map_err(fail)?;
            instructions.push(self.instruction(&instruction, name, &numbers)?);
            if numbers.insert(instruction.id, numbers.len()).is_some() {
                let (what, name) = ("instruction", instruction.name);
                return Err(fail(FormatErrorKind::Duplicate { what, name }));
            }
        }
        let root = numbers.get(&proto.root_id).copied().ok_or_else(|| {
            let name = proto.root_id.to_string();
            fail(FormatErrorKind::Undefined { what: "instruction", name })
        })?;
        let computation = Computation::new(instructions, root, &self.synthetic_text.text);
        let computation = computation.map_err(|error| self.synthetic_text.error(error))?;
        let number = self.module.computations.len();
        self.module.computations.push(computation);
        self.module.by_name.insert(proto.name.clone(), number);
        match self.numbers.insert(proto.id, number) {
            Some(_) => {
                let name = proto.name.clone();
                Err(fail(FormatErrorKind::Duplicate { what: "computation", name }))
            }
            None => Ok(()),
        }
    }

    /// Reads an instruction whose operands have been read.
    fn instruction(
        &mut self,
        proto: &HloInstructionProto,
        computation: Span,
        numbers: &HashMap<i64, usize>,
    ) -> Result<Instruction, FormatError> {
        let [name, span] = self.synthetic_text.instruction(computation, &proto.name, &proto.opcode);
        let shape = proto.shape.as_ref();
        let shape =
            shape.map(|shape| self.shapes.read(shape, &mut self.synthetic_text)).transpose();
        let operands = proto.operand_ids.iter().map(|id| number_of(numbers, *id, "instruction"));
        let parts = shape.and_then(|shape| Ok((shape, operands.collect::<Result<_, _>>()?)));
        let parts = parts.and_then(|(shape, operands)| {
            Ok((shape, operands, self.called(proto)?, self.regions(proto)?))
        });
        let (shape, operands, called, regions) =
            parts.map_err(|kind| self.synthetic_text.error(kind.in_text(name.start..name.end)))?;
        let is_parameter = proto.opcode == "parameter";
        let content =
            is_parameter.then(|| self.synthetic_text.add(&proto.parameter_number.to_string()));
        let attributes = attributes(proto).into_iter();
        let attributes = attributes
            .map(|(key, value)| (self.synthetic_text.add(key), self.synthetic_text.add(&value)));
        Ok(Instruction {
            parameter: None,
            name: Some(name),
            span,
            text: span,
            opcode: proto.opcode.clone(),
            shape,
            operands,
            content,
            attributes: attributes.collect(),
            called,
            regions,
            literal: proto.literal.clone(),
        })
    }

    /// The computation that the instruction calls or applies, if it is a single one.
    fn called(&self, proto: &HloInstructionProto) -> Result<Option<usize>, FormatErrorKind> {
        match (proto.opcode.as_str(), &proto.called_computation_ids[..]) {
            ("call" | "fusion" | "map" | "reduce" | "reduce-window" | "scatter" | "sort", [id]) => {
                number_of(&self.numbers, *id, "computation").map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The computations of a loop or a branch. Those of a loop are reversed to condition and body,
    /// because a protobuf lists the body first. The first computation of a branch is that of true if the
    /// index is a bool. A `select-and-scatter` lists `select`, then `scatter`.
    fn regions(&self, proto: &HloInstructionProto) -> Result<Vec<usize>, FormatErrorKind> {
        if !matches!(proto.opcode.as_str(), "while" | "conditional" | "select-and-scatter") {
            return Ok(Vec::new());
        }
        let ids = proto.called_computation_ids.iter();
        let found: Result<Vec<usize>, _> =
            ids.map(|id| number_of(&self.numbers, *id, "computation")).collect();
        let mut regions = found?;
        if proto.opcode == "while" {
            regions.reverse();
        }
        Ok(regions)
    }
}

fn number_of(
    numbers: &HashMap<i64, usize>,
    id: i64,
    what: &'static str,
) -> Result<usize, FormatErrorKind> {
    let undefined = || FormatErrorKind::Undefined { what, name: format!("with the id {id}") };
    numbers.get(&id).copied().ok_or_else(undefined)
}

/// Names of the algorithms of a dot by their numbers in `PrecisionConfig.Algorithm`, from 1 on.
const ALGORITHMS: [&str; 13] = [
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
];

/// The attributes of a dot, in the syntax of the text.
fn dot(proto: &HloInstructionProto) -> Vec<(&'static str, String)> {
    let axes = proto.dot_dimension_numbers.clone().unwrap_or_default();
    let list = |numbers: &[i64]| format!("{{{}}}", join(numbers, ",", i64::to_string));
    let mut attributes = vec![
        ("lhs_batch_dims", list(&axes.lhs_batch_dimensions)),
        ("rhs_batch_dims", list(&axes.rhs_batch_dimensions)),
        ("lhs_contracting_dims", list(&axes.lhs_contracting_dimensions)),
        ("rhs_contracting_dims", list(&axes.rhs_contracting_dimensions)),
    ];
    let number = proto.precision_config.unwrap_or_default().algorithm;
    if number != 0 {
        let known = usize::try_from(number).ok().and_then(|number| ALGORITHMS.get(number - 1));
        let name = known.map_or_else(|| number.to_string(), |name| (*name).to_owned());
        attributes.push(("algorithm", name));
    }
    attributes
}

/// The attributes of a gather, in the syntax of the text.
fn gather(proto: &HloInstructionProto) -> Vec<(&'static str, String)> {
    let axes = proto.gather_dimension_numbers.clone().unwrap_or_default();
    let list = |numbers: &[i64]| format!("{{{}}}", join(numbers, ",", i64::to_string));
    vec![
        ("offset_dims", list(&axes.offset_dims)),
        ("collapsed_slice_dims", list(&axes.collapsed_slice_dims)),
        ("start_index_map", list(&axes.start_index_map)),
        ("operand_batching_dims", list(&axes.operand_batching_dims)),
        ("start_indices_batching_dims", list(&axes.start_indices_batching_dims)),
        ("index_vector_dim", axes.index_vector_dim.to_string()),
        ("slice_sizes", list(&proto.gather_slice_sizes)),
    ]
}

/// The attributes of a scatter, in the syntax of the text.
fn scatter(proto: &HloInstructionProto) -> Vec<(&'static str, String)> {
    let axes = proto.scatter_dimension_numbers.clone().unwrap_or_default();
    let list = |numbers: &[i64]| format!("{{{}}}", join(numbers, ",", i64::to_string));
    vec![
        ("update_window_dims", list(&axes.update_window_dims)),
        ("inserted_window_dims", list(&axes.inserted_window_dims)),
        ("scatter_dims_to_operand_dims", list(&axes.scatter_dims_to_operand_dims)),
        ("input_batching_dims", list(&axes.input_batching_dims)),
        ("scatter_indices_batching_dims", list(&axes.scatter_indices_batching_dims)),
        ("index_vector_dim", axes.index_vector_dim.to_string()),
    ]
}

/// The attributes of a convolution, in the syntax of the text. A group count of 0 is one that an older file
/// does not state.
fn convolution(proto: &HloInstructionProto) -> Vec<(&'static str, String)> {
    let axes = proto.convolution_dimension_numbers.clone().unwrap_or_default();
    let operand = [(axes.input_batch_dimension, "b"), (axes.input_feature_dimension, "f")];
    let kernel =
        [(axes.kernel_output_feature_dimension, "o"), (axes.kernel_input_feature_dimension, "i")];
    let result = [(axes.output_batch_dimension, "b"), (axes.output_feature_dimension, "f")];
    let labels = format!(
        "{}x{}->{}",
        axis_labels(&axes.input_spatial_dimensions, operand),
        axis_labels(&axes.kernel_spatial_dimensions, kernel),
        axis_labels(&axes.output_spatial_dimensions, result),
    );
    let mut attributes = vec![
        ("dim_labels", labels),
        ("feature_group_count", proto.feature_group_count.max(1).to_string()),
        ("batch_group_count", proto.batch_group_count.max(1).to_string()),
    ];
    attributes.extend(proto.window.as_ref().map(|proto| ("window", window(proto))));
    attributes
}

/// The labels of the axes of one array, as in `[b, 0, 1, f]`. An axis without a label, because two labels
/// have the same number or one is outside of the array, has the label `?`, which the reader refuses.
fn axis_labels(spatial: &[i64], others: [(i64, &str); 2]) -> String {
    if spatial.len() > MAX_RANK {
        return "[?]".to_owned();
    }
    let mut labels = vec!["?".to_owned(); spatial.len() + others.len()];
    let spatial = spatial.iter().enumerate().map(|(label, &axis)| (axis, label.to_string()));
    let others = others.into_iter().map(|(axis, label)| (axis, label.to_owned()));
    for (axis, label) in spatial.chain(others) {
        if let Some(place) = usize::try_from(axis).ok().and_then(|axis| labels.get_mut(axis)) {
            *place = label;
        }
    }
    format!("[{}]", labels.join(", "))
}

/// The attributes, in the syntax of the text.
fn attributes(proto: &HloInstructionProto) -> Vec<(&'static str, String)> {
    let dimensions = || format!("{{{}}}", join(&proto.dimensions, ",", i64::to_string));
    match proto.opcode.as_str() {
        "parameter" => proto.metadata.iter().map(|data| ("metadata", op_name(data))).collect(),
        "iota" => vec![("iota_dimension", dimensions())],
        "slice" => {
            let ranges = join(&proto.slice_dimensions, ", ", |slice| {
                format!("[{}:{}:{}]", slice.start, slice.limit, slice.stride)
            });
            vec![("slice", format!("{{{ranges}}}"))]
        }
        "pad" => vec![("padding", proto.padding_config.as_ref().map_or(String::new(), widths))],
        "reduce-window" => {
            vec![("window", proto.window.as_ref().map_or(String::new(), window))]
        }
        "get-tuple-element" => vec![("index", proto.tuple_index.to_string())],
        "dynamic-slice" => {
            let sizes = join(&proto.dynamic_slice_sizes, ",", i64::to_string);
            vec![("dynamic_slice_sizes", format!("{{{sizes}}}"))]
        }
        "gather" => gather(proto),
        "scatter" => scatter(proto),
        "convolution" => convolution(proto),
        "dot" => dot(proto),
        "fft" => {
            let names = ["FFT", "IFFT", "RFFT", "IRFFT"];
            let name = usize::try_from(proto.fft_type).ok().and_then(|index| names.get(index));
            let lengths = join(&proto.fft_length, ",", i64::to_string);
            let name = name.map_or_else(|| proto.fft_type.to_string(), |name| (*name).to_owned());
            vec![("fft_type", name), ("fft_length", format!("{{{lengths}}}"))]
        }
        "reduce-precision" => vec![
            ("exponent_bits", proto.exponent_bits.to_string()),
            ("mantissa_bits", proto.mantissa_bits.to_string()),
        ],
        "custom-call" => vec![("custom_call_target", format!("\"{}\"", proto.custom_call_target))],
        "compare" => {
            let all =
                [("direction", &proto.comparison_direction), ("type", &proto.comparison_type)];
            let stated = all.into_iter().filter(|(_, value)| !value.is_empty());
            stated.map(|(key, value)| (key, value.clone())).collect()
        }
        "broadcast" | "transpose" | "reverse" | "concatenate" | "reduce" | "map" | "sort" => {
            vec![("dimensions", dimensions())]
        }
        _ => Vec::new(),
    }
}

fn join<T>(items: &[T], between: &str, synthetic_text: impl FnMut(&T) -> String) -> String {
    items.iter().map(synthetic_text).collect::<Vec<_>>().join(between)
}

fn widths(padding: &PaddingConfig) -> String {
    join(&padding.dimensions, "x", |axis| {
        let (low, high) = (axis.edge_padding_low, axis.edge_padding_high);
        format!("{low}_{high}_{}", axis.interior_padding)
    })
}

/// A window in the syntax of the text.
fn window(window: &Window) -> String {
    let each = |number: fn(&WindowDimension) -> String| join(&window.dimensions, "x", number);
    format!(
        "{{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}{}}}",
        each(|axis| axis.size.to_string()),
        each(|axis| axis.stride.to_string()),
        each(|axis| format!("{}_{}", axis.padding_low, axis.padding_high)),
        each(|axis| axis.base_dilation.to_string()),
        each(|axis| axis.window_dilation.to_string()),
        match window.dimensions.iter().any(|axis| axis.window_reversal) {
            true =>
                format!(" rhs_reversal={}", each(|axis| u8::from(axis.window_reversal).to_string())),
            false => String::new(),
        }
    )
}

fn op_name(metadata: &OpMetadata) -> String {
    format!("{{op_name=\"{}\"}}", metadata.op_name)
}
