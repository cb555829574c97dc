//! An expression compiled once and run on many batches by a thread pool.
//!
//! `cargo run --example batches`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::text::{Binding, Expression, ParseLimits};
use indim::{Array, ArrayView, CompileOptions, DType, GraphBuilder};
use rayon::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let expression = Expression::parse("tanh(x * w + b)", &ParseLimits::default())?;
    let b = GraphBuilder::new();
    let mut bindings = Vec::new();
    for (name, shape) in [("x", vec![32, 8]), ("w", vec![8]), ("b", vec![])] {
        bindings.push((name, Binding::Array(b.parameter(name, DType::F32, shape)?)));
    }
    let results = expression.build_results(&b, &bindings, None)?;
    let executable = indim::compile(&b.finish(&results)?, &CompileOptions::default())?;

    let weights = Array::new([8], vec![0.5f32; 8])?;
    let bias = Array::from_scalar(0.25f32);
    let batches: Vec<Vec<f32>> = (0..100).map(|n| vec![n as f32 / 100.0; 32 * 8]).collect();

    // Threads share one `Executable`; the pool schedules each run as one task.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
    let means: Vec<f32> = pool
        .install(|| {
            let mean = |batch: &Vec<f32>| {
                let x = ArrayView::from_slice([32, 8], batch)?;
                let results = executable.run(&[x, (&weights).into(), (&bias).into()])?;
                let elements = results[0].elements::<f32>().expect("f32 in, f32 out");
                Ok::<f32, Box<dyn std::error::Error + Send + Sync>>(
                    elements.iter().sum::<f32>() / 256.0,
                )
            };
            batches.par_iter().map(mean).collect::<Result<_, _>>()
        })
        .map_err(|error| error.to_string())?;

    assert!((means[50] - 0.5f32.tanh()).abs() < 1e-6);
    println!("{:?} ... {:?}", means[0], means[99]);
    Ok(())
}
