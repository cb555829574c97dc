//! The attributes of a reduction, and the rule with them.

use indim_shape::{OnnxAxes, OnnxReduction, ReductionRule, ReductionRuleName};

/// The attributes of a reduction under any rule.
///
/// ```
/// use indim_oracle::ReductionAttributes;
/// use indim_shape::ReductionRuleName;
///
/// let attributes = ReductionAttributes { axes: Some(vec![-1]), opset: Some(11), ..Default::default() };
/// let rule = attributes.rule(ReductionRuleName::Onnx, true, 2).unwrap();
/// assert_eq!(rule.to_string(), "onnx opset=11 axes=[-1] keepdims=1");
/// let refused = attributes.rule(ReductionRuleName::Numpy, true, 2).unwrap_err();
/// assert_eq!(refused, "rule `numpy` has no attribute `opset`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReductionAttributes {
    /// The axes; if absent, all axes (for ONNX see `noop_with_empty_axes`).
    pub axes: Option<Vec<i64>>,
    /// The axes as an input of ONNX.
    pub axes_input: Option<Vec<i64>>,
    /// Whether the result has the reduced axes, with size 1.
    pub keepdims: Option<bool>,
    /// ONNX: whether an empty list reduces no axis.
    pub noop_with_empty_axes: Option<bool>,
    /// ONNX: the opset; 18 if absent.
    pub opset: Option<u32>,
}

impl ReductionAttributes {
    /// The rule of this name with these attributes, for an operand of this rank. `is_sum` tells whether
    /// the function is the sum: ONNX made the axes of the sum an input in opset 13, the axes of other
    /// reductions in a later opset.
    ///
    /// # Errors
    /// A message: the rule lacks an attribute, or both `axes` and `axes_input` are given.
    pub fn rule(
        &self,
        name: ReductionRuleName,
        is_sum: bool,
        rank: usize,
    ) -> Result<ReductionRule, String> {
        if let Some(attribute) = self.foreign_to(name) {
            return Err(format!("rule `{name}` has no attribute `{attribute}`"));
        }
        if name != ReductionRuleName::Onnx {
            return Ok(name.rule(self.axes.as_deref(), self.keepdims.unwrap_or(false), rank));
        }
        let axes = match (&self.axes, &self.axes_input) {
            (Some(_), Some(_)) => {
                return Err("axes are in `axes` or in `axes_input`, not in both".to_owned());
            }
            (Some(axes), None) => OnnxAxes::Attribute(axes.clone()),
            (None, Some(axes)) => OnnxAxes::Input(axes.clone()),
            (None, None) => OnnxAxes::Absent,
        };
        Ok(ReductionRule::Onnx(OnnxReduction {
            axes,
            keepdims: self.keepdims.unwrap_or(true),
            noop_with_empty_axes: self.noop_with_empty_axes.unwrap_or(false),
            ..OnnxReduction::new(self.opset.unwrap_or(18), is_sum)
        }))
    }

    /// The first given attribute that the rule lacks.
    fn foreign_to(&self, name: ReductionRuleName) -> Option<&'static str> {
        let is_onnx = name == ReductionRuleName::Onnx;
        let lacks_keepdims = matches!(name, ReductionRuleName::Xla | ReductionRuleName::StableHlo);
        [
            ("keepdims", self.keepdims.is_some() && lacks_keepdims),
            ("axes_input", self.axes_input.is_some() && !is_onnx),
            ("noop_with_empty_axes", self.noop_with_empty_axes.is_some() && !is_onnx),
            ("opset", self.opset.is_some() && !is_onnx),
        ]
        .into_iter()
        .find_map(|(attribute, is_foreign)| is_foreign.then_some(attribute))
    }
}
