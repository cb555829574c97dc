//! The loops of kernels over one dense block. Holds unsafe code.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::operations::Pow;
use indim_ops::{
    Binary, ConvertTo, DType, Element, Fact, FromWide, NarrowElement, Operation, ScalarBackend,
    Ternary, Unary, f16,
};

use super::instructions::Instructions;
use super::power;

/// A kernel for blocks of any length.
///
/// # Safety
/// - `destination` is valid for writes of `count` elements of the result type;
/// - `sources[i]` is valid for reads of `count` elements of operand `i`'s type, for each operand;
///   the other pointers are not used;
/// - no pointer needs to be aligned;
/// - the destination overlaps none of the sources;
/// - the processor has the level for which the kernel was looked up.
pub type KernelFn = unsafe fn(destination: *mut u8, sources: [*const u8; 3], count: usize);

/// The body of a kernel: its computation on a block.
pub(crate) trait Body {
    /// Reads `count` elements from each of `sources` and writes as many results to `destination`.
    ///
    /// # Safety
    /// Like [`KernelFn`], where the level has the instructions `I`.
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize);
}

/// An element in memory that need not be aligned.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub(crate) struct Unaligned<T: Element>(pub(crate) T::Storage);

impl<T: Element> Unaligned<T> {
    #[inline(always)]
    pub(crate) fn get(self) -> T {
        T::from_storage(self.0)
    }
}

/// The elements of a source as a slice.
///
/// # Safety
/// `source` is valid for reads of `count` elements for as long as the slice is used, and nobody
/// writes to them meanwhile.
#[inline(always)]
pub(crate) unsafe fn elements<'a, T: Element>(
    source: *const u8,
    count: usize,
) -> &'a [Unaligned<T>] {
    // SAFETY: the caller's promise; any bits are a stored element, at any address.
    unsafe { core::slice::from_raw_parts(source.cast(), count) }
}

/// The elements of a destination as a slice.
///
/// # Safety
/// `destination` is valid for writes of `count` elements for as long as the slice is used, and
/// nobody else uses them meanwhile.
#[inline(always)]
pub(crate) unsafe fn places<'a, T: Element>(
    destination: *mut u8,
    count: usize,
) -> &'a mut [MaybeUninit<Unaligned<T>>] {
    // SAFETY: the caller's promise; places need not be initialised nor aligned.
    unsafe { core::slice::from_raw_parts_mut(destination.cast(), count) }
}

/// The body of an operation of one operand.
pub(crate) struct UnaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Unary<T>, T: Element> Body for UnaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        // SAFETY: the caller's promise.
        let (places, x) =
            unsafe { (places::<O::Result>(destination, count), elements::<T>(sources[0], count)) };
        for (place, x) in places.iter_mut().zip(x) {
            let result = match const { is_alone::<I, O>() } {
                true => alone::unary::<O, T>(x.get()),
                false => O::apply(x.get()),
            };
            place.write(Unaligned(result.to_storage()));
        }
    }
}

/// Whether each result is computed by a call of its own.
const fn is_alone<I: Instructions, O: Operation>() -> bool {
    I::IS_LAST_RESORT && !O::OP.is(Fact::Cheap)
}

/// Operations on one element of each operand. A loop that calls them is not vectorized.
mod alone {
    use super::{Binary, Element, Ternary, Unary};

    #[inline(never)]
    pub(super) fn unary<O: Unary<T>, T: Element>(x: T) -> O::Result {
        O::apply(x)
    }

    #[inline(never)]
    pub(super) fn binary<O: Binary<T>, T: Element>(x: T, y: T) -> O::Result {
        O::apply(x, y)
    }

    #[inline(never)]
    pub(super) fn ternary<O: Ternary<T>, T: Element>(first: O::First, x: T, y: T) -> O::Result {
        O::apply(first, x, y)
    }
}

/// The body of an operation of two operands.
pub(crate) struct BinaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Binary<T> + 'static, T: Element> Body for BinaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if const { !I::IS_LAST_RESORT } && TypeId::of::<O>() == TypeId::of::<Pow>() {
            match T::DTYPE {
                // SAFETY: the caller's promise, for this type.
                DType::F32 => return unsafe { power::run::<f32>(destination, sources, count) },
                // SAFETY: the caller's promise, for this type.
                DType::F64 => return unsafe { power::run::<f64>(destination, sources, count) },
                _ => {}
            }
        }
        // SAFETY: the caller's promise.
        let (places, [x, y]) = unsafe {
            let operands = [sources[0], sources[1]].map(|source| elements::<T>(source, count));
            (places::<O::Result>(destination, count), operands)
        };
        for (place, (x, y)) in places.iter_mut().zip(x.iter().zip(y)) {
            let result = match const { is_alone::<I, O>() } {
                true => alone::binary::<O, T>(x.get(), y.get()),
                false => O::apply(x.get(), y.get()),
            };
            place.write(Unaligned(result.to_storage()));
        }
    }
}

/// The body of an operation of three operands.
pub(crate) struct TernaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Ternary<T>, T: Element> Body for TernaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        // SAFETY: the caller's promise.
        let (places, first, [x, y]) = unsafe {
            let operands = [sources[1], sources[2]].map(|source| elements::<T>(source, count));
            let first = elements::<O::First>(sources[0], count);
            (places::<O::Result>(destination, count), first, operands)
        };
        for (place, (first, (x, y))) in places.iter_mut().zip(first.iter().zip(x.iter().zip(y))) {
            let result = match const { is_alone::<I, O>() } {
                true => alone::ternary::<O, T>(first.get(), x.get(), y.get()),
                false => O::apply(first.get(), x.get(), y.get()),
            };
            place.write(Unaligned(result.to_storage()));
        }
    }
}

/// The body of a conversion.
pub(crate) struct ConvertBody<A, B>(PhantomData<(A, B)>);

impl<A: ConvertTo<B>, B: Element> Body for ConvertBody<A, B> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        match (A::DTYPE, B::DTYPE) {
            (DType::F16, DType::F32) => {
                // SAFETY: the caller's promise, for these types.
                unsafe {
                    I::widen_f16(destination.cast(), sources[0].cast(), count);
                    return make_canonical::<f32>(destination, count);
                }
            }
            // SAFETY: the caller's promise, for these types.
            (DType::F32, DType::F16) => unsafe {
                return narrow_to_f16::<I>(destination, sources[0], count);
            },
            _ => {}
        }
        // SAFETY: the caller's promise.
        let (places, x) =
            unsafe { (places::<B>(destination, count), elements::<A>(sources[0], count)) };
        for (place, x) in places.iter_mut().zip(x) {
            place.write(Unaligned(x.get().convert().to_storage()));
        }
    }
}

/// The body that widens the elements of an operand; see `widened.rs`.
pub(crate) struct WidenBody<T>(PhantomData<T>);

impl<T: NarrowElement> Body for WidenBody<T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if T::DTYPE == DType::F16 {
            // SAFETY: the caller's promise, for this type.
            return unsafe { I::widen_f16(destination.cast(), sources[0].cast(), count) };
        }
        // SAFETY: the caller's promise.
        let (places, x) =
            unsafe { (places::<T::Wide>(destination, count), elements::<T>(sources[0], count)) };
        for (place, x) in places.iter_mut().zip(x) {
            place.write(Unaligned(T::widen::<ScalarBackend>(x.get()).to_storage()));
        }
    }
}

/// The body that narrows results; see `widened.rs`.
pub(crate) struct NarrowBody<T, Wide>(PhantomData<(T, Wide)>);

impl<T: FromWide<Wide>, Wide: Element> Body for NarrowBody<T, Wide> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if T::DTYPE == DType::F16 {
            // SAFETY: the caller's promise, for this type.
            return unsafe { narrow_to_f16::<I>(destination, sources[0], count) };
        }
        // SAFETY: the caller's promise.
        let (places, x) =
            unsafe { (places::<T>(destination, count), elements::<Wide>(sources[0], count)) };
        for (place, x) in places.iter_mut().zip(x) {
            place.write(Unaligned(T::from_wide::<ScalarBackend>(x.get()).to_storage()));
        }
    }
}

/// Narrows `f32` elements to `f16`.
///
/// # Safety
/// Like [`Body::run`].
#[inline(always)]
unsafe fn narrow_to_f16<I: Instructions>(destination: *mut u8, source: *const u8, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        I::narrow_f16(destination.cast(), source.cast(), count);
        make_canonical::<f16>(destination, count);
    }
}

/// Replaces NaNs by the canonical one.
///
/// # Safety
/// `elements` is valid for reads and writes of `count` elements.
#[inline(always)]
unsafe fn make_canonical<T: Element>(elements: *mut u8, count: usize) {
    // SAFETY: the caller's promise; elements need not be aligned.
    let elements: &mut [Unaligned<T>] =
        unsafe { core::slice::from_raw_parts_mut(elements.cast(), count) };
    for element in elements {
        *element = Unaligned(element.get().canonical().to_storage());
    }
}
