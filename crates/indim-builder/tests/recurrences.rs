//! Linear recurrences and cumulative `logsumexp`: their order in runs of 16, types and errors.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, Literal, evaluate};
use indim_ops::{DType, Element, c64};
use indim_shape::RuleSet;

const SIZES: [usize; 12] = [0, 1, 2, 15, 16, 17, 33, 256, 257, 300, 512, 4500];

/// Pseudo-random numbers between -1 and 1 (a linear congruential generator).
fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The scan of a list in the documented order: runs of 16, then the totals of the runs in the same way.
fn scan<T: Copy>(elements: &[T], combine: &dyn Fn(T, T) -> T) -> Vec<T> {
    let chain = |run: &[T]| {
        let mut results: Vec<T> = Vec::new();
        for &element in run {
            results.push(results.last().map_or(element, |&last| combine(last, element)));
        }
        results
    };
    if elements.len() <= 16 {
        return chain(elements);
    }
    let runs: Vec<Vec<T>> = elements.chunks(16).map(chain).collect();
    let full = runs.iter().filter(|run| run.len() == 16).map(|run| run[15]);
    let totals = scan(&full.collect::<Vec<T>>(), combine);
    let after = |(index, run): (usize, &Vec<T>)| match index.checked_sub(1) {
        Some(before) => run.iter().map(|&element| combine(totals[before], element)).collect(),
        None => run.clone(),
    };
    runs.iter().enumerate().flat_map(after).collect()
}

/// The recurrence of a list in the documented order, in `f64`.
fn recurrence(a: &[f64], b: &[f64], initial: Option<f64>, reverse: bool) -> Vec<f64> {
    let mut pairs: Vec<[f64; 2]> = a.iter().zip(b).map(|(&a, &b)| [a, b]).collect();
    if reverse {
        pairs.reverse();
    }
    if let (Some(initial), Some(first)) = (initial, pairs.first_mut()) {
        first[1] += first[0] * initial;
    }
    let combine = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a * c, c * b + d];
    let mut results: Vec<f64> = scan(&pairs, &combine).iter().map(|pair| pair[1]).collect();
    if reverse {
        results.reverse();
    }
    results
}

/// The reference evaluation of a value of some parameters.
fn results_of<T: Element>(
    inputs: &[(&[usize], &[T])],
    build: impl FnOnce(&GraphBuilder, &[Value]) -> Value,
) -> Array {
    let b = GraphBuilder::new();
    let parameter = |(at, (shape, _)): (usize, &(&[usize], &[T]))| {
        b.parameter(&format!("x{at}"), T::DTYPE, *shape).unwrap()
    };
    let parameters: Vec<Value> = inputs.iter().enumerate().map(parameter).collect();
    let graph = b.finish(&[build(&b, &parameters)]).unwrap();
    let array = |(shape, elements): &(&[usize], &[T])| {
        Array::from_data(*shape, T::into_data(elements.to_vec())).unwrap()
    };
    evaluate(&graph, &inputs.iter().map(array).collect::<Vec<_>>()).unwrap().remove(0)
}

fn reversed(axis: i64, reverse: bool) -> ReduceOptions {
    ReduceOptions::axes(axis).number("reverse", Literal::Bool(reverse))
}

#[test]
fn a_recurrence_has_the_order_of_runs_of_16() {
    for (at, size) in SIZES.into_iter().enumerate() {
        let (a, b) = (noise(at as u64, 3 * size), noise(90 + at as u64, 3 * size));
        let initial = noise(7, 3);
        for reverse in [false, true] {
            for is_given in [false, true] {
                // Rows: along the last axis.
                let shape = [3, size];
                let inputs = [(&shape[..], &a[..]), (&shape[..], &b[..]), (&[3][..], &initial[..])];
                let found = results_of(&inputs, |_, x| {
                    let options = reversed(-1, reverse);
                    let options = if is_given { options.initial(x[2].clone()) } else { options };
                    x[0].linear_recurrence(&x[1], options)
                });
                let row = |row: usize| {
                    let (a, b) = (&a[row * size..][..size], &b[row * size..][..size]);
                    recurrence(a, b, is_given.then(|| initial[row]), reverse)
                };
                let expected: Vec<f64> = (0..3).flat_map(row).collect();
                assert_eq!(found.elements::<f64>().unwrap(), expected, "{size} {reverse}");
            }
        }
        // Columns: along the first axis, with a factor for each position.
        let found = results_of(&[(&[size, 1], &a[..size]), (&[size, 3], &b)], |builder, x| {
            let operands = [x[0].clone(), x[1].clone()];
            let numpy = RuleSet::Numpy;
            builder.along_of(Reduction::LinearRecurrence, &operands, 0, &numpy).unwrap()
        });
        for column in 0..3 {
            let terms: Vec<f64> = b[column.min(b.len())..].iter().step_by(3).copied().collect();
            let expected = recurrence(&a[..size], &terms, None, false);
            let all = found.elements::<f64>().unwrap();
            let found: Vec<f64> = all[column.min(all.len())..].iter().step_by(3).copied().collect();
            assert_eq!(found, expected, "{size}, column {column}");
        }
    }
}

/// One element after another in `f64`, which has other rounding errors.
#[test]
fn a_recurrence_is_near_that_of_a_loop() {
    for size in SIZES {
        let (a, b) = (noise(3, size), noise(4, size));
        let found =
            results_of(&[(&[size], &a), (&[size], &b)], |_, x| x[0].linear_recurrence(&x[1], -1));
        let mut state = 0.0;
        for (i, &found) in found.elements::<f64>().unwrap().iter().enumerate() {
            state = a[i] * state + b[i];
            assert!((found - state).abs() <= 1e-13 * state.abs().max(1.0), "{i}: {found} {state}");
        }
    }
}

#[test]
fn floats_are_computed_in_double_precision_and_rounded_once() {
    let narrow = |x: Vec<f64>| -> Vec<f32> { x.into_iter().map(|x| x as f32).collect() };
    let wide = |x: &[f32]| -> Vec<f64> { x.iter().copied().map(f64::from).collect() };
    let (a, b) = (narrow(noise(5, 700)), narrow(noise(6, 700)));
    let found = results_of(&[(&[700], &a), (&[700], &b)], |_, x| x[0].linear_recurrence(&x[1], -1));
    let expected = recurrence(&wide(&a), &wide(&b), None, false);
    assert_eq!(found.elements::<f32>().unwrap(), narrow(expected));
    let found = results_of(&[(&[700], &a)], |_, x| x[0].cumlogsumexp(0));
    assert_eq!(found.elements::<f32>().unwrap(), narrow(logsumexps(&wide(&a))));
}

#[test]
fn other_element_types() {
    let found = results_of(&[(&[20], &[3i8; 20]), (&[20], &[1; 20])], |_, x| {
        x[0].linear_recurrence(&x[1], -1)
    });
    let mut state = 0i8;
    let expected = [(); 20].map(|()| {
        state = state.wrapping_mul(3).wrapping_add(1);
        state
    });
    assert_eq!(found.elements::<i8>().unwrap(), expected);
    let i = c64::new(0.0, 1.0);
    let found = results_of(&[(&[3], &[i; 3]), (&[3], &[c64::new(1.0, 0.0); 3])], |_, x| {
        x[0].linear_recurrence(&x[1], ReduceOptions::axes(0).initial(1))
    });
    let expected = [c64::new(1.0, 1.0), i, c64::new(0.0, 0.0)];
    assert_eq!(found.elements::<c64>().unwrap(), expected);
    // Truth values: `and` and `or`.
    let truths = [true, false, true, true];
    let found = results_of(&[(&[4], &truths), (&[4], &[true, false, false, true])], |_, x| {
        x[0].linear_recurrence(&x[1], -1)
    });
    assert_eq!(found.elements::<bool>().unwrap(), [true, false, false, true]);
}

fn logaddexp(x: f64, y: f64) -> f64 {
    let found = results_of(&[(&[], &[x]), (&[], &[y])], |_, x| x[0].logaddexp(&x[1]));
    found.elements::<f64>().unwrap()[0]
}

/// Cumulative `logsumexp` in the documented order.
fn logsumexps(x: &[f64]) -> Vec<f64> {
    scan(x, &logaddexp)
}

#[test]
fn cumulative_logsumexp_has_the_order_of_runs_of_16() {
    for size in [0, 1, 16, 17, 300] {
        let x: Vec<f64> = noise(size as u64, size).iter().map(|x| x * 300.0).collect();
        let backwards: Vec<f64> = x.iter().rev().copied().collect();
        let expected = logsumexps(&x);
        let found = |options: &ReduceOptions| {
            let found = results_of(&[(&[size, 1], &x)], |_, x| x[0].cumlogsumexp(options));
            found.elements::<f64>().unwrap().to_vec()
        };
        assert_eq!(found(&ReduceOptions::axes(0)), expected);
        // Without an axis the elements are one vector.
        assert_eq!(found(&ReduceOptions::new()), expected);
        let mut reverse = logsumexps(&backwards);
        reverse.reverse();
        assert_eq!(found(&reversed(0, true)), reverse);
        let exclusive = |options: ReduceOptions| options.number("exclusive", Literal::Bool(true));
        let before = [f64::NEG_INFINITY].into_iter().chain(expected).take(size);
        assert_eq!(found(&exclusive(ReduceOptions::axes(0))), before.collect::<Vec<_>>());
        let after = reverse.into_iter().skip(1).chain([f64::NEG_INFINITY]).take(size);
        assert_eq!(found(&exclusive(reversed(0, true))), after.collect::<Vec<_>>());
        let sum = x.iter().map(|x| (x - 300.0).exp()).sum::<f64>().ln() + 300.0;
        if let Some(last) = found(&ReduceOptions::axes(0)).last() {
            assert!((last - sum).abs() < 1e-12 * sum.abs(), "{last} {sum}");
        }
    }
}

#[test]
fn cumulative_logsumexp_of_infinities_and_selected_elements() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    let x = [-infinity, -infinity, 1.0, -infinity, infinity, 2.0, nan, 0.0];
    let found = results_of(&[(&[8], &x)], |_, x| x[0].cumlogsumexp(0));
    let found = found.elements::<f32>().unwrap();
    assert_eq!(found[..6], [-infinity, -infinity, 1.0, 1.0, infinity, infinity]);
    assert!(found[6].is_nan() && found[7].is_nan());
    let found = results_of(&[(&[4], &[nan, 0.0f32, nan, 0.0])], |_, x| {
        x[0].cumlogsumexp(ReduceOptions::axes(0).selected(!x[0].is_nan()))
    });
    let expected = [-infinity, 0.0, 0.0, core::f32::consts::LN_2];
    assert_eq!(found.elements::<f32>().unwrap(), expected);
}

#[test]
fn calls_that_are_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [2, 3]).unwrap();
    let row = b.parameter("row", DType::F64, [3]).unwrap();
    let integers = b.parameter("i", DType::I32, [2, 3]).unwrap();
    let recurrence = |a: &Value, b: &Value, options: ReduceOptions| {
        let operands = [a.clone(), b.clone()];
        let result =
            a.builder().along_of(Reduction::LinearRecurrence, &operands, options, &RuleSet::None);
        result.map(|_| ()).unwrap_err().code()
    };
    let axis = ReduceOptions::axes(1);
    assert_eq!(recurrence(&x, &x, ().into()), "scan-axes");
    assert_eq!(recurrence(&x, &x, [0, 1].into()), "scan-axes");
    assert_eq!(recurrence(&x, &x, 2.into()), "axis-out-of-range");
    assert_eq!(recurrence(&x, &row, axis.clone()), "shapes-differ");
    assert_eq!(recurrence(&x, &integers, axis.clone()), "element-type-mismatch");
    assert_eq!(recurrence(&x, &x, axis.clone().initial(row)), "size-mismatch");
    assert_eq!(recurrence(&integers, &integers, axis.clone().initial(0.5)), "literal-kind");
    let exclusive = |options: ReduceOptions| options.number("exclusive", Literal::Bool(true));
    assert_eq!(recurrence(&x, &x, exclusive(axis)), "argument-not-taken");
    let of = |x: &Value, options: ReduceOptions| b.along(Reduction::CumLogSumExp, x, options);
    assert_eq!(of(&x, [0, 1].into()).unwrap_err().code(), "scan-axes");
    assert_eq!(of(&integers, 0.into()).unwrap_err().code(), "element-type-not-allowed");
}
