//! Vectors of 128 bits, by NEON. Holds unsafe code.

use core::arch::aarch64::{
    float32x4_t, float64x2_t, int32x4_t, vaddq_f32, vaddq_f64, vaddq_s32, vbslq_f32, vbslq_f64,
    vceqq_f32, vceqq_f64, vdupq_n_f32, vdupq_n_f64, vdupq_n_s32, vfmaq_f32, vfmaq_f64, vld1q_f32,
    vld1q_f64, vld1q_s32, vmlaq_s32, vst1q_f32, vst1q_f64, vst1q_s32,
};

use crate::vector::Vector;

/// Four `f32`.
#[derive(Clone, Copy)]
pub(crate) struct F32x4(float32x4_t);

/// Two `f64`.
#[derive(Clone, Copy)]
pub(crate) struct F64x2(float64x2_t);

/// Four `i32`.
#[derive(Clone, Copy)]
pub(crate) struct I32x4(int32x4_t);

macro_rules! vector {
    (
        $vector:ident $element:ident $lanes:literal $zero:expr, $load:ident $splat:ident
        $store:ident $fma:ident $add:ident,
        |$value:ident| $finished:expr
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: every aarch64 processor has NEON.
                $vector(unsafe { $splat($zero) })
            }

            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: the caller ensures the elements; the instruction needs no alignment.
                $vector(unsafe { $load(from.cast()) })
            }

            #[inline(always)]
            unsafe fn splat(from: *const u8) -> Self {
                // SAFETY: the caller ensures the element.
                $vector(unsafe { $splat(from.cast::<$element>().read_unaligned()) })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: the caller ensures the elements; the instruction needs no alignment.
                unsafe { $store(to.cast(), self.0) }
            }

            #[inline(always)]
            unsafe fn fma(self, x: Self, y: Self) -> Self {
                // SAFETY: every aarch64 processor has NEON.
                $vector(unsafe { $fma(self.0, x.0, y.0) })
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: every aarch64 processor has NEON.
                $vector(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn finish_block(self) -> Self {
                let $value = self.0;
                // SAFETY: every aarch64 processor has NEON.
                #[allow(unused_unsafe, reason = "integers are finished")]
                $vector(unsafe { $finished })
            }
        }
    };
}

vector! {
    F32x4 f32 4 0.0, vld1q_f32 vdupq_n_f32 vst1q_f32 vfmaq_f32 vaddq_f32,
    |value| {
        let sum = vaddq_f32(value, vdupq_n_f32(0.0));
        vbslq_f32(vceqq_f32(sum, sum), sum, vdupq_n_f32(f32::NAN))
    }
}

vector! {
    F64x2 f64 2 0.0, vld1q_f64 vdupq_n_f64 vst1q_f64 vfmaq_f64 vaddq_f64,
    |value| {
        let sum = vaddq_f64(value, vdupq_n_f64(0.0));
        vbslq_f64(vceqq_f64(sum, sum), sum, vdupq_n_f64(f64::NAN))
    }
}

vector! {
    I32x4 i32 4 0, vld1q_s32 vdupq_n_s32 vst1q_s32 vmlaq_s32 vaddq_s32,
    |value| value
}
