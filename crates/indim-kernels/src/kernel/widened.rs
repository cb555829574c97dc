//! Kernels that compute in a wider type: widen a chunk of the block, run the kernel of the wider type,
//! narrow its results. Holds unsafe code.
//!
//! Kernels of 16-bit floats therefore reuse those of `f32`, and each adds few instructions to the
//! binary.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::{Binary, DType, Element, FromWide, NarrowElement, Ternary, Unary};

use super::block::{BinaryBody, KernelFn, NarrowBody, TernaryBody, UnaryBody, WidenBody};
use super::shells::Shells;

/// Elements of a chunk: its widened operands and results, 16 KiB at most, stay in L1.
const CHUNK_ELEMENTS: usize = 256;

/// Bytes of a chunk of the largest wide elements, `c128`.
const CHUNK_BYTES: usize = CHUNK_ELEMENTS * 16;

/// A chunk of one operand, or of the results, in the wider type.
type Chunk = [MaybeUninit<u128>; CHUNK_BYTES / 16];

/// A kernel of the wider type, with the conversions of its operands and results.
pub(crate) struct WidenedKernel {
    /// For each operand, its element size in bytes and its widening, if it has one; `None` after the last
    /// operand.
    operands: [Option<(usize, Option<KernelFn>)>; 3],
    /// The kernel of the wider type.
    kernel: KernelFn,
    /// Element size of the results, in bytes.
    result_size: usize,
    /// The narrowing of the results; `None` if they have the type of the kernel's results.
    narrow: Option<KernelFn>,
}

/// An operation that computes in a wider type, independent of the level.
pub(crate) trait Widening {
    /// Its kernels at the level of `S`.
    fn kernels<S: Shells>() -> WidenedKernel;
}

/// Element size of operands of type `T`, and their widening.
fn operand<S: Shells, T: NarrowElement>() -> Option<(usize, Option<KernelFn>)> {
    Some((T::DTYPE.size(), Some(S::kernel::<WidenBody<T>>())))
}

/// The narrowing of results from `Wide` to `T`; `None` if the types are equal.
fn narrowing<S: Shells, T: FromWide<Wide>, Wide: Element>() -> Option<KernelFn> {
    (T::DTYPE != Wide::DTYPE).then(|| S::kernel::<NarrowBody<T, Wide>>())
}

/// An operation of one operand in the wider type.
pub(crate) struct WidenedUnary<O, T>(PhantomData<(O, T)>);

impl<O, T> Widening for WidenedUnary<O, T>
where
    O: Unary<T, Result: FromWide<<O as Unary<T::Wide>>::Result>> + Unary<T::Wide>,
    T: NarrowElement,
{
    fn kernels<S: Shells>() -> WidenedKernel {
        WidenedKernel {
            operands: [operand::<S, T>(), None, None],
            kernel: S::kernel::<UnaryBody<O, T::Wide>>(),
            result_size: <O as Unary<T>>::Result::DTYPE.size(),
            narrow: narrowing::<S, <O as Unary<T>>::Result, <O as Unary<T::Wide>>::Result>(),
        }
    }
}

/// An operation of two operands in the wider type.
pub(crate) struct WidenedBinary<O, T>(PhantomData<(O, T)>);

impl<O, T> Widening for WidenedBinary<O, T>
where
    O: Binary<T, Result: FromWide<<O as Binary<T::Wide>>::Result>> + Binary<T::Wide> + 'static,
    T: NarrowElement,
{
    fn kernels<S: Shells>() -> WidenedKernel {
        WidenedKernel {
            operands: [operand::<S, T>(), operand::<S, T>(), None],
            kernel: S::kernel::<BinaryBody<O, T::Wide>>(),
            result_size: <O as Binary<T>>::Result::DTYPE.size(),
            narrow: narrowing::<S, <O as Binary<T>>::Result, <O as Binary<T::Wide>>::Result>(),
        }
    }
}

/// An operation of three operands in the wider type. A `bool` as first operand is not widened.
pub(crate) struct WidenedTernary<O, T>(PhantomData<(O, T)>);

impl<O, T> Widening for WidenedTernary<O, T>
where
    O: Ternary<T, Result: FromWide<<O as Ternary<T::Wide>>::Result>> + Ternary<T::Wide>,
    T: NarrowElement,
{
    fn kernels<S: Shells>() -> WidenedKernel {
        let first = match <O as Ternary<T>>::First::DTYPE {
            DType::Bool => Some((DType::Bool.size(), None)),
            _ => operand::<S, T>(),
        };
        WidenedKernel {
            operands: [first, operand::<S, T>(), operand::<S, T>()],
            kernel: S::kernel::<TernaryBody<O, T::Wide>>(),
            result_size: <O as Ternary<T>>::Result::DTYPE.size(),
            narrow: narrowing::<S, <O as Ternary<T>>::Result, <O as Ternary<T::Wide>>::Result>(),
        }
    }
}

/// The kernel of a widened operation.
///
/// # Safety
/// Like [`KernelFn`]; the processor has the level of `S`.
pub(crate) unsafe fn widened_kernel<S: Shells, W: Widening>(
    destination: *mut u8,
    sources: [*const u8; 3],
    count: usize,
) {
    // SAFETY: the caller has the same obligations; `W` has the element types of the operation.
    unsafe { run(&W::kernels::<S>(), destination, sources, count) }
}

/// Runs a widened kernel chunk by chunk.
///
/// # Safety
/// Like [`KernelFn`], for the operand and result types of `kernels` and their level.
#[inline(never)]
unsafe fn run(
    kernels: &WidenedKernel,
    destination: *mut u8,
    sources: [*const u8; 3],
    count: usize,
) {
    let mut chunks: [Chunk; 4] = [[MaybeUninit::uninit(); CHUNK_BYTES / 16]; 4];
    let [results, operands @ ..] = &mut chunks;
    for start in (0..count).step_by(CHUNK_ELEMENTS) {
        let length = CHUNK_ELEMENTS.min(count - start);
        let mut widened = [core::ptr::null(); 3];
        for (index, operand) in kernels.operands.iter().enumerate() {
            let Some((size, widen)) = operand else { break };
            let source = sources[index].wrapping_add(start * size);
            widened[index] = match widen {
                None => source,
                Some(widen) => {
                    let chunk = operands[index].as_mut_ptr().cast::<u8>();
                    let sources = [source, core::ptr::null(), core::ptr::null()];
                    // SAFETY:
                    // - elements `start..start + length` of the caller's source are readable;
                    // - a chunk is local memory with room for `CHUNK_ELEMENTS` elements of the widest
                    //   type;
                    // - the caller's processor has the level of `kernels`.
                    unsafe { widen(chunk, sources, length) }
                    chunk.cast_const()
                }
            };
        }
        let to = destination.wrapping_add(start * kernels.result_size);
        match kernels.narrow {
            // SAFETY:
            // - each operand has `length` elements, widened or in the caller's source;
            // - elements `start..start + length` of the caller's destination are writable and overlap no
            //   source;
            // - the caller's processor has the level of `kernels`.
            None => unsafe { (kernels.kernel)(to, widened, length) },
            Some(narrow) => {
                let chunk = results.as_mut_ptr().cast::<u8>();
                let sources = [chunk.cast_const(), core::ptr::null(), core::ptr::null()];
                // SAFETY:
                // - each operand has `length` elements, widened or in the caller's source;
                // - `chunk` has room for `length` results, in memory that holds no operand;
                // - elements `start..start + length` of the caller's destination are writable;
                // - the caller's processor has the level of `kernels`.
                unsafe {
                    (kernels.kernel)(chunk, widened, length);
                    narrow(to, sources, length);
                }
            }
        }
    }
}
