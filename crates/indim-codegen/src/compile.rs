//! The compilation pipeline: chooses the lanes of a step, selects instructions, allocates registers, and
//! calls the encoder.

use crate::{Body, LaneType, Primitive};

use crate::allocate::{
    AllocatedInstruction, ElementAccess, Frame, PinnedRegister, allocate, pressure,
};
use crate::compile_fold::{LaneReduction, lane_reductions};
use crate::layout::{OperandForm, OperandLayout};
use crate::machine::{Class, Memory, Register, VirtualCode};
use crate::pool::Pool;
use crate::select::{MAX_GROUP_REGISTERS, Selection, TargetLowering, row_invariants, select};
use crate::target::{AlignedOperand, CompiledCode};

/// The encoder's input: allocated code of a body with its layout, constants and frame.
pub struct EncoderInput<'a, O> {
    /// The body.
    pub body: &'a Body,
    /// Layout of its operands.
    pub layout: &'a OperandLayout,
    /// Constants of the code.
    pub pool: &'a Pool,
    /// Stack frame of the code.
    pub frame: &'a Frame,
    /// Code that runs before each row (before each unit if the body folds), and its allocation.
    pub row: (&'a VirtualCode<O>, &'a [AllocatedInstruction]),
    /// Registers that hold one value in all steps of a row: the memory from which each is loaded, and
    /// its number.
    pub pinned: &'a [(Memory, u8)],
    /// Code of a step, and its allocation.
    pub step: (&'a VirtualCode<O>, &'a [AllocatedInstruction]),
    /// Allocation of the step's code for a masked tail, on targets with masked loads and stores.
    pub tail: Option<&'a [AllocatedInstruction]>,
    /// Whether the code takes the index of the second step's first element as an argument.
    pub is_aligned: bool,
    /// Number of lanes of a step: the elements that it computes.
    pub lanes: usize,
    /// Number of operands with an address: outputs and inputs, accumulators counted once.
    pub operands: usize,
    /// Number of lanes of one unrolled copy of the code. A step of a body that does not fold is one
    /// copy.
    pub copy_lanes: usize,
    /// The accumulator registers of a body that folds.
    pub accumulators: &'a [AccumulatorRegister],
    /// For each output, the operation that combines its lanes at the end of a unit, if the call asks for
    /// it. `None` if the code cannot combine lanes.
    pub lane_reductions: Option<&'a [LaneReduction]>,
}

/// One physical register that holds accumulators of one output.
#[derive(Debug, Clone, Copy)]
pub struct AccumulatorRegister {
    /// Index of the output.
    pub output: u32,
    /// Byte offset in memory, from the accumulator of the step's first element.
    pub displacement: u32,
    /// Number of the register.
    pub physical: u8,
    /// The constant with the initial value.
    pub identity: Memory,
    /// Bytes of an element.
    pub element_bytes: u32,
}

/// Number of lanes of a step, and of each unrolled copy of the code in the step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneCounts {
    pub step: usize,
    pub copy: usize,
}

/// Compiles a body that does not fold. `encode` returns the bytes and the byte offset of the entry
/// point.
pub fn compile<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> CompiledCode {
    let registers =
        if is_chain(body) && !may_convert_through_f64(body) { MAX_GROUP_REGISTERS } else { 2 };
    let mut lanes = registers * O::REGISTER_BYTES as usize / widest_lane_bytes(body, layout);
    let mut selection = select::<O>(body, layout, lanes);
    // If registers do not suffice, halve the lanes rather than spill.
    let mut used = pressure(&selection.step);
    while used > O::REGISTERS
        && lanes * widest_lane_bytes(body, layout) > O::REGISTER_BYTES as usize
    {
        lanes /= 2;
        selection = select(body, layout, lanes);
        used = pressure(&selection.step);
    }
    // An instruction may need registers for operands that it loads, such as constants without a register.
    let free_registers = O::REGISTERS.saturating_sub(used + O::MAX_EXTRA_REGISTERS);
    allocate_and_encode(
        body,
        layout,
        selection,
        &[],
        LaneCounts { step: lanes, copy: lanes },
        free_registers,
        encode,
    )
}

/// Minimum length of a dependency chain, in instructions, for steps of four registers instead of two.
const MIN_CHAIN_LENGTH: usize = 12;

/// Whether at least 80 % of the instructions form one dependency chain; loads, constants and bitcasts do
/// not count. More lanes per step then hide the latency of the chain.
fn is_chain(body: &Body) -> bool {
    let mut lengths = vec![0usize; body.instructions.len()];
    let mut computed = 0;
    for (index, instruction) in body.instructions.iter().enumerate() {
        let operands = instruction.operands().iter().map(|operand| lengths[operand.index()]);
        let is_computed = !matches!(
            instruction.primitive,
            Primitive::Load { .. } | Primitive::Constant(_) | Primitive::Bits
        );
        lengths[index] = operands.max().unwrap_or(0) + usize::from(is_computed);
        computed += usize::from(is_computed);
    }
    let longest = lengths.into_iter().max().unwrap_or(0);
    longest >= MIN_CHAIN_LENGTH && computed * 4 <= longest * 5
}

/// Whether a cast may go through `f64`, which takes twice the registers of operand and result: AVX2 converts
/// `f32` to `u32` this way.
fn may_convert_through_f64(body: &Body) -> bool {
    body.instructions.iter().any(|instruction| {
        instruction.primitive == Primitive::Cast
            && instruction.lane == LaneType::U32
            && body.lane(instruction.operands[0]) == LaneType::F32
    })
}

/// Allocates registers for selected code and encodes it. `free_registers` is the number of vector registers
/// that constants and row invariants may take.
pub(crate) fn allocate_and_encode<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    selection: Selection<O>,
    accumulators: &[(PinnedRegister, AccumulatorRegister)],
    lanes: LaneCounts,
    free_registers: usize,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> CompiledCode {
    let Selection { row, step, pool, mut frame } = selection;
    let row_allocated = allocate(&row, &[], ElementAccess::MemoryOperand, &mut frame);
    let (mut pinned, accumulators): (Vec<PinnedRegister>, Vec<AccumulatorRegister>) =
        accumulators.iter().copied().unzip();
    pinned.extend(pin_constants(&step, free_registers, O::REGISTERS - pinned.len()));
    let step_allocated = allocate(&step, &pinned, ElementAccess::MemoryOperand, &mut frame);
    let has_exact_tails = O::MASKS == Class::Mask && !body.folds();
    let tail =
        has_exact_tails.then(|| allocate(&step, &pinned, ElementAccess::Register, &mut frame));
    let constants = pinned[accumulators.len()..].iter();
    let homes = constants.filter_map(|&(it, physical)| Some((step.homes[it.index()]?, physical)));
    let homes: Vec<(Memory, u8)> = homes.collect();
    let has_calls = row.has_calls() || step.has_calls();
    let aligned = aligned_operand::<O>(body, layout, lanes.step).filter(|_| !has_calls);
    let reductions = lane_reductions(body, lanes.step).filter(|_| O::CAN_REDUCE_LANES);
    let (bytes, entry) = encode(&EncoderInput {
        body,
        layout,
        pool: &pool,
        frame: &frame,
        row: (&row, &row_allocated),
        pinned: &homes,
        step: (&step, &step_allocated),
        tail: tail.as_deref(),
        is_aligned: aligned.is_some(),
        lanes: lanes.step,
        operands: body.non_accumulator_input_count() + body.outputs.len(),
        copy_lanes: lanes.copy,
        accumulators: &accumulators,
        lane_reductions: reductions.as_deref(),
    });
    let can_reduce_lanes = reductions.is_some();
    CompiledCode { bytes, entry, lanes: lanes.step, has_exact_tails, aligned, can_reduce_lanes }
}

/// Maximum instructions of a body with aligned steps. Longer bodies are bound by arithmetic, not by memory.
const MAX_ALIGNED_INSTRUCTIONS: usize = 48;

/// The operand that the code aligns by overlapping the first two steps of a row: the first one, outputs
/// before inputs, whose elements of a step fill at least a register. `None` if steps must not overlap or if
/// aligning does not pay.
fn aligned_operand<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    lanes: usize,
) -> Option<AlignedOperand> {
    let operands = body.outputs.len() + body.non_accumulator_input_count();
    let has_fixed_steps = body.folds() || layout.is_in_place || layout.is_streamed.contains(&true);
    let is_long = body.instructions.len() > MAX_ALIGNED_INSTRUCTIONS;
    if has_fixed_steps || is_long || operands > O::MAX_ALIGNED_OPERANDS {
        return None;
    }
    let outputs = body.outputs.iter().map(|(dtype, _)| dtype.size());
    let inputs = body.inputs.iter().zip(&layout.inputs);
    let inputs = inputs.map(|(dtype, form)| match form {
        OperandForm::Dense | OperandForm::Accumulator => dtype.size(),
        _ => 0,
    });
    let bytes = O::REGISTER_BYTES as usize;
    let operand = outputs.chain(inputs).position(|size| size * lanes >= bytes)?;
    Some(AlignedOperand { operand, bytes })
}

/// Maximum number of masks that stay in registers for all steps of a row.
const MAX_PINNED_MASKS: usize = 2;

/// Chooses constants and row invariants that stay in registers for all steps of a row, the most used
/// first: up to `free_registers` vectors, in the vector registers with numbers below `end`, and up to
/// [`MAX_PINNED_MASKS`] masks.
fn pin_constants<O: TargetLowering>(
    step: &VirtualCode<O>,
    free_registers: usize,
    end: usize,
) -> Vec<PinnedRegister> {
    if step.has_calls() {
        return Vec::new();
    }
    let mut counts = vec![0usize; step.homes.len()];
    for instruction in &step.instructions {
        instruction.registers().for_each(|register| counts[register.index()] += 1);
    }
    let is_constant = |index: &usize| {
        let home = step.homes[*index];
        let is_same =
            matches!(home, Some(Memory::Splat(_) | Memory::LaneConstant(_) | Memory::Frame(_)));
        is_same && counts[*index] > 0
    };
    let mut constants: Vec<usize> = (0..step.homes.len()).filter(is_constant).collect();
    constants.sort_by_key(|&index| core::cmp::Reverse(counts[index]));
    let is_vector = |index: &usize| step.classes[*index] == Class::Vector;
    let (vectors, masks): (Vec<usize>, Vec<usize>) = constants.into_iter().partition(is_vector);
    let vectors = vectors.into_iter().take(free_registers).zip((0..end).rev());
    let masks = masks.into_iter().take(MAX_PINNED_MASKS).zip(O::numbers(Class::Mask).rev());
    vectors.chain(masks).map(|(index, physical)| (Register(index as u32), physical as u8)).collect()
}

/// Size in bytes of the widest lane that a step computes or stores.
pub(crate) fn widest_lane_bytes(body: &Body, layout: &OperandLayout) -> usize {
    let is_row_invariant = row_invariants(body, layout);
    let lanes = body
        .instructions
        .iter()
        .zip(is_row_invariant)
        .filter(|(_, is_row_invariant)| !is_row_invariant);
    let widest = lanes.map(|(instruction, _)| instruction.lane.size()).max();
    let outputs = body.outputs.iter().map(|(dtype, _)| LaneType::of_element(*dtype).0.size()).max();
    widest.max(outputs).unwrap_or(1)
}
