//! Shells: the only functions compiled for a level. Each is the body of a kernel, fold, arg-reduction,
//! strided copy or sort with all its callees inlined. Holds unsafe code.
//!
//! Each level has its own file, so that the compiler generates their code in parallel.
//!
//! - `avx2.rs`: the shells of AVX2;
//! - `avx512.rs`: the sorts of AVX-512;
//! - `baseline.rs`: the shells of the level that every processor of the target has.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

use super::arg_reduce::{ArgReduce, ArgReduceFn};
use super::block::{KernelBody, KernelFn};
use super::fold::{FoldFn, FoldRows};
use super::instructions::Instructions;
use super::sort_columns::{SortColumns, SortColumnsFn};
use super::strided::{StridedCopy, StridedCopyFn};

/// The kernels, folds, arg-reductions and strided copies of one level.
pub(crate) trait Shells: Instructions {
    /// The kernel of `B` at the level.
    fn kernel<B: KernelBody>() -> KernelFn;

    /// The fold of `B` at the level.
    fn fold<B: FoldRows>() -> FoldFn;

    /// The arg-reduction of `B` at the level.
    fn arg_reduce<B: ArgReduce>() -> ArgReduceFn;

    /// The copy of `B` at the level.
    fn strided_copy<B: StridedCopy>() -> StridedCopyFn;
}

/// The sorts of one level.
pub(crate) trait SortShells {
    /// The sort of columns of `B` at the level.
    fn sort_columns<B: SortColumns>() -> SortColumnsFn;
}

/// The shells of a level, with the attribute that enables its instructions.
macro_rules! define_shells {
    ($level:ident $(#[$enable:meta])?) => {
        use crate::kernel::block::{KernelBody, KernelFn};
        use crate::kernel::fold::{FoldFn, FoldRows, FoldedRows};
        use crate::kernel::instructions::$level;
        use crate::kernel::arg_reduce::{ColumnExtremes, ArgReduce, ArgReduceFn, ArgReduceRows};
        use crate::kernel::sort_columns::{ColumnOrder, ColumnRow, SortColumns, SortColumnsFn};
        use crate::kernel::strided::{StridedCopy, StridedCopyFn};

        impl super::Shells for $level {
            fn kernel<B: KernelBody>() -> KernelFn {
                kernel::<B>
            }

            fn fold<B: FoldRows>() -> FoldFn {
                fold::<B>
            }

            fn arg_reduce<B: ArgReduce>() -> ArgReduceFn {
                arg_reduce::<B>
            }

            fn strided_copy<B: StridedCopy>() -> StridedCopyFn {
                strided_copy::<B>
            }
        }

        impl super::SortShells for $level {
            fn sort_columns<B: SortColumns>() -> SortColumnsFn {
                sort_columns::<B>
            }
        }

        /// # Safety
        /// Like [`KernelFn`], for this level.
        $(#[$enable])?
        unsafe fn kernel<B: KernelBody>(destination: *mut u8, sources: [*const u8; 3], count: usize) {
            // SAFETY: the caller has the obligations of `KernelFn`, which are those of `B::run`.
            unsafe { B::run::<$level>(destination, sources, count) }
        }

        /// # Safety
        /// Like [`FoldFn`], for this level.
        $(#[$enable])?
        unsafe fn fold<B: FoldRows>(accumulators: *mut u8, source: *const u8, rows: FoldedRows) {
            // SAFETY: the caller has the obligations of `FoldFn`, which are those of `B::run`.
            unsafe { B::run(accumulators, source, rows) }
        }

        /// # Safety
        /// Like [`ArgReduceFn`], for this level.
        $(#[$enable])?
        unsafe fn arg_reduce<B: ArgReduce>(found: ColumnExtremes, source: *const u8, rows: ArgReduceRows) {
            // SAFETY: the caller has the obligations of `ArgReduceFn`, which are those of `B::run`.
            unsafe { B::run(found, source, rows) }
        }

        /// # Safety
        /// Like [`StridedCopyFn`], for this level.
        $(#[$enable])?
        unsafe fn strided_copy<B: StridedCopy>(
            destination: *mut u8,
            source: *const u8,
            count: usize,
        ) {
            // SAFETY: the caller has the obligations of `StridedCopyFn`, which are those of `B::run`.
            unsafe { B::run(destination, source, count) }
        }

        /// # Safety
        /// Like [`SortColumnsFn`], for this level.
        $(#[$enable])?
        unsafe fn sort_columns<B: SortColumns>(rows: &mut [ColumnRow], order: &ColumnOrder) -> bool {
            // SAFETY: the caller has the obligations of `SortColumnsFn`, and this function is compiled for
            // the level.
            unsafe { B::run::<$level>(rows, order) }
        }
    };
}

use define_shells;
