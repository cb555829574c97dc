//! Sine, cosine and tangent of a 32-bit float, computed in 64 bits.
//!
//! The argument is `x = n π + r` with `|r| <= π / 2`, so one odd polynomial suffices: `sin x = (-1)^n sin r`,
//! and `cos x = sin(x + π / 2)`, where the quarter turn is added to the exact fixed-point fraction. No 32-bit
//! float is closer to a multiple of `π / 2` than about `2^-30`; the fraction is exact to `2^-62`.

use core::f64::consts::{FRAC_PI_2, PI};

use crate::elementary::{exponent_bias, horner, mantissa_bits};
use crate::lane::{FloatLane, IntLane, Lane};

/// `sin(r) / r` in `r²`, with an error of at most `2^-35`.
const SINC: [f64; 6] = [
    0.999999999982915,
    -0.16666666616805534,
    0.00833333097382839,
    -0.00019840861130168496,
    2.7525267252236224e-06,
    -2.3889171675991526e-08,
];

/// The bits of `2^40 / π` in words of 64, the integer part first.
const ONE_OVER_PI: [u64; 4] =
    [0x0000_0051_7cc1_b727, 0x220a_94fe_13ab_e8fa, 0x9a6e_e06d_b14a_cc9e, 0x21c8_20ff_28b1_d5ef];

crate::shared_by_recordings! {
    /// `|x| / π` modulo 2, in units of `2^-63`, for a finite `|x| >= 1` of at most 24 significant bits.
    fn half_turns<F: FloatLane>(x: F) -> F::Bits {
        let word = |index: usize| F::Bits::constant(ONE_OVER_PI[index] as i64);
        let bits = x.abs().to_bits();
        let exponent = bits.shr_logical(mantissa_bits::<F>());
        let shift = exponent.sub(exponent_bias::<F>());
        // The significand as an integer of 24 bits: the hidden bit and the upper 23 of the stored ones.
        let hidden = F::Bits::constant(1 << 52);
        let significand = bits.and(hidden.sub(F::Bits::constant(1))).or(hidden);
        let significand = significand.shr_logical(F::Bits::constant(29));
        let is_far = F::Bits::constant(63).less(shift);
        let first = F::Bits::select(is_far, word(1), word(0));
        let second = F::Bits::select(is_far, word(2), word(1));
        let third = F::Bits::select(is_far, word(3), word(2));
        let upper = window::<F>(first, second, shift);
        let lower = window::<F>(second, third, shift);
        let half_word = F::Bits::constant(32);
        let carried = lower.shr_logical(half_word).mul(significand).shr_logical(half_word);
        upper.mul(significand).add(carried)
    }
}

/// The 64 bits that start `shift` modulo 64 bits into two words.
#[inline(always)]
fn window<F: FloatLane>(first: F::Bits, second: F::Bits, shift: F::Bits) -> F::Bits {
    // The shift by 64 minus `shift` takes two steps, since amounts count modulo 64: by 1, then by 63 minus
    // `shift`, which is `shift.not()` modulo 64.
    let rest = second.shr_logical(F::Bits::constant(1)).shr_logical(shift.not());
    first.shl(shift).or(rest)
}

/// The remainder `r` in radians, and the parity of `n` as the sign bit of an integer.
#[inline(always)]
fn remainder<F: FloatLane>(half_turns: F::Bits) -> (F, F::Bits) {
    let fraction = half_turns.shl(F::Bits::constant(1));
    let parity = half_turns.add(F::Bits::constant(1 << 62)).and(F::Bits::minimum());
    let turns = F::from_int(fraction);
    (turns.mul(F::constant(PI / 18_446_744_073_709_551_616.0)), parity)
}

/// `sin r` for `|r| <= π / 2`.
#[inline(always)]
fn sin_of_remainder<F: FloatLane>(r: F) -> F {
    r.mul(horner(r.mul(r), &SINC))
}

#[inline(always)]
fn flip_sign<F: FloatLane>(x: F, sign: F::Bits) -> F {
    F::from_bits(x.to_bits().xor(sign))
}

/// The sine of `x`, from the half turns, or from `x` itself if its magnitude is below 1.
#[inline(always)]
fn sin_with<F: FloatLane>(x: F, half_turns: F::Bits) -> F {
    let (r, parity) = remainder::<F>(half_turns);
    let sign = parity.xor(x.to_bits().and(F::Bits::minimum()));
    let is_small = x.abs().less(F::constant(1.0));
    sin_of_remainder(F::select(is_small, x, flip_sign(r, sign)))
}

/// The cosine of `x`, from the half turns, or from `π / 2 - |x|` if the magnitude is below 1.
#[inline(always)]
fn cos_with<F: FloatLane>(x: F, half_turns: F::Bits) -> F {
    let (r, parity) = remainder::<F>(half_turns.add(F::Bits::constant(1 << 62)));
    let complement = F::constant(FRAC_PI_2).sub(x.abs());
    let is_small = x.abs().less(F::constant(1.0));
    sin_of_remainder(F::select(is_small, complement, flip_sign(r, parity)))
}

#[inline(always)]
pub(super) fn sin<F: FloatLane>(x: F) -> F {
    sin_with(x, half_turns(x))
}

#[inline(always)]
pub(super) fn cos<F: FloatLane>(x: F) -> F {
    cos_with(x, half_turns(x))
}

#[inline(always)]
pub(super) fn tan<F: FloatLane>(x: F) -> F {
    let half_turns = half_turns(x);
    sin_with(x, half_turns).div(cos_with(x, half_turns))
}
