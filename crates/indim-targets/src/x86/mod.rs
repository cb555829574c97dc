//! The target x86-64 with AVX2, FMA and F16C.
//!
//! Read in this order: `machine.rs` (instructions over any number of registers), `opcode.rs` (which there
//! are), `select/` (which of them compute a body), `allocate.rs` (which registers they have), `emit.rs`
//! (the loops around them), `assembler.rs` (bytes).

mod allocate;
mod assembler;
mod emit;
mod listing;
mod machine;
mod opcode;
mod pool;
mod select;

use allocate::{Pinned, REGISTERS, allocate, pressure, registers};
use emit::{Parts, emit};
use machine::{MachineCode, Memory, REGISTER_BYTES, Register};
use select::{Selection, row_values, select};

use crate::layout::Layout;
use crate::target::{Code, Target};
use indim_codegen::{Body, LaneType};

/// x86-64 with AVX2, FMA and F16C.
pub(crate) struct Avx2;

impl Target for Avx2 {
    fn is_available(&self) -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }

    fn compile(&self, body: &Body, layout: &Layout, listing: Option<&mut String>) -> Code {
        let mut lanes = 2 * REGISTER_BYTES as usize / widest(body, layout);
        let mut selection = select(body, layout, lanes);
        // Half as many lanes need half as many registers: what is in one need not wait in memory.
        let mut used = pressure(&selection.step);
        if used > REGISTERS {
            lanes /= 2;
            selection = select(body, layout, lanes);
            used = pressure(&selection.step);
        }
        // One register more is needed where a constant is read that is in none.
        let room = REGISTERS.saturating_sub(used + 1);
        finish(body, selection, lanes, room, listing)
    }
}

fn finish(
    body: &Body,
    mut selection: Selection,
    lanes: usize,
    room: usize,
    listing: Option<&mut String>,
) -> Code {
    let row = allocate(&selection.row, &[], &mut selection.frame);
    let pinned = pinned(&selection.step, room);
    let step = allocate(&selection.step, &pinned, &mut selection.frame);
    let homes: Vec<(Memory, u8)> = pinned
        .iter()
        .filter_map(|&(register, real)| Some((selection.step.homes[register.index()]?, real)))
        .collect();
    let emitted = emit(
        &Parts {
            body,
            pool: &selection.pool,
            frame: &selection.frame,
            row: (&selection.row, &row),
            pinned: &homes,
            step: (&selection.step, &step),
            lanes,
            operands: body.inputs.len() + body.outputs.len(),
        },
        listing,
    );
    Code { bytes: emitted.bytes, entry: emitted.entry, lanes }
}

/// What stays in a register for all steps of a row: as much of what does not change as there is `room` for,
/// that which is read most first.
fn pinned(step: &MachineCode, room: usize) -> Vec<Pinned> {
    if step.has_calls() {
        return Vec::new();
    }
    let mut counts = vec![0usize; step.homes.len()];
    for instruction in &step.instructions {
        registers(instruction).for_each(|register| counts[register.index()] += 1);
    }
    let is_constant =
        |home: &Option<Memory>| matches!(home, Some(Memory::Pool(_) | Memory::Frame(_)));
    let constants = step.homes.iter().enumerate().filter(|(_, home)| is_constant(home));
    let mut constants: Vec<usize> = constants.map(|(index, _)| index).collect();
    constants.retain(|&index| counts[index] > 0);
    constants.sort_by_key(|&index| core::cmp::Reverse(counts[index]));
    let constants = constants.into_iter().take(room).zip((0..REGISTERS as u8).rev());
    constants.map(|(index, real)| (Register(index as u32), real)).collect()
}

/// Bytes of the widest lanes that steps compute.
fn widest(body: &Body, layout: &Layout) -> usize {
    let is_row_value = row_values(body, layout);
    let lanes =
        body.instructions.iter().zip(is_row_value).filter(|(_, is_row_value)| !is_row_value);
    let widest = lanes.map(|(instruction, _)| instruction.lane.size()).max();
    let outputs = body.outputs.iter().map(|(dtype, _)| LaneType::of_element(*dtype).0.size()).max();
    widest.max(outputs).unwrap_or(1)
}
