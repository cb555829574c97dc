//! Masked tails: a copy of the step's code, with loads and stores masked to the elements of the row.
//!
//! All rows have the same tail, so the prologue computes the masks once and stores them in the frame.

use iced_x86::{Code, Register as PhysicalRegister};

use super::{Address, Emitter, FRAME_WORDS, Masking, Operand, X86Code, X86Input, X86Instruction};
use crate::x86::instruction_set::X86InstructionSet;
use indim_codegen::allocate::{AllocatedInstruction, AllocatedOperand};
use indim_codegen::machine::{Memory, SourceOperand};

/// Write mask of the next load or store in the tail. The allocator does not use this register.
const TAIL_MASK: PhysicalRegister = PhysicalRegister::K7;

/// The mask of elements of one size, from a byte offset in the step on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TailMask {
    element_stride: u32,
    displacement: u32,
}

impl TailMask {
    /// The mask of a memory operand; `None` if it is not elements of the step.
    fn of(memory: Memory) -> Option<TailMask> {
        match memory {
            Memory::Step { element_stride, displacement, .. } => {
                Some(TailMask { element_stride, displacement })
            }
            _ => None,
        }
    }

    /// Bytes per bit of the mask. Complex numbers of 16 bytes have two bits, records several.
    fn lane_bytes(self) -> u32 {
        1 << self.element_stride.trailing_zeros().min(3)
    }
}

/// The distinct masks of the tail's loads and stores; empty without a tail.
pub(super) fn masks<S: X86InstructionSet>(input: &X86Input<'_, S>) -> Vec<TailMask> {
    let mut masks = Vec::new();
    let mut note = |memory: Option<Memory>| {
        let mask = memory.and_then(TailMask::of).filter(|mask| !masks.contains(mask));
        masks.extend(mask);
    };
    let (code, _) = input.step;
    for step in input.tail.unwrap_or_default() {
        match *step {
            AllocatedInstruction::Load { from, .. } => note(Some(from)),
            AllocatedInstruction::Instruction { index, sources, .. } => {
                note(code.instructions[index].destination);
                for place in sources {
                    if let AllocatedOperand::Memory(memory) = place {
                        note(Some(memory));
                    }
                }
            }
            _ => {}
        }
    }
    masks
}

/// The masked load and store of `bytes` bytes, in lanes of `lane_bytes` bytes.
fn masked_moves(lane_bytes: u32, bytes: u32) -> [Code; 2] {
    use Code::*;
    match (lane_bytes, bytes) {
        (1, 64) => [EVEX_Vmovdqu8_zmm_k1z_zmmm512, EVEX_Vmovdqu8_zmmm512_k1z_zmm],
        (1, 32) => [EVEX_Vmovdqu8_ymm_k1z_ymmm256, EVEX_Vmovdqu8_ymmm256_k1z_ymm],
        (1, _) => [EVEX_Vmovdqu8_xmm_k1z_xmmm128, EVEX_Vmovdqu8_xmmm128_k1z_xmm],
        (2, 64) => [EVEX_Vmovdqu16_zmm_k1z_zmmm512, EVEX_Vmovdqu16_zmmm512_k1z_zmm],
        (2, 32) => [EVEX_Vmovdqu16_ymm_k1z_ymmm256, EVEX_Vmovdqu16_ymmm256_k1z_ymm],
        (2, _) => [EVEX_Vmovdqu16_xmm_k1z_xmmm128, EVEX_Vmovdqu16_xmmm128_k1z_xmm],
        (4, 64) => [EVEX_Vmovups_zmm_k1z_zmmm512, EVEX_Vmovups_zmmm512_k1z_zmm],
        (4, 32) => [EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovups_ymmm256_k1z_ymm],
        (4, _) => [EVEX_Vmovups_xmm_k1z_xmmm128, EVEX_Vmovups_xmmm128_k1z_xmm],
        (_, 64) => [EVEX_Vmovupd_zmm_k1z_zmmm512, EVEX_Vmovupd_zmmm512_k1z_zmm],
        (_, 32) => [EVEX_Vmovupd_ymm_k1z_ymmm256, EVEX_Vmovupd_ymmm256_k1z_ymm],
        (_, _) => [EVEX_Vmovupd_xmm_k1z_xmmm128, EVEX_Vmovupd_xmmm128_k1z_xmm],
    }
}

impl<S: X86InstructionSet> Emitter<'_, S> {
    /// Frame word of a mask.
    fn mask_word(&self, mask: TailMask) -> Address {
        let known = self.tail_masks.iter().position(|&known| known == mask);
        let index = known.expect("invariant: `masks` has collected all masks");
        self.frame_word(i64::from(FRAME_WORDS) + index as i64)
    }

    /// Computes the masks of the tail in the prologue, while `rcx` holds the elements of a row. A mask has
    /// its low bits set: one for each lane of the tail from the operand's offset on.
    pub(super) fn prepare_tail(&mut self) {
        if self.tail_masks.is_empty() {
            return;
        }
        let [rest, zero, bits, ones] = [
            PhysicalRegister::R8,
            PhysicalRegister::R9,
            PhysicalRegister::R10,
            PhysicalRegister::R11,
        ];
        self.assembler.registers(Code::Mov_r64_rm64, rest, PhysicalRegister::RCX);
        if self.input.is_aligned {
            let second = Operand::Memory(self.second_step_word());
            self.assembler.emit(Code::Sub_r64_rm64, &[Operand::Register(rest), second]);
        }
        self.immediate(Code::And_rm64_imm32, rest, self.input.lanes as i32 - 1);
        self.assembler.registers(Code::Xor_r64_rm64, zero, zero);
        self.constant(ones, u64::MAX);
        for mask in self.tail_masks.clone() {
            let lanes = mask.element_stride / mask.lane_bytes();
            let before = i64::from(mask.displacement / mask.lane_bytes());
            if lanes > 2 {
                self.multiply(bits, rest, lanes as i32);
                self.address_of(bits, Address::new(bits, -before));
            } else {
                let index = (lanes == 2).then_some((rest, 1));
                self.address_of(bits, Address { base: rest, index, displacement: -before });
            }
            self.assembler.registers(Code::Test_rm64_r64, bits, bits);
            self.assembler.registers(Code::Cmovs_r64_rm64, bits, zero);
            let operands = [bits, ones, bits].map(Operand::Register);
            self.assembler.emit(Code::VEX_Bzhi_r64_rm64_r64, &operands);
            let place = self.mask_word(mask);
            self.store(place, bits);
        }
    }

    /// Emits the tail.
    pub(super) fn emit_tail(&mut self, code: &X86Code<S>, allocated: &[AllocatedInstruction]) {
        self.is_in_tail = true;
        self.emit_code(code, allocated);
        self.is_in_tail = false;
    }

    /// Loads the mask of the next load or store.
    fn load_mask(&mut self, mask: TailMask) {
        let place = Operand::Memory(self.mask_word(mask));
        self.assembler.emit(Code::VEX_Kmovq_kr_km64, &[Operand::Register(TAIL_MASK), place]);
    }

    /// The load of a register in the tail: masked if it loads elements of the step.
    pub(super) fn tail_load(&mut self, from: Memory, bytes: u32, masking: &mut Masking) -> Code {
        let Some(mask) = TailMask::of(from) else { return super::moves::move_codes::<S>(bytes)[0] };
        self.load_mask(mask);
        *masking = Masking { mask: Some(TAIL_MASK), zeroing: true, ..*masking };
        masked_moves(mask.lane_bytes(), bytes)[0]
    }

    /// The encoding of an instruction in the tail: loads and stores of elements of the step are masked, other
    /// instructions are unchanged.
    pub(super) fn tail_code(
        &mut self,
        code: Code,
        bytes: u32,
        machine: &X86Instruction<S>,
        masking: &mut Masking,
    ) -> Code {
        if let Some(mask) = machine.destination.and_then(TailMask::of) {
            self.load_mask(mask);
            masking.mask = Some(TAIL_MASK);
            return masked_moves(mask.lane_bytes(), bytes)[1];
        }
        let SourceOperand::Memory(memory) = machine.sources[0] else { return code };
        let Some(mask) = TailMask::of(memory) else { return code };
        self.load_mask(mask);
        *masking = Masking { mask: Some(TAIL_MASK), zeroing: true, ..*masking };
        match is_plain_move(code) {
            true => masked_moves(mask.lane_bytes(), bytes)[0],
            false => code,
        }
    }
}

/// Whether an instruction is a load without conversion.
fn is_plain_move(code: Code) -> bool {
    use Code::*;
    matches!(
        code,
        EVEX_Vmovups_xmm_k1z_xmmm128
            | EVEX_Vmovups_ymm_k1z_ymmm256
            | EVEX_Vmovups_zmm_k1z_zmmm512
            | EVEX_Vmovd_xmm_rm32
            | EVEX_Vmovq_xmm_xmmm64
    )
}
