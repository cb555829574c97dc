//! Powers with one exponent for the whole block, such as `x**3`. Holds unsafe code.
//!
//! With a constant exponent the compiler reduces the definition of `pow` to a few products with the same
//! bits. Therefore each short exponent (`for_each_exponent`) has its own loop, for blocks in which all
//! exponents are equal. A block with different exponents runs the whole definition if one of them is
//! short; otherwise it skips the part for short exponents.

use indim_ops::lane::FloatLane;
use indim_ops::{Binary, Element, meaning, operations::Pow};

use super::block::{Unaligned, elements, results};

/// Exponents with their own loop: those that `is_short_exponent` accepts.
macro_rules! for_each_exponent {
    ($callback:ident) => {
        $callback! {
            -3.0 -2.5 -2.0 -1.5 -1.0 -0.5 0.5 1.0 1.5 2.0 2.5 3.0
            4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0
        }
    };
}

/// The loop of the kernel of `pow`.
///
/// # Safety
/// Like [`super::block::KernelBody::run`], for two operands and a result of type `T`.
#[inline(always)]
pub(crate) unsafe fn run<T>(destination: *mut u8, sources: [*const u8; 3], count: usize)
where
    T: Element + FloatLane<Bool = bool>,
    Pow: Binary<T, Result = T>,
{
    // SAFETY: the caller ensures two readable operands and a writable result of `count` elements each, and
    // that the result overlaps no operand.
    let (results, [x, y]) = unsafe {
        let operands = [sources[0], sources[1]].map(|source| elements::<T>(source, count));
        (results::<T>(destination, count), operands)
    };
    // A macro, because a closure that is not inlined would be compiled for the baseline and would call the
    // library for each fused multiply-add.
    macro_rules! fill {
        (|$x:ident, $y:pat_param| $power:expr) => {
            for (to, (x, y)) in results.iter_mut().zip(x.iter().zip(y)) {
                let ($x, $y) = (x.get(), y.get());
                to.write(Unaligned($power.to_storage()));
            }
        };
    }
    if let Some(exponent) = common_exponent(y) {
        macro_rules! run_exponents {
            ($($value:literal)*) => {
                $(if exponent.equal(T::constant($value)) {
                    return fill!(|x, _| Pow::apply(x, T::constant($value)));
                })*
            };
        }
        for_each_exponent!(run_exponents);
    }
    let has_short = |has, y: &Unaligned<T>| has | meaning::float::is_short_exponent(y.get());
    match y.iter().fold(false, has_short) {
        true => fill!(|x, y| Pow::apply(x, y)),
        false => fill!(|x, y| meaning::float::long_pow(x, y).canonical()),
    }
}

/// The exponent that all elements of a block share; `None` if they differ.
#[inline(always)]
fn common_exponent<T: Element + FloatLane<Bool = bool>>(y: &[Unaligned<T>]) -> Option<T> {
    let first = y.first()?.get();
    y.iter().fold(true, |is_same, y| is_same & y.get().equal(first)).then_some(first)
}
