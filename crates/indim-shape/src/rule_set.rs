//! The rule sets of element-wise operations, each translated into the explicit form.
//!
//! A function here says where the axes land and what the result's shape is, and refuses what its
//! rules refuse; whether the outcome is legal is decided in `explicit.rs`.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::axis_map::AxisMap;
use crate::error::{AnyRule, ShapeError};
use crate::explicit::{Broadcast, unify};
use crate::shape::Shape;
use crate::violation::{AxisOf, Party, Violation};

/// A rule by which the operands of an element-wise operation are broadcast, with its attributes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleSet {
    /// O1: all shapes are equal. Plain HLO, and OpenVINO's `auto_broadcast = none`.
    None,
    /// N1, N2: right-aligned axes unify. NumPy, the array API, ONNX, OpenVINO's `numpy`.
    Numpy,
    /// X2 to X9: XlaBuilder's binary operations; a ternary operation takes scalars and equal shapes.
    Xla {
        /// `broadcast_dimensions`: for each axis of the smaller operand the larger one's; empty when not given.
        dims: Vec<i64>,
    },
    /// StableHLO's binary operations: O1. Of three operands (`clamp`) the outer ones may be scalars.
    StableHlo,
    /// StableHLO's `select`: the predicate may be a scalar, the branches have equal shapes.
    StableHloSelect,
    /// P1 to P5: the other operands onto the first (of three: onto the second), from `axis` on.
    Pdpd {
        /// The first axis they land on; absent and -1 mean that they end where the first ends.
        axis: Option<i64>,
    },
    /// L: ONNX before opset 7.
    OnnxLegacy {
        /// The attribute `broadcast`; without it the shapes are equal.
        broadcast: bool,
        /// The first axis the second operand lands on; absent: it is a suffix.
        axis: Option<i64>,
    },
}

type Elaborated = Result<(Vec<AxisMap>, Shape), Violation>;

impl RuleSet {
    /// The explicit form of operands under this rule.
    ///
    /// # Errors
    /// The labels of the rule set; E5 when the result is too large.
    pub fn elaborate(&self, operands: &[Shape]) -> Result<Broadcast, ShapeError> {
        let with_rule = |error: ShapeError| error.with_rule(AnyRule::Elementwise(self.clone()));
        let (maps, result) = self
            .maps(operands)
            .map_err(|violation| with_rule(ShapeError::new(violation, operands.to_vec())))?;
        Broadcast::of_maps(operands, maps, result).map_err(with_rule)
    }

    fn maps(&self, operands: &[Shape]) -> Elaborated {
        match (self, operands) {
            (_, []) => Err(Violation::OperandCount { given: 0 }),
            (RuleSet::None, _) => equal_shapes(operands),
            (RuleSet::Numpy, _) => right_aligned(operands),
            (RuleSet::Xla { dims }, [x, y]) => xla_binary(x, y, dims),
            (RuleSet::Xla { dims }, [_] | [_, _, _]) => scalars_and_equal_shapes(operands, dims),
            (RuleSet::StableHlo, [_, anchor, _]) => scalars_beside(operands, anchor),
            (RuleSet::StableHlo, _) => equal_shapes(operands),
            (RuleSet::StableHloSelect, [_, then, otherwise]) if then == otherwise => {
                scalars_beside(operands, then)
            }
            (RuleSet::StableHloSelect, [_, _, _]) => {
                Err(Violation::ImplicitBroadcastUnsupported { operand: 2 })
            }
            (RuleSet::Pdpd { axis }, [_] | [_, _] | [_, _, _]) => {
                pdpd(operands, axis.unwrap_or(-1))
            }
            (RuleSet::OnnxLegacy { broadcast: true, axis }, [x, y]) => onnx_legacy(x, y, *axis),
            (RuleSet::OnnxLegacy { broadcast: false, .. }, _)
            | (RuleSet::OnnxLegacy { .. }, [_]) => equal_shapes(operands),
            _ => Err(Violation::OperandCount { given: operands.len() }),
        }
    }

    /// The name of the rule set, without attributes.
    pub const fn name(&self) -> &'static str {
        match self {
            RuleSet::None => "none",
            RuleSet::Numpy => "numpy",
            RuleSet::Xla { .. } => "xla",
            RuleSet::StableHlo | RuleSet::StableHloSelect => "stablehlo",
            RuleSet::Pdpd { .. } => "pdpd",
            RuleSet::OnnxLegacy { .. } => "onnx-legacy",
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())?;
        match self {
            RuleSet::Xla { dims } if !dims.is_empty() => {
                write!(formatter, " broadcast_dimensions={dims:?}")
            }
            RuleSet::Pdpd { axis: Some(axis) } => write!(formatter, " axis={axis}"),
            RuleSet::OnnxLegacy { broadcast, axis } => {
                write!(formatter, " broadcast={}", u8::from(*broadcast))?;
                axis.map_or(Ok(()), |axis| write!(formatter, " axis={axis}"))
            }
            _ => Ok(()),
        }
    }
}

fn identities(operands: &[Shape]) -> Vec<AxisMap> {
    operands.iter().map(|operand| AxisMap::identity(operand.rank())).collect()
}

/// O1. `[]` with `[1]` is refused like any other difference.
fn equal_shapes(operands: &[Shape]) -> Elaborated {
    let first = &operands[0];
    for (operand, shape) in operands.iter().enumerate().skip(1) {
        if shape.rank() != first.rank() {
            return Err(Violation::ShapesDiffer { operand, axis: None });
        }
        if let Some(axis) = (0..shape.rank()).find(|&axis| shape[axis] != first[axis]) {
            return Err(Violation::ShapesDiffer { operand, axis: Some(axis) });
        }
    }
    Ok((identities(operands), first.clone()))
}

/// N1, N2.
///
/// | operands | result |
/// |---|---|
/// | `[2, 1, 5]`, `[1, 4, 5]` | `[2, 4, 5]` |
/// | `[6, 5]`, `[2, 1, 5]` | `[2, 6, 5]` |
/// | `[1]`, `[0]` | `[0]` |
/// | `[3, 1, 5]`, `[4, 4, 5]` | N2: 3 with 4 |
pub(crate) fn right_aligned(operands: &[Shape]) -> Elaborated {
    let rank = operands.iter().map(|operand| operand.rank()).max().unwrap_or(0);
    let mut result = vec![1; rank];
    // For each result axis, the operand and the axis that gave the size.
    let mut given_by = vec![(0, 0); rank];
    for (operand, shape) in operands.iter().enumerate() {
        let shift = rank - shape.rank();
        for (axis, &size) in shape.iter().enumerate() {
            let result_axis = shift + axis;
            let other_size = result[result_axis];
            let Some(unified) = unify(other_size, size) else {
                let (other_operand, other_axis) = given_by[result_axis];
                return Err(Violation::SizeMismatch {
                    this: AxisOf::operand(operand, axis, size),
                    other: AxisOf::operand(other_operand, other_axis, other_size),
                });
            };
            if unified != other_size {
                given_by[result_axis] = (operand, axis);
            }
            result[result_axis] = unified;
        }
    }
    let maps = operands.iter().map(|shape| AxisMap::trailing(shape.rank(), rank)).collect();
    Ok((maps, Shape::from(result)))
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
fn xla_binary(x: &Shape, y: &Shape, dims: &[i64]) -> Elaborated {
    if x.rank() == y.rank() {
        return xla_equal_ranks(x, y, dims);
    }
    let smaller_is_second = y.rank() < x.rank();
    let (small, large) = if smaller_is_second { (y, x) } else { (x, y) };
    let smaller = usize::from(smaller_is_second);
    let (map, result) = xla_in_dim(small, large, dims, smaller)?;
    let mut maps = vec![AxisMap::identity(large.rank()); 2];
    maps[smaller] = map;
    Ok((maps, result))
}

/// X2 and X9: equal ranks, where sizes of 1 expand.
fn xla_equal_ranks(x: &Shape, y: &Shape, dims: &[i64]) -> Elaborated {
    let rank = x.rank();
    if !dims.is_empty() && !dims.iter().copied().eq(0..rank as i64) {
        return Err(Violation::SameRankDimsNotIdentity { rank });
    }
    let mut result = Vec::with_capacity(rank);
    for (axis, (&other_size, &size)) in x.iter().zip(y.iter()).enumerate() {
        result.push(unify(other_size, size).ok_or(Violation::DegenerateIncompatible {
            this: AxisOf::operand(1, axis, size),
            other: AxisOf::operand(0, axis, other_size),
        })?);
    }
    Ok((vec![AxisMap::identity(rank); 2], Shape::from(result)))
}

/// X3 to X8: where the axes of operand `operand`, the smaller one, land, and the result's shape. The
/// length of the list is checked first, then each entry in order, a size before an order error.
///
/// X9 holds after that: X7 unified the mapped axes, and the others have the larger operand's sizes.
fn xla_in_dim(
    small: &Shape,
    large: &Shape,
    dims: &[i64],
    operand: usize,
) -> Result<(AxisMap, Shape), Violation> {
    if dims.is_empty() && !small.is_scalar() {
        return Err(Violation::RankMismatchWithoutDims { smaller: operand });
    }
    if dims.len() != small.rank() {
        return Err(Violation::DimsLength { operand, rank: small.rank(), length: dims.len() });
    }
    let mut map = Vec::with_capacity(dims.len());
    let mut result = large.to_vec();
    for (axis, (&dim, &size)) in dims.iter().zip(small.iter()).enumerate() {
        if dim < 0 {
            return Err(Violation::DimNegative { operand, axis, dim });
        }
        let rank = large.rank();
        let Some(other_axis) = usize::try_from(dim).ok().filter(|&axis| axis < rank) else {
            return Err(Violation::DimTooLarge { operand, axis, dim, rank });
        };
        let other_size = large[other_axis];
        result[other_axis] = unify(size, other_size).ok_or(Violation::DimSizeMismatch {
            this: AxisOf::operand(operand, axis, size),
            other: AxisOf::operand(1 - operand, other_axis, other_size),
        })?;
        if axis > 0 && dim <= dims[axis - 1] {
            let previous = dims[axis - 1];
            return Err(Violation::DimsNotStrictlyIncreasing { operand, axis, dim, previous });
        }
        map.push(other_axis);
    }
    Ok((AxisMap::from(map), Shape::from(result)))
}

/// XLA's ternary operations: any operand may be a scalar, the others have equal shapes.
fn scalars_and_equal_shapes(operands: &[Shape], dims: &[i64]) -> Elaborated {
    let result = shape_of_most(operands);
    let differs = |shape: &Shape| !shape.is_scalar() && *shape != result;
    match operands.iter().position(differs) {
        Some(operand) => Err(Violation::ImplicitBroadcastUnsupported { operand }),
        None if !dims.is_empty() => Err(Violation::DimsNotTaken { length: dims.len() }),
        None => Ok((identities(operands), result)),
    }
}

/// The shape that two of three operands have, so that the odd one out is blamed; else that of the first
/// that is no scalar, where the middle one, `x` of `clamp` and of `select`, comes before the others.
fn shape_of_most(operands: &[Shape]) -> Shape {
    let middle_first = operands.iter().skip(1).chain(operands.first());
    let shapes: Vec<&Shape> = middle_first.filter(|shape| !shape.is_scalar()).collect();
    let is_shared = |shape: &&&Shape| shapes.iter().filter(|other| other == shape).count() > 1;
    shapes.iter().find(is_shared).or(shapes.first()).map_or_else(Shape::scalar, |&s| s.clone())
}

/// StableHLO's `clamp`: scalars beside operand 1, which has the result's shape.
fn scalars_beside(operands: &[Shape], anchor: &Shape) -> Elaborated {
    match operands.iter().position(|shape| !shape.is_scalar() && shape != anchor) {
        Some(operand) => Err(Violation::ImplicitBroadcastUnsupported { operand }),
        None => Ok((identities(operands), anchor.clone())),
    }
}

/// P1 to P5. Of three operands (`select`, `clamp`) the second is the one the others go onto: first
/// the third, then the first.
fn pdpd(operands: &[Shape], axis: i64) -> Elaborated {
    let anchor = usize::from(operands.len() == 3);
    let mut maps = identities(operands);
    for operand in (0..operands.len()).rev().filter(|&operand| operand != anchor) {
        maps[operand] =
            pdpd_map(&operands[anchor], Party::Operand(anchor), &operands[operand], operand, axis)?;
    }
    Ok((maps, operands[anchor].clone()))
}

/// P1 to P5 for `b`, operand number `operand`, onto `a`.
///
/// | a | b | axis | map |
/// |---|---|---|---|
/// | `[2, 3, 4, 5]` | `[3, 4]` | 1 | `[1, 2]` |
/// | `[2, 3, 4, 5]` | `[5]` | -1 | `[3]` |
/// | `[2, 3, 4, 5]` | `[1, 3]` | 0 | `[0, 1]` |
/// | `[2, 3, 4, 5]` | `[3, 1]` | -1 | P5: 3 meets 4, ones at the end count |
/// | `[2, 3]` | `[]` | 2 | `[]` |
/// | `[2, 3]` | `[3]` | 2 | P4 |
pub(crate) fn pdpd_map(
    a: &Shape,
    party: Party,
    b: &Shape,
    operand: usize,
    axis: i64,
) -> Result<AxisMap, Violation> {
    let (rank, onto) = (b.rank(), a.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand, rank, onto });
    }
    let start = match axis {
        -1 => Some(onto - rank),
        _ => usize::try_from(axis).ok().filter(|&start| start <= onto - rank),
    };
    let start = start.ok_or(Violation::AxisOutOfRange { operand, axis, rank, onto })?;
    for (axis, &size) in b.iter().enumerate() {
        let other = AxisOf { party, axis: start + axis, size: a[start + axis] };
        if size != 1 && size != other.size {
            let this = AxisOf::operand(operand, axis, size);
            return Err(Violation::SizeMismatch { this, other });
        }
    }
    Ok((start..start + rank).collect::<Vec<usize>>().into())
}

/// L: `b` is a run of `a`'s axes from `axis` on, a suffix without it, or one element, which goes
/// anywhere and lands at the end where `axis` has no place for it.
fn onnx_legacy(a: &Shape, b: &Shape, axis: Option<i64>) -> Elaborated {
    let (rank, onto) = (b.rank(), a.rank());
    let is_single = b.iter().all(|&size| size == 1);
    let fits =
        |axis: i64| usize::try_from(axis).is_ok_and(|axis| axis <= onto.saturating_sub(rank));
    let start = match axis {
        Some(axis) if rank > onto || fits(axis) => axis,
        Some(axis) if !is_single => {
            return Err(Violation::AxisOutOfRange { operand: 1, axis, rank, onto });
        }
        _ => -1,
    };
    let map = pdpd_map(a, Party::Operand(0), b, 1, start)?;
    Ok((vec![AxisMap::identity(onto), map], a.clone()))
}
