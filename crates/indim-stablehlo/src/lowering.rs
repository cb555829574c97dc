//! The table of operations of StableHLO and chlo: their attributes and their lowering to XLA's operations.

use indim_graph::terminal::printable;
use indim_model::{FormatError, FormatErrorKind, Tolerance};
use indim_ops::Op;

use super::attribute::AttributeReader;
use super::dot;
use super::gather::{self, gather};
use super::syntax::SyntaxOperation;
use super::windows;
use indim_xla::dot::DotOperation;
use indim_xla::fourier::FourierOperation;
use indim_xla::opcode::{Comparison, Dialect, elementwise};
use indim_xla::operation::Operation;

/// The remark about an attribute that the operation does not define: MLIR ignores it, and so does indim.
/// Attributes with a dialect prefix belong to that dialect and get no remark.
pub(super) fn remark_on_attributes(lowering: Lowering, syntax: &SyntaxOperation) -> Option<String> {
    let defined = lowering.attributes()?;
    let mut names = syntax.attributes.iter().map(|attribute| attribute.name.as_str());
    let name = names.find(|name| !name.contains('.') && !defined.contains(name))?;
    Some(format!("{} has no attribute `{}`: it is ignored", syntax.name, printable(name)))
}

/// The lowering of an operation, as far as its name determines it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lowering {
    /// An operation with one array result.
    Array(ArrayOperation),
    Constant,
    Sort,
    /// chlo's `top_k`: the greatest elements along the last axis, and their positions.
    TopK,
    /// chlo's `constant_like`: one element, broadcast to the shape of the operand.
    ConstantLike,
    Reduce,
    ReduceWindow,
    Scatter,
    SelectAndScatter,
    Map,
    While,
    /// `case` and `if`; the index of an `if` is a bool, and its first region is that of true.
    Case,
    If,
    Tuple,
    GetTupleElement,
    /// The results are the operands.
    Same,
    Call,
    Composite,
    CustomCall,
    Expect(ExpectOperation),
    Return,
}

/// An operation with one array result; attributes specify it further.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ArrayOperation {
    Elementwise(Op),
    /// chlo's `broadcast_` form of an element-wise operation, with NumPy's rule.
    Numpy(Op),
    Compare,
    /// chlo's `broadcast_compare`, with NumPy's rule.
    NumpyCompare,
    /// Whether an element equals this infinity.
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
    Fft,
    ReducePrecision,
    Gather,
    DynamicSlice,
    DynamicUpdateSlice,
    TorchIndexSelect,
    Dot,
    DotGeneral,
    Convolution,
}

/// A check in a program: its accuracy and the source of the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExpectOperation {
    kind: ExpectKind,
    /// Whether the expected value is an attribute.
    pub(super) is_constant: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectKind {
    Equal,
    Near,
    Close,
}

impl ExpectOperation {
    /// `check.expect_eq`, `check.expect_almost_eq_const`, ...
    pub(super) fn of(name: &str) -> Option<ExpectOperation> {
        let name = name.strip_prefix("check.expect_")?;
        let (kind, is_constant) = match name.strip_suffix("_const") {
            Some(kind) => (kind, true),
            None => (name, false),
        };
        let kind = match kind {
            "eq" => ExpectKind::Equal,
            "almost_eq" => ExpectKind::Near,
            "close" => ExpectKind::Close,
            _ => return None,
        };
        Some(ExpectOperation { kind, is_constant })
    }

    /// The required accuracy. `as_call` means a check by a custom call, whose `expect_almost_eq` has a
    /// wider default tolerance.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn tolerance(
        self,
        operation: &SyntaxOperation,
        attributes: &AttributeReader<'_>,
        as_call: bool,
    ) -> Result<Tolerance, FormatError> {
        let number = |name: &str, otherwise: f64| match attributes.optional(operation, name) {
            Some(span) => attributes.float(name, span),
            None => Ok(otherwise),
        };
        Ok(match self.kind {
            ExpectKind::Equal => Tolerance::Exact,
            ExpectKind::Near => {
                let absolute = number("tolerance", if as_call { 1e-3 } else { 1e-4 })?;
                Tolerance::Close { absolute, relative: 0.0 }
            }
            ExpectKind::Close => Tolerance::Ulps {
                min: number("min_ulp_difference", 0.0)? as u64,
                max: number("max_ulp_difference", 3.0)? as u64,
            },
        })
    }
}

impl Lowering {
    /// The lowering of an operation by its full name.
    pub(super) fn of(name: &str) -> Option<Lowering> {
        let (dialect, operation) = name.split_once('.')?;
        match dialect {
            "stablehlo" => of_stablehlo(operation),
            "chlo" => of_chlo(operation),
            "func" => Some(match operation {
                "call" => Lowering::Call,
                "return" => Lowering::Return,
                _ => return None,
            }),
            "check" => ExpectOperation::of(name).map(Lowering::Expect),
            "sdy" => (operation == "sharding_constraint").then_some(Lowering::Same),
            _ => None,
        }
    }

    /// The attributes of the operation; `None` for custom calls and composites, which may have any
    /// attribute.
    fn attributes(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Lowering::CustomCall | Lowering::Composite => return None,
            Lowering::Array(shaped) => shaped.attributes(),
            Lowering::Constant | Lowering::ConstantLike => &["value"],
            Lowering::Reduce => &["dimensions", "applies"],
            Lowering::ReduceWindow => windows::REDUCE_WINDOW_ATTRIBUTES,
            Lowering::Scatter => gather::SCATTER_ATTRIBUTES,
            Lowering::SelectAndScatter => windows::SELECT_AND_SCATTER_ATTRIBUTES,
            Lowering::Map => &["dimensions"],
            Lowering::Sort => &["dimension", "is_stable"],
            Lowering::TopK => &["k"],
            Lowering::GetTupleElement => &["index"],
            Lowering::Call => &["callee", "no_inline", "arg_attrs", "res_attrs"],
            Lowering::Expect(_) => {
                &["value", "tolerance", "min_ulp_difference", "max_ulp_difference"]
            }
            // The attribute of sdy's constraint.
            Lowering::Same => &["sharding"],
            Lowering::While | Lowering::Case | Lowering::If => &[],
            Lowering::Tuple | Lowering::Return => &[],
        })
    }

    /// Whether a map can contain the operation: an element-wise operation, a constant, a call, a map, an
    /// operation that returns its operands, or `return`.
    pub(super) const fn is_elementwise(self) -> bool {
        matches!(
            self,
            Lowering::Array(
                ArrayOperation::Elementwise(_)
                    | ArrayOperation::Compare
                    | ArrayOperation::IsInfinity(_)
                    | ArrayOperation::Convert
                    | ArrayOperation::Bitcast
                    | ArrayOperation::ReducePrecision
            ) | Lowering::Constant
                | Lowering::Call
                | Lowering::Map
                | Lowering::Same
                | Lowering::Return
        )
    }
}

/// Whether the parser supports the pretty form of the operation.
pub(super) fn is_known(name: &str) -> bool {
    Lowering::of(name).is_some()
}

/// StableHLO's operations that the table of element-wise operations in `indim-xla` lacks.
const STABLEHLO: &[(&str, Lowering)] = &[
    ("bitcast_convert", Lowering::Array(ArrayOperation::Bitcast)),
    ("broadcast", Lowering::Array(ArrayOperation::Broadcast)),
    ("broadcast_in_dim", Lowering::Array(ArrayOperation::BroadcastInDim)),
    ("case", Lowering::Case),
    ("compare", Lowering::Array(ArrayOperation::Compare)),
    ("composite", Lowering::Composite),
    ("concatenate", Lowering::Array(ArrayOperation::Concatenate)),
    ("constant", Lowering::Constant),
    ("convert", Lowering::Array(ArrayOperation::Convert)),
    ("convolution", Lowering::Array(ArrayOperation::Convolution)),
    ("custom_call", Lowering::CustomCall),
    ("dot", Lowering::Array(ArrayOperation::Dot)),
    ("dot_general", Lowering::Array(ArrayOperation::DotGeneral)),
    ("dynamic_slice", Lowering::Array(ArrayOperation::DynamicSlice)),
    ("dynamic_update_slice", Lowering::Array(ArrayOperation::DynamicUpdateSlice)),
    ("fft", Lowering::Array(ArrayOperation::Fft)),
    ("gather", Lowering::Array(ArrayOperation::Gather)),
    ("get_tuple_element", Lowering::GetTupleElement),
    ("if", Lowering::If),
    ("iota", Lowering::Array(ArrayOperation::Iota)),
    ("map", Lowering::Map),
    ("optimization_barrier", Lowering::Same),
    ("pad", Lowering::Array(ArrayOperation::Pad)),
    ("reduce", Lowering::Reduce),
    ("reduce_precision", Lowering::Array(ArrayOperation::ReducePrecision)),
    ("reduce_window", Lowering::ReduceWindow),
    ("reshape", Lowering::Array(ArrayOperation::Reshape)),
    ("return", Lowering::Return),
    ("reverse", Lowering::Array(ArrayOperation::Reverse)),
    ("scatter", Lowering::Scatter),
    ("select_and_scatter", Lowering::SelectAndScatter),
    ("slice", Lowering::Array(ArrayOperation::Slice)),
    ("sort", Lowering::Sort),
    ("torch_index_select", Lowering::Array(ArrayOperation::TorchIndexSelect)),
    ("transpose", Lowering::Array(ArrayOperation::Transpose)),
    ("tuple", Lowering::Tuple),
    ("while", Lowering::While),
];

/// chlo's operations that the table of element-wise operations in `indim-xla` lacks.
const CHLO: &[(&str, Lowering)] = &[
    ("broadcast_compare", Lowering::Array(ArrayOperation::NumpyCompare)),
    ("constant", Lowering::Constant),
    ("constant_like", Lowering::ConstantLike),
    ("is_neg_inf", Lowering::Array(ArrayOperation::IsInfinity(f64::NEG_INFINITY))),
    ("is_pos_inf", Lowering::Array(ArrayOperation::IsInfinity(f64::INFINITY))),
    ("top_k", Lowering::TopK),
];

fn find_by_name(table: &[(&str, Lowering)], operation: &str) -> Option<Lowering> {
    table.iter().find(|(name, _)| *name == operation).map(|(_, lowering)| *lowering)
}

fn of_stablehlo(operation: &str) -> Option<Lowering> {
    let op = elementwise(operation).map(|op| Lowering::Array(ArrayOperation::Elementwise(op)));
    op.or_else(|| find_by_name(STABLEHLO, operation))
}

fn of_chlo(operation: &str) -> Option<Lowering> {
    let numpy = || elementwise(operation.strip_prefix("broadcast_")?).map(ArrayOperation::Numpy);
    let shaped = || elementwise(operation).map(ArrayOperation::Elementwise).or_else(numpy);
    find_by_name(CHLO, operation).or_else(|| shaped().map(Lowering::Array))
}

/// Names of the supported operations, with dialects; element-wise ones are also supported with the prefix
/// `chlo.broadcast_`.
pub(super) fn names() -> Vec<String> {
    let elementwise = indim_xla::opcode::names().map(|(name, dialect)| match dialect {
        Dialect::StableHlo => format!("stablehlo.{name}"),
        _ => format!("chlo.{name}"),
    });
    let own = STABLEHLO.iter().map(|(name, _)| format!("stablehlo.{name}"));
    let chlo = CHLO.iter().map(|(name, _)| format!("chlo.{name}"));
    elementwise.chain(own).chain(chlo).collect()
}

impl ArrayOperation {
    const fn attributes(self) -> &'static [&'static str] {
        match self {
            // The permitted inaccuracy.
            ArrayOperation::Elementwise(_) => &["result_accuracy"],
            ArrayOperation::Numpy(_) | ArrayOperation::BroadcastInDim => &["broadcast_dimensions"],
            ArrayOperation::Compare => &["comparison_direction", "compare_type"],
            ArrayOperation::NumpyCompare => {
                &["comparison_direction", "compare_type", "broadcast_dimensions"]
            }
            ArrayOperation::Broadcast => &["broadcast_sizes"],
            ArrayOperation::Transpose => &["permutation"],
            ArrayOperation::Reverse => &["dimensions"],
            ArrayOperation::Slice => &["ranges", "start_indices", "limit_indices", "strides"],
            ArrayOperation::Pad => &["edge_padding_low", "edge_padding_high", "interior_padding"],
            ArrayOperation::Concatenate => &["dimension"],
            ArrayOperation::Iota => &["iota_dimension"],
            ArrayOperation::Fft => &["fft_type", "fft_length"],
            ArrayOperation::Gather => &["dimension_numbers", "indices_are_sorted", "slice_sizes"],
            ArrayOperation::DynamicSlice => &["slice_sizes"],
            ArrayOperation::TorchIndexSelect => &["dim", "batch_dims"],
            ArrayOperation::Dot => &["precision_config", "precision"],
            ArrayOperation::DotGeneral => dot::ATTRIBUTES,
            ArrayOperation::Convolution => windows::CONVOLUTION_ATTRIBUTES,
            ArrayOperation::ReducePrecision => &["format", "exponent_bits", "mantissa_bits"],
            ArrayOperation::IsInfinity(_)
            | ArrayOperation::Convert
            | ArrayOperation::Bitcast
            | ArrayOperation::DynamicUpdateSlice
            | ArrayOperation::Reshape => &[],
        }
    }

    /// The operation with its attributes.
    ///
    /// # Errors
    /// `attribute`.
    pub(super) fn operation(
        self,
        syntax: &SyntaxOperation,
        attributes: &AttributeReader<'_>,
    ) -> Result<Operation, FormatError> {
        let list = |name: &str| attributes.integers(syntax, name);
        Ok(match self {
            ArrayOperation::Elementwise(op) => Operation::Elementwise(op),
            ArrayOperation::Numpy(op) => Operation::Numpy(op, numpy_dims(syntax, attributes)?),
            ArrayOperation::Compare => Operation::Compare(comparison(syntax, attributes)?),
            ArrayOperation::NumpyCompare => {
                let dims = numpy_dims(syntax, attributes)?;
                Operation::NumpyCompare(comparison(syntax, attributes)?, dims)
            }
            ArrayOperation::IsInfinity(infinity) => Operation::IsInfinity(infinity),
            ArrayOperation::Convert => Operation::Convert,
            ArrayOperation::Bitcast => Operation::Bitcast,
            ArrayOperation::Reshape => Operation::Reshape,
            ArrayOperation::BroadcastInDim => {
                Operation::BroadcastInDim(list("broadcast_dimensions")?)
            }
            ArrayOperation::Broadcast => Operation::Broadcast(list("broadcast_sizes")?),
            ArrayOperation::Transpose => Operation::Transpose(list("permutation")?),
            ArrayOperation::Reverse => Operation::Reverse(list("dimensions")?),
            ArrayOperation::Slice => Operation::Slice(ranges(syntax, attributes)?),
            ArrayOperation::Pad => {
                let names = ["edge_padding_low", "edge_padding_high", "interior_padding"];
                Operation::Pad(triples(syntax, attributes, names)?)
            }
            ArrayOperation::Concatenate => {
                Operation::Concatenate(attributes.integer(syntax, "dimension")?)
            }
            ArrayOperation::Iota => Operation::Iota(attributes.integer(syntax, "iota_dimension")?),
            ArrayOperation::Fft => {
                let span = attributes.required(syntax, "fft_type")?;
                let lengths = list("fft_length")?;
                let fourier = FourierOperation::new(attributes.last_word(span), &lengths);
                Operation::Fft(fourier.map_err(|kind| kind.in_text(span.start..span.end))?)
            }
            ArrayOperation::ReducePrecision => reduce_precision(syntax, attributes)?,
            ArrayOperation::Gather => Operation::Gather(gather(syntax, attributes)?),
            ArrayOperation::DynamicSlice => {
                let attribute = "slice_sizes";
                Operation::DynamicSlice {
                    sizes: attributes.integers(syntax, attribute)?,
                    attribute,
                }
            }
            ArrayOperation::TorchIndexSelect => Operation::TorchIndexSelect(
                attributes.integer(syntax, "dim")?,
                attributes.integer(syntax, "batch_dims")?,
            ),
            ArrayOperation::DynamicUpdateSlice => Operation::DynamicUpdateSlice,
            ArrayOperation::Dot => {
                Operation::Dot(DotOperation { dimensions: None, algorithm: None })
            }
            ArrayOperation::DotGeneral => Operation::Dot(dot::general(syntax, attributes)?),
            ArrayOperation::Convolution => {
                Operation::Convolution(Box::new(windows::convolution(syntax, attributes)?))
            }
        })
    }
}

/// The optional `broadcast_dimensions` of chlo's `broadcast_` operations.
///
/// # Errors
/// `attribute`.
fn numpy_dims(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<Option<Vec<i64>>, FormatError> {
    let name = "broadcast_dimensions";
    attributes.optional(syntax, name).map(|_| attributes.integers(syntax, name)).transpose()
}

/// The comparison in the attributes.
///
/// # Errors
/// `attribute`.
pub(super) fn comparison(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<Comparison, FormatError> {
    let direction = attributes.required(syntax, "comparison_direction")?;
    let order = attributes.optional(syntax, "compare_type");
    let order = order.map(|span| attributes.last_word(span));
    Comparison::of(attributes.last_word(direction), order)
        .map_err(|kind| kind.in_text(direction.start..direction.end))
}

/// Zips three lists of equal length.
fn triples(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
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
fn ranges(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<Vec<[i64; 3]>, FormatError> {
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

/// `format = e5m10`, or two numbers.
fn reduce_precision(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<Operation, FormatError> {
    let (exponent, mantissa, span) = match attributes.optional(syntax, "format") {
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
            Err(kind.in_text(span.start..span.end))
        }
    }
}
