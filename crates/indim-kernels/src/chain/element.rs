//! How the accumulator of a chain holds elements: as they are, or, of the 16-bit floats, as `f32`.
//! Holds unsafe code.
//!
//! A load widens, each operation is rounded where its result may need it, and a write narrows. So the
//! accumulator always holds values of the element type, and a chain gives the bits of its operations
//! one by one. `links.rs` calls this.

use indim_ops::{Element, bf16, c64, c128, f16};

use crate::kernel::instructions::Instructions;

/// An element type of chains. What it does is inlined into the chain of a level.
pub(crate) trait ChainElement: Element {
    /// The type in which chains compute.
    type Lane: Element;

    /// The values of elements.
    ///
    /// # Safety
    /// The processor has the instructions `I`.
    unsafe fn widen<I: Instructions, const LENGTH: usize>(
        x: [Self; LENGTH],
    ) -> [Self::Lane; LENGTH];

    /// The value of one element.
    fn widen_single(self) -> Self::Lane;

    /// The values of this type that are nearest.
    ///
    /// # Safety
    /// As [`ChainElement::widen`].
    unsafe fn rounded<I: Instructions, const LENGTH: usize>(
        x: [Self::Lane; LENGTH],
    ) -> [Self::Lane; LENGTH];

    /// The elements of these values, all of which are of this type; canonical NaNs stay canonical.
    ///
    /// # Safety
    /// As [`ChainElement::widen`].
    unsafe fn narrow<I: Instructions, const LENGTH: usize>(
        x: [Self::Lane; LENGTH],
    ) -> [Self; LENGTH];
}

macro_rules! held_as_they_are {
    ($($type:ident)*) => {$(
        impl ChainElement for $type {
            type Lane = $type;
            #[inline(always)]
            unsafe fn widen<I: Instructions, const LENGTH: usize>(x: [$type; LENGTH]) -> [$type; LENGTH] { x }
            #[inline(always)]
            fn widen_single(self) -> $type { self }
            #[inline(always)]
            unsafe fn rounded<I: Instructions, const LENGTH: usize>(
                x: [$type; LENGTH],
            ) -> [$type; LENGTH] { x }
            #[inline(always)]
            unsafe fn narrow<I: Instructions, const LENGTH: usize>(
                x: [$type; LENGTH],
            ) -> [$type; LENGTH] { x }
        }
    )*};
}

held_as_they_are!(f32 f64 i32 i64 u8 c64 c128);

impl ChainElement for bf16 {
    type Lane = f32;

    #[inline(always)]
    unsafe fn widen<I: Instructions, const LENGTH: usize>(x: [bf16; LENGTH]) -> [f32; LENGTH] {
        let mut wide = [0.0; LENGTH];
        for index in 0..LENGTH {
            wide[index] = x[index].to_f32();
        }
        wide
    }

    #[inline(always)]
    fn widen_single(self) -> f32 {
        self.to_f32()
    }

    #[inline(always)]
    unsafe fn rounded<I: Instructions, const LENGTH: usize>(x: [f32; LENGTH]) -> [f32; LENGTH] {
        let mut rounded = [0.0; LENGTH];
        for index in 0..LENGTH {
            rounded[index] = bf16::from_f32(x[index]).to_f32();
        }
        rounded
    }

    #[inline(always)]
    unsafe fn narrow<I: Instructions, const LENGTH: usize>(x: [f32; LENGTH]) -> [bf16; LENGTH] {
        let mut narrow = [bf16::default(); LENGTH];
        for index in 0..LENGTH {
            narrow[index] = bf16::from_bits((x[index].to_bits() >> 16) as u16);
        }
        narrow
    }
}

impl ChainElement for f16 {
    type Lane = f32;

    #[inline(always)]
    unsafe fn widen<I: Instructions, const LENGTH: usize>(x: [f16; LENGTH]) -> [f32; LENGTH] {
        let mut wide = [0.0; LENGTH];
        // SAFETY: two arrays of `LENGTH`; the caller's promise.
        unsafe { I::widen_f16(wide.as_mut_ptr(), x.as_ptr(), LENGTH) }
        wide
    }

    #[inline(always)]
    fn widen_single(self) -> f32 {
        self.to_f32()
    }

    #[inline(always)]
    unsafe fn rounded<I: Instructions, const LENGTH: usize>(x: [f32; LENGTH]) -> [f32; LENGTH] {
        // SAFETY: the caller's promise.
        unsafe { Self::widen::<I, LENGTH>(Self::narrow::<I, LENGTH>(x)) }
    }

    #[inline(always)]
    unsafe fn narrow<I: Instructions, const LENGTH: usize>(x: [f32; LENGTH]) -> [f16; LENGTH] {
        let mut narrow = [f16::default(); LENGTH];
        // SAFETY: two arrays of `LENGTH`; the caller's promise.
        unsafe { I::narrow_f16(narrow.as_mut_ptr(), x.as_ptr(), LENGTH) }
        narrow
    }
}
