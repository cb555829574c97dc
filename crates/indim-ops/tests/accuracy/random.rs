//! Random arguments for the functions.

/// A small generator of bits with a fixed start (Steele, Lea and Flood's SplitMix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }

    /// An argument for a function of one operand: any float, or one of ordinary size.
    pub(crate) fn argument(&mut self) -> f64 {
        match self.bits() % 4 {
            0 => f64::from_bits(self.bits()),
            1 => (self.unit() - 0.5) * 1500.0,
            2 => (self.unit() - 0.5) * 2f64.powi((self.bits() % 80) as i32 - 40),
            _ => 1.0 + (self.unit() - 0.5) * 2f64.powi(-((self.bits() % 50) as i32)),
        }
    }

    /// Arguments for a function of two operands: any, or a base and an exponent whose power is
    /// within `range` in its binary logarithm.
    pub(crate) fn arguments(&mut self, range: f64) -> (f64, f64) {
        match self.bits() % 4 {
            0 => (f64::from_bits(self.bits()), f64::from_bits(self.bits())),
            1 => ((self.unit() - 0.5) * 20.0, ((self.unit() - 0.5) * 60.0).round()),
            2 => (
                1.0 + (self.unit() - 0.5) * 2f64.powi(-((self.bits() % 30) as i32)),
                (self.unit() - 0.5) * 2.0 * range,
            ),
            _ => {
                let base = 2f64.powf((self.unit() - 0.5) * 2.0 * range);
                (base, (self.unit() - 0.5) * 2.0 * range / base.log2())
            }
        }
    }
}
