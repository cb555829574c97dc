//! Arguments of functions along axes: `where`, `initial`, `dtype`, and second operands.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::{Complex, Element};
use indim_shape::RuleSet;
use indim_text::{ExprError, Expression, ParseLimits};

/// The graph's result for arrays by name.
fn result(text: &str, arrays: &[(&str, Array)], rule: &RuleSet) -> Result<Array, ExprError> {
    let b = GraphBuilder::new();
    let mut bindings = Vec::new();
    for (name, array) in arrays {
        let of = array.array_type();
        bindings.push((*name, b.parameter(name, of.dtype, &of.shape).unwrap()));
    }
    let expression = Expression::parse(text, &ParseLimits::default())?;
    let value = expression.build(&b, &bindings, Some(rule))?;
    let graph = b.finish(&[value]).unwrap();
    let arrays: Vec<Array> = arrays.iter().map(|(_, array)| array.clone()).collect();
    Ok(evaluate(&graph, &arrays).unwrap().remove(0))
}

fn array<T: Element>(shape: &[usize], elements: &[T]) -> Array {
    Array::from_data(shape, T::into_data(elements.to_vec())).unwrap()
}

const NAN: f32 = f32::NAN;

/// `x`: f32[2, 3], `w`: bool[3], `n`: f32[2, 3] with NaNs, `i`: i8[3], `z`: c64[2].
fn arrays() -> Vec<(&'static str, Array)> {
    let z = [Complex::new(1.0f32, 2.0), Complex::new(0.0, -1.0)];
    vec![
        ("x", array(&[2, 3], &[1f32, 2.0, 4.0, -3.0, 0.0, 5.0])),
        ("w", array(&[3], &[true, false, true])),
        ("n", array(&[2, 3], &[NAN, 2.0, -4.0, NAN, NAN, NAN])),
        ("i", array(&[3], &[100i8, 100, -3])),
        ("z", array(&[2], &z)),
    ]
}

fn elements<R: Element>(text: &str) -> Vec<R> {
    let result = result(text, &arrays(), &RuleSet::Numpy).unwrap_or_else(|e| panic!("{text}: {e}"));
    result
        .element_slice::<R>()
        .unwrap_or_else(|_| panic!("{text} is {}", result.array_type()))
        .to_vec()
}

fn floats(text: &str) -> Vec<f32> {
    elements(text)
}

#[test]
fn a_selection_leaves_elements_out() {
    assert_eq!(floats("sum(x, axis=1, where=w)"), [5.0, 2.0]);
    assert_eq!(floats("sum(x, where=x > 0, keepdims=true)"), [12.0]);
    assert_eq!(floats("prod(x, axis=1, where=w)"), [4.0, -15.0]);
    assert_eq!(floats("mean(x, axis=1, where=w)"), [2.5, 1.0]);
    assert_eq!(floats("mean(x, axis=0, where=x > 0)"), [1.0, 2.0, 4.5]);
    assert_eq!(floats("var(x, axis=1, where=w)"), [2.25, 16.0]);
    assert_eq!(floats("std(x, axis=1, where=w)"), [1.5, 4.0]);
    assert_eq!(floats("var(x, axis=1, correction=1, where=w)"), [4.5, 32.0]);
    assert!(floats("var(x, axis=1, correction=3, where=w)").iter().all(|x| x.is_nan()));
    assert!(floats("mean(x, axis=1, where=x > 9)").iter().all(|x| x.is_nan()));
    assert_eq!(elements::<i64>("count_nonzero(x, where=w)"), [4]);
    assert_eq!(elements::<bool>("all(x, axis=1, where=x != 0)"), [true, true]);
    assert_eq!(elements::<bool>("any(x > 1, axis=1, where=~w)"), [true, false]);
    assert_eq!(floats("norm(x, axis=1, where=x < 3)"), [5f32.sqrt(), 3.0]);
    // Elements outside `where` may have any value.
    assert_eq!(floats("sum(n, where=n == n)"), [-2.0]);
    assert_eq!(floats("var(n, where=n == n)"), [9.0]);
}

#[test]
fn selected_exponentials() {
    let half = 0.5f32;
    assert_eq!(floats("softmax(x * 0, axis=1, where=w)")[..3], [half, 0.0, half]);
    assert_eq!(floats("softmax(x, axis=1, where=x > 9)"), [0.0; 6]);
    let logarithm = -(2f64.ln()) as f32;
    assert_eq!(
        floats("log_softmax(x * 0, axis=1, where=w)")[..3],
        [logarithm, f32::NEG_INFINITY, logarithm]
    );
    assert_eq!(floats("logsumexp(x, axis=1, where=x == 4)"), [4.0, f32::NEG_INFINITY]);
}

#[test]
fn a_reduction_begins_with_what_is_given() {
    assert_eq!(floats("sum(x, axis=1, initial=10)"), [17.0, 12.0]);
    assert_eq!(floats("prod(x, axis=1, initial=-1)"), [-8.0, 0.0]);
    assert_eq!(floats("max(x, axis=0, initial=3)"), [3.0, 3.0, 5.0]);
    assert_eq!(floats("min(x, axis=1, where=w, initial=inf)"), [1.0, -3.0]);
    assert_eq!(floats("max(x, axis=1, where=x > 4, initial=-1)"), [-1.0, 5.0]);
    assert_eq!(elements::<i64>("sum(i, initial=300)"), [497]);
    assert_eq!(floats("max(broadcast_to(x, [0, 2, 3]), axis=0, initial=7)"), [7.0; 6]);
    // An initial value for each result.
    assert_eq!(floats("sum(x, axis=0, initial=f32(i))"), [98.0, 102.0, 6.0]);
    let code = |text| result(text, &arrays(), &RuleSet::Numpy).unwrap_err().code();
    assert_eq!(code("max(i, initial=300)"), "literal-out-of-range");
    assert_eq!(code("sum(i, initial=0.5)"), "literal-kind");
    assert_eq!(code("sum(i, initial=f32(1))"), "element-type-mismatch");
    assert_eq!(code("sum(x, axis=0, initial=x)"), "rank-too-large");
}

#[test]
fn an_element_type_is_that_of_elements_and_result() {
    assert_eq!(elements::<f64>("sum(x, dtype=f64)"), [9.0]);
    assert_eq!(elements::<i8>("sum(i, dtype=i8)"), [-59]);
    assert_eq!(elements::<i32>("sum(x / 2, dtype=i32)"), [4]);
    assert_eq!(elements::<f32>("mean(i, dtype=f32)"), [197.0 / 3.0]);
    assert_eq!(elements::<bool>("sum(i, dtype=bool)"), [true]);
    let error = result("sum(z, dtype=f32)", &arrays(), &RuleSet::Numpy).unwrap_err();
    assert_eq!(error.code(), "element-type-mismatch");
}

#[test]
fn nans_are_left_out() {
    assert_eq!(floats("nansum(n, axis=1)"), [-2.0, 0.0]);
    assert_eq!(floats("nanprod(n, axis=1)"), [-8.0, 1.0]);
    let mean = floats("nanmean(n, axis=1)");
    assert!(mean[0] == -1.0 && mean[1].is_nan());
    assert_eq!(floats("nanvar(n, axis=1)")[0], 9.0);
    assert_eq!(floats("nanstd(n, axis=1)")[0], 3.0);
    let largest = floats("nanmax(n, axis=1)");
    assert!(largest[0] == 2.0 && largest[1].is_nan());
    assert_eq!(floats("nanmin(n, axis=1)")[0], -4.0);
    assert_eq!(elements::<i64>("nanargmax(n, axis=1)"), [1, -1]);
    assert_eq!(elements::<i64>("nanargmin(n, axis=1)"), [2, -1]);
    // An explicit infinity is not the same as an omitted argument.
    assert_eq!(elements::<i64>("nanargmax(where(n == n, -inf, n), axis=1)"), [1, -1]);
    assert_eq!(floats("nansum(n, axis=1, where=n > 0, initial=1)"), [3.0, 1.0]);
    assert_eq!(elements::<i64>("nansum(i)"), [197]);
    assert_eq!(elements::<i64>("nanargmax(i)"), [0]);
}

#[test]
fn the_last_of_the_extremes() {
    assert_eq!(elements::<i64>("argmax(i)"), [0]);
    assert_eq!(elements::<i64>("argmax(i, last=true)"), [1]);
    assert_eq!(elements::<i64>("argmin(w, last=true)"), [1]);
    assert_eq!(elements::<i64>("argmax(n, axis=1, last=true)"), [0, 2]);
    assert_eq!(elements::<i64>("argmax(x, axis=[0, 1], last=true, keepdims=true)"), [5]);
}

#[test]
fn products_of_two() {
    assert_eq!(floats("vecdot(x, x)"), [21.0, 34.0]);
    assert_eq!(floats("vecdot(x, f32(i), axis=1)"), [288.0, -315.0]);
    assert_eq!(floats("vecdot(x, 2, axis=0)"), [-4.0, 4.0, 18.0]);
    assert_eq!(elements::<i8>("dot(i, i)"), [(20009i32 % 256) as u8 as i8]);
    assert_eq!(elements::<bool>("vecdot(w, ~w)"), [false]);
    let squared = elements::<Complex<f32>>("vecdot(z, z)");
    assert_eq!((squared[0].re, squared[0].im), (6.0, 0.0));
    let plain = elements::<Complex<f32>>("dot(z, z)");
    assert_eq!((plain[0].re, plain[0].im), (-4.0, 4.0));
    // In f32 the products overflow, and their sum is a NaN.
    assert_eq!(floats("vecdot(f32(w) * 1e30 - f32(~w) * 2e30, 1e30)"), [0.0]);
    let error = result("dot(x, x)", &arrays(), &RuleSet::Numpy).unwrap_err();
    assert_eq!(error.code(), "matrix-product");
    assert_eq!(floats("dot(x, x, axis=1)"), [21.0, 34.0]);
    let error = result(
        "vecdot(x, w3)",
        &[arrays(), vec![("w3", array(&[2], &[1f32; 2]))]].concat(),
        &RuleSet::Numpy,
    );
    assert_eq!(error.unwrap_err().code(), "size-mismatch");
    let by_dims = result("vecdot(x, f32(w), dims=[1])", &arrays(), &RuleSet::Xla { dims: vec![] });
    assert_eq!(by_dims.unwrap().elements::<f32>(), Ok(&[5.0f32, 2.0][..]));
}

#[test]
fn normalised_rows() {
    let close = |x: &[f32], y: &[f64]| {
        assert_eq!(x.len(), y.len());
        x.iter()
            .zip(y)
            .for_each(|(&x, &y)| assert!((f64::from(x) - y).abs() < 1e-6, "{x} is not {y}"));
    };
    let row = [1.0f64, 2.0, 4.0];
    let mean = 7.0 / 3.0;
    let deviation = ((row.map(|x| (x - mean).powi(2)).iter().sum::<f64>()) / 3.0 + 1e-5).sqrt();
    let expected = row.map(|x| (x - mean) / deviation * 2.0 + 1.0);
    close(&floats("layer_norm(x, 2, 1)")[..3], &expected);
    close(&floats("layer_norm(x, f32(w) * 0 + 2, f32(w) * 0 + 1)")[..3], &expected);
    let along_columns = floats("layer_norm(x, reshape(sum(x, axis=1), [2]) * 0 + 2, 1, axis=0)");
    close(&[along_columns[0]], &[2.0 / (4.0f64 + 1e-5).sqrt() * 2.0 + 1.0]);
    let size = (21.0f64 / 3.0 + 1.0).sqrt();
    close(
        &floats("rms_norm(x, f32(i), epsilon=1)")[..3],
        &[100.0 / size, 200.0 / size, -12.0 / size],
    );
    let error = result("rms_norm(x, z)", &arrays(), &RuleSet::Numpy).unwrap_err();
    assert_eq!(error.code(), "element-type-not-allowed");
    let error = result("rms_norm(x, f32(w), axis=0)", &arrays(), &RuleSet::Numpy).unwrap_err();
    assert_eq!(error.code(), "size-mismatch");
}

#[test]
fn mistakes_have_codes() {
    let code = |text: &str| result(text, &arrays(), &RuleSet::Numpy).unwrap_err().code();
    assert_eq!(code("max(x, where=w)"), "initial-required");
    assert_eq!(code("nanmin(x, where=w)"), "initial-required");
    assert_eq!(code("sum(x, where=i)"), "element-type-not-allowed");
    assert_eq!(code("sum(x, where=broadcast_to(w, [2, 2, 3]))"), "rank-too-large");
    assert_eq!(code("argmax(x, where=w)"), "unknown-keyword");
    assert_eq!(code("any(x, initial=1)"), "unknown-keyword");
    assert_eq!(code("norm(x, dtype=f64)"), "unknown-keyword");
    assert_eq!(code("layer_norm(x, 1)"), "wrong-operand-count");
}

/// The graph's sum of `x` of `f64`.
fn sum_of(text: &str, x: &[f64]) -> f64 {
    let arrays = [("x", array(&[x.len()], x))];
    result(text, &arrays, &RuleSet::Numpy).unwrap().elements::<f64>().unwrap()[0]
}

#[test]
fn exact_sums_are_correctly_rounded() {
    let exact = |x: &[f64]| sum_of("sum(x, exact=true)", x);
    assert_eq!(exact(&[1.0, 1e100, 1.0, -1e100]), 2.0);
    assert_eq!(exact(&[1e308, 1e308, -1e308]), 1e308);
    assert_eq!(exact(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(exact(&[-f64::MAX, 1.0, f64::MAX, f64::from_bits(1)]), 1.0);
    assert_eq!(exact(&[f64::from_bits(1); 3]), f64::from_bits(3));
    assert_eq!(exact(&[-f64::MIN_POSITIVE, f64::from_bits(1)]), -f64::MIN_POSITIVE + 5e-324);
    // A tie rounds to even; the least number beyond a tie rounds to the next float.
    let (half, next) = (f64::EPSILON / 2.0, 1.0 + f64::EPSILON);
    assert_eq!(exact(&[1.0, half]), 1.0);
    assert_eq!(exact(&[next, half]), next + f64::EPSILON);
    assert_eq!(exact(&[1.0, half, f64::from_bits(1)]), next);
    assert_eq!(exact(&[next, half, -f64::from_bits(1)]), next);
    assert_eq!(exact(&[f64::MAX, f64::MAX * half / 2.0]), f64::MAX);
    assert_eq!(exact(&[]).to_bits(), 0);
    assert_eq!(exact(&[-0.0, -0.0]).to_bits(), 0);
    assert_eq!(exact(&[f64::INFINITY, -f64::MAX, -f64::MAX]), f64::INFINITY);
    assert!(exact(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
    assert!(exact(&[1.0, f64::NAN]).is_nan());
}

#[test]
fn exact_sums_are_those_of_integers() {
    // In units of 2^-40 an i128 holds every term, and its conversion to a float is correctly rounded.
    let unit = (-40f64).exp2();
    let mut state = 1u64;
    for length in [2, 3, 17, 600] {
        for _ in 0..20 {
            let mut random = || {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                state >> 11
            };
            let terms: Vec<f64> = (0..length)
                .map(|_| {
                    let size = random() as f64 * unit * (random() % 60) as f64;
                    if random() % 2 == 0 { size } else { -size }
                })
                .collect();
            let total: i128 = terms.iter().map(|term| (term / unit) as i128).sum();
            assert_eq!(sum_of("sum(x, exact=true)", &terms), total as f64 * unit);
        }
    }
}

#[test]
fn exact_and_partial_sums_have_their_types() {
    assert_eq!(elements::<f64>("sum(f64(x), axis=1, where=w, exact=true)"), [5.0, 2.0]);
    let z = elements::<Complex<f64>>("sum(c128(z), exact=true)");
    assert_eq!((z[0].re, z[0].im), (1.0, 1.0));
    let code = |text| result(text, &arrays(), &RuleSet::Numpy).unwrap_err().code();
    assert_eq!(code("sum(x, exact=true)"), "exact-sum-type");
    assert_eq!(elements::<f64>("sum(x, dtype=f64, exact=true)"), [9.0]);
    assert_eq!(elements::<f64>("sum(x, partial=true)"), [9.0]);
    assert_eq!(elements::<Complex<f64>>("sum(z, partial=true)").len(), 1);
    assert_eq!(elements::<i64>("sum(i, partial=true)"), [197]);
}

#[test]
fn partial_sums_of_aligned_pieces_add_up() {
    let x: Vec<f32> = (0..2500).map(|index| ((index * 7919) as f32).sin()).collect();
    let sum = |x: &[f32]| {
        let arrays = [("x", array(&[x.len()], x))];
        let sum = result("sum(x, partial=true)", &arrays, &RuleSet::Numpy).unwrap();
        sum.elements::<f64>().unwrap()[0]
    };
    assert_eq!(sum(&x), sum(&x[..2048]) + sum(&x[2048..]));
    assert_eq!(sum(&x[..2048]), sum(&x[..1024]) + sum(&x[1024..2048]));
    let whole = result("sum(x)", &[("x", array(&[2500], &x))], &RuleSet::Numpy).unwrap();
    assert_eq!(whole.elements::<f32>(), Ok(&[sum(&x) as f32][..]));
}
