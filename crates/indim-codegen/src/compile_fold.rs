//! Compilation of bodies that fold: the number of lanes and of accumulator registers.
//!
//! A step computes the 32 lanes of a block of the summation tree, by unrolled copies of code for fewer
//! lanes. A step has fewer lanes if registers are short, so that its accumulators and the computation
//! fit in them.

use crate::{Body, LaneType, Primitive};
use indim_ops::DType;
use indim_ops::meaning::reduction::REDUCTION_LANES;

use crate::allocate::{PinnedRegister, pressure};
use crate::compile::{
    AccumulatorRegister, EncoderInput, LaneCounts, allocate_and_encode, widest_lane_bytes,
};
use crate::layout::OperandLayout;
use crate::machine::{Class, Memory, Register, VirtualCode};
use crate::select::{Selection, TargetLowering, select};
use crate::target::CompiledCode;

/// Maximum instructions of a step of several copies, so that the loop stays in the instruction caches.
const MAX_UNROLLED_INSTRUCTIONS: usize = 256;

/// Minimum number of registers for the computation. The body is not compiled if the accumulators leave
/// fewer, even in a step whose widest values fill one register.
const MIN_FREE_REGISTERS: usize = 6;

/// Compiles a body that folds. `None` if accumulators do not fit in registers, or if a primitive is called
/// out of line, because calls preserve no vector register.
pub fn compile_fold<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> Option<CompiledCode> {
    let (selection, lanes) = choose_lanes::<O>(body, layout)?;
    let step = selection.step.unrolled((lanes.step / lanes.copy) as u32, lanes.copy as u32);
    let mut selection = Selection { step, ..selection };
    let accumulators = pin_accumulators(body, &mut selection, lanes);
    let used = pressure(&selection.step) + accumulators.len();
    let free_registers = O::REGISTERS.saturating_sub(used + O::MAX_EXTRA_REGISTERS);
    Some(allocate_and_encode(body, layout, selection, &accumulators, lanes, free_registers, encode))
}

/// The operation that combines the lanes of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneReduction {
    /// The lanes are added.
    Sum,
    /// The lanes are multiplied.
    Product,
}

/// The operation that combines the lanes of each output. `None` unless a step has all 32 lanes and every
/// output is a sum or product in `f64`, the reductions with a defined tree.
pub fn lane_reductions(body: &Body, lanes: usize) -> Option<Vec<LaneReduction>> {
    if !body.folds() || lanes != REDUCTION_LANES {
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
) -> Option<(Selection<O>, LaneCounts)> {
    let mut lanes =
        (2 * O::REGISTER_BYTES as usize / widest_lane_bytes(body, layout)).min(REDUCTION_LANES);
    loop {
        let selection = select::<O>(body, layout, lanes);
        if selection.step.has_calls() || selection.row.has_calls() {
            return None;
        }
        let accumulators = accumulator_destinations(&selection.step).count();
        let free_registers =
            O::REGISTERS.saturating_sub(pressure(&selection.step) + O::MAX_EXTRA_REGISTERS);
        if accumulators <= free_registers {
            let instructions = selection.step.instructions.len().max(1);
            let max_copies = (free_registers / accumulators)
                .min(MAX_UNROLLED_INSTRUCTIONS / instructions)
                .max(1);
            let copies = (1 << max_copies.ilog2()).min(REDUCTION_LANES / lanes);
            return Some((selection, LaneCounts { step: lanes * copies, copy: lanes }));
        }
        if lanes * widest_lane_bytes(body, layout) <= O::REGISTER_BYTES as usize {
            let has_room = accumulators + MIN_FREE_REGISTERS <= O::REGISTERS;
            return has_room.then_some((selection, LaneCounts { step: lanes, copy: lanes }));
        }
        lanes /= 2;
    }
}

/// The accumulator registers that the code writes, each once.
fn accumulator_destinations<O: TargetLowering>(
    step: &VirtualCode<O>,
) -> impl Iterator<Item = Memory> {
    let destinations = step.instructions.iter().filter_map(|instruction| instruction.destination);
    destinations.filter(|destination| matches!(destination, Memory::Accumulator { .. }))
}

/// Pins each virtual register of accumulators to a physical register, from the highest number down.
fn pin_accumulators<O: TargetLowering>(
    body: &Body,
    selection: &mut Selection<O>,
    lanes: LaneCounts,
) -> Vec<(PinnedRegister, AccumulatorRegister)> {
    let all: Vec<Memory> = accumulator_destinations(&selection.step).collect();
    let pinned = all.into_iter().zip((0..O::REGISTERS as u8).rev()).map(|(memory, physical)| {
        let Memory::Accumulator { output, group_index, copy } = memory else {
            unreachable!("invariant: `accumulator_destinations` gives only accumulators");
        };
        let home = selection.step.homes.iter().position(|&home| home == Some(memory));
        let register = match home {
            Some(index) => Register(index as u32),
            None => selection.step.register_with_home(memory, Class::Vector),
        };
        let size = LaneType::of_element(body.outputs[output as usize].0).0.size();
        let identity = selection.pool.splat(body.identities[output as usize], size);
        let element_bytes = size as u32;
        let displacement =
            copy * lanes.copy as u32 * element_bytes + group_index * O::REGISTER_BYTES;
        let accumulator =
            AccumulatorRegister { output, displacement, physical, identity, element_bytes };
        ((register, physical), accumulator)
    });
    pinned.collect()
}
