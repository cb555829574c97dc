//! Images of `u8`, channels last, prepared for a network: converted to floats, normalised by channel,
//! channels first.
//!
//! `cargo run --example pictures --features macros,ndarray`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::ArrayView;
use indim::text::Binding;
use indim::text::{Expression, ParseLimits};
use indim::{ArrayViewMut, CompileOptions, DType, GraphBuilder, compile};
use ndarray::{Array, Array4, array};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pictures: Array4<u8> =
        Array::from_shape_fn((2, 4, 5, 3), |(n, h, w, c)| (60 * n + 12 * h + 5 * w + 70 * c) as u8);
    let mean = array![0.485f32, 0.456, 0.406];
    let deviation = array![0.229f32, 0.224, 0.225];

    // Conversion to `f32` comes first: bytes divided by a number would be f64, as in NumPy.
    let text = "transpose((f32(x) / 255 - mean) / deviation, [0, 3, 1, 2])";
    let expression = Expression::parse(text, &ParseLimits::default())?;
    let b = GraphBuilder::new();
    let types = [("x", DType::U8, vec![2, 4, 5, 3]), ("mean", DType::F32, vec![3])];
    let types = types.into_iter().chain([("deviation", DType::F32, vec![3])]);
    let mut bindings = Vec::new();
    for (name, dtype, shape) in types {
        bindings.push((name, Binding::Array(b.parameter(name, dtype, shape)?)));
    }
    let results = expression.build_results(&b, &bindings, None)?;
    let executable = compile(&b.finish(&results)?, &CompileOptions::default())?;

    // Writes into existing memory, without a copy.
    let mut normalised = Array4::<f32>::zeros((2, 3, 4, 5));
    let inputs = [ArrayView::from(&pictures), (&mean).into(), (&deviation).into()];
    executable.run_into(&inputs, &mut [ArrayViewMut::from(&mut normalised)])?;

    for ((n, c, h, w), &value) in normalised.indexed_iter() {
        let expected = (f32::from(pictures[[n, h, w, c]]) / 255.0 - mean[c]) / deviation[c];
        assert!((value - expected).abs() < 1e-6);
    }
    println!("{:.3}", normalised.slice(ndarray::s![0, .., 0, ..]));
    Ok(())
}
