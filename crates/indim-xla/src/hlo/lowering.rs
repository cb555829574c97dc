//! The table of opcodes of HLO: their attributes and their lowering to XLA's operations.

use indim_model::{FormatError, FormatErrorKind};
use indim_ops::Op;
use indim_shape::DotDimensions;

use super::attribute::Attributes;
use super::gather;
use super::layout;
use super::syntax::{HloShape, Instruction};
use crate::dot::{DotAlgorithm, DotOperation};
use crate::fourier::FourierOperation;
use crate::opcode::{Comparison, Dialect, elementwise, name_of};
use crate::operation::Operation;
use crate::windows::{ConvolutionOperation, dimension_numbers};

/// Names of attributes that any instruction may have: source locations, scheduling, memory and permitted
/// inaccuracy.
const COMMON_ATTRIBUTES: [&str; 15] = [
    "backend_config",
    "control-predecessors",
    "frontend_attributes",
    "inferred_dimension",
    "is_composite",
    "metadata",
    "operand_layout_constraints",
    "origin",
    "original_value",
    "output_to_operand_aliasing",
    "parameter_replication",
    "result_accuracy",
    "schedule",
    "sharding",
    "statistics",
];

/// Checks that an instruction has only attributes of its opcode and those of `COMMON_ATTRIBUTES`, as XLA
/// does.
///
/// # Errors
/// `attribute`.
pub(super) fn check_attributes(
    lowering: Lowering,
    instruction: &Instruction,
    text: &str,
) -> Result<(), FormatError> {
    let Some(own) = lowering.attributes() else { return Ok(()) };
    let is_known = |name: &&str| own.contains(name) || COMMON_ATTRIBUTES.contains(name);
    match instruction.attributes.iter().find(|(key, _)| !is_known(&key.of(text))) {
        Some((key, _)) => {
            let problem = format!("is none of {}", instruction.opcode);
            let kind = FormatErrorKind::attribute(key.of(text), problem);
            Err(kind.in_text(key.start..key.end))
        }
        None => Ok(()),
    }
}

/// The lowering of an opcode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lowering {
    /// An operation with one array result.
    Array(ArrayOperation),
    /// Reinterprets the bytes of the operand by the layouts.
    Bitcast,
    Parameter,
    Constant,
    Reduce,
    ReduceWindow,
    Scatter,
    SelectAndScatter,
    Sort,
    TopK,
    Map,
    Tuple,
    GetTupleElement,
    /// The result is the first operand.
    Same,
    While,
    Conditional,
    /// Inlines the called computation.
    Call,
    CustomCall,
}

/// An operation with one array result; attributes specify it further.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ArrayOperation {
    Elementwise(Op),
    Compare,
    Convert,
    BitcastConvert,
    Reshape,
    Broadcast,
    Transpose,
    Reverse,
    Slice,
    Pad,
    Concatenate,
    Iota,
    Fft,
    ReducePrecision,
    Gather,
    DynamicSlice,
    DynamicUpdateSlice,
    Dot,
    Convolution,
}

/// HLO's operations that the table of element-wise operations in `opcode.rs` lacks.
const OPCODES: &[(&str, Lowering)] = &[
    ("add-dependency", Lowering::Same),
    ("bitcast", Lowering::Bitcast),
    ("bitcast-convert", Lowering::Array(ArrayOperation::BitcastConvert)),
    ("broadcast", Lowering::Array(ArrayOperation::Broadcast)),
    ("call", Lowering::Call),
    ("compare", Lowering::Array(ArrayOperation::Compare)),
    ("concatenate", Lowering::Array(ArrayOperation::Concatenate)),
    ("conditional", Lowering::Conditional),
    ("constant", Lowering::Constant),
    ("convert", Lowering::Array(ArrayOperation::Convert)),
    ("convolution", Lowering::Array(ArrayOperation::Convolution)),
    ("copy", Lowering::Same),
    ("custom-call", Lowering::CustomCall),
    ("dot", Lowering::Array(ArrayOperation::Dot)),
    ("dynamic-slice", Lowering::Array(ArrayOperation::DynamicSlice)),
    ("dynamic-update-slice", Lowering::Array(ArrayOperation::DynamicUpdateSlice)),
    ("fft", Lowering::Array(ArrayOperation::Fft)),
    ("fusion", Lowering::Call),
    ("gather", Lowering::Array(ArrayOperation::Gather)),
    ("get-tuple-element", Lowering::GetTupleElement),
    ("iota", Lowering::Array(ArrayOperation::Iota)),
    ("map", Lowering::Map),
    ("opt-barrier", Lowering::Same),
    ("pad", Lowering::Array(ArrayOperation::Pad)),
    ("parameter", Lowering::Parameter),
    ("reduce", Lowering::Reduce),
    ("reduce-precision", Lowering::Array(ArrayOperation::ReducePrecision)),
    ("reduce-window", Lowering::ReduceWindow),
    ("reshape", Lowering::Array(ArrayOperation::Reshape)),
    ("reverse", Lowering::Array(ArrayOperation::Reverse)),
    ("scatter", Lowering::Scatter),
    ("select-and-scatter", Lowering::SelectAndScatter),
    ("slice", Lowering::Array(ArrayOperation::Slice)),
    ("sort", Lowering::Sort),
    ("topk", Lowering::TopK),
    ("transpose", Lowering::Array(ArrayOperation::Transpose)),
    ("tuple", Lowering::Tuple),
    ("while", Lowering::While),
];

/// Names of the supported opcodes.
pub(super) fn names() -> Vec<String> {
    let elementwise = crate::opcode::names().filter(|(_, dialect)| *dialect != Dialect::Chlo);
    let elementwise = elementwise.map(|(name, _)| name.replace('_', "-"));
    elementwise.chain(OPCODES.iter().map(|(name, _)| (*name).to_owned())).collect()
}

impl Lowering {
    /// The lowering of an opcode.
    pub(super) fn of(opcode: &str) -> Option<Lowering> {
        let named = OPCODES.iter().find(|(name, _)| *name == opcode);
        named
            .map(|(_, lowering)| *lowering)
            .or_else(|| ArrayOperation::of(opcode).map(Lowering::Array))
    }

    /// The attributes of the opcode in addition to `COMMON_ATTRIBUTES`; `None` for custom calls, which
    /// may have any attribute.
    pub(super) const fn attributes(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Lowering::CustomCall => return None,
            Lowering::Array(shaped) => shaped.attributes(),
            Lowering::Reduce | Lowering::Map => &["dimensions", "to_apply"],
            Lowering::ReduceWindow => &["window", "to_apply"],
            Lowering::Scatter => gather::SCATTER_ATTRIBUTES,
            Lowering::SelectAndScatter => &["window", "select", "scatter"],
            Lowering::TopK => &["k", "largest"],
            Lowering::Sort => &["dimensions", "is_stable", "to_apply"],
            Lowering::Call => &["to_apply", "calls", "kind"],
            Lowering::GetTupleElement => &["index"],
            Lowering::While => &["condition", "body"],
            Lowering::Conditional => {
                &["branch_computations", "true_computation", "false_computation"]
            }
            Lowering::Bitcast
            | Lowering::Parameter
            | Lowering::Constant
            | Lowering::Tuple
            | Lowering::Same => &[],
        })
    }

    /// Whether the computation of a map can contain the operation: an element-wise operation, a
    /// constant, a parameter, a call, a map, or an operation that returns its operand.
    pub(super) const fn is_elementwise(self) -> bool {
        matches!(
            self,
            Lowering::Array(
                ArrayOperation::Elementwise(_)
                    | ArrayOperation::Compare
                    | ArrayOperation::Convert
                    | ArrayOperation::BitcastConvert
                    | ArrayOperation::ReducePrecision
            ) | Lowering::Constant
                | Lowering::Parameter
                | Lowering::Call
                | Lowering::Map
                | Lowering::Same
        )
    }
}

impl ArrayOperation {
    fn of(opcode: &str) -> Option<ArrayOperation> {
        if opcode.contains('_') {
            return None;
        }
        let op = elementwise(&opcode.replace('-', "_"))?;
        let is_here = name_of(op).is_some_and(|(_, dialect)| dialect != Dialect::Chlo);
        is_here.then_some(ArrayOperation::Elementwise(op))
    }

    const fn attributes(self) -> &'static [&'static str] {
        match self {
            ArrayOperation::Broadcast
            | ArrayOperation::Transpose
            | ArrayOperation::Reverse
            | ArrayOperation::Concatenate => &["dimensions"],
            ArrayOperation::Compare => &["direction", "type"],
            ArrayOperation::Slice => &["slice"],
            ArrayOperation::Pad => &["padding"],
            ArrayOperation::Iota => &["iota_dimension"],
            ArrayOperation::Fft => &["fft_type", "fft_length"],
            ArrayOperation::ReducePrecision => &["exponent_bits", "mantissa_bits"],
            ArrayOperation::Gather => gather::GATHER_ATTRIBUTES,
            ArrayOperation::DynamicSlice => &["dynamic_slice_sizes"],
            ArrayOperation::Dot => &[
                "lhs_batch_dims",
                "rhs_batch_dims",
                "lhs_contracting_dims",
                "rhs_contracting_dims",
                "operand_precision",
                "algorithm",
            ],
            ArrayOperation::Convolution => &[
                "window",
                "dim_labels",
                "feature_group_count",
                "batch_group_count",
                "operand_precision",
                "algorithm",
            ],
            ArrayOperation::Elementwise(_)
            | ArrayOperation::Convert
            | ArrayOperation::BitcastConvert
            | ArrayOperation::DynamicUpdateSlice
            | ArrayOperation::Reshape => &[],
        }
    }

    /// The operation with its attributes.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn operation(self, attributes: Attributes<'_>) -> Result<Operation, FormatError> {
        let dimensions = || attributes.integers("dimensions");
        Ok(match self {
            ArrayOperation::Elementwise(op) => Operation::Elementwise(op),
            ArrayOperation::Compare => Operation::Compare(comparison(attributes)?),
            ArrayOperation::Convert => Operation::Convert,
            ArrayOperation::BitcastConvert => Operation::Bitcast,
            ArrayOperation::Reshape => Operation::Reshape,
            ArrayOperation::Broadcast => Operation::HloBroadcast(dimensions()?),
            ArrayOperation::Transpose => Operation::Transpose(dimensions()?),
            ArrayOperation::Reverse => Operation::Reverse(dimensions()?),
            ArrayOperation::Slice => Operation::Slice(attributes.ranges()?),
            ArrayOperation::Pad => Operation::Pad(attributes.widths()?),
            ArrayOperation::Concatenate => {
                Operation::Concatenate(attributes.integer("dimensions")?)
            }
            ArrayOperation::Iota => Operation::Iota(attributes.integer("iota_dimension")?),
            ArrayOperation::Fft => {
                let (name, lengths) =
                    (attributes.word("fft_type")?, attributes.integers("fft_length")?);
                let span = attributes.instruction.span;
                let fourier = FourierOperation::new(name, &lengths);
                Operation::Fft(fourier.map_err(|kind| kind.in_text(span.start..span.end))?)
            }
            ArrayOperation::Gather => Operation::Gather(gather::gather(attributes)?),
            ArrayOperation::DynamicSlice => {
                let attribute = "dynamic_slice_sizes";
                Operation::DynamicSlice { sizes: attributes.integers(attribute)?, attribute }
            }
            ArrayOperation::DynamicUpdateSlice => Operation::DynamicUpdateSlice,
            ArrayOperation::Dot => Operation::Dot(dot(attributes)?),
            ArrayOperation::Convolution => {
                Operation::Convolution(Box::new(convolution(attributes)?))
            }
            ArrayOperation::ReducePrecision => {
                let bits = |name| {
                    let number = attributes.integer(name)?;
                    u32::try_from(number).map_err(|_| {
                        let span = attributes.instruction.span;
                        let kind = FormatErrorKind::attribute(name, "is negative");
                        kind.in_text(span.start..span.end)
                    })
                };
                Operation::ReducePrecision(bits("exponent_bits")?, bits("mantissa_bits")?)
            }
        })
    }
}

/// The attributes of a matrix product; an empty list can be absent.
///
/// # Errors
/// `attribute`.
fn dot(attributes: Attributes<'_>) -> Result<DotOperation, FormatError> {
    let algorithm = attributes.optional("algorithm").map(|name| {
        DotAlgorithm::named(name).ok_or_else(|| {
            let span = attributes.instruction.span;
            let problem = format!("is {name}, no algorithm of a dot");
            FormatErrorKind::attribute("algorithm", problem).in_text(span.start..span.end)
        })
    });
    Ok(DotOperation {
        dimensions: Some(DotDimensions {
            lhs_batch: attributes.integers("lhs_batch_dims")?,
            rhs_batch: attributes.integers("rhs_batch_dims")?,
            lhs_contracting: attributes.integers("lhs_contracting_dims")?,
            rhs_contracting: attributes.integers("rhs_contracting_dims")?,
        }),
        algorithm: algorithm.transpose()?,
    })
}

/// The attributes of a convolution.
///
/// # Errors
/// `attribute`.
pub(super) fn convolution(attributes: Attributes<'_>) -> Result<ConvolutionOperation, FormatError> {
    let count = |name: &str| match attributes.optional(name) {
        Some(_) => attributes.integer(name),
        None => Ok(1),
    };
    let labels = attributes.word("dim_labels")?;
    let axes = dimension_numbers(labels).ok_or_else(|| {
        let span = attributes.instruction.span;
        let problem = format!("is {labels}, not of the form b01f_01io->b01f");
        FormatErrorKind::attribute("dim_labels", problem).in_text(span.start..span.end)
    })?;
    Ok(ConvolutionOperation {
        axes,
        window: attributes.window()?,
        feature_groups: count("feature_group_count")?,
        batch_groups: count("batch_group_count")?,
    })
}

/// The comparison in the attributes.
///
/// # Errors
/// `attribute`.
pub(super) fn comparison(attributes: Attributes<'_>) -> Result<Comparison, FormatError> {
    let direction = attributes.word("direction")?;
    let span = attributes.instruction.span;
    Comparison::of(direction, attributes.optional("type"))
        .map_err(|kind| kind.in_text(span.start..span.end))
}

/// The steps of a bitcast between two types.
///
/// # Errors
/// `unsupported`.
pub(super) fn bitcast(
    from: &Instruction,
    to: &Instruction,
) -> Result<layout::Bitcast, FormatErrorKind> {
    match (&from.shape, &to.shape) {
        (Some(HloShape::Array(from, laid)), Some(HloShape::Array(to, lays))) => {
            layout::Bitcast::of(from, laid, to, lays)
        }
        _ => {
            Err(FormatErrorKind::Unexpected { expected: "types of arrays at a bitcast".to_owned() })
        }
    }
}
