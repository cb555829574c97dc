//! Sorts and searches in sorted tables: the checks that builder and verifier share, and reference evaluation.

use core::fmt;

use indim_ops::{
    ArrayData, ArrayType, DType, Element, SearchSide, SortOrder, bf16, c64, c128, f16,
    search_sorted, sort_positions,
};
use indim_shape::{RuleSet, Shape};

use crate::error::GraphErrorKind;
use crate::signature::check_operands;
use crate::views::existing_axis;
use indim_arrays::Array;

/// The result of a sort.
///
/// ```
/// use indim_graph::SortResult;
///
/// assert_eq!("positions".parse(), Ok(SortResult::Positions));
/// assert_eq!(SortResult::Values.to_string(), "values");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SortResult {
    /// The sorted elements, bit for bit.
    Values,
    /// The positions along the axis of the sorted elements, as `i64`.
    Positions,
}

impl SortResult {
    /// The name of the result.
    pub const fn name(self) -> &'static str {
        match self {
            SortResult::Values => "values",
            SortResult::Positions => "positions",
        }
    }
}

impl fmt::Display for SortResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl core::str::FromStr for SortResult {
    type Err = ();

    fn from_str(name: &str) -> Result<SortResult, ()> {
        let all = [SortResult::Values, SortResult::Positions];
        all.into_iter().find(|result| result.name() == name).ok_or(())
    }
}

/// The checked axis and the result type of a sort by these keys.
///
/// # Errors
/// `wrong-operand-count` without keys, and for [`SortResult::Values`] of several keys; TY1 for storage types;
/// `shapes-differ`; `axis-out-of-range`.
pub fn check_sort(
    axis: i64,
    result: SortResult,
    keys: &[ArrayType],
) -> Result<(usize, ArrayType), GraphErrorKind> {
    let given = keys.len();
    let [first, others @ ..] = keys else {
        return Err(GraphErrorKind::WrongOperandCount { expected: 1, given });
    };
    if !others.is_empty() && result == SortResult::Values {
        return Err(GraphErrorKind::WrongOperandCount { expected: 1, given });
    }
    if let Some(operand) = keys.iter().position(|key| key.dtype.is_storage()) {
        return Err(GraphErrorKind::ElementTypeNotAllowed { operand, dtype: keys[operand].dtype });
    }
    let shapes: Vec<Shape> = keys.iter().map(|key| key.shape.clone()).collect();
    if let Err(error) = RuleSet::None.elaborate(&shapes) {
        return Err(GraphErrorKind::Shape(Box::new(error)));
    }
    let axis = existing_axis(axis, first.shape.rank())?;
    let dtype = match result {
        SortResult::Values => first.dtype,
        SortResult::Positions => DType::I64,
    };
    Ok((axis, ArrayType::new(dtype, &first.shape)))
}

/// The result type of a search in `table` for each element of `values`.
///
/// # Errors
/// TY1 for storage types; TY2; `table-rank` for a table that does not have one axis.
pub fn check_search(table: &ArrayType, values: &ArrayType) -> Result<ArrayType, GraphErrorKind> {
    check_operands(&[table.clone(), values.clone()], 2, false, |dtype| !dtype.is_storage())?;
    match table.shape.rank() {
        1 => Ok(ArrayType::new(DType::I64, &values.shape)),
        rank => Err(GraphErrorKind::TableRank { rank }),
    }
}

/// Calls a function that is generic over an element type, with the element type of an array.
macro_rules! by_type {
    ($array:expr, $function:ident $arguments:tt) => {
        match $array.dtype() {
            DType::Bool => $function::<bool> $arguments,
            DType::I8 => $function::<i8> $arguments,
            DType::I16 => $function::<i16> $arguments,
            DType::I32 => $function::<i32> $arguments,
            DType::I64 => $function::<i64> $arguments,
            DType::U8 => $function::<u8> $arguments,
            DType::U16 => $function::<u16> $arguments,
            DType::U32 => $function::<u32> $arguments,
            DType::U64 => $function::<u64> $arguments,
            DType::F16 => $function::<f16> $arguments,
            DType::Bf16 => $function::<bf16> $arguments,
            DType::F32 => $function::<f32> $arguments,
            DType::F64 => $function::<f64> $arguments,
            DType::C64 => $function::<c64> $arguments,
            DType::C128 => $function::<c128> $arguments,
            _ => unreachable!("invariant: the builder refuses storage types"),
        }
    };
}

/// The sorted values or positions, row by row. A row has the elements along the sorted axis.
pub(crate) fn evaluate_sort(
    axis: usize,
    descending: bool,
    result: SortResult,
    keys: &[&Array],
) -> ArrayData {
    let shape = keys[0].shape();
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let length = shape[axis];
    // For each element of the result, the index along the axis at which the operand has that element.
    let mut positions = vec![0; outer * length * inner];
    for first in (0..outer).flat_map(|o| (0..inner).map(move |i| o * length * inner + i)) {
        let row = StridedLine { first, length, step: inner };
        // The positions of the row's elements, sorted by the loop below.
        let mut order: Vec<usize> = (0..length).collect();
        // Stable sorts by one key after another, the least significant first, sort by all keys.
        for &key in keys.iter().rev() {
            by_type!(key, sort_row(key, row, descending, &mut order));
        }
        for (index, position) in order.into_iter().enumerate() {
            positions[first + index * inner] = position;
        }
    }
    match result {
        SortResult::Positions => {
            i64::into_data(positions.into_iter().map(|position| position as i64).collect())
        }
        SortResult::Values => {
            let source = |(element, &position): (usize, &usize)| {
                let index = element / inner % length;
                element - index * inner + position * inner
            };
            let sources: Vec<usize> = positions.iter().enumerate().map(source).collect();
            by_type!(keys[0], select_elements(keys[0], &sources))
        }
    }
}

/// The row-major positions of the elements along the sorted axis: `first`, `first + step`, ...
#[derive(Clone, Copy)]
struct StridedLine {
    first: usize,
    length: usize,
    step: usize,
}

fn sort_row<T: SortOrder>(
    key: &Array,
    row: StridedLine,
    descending: bool,
    positions: &mut [usize],
) {
    let elements = elements::<T>(key);
    let keys: Vec<T> =
        (0..row.length).map(|index| elements[row.first + index * row.step]).collect();
    sort_positions(positions, &keys, descending);
}

fn select_elements<T: Element>(array: &Array, sources: &[usize]) -> ArrayData {
    let elements = elements::<T>(array);
    T::into_data(sources.iter().map(|&source| elements[source]).collect())
}

fn elements<T: Element>(array: &Array) -> &[T] {
    array.element_slice().expect("invariant: read as its own type")
}

/// The position in the table of each value.
pub(crate) fn evaluate_search(side: SearchSide, table: &Array, values: &Array) -> ArrayData {
    by_type!(table, search(side, table, values))
}

fn search<T: SortOrder>(side: SearchSide, table: &Array, values: &Array) -> ArrayData {
    let table = elements::<T>(table);
    let position = |&value: &T| search_sorted(table, value, side) as i64;
    i64::into_data(elements::<T>(values).iter().map(position).collect())
}
