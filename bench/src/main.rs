//! Benchmarks: jobs against hand-written fused loops.

fn main() {}
