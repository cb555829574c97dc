//! Arrays as JSON: one object, which is also an operand of the oracle.

use std::io::{self, Write};

use indim_ops::elements::*;
use indim_ops::{Complex, DType, for_each_element};

use crate::array::Array;

use super::ElementText;
use super::csv::count;
use super::float::{Float, scalar_text};

/// Writes `{"dtype":"f32","shape":[2,2],"data":[...]}` with the elements in row-major order: numbers that
/// read back the same, `true` and `false`, complex numbers as `[real, imaginary]`, and the strings `"nan"`,
/// `"inf"` and `"-inf"`, which JSON has no numbers for.
///
/// ```
/// use indim_arrays::{Array, print::write_json};
///
/// let mut json = Vec::new();
/// write_json(&mut json, &Array::from_slice([2], &[3.0, 4.0])?)?;
/// assert_eq!(String::from_utf8(json)?.trim(), r#"{"dtype":"f64","shape":[2],"data":[3.0,4.0]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the writer.
pub fn write_json(output: &mut dyn Write, array: &Array) -> io::Result<()> {
    if !array.is_row_major() {
        let copy = array.to_row_major().map_err(io::Error::other)?;
        return write_json(output, &copy);
    }
    let shape = &array.array_type().shape;
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let dtype = array.array_type().dtype;
    write!(output, "{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data\":[", sizes.join(","))?;
    let text = elements_text(array);
    for position in 0..count(shape) {
        let separator = if position == 0 { "" } else { "," };
        write!(output, "{separator}{}", text(position))?;
    }
    write!(output, "]}}")
}

fn elements_text(array: &Array) -> Box<ElementText<'_>> {
    macro_rules! text {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.array_type().dtype {
                $(DType::$variant => {
                    let elements = array.elements::<$type>().unwrap_or_default();
                    text!(@one $class elements)
                })*
            }
        };
        (@one half $elements:ident) => { Box::new(|position| float_text($elements[position])) };
        (@one float8 $elements:ident) => { Box::new(|position| float_text($elements[position])) };
        (@one float $elements:ident) => { Box::new(|position| float_text($elements[position])) };
        (@one complex $elements:ident) => { Box::new(|position| complex_text($elements[position])) };
        (@one $class:ident $elements:ident) => { Box::new(|position| $elements[position].to_string()) };
    }
    for_each_element!(text)
}

fn float_text<F: Float>(x: F) -> String {
    let text = scalar_text(x, None);
    let value: f64 = x.into();
    if value.is_finite() { text } else { format!("\"{text}\"") }
}

fn complex_text<F: Float>(x: Complex<F>) -> String {
    format!("[{},{}]", float_text(x.re), float_text(x.im))
}
