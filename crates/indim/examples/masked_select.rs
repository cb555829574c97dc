//! Sensor readings: those whose flag marks an error are replaced by the mean of the others.
//!
//! `cargo run --example masked_select --features macros`
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use indim::eval;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let readings = vec![20.5f32, 999.0, 21.5, 22.0, -999.0];
    let flags = vec![0u8, 4, 0, 1, 5];

    let results = eval!(
        "is_right = (flags & 4) == 0; m = mean(readings, where=is_right)
         where(is_right, readings, m), count_nonzero(is_right)",
        readings,
        flags
    )?;

    let mended = results[0].elements::<f32>().expect("f32 in, f32 out");
    assert_eq!(mended, [20.5, 64.0 / 3.0, 21.5, 22.0, 64.0 / 3.0]);
    println!("{mended:?}, {:?} of them right", results[1].elements::<i64>());
    Ok(())
}
