//! Shells: functions compiled for a level, with their callees inlined. Holds unsafe code.
//!
//! Two functions of a vector, `push_block` and `finish_tree`, are not inlined: `compiled_tree` of
//! `vector/mod.rs` compiles them for the instructions of the vector. The register tiles of AMX
//! (`vector/amx.rs`) have no shell.
//!
//! - `baseline.rs`: the level that every processor of the target has;
//! - `avx2.rs`: AVX2;
//! - `avx512.rs`: AVX-512;
//! - `avx512_vnni.rs`: AVX-512 with sums of products of bytes.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512_vnni;
pub(crate) mod baseline;

use crate::axpy::AxpyFn;
use crate::dot::DotFn;
use crate::element::{ProductElement, Round, Widen};
use crate::pack::PackFn;
use crate::short_dot::ShortDotFn;
use crate::stencil::StencilFn;
use crate::store::{AddFn, StoreFn};
use crate::tile::TileFn;
use crate::vector::Vector;

/// The functions of one level.
pub(crate) trait ProductShells {
    /// Whether the level has instructions for fused multiply-adds of floats.
    const HAS_FMA: bool;

    /// A register tile of `M` rows and `N` vectors; `X` tells whether `x` is packed.
    fn tile<V: Vector, const M: usize, const N: usize, const X: bool>() -> TileFn;

    /// Dot products.
    fn dot<V: Vector>() -> DotFn;

    /// Dot products of at most one block.
    fn short_dot<V: Vector>() -> ShortDotFn;

    /// A sum of scaled rows.
    fn axpy<V: Vector>() -> AxpyFn;

    /// Packing of a source of type `S` as `E`.
    fn pack<S: Widen<E>, E: ProductElement>() -> PackFn;

    /// Packing of pairs of a source of type `S`.
    fn pack_pairs<S: Widen<i16>>() -> PackFn;

    /// Packing of a source that has the element type of the panel.
    fn pack_by_vectors<V: Vector>() -> PackFn;

    /// A sum of short chains, whose columns are read in place, for `M` rows and `N` vectors at a time.
    fn stencil<V: Vector, const M: usize, const N: usize>() -> StencilFn;

    /// A store of sums of type `W` as `O`.
    fn store<W: Round<O> + Copy, O>() -> StoreFn;

    /// An addition of the wide sums of elements of type `E`.
    fn add<E: ProductElement>() -> AddFn;
}

/// The shells of a level, with the attribute that enables its instructions.
macro_rules! define_shells {
    ($level:ident, $has_fma:expr $(, #[$enable:meta])?) => {
        use crate::axpy::{self, AxpyArguments, AxpyFn};
        use crate::dot::{self, DotArguments, DotFn};
        use crate::pack::{self, PackArguments, PackFn};
        use crate::element::{ProductElement, Round, Widen};
        use crate::shells::ProductShells;
        use crate::short_dot::{self, ShortDotArguments, ShortDotFn};
        use crate::stencil::{self, StencilArguments, StencilFn};
        use crate::store::{self, AddArguments, AddFn, StoreArguments, StoreFn};
        use crate::tile::{self, TileArguments, TileFn};
        use crate::vector::Vector;

        /// The level.
        pub(crate) struct $level;

        impl ProductShells for $level {
            const HAS_FMA: bool = $has_fma;

            fn tile<V: Vector, const M: usize, const N: usize, const X: bool>()
            -> TileFn {
                tile::<V, M, N, X>
            }

            fn dot<V: Vector>() -> DotFn {
                dot::<V>
            }

            fn short_dot<V: Vector>() -> ShortDotFn {
                short_dot::<V>
            }

            fn axpy<V: Vector>() -> AxpyFn {
                axpy::<V>
            }

            fn pack<S: Widen<E>, E: ProductElement>() -> PackFn {
                pack::<S, E>
            }

            fn pack_pairs<S: Widen<i16>>() -> PackFn {
                pack_pairs::<S>
            }

            fn pack_by_vectors<V: Vector>() -> PackFn {
                pack_by_vectors::<V>
            }

            fn stencil<V: Vector, const M: usize, const N: usize>() -> StencilFn {
                stencil::<V, M, N>
            }

            fn store<W: Round<O> + Copy, O>() -> StoreFn {
                store::<W, O>
            }

            fn add<E: ProductElement>() -> AddFn {
                add::<E>
            }
        }

        /// # Safety
        /// Like [`TileFn`], for this level.
        $(#[$enable])?
        unsafe fn tile<V, const M: usize, const N: usize, const X: bool>(tile: &TileArguments)
        where
            V: Vector,
        {
            // SAFETY: the caller has the obligations of `TileFn`.
            unsafe { tile::run::<V, M, N, X>(tile) }
        }

        /// # Safety
        /// Like [`DotFn`], for this level.
        $(#[$enable])?
        unsafe fn dot<V: Vector>(dot: &DotArguments) {
            // SAFETY: the caller has the obligations of `DotFn`.
            unsafe { dot::run::<V>(dot) }
        }

        /// # Safety
        /// Like [`ShortDotFn`], for this level.
        $(#[$enable])?
        unsafe fn short_dot<V: Vector>(dot: &ShortDotArguments) {
            // SAFETY: the caller has the obligations of `ShortDotFn`.
            unsafe { short_dot::run::<V>(dot) }
        }

        /// # Safety
        /// Like [`AxpyFn`], for this level.
        $(#[$enable])?
        unsafe fn axpy<V: Vector>(axpy: &AxpyArguments) {
            // SAFETY: the caller has the obligations of `AxpyFn`.
            unsafe { axpy::run::<V>(axpy) }
        }

        /// # Safety
        /// Like [`PackFn`], for this level.
        $(#[$enable])?
        unsafe fn pack<S: Widen<E>, E: ProductElement>(pack: &PackArguments) {
            // SAFETY: the caller has the obligations of `PackFn`.
            unsafe { pack::run::<S, E>(pack) }
        }

        /// # Safety
        /// Like [`PackFn`], for this level.
        $(#[$enable])?
        unsafe fn pack_pairs<S: Widen<i16>>(pack: &PackArguments) {
            // SAFETY: the caller has the obligations of `PackFn`.
            unsafe { pack::pairs::<S>(pack) }
        }

        /// # Safety
        /// Like [`PackFn`], for this level.
        $(#[$enable])?
        unsafe fn pack_by_vectors<V: Vector>(pack: &PackArguments) {
            // SAFETY: the caller has the obligations of `PackFn`.
            unsafe { pack::by_vectors::<V>(pack) }
        }

        /// # Safety
        /// Like [`StencilFn`], for this level.
        $(#[$enable])?
        unsafe fn stencil<V, const M: usize, const N: usize>(stencil: &StencilArguments)
        where
            V: Vector,
        {
            // SAFETY: the caller has the obligations of `StencilFn`.
            unsafe { stencil::run::<V, M, N>(stencil) }
        }

        /// # Safety
        /// Like [`StoreFn`], for this level.
        $(#[$enable])?
        unsafe fn store<W: Round<O> + Copy, O>(store: &StoreArguments) {
            // SAFETY: the caller has the obligations of `StoreFn`.
            unsafe { store::run::<W, O>(store) }
        }

        /// # Safety
        /// Like [`AddFn`], for this level.
        $(#[$enable])?
        unsafe fn add<E: ProductElement>(add: &AddArguments) {
            // SAFETY: the caller has the obligations of `AddFn`.
            unsafe { store::add::<E>(add) }
        }
    };
}

use define_shells;
