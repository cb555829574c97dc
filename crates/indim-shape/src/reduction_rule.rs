//! The reduction rules of each system with their attributes, as data.
//!
//! `reduction_form.rs` determines the reduced axes under each rule.

use alloc::vec::Vec;
use core::fmt;

/// A system's rule for the axes of a reduction, with its attributes.
///
/// The labels are those of [the rules](crate::rules#reductions-r).
///
/// ```
/// use indim_shape::{ReductionRule, Shape};
///
/// let rule = ReductionRule::Numpy { axis: Some(vec![-1]), keepdims: true };
/// let form = rule.elaborate(&Shape::from([4, 3]))?;
/// assert_eq!((form.axes(), form.result()), (&[1][..], Shape::from([4, 1])));
/// assert_eq!(rule.to_string(), "numpy axis=[-1] keepdims=True");
///
/// let error = ReductionRule::Xla { dimensions: vec![-1] }.elaborate(&Shape::from([4, 3])).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("axis-negative", "R2"));
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReductionRule {
    /// NumPy: `None` means all axes; a scalar has the axes 0 and -1.
    Numpy {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// Whether the axes stay, with size 1.
        keepdims: bool,
    },
    /// The array API: like NumPy, except that a scalar has no axis.
    ArrayApi {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// Whether the axes stay, with size 1.
        keepdims: bool,
    },
    /// XLA's `Reduce`: removes the axes, counted from the front, in any order.
    Xla {
        /// `dimensions`.
        dimensions: Vec<i64>,
    },
    /// StableHLO's `reduce`: like XLA's.
    StableHlo {
        /// `dimensions`.
        dimensions: Vec<i64>,
    },
    /// ONNX's `ReduceSum` and similar operators.
    Onnx(OnnxReduction),
    /// OpenVINO's `ReduceSum` and similar operations; the list is not empty.
    OpenVino {
        /// The constant input `axes`.
        axes: Vec<i64>,
        /// `keep_dims`.
        keep_dims: bool,
    },
    /// Paddle's `sum` and similar functions.
    Pdpd {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// `keepdim`.
        keepdim: bool,
    },
}

/// A reduction of ONNX. The meaning of its attributes depends on the opset.
///
/// ```
/// use indim_shape::{OnnxAxes, OnnxReduction, ReductionRule, Shape};
///
/// let sum = OnnxReduction { axes: OnnxAxes::Input(vec![-1]), ..OnnxReduction::new(13, true) };
/// let form = ReductionRule::Onnx(sum).elaborate(&Shape::from([4, 3]))?;
/// assert_eq!(form.result(), Shape::from([4, 1])); // keepdims is 1 by default
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OnnxReduction {
    /// The version of the operator set.
    pub opset: u32,
    /// Whether the operator is `ReduceSum`: its axes are an input since opset 13, the axes of the other
    /// operators since opset 18.
    pub is_sum: bool,
    /// The axes.
    pub axes: OnnxAxes,
    /// `keepdims`.
    pub keepdims: bool,
    /// Whether an empty or absent list reduces no axis instead of all. Exists only if axes are an input.
    pub noop_with_empty_axes: bool,
}

/// The place of the axes of an ONNX reduction: an attribute or an input.
///
/// ```
/// use indim_shape::{OnnxAxes, OnnxReduction};
/// assert_eq!(OnnxReduction::new(18, false).axes, OnnxAxes::Absent);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OnnxAxes {
    /// No axes are given.
    Absent,
    /// The attribute `axes`.
    Attribute(Vec<i64>),
    /// The second input, which must be a constant.
    Input(Vec<i64>),
}

impl OnnxReduction {
    /// A reduction without axes and with default attributes.
    pub const fn new(opset: u32, is_sum: bool) -> Self {
        let axes = OnnxAxes::Absent;
        OnnxReduction { opset, is_sum, axes, keepdims: true, noop_with_empty_axes: false }
    }

    /// The first opset in which the axes are an input.
    pub const fn input_since(&self) -> u32 {
        if self.is_sum { 13 } else { 18 }
    }

    /// Whether the opset allows negative axes, which count from the end.
    pub(crate) fn allows_negative_axes(&self) -> bool {
        self.opset >= ONNX_NEGATIVE_SINCE
    }
}

/// The first opset of ONNX with negative axes, which count from the end.
const ONNX_NEGATIVE_SINCE: u32 = 11;

impl fmt::Display for ReductionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReductionRule::Numpy { axis, keepdims } => {
                write_named(formatter, "numpy", axis.as_deref(), "keepdims", *keepdims)
            }
            ReductionRule::ArrayApi { axis, keepdims } => {
                write_named(formatter, "array-api", axis.as_deref(), "keepdims", *keepdims)
            }
            ReductionRule::Xla { dimensions } => write!(formatter, "xla dimensions={dimensions:?}"),
            ReductionRule::StableHlo { dimensions } => {
                write!(formatter, "stablehlo dimensions={dimensions:?}")
            }
            ReductionRule::Onnx(onnx) => onnx.fmt(formatter),
            ReductionRule::OpenVino { axes, keep_dims } => {
                write!(formatter, "openvino axes={axes:?} keep_dims={keep_dims}")
            }
            ReductionRule::Pdpd { axis, keepdim } => {
                write_named(formatter, "pdpd", axis.as_deref(), "keepdim", *keepdim)
            }
        }
    }
}

/// Writes a rule in Python's notation, without `keepdims` if it is the default.
fn write_named(
    formatter: &mut fmt::Formatter<'_>,
    name: &str,
    axes: Option<&[i64]>,
    keeps_name: &str,
    keeps: bool,
) -> fmt::Result {
    formatter.write_str(name)?;
    match axes {
        Some(axes) => write!(formatter, " axis={axes:?}")?,
        None => formatter.write_str(" axis=None")?,
    }
    if keeps { write!(formatter, " {keeps_name}=True") } else { Ok(()) }
}

impl fmt::Display for OnnxReduction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "onnx opset={}", self.opset)?;
        match &self.axes {
            OnnxAxes::Absent => {}
            OnnxAxes::Attribute(axes) => write!(formatter, " axes={axes:?}")?,
            OnnxAxes::Input(axes) => write!(formatter, " input axes={axes:?}")?,
        }
        write!(formatter, " keepdims={}", u8::from(self.keepdims))?;
        match self.noop_with_empty_axes {
            true => formatter.write_str(" noop_with_empty_axes=1"),
            false => Ok(()),
        }
    }
}
