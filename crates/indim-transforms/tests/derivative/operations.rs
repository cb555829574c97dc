//! Every operation of the table and every composition at points where it is smooth.

use indim_builder::{Composition, GraphBuilder, Value};
use indim_graph::Literal;
use indim_ops::{Arity, DType, Op};
use indim_shape::RuleSet;
use indim_transforms::Differentiate;

use super::{F64, check, lists, pullback, value};

/// Points away from 0, from integers and from halves, where steps and kinks are.
const POINTS: [f64; 8] = [-3.3, -1.2, -0.7, -0.3, 0.4, 0.85, 1.3, 2.6];

/// Operations without a derivative.
const REFUSED: &[Op] = &[Op::Nextafter, Op::Trigamma];

/// All tuples of `count` points.
fn tuples(count: usize) -> Vec<Vec<f64>> {
    (0..POINTS.len().pow(count as u32))
        .map(|mut index| {
            let mut next = || {
                let point = POINTS[index % POINTS.len()];
                index /= POINTS.len();
                point
            };
            (0..count).map(|_| next()).collect()
        })
        .collect()
}

/// Whether the function is finite near the point.
fn is_smooth(function: super::Function<'_>, point: &[f64]) -> bool {
    [-2e-4, 0.0, 2e-4].iter().all(|step| {
        let moved: Vec<Vec<f64>> = point.iter().map(|x| vec![x + step]).collect();
        let moved: Vec<&[f64]> = moved.iter().map(Vec::as_slice).collect();
        value::<f64, f64>(function, &lists(&moved))[0].is_finite()
    })
}

/// Checks at all points near which the function is finite, and that some exist.
fn check_everywhere(name: &str, count: usize, function: super::Function<'_>) {
    let mut checked = 0;
    for mut point in tuples(count) {
        // No ties between operands.
        point.iter_mut().enumerate().for_each(|(index, x)| *x *= 1.0 + 0.07 * index as f64);
        if is_smooth(function, &point) {
            let point: Vec<&[f64]> = point.iter().map(core::slice::from_ref).collect();
            check(&format!("{name} at {point:?}"), function, &lists(&point));
            checked += 1;
        }
    }
    assert!(checked >= 2, "{name} is smooth at {checked} points");
}

#[test]
fn operations_of_floats_have_the_slope_of_finite_differences() {
    for &op in Op::ALL {
        let gives_floats = op.takes(F64) && op.result_dtype(F64) == F64;
        if !gives_floats || op.first_is_bool() || REFUSED.contains(&op) {
            continue;
        }
        let function = |x: &[Value]| x[0].builder().elementwise(op, x, &RuleSet::None).unwrap();
        check_everywhere(op.name(), op.arity().count(), &function);
    }
}

/// The compiler requires a rule for each operation; this test lists those with zero derivatives and those
/// refused.
#[test]
fn every_operation_has_a_derivative_or_is_listed() {
    for &op in Op::ALL {
        let takes = |dtype: &DType| op.takes(*dtype) && !dtype.is_storage();
        let dtype = DType::ALL.iter().copied().rfind(takes).unwrap();
        let b = GraphBuilder::new();
        let operand =
            |index| b.parameter(&format!("x{index}"), op.operand_dtype(index, dtype), [2]).unwrap();
        let operands: Vec<Value> = (0..op.arity().count()).map(operand).collect();
        let y = b.elementwise(op, &operands, &RuleSet::None).unwrap();
        let graph = b.finish(&[y]).unwrap();
        let last = operands.len() - 1;
        let code = graph.vjp(&[last]).map_err(|error| error.code());
        let takes_floats = DType::ALL
            .iter()
            .any(|&dtype| takes(&dtype) && !dtype.is_integer() && dtype != DType::Bool);
        match (takes_floats, REFUSED.contains(&op)) {
            (true, false) => assert!(code.is_ok(), "{op}: {code:?}"),
            _ => assert_eq!(code, Err("not-differentiable"), "{op}"),
        }
    }
}

#[test]
fn select_passes_the_cotangent_to_the_selected_branch() {
    let function = |x: &[Value]| x[0].gt(&x[1]).select(&x[0] * 3, &x[1] * &x[0]);
    check_everywhere("select", 2, &function);
}

#[test]
fn compositions_have_the_slope_of_finite_differences() {
    for &composition in Composition::ALL {
        // One has the derivative of its operand, the other returns `bool`.
        let is_left = [Composition::ReducePrecision, Composition::IsClose].contains(&composition);
        if is_left || !composition.takes(F64) {
            continue;
        }
        let function = |x: &[Value]| {
            let none: [Option<Literal>; 0] = [];
            x[0].builder().compose(composition, x, &none, &RuleSet::None).unwrap()
        };
        let count = if composition.arity() == Arity::Unary { 1 } else { 2 };
        check_everywhere(composition.name(), count, &function);
    }
}

/// A cotangent of 0 times the infinite derivative of an unselected branch would be NaN.
#[test]
fn activations_have_finite_slopes_far_away() {
    let slopes = |function: &dyn Fn(&Value) -> Value| {
        let x = [-1e3, -0.0, 0.0, 1e3];
        pullback::<f64, f64>(&|x| function(&x[0]), &lists(&[&x]), &[1.0; 4]).remove(0)
    };
    assert_eq!(slopes(&|x| x.relu()), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(slopes(&|x| x.elu(0.5)), [0.0, 0.5, 0.5, 1.0]);
    let alpha_scale = 1.673_263_242_354_377_2 * 1.050_700_987_355_480_5;
    assert_eq!(slopes(&|x| x.selu()), [0.0, alpha_scale, alpha_scale, 1.050_700_987_355_480_5]);
    assert_eq!(slopes(&|x| x.gelu()), [0.0, 0.5, 0.5, 1.0]);
    assert_eq!(slopes(&|x| x.gelu_tanh()), [0.0, 0.5, 0.5, 1.0]);
    assert_eq!(slopes(&|x| x.swish(1.0)), [0.0, 0.5, 0.5, 1.0]);
    assert_eq!(slopes(&|x| x.softplus()), [0.0, 0.5, 0.5, 1.0]);
    assert_eq!(slopes(&|x| x.softsign())[1..3], [1.0, 1.0]);
    assert_eq!(slopes(&|x| x.mish())[3], 1.0);
    assert_eq!(slopes(&|x| x.sinc())[1..3], [0.0, 0.0]);
    assert_eq!(slopes(&|x| x.hard_sigmoid(0.2, 0.5)), [0.0, 0.2, 0.2, 0.0]);
}
