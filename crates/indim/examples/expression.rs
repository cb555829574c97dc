//! `evaluate`: one expression over named arrays. The second call has an error, which `?` draws with its line.
//!
//! `cargo run --package indim --example expression`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::{Array, evaluate, inputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pictures = Array::new([2, 3, 2], (0..12).map(|i| i as f32).collect())?;
    let mean = [1.0f32, 3.0, 5.0];
    let inputs = inputs![p = pictures, m = mean, s = 0.5];

    // Channels are axis 1, so the operation states its rule.
    let centred = evaluate("sub(p, m, dims=[1]) * s", inputs.clone())?;
    println!("{centred}");

    // NumPy's rule aligns `m` with axis 2, whose size differs.
    if std::env::args().any(|argument| argument == "--mistake") {
        evaluate("(p - m) * s", inputs)?;
    }
    Ok(())
}
