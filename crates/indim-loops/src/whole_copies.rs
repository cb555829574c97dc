//! Copies that a run leaves out: nests that only move a whole array between an input or output of the program
//! and a temporary, for a reshape. If the array in memory is row-major, the temporary lies in its place.

use crate::loop_nest::{Access, AxisTerm, BufferId, Local, LoopNest, LoopNests};
use indim_graph::Size;

/// A nest that only copies a whole array to or from a temporary.
#[derive(Debug)]
pub struct WholeCopy {
    /// The index of the nest.
    pub nest: usize,
    /// The temporary.
    pub temporary: usize,
    /// The parameter that is copied to the temporary, or the output that the temporary is copied to.
    pub array: BufferId,
}

/// The copies of a program that a run may leave out. `may_fail` tells whether a run with valid inputs may
/// fail: it must not have written an output then.
pub fn whole_copies(loops: &LoopNests, may_fail: bool) -> Vec<WholeCopy> {
    let mut copies: Vec<WholeCopy> = Vec::new();
    for (index, nest) in loops.nests.iter().enumerate() {
        let Some([source, target]) = copied(nest) else { continue };
        let (temporary, array) = match (source, target) {
            (array @ BufferId::Parameter(_), BufferId::Temporary(temporary)) => (temporary, array),
            (BufferId::Temporary(temporary), array @ BufferId::Output(_)) if !may_fail => {
                (temporary, array)
            }
            _ => continue,
        };
        // A parameter replaces a temporary that nothing else writes; an output is written by nothing else
        // and read by no nest.
        let is_only_use = uses(loops, target).count() == 1 || !matches!(array, BufferId::Output(_));
        let is_new = copies.iter().all(|copy| copy.temporary != temporary);
        if writers(loops, target) == 1 && is_only_use && is_new {
            copies.push(WholeCopy { nest: index, temporary, array });
        }
    }
    copies
}

/// The source and the target of a nest that only copies a whole array.
fn copied(nest: &LoopNest) -> Option<[BufferId; 2]> {
    let ([source], [store]) = (&nest.accesses[..], &nest.stores[..]) else { return None };
    let is_copy = nest.instructions.is_empty()
        && nest.reduced.is_none()
        && store.source == Local::Access(0)
        && source.array_type.dtype == store.target.array_type.dtype;
    let are_whole = is_whole(nest, source) && is_whole(nest, &store.target);
    (is_copy && are_whole).then_some([source.buffer, store.target.buffer])
}

/// Whether an access visits all elements of its array in row-major order.
fn is_whole(nest: &LoopNest, access: &Access) -> bool {
    let sizes = access.array_type.shape.iter();
    let (moving, fixed): (Vec<_>, Vec<_>) =
        access.axes.iter().zip(sizes).partition(|&(_, &size)| size != Size::Known(1));
    let axes = (0..nest.shape.rank()).filter(|&axis| nest.shape[axis] != Size::Known(1));
    fixed.iter().all(|(index, _)| index.terms.is_empty())
        && access.starts_at_origin()
        && moving.len() == axes.clone().count()
        && moving.iter().zip(axes).all(|(&(index, &size), axis)| {
            index.single_term() == Some(AxisTerm { axis, step: 1 }) && size == nest.shape[axis]
        })
}

/// The accesses and stores of a buffer.
fn uses(loops: &LoopNests, buffer: BufferId) -> impl Iterator<Item = &Access> {
    let operands = loops.nests.iter().flat_map(|nest| nest.operands());
    operands.filter(move |access| access.buffer == buffer)
}

/// The number of stores to a buffer.
fn writers(loops: &LoopNests, buffer: BufferId) -> usize {
    let stores = loops.nests.iter().flat_map(|nest| &nest.stores);
    stores.filter(|store| store.target.buffer == buffer).count()
}
