//! Products: matrix products, `einsum`, and their second derivatives.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisWindow, NodeKind};
use indim_ops::DType;
use indim_transforms::Differentiate;

use super::{Argument, F64, Function, check, noise};

fn argument(shape: &[usize], seed: u64) -> Argument<f64> {
    Argument(shape.to_vec(), noise(seed, shape.iter().product()))
}

#[test]
fn products_have_the_slope_of_finite_differences() {
    let matmul = |x: &[Value]| x[0].builder().matmul(&x[0], &x[1]).unwrap();
    for [left, right] in [
        [&[3, 4][..], &[4, 2][..]],
        [&[4], &[4, 2]],
        [&[3, 4], &[4]],
        [&[4], &[4]],
        [&[2, 1, 3, 4], &[5, 4, 2]],
        [&[1, 4], &[4, 1]],
        [&[2, 3, 1], &[1, 1, 5]],
        [&[3, 70], &[70, 2]],
    ] {
        let arguments = [argument(left, 3), argument(right, 4)];
        check(&format!("matmul of {left:?} and {right:?}"), &matmul, &arguments);
    }
    let tensordot = |x: &[Value]| x[0].builder().tensordot(&x[0], &x[1], &[2, 0], &[0, 2]).unwrap();
    check("tensordot", &tensordot, &[argument(&[2, 3, 4], 5), argument(&[4, 5, 2], 6)]);
    let outer = |x: &[Value]| x[0].builder().outer(&x[0], &x[1]).unwrap();
    check("outer", &outer, &[argument(&[2, 3], 5), argument(&[4], 6)]);
    let squares = |x: &[Value]| x[0].builder().matmul(&x[0], &x[0]).unwrap();
    check("a square matrix times itself", &squares, &[argument(&[3, 3], 5)]);
    let transposed = |x: &[Value]| {
        let b = x[0].builder();
        b.matmul(b.transpose(&x[0], &[1, 0]).unwrap(), x[1].exp()).unwrap()
    };
    check("of computed factors", &transposed, &[argument(&[4, 3], 5), argument(&[4, 2], 6)]);
}

#[test]
fn einsums_have_the_slope_of_finite_differences() {
    for (equation, shapes) in [
        ("bij,bjk,bk->bi", vec![vec![2, 3, 4], vec![2, 4, 5], vec![2, 5]]),
        ("ii->i", vec![vec![3, 3]]),
        ("iji,jk->k", vec![vec![3, 2, 3], vec![2, 4]]),
        ("ij,kj->", vec![vec![3, 4], vec![2, 4]]),
        ("ik,kj->ij", vec![vec![3, 1], vec![4, 2]]),
    ] {
        let function: Function<'_> = &|x: &[Value]| x[0].builder().einsum(equation, x).unwrap();
        let shapes = shapes.iter().enumerate();
        let arguments: Vec<Argument<f64>> =
            shapes.map(|(index, shape)| argument(shape, index as u64 + 3)).collect();
        check(equation, function, &arguments);
    }
}

#[test]
fn the_gradient_of_a_gradient_has_the_slope_of_finite_differences() {
    let gradient = |x: &[Value]| {
        let b = GraphBuilder::new();
        let [p, q] = [&x[0], &x[1]].map(|value| value.array_type().unwrap());
        let [p, q] =
            [("p", p), ("q", q)].map(|(name, of)| b.parameter(name, of.dtype, of.shape).unwrap());
        let graph = b.finish(&[b.matmul(&p, &q).unwrap().square().sum(())]).unwrap();
        x[0].builder().inline(&graph.gradient(&[0]).unwrap(), x).unwrap().remove(0)
    };
    check("gradient", &gradient, &[argument(&[3, 4], 5), argument(&[4, 2], 6)]);
}

#[test]
fn the_gradient_of_a_product_has_products_and_no_element_wise_sums() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [30, 40]).unwrap();
    let y = b.parameter("y", F64, [40, 20]).unwrap();
    let graph = b.finish(&[b.matmul(&x, &y).unwrap()]).unwrap();
    let derived = indim_graph::remove_unused(&graph.vjp(&[0, 1]).unwrap()).into_owned();
    let count =
        |is: fn(&NodeKind) -> bool| derived.iter().filter(|(_, node)| is(&node.kind)).count();
    assert_eq!(count(|kind| matches!(kind, NodeKind::Contract { .. })), 2);
    assert_eq!(count(|kind| matches!(kind, NodeKind::Reduce { .. } | NodeKind::Elementwise(_))), 0);
}

/// Conversions, and real and imaginary parts, of the factors come before their broadcast, so no array has the
/// shape of all products.
#[test]
fn the_gradient_of_a_converted_product_computes_no_single_products() {
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::C64, DType::C128] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", dtype, [30, 40]).unwrap();
        let y = b.parameter("y", dtype, [40, 20]).unwrap();
        let graph = b.finish(&[b.matmul(&x, &y).unwrap()]).unwrap();
        let derived = indim_graph::remove_unused(&graph.vjp(&[0, 1]).unwrap()).into_owned();
        for (_, node) in derived.iter() {
            let is_view = matches!(node.kind, NodeKind::BroadcastInDim(_));
            assert!(is_view || node.array_type.shape.rank() < 3, "{dtype}: {derived}");
        }
    }
}

#[test]
fn windows_have_the_slope_of_finite_differences() {
    for window in [AxisWindow::sliding(3), AxisWindow::new(2, 3, 2), AxisWindow::new(1, 2, 1)] {
        let windows = |x: &[Value]| x[0].builder().window(&x[0], 1, window).unwrap();
        check(&format!("windows {window}"), &windows, &[argument(&[2, 7, 3], 5)]);
    }
    let correlation = |x: &[Value]| {
        let b = x[0].builder();
        b.einsum("ot,t->o", &[b.window(&x[0], 0, AxisWindow::sliding(3)).unwrap(), x[1].clone()])
            .unwrap()
    };
    check("correlation", &correlation, &[argument(&[9], 5), argument(&[3], 6)]);
    let none = |x: &[Value]| x[0].builder().window(&x[0], 0, AxisWindow::sliding(4)).unwrap();
    check("no window", &none, &[argument(&[3], 5)]);
}
