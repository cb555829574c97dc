//! Vectors of 256 bits, by AVX2 and FMA. Holds unsafe code.

use core::arch::x86_64::{
    __m128i, __m256, __m256d, __m256i, _CMP_UNORD_Q, _mm_loadu_ps, _mm_maskload_ps,
    _mm256_add_epi32, _mm256_add_pd, _mm256_add_ps, _mm256_blendv_pd, _mm256_blendv_ps,
    _mm256_broadcast_sd, _mm256_broadcast_ss, _mm256_castps_si256, _mm256_castps128_ps256,
    _mm256_castsi256_si128, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_cmpgt_epi32, _mm256_cmpgt_epi64,
    _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_insertf128_ps, _mm256_loadu_pd, _mm256_loadu_ps,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maskload_epi32, _mm256_maskload_pd,
    _mm256_maskload_ps, _mm256_maskstore_epi32, _mm256_maskstore_pd, _mm256_maskstore_ps,
    _mm256_mullo_epi32, _mm256_permute2f128_pd, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_set1_pd, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setr_epi64x, _mm256_setzero_pd,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_storeu_pd, _mm256_storeu_ps,
    _mm256_storeu_si256, _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd,
    _mm256_unpacklo_ps,
};

use crate::element::FactorPair;
use crate::vector::{INDICES, Vector, compiled_tree};

/// Eight `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

/// Four `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F64x4(__m256d);

/// Eight `i32`.
#[derive(Clone, Copy)]
pub(crate) struct I32x8(__m256i);

/// Eight pairs, or their sums.
#[derive(Clone, Copy)]
pub(crate) struct PairX8(__m256i);

macro_rules! float_vector {
    (
        $vector:ident $element:ident $lanes:literal $zero:ident $load:ident $splat:ident
        $store:ident $fma:ident $add:ident $compare:ident $set:ident $blend:ident
        $load_first:ident $store_first:ident $mask:ident $load_sequences:ident
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $zero() })
            }

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: the caller ensures the elements and the instructions.
                $vector(unsafe { $load(from.cast()) })
            }

            #[inline(always)]
            unsafe fn splat(from: *const u8) -> Self {
                // SAFETY: the caller ensures the element and the instructions. References are aligned, so the
                // element is copied.
                unsafe { $vector($splat(&from.cast::<$element>().read_unaligned())) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn load_first(from: *const u8, count: usize) -> Self {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                $vector(unsafe { $load_first(from.cast(), $mask(count)) })
            }

            #[inline(always)]
            unsafe fn store_first(self, to: *mut u8, count: usize) {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                unsafe { $store_first(to.cast(), $mask(count), self.0) }
            }

            #[inline(always)]
            unsafe fn load_sequences(
                from: *const u8,
                step: isize,
                count: usize,
            ) -> [Self; INDICES] {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { $load_sequences(from, step, count) }.map($vector)
            }

            #[inline(always)]
            unsafe fn fma(self, x: Self, y: Self) -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $fma(x.0, y.0, self.0) })
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn finish_block(self) -> Self {
                // SAFETY: the caller ensures the instructions.
                unsafe {
                    let sum = $add(self.0, $zero());
                    let is_nan = $compare::<_CMP_UNORD_Q>(sum, sum);
                    $vector($blend(sum, $set($element::NAN), is_nan))
                }
            }

            compiled_tree!("avx2,fma");
        }
    };
}

float_vector! {
    F32x8 f32 8 _mm256_setzero_ps _mm256_loadu_ps _mm256_broadcast_ss
    _mm256_storeu_ps _mm256_fmadd_ps _mm256_add_ps _mm256_cmp_ps _mm256_set1_ps _mm256_blendv_ps
    _mm256_maskload_ps _mm256_maskstore_ps mask_of_8 load_sequences_8
}

float_vector! {
    F64x4 f64 4 _mm256_setzero_pd _mm256_loadu_pd _mm256_broadcast_sd
    _mm256_storeu_pd _mm256_fmadd_pd _mm256_add_pd _mm256_cmp_pd _mm256_set1_pd _mm256_blendv_pd
    _mm256_maskload_pd _mm256_maskstore_pd mask_of_4 load_sequences_4
}

macro_rules! integer_vector {
    ($vector:ident $element:ident, |$addend:ident, $x:ident, $y:ident| $fma:expr) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = 8;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { _mm256_setzero_si256() })
            }

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: the caller ensures the elements and the instructions.
                $vector(unsafe { _mm256_loadu_si256(from.cast()) })
            }

            #[inline(always)]
            unsafe fn splat(from: *const u8) -> Self {
                // SAFETY: the caller ensures the element and the instructions.
                $vector(unsafe { _mm256_set1_epi32(from.cast::<i32>().read_unaligned()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { _mm256_storeu_si256(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn load_first(from: *const u8, count: usize) -> Self {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                $vector(unsafe { _mm256_maskload_epi32(from.cast(), mask_of_8(count)) })
            }

            #[inline(always)]
            unsafe fn store_first(self, to: *mut u8, count: usize) {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                unsafe { _mm256_maskstore_epi32(to.cast(), mask_of_8(count), self.0) }
            }

            #[inline(always)]
            unsafe fn load_sequences(
                from: *const u8,
                step: isize,
                count: usize,
            ) -> [Self; INDICES] {
                // SAFETY: the caller ensures the elements and the instructions. Shuffles and loads of floats
                // copy the bits of any 32-bit elements.
                unsafe {
                    load_sequences_8(from, step, count)
                        .map(|vector| $vector(_mm256_castps_si256(vector)))
                }
            }

            #[inline(always)]
            unsafe fn fma(self, x: Self, y: Self) -> Self {
                let ($addend, $x, $y) = (self.0, x.0, y.0);
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $fma })
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { _mm256_add_epi32(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn finish_block(self) -> Self {
                self
            }

            compiled_tree!("avx2");
        }
    };
}

integer_vector! { I32x8 i32, |addend, x, y| _mm256_add_epi32(addend, _mm256_mullo_epi32(x, y)) }

integer_vector! { PairX8 FactorPair, |addend, x, y| _mm256_add_epi32(addend, _mm256_madd_epi16(x, y)) }

/// `Vector::load_sequences` for eight sequences of 32-bit elements.
///
/// # Safety
/// - `from` is valid for reads of `count` elements of each sequence, at most [`INDICES`];
/// - the processor has AVX2.
#[inline(always)]
unsafe fn load_sequences_8(from: *const u8, step: isize, count: usize) -> [__m256; INDICES] {
    // SAFETY: the caller ensures the elements, and the mask excludes others; the caller ensures the
    // instructions.
    unsafe {
        let is_active = mask_of_first_4(count);
        // Sequences 0 and 4, 1 and 5, 2 and 6, 3 and 7.
        let mut halves = [_mm256_setzero_ps(); 4];
        for (sequence, to) in halves.iter_mut().enumerate() {
            let low = from.wrapping_offset(step.wrapping_mul(sequence as isize)).cast();
            let high = from.wrapping_offset(step.wrapping_mul(sequence as isize + 4)).cast();
            let (low, high) = match count {
                INDICES => (_mm_loadu_ps(low), _mm_loadu_ps(high)),
                _ => (_mm_maskload_ps(low, is_active), _mm_maskload_ps(high, is_active)),
            };
            *to = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high);
        }
        let [a, b, c, d] = halves;
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xee>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xee>(ab_high, cd_high),
        ]
    }
}

/// `Vector::load_sequences` for four sequences of `f64`.
///
/// # Safety
/// - `from` is valid for reads of `count` elements of each sequence, at most [`INDICES`];
/// - the processor has AVX2.
#[inline(always)]
unsafe fn load_sequences_4(from: *const u8, step: isize, count: usize) -> [__m256d; INDICES] {
    // SAFETY: the caller ensures the elements, and the mask excludes others; the caller ensures the
    // instructions.
    unsafe {
        let is_active = mask_of_4(count);
        let mut sequences = [_mm256_setzero_pd(); 4];
        for (sequence, to) in sequences.iter_mut().enumerate() {
            let from = from.wrapping_offset(step.wrapping_mul(sequence as isize)).cast();
            *to = match count {
                INDICES => _mm256_loadu_pd(from),
                _ => _mm256_maskload_pd(from, is_active),
            };
        }
        let [a, b, c, d] = sequences;
        let (even_ab, odd_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (even_cd, odd_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(even_ab, even_cd),
            _mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd),
            _mm256_permute2f128_pd::<0x31>(even_ab, even_cd),
            _mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd),
        ]
    }
}

/// The mask of the first `count` lanes of four, of 32 bits each.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn mask_of_first_4(count: usize) -> __m128i {
    // SAFETY: the caller ensures the instructions.
    unsafe { _mm256_castsi256_si128(mask_of_8(count)) }
}

/// The mask of the first `count` lanes of eight.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn mask_of_8(count: usize) -> __m256i {
    // SAFETY: the caller ensures the instructions.
    unsafe {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), lanes)
    }
}

/// The mask of the first `count` lanes of four.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn mask_of_4(count: usize) -> __m256i {
    // SAFETY: the caller ensures the instructions.
    unsafe {
        let lanes = _mm256_setr_epi64x(0, 1, 2, 3);
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), lanes)
    }
}
