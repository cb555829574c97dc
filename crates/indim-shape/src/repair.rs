//! Repairs of a broadcast error. Each candidate is elaborated, so every repair is legal.
//!
//! `placement.rs` and `named_repair.rs` propose candidates; `message.rs` has the names for their texts.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::explicit::Broadcast;
use crate::message::OperandNames;
use crate::named_repair::propose;
use crate::placement::{Placement, placements};
use crate::rule::{AnyRule, RuleSet, TargetRule};
use crate::rule_set::right_aligned;
use crate::shape::Shape;
use crate::violation::{AxisOwner, Violation};

/// Maximum placements that repairs cover; each gives up to four repairs, one per rule set.
const MAX_OFFERED_PLACEMENTS: usize = 16;

/// A change that makes an illegal broadcast legal: another rule, or other shapes.
///
/// Displays as one clause: `pdpd axis=1 gives [1, 3, 224, 224]`.
///
/// ```
/// use indim_shape::{AnyRule, RuleSet, Shape, find_repairs};
///
/// let shapes = [Shape::from([2, 3]), Shape::from([2])];
/// let error = RuleSet::Numpy.elaborate(&shapes).unwrap_err();
/// let first = &find_repairs(&error)[0];
/// assert_eq!(first.rule, AnyRule::Elementwise(RuleSet::Xla { dims: vec![0] }));
/// assert_eq!(first.elaborate(&shapes)?.result(), &first.result);
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The rule set to use, with its attributes.
    pub rule: AnyRule,
    /// For each operand its shape after a reshape that inserts or removes axes of size 1; `None` if it keeps
    /// its shape.
    pub reshapes: Vec<Option<Shape>>,
    /// The target of a target rule.
    pub target: Option<Shape>,
    /// The shape of the result.
    pub result: Shape,
    /// The reason why the user may have meant this repair.
    pub reason: Option<RepairReason>,
    /// The number of the broadcast that the repair gives. Repairs with the same number state the same
    /// broadcast under different rule sets.
    pub broadcast_number: usize,
}

/// The reason why a repair is likely to match the user's intent.
///
/// ```
/// use indim_shape::{RepairReason, RuleSet, Shape, find_repairs};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([2])]).unwrap_err();
/// let reason = find_repairs(&error)[0].reason;
/// assert_eq!(reason, Some(RepairReason::OnlyAxisOfSize { operand: Some(0), size: 2 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairReason {
    /// The axis maps to the only axis of equal size.
    OnlyAxisOfSize {
        /// The operand with the only axis; `None` for the target.
        operand: Option<usize>,
        /// The size.
        size: usize,
    },
    /// No other placement of the operand's axes exists.
    OnlyPlacement {
        /// The operand whose axes are placed.
        operand: usize,
    },
}

impl Repair {
    /// Elaborates the repair for the operands of the error.
    ///
    /// # Errors
    /// None for the operands of the error, in their order; a violated rule for others.
    pub fn elaborate(&self, operands: &[Shape]) -> Result<Broadcast, ShapeError> {
        elaborate_reshaped(&self.rule, &self.reshapes, self.target.as_ref(), operands)
    }

    /// The text of the change, without its result.
    pub(crate) fn action(&self, names: &OperandNames<'_>) -> String {
        let rule = match &self.rule {
            AnyRule::Elementwise(RuleSet::Xla { dims }) if dims.is_empty() => {
                String::from("xla without broadcast_dimensions")
            }
            AnyRule::Elementwise(RuleSet::Xla { dims }) => format!("broadcast_dimensions={dims:?}"),
            AnyRule::Elementwise(RuleSet::Named { names }) => {
                let names: Vec<String> = names.iter().map(|names| format!("{names}")).collect();
                format!("names=[{}]", names.join(", "))
            }
            AnyRule::Elementwise(rule) => format!("{rule}"),
            AnyRule::Target(rule) => format!("{rule}"),
            AnyRule::ExplicitForm => format!("{}", self.rule),
        };
        let mut reshapes = String::new();
        for (operand, shape) in self.reshapes.iter().enumerate() {
            if let Some(shape) = shape {
                let and = if reshapes.is_empty() { "" } else { " and " };
                reshapes += &format!("{and}{} reshaped to {shape}", names.plain_name(operand));
            }
        }
        match reshapes.is_empty() {
            true => rule,
            false => format!("{reshapes} under {rule}"),
        }
    }

    /// The reason in parentheses, after a space; empty without a reason.
    pub(crate) fn reason_text(&self, names: &OperandNames<'_>) -> String {
        match self.reason {
            Some(RepairReason::OnlyAxisOfSize { operand, size }) => {
                let whose = names.owner(operand.map_or(AxisOwner::Result, AxisOwner::Operand));
                format!(" (the only axis of {whose} of size {size})")
            }
            Some(RepairReason::OnlyPlacement { operand }) => {
                format!(" (the only place for {})", names.operand(operand))
            }
            None => String::new(),
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = OperandNames::by_position(&self.rule);
        let (action, reason) = (self.action(&names), self.reason_text(&names));
        write!(formatter, "{action} gives {}{reason}", self.result)
    }
}

/// Elaborates operands with new shapes. Shared with `convert.rs`.
pub(crate) fn elaborate_reshaped(
    rule: &AnyRule,
    reshapes: &[Option<Shape>],
    target: Option<&Shape>,
    operands: &[Shape],
) -> Result<Broadcast, ShapeError> {
    let reshaped: Vec<Shape> = operands
        .iter()
        .enumerate()
        .map(|(k, shape)| reshapes.get(k).cloned().flatten().unwrap_or_else(|| shape.clone()))
        .collect();
    rule.elaborate(&reshaped, target)
}

/// `shape` with axis `i` at position `map[i] - start` of `end - start` axes, and ones elsewhere. `None` if
/// that is the shape itself. The map is increasing and within `start..end`.
pub(crate) fn reshape_onto(
    shape: &Shape,
    map: &[usize],
    start: usize,
    end: usize,
) -> Option<Shape> {
    let mut sizes = vec![1; end - start];
    for (&size, &axis) in shape.iter().zip(map) {
        sizes[axis - start] = size;
    }
    Some(Shape::from(sizes)).filter(|reshaped| reshaped != shape)
}

/// The repairs of a broadcast error, the likeliest first. Each is legal, because it was elaborated.
///
/// For each placement of the axes of the operand that is broadcast, the repairs are the rule sets that can
/// state this placement. The search is bounded, so operands with many axes get only the first placements
/// found.
///
/// ```
/// use indim_shape::{RuleSet, Shape, find_repairs};
///
/// let error = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([2])]).unwrap_err();
/// let texts: Vec<String> = find_repairs(&error).iter().map(ToString::to_string).collect();
/// assert_eq!(texts[1], "pdpd axis=0 gives [2, 3] (the only axis of operand 0 of size 2)");
/// ```
pub fn find_repairs(error: &ShapeError) -> Vec<Repair> {
    let mut found = RepairSearch { error, repairs: Vec::new(), broadcast_number: 0 };
    match (error.violation(), error.rule(), error.shapes(), error.target()) {
        (Violation::TooLarge { .. } | Violation::MapCount { .. }, ..) => {}
        (_, AnyRule::Elementwise(RuleSet::Named { names }), ..) => found.try_names(names),
        (_, AnyRule::Elementwise(_), shapes, _) => found.try_elementwise(shapes),
        (_, _, [data], Some(target)) => found.try_target(data, target),
        _ => {}
    }
    found.repairs
}

struct RepairSearch<'a> {
    error: &'a ShapeError,
    repairs: Vec<Repair>,
    broadcast_number: usize,
}

impl RepairSearch<'_> {
    /// Adds the repair if its rule accepts the operands.
    fn add_if_legal(
        &mut self,
        rule: AnyRule,
        reshape: Option<(usize, Shape)>,
        reason: Option<RepairReason>,
    ) {
        let shapes = self.error.shapes();
        let mut reshapes = vec![None; shapes.len()];
        if let Some((operand, shape)) = reshape {
            reshapes[operand] = Some(shape);
        }
        let target = self.error.target().filter(|_| matches!(rule, AnyRule::Target(_)));
        if let Ok(broadcast) = elaborate_reshaped(&rule, &reshapes, target, shapes) {
            let (result, target) = (broadcast.result().clone(), target.cloned());
            let broadcast_number = self.broadcast_number;
            self.repairs.push(Repair { rule, reshapes, target, result, reason, broadcast_number });
        }
    }

    fn try_names(&mut self, names: &[AxisNames]) {
        for proposal in propose(self.error, names) {
            let rule = RuleSet::Named { names: proposal.names };
            let reason = proposal.only_axis.map(|(operand, size)| RepairReason::OnlyAxisOfSize {
                operand: Some(operand),
                size,
            });
            self.add_if_legal(AnyRule::Elementwise(rule), proposal.reshape, reason);
            self.broadcast_number += 1;
        }
    }

    fn try_elementwise(&mut self, shapes: &[Shape]) {
        if matches!(self.error.violation(), Violation::DimsNotTaken { .. }) {
            self.add_if_legal(AnyRule::Elementwise(RuleSet::Xla { dims: Vec::new() }), None, None);
            self.broadcast_number += 1;
        }
        let Some((operand, base)) = operand_and_base(self.error, shapes) else {
            return;
        };
        let candidates = placements(&shapes[operand], &base);
        for placement in candidates.iter().take(MAX_OFFERED_PLACEMENTS) {
            let reason = match shapes {
                [_, _] => reason(&candidates, &shapes[operand], &base, operand, Some(1 - operand)),
                _ => only_placement(&candidates, operand),
            };
            for rule in self.elementwise_rules(&shapes[operand], &base, placement) {
                self.add_if_legal(AnyRule::Elementwise(rule), None, reason);
            }
            let start = placement.axes.first().copied().unwrap_or(base.rank());
            let reshape = reshape_onto(&shapes[operand], &placement.axes, start, base.rank());
            let numpy = AnyRule::Elementwise(RuleSet::Numpy);
            self.add_if_legal(numpy, reshape.map(|shape| (operand, shape)), reason);
            self.broadcast_number += 1;
        }
    }

    /// The rules whose attributes can state a placement, the requested rule first. numpy has no attributes;
    /// the caller tries it with a reshape.
    fn elementwise_rules(
        &self,
        shape: &Shape,
        base: &Shape,
        placement: &Placement,
    ) -> Vec<RuleSet> {
        let mut rules = Vec::new();
        let start = placement.axes.first().copied();
        let axis = start.map(|start| start as i64);
        let is_run = placement.axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        if self.error.shapes().len() == 2 {
            // Without a list, xla accepts equal ranks and a scalar.
            let has_list = shape.rank() < base.rank();
            let dims = if has_list { as_dims(&placement.axes) } else { Vec::new() };
            rules.push(RuleSet::Xla { dims });
        }
        if is_run {
            rules.push(RuleSet::Pdpd { axis });
        }
        match self.error.rule() {
            AnyRule::Elementwise(RuleSet::Pdpd { .. }) => rules.reverse(),
            AnyRule::Elementwise(RuleSet::OnnxLegacy { .. }) if is_run => {
                rules.insert(0, RuleSet::OnnxLegacy { broadcast: true, axis });
            }
            _ => {}
        }
        rules
    }

    fn try_target(&mut self, data: &Shape, target: &Shape) {
        let candidates = placements(data, target);
        let reason = reason(&candidates, data, target, 0, None);
        for placement in candidates.iter().take(MAX_OFFERED_PLACEMENTS) {
            for rule in self.target_rules(placement) {
                self.add_if_legal(AnyRule::Target(rule), None, reason);
            }
            let (start, end) = (placement.axes.first().copied(), target.rank());
            let start = start.unwrap_or(end);
            let reshape = reshape_onto(data, &placement.axes, start, end);
            let unidirectional = AnyRule::Target(TargetRule::Unidirectional);
            self.add_if_legal(unidirectional, reshape.map(|shape| (0, shape)), reason);
            self.broadcast_number += 1;
        }
        // The bidirectional rule helps if the target must grow; otherwise it repeats the other repairs.
        if self.repairs.is_empty() {
            self.add_if_legal(AnyRule::Target(TargetRule::Bidirectional), None, None);
        }
    }

    /// The rules that state a placement: the requested rule with other attributes, else an explicit rule.
    fn target_rules(&self, placement: &Placement) -> Vec<TargetRule> {
        let dims = as_dims(&placement.axes);
        match self.error.rule() {
            AnyRule::Target(TargetRule::XlaBroadcastInDim { .. }) => {
                vec![TargetRule::XlaBroadcastInDim { dims }]
            }
            AnyRule::Target(TargetRule::HloBroadcast { .. }) => {
                vec![
                    TargetRule::HloBroadcast { dims: dims.clone() },
                    TargetRule::StableHloBroadcastInDim { dims },
                ]
            }
            AnyRule::Target(TargetRule::StableHloBroadcastInDim { .. }) | AnyRule::ExplicitForm => {
                vec![TargetRule::StableHloBroadcastInDim { dims }]
            }
            AnyRule::Target(TargetRule::Pdpd { .. }) => {
                let axis = placement.axes.first().map_or(-1, |&axis| axis as i64);
                let pdpd = TargetRule::Pdpd { axis: Some(axis) };
                let is_run = placement.axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
                let explicit = TargetRule::Explicit { axes: dims };
                if is_run { vec![pdpd, explicit] } else { vec![explicit] }
            }
            _ => vec![TargetRule::Explicit { axes: dims }],
        }
    }
}

fn as_dims(axes: &[usize]) -> Vec<i64> {
    axes.iter().map(|&axis| axis as i64).collect()
}

/// The operand to place, and the shape to place it on. With two operands: the one of smaller rank, on the
/// other. With more: the operand at fault, on the NumPy broadcast of the others.
fn operand_and_base(error: &ShapeError, shapes: &[Shape]) -> Option<(usize, Shape)> {
    if let [first, second] = shapes {
        return match first.rank() < second.rank() {
            true => Some((0, second.clone())),
            false => Some((1, first.clone())),
        };
    }
    let operand = error.operand().unwrap_or(0);
    let others = shapes.iter().enumerate().filter(|&(k, _)| k != operand);
    let others: Vec<Shape> = others.map(|(_, shape)| shape.clone()).collect();
    let (_, base) = right_aligned(&others).ok()?;
    shapes.get(operand).map(|_| (operand, base))
}

fn only_placement(candidates: &[Placement], operand: usize) -> Option<RepairReason> {
    (candidates.len() == 1).then_some(RepairReason::OnlyPlacement { operand })
}

/// The reason for placing `small` on `large`: the only axis of equal size, or the only placement.
fn reason(
    candidates: &[Placement],
    small: &Shape,
    large: &Shape,
    operand: usize,
    other: Option<usize>,
) -> Option<RepairReason> {
    match (candidates, small.sizes()) {
        ([placement], &[size]) if large[placement.axes[0]] == size => {
            let is_only = large.iter().filter(|&&other| other == size).count() == 1;
            is_only.then_some(RepairReason::OnlyAxisOfSize { operand: other, size })
        }
        (_, []) => None,
        _ if small.rank() == large.rank() => None,
        _ => only_placement(candidates, operand),
    }
}
