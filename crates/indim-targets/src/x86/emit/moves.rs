//! Loads, stores and copies of vector and mask registers.

use iced_x86::Code;

use super::{Emitter, Masking, Operand, physical_register, vector_register};
use crate::x86::instruction_set::X86InstructionSet;
use indim_codegen::machine::Memory;

/// The load and the store of the low `bytes` bytes of a vector register.
pub(super) fn move_codes<S: X86InstructionSet>(bytes: u32) -> [Code; 2] {
    match (bytes, S::IS_EVEX) {
        (4, false) => [Code::VEX_Vmovd_xmm_rm32, Code::VEX_Vmovd_rm32_xmm],
        (8, false) => [Code::VEX_Vmovq_xmm_xmmm64, Code::VEX_Vmovq_xmmm64_xmm],
        (16, false) => [Code::VEX_Vmovups_xmm_xmmm128, Code::VEX_Vmovups_xmmm128_xmm],
        (_, false) => [Code::VEX_Vmovups_ymm_ymmm256, Code::VEX_Vmovups_ymmm256_ymm],
        (4, true) => [Code::EVEX_Vmovd_xmm_rm32, Code::EVEX_Vmovd_rm32_xmm],
        (8, true) => [Code::EVEX_Vmovq_xmm_xmmm64, Code::EVEX_Vmovq_xmmm64_xmm],
        (16, true) => [Code::EVEX_Vmovups_xmm_k1z_xmmm128, Code::EVEX_Vmovups_xmmm128_k1z_xmm],
        (32, true) => [Code::EVEX_Vmovups_ymm_k1z_ymmm256, Code::EVEX_Vmovups_ymmm256_k1z_ymm],
        (_, true) => [Code::EVEX_Vmovups_zmm_k1z_zmmm512, Code::EVEX_Vmovups_zmmm512_k1z_zmm],
    }
}

impl<S: X86InstructionSet> Emitter<'_, S> {
    /// Loads a register; constants with equal lanes are broadcast on AVX-512.
    pub(super) fn load_vector(&mut self, to: u8, from: Memory) {
        let place = Operand::Memory(self.address(from));
        if is_mask::<S>(to) {
            let to = Operand::Register(physical_register::<S>(to, 8));
            return self.assembler.emit(Code::VEX_Kmovq_kr_km64, &[to, place]);
        }
        if S::IS_EVEX && matches!(from, Memory::Splat(_)) {
            let to = Operand::Register(vector_register(to, S::REGISTER_BYTES));
            return self.assembler.emit(Code::EVEX_Vpbroadcastq_zmm_k1z_xmmm64, &[to, place]);
        }
        // Elements of a step fill half a register or a whole one; other memory is as wide as a register.
        let bytes = match from {
            Memory::Step { element_stride, .. } => self.input.copy_lanes as u32 * element_stride,
            _ => S::REGISTER_BYTES,
        };
        let half = S::REGISTER_BYTES / 2;
        let bytes = if bytes <= half { half } else { S::REGISTER_BYTES };
        let mut masking = Masking::default();
        let code = match self.is_in_tail {
            true => self.tail_load(from, bytes, &mut masking),
            false => move_codes::<S>(bytes)[0],
        };
        let to = Operand::Register(vector_register(to, bytes));
        self.assembler.emit_masked(code, &[to, place], masking);
    }

    /// Spills a register.
    pub(super) fn store_vector(&mut self, to: Memory, from: u8) {
        let place = Operand::Memory(self.address(to));
        let code = match is_mask::<S>(from) {
            true => Code::VEX_Kmovq_m64_kr,
            false => move_codes::<S>(S::REGISTER_BYTES)[1],
        };
        let from = Operand::Register(physical_register::<S>(from, S::REGISTER_BYTES));
        self.assembler.emit(code, &[place, from]);
    }

    /// Copies a register.
    pub(super) fn copy_vector(&mut self, to: u8, from: u8) {
        let code = match (is_mask::<S>(from), S::IS_EVEX) {
            (true, _) => Code::VEX_Kmovq_kr_km64,
            (false, false) => Code::VEX_Vmovaps_ymm_ymmm256,
            (false, true) => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
        };
        let [to, from] =
            [to, from].map(|physical| physical_register::<S>(physical, S::REGISTER_BYTES));
        self.assembler.registers(code, to, from);
    }
}

fn is_mask<S: X86InstructionSet>(physical: u8) -> bool {
    usize::from(physical) >= S::REGISTERS
}
