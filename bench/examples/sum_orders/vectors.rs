//! Vectors of a level, by intrinsics: left to the compiler, some orders would keep their lanes in memory.
//! Holds unsafe code.

use core::arch::x86_64::*;

/// The vectors of a level. Its other functions are called only within [`Vectors::run`].
pub(crate) trait Vectors {
    /// Its name on the command line.
    const NAME: &'static str;
    /// A vector of `f32`.
    type Narrow: Copy;
    /// A vector of half as many `f64`.
    type Wide: Copy;
    /// The elements of a `Narrow`.
    const ELEMENTS: usize;

    /// Whether the processor has the level.
    fn is_available() -> bool;
    /// Does `work`, compiled for the level.
    ///
    /// # Panics
    /// If the processor lacks the level.
    fn run(work: impl FnOnce());
    /// The first elements.
    fn load(x: &[f32]) -> Self::Narrow;
    /// The first elements, widened.
    fn load_wide(x: &[f32]) -> [Self::Wide; 2];
    /// The lower and the upper elements, widened.
    fn widen(x: Self::Narrow) -> [Self::Wide; 2];
    fn zero() -> Self::Narrow;
    fn add(x: Self::Narrow, y: Self::Narrow) -> Self::Narrow;
    fn sub(x: Self::Narrow, y: Self::Narrow) -> Self::Narrow;
    fn mul(x: Self::Narrow, y: Self::Narrow) -> Self::Narrow;
    fn zero_wide() -> Self::Wide;
    fn add_wide(x: Self::Wide, y: Self::Wide) -> Self::Wide;
    /// Folds the elements by halves down to four, and adds these from the left.
    fn sum(x: Self::Wide) -> f64;
}

/// Adds four elements from the left.
///
/// # Safety
/// The processor has AVX.
#[inline(always)]
unsafe fn from_left(x: __m256d) -> f64 {
    // SAFETY: the caller's promise.
    unsafe {
        let (lower, upper) = (_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        let second = _mm_unpackhi_pd(lower, lower);
        let fourth = _mm_unpackhi_pd(upper, upper);
        _mm_cvtsd_f64(_mm_add_sd(_mm_add_sd(_mm_add_sd(lower, second), upper), fourth))
    }
}

macro_rules! vectors {
    (
        $level:ident $name:literal, $features:literal, [$($feature:tt)*];
        $narrow:ident $wide:ident $elements:literal;
        $($function:ident |$($x:ident: $type:ty),*| -> $result:ty { $body:expr })*
    ) => {
        #[doc = concat!("The level ", $name, ".")]
        pub(crate) struct $level;

        impl Vectors for $level {
            const NAME: &'static str = $name;
            type Narrow = $narrow;
            type Wide = $wide;
            const ELEMENTS: usize = $elements;

            fn is_available() -> bool {
                $(is_x86_feature_detected!($feature))&&*
            }

            fn run(work: impl FnOnce()) {
                #[target_feature(enable = $features)]
                fn compiled(work: impl FnOnce()) {
                    work();
                }
                assert!(Self::is_available(), "the processor lacks {}", $name);
                // SAFETY: the processor has the level.
                unsafe { compiled(work) }
            }

            $(
                #[inline(always)]
                fn $function($($x: $type),*) -> $result {
                    // SAFETY: `run` has checked that the processor has the level; slices are as long as
                    // what is read of them, or slicing panics.
                    unsafe { $body }
                }
            )*
        }
    };
}

vectors! {
    Avx512 "avx512", "avx512f,avx512dq,avx512bw,avx512vl,fma",
    ["avx512f" "avx512dq" "avx512bw" "avx512vl" "fma"];
    __m512 __m512d 16;
    load |x: &[f32]| -> __m512 { _mm512_loadu_ps(x[..16].as_ptr()) }
    load_wide |x: &[f32]| -> [__m512d; 2] {
        [0, 8].map(|start| _mm512_cvtps_pd(_mm256_loadu_ps(x[start..start + 8].as_ptr())))
    }
    widen |x: __m512| -> [__m512d; 2] {
        [_mm512_castps512_ps256(x), _mm512_extractf32x8_ps::<1>(x)].map(|half| _mm512_cvtps_pd(half))
    }
    zero | | -> __m512 { _mm512_setzero_ps() }
    add |x: __m512, y: __m512| -> __m512 { _mm512_add_ps(x, y) }
    sub |x: __m512, y: __m512| -> __m512 { _mm512_sub_ps(x, y) }
    mul |x: __m512, y: __m512| -> __m512 { _mm512_mul_ps(x, y) }
    zero_wide | | -> __m512d { _mm512_setzero_pd() }
    add_wide |x: __m512d, y: __m512d| -> __m512d { _mm512_add_pd(x, y) }
    sum |x: __m512d| -> f64 {
        from_left(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x)))
    }
}

vectors! {
    Avx2 "avx2", "avx2,fma", ["avx2" "fma"];
    __m256 __m256d 8;
    load |x: &[f32]| -> __m256 { _mm256_loadu_ps(x[..8].as_ptr()) }
    load_wide |x: &[f32]| -> [__m256d; 2] {
        [0, 4].map(|start| _mm256_cvtps_pd(_mm_loadu_ps(x[start..start + 4].as_ptr())))
    }
    widen |x: __m256| -> [__m256d; 2] {
        [_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)].map(|half| _mm256_cvtps_pd(half))
    }
    zero | | -> __m256 { _mm256_setzero_ps() }
    add |x: __m256, y: __m256| -> __m256 { _mm256_add_ps(x, y) }
    sub |x: __m256, y: __m256| -> __m256 { _mm256_sub_ps(x, y) }
    mul |x: __m256, y: __m256| -> __m256 { _mm256_mul_ps(x, y) }
    zero_wide | | -> __m256d { _mm256_setzero_pd() }
    add_wide |x: __m256d, y: __m256d| -> __m256d { _mm256_add_pd(x, y) }
    sum |x: __m256d| -> f64 { from_left(x) }
}
