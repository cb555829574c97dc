//! Groups of nests that may run together, tile by tile.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::optimize;
use indim_loops::groups::{NestGroup, groups};
use indim_loops::{loop_nest::LoopNests, lower};
use indim_ops::{DType, ReduceOp};

/// The nests of `function(x)`, and their groups.
fn grouped(function: impl Fn(&GraphBuilder, &Value) -> Value) -> (LoopNests, Vec<NestGroup>) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8, 9, 10]).unwrap();
    let loops = lower(&optimize(&b.finish(&[function(&b, &x)]).unwrap()));
    let found = groups(&loops);
    (loops, found)
}

fn along(function: Reduction, axes: &[i64]) -> impl Fn(&GraphBuilder, &Value) -> Value {
    move |b, x| b.along(function, x, ReduceOptions::axes(axes)).unwrap()
}

#[test]
fn softmax_is_one_group_along_the_kept_axes() {
    let (loops, found) = grouped(along(Reduction::Softmax, &[2]));
    assert_eq!(found.len(), 1, "{loops}");
    assert_eq!((found[0].nests.clone(), &found[0].axes[..]), (0..loops.nests.len(), &[0, 1][..]));
    assert_eq!(found[0].inner, (0..loops.temporaries.len()).collect::<Vec<_>>());
    assert_eq!(found[0].to_string(), "nests 0 to 4 in tiles along i0, i1");

    let (_, found) = grouped(along(Reduction::Softmax, &[0, 2]));
    assert_eq!(found[0].axes, [1]);
}

#[test]
fn one_reduction_alone_is_no_group() {
    assert!(grouped(|b, x| b.reduce(ReduceOp::Max, x, 2).unwrap()).1.is_empty());
    assert!(grouped(|_, x| x.exp()).1.is_empty());
}

#[test]
fn a_reduction_over_all_tiles_ends_a_group() {
    // The sum along axis 0 needs all tiles. It separates two groups.
    let (loops, found) = grouped(along(Reduction::Var, &[0, 1, 2]));
    assert!(found.len() == 2 && found.iter().all(|group| group.axes == [0]), "{found:?}");
    let members = found.iter().flat_map(|group| group.members(&loops));
    assert!(members.into_iter().all(|nest| nest.reduced != Some(0)), "{loops}");
    // The first sum reduces the axis along which the second could be cut.
    let (loops, found) = grouped(|b, x| {
        let sum =
            |x: &Value, axis| b.along(Reduction::Sum, x, ReduceOptions::axes(axis).keepdims(true));
        let columns = b.numpy().div(x, sum(x, 0).unwrap()).unwrap();
        b.numpy().div(&columns, sum(&columns, 1).unwrap()).unwrap()
    });
    assert!(found.iter().all(|group| group.axes == [2]), "{found:?} of {loops}");
}

#[test]
fn an_output_replaces_an_input_only_with_equal_indices() {
    let (loops, found) = grouped(along(Reduction::Softmax, &[2]));
    assert!(found[0].can_replace(&loops, 0, 0));
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8, 8]).unwrap();
    let keep = ReduceOptions::axes([1]).keepdims(true);
    // The element at [i, j] is also read at [j, i].
    let sum = b.along(Reduction::Sum, x.clone() + b.transpose(&x, &[1, 0]).unwrap(), &keep);
    let graph = b.finish(&[b.numpy().div(&x, sum.unwrap()).unwrap()]).unwrap();
    let loops = lower(&optimize(&graph));
    for group in groups(&loops) {
        assert!(!group.can_replace(&loops, 0, 0), "{loops}");
    }
}
