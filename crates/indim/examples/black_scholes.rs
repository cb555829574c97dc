//! Black-Scholes option prices of every strike at every time to maturity, without repeated inputs.
//!
//! `cargo run --example black_scholes --features macros`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::eval;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (price, rate, volatility) = (100.0f64, 0.03, 0.2);
    let strikes = [80.0f64, 90.0, 100.0, 110.0, 120.0];
    let years = [0.25f64, 1.0, 2.0];

    let calls = eval!(
        "k = strikes[:, None]; t = years[None, :]; s = volatility * sqrt(t)
         d1 = (log(price / k) + (rate + volatility * volatility / 2) * t) / s; d2 = d1 - s
         n1 = 0.5 * erfc(-d1 / sqrt(2.0)); n2 = 0.5 * erfc(-d2 / sqrt(2.0))
         price * n1 - k * exp(-rate * t) * n2",
        price,
        rate,
        volatility,
        strikes,
        years
    )?;

    let calls: Vec<f64> = calls.into_vec()?;
    // An option at the money, one year to maturity: 9.4134.
    assert!((calls[2 * 3 + 1] - 9.413403).abs() < 1e-6);
    for (strike, row) in strikes.iter().zip(calls.chunks(years.len())) {
        println!("{strike}: {row:.4?}");
    }
    Ok(())
}
