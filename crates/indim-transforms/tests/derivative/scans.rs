//! Scans: cumulative sums, products and extremes.

use indim_builder::{ReduceOptions, Reduction, Value};

use super::{Argument, Function, check, noise, pullback};

/// Every direction of the function along an axis.
fn directions(function: Reduction, axis: i64) -> impl Iterator<Item = ReduceOptions> {
    let options = move |(reverse, exclusive): (bool, bool)| {
        let options = ReduceOptions::axes(axis);
        let flag = |value: bool| indim_graph::Literal::Bool(value);
        assert!(function.is_scan());
        options.number("reverse", flag(reverse)).number("exclusive", flag(exclusive))
    };
    [(false, false), (true, false), (false, true), (true, true)].into_iter().map(options)
}

#[test]
fn scans_have_the_slope_of_finite_differences() {
    use Reduction::{CumLogSumExp, CumMax, CumMin, CumProd, CumSum, NanCumSum};
    for function in [CumSum, CumProd, CumMax, CumMin, NanCumSum, CumLogSumExp] {
        for (shape, axis) in [(vec![6], 0), (vec![3, 40], 1), (vec![5, 2, 3], 0), (vec![4, 3], -1)]
        {
            for options in directions(function, axis) {
                // The first exclusive extreme is infinite, and infinity times 0 is NaN.
                let scan: Function<'_> = &|x: &[Value]| {
                    let scan = x[0].builder().along(function, &x[0], options.clone()).unwrap();
                    let is_infinite = matches!(function, CumMax | CumMin | CumLogSumExp);
                    if is_infinite { scan.clamp(-9, 9) } else { scan }
                };
                let count = shape.iter().product();
                let name = format!("{} of {shape:?}, {:?}", function.name(), options.numbers);
                check(&name, scan, &[Argument(shape.clone(), noise(3, count))]);
            }
        }
    }
    let flat: Function<'_> = &|x: &[Value]| x[0].cumsum(());
    check("cumsum of all elements", flat, &[Argument(vec![3, 4], noise(5, 12))]);
    let along: Function<'_> = &|x: &[Value]| x[0].cumprod(0).tanh();
    check("tanh of cumprod", along, &[Argument(vec![7], noise(6, 7))]);
}

#[test]
fn recurrences_have_the_slope_of_finite_differences() {
    for (length, reverse) in [(5, false), (40, false), (40, true)] {
        let recurrence: Function<'_> = &|x: &[Value]| {
            let reverse = indim_graph::Literal::Bool(reverse);
            let options = ReduceOptions::axes(-1).number("reverse", reverse);
            x[0].linear_recurrence(&x[1], options.initial(x[2].clone()))
        };
        let operands = [(vec![2, length], 3), (vec![2, length], 4), (vec![2], 5)].map(
            |(shape, seed): (Vec<usize>, u64)| {
                let count = shape.iter().product();
                Argument(shape, noise(seed, count))
            },
        );
        check(&format!("recurrence of {length}, {reverse}"), recurrence, &operands);
    }
}

/// Products with zeros: for the first zero the products have 1 in its place; elements behind it get 0.
#[test]
fn products_with_zeros() {
    for zeros in [vec![0], vec![3], vec![2, 4], vec![0, 1, 6]] {
        let mut x = noise(8, 7);
        zeros.iter().for_each(|&place| x[place] = 0.0);
        for options in directions(Reduction::CumProd, 0) {
            let scan: Function<'_> = &|x: &[Value]| {
                x[0].builder().along(Reduction::CumProd, &x[0], options.clone()).unwrap()
            };
            check(&format!("zeros at {zeros:?}"), scan, &[Argument(vec![7], x.clone())]);
        }
    }
}

/// The cotangents of an extreme go to the first of equal elements.
#[test]
fn the_first_of_equal_extremes_takes_the_cotangent() {
    let gradient = |options: ReduceOptions, x: &[f64]| {
        let scan: Function<'_> =
            &|x: &[Value]| x[0].builder().along(Reduction::CumMax, &x[0], options.clone()).unwrap();
        pullback::<f64, f64>(scan, &[Argument(vec![x.len()], x.to_vec())], &[1.0, 10.0, 100.0, 1e3])
    };
    let axis = || ReduceOptions::axes(0);
    assert_eq!(gradient(axis(), &[2.0, 1.0, 2.0, 2.0]), [vec![1111.0, 0.0, 0.0, 0.0]]);
    assert_eq!(gradient(axis(), &[2.0, 3.0, f64::NAN, 5.0]), [vec![1.0, 10.0, 1100.0, 0.0]]);
    let reverse = axis().number("reverse", indim_graph::Literal::Bool(true));
    assert_eq!(gradient(reverse, &[2.0, 1.0, 2.0, 2.0]), [vec![0.0, 0.0, 0.0, 1111.0]]);
}
