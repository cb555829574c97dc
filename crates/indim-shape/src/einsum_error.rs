//! Errors of `einsum`: typed data, one code and one label each.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::shape::Shape;
use crate::{Diagnostic, ErrorCode};

/// The reason why an `einsum` is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EinsumViolation {
    /// P6: the equation is malformed.
    Equation {
        /// The mistake, as a clause that begins in lower case.
        reason: String,
    },
    /// P7: the number of operands differs from that in the equation.
    OperandCount {
        /// The number in the equation.
        expected: usize,
        /// The number given.
        given: usize,
    },
    /// P8: the number of labels of an operand does not fit its rank.
    Rank {
        /// The position of the operand.
        operand: usize,
        /// The number of labels.
        labels: usize,
        /// Its rank.
        rank: usize,
    },
    /// P5: axes of one label have different sizes.
    SizeMismatch {
        /// The label: a letter or `...`.
        label: String,
        /// The position of the operand at fault.
        operand: usize,
        /// The axis at fault.
        axis: usize,
        /// Its size.
        size: usize,
        /// The size of the label in the operands and axes before.
        expected: usize,
    },
}

/// The error of an `einsum`: a violation and the equation.
///
/// ```
/// use indim_shape::{Einsum, Shape};
///
/// let einsum: Einsum = "ij,jk".parse()?;
/// let error = einsum.elaborate(&[Shape::from([5, 3]), Shape::from([5, 4])]).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "P5"));
/// assert_eq!(
///     error.to_string(),
///     "label `j` has size 3, but axis 0 of operand 1, which has the same label, has size 5",
/// );
/// # Ok::<(), indim_shape::EinsumError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EinsumError(Box<(EinsumViolation, String)>);

impl EinsumError {
    pub(crate) fn new(violation: EinsumViolation, equation: &str) -> Self {
        EinsumError(Box::new((violation, equation.to_string())))
    }

    /// The violation.
    pub fn violation(&self) -> &EinsumViolation {
        &self.0.0
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        match self.violation() {
            EinsumViolation::Equation { .. } => ErrorCode::EINSUM_EQUATION,
            EinsumViolation::OperandCount { .. } => ErrorCode::WRONG_OPERAND_COUNT,
            EinsumViolation::Rank { .. } => ErrorCode::EINSUM_RANK,
            EinsumViolation::SizeMismatch { .. } => ErrorCode::SIZE_MISMATCH,
        }
    }

    /// The label of the violated rule, as in [the rules](crate::rules#products-p).
    pub fn label(&self) -> &'static str {
        match self.violation() {
            EinsumViolation::SizeMismatch { .. } => "P5",
            EinsumViolation::Equation { .. } => "P6",
            EinsumViolation::OperandCount { .. } => "P7",
            EinsumViolation::Rank { .. } => "P8",
        }
    }

    /// The position of the operand at fault.
    pub fn operand(&self) -> Option<usize> {
        match *self.violation() {
            EinsumViolation::Rank { operand, .. }
            | EinsumViolation::SizeMismatch { operand, .. } => Some(operand),
            _ => None,
        }
    }

    /// The violation with these names of the operands, in one line.
    pub fn describe(&self, names: &[&str]) -> String {
        let name = |operand: &usize| match names.get(*operand) {
            Some(name) => format!("`{name}`"),
            None => format!("operand {operand}"),
        };
        match self.violation() {
            EinsumViolation::Equation { reason } => format!("`{}`: {reason}", self.0.1),
            EinsumViolation::OperandCount { expected, given } => {
                format!("`{}` has {expected} operands, but {given} are given", self.0.1)
            }
            EinsumViolation::Rank { operand, labels, rank } => {
                format!("{} has {rank} axes, but {labels} labels in `{}`", name(operand), self.0.1)
            }
            EinsumViolation::SizeMismatch { label, operand, axis, size, expected } => format!(
                "label `{label}` has size {expected}, but axis {axis} of {}, which has the same label, has \
                 size {size}",
                name(operand)
            ),
        }
    }

    /// The diagnostic for operands with these names and shapes.
    pub fn diagnostic(&self, names: &[&str], shapes: &[Shape]) -> Diagnostic {
        let headline = format!("`einsum`: {}", self.describe(names));
        let mut diagnostic = Diagnostic::new(self.error_code(), headline);
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, shape) in names.iter().zip(shapes) {
            let blank = " ".repeat(widest - name.chars().count());
            diagnostic.line(format!("   {name}{blank} : {shape}"));
        }
        diagnostic.remark(format!("rule {}", self.label()), format!("einsum {:?}", self.0.1));
        diagnostic
    }
}

impl fmt::Display for EinsumError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.describe(&[]))
    }
}

impl core::error::Error for EinsumError {}
