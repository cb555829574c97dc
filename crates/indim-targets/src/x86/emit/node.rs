//! Combines the 32 lanes of a unit into one accumulator, in registers and in the order of a node of the
//! summation tree: by halves down to four lanes, then one lane after another.

use iced_x86::Code;

use super::moves::move_codes;
use super::{Emitter, Operand, vector_register};
use crate::x86::assembler::Address;
use crate::x86::instruction_set::X86InstructionSet;
use indim_codegen::compile_fold::LaneReduction;

/// The instructions of an operation that combines lanes: on whole registers, on 256 bits, on the lowest lane.
struct CombineCodes {
    registers: Code,
    halves: Code,
    lanes: Code,
}

fn combine_codes<S: X86InstructionSet>(reduction: LaneReduction) -> CombineCodes {
    use Code::*;
    let [registers, halves, lanes] = match (reduction, S::IS_EVEX) {
        (LaneReduction::Sum, false) => {
            [VEX_Vaddpd_ymm_ymm_ymmm256, VEX_Vaddpd_ymm_ymm_ymmm256, VEX_Vaddsd_xmm_xmm_xmmm64]
        }
        (LaneReduction::Product, false) => {
            [VEX_Vmulpd_ymm_ymm_ymmm256, VEX_Vmulpd_ymm_ymm_ymmm256, VEX_Vmulsd_xmm_xmm_xmmm64]
        }
        (LaneReduction::Sum, true) => [
            EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64,
            EVEX_Vaddsd_xmm_k1z_xmm_xmmm64_er,
        ],
        (LaneReduction::Product, true) => [
            EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er,
            EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64,
            EVEX_Vmulsd_xmm_k1z_xmm_xmmm64_er,
        ],
    };
    CombineCodes { registers, halves, lanes }
}

impl<S: X86InstructionSet> Emitter<'_, S> {
    /// Combines the lanes of each output, and stores the results.
    pub(super) fn store_nodes(&mut self, reductions: &[LaneReduction]) {
        for (output, &reduction) in reductions.iter().enumerate() {
            let registers =
                self.input.accumulators.iter().filter(|it| it.output as usize == output);
            let mut lanes: Vec<(u32, u8)> =
                registers.map(|it| (it.displacement, it.physical)).collect();
            lanes.sort_unstable();
            let registers: Vec<u8> = lanes.into_iter().map(|(_, physical)| physical).collect();
            self.fold_lanes(&registers, &combine_codes::<S>(reduction));
            let place = self.operand_address(output);
            self.load(self.roles.scratch, place);
            let place = Operand::Memory(Address::new(self.roles.scratch, 0));
            let node = Operand::Register(vector_register(registers[0], 16));
            self.assembler.emit(move_codes::<S>(8)[1], &[place, node]);
        }
    }

    /// Combines the 32 lanes in these registers into the first lane of the first register. The other lanes
    /// and registers are overwritten.
    fn fold_lanes(&mut self, registers: &[u8], combine_codes: &CombineCodes) {
        let mut count = registers.len();
        while count > 1 {
            count /= 2;
            for (&to, &from) in registers[..count].iter().zip(&registers[count..]) {
                self.combine_lanes(combine_codes.registers, S::REGISTER_BYTES, to, from);
            }
        }
        let [first, spare, other] = [registers[0], registers[1], registers[2]];
        if S::REGISTER_BYTES > 32 {
            self.upper_half(Code::EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8, 32, spare, first);
            self.combine_lanes(combine_codes.halves, 32, first, spare);
        }
        // The last four lanes, one after another.
        let upper = match S::IS_EVEX {
            true => Code::EVEX_Vextractf64x2_xmmm128_k1z_ymm_imm8,
            false => Code::VEX_Vextractf128_xmmm128_ymm_imm8,
        };
        self.upper_half(upper, 16, spare, first);
        self.second_lane(other, first);
        self.combine_lanes(combine_codes.lanes, 16, first, other);
        self.combine_lanes(combine_codes.lanes, 16, first, spare);
        self.second_lane(other, spare);
        self.combine_lanes(combine_codes.lanes, 16, first, other);
    }

    /// Combines two registers of `bytes` bytes, lane by lane.
    fn combine_lanes(&mut self, code: Code, bytes: u32, to: u8, from: u8) {
        let [to, from] =
            [to, from].map(|physical| Operand::Register(vector_register(physical, bytes)));
        self.assembler.emit(code, &[to, to, from]);
    }

    /// Copies the upper `bytes` bytes of a register twice as wide.
    fn upper_half(&mut self, code: Code, bytes: u32, to: u8, from: u8) {
        let to = Operand::Register(vector_register(to, bytes));
        let from = Operand::Register(vector_register(from, 2 * bytes));
        self.assembler.emit(code, &[to, from, Operand::Immediate8(1)]);
    }

    /// Copies the second lane of `from` to the first lane of `to`.
    fn second_lane(&mut self, to: u8, from: u8) {
        let code = match S::IS_EVEX {
            true => Code::EVEX_Vunpckhpd_xmm_k1z_xmm_xmmm128b64,
            false => Code::VEX_Vunpckhpd_xmm_xmm_xmmm128,
        };
        let [to, from] =
            [to, from].map(|physical| Operand::Register(vector_register(physical, 16)));
        self.assembler.emit(code, &[to, from, from]);
    }
}
