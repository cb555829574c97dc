//! Arrays as text, as NumPy prints them.
//!
//! The layout follows `numpy/_core/arrayprint.py` with its default options: 8 fractional digits, lines
//! of 75 characters, and above 1000 elements only the first and last 3 along each axis. All
//! elements have one width; floats are the shortest decimals that read back the same, cut at 8 digits.

use core::fmt::Write as _;

use indim_cpu::Buffer;
use indim_graph::{Complex, DType, bf16, c64, c128, f16, for_each_element};
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
            }
        };
        (@one boolean $elements:ident) => { bool_format($elements, is_scalar) };
        (@one half $elements:ident) => { float_format($elements, shown, is_scalar) };
        (@one float $elements:ident) => { float_format($elements, shown, is_scalar) };
        (@one complex $elements:ident) => { complex_format($elements, shown, is_scalar) };
        (@one $class:ident $elements:ident) => { integer_format($elements, shown) };
    }
    for_each_element!(format)
}

fn bool_format(elements: &[bool], is_scalar: bool) -> Box<Format<'_>> {
    let truth = if is_scalar { "True" } else { " True" };
    Box::new(move |position| if elements[position] { truth.into() } else { "False".into() })
}

fn integer_format<'a, T: core::fmt::Display>(
    elements: &'a [T],
    shown: &[usize],
) -> Box<Format<'a>> {
    let lengths = shown.iter().map(|&position| elements[position].to_string().len());
    let width = lengths.max().unwrap_or(0);
    Box::new(move |position| format!("{:>width$}", elements[position]))
}

/// What printing asks of a float type.
trait Float: Copy + PartialOrd + core::fmt::Display + core::fmt::LowerExp + 'static {
    fn is_finite(self) -> bool;
    fn is_nan(self) -> bool;
    fn magnitude(self) -> Self;
    fn is_zero(self) -> bool;
    /// Whether numbers of these magnitudes are better told by exponents; compared in the type itself.
    fn spread_is_wide(smallest: Self, largest: Self) -> bool;
    /// Whether one number is better told by an exponent.
    fn is_extreme(self) -> bool;
}

macro_rules! float {
    ($($type:ident)*) => {$(
        impl Float for $type {
            fn is_finite(self) -> bool { <$type>::is_finite(self) }
            fn is_nan(self) -> bool { <$type>::is_nan(self) }
            fn magnitude(self) -> Self { self.abs() }
            fn is_zero(self) -> bool { self == 0.0 }
            fn spread_is_wide(smallest: Self, largest: Self) -> bool {
                largest >= 1e8 || smallest < 0.0001 || largest / smallest > 1000.0
            }
            fn is_extreme(self) -> bool { self.abs() >= 1e16 || (self != 0.0 && self.abs() < 1e-4) }
        }
    )*};
}

float!(f32 f64);

/// The 16-bit floats print as their shortest decimals do; only their ratio is rounded to the type.
macro_rules! half {
    ($($type:ident)*) => {$(
        impl Float for $type {
            fn is_finite(self) -> bool { <$type>::is_finite(self) }
            fn is_nan(self) -> bool { <$type>::is_nan(self) }
            fn magnitude(self) -> Self { $type::from_f64(self.to_f64().abs()) }
            fn is_zero(self) -> bool { self.to_f32() == 0.0 }
            fn spread_is_wide(smallest: Self, largest: Self) -> bool {
                let ratio = $type::from_f32(largest.to_f32() / smallest.to_f32());
                largest.to_f64() >= 1e8 || smallest < $type::from_f64(0.0001) || ratio.to_f64() > 1000.0
            }
            fn is_extreme(self) -> bool { self.to_f64().is_extreme() }
        }
    )*};
}

half!(f16 bf16);

/// The shortest decimal that reads back the same, or fewer digits where it has more than `PRECISION`
/// after the point: then the exact value is rounded, half to even.
fn positional<F: Float>(x: F) -> (String, String) {
    let shortest = format!("{x}");
    let (_, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    let text = if fraction.len() > PRECISION { format!("{x:.PRECISION$}") } else { shortest };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned())
}

/// The same with an exponent: whole part, fraction, exponent with sign and at least two digits.
fn scientific<F: Float>(x: F) -> (String, String, String) {
    let shortest = format!("{x:e}");
    let fraction_digits =
        |text: &str| text.split_once('.').map_or(0, |(_, rest)| rest.find('e').unwrap_or(0));
    let text = match fraction_digits(&shortest) > PRECISION {
        true => format!("{x:.PRECISION$e}"),
        false => shortest,
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    (whole.to_owned(), fraction.trim_end_matches('0').to_owned(), format!("{sign}{digits:0>2}"))
}

/// A number by itself, as NumPy prints its scalars.
fn scalar_text<F: Float>(x: F) -> String {
    match (x.is_nan(), x.is_finite()) {
        (true, _) => "nan".to_owned(),
        (_, false) => format!("{x}"),
        _ if x.is_extreme() => {
            let text = format!("{x:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let (sign, digits) =
                exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        _ => {
            let text = format!("{x}");
            if text.contains('.') { text } else { text + ".0" }
        }
    }
}

/// How wide the parts of all numbers are.
struct Widths {
    /// Before the point, with the sign.
    whole: usize,
    /// Whether positive numbers have a sign too, as the imaginary parts of complex ones have.
    has_plus: bool,
    /// Digits after the point.
    fraction: usize,
    /// Digits of the exponent; `None` without exponents.
    exponent: Option<usize>,
}

impl Widths {
    fn of<F: Float>(shown: &[F], has_plus: bool) -> Widths {
        let finite = || shown.iter().copied().filter(|x| x.is_finite());
        let magnitudes = || finite().filter(|x| !x.is_zero()).map(Float::magnitude);
        let extreme = |is_better: fn(&F, &F) -> bool| {
            magnitudes().reduce(|best, x| if is_better(&x, &best) { x } else { best })
        };
        let is_wide = match (extreme(|x, best| x < best), extreme(|x, best| x > best)) {
            (Some(smallest), Some(largest)) => F::spread_is_wide(smallest, largest),
            _ => false,
        };
        let mut widths = Widths { whole: 0, has_plus, fraction: 0, exponent: None };
        for x in finite() {
            let (whole, fraction) = match is_wide {
                false => positional(x),
                true => {
                    let (whole, fraction, exponent) = scientific(x);
                    widths.exponent = widths.exponent.max(Some(exponent.len() - 1));
                    (whole, fraction)
                }
            };
            widths.whole = widths.whole.max(widths.signed(whole).len());
            widths.fraction = widths.fraction.max(fraction.len());
        }
        widths.make_room_for_specials(shown);
        widths
    }

    /// The digits with a plus, where there is to be one.
    fn signed(&self, digits: String) -> String {
        if self.has_plus && !digits.starts_with('-') { format!("+{digits}") } else { digits }
    }

    fn make_room_for_specials<F: Float>(&mut self, shown: &[F]) {
        let behind = self.behind();
        for x in shown.iter().filter(|x| !x.is_finite()) {
            let length = if x.is_nan() { 3 } else { self.signed(format!("{x}")).len() };
            self.whole = self.whole.max(length.saturating_sub(behind));
        }
        if shown.iter().any(|x| !x.is_finite()) {
            let infinity = if self.has_plus { 4usize } else { 3 };
            self.whole = self.whole.max(infinity.saturating_sub(behind));
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
            return format!("{:>total$}", self.signed(text), total = width + self.behind());
        }
        match self.exponent {
            None => {
                let (whole, fraction) = positional(x);
                format!("{:>width$}.{fraction:<digits$}", self.signed(whole))
            }
            Some(exponent_digits) => {
                let (whole, fraction, exponent) = scientific(x);
                let (sign, exponent) = exponent.split_at(1);
                let whole = self.signed(whole);
                format!("{whole:>width$}.{fraction:0<digits$}e{sign}{exponent:0>exponent_digits$}")
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
    let widths = Widths::of(&shown, false);
    Box::new(move |position| widths.text(elements[position]))
}

/// Both parts each by the widths of their kind; the `j` stands behind the last digit.
fn complex_format<'a, F: Float>(
    elements: &'a [Complex<F>],
    shown: &[usize],
    is_scalar: bool,
) -> Box<Format<'a>> {
    if is_scalar {
        return Box::new(move |position| complex_scalar_text(elements[position]));
    }
    let parts = |part: fn(&Complex<F>) -> F| -> Vec<F> {
        shown.iter().map(|&position| part(&elements[position])).collect()
    };
    let real = Widths::of(&parts(|x| x.re), false);
    let imaginary = Widths::of(&parts(|x| x.im), true);
    Box::new(move |position| {
        let Complex { re, im } = elements[position];
        let text = imaginary.text(im);
        let digits = text.trim_end();
        let spaces = " ".repeat(text.len() - digits.len());
        format!("{}{digits}j{spaces}", real.text(re))
    })
}

/// A complex number by itself: `(1-2.5j)`, and `2j` where the real part is 0.
fn complex_scalar_text<F: Float>(x: Complex<F>) -> String {
    let part = |x: F| {
        let text = scalar_text(x);
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let imaginary = part(x.im);
    // The sign of a zero real part is worth writing.
    if x.re.is_zero() && !format!("{}", x.re).starts_with('-') {
        return format!("{imaginary}j");
    }
    let plus = if imaginary.starts_with('-') { "" } else { "+" };
    format!("({}{plus}{imaginary}j)", part(x.re))
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
