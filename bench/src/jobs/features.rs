//! Operations between the layers of a network: constants for each channel, in three types.

use indim::array::{bf16, f16};
use indim_ops::Binary;
use indim_ops::operations::{Add, Max, Mul};

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

macro_rules! define_features {
    ($type:ident, $bias:ident $bias_name:literal, $relu:ident $relu_name:literal) => {
        job! {
            /// A bias (Paddle's `axis=1`).
            $bias, $bias_name: "x + b"
            -> $type [rows / channels, channels, height, columns / height] in FEATURES;
            |rows, columns, channels, height|
            x: $type [rows / channels, channels, height, columns / height],
            b: $type [channels, 1, 1];
            |this, row, output| {
                let x = &this.x[row * output.len()..][..output.len()];
                let b = this.b[row % this.space.channels];
                for (o, &x) in output.iter_mut().zip(x) {
                    *o = Add::apply(x, b);
                }
            }
            ndarray |o| zip!(o, [x, b], |o, &x, &b| *o = Add::apply(x, b));
            candle |x, b| x.broadcast_add(&b);
        }

        job! {
            /// Scale, shift and relu.
            $relu, $relu_name: "maximum(x * s + b, 0)"
            -> $type [rows / channels, channels, height, columns / height] in FEATURES;
            |rows, columns, channels, height|
            x: $type [rows / channels, channels, height, columns / height],
            s: $type [channels, 1, 1], b: $type [channels, 1, 1];
            |this, row, output| {
                let x = &this.x[row * output.len()..][..output.len()];
                let channel = row % this.space.channels;
                let (s, b) = (this.s[channel], this.b[channel]);
                for (o, &x) in output.iter_mut().zip(x) {
                    *o = Max::apply(Add::apply(Mul::apply(x, s), b), $type::default());
                }
            }
            ndarray |o| zip!(o, [x, s, b], |o, &x, &s, &b| {
                *o = Max::apply(Add::apply(Mul::apply(x, s), b), $type::default());
            });
            candle |x, s, b| x.broadcast_mul(&s)?.broadcast_add(&b)?.relu();
        }
    };
}

define_features!(f32, Bias "x+b, NCHW", Relu "max(x*s+b, 0), NCHW");
define_features!(f16, BiasF16 "x+b, NCHW f16", ReluF16 "max(x*s+b, 0), NCHW f16");
define_features!(bf16, BiasBf16 "x+b, NCHW bf16", ReluBf16 "max(x*s+b, 0), NCHW bf16");
