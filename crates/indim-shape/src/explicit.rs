//! Legality of broadcasts: every check of every rule, each with the label of its rule. No other code decides
//! legality.
//!
//! `rule_set.rs` and `target_rule.rs` call the checks of each rule in its order and receive the axis maps.
//! The resulting explicit form then passes E3 to E5 under every rule.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::axis_map::AxisMap;
use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{AxisOwner, Refusal, SizedAxis, Violation};

/// The result of a check, or the broken rule.
pub(crate) type CheckResult<T> = Result<T, Refusal>;

/// The common size of `a` and `b`: if they differ, the one that is not 1.
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

/// The explicit form of a legal broadcast: result shape, operand shapes, and an axis map for each operand.
///
/// ```
/// use indim_shape::{Broadcast, Shape};
///
/// let operands = [Shape::from([2, 3]), Shape::from([3])];
/// let form = Broadcast::explicit(&operands, &[vec![0, 1], vec![1]], Shape::from([2, 3]))?;
/// assert_eq!((form.result(), form.operands()), (&Shape::from([2, 3]), &operands[..]));
/// assert_eq!(&form.maps()[1][..], [1]);
/// let error = Broadcast::explicit(&operands, &[vec![0, 1], vec![0]], Shape::from([2, 3])).unwrap_err();
/// assert_eq!((error.code(), error.label()), ("size-mismatch", "E4"));
/// # Ok::<(), indim_shape::ShapeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Broadcast {
    result: Shape,
    operands: Vec<Shape>,
    maps: Vec<AxisMap>,
}

impl Broadcast {
    /// Checks an explicit form: axis `i` of operand `k` maps to axis `dims[k][i]` of `result`.
    ///
    /// # Errors
    /// [E1 to E5](crate::rules#the-explicit-form-e), for the first operand that violates one.
    pub fn explicit(
        operands: &[Shape],
        dims: &[Vec<i64>],
        result: Shape,
    ) -> Result<Self, ShapeError> {
        let lists = operands.iter().zip(dims).enumerate();
        let maps = lists.map(|(k, (shape, dims))| axis_map_of_dims(k, shape, dims, result.rank()));
        let form = match dims.len() == operands.len() {
            true => Broadcast::of(operands, maps, &result),
            false => Err(Violation::MapCount { maps: dims.len() }.of_rule("E1")),
        };
        form.map_err(|refusal| {
            ShapeError::new(refusal, AnyRule::ExplicitForm, operands, Some(&result))
        })
    }

    /// The explicit form with the axis maps that a rule produced. Each map has an entry for each axis of its
    /// operand.
    pub(crate) fn of_maps(
        operands: &[Shape],
        maps: Vec<AxisMap>,
        result: &Shape,
    ) -> CheckResult<Self> {
        Broadcast::of(operands, maps.into_iter().map(Ok), result)
    }

    /// Checks E3 and E4 operand by operand, then E5.
    fn of(
        operands: &[Shape],
        maps: impl Iterator<Item = CheckResult<AxisMap>>,
        result: &Shape,
    ) -> CheckResult<Self> {
        let mut checked = Vec::with_capacity(operands.len());
        for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
            let map = map?;
            check_unique(operand, &map, result.rank())?;
            check_expands("E4", (operand, shape), &map, (AxisOwner::Result, result))?;
            checked.push(map);
        }
        count_bytes(result, 1)?;
        Ok(Broadcast { result: result.clone(), operands: operands.to_vec(), maps: checked })
    }

    /// The shape of the result.
    pub fn result(&self) -> &Shape {
        &self.result
    }

    /// The shapes of the operands.
    pub fn operands(&self) -> &[Shape] {
        &self.operands
    }

    /// The axis map of each operand.
    pub fn maps(&self) -> &[AxisMap] {
        &self.maps
    }
}

/// Checks the explicit form of one operand: StableHLO's `broadcast_in_dim`, which may permute axes.
///
/// | operand | dims | result | |
/// |---|---|---|---|
/// | `[3]` | `[1]` | `[2, 3]` | legal |
/// | `[2, 1]` | `[2, 1]` | `[5, 3, 2]` | legal: transposes and expands |
/// | `[3]` | `[0]` | `[2, 3]` | E4 |
/// | `[2, 2]` | `[0, 0]` | `[2, 2]` | E3 |
///
/// # Errors
/// [E1 to E5](crate::rules#the-explicit-form-e).
pub fn check_broadcast_in_dim(
    operand: &Shape,
    dims: &[i64],
    result: &Shape,
) -> Result<AxisMap, ShapeError> {
    let operands = core::slice::from_ref(operand);
    let broadcast = Broadcast::explicit(operands, &[dims.to_vec()], result.clone())?;
    Ok(broadcast.maps[0].clone())
}

impl Shape {
    /// The number of elements.
    ///
    /// # Errors
    /// [E5](crate::rules#the-explicit-form-e) `too-large` when it does not fit `isize`.
    pub fn element_count(&self) -> Result<usize, ShapeError> {
        self.byte_count(1)
    }

    /// The number of bytes of an array of this shape whose elements have `element_size` bytes; 0 if an axis
    /// has size 0.
    ///
    /// # Errors
    /// [E5](crate::rules#the-explicit-form-e) `too-large` when it does not fit `isize`.
    pub fn byte_count(&self, element_size: usize) -> Result<usize, ShapeError> {
        count_bytes(self, element_size).map_err(|refusal| {
            ShapeError::new(refusal, AnyRule::ExplicitForm, core::slice::from_ref(self), None)
        })
    }
}

/// E5: the number of elements, and of bytes, fits `isize`.
fn count_bytes(shape: &Shape, element_size: usize) -> CheckResult<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(element_size, |product, &size| product.checked_mul(size))
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| Violation::TooLarge { shape: shape.clone(), element_size }.of_rule("E5"))
}

/// E1 and E2 for operand number `operand`: `dims` has an entry for each axis, below the result's rank `rank`.
pub(crate) fn axis_map_of_dims(
    operand: usize,
    shape: &Shape,
    dims: &[i64],
    rank: usize,
) -> CheckResult<AxisMap> {
    if dims.len() != shape.rank() {
        let (rank, length) = (shape.rank(), dims.len());
        return Err(Violation::DimsLength { operand, rank, length }.of_rule("E1"));
    }
    let mut map = Vec::with_capacity(dims.len());
    for (axis, &dim) in dims.iter().enumerate() {
        let named = usize::try_from(dim).ok().filter(|&named| named < rank);
        let refuse = || Violation::DimOutOfRange { operand, axis, dim, rank }.of_rule("E2");
        map.push(named.ok_or_else(refuse)?);
    }
    Ok(AxisMap::from(map))
}

/// E3: no axis of the result is named twice.
fn check_unique(operand: usize, map: &AxisMap, rank: usize) -> CheckResult<()> {
    if map.is_increasing() {
        return Ok(());
    }
    let mut is_named = vec![false; rank];
    for (axis, &dim) in map.iter().enumerate() {
        if core::mem::replace(&mut is_named[dim], true) {
            return Err(Violation::DimsNotUnique { operand, axis, dim }.of_rule("E3"));
        }
    }
    Ok(())
}

/// E4, P5, T1, T3, L: each operand size is 1 or equal to the size in `onto`, which does not expand.
pub(crate) fn check_expands(
    label: &'static str,
    operand: (usize, &Shape),
    map: &AxisMap,
    onto: (AxisOwner, &Shape),
) -> CheckResult<()> {
    (0..map.len()).try_for_each(|axis| check_size(label, operand, axis, map, onto))
}

/// Like [`check_expands`], for one axis.
fn check_size(
    label: &'static str,
    (operand, shape): (usize, &Shape),
    axis: usize,
    map: &AxisMap,
    (owner, onto): (AxisOwner, &Shape),
) -> CheckResult<()> {
    let this = SizedAxis::operand(operand, axis, shape[axis]);
    let other = SizedAxis { owner, axis: map[axis], size: onto[map[axis]] };
    match this.size == 1 || this.size == other.size {
        true => Ok(()),
        false => Err(Violation::SizeMismatch { this, other }.of_rule(label)),
    }
}

/// X8, T3: each entry is greater than the one before.
fn check_increasing(
    label: &'static str,
    operand: usize,
    axis: usize,
    dims: &[i64],
) -> CheckResult<()> {
    match axis.checked_sub(1).map(|before| (dims[axis], dims[before])) {
        Some((dim, previous)) if dim <= previous => {
            Err(Violation::DimsNotStrictlyIncreasing { operand, axis, dim, previous }
                .of_rule(label))
        }
        _ => Ok(()),
    }
}

/// T1: the axes of the data map to the last axes of the target.
pub(crate) fn trailing_axes(data: &Shape, target: &Shape) -> CheckResult<AxisMap> {
    let (rank, onto) = (data.rank(), target.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand: 0, rank, onto }.of_rule("T1"));
    }
    let map = AxisMap::trailing(rank, onto);
    check_expands("T1", (0, data), &map, (AxisOwner::Result, target))?;
    Ok(map)
}

/// T3: E1 and E2 under the label T3, then strictly increasing entries, then sizes.
pub(crate) fn axes_mapping(data: &Shape, axes: &[i64], target: &Shape) -> CheckResult<AxisMap> {
    let map = axis_map_of_dims(0, data, axes, target.rank());
    let map = map.map_err(|refusal| refusal.violation.of_rule("T3"))?;
    (0..axes.len()).try_for_each(|axis| check_increasing("T3", 0, axis, axes))?;
    check_expands("T3", (0, data), &map, (AxisOwner::Result, target))?;
    Ok(map)
}

/// XLA's `BroadcastInDim`: E1 and E2, then entry by entry E4 and X8.
pub(crate) fn increasing_axes(data: &Shape, dims: &[i64], target: &Shape) -> CheckResult<AxisMap> {
    let map = axis_map_of_dims(0, data, dims, target.rank())?;
    for axis in 0..dims.len() {
        check_size("E4", (0, data), axis, &map, (AxisOwner::Result, target))?;
        check_increasing("X8", 0, axis, dims)?;
    }
    Ok(map)
}

/// HLO's `broadcast`: E1 to E3, then E4 without expansion: every size equals that of its target axis.
pub(crate) fn unexpanded_axes(data: &Shape, dims: &[i64], target: &Shape) -> CheckResult<AxisMap> {
    let map = axis_map_of_dims(0, data, dims, target.rank())?;
    check_unique(0, &map, target.rank())?;
    for (axis, (&size, &other_axis)) in data.iter().zip(map.iter()).enumerate() {
        if size != target[other_axis] {
            let this = SizedAxis::operand(0, axis, size);
            let other = SizedAxis::result(other_axis, target[other_axis]);
            return Err(Violation::SizeMismatch { this, other }.of_rule("E4"));
        }
    }
    Ok(map)
}

/// O1: all shapes are equal. `[]` with `[1]` is refused like any other difference.
pub(crate) fn check_equal_shapes(operands: &[Shape]) -> CheckResult<()> {
    let first = &operands[0];
    for (operand, shape) in operands.iter().enumerate().skip(1) {
        if shape.rank() != first.rank() {
            return Err(Violation::ShapesDiffer { operand, axis: None }.of_rule("O1"));
        }
        if let Some(axis) = (0..shape.rank()).find(|&axis| shape[axis] != first[axis]) {
            return Err(Violation::ShapesDiffer { operand, axis: Some(axis) }.of_rule("O1"));
        }
    }
    Ok(())
}

/// The result's sizes: on each axis the unified sizes of the operands. The error is the first pair of axes
/// whose sizes do not unify, the later operand's axis first.
fn unified_sizes(
    operands: &[Shape],
    maps: &[AxisMap],
    rank: usize,
) -> Result<Shape, (SizedAxis, SizedAxis)> {
    let mut sizes = vec![1; rank];
    // For each result axis, the operand and its axis that set the size.
    let mut given_by = vec![(0, 0); rank];
    for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
        for (axis, (&size, &result_axis)) in shape.iter().zip(map.iter()).enumerate() {
            let other_size = sizes[result_axis];
            let Some(unified) = unify(other_size, size) else {
                let (other, other_axis) = given_by[result_axis];
                let this = SizedAxis::operand(operand, axis, size);
                return Err((this, SizedAxis::operand(other, other_axis, other_size)));
            };
            if unified != other_size {
                given_by[result_axis] = (operand, axis);
            }
            sizes[result_axis] = unified;
        }
    }
    Ok(Shape::from(sizes))
}

/// N2: along each axis all sizes unify.
pub(crate) fn numpy_sizes(operands: &[Shape], maps: &[AxisMap], rank: usize) -> CheckResult<Shape> {
    unified_sizes(operands, maps, rank)
        .map_err(|(this, other)| Violation::SizeMismatch { this, other }.of_rule("N2"))
}

/// T2: the sizes of the target and of the data, placed by `map`, unify along each axis.
pub(crate) fn bidirectional_sizes(
    data: &Shape,
    map: &AxisMap,
    target: &Shape,
) -> CheckResult<Shape> {
    let rank = data.rank().max(target.rank());
    // The target comes first, so that an error blames the data.
    let operands = [target.clone(), data.clone()];
    let maps = [AxisMap::trailing(target.rank(), rank), map.clone()];
    unified_sizes(&operands, &maps, rank).map_err(|(this, other)| {
        let this = SizedAxis { owner: AxisOwner::Operand(0), ..this };
        let other = SizedAxis { owner: AxisOwner::Result, ..other };
        Violation::SizeMismatch { this, other }.of_rule("T2")
    })
}

/// D1, D4: every axis has a name that is unique within its operand. Operands after the last entry of `names`
/// have no names.
pub(crate) fn check_names(operands: &[Shape], names: &[AxisNames]) -> CheckResult<()> {
    if names.len() > operands.len() {
        return Err(Violation::MapCount { maps: names.len() }.of_rule("D4"));
    }
    for (operand, shape) in operands.iter().enumerate() {
        let rank = shape.rank();
        match names.get(operand) {
            Some(names) if names.len() != rank && !names.is_empty() => {
                let length = names.len();
                return Err(Violation::DimsLength { operand, rank, length }.of_rule("D4"));
            }
            Some(names) if !names.is_empty() => check_distinct(operand, names)?,
            _ if rank > 0 => {
                return Err(Violation::AxisNameMissing { operand, axis: 0 }.of_rule("D4"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// D1, D4 for one operand; `names` has an entry for each axis.
fn check_distinct(operand: usize, names: &AxisNames) -> CheckResult<()> {
    let mut seen = BTreeMap::new();
    for (axis, name) in names.iter().enumerate() {
        let Some(name) = name else {
            return Err(Violation::AxisNameMissing { operand, axis }.of_rule("D4"));
        };
        if let Some(first) = seen.insert(name, axis) {
            return Err(Violation::AxisNameRepeated { operand, axis, first }.of_rule("D1"));
        }
    }
    Ok(())
}

/// D3: axes that map to the same result axis have the same size, the result's. 1 does not expand.
pub(crate) fn named_sizes(operands: &[Shape], maps: &[AxisMap]) -> CheckResult<Shape> {
    // For each result axis, the first operand and axis that map to it.
    let mut given_by: Vec<(usize, usize)> = Vec::new();
    for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
        for (axis, (&size, &result_axis)) in shape.iter().zip(map.iter()).enumerate() {
            let Some(&(other, other_axis)) = given_by.get(result_axis) else {
                given_by.push((operand, axis));
                continue;
            };
            let other = SizedAxis::operand(other, other_axis, operands[other][other_axis]);
            if other.size != size {
                let this = SizedAxis::operand(operand, axis, size);
                return Err(Violation::SizeMismatch { this, other }.of_rule("D3"));
            }
        }
    }
    Ok(given_by.iter().map(|&(operand, axis)| operands[operand][axis]).collect())
}

/// X9: between equal ranks all sizes unify ("degenerate dimensions"). With `broadcast_dimensions`, X7 has
/// already checked this.
pub(crate) fn xla_sizes(operands: &[Shape], maps: &[AxisMap], rank: usize) -> CheckResult<Shape> {
    unified_sizes(operands, maps, rank)
        .map_err(|(this, other)| Violation::DegenerateIncompatible { this, other }.of_rule("X9"))
}

/// X2: between equal ranks `dims` is empty, or names every axis in order.
pub(crate) fn check_list_of_equal_ranks(rank: usize, dims: &[i64]) -> CheckResult<()> {
    match dims.is_empty() || dims.iter().copied().eq(0..rank as i64) {
        true => Ok(()),
        false => Err(Violation::SameRankDimsNotIdentity { rank }.of_rule("X2")),
    }
}

/// X3 to X8: the map of `small`, operand number `operand`, onto the axes of `large`. Checks the length of
/// `dims` first, then entry by entry the range, the size and the order.
pub(crate) fn check_list(
    operand: usize,
    small: &Shape,
    large: &Shape,
    dims: &[i64],
) -> CheckResult<AxisMap> {
    let (rank, length) = (small.rank(), dims.len());
    if rank == 0 && length > 0 {
        return Err(Violation::DimsLength { operand, rank, length }.of_rule("X3"));
    }
    if rank > 0 && length == 0 {
        return Err(Violation::RankMismatchWithoutDims { smaller: operand }.of_rule("X4"));
    }
    if length != rank {
        return Err(Violation::DimsLength { operand, rank, length }.of_rule("X5"));
    }
    let mut map = Vec::with_capacity(length);
    for (axis, &dim) in dims.iter().enumerate() {
        if dim < 0 {
            return Err(Violation::DimNegative { operand, axis, dim }.of_rule("X6"));
        }
        let rank = large.rank();
        // On a 32-bit machine a dim may exceed `usize` too.
        let Some(other_axis) = usize::try_from(dim).ok().filter(|&axis| axis < rank) else {
            return Err(Violation::DimTooLarge { operand, axis, dim, rank }.of_rule("X6"));
        };
        let this = SizedAxis::operand(operand, axis, small[axis]);
        let other = SizedAxis::operand(1 - operand, other_axis, large[other_axis]);
        if unify(this.size, other.size).is_none() {
            return Err(Violation::DimSizeMismatch { this, other }.of_rule("X7"));
        }
        check_increasing("X8", operand, axis, dims)?;
        map.push(other_axis);
    }
    Ok(AxisMap::from(map))
}

/// XT: each operand of a ternary operation is a scalar, or has the shape of the `anchor`.
pub(crate) fn check_scalars_or_anchor(operands: &[Shape], anchor: &Shape) -> CheckResult<()> {
    match operands.iter().position(|shape| !shape.is_scalar() && shape != anchor) {
        Some(operand) => Err(Violation::ImplicitBroadcastUnsupported { operand }.of_rule("XT")),
        None => Ok(()),
    }
}

/// XT: only binary operations take a list.
pub(crate) fn check_no_list(dims: &[i64]) -> CheckResult<()> {
    match dims.is_empty() {
        true => Ok(()),
        false => Err(Violation::DimsNotTaken { length: dims.len() }.of_rule("XT")),
    }
}

/// XT: the branches of StableHLO's `select`, operands 1 and 2, have equal shapes.
pub(crate) fn check_branches(then: &Shape, otherwise: &Shape) -> CheckResult<()> {
    match then == otherwise {
        true => Ok(()),
        false => Err(Violation::ImplicitBroadcastUnsupported { operand: 2 }.of_rule("XT")),
    }
}

/// P1 to P4: maps the `rank` axes of operand number `operand` to the consecutive axes from `axis` on, of a
/// shape with `onto` axes.
pub(crate) fn pdpd_run(
    operand: usize,
    rank: usize,
    onto: usize,
    axis: i64,
) -> CheckResult<AxisMap> {
    if rank > onto {
        return Err(Violation::RankTooLarge { operand, rank, onto }.of_rule("P1"));
    }
    // P3: all axes of the operand, also those of size 1 at its end, map to the last axes.
    if axis == -1 {
        return Ok(AxisMap::trailing(rank, onto));
    }
    let refuse = |label| Violation::AxisOutOfRange { operand, axis, rank, onto }.of_rule(label);
    match usize::try_from(axis) {
        Ok(start) if start + rank <= onto => Ok(AxisMap::consecutive(start, rank)),
        Ok(start) if start <= onto => Err(refuse("P4")),
        _ => Err(refuse("P2")),
    }
}

/// L: maps `b`, operand 1, to the consecutive axes from `axis` on, of a shape with `onto` axes; without
/// `axis` to the last axes. A single element always fits: if `axis` leaves no room for it, it maps to the
/// last axes.
pub(crate) fn onnx_legacy_run(b: &Shape, onto: usize, axis: Option<i64>) -> CheckResult<AxisMap> {
    let (operand, rank) = (1, b.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand, rank, onto }.of_rule("L"));
    }
    let is_single = b.iter().all(|&size| size == 1);
    let fitting = |axis| usize::try_from(axis).ok().filter(|&start| start <= onto - rank);
    match axis {
        None => Ok(AxisMap::trailing(rank, onto)),
        Some(axis) => match fitting(axis) {
            Some(start) => Ok(AxisMap::consecutive(start, rank)),
            None if is_single => Ok(AxisMap::trailing(rank, onto)),
            None => Err(Violation::AxisOutOfRange { operand, axis, rank, onto }.of_rule("L")),
        },
    }
}
