//! The listing of the kernel calls of a nest: `a0` is an access to an array, `r0` a block, which several
//! virtual registers may share.

use core::fmt;

use indim_loops::loop_nest::{Access, Local, LoopNest};

use crate::tiles::code::BLOCK_BYTES;
use crate::tiles::code::TileCode;

/// Writes the listing; `describe` names the arrays.
pub(crate) fn list(
    code: &TileCode,
    nest: &LoopNest,
    formatter: &mut fmt::Formatter<'_>,
    describe: &dyn Fn(&Access) -> String,
) -> fmt::Result {
    let blocks = code.block_count;
    let plural = if blocks == 1 { "" } else { "s" };
    writeln!(formatter, "block of {} elements, {blocks} register{plural}", code.block_elements)?;
    for (index, access) in nest.accesses.iter().enumerate() {
        writeln!(formatter, "  a{index} = {}", describe(access))?;
    }
    for (index, instruction) in nest.instructions.iter().enumerate() {
        let result = name(code, Local::Instruction(index));
        let operands: Vec<String> =
            instruction.operands.iter().map(|&local| name(code, local)).collect();
        let text = instruction.to_string();
        let operation = text.split(' ').next().unwrap_or_default();
        writeln!(formatter, "  {result} = {operation} {}", operands.join(", "))?;
    }
    for store in &nest.stores {
        let reduction =
            store.reduction.map_or(String::new(), |it| format!("{}.{} ", it.op, it.dtype));
        let (source, target) = (name(code, store.source), describe(&store.target));
        writeln!(formatter, "  {reduction}{source} -> {target}")?;
    }
    Ok(())
}

/// The name of a value in the listing.
fn name(code: &TileCode, local: Local) -> String {
    match local {
        Local::Access(index) => format!("a{index}"),
        Local::Instruction(index) => match code.blocks[index] {
            Some(block) => format!("r{}", block / BLOCK_BYTES),
            None => format!("t{index}"),
        },
    }
}
