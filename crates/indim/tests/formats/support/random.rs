//! Pseudo-random numbers with a fixed seed.

use indim_graph::Array;

/// A linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    pub(crate) fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// `count` of the numbers below `limit`, ascending.
    pub(crate) fn some(&mut self, count: usize, limit: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..limit).collect();
        self.shuffle(&mut all);
        all.truncate(count);
        all.sort_unstable();
        all
    }

    /// Small whole numbers, whose sums of products are exact in every order.
    pub(crate) fn floats(&mut self, shape: &[usize]) -> Array {
        let count = shape.iter().product();
        let numbers: Vec<f32> = (0..count).map(|_| self.below(41) as f32 - 20.0).collect();
        Array::new(shape, numbers).unwrap()
    }
}
