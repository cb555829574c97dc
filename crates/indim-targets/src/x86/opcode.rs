//! The instructions of AVX2, FMA and F16C that are used, for 128 and 256 bits each.

use iced_x86::Code;

use crate::machine::ResultRegister;

/// The bytes of a register.
pub(super) const REGISTER_BYTES: u32 = 32;

/// An instruction over vector registers, for both widths.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opcode {
    /// Its encoding for 128 and for 256 bits.
    pub(super) code: [Code; 2],
    pub(super) widths: Widths,
    /// Which of its sources may be in memory.
    pub(super) memory: Option<u8>,
    pub(super) result: ResultRegister,
}

/// Which operands have 256 bits, where the instruction has so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Widths {
    /// All.
    Same,
    /// The result, of which the source is half or less.
    Widens,
    /// The source.
    Narrows,
    /// The result and the first source.
    Inserts,
}

impl Opcode {
    /// Whether the operand at a position, the result being the first, has 256 bits where any has.
    pub(super) fn is_wide(&self, position: usize) -> bool {
        match self.widths {
            Widths::Same => true,
            Widths::Widens => position == 0,
            Widths::Narrows => position == 1,
            Widths::Inserts => position < 2,
        }
    }
}

impl crate::machine::Opcode for Opcode {
    const REGISTERS: usize = 16;
    const REGISTER_BYTES: u32 = REGISTER_BYTES;
    /// A constant that is no operand in memory.
    const MOST_LOADED: usize = 1;

    fn memory_source(self) -> Option<usize> {
        self.memory.map(usize::from)
    }

    fn result(self) -> ResultRegister {
        self.result
    }
}

macro_rules! opcodes {
    ($($name:ident $widths:ident $memory:tt $narrow:ident $wide:ident;)*) => {
        $(pub(super) const $name: Opcode = Opcode {
            code: [Code::$narrow, Code::$wide],
            widths: Widths::$widths,
            memory: opcodes!(@memory $memory),
            result: ResultRegister::Any,
        };)*
    };
    (@memory _) => { None };
    (@memory $source:literal) => { Some($source) };
}

opcodes! {
    ADD_F32 Same 1 VEX_Vaddps_xmm_xmm_xmmm128 VEX_Vaddps_ymm_ymm_ymmm256;
    ADD_F64 Same 1 VEX_Vaddpd_xmm_xmm_xmmm128 VEX_Vaddpd_ymm_ymm_ymmm256;
    SUB_F32 Same 1 VEX_Vsubps_xmm_xmm_xmmm128 VEX_Vsubps_ymm_ymm_ymmm256;
    SUB_F64 Same 1 VEX_Vsubpd_xmm_xmm_xmmm128 VEX_Vsubpd_ymm_ymm_ymmm256;
    MUL_F32 Same 1 VEX_Vmulps_xmm_xmm_xmmm128 VEX_Vmulps_ymm_ymm_ymmm256;
    MUL_F64 Same 1 VEX_Vmulpd_xmm_xmm_xmmm128 VEX_Vmulpd_ymm_ymm_ymmm256;
    DIV_F32 Same 1 VEX_Vdivps_xmm_xmm_xmmm128 VEX_Vdivps_ymm_ymm_ymmm256;
    DIV_F64 Same 1 VEX_Vdivpd_xmm_xmm_xmmm128 VEX_Vdivpd_ymm_ymm_ymmm256;
    MIN_F64 Same 1 VEX_Vminpd_xmm_xmm_xmmm128 VEX_Vminpd_ymm_ymm_ymmm256;
    MAX_F64 Same 1 VEX_Vmaxpd_xmm_xmm_xmmm128 VEX_Vmaxpd_ymm_ymm_ymmm256;
    MIN_F32 Same 1 VEX_Vminps_xmm_xmm_xmmm128 VEX_Vminps_ymm_ymm_ymmm256;
    MAX_F32 Same 1 VEX_Vmaxps_xmm_xmm_xmmm128 VEX_Vmaxps_ymm_ymm_ymmm256;
    MIN_I8 Same 1 VEX_Vpminsb_xmm_xmm_xmmm128 VEX_Vpminsb_ymm_ymm_ymmm256;
    MIN_U8 Same 1 VEX_Vpminub_xmm_xmm_xmmm128 VEX_Vpminub_ymm_ymm_ymmm256;
    MIN_I16 Same 1 VEX_Vpminsw_xmm_xmm_xmmm128 VEX_Vpminsw_ymm_ymm_ymmm256;
    MIN_U16 Same 1 VEX_Vpminuw_xmm_xmm_xmmm128 VEX_Vpminuw_ymm_ymm_ymmm256;
    MIN_I32 Same 1 VEX_Vpminsd_xmm_xmm_xmmm128 VEX_Vpminsd_ymm_ymm_ymmm256;
    MIN_U32 Same 1 VEX_Vpminud_xmm_xmm_xmmm128 VEX_Vpminud_ymm_ymm_ymmm256;
    MAX_I8 Same 1 VEX_Vpmaxsb_xmm_xmm_xmmm128 VEX_Vpmaxsb_ymm_ymm_ymmm256;
    MAX_U8 Same 1 VEX_Vpmaxub_xmm_xmm_xmmm128 VEX_Vpmaxub_ymm_ymm_ymmm256;
    MAX_I16 Same 1 VEX_Vpmaxsw_xmm_xmm_xmmm128 VEX_Vpmaxsw_ymm_ymm_ymmm256;
    MAX_U16 Same 1 VEX_Vpmaxuw_xmm_xmm_xmmm128 VEX_Vpmaxuw_ymm_ymm_ymmm256;
    MAX_I32 Same 1 VEX_Vpmaxsd_xmm_xmm_xmmm128 VEX_Vpmaxsd_ymm_ymm_ymmm256;
    MAX_U32 Same 1 VEX_Vpmaxud_xmm_xmm_xmmm128 VEX_Vpmaxud_ymm_ymm_ymmm256;
    SQRT_F32 Same 0 VEX_Vsqrtps_xmm_xmmm128 VEX_Vsqrtps_ymm_ymmm256;
    SQRT_F64 Same 0 VEX_Vsqrtpd_xmm_xmmm128 VEX_Vsqrtpd_ymm_ymmm256;
    ROUND_F32 Same 0 VEX_Vroundps_xmm_xmmm128_imm8 VEX_Vroundps_ymm_ymmm256_imm8;
    ROUND_F64 Same 0 VEX_Vroundpd_xmm_xmmm128_imm8 VEX_Vroundpd_ymm_ymmm256_imm8;
    COMPARE_F32 Same 1 VEX_Vcmpps_xmm_xmm_xmmm128_imm8 VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
    COMPARE_F64 Same 1 VEX_Vcmppd_xmm_xmm_xmmm128_imm8 VEX_Vcmppd_ymm_ymm_ymmm256_imm8;
    // The first source where the top bit of the third is clear, else the second.
    BLEND_8 Same 1 VEX_Vpblendvb_xmm_xmm_xmmm128_xmm VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
    BLEND_32 Same 1 VEX_Vblendvps_xmm_xmm_xmmm128_xmm VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
    BLEND_64 Same 1 VEX_Vblendvpd_xmm_xmm_xmmm128_xmm VEX_Vblendvpd_ymm_ymm_ymmm256_ymm;
    BLEND_CONSTANT_32 Same 1 VEX_Vpblendd_xmm_xmm_xmmm128_imm8 VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
    AND Same 1 VEX_Vpand_xmm_xmm_xmmm128 VEX_Vpand_ymm_ymm_ymmm256;
    OR Same 1 VEX_Vpor_xmm_xmm_xmmm128 VEX_Vpor_ymm_ymm_ymmm256;
    XOR Same 1 VEX_Vpxor_xmm_xmm_xmmm128 VEX_Vpxor_ymm_ymm_ymmm256;
    AND_F32 Same 1 VEX_Vandps_xmm_xmm_xmmm128 VEX_Vandps_ymm_ymm_ymmm256;
    AND_F64 Same 1 VEX_Vandpd_xmm_xmm_xmmm128 VEX_Vandpd_ymm_ymm_ymmm256;
    XOR_F32 Same 1 VEX_Vxorps_xmm_xmm_xmmm128 VEX_Vxorps_ymm_ymm_ymmm256;
    XOR_F64 Same 1 VEX_Vxorpd_xmm_xmm_xmmm128 VEX_Vxorpd_ymm_ymm_ymmm256;
    ADD_8 Same 1 VEX_Vpaddb_xmm_xmm_xmmm128 VEX_Vpaddb_ymm_ymm_ymmm256;
    ADD_16 Same 1 VEX_Vpaddw_xmm_xmm_xmmm128 VEX_Vpaddw_ymm_ymm_ymmm256;
    ADD_32 Same 1 VEX_Vpaddd_xmm_xmm_xmmm128 VEX_Vpaddd_ymm_ymm_ymmm256;
    ADD_64 Same 1 VEX_Vpaddq_xmm_xmm_xmmm128 VEX_Vpaddq_ymm_ymm_ymmm256;
    SUB_8 Same 1 VEX_Vpsubb_xmm_xmm_xmmm128 VEX_Vpsubb_ymm_ymm_ymmm256;
    SUB_16 Same 1 VEX_Vpsubw_xmm_xmm_xmmm128 VEX_Vpsubw_ymm_ymm_ymmm256;
    SUB_32 Same 1 VEX_Vpsubd_xmm_xmm_xmmm128 VEX_Vpsubd_ymm_ymm_ymmm256;
    SUB_64 Same 1 VEX_Vpsubq_xmm_xmm_xmmm128 VEX_Vpsubq_ymm_ymm_ymmm256;
    MUL_16 Same 1 VEX_Vpmullw_xmm_xmm_xmmm128 VEX_Vpmullw_ymm_ymm_ymmm256;
    MUL_32 Same 1 VEX_Vpmulld_xmm_xmm_xmmm128 VEX_Vpmulld_ymm_ymm_ymmm256;
    MUL_HIGH_I16 Same 1 VEX_Vpmulhw_xmm_xmm_xmmm128 VEX_Vpmulhw_ymm_ymm_ymmm256;
    MUL_HIGH_U16 Same 1 VEX_Vpmulhuw_xmm_xmm_xmmm128 VEX_Vpmulhuw_ymm_ymm_ymmm256;
    // The whole product of the lower halves of 64 bits.
    MUL_WIDE_I32 Same 1 VEX_Vpmuldq_xmm_xmm_xmmm128 VEX_Vpmuldq_ymm_ymm_ymmm256;
    MUL_WIDE_U32 Same 1 VEX_Vpmuludq_xmm_xmm_xmmm128 VEX_Vpmuludq_ymm_ymm_ymmm256;
    EQUAL_8 Same 1 VEX_Vpcmpeqb_xmm_xmm_xmmm128 VEX_Vpcmpeqb_ymm_ymm_ymmm256;
    EQUAL_16 Same 1 VEX_Vpcmpeqw_xmm_xmm_xmmm128 VEX_Vpcmpeqw_ymm_ymm_ymmm256;
    EQUAL_32 Same 1 VEX_Vpcmpeqd_xmm_xmm_xmmm128 VEX_Vpcmpeqd_ymm_ymm_ymmm256;
    EQUAL_64 Same 1 VEX_Vpcmpeqq_xmm_xmm_xmmm128 VEX_Vpcmpeqq_ymm_ymm_ymmm256;
    GREATER_8 Same 1 VEX_Vpcmpgtb_xmm_xmm_xmmm128 VEX_Vpcmpgtb_ymm_ymm_ymmm256;
    GREATER_16 Same 1 VEX_Vpcmpgtw_xmm_xmm_xmmm128 VEX_Vpcmpgtw_ymm_ymm_ymmm256;
    GREATER_32 Same 1 VEX_Vpcmpgtd_xmm_xmm_xmmm128 VEX_Vpcmpgtd_ymm_ymm_ymmm256;
    GREATER_64 Same 1 VEX_Vpcmpgtq_xmm_xmm_xmmm128 VEX_Vpcmpgtq_ymm_ymm_ymmm256;
    SHIFT_LEFT_16 Same _ VEX_Vpsllw_xmm_xmm_imm8 VEX_Vpsllw_ymm_ymm_imm8;
    SHIFT_LEFT_32 Same _ VEX_Vpslld_xmm_xmm_imm8 VEX_Vpslld_ymm_ymm_imm8;
    SHIFT_LEFT_64 Same _ VEX_Vpsllq_xmm_xmm_imm8 VEX_Vpsllq_ymm_ymm_imm8;
    SHIFT_RIGHT_16 Same _ VEX_Vpsrlw_xmm_xmm_imm8 VEX_Vpsrlw_ymm_ymm_imm8;
    SHIFT_RIGHT_32 Same _ VEX_Vpsrld_xmm_xmm_imm8 VEX_Vpsrld_ymm_ymm_imm8;
    SHIFT_RIGHT_64 Same _ VEX_Vpsrlq_xmm_xmm_imm8 VEX_Vpsrlq_ymm_ymm_imm8;
    SHIFT_SIGNED_16 Same _ VEX_Vpsraw_xmm_xmm_imm8 VEX_Vpsraw_ymm_ymm_imm8;
    SHIFT_SIGNED_32 Same _ VEX_Vpsrad_xmm_xmm_imm8 VEX_Vpsrad_ymm_ymm_imm8;
    SHIFT_LEFT_EACH_32 Same 1 VEX_Vpsllvd_xmm_xmm_xmmm128 VEX_Vpsllvd_ymm_ymm_ymmm256;
    SHIFT_LEFT_EACH_64 Same 1 VEX_Vpsllvq_xmm_xmm_xmmm128 VEX_Vpsllvq_ymm_ymm_ymmm256;
    SHIFT_RIGHT_EACH_32 Same 1 VEX_Vpsrlvd_xmm_xmm_xmmm128 VEX_Vpsrlvd_ymm_ymm_ymmm256;
    SHIFT_RIGHT_EACH_64 Same 1 VEX_Vpsrlvq_xmm_xmm_xmmm128 VEX_Vpsrlvq_ymm_ymm_ymmm256;
    SHIFT_SIGNED_EACH_32 Same 1 VEX_Vpsravd_xmm_xmm_xmmm128 VEX_Vpsravd_ymm_ymm_ymmm256;
    SHIFT_BYTES_RIGHT Same _ VEX_Vpsrldq_xmm_xmm_imm8 VEX_Vpsrldq_ymm_ymm_imm8;
    PACK_SIGNED_16 Same 1 VEX_Vpacksswb_xmm_xmm_xmmm128 VEX_Vpacksswb_ymm_ymm_ymmm256;
    PACK_SIGNED_32 Same 1 VEX_Vpackssdw_xmm_xmm_xmmm128 VEX_Vpackssdw_ymm_ymm_ymmm256;
    PACK_UNSIGNED_16 Same 1 VEX_Vpackuswb_xmm_xmm_xmmm128 VEX_Vpackuswb_ymm_ymm_ymmm256;
    PACK_UNSIGNED_32 Same 1 VEX_Vpackusdw_xmm_xmm_xmmm128 VEX_Vpackusdw_ymm_ymm_ymmm256;
    SHUFFLE_F32 Same 1 VEX_Vshufps_xmm_xmm_xmmm128_imm8 VEX_Vshufps_ymm_ymm_ymmm256_imm8;
    UNPACK_LOW_32 Same 1 VEX_Vunpcklps_xmm_xmm_xmmm128 VEX_Vunpcklps_ymm_ymm_ymmm256;
    UNPACK_HIGH_32 Same 1 VEX_Vunpckhps_xmm_xmm_xmmm128 VEX_Vunpckhps_ymm_ymm_ymmm256;
    UNPACK_LOW_64 Same 1 VEX_Vunpcklpd_xmm_xmm_xmmm128 VEX_Vunpcklpd_ymm_ymm_ymmm256;
    UNPACK_HIGH_64 Same 1 VEX_Vunpckhpd_xmm_xmm_xmmm128 VEX_Vunpckhpd_ymm_ymm_ymmm256;
    PERMUTE_64 Same 0 VEX_Vpermq_ymm_ymmm256_imm8 VEX_Vpermq_ymm_ymmm256_imm8;
    PERMUTE_128 Same 1 VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 VEX_Vperm2i128_ymm_ymm_ymmm256_imm8;
    EXTRACT_128 Narrows _ VEX_Vextracti128_xmmm128_ymm_imm8 VEX_Vextracti128_xmmm128_ymm_imm8;
    INSERT_128 Inserts 1 VEX_Vinserti128_ymm_ymm_xmmm128_imm8 VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
    EXTEND_I8_16 Widens _ VEX_Vpmovsxbw_xmm_xmmm64 VEX_Vpmovsxbw_ymm_xmmm128;
    EXTEND_I8_32 Widens _ VEX_Vpmovsxbd_xmm_xmmm32 VEX_Vpmovsxbd_ymm_xmmm64;
    EXTEND_I8_64 Widens _ VEX_Vpmovsxbq_xmm_xmmm16 VEX_Vpmovsxbq_ymm_xmmm32;
    EXTEND_I16_32 Widens _ VEX_Vpmovsxwd_xmm_xmmm64 VEX_Vpmovsxwd_ymm_xmmm128;
    EXTEND_I16_64 Widens _ VEX_Vpmovsxwq_xmm_xmmm32 VEX_Vpmovsxwq_ymm_xmmm64;
    EXTEND_I32_64 Widens _ VEX_Vpmovsxdq_xmm_xmmm64 VEX_Vpmovsxdq_ymm_xmmm128;
    EXTEND_U8_16 Widens _ VEX_Vpmovzxbw_xmm_xmmm64 VEX_Vpmovzxbw_ymm_xmmm128;
    EXTEND_U8_32 Widens _ VEX_Vpmovzxbd_xmm_xmmm32 VEX_Vpmovzxbd_ymm_xmmm64;
    EXTEND_U8_64 Widens _ VEX_Vpmovzxbq_xmm_xmmm16 VEX_Vpmovzxbq_ymm_xmmm32;
    EXTEND_U16_32 Widens _ VEX_Vpmovzxwd_xmm_xmmm64 VEX_Vpmovzxwd_ymm_xmmm128;
    EXTEND_U16_64 Widens _ VEX_Vpmovzxwq_xmm_xmmm32 VEX_Vpmovzxwq_ymm_xmmm64;
    EXTEND_U32_64 Widens _ VEX_Vpmovzxdq_xmm_xmmm64 VEX_Vpmovzxdq_ymm_xmmm128;
    I32_TO_F32 Same 0 VEX_Vcvtdq2ps_xmm_xmmm128 VEX_Vcvtdq2ps_ymm_ymmm256;
    F32_TO_I32 Same 0 VEX_Vcvttps2dq_xmm_xmmm128 VEX_Vcvttps2dq_ymm_ymmm256;
    I32_TO_F64 Widens _ VEX_Vcvtdq2pd_xmm_xmmm64 VEX_Vcvtdq2pd_ymm_xmmm128;
    F32_TO_F64 Widens _ VEX_Vcvtps2pd_xmm_xmmm64 VEX_Vcvtps2pd_ymm_xmmm128;
    F16_TO_F32 Widens _ VEX_Vcvtph2ps_xmm_xmmm64 VEX_Vcvtph2ps_ymm_xmmm128;
    F32_TO_F16 Narrows _ VEX_Vcvtps2ph_xmmm64_xmm_imm8 VEX_Vcvtps2ph_xmmm128_ymm_imm8;
    F64_TO_F32 Narrows _ VEX_Vcvtpd2ps_xmm_xmmm128 VEX_Vcvtpd2ps_xmm_ymmm256;
    F64_TO_I32 Narrows _ VEX_Vcvttpd2dq_xmm_xmmm128 VEX_Vcvttpd2dq_xmm_ymmm256;
    LOAD Same 0 VEX_Vmovups_xmm_xmmm128 VEX_Vmovups_ymm_ymmm256;
    LOAD_4_BYTES Same 0 VEX_Vmovd_xmm_rm32 VEX_Vmovd_xmm_rm32;
    LOAD_8_BYTES Same 0 VEX_Vmovq_xmm_xmmm64 VEX_Vmovq_xmm_xmmm64;
    BROADCAST_8 Widens 0 VEX_Vpbroadcastb_xmm_xmmm8 VEX_Vpbroadcastb_ymm_xmmm8;
    BROADCAST_16 Widens 0 VEX_Vpbroadcastw_xmm_xmmm16 VEX_Vpbroadcastw_ymm_xmmm16;
    BROADCAST_32 Widens 0 VEX_Vpbroadcastd_xmm_xmmm32 VEX_Vpbroadcastd_ymm_xmmm32;
    BROADCAST_64 Widens 0 VEX_Vpbroadcastq_xmm_xmmm64 VEX_Vpbroadcastq_ymm_xmmm64;
    STORE Same _ VEX_Vmovups_xmmm128_xmm VEX_Vmovups_ymmm256_ymm;
    STORE_4_BYTES Same _ VEX_Vmovd_rm32_xmm VEX_Vmovd_rm32_xmm;
    STORE_8_BYTES Same _ VEX_Vmovq_xmmm64_xmm VEX_Vmovq_xmmm64_xmm;
    STORE_PAST_CACHES Same _ VEX_Vmovntps_m128_xmm VEX_Vmovntps_m256_ymm;
}

macro_rules! products {
    ($($name:ident $narrow:ident $wide:ident;)*) => {
        $(pub(super) const $name: Opcode = Opcode {
            code: [Code::$narrow, Code::$wide],
            widths: Widths::Same,
            memory: Some(2),
            result: ResultRegister::FirstOrSecond,
        };)*
    };
}

// Of the first two sources the product, and the third, rounded once.
products! {
    MUL_ADD_F32 VEX_Vfmadd213ps_xmm_xmm_xmmm128 VEX_Vfmadd213ps_ymm_ymm_ymmm256;
    MUL_ADD_F64 VEX_Vfmadd213pd_xmm_xmm_xmmm128 VEX_Vfmadd213pd_ymm_ymm_ymmm256;
    PRODUCT_MINUS_ADDEND_F32 VEX_Vfmsub213ps_xmm_xmm_xmmm128 VEX_Vfmsub213ps_ymm_ymm_ymmm256;
    PRODUCT_MINUS_ADDEND_F64 VEX_Vfmsub213pd_xmm_xmm_xmmm128 VEX_Vfmsub213pd_ymm_ymm_ymmm256;
    ADDEND_MINUS_PRODUCT_F32 VEX_Vfnmadd213ps_xmm_xmm_xmmm128 VEX_Vfnmadd213ps_ymm_ymm_ymmm256;
    ADDEND_MINUS_PRODUCT_F64 VEX_Vfnmadd213pd_xmm_xmm_xmmm128 VEX_Vfnmadd213pd_ymm_ymm_ymmm256;
    NEGATED_SUM_F32 VEX_Vfnmsub213ps_xmm_xmm_xmmm128 VEX_Vfnmsub213ps_ymm_ymm_ymmm256;
    NEGATED_SUM_F64 VEX_Vfnmsub213pd_xmm_xmm_xmmm128 VEX_Vfnmsub213pd_ymm_ymm_ymmm256;
}

/// The entries of a table: the first source has the indices, the second is a mask of ones, which is lost.
pub(super) const GATHER_32: Opcode = Opcode {
    code: [Code::VEX_Vpgatherdd_xmm_vm32x_xmm, Code::VEX_Vpgatherdd_ymm_vm32y_ymm],
    widths: Widths::Same,
    memory: None,
    result: ResultRegister::Apart,
};

/// As [`GATHER_32`], of 64 bits.
pub(super) const GATHER_64: Opcode = Opcode {
    code: [Code::VEX_Vpgatherqq_xmm_vm64x_xmm, Code::VEX_Vpgatherqq_ymm_vm64y_ymm],
    ..GATHER_32
};
