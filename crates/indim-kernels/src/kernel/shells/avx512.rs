//! The sorts of AVX-512, which has minima and maxima of 64-bit integers. Holds unsafe code.

use crate::kernel::sort_columns::{ColumnOrder, ColumnRow, SortColumns, SortColumnsFn};

/// AVX-512, for sorts only: other kernels run those of AVX2.
pub(crate) struct Avx512;

impl super::SortShells for Avx512 {
    fn sort_columns<B: SortColumns>() -> SortColumnsFn {
        sort_columns::<B>
    }
}

/// # Safety
/// Like [`SortColumnsFn`], for this level.
#[target_feature(
    enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
)]
unsafe fn sort_columns<B: SortColumns>(rows: &mut [ColumnRow], order: &ColumnOrder) -> bool {
    // SAFETY: the caller has the obligations of `SortColumnsFn`, and this function is compiled for the level.
    unsafe { B::run::<Avx512>(rows, order) }
}
