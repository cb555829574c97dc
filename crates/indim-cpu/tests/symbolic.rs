//! Programs for arrays of any sizes: a binding equals the compiled program for its sizes.
use indim_builder::{GraphBuilder, Reduction, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, ExecutorChoice, SymbolicExecutable,
    compile, compile_symbolic,
};
use indim_graph::{Array, AxisSlice, Graph, SizeFacts, SymbolicGraph, evaluate};
use indim_ops::{DType, ReduceOp};

/// The softmax of the rows of a matrix, and the size facts of the builder.
fn softmax(shape: [usize; 2]) -> (Graph, SizeFacts) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, shape).unwrap();
    let softmax = b.along(Reduction::Softmax, &x, [-1]).unwrap();
    (b.finish(&[softmax]).unwrap(), b.size_facts())
}

fn program() -> SymbolicExecutable {
    let (graph, facts) = softmax([4, 3]);
    compile_symbolic(&SymbolicGraph::new(&graph, &facts), &CompileOptions::default()).unwrap()
}

#[test]
fn groups_are_the_same_for_other_sizes() {
    let program = program();
    for shape in [[600, 1000], [2, 300_000], [2001, 257], [4, 3]] {
        let compiled = compile(&softmax(shape).0, &CompileOptions::default()).unwrap();
        let bound = program.bind(&[&shape]).unwrap();
        assert_eq!(
            bound.tiled_groups().collect::<Vec<_>>(),
            compiled.tiled_groups().collect::<Vec<_>>()
        );
        assert_eq!(bound.forecast(), compiled.forecast());
        assert_eq!(
            (bound.parameters(), bound.outputs()),
            (compiled.parameters(), compiled.outputs())
        );
        let numbers: Vec<f32> = (0..shape[0] * shape[1]).map(|i| (i % 977) as f32 * 0.01).collect();
        let inputs = [ArrayView::from_slice(shape, &numbers).unwrap()];
        // Before tier-up, and after it.
        for _ in 0..4 {
            let expected = compiled.run(&inputs).unwrap();
            assert!(bound.run(&inputs).unwrap()[0].bytes() == expected[0].bytes(), "{shape:?}");
        }
    }
}

/// A program over a vector `x` of any length, and the program compiled for one length.
fn over_vector(
    build: impl Fn(&GraphBuilder, &Value) -> Vec<Value>,
    options: &CompileOptions,
) -> (SymbolicExecutable, impl Fn(usize) -> Executable) {
    let built = move |length: usize| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [length]).unwrap();
        (b.finish(&build(&b, &x)).unwrap(), b.size_facts())
    };
    let (graph, facts) = built(100);
    let symbolic = compile_symbolic(&SymbolicGraph::new(&graph, &facts), options).unwrap();
    let options = options.clone();
    (symbolic, move |length| compile(&built(length).0, &options).unwrap())
}

/// `(x - mean(x)) / std(x)`: nests of one element alternate with nests of all elements.
fn standardised(b: &GraphBuilder, x: &Value) -> Value {
    let of = |function| b.along(function, x, [0]).unwrap();
    (x - of(Reduction::Mean)) / of(Reduction::Std)
}

#[test]
fn a_thousand_lengths_give_the_bits_of_separate_programs() {
    let options = CompileOptions::default();
    let (program, _) = over_vector(|_, x| vec![2.0 * x + 1.0], &options);
    let numbers: Vec<f32> = (0..2000).map(|number| number as f32).collect();
    let before = program.held_bytes();
    // Once more, after the first bindings were evicted.
    for length in (2..1002).chain(2..10).chain(990..1002) {
        let results = program.run(&[ArrayView::from(&numbers[..length])]).unwrap();
        let expected: Vec<f32> = numbers[..length].iter().map(|x| 2.0 * x + 1.0).collect();
        assert_eq!(results[0].elements::<f32>().unwrap(), expected, "length {length}");
    }
    let held = program.held_bytes() - before;
    assert!(held > 0 && held < 2 << 20, "{held} bytes");
}

#[test]
fn nests_that_depend_on_no_size_are_shared() {
    let options = CompileOptions::default();
    let (program, alone) = over_vector(|b, x| vec![standardised(b, x)], &options);
    let [first, second] = [700, 900].map(|length: usize| program.bind(&[&[length]]).unwrap());
    let is_shared =
        |index: usize| std::sync::Arc::ptr_eq(&first.nests()[index], &second.nests()[index]);
    let shared: Vec<bool> = (0..first.nests().len()).map(is_shared).collect();
    assert_eq!(shared, [false, true, false, true, false]);
    for length in [2, 3, 31, 700, 900, 5000, 300_000] {
        let numbers: Vec<f32> = (0..length).map(|i| (i % 977) as f32 * 0.01).collect();
        let inputs = [ArrayView::from(&numbers)];
        let (bound, alone) = (program.bind(&[&[length]]).unwrap(), alone(length));
        assert_eq!(bound.forecast(), alone.forecast());
        assert_eq!(bound.is_parallel(), alone.is_parallel());
        for _ in 0..3 {
            let expected = alone.run(&inputs).unwrap();
            assert!(bound.run(&inputs).unwrap()[0].bytes() == expected[0].bytes(), "{length}");
        }
    }
}

#[test]
fn arrays_of_one_axis_give_the_bits_of_kernels_at_every_length() {
    let options = |executor| CompileOptions::new().executor(executor);
    let build = |b: &GraphBuilder, x: &Value| {
        let sum = b.along(Reduction::Sum, x, [0]).unwrap();
        // Operands that are dense or single, a result of bytes, and a copied value.
        vec![x * &sum + 0.5, b.numpy().gt(x, sum).unwrap(), x * x]
    };
    let (machine, _) = over_vector(build, &options(ExecutorChoice::Machine));
    let (blocks, _) = over_vector(build, &options(ExecutorChoice::Blocks));
    for length in [2, 7, 32, 33, 1023, 1024, 1025, 16_383, 16_384, 16_385, 100_003, 300_000] {
        let numbers: Vec<f32> = (0..length).map(|i| (i % 977) as f32 * 0.01 - 3.0).collect();
        let inputs = [ArrayView::from(&numbers)];
        let [results, expected] = [&machine, &blocks].map(|program| program.run(&inputs).unwrap());
        for (result, expected) in results.iter().zip(&expected) {
            assert!(result.bytes() == expected.bytes(), "length {length}");
        }
        // Over the input, and reversed.
        let mut over = numbers.clone();
        let (program, _) =
            over_vector(|_, x| vec![2.0 * x - 1.0], &options(ExecutorChoice::Machine));
        let bound = program.bind(&[&[length]]).unwrap();
        let array_type = inputs[0].array_type().clone();
        let first = std::ptr::NonNull::from(&mut over[0]).cast::<u8>();
        // SAFETY: the memory outlives the views, and is used through this pointer.
        let (input, output) = unsafe {
            let input = ArrayView::from_raw(array_type.clone(), vec![4], first);
            (input, ArrayViewMut::from_raw(array_type.clone(), vec![4], first))
        };
        bound.run_into(&[input], &mut [output]).unwrap();
        let expected: Vec<f32> = numbers.iter().map(|x| 2.0 * x - 1.0).collect();
        assert!(over == expected, "length {length}, in place");
        // SAFETY: the elements from the last to the first are those of the memory.
        let turned = unsafe {
            let last = std::ptr::NonNull::from(&numbers[length - 1]).cast::<u8>();
            ArrayView::from_raw(array_type, vec![-4], last)
        };
        let results = program.run(&[turned]).unwrap();
        let expected: Vec<f32> = expected.into_iter().rev().collect();
        assert!(results[0].elements::<f32>().unwrap() == expected, "length {length}, turned");
    }
}

#[test]
fn cached_bindings_are_bounded() {
    let program = program();
    let before = program.held_bytes();
    for rows in 2..1000 {
        program.bind(&[&[rows, 7]]).unwrap();
    }
    let held = program.held_bytes() - before;
    assert!(held > 0 && held < 2 << 20, "{held} bytes");
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let program = program();
    let refused = |shape: &[usize]| program.bind(&[shape]).unwrap_err().to_string();
    let short = ArrayView::from_slice([1, 3], &[0.0f32; 3]).unwrap();
    assert_eq!(program.run(&[short]).unwrap_err().code(), "guard-not-met");
    assert_eq!(
        refused(&[1, 3]),
        "axis 0 of `x` is 1, the program was made for sizes from 2 to 2147483647"
    );
    assert_eq!(refused(&[3]), "`x` has 1 axes, the program was made for 2");
    let large = i32::MAX as usize;
    assert_eq!(refused(&[large, large]), "an intermediate array would not fit into memory");
    let doubles = ArrayView::from_slice([2, 2], &[0.0f64; 4]).unwrap();
    assert_eq!(program.run(&[doubles]).unwrap_err().code(), "input-type");
    assert_eq!(program.run(&[]).unwrap_err().code(), "input-count");
}

#[test]
fn equal_sizes_of_different_axes_are_not_confused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 5]).unwrap();
    let y = b.parameter("y", DType::F64, [70]).unwrap();
    let first = b.slice(&y, &[AxisSlice::new(0, 67, 1)]).unwrap();
    let transposed = b.transpose(&x, &[1, 0]).unwrap();
    let sums = [0, 1].map(|axis| b.reduce(ReduceOp::Add, &x, axis).unwrap());
    let results =
        [&transposed.exp(), &sums[0], &sums[1], &first.exp(), &b.sort(&x, 0, false).unwrap()];
    let graph = b.finish(&results).unwrap();
    let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
    assert_eq!(symbolic.guards().to_string(), "x: [n, m], y: [70]; n, m >= 2");
    let numbers: Vec<f64> = (0..70 * 70).map(|i| (i * 7919 % 977) as f64 * 0.01).collect();
    for executor in [ExecutorChoice::Machine, ExecutorChoice::Blocks] {
        let options = CompileOptions::new().executor(executor);
        let program = compile_symbolic(&symbolic, &options).unwrap();
        for [n, m] in [[67, 67], [67, 68], [68, 67], [70, 70], [3, 70], [2, 67], [67, 2]] {
            let x = Array::from_slice([n, m], &numbers[..n * m]).unwrap();
            let y = Array::from_slice([70], &numbers[..70]).unwrap();
            let expected = evaluate(&symbolic.resized(&[n, m]), &[x.clone(), y.clone()]).unwrap();
            let results = program.run(&[ArrayView::from(&x), ArrayView::from(&y)]).unwrap();
            assert!(results == expected, "{n} and {m}");
        }
    }
}
