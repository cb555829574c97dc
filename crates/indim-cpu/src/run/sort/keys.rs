//! Dispatch of sorts by element type.

pub(crate) use indim_kernels::{SortElement, SortKey};

/// Calls a method that is generic over a [`SortElement`] with the type of `$dtype`. The types `bf16`, `c64`,
/// `c128`, `f16` and `DType` must be in scope.
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

pub(crate) use {for_sort_element, for_sort_width};
