//! The attributes of `convolution` and `reduce_window`.

use indim_model::{FormatError, FormatErrorKind};
use indim_shape::MAX_RANK;
use indim_text::Span;
use indim_xla::windows::{ConvolutionOperation, WindowAttributes, dimension_numbers};

use super::attribute::AttributeReader;
use super::dense::Dense;
use super::syntax::SyntaxOperation;

/// Names of the attributes of a convolution: those of the generic form, then `window` of the pretty form.
pub(super) const CONVOLUTION_ATTRIBUTES: &[&str] = &[
    "window_strides",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "window_reversal",
    "dimension_numbers",
    "feature_group_count",
    "batch_group_count",
    "precision_config",
    "window",
];

/// Names of the attributes of `reduce_window`.
pub(super) const REDUCE_WINDOW_ATTRIBUTES: &[&str] =
    &["window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"];

/// Names of the attributes of `select_and_scatter`.
pub(super) const SELECT_AND_SCATTER_ATTRIBUTES: &[&str] =
    &["window_dimensions", "window_strides", "padding"];

/// The convolution with its attributes.
///
/// # Errors
/// `attribute`.
pub(super) fn convolution(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<ConvolutionOperation, FormatError> {
    let span = attributes.required(syntax, "dimension_numbers")?;
    let text = span.of(attributes.text).trim();
    // `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, or only the text within the brackets.
    let inside = match text.strip_prefix('#') {
        Some(named) => named.split_once('<').and_then(|(_, body)| body.strip_suffix('>')),
        None => Some(text),
    };
    let axes = inside.and_then(dimension_numbers).ok_or_else(|| {
        malformed("dimension_numbers", "is not of the form [b, 0, f]x[0, i, o]->[b, 0, f]", span)
    })?;
    let window = match attributes.optional(syntax, "window") {
        Some(span) => pretty_window(attributes, span)?,
        None => WindowAttributes {
            strides: optional(syntax, attributes, "window_strides")?,
            padding: pairs(syntax, attributes)?,
            base_dilations: optional(syntax, attributes, "lhs_dilation")?,
            window_dilations: optional(syntax, attributes, "rhs_dilation")?,
            is_reversed: match attributes.optional(syntax, "window_reversal") {
                Some(span) => bool_list(attributes, span)?,
                None => Vec::new(),
            },
            ..WindowAttributes::default()
        },
    };
    let count = |name: &str| match attributes.optional(syntax, name) {
        Some(_) => attributes.integer(syntax, name),
        None => Ok(1),
    };
    let feature_groups = count("feature_group_count")?;
    let batch_groups = count("batch_group_count")?;
    Ok(ConvolutionOperation { axes, window, feature_groups, batch_groups })
}

/// The windows of `reduce_window` or `select_and_scatter`.
///
/// # Errors
/// `attribute`.
pub(super) fn of_reduce_window(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<WindowAttributes, FormatError> {
    Ok(WindowAttributes {
        sizes: attributes.integers(syntax, "window_dimensions")?,
        strides: optional(syntax, attributes, "window_strides")?,
        padding: pairs(syntax, attributes)?,
        base_dilations: optional(syntax, attributes, "base_dilations")?,
        window_dilations: optional(syntax, attributes, "window_dilations")?,
        is_reversed: Vec::new(),
    })
}

fn malformed(name: &str, problem: &str, span: Span) -> FormatError {
    FormatErrorKind::attribute(name, problem).in_text(span.start..span.end)
}

/// A list of integers; empty if it is absent.
fn optional(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
    name: &str,
) -> Result<Vec<i64>, FormatError> {
    match attributes.optional(syntax, name) {
        Some(_) => attributes.integers(syntax, name),
        None => Ok(Vec::new()),
    }
}

/// Padding before and after each axis: `dense<[[1, 0], [2, 2]]> : tensor<2x2xi64>`.
fn pairs(
    syntax: &SyntaxOperation,
    attributes: &AttributeReader<'_>,
) -> Result<Vec<[i64; 2]>, FormatError> {
    let numbers = optional(syntax, attributes, "padding")?;
    let (pairs, rest) = numbers.as_chunks();
    match (rest, attributes.optional(syntax, "padding")) {
        ([_], Some(span)) => Err(malformed("padding", "has an odd number of elements", span)),
        _ => Ok(pairs.to_vec()),
    }
}

/// `array<i1: true, false>`, `dense<false> : tensor<2xi1>`, `[true, false]`.
fn bool_list(attributes: &AttributeReader<'_>, span: Span) -> Result<Vec<bool>, FormatError> {
    let text = span.of(attributes.text).trim();
    let found = match text.starts_with("dense") {
        true => {
            let array = Dense::read_all(attributes, span, None, MAX_RANK)?;
            array.and_then(|array| Some(array.elements::<bool>().ok()?.to_vec()))
        }
        false => flag_list(text),
    };
    found.ok_or_else(|| malformed("window_reversal", "is not a list of true and false", span))
}

/// The flags of `array<i1: true, false>` or `[true, 0]`.
fn flag_list(text: &str) -> Option<Vec<bool>> {
    let array = text.strip_prefix("array<i1").and_then(|text| text.strip_suffix('>'));
    let list = match array {
        Some("") => "",
        Some(list) => list.trim_start().strip_prefix(':')?,
        None => text.strip_prefix('[')?.strip_suffix(']')?,
    };
    let flag = |word: &str| match word.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    if list.trim().is_empty() { Some(Vec::new()) } else { list.split(',').map(flag).collect() }
}

/// `{stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [false]}`
fn pretty_window(
    attributes: &AttributeReader<'_>,
    span: Span,
) -> Result<WindowAttributes, FormatError> {
    let failed =
        || malformed("window", "is not of the form {stride = [..], pad = [[.., ..]], ..}", span);
    let body = span.of(attributes.text).trim_matches(['{', '}', ' ']);
    let mut window = WindowAttributes::default();
    for (name, list) in members(body).ok_or_else(failed)? {
        let numbers = || -> Option<Vec<i64>> {
            let words = list.split(['[', ']', ',', ' ', '\n']).filter(|word| !word.is_empty());
            words.map(|word| word.parse().ok()).collect()
        };
        let numbers = || numbers().ok_or_else(failed);
        match name {
            "stride" => window.strides = numbers()?,
            "lhs_dilate" => window.base_dilations = numbers()?,
            "rhs_dilate" => window.window_dilations = numbers()?,
            "reverse" => window.is_reversed = flag_list(list).ok_or_else(failed)?,
            "pad" => {
                let numbers = numbers()?;
                let (pairs, rest) = numbers.as_chunks();
                window.padding =
                    if rest.is_empty() { pairs.to_vec() } else { return Err(failed()) };
            }
            _ => return Err(failed()),
        }
    }
    Ok(window)
}

/// `name = [..], other = [[..], [..]]` as names and lists.
fn members(body: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = body.trim();
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (name, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let (list, behind) = behind.split_at_checked(list_end(behind)?)?;
        members.push((name.trim(), list));
        rest = behind.trim_start().trim_start_matches(',').trim_start();
    }
    Some(members)
}

/// The end of the list of brackets with which `text` begins.
fn list_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + character.len_utf8());
        }
    }
    None
}
