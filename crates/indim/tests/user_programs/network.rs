//! A network whose layers are built in a loop.

use indim::prelude::*;

/// `relu(x @ w + bias)`: the axis of `w`'s rows is the last of `x`.
fn layer(x: &Value, w: &Value, bias: &Value) -> Result<Value, indim::GraphError> {
    let b = x.builder();
    let shape = x.array_type()?.shape;
    let columns = b.reshape(x, [shape[0], shape[1], 1])?;
    let products = b.numpy().mul(columns, w)?;
    Ok(b.numpy().add(products.sum(1), bias)?.relu())
}

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let sizes = [4, 8, 8, 2];
    let b = GraphBuilder::new();
    let mut h = b.parameter("x", DType::F32, [16, sizes[0]])?;
    let mut arrays = vec![Array::full([16, sizes[0]], 0.5f32)?];
    for (i, pair) in sizes.windows(2).enumerate() {
        let w = b.parameter(&format!("w{i}"), DType::F32, [pair[0], pair[1]])?;
        let bias = b.parameter(&format!("b{i}"), DType::F32, [pair[1]])?;
        h = layer(&h, &w, &bias)?;
        arrays.push(Array::full([pair[0], pair[1]], 0.1f32)?);
        arrays.push(Array::zeros(DType::F32, [pair[1]])?);
    }
    let executable = compile(&b.finish(&[h.softmax(-1)])?, &CompileOptions::default())?;
    let views: Vec<ArrayView<'_>> = arrays.iter().map(Array::view).collect();
    let results = executable.run(&views)?;
    assert_eq!(results[0].shape().sizes(), [16, 2]);
    assert_eq!(results[0].elements::<f32>()?, [0.5; 32]);
    Ok(())
}
