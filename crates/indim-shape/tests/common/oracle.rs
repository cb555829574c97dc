//! A naive oracle, written from the documents: it pads an operand with ones or applies XLA's two stages, and
//! traces every result index to the element it reads. It does not use the crate's elaboration.

use indim_shape::{Broadcast, RuleSet, Shape, ShapeError, TargetRule};

use super::{indices, position, reads};

/// The verdict of a rule: the result's sizes and, for each result index, the element read of each operand; or
/// the error code, and the index at fault if the rules define one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Legal { result: Vec<usize>, reads: Vec<Vec<usize>> },
    Illegal { code: &'static str, axis: Option<usize> },
}

use Verdict::{Illegal, Legal};

fn illegal(code: &'static str) -> Verdict {
    Illegal { code, axis: None }
}

/// Compares an elaboration with the oracle's verdict.
pub(crate) fn agree(elaborated: &Result<Broadcast, ShapeError>, verdict: &Verdict) -> bool {
    match (elaborated, verdict) {
        (Ok(broadcast), Legal { result, reads: expected }) => {
            broadcast.result().sizes() == result && reads(broadcast) == *expected
        }
        (Err(error), Illegal { code, axis }) => {
            error.code() == *code && (axis.is_none() || error.axis() == *axis)
        }
        _ => false,
    }
}

/// The element of an operand at a result index, for an operand padded to the result's rank.
fn read_padded(padded: &[usize], index: &[usize]) -> usize {
    let at: Vec<usize> =
        padded.iter().zip(index).map(|(&size, &k)| if size == 1 { 0 } else { k }).collect();
    position(padded, &at)
}

/// A legal verdict, with each operand padded to the result's rank.
fn legal_padded(result: Vec<usize>, padded: &[Vec<usize>]) -> Verdict {
    let read = |index: Vec<usize>| padded.iter().map(|shape| read_padded(shape, &index)).collect();
    let reads = indices(&result).into_iter().map(read).collect();
    Legal { result, reads }
}

/// `shape` with `before` leading ones, and trailing ones up to `rank` axes.
fn pad(shape: &[usize], before: usize, rank: usize) -> Vec<usize> {
    let after = rank - before - shape.len();
    [vec![1; before], shape.to_vec(), vec![1; after]].concat()
}

fn pad_left(shape: &[usize], rank: usize) -> Vec<usize> {
    pad(shape, rank - shape.len(), rank)
}

pub(crate) fn elementwise(rule: &RuleSet, shapes: &[Shape]) -> Verdict {
    match (rule, shapes) {
        (RuleSet::StableHloSelect, [_]) => illegal("wrong-operand-count"),
        (RuleSet::Xla { .. } | RuleSet::Pdpd { .. }, [_, _, _, _, ..]) => {
            illegal("wrong-operand-count")
        }
        (_, [_]) if !matches!(rule, RuleSet::Xla { dims } if !dims.is_empty()) => {
            legal_padded(shapes[0].to_vec(), &[shapes[0].to_vec()])
        }
        (RuleSet::Numpy, _) => numpy(shapes),
        (RuleSet::Xla { dims }, [x, y]) => xla(x, y, dims),
        (RuleSet::Xla { dims }, _) => ternary(shapes, dims, None),
        (RuleSet::StableHlo, [_, _, _]) => ternary(shapes, &[], Some(1)),
        (RuleSet::StableHloSelect, [_, then, otherwise]) => match then == otherwise {
            true => ternary(shapes, &[], Some(1)),
            false => illegal("implicit-broadcast-unsupported"),
        },
        (RuleSet::StableHloSelect, _) => illegal("wrong-operand-count"),
        (RuleSet::Pdpd { axis }, [a, b]) => pdpd(a, b, *axis),
        (RuleSet::Pdpd { axis }, [p, a, b]) => pdpd_ternary(p, a, b, *axis),
        (RuleSet::OnnxLegacy { broadcast: true, axis }, [a, b]) => onnx_legacy(a, b, *axis),
        (RuleSet::OnnxLegacy { broadcast: true, .. }, _) => illegal("wrong-operand-count"),
        _ => none(shapes),
    }
}

/// Equal ranks and sizes only.
fn none(shapes: &[Shape]) -> Verdict {
    let padded: Vec<Vec<usize>> = shapes.iter().map(|shape| shape.to_vec()).collect();
    match padded.windows(2).all(|pair| pair[0] == pair[1]) {
        true => legal_padded(padded[0].clone(), &padded),
        false => illegal("shapes-differ"),
    }
}

/// Right-aligned, missing leading axes count as 1; on each axis one size other than 1.
fn numpy(shapes: &[Shape]) -> Verdict {
    let rank = shapes.iter().map(|shape| shape.len()).max().expect("a case has operands");
    let padded: Vec<Vec<usize>> = shapes.iter().map(|shape| pad_left(shape, rank)).collect();
    let mut result = Vec::new();
    for axis in 0..rank {
        let mut sizes: Vec<usize> =
            padded.iter().map(|shape| shape[axis]).filter(|&size| size != 1).collect();
        sizes.sort();
        sizes.dedup();
        match sizes[..] {
            [] => result.push(1),
            [size] => result.push(size),
            _ => return illegal("size-mismatch"),
        }
    }
    legal_padded(result, &padded)
}

/// Collects the errors of a list with their positions in XLA's order of checks; the first is the verdict.
fn xla(x: &[usize], y: &[usize], dims: &[i64]) -> Verdict {
    let identity: Vec<i64> = (0..x.len() as i64).collect();
    if x.len() == y.len() {
        return match dims.is_empty() || dims == identity {
            true => degenerate(x, y),
            false => illegal("same-rank-dims-not-identity"),
        };
    }
    let (small, large) = if x.len() < y.len() { (x, y) } else { (y, x) };
    match (small.is_empty(), dims.is_empty()) {
        (true, false) => return illegal("dims-length-mismatch"),
        (false, true) => return illegal("rank-mismatch-without-dims"),
        _ if dims.len() != small.len() => return illegal("dims-length-mismatch"),
        _ => {}
    }
    let mut faults = Vec::new();
    for (i, &dim) in dims.iter().enumerate() {
        if dim < 0 {
            faults.push((i, 0, "dim-negative"));
        } else if dim >= large.len() as i64 {
            faults.push((i, 0, "dim-too-large"));
        } else if small[i] != large[dim as usize] && small[i] != 1 && large[dim as usize] != 1 {
            faults.push((i, 1, "dim-size-mismatch"));
        }
        if i > 0 && dim <= dims[i - 1] {
            faults.push((i, 2, "dims-not-strictly-increasing"));
        }
    }
    if let Some(&(axis, _, code)) = faults.iter().min() {
        return Illegal { code, axis: Some(axis) };
    }
    // Stage one: the smaller operand at the larger's rank, with its own sizes on the mapped axes and
    // the larger's elsewhere. Stage two: degenerate axes.
    let mut placed = large.to_vec();
    for (&dim, &size) in dims.iter().zip(small) {
        placed[dim as usize] = size;
    }
    let stage_one = |position_in_placed: usize| {
        let index = &indices(&placed)[position_in_placed];
        let at: Vec<usize> = dims.iter().map(|&dim| index[dim as usize]).collect();
        position(small, &at)
    };
    let small_is_first = x.len() < y.len();
    let composed = if small_is_first { degenerate(&placed, y) } else { degenerate(x, &placed) };
    match composed {
        Legal { result, mut reads } => {
            let column = usize::from(!small_is_first);
            for read in &mut reads {
                read[column] = stage_one(read[column]);
            }
            Legal { result, reads }
        }
        illegal => illegal,
    }
}

/// Equal ranks: on each axis the sizes are equal, or one is 1 and the other is the result's.
fn degenerate(x: &[usize], y: &[usize]) -> Verdict {
    let mut result = Vec::new();
    for (axis, (&m, &n)) in x.iter().zip(y).enumerate() {
        match (m, n) {
            (1, n) => result.push(n),
            (m, 1) => result.push(m),
            (m, n) if m == n => result.push(m),
            _ => return Illegal { code: "degenerate-incompatible", axis: Some(axis) },
        }
    }
    legal_padded(result, &[x.to_vec(), y.to_vec()])
}

/// Operands are scalars or have one common shape: the anchor's, if the rule has an anchor.
fn ternary(shapes: &[Shape], dims: &[i64], anchor: Option<usize>) -> Verdict {
    let others: Vec<&Shape> = shapes.iter().filter(|shape| !shape.is_empty()).collect();
    let scalar = Shape::scalar();
    let common = match anchor {
        Some(anchor) => &shapes[anchor],
        None => others.first().copied().unwrap_or(&scalar),
    };
    if !dims.is_empty() || others.iter().any(|&shape| shape != common) {
        return illegal("implicit-broadcast-unsupported");
    }
    let rank = common.len();
    let padded: Vec<Vec<usize>> = shapes.iter().map(|shape| pad_left(shape, rank)).collect();
    legal_padded(common.to_vec(), &padded)
}

fn pdpd(a: &[usize], b: &[usize], axis: Option<i64>) -> Verdict {
    match pad_pdpd(a, b, axis) {
        Ok(padded) => legal_padded(a.to_vec(), &[a.to_vec(), padded]),
        Err(code) => illegal(code),
    }
}

/// Broadcasts `else` onto `then`, then the condition onto `then`.
fn pdpd_ternary(p: &[usize], a: &[usize], b: &[usize], axis: Option<i64>) -> Verdict {
    match (pad_pdpd(a, b, axis), pad_pdpd(a, p, axis)) {
        (Err(code), _) | (Ok(_), Err(code)) => illegal(code),
        (Ok(b), Ok(p)) => legal_padded(a.to_vec(), &[p, a.to_vec(), b]),
    }
}

/// B on consecutive axes of A, padded with ones.
fn pad_pdpd(a: &[usize], b: &[usize], axis: Option<i64>) -> Result<Vec<usize>, &'static str> {
    let (a_rank, b_rank) = (a.len() as i64, b.len() as i64);
    if b_rank > a_rank {
        return Err("rank-too-large");
    }
    let axis = axis.unwrap_or(-1);
    if axis < -1 || axis > a_rank {
        return Err("axis-out-of-range");
    }
    let start = if axis == -1 { a_rank - b_rank } else { axis };
    if start + b_rank > a_rank {
        return Err("axis-out-of-range");
    }
    let padded = pad(b, start as usize, a.len());
    match padded.iter().zip(a).all(|(&n, &m)| n == 1 || n == m) {
        true => Ok(padded),
        false => Err("size-mismatch"),
    }
}

fn onnx_legacy(a: &[usize], b: &[usize], axis: Option<i64>) -> Verdict {
    let ones = vec![1; a.len()];
    if b.len() <= a.len() && b.iter().all(|&size| size == 1) {
        return legal_padded(a.to_vec(), &[a.to_vec(), ones]);
    }
    match axis {
        Some(-1) if b.len() <= a.len() => illegal("axis-out-of-range"),
        _ => pdpd(a, b, axis),
    }
}

pub(crate) fn target(rule: &TargetRule, data: &Shape, target: &Shape) -> Verdict {
    let one = |verdict| match verdict {
        Legal { result, reads } => {
            Legal { result, reads: reads.into_iter().map(|read| vec![read[1]]).collect() }
        }
        illegal => illegal,
    };
    match rule {
        TargetRule::Unidirectional if data.len() > target.len() => illegal("rank-too-large"),
        TargetRule::Unidirectional => {
            let padded = pad_left(data, target.len());
            match padded.iter().zip(target.iter()).all(|(&n, &m)| n == 1 || n == m) {
                true => legal_padded(target.to_vec(), &[padded]),
                false => illegal("size-mismatch"),
            }
        }
        TargetRule::Bidirectional => one(numpy(&[target.clone(), data.clone()])),
        TargetRule::Pdpd { axis } => one(pdpd(target, data, *axis)),
        TargetRule::XlaBroadcast => prepended(data, target),
        TargetRule::Explicit { axes } => {
            let order = ["dims-length-mismatch", "dim-out-of-range", INCREASING, "size-mismatch"];
            listed(data, target, axes, &order)
        }
        TargetRule::XlaBroadcastInDim { dims } => {
            // XLA checks sizes and order entry by entry, so this checks each prefix of the list.
            let whole = ["dims-length-mismatch", "dim-out-of-range"];
            let entries = ["size-mismatch", INCREASING];
            let part = |length| fault(&data[..length], target, &dims[..length], &entries);
            fault(data, target, dims, &whole)
                .or_else(|| (0..=data.len()).find_map(part))
                .unwrap_or_else(|| listed(data, target, dims, &[]))
        }
        TargetRule::StableHloBroadcastInDim { dims } => explicit(data, dims, target),
        TargetRule::HloBroadcast { dims } => {
            let order =
                ["dims-length-mismatch", "dim-out-of-range", "dims-not-unique", "size-differs"];
            match listed(data, target, dims, &order) {
                Illegal { code: "size-differs", axis } => Illegal { code: "size-mismatch", axis },
                verdict => verdict,
            }
        }
        _ => panic!("{rule:?} has no oracle"),
    }
}

const INCREASING: &str = "dims-not-strictly-increasing";

/// E1 to E4.
pub(crate) fn explicit(data: &[usize], dims: &[i64], result: &[usize]) -> Verdict {
    let order = ["dims-length-mismatch", "dim-out-of-range", "dims-not-unique", "size-mismatch"];
    listed(data, result, dims, &order)
}

/// The first check of `order` that a list fails.
fn fault(
    data: &[usize],
    result: &[usize],
    dims: &[i64],
    order: &[&'static str],
) -> Option<Verdict> {
    for &code in order {
        let entry = |i: &usize| match code {
            "dims-length-mismatch" => dims.len() != data.len(),
            "dim-out-of-range" => !(0..result.len() as i64).contains(&dims[*i]),
            "dims-not-unique" => dims[..*i].contains(&dims[*i]),
            INCREASING => *i > 0 && dims[*i - 1] >= dims[*i],
            "size-differs" => data[*i] != result[dims[*i] as usize],
            _ => data[*i] != 1 && data[*i] != result[dims[*i] as usize],
        };
        if code == "dims-length-mismatch" && dims.len() != data.len() {
            return Some(illegal(code));
        }
        if let Some(axis) = (0..dims.len()).find(entry) {
            return Some(Illegal { code, axis: Some(axis) });
        }
    }
    None
}

/// A list names a result axis for each axis of the data; `order` is the order of the checks.
fn listed(data: &[usize], result: &[usize], dims: &[i64], order: &[&'static str]) -> Verdict {
    if let Some(illegal) = fault(data, result, dims, order) {
        return illegal;
    }
    let read = |index: Vec<usize>| {
        let coordinate = |(&dim, &size): (&i64, &usize)| index[dim as usize] % size;
        let at: Vec<usize> = dims.iter().zip(data).map(coordinate).collect();
        vec![position(data, &at)]
    };
    Legal { result: result.to_vec(), reads: indices(result).into_iter().map(read).collect() }
}

/// Prepends axes: the data repeats along them.
fn prepended(data: &[usize], sizes: &[usize]) -> Verdict {
    let result = [sizes, data].concat();
    let count: usize = data.iter().product();
    let total: usize = result.iter().product();
    Legal { result, reads: (0..total).map(|k| vec![k % count]).collect() }
}
