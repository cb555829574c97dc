//! Outputs that may overwrite an input.

use crate::loop_nest::{Access, BufferId, Local, LoopNests, Store};

/// Whether an output may lie exactly where an input lies, if whatever is done at a time is read as a whole
/// before it is written: the output's nest reads the parameter only where it writes the output, and nothing
/// reads the parameter later.
pub fn can_replace(loops: &LoopNests, parameter: usize, output: usize) -> bool {
    let is_parameter = |access: &Access| access.buffer == BufferId::Parameter(parameter);
    let nests = loops.nests.iter().enumerate();
    let stores =
        nests.flat_map(|(index, nest)| nest.stores.iter().map(move |store| (index, nest, store)));
    let mut writes = stores.filter(|(_, _, store)| store.target.buffer == BufferId::Output(output));
    // A later part may read an output that is written part by part.
    let (Some((index, nest, store)), None) = (writes.next(), writes.next()) else {
        return false;
    };
    let moves_as_output = |access: &&Access| {
        access.axes == store.target.axes && access.array_type.shape == store.target.array_type.shape
    };
    // The reduced axis goes over the input again and again.
    if nest.reduced.is_some() {
        return false;
    }
    // A copied access is not read into a register, but from the input itself.
    let is_copied = |store: &Store| match store.source {
        Local::Access(access) => is_parameter(&nest.accesses[access]),
        Local::Instruction(_) => false,
    };
    let mut reads = nest.accesses.iter().filter(|access| is_parameter(access));
    reads.all(|access| moves_as_output(&access))
        && !nest.stores.iter().any(is_copied)
        && !loops.nests[index + 1..].iter().any(|later| later.accesses.iter().any(is_parameter))
}
