//! Reductions and functions along axes.

use indim_builder::{ReduceOptions, Reduction, Value};
use indim_ops::{Complex, ReduceOp};
use indim_shape::RuleSet;

use super::{Argument, F64, check, noise, pullback};

fn along(function: Reduction, axes: &[i64]) -> impl Fn(&[Value]) -> Value {
    let axes = ReduceOptions::axes(axes);
    move |x: &[Value]| x[0].builder().along(function, &x[0], &axes).unwrap()
}

/// The gradient of a reduction of a list, for a cotangent of 1.
fn of_list(function: Reduction, x: &[f64]) -> Vec<f64> {
    let argument = [Argument(vec![x.len()], x.to_vec())];
    pullback::<f64, f64>(&along(function, &[0]), &argument, &[1.0]).remove(0)
}

#[test]
fn functions_along_axes_have_the_slope_of_finite_differences() {
    let x = [Argument(vec![2, 3, 4], noise(5, 24))];
    for &function in Reduction::ALL {
        if function.operands().len() > 1 {
            continue;
        }
        let along = |axes| along(function, axes);
        let b = indim_builder::GraphBuilder::new();
        let parameter = b.parameter("x", F64, [2, 3, 4]).unwrap();
        let result = along(&[0])(&[parameter]).array_type().unwrap();
        if result.dtype != F64 {
            continue;
        }
        for axes in [&[][..], &[0], &[1], &[2], &[0, 2], &[1, 2], &[0, 1, 2]] {
            if function.is_scan() && axes.len() != 1 {
                continue;
            }
            check(&format!("{} along {axes:?}", function.name()), &along(axes), &x);
        }
    }
}

#[test]
fn functions_of_several_operands_have_the_slope_of_finite_differences() {
    let argument =
        |shape: &[usize], seed| Argument(shape.to_vec(), noise(seed, shape.iter().product()));
    let of = |function| {
        move |x: &[Value]| {
            let along = ReduceOptions::axes([-1]);
            x[0].builder().along_of(function, x, &along, &RuleSet::Numpy).unwrap()
        }
    };
    let (x, y) = (argument(&[3, 4], 5), argument(&[4], 6));
    check("vecdot", &of(Reduction::VecDot), &[x.clone(), y.clone()]);
    check("rms_norm", &of(Reduction::RmsNorm), &[x.clone(), y.clone()]);
    check("layer_norm", &of(Reduction::LayerNorm), &[x, y, argument(&[4], 7)]);
}

/// Unselected elements get a gradient of 0, also infinities and NaNs.
#[test]
fn only_selected_elements_have_a_gradient() {
    let x = [Argument(vec![4], vec![1.0, f64::NAN, 3.0, f64::INFINITY])];
    for (function, expected) in [
        (Reduction::Mean, [0.5, 0.0, 0.5, 0.0]),
        (Reduction::Var, [-1.0, 0.0, 1.0, 0.0]),
        (Reduction::Std, [-0.5, 0.0, 0.5, 0.0]),
    ] {
        let selected = |x: &[Value]| {
            let along = ReduceOptions::axes([0]).selected(x[0].lt(10));
            x[0].builder().along(function, &x[0], &along).unwrap()
        };
        assert_eq!(pullback::<f64, f64>(&selected, &x, &[1.0]), [expected], "{}", function.name());
    }
}

#[test]
fn exact_sums_have_the_derivative_of_sums() {
    let exact = |x: &[Value]| {
        x[0].builder().along(Reduction::Sum, &x[0], ReduceOptions::axes(0).exact(true)).unwrap()
    };
    for elements in [[1.0, 1e100, 0.5, -1e100], [-0.0, f64::INFINITY, 1.0, f64::NAN]] {
        let x = [Argument(vec![4], elements.to_vec())];
        assert_eq!(pullback::<f64, f64>(&exact, &x, &[3.0]), [[3.0; 4]]);
    }
}

#[test]
fn ties_for_an_extreme_have_equal_shares_along_all_axes() {
    let share = |function, x: &[f64]| of_list(function, x);
    assert_eq!(share(Reduction::Max, &[1.0, 3.0, 3.0]), [0.0, 0.5, 0.5]);
    assert_eq!(share(Reduction::Min, &[0.0, -0.0, 1.0, 2.0]), [0.5, 0.5, 0.0, 0.0]);
    assert_eq!(share(Reduction::Max, &[1.0, f64::NAN, 5.0, f64::NAN]), [0.0, 0.5, 0.0, 0.5]);
    let x = [Argument(vec![2, 2], vec![1.0, 1.0, 1.0, 0.0])];
    let shares = pullback::<f64, f64>(&along(Reduction::Max, &[0, 1]), &x, &[3.0]);
    assert_eq!(shares, [[1.0, 1.0, 1.0, 0.0]]);
}

#[test]
fn fmax_shares_ties_of_numbers() {
    let fmax = |x: &[f64]| {
        let function = |x: &[Value]| x[0].builder().reduce(ReduceOp::Fmax, &x[0], 0).unwrap();
        pullback::<f64, f64>(&function, &[Argument(vec![x.len()], x.to_vec())], &[1.0]).remove(0)
    };
    assert_eq!(fmax(&[1.0, f64::NAN, 2.0, 2.0]), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(fmax(&[f64::NAN, f64::NAN]), [0.5, 0.5]);
}

/// A count of f16 would stop at 2048.
#[test]
fn many_ties_are_counted() {
    let half = |x: f32| indim_ops::f16::from_f32(x);
    let x = [Argument(vec![4096], vec![half(1.0); 4096])];
    let shares = pullback(&along(Reduction::Max, &[0]), &x, &[half(1.0)]);
    assert_eq!(shares[0][0], half(1.0 / 4096.0));
}

#[test]
fn products_with_zeros() {
    assert_eq!(of_list(Reduction::Prod, &[2.0, 3.0, 4.0]), [12.0, 8.0, 6.0]);
    assert_eq!(of_list(Reduction::Prod, &[2.0, 0.0, 4.0]), [0.0, 8.0, 0.0]);
    assert_eq!(of_list(Reduction::Prod, &[2.0, 0.0, -0.0]), [0.0, 0.0, 0.0]);
    let z = |re, im| Complex::<f64> { re, im };
    let x = [Argument(vec![2], vec![z(1.0, 2.0), z(0.0, 0.0)])];
    let found = pullback(&along(Reduction::Prod, &[0]), &x, &[z(1.0, 0.0)]);
    assert_eq!(found, [[z(0.0, 0.0), z(1.0, -2.0)]]);
}

#[test]
fn norm_and_std_have_gradient_0_at_0() {
    assert_eq!(of_list(Reduction::Norm, &[0.0, -0.0]), [0.0, 0.0]);
    assert_eq!(of_list(Reduction::Std, &[3.0, 3.0]), [0.0, 0.0]);
    let z = |re, im| Complex::<f64> { re, im };
    let x = [Argument(vec![2], vec![z(3.0, 0.0), z(0.0, 4.0)])];
    assert_eq!(
        pullback(&along(Reduction::Norm, &[0]), &x, &[5.0f64]),
        [[z(3.0, 0.0), z(0.0, 4.0)]]
    );
}

#[test]
fn logsumexp_of_minus_infinities_has_gradient_0() {
    const INF: f64 = f64::INFINITY;
    assert_eq!(of_list(Reduction::LogSumExp, &[-INF, -INF]), [0.0, 0.0]);
    assert_eq!(of_list(Reduction::LogSumExp, &[-INF, 5.0]), [0.0, 1.0]);
    assert_eq!(of_list(Reduction::LogSumExp, &[1000.0, 1000.0]), [0.5, 0.5]);
    let softmax = |x: &[f64], cotangent: &[f64]| {
        let argument = [Argument(vec![x.len()], x.to_vec())];
        pullback::<f64, f64>(&along(Reduction::Softmax, &[0]), &argument, cotangent).remove(0)
    };
    // The shift by the largest element has no derivative: a masked element gets exactly 0.
    assert_eq!(softmax(&[0.0, 0.0, -INF], &[1.0, 0.0, 7.0]), [0.25, -0.25, 0.0]);
}

#[test]
fn conditions_and_indices_have_no_gradient() {
    let x = [Argument(vec![3], vec![1.0, 2.0, 3.0])];
    let count = |x: &[Value]| {
        along(Reduction::CountNonzero, &[0])(x).convert(F64)
            + along(Reduction::ArgMax, &[0])(x).convert(F64)
    };
    assert_eq!(pullback::<f64, f64>(&count, &x, &[1.0]), [[0.0; 3]]);
}
