//! From a body to the encoder's input: lanes of a step, and register assignment.

use indim_codegen::{Body, LaneType, Primitive};

use crate::allocate::{AllocatedInstruction, ElementAccess, Frame, Pinned, allocate, pressure};
use crate::compile_fold::{LaneReduction, joined};
use crate::layout::OperandLayout;
use crate::machine::{Class, Memory, Register, VirtualCode};
use crate::pool::Pool;
use crate::select::{MAX_GROUP_REGISTERS, Selection, TargetLowering, row_invariants, select};
use crate::target::{Aligned, CompiledCode};

/// The encoder's input: allocated code of a body with its layout, constants and frame.
pub(crate) struct EncoderInput<'a, O> {
    pub(crate) body: &'a Body,
    #[allow(dead_code, reason = "where operands are indexed it makes no difference")]
    pub(crate) layout: &'a OperandLayout,
    pub(crate) pool: &'a Pool,
    pub(crate) frame: &'a Frame,
    pub(crate) row: (&'a VirtualCode<O>, &'a [AllocatedInstruction]),
    /// Registers loaded before the steps of a row.
    pub(crate) pinned: &'a [(Memory, u8)],
    pub(crate) step: (&'a VirtualCode<O>, &'a [AllocatedInstruction]),
    /// The step's code for a tail, on targets whose loads and stores can mask lanes.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no other target has masks")
    )]
    pub(crate) tail: Option<&'a [AllocatedInstruction]>,
    /// Whether the code takes the first element of a row's second step as an argument.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no other target begins rows so")
    )]
    pub(crate) is_aligned: bool,
    pub(crate) lanes: usize,
    /// Outputs, and inputs that are no accumulators.
    pub(crate) operands: usize,
    /// Lanes of each copy of the code in a step; steps that fold have several copies.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no other target folds yet")
    )]
    pub(crate) copy_lanes: usize,
    /// The accumulators of steps that fold.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no other target folds yet")
    )]
    pub(crate) accumulators: &'a [Accumulators],
    /// The operation that combines the lanes of each output at the end of a unit; `None` if lanes stay
    /// apart.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no other target folds yet")
    )]
    pub(crate) joined: Option<&'a [LaneReduction]>,
}

/// Accumulators held in one register.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other target folds yet"))]
pub(crate) struct Accumulators {
    /// Index of the output.
    pub(crate) output: u32,
    /// Byte offset from the step's first element.
    pub(crate) displacement: u32,
    pub(crate) real: u8,
    /// Initial value.
    pub(crate) identity: Memory,
    /// Bytes of an element.
    pub(crate) element_bytes: u32,
}

/// Lanes of a step, and of each copy of the code in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    pub(crate) step: usize,
    pub(crate) copy: usize,
}

/// Compiles a body. `encode` returns the bytes and the offset of the first instruction among them.
pub(crate) fn compile<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> CompiledCode {
    let registers = if is_chain(body) && !passes_doubles(body) { MAX_GROUP_REGISTERS } else { 2 };
    let mut lanes = registers * O::REGISTER_BYTES as usize / widest(body, layout);
    let mut selection = select::<O>(body, layout, lanes);
    // Half as many lanes need half as many registers: what is in one need not wait in memory.
    let mut used = pressure(&selection.step);
    while used > O::REGISTERS && lanes * widest(body, layout) > O::REGISTER_BYTES as usize {
        lanes /= 2;
        selection = select(body, layout, lanes);
        used = pressure(&selection.step);
    }
    // More registers are needed where a constant is read that is in none.
    let room = O::REGISTERS.saturating_sub(used + O::MAX_LOADED);
    finish(body, layout, selection, &[], Lanes { step: lanes, copy: lanes }, room, encode)
}

/// Minimum length of a dependency chain, in instructions, for a step of more lanes.
const MIN_CHAIN_LENGTH: usize = 12;

/// Whether most instructions of the body form one dependency chain. More lanes per step then hide its
/// latency.
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

/// Whether a cast may go through doubles, which take twice the registers of its operand and result: AVX2
/// converts floats to unsigned integers this way.
fn passes_doubles(body: &Body) -> bool {
    body.instructions.iter().any(|instruction| {
        instruction.primitive == Primitive::Cast
            && instruction.lane == LaneType::U32
            && body.lane(instruction.operands[0]) == LaneType::F32
    })
}

/// Allocates registers for selected code and encodes it. `room` is the number of registers for invariants.
pub(crate) fn finish<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    selection: Selection<O>,
    accumulators: &[(Pinned, Accumulators)],
    lanes: Lanes,
    room: usize,
    encode: impl FnOnce(&EncoderInput<'_, O>) -> (Vec<u8>, usize),
) -> CompiledCode {
    let Selection { row, step, pool, mut frame } = selection;
    let row_steps = allocate(&row, &[], ElementAccess::MemoryOperand, &mut frame);
    let (mut pinned, accumulators): (Vec<Pinned>, Vec<Accumulators>) =
        accumulators.iter().copied().unzip();
    pinned.extend(constants(&step, room, O::REGISTERS - pinned.len()));
    let steps = allocate(&step, &pinned, ElementAccess::MemoryOperand, &mut frame);
    let has_exact_tails = O::MASKS == Class::Mask && !body.folds();
    let tail =
        has_exact_tails.then(|| allocate(&step, &pinned, ElementAccess::Register, &mut frame));
    let constants = pinned[accumulators.len()..].iter();
    let homes = constants.filter_map(|&(it, real)| Some((step.homes[it.index()]?, real)));
    let homes: Vec<(Memory, u8)> = homes.collect();
    let has_calls = row.has_calls() || step.has_calls();
    let aligned = aligned::<O>(body, layout, lanes.step).filter(|_| !has_calls);
    let joined = joined(body, lanes.step).filter(|_| O::JOINS_LANES);
    let (bytes, entry) = encode(&EncoderInput {
        body,
        layout,
        pool: &pool,
        frame: &frame,
        row: (&row, &row_steps),
        pinned: &homes,
        step: (&step, &steps),
        tail: tail.as_deref(),
        is_aligned: aligned.is_some(),
        lanes: lanes.step,
        operands: body.operand_count() + body.outputs.len(),
        copy_lanes: lanes.copy,
        accumulators: &accumulators,
        joined: joined.as_deref(),
    });
    let joins_lanes = joined.is_some();
    CompiledCode { bytes, entry, lanes: lanes.step, has_exact_tails, aligned, joins_lanes }
}

/// Maximum instructions of a body with aligned steps: longer bodies are bound by arithmetic, not by memory.
const MAX_ALIGNED_INSTRUCTIONS: usize = 48;

/// The operand to align by overlapping a row's first two steps: the first output, or else the first input,
/// whose elements of one step fill a register.
fn aligned<O: TargetLowering>(
    body: &Body,
    layout: &OperandLayout,
    lanes: usize,
) -> Option<Aligned> {
    let operands = body.outputs.len() + body.operand_count();
    let is_done_once = body.folds() || layout.is_in_place || layout.streams.contains(&true);
    let is_long = body.instructions.len() > MAX_ALIGNED_INSTRUCTIONS;
    if is_done_once || is_long || operands > O::MAX_ALIGNED {
        return None;
    }
    let outputs = body.outputs.iter().map(|(dtype, _)| dtype.size());
    let inputs = body.inputs.iter().zip(&layout.inputs);
    let inputs = inputs.map(|(dtype, form)| if form.is_one() { 0 } else { dtype.size() });
    let bytes = O::REGISTER_BYTES as usize;
    let operand = outputs.chain(inputs).position(|size| size * lanes >= bytes)?;
    Some(Aligned { operand, bytes })
}

/// Maximum number of masks that stay in registers for all steps of a row.
const MAX_MASKS: usize = 2;

/// Invariants that stay in a register for all steps of a row: up to `room` vectors in registers below
/// `end`, the most read first, and up to [`MAX_MASKS`] masks.
fn constants<O: TargetLowering>(step: &VirtualCode<O>, room: usize, end: usize) -> Vec<Pinned> {
    if step.has_calls() {
        return Vec::new();
    }
    let mut counts = vec![0usize; step.homes.len()];
    for instruction in &step.instructions {
        instruction.registers().for_each(|register| counts[register.index()] += 1);
    }
    let is_constant = |index: &usize| {
        let home = step.homes[*index];
        let is_same = matches!(home, Some(Memory::Pool(_) | Memory::Lanes(_) | Memory::Frame(_)));
        is_same && counts[*index] > 0
    };
    let mut constants: Vec<usize> = (0..step.homes.len()).filter(is_constant).collect();
    constants.sort_by_key(|&index| core::cmp::Reverse(counts[index]));
    let is_vector = |index: &usize| step.classes[*index] == Class::Vector;
    let (vectors, masks): (Vec<usize>, Vec<usize>) = constants.into_iter().partition(is_vector);
    let vectors = vectors.into_iter().take(room).zip((0..end).rev());
    let masks = masks.into_iter().take(MAX_MASKS).zip(O::numbers(Class::Mask).rev());
    vectors.chain(masks).map(|(index, real)| (Register(index as u32), real as u8)).collect()
}

/// Bytes of the widest lanes that steps compute.
pub(crate) fn widest(body: &Body, layout: &OperandLayout) -> usize {
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
