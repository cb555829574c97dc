//! Sums of products: the definition of a contraction for one element of its result.
//!
//! The products are divided into blocks of 512, like the elements of a sum. A block of at most 64 products
//! is one chain: from +0 on, `fma` in the type of the elements adds one product after another. A longer
//! block has 8 lanes. Lane `l` is such a chain over products `l`, `l + 8`, `l + 16`, ...; the value of the
//! block is ((lane 0 + lane 1) + ...) + lane 7. The value of a block is converted to `f64`, and +0 is added
//! to it. The values of blocks are added by pairs, like the blocks of a sum (`reduction.rs`). Without
//! products the result is +0.
//!
//! In `f32` the error is at most 72 roundings of the sum of magnitudes, for any number of products. Integers
//! wrap, so their order has no effect.

use alloc::vec::Vec;

use crate::meaning::reduction::{REDUCTION_BLOCK, combine_pairs};
use crate::op::{Ternary, operations};
use crate::{DType, Element};

/// Longest block that is a single chain.
pub const MAX_CHAIN: usize = 64;

/// Lanes of a longer block.
pub const CONTRACTION_LANES: usize = 8;

/// An element type of contractions.
pub trait ContractionElement: Element {
    /// The type of the sum: `f64` for floats, the type of the elements for integers.
    type Sum: Element;

    /// The sum of the products of these pairs.
    fn contract(pairs: &[(Self, Self)]) -> Self::Sum;
}

macro_rules! floats {
    ($($type:ident)*) => { $(
        impl ContractionElement for $type {
            type Sum = f64;

            fn contract(factors: &[(Self, Self)]) -> f64 {
                let chain = |factors: &mut dyn Iterator<Item = &(Self, Self)>| {
                    factors.fold(0.0, |sum, &(x, y)| {
                        <operations::Fma as Ternary<$type>>::apply(x, y, sum)
                    })
                };
                let block = |block: &[(Self, Self)]| {
                    if block.len() <= MAX_CHAIN {
                        return f64::from(chain(&mut block.iter())) + 0.0;
                    }
                    let lane = |lane: usize| chain(&mut block.iter().skip(lane).step_by(CONTRACTION_LANES));
                    let sum = (1..CONTRACTION_LANES).fold(lane(0), |sum, next| sum + lane(next));
                    f64::from(sum) + 0.0
                };
                let blocks: Vec<f64> = factors.chunks(REDUCTION_BLOCK).map(block).collect();
                combine_pairs(blocks, 0.0, |x, y| x + y).canonical()
            }
        }
    )* };
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl ContractionElement for $type {
            type Sum = $type;

            fn contract(factors: &[(Self, Self)]) -> $type {
                factors.iter().fold(0, |sum: $type, &(x, y)| sum.wrapping_add(x.wrapping_mul(y)))
            }
        }
    )* };
}

floats!(f32 f64);
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// The sum of the products of `x` and `y`, element by element: the definition of a contraction.
///
/// ```
/// use indim_ops::contract;
///
/// assert_eq!(contract::<f32>(&[1.0, 2.0], &[10.0, 0.5]), 11.0);
/// assert_eq!(contract::<i8>(&[100, 1], &[2, 1]), -55);
/// assert_eq!(contract::<f64>(&[], &[]).to_bits(), 0);
/// ```
///
/// # Panics
/// If `x` and `y` differ in length.
pub fn contract<T: ContractionElement>(x: &[T], y: &[T]) -> T::Sum {
    assert_eq!(x.len(), y.len(), "a contraction pairs the elements of its operands");
    let factors: Vec<(T, T)> = x.iter().copied().zip(y.iter().copied()).collect();
    T::contract(&factors)
}

/// The element type of a contraction of elements of type `dtype`; `None` for types that it does not take.
///
/// 16-bit floats are converted to `f32` before a contraction; complex numbers have one for each pair of
/// their parts.
///
/// ```
/// use indim_ops::{DType, contraction_dtype};
///
/// assert_eq!(contraction_dtype(DType::F32), Some(DType::F64));
/// assert_eq!(contraction_dtype(DType::I8), Some(DType::I8));
/// assert_eq!(contraction_dtype(DType::Bool), None);
/// ```
pub fn contraction_dtype(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F32 | DType::F64 => Some(DType::F64),
        dtype if dtype.is_integer() => Some(dtype),
        _ => None,
    }
}

/// Whether a contraction of elements of type `wide` may read elements of type `narrow`, which convert without
/// rounding.
///
/// ```
/// use indim_ops::{DType, contraction_widens};
///
/// assert!(contraction_widens(DType::Bf16, DType::F32));
/// assert!(contraction_widens(DType::U8, DType::I32));
/// assert!(!contraction_widens(DType::I8, DType::U32), "negative numbers");
/// ```
pub fn contraction_widens(narrow: DType, wide: DType) -> bool {
    let is_narrower = narrow.size() < wide.size() && contraction_dtype(wide).is_some();
    let is_unsigned = |dtype: DType| dtype.class() == crate::DTypeClass::Unsigned;
    let are_integers = narrow.is_integer() && wide.is_integer();
    let is_kept = are_integers && (is_unsigned(narrow) || !is_unsigned(wide));
    is_narrower && (narrow.is_float() && wide.is_float() || is_kept)
}
