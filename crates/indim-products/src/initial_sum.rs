//! Initial sums of rows: sums of products of bytes begin with a correction for each row of `x`. Holds unsafe
//! code.
//!
//! An instruction multiplies signed bytes by unsigned ones. If both operands are signed, `y + 128` is packed:
//! `x * y = x * (y + 128) - 128 * x`. If neither is, `y - 128` is packed:
//! `x * y = x * (y - 128) + 128 * x`. So the sum of a row begins with the sum of its elements times -128 or
//! 128. Sums wrap, so this is exact.

/// The arguments of initial sums: rows of `x`, packed or in place. Strides are in bytes.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
pub(crate) struct InitialSumArguments {
    /// The group of the first row and index.
    pub(crate) x: *const u8,
    /// Stride between rows. The groups of a row are contiguous, unless rows are packed.
    pub(crate) x_row_stride: isize,
    /// Whether the rows are a packed panel: the rows of an index are contiguous.
    pub(crate) is_packed: bool,
    /// Number of rows; at most the lanes of a vector, if they are packed.
    pub(crate) rows: usize,
    /// Number of groups of each row.
    pub(crate) length: usize,
    /// The initial sums.
    pub(crate) to: *mut u8,
}

/// Initial sums compiled for a level.
///
/// # Safety
/// - `x` is valid for reads of `length` groups of each row;
/// - `to` is valid for writes of `rows` sums;
/// - the processor has the level.
pub(crate) type InitialSumFn = unsafe fn(&InitialSumArguments);
