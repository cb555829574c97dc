//! Constant operands of contractions, which the second run packs for all later runs: bits, memory, and
//! threads that run one executable at once.

use std::sync::Barrier;

use indim_builder::{Convolution, ConvolutionAxes, GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, Level, Order, RunOptions, Threads, compile,
    compile_symbolic,
};
use indim_graph::{AxisSlice, Graph, PaddedWindow, SymbolicGraph, evaluate};
use indim_ops::{DType, ReduceOp};

/// Elements of either sign whose products need more bits than an `f32` has; small integers for integer types.
fn array(dtype: DType, sizes: &[usize], seed: u64) -> Array {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i32 - (1 << 30)
    };
    let numbers: Vec<i32> = (0..sizes.iter().product()).map(|_| next()).collect();
    let float = |&number: &i32| f64::from(number) / f64::from(1 << 28) * 1.1;
    match dtype {
        DType::F32 => Array::new(sizes, numbers.iter().map(|it| float(it) as f32).collect()),
        DType::F64 => Array::new(sizes, numbers.iter().map(float).collect()),
        DType::I8 => Array::new(sizes, numbers.iter().map(|&it| (it >> 7) as i8).collect()),
        _ => Array::new(sizes, numbers.iter().map(|&it| (it >> 7) as u8).collect()),
    }
    .unwrap()
}

/// The graph with the arguments that `is_constant` selects as constants.
fn with_constants(graph: &Graph, arguments: &[Array], is_constant: [bool; 2]) -> Graph {
    let b = GraphBuilder::new();
    let value = |(index, array): (usize, &Array)| match is_constant[index] {
        true => b.constant(array.clone()),
        false => {
            let array_type = array.array_type();
            b.parameter(&format!("p{index}"), array_type.dtype, array_type.shape.clone()).unwrap()
        }
    };
    let values: Vec<Value> = arguments.iter().enumerate().map(value).collect();
    b.finish(&b.inline(graph, &values).unwrap()).unwrap()
}

/// Compares runs of the graph with constants with the reference evaluator: at every level, on one thread and
/// several. The panels are made by the second run. Returns the bytes of the panels at the highest level.
fn check(graph: &Graph, arguments: &[Array], what: &str) -> usize {
    let expected = evaluate(graph, arguments).unwrap();
    let mut packed_bytes = 0;
    for is_constant in [[false, true], [true, false]] {
        let graph = with_constants(graph, arguments, is_constant);
        let inputs: Vec<ArrayView<'_>> = arguments
            .iter()
            .zip(is_constant)
            .filter(|(_, is)| !is)
            .map(|(it, _)| it.view())
            .collect();
        for &level in Level::available() {
            // Without passes, which may compute a contraction of small constants.
            let options = CompileOptions::new().level(level).optimize(false);
            let executable = compile(&graph, &options).unwrap();
            let bytes = executable.held_bytes();
            for (threads, order) in
                [(1, Order::C), (1, Order::C), (2, Order::C), (7, Order::C), (2, Order::F)]
            {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let options = RunOptions::new().threads(Threads::Pool(&pool)).order(order);
                let results = executable.run_with(&inputs, &options).unwrap();
                assert_eq!(results, expected, "{what} at {level} on {threads} threads");
            }
            packed_bytes = packed_bytes.max(executable.held_bytes() - bytes);
        }
    }
    packed_bytes
}

/// The product of parameters of these sizes, as a graph with its arguments.
fn product(dtype: DType, x: &[usize], y: &[usize]) -> (Graph, [Array; 2]) {
    let b = GraphBuilder::new();
    let parameter = |name, sizes: &[usize]| b.parameter(name, dtype, sizes).unwrap();
    let (x_value, y_value) = (parameter("x", x), parameter("y", y));
    let product = match dtype {
        DType::I8 | DType::U8 => {
            let wide = |value: Value| b.convert(value, DType::I32).unwrap();
            b.matmul(wide(x_value), wide(y_value)).unwrap()
        }
        _ => b.matmul(x_value, y_value).unwrap(),
    };
    (b.finish(&[product]).unwrap(), [array(dtype, x, 1), array(dtype, y, 2)])
}

#[test]
fn packed_constants_have_the_bits_of_a_run_that_packs() {
    for dtype in [DType::F32, DType::F64, DType::I8, DType::U8] {
        for (x, y) in [
            (&[37_usize, 70][..], &[70_usize, 50][..]),
            // More columns than rows and the reverse, one of them few: the operands are exchanged.
            (&[90, 65], &[65, 5]),
            (&[5, 530], &[530, 90]),
            // Few threads have rows of their own, so the sum is split over tasks.
            (&[9, 9001], &[9001, 10]),
            (&[3, 20, 70], &[3, 70, 40]),
            (&[2, 3, 9, 66], &[66, 11]),
            (&[300, 64], &[64, 530]),
        ] {
            let (graph, arguments) = product(dtype, x, y);
            let bytes = check(&graph, &arguments, &format!("{dtype} {x:?} @ {y:?}"));
            assert!(bytes > 0, "{dtype} {x:?} @ {y:?}");
        }
    }
}

#[test]
fn packed_kernels_of_convolutions() {
    for (groups, channels, features, size, stride) in [(1, 3, 20, 3, 1), (2, 6, 16, 2, 2)] {
        for channels_last in [false, true] {
            let axes = match channels_last {
                true => ConvolutionAxes { batch: 0, feature: 3, spatial: vec![1, 2] },
                false => ConvolutionAxes::leading(2),
            };
            let convolution = Convolution {
                operand: axes.clone(),
                kernel: ConvolutionAxes::leading(2),
                result: axes,
                windows: vec![PaddedWindow { size, stride, ..PaddedWindow::default() }; 2],
                feature_groups: groups,
                batch_groups: 1,
            };
            let x = if channels_last { [2, 17, 12, channels] } else { [2, channels, 17, 12] };
            let kernel = [features, channels / groups, size, size];
            let b = GraphBuilder::new();
            let result = b
                .convolution(
                    b.parameter("x", DType::F32, x).unwrap(),
                    b.parameter("kernel", DType::F32, kernel).unwrap(),
                    &convolution,
                    None,
                )
                .unwrap();
            let arguments = [array(DType::F32, &x, 3), array(DType::F32, &kernel, 4)];
            let graph = b.finish(&[result]).unwrap();
            assert!(check(&graph, &arguments, &format!("{convolution:?}")) > 0);
        }
    }
}

/// A part of a constant, in another order of its axes.
#[test]
fn parts_of_constants() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [70, 40]).unwrap();
    let y = b.parameter("y", DType::F32, [30, 90]).unwrap();
    let part = |value: Value, slices: [AxisSlice; 2]| {
        b.slice(b.transpose(value, &[1, 0]).unwrap(), &slices).unwrap()
    };
    let x = part(x, [AxisSlice::new(3, 30, 1), AxisSlice::new(2, 34, 2)]);
    let y = part(y, [AxisSlice::new(10, 34, 1), AxisSlice::new(27, 14, -2)]);
    let product = b.matmul(x, y).unwrap();
    let graph = b.finish(&[product]).unwrap();
    let arguments = [array(DType::F32, &[70, 40], 5), array(DType::F32, &[30, 90], 6)];
    assert!(check(&graph, &arguments, "parts") > 0);
}

/// A product of a parameter with weights, which every run of some rows packs.
fn linear(rows: usize) -> (Executable, Array) {
    let (graph, arguments) = product(DType::F32, &[rows, 200], &[200, 300]);
    let graph = with_constants(&graph, &arguments, [false, true]);
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    (executable, arguments[0].clone())
}

/// Bytes of the weights of [`linear`].
const WEIGHTS: usize = 200 * 300 * 4;

#[test]
fn the_second_run_packs_and_the_executable_counts_it() {
    let (executable, x) = linear(50);
    let bytes = executable.held_bytes();
    let expected = executable.run(&[x.view()]).unwrap();
    assert_eq!(executable.held_bytes(), bytes, "the first run packs nothing for later runs");
    assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
    let packed = executable.held_bytes() - bytes;
    assert!((WEIGHTS..WEIGHTS * 5 / 4).contains(&packed), "{packed}");
    assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
    assert_eq!(executable.held_bytes(), bytes + packed);
    assert_eq!(executable.own_bytes(), bytes + packed);
}

#[test]
fn packing_keeps_to_the_memory_limit() {
    let (executable, x) = linear(50);
    let bytes = executable.held_bytes();
    let run = |limit: usize| {
        let options = RunOptions::new().threads(Threads::Caller).memory_limit(limit);
        executable.run_with(&[x.view()], &options)
    };
    let least = bytes + executable.forecast().peak_bytes(1);
    assert_eq!(run(least - 1).unwrap_err().code(), "memory-limit");
    let expected = run(least).unwrap();
    // The first run does not pack, the second has no memory for it.
    assert_eq!(run(least).unwrap(), expected);
    assert_eq!(executable.held_bytes(), bytes);
    assert_eq!(run(least + 2 * WEIGHTS).unwrap(), expected);
    let packed = executable.held_bytes() - bytes;
    assert!(packed >= WEIGHTS, "{packed}");
    // A run within a lower limit frees the panels.
    assert_eq!(run(least + packed).unwrap(), expected);
    assert_eq!(executable.held_bytes(), bytes + packed);
    assert_eq!(run(least + packed - 1).unwrap(), expected);
    assert_eq!(executable.held_bytes(), bytes);
    assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
    assert_eq!(executable.held_bytes(), bytes + packed);
    assert!(executable.check_memory_limit(least + packed - 1, 1, true).is_ok());
    assert_eq!(executable.held_bytes(), bytes);
}

#[test]
fn threads_that_run_one_executable_at_once() {
    for _ in 0..8 {
        let (executable, x) = linear(50);
        let (other, _) = linear(50);
        let expected = other.run(&[x.view()]).unwrap();
        let bytes = executable.held_bytes();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..4 {
                        assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
                    }
                });
            }
        });
        let packed = executable.held_bytes() - bytes;
        assert!((WEIGHTS..WEIGHTS * 5 / 4).contains(&packed), "{packed}: the panels exist once");
    }
}

/// Tiles of a group read other columns of the weights each, so the group has no panels for later runs, and
/// the product, which does not run as a whole, has none either.
#[test]
fn constants_that_tiles_cut_are_not_packed() {
    for reverse in [false, true] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [100, 20]).unwrap();
        let weights = b.constant(array(DType::F32, &[20, 16384], 13));
        let rows = if reverse { AxisSlice::new(19, 20, -1) } else { AxisSlice::new(0, 20, 1) };
        let weights = b.slice(weights, &[rows, AxisSlice::new(0, 16384, 1)]).unwrap();
        let product = b.matmul(x, weights).unwrap();
        let largest = b.reduce(ReduceOp::Max, &product, 0).unwrap();
        let result = b.numpy().sub(product, largest).unwrap();
        let graph = b.finish(&[result]).unwrap();
        let options = CompileOptions::new().optimize(false);
        let executable = compile(&graph, &options).unwrap();
        assert!(executable.tiled_groups().any(|group| group.axes[0].0 == 1));
        let x = array(DType::F32, &[100, 20], 14);
        let bytes = executable.held_bytes();
        let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
        for _ in 0..3 {
            assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
        }
        // Machine code, but not the panels of a tile, which has at least 128 columns.
        let more = executable.held_bytes() - bytes;
        assert!(more < 20 * 128 * 4, "{more}");
    }
}

/// Packing for so many rows in each run costs little, and panels would double the memory of the weights.
#[test]
fn many_rows_pack_nothing() {
    for (rows, is_packed) in [(300, true), (2000, false)] {
        let (executable, x) = linear(rows);
        let bytes = executable.held_bytes();
        let options = RunOptions::new().threads(Threads::Caller);
        for _ in 0..3 {
            executable.run_with(&[x.view()], &options).unwrap();
        }
        assert_eq!(executable.held_bytes() > bytes, is_packed, "{rows}");
    }
}

#[test]
fn few_rows_pack_nothing() {
    let (executable, x) = linear(1);
    let bytes = executable.held_bytes();
    for _ in 0..3 {
        executable.run(&[x.view()]).unwrap();
    }
    assert_eq!(executable.held_bytes(), bytes);
}

#[test]
fn constants_outside_of_a_loop() {
    // Two loops with equal bodies, whose weights differ, and a state that begins with a constant.
    let weights = [7, 8, 9].map(|seed| array(DType::F32, &[100, 100], seed));
    let graph = |are_constant: bool| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [20, 100]).unwrap();
        let weight = |index: usize| match are_constant {
            true => b.constant(weights[index].clone()),
            false => b.parameter(&format!("w{index}"), DType::F32, [100, 100]).unwrap(),
        };
        let [first, second, state] = [0, 1, 2].map(weight);
        let looped = |x: &Value, weight: &Value| {
            let found = b.fori_loop(0..3, &[x], |b, _, s| Ok(vec![b.matmul(&s[0], weight)? * 0.1]));
            found.unwrap().remove(0)
        };
        let product = looped(&looped(&x, &first), &second);
        let states = b.fori_loop(0..3, &[&product, &state], |b, _, s| {
            Ok(vec![b.matmul(&s[0], &s[1])? * 0.1, &s[1] * 0.5])
        });
        b.finish(&states.unwrap()).unwrap()
    };
    let x = array(DType::F32, &[20, 100], 10);
    let parameters: Vec<ArrayView<'_>> =
        [x.view()].into_iter().chain(weights.iter().map(Array::view)).collect();
    let expected =
        compile(&graph(false), &CompileOptions::new()).unwrap().run(&parameters).unwrap();
    let executable = compile(&graph(true), &CompileOptions::new()).unwrap();
    let bytes = executable.held_bytes();
    for _ in 0..3 {
        assert_eq!(executable.run(&[x.view()]).unwrap(), expected);
    }
    let packed = executable.held_bytes() - bytes;
    // The two weights that do not change; not the state.
    let one = 100 * 100 * 4;
    assert!((2 * one..3 * one).contains(&packed), "{packed}");
}

#[test]
fn bindings_to_several_sizes_share_the_panels() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [50, 200]).unwrap();
    let weights = array(DType::F32, &[200, 300], 11);
    let product = b.matmul(x, b.constant(weights)).unwrap();
    let graph = b.finish(&[product]).unwrap();
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    let program = compile_symbolic(&symbolic, &CompileOptions::new()).unwrap();
    let bytes = program.held_bytes();
    for rows in [50, 60, 70, 9, 60, 12] {
        let x = array(DType::F32, &[rows, 200], 12);
        let rest = product_of_rows(&graph, &x);
        assert_eq!(program.run(&[x.view()]).unwrap()[0].elements::<f32>().unwrap(), rest);
    }
    let packed = program.held_bytes() - bytes;
    assert!((WEIGHTS..WEIGHTS * 3 / 2).contains(&packed), "{packed}");
}

/// The product by a graph for 50 rows, row by row.
fn product_of_rows(graph: &Graph, x: &Array) -> Vec<f32> {
    let elements = x.elements::<f32>().unwrap();
    let mut results = Vec::new();
    for rows in elements.chunks(50 * 200) {
        let mut padded = rows.to_vec();
        padded.resize(50 * 200, 0.0);
        let found = evaluate(graph, &[Array::new([50, 200], padded).unwrap()]).unwrap();
        let count = rows.len() / 200 * 300;
        results.extend_from_slice(&found[0].elements::<f32>().unwrap()[..count]);
    }
    results
}
