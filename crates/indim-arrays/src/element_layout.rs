//! Types of other crates with the memory layout of elements: a slice of one converts to a slice of the other
//! without a copy. Holds unsafe code.

use core::slice;

use indim_ops::elements::*;
use indim_ops::{Element, for_each_element};

/// A type with the memory layout of an element type: the element types themselves, and with the features
/// `half` and `num-complex` the types of these crates.
///
/// # Safety
/// - size and alignment are those of the element;
/// - the bits of each value of either type are a value of the other type.
pub unsafe trait ElementLayout: Copy + 'static {
    /// The element type.
    type Element: Element;
}

macro_rules! layout_of_themselves {
    ($($variant:ident $type:ident $class:ident;)*) => {$(
        // SAFETY: both are the same type.
        unsafe impl ElementLayout for $type {
            type Element = $type;
        }
    )*};
}

for_each_element!(layout_of_themselves);

// SAFETY: both are the 16 bits of an IEEE 754 binary16, `repr(transparent)` over an integer.
#[cfg(feature = "half")]
unsafe impl ElementLayout for half::f16 {
    type Element = f16;
}

// SAFETY: both are the upper 16 bits of a binary32, `repr(transparent)` over an integer.
#[cfg(feature = "half")]
unsafe impl ElementLayout for half::bf16 {
    type Element = bf16;
}

// SAFETY: both are `repr(C)`: the real part, then the imaginary one.
#[cfg(feature = "num-complex")]
unsafe impl ElementLayout for num_complex::Complex<f32> {
    type Element = c64;
}

// SAFETY: both are `repr(C)`: the real part, then the imaginary one.
#[cfg(feature = "num-complex")]
unsafe impl ElementLayout for num_complex::Complex<f64> {
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
pub fn as_elements<T: ElementLayout>(slice: &[T]) -> &[T::Element] {
    // SAFETY: by `ElementLayout` size and alignment are the same, and the bits of each value are a value of
    // the element type.
    unsafe { slice::from_raw_parts(slice.as_ptr().cast(), slice.len()) }
}

/// The same memory as writable elements.
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
pub fn as_elements_mut<T: ElementLayout>(slice: &mut [T]) -> &mut [T::Element] {
    // SAFETY: by `ElementLayout` size and alignment are the same, and the bits of a value of either type are
    // a value of the other; the borrow is exclusive.
    unsafe { slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
}

/// Elements as another type of the same layout.
///
/// ```
/// # #[cfg(feature = "half")] {
/// use indim_arrays::from_elements;
///
/// let results = [indim_ops::f16::from_f32(0.5)];
/// assert_eq!(from_elements::<half::f16>(&results)[0].to_f32(), 0.5);
/// # }
/// ```
pub fn from_elements<T: ElementLayout>(elements: &[T::Element]) -> &[T] {
    // SAFETY: by `ElementLayout` size and alignment are the same, and the bits of each element are a value of
    // `T`.
    unsafe { slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_the_layout_of_its_element<T: ElementLayout>() {
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
