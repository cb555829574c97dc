//! Groups of nests that may run together, tile by tile.

use core::ops::Range;

use indim_builder::{Convolution, GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::{Array, PaddedWindow, optimize};
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

/// The nests of a group and its axes.
type Found = (Range<usize>, Vec<usize>);

/// The groups of attention over `x`, whose keys are `keys(x)`.
fn attention(keys: impl Fn(&GraphBuilder, &Value) -> Value) -> (LoopNests, Vec<Found>) {
    let (loops, found) = grouped(|b, x| {
        let keys = keys(b, x);
        let scores = b.matmul(x, b.transpose(&keys, &[0, 2, 1]).unwrap()).unwrap();
        b.matmul(b.along(Reduction::Softmax, scores, [2]).unwrap(), keys).unwrap()
    });
    assert!(found.is_sorted_by_key(|group| group.nests.start), "{found:?}");
    (loops, found.into_iter().map(|group| (group.nests, group.axes)).collect())
}

#[test]
fn attention_is_one_group_along_batch_and_rows() {
    let (loops, found) = attention(|_, x| x.clone());
    let count = loops.nests.len();
    // The scores may be cut along their columns too, and the softmax without the products.
    assert!(found.contains(&(0..count, vec![0, 1])), "{found:?} of {loops}");
    assert!(found.contains(&(1..count - 1, vec![0, 1])), "{found:?} of {loops}");
    let whole = groups(&loops).into_iter().find(|group| group.nests == (0..count)).unwrap();
    assert_eq!(whole.inner, (0..loops.temporaries.len()).collect::<Vec<_>>());
    // All rows of the result read all rows of the keys, which are `x`.
    assert!(!whole.can_replace(&loops, 0, 0));
}

#[test]
fn a_group_that_writes_an_operand_is_cut_where_it_moves() {
    let (loops, found) = attention(|b, x| {
        let keep = ReduceOptions::axes([2]).keepdims(true);
        b.numpy().sub(x, b.along(Reduction::Max, x, &keep).unwrap()).unwrap()
    });
    // Rows of the keys are columns of the scores: a group with both is cut along the batch only.
    let first_contraction = loops.nests.iter().position(|nest| nest.is_standalone()).unwrap();
    let with_keys =
        |(nests, _): &&Found| nests.start < first_contraction && nests.end > first_contraction;
    assert!(found.iter().any(|group| with_keys(&group)), "{found:?} of {loops}");
    assert!(found.iter().filter(with_keys).all(|(_, axes)| axes == &[0]), "{found:?} of {loops}");
}

/// A depthwise convolution by 3 x 3 elements of images of this many channels, padded by zeros.
fn depthwise(b: &GraphBuilder, x: &Value, name: &str, channels: usize) -> Value {
    let padded = PaddedWindow { low: 1, high: 1, ..PaddedWindow::default() };
    let convolution =
        Convolution { feature_groups: channels, ..Convolution::new(vec![padded, padded]) };
    let kernel = b.parameter(name, DType::F32, [channels, 1, 3, 3]).unwrap();
    b.convolution(x, &kernel, &convolution, None).unwrap()
}

#[test]
fn padding_is_written_in_the_tiles_of_the_convolution_that_reads_it() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1, 8, 9, 10]).unwrap();
    let first = depthwise(&b, &x.exp(), "first", 8).exp();
    let second = depthwise(&b, &first, "second", 8).exp();
    let loops = lower(&optimize(&b.finish(&[second]).unwrap()));
    let is_contraction: Vec<bool> = loops.nests.iter().map(|nest| nest.is_standalone()).collect();
    // Elements, the zeros above and below, those at both sides, products; the same again; the result.
    let expected = [false, false, false, true, false, false, false, true, false];
    assert_eq!(is_contraction, expected, "{loops}");
    let found = groups(&loops);
    let whole = found.iter().find(|group| group.nests == (0..loops.nests.len()));
    let whole = whole.unwrap_or_else(|| panic!("{found:?} of {loops}"));
    assert_eq!(whole.axes, [1]);
    assert_eq!(whole.inner, (0..loops.temporaries.len()).collect::<Vec<_>>());
}

#[test]
fn fills_that_are_read_or_returned_have_one_nest() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8, 9]).unwrap();
    let zeros = b.constant(Array::new([], vec![0.0_f32]).unwrap());
    let zeros = b.broadcast_in_dim(zeros, &[], [8, 9]).unwrap();
    let joined = |axis| b.concatenate(&[&zeros, &x], axis).unwrap();
    let loops = lower(&b.finish(&[joined(0), joined(1), zeros.clone()]).unwrap());
    let stores = |nest: &indim_loops::loop_nest::LoopNest| nest.stores.len();
    let counts: Vec<usize> = loops.nests.iter().map(|nest| stores(nest)).collect();
    assert_eq!(counts.iter().sum::<usize>(), 5, "{loops}");
    let loops = lower(&b.finish(&[joined(0), joined(1)]).unwrap());
    let counts: Vec<usize> = loops.nests.iter().map(|nest| stores(nest)).collect();
    assert_eq!(counts, [2, 1, 1], "{loops}");
}
