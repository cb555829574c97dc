//! The explicit form, and the only code that decides whether a broadcast is legal: E1 to E5.
//!
//! Every rule set of `rule_set.rs` and `target_rule.rs` ends in [`Broadcast::explicit`].

use alloc::vec;
use alloc::vec::Vec;

use crate::axis_map::AxisMap;
use crate::error::ShapeError;
use crate::shape::Shape;
use crate::violation::{AxisOf, Violation};

/// The size of an axis on which sizes `a` and `b` meet: the one that is not 1, if they differ.
///
/// It is not the maximum: `unify(1, 0)` is 0.
///
/// | a | b | result |
/// |---|---|---|
/// | n | n | n |
/// | 1 | n | n, also 0 |
/// | n | 1 | n, also 0 |
/// | 2 | 3 | none |
pub fn unify(a: usize, b: usize) -> Option<usize> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    }
}

/// A legal broadcast: the result's shape, the operands' shapes, and where their axes land.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Broadcast {
    result: Shape,
    operands: Vec<Shape>,
    maps: Vec<AxisMap>,
}

impl Broadcast {
    /// The explicit form as given: axis `i` of operand `k` lands on axis `dims[k][i]` of `result`.
    ///
    /// # Errors
    /// E1 to E5, for the first operand that breaks one.
    pub fn explicit(
        operands: &[Shape],
        dims: &[Vec<i64>],
        result: Shape,
    ) -> Result<Self, ShapeError> {
        if dims.len() != operands.len() {
            let violation = Violation::MapCount { maps: dims.len() };
            return Err(ShapeError::new(violation, operands.to_vec()).with_target(result));
        }
        let mut maps = Vec::with_capacity(operands.len());
        for (operand, (shape, dims)) in operands.iter().zip(dims).enumerate() {
            maps.push(check_map(operand, shape, dims, &result).map_err(|violation| {
                ShapeError::new(violation, operands.to_vec()).with_target(result.clone())
            })?);
        }
        result
            .element_count()
            .map_err(|error| error.with_shapes(operands).with_target(result.clone()))?;
        Ok(Broadcast { result, operands: operands.to_vec(), maps })
    }

    /// The explicit form of maps that a rule set made.
    pub(crate) fn of_maps(
        operands: &[Shape],
        maps: Vec<AxisMap>,
        result: Shape,
    ) -> Result<Self, ShapeError> {
        let dims: Vec<Vec<i64>> =
            maps.iter().map(|map| map.iter().map(|&axis| axis as i64).collect()).collect();
        Self::explicit(operands, &dims, result)
    }

    /// The shape of the result.
    pub fn result(&self) -> &Shape {
        &self.result
    }

    /// The shapes of the operands.
    pub fn operands(&self) -> &[Shape] {
        &self.operands
    }

    /// For each operand, where its axes land.
    pub fn maps(&self) -> &[AxisMap] {
        &self.maps
    }
}

/// Checks one operand of the explicit form; StableHLO's `broadcast_in_dim`, which may permute.
///
/// | operand | dims | result | |
/// |---|---|---|---|
/// | `[3]` | `[1]` | `[2, 3]` | legal |
/// | `[2, 1]` | `[2, 1]` | `[5, 3, 2]` | legal: transposes and expands |
/// | `[3]` | `[0]` | `[2, 3]` | E4 |
/// | `[2, 2]` | `[0, 0]` | `[2, 2]` | E3 |
///
/// # Errors
/// E1 to E5.
pub fn check_broadcast_in_dim(
    operand: &Shape,
    dims: &[i64],
    result: &Shape,
) -> Result<AxisMap, ShapeError> {
    let broadcast =
        Broadcast::explicit(core::slice::from_ref(operand), &[dims.to_vec()], result.clone())?;
    Ok(broadcast.maps[0].clone())
}

/// E1 to E4 for operand number `operand`, one rule after the other.
fn check_map(
    operand: usize,
    shape: &Shape,
    dims: &[i64],
    result: &Shape,
) -> Result<AxisMap, Violation> {
    let rank = result.rank();
    if dims.len() != shape.rank() {
        return Err(Violation::DimsLength { operand, rank: shape.rank(), length: dims.len() });
    }
    let mut map = Vec::with_capacity(dims.len());
    for (axis, &dim) in dims.iter().enumerate() {
        match usize::try_from(dim) {
            Ok(result_axis) if result_axis < rank => map.push(result_axis),
            _ => return Err(Violation::DimOutOfRange { operand, axis, dim, rank }),
        }
    }
    let mut is_named = vec![false; rank];
    for (axis, &dim) in map.iter().enumerate() {
        if core::mem::replace(&mut is_named[dim], true) {
            return Err(Violation::DimsNotUnique { operand, axis, dim });
        }
    }
    check_sizes(operand, shape, &map, result)?;
    Ok(AxisMap::from(map))
}

/// E4 for operand number `operand`, whose `map` names axes that exist.
pub(crate) fn check_sizes(
    operand: usize,
    shape: &Shape,
    map: &[usize],
    result: &Shape,
) -> Result<(), Violation> {
    for (axis, (&size, &result_axis)) in shape.iter().zip(map).enumerate() {
        let result_size = result[result_axis];
        if size != 1 && size != result_size {
            return Err(Violation::SizeMismatch {
                this: AxisOf::operand(operand, axis, size),
                other: AxisOf::result(result_axis, result_size),
            });
        }
    }
    Ok(())
}
