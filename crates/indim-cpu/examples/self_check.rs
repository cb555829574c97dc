//! A self-check that needs no files, threads or mapped memory, for WebAssembly.
//!
//! `cargo xtask cross wasm32` builds it, and Node.js runs it. It succeeds if every operation gives the
//! recorded bits and a run over an array of some MiB is right.

#[path = "../tests/same_bits/cells.rs"]
mod cells;
#[path = "../tests/same_bits/values.rs"]
mod values;

use std::process::ExitCode;

use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, CompileOptions, compile};
use indim_ops::DType;

/// Whether every cell has the recorded digest, by the reference evaluator and by the executor.
fn has_recorded_bits() -> bool {
    let line = |cell: cells::Cell| {
        let reference = cell.reference();
        (cell.executed(&CompileOptions::default()) == reference)
            .then(|| format!("{} {reference:016x}", cell.name))
    };
    let found: Option<Vec<String>> = cells::cells().map(line).collect();
    let recorded = include_str!("../tests/same_bits/digests.txt");
    found.is_some_and(|found| found.iter().map(String::as_str).eq(recorded.lines()))
}

/// Whether the sum of two arrays of 4 MiB is right.
fn runs_over_large_arrays() -> Result<bool, Box<dyn std::error::Error>> {
    const COUNT: usize = 1 << 20;
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [COUNT])?;
    let graph = b.finish(&[b.add(&x, &x, &[])?])?;
    let elements: Vec<f32> = (0..COUNT).map(|index| index as f32).collect();
    let x = ArrayView::from_slice([COUNT], &elements)?;
    let sums = compile(&graph, &CompileOptions::default())?.run(&[x])?;
    let doubled = elements.iter().map(|x| x + x);
    Ok(sums[0].elements::<f32>().is_ok_and(|sums| sums.iter().copied().eq(doubled)))
}

fn main() -> ExitCode {
    match has_recorded_bits() && runs_over_large_arrays().unwrap_or(false) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
