//! Puts mistakes into cases; the oracle decides whether a change is one.

use indim_ops::DType;
use indim_shape::{Attribute, RuleSetName};

use super::draft::Draft;
use super::generate::{AXIS_NAMES, MAX_RANK, size};
use super::random::SplitMix64;

/// Changes one property of a case: a size, a rank, an attribute, an element type, or the order of operands.
pub(super) fn mutate(rule: RuleSetName, mut draft: Draft, random: &mut SplitMix64) -> Draft {
    let has = |attribute| rule.attributes().contains(&attribute);
    let operand = random.below(draft.shapes.len());
    match random.below(6) {
        0 if has(Attribute::Dims) => mutate_dims(&mut draft, random),
        0 | 3 if has(Attribute::Names) => mutate_names(&mut draft, operand, random),
        0 | 1 if has(Attribute::Axis) => draft.axis = Some(random.between(-3, 6)),
        0 | 1 => change_size(&mut draft.shapes[operand], random),
        2 => change_rank(&mut draft.shapes[operand], random),
        3 if draft.target.is_some() => {
            draft.target.iter_mut().for_each(|target| change_size(target, random));
        }
        3 if draft.shapes.len() == 2 => draft.shapes.swap(0, 1),
        4 if draft.shapes.len() > 1 => {
            if let Some(last) = draft.dtypes.last_mut() {
                *last = random.pick(&[DType::F32, DType::I32, DType::Bool]);
            }
        }
        _ if has(Attribute::Dims) => mutate_dims(&mut draft, random),
        _ => change_size(&mut draft.shapes[operand], random),
    }
    draft
}

fn change_size(sizes: &mut [usize], random: &mut SplitMix64) {
    if !sizes.is_empty() {
        let axis = random.below(sizes.len());
        sizes[axis] = size(random);
    }
}

fn change_rank(sizes: &mut Vec<usize>, random: &mut SplitMix64) {
    let axis = random.below(sizes.len() + 1);
    match axis < sizes.len() && (random.one_in(2) || sizes.len() == MAX_RANK) {
        true => drop(sizes.remove(axis)),
        false if sizes.len() < MAX_RANK => sizes.insert(axis, size(random)),
        false => {}
    }
}

/// Changes the name of an axis, possibly to that of another axis of the operand, or removes it.
fn mutate_names(draft: &mut Draft, operand: usize, random: &mut SplitMix64) {
    let names = draft.names.get_or_insert_default();
    if let Some(names) = names.get_mut(operand).filter(|names| !names.is_empty()) {
        let axis = random.below(names.len());
        names[axis] = match random.one_in(3) {
            true => "",
            false => random.pick(&AXIS_NAMES),
        };
    }
}

/// Adds, removes, exchanges or replaces an entry of `dims`, or removes the list.
fn mutate_dims(draft: &mut Draft, random: &mut SplitMix64) {
    let entry = random.between(-1, 1 + MAX_RANK as i64);
    let dims = draft.dims.get_or_insert_default();
    let position = random.below(dims.len().max(1));
    match random.below(5) {
        0 => dims.push(entry),
        1 => drop(dims.pop()),
        2 if dims.len() > 1 => dims.swap(0, position),
        // A rule that needs a list refuses this as `bad-request`, and the kit tries another draft.
        3 if draft.target.is_none() => draft.dims = None,
        _ => dims.iter_mut().skip(position).take(1).for_each(|it| *it = entry),
    }
}
