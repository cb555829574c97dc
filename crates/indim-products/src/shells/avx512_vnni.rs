//! The shells of AVX-512 with VNNI, for products of bytes. Holds unsafe code.

use crate::initial_sum::InitialSumArguments;
use crate::quads;
use crate::vector::vnni::QuadX16;

super::define_shells! {
    Avx512Vnni, true, #[target_feature(
        enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni"
    )]
}

/// Packs groups of four bytes. If `FLIP`, the highest bit of each byte changes: 128 is added, modulo 256.
///
/// # Safety
/// Like [`PackFn`], for this level.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(crate) unsafe fn pack_quads<const FLIP: bool>(pack: &PackArguments) {
    // SAFETY: the caller has the obligations of `PackFn`. Loads and stores do not depend on signs.
    unsafe { quads::pack::<QuadX16<true>, FLIP>(pack) }
}

/// The initial sums of rows of signed or unsigned bytes.
///
/// # Safety
/// Like [`crate::initial_sum::InitialSumFn`], for this level.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(crate) unsafe fn initial_sums<const IS_SIGNED: bool>(arguments: &InitialSumArguments) {
    // SAFETY: the caller has the obligations of `InitialSumFn`.
    unsafe { quads::initial_sums::<QuadX16<IS_SIGNED>, IS_SIGNED>(arguments) }
}
