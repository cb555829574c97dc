//! Reductions as systems write them: each rule with its attributes, as data.
//!
//! `reduction_form.rs` determines the reduced axes under each.

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
    /// NumPy: the axes, all of them without a list; a scalar has the axes 0 and -1.
    Numpy {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// Whether the axes stay, with size 1.
        keepdims: bool,
    },
    /// The array API: as NumPy, but that a scalar has no axis.
    ArrayApi {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// Whether the axes stay, with size 1.
        keepdims: bool,
    },
    /// XLA's `Reduce`: the axes go, counted from the front, in any order.
    Xla {
        /// `dimensions`.
        dimensions: Vec<i64>,
    },
    /// StableHLO's `reduce`, as XLA's.
    StableHlo {
        /// `dimensions`.
        dimensions: Vec<i64>,
    },
    /// ONNX's `ReduceSum` and its kin.
    Onnx(OnnxReduction),
    /// OpenVINO's `ReduceSum` and its kin: the list has an axis.
    OpenVino {
        /// The constant input `axes`.
        axes: Vec<i64>,
        /// `keep_dims`.
        keep_dims: bool,
    },
    /// Paddle's `sum` and its kin.
    Pdpd {
        /// `axis`; `None` means all.
        axis: Option<Vec<i64>>,
        /// `keepdim`.
        keepdim: bool,
    },
}

/// A reduction of ONNX: what its attributes mean has changed.
///
/// ```
/// use indim_shape::{OnnxAxes, OnnxReduction, ReductionRule, Shape};
///
/// let sum = OnnxReduction { axes: OnnxAxes::Input(vec![-1]), ..OnnxReduction::new(13, true) };
/// let form = ReductionRule::Onnx(sum).elaborate(&Shape::from([4, 3]))?;
/// assert_eq!(form.result(), Shape::from([4, 1])); // keepdims is 1 unless it is said
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OnnxReduction {
    /// The version of the operator set.
    pub opset: u32,
    /// Whether it is `ReduceSum`, whose axes are an input from opset 13 on; those of the others from 18 on.
    pub is_sum: bool,
    /// The axes.
    pub axes: OnnxAxes,
    /// `keepdims`.
    pub keepdims: bool,
    /// Whether without axes none is reduced; else all are. It came with the input.
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
    /// Nowhere.
    Absent,
    /// In the attribute `axes`.
    Attribute(Vec<i64>),
    /// In the second input, which must be known.
    Input(Vec<i64>),
}

impl OnnxReduction {
    /// A reduction without axes, and with the defaults of its attributes.
    pub const fn new(opset: u32, is_sum: bool) -> Self {
        let axes = OnnxAxes::Absent;
        OnnxReduction { opset, is_sum, axes, keepdims: true, noop_with_empty_axes: false }
    }

    /// The first opset in which the axes are an input.
    pub const fn input_since(&self) -> u32 {
        if self.is_sum { 13 } else { 18 }
    }

    /// Whether negative axes count from the end.
    pub(crate) fn counts_from_the_end(&self) -> bool {
        self.opset >= ONNX_NEGATIVE_SINCE
    }
}

/// The first opset of ONNX in which axes count from the end where they are negative.
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

/// In Python's notation, without defaults.
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
