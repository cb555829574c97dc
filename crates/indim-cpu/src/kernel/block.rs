//! The loops of kernels: chunks of a block through local arrays. Holds unsafe code.

use core::mem::size_of;

use indim_graph::{Binary, ConvertTo, Element, Ternary, Unary};

/// Elements in a chunk: enough for the compiler to fill its vectors several times.
const CHUNK: usize = 64;

/// What a kernel does with one chunk of elements.
pub(super) trait Body {
    /// Reads a chunk from `sources` at `offset` elements and writes the results to `destination`.
    ///
    /// # Safety
    /// As [`super::KernelFn`], for the `count` elements from `offset` on; `count` is at most `CHUNK`.
    unsafe fn chunk(destination: *mut u8, sources: [*const u8; 3], offset: usize, count: usize);
}

/// Runs a body over a block.
///
/// # Safety
/// As [`super::KernelFn`].
#[inline(always)]
pub(super) unsafe fn run<B: Body>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
    let mut offset = 0;
    while offset + CHUNK <= count {
        // SAFETY: the chunk lies inside the block.
        unsafe { B::chunk(destination, sources, offset, CHUNK) }
        offset += CHUNK;
    }
    if offset < count {
        // SAFETY: the rest of the block, shorter than a chunk.
        unsafe { B::chunk(destination, sources, offset, count - offset) }
    }
}

/// Loads `count` elements; what lies behind them in the chunk is the default element.
///
/// # Safety
/// `source` is valid for reads of `count` elements from `offset` on; `count` is at most `CHUNK`.
#[inline(always)]
unsafe fn load<T: Element>(source: *const u8, offset: usize, count: usize) -> [T; CHUNK] {
    let mut stored = [T::Stored::default(); CHUNK];
    let from = source.wrapping_add(offset * size_of::<T>());
    // SAFETY: the caller's `count` elements into an array that has room for them.
    unsafe { copy(from, stored.as_mut_ptr().cast(), count * size_of::<T>()) }
    stored.map(T::from_stored)
}

/// Stores the first `count` elements of a chunk.
///
/// # Safety
/// `destination` is valid for writes of `count` elements from `offset` on; `count` is at most `CHUNK`.
#[inline(always)]
unsafe fn store<T: Element>(destination: *mut u8, offset: usize, chunk: [T; CHUNK], count: usize) {
    let to = destination.wrapping_add(offset * size_of::<T>());
    let stored = chunk.map(T::to_stored);
    // SAFETY: `count` elements of the chunk into the caller's memory.
    unsafe { copy(stored.as_ptr().cast(), to, count * size_of::<T>()) }
}

/// # Safety
/// As `core::ptr::copy_nonoverlapping` of bytes; one side is a local array.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) }
}

/// The body of an operation of one operand.
pub(super) struct UnaryBody<O, T>(core::marker::PhantomData<(O, T)>);

impl<O: Unary<T>, T: Element> Body for UnaryBody<O, T> {
    #[inline(always)]
    unsafe fn chunk(destination: *mut u8, sources: [*const u8; 3], offset: usize, count: usize) {
        // SAFETY: the caller's promise for this chunk.
        unsafe {
            let x = load::<T>(sources[0], offset, count);
            let mut results = [O::Result::default(); CHUNK];
            for (result, x) in results.iter_mut().zip(x) {
                *result = O::apply(x);
            }
            store(destination, offset, results, count);
        }
    }
}

/// The body of an operation of two operands.
pub(super) struct BinaryBody<O, T>(core::marker::PhantomData<(O, T)>);

impl<O: Binary<T>, T: Element> Body for BinaryBody<O, T> {
    #[inline(always)]
    unsafe fn chunk(destination: *mut u8, sources: [*const u8; 3], offset: usize, count: usize) {
        // SAFETY: the caller's promise for this chunk.
        unsafe {
            let x = load::<T>(sources[0], offset, count);
            let y = load::<T>(sources[1], offset, count);
            let mut results = [O::Result::default(); CHUNK];
            for (result, (x, y)) in results.iter_mut().zip(x.into_iter().zip(y)) {
                *result = O::apply(x, y);
            }
            store(destination, offset, results, count);
        }
    }
}

/// The body of an operation of three operands.
pub(super) struct TernaryBody<O, T>(core::marker::PhantomData<(O, T)>);

impl<O: Ternary<T>, T: Element> Body for TernaryBody<O, T> {
    #[inline(always)]
    unsafe fn chunk(destination: *mut u8, sources: [*const u8; 3], offset: usize, count: usize) {
        // SAFETY: the caller's promise for this chunk.
        unsafe {
            let first = load::<O::First>(sources[0], offset, count);
            let x = load::<T>(sources[1], offset, count);
            let y = load::<T>(sources[2], offset, count);
            let mut results = [O::Result::default(); CHUNK];
            for (result, (first, (x, y))) in
                results.iter_mut().zip(first.into_iter().zip(x.into_iter().zip(y)))
            {
                *result = O::apply(first, x, y);
            }
            store(destination, offset, results, count);
        }
    }
}

/// The body of a conversion.
pub(super) struct ConvertBody<A, B>(core::marker::PhantomData<(A, B)>);

impl<A: ConvertTo<B>, B: Element> Body for ConvertBody<A, B> {
    #[inline(always)]
    unsafe fn chunk(destination: *mut u8, sources: [*const u8; 3], offset: usize, count: usize) {
        // SAFETY: the caller's promise for this chunk.
        unsafe {
            let x = load::<A>(sources[0], offset, count);
            let mut results = [B::default(); CHUNK];
            for (result, x) in results.iter_mut().zip(x) {
                *result = x.convert();
            }
            store(destination, offset, results, count);
        }
    }
}
