//! Repairs of a broadcast that axis names refuse: other names for axes, or no axis of size 1.
//!
//! It proposes; whether the rule takes a proposal is found by elaborating it in `repair.rs`.

use alloc::vec::Vec;

use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::shape::Shape;
use crate::violation::{AxisOf, Party, Violation};

/// Names for all operands, and another shape for one of them.
pub(crate) struct Proposal {
    pub(crate) names: Vec<AxisNames>,
    pub(crate) reshape: Option<(usize, Shape)>,
    /// An operand that has the only axis of a size, and that size, where this is why.
    pub(crate) only_axis: Option<(usize, usize)>,
}

/// The repairs, the likeliest first.
pub(crate) fn propose(error: &ShapeError, names: &[AxisNames]) -> Vec<Proposal> {
    match *error.violation() {
        Violation::SizeMismatch { this, other } => {
            let without = [this, other].into_iter().filter(|axis| axis.size == 1);
            let without = without.filter_map(|axis| without_axis(error, names, axis));
            without.chain(renamed(error, names, this)).collect()
        }
        Violation::AxisNameMissing { operand, .. } => {
            named_by_sizes(error, names, operand).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn position(axis: AxisOf) -> Option<usize> {
    match axis.party {
        Party::Operand(operand) => Some(operand),
        Party::Result => None,
    }
}

/// The operand without an axis of size 1: its one element then goes with every one.
fn without_axis(error: &ShapeError, names: &[AxisNames], of: AxisOf) -> Option<Proposal> {
    let operand = position(of)?;
    let shape = &error.shapes()[operand];
    let sizes = shape.iter().enumerate().filter(|&(axis, _)| axis != of.axis);
    let shape: Shape = sizes.map(|(_, &size)| size).collect();
    let mut names = names.to_vec();
    names[operand] = names[operand].without(of.axis);
    Some(Proposal { names, reshape: Some((operand, shape)), only_axis: None })
}

/// The guilty axis by the name of an axis of its size that another operand has, and its own has not.
fn renamed(error: &ShapeError, names: &[AxisNames], of: AxisOf) -> Option<Proposal> {
    let operand = position(of).filter(|_| of.size != 1)?;
    let mut meant = None;
    for (other, (shape, others)) in error.shapes().iter().zip(names).enumerate() {
        for (&size, name) in shape.iter().zip(others.iter()) {
            let Some(name) = name.filter(|_| other != operand && size == of.size) else { continue };
            match meant {
                Some((known, _)) if known != name => return None,
                _ => meant = Some((name, other)),
            }
        }
    }
    let (name, other) = meant.filter(|(name, _)| names[operand].axis(name).is_none())?;
    let mut names = names.to_vec();
    names[operand] = names[operand].with(of.axis, name);
    Some(Proposal { names, reshape: None, only_axis: Some((other, of.size)) })
}

/// Names for an operand that has none, where each of its sizes is that of one axis of the others.
fn named_by_sizes(error: &ShapeError, names: &[AxisNames], operand: usize) -> Option<Proposal> {
    let shapes = error.shapes();
    let is_other = |&(other, _): &(usize, _)| other != operand;
    let mut axes: Vec<(usize, &str)> = Vec::new();
    for (_, (shape, others)) in shapes.iter().zip(names).enumerate().filter(is_other) {
        for axis in shape.iter().copied().zip(others.iter().flatten()) {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
    }
    let mut found = Vec::new();
    for size in shapes[operand].iter() {
        let mut of_size = axes.iter().filter(|(other, _)| other == size);
        match (of_size.next(), of_size.next()) {
            (Some(&(_, name)), None) if *size != 1 => found.push(name),
            _ => return None,
        }
    }
    let mut all = names.to_vec();
    all.resize(shapes.len().max(names.len()), AxisNames::unnamed(0));
    all[operand] = AxisNames::from(found);
    Some(Proposal { names: all, reshape: None, only_axis: None })
}
