//! Data that are easy and hard to sum, and how far a sum is off.

use indim::evaluate;

/// Random numbers (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 24) as f32
    }

    /// From -1 to 1.
    fn signed(&mut self) -> f32 {
        2.0 * self.unit() - 1.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }
}

/// A kind of data: its name, and an array of a length.
pub(crate) type Kind = (&'static str, fn(usize, &mut Random) -> Vec<f32>);

pub(crate) const KINDS: [Kind; 7] = [
    ("from 0 to 1", |length, random| (0..length).map(|_| random.unit()).collect()),
    ("from -1 to 1", |length, random| (0..length).map(|_| random.signed()).collect()),
    ("2^-40 to 2^40", |length, random| {
        (0..length).map(|_| random.signed() * 2f32.powi(random.below(81) as i32 - 40)).collect()
    }),
    ("1e8, small", |length, random| {
        let small = |index| if index == 0 { 1e8 } else { random.unit() };
        (0..length).map(small).collect()
    }),
    ("2^24, ones", |length, _| {
        (0..length).map(|index| if index < 512 { 16_777_216.0 } else { 1.0 }).collect()
    }),
    ("cancelling", |length, random| {
        let mut x: Vec<f32> = (0..length / 2).map(|_| random.signed()).collect();
        x.extend_from_within(..);
        x[length / 2..].iter_mut().for_each(|x| *x = -*x);
        for end in (1..length).rev() {
            x.swap(end, random.below(end + 1));
        }
        x
    }),
    ("3e38, -3e38", |length, random| {
        let scale = |index| if index < length / 2 { 3e38 } else { -3e38 };
        (0..length).map(|index| scale(index) * (0.9 + 0.1 * random.unit())).collect()
    }),
];

/// The error of `sum` as a sum of `x`, over that of magnitudes; and whether it is the correctly rounded sum
/// once it is rounded to `f32`.
pub(crate) fn error(x: &[f32], sum: f64) -> (f64, bool) {
    let exact = |x: &[f64]| {
        let sum = evaluate("sum(x, exact=true)", [("x", x)]).expect("it runs");
        sum.elements::<f64>().expect("a sum of f64")[0]
    };
    let mut terms: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let is_correct = exact(&terms) as f32 == sum as f32;
    let magnitudes: f64 = terms.iter().map(|x| x.abs()).sum();
    if !sum.is_finite() {
        return (f64::INFINITY, is_correct);
    }
    terms.push(-sum);
    (exact(&terms).abs() / magnitudes, is_correct)
}
