//! Several cheap operations at once.

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

job! {
    /// Four vectors along the rows.
    Normalise, "(x-m)*s*g+b": "(x - m) * s * g + b" -> f32 [rows, columns] in MATRICES;
    |rows, columns|
    x: f32 [rows, columns], m: f32 [columns], s: f32 [columns], g: f32 [columns], b: f32 [columns];
    |this, row, output| {
        let n = output.len();
        let x = &this.x[row * n..][..n];
        let (m, s, g, b) = (&this.m[..n], &this.s[..n], &this.g[..n], &this.b[..n]);
        for i in 0..n {
            output[i] = (x[i] - m[i]) * s[i] * g[i] + b[i];
        }
    }
    ndarray |o| zip!(o, [x, m, s, g, b], |o, x, m, s, g, b| *o = (x - m) * s * g + b);
    candle |x, m, s, g, b| {
        x.broadcast_sub(&m)?.broadcast_mul(&s)?.broadcast_mul(&g)?.broadcast_add(&b)
    };
}

job! {
    MultiplyAdd, "x*y+z": "x * y + z" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns], y: f32 [rows, columns], z: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [x, y, z] = [&this.x, &this.y, &this.z].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = x[i] * y[i] + z[i];
        }
    }
    ndarray |o| zip!(o, [x, y, z], |o, x, y, z| *o = x * y + z);
    candle |x, y, z| (&x * &y)? + &z;
}

job! {
    MultiplyAddF64, "x*y+z f64": "x * y + z" -> f64 [rows, columns] in MATRICES;
    |rows, columns| x: f64 [rows, columns], y: f64 [rows, columns], z: f64 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [x, y, z] = [&this.x, &this.y, &this.z].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = x[i] * y[i] + z[i];
        }
    }
    ndarray |o| zip!(o, [x, y, z], |o, x, y, z| *o = x * y + z);
    candle |x, y, z| (&x * &y)? + &z;
}

job! {
    LinearCombination, "2*a+3*b": "2 * a + 3 * b" -> f32 [rows, columns] in MATRICES;
    |rows, columns| a: f32 [rows, columns], b: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = 2.0 * a[i] + 3.0 * b[i];
        }
    }
    ndarray |o| zip!(o, [a, b], |o, a, b| *o = 2.0 * a + 3.0 * b);
    candle |a, b| (&a * 2.0)? + (&b * 3.0)?;
}

job! {
    Predicate, "a*b-4.1*a>2.5*b": "a * b - 4.1 * a > 2.5 * b" -> bool [rows, columns] in MATRICES;
    |rows, columns| a: f32 [rows, columns], b: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = a[i] * b[i] - 4.1 * a[i] > 2.5 * b[i];
        }
    }
    ndarray |o| zip!(o, [a, b], |o, a, b| *o = a * b - 4.1 * a > 2.5 * b);
    candle |a, b| ((&a * &b)? - (&a * 4.1)?)?.gt(&(&b * 2.5)?);
}

job! {
    /// Coordinates times a vector of three.
    Points, "points*r+t": "p * r + t" -> f32 [rows * columns / 3, 3] in POINTS;
    |rows, columns| p: f32 [rows * columns / 3, 3], r: f32 [3], t: f32 [3];
    |this, row, output| {
        let n = output.len();
        let p = &this.p[row * n..][..n];
        // Sixteen points are three vectors of sixteen.
        let r: [f32; 48] = std::array::from_fn(|i| this.r[i % 3]);
        let t: [f32; 48] = std::array::from_fn(|i| this.t[i % 3]);
        let (mut outputs, mut ps) = (output.chunks_exact_mut(48), p.chunks_exact(48));
        for (output, p) in (&mut outputs).zip(&mut ps) {
            for i in 0..48 {
                output[i] = p[i] * r[i] + t[i];
            }
        }
        for (i, (o, &p)) in outputs.into_remainder().iter_mut().zip(ps.remainder()).enumerate() {
            *o = p * r[i] + t[i];
        }
    }
    ndarray |o| zip!(o, [p, r, t], |o, p, r, t| *o = p * r + t);
    candle |p, r, t| p.broadcast_mul(&r)?.broadcast_add(&t);
}
