//! Sorts: each element gets the cotangent of its sorted position.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::DType;
use indim_transforms::Differentiate;

use super::{Argument, check, noise};

#[test]
fn sorts_have_the_slope_of_finite_differences() {
    for (shape, axis) in [(&[7][..], 0), (&[3, 5], 0), (&[3, 5], 1), (&[2, 4, 3], 1)] {
        for descending in [false, true] {
            let sort = |x: &[Value]| {
                let b = x[0].builder();
                b.sort(&x[0], axis, descending).unwrap().square()
            };
            let argument = Argument(shape.to_vec(), noise(3, shape.iter().product()));
            check(&format!("sort of {shape:?} along {axis}"), &sort, &[argument]);
        }
    }
}

/// Equal elements keep their order, so each has the cotangent of its own sorted position.
#[test]
fn equal_elements_have_the_cotangents_of_their_places() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [5]).unwrap();
    let graph = b.finish(&[b.sort(&x, 0, false).unwrap()]).unwrap();
    let x = Array::new([5], vec![2.0, 1.0, 2.0, f64::NAN, 1.0]).unwrap();
    let cotangent = Array::new([5], vec![10.0, 20.0, 30.0, 40.0, 50.0]).unwrap();
    let gradient = evaluate(&graph.vjp(&[0]).unwrap(), &[x, cotangent]).unwrap().remove(0);
    assert_eq!(gradient.elements::<f64>().unwrap(), [30.0, 10.0, 40.0, 50.0, 20.0]);
}
