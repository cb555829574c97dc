//! Identities of reductions, for each class of element types.
//!
//! Combining with an identity changes no element, with exceptions: in a sum of floats or complex numbers and
//! in a product of complex numbers, -0 may become +0; in a product of complex numbers an infinity may become
//! a NaN.

/// Identities of truth values.
pub mod boolean {
    use indim_lanes::lane::BoolLane;

    /// False.
    #[inline(always)]
    pub fn zero<B: BoolLane>() -> B {
        B::constant(false)
    }

    /// True.
    #[inline(always)]
    pub fn ones<B: BoolLane>() -> B {
        B::constant(true)
    }

    /// False, which is below true.
    #[inline(always)]
    pub fn lowest<B: BoolLane>() -> B {
        B::constant(false)
    }

    /// True.
    #[inline(always)]
    pub fn highest<B: BoolLane>() -> B {
        B::constant(true)
    }
}

/// Identities of integers.
pub mod integer {
    use indim_lanes::lane::IntLane;

    /// 0.
    #[inline(always)]
    pub fn zero<I: IntLane>() -> I {
        I::constant(0)
    }

    /// 1.
    #[inline(always)]
    pub fn one<I: IntLane>() -> I {
        I::constant(1)
    }

    /// Every bit set.
    #[inline(always)]
    pub fn ones<I: IntLane>() -> I {
        I::constant(-1)
    }

    /// The minimum of the type.
    #[inline(always)]
    pub fn lowest<I: IntLane>() -> I {
        I::minimum()
    }

    /// The maximum of the type.
    #[inline(always)]
    pub fn highest<I: IntLane>() -> I {
        I::minimum().not()
    }
}

/// Identities of floats.
pub mod float {
    use indim_lanes::lane::FloatLane;

    /// +0: sums of negative zeros are +0, as in NumPy and XLA.
    #[inline(always)]
    pub fn zero<F: FloatLane>() -> F {
        F::constant(0.0)
    }

    /// 1.
    #[inline(always)]
    pub fn one<F: FloatLane>() -> F {
        F::constant(1.0)
    }

    /// Minus infinity.
    #[inline(always)]
    pub fn lowest<F: FloatLane>() -> F {
        F::constant(f64::NEG_INFINITY)
    }

    /// Infinity.
    #[inline(always)]
    pub fn highest<F: FloatLane>() -> F {
        F::constant(f64::INFINITY)
    }

    /// A NaN; in `fmax` and `fmin` any number wins over it.
    #[inline(always)]
    pub fn nan<F: FloatLane>() -> F {
        F::constant(f64::NAN)
    }
}

/// Identities of complex numbers.
pub mod complex {
    use crate::complex::Complex;
    use indim_lanes::lane::FloatLane;

    /// 0.
    #[inline(always)]
    pub fn zero<F: FloatLane>() -> Complex<F> {
        Complex::new(F::constant(0.0), F::constant(0.0))
    }

    /// 1.
    #[inline(always)]
    pub fn one<F: FloatLane>() -> Complex<F> {
        Complex::new(F::constant(1.0), F::constant(0.0))
    }
}
