//! Unevaluated sums of two floats, with twice the precision of one.
//!
//! Sources: the error-free sums are Knuth's and Dekker's, the error-free product uses a fused multiply-add
//! (Muller et al., Handbook of Floating-Point Arithmetic, chapter 4).

use crate::lane::FloatLane;

/// The value `high + low`, where `low` is small against `high`.
#[derive(Debug, Clone, Copy)]
pub struct Pair<F> {
    /// The leading part.
    pub high: F,
    /// The rest.
    pub low: F,
}

crate::shared_by_recordings! {
    /// `x + y` exactly.
    pub(super) fn two_sum<F: FloatLane>(x: F, y: F) -> Pair<F> {
        let high = x.add(y);
        let y_part = high.sub(x);
        let x_part = high.sub(y_part);
        Pair { high, low: x.sub(x_part).add(y.sub(y_part)) }
    }
}

/// `x + y` exactly, for `x = 0` or `|x| >= |y|`.
#[inline(always)]
pub(super) fn two_sum_ordered<F: FloatLane>(x: F, y: F) -> Pair<F> {
    let high = x.add(y);
    Pair { high, low: y.sub(high.sub(x)) }
}

/// `x * y` exactly, if the low part does not underflow.
#[inline(always)]
pub(super) fn two_product<F: FloatLane>(x: F, y: F) -> Pair<F> {
    let high = x.mul(y);
    Pair { high, low: x.mul_add(y, high.neg()) }
}

impl<F: FloatLane> Pair<F> {
    /// The sum, rounded once.
    #[inline(always)]
    pub fn value(self) -> F {
        self.high.add(self.low)
    }

    /// The same value with a low part below the last bit of the high part. The low part must already be
    /// smaller than the high part.
    #[inline(always)]
    pub(super) fn normalized(self) -> Self {
        two_sum_ordered(self.high, self.low)
    }

    /// `self + addend`, for an addend that is small against `high`.
    #[inline(always)]
    pub(super) fn add_low(self, addend: F) -> Self {
        Pair { high: self.high, low: self.low.add(addend) }
    }

    /// The sum of two numbers that are not negative.
    #[inline(always)]
    pub fn add_positive(self, other: Self) -> Self {
        two_sum(self.high, other.high).add_low(self.low.add(other.low))
    }

    /// The product without the term `low * low`.
    #[inline(always)]
    #[allow(clippy::should_implement_trait, reason = "lanes have named primitives, no operators")]
    pub fn mul(self, other: Self) -> Self {
        let product = two_product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low.mul(other.high));
        product.add_low(cross)
    }

    /// The quotient: an estimate by the reciprocal of the divisor, corrected by the remainder.
    #[inline(always)]
    #[allow(clippy::should_implement_trait, reason = "lanes have named primitives, no operators")]
    pub fn div(self, divisor: Self) -> Self {
        let reciprocal = F::constant(1.0).div(divisor.high);
        let high = self.high.mul(reciprocal);
        let remainder = high.neg().mul_add(divisor.high, self.high);
        let rest = high.neg().mul_add(divisor.low, self.low);
        Pair { high, low: remainder.add(rest).mul(reciprocal) }
    }

    /// The square root of a number `>= 0`.
    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        let high = self.high.sqrt();
        let residual = high.neg().mul_add(high, self.high).add(self.low);
        let low = residual.div(high.add(high));
        // The root of zero has no error.
        Pair { high, low: F::select(high.equal(F::constant(0.0)), high, low) }
    }

    /// `on_true` if `condition` holds, else `on_false`.
    #[inline(always)]
    pub(super) fn select(condition: F::Bool, on_true: Self, on_false: Self) -> Self {
        Pair {
            high: F::select(condition, on_true.high, on_false.high),
            low: F::select(condition, on_true.low, on_false.low),
        }
    }
}
