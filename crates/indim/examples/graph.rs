//! A graph built from values, compiled once and run in three ways: by input names, into caller memory, in
//! place.
//!
//! `cargo run --package indim --example graph`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::run::InPlace;
use indim::{ArrayView, ArrayViewMut, CompileOptions, DType, GraphBuilder, Value, compile};

/// A function over values needs no builder and no lifetimes.
fn gelu(x: &Value) -> Value {
    0.5 * x * (x * -std::f64::consts::FRAC_1_SQRT_2).erfc()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3])?;
    let bias = b.parameter("bias", DType::F32, [2])?;
    let shifted = b.add(&x, &bias, &[0])?; // axis 0 of the bias lands on axis 0 of x
    let result = gelu(&shifted).maximum(-0.1);
    let executable = compile(&b.finish(&[result])?, &CompileOptions::default())?;

    for (name, array_type) in executable.inputs() {
        println!("{name}: {array_type}");
    }

    let mut x = [-2.0f32, -1.0, 0.0, 1.0, 2.0, 3.0];
    let bias = [0.5f32, -0.5];
    let named = [("bias", ArrayView::from(&bias)), ("x", ArrayView::from_slice([2, 3], &x)?)];
    println!("{}", executable.run_named(&named)?[0]);

    let over_x = InPlace::Overwrite(ArrayViewMut::from_slice([2, 3], &mut x)?);
    executable.run_in_place(vec![over_x, InPlace::Read((&bias).into())])?;
    println!("{x:?}");
    Ok(())
}
