//! Windows: views, moving sums and products with kernels, against index arithmetic by hand.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, compile};
use indim_graph::{Array, AxisSlice, AxisWindow};
use indim_loops::lower;
use indim_ops::{DType, ReduceOp};

/// The outputs for one parameter of i32, optimised and not.
fn results(
    shape: &[usize],
    x: &[i32],
    make: impl Fn(&GraphBuilder, &Value) -> Vec<Value>,
) -> Vec<Vec<i32>> {
    let run = |optimize| {
        let b = GraphBuilder::new();
        let parameter = b.parameter("x", DType::I32, shape).unwrap();
        let graph = b.finish(&make(&b, &parameter)).unwrap();
        let executable = compile(&graph, &CompileOptions::new().optimize(optimize)).unwrap();
        let results = executable.run(&[ArrayView::from_slice(shape, x).unwrap()]).unwrap();
        results.iter().map(|result| result.elements::<i32>().unwrap().to_vec()).collect()
    };
    let results: Vec<Vec<i32>> = run(true);
    assert_eq!(results, run(false));
    results
}

/// Starts of the windows that lie within an axis of `n` elements.
fn starts(n: usize, size: usize, stride: usize, dilation: usize) -> Vec<usize> {
    (0..n).step_by(stride).filter(|start| start + (size - 1) * dilation < n).collect()
}

#[test]
fn windows_have_the_elements_that_index_arithmetic_says() {
    let numbers: Vec<usize> = (1..=3).collect();
    for n in 0..=7_usize {
        let x: Vec<i32> = (10..10 + n as i32).collect();
        for size in 1..=4 {
            for (&stride, &dilation) in
                numbers.iter().flat_map(|s| numbers.iter().map(move |d| (s, d)))
            {
                let window = AxisWindow::new(size, stride, dilation);
                let found = results(&[n], &x, |b, x| {
                    let reversed = b.reverse(x + 1, &[0]).unwrap();
                    let windows = b.window(x, 0, window).unwrap();
                    let sum = b.reduce(ReduceOp::Add, &windows, 1).unwrap();
                    vec![windows, b.window(reversed, 0, window).unwrap(), sum]
                });
                let starts = starts(n, size, stride, dilation);
                let indices = |start: usize| (0..size).map(move |t| start + t * dilation);
                let all = || starts.iter().copied().flat_map(indices);
                assert_eq!(found[0], all().map(|i| x[i]).collect::<Vec<i32>>(), "{window} of {n}");
                assert_eq!(found[1], all().map(|i| x[n - 1 - i] + 1).collect::<Vec<i32>>());
                let sum = |&start: &usize| indices(start).map(|i| x[i]).sum::<i32>();
                assert_eq!(found[2], starts.iter().map(sum).collect::<Vec<i32>>());
            }
        }
    }
}

#[test]
fn windows_of_several_axes_and_of_windows_are_one_view() {
    let x: Vec<i32> = (0..6 * 7).map(|i| i * i % 101).collect();
    let at = |o: [usize; 2], t: [usize; 2]| x[(o[0] * 3 + t[0] * 2) * 7 + o[1] * 2 + t[1]];
    let found = results(&[6, 7], &x, |b, x| {
        let rows = b.window(x, 0, AxisWindow::new(2, 3, 2)).unwrap();
        let both = b.window(rows, 1, AxisWindow::new(3, 2, 1)).unwrap();
        // Pairs of neighbouring windows along the second axis.
        let pairs = b.window(&both, 1, AxisWindow::sliding(2)).unwrap();
        // Only the last column of each window, with all axes in reverse order.
        let whole = AxisSlice::whole;
        let last = [whole(2), whole(2), whole(2), AxisSlice::new(2, 1, 1), whole(2)];
        let last = b.slice(&pairs, &last).unwrap();
        vec![both, pairs, b.transpose(last, &[4, 3, 2, 1, 0]).unwrap()]
    });
    let both = points([2, 3, 2, 3]).map(|[o0, o1, t0, t1]| at([o0, o1], [t0, t1]));
    assert_eq!(found[0], both.collect::<Vec<i32>>());
    let pairs = points([2, 2, 2, 3])
        .flat_map(|[o0, o1, t0, t1]| [0, 1].map(|pair| at([o0, o1 + pair], [t0, t1])));
    assert_eq!(found[1], pairs.collect::<Vec<i32>>());
    let last = points([2, 2, 2, 2]).map(|[pair, t0, o1, o0]| at([o0, o1 + pair], [t0, 2]));
    assert_eq!(found[2], last.collect::<Vec<i32>>());
}

/// All indices of an array of this shape, in row-major order.
fn points(shape: [usize; 4]) -> impl Iterator<Item = [usize; 4]> {
    let index = move |mut i: usize| {
        let mut index = [0; 4];
        for axis in (0..4).rev() {
            index[axis] = i % shape[axis];
            i /= shape[axis];
        }
        index
    };
    (0..shape.iter().product()).map(index)
}

/// A convolution reads its input in place, with the bits of a product of copied windows.
#[test]
fn a_product_of_windows_is_that_of_their_elements() {
    let shape = [2, 3, 9, 11];
    let count = shape.iter().product::<usize>();
    let number = |i: usize| (i * 7919 % 20011) as f32 / 7001.0 - 1.4;
    let x: Vec<f32> = (0..count).map(number).collect();
    let y: Vec<f32> = (0..4 * 3 * 2 * 3).map(|i| number(i + 13)).collect();
    let [batch, features, rows, columns] = [2, 4, 4, 5];
    let summed = [2, 3, 3];
    let whole = [batch, features, rows, columns, summed[0], summed[1], summed[2]];
    let kernel = |b: &GraphBuilder, y: &Value| b.broadcast_in_dim(y, &[1, 6, 4, 5], whole).unwrap();
    let b = GraphBuilder::new();
    let [input, weights] = [("x", &shape[..]), ("y", &[4, 3, 2, 3][..])]
        .map(|(name, shape)| b.parameter(name, DType::F32, shape).unwrap());
    let windows = b.window(&input, 2, AxisWindow::new(2, 2, 2)).unwrap();
    let windows = b.window(windows, 3, AxisWindow::new(3, 2, 1)).unwrap();
    let windows = b.broadcast_in_dim(windows, &[0, 6, 2, 3, 4, 5], whole).unwrap();
    let product = b.contract(windows, kernel(&b, &weights), 3).unwrap();
    let graph = b.finish(&[b.convert(product, DType::F32).unwrap()]).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    assert_eq!((executable.nests().len(), executable.forecast().temporary_bytes), (1, 0));
    let [x, y] = [Array::new(shape, x).unwrap(), Array::new([4, 3, 2, 3], y).unwrap()];
    let found = executable.run(&[(&x).into(), (&y).into()]).unwrap();

    let b = GraphBuilder::new();
    let taken = [batch, rows, columns, summed[0], summed[1], summed[2]];
    let elements: &[f32] = x.elements().unwrap();
    let element = |mut i: usize| {
        let mut index = [0; 6];
        for axis in (0..6).rev() {
            index[axis] = i % taken[axis];
            i /= taken[axis];
        }
        let [n, o0, o1, t0, t1, c] = index;
        elements[((n * 3 + c) * 9 + o0 * 2 + t0 * 2) * 11 + o1 * 2 + t1]
    };
    let written: Vec<f32> = (0..taken.iter().product()).map(element).collect();
    let [input, weights] = [("x", &taken[..]), ("y", &[4, 3, 2, 3][..])]
        .map(|(name, shape)| b.parameter(name, DType::F32, shape).unwrap());
    let spread = b.broadcast_in_dim(input, &[0, 2, 3, 4, 5, 6], whole).unwrap();
    let product = b.contract(spread, kernel(&b, &weights), 3).unwrap();
    let graph = b.finish(&[b.convert(product, DType::F32).unwrap()]).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let written = Array::new(taken, written).unwrap();
    let expected = executable.run(&[(&written).into(), (&y).into()]).unwrap();
    assert_eq!(found[0], expected[0]);
}

/// A moving sum of a parameter is one nest, without an intermediate array.
#[test]
fn windows_are_not_written() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1000, 1000]).unwrap();
    let windows = b.window(x, 0, AxisWindow::sliding(50)).unwrap();
    let graph = b.finish(&[b.reduce(ReduceOp::Max, windows, 2).unwrap()]).unwrap();
    assert!(lower(&graph).temporaries.is_empty());
    let listing = lower(&graph).to_string();
    assert!(listing.contains("parameter 0 : f32[1000, 1000] [i0+i2, i1]"), "{listing}");
}
