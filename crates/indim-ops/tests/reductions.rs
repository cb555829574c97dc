//! Reductions: the tree that combines elements, and the results of each fold for special elements.

use indim_ops::elements::*;
use indim_ops::operations::{Add, Mul};
use indim_ops::{
    DType, Element, Fold, FoldVisitor, Op, ReduceOp, ScalarBackend, fold, for_each_element,
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

/// The sum by another algorithm, a binary counter: a block is pushed on a stack, and combined with the node
/// before it once for each trailing 1 of its number. Within a block, the lanes are summed one after another.
fn sum_by_counter(x: &[f64]) -> f64 {
    let mut nodes: Vec<f64> = Vec::new();
    for (number, block) in x.chunks(512).enumerate() {
        let lane = |lane: usize| block.iter().skip(lane).step_by(32).fold(0.0, |sum, x| sum + x);
        let quad = |l: usize| {
            (lane(l) + lane(l + 16))
                + (lane(l + 8) + lane(l + 24))
                + ((lane(l + 4) + lane(l + 20)) + (lane(l + 12) + lane(l + 28)))
        };
        let mut node = ((quad(0) + quad(1)) + quad(2)) + quad(3);
        for _ in 0..number.trailing_ones() {
            node += nodes.pop().unwrap();
        }
        nodes.push(node);
    }
    let last = nodes.pop().unwrap_or(0.0);
    nodes.into_iter().rev().fold(last, |sum, node| node + sum)
}

#[test]
fn the_sum_is_that_of_the_tree_for_every_length() {
    let near_powers = (0..6).flat_map(|k| [0, 1, 31, 32, 33].map(|d| (512 << k) + d));
    let before_powers = (0..6).flat_map(|k| [1, 31, 32, 33].map(|d| (512 << k) - d));
    for count in (0..=1100).chain(near_powers).chain(before_powers) {
        let x = numbers(count);
        assert_eq!(fold::<Add, f64>(&x).to_bits(), sum_by_counter(&x).to_bits(), "{count} terms");
    }
}

#[test]
fn an_aligned_piece_is_a_node_of_the_tree() {
    let x = numbers(20_000);
    for split in (0..5).map(|k| 512 << k) {
        for end in [split + 1, split + 31, split + 512, 2 * split - 1, 2 * split] {
            let (first, rest) = (fold::<Add, f64>(&x[..split]), fold::<Add, f64>(&x[split..end]));
            assert_eq!(
                (first + rest).to_bits(),
                fold::<Add, f64>(&x[..end]).to_bits(),
                "{split}, {end}"
            );
        }
    }
}

#[test]
fn few_terms_are_summed_from_the_left() {
    assert_eq!(fold::<Add, f64>(&[1e16, 1.0, -1e16, 1.0]), 1e16 + 1.0 - 1e16 + 1.0);
    assert_eq!(fold::<Add, f64>(&[-0.0, -0.0]).to_bits(), 0.0f64.to_bits());
    assert_eq!(fold::<Mul, f64>(&[3.0, 0.5, -2.0]), -3.0);
}

#[test]
fn the_error_is_within_its_bound() {
    for count in [1, 5, 100, 512, 5000, 100_000] {
        // Multiples of 2^-40 below 2^20: their sum is exact in 128 bits.
        let mut state = count as u64;
        let exact: Vec<i64> =
            (0..count).map(|_| (random(&mut state) >> 4) as i64 - (1 << 59)).collect();
        let x: Vec<f64> = exact.iter().map(|&x| (x >> 8) as f64 * 2f64.powi(-40)).collect();
        let sum: i128 = exact.iter().map(|&x| i128::from(x >> 8)).sum();
        let magnitudes: f64 = x.iter().map(|x| x.abs()).sum();
        let depth = 21.0 + (count as f64 / 512.0).log2().ceil().max(0.0);
        let error = (fold::<Add, f64>(&x) - sum as f64 * 2f64.powi(-40)).abs();
        assert!(error <= (depth + 1.0) * 2f64.powi(-53) * magnitudes, "{count}: {error}");
    }
}

/// Checks a fold on the special elements of its type.
struct SpecialElements(ReduceOp);

impl FoldVisitor for SpecialElements {
    type Output = ();

    fn fold<F: Fold<T>, T: Element>(self) {
        let specials = specials::<T>();
        let bits = |x: T| T::into_data(vec![x.canonical()]).to_le_bytes();
        let nothing = fold::<F, T>(&[]);
        assert_eq!(bits(nothing), bits(F::identity::<ScalarBackend>()), "{} {}", self.0, T::DTYPE);
        for &x in &specials {
            let expected = bits(F::combine::<ScalarBackend>(F::identity::<ScalarBackend>(), x));
            assert_eq!(bits(fold::<F, T>(&[x])), expected);
            // The identity changes only negative zeros: no sum is a negative zero.
            let is_kept = expected == bits(x);
            let is_zero = x == T::default();
            assert!(is_kept || (self.0 == ReduceOp::Add && is_zero) || is_complex::<T>(), "{x:?}");
            for &y in &specials {
                let pair = F::combine::<ScalarBackend>(
                    F::combine::<ScalarBackend>(F::identity::<ScalarBackend>(), x),
                    y,
                );
                let long = [vec![x], vec![F::identity::<ScalarBackend>(); 700], vec![y]].concat();
                if !is_complex::<T>() {
                    assert_eq!(bits(fold::<F, T>(&long)), bits(pair), "{} {x:?} {y:?}", self.0);
                }
            }
        }
    }
}

fn is_complex<T: Element>() -> bool {
    matches!(T::DTYPE, DType::C64 | DType::C128)
}

/// Zeros, extremes and NaNs, by their bytes.
fn specials<T: Element>() -> Vec<T> {
    let size = T::DTYPE.size();
    let of_byte = |byte: u8| T::read_bytes(&vec![byte; size]);
    let of_top = |top: u8, next: u8| {
        let mut bytes = vec![0; size];
        bytes[size - 1] = top;
        if size > 1 {
            bytes[size - 2] = next;
        }
        T::read_bytes(&bytes)
    };
    let tops =
        [(0x80, 0), (0x7f, 0x80), (0xff, 0x80), (0x7f, 0xf0), (0x7c, 0), (0x3f, 0x80), (0xc0, 0)];
    let zeros = [of_byte(0), of_byte(1), of_byte(0xff), of_byte(0x7f)];
    zeros.into_iter().chain(tops.map(|(top, next)| of_top(top, next))).collect()
}

#[test]
fn every_fold_keeps_what_it_is_defined_to_keep() {
    for &op in ReduceOp::ALL {
        let takes = DType::ALL.iter().filter(|&&dtype| op.takes(dtype));
        for &dtype in takes {
            assert_eq!(
                op.visit(dtype, SpecialElements(op)).is_some(),
                !op.is_arg_reduction(),
                "{op} {dtype}"
            );
            assert!(op.operation().takes(dtype), "{op} {dtype}");
        }
        assert_eq!(op.name().parse(), Ok(op));
    }
}

#[test]
fn what_a_fold_widens_is_taken_and_kept() {
    macro_rules! check {
        ($($variant:ident $type:ident $class:ident;)*) => {$(
            for &wide in DType::ALL {
                let widens = ReduceOp::Add.widens(<$type>::DTYPE, wide);
                assert!(!widens || (ReduceOp::Add.takes(wide) && wide.size() > <$type>::DTYPE.size()));
                assert!(!ReduceOp::Mul.widens(<$type>::DTYPE, wide));
                assert!(!ReduceOp::Max.widens(<$type>::DTYPE, wide));
            }
        )*};
    }
    for_each_element!(check);
    assert_eq!(ReduceOp::Fmax.operation(), Op::Fmax);
    assert_eq!(ReduceOp::ArgMin.extremum(), ReduceOp::Min);
}
