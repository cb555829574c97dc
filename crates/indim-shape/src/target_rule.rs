//! The rules of broadcasting one operand to a target shape, each translated into the explicit form.
//!
//! The rules of element-wise operations are in `rule_set.rs`; legality in `explicit.rs`.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use crate::axis_map::AxisMap;
use crate::error::{AnyRule, ShapeError};
use crate::explicit::{Broadcast, check_sizes};
use crate::rule_set::{pdpd_map, right_aligned};
use crate::shape::Shape;
use crate::violation::{AxisOf, Party, Violation};

/// A rule by which data is broadcast to a target shape, with its attributes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TargetRule {
    /// T1: right-aligned, only the data expands. `broadcast_to`, OpenVINO's `numpy` mode of Broadcast.
    Unidirectional,
    /// T2: as NumPy between data and target; the result may differ from the target. ONNX Expand.
    Bidirectional,
    /// T3: OpenVINO's `explicit` mode.
    Explicit {
        /// `axes_mapping`: for each axis of the data the target's, strictly increasing.
        axes: Vec<i64>,
    },
    /// T4: as the PDPD rule with the target as the first operand.
    Pdpd {
        /// The first axis the data lands on; absent and -1 mean that it ends where the target ends.
        axis: Option<i64>,
    },
    /// XLA's `Broadcast`: the target's sizes are put in front of the data's.
    XlaBroadcast,
    /// XLA's `BroadcastInDim`: E1, E2, E4, and strictly increasing.
    XlaBroadcastInDim {
        /// For each axis of the data the result's.
        dims: Vec<i64>,
    },
    /// StableHLO's `broadcast_in_dim`: E1 to E4; it may permute.
    StableHloBroadcastInDim {
        /// For each axis of the data the result's.
        dims: Vec<i64>,
    },
    /// `broadcast` in HLO text: E1 to E3 and equal sizes; it may permute.
    HloBroadcast {
        /// For each axis of the data the result's.
        dims: Vec<i64>,
    },
}

impl TargetRule {
    /// The explicit form of broadcasting `data` to `target`.
    ///
    /// # Errors
    /// The labels of the rule; E5 when the result is too large.
    pub fn elaborate(&self, data: &Shape, target: &Shape) -> Result<Broadcast, ShapeError> {
        let located = |error: ShapeError| {
            error.with_rule(AnyRule::Target(self.clone())).with_target(target.clone())
        };
        let refuse = |violation| located(ShapeError::new(violation, vec![data.clone()]));
        let (dims, result) = self.placement(data, target).map_err(refuse)?;
        self.check_list(data, target, &dims).map_err(refuse)?;
        Broadcast::explicit(core::slice::from_ref(data), &[dims], result).map_err(located)
    }

    /// Where the axes of the data land, and the result's shape, before anything general is checked.
    fn placement(&self, data: &Shape, target: &Shape) -> Result<(Vec<i64>, Shape), Violation> {
        match self {
            TargetRule::Unidirectional => Ok((suffix(data, target)?, target.clone())),
            TargetRule::Bidirectional => bidirectional(data, target),
            TargetRule::Pdpd { axis } => {
                let map = pdpd_map(target, Party::Result, data, 0, axis.unwrap_or(-1))?;
                Ok((as_dims(&map), target.clone()))
            }
            TargetRule::XlaBroadcast => {
                let result: Shape = target.iter().chain(data.iter()).copied().collect();
                Ok((as_dims(&AxisMap::trailing(data.rank(), result.rank())), result))
            }
            TargetRule::Explicit { axes: dims }
            | TargetRule::XlaBroadcastInDim { dims }
            | TargetRule::StableHloBroadcastInDim { dims }
            | TargetRule::HloBroadcast { dims } => Ok((dims.clone(), target.clone())),
        }
    }

    /// What the rules that take a list demand beyond the explicit form. What E1 and E2 refuse is left
    /// to it.
    ///
    /// - T3: strictly increasing entries, looked at before the sizes;
    /// - XLA's `BroadcastInDim`: the same, entry by entry, a size before an order;
    /// - HLO's `broadcast`: equal sizes, so nothing expands; looked at after E3.
    fn check_list(&self, data: &Shape, target: &Shape, dims: &[i64]) -> Result<(), Violation> {
        let entry = |&dim: &i64| usize::try_from(dim).ok().filter(|&dim| dim < target.rank());
        let map: Option<Vec<usize>> = dims.iter().map(entry).collect();
        let Some(map) = map.filter(|map| map.len() == data.rank()) else {
            return Ok(());
        };
        match self {
            TargetRule::Explicit { .. } => check_increasing(dims),
            TargetRule::XlaBroadcastInDim { .. } => {
                let sorted = dims.windows(2).take_while(|pair| pair[0] < pair[1]).count() + 1;
                // Sizes count up to the first entry out of order, its own included.
                let checked = map.len().min(sorted + 1);
                check_sizes(0, data, &map[..checked], target)?;
                check_increasing(dims)
            }
            TargetRule::HloBroadcast { .. } if is_unique(&map) => {
                check_equal_sizes(data, &map, target)
            }
            _ => Ok(()),
        }
    }

    /// The name of the rule, without attributes.
    pub const fn name(&self) -> &'static str {
        match self {
            TargetRule::Unidirectional => "unidirectional",
            TargetRule::Bidirectional => "bidirectional",
            TargetRule::Explicit { .. } => "explicit",
            TargetRule::Pdpd { .. } => "pdpd",
            TargetRule::XlaBroadcast => "xla broadcast",
            TargetRule::XlaBroadcastInDim { .. } => "xla broadcast_in_dim",
            TargetRule::StableHloBroadcastInDim { .. } => "stablehlo broadcast_in_dim",
            TargetRule::HloBroadcast { .. } => "hlo broadcast",
        }
    }
}

impl fmt::Display for TargetRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())?;
        match self {
            TargetRule::Explicit { axes } => write!(formatter, " axes_mapping={axes:?}"),
            TargetRule::Pdpd { axis: Some(axis) } => write!(formatter, " axis={axis}"),
            TargetRule::XlaBroadcastInDim { dims }
            | TargetRule::StableHloBroadcastInDim { dims }
            | TargetRule::HloBroadcast { dims } => write!(formatter, " dims={dims:?}"),
            _ => Ok(()),
        }
    }
}

fn as_dims(map: &AxisMap) -> Vec<i64> {
    map.iter().map(|&axis| axis as i64).collect()
}

/// T1: the data's axes on the target's last ones.
fn suffix(data: &Shape, target: &Shape) -> Result<Vec<i64>, Violation> {
    let (rank, onto) = (data.rank(), target.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand: 0, rank, onto });
    }
    Ok(as_dims(&AxisMap::trailing(rank, onto)))
}

/// T2: `data * ones(target)`.
fn bidirectional(data: &Shape, target: &Shape) -> Result<(Vec<i64>, Shape), Violation> {
    // The target goes first so that a clash names the data as the guilty operand.
    let joined = right_aligned(&[target.clone(), data.clone()]);
    let (maps, result) = joined.map_err(|violation| match violation {
        Violation::SizeMismatch { this, other } => Violation::SizeMismatch {
            this: AxisOf { party: Party::Operand(0), ..this },
            other: AxisOf { party: Party::Result, ..other },
        },
        violation => violation,
    })?;
    Ok((as_dims(&maps[1]), result))
}

fn check_increasing(dims: &[i64]) -> Result<(), Violation> {
    match (1..dims.len()).find(|&axis| dims[axis] <= dims[axis - 1]) {
        Some(axis) => Err(Violation::DimsNotStrictlyIncreasing {
            operand: 0,
            axis,
            dim: dims[axis],
            previous: dims[axis - 1],
        }),
        None => Ok(()),
    }
}

fn is_unique(map: &[usize]) -> bool {
    let mut sorted = map.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

fn check_equal_sizes(data: &Shape, map: &[usize], target: &Shape) -> Result<(), Violation> {
    for (axis, (&size, &result_axis)) in data.iter().zip(map).enumerate() {
        if size != target[result_axis] {
            return Err(Violation::SizeMismatch {
                this: AxisOf::operand(0, axis, size),
                other: AxisOf::result(result_axis, target[result_axis]),
            });
        }
    }
    Ok(())
}
