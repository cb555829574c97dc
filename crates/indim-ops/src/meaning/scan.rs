//! Scans: the folds of all elements before a position, and their order.
//!
//! Along the axis the elements are taken in runs of 16, the runs in blocks of 32 runs (512 elements), the
//! blocks in groups of 512 blocks. `v` folds the elements within the run, from its first one on; `r` the
//! runs before it in its block; `c` the blocks before it in its group; `base` the groups before it. Each
//! begins at the identity and folds one value after another; a run's value is its last `v`, a block's its
//! last `r`, a group's its last `c`. The result is `base + (c + (r + v))`, here with `+` for the operation.
//!
//! So a result depends only on the elements up to its position, and results of sums of elements that are not
//! negative never fall. Sums and products of floats are folded in `f64`, those of complex numbers in `c128`,
//! and rounded at each result. For all other scans the order has no effect.

use alloc::vec::Vec;

use crate::meaning::convert::ConvertTo;
use crate::reduction::FoldVisitor;
use crate::{DType, Element, Fold, ReduceOp, ScalarBackend, bf16, c64, c128, f16, operations};

/// Elements of a run.
pub const RUN: usize = 16;

/// Elements of a block.
pub const BLOCK: usize = 32 * RUN;

/// Blocks of a group.
pub const GROUP_BLOCKS: usize = 512;

/// An element type that a scan folds in the type `A`.
pub trait ScanElement<A: Element>: Element {
    /// The element in the type of the fold.
    fn widen(self) -> A;

    /// The result, rounded; a NaN is canonical.
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

macro_rules! rounded {
    ($($narrow:ident $wide:ident;)*) => {
        $(impl ScanElement<$wide> for $narrow {
            #[inline(always)]
            fn widen(self) -> $wide {
                ConvertTo::<$wide>::convert(self)
            }

            #[inline(always)]
            fn narrow(folded: $wide) -> $narrow {
                ConvertTo::<$narrow>::convert(folded)
            }
        })*
    };
}

rounded! { f16 f64; bf16 f64; f32 f64; c64 c128; }

/// The type in which a scan folds elements of type `dtype`; `None` if it does not take them.
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
        DType::F16 | DType::Bf16 | DType::F32 if is_rounded(op) => DType::F64,
        DType::C64 if is_rounded(op) => DType::C128,
        dtype => dtype,
    };
    (!op.is_arg_reduction() && op.takes(dtype)).then_some(dtype)
}

/// Whether the operation rounds, so that narrow floats are folded in a wider type.
fn is_rounded(op: ReduceOp) -> bool {
    matches!(op, ReduceOp::Add | ReduceOp::Mul)
}

/// A visitor of the scan of one element type; see [`visit_scan`].
pub trait ScanVisitor {
    /// Its result.
    type Output;
    /// Called for a scan of elements of type `T`, which are folded in the type `A`.
    fn scan<F: Fold<A>, T: ScanElement<A>, A: Element>(self) -> Self::Output;
}

/// Calls `visitor` with the scan `op` of elements of type `dtype`; `None` if the scan does not take the type
/// ([`scan_accumulator`]).
pub fn visit_scan<V: ScanVisitor>(op: ReduceOp, dtype: DType, visitor: V) -> Option<V::Output> {
    macro_rules! rounded {
        ($($variant:ident $narrow:ident $wide:ident;)*) => {
            match (op, dtype) {
                $(
                    (ReduceOp::Add, DType::$variant) => {
                        Some(visitor.scan::<operations::Add, $narrow, $wide>())
                    }
                    (ReduceOp::Mul, DType::$variant) => {
                        Some(visitor.scan::<operations::Mul, $narrow, $wide>())
                    }
                )*
                _ => op.visit(dtype, InOwnType(visitor)),
            }
        };
    }
    rounded! { F16 f16 f64; Bf16 bf16 f64; F32 f32 f64; C64 c64 c128; }
}

/// A scan that folds elements in their own type.
struct InOwnType<V>(V);

impl<V: ScanVisitor> FoldVisitor for InOwnType<V> {
    type Output = V::Output;

    fn fold<F: Fold<T>, T: Element>(self) -> V::Output {
        self.0.scan::<F, T, T>()
    }
}

/// The state of a scan between two blocks: the fold of the blocks before in the group, and that of the groups
/// before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScanCarry<A> {
    /// The fold of the blocks of the group so far: `c`.
    pub blocks: A,
    /// The fold of the groups so far.
    pub groups: A,
}

impl<A: Element> ScanCarry<A> {
    /// The state before the first block.
    pub fn first<F: Fold<A>>() -> Self {
        ScanCarry { blocks: identity::<F, A>(), groups: identity::<F, A>() }
    }

    /// The state after block number `block`, with the fold `total` of its elements.
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

    /// The result for the fold `within` of the elements of the block: `base + (c + (r + v))`.
    #[inline(always)]
    pub fn result<F: Fold<A>>(self, within: A) -> A {
        combine::<F, A>(self.groups, combine::<F, A>(self.blocks, within))
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

/// The scan `F` of these elements along an axis: the definition of every scan. An exclusive scan has the
/// identity first, and the result of all elements before at each other position.
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
        let result = |r, v| T::narrow(carry.result::<F>(combine::<F, A>(r, v)));
        if exclusive {
            results.push(result(r, v));
        }
        v = combine::<F, A>(v, element.widen());
        if !exclusive {
            results.push(result(r, v));
        }
        let end = position + 1;
        if end.is_multiple_of(RUN) {
            (r, v) = (combine::<F, A>(r, v), none());
        }
        if end.is_multiple_of(BLOCK) {
            carry = carry.after::<F>(position / BLOCK, r);
            r = none();
        }
    }
    results
}
