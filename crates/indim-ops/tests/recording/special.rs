//! Special elements as words, one for each lane; the tests of `indim-codegen` use them too.

use indim_ops::{DType, DTypeClass, bf16, f16};

/// The number of lanes of an element.
pub(crate) fn lane_count(dtype: DType) -> usize {
    if dtype.class() == DTypeClass::Complex { 2 } else { 1 }
}

/// Special floats, representable in any of the types.
const FLOATS: [f64; 28] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    -f64::NAN,
    0.5,
    -1.5,
    18.0,
    -3.25,
    1e-310,
    -1e200,
    -5e-324,
    750.0,
    1e308,
    2.0,
    3.0,
    -6e-8,
    1e-5,
    0.1,
    255.5,
    -32_768.0,
    65_519.0,
    2_147_483_647.0,
    -9_223_372_036_854_775_808.0,
    1e19,
];

/// The number of special floats for the parts of complex numbers in operations of several operands.
const PARTS: usize = 12;

/// Special integers; narrower types take their low bits.
const INTEGERS: [u64; 20] = [
    0,
    1,
    2,
    7,
    8,
    33,
    100,
    u64::MAX,
    u64::MAX - 6,
    1 << 7,
    1 << 15,
    1 << 31,
    1 << 63,
    (1 << 15) - 1,
    (1 << 31) - 1,
    (1 << 63) - 1,
    2049 << 30 | 1,
    (257 << 45) + 1,
    (1 << 53) + 1,
    0x0123_4567_89ab_cdef,
];

/// Special elements of a type; fewer complex numbers if an operation has several `operands`.
pub(crate) fn special_values(dtype: DType, operands: usize) -> Vec<Vec<u64>> {
    let parts = if operands > 1 { PARTS } else { FLOATS.len() };
    let pairs = |part: DType| {
        let parts = float_words(part, &[]).into_iter().take(parts).collect::<Vec<u64>>();
        parts.iter().flat_map(|&re| parts.iter().map(move |&im| vec![re, im])).collect()
    };
    let words = match dtype {
        DType::C64 => return pairs(DType::F32),
        DType::C128 => return pairs(DType::F64),
        DType::Bool => vec![0, 1],
        // NaNs with payloads, some signalling; the ends of the subnormals; the largest number.
        DType::F16 => float_words(dtype, &[0x7c01, 0xfe12, 1, 0x83ff, 0x0400, 0x7bff]),
        DType::Bf16 => float_words(dtype, &[0x7f81, 0xffc1, 1, 0x807f, 0x0080, 0x7f7f]),
        DType::F32 => float_words(dtype, &[0x7fa0_0001, 0xffc1_2345, 0x7f7f_ffff]),
        DType::F64 => float_words(dtype, &[0x7ff4_0000_0000_0001, 0xfff8_1234_0000_0000]),
        integer => {
            let unused = 64 - 8 * integer.size() as u32;
            INTEGERS.map(|word| word << unused >> unused).to_vec()
        }
    };
    words.into_iter().map(|word| vec![word]).collect()
}

/// The special floats as words of their type, and `more`.
fn float_words(dtype: DType, more: &[u64]) -> Vec<u64> {
    let word = |x: f64| {
        let magnitude = match dtype {
            DType::F16 => f16::from_f64(x.abs()).to_bits().into(),
            DType::Bf16 => bf16::from_f64(x.abs()).to_bits().into(),
            // By bits, because a conversion need not keep the sign of a NaN.
            DType::F32 if x.is_nan() => f32::NAN.to_bits().into(),
            DType::F32 => (x.abs() as f32).to_bits().into(),
            _ => x.abs().to_bits(),
        };
        magnitude | u64::from(x.is_sign_negative()) << (8 * dtype.size() - 1)
    };
    FLOATS.into_iter().map(word).chain(more.iter().copied()).collect()
}
