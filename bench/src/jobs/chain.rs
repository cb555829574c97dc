//! Twenty operations over two small arrays: computation dominates.

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

/// Four operations on `t`: compare, select, multiply, add.
#[inline(always)]
fn link(t: f32, x: f32, y: f32, bound: f32) -> f32 {
    t * if y > bound { x } else { y } + x
}

#[inline(always)]
fn chain(x: f32, y: f32) -> f32 {
    let t = link(y, x, y, -2.0);
    let t = link(t, x, y, -1.0);
    let t = link(t, x, y, 0.0);
    let t = link(t, x, y, 1.0);
    link(t, x, y, 2.0)
}

job! {
    /// Both operands are broadcast.
    Chain, "chain of 20":
    "((((y * where(y > -2, x, y) + x) * where(y > -1, x, y) + x) * where(y > 0, x, y) + x) \
     * where(y > 1, x, y) + x) * where(y > 2, x, y) + x"
    -> f32 [2, rows / 2, columns] in MATRICES;
    |rows, columns| x: f32 [2, rows / 2, 1], y: f32 [1, rows / 2, columns];
    |this, row, output| {
        let x = this.x[row];
        let y = &this.y[row % (this.space.rows / 2) * output.len()..][..output.len()];
        for (o, &y) in output.iter_mut().zip(y) {
            *o = chain(x, y);
        }
    }
    ndarray |o| zip!(o, [x, y], |o, &x, &y| *o = chain(x, y));
    candle |x, y| {
        let wide = |operand: &candle_core::Tensor| operand.broadcast_as((2, rows / 2, columns));
        [-2.0, -1.0, 0.0, 1.0, 2.0].iter().try_fold(y.clone(), |t, bound| {
            let factor = wide(&y.gt(*bound)?)?.where_cond(&wide(&x)?, &wide(&y)?)?;
            t.broadcast_mul(&factor)?.broadcast_add(&x)
        })
    };
}
