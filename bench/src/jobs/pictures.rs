//! Pictures and rasters: small integers become floats, and channels have constants of their own.

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

job! {
    /// Channels last.
    PicturesLast, "u8 pictures, NHWC":
    "(f32(x) / 255 - mean) / std" -> f32 [rows / height, height, columns / 3, 3]
    in PICTURES_LAST;
    |rows, columns, height|
    x: u8 [rows / height, height, columns / 3, 3], mean: f32 [3], std: f32 [3];
    |this, row, output| {
        let n = output.len();
        let x = &this.x[row * n..][..n];
        let mean: [f32; 48] = std::array::from_fn(|i| this.mean[i % 3]);
        let std: [f32; 48] = std::array::from_fn(|i| this.std[i % 3]);
        let normalise = |x: u8, i: usize| (f32::from(x) / 255.0 - mean[i]) / std[i];
        let (mut outputs, mut xs) = (output.chunks_exact_mut(48), x.chunks_exact(48));
        for (output, x) in (&mut outputs).zip(&mut xs) {
            for i in 0..48 {
                output[i] = normalise(x[i], i);
            }
        }
        for (i, (o, &x)) in outputs.into_remainder().iter_mut().zip(xs.remainder()).enumerate() {
            *o = normalise(x, i);
        }
    }
    ndarray |o| zip!(o, [x, mean, std], |o, &x, mean, std| {
        *o = (f32::from(x) / 255.0 - mean) / std;
    });
    candle |x, mean, std| {
        (x.to_dtype(candle_core::DType::F32)? / 255.0)?.broadcast_sub(&mean)?.broadcast_div(&std)
    };
}

job! {
    /// Channels first: a row is one plane of one picture.
    PicturesFirst, "u8 pictures, NCHW":
    "(f32(x) / 255 - mean) / std" -> f32 [rows / 3, 3, height, columns / height]
    in PICTURES_FIRST;
    |rows, columns, height|
    x: u8 [rows / 3, 3, height, columns / height], mean: f32 [3, 1, 1], std: f32 [3, 1, 1];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        let (mean, std) = (this.mean[row % 3], this.std[row % 3]);
        for (o, &x) in output.iter_mut().zip(x) {
            *o = (f32::from(x) / 255.0 - mean) / std;
        }
    }
    ndarray |o| zip!(o, [x, mean, std], |o, &x, mean, std| {
        *o = (f32::from(x) / 255.0 - mean) / std;
    });
    candle |x, mean, std| {
        (x.to_dtype(candle_core::DType::F32)? / 255.0)?.broadcast_sub(&mean)?.broadcast_div(&std)
    };
}

job! {
    /// The vegetation index of two bands.
    VegetationIndex, "NDVI, u16":
    "(f32(n) - f32(r)) / (f32(n) + f32(r))" -> f32 [rows, columns] in RASTERS;
    |rows, columns| n: u16 [rows, columns], r: u16 [rows, columns];
    |this, row, output| {
        let count = output.len();
        let [n, r] = [&this.n, &this.r].map(|v| &v[row * count..][..count]);
        for i in 0..count {
            let (n, r) = (f32::from(n[i]), f32::from(r[i]));
            output[i] = (n - r) / (n + r);
        }
    }
    ndarray |o| zip!(o, [n, r], |o, &n, &r| {
        let (n, r) = (f32::from(n), f32::from(r));
        *o = (n - r) / (n + r);
    });
}

job! {
    /// Pixels whose quality has a bit set are dropped.
    QualityMask, "where(q & 4, nan, v)":
    "where((q & 4) != 0, nan, v)" -> f32 [rows, columns] in RASTERS;
    |rows, columns| q: u8 [rows, columns], v: f32 [rows, columns];
    |this, row, output| {
        let count = output.len();
        let (q, v) = (&this.q[row * count..][..count], &this.v[row * count..][..count]);
        for i in 0..count {
            output[i] = if q[i] & 4 != 0 { f32::NAN } else { v[i] };
        }
    }
    ndarray |o| zip!(o, [q, v], |o, q, &v| *o = if q & 4 != 0 { f32::NAN } else { v });
}
