//! Scans: their order, and the results of each operation for special elements.

use indim_ops::operations::{Add, And, Fmax, Fmin, Max, Min, Mul, Or, Xor};
use indim_ops::{
    DType, Fold, ReduceOp, ScanElement, ScanVisitor, bf16, c64, f16, scan, scan_accumulator,
    visit_scan,
};

/// Pseudo-random numbers (SplitMix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Numbers of very different magnitudes and both signs.
fn numbers(count: usize) -> Vec<f64> {
    let mut state = count as u64;
    let number = |_| {
        let bits = random(&mut state);
        let exponent = (bits % 61) as i32 - 30;
        ((bits >> 11) as i64 - (1 << 52)) as f64 * 2f64.powi(exponent - 52)
    };
    (0..count).map(number).collect()
}

fn chain(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| sum + term)
}

/// The total of a run, a block or a group, from its elements: the chain of the totals of its parts.
fn total(x: &[f64], parts: &[usize]) -> f64 {
    match parts.split_last() {
        Some((&part, smaller)) => chain(x.chunks(part).map(|x| total(x, smaller))),
        None => chain(x.iter().copied()),
    }
}

/// The sum up to one position, from the definition: the chains of the groups, blocks and runs that end before
/// it, and of its own run.
fn sum_up_to(x: &[f64]) -> f64 {
    let end = x.len() - 1;
    let [run, block, group] = [16, 512, 1 << 18].map(|size| end / size * size);
    let groups = chain(x[..group].chunks(1 << 18).map(|x| total(x, &[16, 512])));
    let blocks = chain(x[group..block].chunks(512).map(|x| total(x, &[16])));
    let runs = chain(x[block..run].chunks(16).map(|x| total(x, &[])));
    groups + (blocks + (runs + chain(x[run..].iter().copied())))
}

#[test]
fn sums_are_those_of_nested_runs() {
    let x = numbers(600_000);
    let results = scan::<Add, f64, f64>(&x, false);
    let near = |place: usize| place.saturating_sub(3)..(place + 3).min(x.len());
    let borders = [0, 16, 32, 500, 512, 1024, 5000, 1 << 18, (1 << 18) + 512, 1 << 19, 599_997];
    for position in borders.into_iter().flat_map(near) {
        let expected = sum_up_to(&x[..=position]);
        assert_eq!(results[position].to_bits(), expected.to_bits(), "position {position}");
    }
}

#[test]
fn an_exclusive_scan_is_the_inclusive_one_moved() {
    let x = numbers(262_144 + 1030);
    let inclusive = scan::<Add, f64, f64>(&x, false);
    let exclusive = scan::<Add, f64, f64>(&x, true);
    assert_eq!(exclusive[0].to_bits(), 0);
    assert!(inclusive.iter().zip(&exclusive[1..]).all(|(x, y)| x.to_bits() == y.to_bits()));
    let x: Vec<f32> = x[..3000].iter().map(|&x| x as f32).collect();
    let (inclusive, exclusive) =
        (scan::<Mul, f32, f64>(&x, false), scan::<Mul, f32, f64>(&x, true));
    assert_eq!(exclusive[0], 1.0);
    assert!(inclusive.iter().zip(&exclusive[1..]).all(|(x, y)| x.to_bits() == y.to_bits()));
}

#[test]
fn sums_of_elements_that_are_not_negative_never_fall() {
    let mut state = 7;
    let x: Vec<f32> =
        (0..400_000).map(|_| (random(&mut state) >> 40) as f32 / 16_777_216.0).collect();
    let results = scan::<Add, f32, f64>(&x, false);
    assert!(results.windows(2).all(|pair| pair[0] <= pair[1]));
    let wide: Vec<f64> = numbers(300_000).iter().map(|x| x.abs()).collect();
    assert!(scan::<Add, f64, f64>(&wide, false).windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn narrow_floats_are_rounded_at_each_result() {
    let ones = vec![f16::from_f64(1.0); 3000];
    let results = scan::<Add, f16, f64>(&ones, false);
    for (position, result) in results.iter().enumerate() {
        assert_eq!(result.to_bits(), f16::from_f64(position as f64 + 1.0).to_bits());
    }
    let halves = vec![bf16::from_f64(0.5); 300];
    assert_eq!(scan::<Add, bf16, f64>(&halves, false)[299].to_f64(), 150.0);
}

#[test]
fn special_elements() {
    let bits = |results: Vec<f32>| results.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    let nan = f32::NAN.to_bits();
    assert_eq!(bits(scan::<Add, f32, f64>(&[-0.0, -0.0], false)), [0, 0]);
    let infinite = [1.0, f32::INFINITY, -f32::INFINITY, 1.0];
    let sums = bits(scan::<Add, f32, f64>(&infinite, false));
    assert_eq!(sums, [1f32.to_bits(), f32::INFINITY.to_bits(), nan, nan]);
    let large = bits(scan::<Max, f32, f32>(&[-1.0, -0.0, 0.0, -f32::NAN, 9.0], false));
    assert_eq!(large, [(-1f32).to_bits(), (-0f32).to_bits(), 0, nan, nan]);
    let small = bits(scan::<Min, f32, f32>(&[0.0, -0.0, 0.0], true));
    assert_eq!(small, [f32::INFINITY.to_bits(), 0, (-0f32).to_bits()]);
    assert_eq!(scan::<Add, i8, i8>(&[100, 100, 100], false), [100, -56, 44]);
    assert!(scan::<Add, f32, f64>(&[], true).is_empty());
}

/// The element type of a scan, by the visitor.
struct Types;

impl ScanVisitor for Types {
    type Output = [DType; 2];

    fn scan<F: Fold<A>, T: ScanElement<A>, A: indim_ops::Element>(self) -> [DType; 2] {
        [T::DTYPE, A::DTYPE]
    }
}

/// The type with the code for folds of type `dtype`.
fn fold_dtype(op: ReduceOp, dtype: DType) -> DType {
    let is_extreme = matches!(op, ReduceOp::Max | ReduceOp::Min | ReduceOp::Fmax | ReduceOp::Fmin);
    match dtype {
        DType::F16 | DType::Bf16 => DType::F32,
        DType::I8 if !is_extreme => DType::U8,
        DType::I16 if !is_extreme => DType::U16,
        DType::I32 if !is_extreme => DType::U32,
        DType::I64 if !is_extreme => DType::U64,
        dtype => dtype,
    }
}

#[test]
fn the_visitor_and_the_accumulator_agree() {
    for &op in ReduceOp::ALL {
        for &dtype in DType::ALL {
            let expected = scan_accumulator(op, dtype).map(|wide| [dtype, fold_dtype(op, wide)]);
            assert_eq!(visit_scan(op, dtype, Types), expected, "{op} of {dtype}");
            let name = op.scan_name();
            let found = (!op.is_arg_reduction()).then_some(op);
            assert_eq!(ReduceOp::from_scan_name(name), found);
        }
    }
    let one = c64::new(1.0, 2.0);
    assert_eq!(scan::<Mul, c64, indim_ops::c128>(&[one, one], false)[1], c64::new(-3.0, 4.0));
}

/// Extremes of narrow floats are found in `f32`, with the bits of the definition in their own type.
#[test]
fn narrow_extremes_have_the_same_bits_in_f32() {
    fn check<T: ScanElement<T> + ScanElement<f32>, F: Fold<T> + Fold<f32>>(
        all: &[T],
        bits: fn(T) -> u16,
    ) {
        for (first, &x) in all.iter().enumerate() {
            let elements = [x, all[first * 7919 % all.len()], x];
            let results = |results: Vec<T>| results.into_iter().map(bits).collect::<Vec<u16>>();
            let own = results(scan::<F, T, T>(&elements, false));
            assert_eq!(results(scan::<F, T, f32>(&elements, false)), own, "{elements:?}");
        }
    }
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    check::<f16, Max>(&halves, f16::to_bits);
    check::<f16, Min>(&halves, f16::to_bits);
    check::<f16, Fmax>(&halves, f16::to_bits);
    check::<f16, Fmin>(&halves, f16::to_bits);
    check::<bf16, Max>(&brains, bf16::to_bits);
    check::<bf16, Min>(&brains, bf16::to_bits);
    check::<bf16, Fmax>(&brains, bf16::to_bits);
    check::<bf16, Fmin>(&brains, bf16::to_bits);
}

/// Integers wrap to the same bits as unsigned ones.
#[test]
fn signed_integers_have_the_bits_of_unsigned_ones() {
    fn check<F: Fold<i8> + Fold<u8>>() {
        for first in i8::MIN..=i8::MAX {
            let elements = [first, 100, -7, first.wrapping_mul(31), i8::MIN];
            let own = scan::<F, i8, i8>(&elements, false);
            assert_eq!(scan::<F, i8, u8>(&elements, false), own, "{elements:?}");
        }
    }
    check::<Add>();
    check::<Mul>();
    check::<And>();
    check::<Or>();
    check::<Xor>();
}
