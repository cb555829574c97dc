//! How an element of a constant is written and read, bit for bit.

use core::fmt;

/// An element that has a text form.
pub(super) trait ElementText: Sized {
    /// Writes the shortest text that reads back as the same bits.
    fn write(self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// The element that the text says; `None` where it says none of this type.
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

plain!(bool i8 i16 i32 i64 u8 u16 u32 u64);

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
                // Rust also reads other spellings of the NaN, whose sign is easily mistaken.
                text.parse().ok().filter(|value: &$type| !value.is_nan())
            }
        }
    )*};
}

float! { f32 u32; f64 u64; }
