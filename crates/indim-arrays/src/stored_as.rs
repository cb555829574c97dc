//! Rust's types of other crates that lie in memory as elements do: slices of either are slices of the other,
//! for free. Holds unsafe code.

use core::slice;

use indim_ops::{Element, bf16, c64, c128, f16, for_each_element};

/// A type that is stored as an element type is: the elements themselves, and with the features `half` and
/// `num-complex` the types of these crates.
///
/// # Safety
/// - size and alignment are those of the element;
/// - the bits of each value are a value of the other type.
pub unsafe trait StoredAs: Copy + 'static {
    /// The element type.
    type Element: Element;
}

macro_rules! stored_as_themselves {
    ($($variant:ident $type:ident $class:ident;)*) => {$(
        // SAFETY: it is the same type.
        unsafe impl StoredAs for $type {
            type Element = $type;
        }
    )*};
}

for_each_element!(stored_as_themselves);

// SAFETY: both are the 16 bits of an IEEE 754 binary16, as `repr(transparent)` over an integer.
#[cfg(feature = "half")]
unsafe impl StoredAs for half::f16 {
    type Element = f16;
}

// SAFETY: both are the upper 16 bits of a binary32, as `repr(transparent)` over an integer.
#[cfg(feature = "half")]
unsafe impl StoredAs for half::bf16 {
    type Element = bf16;
}

// SAFETY: both are `repr(C)`: the real part, then the imaginary one.
#[cfg(feature = "num-complex")]
unsafe impl StoredAs for num_complex::Complex<f32> {
    type Element = c64;
}

// SAFETY: both are `repr(C)`: the real part, then the imaginary one.
#[cfg(feature = "num-complex")]
unsafe impl StoredAs for num_complex::Complex<f64> {
    type Element = c128;
}

/// The same memory as elements.
///
/// ```
/// # #[cfg(feature = "num-complex")] {
/// use indim_arrays::as_elements;
/// use num_complex::Complex;
///
/// let signal = [Complex::new(1.0f32, 2.0)];
/// assert_eq!(as_elements(&signal)[0].im, 2.0);
/// # }
/// ```
pub fn as_elements<T: StoredAs>(slice: &[T]) -> &[T::Element] {
    // SAFETY: `StoredAs` says that size and alignment are the same, and that all bits are values.
    unsafe { slice::from_raw_parts(slice.as_ptr().cast(), slice.len()) }
}

/// The same memory as elements, to be written.
///
/// ```
/// # #[cfg(feature = "half")] {
/// use indim_arrays::as_elements_mut;
///
/// let mut weights = [half::f16::ZERO];
/// as_elements_mut(&mut weights)[0] = indim_ops::f16::from_f32(0.5);
/// assert_eq!(weights[0].to_f32(), 0.5);
/// # }
/// ```
pub fn as_elements_mut<T: StoredAs>(slice: &mut [T]) -> &mut [T::Element] {
    // SAFETY: as in `as_elements`, both ways; the borrow is handed on.
    unsafe { slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
}

/// Elements as the other type that lies in memory as they do.
///
/// ```
/// # #[cfg(feature = "half")] {
/// use indim_arrays::from_elements;
///
/// let results = [indim_ops::f16::from_f32(0.5)];
/// assert_eq!(from_elements::<half::f16>(&results)[0].to_f32(), 0.5);
/// # }
/// ```
pub fn from_elements<T: StoredAs>(elements: &[T::Element]) -> &[T] {
    // SAFETY: as in `as_elements`.
    unsafe { slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_the_layout_of_its_element<T: StoredAs>() {
        assert_eq!(size_of::<T>(), size_of::<T::Element>());
        assert_eq!(align_of::<T>(), align_of::<T::Element>());
    }

    #[test]
    fn layouts_are_those_of_the_elements() {
        has_the_layout_of_its_element::<bool>();
        #[cfg(feature = "half")]
        {
            has_the_layout_of_its_element::<half::f16>();
            has_the_layout_of_its_element::<half::bf16>();
        }
        #[cfg(feature = "num-complex")]
        {
            has_the_layout_of_its_element::<num_complex::Complex<f32>>();
            has_the_layout_of_its_element::<num_complex::Complex<f64>>();
        }
    }

    #[cfg(feature = "half")]
    #[test]
    fn half_floats_keep_their_bits() {
        let bits = 0..=u16::MAX;
        let all: Vec<half::bf16> = bits.clone().map(half::bf16::from_bits).collect();
        for (theirs, ours) in all.iter().zip(as_elements(&all)).filter(|(it, _)| !it.is_nan()) {
            assert_eq!(theirs.to_f32().to_bits(), ours.to_f32().to_bits());
        }
        let all: Vec<half::f16> = bits.map(half::f16::from_bits).collect();
        for (theirs, ours) in all.iter().zip(as_elements(&all)).filter(|(it, _)| !it.is_nan()) {
            assert_eq!(theirs.to_f32().to_bits(), ours.to_f32().to_bits());
        }
    }
}
