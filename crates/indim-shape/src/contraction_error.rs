//! Errors in products of two operands: typed data, one code and one label each.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::contraction_rule::ContractionRule;
use crate::shape::Shape;
use crate::{Diagnostic, ErrorCode};

/// The violation of a rule of products, with the operands and axes at fault.
///
/// ```
/// use indim_shape::{ContractionRule, ContractionViolation, Shape};
///
/// let error = ContractionRule::Inner.elaborate(&[Shape::from([4]), Shape::from([3])]).unwrap_err();
/// let violation =
///     ContractionViolation::SizeMismatch { axes: [0, 0], sizes: [4, 3], is_summed: true };
/// assert_eq!(error.violation(), violation);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContractionViolation {
    /// P1: an operand has too few axes: a scalar, or a vector in the place of a matrix.
    TooFewAxes {
        /// The position of the operand.
        operand: usize,
        /// The minimum number of axes.
        min: usize,
    },
    /// P2: the operand has no such axis.
    AxisOutOfRange {
        /// The position of the operand.
        operand: usize,
        /// The axis as given.
        axis: i64,
    },
    /// P3: an axis is named twice.
    AxesNotUnique {
        /// The position of the operand.
        operand: usize,
        /// The second entry, as given.
        axis: i64,
    },
    /// P4: the lists of axes that are paired differ in length.
    AxisCount {
        /// The number of listed axes of each operand.
        counts: [usize; 2],
    },
    /// P5: the sizes of paired axes differ.
    SizeMismatch {
        /// The axis of each operand.
        axes: [usize; 2],
        /// The size of each.
        sizes: [usize; 2],
        /// Whether the axes are summed.
        is_summed: bool,
    },
}

/// The error for operands that a rule of products refuses.
///
/// ```
/// use indim_shape::{ContractionRule, Shape};
///
/// let error = ContractionRule::Matmul.elaborate(&[Shape::from([5, 3]), Shape::from([5, 4])]).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "P5"));
/// assert_eq!(
///     error.diagnostic("matmul", &["a", "b"]).to_string(),
///     "\
/// error[size-mismatch]: `matmul`: axis 1 of `a` has size 3, but axis 0 of `b`, summed with it, has size 5
///    a : [5, 3]
///    b : [5, 4]
///    = rule P5: matmul
///    = help: exchange the last two axes of `a`: the result is [3, 4]
/// "
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractionError(Box<ContractionErrorData>);

/// Boxed, so that a `Result` with this error stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ContractionErrorData {
    violation: ContractionViolation,
    rule: ContractionRule,
    operands: [Shape; 2],
}

impl ContractionError {
    pub(crate) fn new(
        violation: ContractionViolation,
        rule: ContractionRule,
        operands: [Shape; 2],
    ) -> Self {
        ContractionError(Box::new(ContractionErrorData { violation, rule, operands }))
    }

    /// The violation.
    pub fn violation(&self) -> ContractionViolation {
        self.0.violation
    }

    /// The rule with its attributes as given.
    pub fn rule(&self) -> &ContractionRule {
        &self.0.rule
    }

    /// The operands' shapes.
    pub fn operands(&self) -> &[Shape; 2] {
        &self.0.operands
    }

    /// The stable code: `size-mismatch`, `too-few-axes`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        match self.0.violation {
            ContractionViolation::TooFewAxes { .. } => ErrorCode::TOO_FEW_AXES,
            ContractionViolation::AxisOutOfRange { .. } => ErrorCode::AXIS_OUT_OF_RANGE,
            ContractionViolation::AxesNotUnique { .. } => ErrorCode::AXES_NOT_UNIQUE,
            ContractionViolation::AxisCount { .. } => ErrorCode::AXIS_COUNT_MISMATCH,
            ContractionViolation::SizeMismatch { .. } => ErrorCode::SIZE_MISMATCH,
        }
    }

    /// The label of the violated rule, as in [the rules](crate::rules#products-p).
    pub fn label(&self) -> &'static str {
        match self.0.violation {
            ContractionViolation::TooFewAxes { .. } => "P1",
            ContractionViolation::AxisOutOfRange { .. } => "P2",
            ContractionViolation::AxesNotUnique { .. } => "P3",
            ContractionViolation::AxisCount { .. } => "P4",
            ContractionViolation::SizeMismatch { .. } => "P5",
        }
    }

    /// The position of the operand at fault.
    pub fn operand(&self) -> Option<usize> {
        match self.0.violation {
            ContractionViolation::TooFewAxes { operand, .. }
            | ContractionViolation::AxisOutOfRange { operand, .. }
            | ContractionViolation::AxesNotUnique { operand, .. } => Some(operand),
            ContractionViolation::SizeMismatch { .. } => Some(1),
            ContractionViolation::AxisCount { .. } => None,
        }
    }

    /// The violation with these names of the operands, in one line.
    pub fn describe(&self, names: &[&str]) -> String {
        let name = |operand: usize| match names.get(operand) {
            Some(name) => format!("`{name}`"),
            None => format!("operand {operand}"),
        };
        let rank = |operand: usize| self.0.operands[operand].rank();
        match self.0.violation {
            ContractionViolation::TooFewAxes { operand, min } => {
                let has = if rank(operand) == 0 { "is a scalar" } else { "is a vector" };
                let axes = if min == 1 { "one axis" } else { "two axes" };
                format!("{} {has}, but needs at least {axes}", name(operand))
            }
            ContractionViolation::AxisOutOfRange { operand, axis } => {
                let (name, rank) = (name(operand), rank(operand));
                format!("axis {axis} of {name} does not exist: its rank is {rank}")
            }
            ContractionViolation::AxesNotUnique { operand, axis } => {
                format!("axis {axis} of {} repeats an axis of the list", name(operand))
            }
            ContractionViolation::AxisCount { counts: [x, y] } => {
                format!("{x} of the axes of {} are paired with {y} of {}", name(0), name(1))
            }
            ContractionViolation::SizeMismatch { axes, sizes, is_summed } => {
                let with = if is_summed { "summed with it" } else { "paired with it" };
                let [x, y] = [0, 1]
                    .map(|operand: usize| format!("axis {} of {}", axes[operand], name(operand)));
                let [of_x, of_y] = sizes;
                format!("{x} has size {of_x}, but {y}, {with}, has size {of_y}")
            }
        }
    }

    /// The remedies, in one line. Each change of the operands was tried: the rule accepts the changed
    /// operands.
    pub fn advice(&self, names: &[&str]) -> Option<String> {
        let name = |operand: usize| match names.get(operand) {
            Some(name) => format!("`{name}`"),
            None => format!("operand {operand}"),
        };
        match self.0.violation {
            ContractionViolation::TooFewAxes { min: 1, .. } => {
                Some("multiply by a scalar with `*`".to_string())
            }
            ContractionViolation::TooFewAxes { .. } => None,
            ContractionViolation::AxisOutOfRange { operand, .. } => {
                match self.0.operands[operand].rank() {
                    0 => Some("a scalar has no axes".to_string()),
                    rank => Some(format!("name an axis from 0 to {}", rank - 1)),
                }
            }
            ContractionViolation::AxesNotUnique { .. } => Some("name each axis once".to_string()),
            ContractionViolation::AxisCount { .. } => {
                Some("name one axis of each operand for each pair".to_string())
            }
            ContractionViolation::SizeMismatch { .. } => {
                let exchanged = |operand: usize| {
                    let shape =
                        self.try_with(|operands| exchange_last_axes(&mut operands[operand]))?;
                    let name = name(operand);
                    Some(format!("exchange the last two axes of {name}: the result is {shape}"))
                };
                let swapped = || {
                    let shape = self.try_with(|operands| {
                        operands.swap(0, 1);
                        Some(())
                    })?;
                    Some(format!("exchange the operands: the result is {shape}"))
                };
                let tried = [exchanged(0), exchanged(1), swapped()];
                let advice: Vec<String> = tried.into_iter().flatten().collect();
                (!advice.is_empty()).then(|| advice.join("; or "))
            }
        }
    }

    /// The result's shape after a change of the operands; `None` if the rule refuses the changed operands
    /// too.
    fn try_with(&self, change: impl FnOnce(&mut [Shape; 2]) -> Option<()>) -> Option<Shape> {
        let mut operands = self.0.operands.clone();
        change(&mut operands)?;
        Some(self.0.rule.elaborate(&operands).ok()?.result())
    }

    /// The diagnostic for a product called `operation` of operands with these names.
    pub fn diagnostic(&self, operation: &str, names: &[&str]) -> Diagnostic {
        let headline = format!("`{operation}`: {}", self.describe(names));
        let mut diagnostic = Diagnostic::new(self.error_code(), headline);
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, shape) in names.iter().zip(&self.0.operands) {
            let blank = " ".repeat(widest - name.chars().count());
            diagnostic.line(format!("   {name}{blank} : {shape}"));
        }
        diagnostic.remark(format!("rule {}", self.label()), self.0.rule.to_string());
        if let Some(advice) = self.advice(names) {
            diagnostic.help(advice);
        }
        diagnostic
    }
}

/// Exchanges the last two sizes; `None` if there are none.
fn exchange_last_axes(shape: &mut Shape) -> Option<()> {
    let mut sizes = shape.to_vec();
    let rank = sizes.len();
    sizes.swap(rank.checked_sub(2)?, rank - 1);
    *shape = sizes.into();
    Some(())
}

impl fmt::Display for ContractionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.describe(&[]))
    }
}

impl core::error::Error for ContractionError {}
