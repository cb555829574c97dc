//! Time and error of alternative summation orders:
//! `cargo run --release -p indim-bench --example sum_orders [avx2]`. `docs/decisions/sum-order.md` has what
//! came of it. Holds unsafe code, in `vectors.rs`.
//!
//! One thread sums rows of `f32`. All orders take turns; for each, the shortest and the median time are
//! printed over those of the order that indim has.

#![allow(clippy::print_stdout)]

#[cfg(target_arch = "x86_64")]
mod data;
#[cfg(target_arch = "x86_64")]
mod orders;
#[cfg(target_arch = "x86_64")]
mod table;
#[cfg(target_arch = "x86_64")]
mod vectors;

#[cfg(target_arch = "x86_64")]
fn main() {
    use vectors::{Avx2, Avx512, Vectors};
    let is_avx2_asked_for = std::env::args().any(|argument| argument == Avx2::NAME);
    if Avx512::is_available() && !is_avx2_asked_for {
        table::print::<Avx512>();
    } else if Avx2::is_available() {
        table::print::<Avx2>();
    } else {
        println!("the processor has no AVX2");
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the orders are written for x86-64");
}
