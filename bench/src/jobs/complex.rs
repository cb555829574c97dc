//! Complex numbers.

use indim::array::c64;

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

job! {
    /// The cross spectrum of two signals.
    Conjugate, "a*conj(b) c64": "a * conj(b)" -> c64 [rows, columns] in COMPLEX;
    |rows, columns| a: c64 [rows, columns], b: c64 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = times_conjugate(a[i], b[i]);
        }
    }
    ndarray |o| zip!(o, [a, b], |o, &a, &b| *o = times_conjugate(a, b));
}

#[inline(always)]
fn times_conjugate(a: c64, b: c64) -> c64 {
    c64::new(a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im)
}

job! {
    /// The power spectrum of a signal.
    Power, "abs(a)^2 c64": "square(abs(a))" -> f32 [rows, columns] in COMPLEX;
    |rows, columns| a: c64 [rows, columns];
    |this, row, output| {
        use indim_ops::{Unary, operations::Abs};
        let a = &this.a[row * output.len()..][..output.len()];
        for (o, &a) in output.iter_mut().zip(a) {
            let modulus: f32 = Abs::apply(a);
            *o = modulus * modulus;
        }
    }
    ndarray |o| zip!(o, [a], |o, a| *o = a.re.hypot(a.im).powi(2));
}
