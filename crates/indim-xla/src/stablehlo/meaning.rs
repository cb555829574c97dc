//! What operations of StableHLO mean: the table of their names, and what each says beside its operands, in
//! terms of XLA's operations.

use indim_graph::terminal::shown;
use indim_model::{Agreement, FormatError, FormatErrorKind};
use indim_ops::Op;

use super::attribute::Attributes;
use super::syntax::Operation as Syntax;
use crate::gather::Gather;
use crate::opcode::{Comparison, Dialect, elementwise};
use crate::operation::Operation;

/// What is to be said of an attribute that the operation has not: MLIR passes over such, and so does indim.
/// Those with the name of a dialect are that dialect's own affair.
pub(super) fn remark_on_attributes(meaning: Meaning, syntax: &Syntax) -> Option<String> {
    let own = meaning.attributes()?;
    let mut names = syntax.attributes.iter().map(|attribute| attribute.name.as_str());
    let name = names.find(|name| !name.contains('.') && !own.contains(name))?;
    Some(format!("{} has no attribute `{}`: it is ignored", syntax.name, shown(name)))
}

/// What an operation means, as far as its name says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    /// One result, of arrays.
    Array(Shaped),
    Constant,
    /// chlo's `constant_like`: one element for the shape of the operand.
    ConstantLike,
    Reduce,
    Map,
    Tuple,
    GetTupleElement,
    /// Its operands.
    Same,
    Call,
    Composite,
    CustomCall,
    Expect(Expected),
    Return,
}

/// Operations of one result, of which attributes say more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shaped {
    Elementwise(Op),
    Numpy(Op),
    Compare,
    NumpyCompare,
    IsInfinity(f64),
    Convert,
    Bitcast,
    Reshape,
    BroadcastInDim,
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

/// How a program's own expectations compare, and with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expected {
    how: How,
    /// Whether the expected value is an attribute.
    pub(super) is_constant: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Equal,
    Near,
    Close,
}

impl Expected {
    /// `check.expect_eq`, `check.expect_almost_eq_const`, ...
    pub(super) fn of(name: &str) -> Option<Expected> {
        let name = name.strip_prefix("check.expect_")?;
        let (how, is_constant) = match name.strip_suffix("_const") {
            Some(how) => (how, true),
            None => (name, false),
        };
        let how = match how {
            "eq" => How::Equal,
            "almost_eq" => How::Near,
            "close" => How::Close,
            _ => return None,
        };
        Some(Expected { how, is_constant })
    }

    /// How well the results have to agree: `as_call` when it is a custom call, whose tolerance is wider.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn agreement(
        self,
        operation: &Syntax,
        attributes: &Attributes<'_>,
        as_call: bool,
    ) -> Result<Agreement, FormatError> {
        let number = |name: &str, otherwise: f64| match attributes.optional(operation, name) {
            Some(span) => attributes.float(name, span),
            None => Ok(otherwise),
        };
        Ok(match self.how {
            How::Equal => Agreement::Equal,
            How::Near => {
                let absolute = number("tolerance", if as_call { 1e-3 } else { 1e-4 })?;
                Agreement::Near { absolute, relative: 0.0 }
            }
            How::Close => Agreement::Ulps {
                least: number("min_ulp_difference", 0.0)? as u64,
                most: number("max_ulp_difference", 3.0)? as u64,
            },
        })
    }
}

impl Meaning {
    /// By the full name.
    pub(super) fn of(name: &str) -> Option<Meaning> {
        let (dialect, operation) = name.split_once('.')?;
        match dialect {
            "stablehlo" => of_stablehlo(operation),
            "chlo" => of_chlo(operation),
            "func" => Some(match operation {
                "call" => Meaning::Call,
                "return" => Meaning::Return,
                _ => return None,
            }),
            "check" => Expected::of(name).map(Meaning::Expect),
            "sdy" => (operation == "sharding_constraint").then_some(Meaning::Same),
            _ => None,
        }
    }

    /// The attributes that it has; nothing of calls of what stands outside of the file.
    fn attributes(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Meaning::CustomCall | Meaning::Composite => return None,
            Meaning::Array(shaped) => shaped.attributes(),
            Meaning::Constant | Meaning::ConstantLike => &["value"],
            Meaning::Reduce => &["dimensions", "applies"],
            Meaning::Map => &["dimensions"],
            Meaning::GetTupleElement => &["index"],
            Meaning::Call => &["callee", "no_inline", "arg_attrs", "res_attrs"],
            Meaning::Expect(_) => {
                &["value", "tolerance", "min_ulp_difference", "max_ulp_difference"]
            }
            // Of sdy's constraint.
            Meaning::Same => &["sharding"],
            Meaning::Tuple | Meaning::Return => &[],
        })
    }

    /// Whether it is done to each element by itself, so that it may stand in the body of a map.
    pub(super) const fn is_elementwise(self) -> bool {
        matches!(
            self,
            Meaning::Array(
                Shaped::Elementwise(_)
                    | Shaped::Compare
                    | Shaped::IsInfinity(_)
                    | Shaped::Convert
                    | Shaped::Bitcast
                    | Shaped::ReducePrecision
            ) | Meaning::Constant
                | Meaning::Call
                | Meaning::Map
                | Meaning::Same
                | Meaning::Return
        )
    }
}

/// Whether the pretty form of an operation can be read.
pub(super) fn is_known(name: &str) -> bool {
    Meaning::of(name).is_some()
}

/// StableHLO's operations that are not element by element.
const STABLEHLO: &[(&str, Meaning)] = &[
    ("bitcast_convert", Meaning::Array(Shaped::Bitcast)),
    ("broadcast", Meaning::Array(Shaped::Broadcast)),
    ("broadcast_in_dim", Meaning::Array(Shaped::BroadcastInDim)),
    ("compare", Meaning::Array(Shaped::Compare)),
    ("composite", Meaning::Composite),
    ("concatenate", Meaning::Array(Shaped::Concatenate)),
    ("constant", Meaning::Constant),
    ("convert", Meaning::Array(Shaped::Convert)),
    ("custom_call", Meaning::CustomCall),
    ("gather", Meaning::Array(Shaped::Gather)),
    ("get_tuple_element", Meaning::GetTupleElement),
    ("iota", Meaning::Array(Shaped::Iota)),
    ("map", Meaning::Map),
    ("optimization_barrier", Meaning::Same),
    ("pad", Meaning::Array(Shaped::Pad)),
    ("reduce", Meaning::Reduce),
    ("reduce_precision", Meaning::Array(Shaped::ReducePrecision)),
    ("reshape", Meaning::Array(Shaped::Reshape)),
    ("return", Meaning::Return),
    ("reverse", Meaning::Array(Shaped::Reverse)),
    ("slice", Meaning::Array(Shaped::Slice)),
    ("transpose", Meaning::Array(Shaped::Transpose)),
    ("tuple", Meaning::Tuple),
];

/// The operations that only chlo has, and that are not element by element on operands of one shape.
const CHLO: &[(&str, Meaning)] = &[
    ("broadcast_compare", Meaning::Array(Shaped::NumpyCompare)),
    ("constant", Meaning::Constant),
    ("constant_like", Meaning::ConstantLike),
    ("is_neg_inf", Meaning::Array(Shaped::IsInfinity(f64::NEG_INFINITY))),
    ("is_pos_inf", Meaning::Array(Shaped::IsInfinity(f64::INFINITY))),
];

fn named(table: &[(&str, Meaning)], operation: &str) -> Option<Meaning> {
    table.iter().find(|(name, _)| *name == operation).map(|(_, meaning)| *meaning)
}

fn of_stablehlo(operation: &str) -> Option<Meaning> {
    let op = elementwise(operation).map(|op| Meaning::Array(Shaped::Elementwise(op)));
    op.or_else(|| named(STABLEHLO, operation))
}

fn of_chlo(operation: &str) -> Option<Meaning> {
    let numpy = || elementwise(operation.strip_prefix("broadcast_")?).map(Shaped::Numpy);
    let shaped = || elementwise(operation).map(Shaped::Elementwise).or_else(numpy);
    named(CHLO, operation).or_else(|| shaped().map(Meaning::Array))
}

/// The names of the operations that can be read, with their dialects; each element-wise one can be read with
/// the prefix `chlo.broadcast_` too.
pub(super) fn names() -> Vec<String> {
    let elementwise = crate::opcode::names().map(|(name, dialect)| match dialect {
        Dialect::StableHlo => format!("stablehlo.{name}"),
        _ => format!("chlo.{name}"),
    });
    let own = STABLEHLO.iter().map(|(name, _)| format!("stablehlo.{name}"));
    let chlo = CHLO.iter().map(|(name, _)| format!("chlo.{name}"));
    elementwise.chain(own).chain(chlo).collect()
}

impl Shaped {
    const fn attributes(self) -> &'static [&'static str] {
        match self {
            // How exact it need not be.
            Shaped::Elementwise(_) => &["result_accuracy"],
            Shaped::Numpy(_) | Shaped::BroadcastInDim => &["broadcast_dimensions"],
            Shaped::Compare => &["comparison_direction", "compare_type"],
            Shaped::NumpyCompare => {
                &["comparison_direction", "compare_type", "broadcast_dimensions"]
            }
            Shaped::Broadcast => &["broadcast_sizes"],
            Shaped::Transpose => &["permutation"],
            Shaped::Reverse => &["dimensions"],
            Shaped::Slice => &["ranges", "start_indices", "limit_indices", "strides"],
            Shaped::Pad => &["edge_padding_low", "edge_padding_high", "interior_padding"],
            Shaped::Concatenate => &["dimension"],
            Shaped::Iota => &["iota_dimension"],
            Shaped::Gather => &["dimension_numbers", "indices_are_sorted", "slice_sizes"],
            Shaped::ReducePrecision => &["format", "exponent_bits", "mantissa_bits"],
            Shaped::IsInfinity(_) | Shaped::Convert | Shaped::Bitcast | Shaped::Reshape => &[],
        }
    }

    /// With what the attributes say.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn operation(
        self,
        syntax: &Syntax,
        attributes: &Attributes<'_>,
    ) -> Result<Operation, FormatError> {
        let list = |name: &str| attributes.integers(syntax, name);
        Ok(match self {
            Shaped::Elementwise(op) => Operation::Elementwise(op),
            Shaped::Numpy(op) => {
                let name = "broadcast_dimensions";
                let has_dims = attributes.optional(syntax, name).is_some();
                Operation::Numpy(op, if has_dims { Some(list(name)?) } else { None })
            }
            Shaped::Compare => Operation::Compare(comparison(syntax, attributes)?),
            Shaped::NumpyCompare => Operation::NumpyCompare(comparison(syntax, attributes)?),
            Shaped::IsInfinity(infinity) => Operation::IsInfinity(infinity),
            Shaped::Convert => Operation::Convert,
            Shaped::Bitcast => Operation::Bitcast,
            Shaped::Reshape => Operation::Reshape,
            Shaped::BroadcastInDim => Operation::BroadcastInDim(list("broadcast_dimensions")?),
            Shaped::Broadcast => Operation::Broadcast(list("broadcast_sizes")?),
            Shaped::Transpose => Operation::Transpose(list("permutation")?),
            Shaped::Reverse => Operation::Reverse(list("dimensions")?),
            Shaped::Slice => Operation::Slice(ranges(syntax, attributes)?),
            Shaped::Pad => {
                let names = ["edge_padding_low", "edge_padding_high", "interior_padding"];
                Operation::Pad(triples(syntax, attributes, names)?)
            }
            Shaped::Concatenate => Operation::Concatenate(attributes.integer(syntax, "dimension")?),
            Shaped::Iota => Operation::Iota(attributes.integer(syntax, "iota_dimension")?),
            Shaped::ReducePrecision => reduce_precision(syntax, attributes)?,
            Shaped::Gather => Operation::Gather(gather(syntax, attributes)?),
        })
    }
}

/// `#stablehlo.gather<offset_dims = [0], ..., index_vector_dim = 1>` and the sizes of slices.
///
/// # Errors
/// `attribute`.
pub(super) fn gather(syntax: &Syntax, attributes: &Attributes<'_>) -> Result<Gather, FormatError> {
    let span = attributes.required(syntax, "dimension_numbers")?;
    let text = span.of(attributes.text);
    let wrong = || {
        let kind =
            FormatErrorKind::attribute("dimension_numbers", "is not of the form of a gather");
        kind.in_text(span.start..span.end)
    };
    let body = text.split_once('<').and_then(|(_, body)| body.trim_end().strip_suffix('>'));
    let list = |name| member(body?, name);
    let list = |name| list(name).ok_or_else(wrong);
    let index_vector_dim = match list("index_vector_dim")?[..] {
        [] => 0,
        [dim] => dim,
        _ => return Err(wrong()),
    };
    let batches = [list("operand_batching_dims")?, list("start_indices_batching_dims")?];
    Ok(Gather {
        offset_dims: list("offset_dims")?,
        collapsed_slice_dims: list("collapsed_slice_dims")?,
        start_index_map: list("start_index_map")?,
        index_vector_dim,
        slice_sizes: attributes.integers(syntax, "slice_sizes")?,
        has_batches: batches.iter().any(|dims| !dims.is_empty()),
    })
}

/// The numbers of one member of `name = [0, 2], other = 1`; none of an absent one.
fn member(body: &str, name: &str) -> Option<Vec<i64>> {
    let is_start = |&(at, _): &(usize, &str)| {
        let before = body[..at].trim_end();
        before.is_empty() || before.ends_with(',')
    };
    let Some((at, _)) = body.match_indices(name).find(is_start) else { return Some(Vec::new()) };
    let value = body[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
    let list = match value.strip_prefix('[') {
        Some(list) => list.split(']').next()?,
        None => value.split(',').next()?,
    };
    let numbers = list.split(',').map(str::trim).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

/// What a comparison says.
///
/// # Errors
/// `attribute`.
pub(super) fn comparison(
    syntax: &Syntax,
    attributes: &Attributes<'_>,
) -> Result<Comparison, FormatError> {
    let direction = attributes.required(syntax, "comparison_direction")?;
    let order = attributes.optional(syntax, "compare_type");
    let order = order.map(|span| attributes.last_word(span));
    Comparison::of(attributes.last_word(direction), order)
        .map_err(|kind| kind.in_text(direction.start..direction.end))
}

/// Three lists of as many numbers, as one of threes.
fn triples(
    syntax: &Syntax,
    attributes: &Attributes<'_>,
    names: [&str; 3],
) -> Result<Vec<[i64; 3]>, FormatError> {
    let mut lists = Vec::with_capacity(3);
    for name in names {
        lists.push(attributes.integers(syntax, name)?);
    }
    let [first, second, third] = [&lists[0], &lists[1], &lists[2]];
    if first.len() != second.len() || first.len() != third.len() {
        let kind = FormatErrorKind::attribute(names[1], "is of another length than the others");
        return Err(kind.in_text(syntax.span.start..syntax.span.end));
    }
    Ok((0..first.len()).map(|axis| [first[axis], second[axis], third[axis]]).collect())
}

/// `[0:2, 1:6:2]`, or three lists.
fn ranges(syntax: &Syntax, attributes: &Attributes<'_>) -> Result<Vec<[i64; 3]>, FormatError> {
    let Some(span) = attributes.optional(syntax, "ranges") else {
        return triples(syntax, attributes, ["start_indices", "limit_indices", "strides"]);
    };
    let text = span.of(attributes.text).trim_start_matches('[').trim_end_matches(']');
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let range = |text: &str| {
        let mut numbers = text.split(':').map(|number| number.trim().parse().ok());
        let (start, limit) = (numbers.next()??, numbers.next()??);
        let stride = numbers.next().unwrap_or(Some(1))?;
        numbers.next().is_none().then_some([start, limit, stride])
    };
    let ranges: Option<Vec<[i64; 3]>> = text.split(',').map(range).collect();
    ranges.ok_or_else(|| {
        let kind = FormatErrorKind::attribute("ranges", "is not of the form [start:limit:stride]");
        kind.in_text(span.start..span.end)
    })
}

/// `format = e5m10`, or two numbers. What a type has not to lose is out of any number's reach.
fn reduce_precision(
    syntax: &Syntax,
    attributes: &Attributes<'_>,
) -> Result<Operation, FormatError> {
    let (exponent, mantissa, place) = match attributes.optional(syntax, "format") {
        Some(span) => {
            let numbers = attributes.last_word(span).strip_prefix('e').and_then(|text| {
                let (exponent, mantissa) = text.split_once('m')?;
                Some((exponent.parse().ok()?, mantissa.parse().ok()?))
            });
            let wrong = || {
                let kind = FormatErrorKind::attribute("format", "is not of the form e5m10");
                kind.in_text(span.start..span.end)
            };
            let (exponent, mantissa): (i64, i64) = numbers.ok_or_else(wrong)?;
            (exponent, mantissa, span)
        }
        None => {
            let exponent = attributes.integer(syntax, "exponent_bits")?;
            (exponent, attributes.integer(syntax, "mantissa_bits")?, syntax.span)
        }
    };
    match (u32::try_from(exponent), u32::try_from(mantissa)) {
        (Ok(exponent), Ok(mantissa)) => Ok(Operation::ReducePrecision(exponent, mantissa)),
        _ => {
            let kind = FormatErrorKind::attribute("format", "has a negative number of bits");
            Err(kind.in_text(place.start..place.end))
        }
    }
}
