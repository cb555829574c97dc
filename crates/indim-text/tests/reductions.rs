//! Functions along axes in expressions: results, element types, errors.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::{Complex, Element};
use indim_shape::RuleSet;
use indim_text::{ExprError, Expression, ParseLimits};

/// The graph's result for `x`.
fn result<T: Element>(
    text: &str,
    shape: &[usize],
    x: &[T],
    rule: &RuleSet,
) -> Result<Array, ExprError> {
    let b = GraphBuilder::new();
    let parameter = b.parameter("x", T::DTYPE, shape).unwrap();
    let expression = Expression::parse(text, &ParseLimits::default())?;
    let value = expression.build(&b, &[("x", parameter)], Some(rule))?;
    let graph = b.finish(&[value]).unwrap();
    Ok(evaluate(&graph, &[Array::from_data(shape, T::into_data(x.to_vec())).unwrap()])
        .unwrap()
        .remove(0))
}

/// The elements under NumPy's rule.
fn elements<T: Element, R: Element>(text: &str, shape: &[usize], x: &[T]) -> Vec<R> {
    let result = result(text, shape, x, &RuleSet::Numpy).unwrap();
    result
        .element_slice::<R>()
        .unwrap_or_else(|_| panic!("{text} is {}", result.array_type()))
        .to_vec()
}

const X: [f32; 6] = [1.0, 2.0, 4.0, -3.0, 0.0, 5.0];

fn of_x(text: &str) -> Vec<f32> {
    elements(text, &[2, 3], &X)
}

#[test]
fn axes_are_one_several_none_and_counted_from_the_end() {
    assert_eq!(of_x("sum(x)"), [9.0]);
    assert_eq!(of_x("sum(x, axis=None)"), [9.0]);
    assert_eq!(of_x("sum(x, axis=0)"), [-2.0, 2.0, 9.0]);
    assert_eq!(of_x("sum(x, axis=-1)"), [7.0, 2.0]);
    assert_eq!(of_x("sum(x, axis=[1, -2])"), [9.0]);
    assert_eq!(of_x("sum(x, axis=[])"), X);
    assert_eq!(
        of_x("x - mean(x, axis=1, keepdims=true)")[3..],
        [-3.0 - 2.0 / 3.0, -2.0 / 3.0, 5.0 - 2.0 / 3.0]
    );
}

#[test]
fn extremes_and_searches() {
    assert_eq!(of_x("max(x, axis=1)"), [4.0, 5.0]);
    assert_eq!(of_x("min(x)"), [-3.0]);
    assert_eq!(of_x("ptp(x, axis=0)"), [4.0, 2.0, 1.0]);
    assert_eq!(elements::<f32, i64>("argmax(x)", &[2, 3], &X), [5]);
    assert_eq!(elements::<f32, i64>("argmin(x, axis=0)", &[2, 3], &X), [1, 1, 0]);
    assert_eq!(elements::<f32, i64>("argmax(x, axis=[0, 1], keepdims=true)", &[2, 3], &X), [5]);
    // With a second operand, `max` is the element-wise operation.
    assert_eq!(of_x("max(x, 1)"), [1.0, 2.0, 4.0, 1.0, 1.0, 5.0]);
}

#[test]
fn means_and_deviations_are_those_of_double_precision() {
    let mean = X.iter().map(|&x| f64::from(x)).sum::<f64>() / 6.0;
    let squares: f64 = X.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
    assert_eq!(of_x("mean(x)"), [mean as f32]);
    assert_eq!(of_x("var(x)"), [(squares / 6.0) as f32]);
    assert_eq!(of_x("std(x, correction=1)"), [(squares / 5.0).sqrt() as f32]);
    assert!(of_x("var(x, correction=6)")[0].is_nan());
    assert_eq!(elements::<i32, f64>("mean(x)", &[4], &[1, 2, 3, 5]), [2.75]);
    assert_eq!(of_x("norm(x, axis=1)"), [21f32.sqrt(), 34f32.sqrt()]);
}

#[test]
fn sums_neither_overflow_half_way_nor_stall() {
    assert_eq!(elements::<f32, f32>("sum(x)", &[3], &[3e38, 3e38, -3e38]), [3e38]);
    assert_eq!(elements::<f32, f32>("norm(x)", &[2], &[3e30, 4e30]), [5e30]);
    let ones = vec![1f32; (1 << 24) + 2];
    assert_eq!(elements::<f32, f32>("sum(x)", &[ones.len()], &ones), [16_777_218.0]);
}

#[test]
fn whole_numbers_go_by_the_rule() {
    assert_eq!(elements::<i8, i64>("sum(x)", &[3], &[100, 100, 100]), [300]);
    assert_eq!(elements::<u8, u64>("prod(x)", &[3], &[100, 100, 100]), [1_000_000]);
    assert_eq!(elements::<bool, i64>("sum(x)", &[3], &[true, false, true]), [2]);
    let strict = result("sum(x)", &[3], &[100i8, 100, 100], &RuleSet::None).unwrap();
    assert_eq!(strict.elements::<i8>(), Ok(&[44i8][..]));
    assert_eq!(elements::<f32, bool>("all(x, axis=1)", &[2, 3], &X), [true, false]);
    assert_eq!(elements::<f32, bool>("any(x > 4, axis=1)", &[2, 3], &X), [false, true]);
    assert_eq!(elements::<f32, i64>("count_nonzero(x, axis=1)", &[2, 3], &X), [3, 2]);
}

#[test]
fn complex_numbers_have_sums_and_no_order() {
    let z = [Complex::new(1.0f32, 2.0), Complex::new(3.0, -2.0)];
    assert_eq!(elements::<_, Complex<f32>>("sum(x)", &[2], &z), [Complex::new(4.0, 0.0)]);
    assert_eq!(elements::<_, f32>("var(x)", &[2], &z), [5.0]);
    let error = result("max(x)", &[2], &z, &RuleSet::Numpy).unwrap_err();
    assert_eq!(error.code(), "element-type-not-allowed");
}

#[test]
fn softmax_and_its_kin_do_not_overflow() {
    let x = [1000.0f32, 1000.0, f32::NEG_INFINITY];
    assert_eq!(elements::<f32, f32>("softmax(x)", &[3], &x), [0.5, 0.5, 0.0]);
    let logarithm = (1000.0 + 2f64.ln()) as f32;
    assert_eq!(elements::<f32, f32>("logsumexp(x)", &[3], &x), [logarithm]);
    let half = -(2f64.ln()) as f32;
    assert_eq!(elements::<f32, f32>("log_softmax(x)", &[3], &x), [half, half, f32::NEG_INFINITY]);
    let nothing = [f32::NEG_INFINITY; 2];
    assert_eq!(elements::<f32, f32>("logsumexp(x)", &[2], &nothing), [f32::NEG_INFINITY]);
    assert_eq!(elements::<f32, f32>("logsumexp(x)", &[0], &[]), [f32::NEG_INFINITY]);
    assert_eq!(elements::<i32, f64>("softmax(x)", &[2], &[7, 7]), [0.5, 0.5]);
}

#[test]
fn nothing_has_a_sum_but_no_extreme() {
    assert_eq!(elements::<f32, f32>("sum(x, axis=1)", &[2, 0], &[]), [0.0, 0.0]);
    assert_eq!(elements::<f32, f32>("prod(x)", &[0], &[]), [1.0]);
    assert!(elements::<f32, f32>("mean(x)", &[0], &[])[0].is_nan());
    assert!(elements::<f32, f32>("max(x, axis=0)", &[2, 0], &[]).is_empty());
    for text in ["max(x)", "argmin(x)", "ptp(x, axis=1)"] {
        let error = result::<f32>(text, &[2, 0], &[], &RuleSet::Numpy).unwrap_err();
        assert_eq!(error.code(), "empty-reduction", "{text}");
    }
}

#[test]
fn recurrences_and_cumulative_logsumexp() {
    assert_eq!(of_x("linear_recurrence(0.5, x)"), [1.0, 2.5, 5.25, -3.0, -1.5, 4.25]);
    assert_eq!(of_x("linear_recurrence(2, x, axis=0)"), [1.0, 2.0, 4.0, -1.0, 4.0, 13.0]);
    assert_eq!(of_x("linear_recurrence(x, 1, initial=2)"), [3.0, 7.0, 29.0, -5.0, 1.0, 6.0]);
    assert_eq!(of_x("linear_recurrence(1, x, reverse=true)"), [7.0, 6.0, 4.0, 2.0, 5.0, 5.0]);
    assert_eq!(of_x("linear_recurrence(x[0], x)[0]"), [1.0, 4.0, 20.0]);
    let integers = elements::<i16, i16>("linear_recurrence(x, x)", &[3], &[300, 300, 300]);
    assert_eq!(integers, [300, 24764, 23932]);
    let logarithms = of_x("logcumsumexp(log(x * 0 + 1), axis=1)");
    let expected = [1.0f32, 2.0, 3.0, 1.0, 2.0, 3.0].map(|x| f64::from(x).ln() as f32);
    assert!(logarithms.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6));
    assert_eq!(of_x("cumlogsumexp(x, axis=0, exclusive=true)")[..3], [f32::NEG_INFINITY; 3]);
    assert_eq!(of_x("cumlogsumexp(x, where=x > 4)")[4], f32::NEG_INFINITY);
    // Integers become `f64`.
    let whole = elements::<i32, f64>("cumlogsumexp(x)", &[2], &[0, 0]);
    assert_eq!(whole, [0.0, core::f64::consts::LN_2]);
}
