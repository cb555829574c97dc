//! Conversion of a reduction from its explicit form to a rule with attributes.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use crate::reduction_error::ReductionError;
use crate::reduction_form::ReductionForm;
use crate::reduction_rule::{OnnxAxes, OnnxReduction, ReductionRule};
use crate::shape::Shape;

macro_rules! names {
    ($($(#[$attribute:meta])+ $variant:ident = $text:literal;)*) => {
        /// The name of a reduction rule, without attributes.
        ///
        /// ```
        /// use indim_shape::ReductionRuleName;
        /// assert_eq!("array-api".parse(), Ok(ReductionRuleName::ArrayApi));
        /// assert_eq!(ReductionRuleName::ALL.len(), 7);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[non_exhaustive]
        pub enum ReductionRuleName {
            $($(#[$attribute])+ $variant,)*
        }

        impl ReductionRuleName {
            /// All names.
            pub const ALL: &[ReductionRuleName] = &[$(ReductionRuleName::$variant),*];

            /// The name.
            pub const fn as_str(self) -> &'static str {
                match self { $(ReductionRuleName::$variant => $text,)* }
            }
        }
    };
}

names! {
    /// [`ReductionRule::Numpy`].
    #[default]
    Numpy = "numpy";
    /// [`ReductionRule::ArrayApi`].
    ArrayApi = "array-api";
    /// [`ReductionRule::Xla`].
    Xla = "xla";
    /// [`ReductionRule::StableHlo`].
    StableHlo = "stablehlo";
    /// [`ReductionRule::Onnx`], of opset 18.
    Onnx = "onnx";
    /// [`ReductionRule::OpenVino`].
    OpenVino = "openvino";
    /// [`ReductionRule::Pdpd`].
    Pdpd = "pdpd";
}

impl ReductionRuleName {
    /// The rule with these axes, or with all axes for `None`. `keeps_axes` is `keepdims`; ONNX's rule is that
    /// of opset 18. `xla`, `stablehlo` and `openvino` need a list, so `rank` gives all axes; `xla` and
    /// `stablehlo` ignore `keeps_axes`.
    ///
    /// ```
    /// use indim_shape::ReductionRuleName;
    /// assert_eq!(ReductionRuleName::Xla.rule(None, false, 2).to_string(), "xla dimensions=[0, 1]");
    /// ```
    pub fn rule(self, axes: Option<&[i64]>, keeps_axes: bool, rank: usize) -> ReductionRule {
        let axis = axes.map(<[i64]>::to_vec);
        let listed = || axis.clone().unwrap_or_else(|| (0..rank as i64).collect());
        match self {
            ReductionRuleName::Numpy => ReductionRule::Numpy { axis, keepdims: keeps_axes },
            ReductionRuleName::ArrayApi => ReductionRule::ArrayApi { axis, keepdims: keeps_axes },
            ReductionRuleName::Xla => ReductionRule::Xla { dimensions: listed() },
            ReductionRuleName::StableHlo => ReductionRule::StableHlo { dimensions: listed() },
            ReductionRuleName::Onnx => ReductionRule::Onnx(OnnxReduction {
                axes: axis.map_or(OnnxAxes::Absent, OnnxAxes::Input),
                keepdims: keeps_axes,
                ..OnnxReduction::new(18, false)
            }),
            ReductionRuleName::OpenVino => {
                ReductionRule::OpenVino { axes: listed(), keep_dims: keeps_axes }
            }
            ReductionRuleName::Pdpd => ReductionRule::Pdpd { axis, keepdim: keeps_axes },
        }
    }
}

impl fmt::Display for ReductionRuleName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The error for a text that names no reduction rule.
///
/// ```
/// let error = "numpi".parse::<indim_shape::ReductionRuleName>().unwrap_err();
/// assert!(error.to_string().starts_with("no rule for reductions has this name; the names are numpy,"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownReductionRule;

impl fmt::Display for UnknownReductionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no rule for reductions has this name; the names are ")?;
        ReductionRuleName::ALL.iter().enumerate().try_for_each(|(index, name)| {
            write!(formatter, "{}{name}", if index == 0 { "" } else { ", " })
        })
    }
}

impl core::error::Error for UnknownReductionRule {}

impl FromStr for ReductionRuleName {
    type Err = UnknownReductionRule;

    fn from_str(text: &str) -> Result<Self, UnknownReductionRule> {
        let known = ReductionRuleName::ALL.iter().copied();
        known.into_iter().find(|name| name.as_str() == text).ok_or(UnknownReductionRule)
    }
}

/// A reduction converted to a rule: the rule with its attributes, and a reshape of the result.
///
/// ```
/// use indim_shape::{ReductionRule, ReductionRuleName, Shape, convert_reduction};
///
/// let kept = ReductionRule::Numpy { axis: Some(vec![-1]), keepdims: true };
/// let form = kept.elaborate(&Shape::from([4, 3]))?;
/// let converted = convert_reduction(&form, ReductionRuleName::Xla).unwrap();
/// assert_eq!(converted.to_string(), "xla dimensions=[1], result reshaped to [4, 1]");
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionConversion {
    /// The rule with its attributes.
    pub rule: ReductionRule,
    /// The shape of the result after a reshape, if the rule cannot keep reduced axes.
    pub reshape: Option<Shape>,
}

impl ReductionConversion {
    /// The shape of the result for an operand of this shape.
    ///
    /// # Errors
    /// None for the operand of the converted reduction; a violated rule for others.
    pub fn result(&self, operand: &Shape) -> Result<Shape, ReductionError> {
        let result = self.rule.elaborate(operand)?.result();
        Ok(self.reshape.clone().unwrap_or(result))
    }
}

impl fmt::Display for ReductionConversion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(formatter)?;
        match &self.reshape {
            Some(shape) => write!(formatter, ", result reshaped to {shape}"),
            None => Ok(()),
        }
    }
}

/// The reason why a rule cannot state a reduction: the rule needs at least one axis, and the reduction
/// has none.
///
/// ```
/// use indim_shape::{ReductionRule, ReductionRuleName, Shape, convert_reduction};
///
/// let none = ReductionRule::Numpy { axis: Some(vec![]), keepdims: false };
/// let form = none.elaborate(&Shape::from([4, 3]))?;
/// let reason = convert_reduction(&form, ReductionRuleName::OpenVino).unwrap_err();
/// assert_eq!(reason.to_string(), "openvino cannot reduce no axis; leave the reduction out");
/// # Ok::<(), indim_shape::ReductionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReductionConversionError {
    /// The rule.
    pub rule: ReductionRuleName,
}

impl fmt::Display for ReductionConversionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} cannot reduce no axis; leave the reduction out", self.rule)
    }
}

impl core::error::Error for ReductionConversionError {}

/// Converts a reduction to the rule of this name. Elaborating the conversion gives the same axes and result.
///
/// # Errors
/// The reason why the rule cannot state it.
pub fn convert_reduction(
    form: &ReductionForm,
    name: ReductionRuleName,
) -> Result<ReductionConversion, ReductionConversionError> {
    let axes: Vec<i64> = form.axes().iter().map(|&axis| axis as i64).collect();
    let is_empty = axes.is_empty();
    if is_empty && matches!(name, ReductionRuleName::OpenVino | ReductionRuleName::Pdpd) {
        return Err(ReductionConversionError { rule: name });
    }
    let keeps = form.keeps_axes();
    let mut rule = name.rule(Some(&axes), keeps, form.operand().rank());
    if let ReductionRule::Onnx(onnx) = &mut rule {
        onnx.noop_with_empty_axes = is_empty;
    }
    let has_no_word = matches!(name, ReductionRuleName::Xla | ReductionRuleName::StableHlo);
    let reshape = (keeps && has_no_word && !is_empty).then(|| form.result());
    Ok(ReductionConversion { rule, reshape })
}
