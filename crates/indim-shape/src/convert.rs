//! Conversion of a broadcast from its explicit form to a rule set with attributes.
//!
//! The inverse of `RuleSet::elaborate` and `TargetRule::elaborate`: elaborating the conversion gives the same
//! explicit form, except for axes that a reshape inserts or removes.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::explicit::Broadcast;
use crate::repair::{elaborate_reshaped, reshape_onto};
use crate::rule::{AnyRule, RuleSet, TargetRule};
use crate::rule_set_name::RuleSetName;
use crate::shape::Shape;

/// A broadcast converted to a rule: the rule with its attributes, and reshapes of operands.
///
/// ```
/// use indim_shape::{RuleSet, RuleSetName, Shape, convert_broadcast};
///
/// let operands = [Shape::from([2, 3, 4]), Shape::from([3])];
/// let form = RuleSet::Pdpd { axis: Some(1) }.elaborate(&operands)?;
/// let converted = convert_broadcast(&form, RuleSetName::Numpy).unwrap();
/// assert_eq!(converted.to_string(), "numpy, operand 1 reshaped to [3, 1]");
/// assert_eq!(converted.elaborate(&operands)?.result(), form.result());
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleConversion {
    /// The rule set with its attributes.
    pub rule: AnyRule,
    /// For each operand its shape after a reshape that inserts or removes axes of size 1; `None` if it keeps
    /// its shape.
    pub reshapes: Vec<Option<Shape>>,
    /// The target of a target rule.
    pub target: Option<Shape>,
}

impl RuleConversion {
    /// Elaborates the conversion for the operands of the converted broadcast.
    ///
    /// # Errors
    /// None for those operands; a violated rule for others.
    pub fn elaborate(&self, operands: &[Shape]) -> Result<Broadcast, ShapeError> {
        elaborate_reshaped(&self.rule, &self.reshapes, self.target.as_ref(), operands)
    }
}

impl fmt::Display for RuleConversion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            AnyRule::Elementwise(rule) => write!(formatter, "{rule}")?,
            AnyRule::Target(rule) => write!(formatter, "{rule}")?,
            AnyRule::ExplicitForm => write!(formatter, "{}", self.rule)?,
        }
        if let Some(target) = &self.target {
            write!(formatter, " target={target}")?;
        }
        for (operand, shape) in self.reshapes.iter().enumerate() {
            if let Some(shape) = shape {
                write!(formatter, ", operand {operand} reshaped to {shape}")?;
            }
        }
        Ok(())
    }
}

/// The reason why a rule set cannot state a broadcast.
///
/// ```
/// use indim_shape::{Broadcast, RuleSetName, Shape, convert_broadcast};
///
/// let turned = Broadcast::explicit(&[Shape::from([2, 3])], &[vec![1, 0]], Shape::from([3, 2]))?;
/// let reason = convert_broadcast(&turned, RuleSetName::Unidirectional).unwrap_err();
/// assert_eq!(reason.to_string(), "unidirectional keeps the order of axes; transpose operand 0 first");
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleConversionError {
    /// The rule set is not defined for this number of operands.
    OperandCount {
        /// The rule set.
        rule: RuleSetName,
        /// The number of operands of the form.
        given: usize,
    },
    /// No operand has the result's size on this axis, and an element-wise rule has no target that could
    /// supply it.
    Uncovered {
        /// The axis of the result.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// An operand's map permutes its axes, and the rule set has no attribute for a permutation.
    Permutes {
        /// The rule set.
        rule: RuleSetName,
        /// The operand.
        operand: usize,
    },
    /// The rule set orders the result axes by their first appearance in the operands; the form has
    /// another order.
    Reorders {
        /// The rule set.
        rule: RuleSetName,
        /// The operand whose axis breaks the order.
        operand: usize,
        /// The axis of the result on which it lands.
        axis: usize,
    },
    /// An operand would have to expand where the rule set demands the result's size.
    Expands {
        /// The rule set.
        rule: RuleSetName,
        /// The operand.
        operand: usize,
        /// The axis of the result.
        axis: usize,
        /// Its size.
        size: usize,
    },
}

impl fmt::Display for RuleConversionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleConversionError::OperandCount { rule, given } => {
                write!(formatter, "{rule} does not take {given} operands")
            }
            RuleConversionError::Uncovered { axis, size } => write!(
                formatter,
                "no operand gives axis {axis} of the result its size {size}; use a target rule"
            ),
            RuleConversionError::Permutes { rule, operand } => {
                write!(
                    formatter,
                    "{rule} keeps the order of axes; transpose operand {operand} first"
                )
            }
            RuleConversionError::Reorders { rule, operand, axis } => write!(
                formatter,
                "{rule} has the axes in the order in which operands have them first, and operand \
                 {operand} lands on axis {axis} before an axis in front of that"
            ),
            RuleConversionError::Expands { rule, operand, axis, size } => write!(
                formatter,
                "{rule} does not expand operand {operand} to size {size} on axis {axis} of the result"
            ),
        }
    }
}

impl core::error::Error for RuleConversionError {}

/// Converts a broadcast to the rule set `as_rule`.
///
/// ```
/// use indim_shape::{RuleSet, RuleSetName, Shape, convert_broadcast};
///
/// let operands = [Shape::from([1, 3, 224, 224]), Shape::from([3])];
/// let broadcast = RuleSet::Pdpd { axis: Some(1) }.elaborate(&operands)?;
/// let say = |name| convert_broadcast(&broadcast, name).unwrap().to_string();
/// assert_eq!(say(RuleSetName::Xla), "xla broadcast_dimensions=[1]");
/// assert_eq!(say(RuleSetName::Numpy), "numpy, operand 1 reshaped to [3, 1, 1]");
/// assert_eq!(
///     convert_broadcast(&broadcast, RuleSetName::None).unwrap_err().to_string(),
///     "none does not expand operand 1 to size 224 on axis 2 of the result",
/// );
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
///
/// # Errors
/// The reason why the rule set has no attributes for this broadcast.
pub fn convert_broadcast(
    broadcast: &Broadcast,
    as_rule: RuleSetName,
) -> Result<RuleConversion, RuleConversionError> {
    let form = Converter { broadcast, rule: as_rule };
    match as_rule.is_target_rule() {
        true => form.as_target_rule(),
        false => form.as_elementwise_rule(),
    }
}

/// The broadcast to convert, and the rule set to convert it to.
struct Converter<'a> {
    broadcast: &'a Broadcast,
    rule: RuleSetName,
}

/// The attributes of a rule set, and the operands' new shapes.
type ElementwiseConversion = Result<(RuleSet, Vec<Option<Shape>>), RuleConversionError>;

impl Converter<'_> {
    fn result(&self) -> &Shape {
        self.broadcast.result()
    }

    fn rank(&self) -> usize {
        self.result().rank()
    }

    fn operand(&self, operand: usize) -> (&Shape, &[usize]) {
        (&self.broadcast.operands()[operand], &self.broadcast.maps()[operand])
    }

    /// The operand reshaped to the result axes `start..end`, with ones where it has no axis.
    fn reshape(&self, operand: usize, start: usize, end: usize) -> Option<Shape> {
        let (shape, map) = self.operand(operand);
        reshape_onto(shape, map, start, end)
    }

    /// The first result axis of the operand, and one past its last; an empty span at `default` for a scalar.
    fn span(&self, operand: usize, default: usize) -> (usize, usize) {
        let (_, map) = self.operand(operand);
        match (map.first(), map.last()) {
            (Some(&first), Some(&last)) => (first, last + 1),
            _ => (default, default),
        }
    }

    fn check_increasing(&self) -> Result<(), RuleConversionError> {
        let permuting = self.broadcast.maps().iter().position(|map| !map.is_increasing());
        permuting.map_or(Ok(()), |operand| {
            Err(RuleConversionError::Permutes { rule: self.rule, operand })
        })
    }

    /// Checks that each result axis has the size of an operand axis that maps to it.
    fn check_covered(&self) -> Result<(), RuleConversionError> {
        let mut covered = vec![false; self.rank()];
        for operand in 0..self.broadcast.operands().len() {
            let (shape, map) = self.operand(operand);
            for (&size, &axis) in shape.iter().zip(map) {
                covered[axis] |= size == self.result()[axis];
            }
        }
        let uncovered = covered.iter().position(|&covered| !covered);
        uncovered.map_or(Ok(()), |axis| {
            Err(RuleConversionError::Uncovered { axis, size: self.result()[axis] })
        })
    }

    /// The reshape that gives the operand the result's sizes from axis `start` on, or `None` if it has them.
    /// An error if the operand would have to expand there.
    fn reshape_unexpanded(
        &self,
        operand: usize,
        start: usize,
    ) -> Result<Option<Shape>, RuleConversionError> {
        let (shape, map) = self.operand(operand);
        let mut sizes = vec![1; self.rank()];
        for (&size, &axis) in shape.iter().zip(map) {
            sizes[axis] = size;
        }
        let differs = |&axis: &usize| sizes[axis] != self.result()[axis];
        match (start..self.rank()).find(differs) {
            Some(axis) => {
                let size = self.result()[axis];
                Err(RuleConversionError::Expands { rule: self.rule, operand, axis, size })
            }
            None => Ok(self.reshape(operand, start, self.rank())),
        }
    }

    fn as_elementwise_rule(&self) -> Result<RuleConversion, RuleConversionError> {
        let given = self.broadcast.operands().len();
        let is_limited = matches!(self.rule, RuleSetName::Xla | RuleSetName::Pdpd);
        if given == 0 || (is_limited && given > 3) {
            return Err(RuleConversionError::OperandCount { rule: self.rule, given });
        }
        if self.rule == RuleSetName::Named {
            let (rule, reshapes) = self.as_named()?;
            return Ok(RuleConversion { rule: AnyRule::Elementwise(rule), reshapes, target: None });
        }
        self.check_increasing()?;
        self.check_covered()?;
        let (rule, reshapes) = match (self.rule, given) {
            (RuleSetName::Numpy, _) => self.as_numpy(),
            (RuleSetName::Xla, 2) => self.as_xla_binary(),
            (RuleSetName::Xla, _) => self.scalars_or_full(RuleSet::Xla { dims: Vec::new() }, None),
            (RuleSetName::StableHlo, 3) => self.scalars_or_full(RuleSet::StableHlo, Some(1)),
            (RuleSetName::StableHlo, _) => self.all_full(RuleSet::StableHlo),
            (RuleSetName::Pdpd, _) => self.as_pdpd(usize::from(given == 3)),
            (RuleSetName::OnnxLegacy, _) => self.as_onnx_legacy(),
            _ => self.all_full(RuleSet::None),
        }?;
        Ok(RuleConversion { rule: AnyRule::Elementwise(rule), reshapes, target: None })
    }

    /// Gives all operands the result's shape.
    fn all_full(&self, rule: RuleSet) -> ElementwiseConversion {
        let operands = 0..self.broadcast.operands().len();
        let reshapes: Result<Vec<_>, _> = operands.map(|k| self.reshape_unexpanded(k, 0)).collect();
        Ok((rule, reshapes?))
    }

    /// Keeps scalars. Gives every other operand, and operand `anchor` even if it is a scalar, the
    /// result's shape.
    fn scalars_or_full(&self, rule: RuleSet, anchor: Option<usize>) -> ElementwiseConversion {
        let mut reshapes = Vec::new();
        for (operand, shape) in self.broadcast.operands().iter().enumerate() {
            let is_kept_scalar = shape.is_scalar() && anchor != Some(operand);
            reshapes.push(if is_kept_scalar { None } else { self.reshape_unexpanded(operand, 0)? });
        }
        Ok((rule, reshapes))
    }

    /// Right-aligns each operand, with ones between its axes and after its last axis.
    fn as_numpy(&self) -> ElementwiseConversion {
        let rank = self.rank();
        let operands = 0..self.broadcast.operands().len();
        let reshapes = operands.map(|k| self.reshape(k, self.span(k, rank).0, rank)).collect();
        Ok((RuleSet::Numpy, reshapes))
    }

    /// Gives the operand of larger rank the result's rank, by a reshape if it has less;
    /// `broadcast_dimensions` maps the axes of the other operand.
    fn as_xla_binary(&self) -> ElementwiseConversion {
        let ranks = [self.operand(0).0.rank(), self.operand(1).0.rank()];
        let larger = usize::from(ranks[1] > ranks[0]);
        let smaller = 1 - larger;
        let (_, map) = self.operand(smaller);
        let has_list = ranks[smaller] < self.rank();
        let dims = if has_list { as_dims(map) } else { Vec::new() };
        let mut reshapes = vec![None; 2];
        reshapes[larger] = self.reshape(larger, 0, self.rank());
        Ok((RuleSet::Xla { dims }, reshapes))
    }

    /// The anchor has the result's shape. Each other operand maps to consecutive axes from one common
    /// axis on, or each maps to the last axes.
    fn as_pdpd(&self, anchor: usize) -> ElementwiseConversion {
        let rank = self.rank();
        let mut reshapes = vec![None; self.broadcast.operands().len()];
        reshapes[anchor] = self.reshape_unexpanded(anchor, 0)?;
        let others: Vec<usize> = (0..reshapes.len()).filter(|&k| k != anchor).collect();
        let placed: Vec<usize> =
            others.iter().copied().filter(|&k| !self.operand(k).0.is_scalar()).collect();
        let Some(start) = placed.iter().map(|&k| self.span(k, rank).0).min() else {
            return Ok((RuleSet::Pdpd { axis: None }, reshapes));
        };
        let is_suffix = |&k: &usize| {
            let (_, map) = self.operand(k);
            map.iter().copied().eq(rank - map.len()..rank)
        };
        let starts_differ = placed.iter().any(|&k| self.span(k, rank).0 != start);
        if starts_differ && placed.iter().all(is_suffix) {
            return Ok((RuleSet::Pdpd { axis: Some(-1) }, reshapes));
        }
        for operand in placed {
            reshapes[operand] = self.reshape(operand, start, self.span(operand, rank).1);
        }
        Ok((RuleSet::Pdpd { axis: Some(start as i64) }, reshapes))
    }

    /// Without `broadcast` if the operands already have equal shapes, or are not two; else like pdpd.
    fn as_onnx_legacy(&self) -> ElementwiseConversion {
        let equal = self.all_full(RuleSet::OnnxLegacy { broadcast: false, axis: None });
        let is_as_it_stands =
            |(_, reshapes): &(_, Vec<Option<Shape>>)| reshapes.iter().all(Option::is_none);
        if equal.as_ref().is_ok_and(is_as_it_stands) || self.broadcast.operands().len() != 2 {
            return equal;
        }
        let (rule, reshapes) = self.as_pdpd(0)?;
        let axis = match rule {
            RuleSet::Pdpd { axis } => axis,
            _ => None,
        };
        Ok((RuleSet::OnnxLegacy { broadcast: true, axis }, reshapes))
    }

    /// Names the axes of the result `i0`, `i1`, ..., and removes operand axes of size 1 that expand.
    fn as_named(&self) -> ElementwiseConversion {
        self.check_covered()?;
        let (mut names, mut reshapes, mut seen) = (Vec::new(), Vec::new(), 0);
        for operand in 0..self.broadcast.operands().len() {
            // `seen` counts the result axes so far; an axis that has not been seen must be the next one.
            let (shape, kept) = self.kept_axes(operand);
            if let Some(&axis) = kept.iter().find(|&&axis| {
                let is_ahead = axis > seen;
                seen += usize::from(axis == seen);
                is_ahead
            }) {
                return Err(RuleConversionError::Reorders { rule: self.rule, operand, axis });
            }
            let of_axes: Vec<String> = kept.iter().map(|axis| format!("i{axis}")).collect();
            names.push(of_axes.iter().map(String::as_str).collect::<AxisNames>());
            reshapes.push(Some(shape).filter(|shape| shape != self.operand(operand).0));
        }
        Ok((RuleSet::Named { names }, reshapes))
    }

    /// The sizes and result axes of the operand's axes that do not expand.
    fn kept_axes(&self, operand: usize) -> (Shape, Vec<usize>) {
        let (shape, map) = self.operand(operand);
        let pairs = shape.iter().copied().zip(map.iter().copied());
        let kept = pairs.filter(|&(size, axis)| size == self.result()[axis]);
        let (sizes, axes): (Vec<usize>, Vec<usize>) = kept.unzip();
        (Shape::from(sizes), axes)
    }

    fn as_target_rule(&self) -> Result<RuleConversion, RuleConversionError> {
        let given = self.broadcast.operands().len();
        if given != 1 {
            return Err(RuleConversionError::OperandCount { rule: self.rule, given });
        }
        let may_permute =
            matches!(self.rule, RuleSetName::StableHloBroadcastInDim | RuleSetName::HloBroadcast);
        if !may_permute {
            self.check_increasing()?;
        }
        let rank = self.rank();
        let (start, end) = self.span(0, rank);
        let dims = as_dims(self.operand(0).1);
        let mut target = self.result().clone();
        let (rule, reshape) = match self.rule {
            RuleSetName::Bidirectional => (TargetRule::Bidirectional, self.reshape(0, start, rank)),
            RuleSetName::Explicit => (TargetRule::Explicit { axes: dims }, None),
            RuleSetName::PdpdBroadcast => {
                let axis = (!dims.is_empty()).then_some(start as i64);
                (TargetRule::Pdpd { axis }, self.reshape(0, start, end))
            }
            RuleSetName::XlaBroadcast => {
                let reshape = self.reshape_unexpanded(0, start)?;
                target = Shape::from(&self.result()[..start]);
                (TargetRule::XlaBroadcast, reshape)
            }
            RuleSetName::XlaBroadcastInDim => (TargetRule::XlaBroadcastInDim { dims }, None),
            RuleSetName::StableHloBroadcastInDim => {
                (TargetRule::StableHloBroadcastInDim { dims }, None)
            }
            RuleSetName::HloBroadcast => self.as_hlo_broadcast(),
            _ => (TargetRule::Unidirectional, self.reshape(0, start, rank)),
        };
        Ok(RuleConversion {
            rule: AnyRule::Target(rule),
            reshapes: vec![reshape],
            target: Some(target),
        })
    }

    /// Removes axes of size 1 that expand, like XlaBuilder; the other axes keep their result axes.
    fn as_hlo_broadcast(&self) -> (TargetRule, Option<Shape>) {
        let (sizes, axes) = self.kept_axes(0);
        let reshape = Some(sizes).filter(|sizes| sizes != self.operand(0).0);
        (TargetRule::HloBroadcast { dims: as_dims(&axes) }, reshape)
    }
}

fn as_dims(map: &[usize]) -> Vec<i64> {
    map.iter().map(|&axis| axis as i64).collect()
}
