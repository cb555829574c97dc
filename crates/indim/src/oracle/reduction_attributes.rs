//! What is said of a reduction, and the rule that it makes.

use indim_shape::{OnnxAxes, OnnxReduction, ReductionRule, ReductionRuleName};

/// The attributes of a reduction under any rule.
///
/// ```
/// use indim::oracle::ReductionAttributes;
/// use indim_shape::ReductionRuleName;
///
/// let said = ReductionAttributes { axes: Some(vec![-1]), opset: Some(11), ..Default::default() };
/// let rule = said.rule(ReductionRuleName::Onnx, true, 2).unwrap();
/// assert_eq!(rule.to_string(), "onnx opset=11 axes=[-1] keepdims=1");
/// let refused = said.rule(ReductionRuleName::Numpy, true, 2).unwrap_err();
/// assert_eq!(refused, "rule `numpy` has no attribute `opset`");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReductionAttributes {
    /// The axes; all, or what the rule says, without them.
    pub axes: Option<Vec<i64>>,
    /// The axes where ONNX has them in an input.
    pub axes_input: Option<Vec<i64>>,
    /// Whether the axes stay, with size 1.
    pub keepdims: Option<bool>,
    /// Of ONNX: whether without axes none is reduced.
    pub noop_with_empty_axes: Option<bool>,
    /// Of ONNX, 18 when absent.
    pub opset: Option<u32>,
}

impl ReductionAttributes {
    /// The rule of this name with these attributes, for an operand of this rank; `is_sum` is whether the
    /// function is the sum, whose axes ONNX made an input earlier than those of the others.
    ///
    /// # Errors
    /// What is wrong: an attribute that the rule has not, or axes that are given twice.
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
            (Some(_), Some(_)) => return Err("axes stand in `axes` or in `axes_input`".to_owned()),
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

    /// The first attribute that is given and that the rule has not.
    fn foreign_to(&self, name: ReductionRuleName) -> Option<&'static str> {
        let is_onnx = name == ReductionRuleName::Onnx;
        let has_no_word = matches!(name, ReductionRuleName::Xla | ReductionRuleName::StableHlo);
        [
            ("keepdims", self.keepdims.is_some() && has_no_word),
            ("axes_input", self.axes_input.is_some() && !is_onnx),
            ("noop_with_empty_axes", self.noop_with_empty_axes.is_some() && !is_onnx),
            ("opset", self.opset.is_some() && !is_onnx),
        ]
        .into_iter()
        .find_map(|(attribute, is_foreign)| is_foreign.then_some(attribute))
    }
}
