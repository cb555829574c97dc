//! `eval!`: one call over variables, checked at compile time.

use indim::prelude::*;

#[test]
fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let m = vec![2.5f32, 3.5, 4.5];
    let s = 1.5;
    let result = eval!("(x - m) / s", x, m, s)?;
    assert_eq!(result.shape().sizes(), [2, 3]);

    // A result can be an input.
    let product = eval!("y * k", y = &result, k = 2)?;
    assert_eq!(product.into_vec::<f32>()?, [-2.0, -2.0, -2.0, 2.0, 2.0, 2.0]);

    let slice: &[f32] = &m;
    let total: f32 = eval!("sum(slice)", slice)?.scalar()?;
    assert_eq!(total, 10.5);
    let results = eval!("low = min(x); high = max(x); low, high", x)?;
    assert_eq!(results[1].scalar::<f32>()?, 6.0);
    let array = [1.0, 2.0];
    assert_eq!(eval!("sqrt(sum(array * array))", array)?.scalar::<f64>()?, 5f64.sqrt());
    Ok(())
}
