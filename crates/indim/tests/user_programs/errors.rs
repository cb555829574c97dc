//! Errors by `?`: of shapes, elements and options, as one `Box<dyn Error>`.

use std::error::Error;

use indim::array::Order;
use indim::prelude::*;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn mean_of(x: &Array) -> Result<f32> {
    Ok(evaluate("mean(x)", [("x", x)])?.scalar::<f32>()?)
}

#[test]
fn runs() -> Result<()> {
    assert_eq!(mean_of(&Array::from([1.0f32, 3.0]))?, 2.0);

    // An element type other than the requested one.
    let d = Array::from(vec![1.0, 3.0]);
    assert!(mean_of(&d).unwrap_err().to_string().contains("of f64, not of f32"));
    match d.elements::<f32>() {
        Ok(_) => panic!("the elements are of f64"),
        Err(error) => assert_eq!(error.code(), "element-type"),
    }

    // Incompatible shapes.
    let (x, y) = (Array::full([2], 1.0f32)?, Array::full([3], 1.0f32)?);
    let error = evaluate("x + y", inputs![x, y]).unwrap_err();
    assert_eq!(error.code(), "size-mismatch");
    assert!(error.to_string().contains("axis 0 of `y` is 3"));

    // Too few elements.
    let error = Array::new([2, 2], vec![1.0f32; 3]).unwrap_err();
    assert_eq!(error.code(), "element-count");

    // An order other than the requested one; the error states the remedy.
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [2, 2])?;
    let executable = compile(&b.finish(&[-x])?, &CompileOptions::default())?;
    let x = Array::new([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let options = RunOptions::new().order(Order::F);
    let columns = executable.run_with(&[x.view()], &options)?.remove(0);
    let error = columns.elements::<f64>().unwrap_err();
    assert_eq!(error.code(), "not-row-major");
    assert!(error.to_string().contains("`to_row_major`"), "{error}");
    assert_eq!(columns.to_row_major()?.elements::<f64>()?, [-1.0, -2.0, -3.0, -4.0]);
    Ok(())
}
