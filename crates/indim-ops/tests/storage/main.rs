//! Conversions of storage types, compared with those of ml_dtypes (`record.py` writes `recorded.txt`) and
//! with a naive definition that searches the nearest of all values.

use indim_ops::elements::*;
use indim_ops::{ConvertTo, DType, Element, conversion_through};

const RECORDED: &str = include_str!("recorded.txt");

/// The words after these two in the record.
fn recorded(name: &str, what: &str) -> Vec<&'static str> {
    let mut lines = RECORDED.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let line = lines.find(|words| words[..2] == [name, what]).unwrap();
    line[2..].to_vec()
}

/// The hash of bytes (Fowler, Noll and Vo, FNV-1a).
fn digest(bytes: impl IntoIterator<Item = u8>) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The words of SplitMix64 from the state 1.
fn random_bits() -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    core::iter::repeat_with(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

/// Like `f64_inputs` of `record.py`.
fn f64_inputs() -> impl Iterator<Item = f64> {
    random_bits().take(20_000).map(|bits| {
        let exponent = (bits >> 52) % 48 + 1023 - 26;
        f64::from_bits(bits & (1 << 63 | ((1 << 52) - 1)) | exponent << 52)
    })
}

macro_rules! for_each_float8 {
    ($check:ident) => {
        $check::<f8e4m3fn>();
        $check::<f8e5m2>();
        $check::<f8e4m3fnuz>();
        $check::<f8e5m2fnuz>();
        $check::<f8e4m3b11fnuz>();
    };
}

/// An 8-bit float with the conversions of these tests.
trait Float8: Element + ConvertTo<f32> {
    fn of_bits(bits: u8) -> Self;
    fn bits(self) -> u8;
    fn of_f64(value: f64) -> Self;
    fn of_f32(value: f32) -> Self;
    fn of_f16(value: f16) -> Self;
    fn of_i16(value: i16) -> Self;
    fn of_i64(value: i64) -> Self;
}

macro_rules! float8 {
    ($($type:ident)*) => {$(
        impl Float8 for $type {
            fn of_bits(bits: u8) -> Self { Self::from_bits(bits) }
            fn bits(self) -> u8 { self.to_bits() }
            fn of_f64(value: f64) -> Self { value.convert() }
            fn of_f32(value: f32) -> Self { value.convert() }
            fn of_f16(value: f16) -> Self { value.convert() }
            fn of_i16(value: i16) -> Self { value.convert() }
            fn of_i64(value: i64) -> Self { value.convert() }
        }
    )*};
}

float8! { f8e4m3fn f8e5m2 f8e4m3fnuz f8e5m2fnuz f8e4m3b11fnuz }

#[test]
fn values_are_those_of_ml_dtypes() {
    fn check<T: Float8>() {
        let values = (0..=255).map(|bits| {
            let value: f32 = T::of_bits(bits).convert();
            format!("{:x}", value.to_bits())
        });
        assert_eq!(values.collect::<Vec<_>>(), recorded(T::DTYPE.name(), "widened"));
    }
    for_each_float8!(check);
    let i4s = (0..16).map(|bits| i4::from_bits(bits).to_string()).collect::<Vec<_>>();
    assert_eq!(i4s, recorded("i4", "widened"));
    let u4s = (0..16).map(|bits| u4::from_bits(bits).to_string()).collect::<Vec<_>>();
    assert_eq!(u4s, recorded("u4", "widened"));
}

#[test]
fn numbers_narrow_as_in_ml_dtypes() {
    fn check<T: Float8>() {
        let every = || 0..=u16::MAX;
        let found = [
            ("f16", digest(every().map(|bits| T::of_f16(f16::from_bits(bits)).bits()))),
            ("bf16", digest(every().map(|bits| T::of_f32(bf16::from_bits(bits).to_f32()).bits()))),
            ("f64", digest(f64_inputs().map(|value| T::of_f64(value).bits()))),
            ("i16", digest(every().map(|bits| T::of_i16(bits as i16).bits()))),
        ];
        for (source, digest) in found {
            assert_eq!([&*digest], *recorded(T::DTYPE.name(), source), "{} {source}", T::DTYPE);
        }
    }
    for_each_float8!(check);
    let every = || (0..=u16::MAX).map(|bits| bits as i16);
    let i4s = digest(every().map(|number| ConvertTo::<i4>::convert(number).to_bits()));
    assert_eq!([&*i4s], *recorded("i4", "i16"));
    let u4s = digest(every().map(|number| ConvertTo::<u4>::convert(number).to_bits()));
    assert_eq!([&*u4s], *recorded("u4", "i16"));
}

/// The nearest of all finite values, ties to even bits.
fn naive<T: Float8>(value: f64) -> f64 {
    let widened = |bits| f64::from(ConvertTo::<f32>::convert(T::of_bits(bits)));
    let finite = (0..=255u8).filter(|&bits| widened(bits).is_finite());
    let rank = |bits: u8| ((widened(bits) - value).abs(), bits & 1);
    widened(finite.min_by(|&x, &y| rank(x).partial_cmp(&rank(y)).unwrap()).unwrap())
}

/// At and next to the midpoint of each two neighbours, in 64 and in 32 bits: one rounding, ties to even.
#[test]
fn ties_are_rounded_to_even_once() {
    fn check<T: Float8>() {
        let widened = |bits| f64::from(ConvertTo::<f32>::convert(T::of_bits(bits)));
        let mut values: Vec<f64> = (0..=255).map(widened).filter(|x| x.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        for pair in values.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            for value in [middle.next_down(), middle, middle.next_up()] {
                let found = f64::from(ConvertTo::<f32>::convert(T::of_f64(value)));
                assert_eq!(found, naive::<T>(value), "{} {value:e}", T::DTYPE);
            }
            let middle = middle as f32;
            for value in [middle.next_down(), middle, middle.next_up()] {
                let found = f64::from(ConvertTo::<f32>::convert(T::of_f32(value)));
                assert_eq!(found, naive::<T>(f64::from(value)), "{} {value:e}", T::DTYPE);
            }
        }
    }
    for_each_float8!(check);
}

#[test]
fn overflow_gives_infinity_or_the_nan_of_the_type() {
    // Half a unit above the largest number is a tie: to the even neighbour, which is the number or beyond.
    assert_eq!(f8e4m3fn::from_f64(464.0).to_bits(), 0x7e);
    assert_eq!(f8e4m3fn::from_f64(464.0f64.next_up()).to_bits(), 0x7f);
    assert_eq!(f8e4m3fn::from_f64(f64::NEG_INFINITY).to_bits(), 0x7f, "canonical, without a sign");
    assert_eq!(f8e5m2::from_f64(61440.0f64.next_down()).to_bits(), 0x7b);
    assert_eq!(f8e5m2::from_f64(-61440.0).to_bits(), 0xfc);
    assert_eq!(f8e4m3fnuz::from_f64(248.0f64.next_down()).to_bits(), 0x7f);
    assert_eq!(f8e4m3fnuz::from_f64(-248.0).to_bits(), 0x80);
    assert_eq!(f8e5m2fnuz::from_f64(f64::INFINITY).to_bits(), 0x80);
    assert_eq!(f8e4m3b11fnuz::from_f64(31.0).to_bits(), 0x80);
    assert_eq!(f8e4m3fn::from_f64(-f64::NAN).to_bits(), 0x7f);
    assert_eq!(f8e5m2::from_f64(-f64::NAN).to_bits(), 0x7e);
}

#[test]
fn zeros_keep_their_sign_in_types_that_have_it() {
    assert_eq!(f8e4m3fn::from_f64(-0.0).to_bits(), 0x80);
    assert_eq!(f8e5m2::from_f64(-1e-300).to_bits(), 0x80);
    assert_eq!(f8e4m3fnuz::from_f64(-0.0).to_bits(), 0);
    assert_eq!(f8e5m2fnuz::from_f64(-1e-300).to_bits(), 0);
}

/// A large integer rounds twice, to `f32` and to 8 bits. The first rounding changes no result.
#[test]
fn integers_are_rounded_as_if_once() {
    fn check<T: Float8>() {
        let random = random_bits().take(20_000).map(|bits| bits as i64 >> (bits % 61));
        for number in random.chain([i64::MIN, i64::MAX, 1 << 24, (1 << 24) + 1]) {
            // Below 2^53 exact; above it beyond every 8-bit float.
            assert_eq!(T::of_i64(number).bits(), T::of_f64(number as f64).bits(), "{number}");
        }
    }
    for_each_float8!(check);
}

#[test]
fn floats_saturate_in_4_bit_integers_and_integers_wrap() {
    let to_i4 = |value: f64| i4::from_f64(value).to_f64();
    let to_u4 = |value: f64| u4::from_f64(value).to_f64();
    assert_eq!([7.9, -8.9, 9.0, 1e300, -1e300].map(to_i4), [7.0, -8.0, 7.0, 7.0, -8.0]);
    assert_eq!([f64::NAN, -0.9, 15.99, 16.0, -1.0].map(to_u4), [0.0, 0.0, 15.0, 15.0, 0.0]);
    // An `f32` would round it to 1.
    assert_eq!(to_i4(1.0f64.next_down()), 0.0);
    assert_eq!(ConvertTo::<i4>::convert(-9i64).to_f64(), 7.0);
    assert_eq!(ConvertTo::<i4>::convert(u4::from_bits(15)).to_f64(), -1.0);
    assert_eq!(ConvertTo::<u8>::convert(i4::from_bits(15)), 255);
    // Bits beyond the low four are ignored.
    assert_eq!((i4::from_bits(0x78).to_f64(), u4::from_bits(0xf1).to_f64()), (-8.0, 1.0));
}

#[test]
fn compositions_end_at_their_types() {
    for (&from, &to) in
        DType::ALL.iter().flat_map(|from| DType::ALL.iter().map(move |to| (from, to)))
    {
        let mut at = from;
        let mut steps = 1;
        while let Some(through) = conversion_through(at, to) {
            assert!(conversion_through(at, through).is_none(), "{at} {through}");
            assert!(steps < 4, "{from} {to}");
            (at, steps) = (through, steps + 1);
        }
    }
}
