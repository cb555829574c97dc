//! Vectors of 512 bits, by AVX-512 (F, BW, DQ, VL). Holds unsafe code.

use core::arch::x86_64::{
    __m512, __m512d, __mmask8, __mmask16, _CMP_UNORD_Q, _mm512_add_pd, _mm512_add_ps,
    _mm512_cmp_pd_mask, _mm512_cmp_ps_mask, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_loadu_pd,
    _mm512_loadu_ps, _mm512_mask_mov_pd, _mm512_mask_mov_ps, _mm512_mask_storeu_pd,
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps, _mm512_permutex2var_ps,
    _mm512_set1_pd, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_pd, _mm512_setzero_ps,
    _mm512_storeu_pd, _mm512_storeu_ps,
};

use crate::vector::{Vector, compiled_tree, load_elements};

/// Sixteen `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

/// Eight `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F64x8(__m512d);

/// The mask of the first `count` lanes, at most 16.
#[inline(always)]
fn first_lanes(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

macro_rules! vector {
    (
        $vector:ident $element:ident $lanes:literal $zero:ident $load:ident $splat:ident
        $store:ident
        $load_first:ident $store_first:ident $mask:ident,
        |$addend:ident, $x:ident, $y:ident| $fma:expr, $add:ident,
        |$value:ident| $finished:expr, |$from:ident, $step:ident, $count:ident| $strided:expr
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
            unsafe fn load_first(from: *const u8, count: usize) -> Self {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                $vector(unsafe { $load_first(first_lanes(count) as $mask, from.cast()) })
            }

            #[inline(always)]
            unsafe fn load_strided(from: *const u8, step: isize) -> Self {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { Self::load_strided_first(from, step, $lanes) }
            }

            #[inline(always)]
            unsafe fn load_strided_first($from: *const u8, $step: isize, $count: usize) -> Self {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { $strided }
            }

            #[inline(always)]
            unsafe fn splat(from: *const u8) -> Self {
                // SAFETY: the caller ensures the element and the instructions.
                $vector(unsafe { $splat(from.cast::<$element>().read_unaligned()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn store_first(self, to: *mut u8, count: usize) {
                // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
                unsafe { $store_first(to.cast(), first_lanes(count) as $mask, self.0) }
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
                $vector(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn finish_block(self) -> Self {
                let $value = self.0;
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $finished })
            }

            compiled_tree!("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,fma");
        }
    };
}

vector! {
    F32x16 f32 16 _mm512_setzero_ps _mm512_loadu_ps _mm512_set1_ps _mm512_storeu_ps
    _mm512_maskz_loadu_ps _mm512_mask_storeu_ps __mmask16,
    |addend, x, y| _mm512_fmadd_ps(x, y, addend), _mm512_add_ps,
    |value| {
        let sum = _mm512_add_ps(value, _mm512_setzero_ps());
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(sum, sum);
        _mm512_mask_mov_ps(sum, is_nan, _mm512_set1_ps(f32::NAN))
    },
    |from, step, count| match step {
        8 => load_even(from, count),
        _ => load_elements(from, step, count),
    }
}

vector! {
    F64x8 f64 8 _mm512_setzero_pd _mm512_loadu_pd _mm512_set1_pd _mm512_storeu_pd
    _mm512_maskz_loadu_pd _mm512_mask_storeu_pd __mmask8,
    |addend, x, y| _mm512_fmadd_pd(x, y, addend), _mm512_add_pd,
    |value| {
        let sum = _mm512_add_pd(value, _mm512_setzero_pd());
        let is_nan = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(sum, sum);
        _mm512_mask_mov_pd(sum, is_nan, _mm512_set1_pd(f64::NAN))
    },
    |from, step, count| load_elements(from, step, count)
}

/// The first `count` of sixteen elements, every second one from `from` on; the others are zero.
///
/// # Safety
/// - `from` is valid for reads of each of the elements; `count` is at most 16;
/// - the processor has the instructions.
#[inline(always)]
unsafe fn load_even(from: *const u8, count: usize) -> F32x16 {
    const EVEN: u32 = 0x5555_5555;
    let mask = EVEN & ((1_u64 << (2 * count)) - 1) as u32;
    // SAFETY: the caller ensures the elements; the masks exclude those between them and after them.
    unsafe {
        let low = _mm512_maskz_loadu_ps(mask as __mmask16, from.cast());
        let high = from.cast::<f32>().wrapping_add(16);
        let high = _mm512_maskz_loadu_ps((mask >> 16) as __mmask16, high);
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        F32x16(_mm512_permutex2var_ps(low, even, high))
    }
}
