//! Reductions, and functions along axes that are made of them.
//!
//! Hand-written loops add in an order of their own, with the accumulators that fit the registers.

use indim_ops::Unary;
use indim_ops::operations::{Exp, Log};
#[cfg(feature = "peers")]
use ndarray::Axis;
use rayon::prelude::*;

use crate::job::{SERIAL_BELOW, with_best_instructions};
use crate::reduction;

/// The accumulators of a row.
const LANES: usize = 32;

/// A row folded in lanes, which are then folded.
#[inline(always)]
fn fold<A: Copy>(row: &[f32], start: A, take: impl Fn(A, f32) -> A, join: impl Fn(A, A) -> A) -> A {
    let mut lanes = [start; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = take(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = take(*lane, x);
    }
    lanes[1..].iter().fold(lanes[0], |joined, &lane| join(joined, lane))
}

#[inline(always)]
fn sum(row: &[f32]) -> f64 {
    fold(row, 0.0, |sum, x| sum + f64::from(x), |a, b| a + b)
}

#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if b > a || b.is_nan() { b } else { a }
}

#[inline(always)]
fn maximum(row: &[f32]) -> f32 {
    fold(row, f32::NEG_INFINITY, larger, larger)
}

/// Applies `row` to each row of this many elements, on all threads.
fn by_rows<R: Send>(x: &[f32], columns: usize, output: &mut [R], row: impl Fn(&[f32]) -> R + Sync) {
    let run = |x: &[f32], output: &mut [R]| {
        with_best_instructions(
            #[inline(always)]
            || x.chunks_exact(columns).zip(output).for_each(|(x, o)| *o = row(x)),
        );
    };
    if x.len() < SERIAL_BELOW {
        return run(x, output);
    }
    let rows = output.len().div_ceil(rayon::current_num_threads());
    let pieces = x.par_chunks(rows * columns).zip(output.par_chunks_mut(rows));
    pieces.for_each(|(x, output)| run(x, output));
}

/// Applies `part` to the part of each thread, and combines the results.
fn by_parts<R: Send>(
    x: &[f32],
    part: impl Fn(&[f32]) -> R + Sync,
    join: impl Fn(R, R) -> R + Sync + Send,
) -> R {
    let run = |x: &[f32]| {
        with_best_instructions(
            #[inline(always)]
            || part(x),
        )
    };
    if x.len() < SERIAL_BELOW {
        return run(x);
    }
    let length = x.len().div_ceil(rayon::current_num_threads());
    x.par_chunks(length).map(run).reduce_with(join).expect("there are parts")
}

/// Folds each column of an array with rows of `columns` elements.
fn by_columns<A: Copy + Send + Sync>(
    x: &[f32],
    columns: usize,
    start: A,
    take: impl Fn(A, f32) -> A + Sync,
    join: impl Fn(A, A) -> A + Sync + Send,
) -> Vec<A> {
    let run = |x: &[f32]| {
        let mut folded = vec![start; columns];
        with_best_instructions(
            #[inline(always)]
            || {
                for row in x.chunks_exact(columns) {
                    for (folded, &x) in folded.iter_mut().zip(row) {
                        *folded = take(*folded, x);
                    }
                }
            },
        );
        folded
    };
    if x.len() < SERIAL_BELOW {
        return run(x);
    }
    let rows = (x.len() / columns).div_ceil(rayon::current_num_threads());
    let parts = x.par_chunks(rows * columns).map(run);
    let both = |a: Vec<A>, b: Vec<A>| a.into_iter().zip(b).map(|(a, b)| join(a, b)).collect();
    parts.reduce_with(both).expect("there are rows")
}

fn sums_of_columns(x: &[f32], columns: usize, output: &mut [f32]) {
    let sums = by_columns(x, columns, 0.0, |sum, x| sum + f64::from(x), |a: f64, b| a + b);
    output.iter_mut().zip(sums).for_each(|(o, sum)| *o = sum as f32);
}

reduction! {
    Sum, "sum(x)": "sum(x)" -> f32 [] in MATRICES, within 5e-2;
    |rows, columns| x: f32 [rows, columns];
    |this, output| { output[0] = by_parts(&this.x, sum, |a, b| a + b) as f32; }
    ndarray |o| o.fill(x.sum());
    candle |x| x.sum_all();
}

reduction! {
    RowSums, "sum(x, axis=1)": "sum(x, axis=1)" -> f32 [rows] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows, columns];
    |this, output| { by_rows(&this.x, this.space.columns, output, |row| sum(row) as f32); }
    ndarray |o| o.assign(&x.sum_axis(Axis(1)));
    candle |x| x.sum(1);
}

reduction! {
    ColumnSums, "sum(x, axis=0)": "sum(x, axis=0)" -> f32 [columns] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows, columns];
    |this, output| { sums_of_columns(&this.x, this.space.columns, output); }
    ndarray |o| o.assign(&x.sum_axis(Axis(0)));
    candle |x| x.sum(0);
}

reduction! {
    Mean, "mean(x)": "mean(x)" -> f32 [] in MATRICES, within 5e-2;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        output[0] = (by_parts(&this.x, sum, |a, b| a + b) / this.x.len() as f64) as f32;
    }
    ndarray |o| o.fill(x.mean().expect("it has elements"));
    candle |x| x.mean_all();
}

reduction! {
    Maximum, "max(x)": "max(x)" -> f32 [] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| { output[0] = by_parts(&this.x, maximum, larger); }
    ndarray |o| o.fill(x.fold(f32::NEG_INFINITY, |a, &b| larger(a, b)));
    candle |x| x.flatten_all()?.max(0);
}

reduction! {
    RowMaxima, "max(x, axis=1)": "max(x, axis=1)" -> f32 [rows] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| { by_rows(&this.x, this.space.columns, output, maximum); }
    ndarray |o| o.assign(&x.fold_axis(Axis(1), f32::NEG_INFINITY, |&a, &b| larger(a, b)));
    candle |x| x.max(1);
}

reduction! {
    ColumnMaxima, "max(x, axis=0)": "max(x, axis=0)" -> f32 [columns] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        let maxima = by_columns(&this.x, this.space.columns, f32::NEG_INFINITY, larger, larger);
        output.copy_from_slice(&maxima);
    }
    ndarray |o| o.assign(&x.fold_axis(Axis(0), f32::NEG_INFINITY, |&a, &b| larger(a, b)));
    candle |x| x.max(0);
}

#[inline(always)]
fn distance(x: &[f32], y: &[f32]) -> f64 {
    let mut lanes = [0f64; LANES];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += f64::from((x - y) * (x - y));
        }
    }
    let rest = x_rest.iter().zip(y_rest).map(|(x, y)| f64::from((x - y) * (x - y)));
    lanes.iter().sum::<f64>() + rest.sum::<f64>()
}

reduction! {
    SquaredDistance, "sum((x-y)^2)": "sum(square(x - y))" -> f32 [] in MATRICES, within 5e-2;
    |rows, columns| x: f32 [rows, columns], y: f32 [rows, columns];
    |this, output| {
        let length = this.x.len().div_ceil(match this.x.len() < SERIAL_BELOW {
            true => 1,
            false => rayon::current_num_threads(),
        });
        let parts = this.x.par_chunks(length).zip(this.y.par_chunks(length));
        let run = |(x, y)| with_best_instructions(#[inline(always)] || distance(x, y));
        output[0] = parts.map(run).sum::<f64>() as f32;
    }
    ndarray |o| o.fill((&x - &y).pow2().sum());
    candle |x, y| (&x - &y)?.sqr()?.sum_all();
}

reduction! {
    RowDistances, "sum((x-y)^2, axis=1)": "sum(square(x - y), axis=1)" -> f32 [rows] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows, columns], y: f32 [rows, columns];
    |this, output| {
        let columns = this.space.columns;
        let rows = output.len().div_ceil(rayon::current_num_threads());
        let x = this.x.par_chunks(rows * columns);
        let pieces = x.zip(this.y.par_chunks(rows * columns)).zip(output.par_chunks_mut(rows));
        pieces.for_each(|((x, y), output)| with_best_instructions(#[inline(always)] || {
            let rows = x.chunks_exact(columns).zip(y.chunks_exact(columns));
            rows.zip(output).for_each(|((x, y), o)| *o = distance(x, y) as f32);
        }));
    }
    ndarray |o| o.assign(&(&x - &y).pow2().sum_axis(Axis(1)));
    candle |x, y| (&x - &y)?.sqr()?.sum(1);
}

reduction! {
    ColumnDistances, "sum((x-y)^2, axis=0)": "sum(square(x - y), axis=0)"
        -> f32 [columns] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows, columns], y: f32 [rows, columns];
    |this, output| {
        let columns = this.space.columns;
        let rows = this.space.rows.div_ceil(rayon::current_num_threads());
        let parts = this.x.par_chunks(rows * columns).zip(this.y.par_chunks(rows * columns));
        let sums = parts.map(|(x, y)| with_best_instructions(#[inline(always)] || {
            let mut sums = vec![0f64; columns];
            for (x, y) in x.chunks_exact(columns).zip(y.chunks_exact(columns)) {
                for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
                    *sum += f64::from((x - y) * (x - y));
                }
            }
            sums
        }));
        let both = |a: Vec<f64>, b: Vec<f64>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
        let sums = sums.reduce_with(both).expect("there are rows");
        output.iter_mut().zip(sums).for_each(|(o, sum)| *o = sum as f32);
    }
    ndarray |o| o.assign(&(&x - &y).pow2().sum_axis(Axis(0)));
    candle |x, y| (&x - &y)?.sqr()?.sum(0);
}

reduction! {
    RowPlaces, "argmax(x, axis=1)": "argmax(x, axis=1)" -> i64 [rows] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        by_rows(&this.x, this.space.columns, output, |row| {
            let largest = maximum(row);
            row.iter().position(|&x| x == largest).expect("it is there") as i64
        });
    }
}

reduction! {
    ColumnPlaces, "argmax(x, axis=0)": "argmax(x, axis=0)" -> i64 [columns] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        let columns = this.space.columns;
        let part = output.len().div_ceil(rayon::current_num_threads());
        output.par_chunks_mut(part).enumerate().for_each(|(index, output)| {
            with_best_instructions(#[inline(always)] || {
                let mut best = vec![(f32::NEG_INFINITY, 0i32); output.len()];
                for (row, x) in this.x.chunks_exact(columns).enumerate() {
                    for (best, &x) in best.iter_mut().zip(&x[index * part..]) {
                        *best = if x > best.0 { (x, row as i32) } else { *best };
                    }
                }
                output.iter_mut().zip(best).for_each(|(o, (_, row))| *o = i64::from(row));
            });
        });
    }
}

reduction! {
    AnyAbove, "any(x > 9)": "any(x > 9)" -> bool [] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        let any = |x: &[f32]| fold(x, false, |any, x| any | (x > 9.0), |a, b| a | b);
        output[0] = by_parts(&this.x, any, |a, b| a | b);
    }
    ndarray |o| o.fill(x.iter().any(|&x| x > 9.0));
}

reduction! {
    CountAbove, "count_nonzero(x > 0)": "count_nonzero(x > 0)" -> i64 [] in MATRICES, within 0.0;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        let count = |x: &[f32]| fold(x, 0u32, |n, x| n + u32::from(x > 0.0), |a, b| a + b);
        output[0] = i64::from(by_parts(&this.x, count, |a, b| a + b));
    }
    ndarray |o| o.fill(x.fold(0, |count, &x| count + i64::from(x > 0.0)));
}

/// Sums of short rows.
macro_rules! row_sums {
    ($($job:ident $name:literal $sizes:ident;)*) => {$(
        reduction! {
            $job, $name: "sum(x, axis=1)" -> f32 [rows] in $sizes, within 1e-3;
            |rows, columns| x: f32 [rows, columns];
            |this, output| {
                by_rows(&this.x, this.space.columns, output, |row| match row.len() > LANES {
                    true => sum(row) as f32,
                    false => row.iter().map(|&x| f64::from(x)).sum::<f64>() as f32,
                });
            }
            ndarray |o| o.assign(&x.sum_axis(Axis(1)));
            candle |x| x.sum(1);
        }
    )*};
}

row_sums! {
    Threes "row sums of 3" ROWS_OF_3;
    Seventeens "row sums of 17" ROWS_OF_17;
    Hundreds "row sums of 100" ROWS_OF_100;
    Thousands "row sums of 1000" ROWS_OF_1000;
}

reduction! {
    EightColumns, "column sums of 8": "sum(x, axis=0)" -> f32 [columns] in ROWS_OF_8, within 5e-2;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        // Several rows in parallel, which uses more registers.
        let mut sums = [0f32; LANES];
        sums_of_columns(&this.x[..this.x.len() / LANES * LANES], LANES, &mut sums);
        output.fill(0.0);
        let rest = &this.x[this.x.len() / LANES * LANES..];
        let all = sums.chunks(this.space.columns).chain(rest.chunks(this.space.columns));
        all.for_each(|sums| output.iter_mut().zip(sums).for_each(|(o, sum)| *o += sum));
    }
    ndarray |o| o.assign(&x.sum_axis(Axis(0)));
    candle |x| x.sum(0);
}

reduction! {
    /// Rows of four elements.
    MiddleAxis, "sum(x, axis=1) of three": "sum(x, axis=1)"
        -> f32 [rows / 4, columns] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows / 4, 4, columns];
    |this, output| {
        let columns = this.space.columns;
        let run = |(x, output): (&[f32], &mut [f32])| {
            let (a, rest) = x.split_at(columns);
            let ((b, rest), output) = (rest.split_at(columns), &mut output[..columns]);
            let (c, d) = rest.split_at(columns);
            for (((o, a), b), (c, d)) in output.iter_mut().zip(a).zip(b).zip(c.iter().zip(d)) {
                *o = (f64::from(*a) + f64::from(*b) + f64::from(*c) + f64::from(*d)) as f32;
            }
        };
        let pieces = this.x.par_chunks(4 * columns).zip(output.par_chunks_mut(columns));
        pieces.for_each(|piece| with_best_instructions(#[inline(always)] || run(piece)));
    }
    ndarray |o| o.assign(&x.sum_axis(Axis(1)));
    candle |x| x.sum(1);
}

reduction! {
    RowVariances, "var(x, axis=1)": "var(x, axis=1)" -> f32 [rows] in MATRICES, within 1e-3;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        by_rows(&this.x, this.space.columns, output, |row| {
            let mean = sum(row) / row.len() as f64;
            let square = |sum, x| sum + (f64::from(x) - mean) * (f64::from(x) - mean);
            (fold(row, 0.0, square, |a, b| a + b) / row.len() as f64) as f32
        });
    }
    ndarray |o| o.assign(&x.var_axis(Axis(1), 0.0));
}

/// Fills each row of the output from that of `x`.
fn fill_rows(
    x: &[f32],
    columns: usize,
    output: &mut [f32],
    row: impl Fn(&[f32], &mut [f32]) + Sync,
) {
    let run = |(x, output): (&[f32], &mut [f32])| {
        with_best_instructions(
            #[inline(always)]
            || {
                let rows = x.chunks_exact(columns).zip(output.chunks_exact_mut(columns));
                rows.for_each(|(x, output)| row(x, output));
            },
        );
    };
    let rows = (x.len() / columns).div_ceil(rayon::current_num_threads());
    let pieces = x.par_chunks(rows * columns).zip(output.par_chunks_mut(rows * columns));
    pieces.for_each(run);
}

reduction! {
    Softmax, "softmax(x, axis=1)": "softmax(x, axis=1)" -> f32 [rows, columns] in MATRICES, within 2e-5;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        fill_rows(&this.x, this.space.columns, output, |x, output| {
            let largest = maximum(x);
            for (o, x) in output.iter_mut().zip(x) {
                *o = Exp::apply(x - largest);
            }
            let sum = sum(output) as f32;
            output.iter_mut().for_each(|o| *o /= sum);
        });
    }
}

reduction! {
    LogSumExp, "logsumexp(x, axis=1)": "logsumexp(x, axis=1)" -> f32 [rows] in MATRICES, within 2e-5;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        by_rows(&this.x, this.space.columns, output, |x| {
            let largest = maximum(x);
            let exponential = |sum, x: f32| {
                let exponential: f32 = Exp::apply(x - largest);
                sum + f64::from(exponential)
            };
            let sum: f64 = Log::apply(fold(x, 0.0, exponential, |a, b| a + b));
            (sum + f64::from(largest)) as f32
        });
    }
    candle |x| x.log_sum_exp(1);
}

reduction! {
    Standardise, "(x-mean)/std, rows":
        "(x - mean(x, axis=1, keepdims=true)) / std(x, axis=1, keepdims=true)"
        -> f32 [rows, columns] in MATRICES, within 1e-4;
    |rows, columns| x: f32 [rows, columns];
    |this, output| {
        fill_rows(&this.x, this.space.columns, output, |row, output| {
            let mean = sum(row) / row.len() as f64;
            let square = |sum, x| sum + (f64::from(x) - mean) * (f64::from(x) - mean);
            let variance = fold(row, 0.0, square, |a, b| a + b) / row.len() as f64;
            let (mean, deviation) = (mean as f32, variance.sqrt() as f32);
            for (o, x) in output.iter_mut().zip(row) {
                *o = (x - mean) / deviation;
            }
        });
    }
}

#[inline(always)]
fn pair(p: &[f32], q: &[f32]) -> f32 {
    let square = |axis: usize| f64::from((p[axis] - q[axis]) * (p[axis] - q[axis]));
    (square(0) + square(1) + square(2)) as f32
}

reduction! {
    PairDistances, "pairwise distances": "sum(square(p - q), axis=2)"
        -> f32 [rows, columns] in PAIRS, within 1e-4;
    |rows, columns| p: f32 [rows, 1, 3], q: f32 [1, columns, 3];
    |this, output| {
        let columns = this.space.columns;
        let rows = output.par_chunks_mut(columns).zip(this.p.par_chunks(3));
        rows.for_each(|(output, p)| with_best_instructions(#[inline(always)] || {
            output.iter_mut().zip(this.q.chunks_exact(3)).for_each(|(o, q)| *o = pair(p, q));
        }));
    }
    ndarray |o| o.assign(&(&p - &q).pow2().sum_axis(Axis(2)));
}

reduction! {
    NearestPair, "nearest of pairs": "min(sum(square(p - q), axis=2), axis=1)"
        -> f32 [rows] in PAIRS, within 1e-4;
    |rows, columns| p: f32 [rows, 1, 3], q: f32 [1, columns, 3];
    |this, output| {
        let rows = output.par_iter_mut().zip(this.p.par_chunks(3));
        rows.for_each(|(o, p)| with_best_instructions(#[inline(always)] || {
            let distances = this.q.chunks_exact(3).map(|q| pair(p, q));
            *o = distances.fold(f32::INFINITY, |least, x| if x < least { x } else { least });
        }));
    }
}
