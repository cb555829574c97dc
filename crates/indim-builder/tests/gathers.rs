//! Gathers, and the greatest elements along an axis: axes from the end, and shapes that do not fit.

use indim_builder::GraphBuilder;
use indim_graph::{Array, TakeMode, evaluate};
use indim_ops::DType;

#[test]
fn batch_axes_of_gather_nd_are_equal() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    for batch in [5, 1] {
        let indices = b.parameter(&format!("i{batch}"), DType::I64, [batch, 7, 1]).unwrap();
        let error = b.gather_nd(&x, indices, 1, TakeMode::Error).unwrap_err();
        assert!(error.to_string().contains(&format!("{batch}")), "{error}");
    }
    let indices = b.parameter("i", DType::I64, [3, 7, 1]).unwrap();
    let gathered = b.gather_nd(&x, indices, 1, TakeMode::Error).unwrap();
    assert_eq!(gathered.array_type().unwrap().to_string(), "f32[3, 7]");
}

#[test]
fn greatest_elements_along_an_axis_from_the_end() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 3]).unwrap();
    let results = b.top_k(&x, 2, -1, true).unwrap();
    assert_eq!(b.top_k(&x, 4, -1, true).unwrap_err().code(), "slice-out-of-range");
    assert_eq!(b.top_k(&x, 1, 2, true).unwrap_err().code(), "axis-out-of-range");
    let graph = b.finish(&results).unwrap();
    let found = evaluate(&graph, &[Array::new([2, 3], vec![1, 3, 2, 9, 7, 8]).unwrap()]).unwrap();
    assert_eq!(found[0].elements::<i32>(), Ok(&[3, 2, 9, 8][..]));
    assert_eq!(found[1].elements::<i64>(), Ok(&[1, 2, 0, 2][..]));
}
