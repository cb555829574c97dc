//! The table of instructions that only AVX2 has, with encodings for 128 and 256 bits.

use iced_x86::Code;

use super::super::opcode::{Opcode, Widths, memory_source};
use super::Avx2;
use indim_codegen::machine::ResultConstraint;

macro_rules! opcodes {
    ($($name:ident ($($widths:tt)*) $memory:tt: $x:ident $y:ident;)*) => {
        impl Opcode<Avx2> {
            $(pub(super) const $name: Opcode<Avx2> =
                Opcode::new([Code::$x, Code::$y], Widths::$($widths)*)
                    .with_memory(memory_source!($memory), 0);)*
        }
    };
}

opcodes! {
    COMPARE_F32 (Same) 1: VEX_Vcmpps_xmm_xmm_xmmm128_imm8 VEX_Vcmpps_ymm_ymm_ymmm256_imm8;
    COMPARE_F64 (Same) 1: VEX_Vcmppd_xmm_xmm_xmmm128_imm8 VEX_Vcmppd_ymm_ymm_ymmm256_imm8;
    // The second source if the top bit of the third is set, else the first.
    BLEND_8 (Same) 1: VEX_Vpblendvb_xmm_xmm_xmmm128_xmm VEX_Vpblendvb_ymm_ymm_ymmm256_ymm;
    BLEND_32 (Same) 1: VEX_Vblendvps_xmm_xmm_xmmm128_xmm VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
    BLEND_64 (Same) 1: VEX_Vblendvpd_xmm_xmm_xmmm128_xmm VEX_Vblendvpd_ymm_ymm_ymmm256_ymm;
    BLEND_CONSTANT_32 (Same) 1: VEX_Vpblendd_xmm_xmm_xmmm128_imm8 VEX_Vpblendd_ymm_ymm_ymmm256_imm8;
    EQUAL_8 (Same) 1: VEX_Vpcmpeqb_xmm_xmm_xmmm128 VEX_Vpcmpeqb_ymm_ymm_ymmm256;
    EQUAL_16 (Same) 1: VEX_Vpcmpeqw_xmm_xmm_xmmm128 VEX_Vpcmpeqw_ymm_ymm_ymmm256;
    EQUAL_32 (Same) 1: VEX_Vpcmpeqd_xmm_xmm_xmmm128 VEX_Vpcmpeqd_ymm_ymm_ymmm256;
    EQUAL_64 (Same) 1: VEX_Vpcmpeqq_xmm_xmm_xmmm128 VEX_Vpcmpeqq_ymm_ymm_ymmm256;
    GREATER_8 (Same) 1: VEX_Vpcmpgtb_xmm_xmm_xmmm128 VEX_Vpcmpgtb_ymm_ymm_ymmm256;
    GREATER_16 (Same) 1: VEX_Vpcmpgtw_xmm_xmm_xmmm128 VEX_Vpcmpgtw_ymm_ymm_ymmm256;
    GREATER_32 (Same) 1: VEX_Vpcmpgtd_xmm_xmm_xmmm128 VEX_Vpcmpgtd_ymm_ymm_ymmm256;
    GREATER_64 (Same) 1: VEX_Vpcmpgtq_xmm_xmm_xmmm128 VEX_Vpcmpgtq_ymm_ymm_ymmm256;
    SHIFT_BYTES_RIGHT (Same) _: VEX_Vpsrldq_xmm_xmm_imm8 VEX_Vpsrldq_ymm_ymm_imm8;
    PACK_SIGNED_16 (Same) 1: VEX_Vpacksswb_xmm_xmm_xmmm128 VEX_Vpacksswb_ymm_ymm_ymmm256;
    PACK_SIGNED_32 (Same) 1: VEX_Vpackssdw_xmm_xmm_xmmm128 VEX_Vpackssdw_ymm_ymm_ymmm256;
    PACK_UNSIGNED_16 (Same) 1: VEX_Vpackuswb_xmm_xmm_xmmm128 VEX_Vpackuswb_ymm_ymm_ymmm256;
    PACK_UNSIGNED_32 (Same) 1: VEX_Vpackusdw_xmm_xmm_xmmm128 VEX_Vpackusdw_ymm_ymm_ymmm256;
    SHUFFLE_F32 (Same) 1: VEX_Vshufps_xmm_xmm_xmmm128_imm8 VEX_Vshufps_ymm_ymm_ymmm256_imm8;
    UNPACK_LOW_32 (Same) 1: VEX_Vunpcklps_xmm_xmm_xmmm128 VEX_Vunpcklps_ymm_ymm_ymmm256;
    UNPACK_HIGH_32 (Same) 1: VEX_Vunpckhps_xmm_xmm_xmmm128 VEX_Vunpckhps_ymm_ymm_ymmm256;
    UNPACK_LOW_64 (Same) 1: VEX_Vunpcklpd_xmm_xmm_xmmm128 VEX_Vunpcklpd_ymm_ymm_ymmm256;
    UNPACK_HIGH_64 (Same) 1: VEX_Vunpckhpd_xmm_xmm_xmmm128 VEX_Vunpckhpd_ymm_ymm_ymmm256;
    PERMUTE_64 (Same) 0: VEX_Vpermq_ymm_ymmm256_imm8 VEX_Vpermq_ymm_ymmm256_imm8;
    PERMUTE_128 (Same) 1: VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 VEX_Vperm2i128_ymm_ymm_ymmm256_imm8;
    EXTRACT_128 (Narrows(2)) _: VEX_Vextracti128_xmmm128_ymm_imm8 VEX_Vextracti128_xmmm128_ymm_imm8;
    INSERT_128 (HalfSource) 1: VEX_Vinserti128_ymm_ymm_xmmm128_imm8 VEX_Vinserti128_ymm_ymm_xmmm128_imm8;
}

impl Opcode<Avx2> {
    /// Gathers entries of a table. The first source holds the indices, the second is a mask, which the
    /// instruction clears. The result must not share a register with them.
    pub(super) const GATHER_32: Opcode<Avx2> = Opcode {
        result: ResultConstraint::EarlyClobber,
        ..Opcode::new(
            [Code::VEX_Vpgatherdd_xmm_vm32x_xmm, Code::VEX_Vpgatherdd_ymm_vm32y_ymm],
            Widths::Same,
        )
    };

    /// Like [`Opcode::GATHER_32`], for entries of 64 bits.
    pub(super) const GATHER_64: Opcode<Avx2> = Opcode {
        code: [Code::VEX_Vpgatherqq_xmm_vm64x_xmm, Code::VEX_Vpgatherqq_ymm_vm64y_ymm],
        ..Opcode::<Avx2>::GATHER_32
    };
}
