//! Slices, windows, concatenations, gathers and scatters: the checks that builder and verifier share.
//!
//! - `axis_slice.rs`: the slice of one axis: start, count and step;
//! - `axis_window.rs`: the windows of one axis: size, stride and dilation;
//! - `padded_window.rs`: the windows of one axis and its padding, with the parameters of XLA's `window`;
//! - `symbolic_start.rs`: the first index of a slice as a sum of symbolic sizes and a number;
//! - `evaluate.rs`: reference evaluation of slices, windows, concatenations, gathers and scatters.

mod axis_slice;
mod axis_window;
pub(crate) mod evaluate;
mod padded_window;
mod symbolic_start;

use core::fmt;

use indim_ops::{ArrayType, ScatterOp};
use indim_shape::Shape;

pub use axis_slice::AxisSlice;
pub use axis_window::{AxisWindow, check_window};
pub use padded_window::PaddedWindow;
pub use symbolic_start::SymbolicStart;

use crate::error::GraphErrorKind;

/// The treatment of an index out of range, like the modes of NumPy's `take`.
///
/// ```
/// use indim_graph::TakeMode;
///
/// // The indices 7 and -1 along an axis of five elements.
/// assert_eq!([TakeMode::Wrap.resolve(7, 5), TakeMode::Wrap.resolve(-1, 5)], [Some(2), Some(4)]);
/// assert_eq!([TakeMode::Clip.resolve(7, 5), TakeMode::Clip.resolve(-1, 5)], [Some(4), Some(0)]);
/// assert_eq!([TakeMode::Error.resolve(7, 5), TakeMode::Error.resolve(-1, 5)], [None, Some(4)]);
/// assert_eq!("clip".parse(), Ok(TakeMode::Clip));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TakeMode {
    /// An error at run time; negative indices count from the end.
    Error,
    /// Clamped to the nearest valid index; negative indices become 0, like in XLA's Gather.
    Clip,
    /// Taken modulo the size of the axis.
    Wrap,
}

impl TakeMode {
    /// Every mode.
    pub const ALL: [TakeMode; 3] = [TakeMode::Error, TakeMode::Clip, TakeMode::Wrap];

    /// The name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            TakeMode::Error => "error",
            TakeMode::Clip => "clip",
            TakeMode::Wrap => "wrap",
        }
    }

    /// The position of the element at `index` along an axis of `size` elements; `None` if it is out of range
    /// under this mode, or the axis is empty.
    pub fn resolve(self, index: i128, size: usize) -> Option<usize> {
        let last = (size as i128).checked_sub(1).filter(|&last| last >= 0)?;
        let place = match self {
            TakeMode::Error if index < 0 => index + size as i128,
            TakeMode::Error => index,
            TakeMode::Clip => index.clamp(0, last),
            TakeMode::Wrap => index.rem_euclid(size as i128),
        };
        usize::try_from(place).ok().filter(|&place| place < size)
    }
}

impl fmt::Display for TakeMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl core::str::FromStr for TakeMode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        TakeMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or(())
    }
}

/// The treatment of indices out of range in a scatter.
///
/// ```
/// use indim_graph::{ScatterMode, TakeMode};
///
/// // The indices 7 and -1 along an axis of five elements; 5 is no element.
/// assert_eq!([7, -1].map(|index| ScatterMode::Drop.resolve(index, 5)), [Some(5), Some(5)]);
/// assert_eq!("wrap".parse(), Ok(ScatterMode::Take(TakeMode::Wrap)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScatterMode {
    /// The same as in a gather.
    Take(TakeMode),
    /// The update is dropped, as in XLA's Scatter. A negative index is out of range.
    Drop,
}

impl ScatterMode {
    /// Every mode.
    pub const ALL: [ScatterMode; 4] = [
        ScatterMode::Take(TakeMode::Error),
        ScatterMode::Take(TakeMode::Clip),
        ScatterMode::Take(TakeMode::Wrap),
        ScatterMode::Drop,
    ];

    /// The name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            ScatterMode::Take(mode) => mode.name(),
            ScatterMode::Drop => "drop",
        }
    }

    /// The position of the element at `index` along an axis of `size` elements; `size` if the update is
    /// dropped; `None` if the index is out of range under this mode.
    pub fn resolve(self, index: i128, size: usize) -> Option<usize> {
        match self {
            ScatterMode::Take(mode) => mode.resolve(index, size),
            ScatterMode::Drop => Some(usize::try_from(index).map_or(size, |index| index.min(size))),
        }
    }
}

impl From<TakeMode> for ScatterMode {
    fn from(mode: TakeMode) -> ScatterMode {
        ScatterMode::Take(mode)
    }
}

impl fmt::Display for ScatterMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl core::str::FromStr for ScatterMode {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        ScatterMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or(())
    }
}

/// The type of a slice of `operand` with these slices, one for each axis.
///
/// # Errors
/// `slice-rank`, `zero-step`, `slice-out-of-range`.
pub fn check_slices(
    slices: &[AxisSlice],
    operand: &ArrayType,
) -> Result<ArrayType, GraphErrorKind> {
    let rank = operand.shape.rank();
    if slices.len() != rank {
        return Err(GraphErrorKind::SliceRank { given: slices.len(), rank });
    }
    for (axis, (slice, &size)) in slices.iter().zip(operand.shape.iter()).enumerate() {
        slice.check(axis, size)?;
    }
    let shape: Shape = slices.iter().map(AxisSlice::count).collect();
    Ok(ArrayType::new(operand.dtype, shape))
}

/// The checked axis and the type of the concatenation of these operands along `axis`.
///
/// # Errors
/// `nothing-to-concatenate`, `axis-out-of-range`, TY2, `concatenate-shape`.
pub fn check_concatenation(
    axis: i64,
    operands: &[ArrayType],
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let Some(first) = operands.first() else {
        return Err(GraphErrorKind::NothingToConcatenate);
    };
    let axis = existing_axis(axis, first.shape.rank())?;
    let mut length = 0usize;
    for (position, operand) in operands.iter().enumerate() {
        if operand.dtype != first.dtype {
            let (dtype, expected) = (operand.dtype, first.dtype);
            return Err(GraphErrorKind::ElementTypeMismatch { operand: position, dtype, expected });
        }
        let is_same = |(other, (a, b)): (usize, (&usize, &usize))| other == axis || a == b;
        let mut sizes = first.shape.iter().zip(operand.shape.iter()).enumerate();
        if operand.shape.rank() != first.shape.rank() || !sizes.all(is_same) {
            return Err(GraphErrorKind::ConcatenateShape { operand: position, axis });
        }
        // If this saturates, the caller reports `too-large`.
        length = length.saturating_add(operand.shape[axis]);
    }
    let mut sizes = first.shape.to_vec();
    sizes[axis] = length;
    Ok((axis, ArrayType::new(first.dtype, sizes)))
}

/// The checked axis and the type of a gather from `operand` along `axis`, which the axes of `indices`
/// replace.
///
/// # Errors
/// `axis-out-of-range`; TY1 for indices that are not integers; `take-from-empty`.
pub fn check_take(
    axis: i64,
    operand: &ArrayType,
    indices: &ArrayType,
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let (axis, result_type) = indexed_type(axis, operand, indices)?;
    if operand.shape[axis] == 0 && !indices.shape.contains(&0) {
        return Err(GraphErrorKind::TakeFromEmpty { axis });
    }
    Ok((axis, result_type))
}

/// The checked axis, and the type of `operand` with the axes of the indices in place of this axis.
fn indexed_type(
    axis: i64,
    operand: &ArrayType,
    indices: &ArrayType,
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let axis = existing_axis(axis, operand.shape.rank())?;
    if !indices.dtype.is_integer() {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 1, dtype: indices.dtype });
    }
    let sizes = operand.shape[..axis].iter().chain(indices.shape.iter());
    let shape: Shape = sizes.chain(&operand.shape[axis + 1..]).copied().collect();
    Ok((axis, ArrayType::new(operand.dtype, shape)))
}

/// The checked axis and the type of a scatter of `updates` to `operand` at `indices` along `axis`.
///
/// # Errors
/// Those of [`check_take`], without `take-from-empty` in [`ScatterMode::Drop`]; TY1 if the operation does not
/// take elements of this type; TY2; `scatter-shape`.
pub fn check_scatter(
    op: ScatterOp,
    axis: i64,
    mode: ScatterMode,
    [operand, indices, updates]: [&ArrayType; 3],
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let (axis, result_type) = match mode {
        ScatterMode::Take(_) => check_take(axis, operand, indices)?,
        ScatterMode::Drop => indexed_type(axis, operand, indices)?,
    };
    if !op.takes(operand.dtype) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand: 0, dtype: operand.dtype });
    }
    if updates.dtype != operand.dtype {
        let (dtype, expected) = (updates.dtype, operand.dtype);
        return Err(GraphErrorKind::ElementTypeMismatch { operand: 2, dtype, expected });
    }
    match updates.shape == result_type.shape {
        true => Ok((axis, operand.clone())),
        false => Err(GraphErrorKind::ScatterShape { expected: result_type.shape }),
    }
}

/// The axis, counted from the front; a negative `axis` counts from the end.
///
/// # Errors
/// `axis-out-of-range`.
pub fn existing_axis(axis: i64, rank: usize) -> Result<usize, GraphErrorKind> {
    let counted = if axis < 0 { i128::from(axis) + rank as i128 } else { i128::from(axis) };
    let existing = usize::try_from(counted).ok().filter(|&axis| axis < rank);
    existing.ok_or(GraphErrorKind::AxisOutOfRange { axis, rank })
}
