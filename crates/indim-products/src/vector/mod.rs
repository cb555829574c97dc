//! Vectors of elements, for each instruction set. Holds unsafe code.
//!
//! - `portable.rs`: arrays of elements, for every machine;
//! - `avx2.rs`: 256 bits, AVX2 and FMA;
//! - `avx512.rs`: 512 bits, AVX-512;
//! - `vnni.rs`: 512 bits, AVX-512 VNNI;
//! - `amx.rs`: register tiles of bytes by AMX, without vectors;
//! - `neon.rs`: 128 bits, NEON.

#[cfg(target_arch = "x86_64")]
pub(crate) mod amx;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod vnni;

use crate::element::ProductElement;
use crate::tile::{self, TileResults};

/// A vector of elements in a register. All functions but `push_block` and `finish_tree` are inlined into a
/// function that is compiled for the instructions.
pub(crate) trait Vector: Copy {
    /// The element type.
    type Element: ProductElement;

    /// The number of elements.
    const LANES: usize;

    /// All elements zero.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn zero() -> Self;

    /// Reads `LANES` elements, at any alignment.
    ///
    /// # Safety
    /// - `from` is valid for reads of `LANES` elements;
    /// - the processor has the instructions of the vector.
    unsafe fn load(from: *const u8) -> Self;

    /// Reads the first `count` elements, at any alignment; the others are zero.
    ///
    /// # Safety
    /// - `from` is valid for reads of `count` elements, at most `LANES`;
    /// - the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn load_first(from: *const u8, count: usize) -> Self {
        // SAFETY: the caller ensures the elements and the instructions.
        unsafe { load_elements(from, size_of::<Self::Element>() as isize, count) }
    }

    /// Reads `LANES` elements that are `step` bytes apart, at any alignment.
    ///
    /// # Safety
    /// - `from` is valid for reads of each element;
    /// - the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn load_strided(from: *const u8, step: isize) -> Self {
        // SAFETY: the caller ensures the elements and the instructions.
        unsafe { load_elements(from, step, Self::LANES) }
    }

    /// Reads the first `count` elements, which are `step` bytes apart, at any alignment; the others are zero.
    ///
    /// # Safety
    /// - `from` is valid for reads of each of `count` elements, at most `LANES`;
    /// - the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn load_strided_first(from: *const u8, step: isize, count: usize) -> Self {
        // SAFETY: the caller ensures the elements and the instructions.
        unsafe { load_elements(from, step, count) }
    }

    /// Reads `count` neighbouring elements of each of `LANES` sequences, which are `step` bytes apart, at any
    /// alignment. Vector `i` has element `i` of each sequence; vectors from `count` on are zero.
    ///
    /// # Safety
    /// - `from` is valid for reads of `count` elements of each sequence, at most [`INDICES`];
    /// - the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn load_sequences(from: *const u8, step: isize, count: usize) -> [Self; INDICES] {
        // SAFETY: the caller ensures the elements and the instructions.
        unsafe {
            let mut vectors = [Self::zero(); INDICES];
            for (index, vector) in vectors.iter_mut().enumerate().take(count) {
                let from = from.wrapping_add(index * size_of::<Self::Element>());
                *vector = Self::load_strided(from, step);
            }
            vectors
        }
    }

    /// One element in every lane, read at any alignment.
    ///
    /// # Safety
    /// - `from` is valid for reads of one element;
    /// - the processor has the instructions of the vector.
    unsafe fn splat(from: *const u8) -> Self;

    /// Writes `LANES` elements, at any alignment.
    ///
    /// # Safety
    /// - `to` is valid for writes of `LANES` elements;
    /// - the processor has the instructions of the vector.
    unsafe fn store(self, to: *mut u8);

    /// Writes the first `count` elements, at any alignment.
    ///
    /// # Safety
    /// - `to` is valid for writes of `count` elements, at most `LANES`;
    /// - the processor has the instructions of the vector.
    #[inline(always)]
    unsafe fn store_first(self, to: *mut u8, count: usize) {
        let mut elements = [Self::Element::ZERO; MAX_LANES];
        // SAFETY: the array has room for `LANES` elements; the caller ensures the memory at `to` and the
        // instructions.
        unsafe {
            self.store(elements.as_mut_ptr().cast());
            to.copy_from_nonoverlapping(
                elements.as_ptr().cast(),
                count * size_of::<Self::Element>(),
            );
        }
    }

    /// `x * y + self` with one rounding; wrapping for integers. For groups, the products of all factors
    /// are added to `self`.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn fma(self, x: Self, y: Self) -> Self;

    /// The sum.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn add(self, other: Self) -> Self;

    /// The finished values of a single block: +0 added, NaN canonical.
    ///
    /// # Safety
    /// The processor has the instructions of the vector.
    unsafe fn finish_block(self) -> Self;

    /// [`tile::push_block`] compiled for the instructions of the vector; this default is compiled for the
    /// baseline level.
    ///
    /// # Safety
    /// - Like [`tile::push_block`];
    /// - the processor has the instructions of the vector.
    #[inline(never)]
    unsafe fn push_block(
        nodes: *mut <Self::Element as ProductElement>::Wide,
        index: usize,
        block: *const Self::Element,
        size: usize,
    ) {
        // SAFETY: the caller has the obligations of `tile::push_block`.
        unsafe { tile::push_block(nodes, index, block, size) }
    }

    /// [`tile::finish_tree`] compiled for the instructions of the vector; this default is compiled for
    /// the baseline level.
    ///
    /// # Safety
    /// - Like [`tile::finish_tree`];
    /// - the processor has the instructions of the vector.
    #[inline(never)]
    unsafe fn finish_tree(
        results: &TileResults,
        length: usize,
        nodes: *mut <Self::Element as ProductElement>::Wide,
        shape: [usize; 2],
        columns: usize,
    ) {
        // SAFETY: the caller has the obligations of `tile::finish_tree`.
        unsafe { tile::finish_tree::<Self::Element>(results, length, nodes, shape, columns) }
    }
}

/// Asks the processor to load a cache line, at any address.
#[inline(always)]
pub(crate) fn prefetch(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect on memory and cannot fault; every processor of this architecture has
    // the instruction.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Number of indices that are read together.
pub(crate) const INDICES: usize = 4;

/// Maximum number of elements of a vector.
pub(crate) const MAX_LANES: usize = 16;

/// The first `count` lanes of a vector, read one by one `step` bytes apart; the others are zero.
///
/// # Safety
/// - `from` is valid for reads of each element; `count` is at most `LANES`;
/// - the processor has the instructions of the vector.
#[inline(always)]
pub(crate) unsafe fn load_elements<V: Vector>(from: *const u8, step: isize, count: usize) -> V {
    let mut elements = [V::Element::ZERO; MAX_LANES];
    for (index, element) in elements.iter_mut().take(count.min(V::LANES)).enumerate() {
        let from = from.wrapping_offset((index as isize).wrapping_mul(step));
        // SAFETY: the caller ensures the elements.
        *element = unsafe { from.cast::<V::Element>().read_unaligned() };
    }
    // SAFETY: the array has at least `LANES` elements; the caller ensures the instructions.
    unsafe { V::load(elements.as_ptr().cast()) }
}

/// The functions of a vector that are not inlined into others, compiled for its instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_tree {
    ($features:literal) => {
        unsafe fn push_block(
            nodes: *mut <Self::Element as crate::element::ProductElement>::Wide,
            index: usize,
            block: *const Self::Element,
            size: usize,
        ) {
            /// # Safety
            /// Like `tile::push_block`; the processor has the instructions.
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn compiled<E: crate::element::ProductElement>(
                nodes: *mut E::Wide,
                index: usize,
                block: *const E,
                size: usize,
            ) {
                // SAFETY: the caller has the obligations of `tile::push_block`.
                unsafe { crate::tile::push_block(nodes, index, block, size) }
            }
            // SAFETY: the caller has the obligations of `tile::push_block`.
            unsafe { compiled(nodes, index, block, size) }
        }

        unsafe fn finish_tree(
            results: &crate::tile::TileResults,
            length: usize,
            nodes: *mut <Self::Element as crate::element::ProductElement>::Wide,
            shape: [usize; 2],
            columns: usize,
        ) {
            /// # Safety
            /// Like `tile::finish_tree`; the processor has the instructions.
            #[inline(never)]
            #[target_feature(enable = $features)]
            unsafe fn compiled<E: crate::element::ProductElement>(
                results: &crate::tile::TileResults,
                length: usize,
                nodes: *mut E::Wide,
                shape: [usize; 2],
                columns: usize,
            ) {
                // SAFETY: the caller has the obligations of `tile::finish_tree`.
                unsafe { crate::tile::finish_tree::<E>(results, length, nodes, shape, columns) }
            }
            // SAFETY: the caller has the obligations of `tile::finish_tree`.
            unsafe { compiled::<Self::Element>(results, length, nodes, shape, columns) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
use compiled_tree;
