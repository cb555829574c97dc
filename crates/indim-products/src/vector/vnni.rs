//! Vectors of 512 bits of groups of four bytes, by AVX-512 (F, BW, VL) and VNNI. Holds unsafe code.

use core::arch::x86_64::{
    __m512i, __mmask16, _mm_loadu_si128, _mm_maskz_loadu_epi8, _mm512_add_epi32,
    _mm512_castsi128_si512, _mm512_cvtepu8_epi32, _mm512_dpbusd_epi32, _mm512_inserti32x4,
    _mm512_loadu_si512, _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32, _mm512_or_si512,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_slli_epi32, _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use crate::element::FactorQuad;
use crate::vector::Vector;

/// A vector of groups of bytes.
pub(crate) trait QuadVector: Vector<Element = FactorQuad> {
    /// The groups of `columns` neighbouring columns: the bytes of a group are `stride` bytes apart in
    /// memory. Only the first `rows` bytes of each group are read; all other bytes are zero.
    ///
    /// # Safety
    /// - `from` is valid for reads of `columns` bytes at each of `rows` strides; there are at most 4 rows and
    ///   `LANES` columns;
    /// - the processor has the instructions of the vector.
    unsafe fn load_interleaved(from: *const u8, stride: isize, rows: usize, columns: usize)
    -> Self;

    /// The transposition of `LANES` columns of four contiguous groups: vector `v` has group `v` of each
    /// column.
    ///
    /// # Safety
    /// - `from` is valid for reads of 16 bytes at each of `LANES` steps;
    /// - the processor has the instructions of the vector.
    unsafe fn load_transposed(from: *const u8, step: isize) -> [Self; 4];

    /// The vector with the highest bit of each byte changed.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn flip_high_bits(self) -> Self;

    /// Adds the four bytes of each group to the sum in its lane. The bytes are elements of the product's
    /// operand `x`, signed if that operand is.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn add_factors(self, x: Self) -> Self;

    /// The total of all sums.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn reduce_add(self) -> i32;
}

/// Sixteen groups, or their sums. One of the factors `x` and `y` of `fma` is signed, the other is unsigned.
#[derive(Clone, Copy)]
pub(crate) struct QuadX16<const IS_X_SIGNED: bool>(__m512i);

/// The mask of the first `count` lanes, at most 16.
#[inline(always)]
fn first_lanes(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

impl<const IS_X_SIGNED: bool> Vector for QuadX16<IS_X_SIGNED> {
    type Element = FactorQuad;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller ensures the instructions.
        QuadX16(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller ensures the elements and the instructions.
        QuadX16(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_first(from: *const u8, count: usize) -> Self {
        // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
        QuadX16(unsafe { _mm512_maskz_loadu_epi32(first_lanes(count), from.cast()) })
    }

    #[inline(always)]
    unsafe fn splat(from: *const u8) -> Self {
        // SAFETY: the caller ensures the element and the instructions.
        QuadX16(unsafe { _mm512_set1_epi32(from.cast::<i32>().read_unaligned()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller ensures the elements and the instructions.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, count: usize) {
        // SAFETY: the caller ensures the elements and the instructions; the mask excludes others.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), first_lanes(count), self.0) }
    }

    #[inline(always)]
    unsafe fn fma(self, x: Self, y: Self) -> Self {
        let (unsigned, signed) = if IS_X_SIGNED { (y.0, x.0) } else { (x.0, y.0) };
        // SAFETY: the caller ensures the instructions.
        QuadX16(unsafe { _mm512_dpbusd_epi32(self.0, unsigned, signed) })
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller ensures the instructions.
        QuadX16(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn finish_block(self) -> Self {
        self
    }
}

impl<const IS_X_SIGNED: bool> QuadVector for QuadX16<IS_X_SIGNED> {
    #[inline(always)]
    unsafe fn load_interleaved(
        from: *const u8,
        stride: isize,
        rows: usize,
        columns: usize,
    ) -> Self {
        // SAFETY: the caller ensures the bytes and the instructions; masks exclude others.
        unsafe {
            let row = |row: usize| {
                let mask = if row < rows { first_lanes(columns) } else { 0 };
                let from = from.wrapping_offset(stride.wrapping_mul(row as isize));
                _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, from.cast()))
            };
            let low = _mm512_or_si512(row(0), _mm512_slli_epi32::<8>(row(1)));
            let high = _mm512_or_si512(row(2), _mm512_slli_epi32::<8>(row(3)));
            QuadX16(_mm512_or_si512(low, _mm512_slli_epi32::<16>(high)))
        }
    }

    #[inline(always)]
    unsafe fn load_transposed(from: *const u8, step: isize) -> [Self; 4] {
        // SAFETY: the caller ensures the bytes and the instructions.
        unsafe {
            // Lane `l`, of 128 bits, of the loaded vector `v` is column `4 l + v`.
            let column = |column: usize| {
                let from = from.wrapping_offset(step.wrapping_mul(column as isize));
                _mm_loadu_si128(from.cast())
            };
            let lanes = |first: usize| {
                let lanes = _mm512_castsi128_si512(column(first));
                let lanes = _mm512_inserti32x4::<1>(lanes, column(first + 4));
                let lanes = _mm512_inserti32x4::<2>(lanes, column(first + 8));
                _mm512_inserti32x4::<3>(lanes, column(first + 12))
            };
            let [a, b, c, d] = [lanes(0), lanes(1), lanes(2), lanes(3)];
            let [low_ab, low_cd] = [_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d)];
            let [high_ab, high_cd] = [_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d)];
            [
                QuadX16(_mm512_unpacklo_epi64(low_ab, low_cd)),
                QuadX16(_mm512_unpackhi_epi64(low_ab, low_cd)),
                QuadX16(_mm512_unpacklo_epi64(high_ab, high_cd)),
                QuadX16(_mm512_unpackhi_epi64(high_ab, high_cd)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn flip_high_bits(self) -> Self {
        // SAFETY: the caller ensures the instructions.
        QuadX16(unsafe { _mm512_xor_si512(self.0, _mm512_set1_epi8(i8::MIN)) })
    }

    #[inline(always)]
    unsafe fn add_factors(self, x: Self) -> Self {
        // SAFETY: the caller ensures the instructions.
        unsafe { self.fma(x, QuadX16(_mm512_set1_epi8(1))) }
    }

    #[inline(always)]
    unsafe fn reduce_add(self) -> i32 {
        // SAFETY: the caller ensures the instructions.
        unsafe { _mm512_reduce_add_epi32(self.0) }
    }
}
