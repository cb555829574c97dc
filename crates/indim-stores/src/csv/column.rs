//! The values of a column. Their type is the narrowest of bool, i64 and f64 that holds all fields.

use csv::StringRecord;
use indim_arrays::Array;
use indim_graph::terminal::printable;
use indim_ops::{ArrayType, DType};
use indim_shape::{Diagnostic, ErrorCode};

use super::table::CsvTable;
use crate::{MemoryLimitError, StoreErrorKind};

/// Whether a field has the form of an integer, of any size.
fn is_integer(field: &str) -> bool {
    let digits = field.strip_prefix(['+', '-']).unwrap_or(field);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The values read so far, in the narrowest type that holds all of them.
enum ColumnValues {
    Empty,
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// A parsed column.
pub(super) struct ParsedColumn {
    elements: ColumnValues,
    /// Number of empty fields.
    empty_count: u64,
    /// Position of the first empty field: the byte offset of its record while the column is read, its
    /// line number afterwards.
    first_empty: u64,
}

/// Reads a column of at most `limit` bytes.
pub(super) fn read(mut table: CsvTable, limit: usize) -> Result<ParsedColumn, StoreErrorKind> {
    let mut column = ParsedColumn { elements: ColumnValues::Empty, empty_count: 0, first_empty: 0 };
    let mut record = StringRecord::new();
    while let Some((field, start)) = table.next(&mut record)? {
        if column.bytes() >= limit {
            let message =
                format!("its elements take more memory than the {limit} bytes that are left");
            return Err(MemoryLimitError::new(None, limit, message).into());
        }
        if column.push(&field, start).is_none() {
            return Err(column.not_a_number(&field, table.line(start)?, &table.name));
        }
    }
    if column.empty_count > 0 {
        column.first_empty = table.line(column.first_empty)?;
    }
    Ok(column)
}

/// Whether a field is a finite decimal that overflows f64.
fn is_beyond_f64(field: &str, number: f64) -> bool {
    number.is_infinite() && field.contains(|c: char| c.is_ascii_digit())
}

/// Whether a field is a number or empty.
pub(super) fn is_number(field: &str) -> bool {
    field.is_empty() || field.parse::<f64>().is_ok()
}

impl ParsedColumn {
    /// The error of a field that is not a value of this column, `name`.
    fn not_a_number(&self, field: &str, line: u64, name: &str) -> StoreErrorKind {
        let is_beyond = field.parse().is_ok_and(|number| is_beyond_f64(field, number));
        let is = if is_beyond { "beyond f64" } else { "not a number" };
        let has_bools = matches!(self.elements, ColumnValues::Bools(_));
        let is = if has_bools { "neither true nor false, as those before it" } else { is };
        let message =
            format!("line {line}: `{}` in column `{}` is {is}", printable(field), printable(name));
        let mut error = Diagnostic::new(ErrorCode::NOT_A_NUMBER, message);
        if is_beyond {
            error.help("write inf or -inf where infinity is meant");
        } else if is_integer(field) && !has_bools {
            error.help("it is beyond i64: with a decimal point it is the nearest f64");
        } else if field.contains(',') && !field.contains(char::is_alphabetic) {
            error.help("numbers have a decimal point, and nothing between thousands");
        }
        error.into()
    }

    fn len(&self) -> usize {
        match &self.elements {
            ColumnValues::Empty => 0,
            ColumnValues::Bools(elements) => elements.len(),
            ColumnValues::Integers(elements) => elements.len(),
            ColumnValues::Floats(elements) => elements.len(),
        }
    }

    fn bytes(&self) -> usize {
        self.len() * size_of::<f64>()
    }

    /// Adds a field; `None` if it does not parse as a value of this column.
    fn push(&mut self, field: &str, start: u64) -> Option<()> {
        if field.is_empty() {
            self.first_empty = if self.empty_count == 0 { start } else { self.first_empty };
            self.empty_count += 1;
            self.promote_to_floats()?.push(f64::NAN);
            return Some(());
        }
        if let ColumnValues::Empty = self.elements {
            self.elements = match () {
                () if parse_bool(field).is_some() => ColumnValues::Bools(Vec::new()),
                () if is_integer(field) => ColumnValues::Integers(Vec::new()),
                () => ColumnValues::Floats(Vec::new()),
            };
        }
        match &mut self.elements {
            ColumnValues::Bools(bools) => bools.push(parse_bool(field)?),
            ColumnValues::Integers(integers) if field.parse::<i64>().is_ok() => {
                integers.push(field.parse().ok()?)
            }
            _ => {
                let number = field.parse().ok()?;
                // An integer beyond i64, which f64 would round.
                let is_rounded = is_integer(field) && field.parse::<i64>().is_err();
                if is_rounded || is_beyond_f64(field, number) {
                    return None;
                }
                self.promote_to_floats()?.push(number);
            }
        }
        Some(())
    }

    /// The values as f64, converted if they were integers; `None` for booleans.
    fn promote_to_floats(&mut self) -> Option<&mut Vec<f64>> {
        match &mut self.elements {
            ColumnValues::Bools(_) => return None,
            ColumnValues::Integers(integers) => {
                let numbers = integers.iter().map(|&number| number as f64).collect();
                self.elements = ColumnValues::Floats(numbers);
            }
            ColumnValues::Empty => self.elements = ColumnValues::Floats(Vec::new()),
            ColumnValues::Floats(_) => {}
        }
        match &mut self.elements {
            ColumnValues::Floats(numbers) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let fields = if self.empty_count == 1 { "field is" } else { "fields are" };
        let remark = format!(
            "{} empty {fields} NaN, the first in line {}",
            self.empty_count, self.first_empty
        );
        if self.empty_count == 0 { Vec::new() } else { vec![remark] }
    }

    pub(super) fn into_array(self) -> Result<Array, StoreErrorKind> {
        let shape = [self.len()];
        match self.elements {
            ColumnValues::Empty => array(DType::F64, shape, Vec::<[u8; 8]>::new()),
            ColumnValues::Bools(bools) => {
                array(DType::Bool, shape, bools.into_iter().map(|truth| [u8::from(truth)]))
            }
            ColumnValues::Integers(integers) => {
                array(DType::I64, shape, integers.into_iter().map(i64::to_ne_bytes))
            }
            ColumnValues::Floats(numbers) => {
                array(DType::F64, shape, numbers.into_iter().map(f64::to_ne_bytes))
            }
        }
    }
}

fn parse_bool(field: &str) -> Option<bool> {
    match field {
        _ if field.eq_ignore_ascii_case("true") => Some(true),
        _ if field.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn array<const N: usize>(
    dtype: DType,
    shape: [usize; 1],
    elements: impl IntoIterator<Item = [u8; N]>,
) -> Result<Array, StoreErrorKind> {
    Array::filled(ArrayType::new(dtype, shape), |bytes| {
        for (target, element) in bytes.chunks_exact_mut(N).zip(elements) {
            target.copy_from_slice(&element);
        }
        Ok(())
    })
}
