//! Sort keys: unsigned integers that compare like the elements, and are equal for equal elements.
//!
//! The key of a float is its bits: all inverted for a negative number, otherwise with the sign bit set. Both
//! zeros have the key of +0, and all NaNs the greatest key.

use core::ops::BitXor;

use indim_ops::{Element, bf16, c64, c128, f16};

/// An unsigned integer type of sort keys.
pub trait SortKey: Copy + Ord + Default + BitXor<Output = Self> + Send + 'static {
    /// Number of bits.
    const BITS: u32;
    /// All bits set: `key ^ MAX` reverses the order.
    const MAX: Self;
    /// The sign bit: `key ^ SIGN` compares like the signed integer with the bits of `key`.
    const SIGN: Self;
    /// A key with a position, ordered by the key and then by the position.
    type WithPosition: Copy + Ord + core::fmt::Debug + 'static;

    /// The key as a 64-bit number; `None` for longer keys.
    fn word(self) -> Option<u64>;

    /// The digit for a radix sort: `bits` bits from bit `shift` on.
    fn digit(self, shift: u32, bits: u32) -> usize;

    /// The least and the greatest key whose digits from bit `shift` on are `digit`.
    fn bounds_of_digit(digit: usize, shift: u32) -> [Self; 2];

    /// The key with a position.
    fn with_position(self, position: u32) -> Self::WithPosition;

    /// The position.
    fn position(with_position: Self::WithPosition) -> usize;

    /// The key without its position.
    fn key(with_position: Self::WithPosition) -> Self;
}

macro_rules! keys {
    ($($type:ident with $wide:ident;)*) => { $(
        impl SortKey for $type {
            const BITS: u32 = $type::BITS;
            const MAX: $type = $type::MAX;
            const SIGN: $type = 1 << ($type::BITS - 1);
            type WithPosition = $wide;

            #[inline(always)]
            fn word(self) -> Option<u64> {
                Some(u64::from(self))
            }

            #[inline(always)]
            fn digit(self, shift: u32, bits: u32) -> usize {
                (self >> shift) as usize & ((1 << bits) - 1)
            }

            #[inline(always)]
            fn bounds_of_digit(digit: usize, shift: u32) -> [$type; 2] {
                let least = (digit as $type) << shift;
                [least, least | ((1 << shift) - 1)]
            }

            #[inline(always)]
            fn with_position(self, position: u32) -> $wide {
                $wide::from(self) << 32 | $wide::from(position)
            }

            #[inline(always)]
            fn position(with_position: $wide) -> usize {
                with_position as u32 as usize
            }

            #[inline(always)]
            fn key(with_position: $wide) -> $type {
                (with_position >> 32) as $type
            }
        }
    )* };
}

keys! { u8 with u64; u16 with u64; u32 with u64; u64 with u128; }

impl SortKey for u128 {
    const BITS: u32 = u128::BITS;
    const MAX: u128 = u128::MAX;
    const SIGN: u128 = 1 << 127;
    type WithPosition = (u128, u32);

    #[inline(always)]
    fn word(self) -> Option<u64> {
        None
    }

    #[inline(always)]
    fn digit(self, shift: u32, bits: u32) -> usize {
        (self >> shift) as usize & ((1 << bits) - 1)
    }

    #[inline(always)]
    fn bounds_of_digit(digit: usize, shift: u32) -> [u128; 2] {
        let least = (digit as u128) << shift;
        [least, least | ((1 << shift) - 1)]
    }

    #[inline(always)]
    fn with_position(self, position: u32) -> (u128, u32) {
        (self, position)
    }

    #[inline(always)]
    fn position((_, position): (u128, u32)) -> usize {
        position as usize
    }

    #[inline(always)]
    fn key((key, _): (u128, u32)) -> u128 {
        key
    }
}

/// An element type with sort keys.
pub trait SortElement: Element {
    /// The type of its keys.
    type SortKey: SortKey;

    /// The key of an element, from its representation in memory.
    fn key(storage: Self::Storage) -> Self::SortKey;

    /// The bits of an element.
    fn bits(storage: Self::Storage) -> Self::SortKey;
}

impl SortElement for bool {
    type SortKey = u8;

    #[inline(always)]
    fn key(storage: u8) -> u8 {
        u8::from(storage != 0)
    }

    #[inline(always)]
    fn bits(storage: u8) -> u8 {
        storage
    }
}

macro_rules! unsigned {
    ($($type:ident)*) => { $(
        impl SortElement for $type {
            type SortKey = $type;

            #[inline(always)]
            fn key(storage: $type) -> $type {
                storage
            }

            #[inline(always)]
            fn bits(storage: $type) -> $type {
                storage
            }
        }
    )* };
}

macro_rules! signed {
    ($($type:ident $key:ident;)*) => { $(
        impl SortElement for $type {
            type SortKey = $key;

            #[inline(always)]
            fn key(storage: $type) -> $key {
                storage as $key ^ (1 << ($key::BITS - 1))
            }

            #[inline(always)]
            fn bits(storage: $type) -> $key {
                storage as $key
            }
        }
    )* };
}

/// `$infinity` are the bits of +infinity; greater magnitudes are NaNs.
macro_rules! floats {
    ($($type:ident $key:ident $infinity:expr;)*) => { $(
        impl SortElement for $type {
            type SortKey = $key;

            #[inline(always)]
            fn key(storage: $type) -> $key {
                const SIGN: $key = 1 << ($key::BITS - 1);
                const INFINITY: $key = $infinity;
                let bits = storage.to_bits();
                let magnitude = bits & !SIGN;
                let negative = ((bits >> ($key::BITS - 1)) as $key).wrapping_neg();
                let number = if magnitude == 0 { SIGN } else { bits ^ (negative | SIGN) };
                if magnitude > INFINITY { $key::MAX } else { number }
            }

            #[inline(always)]
            fn bits(storage: $type) -> $key {
                storage.to_bits()
            }
        }
    )* };
}

macro_rules! complexes {
    ($($type:ident $component:ident $key:ident;)*) => { $(
        impl SortElement for $type {
            type SortKey = $key;

            #[inline(always)]
            fn key(storage: $type) -> $key {
                let [re, im] = [storage.re, storage.im].map(|part| $key::from($component::key(part)));
                re << ($key::BITS / 2) | im
            }

            #[inline(always)]
            fn bits(storage: $type) -> $key {
                let [re, im] = [storage.re, storage.im].map(|part| $key::from($component::bits(part)));
                re << ($key::BITS / 2) | im
            }
        }
    )* };
}

unsigned!(u8 u16 u32 u64);
signed!(i8 u8; i16 u16; i32 u32; i64 u64;);
floats! {
    f16 u16 f16::INFINITY.to_bits();
    bf16 u16 bf16::INFINITY.to_bits();
    f32 u32 f32::INFINITY.to_bits();
    f64 u64 f64::INFINITY.to_bits();
}
complexes!(c64 f32 u64; c128 f64 u128;);

/// Calls a method that is generic over a [`SortElement`] with the type of `$dtype`. The types `bf16`, `c64`,
/// `c128`, `f16` and `DType` must be in scope.
#[macro_export]
macro_rules! for_sort_element {
    ($dtype:expr, $this:ident.$method:ident $arguments:tt) => {
        match $dtype {
            DType::Bool => $this.$method::<bool> $arguments,
            DType::I8 => $this.$method::<i8> $arguments,
            DType::I16 => $this.$method::<i16> $arguments,
            DType::I32 => $this.$method::<i32> $arguments,
            DType::I64 => $this.$method::<i64> $arguments,
            DType::U8 => $this.$method::<u8> $arguments,
            DType::U16 => $this.$method::<u16> $arguments,
            DType::U32 => $this.$method::<u32> $arguments,
            DType::U64 => $this.$method::<u64> $arguments,
            DType::F16 => $this.$method::<f16> $arguments,
            DType::Bf16 => $this.$method::<bf16> $arguments,
            DType::F32 => $this.$method::<f32> $arguments,
            DType::F64 => $this.$method::<f64> $arguments,
            DType::C64 => $this.$method::<c64> $arguments,
            DType::C128 => $this.$method::<c128> $arguments,
            _ => unreachable!("invariant: no sort takes storage types"),
        }
    };
}

/// Like [`for_sort_element`], but with the unsigned type of the same width for a signed integer.
#[macro_export]
macro_rules! for_sort_width {
    ($dtype:expr, $this:ident.$method:ident $arguments:tt) => {
        match $dtype {
            DType::Bool => $this.$method::<bool> $arguments,
            DType::I8 | DType::U8 => $this.$method::<u8> $arguments,
            DType::I16 | DType::U16 => $this.$method::<u16> $arguments,
            DType::I32 | DType::U32 => $this.$method::<u32> $arguments,
            DType::I64 | DType::U64 => $this.$method::<u64> $arguments,
            DType::F16 => $this.$method::<f16> $arguments,
            DType::Bf16 => $this.$method::<bf16> $arguments,
            DType::F32 => $this.$method::<f32> $arguments,
            DType::F64 => $this.$method::<f64> $arguments,
            DType::C64 => $this.$method::<c64> $arguments,
            DType::C128 => $this.$method::<c128> $arguments,
            _ => unreachable!("invariant: no sort takes storage types"),
        }
    };
}
