//! Text of constants' elements, exact to the bit.

use core::fmt;

use indim_ops::Complex;
use indim_ops::elements::*;

/// An element that has a text form.
pub trait ElementText: Sized {
    /// Writes the shortest text that reads back as the same bits.
    fn write(self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Parses the text; `None` if it is not an element of this type.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! plain {
    ($($type:ident)*) => {$(
        impl ElementText for $type {
            fn write(self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{self}")
            }
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

plain!(bool i8 i16 i32 i64 u8 u16 u32 u64 i4 u4);

macro_rules! float {
    ($($type:ident $bits:ident;)*) => {$(
        impl ElementText for $type {
            /// A NaN other than the canonical one is written with its bits: `nan(0xffc00000)`.
            fn write(self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match (self.is_nan(), self.to_bits()) {
                    (false, _) => write!(formatter, "{self:?}"),
                    (true, bits) if bits == $type::NAN.to_bits() => formatter.write_str("nan"),
                    (true, bits) => write!(formatter, "nan({bits:#x})"),
                }
            }
            fn read(text: &str) -> Option<Self> {
                if text == "nan" {
                    return Some($type::NAN);
                }
                if let Some(rest) = text.strip_prefix("nan(0x") {
                    let bits = $bits::from_str_radix(rest.strip_suffix(')')?, 16).ok()?;
                    return Some($type::from_bits(bits)).filter(|value| value.is_nan());
                }
                // Rust also parses other spellings of NaN, which hide its sign.
                text.parse().ok().filter(|value: &$type| !value.is_nan())
            }
        }
    )*};
}

float! {
    f16 u16; bf16 u16; f32 u32; f64 u64;
    f8e4m3fn u8; f8e5m2 u8; f8e4m3fnuz u8; f8e5m2fnuz u8; f8e4m3b11fnuz u8;
}

/// Both parts as floats: `1.5-0.0j`.
impl<F: ElementText + Copy> ElementText for Complex<F> {
    fn write(self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let imaginary = TextForm(self.im).to_string();
        self.re.write(formatter)?;
        write!(formatter, "{}{imaginary}j", if imaginary.starts_with('-') { "" } else { "+" })
    }
    fn read(text: &str) -> Option<Self> {
        let parts = text.strip_suffix('j')?;
        // The sign between the parts is the last one that is not in an exponent.
        let is_between = |&(at, _): &(usize, &str)| at > 0 && !parts[..at].ends_with('e');
        let (at, _) = parts.rmatch_indices(['+', '-']).find(is_between)?;
        let imaginary = parts[at..].strip_prefix('+').unwrap_or(&parts[at..]);
        Some(Complex::new(F::read(&parts[..at])?, F::read(imaginary)?))
    }
}

/// An element that displays as its text form.
struct TextForm<T>(T);

impl<T: ElementText + Copy> fmt::Display for TextForm<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(formatter)
    }
}
