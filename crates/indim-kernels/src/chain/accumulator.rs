//! Accumulators in vector registers: arrays of elements, loaded, stored, and computed element by element.
//! Holds unsafe code.

use core::mem::MaybeUninit;

use indim_ops::Element;

use crate::kernel::block::Unaligned;
use crate::kernel::instructions::Instructions;

/// # Safety
/// `operand` is valid for reads of `LENGTH` elements.
#[inline(always)]
pub(crate) unsafe fn load<T: Element, const LENGTH: usize>(operand: *const u8) -> [T; LENGTH] {
    // SAFETY: the caller's promise; any bits are stored elements, at any address.
    let stored = unsafe { *operand.cast::<[Unaligned<T>; LENGTH]>() };
    let mut elements = [T::default(); LENGTH];
    for index in 0..LENGTH {
        elements[index] = stored[index].get();
    }
    elements
}

/// # Safety
/// `operand` is valid for reads of an element.
#[inline(always)]
pub(crate) unsafe fn load_single<T: Element>(operand: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { *operand.cast::<Unaligned<T>>() }.get()
}

/// # Safety
/// `place` is valid for writes of `LENGTH` elements.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "an iterator takes the accumulator out of registers")]
pub(crate) unsafe fn store<T: Element, const LENGTH: usize>(
    place: *mut u8,
    accumulator: [T; LENGTH],
) {
    let place = place.cast::<Unaligned<T>>();
    for index in 0..LENGTH {
        let element = Unaligned(accumulator[index].to_stored());
        // SAFETY: the caller's promise.
        unsafe { place.wrapping_add(index).write(element) }
    }
}

/// Writes past the caches, to memory that will not be read soon. A line that is written as usual is
/// first read; so this saves a third of the traffic of a sum of two arrays too large for the caches.
///
/// # Safety
/// `place` is valid for writes of `LENGTH` elements, whole lines; the processor has the instructions `I`.
#[inline(always)]
pub(crate) unsafe fn stream<I: Instructions, T: Element, const LENGTH: usize>(
    place: *mut u8,
    accumulator: [T; LENGTH],
) {
    let mut stored = [const { MaybeUninit::<Unaligned<T>>::uninit() }; LENGTH];
    for index in 0..LENGTH {
        stored[index].write(Unaligned(accumulator[index].to_stored()));
    }
    // SAFETY: the accumulator, and the caller's lines.
    unsafe { I::stream(place, stored.as_ptr().cast(), size_of_val(&stored)) }
}

/// `f(x)` for each element. The `map` of arrays is not always inlined, and then it is compiled without
/// the instructions of the level; and with any but a constant to begin with, the first element would
/// be computed by itself.
#[inline(always)]
pub(crate) fn each<T: Element, R: Element, const LENGTH: usize>(
    x: [T; LENGTH],
    f: impl Fn(T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index]);
    }
    results
}

/// `f(x, y)` for each pair.
#[inline(always)]
pub(crate) fn with<T: Copy, R: Element, const LENGTH: usize>(
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(T, T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index], y[index]);
    }
    results
}

/// `f(mask, x, y)` for each three.
#[inline(always)]
pub(crate) fn choose<T: Element, const LENGTH: usize>(
    mask: &[u8; LENGTH],
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(bool, T, T) -> T,
) -> [T; LENGTH] {
    let mut results = [T::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(mask[index] != 0, x[index], y[index]);
    }
    results
}

/// Bools as bytes.
#[inline(always)]
pub(crate) fn bytes<const LENGTH: usize>(bools: [bool; LENGTH]) -> [u8; LENGTH] {
    each(bools, u8::from)
}

/// Bytes as bools.
#[inline(always)]
pub(crate) fn bools<const LENGTH: usize>(bytes: [u8; LENGTH]) -> [bool; LENGTH] {
    each(bytes, |byte| byte != 0)
}
