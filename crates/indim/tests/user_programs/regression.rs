//! Linear regression by gradient descent.

use indim::prelude::*;

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let b = GraphBuilder::new();
    let w = b.parameter("w", DType::F64, [2])?;
    let x = b.parameter("x", DType::F64, [4, 2])?;
    let y = b.parameter("y", DType::F64, [4])?;
    let loss = (b.numpy().mul(&x, &w)?.sum(1) - y).square().mean(());
    let step = b.finish(&[loss])?.value_and_gradient(&["w"])?;
    let step = compile(&step, &CompileOptions::default())?;

    let x = Array::new([4, 2], vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0])?;
    let y = Array::from(vec![2.0, -1.0, 1.0, 3.0]);
    let mut w = Array::zeros(DType::F64, [2])?;
    for _ in 0..200 {
        let results = step.run(&[w.view(), x.view(), y.view()])?;
        let gradient = &results[1];
        w = evaluate("w - 0.2 * gradient", [("w", &w), ("gradient", gradient)])?;
    }
    let w = w.into_vec::<f64>()?;
    assert!((w[0] - 2.0).abs() < 1e-6 && (w[1] + 1.0).abs() < 1e-6, "{w:?}");
    Ok(())
}
