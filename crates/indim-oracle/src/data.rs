//! Elements as JSON: read from the digits of a case, without rounding through `f64`; written one by one.

use core::fmt;
use core::str::FromStr;
use std::io::{self, Write};

use indim_graph::Array;
use indim_ops::elements::*;
use indim_ops::{ArrayData, ArrayType, Complex, DType, for_each_element};
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{CaseError, bad_request};

/// The elements of an operand. Their number must be that of the shape, and each must be of the element type.
pub(super) fn read_array(array_type: &ArrayType, data: &RawValue) -> Result<Array, CaseError> {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array_type.dtype {
                $(DType::$variant => ArrayData::$variant(
                    read_elements(data, stringify!($type), read!(@one $class $type))?
                ),)*
            }
        };
        (@one boolean $type:ident) => { truth };
        (@one float $type:ident) => { float };
        (@one half $type:ident) => { float };
        (@one float8 $type:ident) => { float };
        (@one complex $type:ident) => { complex };
        (@one $class:ident $type:ident) => { number };
    }
    let elements = for_each_element!(read);
    Array::from_data(array_type.shape.clone(), elements)
        .map_err(|error| bad_request(error.to_string()))
}

/// Reads a list; `read` takes the text of each element.
fn read_elements<T>(
    data: &RawValue,
    type_name: &'static str,
    read: fn(&str) -> Option<T>,
) -> Result<Vec<T>, CaseError> {
    let elements = ElementsVisitor { type_name, read };
    let mut reader = serde_json::Deserializer::from_str(data.get());
    elements.deserialize(&mut reader).map_err(|error| {
        let error = error.to_string();
        bad_request(error.rsplit_once(" at line ").map_or(&*error, |(message, _)| message))
    })
}

struct ElementsVisitor<T> {
    type_name: &'static str,
    read: fn(&str) -> Option<T>,
}

impl<'de, T> DeserializeSeed<'de> for ElementsVisitor<T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T> Visitor<'de> for ElementsVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`data`, a list of elements of type {}", self.type_name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element::<&'de RawValue>()? {
            elements.push((self.read)(element.get()).ok_or_else(|| {
                let (index, type_name) = (elements.len(), self.type_name);
                A::Error::custom(format!("element {index} of `data` is not of type {type_name}"))
            })?);
        }
        Ok(elements)
    }
}

/// A number, read from all its digits.
fn number<T: FromStr>(text: &str) -> Option<T> {
    // Rust also reads `inf` and `nan`, but JSON has these in quotes only.
    text.parse().ok()
}

/// A float: a number, or the text `nan`, `inf` or `-inf`.
fn float<T: FromStr>(text: &str) -> Option<T> {
    if !text.starts_with('"') {
        return number(text);
    }
    let text: String = serde_json::from_str(text).ok()?;
    matches!(&*text, "nan" | "inf" | "-inf").then(|| text.parse().ok())?
}

fn complex<T: FromStr>(text: &str) -> Option<Complex<T>> {
    let [re, im]: [&RawValue; 2] = serde_json::from_str(text).ok()?;
    Some(Complex { re: float(re.get())?, im: float(im.get())? })
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Writes the elements as a list, with floats as the shortest decimals that read back the same.
pub(super) fn write_elements(array: &Array, output: &mut impl Write) -> io::Result<()> {
    macro_rules! write_all {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array.dtype() {
                $(DType::$variant => {
                    let elements = array.to_vec::<$type>().map_err(io::Error::other)?;
                    write_list(&elements, output, write_all!(@one $class))
                })*
            }
        };
        (@one float) => { |&element, output| write_float(element.into(), element, output) };
        (@one float8) => { |&element, output| write_float(element.into(), element, output) };
        (@one half) => { |&element, output| write_float(element.into(), element, output) };
        (@one complex) => {
            |element, output| write_list(&[element.re, element.im], output, |&part, output| {
                write_float(part.into(), part, output)
            })
        };
        (@one $class:ident) => { |element, output| write!(output, "{element}") };
    }
    for_each_element!(write_all)
}

fn write_list<T, W: Write>(
    elements: &[T],
    output: &mut W,
    write_one: impl Fn(&T, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    output.write_all(b"[")?;
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            output.write_all(b",")?;
        }
        write_one(element, output)?;
    }
    output.write_all(b"]")
}

/// Writes a float of any type; `value` is the same number as `f64`.
fn write_float(value: f64, float: impl fmt::Debug, output: &mut impl Write) -> io::Result<()> {
    match value {
        _ if value.is_nan() => output.write_all(b"\"nan\""),
        f64::INFINITY => output.write_all(b"\"inf\""),
        f64::NEG_INFINITY => output.write_all(b"\"-inf\""),
        _ => write!(output, "{float:?}"),
    }
}
