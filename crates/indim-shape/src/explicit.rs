//! Legality of broadcasts: every check of every rule, each with the label of its rule. The
//! only code that decides it.
//!
//! `rule_set.rs` and `target_rule.rs` say where the axes land, and ask the checks of their rules in their
//! order. The result, the explicit form, passes E1 to E5 once more under every rule.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::axis_map::AxisMap;
use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::rule::AnyRule;
use crate::shape::Shape;
use crate::violation::{AxisOf, Party, Refusal, Violation};

/// The result of a check, or the broken rule.
pub(crate) type Checked<T> = Result<T, Refusal>;

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
    /// The explicit form as given: axis `i` of operand `k` lands on axis `dims[k][i]` of `result`.
    ///
    /// # Errors
    /// [E1 to E5](crate::rules#the-explicit-form-e), for the first operand that breaks one.
    pub fn explicit(
        operands: &[Shape],
        dims: &[Vec<i64>],
        result: Shape,
    ) -> Result<Self, ShapeError> {
        let lists = operands.iter().zip(dims).enumerate();
        let maps = lists.map(|(k, (shape, dims))| named_axes(k, shape, dims, result.rank()));
        let form = match dims.len() == operands.len() {
            true => Broadcast::of(operands, maps, &result),
            false => Err(Violation::MapCount { maps: dims.len() }.breaks("E1")),
        };
        form.map_err(|refusal| {
            ShapeError::new(refusal, AnyRule::ExplicitForm, operands, Some(&result))
        })
    }

    /// The explicit form of the maps that a rule made: an axis of the result for each axis of an operand.
    pub(crate) fn of_maps(operands: &[Shape], maps: Vec<AxisMap>, result: &Shape) -> Checked<Self> {
        Broadcast::of(operands, maps.into_iter().map(Ok), result)
    }

    /// E3 and E4 for one operand after the other, E5.
    fn of(
        operands: &[Shape],
        maps: impl Iterator<Item = Checked<AxisMap>>,
        result: &Shape,
    ) -> Checked<Self> {
        let mut checked = Vec::with_capacity(operands.len());
        for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
            let map = map?;
            check_unique(operand, &map, result.rank())?;
            check_expands("E4", (operand, shape), &map, (Party::Result, result))?;
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

    /// The number of bytes of elements of `element_size` bytes. An axis of size 0 makes it 0.
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
fn count_bytes(shape: &Shape, element_size: usize) -> Checked<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(element_size, |product, &size| product.checked_mul(size))
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| Violation::TooLarge { shape: shape.clone(), element_size }.breaks("E5"))
}

/// E1 and E2 for operand number `operand`: `dims` has an entry for each axis, which names an axis that
/// exists.
pub(crate) fn named_axes(
    operand: usize,
    shape: &Shape,
    dims: &[i64],
    rank: usize,
) -> Checked<AxisMap> {
    if dims.len() != shape.rank() {
        let (rank, length) = (shape.rank(), dims.len());
        return Err(Violation::DimsLength { operand, rank, length }.breaks("E1"));
    }
    let mut map = Vec::with_capacity(dims.len());
    for (axis, &dim) in dims.iter().enumerate() {
        let named = usize::try_from(dim).ok().filter(|&named| named < rank);
        let refuse = || Violation::DimOutOfRange { operand, axis, dim, rank }.breaks("E2");
        map.push(named.ok_or_else(refuse)?);
    }
    Ok(AxisMap::from(map))
}

/// E3: no axis of the result is named twice.
fn check_unique(operand: usize, map: &AxisMap, rank: usize) -> Checked<()> {
    if map.is_increasing() {
        return Ok(());
    }
    let mut is_named = vec![false; rank];
    for (axis, &dim) in map.iter().enumerate() {
        if core::mem::replace(&mut is_named[dim], true) {
            return Err(Violation::DimsNotUnique { operand, axis, dim }.breaks("E3"));
        }
    }
    Ok(())
}

/// E4, P5, T1, T3, L: each size is 1 or that of the axis on which it lands, which stays as it is.
pub(crate) fn check_expands(
    label: &'static str,
    operand: (usize, &Shape),
    map: &AxisMap,
    onto: (Party, &Shape),
) -> Checked<()> {
    (0..map.len()).try_for_each(|axis| check_size(label, operand, axis, map, onto))
}

/// The same for one axis.
fn check_size(
    label: &'static str,
    (operand, shape): (usize, &Shape),
    axis: usize,
    map: &AxisMap,
    (party, onto): (Party, &Shape),
) -> Checked<()> {
    let this = AxisOf::operand(operand, axis, shape[axis]);
    let other = AxisOf { party, axis: map[axis], size: onto[map[axis]] };
    match this.size == 1 || this.size == other.size {
        true => Ok(()),
        false => Err(Violation::SizeMismatch { this, other }.breaks(label)),
    }
}

/// X8, T3: an entry is above the one before.
fn check_increasing(label: &'static str, operand: usize, axis: usize, dims: &[i64]) -> Checked<()> {
    match axis.checked_sub(1).map(|before| (dims[axis], dims[before])) {
        Some((dim, previous)) if dim <= previous => {
            Err(Violation::DimsNotStrictlyIncreasing { operand, axis, dim, previous }.breaks(label))
        }
        _ => Ok(()),
    }
}

/// T1: where the axes of the data land, on the last ones of the target.
pub(crate) fn suffix(data: &Shape, target: &Shape) -> Checked<AxisMap> {
    let (rank, onto) = (data.rank(), target.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand: 0, rank, onto }.breaks("T1"));
    }
    let map = AxisMap::trailing(rank, onto);
    check_expands("T1", (0, data), &map, (Party::Result, target))?;
    Ok(map)
}

/// T3: as E1 and E2, then all entries increase, then the sizes.
pub(crate) fn axes_mapping(data: &Shape, axes: &[i64], target: &Shape) -> Checked<AxisMap> {
    let map = named_axes(0, data, axes, target.rank());
    let map = map.map_err(|refusal| refusal.violation.breaks("T3"))?;
    (0..axes.len()).try_for_each(|axis| check_increasing("T3", 0, axis, axes))?;
    check_expands("T3", (0, data), &map, (Party::Result, target))?;
    Ok(map)
}

/// XLA's `BroadcastInDim`: E1 and E2, then entry by entry E4 and X8.
pub(crate) fn increasing_axes(data: &Shape, dims: &[i64], target: &Shape) -> Checked<AxisMap> {
    let map = named_axes(0, data, dims, target.rank())?;
    for axis in 0..dims.len() {
        check_size("E4", (0, data), axis, &map, (Party::Result, target))?;
        check_increasing("X8", 0, axis, dims)?;
    }
    Ok(map)
}

/// HLO's `broadcast`: E1 to E3, then every size is that of the axis on which it lands, E4.
pub(crate) fn unexpanded_axes(data: &Shape, dims: &[i64], target: &Shape) -> Checked<AxisMap> {
    let map = named_axes(0, data, dims, target.rank())?;
    check_unique(0, &map, target.rank())?;
    for (axis, (&size, &other_axis)) in data.iter().zip(map.iter()).enumerate() {
        if size != target[other_axis] {
            let this = AxisOf::operand(0, axis, size);
            let other = AxisOf::result(other_axis, target[other_axis]);
            return Err(Violation::SizeMismatch { this, other }.breaks("E4"));
        }
    }
    Ok(map)
}

/// O1: all shapes are equal. `[]` with `[1]` is refused like any other difference.
pub(crate) fn check_equal_shapes(operands: &[Shape]) -> Checked<()> {
    let first = &operands[0];
    for (operand, shape) in operands.iter().enumerate().skip(1) {
        if shape.rank() != first.rank() {
            return Err(Violation::ShapesDiffer { operand, axis: None }.breaks("O1"));
        }
        if let Some(axis) = (0..shape.rank()).find(|&axis| shape[axis] != first[axis]) {
            return Err(Violation::ShapesDiffer { operand, axis: Some(axis) }.breaks("O1"));
        }
    }
    Ok(())
}

/// The sizes of a result on whose axes the operands' sizes unify, or the two axes that clash, the later
/// operand's first.
fn unified_sizes(
    operands: &[Shape],
    maps: &[AxisMap],
    rank: usize,
) -> Result<Shape, (AxisOf, AxisOf)> {
    let mut sizes = vec![1; rank];
    // For each result axis, the operand and the axis that gave the size.
    let mut given_by = vec![(0, 0); rank];
    for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
        for (axis, (&size, &result_axis)) in shape.iter().zip(map.iter()).enumerate() {
            let other_size = sizes[result_axis];
            let Some(unified) = unify(other_size, size) else {
                let (other, other_axis) = given_by[result_axis];
                let this = AxisOf::operand(operand, axis, size);
                return Err((this, AxisOf::operand(other, other_axis, other_size)));
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
pub(crate) fn numpy_sizes(operands: &[Shape], maps: &[AxisMap], rank: usize) -> Checked<Shape> {
    unified_sizes(operands, maps, rank)
        .map_err(|(this, other)| Violation::SizeMismatch { this, other }.breaks("N2"))
}

/// T2: along each axis the sizes of the target and of the data, where `map` says, unify.
pub(crate) fn bidirectional_sizes(data: &Shape, map: &AxisMap, target: &Shape) -> Checked<Shape> {
    let rank = data.rank().max(target.rank());
    // The target goes first so that a clash names the data as the guilty operand.
    let operands = [target.clone(), data.clone()];
    let maps = [AxisMap::trailing(target.rank(), rank), map.clone()];
    unified_sizes(&operands, &maps, rank).map_err(|(this, other)| {
        let this = AxisOf { party: Party::Operand(0), ..this };
        let other = AxisOf { party: Party::Result, ..other };
        Violation::SizeMismatch { this, other }.breaks("T2")
    })
}

/// D1, D4: every axis has a name, which no other one of the operand has. Operands behind the last entry have
/// no names.
pub(crate) fn check_names(operands: &[Shape], names: &[AxisNames]) -> Checked<()> {
    if names.len() > operands.len() {
        return Err(Violation::MapCount { maps: names.len() }.breaks("D4"));
    }
    for (operand, shape) in operands.iter().enumerate() {
        let rank = shape.rank();
        match names.get(operand) {
            Some(names) if names.len() != rank && !names.is_empty() => {
                let length = names.len();
                return Err(Violation::DimsLength { operand, rank, length }.breaks("D4"));
            }
            Some(names) if !names.is_empty() => check_distinct(operand, names)?,
            _ if rank > 0 => {
                return Err(Violation::AxisNameMissing { operand, axis: 0 }.breaks("D4"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The same for one operand, each of whose axes has an entry.
fn check_distinct(operand: usize, names: &AxisNames) -> Checked<()> {
    let mut seen = BTreeMap::new();
    for (axis, name) in names.iter().enumerate() {
        let Some(name) = name else {
            return Err(Violation::AxisNameMissing { operand, axis }.breaks("D4"));
        };
        if let Some(first) = seen.insert(name, axis) {
            return Err(Violation::AxisNameRepeated { operand, axis, first }.breaks("D1"));
        }
    }
    Ok(())
}

/// D3: the axes that land on one axis have one size, which is the result's. 1 does not expand.
pub(crate) fn named_sizes(operands: &[Shape], maps: &[AxisMap]) -> Checked<Shape> {
    // For each result axis, the operand and the axis that came first.
    let mut given_by: Vec<(usize, usize)> = Vec::new();
    for (operand, (shape, map)) in operands.iter().zip(maps).enumerate() {
        for (axis, (&size, &result_axis)) in shape.iter().zip(map.iter()).enumerate() {
            let Some(&(other, other_axis)) = given_by.get(result_axis) else {
                given_by.push((operand, axis));
                continue;
            };
            let other = AxisOf::operand(other, other_axis, operands[other][other_axis]);
            if other.size != size {
                let this = AxisOf::operand(operand, axis, size);
                return Err(Violation::SizeMismatch { this, other }.breaks("D3"));
            }
        }
    }
    Ok(given_by.iter().map(|&(operand, axis)| operands[operand][axis]).collect())
}

/// X9: with axes of equal ranks, or after the smaller operand is placed, all sizes unify ("degenerate
/// dimensions"). With a list, X7 has checked it.
pub(crate) fn xla_sizes(operands: &[Shape], maps: &[AxisMap], rank: usize) -> Checked<Shape> {
    unified_sizes(operands, maps, rank)
        .map_err(|(this, other)| Violation::DegenerateIncompatible { this, other }.breaks("X9"))
}

/// X2: for equal ranks the list is empty, or names every axis in order.
pub(crate) fn check_list_of_equal_ranks(rank: usize, dims: &[i64]) -> Checked<()> {
    match dims.is_empty() || dims.iter().copied().eq(0..rank as i64) {
        true => Ok(()),
        false => Err(Violation::SameRankDimsNotIdentity { rank }.breaks("X2")),
    }
}

/// X3 to X8: where the axes of `small`, operand number `operand`, land on those of `large`. The length of the
/// list is checked first, then each entry in order, a size before an order.
pub(crate) fn check_list(
    operand: usize,
    small: &Shape,
    large: &Shape,
    dims: &[i64],
) -> Checked<AxisMap> {
    let (rank, length) = (small.rank(), dims.len());
    if rank == 0 && length > 0 {
        return Err(Violation::DimsLength { operand, rank, length }.breaks("X3"));
    }
    if rank > 0 && length == 0 {
        return Err(Violation::RankMismatchWithoutDims { smaller: operand }.breaks("X4"));
    }
    if length != rank {
        return Err(Violation::DimsLength { operand, rank, length }.breaks("X5"));
    }
    let mut map = Vec::with_capacity(length);
    for (axis, &dim) in dims.iter().enumerate() {
        if dim < 0 {
            return Err(Violation::DimNegative { operand, axis, dim }.breaks("X6"));
        }
        let rank = large.rank();
        // On a 32-bit machine a dim may exceed `usize` too.
        let Some(other_axis) = usize::try_from(dim).ok().filter(|&axis| axis < rank) else {
            return Err(Violation::DimTooLarge { operand, axis, dim, rank }.breaks("X6"));
        };
        let this = AxisOf::operand(operand, axis, small[axis]);
        let other = AxisOf::operand(1 - operand, other_axis, large[other_axis]);
        if unify(this.size, other.size).is_none() {
            return Err(Violation::DimSizeMismatch { this, other }.breaks("X7"));
        }
        check_increasing("X8", operand, axis, dims)?;
        map.push(other_axis);
    }
    Ok(AxisMap::from(map))
}

/// XT: each operand of a ternary operation is a scalar, or has the shape of the `anchor`.
pub(crate) fn check_scalars_beside(operands: &[Shape], anchor: &Shape) -> Checked<()> {
    match operands.iter().position(|shape| !shape.is_scalar() && shape != anchor) {
        Some(operand) => Err(Violation::ImplicitBroadcastUnsupported { operand }.breaks("XT")),
        None => Ok(()),
    }
}

/// XT: only binary operations take a list.
pub(crate) fn check_no_list(dims: &[i64]) -> Checked<()> {
    match dims.is_empty() {
        true => Ok(()),
        false => Err(Violation::DimsNotTaken { length: dims.len() }.breaks("XT")),
    }
}

/// XT: the branches of StableHLO's `select`, operands 1 and 2, have equal shapes.
pub(crate) fn check_branches(then: &Shape, otherwise: &Shape) -> Checked<()> {
    match then == otherwise {
        true => Ok(()),
        false => Err(Violation::ImplicitBroadcastUnsupported { operand: 2 }.breaks("XT")),
    }
}

/// P1 to P4: the run of axes from `axis` on where `rank` axes of operand number `operand` land on `onto`.
pub(crate) fn pdpd_run(operand: usize, rank: usize, onto: usize, axis: i64) -> Checked<AxisMap> {
    if rank > onto {
        return Err(Violation::RankTooLarge { operand, rank, onto }.breaks("P1"));
    }
    // P3: it ends where the other one ends, with its full rank: ones at its end count.
    if axis == -1 {
        return Ok(AxisMap::trailing(rank, onto));
    }
    let refuse = |label| Violation::AxisOutOfRange { operand, axis, rank, onto }.breaks(label);
    match usize::try_from(axis) {
        Ok(start) if start + rank <= onto => Ok(AxisMap::run(start, rank)),
        Ok(start) if start <= onto => Err(refuse("P4")),
        _ => Err(refuse("P2")),
    }
}

/// L: the run of axes from `axis` on where `b`, operand 1, lands on `onto` axes; the last ones without
/// `axis`. One element goes anywhere: at the end where `axis` has no place for it.
pub(crate) fn onnx_legacy_run(b: &Shape, onto: usize, axis: Option<i64>) -> Checked<AxisMap> {
    let (operand, rank) = (1, b.rank());
    if rank > onto {
        return Err(Violation::RankTooLarge { operand, rank, onto }.breaks("L"));
    }
    let is_single = b.iter().all(|&size| size == 1);
    let fitting = |axis| usize::try_from(axis).ok().filter(|&start| start <= onto - rank);
    match axis {
        None => Ok(AxisMap::trailing(rank, onto)),
        Some(axis) => match fitting(axis) {
            Some(start) => Ok(AxisMap::run(start, rank)),
            None if is_single => Ok(AxisMap::trailing(rank, onto)),
            None => Err(Violation::AxisOutOfRange { operand, axis, rank, onto }.breaks("L")),
        },
    }
}
