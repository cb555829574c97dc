//! Outputs that lie exactly over an input are written without a copy, with the values of a copy.

use std::ptr::NonNull;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, Executable, RunError, RunOptions, compile,
};
use indim_graph::{Array, TakeMode};
use indim_ops::{ArrayType, DType, ScatterOp};

#[path = "executors/mod.rs"]
mod executors;

const SHAPE: [usize; 2] = [60, 50];

/// Compiles a function of two matrices `x` and `y`.
fn of_two(function: impl Fn(&GraphBuilder, [Value; 2]) -> Vec<Value>) -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, SHAPE).unwrap();
    let y = b.parameter("y", DType::F64, SHAPE).unwrap();
    let graph = b.finish(&function(&b, [x, y])).unwrap();
    compile(&graph, &CompileOptions::default()).unwrap()
}

/// Runs with the outputs in the memory of the inputs at `places`; returns the outputs and copies of the
/// inputs.
fn run(executable: &Executable, places: &[usize]) -> Vec<Vec<f64>> {
    let numbers = |from: u32| (from..from + 3000).map(f64::from).collect();
    let mut memory: [Vec<f64>; 2] = [numbers(0), numbers(7000)];
    let array_type = ArrayType::new(DType::F64, SHAPE);
    let strides = vec![400, 8];
    let pointers = memory.each_mut().map(|numbers| NonNull::from(&mut numbers[0]).cast::<u8>());
    // SAFETY: the memory has elements at these strides, outlives the views, and only these pointers access
    // it.
    let inputs = pointers
        .map(|first| unsafe { ArrayView::from_raw(array_type.clone(), strides.clone(), first) });
    // SAFETY: the same; each output is at a different place.
    let output = |&place: &usize| unsafe {
        ArrayViewMut::from_raw(array_type.clone(), strides.clone(), pointers[place])
    };
    let mut outputs: Vec<ArrayViewMut<'_>> = places.iter().map(output).collect();
    executable.run_into(&inputs, &mut outputs).unwrap();
    places.iter().map(|&place| memory[place].clone()).collect()
}

fn expected(function: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..SHAPE[0])
        .flat_map(|i| (0..SHAPE[1]).map(move |j| (i, j)))
        .map(|(i, j)| function(i, j))
        .collect()
}

fn x(i: usize, j: usize) -> f64 {
    (50 * i + j) as f64
}

fn y(i: usize, j: usize) -> f64 {
    x(i, j) + 7000.0
}

#[test]
fn an_input_is_read_before_it_is_overwritten() {
    // The second output reads `x` after the first one was computed.
    let both =
        of_two(|b, [x, y]| vec![b.add(&x, y, &[0, 1]).unwrap(), b.mul(&x, &x, &[0, 1]).unwrap()]);
    assert_eq!(
        run(&both, &[0, 1]),
        [expected(|i, j| x(i, j) + y(i, j)), expected(|i, j| x(i, j) * x(i, j))]
    );
    assert_eq!(
        run(&both, &[1, 0]),
        [expected(|i, j| x(i, j) + y(i, j)), expected(|i, j| x(i, j) * x(i, j))]
    );
}

#[test]
fn inputs_may_be_exchanged() {
    let swapped = of_two(|_, [x, y]| vec![y, x]);
    assert_eq!(run(&swapped, &[0, 1]), [expected(y), expected(x)]);
    let same = of_two(|_, [x, y]| vec![x, y]);
    assert_eq!(run(&same, &[0, 1]), [expected(x), expected(y)]);
}

#[test]
fn an_input_with_another_reader_is_copied() {
    // `x` is read in another order than the result is written.
    let transposed = of_two(|b, [x, y]| {
        let flat = b.reshape(&x, [50, 60]).unwrap();
        let turned = b.transpose(flat, &[1, 0]).unwrap();
        vec![b.add(b.exp(b.mul(x, y, &[0, 1]).unwrap() * 0.0).unwrap(), turned, &[0, 1]).unwrap()]
    });
    let turned = expected(|i, j| 1.0 + (60 * j + i) as f64);
    assert_eq!(run(&transposed, &[0]), std::slice::from_ref(&turned));
    assert_eq!(run(&transposed, &[1]), [turned]);
}

#[test]
fn outputs_and_inputs_may_interleave() {
    let halves =
        of_two(|b, [x, y]| vec![b.add(&x, &y, &[0, 1]).unwrap(), b.mul(x, y, &[0, 1]).unwrap()]);
    // Four interleaved arrays: `x`, `y`, the sum and the product.
    let mut memory: Vec<f64> = (0..12_000u32).map(|i| f64::from(i / 4 + i % 4 * 100)).collect();
    let before = memory.clone();
    let array_type = ArrayType::new(DType::F64, SHAPE);
    let strides = vec![1600, 32];
    let place = |index: usize| NonNull::from(&mut memory[index]).cast::<u8>();
    let [x, y, sum, product] = [0, 1, 2, 3].map(place);
    // SAFETY: each view has every fourth element, which no other view has; the memory outlives the views.
    let inputs = [x, y]
        .map(|first| unsafe { ArrayView::from_raw(array_type.clone(), strides.clone(), first) });
    // SAFETY: the same.
    let mut outputs = [sum, product]
        .map(|first| unsafe { ArrayViewMut::from_raw(array_type.clone(), strides.clone(), first) });
    // Nothing is copied, because the limit leaves no memory for a copy.
    let options = RunOptions::new().memory_limit(40_000);
    halves.run_into_with(&inputs, &mut outputs, &options).unwrap();
    for (now, before) in memory.chunks(4).zip(before.chunks(4)) {
        let [x, y] = [before[0], before[1]];
        assert_eq!(now, [x, y, x + y, x * y]);
    }

    let mut bytes = vec![0u8; 48_008];
    let first = NonNull::from(&mut bytes[0]);
    // SAFETY: the elements are within the bytes, and only these views access them.
    let at = |offset| unsafe {
        ArrayViewMut::from_raw(array_type.clone(), vec![800, 16], first.add(offset))
    };
    let error = halves.run_into(&inputs, &mut [at(0), at(15)]).unwrap_err();
    assert_eq!(error, RunError::OutputsOverlap { first: 0, second: 1 });
    assert_eq!(error.code(), "outputs-overlap");
    assert_eq!(halves.run_into(&inputs, &mut [at(0), at(8)]), Ok(()));
}

/// Whether two elements meet is a subset sum of 20 strides.
#[test]
fn outputs_in_an_intricate_order_are_refused() {
    const RANK: usize = 10;
    let b = GraphBuilder::new();
    let [x, y] = ["x", "y"].map(|name| b.parameter(name, DType::I8, [2; RANK]).unwrap());
    let graph = b.finish(&[-x, -y]).unwrap();
    let program = compile(&graph, &CompileOptions::default()).unwrap();
    let strides: Vec<isize> =
        (1..=20).map(|i: isize| 2 * (2_000_001 + i.pow(5) * 7_919 % 1_000_003)).collect();
    // Zeros that are not touched take no memory.
    let mut memory = vec![0u8; strides.iter().sum::<isize>() as usize];
    let first = NonNull::from(&mut memory[0]);
    let ones = vec![1i8; 1 << RANK];
    let inputs = [0, 1].map(|_| ArrayView::from_slice([2; RANK], &ones).unwrap());
    let array_type = ArrayType::new(DType::I8, [2; RANK]);
    let mut outputs = [(0, &strides[..RANK]), (1000, &strides[RANK..])].map(|(offset, strides)| {
        // SAFETY: inside of the memory, which is used through these views alone.
        unsafe { ArrayViewMut::from_raw(array_type.clone(), strides.to_vec(), first.add(offset)) }
    });
    let error = program.run_into(&inputs, &mut outputs).unwrap_err();
    assert_eq!(error.code(), "overlap-undecided", "{error}");
}

/// A gather may yield the address of a row of its table, and an output over the table would change the row
/// before it is stored.
#[test]
fn a_gathered_table_is_copied() {
    const SHAPE: [usize; 2] = [4, 1];
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, SHAPE).unwrap();
    let index = b.parameter("index", DType::U64, [1]).unwrap();
    // With views around the gather, the table is read at the indices that the outputs are written at.
    let viewed = |value: &Value| b.reshape(b.reshape(value, [4]).unwrap(), SHAPE).unwrap();
    let taken = b.take(viewed(&x), index, 1, TakeMode::Clip).unwrap();
    let graph = b.finish(&[-&taken, viewed(&taken)]).unwrap();
    let index = ArrayView::from_slice([1], &[1_u64]).unwrap();
    for executor in executors::EXECUTORS {
        // A pass would replace the gather by a view.
        let options = CompileOptions::new().executor(executor).optimize(false);
        let program = compile(&graph, &options).unwrap();
        let (mut table, mut apart) = ([1.0, 2.0, 3.0, 4.0], [0.0; 8]);
        let over = NonNull::from(&mut table[0]).cast::<u8>();
        let apart_first = NonNull::from(&mut apart[0]).cast::<u8>();
        let array_type = ArrayType::new(DType::F64, SHAPE);
        // SAFETY: the memory has elements at these strides, outlives the views, and only they access it.
        let input = unsafe { ArrayView::from_raw(array_type.clone(), vec![8, 8], over) };
        // SAFETY: the same; the second output has gaps, so no kernel writes it.
        let mut outputs = [(over, 8), (apart_first, 16)].map(|(first, stride)| unsafe {
            ArrayViewMut::from_raw(array_type.clone(), vec![stride, 8], first)
        });
        program.run_into(&[input, index.clone()], &mut outputs).unwrap();
        assert_eq!(table, [-1.0, -2.0, -3.0, -4.0], "{executor:?}");
        assert_eq!(apart, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0], "{executor:?}");
    }
}

/// A single update of one array, over another one that is not read.
#[test]
fn a_single_update_over_another_input() {
    let updated = of_two(|b, [x, _]| {
        let row = b.constant(Array::new([1, 50], vec![-1.0f64; 50]).unwrap());
        let at = b.constant(Array::new([1], vec![2i64]).unwrap());
        vec![b.scatter(ScatterOp::Set, &x, at, row, 0, TakeMode::Error).unwrap()]
    });
    let row = |i, j| if i == 2 { -1.0 } else { x(i, j) };
    assert_eq!(run(&updated, &[1]), [expected(row)]);
    assert_eq!(run(&updated, &[0]), [expected(row)]);
}
