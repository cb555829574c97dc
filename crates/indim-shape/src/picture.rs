//! Pictures of broadcasts and of mistakes, as text.

use alloc::format;
use alloc::string::String;

use crate::error::ShapeError;

/// How an operand is called in a picture.
#[derive(Debug, Clone, Copy)]
pub struct OperandLabel<'a> {
    /// The user's name for it.
    pub name: &'a str,
    /// Its element type, or nothing.
    pub element_type: &'a str,
}

/// The report of a mistake.
pub fn draw_error(error: &ShapeError, operation: &str, _operands: &[OperandLabel<'_>]) -> String {
    format!("error[{}]: `{operation}`: {error}\n", error.code())
}
