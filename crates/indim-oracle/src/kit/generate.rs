//! Cases that are probably legal under a rule; the oracle decides.

use indim_ops::DType;
use indim_shape::RuleSetName as Rule;

use super::draft::Draft;
use super::operation::KitOperation;
use super::random::SplitMix64;

/// Maximum rank of a shape.
pub(super) const MAX_RANK: usize = 5;
/// The axis names of a result.
pub(super) const AXIS_NAMES: [&str; MAX_RANK] = ["time", "level", "lat", "lon", "band"];
/// Maximum size of an axis.
pub(super) const MAX_SIZE: usize = 7;
/// Maximum number of elements of a result; more would only make files larger.
const MAX_ELEMENTS: usize = 600;

/// A case of the rule.
pub(super) fn generate(
    rule: Rule,
    operations: &[&'static KitOperation],
    random: &mut SplitMix64,
) -> Draft {
    if rule.is_target_rule() {
        return Draft {
            dtypes: vec![random.pick(&[DType::F32, DType::I32, DType::Bool])],
            ..onto_target(rule, random)
        };
    }
    let operation = random.pick(operations);
    let is_legacy = rule == Rule::OnnxLegacy && !operation.legacy_dtypes.is_empty();
    let dtypes = if is_legacy { operation.legacy_dtypes } else { operation.dtypes };
    let dtype = random.pick(dtypes);
    let operands = 0..operation.operands;
    Draft {
        operation: Some(operation),
        dtypes: operands.map(|operand| operation.operand_dtype(operand, dtype)).collect(),
        ..elementwise(rule, operation.operands, random)
    }
}

/// Shapes and attributes of an element-wise case with `count` operands.
fn elementwise(rule: Rule, count: usize, random: &mut SplitMix64) -> Draft {
    let result = shape(random);
    match rule {
        Rule::Numpy => Draft {
            shapes: (0..count).map(|_| with_ones(suffix(&result, random), random)).collect(),
            ..Draft::default()
        },
        Rule::Xla if count == 2 => xla(&result, random),
        Rule::Xla | Rule::StableHlo if count == 3 => with_scalars(&result, random),
        Rule::Named => named(&result, count, random),
        Rule::Pdpd if count > 1 => onto_one(&result, count, random),
        Rule::OnnxLegacy if count == 2 => legacy(&result, random),
        _ => Draft { shapes: vec![result; count], ..Draft::default() },
    }
}

/// Two operands in either order: one has the axes of the result, the other all or some of them. Some
/// sizes are replaced by 1.
fn xla(result: &[usize], random: &mut SplitMix64) -> Draft {
    let larger = match random.one_in(3) {
        true => with_ones(result.to_vec(), random),
        false => result.to_vec(),
    };
    let identity = (0..result.len() as i64).collect();
    let (smaller, dims) = match random.below(5) {
        0 => (with_ones(result.to_vec(), random), random.one_in(2).then_some(identity)),
        1 => (Vec::new(), random.one_in(2).then(Vec::new)),
        _ => {
            let (sizes, axes) = some_axes(result, random);
            (with_few_ones(sizes, random), Some(axes))
        }
    };
    let mut shapes = vec![larger, smaller];
    if random.one_in(3) {
        shapes.swap(0, 1);
    }
    Draft { shapes, dims, ..Draft::default() }
}

/// Each operand has some axes of the result, in any order, with their names.
fn named(result: &[usize], count: usize, random: &mut SplitMix64) -> Draft {
    let (mut shapes, mut names) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (mut sizes, mut axes) = some_axes(result, random);
        shuffle_both(&mut sizes, &mut axes, random);
        shapes.push(sizes);
        names.push(axes.iter().map(|&axis| AXIS_NAMES[axis as usize]).collect());
    }
    Draft { shapes, names: Some(names), ..Draft::default() }
}

/// Three operands, each of the shape of the result or a scalar.
fn with_scalars(result: &[usize], random: &mut SplitMix64) -> Draft {
    let shapes = (0..3).map(|_| if random.one_in(3) { Vec::new() } else { result.to_vec() });
    Draft { shapes: shapes.collect(), ..Draft::default() }
}

/// One operand has the shape of the result: the first of two, the second of three. Each other operand has
/// consecutive axes of the result.
fn onto_one(result: &[usize], count: usize, random: &mut SplitMix64) -> Draft {
    let (axis, start) = match random.below(3) {
        0 => (random.pick(&[None, Some(-1)]), None),
        _ => {
            let start = random.below(result.len() + 1);
            (Some(start as i64), Some(start))
        }
    };
    let shapes = (0..count).map(|operand| match operand == usize::from(count == 3) {
        true => result.to_vec(),
        false => with_few_ones(run(result, start, random), random),
    });
    Draft { shapes: shapes.collect(), axis, ..Draft::default() }
}

/// Two operands under ONNX's legacy rule: equal shapes with `broadcast` 0, or shapes as in [`onto_one`].
fn legacy(result: &[usize], random: &mut SplitMix64) -> Draft {
    if random.one_in(6) {
        let shapes = vec![result.to_vec(); 2];
        return Draft { shapes, broadcast: Some(0), ..Draft::default() };
    }
    let draft = onto_one(result, 2, random);
    let axis = draft.axis.filter(|&axis| axis >= 0);
    Draft { axis, broadcast: random.pick(&[None, Some(1)]), ..draft }
}

/// Shapes and attributes of a broadcast of one operand to a target.
fn onto_target(rule: Rule, random: &mut SplitMix64) -> Draft {
    let result = shape(random);
    let (operand, target, axis, dims) = match rule {
        Rule::Bidirectional => {
            let target = with_ones(suffix(&result, random), random);
            (with_ones(suffix(&result, random), random), target, None, None)
        }
        Rule::PdpdBroadcast => {
            let draft = onto_one(&result, 2, random);
            (draft.shapes[1].clone(), result, draft.axis, None)
        }
        Rule::XlaBroadcast => {
            let operand = suffix(&result, random);
            let target = result[..result.len() - operand.len()].to_vec();
            (operand, target, None, None)
        }
        Rule::Unidirectional => (with_ones(suffix(&result, random), random), result, None, None),
        _ => {
            let (mut sizes, mut axes) = some_axes(&result, random);
            if matches!(rule, Rule::StableHloBroadcastInDim | Rule::HloBroadcast) {
                shuffle_both(&mut sizes, &mut axes, random);
            }
            let has_ones = rule != Rule::HloBroadcast;
            let sizes = if has_ones { with_few_ones(sizes, random) } else { sizes };
            (sizes, result, None, Some(axes))
        }
    };
    Draft { shapes: vec![operand], target: Some(target), axis, dims, ..Draft::default() }
}

/// A random size; 1 is frequent, 0 is rare.
pub(super) fn size(random: &mut SplitMix64) -> usize {
    match random.below(24) {
        0 => 0,
        1..=8 => 1,
        _ => 2 + random.below(MAX_SIZE - 1),
    }
}

fn shape(random: &mut SplitMix64) -> Vec<usize> {
    loop {
        let rank = random.below(MAX_RANK + 1);
        let sizes: Vec<usize> = (0..rank).map(|_| size(random)).collect();
        if sizes.iter().product::<usize>() <= MAX_ELEMENTS {
            return sizes;
        }
    }
}

/// Replaces each size by 1 with probability 1/3.
fn with_ones(sizes: Vec<usize>, random: &mut SplitMix64) -> Vec<usize> {
    sizes.into_iter().map(|size| if random.one_in(3) { 1 } else { size }).collect()
}

/// Like [`with_ones`] in half of the cases, otherwise the sizes unchanged.
fn with_few_ones(sizes: Vec<usize>, random: &mut SplitMix64) -> Vec<usize> {
    if random.one_in(2) { sizes } else { with_ones(sizes, random) }
}

/// The whole shape in half of the cases, otherwise its last axes.
fn suffix(sizes: &[usize], random: &mut SplitMix64) -> Vec<usize> {
    let dropped = if random.one_in(2) { 0 } else { random.below(sizes.len() + 1) };
    sizes[dropped..].to_vec()
}

/// The sizes of a random number of consecutive axes, from axis `start` on; without `start`, of the last
/// axes.
fn run(sizes: &[usize], start: Option<usize>, random: &mut SplitMix64) -> Vec<usize> {
    match start {
        None => sizes[random.below(sizes.len() + 1)..].to_vec(),
        Some(start) => {
            let length = random.below(sizes.len() - start + 1);
            sizes[start..start + length].to_vec()
        }
    }
}

/// Some axes in ascending order, with their sizes.
fn some_axes(sizes: &[usize], random: &mut SplitMix64) -> (Vec<usize>, Vec<i64>) {
    let axes: Vec<usize> = (0..sizes.len()).filter(|_| random.one_in(2)).collect();
    (axes.iter().map(|&axis| sizes[axis]).collect(), axes.iter().map(|&axis| axis as i64).collect())
}

/// Shuffles both lists by the same random permutation.
fn shuffle_both(sizes: &mut [usize], axes: &mut [i64], random: &mut SplitMix64) {
    for last in (1..sizes.len()).rev() {
        let other = random.below(last + 1);
        sizes.swap(last, other);
        axes.swap(last, other);
    }
}
