//! One vector against a matrix, and two vectors against each other.

use std::cell::RefCell;

use indim_ops::Unary;
use indim_ops::operations::{Exp, Tanh};

use crate::job;
#[cfg(feature = "peers")]
use crate::zip;

job! {
    /// A vector along the rows.
    RowBias, "row bias": "x + v" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns], v: f32 [columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        for ((o, x), v) in output.iter_mut().zip(x).zip(&this.v) {
            *o = x + v;
        }
    }
    ndarray |o| zip!(o, [x, v], |o, x, v| *o = x + v);
    candle |x, v| x.broadcast_add(&v);
}

job! {
    /// A vector along the columns.
    ColumnBias, "column bias": "x + v" -> f32 [rows, columns] in MATRICES;
    |rows, columns| x: f32 [rows, columns], v: f32 [rows, 1];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        let v = this.v[row];
        for (o, x) in output.iter_mut().zip(x) {
            *o = x + v;
        }
    }
    ndarray |o| zip!(o, [x, v], |o, x, v| *o = x + v);
    candle |x, v| x.broadcast_add(&v);
}

job! {
    /// Two vectors.
    OuterProduct, "outer product": "u * v" -> f32 [rows, columns] in MATRICES;
    |rows, columns| u: f32 [rows, 1], v: f32 [columns];
    |this, row, output| {
        let u = this.u[row];
        for (o, v) in output.iter_mut().zip(&this.v) {
            *o = u * v;
        }
    }
    ndarray |o| zip!(o, [u, v], |o, u, v| *o = u * v);
    candle |u, v| u.broadcast_mul(&v);
}

job! {
    /// Costly functions of both vectors, once for each of their elements.
    Kept, "exp(u)*tanh(v)+x": "exp(u) * tanh(v) + x" -> f32 [rows, columns] in MATRICES;
    |rows, columns| u: f32 [rows, 1], v: f32 [columns], x: f32 [rows, columns];
    |this, row, output| {
        let x = &this.x[row * output.len()..][..output.len()];
        let u: f32 = Exp::apply(this.u[row]);
        // Each thread computes the row of `tanh` once for its rows.
        const ROWS: usize = 64;
        thread_local!(static TANH: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) });
        TANH.with_borrow_mut(|tanh| {
            if row.is_multiple_of(ROWS) || tanh.len() != output.len() {
                tanh.clear();
                tanh.extend(this.v.iter().map(|&v| -> f32 { Tanh::apply(v) }));
            }
            for ((o, x), v) in output.iter_mut().zip(x).zip(&tanh[..]) {
                *o = u * v + x;
            }
        });
    }
    ndarray |o| {
        let (u, v) = (u.mapv(f32::exp), v.mapv(f32::tanh));
        zip!(o, [u, v, x], |o, u, v, x| *o = u * v + x);
    };
    candle |u, v, x| u.exp()?.broadcast_mul(&v.tanh()?)? + &x;
}
