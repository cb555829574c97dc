//! The listing of a nest's code, for explanations: `a` is an array, `r` a register of one block, and
//! `a0, mul a1, add a2` a chain.

use core::fmt;

use indim_kernels::chain::Accumulator;
use indim_loops::loop_nest::{Access, Local};

use crate::tiles::chain::find::Task;
use crate::tiles::chain::{Link, Operand};
use crate::tiles::code::REGISTER_BYTES;
use crate::tiles::code::TileCode;

/// Writes the listing, with what `describe` makes of the arrays.
pub(crate) fn list(
    code: &TileCode,
    formatter: &mut fmt::Formatter<'_>,
    describe: &dyn Fn(&Access) -> String,
) -> fmt::Result {
    let registers = code.register_count;
    let plural = if registers == 1 { "" } else { "s" };
    writeln!(formatter, "block of {} elements, {registers} register{plural}", code.block)?;
    for (index, access) in code.nest.accesses.iter().enumerate() {
        writeln!(formatter, "  a{index} = {}", describe(access))?;
    }
    for task in &code.tasks {
        let result = name(code, Local::Instruction(task.result()));
        match task {
            Task::Kernel(index) => {
                let instruction = &code.nest.instructions[*index];
                let operands: Vec<String> =
                    instruction.operands.iter().map(|&local| name(code, local)).collect();
                let text = instruction.to_string();
                let operation = text.split(' ').next().unwrap_or_default();
                writeln!(formatter, "  {result} = {operation} {}", operands.join(", "))?;
            }
            Task::Chain(chain) => {
                let links: Vec<String> =
                    chain.links.iter().map(|link| describe_link(code, link)).collect();
                writeln!(formatter, "  {result} = {} in {}", links.join(", "), chain.dtype)?;
            }
        }
    }
    for store in &code.nest.stores {
        let reduction =
            store.reduction.map_or(String::new(), |it| format!("{}.{} ", it.op, it.dtype));
        let (source, target) = (name(code, store.source), describe(&store.target));
        writeln!(formatter, "  {reduction}{source} -> {target}")?;
    }
    Ok(())
}

/// What a value is called.
fn name(code: &TileCode, local: Local) -> String {
    match local {
        Local::Access(index) => format!("a{index}"),
        Local::Instruction(index) => match code.registers[index] {
            Some(register) => format!("r{}", register / REGISTER_BYTES),
            None => format!("t{index}"),
        },
    }
}

fn describe_link(code: &TileCode, link: &Link) -> String {
    let operand_name = |operand: &Operand| match operand {
        Operand::Local(local) => name(code, *local),
        Operand::Saved(_) => operand.to_string(),
    };
    match link {
        Link::Load(Accumulator::Values, operand) => operand_name(operand),
        Link::Load(_, operand) => format!("mask {}", operand_name(operand)),
        Link::Save(_, index) => format!("save s{index}"),
        Link::Unary(_, op) => op.to_string(),
        Link::Test(_) => "bool".to_owned(),
        Link::Spread => "from mask".to_owned(),
        Link::Binary { op, operand, accumulator_is_second: true, .. } => {
            format!("{op} {} ·", operand_name(operand))
        }
        Link::Binary { op, operand, .. } => format!("{op} {}", operand_name(operand)),
        Link::WriteMask => "write mask".to_owned(),
    }
}
