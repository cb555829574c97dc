//! Rules of operations on the parts of complex numbers, which also accept floats.

use super::rule::{BinaryArguments, UnaryArguments, conjugate, is_complex};
use indim_builder::{NodeAccess, Value};

pub(super) fn real(u: UnaryArguments<'_>) -> Value {
    if is_complex(u.x) { u.cotangent.complex(0) } else { u.cotangent.clone() }
}

/// The imaginary part of a float is always 0.
pub(super) fn imag(u: UnaryArguments<'_>) -> Option<Value> {
    let b = u.cotangent.builder();
    is_complex(u.x).then(|| b.defer_error(b.complex(0, u.cotangent, &[])))
}

pub(super) fn conj(u: UnaryArguments<'_>) -> Value {
    conjugate(u.cotangent)
}

pub(super) fn complex(o: BinaryArguments<'_>) -> [Value; 2] {
    [o.cotangent.real(), o.cotangent.imag()]
}

/// A complex number times a real number, part by part.
pub(super) fn scale_complex(z: &Value, factor: &Value) -> Value {
    (z.real() * factor).complex(z.imag() * factor)
}
