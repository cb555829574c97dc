//! Vectors of a register tile. Holds unsafe code.
//!
//! - `portable.rs`: arrays of elements, for every machine;
//! - `avx2.rs`: 256 bits, AVX2 and FMA;
//! - `neon.rs`: 128 bits, NEON.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;

use crate::real::Real;

/// Some elements in a register. All functions are inlined into a function compiled for the instructions.
pub(crate) trait Vector: Copy {
    /// The element type.
    type Element: Real;

    /// The number of elements.
    const LANES: usize;

    /// All elements zero.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn zero() -> Self;

    /// Reads `LANES` elements, at any alignment.
    ///
    /// # Safety
    /// - `from` is valid for reads of `LANES` elements;
    /// - the processor has the instructions of the vector.
    unsafe fn load(from: *const u8) -> Self;

    /// One element in every lane, read at any alignment.
    ///
    /// # Safety
    /// - `from` is valid for reads of one element;
    /// - the processor has the instructions of the vector.
    unsafe fn splat(from: *const u8) -> Self;

    /// Writes `LANES` elements, at any alignment.
    ///
    /// # Safety
    /// - `to` is valid for writes of `LANES` elements;
    /// - the processor has the instructions of the vector.
    unsafe fn store(self, to: *mut u8);

    /// `x * y + self` with one rounding.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn fma(self, x: Self, y: Self) -> Self;

    /// The sum.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn add(self, other: Self) -> Self;

    /// The finished values of a single block: +0 added, NaN canonical.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn finished(self) -> Self;
}
