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

#[test]
fn indices_out_of_range_give_the_fill_value() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 2, 3]).unwrap();
    let i = b.parameter("i", DType::I8, [2, 1]).unwrap();
    let j = b.parameter("j", DType::U64, [3]).unwrap();
    let both = b.gather_or_fill(&x, &[0, 2], &[&i, &j], f32::NAN).unwrap();
    let last = b.gather_or_fill(&x, &[2], &[&j], 7).unwrap();
    assert_eq!(both.array_type().unwrap().to_string(), "f32[2, 3, 2]");
    let graph = b.finish(&[both, last]).unwrap();
    let x = Array::new([2, 2, 3], (0u8..12).map(f32::from).collect::<Vec<_>>()).unwrap();
    let i = Array::new([2, 1], vec![-1i8, i8::MIN]).unwrap();
    let j = Array::new([3], vec![2u64, u64::MAX, 0]).unwrap();
    let found = evaluate(&graph, &[x, i, j]).unwrap();
    // JAX's `x.at[i, :, j].get(mode="fill")`: the axes of the indices come first.
    let both = found[0].elements::<f32>().unwrap();
    assert_eq!([both[0], both[1], both[4], both[5]], [8.0, 11.0, 6.0, 9.0]);
    assert!(both[2..4].iter().chain(&both[6..]).all(|element| element.is_nan()));
    let last = [2.0, 7.0, 0.0, 5.0, 7.0, 3.0, 8.0, 7.0, 6.0, 11.0, 7.0, 9.0];
    assert_eq!(found[1].elements::<f32>(), Ok(&last[..]));
}

#[test]
fn indices_far_out_of_range_of_a_signed_word_give_the_fill_value() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2]).unwrap();
    let i = b.parameter("i", DType::I64, [6]).unwrap();
    let graph = b.finish(&[b.gather_or_fill(&x, &[0], &[i], -9).unwrap()]).unwrap();
    let x = Array::new([2], vec![4, 5]).unwrap();
    let i = Array::new([6], vec![i64::MAX, i64::MIN, -2, -3, 2, 1]).unwrap();
    let found = evaluate(&graph, &[x, i]).unwrap();
    assert_eq!(found[0].elements::<i32>(), Ok(&[-9, -9, 4, -9, -9, 5][..]));
}

#[test]
fn a_fill_value_of_another_shape_is_an_error() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2]).unwrap();
    let i = b.parameter("i", DType::I64, [6]).unwrap();
    let fill = b.parameter("fill", DType::I32, [3]).unwrap();
    assert!(b.gather_or_fill(&x, &[0], &[&i], fill).is_err());
    let empty = b.parameter("empty", DType::I32, [0]).unwrap();
    assert_eq!(b.gather_or_fill(&empty, &[0], &[&i], 1).unwrap_err().code(), "take-from-empty");
}
