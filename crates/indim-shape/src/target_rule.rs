//! Elaboration of broadcasts to a target shape: the axis map of the data under each rule, and the result's
//! shape.
//!
//! The rules of element-wise operations are in `rule_set.rs`, what both are in `rule.rs`; the checks are in
//! `explicit.rs`.

use alloc::vec;

use crate::axis_map::AxisMap;
use crate::error::ShapeError;
use crate::explicit::{
    Broadcast, Checked, axes_mapping, bidirectional_sizes, increasing_axes, named_axes, suffix,
    unexpanded_axes,
};
use crate::rule::{AnyRule, TargetRule};
use crate::rule_set::pdpd_map;
use crate::shape::Shape;
use crate::violation::{Party, Violation};

/// The axis map of the data, and the result's shape.
type Placed = Checked<(AxisMap, Shape)>;

impl TargetRule {
    /// The explicit form of broadcasting `data` to `target`.
    ///
    /// # Errors
    /// The labels of the rule; [E5](crate::rules#the-explicit-form-e) when the result is too large.
    pub fn elaborate(&self, data: &Shape, target: &Shape) -> Result<Broadcast, ShapeError> {
        let operands = core::slice::from_ref(data);
        let placed = self.placed(data, target);
        placed.and_then(|(map, result)| Broadcast::of_maps(operands, vec![map], &result)).map_err(
            |refusal| {
                let rule = AnyRule::Target(self.clone());
                ShapeError::new(refusal, rule, operands, Some(target))
            },
        )
    }

    fn placed(&self, data: &Shape, target: &Shape) -> Placed {
        let map = match self {
            TargetRule::Unidirectional => suffix(data, target)?,
            TargetRule::Bidirectional => return bidirectional(data, target),
            TargetRule::Explicit { axes } => axes_mapping(data, axes, target)?,
            TargetRule::Pdpd { axis } => {
                pdpd_map((Party::Result, target), (0, data), axis.unwrap_or(-1))?
            }
            TargetRule::XlaBroadcast => {
                let result: Shape = target.iter().chain(data.iter()).copied().collect();
                return Ok((AxisMap::trailing(data.rank(), result.rank()), result));
            }
            TargetRule::XlaBroadcastInDim { dims } => increasing_axes(data, dims, target)?,
            TargetRule::StableHloBroadcastInDim { dims } => {
                named_axes(0, data, dims, target.rank())?
            }
            TargetRule::HloBroadcast { dims } => unexpanded_axes(data, dims, target)?,
        };
        Ok((map, target.clone()))
    }
}

/// T2: `data * ones(target)`.
fn bidirectional(data: &Shape, target: &Shape) -> Placed {
    let rank = data.rank().max(target.rank());
    let map = AxisMap::trailing(data.rank(), rank);
    let result = bidirectional_sizes(data, &map, target)?;
    Ok((map, result))
}

impl AnyRule {
    /// The explicit form of operands under this rule, with the target that a rule of broadcasts takes.
    ///
    /// # Errors
    /// The labels of the rule; `wrong-operand-count` where a rule with a target does not get one, and one
    /// operand.
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
                let refusal = violation.breaks(self.letter());
                Err(ShapeError::new(refusal, self.clone(), operands, target))
            }
        }
    }
}
