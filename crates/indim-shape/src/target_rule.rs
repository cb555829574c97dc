//! Elaboration of broadcasts to a target shape: the axis map of the data under each rule, and the result's
//! shape.
//!
//! `rule.rs` defines the rules, `rule_set.rs` elaborates element-wise operations, `explicit.rs` has the
//! checks.

use alloc::vec;

use crate::axis_map::AxisMap;
use crate::error::ShapeError;
use crate::explicit::{
    Broadcast, CheckResult, axes_mapping, axis_map_of_dims, bidirectional_sizes, increasing_axes,
    trailing_axes, unexpanded_axes,
};
use crate::rule::{AnyRule, TargetRule};
use crate::rule_set::pdpd_map;
use crate::shape::Shape;
use crate::violation::{AxisOwner, Violation};

/// The axis map of the data, and the result's shape.
type TargetElaboration = CheckResult<(AxisMap, Shape)>;

impl TargetRule {
    /// The explicit form of broadcasting `data` to `target`.
    ///
    /// # Errors
    /// A violated rule, with its label; [E5](crate::rules#the-explicit-form-e) if the result is too large.
    pub fn elaborate(&self, data: &Shape, target: &Shape) -> Result<Broadcast, ShapeError> {
        let operands = core::slice::from_ref(data);
        let axis_map = self.axis_map(data, target);
        axis_map.and_then(|(map, result)| Broadcast::of_maps(operands, vec![map], &result)).map_err(
            |refusal| {
                let rule = AnyRule::Target(self.clone());
                ShapeError::new(refusal, rule, operands, Some(target))
            },
        )
    }

    fn axis_map(&self, data: &Shape, target: &Shape) -> TargetElaboration {
        let map = match self {
            TargetRule::Unidirectional => trailing_axes(data, target)?,
            TargetRule::Bidirectional => return bidirectional(data, target),
            TargetRule::Explicit { axes } => axes_mapping(data, axes, target)?,
            TargetRule::Pdpd { axis } => {
                pdpd_map((AxisOwner::Result, target), (0, data), axis.unwrap_or(-1))?
            }
            TargetRule::XlaBroadcast => {
                let result: Shape = target.iter().chain(data.iter()).copied().collect();
                return Ok((AxisMap::trailing(data.rank(), result.rank()), result));
            }
            TargetRule::XlaBroadcastInDim { dims } => increasing_axes(data, dims, target)?,
            TargetRule::StableHloBroadcastInDim { dims } => {
                axis_map_of_dims(0, data, dims, target.rank())?
            }
            TargetRule::HloBroadcast { dims } => unexpanded_axes(data, dims, target)?,
        };
        Ok((map, target.clone()))
    }
}

/// T2: `data * ones(target)`.
fn bidirectional(data: &Shape, target: &Shape) -> TargetElaboration {
    let rank = data.rank().max(target.rank());
    let map = AxisMap::trailing(data.rank(), rank);
    let result = bidirectional_sizes(data, &map, target)?;
    Ok((map, result))
}

impl AnyRule {
    /// The explicit form of operands under this rule. A target rule needs a target and one operand; other
    /// rules ignore `target`.
    ///
    /// # Errors
    /// A violated rule, with its label; `wrong-operand-count` for a target rule without a target or without
    /// exactly one operand, and for the explicit form, which needs maps.
    pub fn elaborate(
        &self,
        operands: &[Shape],
        target: Option<&Shape>,
    ) -> Result<Broadcast, ShapeError> {
        match (self, operands, target) {
            (AnyRule::Elementwise(rule), ..) => rule.elaborate(operands),
            (AnyRule::Target(rule), [data], Some(target)) => rule.elaborate(data, target),
            _ => {
                let violation = Violation::OperandCount { given: operands.len() };
                let refusal = violation.of_rule(self.label_prefix());
                Err(ShapeError::new(refusal, self.clone(), operands, target))
            }
        }
    }
}
