//! Elaboration of reductions: the reduced axes under each rule.
//!
//! Every rule elaborates into the same explicit form: the axes in ascending order, and whether they stay with
//! size 1. `reduction_error.rs` has the errors, `reduction_convert.rs` the inverse.

use alloc::vec::Vec;
use core::fmt;

use crate::reduction_error::{ReductionError, ReductionViolation};
use crate::reduction_rule::{OnnxAxes, OnnxReduction, ReductionRule};
use crate::shape::Shape;

/// The explicit form of a reduction: the reduced axes of the operand.
///
/// ```
/// use indim_shape::{ReductionRule, Shape};
///
/// let rule = ReductionRule::Xla { dimensions: vec![2, 0] };
/// let form = rule.elaborate(&Shape::from([4, 3, 2]))?;
/// assert_eq!((form.axes(), form.keeps_axes()), (&[0, 2][..], false));
/// assert_eq!(form.to_string(), "axes [0, 2] of [4, 3, 2] go: [3]");
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionForm {
    operand: Shape,
    axes: Vec<usize>,
    keeps_axes: bool,
}

impl ReductionForm {
    /// The operand's shape.
    pub fn operand(&self) -> &Shape {
        &self.operand
    }

    /// The reduced axes, in ascending order.
    pub fn axes(&self) -> &[usize] {
        &self.axes
    }

    /// Whether the reduced axes stay, with size 1.
    pub fn keeps_axes(&self) -> bool {
        self.keeps_axes
    }

    /// The result's shape.
    pub fn result(&self) -> Shape {
        let is_in_result = |axis: &usize| self.keeps_axes || !self.axes.contains(axis);
        let size = |axis: usize| if self.axes.contains(&axis) { 1 } else { self.operand[axis] };
        (0..self.operand.rank()).filter(is_in_result).map(size).collect::<Vec<usize>>().into()
    }
}

impl fmt::Display for ReductionForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReductionForm { operand, axes, keeps_axes } = self;
        let change = if *keeps_axes { "become 1" } else { "go" };
        write!(formatter, "axes {axes:?} of {operand} {change}: {}", self.result())
    }
}

impl ReductionRule {
    /// The explicit form for an operand of this shape.
    ///
    /// # Errors
    /// [R1 to R6](crate::rules#reductions-r).
    pub fn elaborate(&self, operand: &Shape) -> Result<ReductionForm, ReductionError> {
        let rank = operand.rank();
        let axes = match self {
            ReductionRule::Numpy { axis: Some(axes), .. } if rank == 0 => scalar_axes(axes),
            ReductionRule::Numpy { axis, .. } | ReductionRule::ArrayApi { axis, .. } => {
                axes_or_all(axis.as_deref(), rank)
            }
            ReductionRule::Xla { dimensions } | ReductionRule::StableHlo { dimensions } => {
                check_not_negative(dimensions).and_then(|()| normalized_axes(dimensions, rank))
            }
            ReductionRule::Onnx(onnx) => onnx.reduced_axes(rank),
            ReductionRule::OpenVino { axes, .. } => {
                check_not_empty(axes).and_then(|()| normalized_axes(axes, rank))
            }
            ReductionRule::Pdpd { axis: None, .. } => Ok((0..rank).collect()),
            ReductionRule::Pdpd { axis: Some(axes), .. } => {
                check_not_empty(axes).and_then(|()| normalized_axes(axes, rank))
            }
        };
        match axes {
            Ok(axes) => {
                let (operand, keeps_axes) = (operand.clone(), self.keeps_axes());
                Ok(ReductionForm { operand, axes, keeps_axes })
            }
            Err(violation) => Err(ReductionError::new(violation, self.clone(), operand.clone())),
        }
    }

    fn keeps_axes(&self) -> bool {
        match self {
            ReductionRule::Numpy { keepdims, .. } | ReductionRule::ArrayApi { keepdims, .. } => {
                *keepdims
            }
            ReductionRule::Xla { .. } | ReductionRule::StableHlo { .. } => false,
            ReductionRule::Onnx(onnx) => onnx.keepdims,
            ReductionRule::OpenVino { keep_dims, .. } => *keep_dims,
            ReductionRule::Pdpd { keepdim, .. } => *keepdim,
        }
    }
}

type AxesResult = Result<Vec<usize>, ReductionViolation>;

impl OnnxReduction {
    fn reduced_axes(&self, rank: usize) -> AxesResult {
        let is_input = self.opset >= self.input_since();
        let misplaced = ReductionViolation::AxesMisplaced { input_since: self.input_since() };
        let axes: &[i64] = match &self.axes {
            OnnxAxes::Absent => &[],
            OnnxAxes::Attribute(axes) if !is_input => axes,
            OnnxAxes::Input(axes) if is_input => axes,
            _ => return Err(misplaced),
        };
        if self.noop_with_empty_axes && !is_input {
            return Err(ReductionViolation::ForeignNoop { input_since: self.input_since() });
        }
        if !self.allows_negative_axes() {
            check_not_negative(axes)?;
        }
        match axes {
            [] if self.noop_with_empty_axes => Ok(Vec::new()),
            [] => Ok((0..rank).collect()),
            axes => normalized_axes(axes, rank),
        }
    }
}

/// NumPy accepts the axes 0 and -1 of a scalar, once.
fn scalar_axes(axes: &[i64]) -> AxesResult {
    match axes.iter().find(|axis| !matches!(axis, 0 | -1)) {
        Some(&axis) => Err(ReductionViolation::AxisOutOfRange { axis }),
        None if axes.len() > 1 => Err(ReductionViolation::AxesNotUnique { axis: axes[1] }),
        None => Ok(Vec::new()),
    }
}

fn axes_or_all(axes: Option<&[i64]>, rank: usize) -> AxesResult {
    axes.map_or_else(|| Ok((0..rank).collect()), |axes| normalized_axes(axes, rank))
}

/// R4: the list has an axis.
fn check_not_empty(axes: &[i64]) -> Result<(), ReductionViolation> {
    if axes.is_empty() { Err(ReductionViolation::AxesMissing) } else { Ok(()) }
}

/// R2: no axis is negative.
fn check_not_negative(axes: &[i64]) -> Result<(), ReductionViolation> {
    match axes.iter().find(|&&axis| axis < 0) {
        Some(&axis) => Err(ReductionViolation::AxisNegative { axis }),
        None => Ok(()),
    }
}

/// R1 and R3, axis by axis. Returns the axes counted from the front, in ascending order.
fn normalized_axes(given: &[i64], rank: usize) -> AxesResult {
    let mut axes = Vec::with_capacity(given.len());
    for &axis in given {
        let counted = if axis < 0 { axis.checked_add_unsigned(rank as u64) } else { Some(axis) };
        let counted =
            counted.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        match counted {
            Some(counted) if axes.contains(&counted) => {
                return Err(ReductionViolation::AxesNotUnique { axis });
            }
            Some(counted) => axes.push(counted),
            None => return Err(ReductionViolation::AxisOutOfRange { axis }),
        }
    }
    axes.sort_unstable();
    Ok(axes)
}
