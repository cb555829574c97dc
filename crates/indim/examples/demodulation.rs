//! Phase demodulation of complex samples of `num-complex`.
//!
//! `cargo run --example demodulation --features macros,num-complex`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::array::as_elements;
use indim::eval;
use num_complex::Complex;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sent: Vec<f32> = (0..64).map(|n| (n as f32 / 10.0).sin()).collect();
    let carrier = |n: usize| Complex::from_polar(1.0f32, 0.3 * n as f32);
    let received: Vec<Complex<f32>> = sent
        .iter()
        .enumerate()
        .map(|(n, &phase)| 0.5 * carrier(n) * Complex::from_polar(1.0, phase))
        .collect();
    let local: Vec<Complex<f32>> = (0..64).map(carrier).collect();

    let base = eval!(
        "z = received * conj(local); atan2(imag(z), real(z))",
        received = as_elements(&received),
        local = as_elements(&local)
    )?;

    let phases = base.elements::<f32>().expect("parts of c64 are f32");
    for (found, sent) in phases.iter().zip(&sent) {
        assert!((found - sent).abs() < 1e-5);
    }
    println!("{:.3?}", &phases[..8]);
    Ok(())
}
