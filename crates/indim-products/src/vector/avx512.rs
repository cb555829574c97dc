//! Vectors of 512 bits, by AVX-512. Holds unsafe code.

use core::arch::x86_64::{
    __m512, __m512d, __m512i, _CMP_UNORD_Q, _mm512_add_epi32, _mm512_add_epi64, _mm512_add_pd,
    _mm512_add_ps, _mm512_cmp_pd_mask, _mm512_cmp_ps_mask, _mm512_fmadd_pd, _mm512_fmadd_ps,
    _mm512_loadu_pd, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mask_mov_pd, _mm512_mask_mov_ps,
    _mm512_mullo_epi32, _mm512_mullo_epi64, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_set1_ps, _mm512_setzero_pd, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_storeu_pd,
    _mm512_storeu_ps, _mm512_storeu_si512,
};

use crate::vector::Vector;

/// Sixteen `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

/// Eight `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F64x8(__m512d);

/// Sixteen `i32`.
#[derive(Clone, Copy)]
pub(crate) struct I32x16(__m512i);

/// Eight `i64`.
#[derive(Clone, Copy)]
pub(crate) struct I64x8(__m512i);

macro_rules! vector {
    (
        $vector:ident $element:ident $lanes:literal $zero:ident $load:ident $splat:ident
        $store:ident $add:ident, |$x:ident, $y:ident, $sum:ident| $fma:expr,
        |$value:ident| $finished:expr
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
                // SAFETY: the caller ensures the element and the instructions.
                $vector(unsafe { $splat(from.cast::<$element>().read_unaligned()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller ensures the elements and the instructions.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn fma(self, x: Self, y: Self) -> Self {
                let ($x, $y, $sum) = (x.0, y.0, self.0);
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $fma })
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller ensures the instructions.
                $vector(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn finished(self) -> Self {
                let $value = self.0;
                // SAFETY: the caller ensures the instructions.
                #[allow(unused_unsafe, reason = "integers are finished")]
                $vector(unsafe { $finished })
            }
        }
    };
}

vector! {
    F32x16 f32 16 _mm512_setzero_ps _mm512_loadu_ps _mm512_set1_ps _mm512_storeu_ps _mm512_add_ps,
    |x, y, addend| _mm512_fmadd_ps(x, y, addend),
    |value| {
        let sum = _mm512_add_ps(value, _mm512_setzero_ps());
        let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(sum, sum);
        _mm512_mask_mov_ps(sum, is_nan, _mm512_set1_ps(f32::NAN))
    }
}

vector! {
    F64x8 f64 8 _mm512_setzero_pd _mm512_loadu_pd _mm512_set1_pd _mm512_storeu_pd _mm512_add_pd,
    |x, y, addend| _mm512_fmadd_pd(x, y, addend),
    |value| {
        let sum = _mm512_add_pd(value, _mm512_setzero_pd());
        let is_nan = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(sum, sum);
        _mm512_mask_mov_pd(sum, is_nan, _mm512_set1_pd(f64::NAN))
    }
}

vector! {
    I32x16 i32 16 _mm512_setzero_si512 _mm512_loadu_si512 _mm512_set1_epi32 _mm512_storeu_si512
    _mm512_add_epi32,
    |x, y, addend| _mm512_add_epi32(addend, _mm512_mullo_epi32(x, y)),
    |value| value
}

vector! {
    I64x8 i64 8 _mm512_setzero_si512 _mm512_loadu_si512 _mm512_set1_epi64 _mm512_storeu_si512
    _mm512_add_epi64,
    |x, y, addend| _mm512_add_epi64(addend, _mm512_mullo_epi64(x, y)),
    |value| value
}
