//! Groups of nests that run tile by tile: the bits of the reference evaluator, in less memory.

mod executors;

use std::ops::ControlFlow;

use executors::executors;

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_cpu::{
    Array, ArrayView, ArrayViewMut, CompileOptions, InPlace, Order, RunOptions, compile,
};
use indim_graph::{Graph, evaluate};
use indim_ops::DType;

fn array(shape: &[usize]) -> Array {
    let number = |index: usize| ((index * 7919) % 1009) as f32 * 0.01 - 5.0;
    Array::new(shape, (0..shape.iter().product()).map(number).collect()).unwrap()
}

fn graph(shape: &[usize], function: impl Fn(&GraphBuilder, &Value) -> Vec<Value>) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, shape).unwrap();
    b.finish(&function(&b, &x)).unwrap()
}

/// `(x - mean(x)) / std(x)`, the deviation, and the softmax.
fn standardised(b: &GraphBuilder, x: &Value, axis: i64) -> Vec<Value> {
    let keep = ReduceOptions::axes([axis]).keepdims(true);
    let along = |function| b.along(function, x, &keep).unwrap();
    let (mean, deviation) = (along(Reduction::Mean), along(Reduction::Std));
    let centred = b.numpy().sub(x, mean).unwrap();
    let result = b.numpy().div(centred, &deviation).unwrap();
    let softmax = b.along(Reduction::Softmax, x, [axis]).unwrap();
    vec![result, deviation, softmax, along(Reduction::LogSumExp)]
}

fn check(shape: &[usize], axis: i64) {
    let x = array(shape);
    let graph = graph(shape, |b, x| standardised(b, x, axis));
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    let executables: Vec<_> =
        executors().map(|options| (options.executor, compile(&graph, &options).unwrap())).collect();
    assert!(executables.iter().all(|(_, executable)| executable.tiled_groups().next().is_some()));
    let dense = x.bytes().to_vec();
    let (mut fortran, mut strides) = (vec![0; dense.len()], vec![0; shape.len()]);
    let mut stride = 4;
    for (axis, &size) in shape.iter().enumerate() {
        strides[axis] = stride;
        stride *= size as isize;
    }
    for (index, bytes) in dense.chunks(4).enumerate() {
        let (mut left, mut place) = (index, 0);
        for (&size, &stride) in shape.iter().zip(&strides).rev() {
            place += left % size * stride as usize;
            left /= size;
        }
        fortran[place..place + 4].copy_from_slice(bytes);
    }
    let inputs = [
        ArrayView::from(&x),
        ArrayView::from_bytes(x.array_type().clone(), strides, &fortran, 0).unwrap(),
    ];
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let runs = inputs.iter().zip([Order::C, Order::F]);
        let runs = runs.flat_map(|run| executables.iter().map(move |by| (run, by)));
        for ((input, order), (by, executable)) in runs {
            let options = RunOptions::new().order(order);
            let input = std::slice::from_ref(input);
            let results = pool.install(|| executable.run_with(input, &options)).unwrap();
            for (index, (result, expected)) in results.iter().zip(&expected).enumerate() {
                let same = result == expected;
                assert!(same, "output {index} of {shape:?} along {axis}, {threads} threads, {by}");
            }
        }
    }
}

#[test]
fn tiles_give_the_bits_of_the_whole() {
    for (shape, axis) in [
        (vec![601, 1000], 1),
        (vec![150, 4096], 1),
        (vec![15, 40_000], 1),
        (vec![200, 3000], 0),
        (vec![12, 100, 500], 2),
        (vec![20, 300, 90], 1),
        (vec![70, 9, 5, 200], 3),
    ] {
        check(&shape, axis);
    }
}

#[test]
fn several_axes_are_reduced_in_one_group() {
    let shape = [256, 30, 70];
    let x = array(&shape);
    let graph = graph(&shape, |b, x| vec![b.along(Reduction::Softmax, x, [1, 2]).unwrap()]);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap().remove(0);
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    assert_eq!(executable.tiled_groups().count(), 1);
    let result = executable.run(&[ArrayView::from(&x)]).unwrap().remove(0).clone();
    assert!(result == expected);
}

#[test]
fn few_columns_of_a_transposed_array_are_no_tile() {
    let statistics = |b: &GraphBuilder, x: &Value| {
        let columns = b.transpose(x, &[1, 0]).unwrap();
        let both = [Reduction::ArgMax, Reduction::Max];
        both.map(|of| b.along(of, &columns, [1]).unwrap()).to_vec()
    };
    let executable = compile(&graph(&[200_000, 64], statistics), &CompileOptions::default());
    assert_eq!(executable.unwrap().tiled_groups().count(), 0);
}

fn softmax(shape: &[usize]) -> Graph {
    graph(shape, |b, x| vec![b.along(Reduction::Softmax, x, [1]).unwrap()])
}

#[test]
fn temporaries_between_nests_have_the_size_of_a_tile() {
    let graph = softmax(&[1000, 1000]);
    let forecast = compile(&graph, &CompileOptions::default()).unwrap().forecast();
    // In addition to tiles of at most 256 KiB a thread has results of pieces, and registers.
    assert!(forecast.temporary_bytes < 1 << 20, "{} bytes", forecast.temporary_bytes);
    assert!((100_000..1 << 20).contains(&forecast.register_bytes), "{}", forecast.register_bytes);
}

#[test]
fn the_result_may_lie_over_the_input() {
    let x = array(&[601, 1000]);
    let graph = softmax(&[601, 1000]);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap().remove(0);
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    assert_eq!(executable.tiled_groups().count(), 1);
    let mut elements = x.elements::<f32>().unwrap().to_vec();
    let over = ArrayViewMut::from_slice([601, 1000], &mut elements).unwrap();
    executable.run_in_place(vec![InPlace::Overwrite(over)]).unwrap();
    assert_eq!(Ok(&elements[..]), expected.elements::<f32>());
}

#[test]
fn a_group_stops_between_tiles() {
    let x = array(&[2000, 1000]);
    let executable = compile(&softmax(&[2000, 1000]), &CompileOptions::default()).unwrap();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let progress = |_| match calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let options = RunOptions::new().progress(&progress);
    let stopped = executable.run_with(&[ArrayView::from(&x)], &options);
    assert_eq!(stopped.map(|_: Vec<Array>| ()).unwrap_err().code(), "stopped");
}

#[test]
fn temporaries_of_a_group_share_no_memory_with_others() {
    // One thread writes its tiles while another one still reads results of earlier nests.
    let shape = [900, 600];
    let x = array(&shape);
    let graph = graph(&shape, |b, x| {
        let keep = ReduceOptions::axes([1]).keepdims(true);
        let columns = b.along(Reduction::Mean, x.exp(), [0]).unwrap();
        let y = b.numpy().sub(x.exp(), columns).unwrap().sin();
        let z = b.numpy().div(&y, b.along(Reduction::Norm, &y, &keep).unwrap()).unwrap();
        let top = b.along(Reduction::Max, &z, &keep).unwrap();
        let w = b.numpy().sub(&z, top).unwrap().exp();
        let all = b.along(Reduction::Sum, &w, [0]).unwrap();
        vec![b.numpy().div(&w, all).unwrap(), y]
    });
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let results = pool.install(|| executable.run(&[ArrayView::from(&x)])).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            assert!(result == expected, "{threads} threads");
        }
    }
}
