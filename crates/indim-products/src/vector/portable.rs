//! Vectors as arrays, which the compiler turns into instructions of its target. Holds unsafe code.

use crate::element::ProductElement;
use crate::vector::Vector;

/// An array of elements.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct PortableVector<E, const N: usize>([E; N]);

impl<E: ProductElement, const N: usize> Vector for PortableVector<E, N> {
    type Element = E;
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn zero() -> Self {
        PortableVector([E::ZERO; N])
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller ensures `N` readable elements; an array has their layout.
        PortableVector(unsafe { from.cast::<[E; N]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn splat(from: *const u8) -> Self {
        // SAFETY: the caller ensures a readable element.
        PortableVector([unsafe { from.cast::<E>().read_unaligned() }; N])
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller ensures `N` writable elements; an array has their layout.
        unsafe { to.cast::<[E; N]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn fma(self, x: Self, y: Self) -> Self {
        let mut sum = self.0;
        for (sum, (x, y)) in sum.iter_mut().zip(x.0.into_iter().zip(y.0)) {
            *sum = E::fma(x, y, *sum);
        }
        PortableVector(sum)
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        let mut sum = self.0;
        for (sum, other) in sum.iter_mut().zip(other.0) {
            *sum = sum.add(other);
        }
        PortableVector(sum)
    }

    #[inline(always)]
    unsafe fn finish_block(self) -> Self {
        PortableVector(self.0.map(|value| E::narrow(value.widen())))
    }
}
