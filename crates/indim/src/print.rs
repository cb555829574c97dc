//! Arrays as text, as NumPy prints them.
//!
//! The layout follows `numpy/_core/arrayprint.py` with its default options: 8 fractional digits, lines
//! of 75 characters, and above 1000 elements only the first and last 3 along each axis. All
//! elements have one width; floats are the shortest decimals that read back the same, cut at 8 digits.

use core::fmt::{self, Write as _};
use core::str::FromStr;

use indim_cpu::Buffer;
use indim_graph::{DType, for_each_element};
use indim_shape::Shape;

const LINE_WIDTH: usize = 75;
const THRESHOLD: usize = 1000;
const EDGE_ITEMS: usize = 3;
const PRECISION: usize = 8;

/// NumPy has no arrays of more axes, so there is nothing to follow.
const MAXIMUM_RANK: usize = 64;

/// The text that `print` of NumPy gives for an array.
///
/// An array of more than 64 axes, which NumPy does not have, is only described.
pub fn array_text(buffer: &Buffer) -> String {
    let shape = &buffer.array_type().shape;
    if shape.rank() > MAXIMUM_RANK {
        return format!("<{} has too many axes to print>", buffer.array_type());
    }
    if shape.contains(&0) {
        return "[]".to_owned();
    }
    let layout = Layout::new(shape);
    let shown = layout.shown();
    let format = elements_format(buffer, &shown, shape.is_scalar());
    layout.text(&*format)
}

/// A function from the position of an element to its text.
type Format<'a> = dyn Fn(usize) -> String + 'a;

fn elements_format<'a>(buffer: &'a Buffer, shown: &[usize], is_scalar: bool) -> Box<Format<'a>> {
    macro_rules! format {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match buffer.array_type().dtype {
                $(DType::$variant => {
                    let elements = buffer.elements::<$type>().unwrap_or_default();
                    format!(@one $class elements)
                })*
                _ => Box::new(|_| String::new()),
            }
        };
        (@one boolean $elements:ident) => { bool_format($elements, is_scalar) };
        (@one float $elements:ident) => { float_format($elements, shown, is_scalar) };
        (@one $class:ident $elements:ident) => { integer_format($elements, shown) };
    }
    for_each_element!(format)
}

fn bool_format(elements: &[bool], is_scalar: bool) -> Box<Format<'_>> {
    let truth = if is_scalar { "True" } else { " True" };
    Box::new(move |position| if elements[position] { truth.into() } else { "False".into() })
}

fn integer_format<'a, T: fmt::Display>(elements: &'a [T], shown: &[usize]) -> Box<Format<'a>> {
    let lengths = shown.iter().map(|&position| elements[position].to_string().len());
    let width = lengths.max().unwrap_or(0);
    Box::new(move |position| format!("{:>width$}", elements[position]))
}

/// What printing asks of a float type.
trait Float: Copy + PartialOrd + FromStr + fmt::Display + fmt::LowerExp + 'static {
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;
    fn magnitude(self) -> Self;
    fn is_zero(self) -> bool;
    /// Whether numbers of these magnitudes are better told by exponents; compared in the type itself.
    fn spread_is_wide(smallest: Self, largest: Self) -> bool;
    /// Whether one number by itself is better told by an exponent; compared as f64.
    fn is_extreme(self) -> bool;
}

macro_rules! float {
    ($($type:ident, exponents from $in_arrays:literal, alone from $alone:literal;)*) => {$(
        impl Float for $type {
            fn is_finite(self) -> bool { <$type>::is_finite(self) }
            fn is_nan(self) -> bool { <$type>::is_nan(self) }
            fn magnitude(self) -> Self { self.abs() }
            fn is_zero(self) -> bool { self == 0.0 }
            fn spread_is_wide(smallest: Self, largest: Self) -> bool {
                largest >= $in_arrays || smallest < 0.0001 || largest / smallest > 1000.0
            }
            fn is_extreme(self) -> bool {
                let magnitude = f64::from(self.abs());
                magnitude >= $alone || (magnitude != 0.0 && magnitude < 1e-4)
            }
        }
    )*};
}

float! {
    f32, exponents from 1e6, alone from 1e6;
    f64, exponents from 1e8, alone from 1e16;
}

/// The shortest decimal that reads back the same, the nearest of them, and of two as near the even one.
fn shortest<F: Float>(x: F) -> String {
    // Rust's takes the odd one at times. It may hold zeros for digits of a whole number, hence the test.
    let text = format!("{x}");
    let Some((_, fraction)) = text.split_once('.') else { return text };
    let nearest = format!("{x:.digits$}", digits = fraction.len());
    if reads_back(&nearest, x) { nearest } else { text }
}

/// The same with an exponent.
fn shortest_scientific<F: Float>(x: F) -> String {
    let text = format!("{x:e}");
    let nearest = format!("{x:.digits$e}", digits = split_scientific(&text).1.len());
    if reads_back(&nearest, x) { nearest } else { text }
}

/// Beside a power of two, where the gap below is half of that above, the nearest decimal may not.
fn reads_back<F: Float>(text: &str, x: F) -> bool {
    text.parse::<F>().is_ok_and(|read| read == x)
}

/// Whole part and fraction of the shortest decimal, or where that has more than `PRECISION` digits behind
/// the point of the exact value, rounded half to even.
fn positional<F: Float>(x: F) -> (String, String) {
    let shortest = shortest(x);
    let (_, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let text = if fraction.len() > PRECISION { format!("{x:.PRECISION$}") } else { shortest };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
}

/// The parts of `1.25e-7`: whole part, fraction, exponent.
fn split_scientific(text: &str) -> (&str, &str, &str) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    (whole, fraction, exponent)
}

/// How many digits a number needs behind the point when it has an exponent, `PRECISION` at most.
fn scientific_digits<F: Float>(x: F) -> usize {
    let shortest = shortest_scientific(x);
    match split_scientific(&shortest).1.len() {
        digits @ ..=PRECISION => digits,
        _ => split_scientific(&format!("{x:.PRECISION$e}")).1.trim_end_matches('0').len(),
    }
}

/// A number with so many digits behind the point: of the shortest decimal if it has as many, else of the
/// exact value, rounded. So there may be other digits than zeros behind those that the shortest has.
fn scientific<F: Float>(x: F, digits: usize) -> String {
    let shortest = shortest_scientific(x);
    match split_scientific(&shortest).1.len() == digits {
        true => shortest,
        false => format!("{x:.digits$e}"),
    }
}

/// The sign of an exponent, and its digits, at least two.
fn exponent_parts(exponent: &str) -> (char, String) {
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    (sign, format!("{digits:0>2}"))
}

/// A number by itself, as NumPy prints its scalars.
fn scalar_text<F: Float>(x: F) -> String {
    match (x.is_nan(), x.is_finite()) {
        (true, _) => "nan".to_owned(),
        (_, false) => format!("{x}"),
        _ if x.is_extreme() => {
            let text = shortest_scientific(x);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, digits) = exponent_parts(exponent);
            format!("{mantissa}e{sign}{digits}")
        }
        _ => {
            let text = shortest(x);
            if text.contains('.') { text } else { text + ".0" }
        }
    }
}

/// How wide the parts of all numbers are.
struct Widths {
    whole: usize,
    /// Digits after the point.
    fraction: usize,
    /// Digits of the exponent; `None` without exponents.
    exponent: Option<usize>,
}

impl Widths {
    fn of<F: Float>(shown: &[F]) -> Widths {
        let finite = || shown.iter().copied().filter(|x| x.is_finite());
        let magnitudes = || finite().filter(|x| !x.is_zero()).map(Float::magnitude);
        let extreme = |is_better: fn(&F, &F) -> bool| {
            magnitudes().reduce(|best, x| if is_better(&x, &best) { x } else { best })
        };
        let is_wide = match (extreme(|x, best| x < best), extreme(|x, best| x > best)) {
            (Some(smallest), Some(largest)) => F::spread_is_wide(smallest, largest),
            _ => false,
        };
        let mut widths = Widths { whole: 0, fraction: 0, exponent: None };
        for x in finite() {
            let (whole, digits) = match is_wide {
                false => {
                    let (whole, fraction) = positional(x);
                    (whole.len(), fraction.len())
                }
                true => {
                    let digits = scientific_digits(x);
                    let text = scientific(x, digits);
                    let (whole, _, exponent) = split_scientific(&text);
                    widths.exponent = widths.exponent.max(Some(exponent_parts(exponent).1.len()));
                    (whole.len(), digits)
                }
            };
            widths.whole = widths.whole.max(whole);
            widths.fraction = widths.fraction.max(digits);
        }
        widths.make_room_for_specials(shown);
        widths
    }

    fn make_room_for_specials<F: Float>(&mut self, shown: &[F]) {
        let behind = self.behind();
        for x in shown.iter().filter(|x| !x.is_finite()) {
            let length = if x.is_nan() { 3 } else { format!("{x}").len() };
            self.whole = self.whole.max(length.saturating_sub(behind));
        }
        let is_special = |x: &&F| !x.is_finite();
        if shown.iter().any(|x| is_special(&x)) {
            self.whole = self.whole.max(3usize.saturating_sub(behind));
        }
    }

    /// The width from the point on.
    fn behind(&self) -> usize {
        1 + self.fraction + self.exponent.map_or(0, |digits| digits + 2)
    }

    fn text<F: Float>(&self, x: F) -> String {
        let Widths { whole: width, fraction: digits, .. } = *self;
        if !x.is_finite() {
            let text = if x.is_nan() { "nan".to_owned() } else { format!("{x}") };
            return format!("{text:>total$}", total = width + self.behind());
        }
        match self.exponent {
            None => {
                let (whole, fraction) = positional(x);
                format!("{whole:>width$}.{fraction:<digits$}")
            }
            Some(exponent_digits) => {
                let text = scientific(x, digits);
                let (whole, fraction, exponent) = split_scientific(&text);
                let (sign, exponent) = exponent_parts(exponent);
                format!("{whole:>width$}.{fraction}e{sign}{exponent:0>exponent_digits$}")
            }
        }
    }
}

fn float_format<'a, F: Float>(
    elements: &'a [F],
    shown: &[usize],
    is_scalar: bool,
) -> Box<Format<'a>> {
    if is_scalar {
        return Box::new(move |position| scalar_text(elements[position]));
    }
    let shown: Vec<F> = shown.iter().map(|&position| elements[position]).collect();
    let widths = Widths::of(&shown);
    Box::new(move |position| widths.text(elements[position]))
}

/// Which elements are shown, and how their texts are put together.
struct Layout<'a> {
    shape: &'a Shape,
    strides: Vec<isize>,
    is_summary: bool,
}

impl<'a> Layout<'a> {
    fn new(shape: &'a Shape) -> Self {
        let count = shape.element_count().unwrap_or(usize::MAX);
        Layout { shape, strides: shape.row_major_strides(), is_summary: count > THRESHOLD }
    }

    /// The indices along an axis that are shown, and before which of them something is left out.
    fn indices(&self, axis: usize) -> (Vec<usize>, Option<usize>) {
        let size = self.shape[axis];
        if !self.is_summary || size <= 2 * EDGE_ITEMS {
            return ((0..size).collect(), None);
        }
        let indices = (0..EDGE_ITEMS).chain(size - EDGE_ITEMS..size).collect();
        (indices, Some(EDGE_ITEMS))
    }

    /// The positions of all elements that are shown.
    fn shown(&self) -> Vec<usize> {
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

    fn text(&self, format: &Format<'_>) -> String {
        self.nested(0, 0, " ", LINE_WIDTH, format)
    }

    /// The text of everything at `position` along the first `axis` axes.
    fn nested(
        &self,
        axis: usize,
        position: usize,
        indent: &str,
        width: usize,
        format: &Format<'_>,
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

/// Elements side by side, broken into lines.
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

/// Parts below each other, with an empty line for each axis inside them.
fn block(parts: impl Iterator<Item = String>, indent: &str, axes_left: usize) -> String {
    let separator = format!("{}{indent}", "\n".repeat(axes_left - 1));
    format!("[{}]", parts.collect::<Vec<_>>().join(&separator))
}
