//! Standardises the columns of an `ndarray` table: each minus its mean, divided by its standard deviation.
//!
//! `cargo run --example standardise --features macros,ndarray`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::eval;
use ndarray::{ArrayView2, Axis, array};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let x = array![[1.0f64, 10.0], [2.0, 30.0], [3.0, 20.0], [6.0, 60.0]];

    let result = eval!("m = mean(x, axis=0); s = std(x, axis=0); (x - m) / s", x)?;
    let standardised: ArrayView2<'_, f64> = result.ndarray()?; // no copy

    for column in standardised.axis_iter(Axis(1)) {
        assert!(column.sum().abs() < 1e-12);
        assert!((column.map(|x| x * x).sum() / 4.0 - 1.0).abs() < 1e-12);
    }
    println!("{standardised:.3}");
    Ok(())
}
