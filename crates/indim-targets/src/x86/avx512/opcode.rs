//! The table of instructions that only AVX-512 has, with encodings for 256 and 512 bits.

use iced_x86::Code;

use super::super::opcode::{Opcode, Widths, memory_source};
use super::Avx512;
use indim_codegen::machine::{Class, ResultConstraint};

macro_rules! opcodes {
    ($with:tt: $($name:ident ($($widths:tt)*) $memory:tt $broadcast_bytes:literal:
        $y:ident $z:ident;)*) => {
        impl Opcode<Avx512> {
            $(pub(super) const $name: Opcode<Avx512> = opcodes!(
                $with Opcode::new([Code::$y, Code::$z], Widths::$($widths)*)
                    .with_memory(memory_source!($memory), $broadcast_bytes)
            );)*
        }
    };
    (plain $opcode:expr) => { $opcode };
    (mask_result $opcode:expr) => { Opcode { class: Class::Mask, ..$opcode } };
    (tied_to_first $opcode:expr) => { Opcode { result: ResultConstraint::TiedToFirst, ..$opcode } };
    (masked_by_third $opcode:expr) => { Opcode { mask: Some(2), ..$opcode } };
    (cleared_by_second $opcode:expr) => { Opcode { mask: Some(1), zeroing: true, ..$opcode } };
}

opcodes! { plain:
    FROM_MASK_16 (Same) _ 0: EVEX_Vpmovm2w_ymm_kr EVEX_Vpmovm2w_zmm_kr;
    FROM_MASK_32 (Same) _ 0: EVEX_Vpmovm2d_ymm_kr EVEX_Vpmovm2d_zmm_kr;
    FROM_MASK_64 (Same) _ 0: EVEX_Vpmovm2q_ymm_kr EVEX_Vpmovm2q_zmm_kr;
    MUL_64 (Same) 1 8: EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64;
    MIN_I64 (Same) 1 8: EVEX_Vpminsq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64;
    MIN_U64 (Same) 1 8: EVEX_Vpminuq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64;
    MAX_I64 (Same) 1 8: EVEX_Vpmaxsq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64;
    MAX_U64 (Same) 1 8: EVEX_Vpmaxuq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64;
    SHIFT_SIGNED_64 (Same) _ 8: EVEX_Vpsraq_ymm_k1z_ymmm256b64_imm8 EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8;
    SHIFT_SIGNED_EACH_64 (Same) 1 8: EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64;
    SHIFT_LEFT_EACH_16 (Same) 1 0: EVEX_Vpsllvw_ymm_k1z_ymm_ymmm256 EVEX_Vpsllvw_zmm_k1z_zmm_zmmm512;
    SHIFT_RIGHT_EACH_16 (Same) 1 0: EVEX_Vpsrlvw_ymm_k1z_ymm_ymmm256 EVEX_Vpsrlvw_zmm_k1z_zmm_zmmm512;
    SHIFT_SIGNED_EACH_16 (Same) 1 0: EVEX_Vpsravw_ymm_k1z_ymm_ymmm256 EVEX_Vpsravw_zmm_k1z_zmm_zmmm512;
    LEADING_ZEROS_32 (Same) 0 4: EVEX_Vplzcntd_ymm_k1z_ymmm256b32 EVEX_Vplzcntd_zmm_k1z_zmmm512b32;
    LEADING_ZEROS_64 (Same) 0 8: EVEX_Vplzcntq_ymm_k1z_ymmm256b64 EVEX_Vplzcntq_zmm_k1z_zmmm512b64;
    ALIGN_32 (Same) _ 4: EVEX_Valignd_ymm_k1z_ymm_ymmm256b32_imm8 EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8;
    INSERT_HALF (HalfSource) _ 0: EVEX_Vinserti32x4_ymm_k1z_ymm_xmmm128_imm8
        EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
    NARROW_16_8 (Narrows(2)) _ 0: EVEX_Vpmovwb_xmmm128_k1z_ymm EVEX_Vpmovwb_ymmm256_k1z_zmm;
    NARROW_32_16 (Narrows(2)) _ 0: EVEX_Vpmovdw_xmmm128_k1z_ymm EVEX_Vpmovdw_ymmm256_k1z_zmm;
    NARROW_64_32 (Narrows(2)) _ 0: EVEX_Vpmovqd_xmmm128_k1z_ymm EVEX_Vpmovqd_ymmm256_k1z_zmm;
    NARROW_32_8 (Narrows(4)) _ 0: EVEX_Vpmovdb_xmmm64_k1z_ymm EVEX_Vpmovdb_xmmm128_k1z_zmm;
    NARROW_64_16 (Narrows(4)) _ 0: EVEX_Vpmovqw_xmmm64_k1z_ymm EVEX_Vpmovqw_xmmm128_k1z_zmm;
    NARROW_64_8 (Narrows(8)) _ 0: EVEX_Vpmovqb_xmmm32_k1z_ymm EVEX_Vpmovqb_xmmm64_k1z_zmm;
    I64_TO_F32 (Narrows(2)) _ 8: EVEX_Vcvtqq2ps_xmm_k1z_ymmm256b64 EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er;
    U64_TO_F32 (Narrows(2)) _ 8: EVEX_Vcvtuqq2ps_xmm_k1z_ymmm256b64 EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er;
    I64_TO_F64 (Same) 0 8: EVEX_Vcvtqq2pd_ymm_k1z_ymmm256b64 EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er;
    U64_TO_F64 (Same) 0 8: EVEX_Vcvtuqq2pd_ymm_k1z_ymmm256b64 EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er;
    U32_TO_F32 (Same) 0 4: EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32 EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er;
    U32_TO_F64 (Widens(2)) _ 4: EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32 EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er;
    F32_TO_U32 (Same) 0 4: EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32 EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae;
    F64_TO_U32 (Narrows(2)) _ 8: EVEX_Vcvttpd2udq_xmm_k1z_ymmm256b64 EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae;
    F64_TO_I64 (Same) 0 8: EVEX_Vcvttpd2qq_ymm_k1z_ymmm256b64 EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae;
    F64_TO_U64 (Same) 0 8: EVEX_Vcvttpd2uqq_ymm_k1z_ymmm256b64 EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae;
    F32_TO_U64 (Widens(2)) _ 4: EVEX_Vcvttps2uqq_ymm_k1z_xmmm128b32 EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae;
}

// Instructions with a mask as result: comparisons, tests for nonzero bytes, sign bits of bytes.
opcodes! { mask_result:
    COMPARE_F32 (Same) 1 4: EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae;
    COMPARE_F64 (Same) 1 8: EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae;
    COMPARE_I8 (Same) 1 0: EVEX_Vpcmpb_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpb_kr_k1_zmm_zmmm512_imm8;
    COMPARE_I16 (Same) 1 0: EVEX_Vpcmpw_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpw_kr_k1_zmm_zmmm512_imm8;
    COMPARE_I32 (Same) 1 4: EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8;
    COMPARE_I64 (Same) 1 8: EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8;
    COMPARE_U8 (Same) 1 0: EVEX_Vpcmpub_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpub_kr_k1_zmm_zmmm512_imm8;
    COMPARE_U16 (Same) 1 0: EVEX_Vpcmpuw_kr_k1_ymm_ymmm256_imm8 EVEX_Vpcmpuw_kr_k1_zmm_zmmm512_imm8;
    COMPARE_U32 (Same) 1 4: EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8 EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
    COMPARE_U64 (Same) 1 8: EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8 EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8;
    TEST_8 (Same) 1 0: EVEX_Vptestmb_kr_k1_ymm_ymmm256 EVEX_Vptestmb_kr_k1_zmm_zmmm512;
    TO_MASK_8 (Same) _ 0: EVEX_Vpmovb2m_kr_ymm EVEX_Vpmovb2m_kr_zmm;
}

// The second source if the mask, the third source, is set, else the first.
opcodes! { masked_by_third:
    BLEND_8 (Same) 1 0: EVEX_Vpblendmb_ymm_k1z_ymm_ymmm256 EVEX_Vpblendmb_zmm_k1z_zmm_zmmm512;
    BLEND_16 (Same) 1 0: EVEX_Vpblendmw_ymm_k1z_ymm_ymmm256 EVEX_Vpblendmw_zmm_k1z_zmm_zmmm512;
    BLEND_32 (Same) 1 4: EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32 EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32;
    BLEND_64 (Same) 1 8: EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64 EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64;
}

// The first source if the mask, the second source, is set, else 0.
opcodes! { cleared_by_second:
    MOVE_OR_ZERO_8 (Same) _ 0: EVEX_Vmovdqu8_ymm_k1z_ymmm256 EVEX_Vmovdqu8_zmm_k1z_zmmm512;
    MOVE_OR_ZERO_16 (Same) _ 0: EVEX_Vmovdqu16_ymm_k1z_ymmm256 EVEX_Vmovdqu16_zmm_k1z_zmmm512;
    MOVE_OR_ZERO_32 (Same) _ 0: EVEX_Vmovdqu32_ymm_k1z_ymmm256 EVEX_Vmovdqu32_zmm_k1z_zmmm512;
    MOVE_OR_ZERO_64 (Same) _ 0: EVEX_Vmovdqu64_ymm_k1z_ymmm256 EVEX_Vmovdqu64_zmm_k1z_zmmm512;
}

// Instructions that overwrite their first source:
// - ternary logic: bitwise, with the truth table as immediate;
// - `vfixupimm`: for each lane the first or the second source, by the class of the float in the second
//   and the table in the third;
// - permutation of the lanes of the first and third sources, by the indices in the second.
opcodes! { tied_to_first:
    TERNARY_LOGIC (Same) 2 8: EVEX_Vpternlogq_ymm_k1z_ymm_ymmm256b64_imm8
        EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8;
    FIX_UP_F32 (Same) 2 4: EVEX_Vfixupimmps_ymm_k1z_ymm_ymmm256b32_imm8
        EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
    FIX_UP_F64 (Same) 2 8: EVEX_Vfixupimmpd_ymm_k1z_ymm_ymmm256b64_imm8
        EVEX_Vfixupimmpd_zmm_k1z_zmm_zmmm512b64_imm8_sae;
    PERMUTE_TWO_16 (Same) _ 0: EVEX_Vpermt2w_ymm_k1z_ymm_ymmm256 EVEX_Vpermt2w_zmm_k1z_zmm_zmmm512;
    PERMUTE_TWO_32 (Same) _ 4: EVEX_Vpermt2ps_ymm_k1z_ymm_ymmm256b32 EVEX_Vpermt2ps_zmm_k1z_zmm_zmmm512b32;
    PERMUTE_TWO_64 (Same) _ 8: EVEX_Vpermt2pd_ymm_k1z_ymm_ymmm256b64 EVEX_Vpermt2pd_zmm_k1z_zmm_zmmm512b64;
}

macro_rules! mask_opcodes {
    ($($name:ident $code:ident;)*) => {
        impl Opcode<Avx512> {
            $(pub(super) const $name: Opcode<Avx512> =
                Opcode { class: Class::Mask, ..Opcode::new([Code::$code; 2], Widths::Same) };)*
        }
    };
}

// Instructions on masks. Joining instructions put the bits of the second source below those of the first.
mask_opcodes! {
    MASK_AND VEX_Kandq_kr_kr_kr;
    MASK_OR VEX_Korq_kr_kr_kr;
    MASK_XOR VEX_Kxorq_kr_kr_kr;
    MASK_EQUAL VEX_Kxnorq_kr_kr_kr;
    MASK_NOT VEX_Knotq_kr_kr;
    MASK_NOT_AND VEX_Kandnq_kr_kr_kr;
    MASK_JOIN_8 VEX_Kunpckbw_kr_kr_kr;
    MASK_JOIN_16 VEX_Kunpckwd_kr_kr_kr;
    MASK_JOIN_32 VEX_Kunpckdq_kr_kr_kr;
    MASK_SHIFT_RIGHT VEX_Kshiftrq_kr_kr_imm8;
}

impl Opcode<Avx512> {
    /// Stores all 64 bits of a mask.
    pub(super) const STORE_MASK: Opcode<Avx512> =
        Opcode::new([Code::VEX_Kmovq_m64_kr; 2], Widths::Same);

    /// Gathers entries of a table. The first source holds the indices, the second is the write mask, which
    /// the instruction clears. The result must not share a register with the indices.
    pub(super) const GATHER_32: Opcode<Avx512> = Opcode {
        result: ResultConstraint::EarlyClobber,
        mask: Some(1),
        ..Opcode::new(
            [Code::EVEX_Vpgatherdd_ymm_k1_vm32y, Code::EVEX_Vpgatherdd_zmm_k1_vm32z],
            Widths::Same,
        )
    };

    /// Like [`Opcode::GATHER_32`], for entries of 64 bits.
    pub(super) const GATHER_64: Opcode<Avx512> = Opcode {
        code: [Code::EVEX_Vpgatherqq_ymm_k1_vm64y, Code::EVEX_Vpgatherqq_zmm_k1_vm64z],
        ..Opcode::GATHER_32
    };
}
