//! Scans: at each position of an axis, the fold of all elements up to it; and the order of this fold.
//!
//! The axis is cut into runs of 16 elements, blocks of 32 runs (512 elements) and groups of 512 blocks. The
//! result at a position combines four folds, here with `+` for the operation: `base + (c + (r + v))`.
//! - `v`: the elements of the position's run, up to the position;
//! - `r`: the totals of the earlier runs of its block;
//! - `c`: the totals of the earlier blocks of its group;
//! - `base`: the totals of the earlier groups.
//!
//! Each fold begins at the identity and adds one value after another, in the order of positions. The total
//! of a run is its last `v`. A block's total folds the totals of its runs, a group's those of its blocks.
//!
//! Therefore a result depends only on the elements up to its position, and cumulative sums of elements that
//! are not negative never decrease. Sums and products fold floats in `f64` and complex numbers in `c128`,
//! and round each result. For all other scans the order has no effect.

use alloc::vec::Vec;

use crate::meaning::convert::ConvertTo;
use crate::{DType, Element, Fold, ReduceOp, ScalarBackend, bf16, c64, c128, f16, operations};

/// Elements of a run.
pub const RUN_LENGTH: usize = 16;

/// Elements of a block.
pub const SCAN_BLOCK: usize = 32 * RUN_LENGTH;

/// Blocks of a group.
pub const GROUP_BLOCKS: usize = 512;

/// An element type that a scan folds in the accumulator type `A`.
pub trait ScanElement<A: Element>: Element {
    /// The element in the accumulator type; a NaN may have any bits.
    fn widen(self) -> A;

    /// The fold as a result: rounded, with a canonical NaN.
    fn narrow(folded: A) -> Self;
}

impl<T: Element> ScanElement<T> for T {
    #[inline(always)]
    fn widen(self) -> T {
        self
    }

    #[inline(always)]
    fn narrow(folded: T) -> T {
        folded.canonical()
    }
}

macro_rules! converted {
    ($($narrow:ident $wide:ident $widen:path;)*) => {
        $(impl ScanElement<$wide> for $narrow {
            #[inline(always)]
            fn widen(self) -> $wide {
                $widen(self)
            }

            #[inline(always)]
            fn narrow(folded: $wide) -> $narrow {
                ConvertTo::<$narrow>::convert(folded)
            }
        })*
    };
}

// `f64::from` keeps the bits of a NaN, which `narrow` makes canonical; `convert` makes them so itself, which
// takes as long as the scan.
converted! {
    f16 f64 ConvertTo::convert;
    bf16 f64 ConvertTo::convert;
    f32 f64 f64::from;
    c64 c128 ConvertTo::convert;
    f16 f32 ConvertTo::convert;
    bf16 f32 ConvertTo::convert;
}

macro_rules! wrapping {
    ($($signed:ident $unsigned:ident;)*) => {
        $(impl ScanElement<$unsigned> for $signed {
            #[inline(always)]
            fn widen(self) -> $unsigned {
                self as $unsigned
            }

            #[inline(always)]
            fn narrow(folded: $unsigned) -> $signed {
                folded as $signed
            }
        })*
    };
}

wrapping! { i8 u8; i16 u16; i32 u32; i64 u64; }

/// The accumulator type of a scan of elements of type `dtype`; `None` if the scan does not take them.
///
/// ```
/// use indim_ops::{DType, ReduceOp, scan_accumulator};
///
/// assert_eq!(scan_accumulator(ReduceOp::Add, DType::F16), Some(DType::F64));
/// assert_eq!(scan_accumulator(ReduceOp::Max, DType::F16), Some(DType::F16));
/// assert_eq!(scan_accumulator(ReduceOp::Max, DType::C64), None);
/// assert_eq!(scan_accumulator(ReduceOp::ArgMax, DType::F16), None);
/// ```
pub fn scan_accumulator(op: ReduceOp, dtype: DType) -> Option<DType> {
    let dtype = match dtype {
        DType::F16 | DType::Bf16 | DType::F32 if rounds_results(op) => DType::F64,
        DType::C64 if rounds_results(op) => DType::C128,
        dtype => dtype,
    };
    (!op.is_arg_reduction() && op.takes(dtype)).then_some(dtype)
}

/// Whether the operation rounds, so that narrow floats are folded in a wider type.
fn rounds_results(op: ReduceOp) -> bool {
    matches!(op, ReduceOp::Add | ReduceOp::Mul)
}

/// A function that is generic over the types of a scan, for [`visit_scan`].
pub trait ScanVisitor {
    /// The function's result.
    type Output;
    /// Called with the fold `F`, the element type `T` and the accumulator type `A`.
    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) -> Self::Output;
}

/// Calls `visitor` with the types of the scan `op` of elements of type `dtype`; `None` if the scan does not
/// take the type ([`scan_accumulator`]).
///
/// To keep the code small, several element types share a fold. Operations that wrap ignore the sign, so
/// signed integers are folded as unsigned integers; the extremes of narrow floats are found in `f32`, which
/// represents all their values.
pub fn visit_scan<V: ScanVisitor>(op: ReduceOp, dtype: DType, visitor: V) -> Option<V::Output> {
    macro_rules! of_types {
        ($op:ident $($variant:ident $type:ident $fold:ident;)*) => {
            match dtype {
                $(DType::$variant => Some(visitor.scan::<operations::$op, $type, $fold>()),)*
                _ => None,
            }
        };
    }
    macro_rules! integers {
        ($op:ident $($others:tt)*) => {
            of_types!($op I8 i8 u8; I16 i16 u16; I32 i32 u32; I64 i64 u64;
                U8 u8 u8; U16 u16 u16; U32 u32 u32; U64 u64 u64; $($others)*)
        };
    }
    macro_rules! rounded {
        ($op:ident) => {
            integers!($op F16 f16 f64; Bf16 bf16 f64; F32 f32 f64; F64 f64 f64;
                C64 c64 c128; C128 c128 c128;)
        };
    }
    macro_rules! extreme {
        ($op:ident $($others:tt)*) => {
            of_types!($op F16 f16 f32; Bf16 bf16 f32; F32 f32 f32; F64 f64 f64; $($others)*)
        };
    }
    macro_rules! extreme_of_all {
        ($op:ident) => {
            extreme!($op Bool bool bool; I8 i8 i8; I16 i16 i16; I32 i32 i32; I64 i64 i64;
                U8 u8 u8; U16 u16 u16; U32 u32 u32; U64 u64 u64;)
        };
    }
    match op {
        ReduceOp::Add => rounded!(Add),
        ReduceOp::Mul => rounded!(Mul),
        ReduceOp::Max => extreme_of_all!(Max),
        ReduceOp::Min => extreme_of_all!(Min),
        ReduceOp::Fmax => extreme!(Fmax),
        ReduceOp::Fmin => extreme!(Fmin),
        ReduceOp::And => integers!(And Bool bool bool;),
        ReduceOp::Or => integers!(Or Bool bool bool;),
        ReduceOp::Xor => integers!(Xor Bool bool bool;),
        ReduceOp::ArgMax | ReduceOp::ArgMin => None,
    }
}

/// The state of a scan between two blocks: `c` and `base` of the next block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanCarry<A> {
    /// The fold of the earlier blocks of the group: `c`.
    pub blocks: A,
    /// The fold of the earlier groups: `base`.
    pub groups: A,
}

impl<A: Element> ScanCarry<A> {
    /// The state before the first block.
    pub fn first<F: Fold<A>>() -> Self {
        ScanCarry { blocks: identity::<F, A>(), groups: identity::<F, A>() }
    }

    /// The state after block number `block` of the axis, whose fold is `total`.
    #[must_use]
    pub fn after<F: Fold<A>>(self, block: usize, total: A) -> Self {
        let blocks = combine::<F, A>(self.blocks, total);
        match (block + 1).is_multiple_of(GROUP_BLOCKS) {
            false => ScanCarry { blocks, ..self },
            true => ScanCarry {
                blocks: identity::<F, A>(),
                groups: combine::<F, A>(self.groups, blocks),
            },
        }
    }

    /// The result `base + (c + (r + v))`.
    #[inline(always)]
    pub fn result<F: Fold<A>>(self, r: A, v: A) -> A {
        let ScanCarry { blocks: c, groups: base } = self;
        match F::IS_ORDERED {
            true => combine::<F, A>(base, combine::<F, A>(c, combine::<F, A>(r, v))),
            // Of these only the last combination is not the same for all elements of a run.
            false => combine::<F, A>(combine::<F, A>(combine::<F, A>(base, c), r), v),
        }
    }
}

#[inline(always)]
fn identity<F: Fold<A>, A: Element>() -> A {
    F::identity::<ScalarBackend>()
}

#[inline(always)]
fn combine<F: Fold<A>, A: Element>(x: A, y: A) -> A {
    F::combine::<ScalarBackend>(x, y)
}

/// The scan of a list of elements: the definition of every scan. An exclusive scan folds only the elements
/// before each position, so its first result is the identity.
///
/// ```
/// use indim_ops::{operations::{Add, Max}, scan};
///
/// assert_eq!(scan::<Add, f32, f64>(&[1.0, 2.0, 3.0], false), [1.0, 3.0, 6.0]);
/// assert_eq!(scan::<Add, f32, f64>(&[1.0, 2.0, 3.0], true), [0.0, 1.0, 3.0]);
/// assert_eq!(scan::<Add, i8, i8>(&[100, 100, 100], false), [100, -56, 44]);
/// assert_eq!(scan::<Max, i32, i32>(&[3, 9, 4], false), [3, 9, 9]);
/// ```
pub fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(elements: &[T], exclusive: bool) -> Vec<T> {
    let none = identity::<F, A>;
    let (mut v, mut r, mut carry) = (none(), none(), ScanCarry::first::<F>());
    let mut results = Vec::with_capacity(elements.len());
    for (position, &element) in elements.iter().enumerate() {
        let result = |r, v| T::narrow(carry.result::<F>(r, v));
        if exclusive {
            results.push(result(r, v));
        }
        v = combine::<F, A>(v, element.widen());
        if !exclusive {
            results.push(result(r, v));
        }
        let end = position + 1;
        if end.is_multiple_of(RUN_LENGTH) {
            (r, v) = (combine::<F, A>(r, v), none());
        }
        if end.is_multiple_of(SCAN_BLOCK) {
            carry = carry.after::<F>(position / SCAN_BLOCK, r);
            r = none();
        }
    }
    results
}
