//! The loop of a kernel over one dense block, for each kind of operation. Holds unsafe code.

use core::any::TypeId;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::operations::Pow;
use indim_ops::{
    Binary, ConvertTo, DType, Element, Fact, FromWide, NarrowElement, OpType, ScalarBackend,
    Ternary, Unary, f16,
};

use super::instructions::Instructions;
use super::power;

/// A kernel: computes `count` elements of one operation.
///
/// Pointers need no alignment. A kernel uses as many of the sources as the operation has operands.
///
/// # Safety
/// - `destination` is valid for writes of `count` elements of the result type;
/// - each used source is valid for reads of `count` elements of its operand's type;
/// - the destination overlaps no source;
/// - the processor has the level for which the kernel was looked up.
pub type KernelFn = unsafe fn(destination: *mut u8, sources: [*const u8; 3], count: usize);

/// The body of a kernel, independent of the level.
pub(crate) trait KernelBody {
    /// Reads `count` elements of each operand and writes `count` results.
    ///
    /// # Safety
    /// Like [`KernelFn`], for the level with the instructions `I`.
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize);
}

/// An element in memory, at any alignment.
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
/// During `'a`:
/// - `source` is valid for reads of `count` elements;
/// - this thread does not write them.
#[inline(always)]
pub(crate) unsafe fn elements<'a, T: Element>(
    source: *const u8,
    count: usize,
) -> &'a [Unaligned<T>] {
    // SAFETY:
    // - the caller ensures `count` readable elements that stay unchanged during `'a`;
    // - `Unaligned` needs no alignment, and any bits are a stored element.
    unsafe { core::slice::from_raw_parts(source.cast(), count) }
}

/// The elements of a destination as a slice of uninitialised memory.
///
/// # Safety
/// During `'a`:
/// - `destination` is valid for writes of `count` elements;
/// - only the slice accesses them.
#[inline(always)]
pub(crate) unsafe fn results<'a, T: Element>(
    destination: *mut u8,
    count: usize,
) -> &'a mut [MaybeUninit<Unaligned<T>>] {
    // SAFETY:
    // - the caller ensures `count` writable elements that nothing else accesses during `'a`;
    // - `Unaligned` needs no alignment, and `MaybeUninit` no initialisation.
    unsafe { core::slice::from_raw_parts_mut(destination.cast(), count) }
}

/// The body of an operation of one operand.
pub(crate) struct UnaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Unary<T>, T: Element> KernelBody for UnaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        // SAFETY: the caller ensures a readable operand and a writable result of `count` elements each, and
        // that the two do not overlap.
        let (results, x) =
            unsafe { (results::<O::Result>(destination, count), elements::<T>(sources[0], count)) };
        for (to, x) in results.iter_mut().zip(x) {
            let result = match const { is_out_of_line::<I, O>() } {
                true => O::call(x.get()),
                false => O::apply(x.get()),
            };
            to.write(Unaligned(result.to_storage()));
        }
    }
}

/// Whether the loop calls the operation out of line for each element: an operation without
/// [`Fact::Cheap`] at the fallback level.
const fn is_out_of_line<I: Instructions, O: OpType>() -> bool {
    I::IS_FALLBACK && !O::OP.is(Fact::Cheap)
}

/// The body of an operation of two operands.
pub(crate) struct BinaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Binary<T> + 'static, T: Element> KernelBody for BinaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if const { !I::IS_FALLBACK } && TypeId::of::<O>() == TypeId::of::<Pow>() {
            match T::DTYPE {
                // SAFETY: `T` is `f32`, so the caller's obligations are those of `power::run`.
                DType::F32 => return unsafe { power::run::<f32>(destination, sources, count) },
                // SAFETY: `T` is `f64`, so the caller's obligations are those of `power::run`.
                DType::F64 => return unsafe { power::run::<f64>(destination, sources, count) },
                _ => {}
            }
        }
        // SAFETY: the caller ensures two readable operands and a writable result of `count` elements each,
        // and that the result overlaps no operand.
        let (results, [x, y]) = unsafe {
            let operands = [sources[0], sources[1]].map(|source| elements::<T>(source, count));
            (results::<O::Result>(destination, count), operands)
        };
        for (to, (x, y)) in results.iter_mut().zip(x.iter().zip(y)) {
            let result = match const { is_out_of_line::<I, O>() } {
                true => O::call(x.get(), y.get()),
                false => O::apply(x.get(), y.get()),
            };
            to.write(Unaligned(result.to_storage()));
        }
    }
}

/// The body of an operation of three operands.
pub(crate) struct TernaryBody<O, T>(PhantomData<(O, T)>);

impl<O: Ternary<T>, T: Element> KernelBody for TernaryBody<O, T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        // SAFETY: the caller ensures three readable operands and a writable result of `count` elements each,
        // and that the result overlaps no operand.
        let (results, first, [x, y]) = unsafe {
            let operands = [sources[1], sources[2]].map(|source| elements::<T>(source, count));
            let first = elements::<O::First>(sources[0], count);
            (results::<O::Result>(destination, count), first, operands)
        };
        for (to, (first, (x, y))) in results.iter_mut().zip(first.iter().zip(x.iter().zip(y))) {
            let result = match const { is_out_of_line::<I, O>() } {
                true => O::call(first.get(), x.get(), y.get()),
                false => O::apply(first.get(), x.get(), y.get()),
            };
            to.write(Unaligned(result.to_storage()));
        }
    }
}

/// The body of a conversion.
pub(crate) struct ConvertBody<A, B>(PhantomData<(A, B)>);

impl<A: ConvertTo<B>, B: Element> KernelBody for ConvertBody<A, B> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        match (A::DTYPE, B::DTYPE) {
            (DType::F16, DType::F32) => {
                // SAFETY:
                // - the caller ensures `count` readable `f16`, room for `count` `f32`, no overlap, and a
                //   processor of the level;
                // - `widen_f16` initialises the elements that `make_canonical` reads.
                unsafe {
                    I::widen_f16(destination.cast(), sources[0].cast(), count);
                    return make_canonical::<f32>(destination, count);
                }
            }
            // SAFETY: the caller ensures `count` readable `f32`, room for `count` `f16`, no overlap, and a
            // processor of the level.
            (DType::F32, DType::F16) => unsafe {
                return narrow_to_f16::<I>(destination, sources[0], count);
            },
            _ => {}
        }
        // SAFETY: the caller ensures a readable operand and a writable result of `count` elements each, and
        // that the two do not overlap.
        let (results, x) =
            unsafe { (results::<B>(destination, count), elements::<A>(sources[0], count)) };
        for (to, x) in results.iter_mut().zip(x) {
            to.write(Unaligned(x.get().convert().to_storage()));
        }
    }
}

/// The body of a widening, for `widened.rs`.
pub(crate) struct WidenBody<T>(PhantomData<T>);

impl<T: NarrowElement> KernelBody for WidenBody<T> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if T::DTYPE == DType::F16 {
            // SAFETY: the caller ensures `count` readable `f16`, room for `count` `f32`, no overlap, and a
            // processor of the level.
            return unsafe { I::widen_f16(destination.cast(), sources[0].cast(), count) };
        }
        // SAFETY: the caller ensures a readable operand and a writable result of `count` elements each, and
        // that the two do not overlap.
        let (results, x) =
            unsafe { (results::<T::Wide>(destination, count), elements::<T>(sources[0], count)) };
        for (to, x) in results.iter_mut().zip(x) {
            to.write(Unaligned(T::widen::<ScalarBackend>(x.get()).to_storage()));
        }
    }
}

/// The body of a narrowing, for `widened.rs`.
pub(crate) struct NarrowBody<T, Wide>(PhantomData<(T, Wide)>);

impl<T: FromWide<Wide>, Wide: Element> KernelBody for NarrowBody<T, Wide> {
    #[inline(always)]
    unsafe fn run<I: Instructions>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
        if T::DTYPE == DType::F16 {
            // SAFETY: the caller ensures `count` readable `f32`, room for `count` `f16`, no overlap, and a
            // processor of the level.
            return unsafe { narrow_to_f16::<I>(destination, sources[0], count) };
        }
        // SAFETY: the caller ensures a readable operand and a writable result of `count` elements each, and
        // that the two do not overlap.
        let (results, x) =
            unsafe { (results::<T>(destination, count), elements::<Wide>(sources[0], count)) };
        for (to, x) in results.iter_mut().zip(x) {
            to.write(Unaligned(T::from_wide::<ScalarBackend>(x.get()).to_storage()));
        }
    }
}

/// Narrows `f32` elements to `f16`, with canonical NaNs.
///
/// # Safety
/// Like [`KernelBody::run`], for this operand and result type.
#[inline(always)]
unsafe fn narrow_to_f16<I: Instructions>(destination: *mut u8, source: *const u8, count: usize) {
    // SAFETY:
    // - the caller ensures `count` elements in both arrays, which do not overlap, and a processor of the
    //   level;
    // - `narrow_f16` initialises the elements that `make_canonical` reads.
    unsafe {
        I::narrow_f16(destination.cast(), source.cast(), count);
        make_canonical::<f16>(destination, count);
    }
}

/// Replaces each NaN by the canonical one.
///
/// # Safety
/// - `elements` is valid for reads and writes of `count` initialised elements;
/// - nothing else accesses them during the call.
#[inline(always)]
unsafe fn make_canonical<T: Element>(elements: *mut u8, count: usize) {
    // SAFETY:
    // - the caller ensures `count` initialised elements that nothing else accesses;
    // - `Unaligned` needs no alignment.
    let elements: &mut [Unaligned<T>] =
        unsafe { core::slice::from_raw_parts_mut(elements.cast(), count) };
    for element in elements {
        *element = Unaligned(element.get().canonical().to_storage());
    }
}
