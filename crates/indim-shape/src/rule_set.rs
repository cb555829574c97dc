//! Elaboration of element-wise operations: the axis maps of the operands under each rule set, and the
//! result's shape.
//!
//! `rule.rs` defines the rule sets. Each function here calls the checks of `explicit.rs` in the order of
//! its rule; only those checks refuse shapes. A number of operands that the rule set does not define is
//! refused here.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::axis_map::AxisMap;
use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::explicit::{
    Broadcast, CheckResult, check_branches, check_equal_shapes, check_expands, check_list,
    check_list_of_equal_ranks, check_names, check_no_list, check_scalars_or_anchor, named_sizes,
    numpy_sizes, onnx_legacy_run, pdpd_run, xla_sizes,
};
use crate::rule::{AnyRule, RuleSet};
use crate::shape::Shape;
use crate::violation::{AxisOwner, Violation};

/// The axis maps, and the result's shape.
type Elaboration = CheckResult<(Vec<AxisMap>, Shape)>;

impl RuleSet {
    /// The explicit form of operands under this rule.
    ///
    /// # Errors
    /// A violated rule, with its label; [E5](crate::rules#the-explicit-form-e) if the result is too large.
    pub fn elaborate(&self, operands: &[Shape]) -> Result<Broadcast, ShapeError> {
        let axis_maps = self.axis_maps(operands);
        axis_maps.and_then(|(maps, result)| Broadcast::of_maps(operands, maps, &result)).map_err(
            |refusal| ShapeError::new(refusal, AnyRule::Elementwise(self.clone()), operands, None),
        )
    }

    fn axis_maps(&self, operands: &[Shape]) -> Elaboration {
        match (self, operands) {
            (_, []) => self.other_count(0),
            (RuleSet::None, _) => equal_shapes(operands),
            (RuleSet::Numpy, _) => right_aligned(operands),
            (RuleSet::Xla { dims }, [x, y]) => xla_binary(operands, [x, y], dims),
            (RuleSet::Xla { dims }, [_] | [_, _, _]) => {
                let axis_maps = scalars_or_anchor(operands, &majority_shape(operands))?;
                check_no_list(dims)?;
                Ok(axis_maps)
            }
            (RuleSet::StableHlo, [_, anchor, _]) => scalars_or_anchor(operands, anchor),
            (RuleSet::StableHlo, _) => equal_shapes(operands),
            (RuleSet::StableHloSelect, [_, then, otherwise]) => {
                check_branches(then, otherwise)?;
                scalars_or_anchor(operands, then)
            }
            (RuleSet::Pdpd { axis }, [_] | [_, _] | [_, _, _]) => {
                pdpd(operands, axis.unwrap_or(-1))
            }
            (RuleSet::OnnxLegacy { broadcast: true, axis }, [a, b]) => onnx_legacy(a, b, *axis),
            (RuleSet::OnnxLegacy { broadcast: false, .. }, _)
            | (RuleSet::OnnxLegacy { .. }, [_]) => equal_shapes(operands),
            (RuleSet::Named { names }, _) => named(operands, names),
            (
                RuleSet::Xla { .. }
                | RuleSet::StableHloSelect
                | RuleSet::Pdpd { .. }
                | RuleSet::OnnxLegacy { .. },
                _,
            ) => self.other_count(operands.len()),
        }
    }

    /// The error for a number of operands that the rule set does not define.
    fn other_count(&self, given: usize) -> Elaboration {
        Err(Violation::OperandCount { given }.of_rule(self.name().label_prefix()))
    }
}

fn identities(operands: &[Shape]) -> Vec<AxisMap> {
    operands.iter().map(|operand| AxisMap::identity(operand.rank())).collect()
}

/// O1: identity maps.
fn equal_shapes(operands: &[Shape]) -> Elaboration {
    check_equal_shapes(operands)?;
    Ok((identities(operands), operands[0].clone()))
}

/// N1, N2: right-aligned axes.
///
/// | operands | result |
/// |---|---|
/// | `[2, 1, 5]`, `[1, 4, 5]` | `[2, 4, 5]` |
/// | `[6, 5]`, `[2, 1, 5]` | `[2, 6, 5]` |
/// | `[1]`, `[0]` | `[0]` |
/// | `[3, 1, 5]`, `[4, 4, 5]` | N2: 3 with 4 |
pub(crate) fn right_aligned(operands: &[Shape]) -> Elaboration {
    let rank = operands.iter().map(|operand| operand.rank()).max().unwrap_or(0);
    let maps = operands.iter().map(|shape| AxisMap::trailing(shape.rank(), rank));
    let maps: Vec<AxisMap> = maps.collect();
    let result = numpy_sizes(operands, &maps, rank)?;
    Ok((maps, result))
}

/// X2 to X9, in XLA's order of checks.
///
/// | operands | dims | result |
/// |---|---|---|
/// | `[2, 3]`, `[3]` | `[1]` | `[2, 3]` |
/// | `[2, 3]`, `[]` | | `[2, 3]` |
/// | `[2, 1, 4]`, `[2, 3]` | `[0, 1]` | `[2, 3, 4]`: both expand |
/// | `[4]`, `[1, 2]` | `[0]` | `[4, 2]` |
/// | `[4, 3]`, `[3]` | | X4 |
/// | `[2, 3]`, `[2, 3]` | `[0]` | X2 |
fn xla_binary(operands: &[Shape], [x, y]: [&Shape; 2], dims: &[i64]) -> Elaboration {
    let rank = x.rank().max(y.rank());
    let mut maps = vec![AxisMap::identity(rank); 2];
    if x.rank() == y.rank() {
        check_list_of_equal_ranks(rank, dims)?;
    } else {
        let smaller = usize::from(y.rank() < x.rank());
        maps[smaller] = check_list(smaller, &operands[smaller], &operands[1 - smaller], dims)?;
    }
    let result = xla_sizes(operands, &maps, rank)?;
    Ok((maps, result))
}

/// The shape that at least two operands share, so that an error blames the third. Without one, the shape of
/// the first operand that is not a scalar; the order is operand 1 (`x` of `clamp`, `on_true` of `select`),
/// operand 2, operand 0.
fn majority_shape(operands: &[Shape]) -> Shape {
    let anchor_first = operands.iter().skip(1).chain(operands.first());
    let shapes: Vec<&Shape> = anchor_first.filter(|shape| !shape.is_scalar()).collect();
    let is_shared = |shape: &&&Shape| shapes.iter().filter(|other| other == shape).count() > 1;
    shapes.iter().find(is_shared).or(shapes.first()).map_or_else(Shape::scalar, |&s| s.clone())
}

/// XT: ternary operations of XLA and StableHLO. Each operand is a scalar or has the shape of `anchor`, the
/// result's; StableHLO's anchor is operand 1.
fn scalars_or_anchor(operands: &[Shape], anchor: &Shape) -> Elaboration {
    check_scalars_or_anchor(operands, anchor)?;
    Ok((identities(operands), anchor.clone()))
}

/// P1 to P5. With three operands (`select`, `clamp`) the second is the anchor; the third is broadcast onto
/// it, then the first.
fn pdpd(operands: &[Shape], axis: i64) -> Elaboration {
    let anchor = usize::from(operands.len() == 3);
    let onto = (AxisOwner::Operand(anchor), &operands[anchor]);
    let mut maps = identities(operands);
    for operand in (0..operands.len()).rev().filter(|&operand| operand != anchor) {
        maps[operand] = pdpd_map(onto, (operand, &operands[operand]), axis)?;
    }
    Ok((maps, operands[anchor].clone()))
}

/// P1 to P5: the map of `b`, operand number `operand`, onto `a`.
///
/// | a | b | axis | map |
/// |---|---|---|---|
/// | `[2, 3, 4, 5]` | `[3, 4]` | 1 | `[1, 2]` |
/// | `[2, 3, 4, 5]` | `[5]` | -1 | `[3]` |
/// | `[2, 3, 4, 5]` | `[1, 3]` | 0 | `[0, 1]` |
/// | `[2, 3, 4, 5]` | `[3, 1]` | -1 | P5: 3 with 4; trailing ones are not trimmed |
/// | `[2, 3]` | `[]` | 2 | `[]` |
/// | `[2, 3]` | `[3]` | 2 | P4 |
pub(crate) fn pdpd_map(
    (owner, a): (AxisOwner, &Shape),
    (operand, b): (usize, &Shape),
    axis: i64,
) -> CheckResult<AxisMap> {
    let map = pdpd_run(operand, b.rank(), a.rank(), axis)?;
    check_expands("P5", (operand, b), &map, (owner, a))?;
    Ok(map)
}

/// L: `b` maps to consecutive axes of `a` from `axis` on, to a suffix without `axis`, or has one element.
fn onnx_legacy(a: &Shape, b: &Shape, axis: Option<i64>) -> Elaboration {
    let map = onnx_legacy_run(b, a.rank(), axis)?;
    check_expands("L", (1, b), &map, (AxisOwner::Operand(0), a))?;
    Ok((vec![AxisMap::identity(a.rank()), map], a.clone()))
}

/// D1 to D4: the result has the axes of the first operand in its order, then the new axes of each later one.
///
/// | operands | names | result | maps |
/// |---|---|---|---|
/// | `[2, 3]`, `[3]` | `[t, y]`, `[y]` | `[2, 3]` | `[0, 1]`, `[1]` |
/// | `[3]`, `[2, 3]` | `[y]`, `[t, y]` | `[3, 2]` | `[0]`, `[1, 0]` |
/// | `[2]`, `[3]` | `[t]`, `[y]` | `[2, 3]` | `[0]`, `[1]` |
/// | `[2, 3]`, `[1]` | `[t, y]`, `[y]` | D3: 1 with 3 | |
/// | `[2, 3]`, `[3]` | `[t, y]`, `[?]` | D4 | |
fn named(operands: &[Shape], names: &[AxisNames]) -> Elaboration {
    check_names(operands, names)?;
    let maps = maps_by_name(names, operands.len());
    let result = named_sizes(operands, &maps)?;
    Ok((maps, result))
}

/// The axis maps by name: a known name maps to its result axis, a new name appends an axis.
pub(crate) fn maps_by_name(names: &[AxisNames], operands: usize) -> Vec<AxisMap> {
    let mut result_axes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut maps = vec![AxisMap::identity(0); operands];
    for (map, names) in maps.iter_mut().zip(names) {
        let mut result_axis = |name| {
            let next = result_axes.len();
            *result_axes.entry(name).or_insert(next)
        };
        *map = AxisMap::from(names.iter().flatten().map(&mut result_axis).collect::<Vec<usize>>());
    }
    maps
}
