//! What the links of chains do, for each element type, and which operations are cheap. Holds unsafe code.
//!
//! What a link computes is the definition in `indim-graph`'s `meaning/`. A NaN becomes the canonical one
//! only where the accumulator is written: no operation here lets the bits of a NaN show in anything
//! but a NaN. How pieces and rows are walked is in `chain.rs`.

use core::hint::cold_path;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use indim_ops::operations::*;
use indim_ops::{ConvertTo, DType, Element, Op, bf16, c64, c128, f16, meaning};

use super::element::ChainElement;
use super::mask::{bools, bytes, mask_link};
use super::pieces::{
    ACCUMULATOR_BYTES, ChainBody, ChainFn, ChainVisitor, Code, Form, Link, NARROW_BYTES, code,
    load_code,
};
use crate::blocks::kernel::block::Unaligned;
use crate::blocks::kernel::instructions::Instructions;

/// The codes of loading elements of one type, as patterns.
trait LoadCodes: Element {
    const BLOCK: u16 = load_code(Self::DTYPE, Form::Block);
    const SINGLE: u16 = load_code(Self::DTYPE, Form::Single);
}

impl<T: Element> LoadCodes for T {}

/// The codes of one operation, as patterns.
pub(crate) trait Codes {
    const OP: Op;
    const BLOCK: u16 = code(Self::OP, Form::Block, false);
    const SINGLE: u16 = code(Self::OP, Form::Single, false);
    const BLOCK_FIRST: u16 = code(Self::OP, Form::Block, true);
    const SINGLE_FIRST: u16 = code(Self::OP, Form::Single, true);
    /// Whether a result may need more bits than the operands have.
    const IS_INEXACT: bool = !matches!(Self::OP, Op::Max | Op::Min | Op::Neg | Op::Abs | Op::Conj);
}

/// # Safety
/// `operand` is valid for reads of `LENGTH` elements.
#[inline(always)]
pub(crate) unsafe fn load<T: Element, const LENGTH: usize>(operand: *const u8) -> [T; LENGTH] {
    // SAFETY: the caller's promise; any bits are stored elements, at any address.
    let stored = unsafe { *operand.cast::<[Unaligned<T>; LENGTH]>() };
    let mut elements = [T::default(); LENGTH];
    for index in 0..LENGTH {
        elements[index] = stored[index].get();
    }
    elements
}

/// # Safety
/// `operand` is valid for reads of an element.
#[inline(always)]
pub(crate) unsafe fn load_single<T: Element>(operand: *const u8) -> T {
    // SAFETY: the caller's promise.
    unsafe { *operand.cast::<Unaligned<T>>() }.get()
}

/// # Safety
/// `place` is valid for writes of `LENGTH` elements.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "an iterator takes the accumulator out of registers")]
pub(crate) unsafe fn store<T: Element, const LENGTH: usize>(
    place: *mut u8,
    accumulator: [T; LENGTH],
) {
    let place = place.cast::<Unaligned<T>>();
    for index in 0..LENGTH {
        let element = Unaligned(accumulator[index].to_stored());
        // SAFETY: the caller's promise.
        unsafe { place.wrapping_add(index).write(element) }
    }
}

/// Writes past the caches, to memory that will not be read soon. A line that is written as usual is
/// first read; so this saves a third of the traffic of a sum of two arrays too large for the caches.
///
/// # Safety
/// `place` is valid for writes of `LENGTH` elements, whole lines; the processor has the instructions `I`.
#[inline(always)]
unsafe fn stream<I: Instructions, T: Element, const LENGTH: usize>(
    place: *mut u8,
    accumulator: [T; LENGTH],
) {
    let mut stored = [const { MaybeUninit::<Unaligned<T>>::uninit() }; LENGTH];
    for index in 0..LENGTH {
        stored[index].write(Unaligned(accumulator[index].to_stored()));
    }
    // SAFETY: the accumulator, and the caller's lines.
    unsafe { I::stream(place, stored.as_ptr().cast(), size_of_val(&stored)) }
}

/// `f(x)` for each element. The `map` of arrays is not always inlined, and then it is compiled without
/// the instructions of the level; and with any but a constant to begin with, the first element would
/// be computed by itself.
#[inline(always)]
pub(crate) fn each<T: Element, R: Element, const LENGTH: usize>(
    x: [T; LENGTH],
    f: impl Fn(T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index]);
    }
    results
}

/// `f(x, y)` for each pair.
#[inline(always)]
pub(crate) fn with<T: Copy, R: Element, const LENGTH: usize>(
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(T, T) -> R,
) -> [R; LENGTH] {
    let mut results = [R::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(x[index], y[index]);
    }
    results
}

/// `f(mask, x, y)` for each three.
#[inline(always)]
fn choose<T: Element, const LENGTH: usize>(
    mask: &[u8; LENGTH],
    x: &[T; LENGTH],
    y: [T; LENGTH],
    f: impl Fn(bool, T, T) -> T,
) -> [T; LENGTH] {
    let mut results = [T::default(); LENGTH];
    for index in 0..LENGTH {
        results[index] = f(mask[index] != 0, x[index], y[index]);
    }
    results
}

/// How a link reads its operand and rounds its result. Methods, because a closure is not always
/// inlined, and then it is compiled without the instructions of the level.
struct Lanes<T, I, const LENGTH: usize> {
    operand: *const u8,
    types: PhantomData<(T, I)>,
}

impl<T: ChainElement, I: Instructions, const LENGTH: usize> Lanes<T, I, LENGTH> {
    /// # Safety
    /// `operand` is valid for reads by those of the methods that are called; the processor has the
    /// instructions `I`.
    #[inline(always)]
    unsafe fn of(operand: *const u8) -> Self {
        Lanes { operand, types: PhantomData }
    }

    /// An element for each of the accumulator.
    #[inline(always)]
    fn block(&self) -> [T::Lane; LENGTH] {
        // SAFETY: promised where this was made.
        unsafe { T::widen::<I, LENGTH>(load(self.operand)) }
    }

    /// One element for all.
    #[inline(always)]
    fn single(&self) -> [T::Lane; LENGTH] {
        // SAFETY: promised where this was made.
        [unsafe { load_single::<T>(self.operand) }.widen_single(); LENGTH]
    }

    /// The results of the operation `O`: where they may be between values of the element type, the
    /// nearest ones.
    #[inline(always)]
    fn results<O: Codes>(&self, x: [T::Lane; LENGTH]) -> [T::Lane; LENGTH] {
        match O::IS_INEXACT {
            // SAFETY: promised where this was made.
            true => unsafe { T::rounded::<I, LENGTH>(x) },
            false => x,
        }
    }
}

macro_rules! define_chains {
    ($(
        $variant:ident $type:ident $module:ident $body:ident
        commutative [$($commutative:ident $commutative_name:ident)*]
        ordered [$($ordered:ident $ordered_name:ident)*]
        unary [$($unary:ident $unary_name:ident)*]
        comparisons [$($comparison:ident $comparison_name:ident)*]
        converted [$($source_variant:ident $source:ident)*]
        widened [$($half_variant:ident $half:ident)*];
    )*) => {
        /// The operations that chains of elements of type `dtype` may hold.
        pub(crate) const fn chain_operations(dtype: DType) -> &'static [Op] {
            match dtype {
                $(DType::$variant => &[
                    Op::Select, $(Op::$comparison,)*
                    $(Op::$commutative,)* $(Op::$ordered,)* $(Op::$unary,)*
                ],)*
                _ => &[],
            }
        }

        /// The element types that chains of elements of type `dtype` convert when they load them.
        pub(crate) const fn chain_sources(dtype: DType) -> &'static [DType] {
            match dtype {
                $(DType::$variant => &[$(DType::$source_variant,)* $(DType::$half_variant,)*],)*
                _ => &[],
            }
        }

        /// The fewest elements that fill an accumulator of a chain of elements of type `dtype`.
        pub(crate) const fn chain_minimum(dtype: DType) -> usize {
            match dtype {
                $(DType::$variant => NARROW_BYTES / size_of::<<$type as ChainElement>::Lane>(),)*
                // There is no such chain.
                _ => NARROW_BYTES,
            }
        }

        /// Calls `visitor` with the chains of elements of type `dtype`.
        pub(crate) fn visit_chain<V: ChainVisitor>(dtype: DType, visitor: V) -> Option<ChainFn> {
            match dtype {
                $(DType::$variant => Some(visitor.chain::<$body>()),)*
                _ => None,
            }
        }

        $(
            pub(crate) struct $body;

            impl ChainBody for $body {
                type Element = $type;

                #[inline(always)]
                unsafe fn run_piece<I: Instructions, const IS_WIDE: bool>(
                    destination: *mut u8,
                    links: &[Link],
                    first: usize,
                    streams: bool,
                ) {
                    const SIZE: usize = size_of::<<$type as ChainElement>::Lane>();
                    // SAFETY: the caller's promise.
                    unsafe {
                        if IS_WIDE {
                            Self::take_through::<I, { ACCUMULATOR_BYTES / SIZE }>(destination, links, first, streams);
                        } else {
                            Self::take_through::<I, { NARROW_BYTES / SIZE }>(destination, links, first, streams);
                        }
                    }
                }
            }

            impl $body {
                /// The rarer arms that need many registers are said to be cold. Then the compiler keeps the
                /// accumulator in registers for the others, where there are only 16.
                ///
                /// # Safety
                /// As [`ChainBody::run_piece`], for an accumulator of `LENGTH` elements.
                #[inline(always)]
                unsafe fn take_through<I: Instructions, const LENGTH: usize>(
                    destination: *mut u8,
                    links: &[Link],
                    first: usize,
                    streams: bool,
                ) {
                    let mut x = [<$type as ChainElement>::Lane::default(); LENGTH];
                    let mut mask = [0; LENGTH];
                    for link in links {
                        let operand = link.operand.wrapping_add(first * link.kind.stride);
                        // SAFETY: the caller's promise.
                        let lanes = unsafe { Lanes::<$type, I, LENGTH>::of(operand) };
                        match link.kind.code.0 {
                            <$type as LoadCodes>::BLOCK => x = lanes.block(),
                            <$type as LoadCodes>::SINGLE => x = lanes.single(),
                            $(
                                <$source as LoadCodes>::BLOCK => {
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load::<$source, LENGTH>(operand) };
                                    x = each(stored, ConvertTo::convert);
                                }
                                <$source as LoadCodes>::SINGLE => {
                                    cold_path();
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load_single::<$source>(operand) };
                                    x = [stored.convert(); LENGTH];
                                }
                            )*
                            $(
                                <$half as LoadCodes>::BLOCK => {
                                    cold_path();
                                    // SAFETY: the caller's promise for this code.
                                    x = unsafe { <$half>::widen::<I, LENGTH>(load(operand)) };
                                }
                                <$half as LoadCodes>::SINGLE => {
                                    cold_path();
                                    // SAFETY: the caller's promise for this code.
                                    let stored = unsafe { load_single::<$half>(operand) };
                                    x = [stored.widen_single(); LENGTH];
                                }
                            )*
                            <bool as LoadCodes>::BLOCK => {
                                cold_path();
                                // SAFETY: the caller's promise for this code.
                                mask = bytes(unsafe { load::<bool, LENGTH>(operand) });
                            }
                            <bool as LoadCodes>::SINGLE => {
                                cold_path();
                                // SAFETY: the caller's promise for this code.
                                mask = bytes([unsafe { load_single(operand) }; LENGTH]);
                            }
                            Code::TEST => {
                                cold_path();
                                mask = bytes(each(x, ConvertTo::<bool>::convert));
                            }
                            Code::SPREAD => {
                                cold_path();
                                x = each(bools(mask), ConvertTo::convert);
                            }
                            // SAFETY: the caller's promise for this code.
                            Code::SAVE => unsafe { store(operand.cast_mut(), <$type>::narrow::<I, LENGTH>(x)) },
                            Code::WRITE_MASK => {
                                // SAFETY: the caller's promise, for a piece of the destination.
                                return unsafe { store(destination.wrapping_add(first), mask) };
                            }
                            <Select as Codes>::BLOCK => x = choose(&mask, &x, lanes.block(), meaning::$module::select),
                            <Select as Codes>::SINGLE => x = choose(&mask, &x, lanes.single(), meaning::$module::select),
                            <Select as Codes>::BLOCK_FIRST => {
                                x = choose(&mask, &x, lanes.block(), |mask, x, y| meaning::$module::select(mask, y, x))
                            }
                            <Select as Codes>::SINGLE_FIRST => {
                                x = choose(&mask, &x, lanes.single(), |mask, x, y| meaning::$module::select(mask, y, x))
                            }
                            $(
                                <$comparison as Codes>::BLOCK => {
                                    mask = bytes(with(&x, lanes.block(), meaning::$module::$comparison_name));
                                }
                                <$comparison as Codes>::SINGLE => {
                                    mask = bytes(with(&x, lanes.single(), meaning::$module::$comparison_name));
                                }
                            )*
                            $(
                                <$commutative as Codes>::BLOCK => {
                                    x = lanes.results::<$commutative>(with(&x, lanes.block(), meaning::$module::$commutative_name));
                                }
                                <$commutative as Codes>::SINGLE => {
                                    x = lanes.results::<$commutative>(with(&x, lanes.single(), meaning::$module::$commutative_name));
                                }
                            )*
                            $(
                                <$ordered as Codes>::BLOCK => {
                                    x = lanes.results::<$ordered>(with(&x, lanes.block(), meaning::$module::$ordered_name));
                                }
                                <$ordered as Codes>::SINGLE => {
                                    x = lanes.results::<$ordered>(with(&x, lanes.single(), meaning::$module::$ordered_name));
                                }
                                <$ordered as Codes>::BLOCK_FIRST => {
                                    x = lanes.results::<$ordered>(with(&x, lanes.block(), |x, y| meaning::$module::$ordered_name(y, x)));
                                }
                                <$ordered as Codes>::SINGLE_FIRST => {
                                    x = lanes.results::<$ordered>(with(&x, lanes.single(), |x, y| meaning::$module::$ordered_name(y, x)));
                                }
                            )*
                            $(<$unary as Codes>::BLOCK => {
                                x = lanes.results::<$unary>(each(x, meaning::$module::$unary_name));
                            })*
                            code => {
                                cold_path();
                                // SAFETY: the caller's promise for this code.
                                mask = unsafe { mask_link(code, operand, mask) };
                            }
                        }
                    }
                    // SAFETY: the caller's promise.
                    let results = unsafe { <$type>::narrow::<I, LENGTH>(each(x, Element::canonical)) };
                    let place = destination.wrapping_add(first * size_of::<$type>());
                    // SAFETY: the caller's promise, for a piece of the destination.
                    unsafe {
                        match streams {
                            true => stream::<I, _, LENGTH>(place, results),
                            false => store(place, results),
                        }
                    }
                }
            }
        )*
    };
}

macro_rules! define_codes {
    ($($operation:ident)*) => {
        $(impl Codes for $operation { const OP: Op = Op::$operation; })*
    };
}

define_codes! { Add Mul Max Min And Or Xor Sub Div Neg Conj Abs Square Sqrt Not Eq Ne Lt Le Gt Ge Select }

// The cheap operations: those whose cost is that of moving their operands.
define_chains! {
    F32 f32 float ChainF32
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32]
        widened [F16 f16 Bf16 bf16];
    F64 f64 float ChainF64
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 F32 f32]
        widened [];
    F16 f16 float ChainF16
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted []
        widened [];
    Bf16 bf16 float ChainBf16
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted []
        widened [];
    I32 i32 integer ChainI32
        commutative [Add add Mul mul Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Neg neg Not not]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted []
        widened [];
    I64 i64 integer ChainI64
        commutative [Add add Mul mul Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Neg neg Not not]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted []
        widened [];
    C64 c64 complex ChainC64
        commutative [Add add Mul mul]
        ordered [Sub sub]
        unary [Neg neg Conj conj]
        comparisons [Eq eq Ne ne]
        converted [F32 f32]
        widened [];
    C128 c128 complex ChainC128
        commutative [Add add Mul mul]
        ordered [Sub sub]
        unary [Neg neg Conj conj]
        comparisons [Eq eq Ne ne]
        converted [F64 f64]
        widened [];
    U8 u8 integer ChainU8
        commutative [Add add Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Not not]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
        converted []
        widened [];
}
