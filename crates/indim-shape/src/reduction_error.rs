//! Errors in the axes of a reduction: typed data, one code and one label each.

use crate::ErrorCode;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::Diagnostic;
use crate::reduction_rule::ReductionRule;
use crate::shape::Shape;

/// The violation of a reduction rule, with the axis at fault.
///
/// ```
/// use indim_shape::{ReductionRule, ReductionViolation, Shape};
///
/// let rule = ReductionRule::Numpy { axis: Some(vec![1, -1]), keepdims: false };
/// let error = rule.elaborate(&Shape::from([4, 3])).unwrap_err();
/// assert_eq!(error.violation(), ReductionViolation::AxesNotUnique { axis: -1 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReductionViolation {
    /// R1: the operand has no such axis.
    AxisOutOfRange {
        /// The axis as given.
        axis: i64,
    },
    /// R2: the rule has no negative axes.
    AxisNegative {
        /// The axis as given.
        axis: i64,
    },
    /// R3: an axis is named twice.
    AxesNotUnique {
        /// The second entry, as given.
        axis: i64,
    },
    /// R4: the rule needs at least one axis.
    AxesMissing,
    /// R5: the axes are an attribute, but this opset of ONNX takes them as an input, or vice versa.
    AxesMisplaced {
        /// The first opset in which the axes are an input.
        input_since: u32,
    },
    /// R6: `noop_with_empty_axes` in an opset of ONNX without it.
    ForeignNoop {
        /// The first opset that has it.
        input_since: u32,
    },
}

/// The error for axes that a reduction rule refuses.
///
/// ```
/// use indim_shape::{ReductionRule, Shape};
///
/// let rule = ReductionRule::OpenVino { axes: vec![2], keep_dims: false };
/// let error = rule.elaborate(&Shape::from([4, 3])).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("axis-out-of-range", "R1"));
/// assert_eq!(error.to_string(), "axis 2 does not exist in a shape of rank 2");
/// assert_eq!(
///     error.diagnostic("ReduceSum").to_string(),
///     "\
/// error[axis-out-of-range]: `ReduceSum`: axis 2 does not exist in a shape of rank 2
///    = rule R1: openvino axes=[2] keep_dims=false of [4, 3]
///    = help: name an axis from -2 to 1
/// "
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionError(Box<ReductionErrorData>);

/// Boxed, so that a `Result` with this error stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReductionErrorData {
    violation: ReductionViolation,
    rule: ReductionRule,
    operand: Shape,
}

impl ReductionError {
    pub(crate) fn new(violation: ReductionViolation, rule: ReductionRule, operand: Shape) -> Self {
        ReductionError(Box::new(ReductionErrorData { violation, rule, operand }))
    }

    /// The violation.
    pub fn violation(&self) -> ReductionViolation {
        self.0.violation
    }

    /// The rule with its attributes as given.
    pub fn rule(&self) -> &ReductionRule {
        &self.0.rule
    }

    /// The operand's shape.
    pub fn operand(&self) -> &Shape {
        &self.0.operand
    }

    /// The stable code: `axis-out-of-range`, `axes-not-unique`, ...
    pub fn code(&self) -> &'static str {
        self.error_code().as_str()
    }

    /// The code as its registry entry.
    pub fn error_code(&self) -> ErrorCode {
        match self.0.violation {
            ReductionViolation::AxisOutOfRange { .. } => ErrorCode::AXIS_OUT_OF_RANGE,
            ReductionViolation::AxisNegative { .. } => ErrorCode::AXIS_NEGATIVE,
            ReductionViolation::AxesNotUnique { .. } => ErrorCode::AXES_NOT_UNIQUE,
            ReductionViolation::AxesMissing => ErrorCode::AXES_MISSING,
            ReductionViolation::AxesMisplaced { .. } => ErrorCode::AXES_MISPLACED,
            ReductionViolation::ForeignNoop { .. } => ErrorCode::FOREIGN_ATTRIBUTE,
        }
    }

    /// The label of the violated rule, as in [the rules](crate::rules#reductions-r).
    pub fn label(&self) -> &'static str {
        match self.0.violation {
            ReductionViolation::AxisOutOfRange { .. } => "R1",
            ReductionViolation::AxisNegative { .. } => "R2",
            ReductionViolation::AxesNotUnique { .. } => "R3",
            ReductionViolation::AxesMissing => "R4",
            ReductionViolation::AxesMisplaced { .. } => "R5",
            ReductionViolation::ForeignNoop { .. } => "R6",
        }
    }

    /// The remedy.
    pub fn advice(&self) -> String {
        let rank = self.0.operand.rank();
        match self.0.violation {
            ReductionViolation::AxisOutOfRange { .. } if rank == 0 => {
                "a scalar has no axes: leave them out".to_string()
            }
            ReductionViolation::AxisOutOfRange { .. } => {
                let first = if self.allows_negative_axes() { -(rank as i64) } else { 0 };
                format!("name an axis from {first} to {}", rank - 1)
            }
            ReductionViolation::AxisNegative { axis } => {
                match axis.checked_add_unsigned(rank as u64) {
                    Some(counted @ 0..) => {
                        format!("write {counted}, the same axis from the front")
                    }
                    _ => "count axes from the front".to_string(),
                }
            }
            ReductionViolation::AxesNotUnique { .. } => "name each axis once".to_string(),
            ReductionViolation::AxesMissing => {
                "name the axes, or leave the reduction out".to_string()
            }
            ReductionViolation::AxesMisplaced { input_since } => {
                format!("axes are an attribute before opset {input_since}, and an input since then")
            }
            ReductionViolation::ForeignNoop { input_since } => {
                format!("leave it out, or ask for opset {input_since}")
            }
        }
    }

    fn allows_negative_axes(&self) -> bool {
        match &self.0.rule {
            ReductionRule::Xla { .. } | ReductionRule::StableHlo { .. } => false,
            ReductionRule::Onnx(onnx) => onnx.allows_negative_axes(),
            _ => true,
        }
    }

    /// The diagnostic for a reduction called `operation`.
    pub fn diagnostic(&self, operation: &str) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(self.error_code(), format!("`{operation}`: {self}"));
        let rule = format!("{} of {}", self.0.rule, self.0.operand);
        diagnostic.remark(format!("rule {}", self.label()), rule);
        diagnostic.help(self.advice());
        diagnostic
    }
}

impl fmt::Display for ReductionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.violation {
            ReductionViolation::AxisOutOfRange { axis } => write!(
                formatter,
                "axis {axis} does not exist in a shape of rank {}",
                self.0.operand.rank()
            ),
            ReductionViolation::AxisNegative { axis } => {
                write!(formatter, "axis {axis} is negative, and this rule counts axes from 0")
            }
            ReductionViolation::AxesNotUnique { axis } => {
                write!(formatter, "axis {axis} repeats an axis of the list")
            }
            ReductionViolation::AxesMissing => formatter.write_str("the list of axes is empty"),
            ReductionViolation::AxesMisplaced { .. } => {
                formatter.write_str("the axes are in a place that this opset does not read")
            }
            ReductionViolation::ForeignNoop { .. } => {
                formatter.write_str("this opset has no `noop_with_empty_axes`")
            }
        }
    }
}

impl core::error::Error for ReductionError {}
