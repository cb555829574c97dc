//! The operands of every operation: special values of each element type in all combinations, then
//! pseudo-random values.

use indim_graph::Array;
use indim_ops::{ArrayData, DType, bf16, f16};

/// Number of combinations of random values.
const RANDOM: usize = 512;

/// Floats at the edges of operations; those out of range become infinities and zeros of the narrower types.
/// The first few are enough for operations of three operands, and for the parts of complex numbers.
const FLOATS: [f64; 48] = [
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
    -3.0,
    1e-310,
    1e300,
    -0.5,
    2.0,
    2.5,
    -2.5,
    3.0,
    1.0 / 3.0,
    core::f64::consts::FRAC_PI_2,
    -core::f64::consts::PI,
    0.999_999_9,
    1.000_000_1,
    -1.000_000_000_000_1,
    1e-8,
    -3e-5,
    7.0,
    16.0,
    -19.25,
    88.7,
    -103.9,
    709.7,
    -745.1,
    127.5,
    255.5,
    65_504.0,
    -65_536.0,
    8_388_609.0,
    2_147_483_648.0,
    -9_223_372_036_854_775_808.0,
    1e22,
    1.2e-38,
    -1e-45,
    3.4e38,
    2.3e-308,
    -5e-324,
    f64::MAX,
];

/// Integers at the edges of operations; narrower types take their low bits.
const INTEGERS: [u64; 21] = [
    0,
    1,
    u64::MAX,
    2,
    3,
    7,
    8,
    1 << 7,
    1 << 15,
    1 << 31,
    1 << 63,
    (1 << 7) - 1,
    (1 << 15) - 1,
    (1 << 31) - 1,
    (1 << 63) - 1,
    33,
    100,
    u64::MAX - 1,
    u64::MAX - 6,
    (1 << 53) + 1,
    0x0123_4567_89ab_cdef,
];

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Half of moderate size, half of every size that 32 bits hold.
    fn float(&mut self) -> f64 {
        let size = if self.bits().is_multiple_of(2) { 3 } else { (self.bits() % 250) as i32 - 125 };
        (self.bits() as i64 as f64) * 2f64.powi(size - 63)
    }
}

/// The little-endian bytes of a float of one of the types.
fn float_bytes(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::F16 => f16::from_f64(value).to_bits().to_le_bytes().to_vec(),
        DType::Bf16 => bf16::from_f64(value).to_bits().to_le_bytes().to_vec(),
        DType::F32 => {
            // Not by a conversion, which need not keep the sign of a NaN.
            let magnitude = if value.is_nan() { f32::NAN } else { value.abs() as f32 };
            let sign = (value.to_bits() >> 32) as u32 & 1 << 31;
            (magnitude.to_bits() | sign).to_le_bytes().to_vec()
        }
        _ => value.to_bits().to_le_bytes().to_vec(),
    }
}

/// The bytes of the special values, of at most `limit` floats or parts.
fn special(dtype: DType, limit: usize) -> Vec<Vec<u8>> {
    let floats = |dtype, limit: usize| -> Vec<Vec<u8>> {
        FLOATS.iter().take(limit).map(|&value| float_bytes(dtype, value)).collect()
    };
    let pairs = |part| {
        let parts = floats(part, limit.min(14));
        let with_each =
            |re: &Vec<u8>| parts.iter().map(|im| [&re[..], im].concat()).collect::<Vec<_>>();
        parts.iter().flat_map(with_each).collect()
    };
    match dtype {
        DType::Bool => vec![vec![0], vec![1]],
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => floats(dtype, limit),
        DType::C64 => pairs(DType::F32),
        DType::C128 => pairs(DType::F64),
        _ => INTEGERS.iter().map(|value| value.to_le_bytes()[..dtype.size()].to_vec()).collect(),
    }
}

fn random(dtype: DType, random: &mut Random) -> Vec<u8> {
    match dtype {
        DType::Bool => vec![(random.bits() % 2) as u8],
        DType::F16 | DType::Bf16 | DType::F32 | DType::F64 => float_bytes(dtype, random.float()),
        DType::C64 | DType::C128 => {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            [float_bytes(part, random.float()), float_bytes(part, random.float())].concat()
        }
        _ => random.bits().to_le_bytes()[..dtype.size()].to_vec(),
    }
}

/// One argument for each element type: all combinations of special values, then random ones.
pub(crate) fn combined(dtypes: &[DType]) -> Vec<Array> {
    let limit = if dtypes.len() < 3 { FLOATS.len() } else { 16 };
    let values: Vec<Vec<Vec<u8>>> = dtypes.iter().map(|&dtype| special(dtype, limit)).collect();
    let count: usize = values.iter().map(Vec::len).product();
    let mut generator = Random(1);
    let mut stride = 1;
    let mut arguments = Vec::new();
    for (&dtype, values) in dtypes.iter().zip(&values) {
        let chosen = (0..count).flat_map(|index| values[index / stride % values.len()].clone());
        let more = (0..RANDOM).flat_map(|_| random(dtype, &mut generator));
        let bytes: Vec<u8> = chosen.chain(more).collect();
        stride *= values.len();
        let data = ArrayData::from_le_bytes(dtype, &bytes);
        arguments.push(Array::from_data([count + RANDOM], data).unwrap());
    }
    arguments
}
