//! Groups of nests with contractions: the bits of the same operations as separate programs, in less memory.

use std::ops::ControlFlow;

use indim_builder::{Convolution, GraphBuilder, ReduceOptions, Reduction, Value};
use indim_cpu::{
    Array, ArrayView, ArrayViewMut, CompileOptions, Executable, InPlace, RunOptions, compile,
    compile_symbolic,
};
use indim_graph::{PaddedWindow, SymbolicGraph};
use indim_ops::{ArrayType, DType};

fn numbers(shape: &[usize], seed: usize) -> Array {
    let number = |index: usize| ((index * 7919 + seed * 31) % 1009) as f32 * 0.004 - 2.0;
    Array::new(shape, (0..shape.iter().product()).map(number).collect()).unwrap()
}

fn compiled(graph: &indim_graph::Graph) -> Executable {
    compile(graph, &CompileOptions::default()).unwrap()
}

/// Runs one function as a program of its own, so that it is fused with nothing else.
fn alone(inputs: &[&Array], function: impl Fn(&GraphBuilder, &[Value]) -> Value) -> Array {
    let b = GraphBuilder::new();
    let parameters = parameters(&b, inputs);
    let executable = compiled(&b.finish(&[function(&b, &parameters)]).unwrap());
    let views: Vec<ArrayView<'_>> = inputs.iter().map(|&input| input.into()).collect();
    executable.run(&views).unwrap().remove(0)
}

fn parameters(b: &GraphBuilder, inputs: &[&Array]) -> Vec<Value> {
    let parameter = |(index, input): (usize, &&Array)| {
        let ArrayType { dtype, shape } = input.array_type().clone();
        b.parameter(&format!("x{index}"), dtype, shape).unwrap()
    };
    inputs.iter().enumerate().map(parameter).collect()
}

/// Runs `steps` as one program, and each as a program of its own. A step has the results of all steps before
/// it, after the inputs. Compares all results for several numbers of threads; returns the one program.
fn check(inputs: &[&Array], outputs: &[usize], steps: &[Step<'_>]) -> Executable {
    let b = GraphBuilder::new();
    let mut values = parameters(&b, inputs);
    for step in steps {
        let value = step(&b, &values);
        values.push(value);
    }
    let kept: Vec<Value> = outputs.iter().map(|&output| values[output].clone()).collect();
    let executable = compiled(&b.finish(&kept).unwrap());
    let mut expected: Vec<Array> = inputs.iter().map(|&input| input.clone()).collect();
    for step in steps {
        let result = alone(&expected.iter().collect::<Vec<_>>(), step);
        expected.push(result);
    }
    let views: Vec<ArrayView<'_>> = inputs.iter().map(|&input| input.into()).collect();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let results = pool.install(|| executable.run(&views)).unwrap();
        for (result, &output) in results.iter().zip(outputs) {
            let same = result.bytes() == expected[output].bytes();
            let types = inputs.iter().map(|input| input.array_type().to_string());
            assert!(
                same,
                "value {output} of {}, {threads} threads",
                types.collect::<Vec<_>>().join(", ")
            );
        }
    }
    executable
}

type Step<'a> = &'a dyn Fn(&GraphBuilder, &[Value]) -> Value;

fn softmax(b: &GraphBuilder, x: &Value) -> Value {
    b.along(Reduction::Softmax, x, [-1]).unwrap()
}

fn transposed(b: &GraphBuilder, x: &Value) -> Value {
    let rank = x.array_type().unwrap().shape.rank() as i64;
    let axes: Vec<i64> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    b.transpose(x, &axes).unwrap()
}

/// The range of nests of each group.
fn groups(executable: &Executable) -> Vec<(usize, usize)> {
    executable.tiled_groups().map(|group| (group.nests.start, group.nests.end)).collect()
}

/// Whether tiles of these tests are enough for the threads of this machine, so that groups run.
fn has_groups() -> bool {
    std::thread::available_parallelism().is_ok_and(|threads| threads.get() <= 8)
}

/// Asserts that the program has one group.
fn assert_one_group(executable: &Executable) {
    let found = groups(executable);
    assert!(found.len() == 1 || !has_groups(), "{found:?}");
}

/// How the keys and values lie in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Keys {
    /// Keys and values have their elements last.
    Rows,
    /// Keys and values have their elements before the last axis, as the products need them or not.
    Columns,
}

/// Checks attention of `queries` and `keys` rows of `width` elements, in one program.
fn check_attention(batch: &[usize], [queries, keys, width]: [usize; 3], dtype: DType, lie: Keys) {
    let shaped = |last: [usize; 2], seed| {
        let shape = [batch, &last].concat();
        alone(&[&numbers(&shape, seed)], |b, x| b.convert(&x[0], dtype).unwrap())
    };
    let q = shaped([queries, width], 1);
    let k = shaped(if lie == Keys::Rows { [keys, width] } else { [width, keys] }, 2);
    let v = shaped(if lie == Keys::Rows { [keys, width] } else { [width, keys] }, 3);
    let mask = alone(&[&numbers(&[queries, keys], 4)], |b, x| b.convert(&x[0], dtype).unwrap());
    let scores = |b: &GraphBuilder, x: &[Value]| {
        let k = if lie == Keys::Rows { transposed(b, &x[1]) } else { x[1].clone() };
        let scores = b.matmul(&x[0], k).unwrap();
        b.numpy().add(&scores, &x[3]).unwrap()
    };
    let weights = |b: &GraphBuilder, x: &[Value]| softmax(b, &x[4]);
    let result = |b: &GraphBuilder, x: &[Value]| {
        let v = if lie == Keys::Rows { x[2].clone() } else { transposed(b, &x[2]) };
        b.matmul(&x[5], v).unwrap()
    };
    let executable = check(&[&q, &k, &v, &mask], &[6], &[&scores, &weights, &result]);
    if !has_groups() {
        return;
    }
    // The whole program is one group, from the first contraction to the last one.
    let found: Vec<_> = executable.tiled_groups().collect();
    assert!(found.len() == 1 && found[0].nests.start == 0, "{found:?} of {batch:?}");
    let whole: usize = batch.iter().product::<usize>() * queries * keys * dtype.size();
    let forecast = executable.forecast();
    let kept = forecast.temporary_bytes + forecast.register_bytes;
    assert!(kept < whole, "{kept} bytes, but the scores have {whole}: {found:?}");
}

#[test]
fn attention_is_one_group() {
    for (batch, sizes, lie) in [
        (&[5][..], [500, 500, 8], Keys::Rows),
        (&[2, 3], [401, 613, 5], Keys::Columns),
        (&[], [1200, 1300, 16], Keys::Rows),
        (&[1], [1203, 1100, 9], Keys::Columns),
        (&[40], [130, 260, 3], Keys::Rows),
        (&[300], [17, 300, 2], Keys::Columns),
    ] {
        check_attention(batch, sizes, DType::F32, lie);
    }
}

#[test]
fn attention_of_other_element_types() {
    check_attention(&[3], [450, 450, 7], DType::F64, Keys::Rows);
    check_attention(&[5], [700, 500, 7], DType::F16, Keys::Columns);
    check_attention(&[5], [500, 700, 7], DType::Bf16, Keys::Rows);
}

#[test]
fn causal_attention_with_other_results() {
    let shape = [4, 520, 6];
    let [q, k, v] = [1, 2, 3].map(|seed| numbers(&shape, seed));
    let scores = |b: &GraphBuilder, x: &[Value]| {
        let scores = b.matmul(&x[0], transposed(b, &x[1])).unwrap();
        let [rows, columns] = [1, 2].map(|axis| b.iota(DType::I32, [4, 520, 520], axis).unwrap());
        let hidden = b.scalar(f32::NEG_INFINITY);
        let hidden = b.broadcast(hidden, &[4, 520, 520]).unwrap();
        rows.ge(&columns).select(&scores, hidden)
    };
    let weights = |b: &GraphBuilder, x: &[Value]| softmax(b, &x[3]);
    let result = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[4], &x[2]).unwrap();
    let executable = check(&[&q, &k, &v], &[5], &[&scores, &weights, &result]);
    assert_one_group(&executable);
    // The weights are an output too.
    check(&[&q, &k, &v], &[4, 5], &[&scores, &weights, &result]);
    check(&[&q, &k, &v], &[5, 3], &[&scores, &weights, &result]);
}

/// All heads read the same keys and values, so heads are rows of the products too.
#[test]
fn attention_with_shared_keys() {
    let (q, k, v) = (numbers(&[6, 400, 8], 1), numbers(&[500, 8], 2), numbers(&[500, 8], 3));
    let scores = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[0], transposed(b, &x[1])).unwrap();
    let weights = |b: &GraphBuilder, x: &[Value]| softmax(b, &x[3]);
    let result = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[4], &x[2]).unwrap();
    let executable = check(&[&q, &k, &v], &[5], &[&scores, &weights, &result]);
    assert_one_group(&executable);
}

#[test]
fn gradients_of_attention() {
    let shape = [3, 610, 7];
    let [q, k, v, cotangent] = [1, 2, 3, 4].map(|seed| numbers(&shape, seed));
    let weights =
        |b: &GraphBuilder, x: &[Value]| softmax(b, &b.matmul(&x[0], transposed(b, &x[1])).unwrap());
    let of_weights = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[3], transposed(b, &x[2])).unwrap();
    let of_scores = |b: &GraphBuilder, x: &[Value]| {
        let keep = ReduceOptions::axes([-1]).keepdims(true);
        let sum = b.along(Reduction::Sum, &x[4] * &x[5], &keep).unwrap();
        &x[4] * b.numpy().sub(&x[5], sum).unwrap()
    };
    let of_q = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[6], &x[1]).unwrap();
    let of_k = |b: &GraphBuilder, x: &[Value]| b.matmul(transposed(b, &x[6]), &x[0]).unwrap();
    let of_v = |b: &GraphBuilder, x: &[Value]| b.matmul(transposed(b, &x[4]), &x[3]).unwrap();
    let steps: [Step<'_>; 6] = [&weights, &of_weights, &of_scores, &of_q, &of_k, &of_v];
    let executable = check(&[&q, &k, &v, &cotangent], &[7, 8, 9], &steps);
    assert!(!groups(&executable).is_empty() || !has_groups());
}

/// Keys that a member of the group writes are complete before any row of the scores: no tile of rows may
/// contain both.
#[test]
fn keys_written_in_the_program() {
    let x = numbers(&[3, 620, 6], 1);
    let keys = |b: &GraphBuilder, x: &[Value]| {
        let keep = ReduceOptions::axes([-1]).keepdims(true);
        let top = b.along(Reduction::Max, &x[0], &keep).unwrap();
        b.numpy().sub(&x[0], top).unwrap().exp()
    };
    let scores = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[1], transposed(b, &x[1])).unwrap();
    let weights = |b: &GraphBuilder, x: &[Value]| softmax(b, &x[2]);
    let result = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[3], &x[1]).unwrap();
    let executable = check(&[&x], &[4], &[&keys, &scores, &weights, &result]);
    assert!(!groups(&executable).is_empty() || !has_groups());
    check(&[&numbers(&[1, 1300, 6], 1)], &[4], &[&keys, &scores, &weights, &result]);
}

/// Projections of two sequences could be in a group with the attention, cut along the batch. Heads and rows
/// are smaller tiles.
#[test]
fn attention_after_projections() {
    let x = numbers(&[2, 512, 48], 1);
    let weights = [2, 3, 4].map(|seed| numbers(&[48, 48], seed));
    let project = |b: &GraphBuilder, x: &[Value], weights: usize| {
        let heads = b.matmul(&x[0], &x[weights]).unwrap() * 0.05_f32;
        let heads = b.reshape(heads, [2, 512, 4, 12]).unwrap();
        b.transpose(heads, &[0, 2, 1, 3]).unwrap()
    };
    let [q, k, v] =
        [1, 2, 3].map(|weights| move |b: &GraphBuilder, x: &[Value]| project(b, x, weights));
    let scores = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[4], transposed(b, &x[5])).unwrap();
    let softmax = |b: &GraphBuilder, x: &[Value]| softmax(b, &x[7]);
    let result = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[8], &x[6]).unwrap();
    let inputs = [&x, &weights[0], &weights[1], &weights[2]];
    let executable = check(&inputs, &[9], &[&q, &k, &v, &scores, &softmax, &result]);
    assert_one_group(&executable);
    assert!(groups(&executable).iter().all(|&(start, _)| start >= 3), "{:?}", groups(&executable));
}

/// A product of few inner elements, whose bias, activation and largest elements are computed in its tiles.
#[test]
fn products_with_their_epilogue() {
    let (x, w, bias) = (numbers(&[3001, 9], 1), numbers(&[9, 700], 2), numbers(&[700], 3));
    let product = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[0], &x[1]).unwrap();
    let activation = |b: &GraphBuilder, x: &[Value]| b.numpy().add(&x[3], &x[2]).unwrap().tanh();
    let top = |b: &GraphBuilder, x: &[Value]| b.along(Reduction::Max, &x[4], [1]).unwrap();
    let executable = check(&[&x, &w, &bias], &[5], &[&product, &activation, &top]);
    assert_one_group(&executable);
    let executable = check(&[&x, &w, &bias], &[4], &[&product, &activation]);
    assert_one_group(&executable);
}

/// Convolutions read their operand through windows, whole in the first and the last step, and cut along the
/// batch or the rows of pixels.
#[test]
fn convolutions_with_their_epilogue() {
    for (batch, dilation) in [(7, 1), (1, 2)] {
        let size = if batch == 1 { 190 } else { 70 };
        let (x, w) = (numbers(&[batch, 3, size, size], 1), numbers(&[16, 3, 3, 3], 2));
        let (last, bias) = (numbers(&[2, 16, 3, 3], 3), numbers(&[16, 1, 1], 4));
        let window = PaddedWindow { dilation, ..PaddedWindow::default() };
        let convolve = Convolution::new(vec![window; 2]);
        let product =
            |b: &GraphBuilder, x: &[Value]| b.convolution(&x[0], &x[1], &convolve, None).unwrap();
        let activation =
            |b: &GraphBuilder, x: &[Value]| b.numpy().add(&x[4], &x[3]).unwrap().tanh() * 0.1_f32;
        let result =
            |b: &GraphBuilder, x: &[Value]| b.convolution(&x[5], &x[2], &convolve, None).unwrap();
        let steps: [Step<'_>; 3] = [&product, &activation, &result];
        let executable = check(&[&x, &w, &last, &bias], &[6], &steps);
        assert!(!groups(&executable).is_empty() || !has_groups(), "batch of {batch}");
    }
}

/// Large weights would be packed again for each tile, which costs more than the group saves.
#[test]
fn large_weights_are_in_no_group() {
    let b = GraphBuilder::new();
    let parameter = |name, shape| b.parameter(name, DType::F32, shape).unwrap();
    let (x, w) = (parameter("x", [512, 768]), parameter("w", [768, 3072]));
    let v = parameter("v", [3072, 768]);
    let hidden = b.matmul(&x, &w).unwrap().tanh();
    let executable = compiled(&b.finish(&[b.matmul(hidden, v).unwrap()]).unwrap());
    assert_eq!(groups(&executable), []);
}

#[test]
fn few_rows() {
    for (queries, keys) in [(1, 1), (1, 300_000), (2, 250_000), (0, 5), (5, 0), (600, 1)] {
        let (q, k) = (numbers(&[3, queries, 2], 1), numbers(&[3, keys, 2], 2));
        let scores = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[0], transposed(b, &x[1])).unwrap();
        let weights = |_: &GraphBuilder, x: &[Value]| (&x[2] * 0.5_f32).exp();
        let result = |b: &GraphBuilder, x: &[Value]| b.matmul(&x[3], &x[1]).unwrap();
        check(&[&q, &k], &[4], &[&scores, &weights, &result]);
    }
}

/// The result has the bytes of the queries, or of the keys, and may be written over them: tiles of other rows
/// still read all keys.
#[test]
fn results_over_inputs() {
    let inputs = [1, 2, 3].map(|seed| numbers(&[4, 540, 8], seed));
    for over in [0, 1] {
        let b = GraphBuilder::new();
        let x = parameters(&b, &inputs.iter().collect::<Vec<_>>());
        let weights = softmax(&b, &b.matmul(&x[0], transposed(&b, &x[1])).unwrap());
        let result = b.matmul(weights, &x[2]).unwrap() + &x[over];
        let executable = compiled(&b.finish(&[result]).unwrap());
        assert_one_group(&executable);
        let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
        let expected = executable.run(&views).unwrap().remove(0);
        let mut elements = inputs[over].elements::<f32>().unwrap().to_vec();
        let mut arguments = Vec::new();
        let mut target = Some(ArrayViewMut::from_slice([4, 540, 8], &mut elements).unwrap());
        for (index, view) in views.iter().enumerate() {
            arguments.push(match target.take_if(|_| index == over) {
                Some(target) => InPlace::Overwrite(target),
                None => InPlace::Read(view.clone()),
            });
        }
        executable.run_in_place(arguments).unwrap();
        assert_eq!(Ok(&elements[..]), expected.elements::<f32>(), "over input {over}");
    }
}

fn attention(batch: usize, rows: usize, width: usize) -> (GraphBuilder, indim_graph::Graph) {
    let b = GraphBuilder::new();
    let [q, k, v] =
        ["q", "k", "v"].map(|name| b.parameter(name, DType::F32, [batch, rows, width]).unwrap());
    let weights = softmax(&b, &b.matmul(&q, transposed(&b, &k)).unwrap());
    let graph = b.finish(&[b.matmul(weights, &v).unwrap()]).unwrap();
    (b, graph)
}

#[test]
fn a_program_for_any_sizes_has_the_same_groups() {
    let (b, graph) = attention(4, 3, 2);
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    let program = compile_symbolic(&symbolic, &CompileOptions::default()).unwrap();
    for [batch, rows, width] in [[5, 500, 8], [3, 640, 5], [2, 3, 4]] {
        let shape = [batch, rows, width];
        let compiled = compiled(&attention(batch, rows, width).1);
        let bound = program.bind(&[&shape, &shape, &shape]).unwrap();
        assert!(bound.tiled_groups().eq(compiled.tiled_groups()));
        assert!(compiled.tiled_groups().count() == usize::from(rows > 3) || !has_groups());
        assert_eq!(bound.forecast(), compiled.forecast());
        let inputs = [1, 2, 3].map(|seed| numbers(&shape, seed));
        let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
        let [result, expected] = [&bound, &compiled].map(|program| program.run(&views).unwrap());
        assert!(result[0].bytes() == expected[0].bytes(), "{shape:?}");
    }
}

#[test]
fn scores_take_the_memory_of_a_tile() {
    let forecast = compiled(&attention(12, 2048, 64).1).forecast();
    assert_eq!(forecast.temporary_bytes, 0);
    // One array of all scores has 192 MiB; a tile has 128 rows of two such arrays at a time.
    assert!((2 << 20..4 << 20).contains(&forecast.register_bytes), "{}", forecast.register_bytes);
}

#[test]
fn a_group_with_products_stops_between_tiles() {
    let inputs = [1, 2, 3].map(|seed| numbers(&[20, 400, 8], seed));
    let views: Vec<ArrayView<'_>> = inputs.iter().map(ArrayView::from).collect();
    let executable = compiled(&attention(20, 400, 8).1);
    assert_one_group(&executable);
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let progress = |_| match calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let options = RunOptions::new().progress(&progress);
    let stopped = executable.run_with(&views, &options);
    assert_eq!(stopped.map(|_: Vec<Array>| ()).unwrap_err().code(), "stopped");
}
