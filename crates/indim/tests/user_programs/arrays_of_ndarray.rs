//! `ndarray` arrays as inputs and outputs: owned, borrowed, transposed and sliced.

use indim::prelude::*;
use ndarray::{Array1, Array2, ArrayView1, array, s};

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let bias = array![10.0, 20.0, 30.0];

    // One call; `inputs!` names arrays after their variables.
    let sum: Array2<f64> = evaluate("x + bias", inputs![x, bias])?.try_into()?;
    assert_eq!(sum, &x + &bias);

    // Views in any layout.
    let t: Array2<f64> = evaluate("t * 2", [("t", x.t())])?.try_into()?;
    assert_eq!(t, &x.t() * 2.0);
    let last = x.slice(s![.., 1..;-1]);
    let sums: Array1<f64> = evaluate("sum(last, axis=0)", inputs![last])?.try_into()?;
    assert_eq!(sums, array![9.0, 7.0]);

    // A compiled graph.
    let b = GraphBuilder::new();
    let (px, pb) = (b.parameter("x", DType::F64, [2, 3])?, b.parameter("bias", DType::F64, [3])?);
    let graph = b.finish(&[b.numpy().add(&px, &pb)?.max(1)])?;
    let executable = compile(&graph, &CompileOptions::default())?;
    let results = executable.run(&[ArrayView::from(&x), ArrayView::from(&bias)])?;
    let largest: Array1<f64> = results[0].to_ndarray()?;
    assert_eq!(largest, array![33.0, 36.0]);
    let view: ArrayView1<'_, f64> = results[0].ndarray()?; // no copy
    assert_eq!(view.sum(), 69.0);

    // Output into `ndarray` memory.
    let mut out = Array1::<f64>::zeros(2);
    let outputs = &mut [ArrayViewMut::from(&mut out)];
    executable.run_into(&[x.view().into(), bias.view().into()], outputs)?;
    assert_eq!(out, largest);

    // Moved in and out, without a copy.
    let owned = Array::from(x);
    assert_eq!(owned.shape().sizes(), [2, 3]);
    let back: Array2<f64> = owned.try_into()?;
    assert_eq!(back[[1, 2]], 6.0);
    Ok(())
}
