//! Broadcasts, reshapes and views are linear: their pullback is the adjoint, exactly.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, AxisSlice, ScatterMode, TakeMode, evaluate};
use indim_ops::{DType, ReduceOp, ScatterOp};
use indim_transforms::Differentiate;

use super::{Argument, pullback, value};

/// All ordered selections of `count` distinct items out of `of`.
fn arrangements(count: usize, of: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = arrangements(count - 1, of);
    let extended = |known: &Vec<usize>| {
        let free = (0..of).filter(|axis| !known.contains(axis));
        free.map(|axis| [&known[..], &[axis]].concat()).collect::<Vec<_>>()
    };
    shorter.iter().flat_map(extended).collect()
}

/// Small integers, whose sums are exact.
fn integers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|index| ((index * 7 + seed * 5) % 11) as f64 - 4.0).collect()
}

fn check_adjoint(name: &str, function: super::Function<'_>, shape: &[usize]) {
    let count = shape.iter().product();
    let u = integers(1, count);
    let argument = [Argument(shape.to_vec(), u.clone())];
    let moved: Vec<f64> = value(function, &argument);
    let cotangent = integers(2, moved.len());
    let back = pullback(function, &argument, &cotangent).remove(0);
    assert_eq!(super::dot(&cotangent, &moved), super::dot(&back, &u), "{name}");
    // Guards against both sides being 0 for another reason.
    let expected = (0..count).map(|index| {
        let mut unit = vec![0.0; count];
        unit[index] = 1.0;
        super::dot(&cotangent, &value(function, &[Argument(shape.to_vec(), unit)]))
    });
    assert_eq!(back, expected.collect::<Vec<f64>>(), "{name}");
}

/// Each map of up to 3 axes onto up to 3, with every choice of expanded axes and axes of size 1.
#[test]
fn the_pullback_of_every_map_of_rank_3_is_its_adjoint() {
    let sizes = [2usize, 3, 4];
    let mut checked = 0;
    for rank in 0..=3 {
        for ones in 0..1 << rank {
            let result: Vec<usize> =
                (0..rank).map(|axis| if ones >> axis & 1 == 1 { 1 } else { sizes[axis] }).collect();
            for map in (0..=rank).flat_map(|count| arrangements(count, rank)) {
                for expanded in 0..1 << map.len() {
                    let size = |(from, &to): (usize, &usize)| {
                        if expanded >> from & 1 == 1 { 1 } else { result[to] }
                    };
                    let shape: Vec<usize> = map.iter().enumerate().map(size).collect();
                    let dims: Vec<i64> = map.iter().map(|&axis| axis as i64).collect();
                    let function = |x: &[Value]| {
                        x[0].builder().broadcast_in_dim(&x[0], &dims, &result[..]).unwrap()
                    };
                    check_adjoint(
                        &format!("{shape:?} by {map:?} to {result:?}"),
                        &function,
                        &shape,
                    );
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 1 + 2 * 3 + 4 * 13 + 8 * 79);
}

#[test]
fn an_axis_of_size_0_sums_to_0() {
    let function = |x: &[Value]| x[0].builder().broadcast_in_dim(&x[0], &[1], [0, 2]).unwrap();
    let argument = [Argument(vec![2], vec![1.0, 2.0])];
    assert_eq!(pullback::<f64, f64>(&function, &argument, &[]), [[0.0, 0.0]]);
}

#[test]
fn cotangents_return_to_their_positions() {
    let reshape = |x: &[Value]| x[0].builder().reshape(&x[0], [3, 4]).unwrap();
    check_adjoint("reshape", &reshape, &[2, 6]);
    let transpose = |x: &[Value]| x[0].builder().transpose(&x[0], &[2, 0, 1]).unwrap();
    check_adjoint("transpose", &transpose, &[2, 3, 4]);
}

/// The sum of a broadcast is taken in double precision: in `f32` it would stop at 2^24.
#[test]
fn sums_of_cotangents_do_not_stall() {
    let count = (1 << 24) + 2;
    let function = |x: &[Value]| x[0].builder().broadcast(&x[0], &[(1 << 24) + 2]).unwrap();
    let argument = [Argument(vec![], vec![1.0f32])];
    let back = pullback(&function, &argument, &vec![1.0f32; count]);
    assert_eq!(back, [[count as f32]]);
}

#[test]
fn cotangents_of_slices_are_padded_with_zeros() {
    for step in [1, 2, 3, 6, 9, -1, -2, -5] {
        for (start, stop) in [(None, None), (Some(1), Some(6)), (Some(5), Some(0)), (Some(3), None)]
        {
            let slice = AxisSlice::python(start, stop, Some(step), 7).unwrap();
            let function =
                |x: &[Value]| x[0].builder().slice(&x[0], &[AxisSlice::whole(2), slice]).unwrap();
            check_adjoint(&format!("{start:?}:{stop:?}:{step}"), &function, &[2, 7]);
        }
    }
}

#[test]
fn cotangents_of_concatenations_are_split() {
    let function = |x: &[Value]| {
        let b = x[0].builder();
        let twice = b.concatenate(&[&x[0] * 3, b.constant(constant()), x[0].clone()], 1).unwrap();
        b.pad(twice, b.scalar(0.0), &[(1, 0, 0), (0, 2, 1)]).unwrap()
    };
    fn constant() -> Array {
        Array::new([2, 1], vec![0.0, 0.0]).unwrap()
    }
    check_adjoint("concatenate", &function, &[2, 3]);
}

#[test]
fn cotangents_of_gathers_are_summed_at_the_indices() {
    let of = |mode, indices: Array, axis: i64| {
        move |x: &[Value]| {
            let b = x[0].builder();
            b.take(&x[0], b.constant(indices.clone()), axis, mode).unwrap()
        }
    };
    let wild = || Array::new([2, 3], vec![4i64, -1, 0, 17, -9, 4]).unwrap();
    for mode in [TakeMode::Clip, TakeMode::Wrap] {
        for axis in [0, 1, 2] {
            check_adjoint(&format!("{mode} {axis}"), &of(mode, wild(), axis), &[2, 5, 3]);
        }
    }
    let small = Array::new([4], vec![2u8, 0, 2, 1]).unwrap();
    check_adjoint("u8", &of(TakeMode::Error, small, 1), &[2, 5, 3]);
    let behind = Array::new([], vec![-2i8]).unwrap();
    check_adjoint("one", &of(TakeMode::Error, behind, 0), &[3]);
    let beyond = Array::new([2], vec![u64::MAX, 1]).unwrap();
    check_adjoint("u64", &of(TakeMode::Clip, beyond, 0), &[3]);
}

#[test]
fn cotangents_of_scatters_are_gathered() {
    for (mode, axis) in
        TakeMode::ALL.into_iter().flat_map(|mode| [0, 1, 2].map(|axis| (mode, axis)))
    {
        let of = |x: &[Value]| {
            let b = x[0].builder();
            let indices = b.constant(Array::new([2, 2], vec![1i64, 0, -1, 1]).unwrap());
            let updates = b.take(&x[0] * 3, &indices, axis, TakeMode::Wrap).unwrap();
            b.scatter_add(&x[0], indices, updates, axis, mode).unwrap()
        };
        check_adjoint(&format!("{mode} {axis}"), &of, &[2, 5, 3]);
    }
}

#[test]
fn cotangents_of_the_last_updates_are_gathered() {
    for op in [ScatterOp::Set, ScatterOp::Add] {
        for (mode, axis) in
            ScatterMode::ALL.into_iter().flat_map(|mode| [0, 1, 2].map(|axis| (mode, axis)))
        {
            let of = |x: &[Value]| {
                let b = x[0].builder();
                let indices: &[i64] = match mode {
                    ScatterMode::Take(TakeMode::Error) => &[1, 0, -1, 1],
                    _ => &[1, -4, 7, 1],
                };
                let indices = b.constant(Array::new([4], indices.to_vec()).unwrap());
                let factors = b.iota(DType::F64, [4], 0).unwrap();
                let taken = b.take(&x[0], &indices, axis, TakeMode::Wrap).unwrap();
                let updates = b.mul(taken, factors - 1.5, &[axis]).unwrap();
                b.scatter(op, &x[0], indices, updates, axis, mode).unwrap()
            };
            check_adjoint(&format!("{op} {mode} {axis}"), &of, &[2, 5, 3]);
        }
    }
}

#[test]
fn cotangents_of_extremes_are_shared_by_those_that_attain_them() {
    let gradients = |op: ScatterOp| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [5]).unwrap();
        let u = b.parameter("u", DType::F64, [7]).unwrap();
        let i = b.constant(Array::new([7], vec![0i64, 0, 1, 1, 2, 9, 3]).unwrap());
        let result = b.scatter(op, &x, i, &u, 0, ScatterMode::Drop).unwrap();
        let weights = b.constant(Array::new([5], vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap());
        let sum = b.reduce(ReduceOp::Add, result * weights, 0).unwrap();
        let graph = b.finish(&[sum]).unwrap().gradient(&[0, 1]).unwrap();
        let arguments = [
            Array::new([5], vec![4.0, 1.0, 6.0, f64::NAN, 0.0]).unwrap(),
            Array::new([7], vec![4.0, 2.0, 5.0, 5.0, 7.0, 8.0, 3.0]).unwrap(),
        ];
        let found = evaluate(&graph, &arguments).unwrap();
        [0, 1].map(|at| found[at].elements::<f64>().unwrap().to_vec())
    };
    // A tie of the element and an update, one of two updates, and a NaN.
    let of_max = gradients(ScatterOp::Max);
    assert_eq!(of_max[0], [0.5, 0.0, 0.0, 4.0, 5.0]);
    assert_eq!(of_max[1], [0.5, 0.0, 1.0, 1.0, 3.0, 0.0, 0.0]);
    let of_min = gradients(ScatterOp::Min);
    assert_eq!(of_min[0], [0.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(of_min[1], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn products_of_scatters_have_no_derivative() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [3]).unwrap();
    let i = b.constant(Array::new([2], vec![0i64, 0]).unwrap());
    let u = b.parameter("u", DType::F64, [2]).unwrap();
    let product = b.scatter(ScatterOp::Mul, &x, i, u, 0, TakeMode::Error).unwrap();
    let graph = b.finish(&[b.reduce(ReduceOp::Add, product, 0).unwrap()]).unwrap();
    assert_eq!(graph.gradient(&[0]).unwrap_err().code(), "not-differentiable");
}
