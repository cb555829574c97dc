//! Outputs in memory of any layout: column-major, every second column; inputs with negative strides.

use indim::array::Order;
use indim::prelude::*;

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3])?;
    let executable = compile(&b.finish(&[10.0 * x])?, &CompileOptions::default())?;
    let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;

    // A result in column-major order.
    let options = RunOptions::new().order(Order::F);
    let y = executable.run_with(&[x.view()], &options)?.remove(0);
    assert_eq!(y.strides(), [1, 2]);
    assert_eq!(y.to_vec::<f32>()?, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
    assert_eq!(y, executable.run(&[x.view()])?[0]); // the same array in another order

    // Every second element of a larger picture.
    let mut memory = vec![0.0f32; 12];
    let every_second = ArrayViewMut::from_strided([2, 3], &[6, 2], &mut memory, 0)?;
    executable.run_into(&[x.view()], &mut [every_second])?;
    assert_eq!(memory, [10.0, 0.0, 20.0, 0.0, 30.0, 0.0, 40.0, 0.0, 50.0, 0.0, 60.0, 0.0]);

    // The rows of the input in reverse.
    let reversed = ArrayView::from_strided([2, 3], &[-3, 1], x.elements::<f32>()?, 3)?;
    assert_eq!(reversed.byte_strides(), [-12, 4]);
    let y = executable.run(&[reversed])?.remove(0);
    assert_eq!(y.elements::<f32>()?, [40.0, 50.0, 60.0, 10.0, 20.0, 30.0]);

    // Output into an existing array.
    let mut out = Array::zeros(DType::F32, [2, 3])?;
    executable.run_into(&[x.view()], &mut [out.view_mut()])?;
    assert_eq!(out.elements::<f32>()?[5], 60.0);
    Ok(())
}
