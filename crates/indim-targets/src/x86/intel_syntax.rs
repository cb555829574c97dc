//! Instructions as text, in Intel syntax.

use core::fmt::Write;

use iced_x86::{Instruction, OpKind, Register};

/// Writes an instruction in Intel's operand order. `label` is the target of a jump, `broadcast_lanes` the
/// number of lanes to which the memory operand is broadcast (0 for none), `constant` the text of the constant
/// at an address.
pub(super) fn write_instruction(
    listing: &mut String,
    instruction: &Instruction,
    label: &str,
    broadcast_lanes: u32,
    constant: impl Fn(u64) -> String,
) {
    let mnemonic = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let _ = write!(listing, "    {mnemonic:<12}");
    for operand in 0..instruction.op_count() {
        let _ = write!(listing, "{}", if operand == 0 { " " } else { ", " });
        write_operand(listing, instruction, operand, label, broadcast_lanes);
        if operand == 0 && instruction.has_op_mask() {
            let _ = write!(listing, " {{{}}}", name(instruction.op_mask()));
            listing.push_str(if instruction.zeroing_masking() { "{z}" } else { "" });
        }
    }
    listing.truncate(listing.trim_end().len());
    if instruction.is_ip_rel_memory_operand() {
        let _ = write!(listing, "  ; {}", constant(instruction.memory_displacement64()));
    }
    listing.push('\n');
}

fn write_operand(
    listing: &mut String,
    instruction: &Instruction,
    operand: u32,
    label: &str,
    broadcast_lanes: u32,
) {
    let _ = match instruction.op_kind(operand) {
        OpKind::Register => write!(listing, "{}", name(instruction.op_register(operand))),
        OpKind::Memory => write_memory(listing, instruction, broadcast_lanes),
        OpKind::NearBranch64 => write!(listing, "{label}"),
        OpKind::Immediate32to64 => write!(listing, "{}", instruction.immediate32to64()),
        OpKind::Immediate8 => write!(listing, "{:#x}", instruction.immediate8()),
        _ => write!(listing, "{:#x}", instruction.immediate64()),
    };
}

fn write_memory(
    listing: &mut String,
    instruction: &Instruction,
    broadcast_lanes: u32,
) -> core::fmt::Result {
    write_address(listing, instruction)?;
    match broadcast_lanes {
        0 => Ok(()),
        broadcast_lanes => write!(listing, "{{1to{broadcast_lanes}}}"),
    }
}

fn write_address(listing: &mut String, instruction: &Instruction) -> core::fmt::Result {
    if instruction.is_ip_rel_memory_operand() {
        return write!(listing, "[constant]");
    }
    write!(listing, "[{}", name(instruction.memory_base()))?;
    if instruction.memory_index() != Register::None {
        let scale = instruction.memory_index_scale();
        write!(listing, "+{scale}*{}", name(instruction.memory_index()))?;
    }
    match instruction.memory_displacement64() as i64 {
        0 => {}
        displacement if displacement < 0 => write!(listing, "-{:#x}", -displacement)?,
        displacement => write!(listing, "+{displacement:#x}")?,
    }
    write!(listing, "]")
}

/// The name of a register.
pub(super) fn name(register: Register) -> String {
    format!("{register:?}").to_lowercase()
}
