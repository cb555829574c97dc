//! Graphs with counters as parameters give the results of their original graphs.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction};
use indim_graph::{Array, Graph, evaluate};
use indim_ops::DType;
use indim_transforms::chunks::{CounterGraph, CutPolicy, Cuts};

/// Evaluates both graphs on one array and compares the results.
fn compare(graph: &Graph, x: &Array) {
    let counted = CounterGraph::of(graph).unwrap().graph;
    let mut arguments = vec![x.clone()];
    for &counter in &counted.parameters()[1..] {
        let size = counted[counter].array_type.shape[0];
        arguments.push(Array::new([size], (0..size as i64).collect::<Vec<_>>()).unwrap());
    }
    let expected = evaluate(graph, std::slice::from_ref(x)).unwrap();
    assert_eq!(evaluate(&counted, &arguments).unwrap(), expected, "{graph}\n{counted}");
    // Every axis of an arg-reduction may be cut.
    let cuts = Cuts::of(&counted);
    for &value in counted.parameters() {
        for cut in cuts.axes(value).iter().flatten() {
            assert_eq!(cuts.cuts()[*cut].policy, CutPolicy::Anywhere, "{counted}");
        }
    }
}

/// Few distinct numbers, so that many tie, with NaNs, infinities and zeros of both signs.
fn elements(count: usize, seed: usize) -> Vec<f64> {
    const FEW: [f64; 7] = [1.0, f64::NAN, -0.0, 0.0, f64::NEG_INFINITY, 1.0, f64::INFINITY];
    (0..count)
        .map(|index| FEW[(index * index * 3 + index * seed + seed) % (1 + seed % 7)])
        .collect()
}

#[test]
fn arg_reductions_over_several_axes() {
    use Reduction::{All, Any, ArgMax, ArgMin, NanArgMax, NanArgMin};
    let all: [&[i64]; 9] =
        [&[0], &[2], &[0, 1], &[1, 2], &[0, 2], &[0, 1, 2], &[1, 3], &[0, 3], &[0, 1, 2, 3]];
    for sizes in [[2, 3, 1, 2], [3, 1, 2, 2], [1, 1, 2, 5]] {
        for (axes, seed) in all.iter().flat_map(|axes| (0..14).map(move |seed| (axes, seed))) {
            let x = Array::new(sizes, elements(sizes.iter().product(), seed)).unwrap();
            for function in [ArgMax, ArgMin, NanArgMax, NanArgMin, Any, All] {
                let b = GraphBuilder::new();
                let value = b.parameter("x", DType::F64, sizes).unwrap();
                let found = b.along(function, &value, ReduceOptions::axes(*axes)).unwrap();
                compare(&b.finish(&[found]).unwrap(), &x);
            }
        }
    }
}

#[test]
fn counters_of_every_type() {
    let x = Array::new([300, 2], vec![0_u8; 600]).unwrap();
    let counts = |dtype: &DType| *dtype != DType::Bool && !dtype.is_storage();
    for dtype in DType::ALL.iter().copied().filter(counts) {
        for axis in 0..2 {
            let b = GraphBuilder::new();
            let value = b.parameter("x", DType::U8, [300, 2]).unwrap();
            let count = b.iota(dtype, [300, 2], axis).unwrap();
            let sum = b.convert(&value, dtype).unwrap() + count;
            compare(&b.finish(&[sum]).unwrap(), &x);
        }
    }
}

#[test]
fn other_reshapes_stay() {
    // Rows that are not whole axes, a sum of floats, and another use of the reshape.
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 3, 2]).unwrap();
    let halves = b.reshape(&x, [2, 12]).unwrap();
    let flat = b.reshape(&x, [24]).unwrap();
    let along = |axis: i64| ReduceOptions::axes([axis]);
    let outputs = [
        b.along(Reduction::ArgMax, &halves, along(1)).unwrap(),
        b.along(Reduction::Sum, &flat, along(0)).unwrap(),
        b.along(Reduction::ArgMax, &flat, along(0)).unwrap(),
        flat,
    ];
    let graph = b.finish(&outputs).unwrap();
    let counted = CounterGraph::of(&graph).unwrap();
    let places: Vec<CutPolicy> =
        Cuts::of(&counted.graph).cuts().iter().map(|cut| cut.policy).collect();
    assert!(places.contains(&CutPolicy::Nowhere));
    assert_eq!(counted.first_reductions.len(), 1);
}

/// Names of model files may be any.
#[test]
fn parameters_may_have_the_names_of_counters() {
    let b = GraphBuilder::new();
    let x = b.parameter("#2", DType::I64, [3]).unwrap();
    let y = b.parameter("#2'", DType::I64, [3]).unwrap();
    let graph = b.finish(&[x * y + b.iota(DType::I64, [3], 0).unwrap()]).unwrap();
    let counted = CounterGraph::of(&graph).unwrap().graph;
    let [x, y, counter] = [[5, 6, 7], [1, 2, 3], [0_i64, 1, 2]]
        .map(|elements| Array::new([3], elements.to_vec()).unwrap());
    let expected = Array::new([3], vec![5_i64, 13, 23]).unwrap();
    assert_eq!(evaluate(&counted, &[x, y, counter]), Ok(vec![expected]));
}
