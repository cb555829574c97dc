//! What opcodes of HLO mean: the table of their names, and what each says beside its operands, in terms of
//! XLA's operations.

use indim_ops::Op;

use super::attribute::Attributes;
use super::layout;
use super::syntax::{Instruction, Shape};
use crate::error::{FormatError, FormatErrorKind};
use crate::xla::opcode::{Comparison, Dialect, elementwise, name_of};
use crate::xla::operation::Operation;

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
}

impl Meaning {
    /// By the opcode.
    pub(super) fn of(opcode: &str) -> Option<Meaning> {
        Some(match opcode {
            "bitcast" => Meaning::Bitcast,
            "parameter" => Meaning::Parameter,
            "constant" => Meaning::Constant,
            "reduce" => Meaning::Reduce,
            "map" => Meaning::Map,
            "tuple" => Meaning::Tuple,
            "get-tuple-element" => Meaning::GetTupleElement,
            "copy" | "opt-barrier" | "add-dependency" => Meaning::Same,
            "call" | "fusion" => Meaning::Call,
            "custom-call" => Meaning::CustomCall,
            _ => Meaning::Array(Shaped::of(opcode)?),
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
        Some(match opcode {
            "compare" => Shaped::Compare,
            "convert" => Shaped::Convert,
            "bitcast-convert" => Shaped::BitcastConvert,
            "reshape" => Shaped::Reshape,
            "broadcast" => Shaped::Broadcast,
            "transpose" => Shaped::Transpose,
            "reverse" => Shaped::Reverse,
            "slice" => Shaped::Slice,
            "pad" => Shaped::Pad,
            "concatenate" => Shaped::Concatenate,
            "iota" => Shaped::Iota,
            "reduce-precision" => Shaped::ReducePrecision,
            _ if opcode.contains('_') => return None,
            _ => {
                let op = elementwise(&opcode.replace('-', "_"))?;
                let is_here = name_of(op).is_some_and(|(_, dialect)| dialect != Dialect::Chlo);
                return is_here.then_some(Shaped::Elementwise(op));
            }
        })
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
            Shaped::Broadcast => Operation::BroadcastInDim(dimensions()?),
            Shaped::Transpose => Operation::Transpose(dimensions()?),
            Shaped::Reverse => Operation::Reverse(dimensions()?),
            Shaped::Slice => Operation::Slice(attributes.ranges()?),
            Shaped::Pad => Operation::Pad(attributes.widths()?),
            Shaped::Concatenate => Operation::Concatenate(attributes.integer("dimensions")?),
            Shaped::Iota => Operation::Iota(attributes.integer("iota_dimension")?),
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

/// HLO's `broadcast` only adds axes: sizes of 1 stay.
///
/// # Errors
/// `attribute`.
pub(super) fn check_broadcast(
    operation: &Operation,
    operand: &[usize],
    result: &Shape,
) -> Result<(), FormatErrorKind> {
    let (Operation::BroadcastInDim(dims), Shape::Array(result, _)) = (operation, result) else {
        return Ok(());
    };
    let size_at = |&axis: &i64| result.shape.sizes().get(usize::try_from(axis).ok()?).copied();
    let pairs = dims.iter().zip(operand);
    for (axis, &size) in pairs {
        // Of an axis that there is not, the builder says so.
        if let Some(target) = size_at(axis).filter(|&target| target != size) {
            let problem = format!("lays an axis of size {size} on axis {axis} of size {target}");
            return Err(FormatErrorKind::attribute("dimensions", problem));
        }
    }
    Ok(())
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
