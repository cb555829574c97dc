//! What opcodes of HLO mean: the table of their names, and what each says beside its operands, in terms of
//! XLA's operations.

use indim_model::{FormatError, FormatErrorKind};
use indim_ops::Op;

use super::attribute::Attributes;
use super::layout;
use super::syntax::{Instruction, Shape};
use crate::gather::Gather;
use crate::opcode::{Comparison, Dialect, elementwise, name_of};
use crate::operation::Operation;

/// Attributes of any instruction that say where it comes from, where and when it runs, how its memory is
/// used, or how exact it need not be.
const OF_ANY: [&str; 15] = [
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

/// That an instruction has no attributes but those of its opcode, as XLA too has it.
///
/// # Errors
/// `attribute`.
pub(super) fn check_attributes(
    meaning: Meaning,
    instruction: &Instruction,
    text: &str,
) -> Result<(), FormatError> {
    let Some(own) = meaning.attributes() else { return Ok(()) };
    let is_known = |name: &&str| own.contains(name) || OF_ANY.contains(name);
    match instruction.attributes.iter().find(|(key, _)| !is_known(&key.of(text))) {
        Some((key, _)) => {
            let problem = format!("is none of {}", instruction.opcode);
            let kind = FormatErrorKind::attribute(key.of(text), problem);
            Err(kind.in_text(key.start..key.end))
        }
        None => Ok(()),
    }
}

/// What an opcode means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    /// One result, of arrays.
    Array(Shaped),
    /// The bytes of the operand, as the layouts say.
    Bitcast,
    Parameter,
    Constant,
    Reduce,
    Map,
    Tuple,
    GetTupleElement,
    /// Its first operand.
    Same,
    /// What it calls, in its place.
    Call,
    CustomCall,
}

/// Operations of one result, of which attributes say more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shaped {
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
    ReducePrecision,
    Gather,
}

/// HLO's operations that are not element by element.
const OPCODES: &[(&str, Meaning)] = &[
    ("add-dependency", Meaning::Same),
    ("bitcast", Meaning::Bitcast),
    ("bitcast-convert", Meaning::Array(Shaped::BitcastConvert)),
    ("broadcast", Meaning::Array(Shaped::Broadcast)),
    ("call", Meaning::Call),
    ("compare", Meaning::Array(Shaped::Compare)),
    ("concatenate", Meaning::Array(Shaped::Concatenate)),
    ("constant", Meaning::Constant),
    ("convert", Meaning::Array(Shaped::Convert)),
    ("copy", Meaning::Same),
    ("custom-call", Meaning::CustomCall),
    ("fusion", Meaning::Call),
    ("gather", Meaning::Array(Shaped::Gather)),
    ("get-tuple-element", Meaning::GetTupleElement),
    ("iota", Meaning::Array(Shaped::Iota)),
    ("map", Meaning::Map),
    ("opt-barrier", Meaning::Same),
    ("pad", Meaning::Array(Shaped::Pad)),
    ("parameter", Meaning::Parameter),
    ("reduce", Meaning::Reduce),
    ("reduce-precision", Meaning::Array(Shaped::ReducePrecision)),
    ("reshape", Meaning::Array(Shaped::Reshape)),
    ("reverse", Meaning::Array(Shaped::Reverse)),
    ("slice", Meaning::Array(Shaped::Slice)),
    ("transpose", Meaning::Array(Shaped::Transpose)),
    ("tuple", Meaning::Tuple),
];

/// The opcodes that can be read.
pub(super) fn names() -> Vec<String> {
    let elementwise = crate::opcode::names().filter(|(_, dialect)| *dialect != Dialect::Chlo);
    let elementwise = elementwise.map(|(name, _)| name.replace('_', "-"));
    elementwise.chain(OPCODES.iter().map(|(name, _)| (*name).to_owned())).collect()
}

impl Meaning {
    /// By the opcode.
    pub(super) fn of(opcode: &str) -> Option<Meaning> {
        let named = OPCODES.iter().find(|(name, _)| *name == opcode);
        named.map(|(_, meaning)| *meaning).or_else(|| Shaped::of(opcode).map(Meaning::Array))
    }

    /// The attributes that it has, beside those that say nothing of what is computed; nothing of calls of
    /// what stands outside of the file.
    pub(super) const fn attributes(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Meaning::CustomCall => return None,
            Meaning::Array(shaped) => shaped.attributes(),
            Meaning::Reduce | Meaning::Map => &["dimensions", "to_apply"],
            Meaning::Call => &["to_apply", "calls", "kind"],
            Meaning::GetTupleElement => &["index"],
            Meaning::Bitcast
            | Meaning::Parameter
            | Meaning::Constant
            | Meaning::Tuple
            | Meaning::Same => &[],
        })
    }

    /// Whether it is done to each element by itself, so that it may stand in the body of a map.
    pub(super) const fn is_elementwise(self) -> bool {
        matches!(
            self,
            Meaning::Array(
                Shaped::Elementwise(_)
                    | Shaped::Compare
                    | Shaped::Convert
                    | Shaped::BitcastConvert
                    | Shaped::ReducePrecision
            ) | Meaning::Constant
                | Meaning::Parameter
                | Meaning::Call
                | Meaning::Map
                | Meaning::Same
        )
    }
}

impl Shaped {
    fn of(opcode: &str) -> Option<Shaped> {
        if opcode.contains('_') {
            return None;
        }
        let op = elementwise(&opcode.replace('-', "_"))?;
        let is_here = name_of(op).is_some_and(|(_, dialect)| dialect != Dialect::Chlo);
        is_here.then_some(Shaped::Elementwise(op))
    }

    const fn attributes(self) -> &'static [&'static str] {
        match self {
            Shaped::Broadcast | Shaped::Transpose | Shaped::Reverse | Shaped::Concatenate => {
                &["dimensions"]
            }
            Shaped::Compare => &["direction", "type"],
            Shaped::Slice => &["slice"],
            Shaped::Pad => &["padding"],
            Shaped::Iota => &["iota_dimension"],
            Shaped::ReducePrecision => &["exponent_bits", "mantissa_bits"],
            Shaped::Gather => &[
                "offset_dims",
                "collapsed_slice_dims",
                "start_index_map",
                "operand_batching_dims",
                "start_indices_batching_dims",
                "index_vector_dim",
                "slice_sizes",
                "indices_are_sorted",
            ],
            Shaped::Elementwise(_) | Shaped::Convert | Shaped::BitcastConvert | Shaped::Reshape => {
                &[]
            }
        }
    }

    /// With what the attributes say.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn operation(self, attributes: Attributes<'_>) -> Result<Operation, FormatError> {
        let dimensions = || attributes.integers("dimensions");
        Ok(match self {
            Shaped::Elementwise(op) => Operation::Elementwise(op),
            Shaped::Compare => Operation::Compare(comparison(attributes)?),
            Shaped::Convert => Operation::Convert,
            Shaped::BitcastConvert => Operation::Bitcast,
            Shaped::Reshape => Operation::Reshape,
            Shaped::Broadcast => Operation::HloBroadcast(dimensions()?),
            Shaped::Transpose => Operation::Transpose(dimensions()?),
            Shaped::Reverse => Operation::Reverse(dimensions()?),
            Shaped::Slice => Operation::Slice(attributes.ranges()?),
            Shaped::Pad => Operation::Pad(attributes.widths()?),
            Shaped::Concatenate => Operation::Concatenate(attributes.integer("dimensions")?),
            Shaped::Iota => Operation::Iota(attributes.integer("iota_dimension")?),
            Shaped::Gather => Operation::Gather(gather(attributes)?),
            Shaped::ReducePrecision => {
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

/// The attributes of a gather; lists without elements may be absent.
///
/// # Errors
/// `attribute`.
pub(super) fn gather(attributes: Attributes<'_>) -> Result<Gather, FormatError> {
    let batches = [
        attributes.integers("operand_batching_dims")?,
        attributes.integers("start_indices_batching_dims")?,
    ];
    Ok(Gather {
        offset_dims: attributes.integers("offset_dims")?,
        collapsed_slice_dims: attributes.integers("collapsed_slice_dims")?,
        start_index_map: attributes.integers("start_index_map")?,
        index_vector_dim: attributes.integer("index_vector_dim")?,
        slice_sizes: attributes.integers("slice_sizes")?,
        has_batches: batches.iter().any(|dims| !dims.is_empty()),
    })
}

/// What a comparison says.
///
/// # Errors
/// `attribute`.
pub(super) fn comparison(attributes: Attributes<'_>) -> Result<Comparison, FormatError> {
    let direction = attributes.word("direction")?;
    let span = attributes.instruction.span;
    Comparison::of(direction, attributes.optional("type"))
        .map_err(|kind| kind.in_text(span.start..span.end))
}

/// The steps from the bytes of one type to those of another.
///
/// # Errors
/// `unsupported`.
pub(super) fn bitcast(
    from: &Instruction,
    to: &Instruction,
) -> Result<layout::Bitcast, FormatErrorKind> {
    match (&from.shape, &to.shape) {
        (Some(Shape::Array(from, laid)), Some(Shape::Array(to, lays))) => {
            layout::Bitcast::of(from, laid, to, lays)
        }
        _ => {
            Err(FormatErrorKind::Unexpected { expected: "types of arrays at a bitcast".to_owned() })
        }
    }
}
