//! Lowered divisions by constants, compared with `evaluate`.

use indim_ops::DType;

use super::*;
use crate::builder::BodyBuilder;
use crate::scalar::evaluate;

/// Small divisors, powers of two and their neighbours, and the negatives of these, as 64-bit words.
fn divisors(width: u32) -> Vec<u64> {
    let mut divisors: Vec<u64> =
        (0..=17).chain([25, 60, 100, 127, 255, 641, 1000, 6700417]).collect();
    let powers = (0..width).map(|power| 1u64 << power);
    divisors.extend(powers.flat_map(|power| [power.wrapping_sub(1), power, power + 1]));
    let negative: Vec<u64> = divisors.iter().map(|divisor| divisor.wrapping_neg()).collect();
    divisors.extend(negative);
    divisors
}

/// Dividends: multiples of the divisor and limits of the type, each with its neighbours.
fn numbers(divisor: u64, width: u32) -> Vec<u64> {
    let multiples =
        [0, 1, 2, 3, 1000, u64::MAX / divisor.max(1), (1 << (width - 1)) / divisor.max(1)];
    let multiples = multiples.map(|times| divisor.wrapping_mul(times));
    let ends = [1 << (width - 1), u64::MAX >> (64 - width), 0x1234_5678_9abc_def1];
    multiples
        .into_iter()
        .chain(ends)
        .flat_map(|x| [x.wrapping_sub(1), x, x.wrapping_add(1)])
        .collect()
}

fn check(dtype: DType, primitive: Primitive, divisor: u64, numbers: impl Iterator<Item = u64>) {
    let (lane, _) = LaneType::of_element(dtype);
    let unused = 64 - 8 * lane.size();
    let divisor = divisor << unused >> unused;
    let mut builder = BodyBuilder::default();
    let [x, _] = builder.input(dtype);
    let result = builder.constant(lane, divisor);
    let result = builder.push(primitive, lane, &[x, result]);
    builder.output(dtype, [result]);
    let body = builder.finish();
    let divides =
        |it: &crate::SsaInstruction| matches!(it.primitive, Primitive::Div | Primitive::Rem);
    assert!(!body.instructions.iter().any(divides), "{body}");
    for x in numbers.map(|x| x << unused >> unused) {
        let expected = evaluate(primitive, lane, lane, [x, divisor, 0], &[]);
        assert_eq!(body.interpret(&[[x, 0]]), [[expected, 0]], "{x:#x} by {divisor:#x}\n{body}");
    }
}

#[test]
fn quotients_and_remainders_are_exact() {
    for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_integer()) {
        let width = 8 * dtype.size() as u32;
        for primitive in [Primitive::Div, Primitive::Rem] {
            for divisor in divisors(width) {
                check(dtype, primitive, divisor, numbers(divisor, width).into_iter());
            }
        }
    }
}

#[test]
fn all_narrow_numbers_are_divided_exactly() {
    for dtype in [DType::I8, DType::U8] {
        for divisor in 0..256 {
            check(dtype, Primitive::Div, divisor, 0..256);
            check(dtype, Primitive::Rem, divisor, 0..256);
        }
    }
    for dtype in [DType::I16, DType::U16] {
        for divisor in [3, 7, 10, 641, 32_767, 32_769, 65_533] {
            check(dtype, Primitive::Div, divisor, 0..65_536);
        }
    }
}
