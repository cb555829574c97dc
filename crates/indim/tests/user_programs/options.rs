//! Options of compilation and of runs: level, threads, memory, order.

use indim::array::Order;
use indim::prelude::*;
use indim::run::{Level, Threads};

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [100, 100])?;
    let deviation = x.std(ReduceOptions::axes(0).keepdims(true).correction(1.0));
    let options = CompileOptions::new().level(Level::detect()).memory_limit(1 << 30);
    let executable = compile(&b.finish(&[deviation])?, &options)?;

    let x = Array::from_fn([100, 100], |index| (index[0] + index[1]) as f32)?;
    let options = RunOptions::new().threads(Threads::Caller).memory_limit(1 << 20).order(Order::C);
    let results = executable.run_with(&[x.view()], &options)?;
    assert_eq!(results[0].shape().sizes(), [1, 100]);
    assert!((results[0].elements::<f32>()?[7] - 29.011_49).abs() < 1e-4);

    let small = RunOptions::new().memory_limit(16);
    let error = executable.run_with(&[x.view()], &small).unwrap_err();
    assert_eq!(error.code(), "memory-limit");
    Ok(())
}
