//! The order of elements in memory of new outputs; the elements are the same in every order.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, Executable, Order, RunOptions, compile};
use indim_ops::{ArrayType, DType};

fn executable(builder: &GraphBuilder, outputs: &[Value]) -> Executable {
    compile(&builder.finish(outputs).unwrap(), &CompileOptions::default()).unwrap()
}

/// Runs in `order` and in row-major order, compares the elements, and returns the outputs in `order`.
fn run(executable: &Executable, inputs: &[ArrayView<'_>], order: Order) -> Vec<Array> {
    let options = RunOptions::new().order(order);
    let results = executable.run_with(inputs, &options).unwrap();
    for (result, expected) in results.iter().zip(executable.run(inputs).unwrap()) {
        assert_eq!(result.clone(), expected.clone());
        assert_eq!(result.to_row_major().unwrap().bytes(), expected.bytes());
        assert_eq!(result.elements::<f32>().is_ok(), result.is_row_major());
    }
    results
}

/// The strides of the results, in elements.
fn strides(executable: &Executable, inputs: &[ArrayView<'_>], order: Order) -> Vec<Vec<isize>> {
    let in_elements = |result: &Array| result.strides();
    run(executable, inputs, order).iter().map(in_elements).collect()
}

/// Memory for views: the numbers from 0.5 on.
fn memory() -> Vec<u8> {
    (0..4096).flat_map(|i| (i as f32 + 0.5).to_ne_bytes()).collect()
}

/// A view with these strides, in elements.
fn view<'a>(shape: &[usize], strides: &[isize], memory: &'a [u8]) -> ArrayView<'a> {
    let backwards = |(&size, &stride): (&usize, &isize)| match stride < 0 {
        true => stride.unsigned_abs() * (size - 1),
        false => 0,
    };
    let offset: usize = shape.iter().zip(strides).map(backwards).sum();
    let strides = strides.iter().map(|stride| stride * 4).collect();
    let array_type = ArrayType::new(DType::F32, shape.to_vec());
    ArrayView::from_bytes(array_type, strides, memory, offset * 4).unwrap()
}

/// `x + y` under NumPy's rules.
fn numpy_sum(x: &[usize], y: &[usize]) -> Executable {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, x.to_vec()).unwrap();
    let y = b.parameter("y", DType::F32, y.to_vec()).unwrap();
    executable(&b, &[b.numpy().add(x, y).unwrap()])
}

type Case<'a> = (&'a [usize], &'a [isize], &'a [usize], &'a [isize], &'a [isize]);

/// Shape and strides of two operands, and the strides of `numpy.add(x, y, order='K')` of NumPy 2.4.6, all
/// in elements: transposed, reversed and repeated axes, drawn at random.
#[rustfmt::skip]
const NUMPY: &[Case<'static>] = &[
    (&[3, 3, 4, 3], &[36, 3, 9, -1], &[3, 1, 4, 1], &[-4, 4, 1, 1], &[36, 3, 9, 1]),
    (&[3, 3, 4, 3], &[1, 0, 3, 12], &[3, 4, 3], &[12, 3, 1], &[1, 36, 9, 3]),
    (&[3, 3, 2], &[0, -3, 9], &[3, 1, 1], &[1, -1, 1], &[6, 1, 3]),
    (&[4, 3, 3], &[1, 4, 12], &[1, 3, 3], &[1, -1, 3], &[1, 4, 12]),
    (&[2, 4, 3, 4], &[12, 24, 1, -3], &[2, 4, 3, 4], &[1, 2, 8, 24], &[12, 24, 1, 3]),
    (&[3, 2, 2], &[-1, 6, 3], &[3, 1, 2], &[0, 1, 3], &[1, 6, 3]),
    (&[3, 3, 3, 4], &[1, -3, 9, 27], &[3, 1, 1, 1], &[1, 1, 0, 1], &[1, 3, 9, 27]),
    (&[3, 4, 2, 4], &[32, 8, 0, 1], &[4, 2, 4], &[8, 1, 2], &[32, 8, 1, 2]),
    (&[3, 2], &[1, 3], &[2], &[0], &[1, 3]),
    (&[2, 4, 3], &[12, 1, -4], &[2, 4, 3], &[1, 2, -8], &[12, 1, 4]),
    (&[1, 3, 4, 2], &[0, 8, -1, 4], &[3, 3, 1, 1], &[3, 1, 3, 3], &[24, 8, 1, 4]),
    (&[3, 4, 3, 4], &[1, 3, 0, -36], &[3, 4, 3, 4], &[1, -3, 0, 36], &[1, 3, 48, 12]),
    (&[2, 3], &[1, 2], &[1, 3], &[3, 1], &[1, 2]),
    (&[3, 4, 3], &[3, 9, 1], &[3, 4, 1], &[-1, 3, 12], &[3, 9, 1]),
    (&[3, 4, 2], &[-8, 1, 4], &[1, 2], &[2, 1], &[8, 1, 4]),
    (&[1, 3], &[1, 1], &[2, 3], &[1, 2], &[1, 2]),
    (&[2, 2], &[1, -2], &[2, 2], &[-1, 2], &[1, 2]),
    (&[2, 4, 3, 3], &[-36, 3, 12, 1], &[1, 4, 3, 1], &[1, 1, 4, 1], &[36, 3, 12, 1]),
    (&[2, 2, 4, 3], &[1, 6, 12, 2], &[2, 1, 4, 3], &[-4, 1, 1, 8], &[24, 3, 6, 1]),
    (&[3, 3, 3], &[3, 1, 9], &[3, 3, 1], &[3, -1, 9], &[3, 1, 9]),
    (&[2, 4, 4], &[1, 8, 2], &[4, 4], &[1, 4], &[1, 8, 2]),
    (&[4, 3, 2], &[1, 4, 12], &[4, 3, 2], &[1, -4, -12], &[1, 4, 12]),
    (&[1, 4, 4, 3], &[1, 1, 4, 16], &[2, 4, 4, 3], &[-4, 24, 1, -8], &[4, 24, 1, 8]),
    (&[3, 4], &[-1, 3], &[4], &[1], &[1, 3]),
    (&[2, 4, 3], &[-1, 2, 8], &[1, 3], &[1, 1], &[1, 2, 8]),
    (&[3, 3, 3], &[3, 9, 1], &[1, 3, 3], &[3, -3, 0], &[3, 9, 1]),
    (&[4, 3], &[1, 4], &[4, 3], &[1, 4], &[1, 4]),
    (&[3, 3, 3], &[9, 1, 3], &[1, 3, 1], &[0, 1, 3], &[9, 1, 3]),
    (&[4, 1, 1], &[-1, 4, 4], &[4, 4, 3], &[12, 1, 4], &[12, 1, 4]),
    (&[4, 3, 2], &[1, 8, 4], &[4, 3, 1], &[-1, 4, 12], &[1, 8, 4]),
    (&[1, 4, 2, 2], &[-4, 0, 4, 8], &[4, 4, 2, 1], &[-1, 4, 16, 16], &[1, 4, 16, 32]),
    (&[1, 2, 3], &[6, 3, 0], &[4, 2, 3], &[-1, 4, -8], &[1, 4, 8]),
    (&[4, 4, 1], &[1, -4, -16], &[1, 1, 4], &[1, 1, 1], &[4, 16, 1]),
    (&[4, 4], &[1, 4], &[1, 4], &[1, 1], &[1, 4]),
    (&[3, 2, 2], &[-2, 6, 1], &[3, 2, 2], &[1, 3, 6], &[2, 6, 1]),
    (&[4, 2], &[1, -4], &[1, 2], &[1, 1], &[1, 4]),
    (&[2, 3, 3, 4], &[1, 2, 6, 18], &[1, 3, 1, 4], &[1, 0, 3, 3], &[1, 2, 6, 18]),
    (&[2, 4], &[1, -2], &[1, 4], &[4, 1], &[1, 2]),
    (&[3, 2, 1, 4], &[-8, 4, 8, 1], &[3, 2, 4, 4], &[1, 3, 6, 24], &[32, 16, 1, 4]),
    (&[4, 4, 3], &[0, 1, -16], &[4, 1, 3], &[3, 12, 1], &[12, 1, 4]),
    (&[2, 3], &[1, 2], &[1, 3], &[0, 1], &[1, 2]),
    (&[2, 2, 1], &[1, 2, 1], &[2, 2, 4], &[4, 8, 1], &[4, 8, 1]),
    (&[4, 4, 4, 4], &[1, 4, 16, 0], &[4, 4, 1, 4], &[4, 1, 64, 16], &[4, 1, 64, 16]),
    (&[4, 4, 4], &[4, 1, 16], &[4, 4], &[4, 1], &[16, 4, 1]),
    (&[4, 4, 4], &[-1, 4, 16], &[4, 1, 4], &[1, 1, 4], &[1, 4, 16]),
    (&[3, 1, 4], &[4, 12, 1], &[3, 4, 4], &[16, -1, -4], &[16, 1, 4]),
    (&[2, 3], &[3, 1], &[2, 3], &[1, 2], &[3, 1]),
    (&[3, 3, 4], &[1, 12, 3], &[3, 4], &[1, 3], &[1, 12, 3]),
];

#[test]
fn order_k_is_that_of_numpy() {
    let memory = memory();
    for &(x, x_strides, y, y_strides, expected) in NUMPY {
        let inputs = [view(x, x_strides, &memory), view(y, y_strides, &memory)];
        let found = strides(&numpy_sum(x, y), &inputs, Order::K);
        assert_eq!(found, [expected], "{x:?} {x_strides:?} {y:?} {y_strides:?}");
    }
}

#[test]
fn every_order_of_row_and_column_major_operands() {
    let memory = memory();
    let executable = numpy_sum(&[2, 3, 4], &[3, 4]);
    let row_major = [view(&[2, 3, 4], &[12, 4, 1], &memory), view(&[3, 4], &[4, 1], &memory)];
    let column_major = [view(&[2, 3, 4], &[1, 2, 6], &memory), view(&[3, 4], &[1, 3], &memory)];
    let mixed = [row_major[0].clone(), column_major[1].clone()];
    for (inputs, order, expected) in [
        (&row_major, Order::C, [12, 4, 1]),
        (&column_major, Order::C, [12, 4, 1]),
        (&row_major, Order::F, [1, 2, 6]),
        (&column_major, Order::F, [1, 2, 6]),
        (&row_major, Order::A, [12, 4, 1]),
        (&column_major, Order::A, [1, 2, 6]),
        (&mixed, Order::A, [12, 4, 1]),
        (&row_major, Order::K, [12, 4, 1]),
        (&column_major, Order::K, [1, 2, 6]),
    ] {
        assert_eq!(strides(&executable, inputs, order), [expected], "{order:?}");
    }
}

#[test]
fn order_k_follows_an_input_along_broadcast_dimensions() {
    let memory = memory();
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 3]).unwrap();
    let all = b.broadcast_in_dim(x, &[0, 1], [3, 3, 3]).unwrap();
    let executable = executable(&b, &[b.exp(all).unwrap()]);
    let column_major = [view(&[3, 3], &[1, 3], &memory)];
    // The input's axes are the first two of the result, not the last two that NumPy would take.
    assert_eq!(strides(&executable, &column_major, Order::K), [[3, 9, 1]]);
}

#[test]
fn order_k_follows_an_input_through_transpositions_and_temporaries() {
    let memory = memory();
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [4, 1, 1]).unwrap();
    // Computed once and materialised, because the broadcast repeats it.
    let kept = b.exp(b.transpose(x, &[1, 0]).unwrap()).unwrap();
    let sum = b.numpy().add(kept, y).unwrap();
    let executable = executable(&b, &[sum]);
    assert_eq!(executable.nests().len(), 2);
    let inputs = [view(&[2, 3], &[3, 1], &memory), view(&[4, 1, 1], &[1, 1, 1], &memory)];
    assert_eq!(strides(&executable, &inputs, Order::K), [[6, 1, 3]]);
    let inputs = [view(&[2, 3], &[1, 2], &memory), inputs[1].clone()];
    assert_eq!(strides(&executable, &inputs, Order::K), [[6, 2, 1]]);
}

#[test]
fn order_k_of_an_output_follows_its_own_inputs() {
    let memory = memory();
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [2, 3]).unwrap();
    let executable = executable(&b, &[-&x, b.exp(&y).unwrap(), x + y]);
    let inputs = [view(&[2, 3], &[3, 1], &memory), view(&[2, 3], &[1, 2], &memory)];
    let expected = [[3, 1], [1, 2], [3, 1]];
    assert_eq!(strides(&executable, &inputs, Order::K), expected, "row-major wins");
}

#[test]
fn orders_of_arrays_with_no_axes_or_no_elements() {
    let memory = memory();
    for order in [Order::C, Order::F, Order::A, Order::K] {
        for shape in [vec![], vec![0], vec![2, 0, 3], vec![1, 1]] {
            let executable = numpy_sum(&shape, &[]);
            let zeros = vec![0; shape.len()];
            let inputs = [view(&shape, &zeros, &memory), view(&[], &[], &memory)];
            let results = run(&executable, &inputs, order);
            assert_eq!(results[0].array_type().shape.sizes(), shape);
        }
    }
}
