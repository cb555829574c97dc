//! What the links of chains do, for each element type, and which operations are cheap. Holds unsafe code.
//!
//! What a link computes is the definition in `indim-ops`'s `meaning/`. A NaN becomes the canonical one
//! only where the accumulator is written: no operation here lets the bits of a NaN show in anything
//! but a NaN.

use core::hint::cold_path;
use core::marker::PhantomData;

use indim_ops::operations::*;
use indim_ops::{ConvertTo, DType, Element, Fact, Op, bf16, c64, c128, f16, meaning};

use super::accumulator::{bools, bytes, choose, each, load, load_single, store, stream, with};
use super::element::ChainElement;
use super::mask::mask_link;
use super::opcode::{Codes, LoadCodes, Opcode};
use super::pieces::{ACCUMULATOR_BYTES, ChainBody, ChainFn, NARROW_BYTES, WiredLink};
use crate::kernel::instructions::Instructions;
use crate::kernel::shells::Shells;

/// How a link reads its operand and rounds its result. Methods, because a closure is not always
/// inlined, and then it is compiled without the instructions of the level.
struct OperandReader<T, I, const LENGTH: usize> {
    operand: *const u8,
    types: PhantomData<(T, I)>,
}

impl<T: ChainElement, I: Instructions, const LENGTH: usize> OperandReader<T, I, LENGTH> {
    /// # Safety
    /// `operand` is valid for reads by those of the methods that are called; the processor has the
    /// instructions `I`.
    #[inline(always)]
    unsafe fn of(operand: *const u8) -> Self {
        OperandReader { operand, types: PhantomData }
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
        match const { O::OP.is(Fact::Exact) } {
            true => x,
            // SAFETY: promised where this was made.
            false => unsafe { T::rounded::<I, LENGTH>(x) },
        }
    }
}

/// The bytes of a wide accumulator, or of a narrow one. Only the arm for them is compiled.
const fn accumulator_bytes<I: Instructions>(is_wide: bool) -> usize {
    let (narrow, wide) = I::ACCUMULATOR_BYTES;
    if is_wide { wide } else { narrow }
}

/// The chain of one element type.
macro_rules! define_chain {
    (
        $type:ident $module:ident $body:ident (
            commutative [$($commutative:ident $commutative_name:ident)*]
            ordered [$($ordered:ident $ordered_name:ident)*]
            unary [$($unary:ident $unary_name:ident)*]
            comparisons [$($comparison:ident $comparison_name:ident)*]
        )
        converts [$($source_variant:ident $source:ident)*]
        widens [$($half_variant:ident $half:ident)*]
    ) => {
        /// With the mask, or without.
        pub(crate) struct $body<const IS_MASKED: bool>;

        impl<const IS_MASKED: bool> ChainBody for $body<IS_MASKED> {
            type Element = $type;

            #[inline(always)]
            unsafe fn run_piece<I: Instructions, const IS_WIDE: bool>(
                destination: *mut u8,
                links: &[WiredLink],
                operands: &[*const u8],
                first: usize,
                streams: bool,
            ) {
                const SIZE: usize = size_of::<<$type as ChainElement>::Lane>();
                // SAFETY: the caller's promise.
                unsafe {
                    match const { accumulator_bytes::<I>(IS_WIDE) } {
                        128 => Self::take_through::<I, { 128 / SIZE }>(
                            destination, links, operands, first, streams,
                        ),
                        256 => Self::take_through::<I, { 256 / SIZE }>(
                            destination, links, operands, first, streams,
                        ),
                        _ => Self::take_through::<I, { ACCUMULATOR_BYTES / SIZE }>(
                            destination, links, operands, first, streams,
                        ),
                    }
                }
            }
        }

        impl<const IS_MASKED: bool> $body<IS_MASKED> {
            /// The rarer arms that need many registers are said to be cold. Then the compiler keeps the
            /// accumulator in registers for the others, where there are only 16. Without the mask it has
            /// registers for all of it.
            ///
            /// # Safety
            /// As [`ChainBody::run_piece`], for an accumulator of `LENGTH` elements.
            #[inline(always)]
            unsafe fn take_through<I: Instructions, const LENGTH: usize>(
                destination: *mut u8,
                links: &[WiredLink],
                operands: &[*const u8],
                first: usize,
                streams: bool,
            ) {
                use meaning::$module;
                let mut x = [<$type as ChainElement>::Lane::default(); LENGTH];
                let mut mask = [0; LENGTH];
                for (link, &operand) in links.iter().zip(operands) {
                    let operand = operand.wrapping_add(first * link.stride);
                    // SAFETY: the caller's promise.
                    let reader = unsafe { OperandReader::<$type, I, LENGTH>::of(operand) };
                    match link.opcode.0 {
                        <$type as LoadCodes>::BLOCK => x = reader.block(),
                        <$type as LoadCodes>::SINGLE => x = reader.single(),
                        $(
                            <$source as LoadCodes>::BLOCK => {
                                // SAFETY: the caller's promise for this opcode.
                                let stored = unsafe { load::<$source, LENGTH>(operand) };
                                x = each(stored, ConvertTo::convert);
                            }
                            <$source as LoadCodes>::SINGLE => {
                                cold_path();
                                // SAFETY: the caller's promise for this opcode.
                                let stored = unsafe { load_single::<$source>(operand) };
                                x = [stored.convert(); LENGTH];
                            }
                        )*
                        $(
                            <$half as LoadCodes>::BLOCK => {
                                cold_path();
                                // SAFETY: the caller's promise for this opcode.
                                x = unsafe { <$half>::widen::<I, LENGTH>(load(operand)) };
                            }
                            <$half as LoadCodes>::SINGLE => {
                                cold_path();
                                // SAFETY: the caller's promise for this opcode.
                                let stored = unsafe { load_single::<$half>(operand) };
                                x = [stored.widen_single(); LENGTH];
                            }
                        )*
                        <bool as LoadCodes>::BLOCK if IS_MASKED => {
                            cold_path();
                            // SAFETY: the caller's promise for this opcode.
                            mask = bytes(unsafe { load::<bool, LENGTH>(operand) });
                        }
                        <bool as LoadCodes>::SINGLE if IS_MASKED => {
                            cold_path();
                            // SAFETY: the caller's promise for this opcode.
                            mask = bytes([unsafe { load_single(operand) }; LENGTH]);
                        }
                        Opcode::TEST if IS_MASKED => {
                            cold_path();
                            mask = bytes(each(x, ConvertTo::<bool>::convert));
                        }
                        Opcode::SPREAD if IS_MASKED => {
                            cold_path();
                            x = each(bools(mask), ConvertTo::convert);
                        }
                        // SAFETY: the caller's promise for this opcode.
                        Opcode::SAVE => unsafe { store(operand.cast_mut(), <$type>::narrow::<I, LENGTH>(x)) },
                        Opcode::WRITE_MASK if IS_MASKED => {
                            // SAFETY: the caller's promise, for a piece of the destination.
                            return unsafe { store(destination.wrapping_add(first), mask) };
                        }
                        <Select as Codes>::BLOCK if IS_MASKED => {
                            x = choose(&mask, &x, reader.block(), $module::select)
                        }
                        <Select as Codes>::SINGLE if IS_MASKED => {
                            x = choose(&mask, &x, reader.single(), $module::select)
                        }
                        <Select as Codes>::BLOCK_FIRST if IS_MASKED => {
                            x = choose(&mask, &x, reader.block(), |mask, x, y| $module::select(mask, y, x))
                        }
                        <Select as Codes>::SINGLE_FIRST if IS_MASKED => {
                            x = choose(&mask, &x, reader.single(), |mask, x, y| $module::select(mask, y, x))
                        }
                        $(
                            <$comparison as Codes>::BLOCK if IS_MASKED => {
                                mask = bytes(with(&x, reader.block(), $module::$comparison_name));
                            }
                            <$comparison as Codes>::SINGLE if IS_MASKED => {
                                mask = bytes(with(&x, reader.single(), $module::$comparison_name));
                            }
                        )*
                        $(
                            <$commutative as Codes>::BLOCK => {
                                let exact = with(&x, reader.block(), $module::$commutative_name);
                                x = reader.results::<$commutative>(exact);
                            }
                            <$commutative as Codes>::SINGLE => {
                                let exact = with(&x, reader.single(), $module::$commutative_name);
                                x = reader.results::<$commutative>(exact);
                            }
                        )*
                        $(
                            <$ordered as Codes>::BLOCK => {
                                let exact = with(&x, reader.block(), $module::$ordered_name);
                                x = reader.results::<$ordered>(exact);
                            }
                            <$ordered as Codes>::SINGLE => {
                                let exact = with(&x, reader.single(), $module::$ordered_name);
                                x = reader.results::<$ordered>(exact);
                            }
                            <$ordered as Codes>::BLOCK_FIRST => {
                                let exact = with(&x, reader.block(), |x, y| $module::$ordered_name(y, x));
                                x = reader.results::<$ordered>(exact);
                            }
                            <$ordered as Codes>::SINGLE_FIRST => {
                                let exact = with(&x, reader.single(), |x, y| $module::$ordered_name(y, x));
                                x = reader.results::<$ordered>(exact);
                            }
                        )*
                        $(<$unary as Codes>::BLOCK => {
                            x = reader.results::<$unary>(each(x, $module::$unary_name));
                        })*
                        code if IS_MASKED => {
                            cold_path();
                            // SAFETY: the caller's promise for this opcode.
                            mask = unsafe { mask_link(code, operand, mask) };
                        }
                        // The caller promises that there is none.
                        _ => {}
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
    };
}

/// The operations of a chain, of its lists.
macro_rules! operations {
    (($($list:ident [$($operation:ident $name:ident)*])*)) => { &[Op::Select, $($(Op::$operation,)*)*] };
}

/// All chains: for each module of `meaning/` the operations in chains of some types, and for each of these
/// types those that it converts and widens when it loads them.
macro_rules! define_chains {
    ($($module:ident $operations:tt {$(
        $variant:ident $type:ident $body:ident
        converts [$($source:ident $source_type:ident)*] widens [$($half:ident $half_type:ident)*];
    )*})*) => {
        /// The operations that chains of elements of type `dtype` may hold.
        pub const fn chain_operations(dtype: DType) -> &'static [Op] {
            match dtype {
                $($(DType::$variant => operations!($operations),)*)*
                _ => &[],
            }
        }

        /// The element types that chains of elements of type `dtype` convert when they load them.
        pub const fn chain_sources(dtype: DType) -> &'static [DType] {
            match dtype {
                $($(DType::$variant => &[$(DType::$source,)* $(DType::$half,)*],)*)*
                _ => &[],
            }
        }

        /// The fewest elements that fill an accumulator of a chain of elements of type `dtype`.
        pub const fn chain_minimum(dtype: DType) -> usize {
            match dtype {
                $($(DType::$variant => NARROW_BYTES / size_of::<<$type as ChainElement>::Lane>(),)*)*
                // There is no such chain.
                _ => NARROW_BYTES,
            }
        }

        /// The chains of elements of type `dtype` at the level of `S`, with the mask or without; `None` where
        /// the type has none.
        pub(crate) fn chain_function<S: Shells>(dtype: DType, is_masked: bool) -> Option<ChainFn> {
            match (dtype, is_masked || const { S::IS_LAST_RESORT }) {
                $($((DType::$variant, true) => Some(S::chain::<$body<true>>()),)*)*
                _ if const { S::IS_LAST_RESORT } => None,
                $($((DType::$variant, false) => Some(S::chain::<$body<false>>()),)*)*
                _ => None,
            }
        }

        $($(define_chain! {
            $type $module $body $operations
            converts [$($source $source_type)*] widens [$($half $half_type)*]
        })*)*
    };
}

// The cheap operations: those whose cost is that of moving their operands.
define_chains! {
    float (
        commutative [Add add Mul mul Max max Min min]
        ordered [Sub sub Div div]
        unary [Neg neg Abs abs Square square Sqrt sqrt]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
    ) {
        F32 f32 ChainF32 converts [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32] widens [F16 f16 Bf16 bf16];
        F64 f64 ChainF64 converts [I8 i8 U8 u8 I16 i16 U16 u16 I32 i32 F32 f32] widens [];
        F16 f16 ChainF16 converts [] widens [];
        Bf16 bf16 ChainBf16 converts [] widens [];
    }
    integer (
        commutative [Add add Mul mul Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Neg neg Not not]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
    ) {
        I32 i32 ChainI32 converts [] widens [];
        I64 i64 ChainI64 converts [] widens [];
    }
    integer (
        commutative [Add add Max max Min min And and Or or Xor xor]
        ordered [Sub sub]
        unary [Not not]
        comparisons [Eq eq Ne ne Lt lt Le le Gt gt Ge ge]
    ) {
        U8 u8 ChainU8 converts [] widens [];
    }
    complex (
        commutative [Add add Mul mul]
        ordered [Sub sub]
        unary [Neg neg Conj conj]
        comparisons [Eq eq Ne ne]
    ) {
        C64 c64 ChainC64 converts [F32 f32] widens [];
        C128 c128 ChainC128 converts [F64 f64] widens [];
    }
}
