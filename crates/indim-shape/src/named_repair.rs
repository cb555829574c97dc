//! Repairs under rule `named`: renamed axes, or an axis of size 1 removed.
//!
//! This file proposes; `repair.rs` elaborates each proposal to find the legal ones.

use alloc::vec::Vec;

use crate::axis_names::AxisNames;
use crate::error::ShapeError;
use crate::shape::Shape;
use crate::violation::{AxisOwner, SizedAxis, Violation};

/// Axis names for all operands, and a new shape for at most one of them.
pub(crate) struct NamedProposal {
    pub(crate) names: Vec<AxisNames>,
    pub(crate) reshape: Option<(usize, Shape)>,
    /// The reason for the proposal: the operand with the only axis of the size at fault, and that size.
    pub(crate) only_axis: Option<(usize, usize)>,
}

/// The proposals, the likeliest first.
pub(crate) fn propose(error: &ShapeError, names: &[AxisNames]) -> Vec<NamedProposal> {
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

fn position(axis: SizedAxis) -> Option<usize> {
    match axis.owner {
        AxisOwner::Operand(operand) => Some(operand),
        AxisOwner::Result => None,
    }
}

/// Removes an axis of size 1: the operand then broadcasts along it.
fn without_axis(error: &ShapeError, names: &[AxisNames], of: SizedAxis) -> Option<NamedProposal> {
    let operand = position(of)?;
    let shape = &error.shapes()[operand];
    let sizes = shape.iter().enumerate().filter(|&(axis, _)| axis != of.axis);
    let shape: Shape = sizes.map(|(_, &size)| size).collect();
    let mut names = names.to_vec();
    names[operand] = names[operand].without(of.axis);
    Some(NamedProposal { names, reshape: Some((operand, shape)), only_axis: None })
}

/// Renames the axis at fault to the name that axes of its size have in other operands, if they have only
/// one name and the operand has no axis of that name.
fn renamed(error: &ShapeError, names: &[AxisNames], of: SizedAxis) -> Option<NamedProposal> {
    let operand = position(of).filter(|_| of.size != 1)?;
    let mut counterpart = None;
    for (other, (shape, others)) in error.shapes().iter().zip(names).enumerate() {
        for (&size, name) in shape.iter().zip(others.iter()) {
            let Some(name) = name.filter(|_| other != operand && size == of.size) else { continue };
            match counterpart {
                Some((known, _)) if known != name => return None,
                _ => counterpart = Some((name, other)),
            }
        }
    }
    let (name, other) = counterpart.filter(|(name, _)| names[operand].axis(name).is_none())?;
    let mut names = names.to_vec();
    names[operand] = names[operand].with(of.axis, name);
    Some(NamedProposal { names, reshape: None, only_axis: Some((other, of.size)) })
}

/// Names for an operand with unnamed axes, if each of its sizes is the size of exactly one named axis of
/// the other operands.
fn named_by_sizes(
    error: &ShapeError,
    names: &[AxisNames],
    operand: usize,
) -> Option<NamedProposal> {
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
    Some(NamedProposal { names: all, reshape: None, only_axis: None })
}
