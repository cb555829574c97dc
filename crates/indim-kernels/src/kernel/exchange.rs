//! Exchanges of two rows of columns, by the vectors of each level. Holds unsafe code.
//!
//! The compiler would not use a vector for the lanes of a row of few elements: it unrolls the loop over them,
//! and vectorises the loop over the rows, with a test whether each row overlaps each other.

use super::instructions::Baseline;
use super::sort_columns::KeyWord;

/// The exchange of one level.
pub(crate) trait Exchange {
    /// Writes the lesser element of each lane to `low` and the greater one to `high`, which are rows of 64
    /// bytes.
    ///
    /// # Safety
    /// The processor has the level, and the caller is compiled for it.
    unsafe fn exchange<K: KeyWord, const LANES: usize>(low: &mut [K; LANES], high: &mut [K; LANES]);
}

impl Exchange for Baseline {
    #[inline(always)]
    unsafe fn exchange<K: KeyWord, const LANES: usize>(
        low: &mut [K; LANES],
        high: &mut [K; LANES],
    ) {
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = ((*low).min(*high), (*low).max(*high));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::x86_64::*;

    use super::Exchange;
    use crate::kernel::instructions::Avx2;
    use crate::kernel::shells::Avx512;
    use crate::kernel::sort_columns::{COLUMN_BYTES, KeyWord};

    impl Exchange for Avx2 {
        #[inline(always)]
        unsafe fn exchange<K: KeyWord, const LANES: usize>(
            low: &mut [K; LANES],
            high: &mut [K; LANES],
        ) {
            const { assert!(size_of::<[K; LANES]>() == COLUMN_BYTES) };
            let [low, high] = [low, high].map(|row| row.as_mut_ptr().cast::<__m256i>());
            for half in 0..2 {
                // SAFETY:
                // - a row has the bytes of two vectors;
                // - the caller's processor has AVX2.
                unsafe {
                    let (low, high) = (low.add(half), high.add(half));
                    let (x, y) = (_mm256_loadu_si256(low), _mm256_loadu_si256(high));
                    let (lesser, greater) = match size_of::<K>() {
                        1 => (_mm256_min_epi8(x, y), _mm256_max_epi8(x, y)),
                        2 => (_mm256_min_epi16(x, y), _mm256_max_epi16(x, y)),
                        4 => (_mm256_min_epi32(x, y), _mm256_max_epi32(x, y)),
                        _ => {
                            let is_greater = _mm256_cmpgt_epi64(x, y);
                            let lesser = _mm256_blendv_epi8(x, y, is_greater);
                            (lesser, _mm256_blendv_epi8(y, x, is_greater))
                        }
                    };
                    _mm256_storeu_si256(low, lesser);
                    _mm256_storeu_si256(high, greater);
                }
            }
        }
    }

    impl Exchange for Avx512 {
        #[inline(always)]
        unsafe fn exchange<K: KeyWord, const LANES: usize>(
            low: &mut [K; LANES],
            high: &mut [K; LANES],
        ) {
            const { assert!(size_of::<[K; LANES]>() == COLUMN_BYTES) };
            let [low, high] = [low, high].map(|row| row.as_mut_ptr().cast::<__m512i>());
            // SAFETY:
            // - a row has the bytes of a vector;
            // - the caller's processor has AVX-512 (F and BW).
            unsafe {
                let (x, y) = (_mm512_loadu_si512(low), _mm512_loadu_si512(high));
                let (lesser, greater) = match size_of::<K>() {
                    1 => (_mm512_min_epi8(x, y), _mm512_max_epi8(x, y)),
                    2 => (_mm512_min_epi16(x, y), _mm512_max_epi16(x, y)),
                    4 => (_mm512_min_epi32(x, y), _mm512_max_epi32(x, y)),
                    _ => (_mm512_min_epi64(x, y), _mm512_max_epi64(x, y)),
                };
                _mm512_storeu_si512(low, lesser);
                _mm512_storeu_si512(high, greater);
            }
        }
    }
}
