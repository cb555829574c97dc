//! Arrays as comma-separated values: the rows of a matrix, or one number a line.

use core::fmt;
use std::io::{self, Write};

use indim_ops::ArrayType;
use indim_shape::Shape;

use crate::array::Array;

use super::{Style, elements_format};

/// The error for an array that is not a table, because it has more than two axes.
///
/// ```
/// use indim_arrays::print::csv_shape;
/// use indim_ops::{ArrayType, DType};
///
/// let error = csv_shape(&ArrayType::new(DType::F32, [2, 3, 4])).unwrap_err();
/// assert!(error.to_string().contains("f32[2, 3, 4]"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyAxes(pub ArrayType);

impl fmt::Display for TooManyAxes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.0.shape.last().copied().unwrap_or(1);
        write!(
            formatter,
            "{} has {} axes, and a table has two: write reshape(…, [-1, {columns}]) around the expression, \
             or take the format json",
            self.0,
            self.0.shape.rank()
        )
    }
}

impl core::error::Error for TooManyAxes {}

/// The rows and columns of an array: a vector is a column.
///
/// ```
/// use indim_arrays::print::csv_shape;
/// use indim_ops::{ArrayType, DType};
///
/// assert_eq!(csv_shape(&ArrayType::new(DType::F32, [5])), Ok((5, 1)));
/// assert!(csv_shape(&ArrayType::new(DType::F32, [2, 3, 4])).is_err());
/// ```
///
/// # Errors
/// [`TooManyAxes`] above two axes.
pub fn csv_shape(array_type: &ArrayType) -> Result<(usize, usize), TooManyAxes> {
    match array_type.shape[..] {
        [] => Ok((1, 1)),
        [rows] => Ok((rows, 1)),
        [rows, columns] => Ok((rows, columns)),
        _ => Err(TooManyAxes(array_type.clone())),
    }
}

/// Writes an array of at most two axes, without a header: numbers with as many digits as are needed to read
/// back the same number, `nan`, `inf`, `-inf`, `True`, `False`, and complex numbers in Python's notation,
/// `(1-2.5j)`.
///
/// ```
/// use indim_arrays::{Array, print::write_csv};
///
/// let x = Array::from_slice([2, 2], &[1.0f32, 2.5, f32::NAN, -1.0])?;
/// let mut csv = Vec::new();
/// write_csv(&mut csv, &x)?;
/// assert_eq!(String::from_utf8(csv)?, "1.0,2.5\nnan,-1.0\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the writer; [`TooManyAxes`] as invalid input, before anything is written.
pub fn write_csv(output: &mut dyn Write, array: &Array) -> io::Result<()> {
    let invalid = |error: TooManyAxes| io::Error::new(io::ErrorKind::InvalidInput, error);
    let (rows, columns) = csv_shape(array.array_type()).map_err(invalid)?;
    if !array.is_row_major() {
        let copy = array.to_row_major().map_err(io::Error::other)?;
        return write_csv(output, &copy);
    }
    let text = elements_format(array, &[], Style::Scalar(None));
    for row in 0..rows {
        for column in 0..columns {
            let separator = if column == 0 { "" } else { "," };
            write!(output, "{separator}{}", text(row * columns + column))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// The number of elements of a shape. An array in memory has this shape, so the product of its sizes fits.
pub(super) fn count(shape: &Shape) -> usize {
    shape.element_count().unwrap_or(0)
}
