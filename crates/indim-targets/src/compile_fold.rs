//! Compilation of bodies that fold: the number of lanes and of accumulator registers.
//!
//! A step computes the 32 lanes of a block of the summation tree, by unrolled copies of code for fewer lanes.
//! If registers do not suffice, a step has fewer lanes: as many as accumulators fit next to the registers of
//! the computation.

use indim_codegen::{Body, LaneType, Primitive};
use indim_ops::DType;
use indim_ops::meaning::reduction::LANES;

use crate::allocate::{PinnedRegister, pressure};
use crate::compile::{Accumulators, EncoderInput, Lanes, finish, widest};
use crate::layout::OperandLayout;
use crate::machine::{Class, Memory, Register, VirtualCode};
use crate::select::{Selection, TargetLowering, select};
use crate::target::CompiledCode;

/// Maximum instructions of a step of several copies, so that the loop stays in the instruction caches.
const MAX_INSTRUCTIONS: usize = 256;

/// Minimum number of registers for the computation. If a step of one register's lanes leaves fewer next to
/// its accumulators, the body is not compiled.
const MIN_ROOM: usize = 6;

/// Compiles a body that folds. `None` if accumulators do not fit in registers, or if a primitive is called
/// out of line, because calls preserve no vector register.
pub(crate) fn compile_fold<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> Option<CompiledCode> {
    let (selection, lanes) = choose_lanes::<O>(body, layout)?;
    let step = selection.step.unrolled((lanes.step / lanes.copy) as u32, lanes.copy as u32);
    let mut selection = Selection { step, ..selection };
    let accumulators = accumulators(body, &mut selection, lanes);
    let used = pressure(&selection.step) + accumulators.len();
    let room = O::REGISTERS.saturating_sub(used + O::MAX_LOADED);
    Some(finish(body, layout, selection, &accumulators, lanes, room, encode))
}

/// The operation that combines the lanes of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneReduction {
    Sum,
    Product,
}

/// Value of the `begins` argument: accumulators start from the identity, and lanes are combined at the end
/// of a unit.
pub(crate) const JOINED: usize = 2;

/// The operation that combines the lanes of each output. `None` unless a step has all 32 lanes and every
/// output is a sum or product in `f64`, the reductions with a defined tree.
pub(crate) fn lane_reductions(body: &Body, lanes: usize) -> Option<Vec<LaneReduction>> {
    if !body.folds() || lanes != LANES {
        return None;
    }
    let outputs = body.outputs.iter().zip(&body.identities).map(|((dtype, values), &identity)| {
        match body.instruction(values[0]).primitive {
            _ if *dtype != DType::F64 => None,
            Primitive::Add if identity == 0f64.to_bits() => Some(LaneReduction::Sum),
            Primitive::Mul if identity == 1f64.to_bits() => Some(LaneReduction::Product),
            _ => None,
        }
    });
    outputs.collect()
}

/// Chooses the lanes of one copy of the code and of a step, and selects the code.
fn choose_lanes<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
) -> Option<(Selection<O>, Lanes)> {
    let mut lanes = (2 * O::REGISTER_BYTES as usize / widest(body, layout)).min(LANES);
    loop {
        let selection = select::<O>(body, layout, lanes);
        if selection.step.has_calls() || selection.row.has_calls() {
            return None;
        }
        let held = accumulator_targets(&selection.step).count();
        let room = O::REGISTERS.saturating_sub(pressure(&selection.step) + O::MAX_LOADED);
        if held <= room {
            let instructions = selection.step.instructions.len().max(1);
            let max_copies = (room / held).min(MAX_INSTRUCTIONS / instructions).max(1);
            let copies = (1 << max_copies.ilog2()).min(LANES / lanes);
            return Some((selection, Lanes { step: lanes * copies, copy: lanes }));
        }
        if lanes * widest(body, layout) <= O::REGISTER_BYTES as usize {
            let is_room = held + MIN_ROOM <= O::REGISTERS;
            return is_room.then_some((selection, Lanes { step: lanes, copy: lanes }));
        }
        lanes /= 2;
    }
}

/// The accumulator registers that the code writes, each once.
fn accumulator_targets<O: TargetLowering>(step: &VirtualCode<O>) -> impl Iterator<Item = Memory> {
    let targets = step.instructions.iter().filter_map(|instruction| instruction.target);
    targets.filter(|target| matches!(target, Memory::Accumulator { .. }))
}

/// Pins each accumulator to a register.
fn accumulators<O: TargetLowering>(
    body: &Body,
    selection: &mut Selection<O>,
    lanes: Lanes,
) -> Vec<(PinnedRegister, Accumulators)> {
    let all: Vec<Memory> = accumulator_targets(&selection.step).collect();
    let pinned = all.into_iter().zip((0..O::REGISTERS as u8).rev()).map(|(which, real)| {
        let Memory::Accumulator { output, part, copy } = which else {
            unreachable!("invariant: `accumulator_targets` gives only accumulators");
        };
        let home = selection.step.homes.iter().position(|&home| home == Some(which));
        let register = match home {
            Some(index) => Register(index as u32),
            None => selection.step.register_with_home(which, Class::Vector),
        };
        let size = LaneType::of_element(body.outputs[output as usize].0).0.size();
        let identity = selection.pool.constant(body.identities[output as usize], size);
        let element_bytes = size as u32;
        let displacement = copy * lanes.copy as u32 * element_bytes + part * O::REGISTER_BYTES;
        let held = Accumulators { output, displacement, real, identity, element_bytes };
        ((register, real), held)
    });
    pinned.collect()
}
