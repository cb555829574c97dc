//! Outputs that may overwrite an input.

use crate::loop_nest::{
    Access, BufferId, InstructionKind, Local, LoopNests, NestInstruction, StandaloneInstruction,
    Store,
};

/// Whether an output may use the memory of a parameter, if each tile is read completely before it is written:
/// the output's nest reads the parameter only at the indices that it writes, and no later nest reads the
/// parameter.
pub fn can_replace(loops: &LoopNests, parameter: usize, output: usize) -> bool {
    let is_parameter = |access: &Access| access.buffer == BufferId::Parameter(parameter);
    let nests = loops.nests.iter().enumerate();
    let stores =
        nests.flat_map(|(index, nest)| nest.stores.iter().map(move |store| (index, nest, store)));
    let mut writes = stores.filter(|(_, _, store)| store.target.buffer == BufferId::Output(output));
    // If several stores write parts of the output, the nest of a later part may read the parameter.
    let (Some((index, nest, store)), None) = (writes.next(), writes.next()) else {
        return false;
    };
    let moves_as_output = |access: &&Access| {
        access.axes == store.target.axes && access.array_type.shape == store.target.array_type.shape
    };
    // A reduction or a loop writes elements of the output before it has read all of the input.
    let needs_all = matches!(
        nest.standalone_instruction(),
        Some((
            StandaloneInstruction::Contract { .. }
                | StandaloneInstruction::Scan { .. }
                | StandaloneInstruction::Control { .. },
            _
        ))
    );
    if nest.reduced.is_some() || needs_all {
        return false;
    }
    // A copy does not go through a block: it reads the input while it writes the output.
    let is_copied = |store: &Store| match store.source {
        Local::Access(access) => is_parameter(&nest.accesses[access]),
        Local::Instruction(_) => false,
    };
    // A gather may yield the address of a row of its table instead of a copy, so a store reads the table.
    let is_table = |instruction: &NestInstruction| {
        let is_take = matches!(instruction.kind, InstructionKind::Take { .. });
        is_take
            && matches!(instruction.operands[0], Local::Access(it) if is_parameter(&nest.accesses[it]))
    };
    let mut reads = nest.accesses.iter().filter(|access| is_parameter(access));
    reads.all(|access| moves_as_output(&access))
        && !nest.stores.iter().any(is_copied)
        && !nest.instructions.iter().any(is_table)
        && !loops.nests[index + 1..].iter().any(|later| later.accesses.iter().any(is_parameter))
}
