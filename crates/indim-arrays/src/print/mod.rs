//! Arrays as text, in NumPy's format.
//!
//! ```
//! use indim_arrays::Array;
//! use indim_arrays::print::{PrintOptions, array_text_with, write_csv};
//!
//! let x = Array::new([2, 2], vec![1.0 / 3.0, 2.5, 10.0, -1.0])?;
//! assert_eq!(x.to_string(), "[[ 0.33333333  2.5       ]\n [10.         -1.        ]]");
//! assert_eq!(array_text_with(&x, &PrintOptions::new().precision(2)), "[[ 0.33  2.5 ]\n [10.   -1.  ]]");
//!
//! let mut table = Vec::new();
//! write_csv(&mut table, &x)?;
//! assert_eq!(String::from_utf8(table)?, "0.3333333333333333,2.5\n10.0,-1.0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The layout follows `numpy/_core/arrayprint.py` of NumPy 2.4 with its default options: 8 fractional
//! digits, lines of 75 characters, and above 1000 elements only the first and last 3 along each axis.
//! `float.rs` and `complex.rs` align elements by equal widths. `csv.rs` and `json.rs` print for programs.

mod complex;
mod csv;
mod float;
mod json;

use core::fmt::Write as _;

use indim_ops::elements::*;
use indim_ops::{DType, for_each_element};
use indim_shape::{MAX_RANK, Shape};

use crate::array::Array;
use complex::complex_format;
pub use csv::{TooManyAxes, csv_shape, write_csv};
use float::float_format;
pub use json::write_json;

const LINE_WIDTH: usize = 75;
const PRECISION: usize = 8;
const EDGE_ITEMS: usize = 3;

/// Options of printing: precision and summary.
///
/// ```
/// use indim_arrays::Array;
/// use indim_arrays::print::{PrintOptions, array_text_with};
///
/// let thirds = Array::from_slice([2], &[1.0 / 3.0, 2.0 / 3.0])?;
/// let options = PrintOptions::new().precision(2);
/// assert_eq!(array_text_with(&thirds, &options), "[0.33 0.67]");
/// # Ok::<(), indim_arrays::ArrayError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Maximum digits after the point. `None` means 8 in arrays, and for a scalar as many digits as are
    /// needed to read back the same number.
    pub precision: Option<usize>,
    /// Arrays with more elements are summarised: the first and last 3 along each axis.
    pub threshold: usize,
}

impl PrintOptions {
    /// NumPy's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum digits after the point.
    #[must_use]
    pub fn precision(self, digits: usize) -> Self {
        PrintOptions { precision: Some(digits), ..self }
    }

    /// Sets the number of elements above which an array is summarised.
    #[must_use]
    pub fn threshold(self, elements: usize) -> Self {
        PrintOptions { threshold: elements, ..self }
    }
}

impl Default for PrintOptions {
    /// NumPy's defaults.
    fn default() -> Self {
        PrintOptions { precision: None, threshold: 1000 }
    }
}

/// The format of one element.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// A scalar, with all digits that it needs, or at most this number after the point.
    Scalar(Option<usize>),
    /// Aligned with the other elements, with at most this number of digits after the point.
    Aligned(usize),
}

/// The text of NumPy's `print` for an array.
///
/// For an array of more than 64 axes, which NumPy does not support, the text says that the array has too
/// many axes.
///
/// ```
/// use indim_arrays::{Array, print::array_text};
///
/// let x = Array::from_slice([2, 2], &[1.0f32, 2.5, 10.0, -1.0])?;
/// assert_eq!(array_text(&x), "[[ 1.   2.5]\n [10.  -1. ]]");
/// # Ok::<(), indim_arrays::ArrayError>(())
/// ```
pub fn array_text(array: &Array) -> String {
    array_text_with(array, &PrintOptions::default())
}

/// Like [`array_text`], with another precision and threshold, as `numpy.printoptions` sets them.
///
/// ```
/// use indim_arrays::Array;
/// use indim_arrays::print::{PrintOptions, array_text_with};
///
/// let small = Array::from_slice([7], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0])?;
/// let options = PrintOptions::new().threshold(5);
/// assert_eq!(array_text_with(&small, &options), "[ 2.  4.  6. ... 10. 12. 14.]");
/// # Ok::<(), indim_arrays::ArrayError>(())
/// ```
pub fn array_text_with(array: &Array, options: &PrintOptions) -> String {
    let shape = &array.array_type().shape;
    if shape.rank() > MAX_RANK {
        return format!("<{} has too many axes to print>", array.array_type());
    }
    if shape.contains(&0) {
        return "[]".to_owned();
    }
    if !array.is_row_major() {
        return match array.to_row_major() {
            Ok(copy) => array_text_with(&copy, options),
            Err(error) => format!("<{} cannot be printed: {error}>", array.array_type()),
        };
    }
    let layout = PrintLayout::new(shape, options.threshold);
    let printed = layout.printed_positions();
    let style = match shape.is_scalar() {
        true => Style::Scalar(options.precision),
        false => Style::Aligned(options.precision.unwrap_or(PRECISION)),
    };
    let format = elements_format(array, &printed, style);
    layout.text(&*format)
}

/// A function from the position of an element to its text.
type ElementText<'a> = dyn Fn(usize) -> String + 'a;

fn elements_format<'a>(array: &'a Array, printed: &[usize], style: Style) -> Box<ElementText<'a>> {
    macro_rules! format {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.array_type().dtype {
                $(DType::$variant => {
                    let elements = array.elements::<$type>().unwrap_or_default();
                    format!(@one $class elements)
                })*
            }
        };
        (@one boolean $elements:ident) => { bool_format($elements, style) };
        (@one half $elements:ident) => { float_format($elements, printed, style) };
        (@one float8 $elements:ident) => { float_format($elements, printed, style) };
        (@one float $elements:ident) => { float_format($elements, printed, style) };
        (@one complex $elements:ident) => { complex_format($elements, printed, style) };
        (@one $class:ident $elements:ident) => { integer_format($elements, printed) };
    }
    for_each_element!(format)
}

fn bool_format(elements: &[bool], style: Style) -> Box<ElementText<'_>> {
    let truth = if let Style::Scalar(_) = style { "True" } else { " True" };
    Box::new(move |position| if elements[position] { truth.into() } else { "False".into() })
}

fn integer_format<'a, T: core::fmt::Display>(
    elements: &'a [T],
    printed: &[usize],
) -> Box<ElementText<'a>> {
    let lengths = printed.iter().map(|&position| elements[position].to_string().len());
    let width = lengths.max().unwrap_or(0);
    Box::new(move |position| format!("{:>width$}", elements[position]))
}

/// The printed elements, and the layout of their texts.
struct PrintLayout<'a> {
    shape: &'a Shape,
    strides: Vec<isize>,
    is_summary: bool,
}

impl<'a> PrintLayout<'a> {
    fn new(shape: &'a Shape, threshold: usize) -> Self {
        let count = shape.element_count().unwrap_or(usize::MAX);
        PrintLayout { shape, strides: shape.row_major_strides(), is_summary: count > threshold }
    }

    /// The printed indices along an axis, and the position of the ellipsis among them.
    fn indices(&self, axis: usize) -> (Vec<usize>, Option<usize>) {
        let size = self.shape[axis];
        if !self.is_summary || size <= 2 * EDGE_ITEMS {
            return ((0..size).collect(), None);
        }
        let indices = (0..EDGE_ITEMS).chain(size - EDGE_ITEMS..size).collect();
        (indices, Some(EDGE_ITEMS))
    }

    /// The positions of all printed elements.
    fn printed_positions(&self) -> Vec<usize> {
        let mut positions = vec![0];
        for axis in 0..self.shape.rank() {
            let (indices, _) = self.indices(axis);
            let stride = self.strides[axis] as usize;
            let along =
                |position: usize| indices.iter().map(move |index| position + index * stride);
            positions = positions.into_iter().flat_map(along).collect();
        }
        positions
    }

    fn text(&self, format: &ElementText<'_>) -> String {
        self.nested(0, 0, " ", LINE_WIDTH, format)
    }

    /// The text of the subarray with fixed indices along the first `axis` axes; `position` is the
    /// position of its first element.
    fn nested(
        &self,
        axis: usize,
        position: usize,
        indent: &str,
        width: usize,
        format: &ElementText<'_>,
    ) -> String {
        let axes_left = self.shape.rank() - axis;
        if axes_left == 0 {
            return format(position);
        }
        let (indices, gap) = self.indices(axis);
        let stride = self.strides[axis] as usize;
        let (next_indent, next_width) = (format!("{indent} "), width.saturating_sub(1));
        let texts = indices.iter().enumerate().flat_map(|(order, index)| {
            let position = position + index * stride;
            let text = self.nested(axis + 1, position, &next_indent, next_width, format);
            let gap = (gap == Some(order)).then(|| "...".to_owned());
            gap.into_iter().chain([text])
        });
        match axes_left {
            1 => row(texts, indent, width - 1),
            _ => block(texts, indent, axes_left),
        }
    }
}

/// One row of elements, broken into lines.
fn row(words: impl Iterator<Item = String>, indent: &str, width: usize) -> String {
    let mut text = String::new();
    let mut line = indent.to_owned();
    for (order, word) in words.enumerate() {
        if order > 0 {
            line.push(' ');
        }
        let is_full = line.chars().count() + word.chars().count() > width;
        if is_full && line.len() > indent.len() {
            let _ = writeln!(text, "{}", line.trim_end());
            indent.clone_into(&mut line);
        }
        line.push_str(&word);
    }
    text.push_str(&line);
    format!("[{}]", &text[indent.len()..])
}

/// Blocks below each other, separated by an empty line for each axis beyond two.
fn block(parts: impl Iterator<Item = String>, indent: &str, axes_left: usize) -> String {
    let separator = format!("{}{indent}", "\n".repeat(axes_left - 1));
    format!("[{}]", parts.collect::<Vec<_>>().join(&separator))
}
