//! Expressions under the numpy rule give NumPy's element types and NumPy's numbers.
//!
//! `data/numpy_expressions.py` wrote the expected values.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::{DType, Element, f16};
use indim_text::{ExprError, Expression, ParseLimits, promote};

/// The fields of each line of a data file.
fn cases(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let fields: Vec<&str> = line.split(" ; ").collect();
        (fields[0], fields[1], fields[2])
    })
}

fn result_type(text: &str, types: &[DType]) -> Result<DType, ExprError> {
    let b = GraphBuilder::new();
    let bindings: Vec<(&str, Value)> = ["a", "b"]
        .into_iter()
        .zip(types)
        .map(|(name, dtype)| (name, b.parameter(name, *dtype, [2]).unwrap()))
        .collect();
    let result = Expression::parse(text, &ParseLimits::default())?.build(&b, &bindings, None)?;
    Ok(result.array_type().unwrap().dtype)
}

/// NumPy's type, unless docs/expressions.md documents another.
fn expected(text: &str, types: &[DType], numpy: &str) -> Result<DType, &'static str> {
    // Complex numbers have no order in the table of operations.
    let is_complex = types.iter().any(|dtype| matches!(dtype, DType::C64 | DType::C128));
    let is_real_only = ["<", ">", "minimum", "maximum", "fmin", "fmax", "less"]
        .iter()
        .any(|name| text.contains(name));
    if numpy == "error" || (is_complex && is_real_only) {
        return Err("error");
    }
    Ok(numpy.parse().unwrap())
}

#[test]
fn element_types_are_those_of_numpy() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (text, types, numpy) in cases(include_str!("data/numpy_types.txt")) {
        let types: Vec<DType> = types.split(' ').map(|name| name.parse().unwrap()).collect();
        let ours = result_type(text, &types);
        count += 1;
        if ours.as_ref().map_err(|_| "error")
            != expected(text, &types, numpy).as_ref().map_err(|e| *e)
        {
            wrong.push(format!("{text} on {types:?}: {ours:?}, NumPy {numpy}"));
        }
    }
    assert!(count > 11_000, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn promotion_is_symmetric_and_bf16_and_storage_types_stand_alone() {
    for &x in DType::ALL {
        for &y in DType::ALL {
            assert_eq!(promote(x, y), promote(y, x));
        }
        for alone in DType::ALL.iter().copied().filter(|dtype| dtype.is_storage()) {
            assert_eq!(promote(x, alone), (x == alone).then_some(x));
        }
        let with_bf16 = (x == DType::Bf16).then_some(x);
        assert_eq!(promote(x, DType::Bf16), with_bf16);
    }
}

/// The arrays that `data/numpy_expressions.py` names.
fn arrays() -> Vec<(&'static str, Array)> {
    fn array<const R: usize, T: Element>(shape: [usize; R], elements: Vec<T>) -> Array {
        Array::from_data(shape, T::into_data(elements)).unwrap()
    }
    vec![
        ("b", array([3], vec![true, false, true])),
        ("s", array([3], vec![-128i8, -7, 127])),
        ("u", array([3], vec![0u8, 7, 255])),
        ("i", array([3], vec![i32::MIN, 3, i32::MAX])),
        ("j", array([2, 1], vec![i64::MIN, 5])),
        ("k", array([3], vec![(1u64 << 63) + 1, 1, 0])),
        ("f", array([3], vec![-0.0f32, 1.5, f32::INFINITY])),
        ("g", array([2, 1], vec![0.1f64, -2.5])),
    ]
}

fn compute(text: &str) -> Array {
    let b = GraphBuilder::new();
    let arrays = arrays();
    let bindings: Vec<(&str, Value)> = arrays
        .iter()
        .map(|(name, array)| (*name, b.parameter(name, array.dtype(), array.shape()).unwrap()))
        .collect();
    let expression = Expression::parse(text, &ParseLimits::default()).expect(text);
    let result = expression.build(&b, &bindings, None).expect(text);
    let graph = b.finish(&[result]).unwrap();
    let inputs: Vec<Array> = arrays.into_iter().map(|(_, array)| array).collect();
    evaluate(&graph, &inputs).expect(text).remove(0)
}

/// The array that NumPy printed.
fn printed(array_type: &str, values: &str) -> Array {
    macro_rules! read {
        ($shape:expr, $dtype:expr; $($name:literal $type:ty),*) => {
            match $dtype {
                $($name => Array::new($shape, values.split(' ').map(|value| {
                    value.to_lowercase().parse::<$type>().unwrap()
                }).collect()),)*
                _ => panic!("no reader for {}", $dtype),
            }
        };
    }
    let (dtype, shape) = array_type.trim_end_matches(']').split_once('[').unwrap();
    let shape: Vec<usize> = shape.split(',').filter_map(|size| size.parse().ok()).collect();
    // Python prints an f32 as the f64 of the same value, which reads back exactly.
    read!(shape, dtype; "bool" bool, "i8" i8, "i16" i16, "i32" i32, "i64" i64, "u8" u8,
        "u16" u16, "u32" u32, "u64" u64, "f16" f16, "f32" f32, "f64" f64)
    .unwrap()
}

#[test]
fn numbers_are_those_of_numpy() {
    let mut count = 0;
    for (text, array_type, values) in cases(include_str!("data/numpy_values.txt")) {
        count += 1;
        assert_eq!(compute(text), printed(array_type, values), "{text}");
    }
    assert!(count > 60, "{count} cases");
}
