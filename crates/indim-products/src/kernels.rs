//! The table of kernels: register tiles, packing and stores by level and element types.

#[cfg(target_arch = "x86_64")]
use indim_ops::InstructionSet;
use indim_ops::{DType, Level, bf16, f16};

use crate::axes::{Axes, FactorGroups, ProductArray};
use crate::axpy::AxpyFn;
use crate::dot::DotFn;
use crate::element::{FactorPair, ProductElement};
use crate::initial_sum::InitialSumFn;
use crate::pack::PackFn;
use crate::product::Product;
use crate::shells::ProductShells;
use crate::shells::baseline::Baseline;
use crate::short_dot::ShortDotFn;
use crate::stencil::{MAX_STENCIL_ROWS, StencilFn};
use crate::store::{self, AddFn, StoreFn};
use crate::tile::{TileFn, TileHookFn};
use crate::vector::Vector;

/// Maximum rows of a register tile that holds its sums in vectors.
pub(crate) const MAX_VECTOR_TILE_ROWS: usize = 8;

/// Maximum rows of any register tile, including the tiles of AMX.
pub(crate) const MAX_TILE_ROWS: usize = 32;

/// Maximum columns of a register tile.
pub(crate) const MAX_TILE_COLUMNS: usize = 48;

/// Maximum vectors of a row of a register tile.
const MAX_TILE_VECTORS: usize = 3;

/// The register tiles of one number of rows and vectors.
#[derive(Clone, Copy)]
pub(crate) struct TileFunctions {
    /// `x` is packed.
    pub(crate) packed: TileFn,
    /// `x` is read in place.
    pub(crate) in_place: TileFn,
}

/// The kernels of a product.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Rows of the largest register tile.
    pub(crate) rows: usize,
    /// Vectors of a row of the largest register tile.
    pub(crate) vectors: usize,
    /// Elements of a vector.
    pub(crate) lanes: usize,
    /// Bytes of an element in a panel.
    pub(crate) size: usize,
    /// Bytes of a wide sum.
    pub(crate) wide_size: usize,
    /// Register tiles: tile `[m - 1][n - 1]` has `m` rows and `n` vectors.
    tiles: [[Option<TileFunctions>; MAX_TILE_VECTORS]; MAX_VECTOR_TILE_ROWS],
    /// A register tile for any number of rows and vectors, used instead of `tiles`; it reads `x` in place.
    general_tile: Option<TileFn>,
    /// The functions that a thread calls before and after it runs register tiles.
    pub(crate) tile_hooks: Option<[TileHookFn; 2]>,
    /// Whether elements of `x` have the representation of panel elements, so that packing converts
    /// nothing.
    pub(crate) is_x_native: bool,
    /// Whether elements of `y` have the representation of panel elements, so that packing converts
    /// nothing.
    pub(crate) is_y_native: bool,
    /// Whether elements of the result have the representation of panel elements.
    pub(crate) is_out_native: bool,
    pub(crate) dot: DotFn,
    /// Dot products of at most one block, for many results; `None` for groups.
    pub(crate) short_dot: Option<ShortDotFn>,
    pub(crate) axpy: AxpyFn,
    /// Sums of short chains for each number of rows: for floats, at levels with fused multiply-adds.
    pub(crate) stencils: Option<[StencilFn; MAX_STENCIL_ROWS]>,
    pub(crate) pack_x: PackFn,
    pub(crate) pack_y: PackFn,
    /// The initial sums of rows, unless they are zero.
    pub(crate) initial_sums: Option<InitialSumFn>,
    pub(crate) store: StoreFn,
    /// The store of elements that are rounded already, for a result with the representation of panel
    /// elements.
    pub(crate) store_rounded: StoreFn,
    pub(crate) add: AddFn,
}

/// The kernels of a product, by the element type of the products, with tiles of these rows and vectors.
macro_rules! by_element {
    ($product:ident, $level:ident, $rows:tt $vectors:tt,
        $f32:ident $f64:ident $i32:ident $i64:ident) => {
        match $product.compute {
            DType::F32 => kernels!($product, $level $level, $f32 $f32, $rows $vectors),
            DType::F64 => kernels!($product, $level $level, $f64 $f64, $rows $vectors),
            DType::I64 | DType::U64 => {
                kernels!($product, $level $level, $i64 $i64, $rows $vectors)
            }
            compute if compute.is_integer() => {
                kernels!($product, $level $level, $i32 $i32, $rows $vectors)
            }
            _ => None,
        }
    };
}

/// The kernels of a product. Register tiles, stencils and packing by vectors use the first level and
/// vector; all other kernels use the second level and vector.
macro_rules! kernels {
    ($product:ident, $level:ident $base:ident, $vector:ident $dot:ident,
        [$($rows:literal)*] $vectors:tt) => {{
        let mut tiles = [[None; MAX_TILE_VECTORS]; MAX_VECTOR_TILE_ROWS];
        $(set_tiles!(tiles, $level, $vector, $rows, $vectors);)*
        let rows = [$($rows),*].len();
        assemble::<$level, $base, $vector, $dot>($product, tiles, rows, count!($vectors))
    }};
}

macro_rules! set_tiles {
    ($tiles:ident, $level:ident, $vector:ident, $rows:literal, [$($vectors:literal)*]) => {
        $($tiles[$rows - 1][$vectors - 1] =
            Some(tile_functions::<$level, $vector, $rows, $vectors>());)*
    };
}

macro_rules! count {
    ([$($item:literal)*]) => {
        [$($item),*].len()
    };
}

impl Kernels {
    /// The kernels of a product at a level, if its element types have any.
    pub(crate) fn of(product: &Product, level: Level) -> Option<Kernels> {
        if !product.has_one_class() || product.out.is_integer() && !is_sum_wide_enough(product) {
            return None;
        }
        match level.instruction_set() {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 | InstructionSet::Avx512 => {
                use crate::vector::avx2::{F32x8, F64x4, I32x8};
                use crate::vector::avx512::{F32x16, F64x8};
                use crate::vector::portable::PortableVector;
                type I64x4 = PortableVector<i64, 4>;
                type Avx2 = crate::shells::avx2::Avx2;
                type Avx512 = crate::shells::avx512::Avx512;
                // Every level with AVX-512 has AVX2, whose kernels compute products of integers.
                match (level.instruction_set(), product.compute) {
                    (InstructionSet::Avx512, DType::F32) => {
                        kernels!(product, Avx512 Avx2, F32x16 F32x8, [1 2 3 4 5 6 7 8] [1 2 3])
                    }
                    (InstructionSet::Avx512, DType::F64) => {
                        kernels!(product, Avx512 Avx2, F64x8 F64x4, [1 2 3 4 5 6 7 8] [1 2 3])
                    }
                    _ => by_element!(product, Avx2, [1 2 3 4 5 6] [1 2], F32x8 F64x4 I32x8 I64x4),
                }
            }
            #[cfg(target_arch = "aarch64")]
            _ => {
                use crate::vector::neon::{F32x4, F64x2, I32x4};
                use crate::vector::portable::PortableVector;
                type I64x2 = PortableVector<i64, 2>;
                by_element!(product, Baseline, [1 2 3 4 5 6 7 8] [1 2 3],
                    F32x4 F64x2 I32x4 I64x2)
            }
            #[cfg(not(target_arch = "aarch64"))]
            _ => {
                use crate::vector::portable::PortableVector;
                type F32x4 = PortableVector<f32, 4>;
                type F64x2 = PortableVector<f64, 2>;
                type I32x4 = PortableVector<i32, 4>;
                type I64x2 = PortableVector<i64, 2>;
                by_element!(product, Baseline, [1 2] [1 2], F32x4 F64x2 I32x4 I64x2)
            }
        }
    }

    /// The kernels for groups of neighbouring products, with the number of products of a group, best first.
    pub(crate) fn for_groups(
        product: &Product,
        level: Level,
    ) -> impl Iterator<Item = (Kernels, usize)> {
        let pairs = Kernels::of_pairs(product, level);
        let quads = pairs.and_then(|pairs| Kernels::of_quads(product, level, pairs));
        let tiles = quads.and_then(|quads| Kernels::of_byte_tiles(product, quads));
        let quads = tiles.into_iter().chain(quads).map(|kernels| (kernels, 4));
        quads.chain(pairs.map(|pairs| (pairs, 2)))
    }

    /// The kernels for groups of four products with register tiles of AMX. AMX has an instruction for each
    /// pair of signs, so these kernels flip no bits and need no initial sums.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
    fn of_byte_tiles(product: &Product, quads: Kernels) -> Option<Kernels> {
        #[cfg(target_arch = "x86_64")]
        {
            use crate::shells::avx512_vnni::pack_quads;
            use crate::vector::amx;
            let tile: TileFn = match (product.x, product.y) {
                (DType::I8, DType::I8) => amx::signed_by_signed,
                (DType::I8, _) => amx::signed_by_unsigned,
                (_, DType::I8) => amx::unsigned_by_signed,
                _ => amx::unsigned_by_unsigned,
            };
            amx::is_available().then_some(Kernels {
                rows: amx::ROWS,
                vectors: amx::VECTORS,
                general_tile: Some(tile),
                tile_hooks: Some([amx::configure_thread, amx::release_thread]),
                pack_y: pack_quads::<false>,
                initial_sums: None,
                ..quads
            })
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Whether the kernels suit a product of groups with these axes: rows, columns, summed. Register tiles
    /// of AMX read contiguous rows of `x` in place, 16 groups at a time, and are better than other tiles
    /// only if a product fills them.
    pub(crate) fn supports(
        &self,
        [rows, columns, summed]: [&Axes; 3],
        groups: FactorGroups,
    ) -> bool {
        const MIN_SIZE: usize = 16;
        self.general_tile.is_none()
            || groups.tail == 0
                && summed.size > 0
                && summed.size.is_multiple_of(MIN_SIZE)
                && rows.size >= MIN_SIZE
                && columns.size >= MIN_SIZE
                && rows.uniform_stride(ProductArray::X).is_some()
                && summed.uniform_stride(ProductArray::X) == Some(self.size as isize)
    }

    /// The kernels for groups of four products of bytes, which differ in tiles and packing from those for
    /// pairs.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables))]
    fn of_quads(product: &Product, level: Level, pairs: Kernels) -> Option<Kernels> {
        #[cfg(target_arch = "x86_64")]
        if level.has_byte_products() {
            use crate::shells::avx512_vnni::{initial_sums, pack_quads};
            use crate::vector::vnni::QuadX16;
            // An instruction multiplies a signed by an unsigned factor. If both operands are signed, or
            // both unsigned, 128 is added to `y` or subtracted from it, modulo 256, and `initial_sums`
            // corrects the sums.
            let (is_x_signed, pack_y, initial_sums): (_, PackFn, Option<InitialSumFn>) =
                match (product.x, product.y) {
                    (DType::I8, DType::U8) => (true, pack_quads::<false>, None),
                    (DType::U8, DType::I8) => (false, pack_quads::<false>, None),
                    (DType::I8, DType::I8) => {
                        (true, pack_quads::<true>, Some(initial_sums::<true>))
                    }
                    (DType::U8, DType::U8) => {
                        (false, pack_quads::<true>, Some(initial_sums::<false>))
                    }
                    _ => return None,
                };
            return Some(Kernels {
                rows: 8,
                vectors: 3,
                lanes: 16,
                tiles: match is_x_signed {
                    true => quad_tiles::<QuadX16<true>>(),
                    false => quad_tiles::<QuadX16<false>>(),
                },
                is_x_native: true,
                pack_x: pack_quads::<false>,
                pack_y,
                initial_sums,
                ..pairs
            });
        }
        None
    }

    /// The kernels for pairs of neighbouring products, for operands of `i8`, `u8` or `i16`, whose values
    /// fit in an `i16`, and sums of 32 bits. The level has an instruction that adds two products; sums of
    /// integers may be added in any order.
    pub(crate) fn of_pairs(product: &Product, level: Level) -> Option<Kernels> {
        let is_short = |dtype| matches!(dtype, DType::I8 | DType::U8 | DType::I16);
        let is_paired = is_short(product.x) && is_short(product.y) && product.compute.size() <= 4;
        if !is_paired || !product.has_one_class() || !is_sum_wide_enough(product) {
            return None;
        }
        match level.instruction_set() {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 | InstructionSet::Avx512 => {
                use crate::vector::avx2::PairX8;
                type Avx2 = crate::shells::avx2::Avx2;
                kernels!(product, Avx2 Avx2, PairX8 PairX8, [1 2 3 4 5 6] [1 2])
            }
            _ => None,
        }
    }

    /// The register tile of some rows and vectors, at least one and at most the largest.
    pub(crate) fn tile(&self, rows: usize, vectors: usize) -> TileFunctions {
        if let Some(tile) = self.general_tile {
            return TileFunctions { packed: tile, in_place: tile };
        }
        self.tiles[rows - 1][vectors - 1].expect("invariant: tiles up to the largest exist")
    }

    /// Columns of the largest register tile.
    pub(crate) fn columns(&self) -> usize {
        self.vectors * self.lanes
    }
}

/// Whether the sum of integers has all bits of the result.
fn is_sum_wide_enough(product: &Product) -> bool {
    product.out.size() <= product.compute.size()
}

/// An element type of panels, with the functions for each element type of operands and results.
trait PanelElement: ProductElement {
    /// Packing from elements of this type.
    fn pack<L: ProductShells>(source: DType) -> Option<PackFn>;

    /// Stores of elements of this type.
    fn store<L: ProductShells>(out: DType) -> Option<StoreFn>;

    /// Whether elements are floats.
    const IS_FLOAT: bool;

    /// Whether elements of this type have the representation of panel elements.
    fn is_native(dtype: DType) -> bool;
}

macro_rules! panels {
    ($($element:ident $wide:ident $is_float:literal: [$($native:ident)*] from [$($source:ident $from:ident)*]
        to [$($result:ident $to:ident)*];)*) => { $(
        impl PanelElement for $element {
            fn pack<L: ProductShells>(source: DType) -> Option<PackFn> {
                match source {
                    $(DType::$source => Some(L::pack::<$from, $element>()),)*
                    _ => None,
                }
            }

            fn store<L: ProductShells>(out: DType) -> Option<StoreFn> {
                match out {
                    $(DType::$result => Some(L::store::<$wide, $to>()),)*
                    _ => None,
                }
            }

            const IS_FLOAT: bool = $is_float;

            fn is_native(dtype: DType) -> bool {
                matches!(dtype, $(DType::$native)|*)
            }
        }
    )* };
}

panels! {
    f32 f64 true: [F32] from [F32 f32 F16 f16 Bf16 bf16] to [F32 f32 F64 f64 F16 f16 Bf16 bf16];
    f64 f64 true: [F64] from [F64 f64 F32 f32 F16 f16 Bf16 bf16] to [F32 f32 F64 f64 F16 f16 Bf16 bf16];
    i32 i32 false: [I32 U32] from [I8 i8 I16 i16 I32 i32 I64 i64 U8 u8 U16 u16 U32 u32 U64 u64]
        to [I8 i8 I16 i16 I32 i32 U8 u8 U16 u16 U32 u32];
    i64 i64 false: [I64 U64] from [I8 i8 I16 i16 I32 i32 I64 i64 U8 u8 U16 u16 U32 u32 U64 u64]
        to [I64 i64 U64 u64];
}

impl PanelElement for FactorPair {
    fn pack<L: ProductShells>(source: DType) -> Option<PackFn> {
        match source {
            DType::I8 => Some(L::pack_pairs::<i8>()),
            DType::U8 => Some(L::pack_pairs::<u8>()),
            DType::I16 => Some(L::pack_pairs::<i16>()),
            _ => None,
        }
    }

    fn store<L: ProductShells>(out: DType) -> Option<StoreFn> {
        <i32 as PanelElement>::store::<L>(out)
    }

    const IS_FLOAT: bool = false;

    /// A sum of pairs has the representation of an `i32`.
    fn is_native(dtype: DType) -> bool {
        <i32 as PanelElement>::is_native(dtype)
    }
}

/// The kernels of a product whose panels have the elements of `V`. Level `L` and vectors `V` are for
/// register tiles, stencils and packing by vectors; level `B` is for all other kernels, with vectors `D`
/// in dot products, short ones too, and scaled rows.
fn assemble<L: ProductShells, B: ProductShells, V: Vector, D: Vector<Element = V::Element>>(
    product: &Product,
    tiles: [[Option<TileFunctions>; MAX_TILE_VECTORS]; MAX_VECTOR_TILE_ROWS],
    rows: usize,
    vectors: usize,
) -> Option<Kernels>
where
    V::Element: PanelElement,
{
    let pack = |source: DType| match V::Element::is_native(source) {
        true => Some(L::pack_by_vectors::<V>()),
        false => V::Element::pack::<B>(source),
    };
    Some(Kernels {
        rows,
        vectors,
        lanes: V::LANES,
        size: size_of::<V::Element>(),
        wide_size: size_of::<<V::Element as ProductElement>::Wide>(),
        tiles,
        general_tile: None,
        tile_hooks: None,
        is_x_native: V::Element::is_native(product.x),
        is_y_native: V::Element::is_native(product.y),
        is_out_native: V::Element::is_native(product.out),
        dot: B::dot::<D>(),
        short_dot: V::Element::IS_ORDERED.then(B::short_dot::<D>),
        axpy: B::axpy::<D>(),
        stencils: if L::HAS_FMA && V::Element::IS_FLOAT {
            Some([
                L::stencil::<V, 1, 4>(),
                L::stencil::<V, 2, 4>(),
                L::stencil::<V, 3, 2>(),
                L::stencil::<V, 4, 2>(),
            ])
        } else {
            None
        },
        pack_x: pack(product.x)?,
        pack_y: pack(product.y)?,
        initial_sums: None,
        store: V::Element::store::<B>(product.out)?,
        store_rounded: store::copy::<V::Element>,
        add: B::add::<V::Element>(),
    })
}

/// The tiles of groups of four bytes.
#[cfg(target_arch = "x86_64")]
fn quad_tiles<V: Vector>() -> [[Option<TileFunctions>; MAX_TILE_VECTORS]; MAX_VECTOR_TILE_ROWS] {
    use crate::shells::avx512_vnni::Avx512Vnni;
    let mut tiles = [[None; MAX_TILE_VECTORS]; MAX_VECTOR_TILE_ROWS];
    macro_rules! set_rows {
        ($($rows:literal)*) => { $(set_tiles!(tiles, Avx512Vnni, V, $rows, [1 2 3]);)* };
    }
    set_rows!(1 2 3 4 5 6 7 8);
    tiles
}

/// The tiles of one number of rows and vectors. Tiles of 512 bits read both forms of `x` by one function,
/// which is as fast: the strides of a packed panel are arguments.
fn tile_functions<L: ProductShells, V: Vector, const M: usize, const N: usize>() -> TileFunctions {
    let in_place = L::tile::<V, M, N, false>();
    let is_wide = size_of::<V>() > 32;
    TileFunctions { packed: if is_wide { in_place } else { L::tile::<V, M, N, true>() }, in_place }
}
