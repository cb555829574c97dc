//! The table of instructions that AVX2 and AVX-512 share, with encodings for AVX2 (128 and 256 bits) and
//! for AVX-512 (256 and 512 bits). `avx2/opcode.rs` and `avx512/opcode.rs` have the instructions of one
//! set.

use core::marker::PhantomData;

use iced_x86::Code;

use super::instruction_set::X86InstructionSet;
use indim_codegen::machine::{Class, Memory, ResultConstraint};

/// An instruction over vector or mask registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opcode<S> {
    /// Encodings for the lower halves of registers and for whole registers.
    pub(super) code: [Code; 2],
    pub(super) widths: Widths,
    /// Position of the source that may be a memory operand.
    pub(super) memory: Option<u8>,
    /// Bytes of a memory operand that the instruction can broadcast (`{1toN}`); 0 if it cannot.
    pub(super) broadcast_bytes: u8,
    pub(super) result: ResultConstraint,
    /// Register class of the result.
    pub(super) class: Class,
    /// Position of the source that is the write mask.
    pub(super) mask: Option<u8>,
    /// Whether lanes that the mask does not select become 0 (`{z}`).
    pub(super) zeroing: bool,
    pub(super) set: PhantomData<S>,
}

/// Widths of the operands of an instruction, relative to the width of its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Widths {
    /// All operands have the full width.
    Same,
    /// Sources are narrower than the result, by this factor.
    Widens(u32),
    /// The result is narrower than the source, by this factor.
    Narrows(u32),
    /// All operands have 128 bits.
    Low,
    /// The second source has half the width.
    HalfSource,
}

impl<S> Opcode<S> {
    /// An instruction with its result in any register and without memory operand or mask.
    pub(super) const fn new(code: [Code; 2], widths: Widths) -> Opcode<S> {
        Opcode {
            code,
            widths,
            memory: None,
            broadcast_bytes: 0,
            result: ResultConstraint::Any,
            class: Class::Vector,
            mask: None,
            zeroing: false,
            set: PhantomData,
        }
    }

    /// Sets the position of the memory operand, and the bytes that it can broadcast.
    pub(super) const fn with_memory(
        mut self,
        memory: Option<u8>,
        broadcast_bytes: u8,
    ) -> Opcode<S> {
        self.memory = memory;
        self.broadcast_bytes = broadcast_bytes;
        self
    }

    /// Width in bytes of the operand at `position` (0 is the result), in an encoding of `bytes` bytes. At
    /// least 16, an `xmm` register.
    pub(super) fn bytes(&self, position: usize, bytes: u32) -> u32 {
        let bytes = match self.widths {
            Widths::Widens(times) if position > 0 => bytes / times,
            Widths::Narrows(times) if position == 0 => bytes / times,
            Widths::HalfSource if position == 2 => bytes / 2,
            Widths::Low => 16,
            _ => bytes,
        };
        bytes.max(16)
    }
}

impl<S: X86InstructionSet> indim_codegen::machine::MachineOpcode for Opcode<S> {
    const REGISTERS: usize = S::REGISTERS;
    const MASK_REGISTERS: usize = S::MASK_REGISTERS;
    const REGISTER_BYTES: u32 = S::REGISTER_BYTES;
    /// A constant that cannot be a memory operand of the instruction.
    const MAX_EXTRA_REGISTERS: usize = 1;
    const CAN_REDUCE_LANES: bool = true;

    fn memory_source(self) -> Option<usize> {
        self.memory.map(usize::from)
    }

    fn may_read(self, memory: Memory) -> bool {
        let is_repeated =
            S::CONSTANT_BYTES < S::REGISTER_BYTES && matches!(memory, Memory::Splat(_));
        !is_repeated || self.broadcast_bytes > 0
    }

    fn result(self) -> ResultConstraint {
        self.result
    }

    fn result_class(self) -> Class {
        self.class
    }
}

/// The position of the memory operand; `_` means none.
macro_rules! memory_source {
    (_) => {
        None
    };
    ($source:literal) => {
        Some($source)
    };
}
pub(super) use memory_source;

macro_rules! opcodes {
    ($($name:ident ($($widths:tt)*) $memory:tt $broadcast_bytes:literal:
        $x:ident $y:ident $ey:ident $ez:ident;)*) => {
        impl<S: X86InstructionSet> Opcode<S> {
            $(pub(super) const $name: Opcode<S> = match S::IS_EVEX {
                true => Opcode::new([Code::$ey, Code::$ez], Widths::$($widths)*)
                    .with_memory(memory_source!($memory), $broadcast_bytes),
                false => Opcode::new([Code::$x, Code::$y], Widths::$($widths)*)
                    .with_memory(memory_source!($memory), 0),
            };)*
        }
    };
}

opcodes! {
    ADD_F32 (Same) 1 4: VEX_Vaddps_xmm_xmm_xmmm128 VEX_Vaddps_ymm_ymm_ymmm256
        EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32 EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er;
    ADD_F64 (Same) 1 8: VEX_Vaddpd_xmm_xmm_xmmm128 VEX_Vaddpd_ymm_ymm_ymmm256
        EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er;
    SUB_F32 (Same) 1 4: VEX_Vsubps_xmm_xmm_xmmm128 VEX_Vsubps_ymm_ymm_ymmm256
        EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32 EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er;
    SUB_F64 (Same) 1 8: VEX_Vsubpd_xmm_xmm_xmmm128 VEX_Vsubpd_ymm_ymm_ymmm256
        EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er;
    MUL_F32 (Same) 1 4: VEX_Vmulps_xmm_xmm_xmmm128 VEX_Vmulps_ymm_ymm_ymmm256
        EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32 EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er;
    MUL_F64 (Same) 1 8: VEX_Vmulpd_xmm_xmm_xmmm128 VEX_Vmulpd_ymm_ymm_ymmm256
        EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er;
    DIV_F32 (Same) 1 4: VEX_Vdivps_xmm_xmm_xmmm128 VEX_Vdivps_ymm_ymm_ymmm256
        EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32 EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er;
    DIV_F64 (Same) 1 8: VEX_Vdivpd_xmm_xmm_xmmm128 VEX_Vdivpd_ymm_ymm_ymmm256
        EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er;
    MIN_F64 (Same) 1 8: VEX_Vminpd_xmm_xmm_xmmm128 VEX_Vminpd_ymm_ymm_ymmm256
        EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae;
    MAX_F64 (Same) 1 8: VEX_Vmaxpd_xmm_xmm_xmmm128 VEX_Vmaxpd_ymm_ymm_ymmm256
        EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae;
    MIN_F32 (Same) 1 4: VEX_Vminps_xmm_xmm_xmmm128 VEX_Vminps_ymm_ymm_ymmm256
        EVEX_Vminps_ymm_k1z_ymm_ymmm256b32 EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae;
    MAX_F32 (Same) 1 4: VEX_Vmaxps_xmm_xmm_xmmm128 VEX_Vmaxps_ymm_ymm_ymmm256
        EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32 EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae;
    MIN_I8 (Same) 1 0: VEX_Vpminsb_xmm_xmm_xmmm128 VEX_Vpminsb_ymm_ymm_ymmm256
        EVEX_Vpminsb_ymm_k1z_ymm_ymmm256 EVEX_Vpminsb_zmm_k1z_zmm_zmmm512;
    MIN_U8 (Same) 1 0: VEX_Vpminub_xmm_xmm_xmmm128 VEX_Vpminub_ymm_ymm_ymmm256
        EVEX_Vpminub_ymm_k1z_ymm_ymmm256 EVEX_Vpminub_zmm_k1z_zmm_zmmm512;
    MIN_I16 (Same) 1 0: VEX_Vpminsw_xmm_xmm_xmmm128 VEX_Vpminsw_ymm_ymm_ymmm256
        EVEX_Vpminsw_ymm_k1z_ymm_ymmm256 EVEX_Vpminsw_zmm_k1z_zmm_zmmm512;
    MIN_U16 (Same) 1 0: VEX_Vpminuw_xmm_xmm_xmmm128 VEX_Vpminuw_ymm_ymm_ymmm256
        EVEX_Vpminuw_ymm_k1z_ymm_ymmm256 EVEX_Vpminuw_zmm_k1z_zmm_zmmm512;
    MIN_I32 (Same) 1 4: VEX_Vpminsd_xmm_xmm_xmmm128 VEX_Vpminsd_ymm_ymm_ymmm256
        EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32;
    MIN_U32 (Same) 1 4: VEX_Vpminud_xmm_xmm_xmmm128 VEX_Vpminud_ymm_ymm_ymmm256
        EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32 EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32;
    MAX_I8 (Same) 1 0: VEX_Vpmaxsb_xmm_xmm_xmmm128 VEX_Vpmaxsb_ymm_ymm_ymmm256
        EVEX_Vpmaxsb_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxsb_zmm_k1z_zmm_zmmm512;
    MAX_U8 (Same) 1 0: VEX_Vpmaxub_xmm_xmm_xmmm128 VEX_Vpmaxub_ymm_ymm_ymmm256
        EVEX_Vpmaxub_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxub_zmm_k1z_zmm_zmmm512;
    MAX_I16 (Same) 1 0: VEX_Vpmaxsw_xmm_xmm_xmmm128 VEX_Vpmaxsw_ymm_ymm_ymmm256
        EVEX_Vpmaxsw_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxsw_zmm_k1z_zmm_zmmm512;
    MAX_U16 (Same) 1 0: VEX_Vpmaxuw_xmm_xmm_xmmm128 VEX_Vpmaxuw_ymm_ymm_ymmm256
        EVEX_Vpmaxuw_ymm_k1z_ymm_ymmm256 EVEX_Vpmaxuw_zmm_k1z_zmm_zmmm512;
    MAX_I32 (Same) 1 4: VEX_Vpmaxsd_xmm_xmm_xmmm128 VEX_Vpmaxsd_ymm_ymm_ymmm256
        EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32;
    MAX_U32 (Same) 1 4: VEX_Vpmaxud_xmm_xmm_xmmm128 VEX_Vpmaxud_ymm_ymm_ymmm256
        EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32;
    SQRT_F32 (Same) 0 4: VEX_Vsqrtps_xmm_xmmm128 VEX_Vsqrtps_ymm_ymmm256 EVEX_Vsqrtps_ymm_k1z_ymmm256b32
        EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er;
    SQRT_F64 (Same) 0 8: VEX_Vsqrtpd_xmm_xmmm128 VEX_Vsqrtpd_ymm_ymmm256 EVEX_Vsqrtpd_ymm_k1z_ymmm256b64
        EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er;
    ROUND_F32 (Same) 0 4: VEX_Vroundps_xmm_xmmm128_imm8 VEX_Vroundps_ymm_ymmm256_imm8
        EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8 EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae;
    ROUND_F64 (Same) 0 8: VEX_Vroundpd_xmm_xmmm128_imm8 VEX_Vroundpd_ymm_ymmm256_imm8
        EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8 EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae;
    BITS_AND (Same) 1 8: VEX_Vpand_xmm_xmm_xmmm128 VEX_Vpand_ymm_ymm_ymmm256
        EVEX_Vpandq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64;
    BITS_OR (Same) 1 8: VEX_Vpor_xmm_xmm_xmmm128 VEX_Vpor_ymm_ymm_ymmm256 EVEX_Vporq_ymm_k1z_ymm_ymmm256b64
        EVEX_Vporq_zmm_k1z_zmm_zmmm512b64;
    BITS_XOR (Same) 1 8: VEX_Vpxor_xmm_xmm_xmmm128 VEX_Vpxor_ymm_ymm_ymmm256
        EVEX_Vpxorq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64;
    AND_F32 (Same) 1 4: VEX_Vandps_xmm_xmm_xmmm128 VEX_Vandps_ymm_ymm_ymmm256
        EVEX_Vandps_ymm_k1z_ymm_ymmm256b32 EVEX_Vandps_zmm_k1z_zmm_zmmm512b32;
    AND_F64 (Same) 1 8: VEX_Vandpd_xmm_xmm_xmmm128 VEX_Vandpd_ymm_ymm_ymmm256
        EVEX_Vandpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vandpd_zmm_k1z_zmm_zmmm512b64;
    XOR_F32 (Same) 1 4: VEX_Vxorps_xmm_xmm_xmmm128 VEX_Vxorps_ymm_ymm_ymmm256
        EVEX_Vxorps_ymm_k1z_ymm_ymmm256b32 EVEX_Vxorps_zmm_k1z_zmm_zmmm512b32;
    XOR_F64 (Same) 1 8: VEX_Vxorpd_xmm_xmm_xmmm128 VEX_Vxorpd_ymm_ymm_ymmm256
        EVEX_Vxorpd_ymm_k1z_ymm_ymmm256b64 EVEX_Vxorpd_zmm_k1z_zmm_zmmm512b64;
    ADD_8 (Same) 1 0: VEX_Vpaddb_xmm_xmm_xmmm128 VEX_Vpaddb_ymm_ymm_ymmm256 EVEX_Vpaddb_ymm_k1z_ymm_ymmm256
        EVEX_Vpaddb_zmm_k1z_zmm_zmmm512;
    ADD_16 (Same) 1 0: VEX_Vpaddw_xmm_xmm_xmmm128 VEX_Vpaddw_ymm_ymm_ymmm256 EVEX_Vpaddw_ymm_k1z_ymm_ymmm256
        EVEX_Vpaddw_zmm_k1z_zmm_zmmm512;
    ADD_32 (Same) 1 4: VEX_Vpaddd_xmm_xmm_xmmm128 VEX_Vpaddd_ymm_ymm_ymmm256
        EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32;
    ADD_64 (Same) 1 8: VEX_Vpaddq_xmm_xmm_xmmm128 VEX_Vpaddq_ymm_ymm_ymmm256
        EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64;
    SUB_8 (Same) 1 0: VEX_Vpsubb_xmm_xmm_xmmm128 VEX_Vpsubb_ymm_ymm_ymmm256 EVEX_Vpsubb_ymm_k1z_ymm_ymmm256
        EVEX_Vpsubb_zmm_k1z_zmm_zmmm512;
    SUB_16 (Same) 1 0: VEX_Vpsubw_xmm_xmm_xmmm128 VEX_Vpsubw_ymm_ymm_ymmm256 EVEX_Vpsubw_ymm_k1z_ymm_ymmm256
        EVEX_Vpsubw_zmm_k1z_zmm_zmmm512;
    SUB_32 (Same) 1 4: VEX_Vpsubd_xmm_xmm_xmmm128 VEX_Vpsubd_ymm_ymm_ymmm256
        EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32;
    SUB_64 (Same) 1 8: VEX_Vpsubq_xmm_xmm_xmmm128 VEX_Vpsubq_ymm_ymm_ymmm256
        EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64;
    MUL_16 (Same) 1 0: VEX_Vpmullw_xmm_xmm_xmmm128 VEX_Vpmullw_ymm_ymm_ymmm256
        EVEX_Vpmullw_ymm_k1z_ymm_ymmm256 EVEX_Vpmullw_zmm_k1z_zmm_zmmm512;
    MUL_32 (Same) 1 4: VEX_Vpmulld_xmm_xmm_xmmm128 VEX_Vpmulld_ymm_ymm_ymmm256
        EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32 EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32;
    MUL_HIGH_I16 (Same) 1 0: VEX_Vpmulhw_xmm_xmm_xmmm128 VEX_Vpmulhw_ymm_ymm_ymmm256
        EVEX_Vpmulhw_ymm_k1z_ymm_ymmm256 EVEX_Vpmulhw_zmm_k1z_zmm_zmmm512;
    MUL_HIGH_U16 (Same) 1 0: VEX_Vpmulhuw_xmm_xmm_xmmm128 VEX_Vpmulhuw_ymm_ymm_ymmm256
        EVEX_Vpmulhuw_ymm_k1z_ymm_ymmm256 EVEX_Vpmulhuw_zmm_k1z_zmm_zmmm512;
    MUL_WIDE_I32 (Same) 1 8: VEX_Vpmuldq_xmm_xmm_xmmm128 VEX_Vpmuldq_ymm_ymm_ymmm256
        EVEX_Vpmuldq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmuldq_zmm_k1z_zmm_zmmm512b64;
    MUL_WIDE_U32 (Same) 1 8: VEX_Vpmuludq_xmm_xmm_xmmm128 VEX_Vpmuludq_ymm_ymm_ymmm256
        EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64;
    SHIFT_LEFT_16 (Same) _ 0: VEX_Vpsllw_xmm_xmm_imm8 VEX_Vpsllw_ymm_ymm_imm8
        EVEX_Vpsllw_ymm_k1z_ymmm256_imm8 EVEX_Vpsllw_zmm_k1z_zmmm512_imm8;
    SHIFT_LEFT_32 (Same) _ 4: VEX_Vpslld_xmm_xmm_imm8 VEX_Vpslld_ymm_ymm_imm8
        EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8;
    SHIFT_LEFT_64 (Same) _ 8: VEX_Vpsllq_xmm_xmm_imm8 VEX_Vpsllq_ymm_ymm_imm8
        EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8;
    SHIFT_RIGHT_16 (Same) _ 0: VEX_Vpsrlw_xmm_xmm_imm8 VEX_Vpsrlw_ymm_ymm_imm8
        EVEX_Vpsrlw_ymm_k1z_ymmm256_imm8 EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8;
    SHIFT_RIGHT_32 (Same) _ 4: VEX_Vpsrld_xmm_xmm_imm8 VEX_Vpsrld_ymm_ymm_imm8
        EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8;
    SHIFT_RIGHT_64 (Same) _ 8: VEX_Vpsrlq_xmm_xmm_imm8 VEX_Vpsrlq_ymm_ymm_imm8
        EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8;
    SHIFT_SIGNED_16 (Same) _ 0: VEX_Vpsraw_xmm_xmm_imm8 VEX_Vpsraw_ymm_ymm_imm8
        EVEX_Vpsraw_ymm_k1z_ymmm256_imm8 EVEX_Vpsraw_zmm_k1z_zmmm512_imm8;
    SHIFT_SIGNED_32 (Same) _ 4: VEX_Vpsrad_xmm_xmm_imm8 VEX_Vpsrad_ymm_ymm_imm8
        EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8 EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8;
    SHIFT_LEFT_EACH_32 (Same) 1 4: VEX_Vpsllvd_xmm_xmm_xmmm128 VEX_Vpsllvd_ymm_ymm_ymmm256
        EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32;
    SHIFT_LEFT_EACH_64 (Same) 1 8: VEX_Vpsllvq_xmm_xmm_xmmm128 VEX_Vpsllvq_ymm_ymm_ymmm256
        EVEX_Vpsllvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64;
    SHIFT_RIGHT_EACH_32 (Same) 1 4: VEX_Vpsrlvd_xmm_xmm_xmmm128 VEX_Vpsrlvd_ymm_ymm_ymmm256
        EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32;
    SHIFT_RIGHT_EACH_64 (Same) 1 8: VEX_Vpsrlvq_xmm_xmm_xmmm128 VEX_Vpsrlvq_ymm_ymm_ymmm256
        EVEX_Vpsrlvq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64;
    SHIFT_SIGNED_EACH_32 (Same) 1 4: VEX_Vpsravd_xmm_xmm_xmmm128 VEX_Vpsravd_ymm_ymm_ymmm256
        EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32;
    EXTEND_I8_16 (Widens(2)) _ 0: VEX_Vpmovsxbw_xmm_xmmm64 VEX_Vpmovsxbw_ymm_xmmm128
        EVEX_Vpmovsxbw_ymm_k1z_xmmm128 EVEX_Vpmovsxbw_zmm_k1z_ymmm256;
    EXTEND_I8_32 (Widens(4)) _ 0: VEX_Vpmovsxbd_xmm_xmmm32 VEX_Vpmovsxbd_ymm_xmmm64
        EVEX_Vpmovsxbd_ymm_k1z_xmmm64 EVEX_Vpmovsxbd_zmm_k1z_xmmm128;
    EXTEND_I8_64 (Widens(8)) _ 0: VEX_Vpmovsxbq_xmm_xmmm16 VEX_Vpmovsxbq_ymm_xmmm32
        EVEX_Vpmovsxbq_ymm_k1z_xmmm32 EVEX_Vpmovsxbq_zmm_k1z_xmmm64;
    EXTEND_I16_32 (Widens(2)) _ 0: VEX_Vpmovsxwd_xmm_xmmm64 VEX_Vpmovsxwd_ymm_xmmm128
        EVEX_Vpmovsxwd_ymm_k1z_xmmm128 EVEX_Vpmovsxwd_zmm_k1z_ymmm256;
    EXTEND_I16_64 (Widens(4)) _ 0: VEX_Vpmovsxwq_xmm_xmmm32 VEX_Vpmovsxwq_ymm_xmmm64
        EVEX_Vpmovsxwq_ymm_k1z_xmmm64 EVEX_Vpmovsxwq_zmm_k1z_xmmm128;
    EXTEND_I32_64 (Widens(2)) _ 0: VEX_Vpmovsxdq_xmm_xmmm64 VEX_Vpmovsxdq_ymm_xmmm128
        EVEX_Vpmovsxdq_ymm_k1z_xmmm128 EVEX_Vpmovsxdq_zmm_k1z_ymmm256;
    EXTEND_U8_16 (Widens(2)) _ 0: VEX_Vpmovzxbw_xmm_xmmm64 VEX_Vpmovzxbw_ymm_xmmm128
        EVEX_Vpmovzxbw_ymm_k1z_xmmm128 EVEX_Vpmovzxbw_zmm_k1z_ymmm256;
    EXTEND_U8_32 (Widens(4)) _ 0: VEX_Vpmovzxbd_xmm_xmmm32 VEX_Vpmovzxbd_ymm_xmmm64
        EVEX_Vpmovzxbd_ymm_k1z_xmmm64 EVEX_Vpmovzxbd_zmm_k1z_xmmm128;
    EXTEND_U8_64 (Widens(8)) _ 0: VEX_Vpmovzxbq_xmm_xmmm16 VEX_Vpmovzxbq_ymm_xmmm32
        EVEX_Vpmovzxbq_ymm_k1z_xmmm32 EVEX_Vpmovzxbq_zmm_k1z_xmmm64;
    EXTEND_U16_32 (Widens(2)) _ 0: VEX_Vpmovzxwd_xmm_xmmm64 VEX_Vpmovzxwd_ymm_xmmm128
        EVEX_Vpmovzxwd_ymm_k1z_xmmm128 EVEX_Vpmovzxwd_zmm_k1z_ymmm256;
    EXTEND_U16_64 (Widens(4)) _ 0: VEX_Vpmovzxwq_xmm_xmmm32 VEX_Vpmovzxwq_ymm_xmmm64
        EVEX_Vpmovzxwq_ymm_k1z_xmmm64 EVEX_Vpmovzxwq_zmm_k1z_xmmm128;
    EXTEND_U32_64 (Widens(2)) _ 0: VEX_Vpmovzxdq_xmm_xmmm64 VEX_Vpmovzxdq_ymm_xmmm128
        EVEX_Vpmovzxdq_ymm_k1z_xmmm128 EVEX_Vpmovzxdq_zmm_k1z_ymmm256;
    I32_TO_F32 (Same) 0 4: VEX_Vcvtdq2ps_xmm_xmmm128 VEX_Vcvtdq2ps_ymm_ymmm256
        EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32 EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er;
    F32_TO_I32 (Same) 0 4: VEX_Vcvttps2dq_xmm_xmmm128 VEX_Vcvttps2dq_ymm_ymmm256
        EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae;
    I32_TO_F64 (Widens(2)) _ 4: VEX_Vcvtdq2pd_xmm_xmmm64 VEX_Vcvtdq2pd_ymm_xmmm128
        EVEX_Vcvtdq2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er;
    F32_TO_F64 (Widens(2)) _ 4: VEX_Vcvtps2pd_xmm_xmmm64 VEX_Vcvtps2pd_ymm_xmmm128
        EVEX_Vcvtps2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae;
    F16_TO_F32 (Widens(2)) _ 0: VEX_Vcvtph2ps_xmm_xmmm64 VEX_Vcvtph2ps_ymm_xmmm128
        EVEX_Vcvtph2ps_ymm_k1z_xmmm128 EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae;
    F32_TO_F16 (Narrows(2)) _ 0: VEX_Vcvtps2ph_xmmm64_xmm_imm8 VEX_Vcvtps2ph_xmmm128_ymm_imm8
        EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8 EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae;
    F64_TO_F32 (Narrows(2)) _ 8: VEX_Vcvtpd2ps_xmm_xmmm128 VEX_Vcvtpd2ps_xmm_ymmm256
        EVEX_Vcvtpd2ps_xmm_k1z_ymmm256b64 EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er;
    F64_TO_I32 (Narrows(2)) _ 8: VEX_Vcvttpd2dq_xmm_xmmm128 VEX_Vcvttpd2dq_xmm_ymmm256
        EVEX_Vcvttpd2dq_xmm_k1z_ymmm256b64 EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae;
    LOAD (Same) 0 0: VEX_Vmovups_xmm_xmmm128 VEX_Vmovups_ymm_ymmm256 EVEX_Vmovups_ymm_k1z_ymmm256
        EVEX_Vmovups_zmm_k1z_zmmm512;
    LOAD_16_BYTES (Low) 0 0: VEX_Vmovups_xmm_xmmm128 VEX_Vmovups_xmm_xmmm128 EVEX_Vmovups_xmm_k1z_xmmm128
        EVEX_Vmovups_xmm_k1z_xmmm128;
    LOAD_4_BYTES (Low) 0 0: VEX_Vmovd_xmm_rm32 VEX_Vmovd_xmm_rm32 EVEX_Vmovd_xmm_rm32 EVEX_Vmovd_xmm_rm32;
    LOAD_8_BYTES (Low) 0 0: VEX_Vmovq_xmm_xmmm64 VEX_Vmovq_xmm_xmmm64 EVEX_Vmovq_xmm_xmmm64
        EVEX_Vmovq_xmm_xmmm64;
    BROADCAST_8 (Widens(64)) 0 0: VEX_Vpbroadcastb_xmm_xmmm8 VEX_Vpbroadcastb_ymm_xmmm8
        EVEX_Vpbroadcastb_ymm_k1z_xmmm8 EVEX_Vpbroadcastb_zmm_k1z_xmmm8;
    BROADCAST_16 (Widens(64)) 0 0: VEX_Vpbroadcastw_xmm_xmmm16 VEX_Vpbroadcastw_ymm_xmmm16
        EVEX_Vpbroadcastw_ymm_k1z_xmmm16 EVEX_Vpbroadcastw_zmm_k1z_xmmm16;
    BROADCAST_32 (Widens(64)) 0 0: VEX_Vpbroadcastd_xmm_xmmm32 VEX_Vpbroadcastd_ymm_xmmm32
        EVEX_Vpbroadcastd_ymm_k1z_xmmm32 EVEX_Vpbroadcastd_zmm_k1z_xmmm32;
    BROADCAST_64 (Widens(64)) 0 0: VEX_Vpbroadcastq_xmm_xmmm64 VEX_Vpbroadcastq_ymm_xmmm64
        EVEX_Vpbroadcastq_ymm_k1z_xmmm64 EVEX_Vpbroadcastq_zmm_k1z_xmmm64;
    STORE (Same) _ 0: VEX_Vmovups_xmmm128_xmm VEX_Vmovups_ymmm256_ymm EVEX_Vmovups_ymmm256_k1z_ymm
        EVEX_Vmovups_zmmm512_k1z_zmm;
    STORE_16_BYTES (Low) _ 0: VEX_Vmovups_xmmm128_xmm VEX_Vmovups_xmmm128_xmm EVEX_Vmovups_xmmm128_k1z_xmm
        EVEX_Vmovups_xmmm128_k1z_xmm;
    STORE_4_BYTES (Low) _ 0: VEX_Vmovd_rm32_xmm VEX_Vmovd_rm32_xmm EVEX_Vmovd_rm32_xmm EVEX_Vmovd_rm32_xmm;
    STORE_8_BYTES (Low) _ 0: VEX_Vmovq_xmmm64_xmm VEX_Vmovq_xmmm64_xmm EVEX_Vmovq_xmmm64_xmm
        EVEX_Vmovq_xmmm64_xmm;
    STORE_NON_TEMPORAL (Same) _ 0: VEX_Vmovntps_m128_xmm VEX_Vmovntps_m256_ymm EVEX_Vmovntps_m256_ymm
        EVEX_Vmovntps_m512_zmm;
}

macro_rules! products {
    ($($name:ident $broadcast_bytes:literal:
        $x:ident $y:ident $ey:ident $ez:ident;)*) => {
        impl<S: X86InstructionSet> Opcode<S> {
            $(pub(super) const $name: Opcode<S> = Opcode {
                result: ResultConstraint::TiedToEither,
                ..match S::IS_EVEX {
                    true => Opcode::new([Code::$ey, Code::$ez], Widths::Same)
                        .with_memory(Some(2), $broadcast_bytes),
                    false => Opcode::new([Code::$x, Code::$y], Widths::Same)
                        .with_memory(Some(2), 0),
                }
            };)*
        }
    };
}

// Fused multiply-adds: the product of the first two sources, or its negation, plus or minus the third source,
// rounded once.
products! {
    MUL_ADD_F32 4: VEX_Vfmadd213ps_xmm_xmm_xmmm128 VEX_Vfmadd213ps_ymm_ymm_ymmm256
        EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    MUL_ADD_F64 8: VEX_Vfmadd213pd_xmm_xmm_xmmm128 VEX_Vfmadd213pd_ymm_ymm_ymmm256
        EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    PRODUCT_MINUS_ADDEND_F32 4: VEX_Vfmsub213ps_xmm_xmm_xmmm128 VEX_Vfmsub213ps_ymm_ymm_ymmm256
        EVEX_Vfmsub213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    PRODUCT_MINUS_ADDEND_F64 8: VEX_Vfmsub213pd_xmm_xmm_xmmm128 VEX_Vfmsub213pd_ymm_ymm_ymmm256
        EVEX_Vfmsub213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
    ADDEND_MINUS_PRODUCT_F32 4: VEX_Vfnmadd213ps_xmm_xmm_xmmm128 VEX_Vfnmadd213ps_ymm_ymm_ymmm256
        EVEX_Vfnmadd213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er;
    ADDEND_MINUS_PRODUCT_F64 8: VEX_Vfnmadd213pd_xmm_xmm_xmmm128 VEX_Vfnmadd213pd_ymm_ymm_ymmm256
        EVEX_Vfnmadd213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er;
    NEGATED_MUL_ADD_F32 4: VEX_Vfnmsub213ps_xmm_xmm_xmmm128 VEX_Vfnmsub213ps_ymm_ymm_ymmm256
        EVEX_Vfnmsub213ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vfnmsub213ps_zmm_k1z_zmm_zmmm512b32_er;
    NEGATED_MUL_ADD_F64 8: VEX_Vfnmsub213pd_xmm_xmm_xmmm128 VEX_Vfnmsub213pd_ymm_ymm_ymmm256
        EVEX_Vfnmsub213pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vfnmsub213pd_zmm_k1z_zmm_zmmm512b64_er;
}
