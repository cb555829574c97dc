//! Values in user code: operators, numbers, helper functions, and errors.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, AxisSlice, GraphError, evaluate};
use indim_ops::{ArrayType, Complex, DType, Element};

/// The elements of `function(x)`.
fn apply<T: Element, R: Element>(x: &[T], function: impl Fn(&Value) -> Value) -> Vec<R> {
    let b = GraphBuilder::new();
    let parameter = b.parameter("x", T::DTYPE, [x.len()]).unwrap();
    let graph = b.finish(&[function(&parameter)]).unwrap();
    let results =
        evaluate(&graph, &[Array::from_data([x.len()], T::into_data(x.to_vec())).unwrap()])
            .unwrap();
    results[0].element_slice::<R>().unwrap().to_vec()
}

/// The error of `function` for `x` of this type.
fn mistake(x: ArrayType, function: impl Fn(&Value) -> Value) -> GraphError {
    let b = GraphBuilder::new();
    let x = b.parameter("x", x.dtype, x.shape).unwrap();
    b.finish(&[function(&x)]).unwrap_err()
}

fn cubic(x: &Value) -> Value {
    x * x * x
}

fn mean_of(x: &Value, y: &Value) -> Value {
    (x + y) / 2
}

#[test]
fn numbers_on_either_side_take_the_type_of_the_value() {
    let x = [1.0f32, 2.0, 4.0];
    assert_eq!(apply::<_, f32>(&x, |x| 2.0 * x), [2.0, 4.0, 8.0]);
    assert_eq!(apply::<_, f32>(&x, |x| 1 - x), [0.0, -1.0, -3.0]);
    assert_eq!(apply::<_, f32>(&x, |x| 1.0 / x), [1.0, 0.5, 0.25]);
    assert_eq!(apply::<_, f32>(&x, |x| x * 0.1), x.map(|x| x * 0.1f32));
    assert_eq!(apply::<_, f32>(&x, |x| mean_of(&cubic(x), x)), [1.0, 5.0, 34.0]);
    let z = [Complex::new(1.0f32, 2.0)];
    assert_eq!(
        apply::<_, Complex<f32>>(&z, |z| z * Complex::new(0.0, 1.0)),
        [Complex::new(-2.0, 1.0)]
    );
}

#[test]
fn operands_are_owned_or_borrowed() {
    let results = apply::<i32, i32>(&[5, -3], |x| {
        let y = x + x.clone();
        let z = y.clone() - x;
        &y * &z + (-z) + !&y
    });
    assert_eq!(results, [5, -3].map(|x: i32| 2 * x * x - x + !(2 * x)));
}

#[test]
fn shifts_are_those_of_rust() {
    let signed = apply::<i8, i8>(&[-8, 7], |x| (x >> 1) + (x << 2) + (1 << (x & 3)));
    assert_eq!(signed, [-8i8, 7].map(|x| (x >> 1) + (x << 2) + (1 << (x & 3))));
    assert_eq!(apply::<u8, u8>(&[200, 7], |x| x >> 1), [100, 3]);
}

#[test]
fn comparisons_and_functions_are_methods() {
    let x = [-1.0f64, 0.5, 9.0];
    assert_eq!(
        apply::<_, f64>(&x, |x| x.gt(0.0).select(x.sqrt(), 0)),
        x.map(|x| x.max(0.0).sqrt())
    );
    assert_eq!(apply::<_, bool>(&x, |x| x.lt(9) & x.ne(0.5)), [true, false, false]);
    assert_eq!(apply::<_, f64>(&x, |x| x.clamp(0, 1).maximum(0.25)), [0.25, 0.5, 1.0]);
    assert_eq!(apply::<_, i32>(&x, |x| x.convert(DType::I32) * 2), [-2, 0, 18]);
}

#[test]
fn a_number_that_the_type_cannot_represent_is_refused() {
    let of = |dtype| ArrayType::new(dtype, [3]);
    assert_eq!(mistake(of(DType::I32), |x| x + 0.5).code(), "literal-kind");
    assert_eq!(mistake(of(DType::U8), |x| x + 300).code(), "literal-out-of-range");
    assert_eq!(
        mistake(of(DType::U8), |x| x + 300).headline(),
        "`add`: the whole number 300 is not a value of u8, the type of the other operands"
    );
    assert_eq!(mistake(of(DType::F32), |x| x & true).code(), "literal-kind");
    assert_eq!(
        mistake(of(DType::F32), |x| x * Complex::new(1.0f32, 0.0)).code(),
        "element-type-mismatch"
    );
}

#[test]
fn an_error_is_drawn_with_the_line_of_its_caller() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [2]).unwrap();
    let whole = b.parameter("whole", DType::I32, [3]).unwrap();
    let errors = [
        (line!(), b.add(&x, &y, &[1]).unwrap_err()),
        (line!(), b.numpy().add(&x, &y).unwrap_err()),
        (line!(), b.reshape(&x, [7]).unwrap_err()),
        (line!(), b.exp(true).unwrap_err()),
        (line!(), b.reverse(&x, &[7]).unwrap_err()),
        (line!(), b.dot(&x, &whole).unwrap_err()),
    ];
    for (line, error) in errors {
        let shown = format!("{error:?}");
        let place = format!("  --> {}:{line}:", file!());
        assert!(shown.lines().nth(1).unwrap().starts_with(&place), "{shown}");
        assert_eq!(shown.lines().count(), error.draw().lines().count() + 1);
    }
    // The first error of an operator is reported, with its own line.
    let (line, sum) = (line!(), &x + &y);
    let error = b.finish(&[sum * 2.0 + x.exp()]).unwrap_err();
    assert_eq!(error.location.unwrap().line(), line);
}

#[test]
fn a_value_keeps_its_builder() {
    let sum = {
        let b = GraphBuilder::new();
        b.parameter("x", DType::F32, [2]).unwrap() + 1
    };
    assert_eq!(sum.builder().finish(&[&sum]).unwrap().parameters().len(), 1);
    let foreign = GraphBuilder::new().scalar(1.0f32);
    assert_eq!((&sum + foreign).array_type().unwrap_err().code(), "foreign-value");
}

/// The `bool` result would fit into memory, the broadcast operands would not.
#[test]
fn broadcast_operands_count_towards_the_size() {
    let side = 1usize << (usize::BITS / 2 - 1);
    let b = GraphBuilder::new();
    let column = b.parameter("column", DType::F64, [side, 1]).unwrap();
    let row = b.parameter("row", DType::F64, [1, side]).unwrap();
    assert_eq!(b.numpy().eq(&column, &row).unwrap_err().code(), "too-large");
    let [column, row] = [column, row].map(|x| x.gt(0));
    assert!(b.numpy().and(column, row).is_ok());
}

#[test]
fn mistakes_that_only_the_builder_allows_have_their_codes() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let initial = ReduceOptions::new().initial(0);
    let mistakes = [
        (b.along(Reduction::ArgMax, &x, &initial), "argument-not-taken"),
        (b.slice(&x, &[AxisSlice::new(0, 9, 1)]), "slice-out-of-range"),
        (b.symbolic_parameter("y", DType::F32, &["2n"]), "bad-size"),
    ];
    for (mistake, code) in mistakes {
        assert_eq!(mistake.unwrap_err().code(), code);
    }
}
