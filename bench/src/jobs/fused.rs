//! Several cheap operations at once.

use crate::job;

job! {
    /// Four vectors along the rows.
    Normalise, "(x-m)*s*g+b": "(x - m) * s * g + b" -> f32 [rows, columns];
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
}

job! {
    MultiplyAdd, "x*y+z": "x * y + z" -> f32 [rows, columns];
    |rows, columns| x: f32 [rows, columns], y: f32 [rows, columns], z: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [x, y, z] = [&this.x, &this.y, &this.z].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = x[i] * y[i] + z[i];
        }
    }
}

job! {
    MultiplyAddF64, "x*y+z f64": "x * y + z" -> f64 [rows, columns];
    |rows, columns| x: f64 [rows, columns], y: f64 [rows, columns], z: f64 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [x, y, z] = [&this.x, &this.y, &this.z].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = x[i] * y[i] + z[i];
        }
    }
}

job! {
    LinearCombination, "2*a+3*b": "2 * a + 3 * b" -> f32 [rows, columns];
    |rows, columns| a: f32 [rows, columns], b: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = 2.0 * a[i] + 3.0 * b[i];
        }
    }
}

job! {
    Predicate, "a*b-4.1*a>2.5*b": "a * b - 4.1 * a > 2.5 * b" -> bool [rows, columns];
    |rows, columns| a: f32 [rows, columns], b: f32 [rows, columns];
    |this, row, output| {
        let n = output.len();
        let [a, b] = [&this.a, &this.b].map(|v| &v[row * n..][..n]);
        for i in 0..n {
            output[i] = a[i] * b[i] - 4.1 * a[i] > 2.5 * b[i];
        }
    }
}

job! {
    /// Coordinates times a vector of three.
    Points, "points*r+t": "p * r + t" -> f32 [rows * columns / 3, 3];
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
}
