//! The limit: each job as one fused loop written by hand.

#![allow(unsafe_code)]

use rayon::prelude::*;

use crate::jobs::{Job, Kind};

/// Runs a job into `output`, with the threads of the current pool.
pub(crate) fn run(job: &Job, inputs: &[Vec<f32>], output: &mut [f32]) {
    let threads = rayon::current_num_threads();
    let rows_per_thread = job.rows.div_ceil(threads);
    let is_small = output.len() < 64 * 1024;
    let piece = if is_small { job.rows } else { rows_per_thread };
    let work = |(index, output): (usize, &mut [f32])| {
        rows(job, inputs, index * piece, output);
    };
    match is_small {
        true => work((0, output)),
        false => output.par_chunks_mut(piece * job.columns).enumerate().for_each(work),
    }
}

/// The rows from `first` on, as many as `output` holds, with the best instructions there are.
fn rows(job: &Job, inputs: &[Vec<f32>], first: usize, output: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512 F.
        return unsafe { rows_avx512(job, inputs, first, output) };
    }
    rows_of(job, inputs, first, output);
}

/// # Safety
/// The processor has AVX-512 F.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn rows_avx512(job: &Job, inputs: &[Vec<f32>], first: usize, output: &mut [f32]) {
    rows_of(job, inputs, first, output);
}

#[inline(always)]
fn rows_of(job: &Job, inputs: &[Vec<f32>], first: usize, output: &mut [f32]) {
    let columns = job.columns;
    let x = &inputs[0];
    for (index, output) in output.chunks_exact_mut(columns).enumerate() {
        let row = first + index;
        match job.kind {
            Kind::RowBias => {
                let x = &x[row * columns..][..columns];
                let pairs = x.iter().zip(&inputs[1]);
                output.iter_mut().zip(pairs).for_each(|(o, (x, v))| *o = x + v);
            }
            Kind::ColumnBias => {
                let (x, v) = (&x[row * columns..][..columns], inputs[1][row]);
                output.iter_mut().zip(x).for_each(|(o, x)| *o = x + v);
            }
            Kind::OuterProduct => {
                let u = x[row];
                output.iter_mut().zip(&inputs[1]).for_each(|(o, v)| *o = u * v);
            }
            Kind::Normalise => {
                let x = &x[row * columns..][..columns];
                let [m, s, g, b] = [1, 2, 3, 4].map(|input: usize| &inputs[input][..columns]);
                for (i, o) in output.iter_mut().enumerate() {
                    *o = (x[i] - m[i]) * s[i] * g[i] + b[i];
                }
            }
        }
    }
}
