//! Elementary functions: the hand-written loop calls the same definitions.

use indim_ops::Unary;
use indim_ops::operations::{Cos, Erf, Exp, Log, Logistic, Sin};

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

job! {
    ExpJob, "exp(x)": "exp(x)" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        for (o, &x) in output.iter_mut().zip(x) {
            *o = Exp::apply(x);
        }
    }
    ndarray |o| zip!(o, [x], |o, x| *o = x.exp());
    candle |x| x.exp();
}

job! {
    LogisticJob, "logistic(x)": "logistic(x)" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        for (o, &x) in output.iter_mut().zip(x) {
            *o = Logistic::apply(x);
        }
    }
    ndarray |o| zip!(o, [x], |o, x| *o = 1.0 / (1.0 + (-x).exp()));
    candle |x| (x.neg()?.exp()? + 1.0)?.recip();
}

job! {
    Gelu, "gelu(x)": "0.5 * x * (1 + erf(x * 0.70710678))" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        for (o, &x) in output.iter_mut().zip(x) {
            let erf: f32 = Erf::apply(x * std::f32::consts::FRAC_1_SQRT_2);
            *o = 0.5 * x * (1.0 + erf);
        }
    }
    ndarray |o| zip!(o, [x], |o, &x| {
        *o = 0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2));
    });
    candle |x| x.gelu_erf();
}

job! {
    Circle, "sin(a)^2+cos(b)^2": "square(sin(a)) + square(cos(b))" -> f32 [rows, columns] in MATRICES;
    |rows, columns| a: f32 [rows, columns], b: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            let (s, c): (f32, f32) = (Sin::apply(a[i]), Cos::apply(b[i]));
            output[i] = s * s + c * c;
        }
    }
    ndarray |o| zip!(o, [a, b], |o, a, b| *o = a.sin().powi(2) + b.cos().powi(2));
    candle |a, b| a.sin()?.sqr()? + b.cos()?.sqr()?;
}

job! {
    Polynomial, "degree-10 polynomial":
    "((((((((((x + 1) * x + 2) * x + 3) * x + 4) * x + 5) * x + 6) * x + 7) * x + 8) * x + 9) * x + 10)"
    -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        for (o, &x) in output.iter_mut().zip(x) {
            let low = ((((x + 1.0) * x + 2.0) * x + 3.0) * x + 4.0) * x + 5.0;
            *o = ((((low * x + 6.0) * x + 7.0) * x + 8.0) * x + 9.0) * x + 10.0;
        }
    }
    ndarray |o| zip!(o, [x], |o, x| {
        let low = ((((x + 1.0) * x + 2.0) * x + 3.0) * x + 4.0) * x + 5.0;
        *o = ((((low * x + 6.0) * x + 7.0) * x + 8.0) * x + 9.0) * x + 10.0;
    });
    candle |x| (2..=10).try_fold((&x + 1.0)?, |sum, term| (sum * &x)? + f64::from(term));
}

job! {
    /// The price of a call, with the normal distribution by `erf`.
    BlackScholes, "Black-Scholes f64":
    "s * (0.5 + 0.5 * erf((log(s / k) + 0.045) / 0.3 / 1.4142135623730951)) \
     - k * exp(-0.02) * (0.5 + 0.5 * erf(((log(s / k) + 0.045) / 0.3 - 0.3) / 1.4142135623730951))"
    -> f64 [rows, columns] in MATRICES;
    |rows, columns| s: f64 [rows, columns], k: f64 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [s, k] = [&this.s, &this.k].map(|v| &v[row * n..][..n]);
        let discount: f64 = Exp::apply(-0.02);
        for i in 0..n {
            let moneyness: f64 = Log::apply(s[i] / k[i]);
            let d = (moneyness + 0.045) / 0.3;
            let first: f64 = Erf::apply(d / std::f64::consts::SQRT_2);
            let second: f64 = Erf::apply((d - 0.3) / std::f64::consts::SQRT_2);
            output[i] = s[i] * (0.5 + 0.5 * first) - k[i] * discount * (0.5 + 0.5 * second);
        }
    }
    ndarray |o| zip!(o, [s, k], |o, s, k| {
        let d = ((s / k).ln() + 0.045) / 0.3;
        let normal = |d: f64| 0.5 + 0.5 * libm::erf(d / std::f64::consts::SQRT_2);
        *o = s * normal(d) - k * (-0.02f64).exp() * normal(d - 0.3);
    });
    candle |s, k| {
        let d = (((&s / &k)?.log()? + 0.045)? / 0.3)?;
        let normal = |d: candle_core::Tensor| {
            ((d / std::f64::consts::SQRT_2)?.erf()? * 0.5)? + 0.5
        };
        let discounted = (&k * (-0.02f64).exp())?;
        (&s * normal(d.clone())?)? - (discounted * normal((d - 0.3)?)?)?
    };
}
