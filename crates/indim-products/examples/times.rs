//! Times of products of matrices on one thread: the best of many, and the share of this core's peak of fused
//! multiply-adds, measured in the same run.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use indim_ops::{DType, Level};
use indim_products::{AxisClass, Product, ProductAxis, ProductPlan, ProductPointers};

/// The time of a function: the best of all runs in half a second.
fn best(mut run: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Dense row-major matrices.
fn product(batch: usize, rows: usize, columns: usize, summed: usize) -> Product {
    let axis = |class, size, x: usize, y: usize, out: usize| ProductAxis {
        class,
        size,
        x: 4 * x as isize,
        y: 4 * y as isize,
        out: 4 * out as isize,
    };
    let (x, y, compute, out) = (DType::F32, DType::F32, DType::F32, DType::F32);
    let axes = vec![
        axis(AxisClass::Batch, batch, rows * summed, summed * columns, rows * columns),
        axis(AxisClass::Row, rows, summed, 0, columns),
        axis(AxisClass::Column, columns, 0, 1, 1),
        axis(AxisClass::Summed, summed, 1, columns, 0),
    ];
    Product { x, y, compute, out, axes }
}

fn time(batch: usize, rows: usize, columns: usize, summed: usize) -> (f64, f64) {
    let plan = ProductPlan::new(&product(batch, rows, columns, summed), Level::detect(), 1);
    let plan = plan.expect("floats have kernels");
    let x: Vec<f32> = (0..batch * rows * summed).map(|it| (it % 17) as f32).collect();
    let y: Vec<f32> = (0..batch * summed * columns).map(|it| (it % 13) as f32).collect();
    let mut out = vec![0.0_f32; batch * rows * columns];
    let mut scratch = vec![0_u8; plan.scratch_bytes() + 64];
    let mut shared = vec![0_u8; plan.shared_bytes() + 64];
    let scratch_at = scratch.as_ptr().align_offset(64);
    let shared_at = shared.as_ptr().align_offset(64);
    let pointers = ProductPointers {
        x: x.as_ptr().cast(),
        y: y.as_ptr().cast(),
        out: out.as_mut_ptr().cast(),
        packed: [core::ptr::null(); 2],
        shared: shared.as_mut_ptr().wrapping_add(shared_at),
    };
    let scratch = scratch.as_mut_ptr().wrapping_add(scratch_at);
    let seconds = best(|| {
        for phase in 0..plan.phases() {
            for task in 0..plan.tasks(phase) {
                // SAFETY: the arrays have the sizes of the product, the buffers those of the plan.
                unsafe { plan.run(phase, task, &pointers, scratch) }
            }
        }
    });
    black_box(&out);
    (seconds, 2.0 * plan.multiply_adds() as f64 / seconds)
}

fn main() {
    // The largest rate of all is near the peak: everything lies in L1.
    let peak = (0..4).map(|_| time(1, 96, 96, 64).1).fold(0.0, f64::max);
    println!("96 x 96 x 64: {:.1} GF/s", peak / 1e9);
    for (batch, rows, columns, summed) in [
        (1, 64, 64, 64),
        (1, 256, 256, 256),
        (1, 512, 512, 512),
        (1, 1024, 1024, 1024),
        (1, 2048, 2048, 2048),
        (1, 1024, 1024, 64),
        (1, 64, 64, 8192),
        (384, 128, 128, 64),
        (1, 1, 4096, 4096),
        (1, 4, 4096, 4096),
        (1, 8, 4096, 4096),
        (1, 4096, 1, 4096),
        (1, 512, 1, 512),
        (1, 1, 512, 512),
        (1, 2_000, 3, 3),
        (1, 1_000_000, 3, 3),
        (1000, 3, 3, 3),
        (1000, 32, 32, 32),
    ] {
        let (seconds, rate) = time(batch, rows, columns, summed);
        let name = format!("{batch} x ({rows} x {summed} @ {summed} x {columns})");
        println!("{name:40} {:10.1} us {:6.1} GF/s", seconds * 1e6, rate / 1e9);
    }
}
