//! Reductions by the executor: the bits of the reference evaluator for every walk, level, number of threads
//! and cut.

mod executors;

use executors::executors;
use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    Array, ArrayView, CompileOptions, Executable, RunOptions, compile, row_major_byte_strides,
};
use indim_graph::{AxisSlice, Graph, evaluate};
use indim_ops::{ArrayType, DType, Element, ReduceOp, c128, f16};

/// Numbers of different magnitudes, whose sum depends on the order.
fn numbers<T: Element>(count: usize, of: impl Fn(f64) -> T) -> Vec<T> {
    let number = |index: usize| {
        let bits = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        (bits as f64 * 2f64.powi(-52) - 1.0) * 2f64.powi((bits % 23) as i32 - 11)
    };
    (0..count).map(|index| of(number(index))).collect()
}

/// The sum in f64 and the maximum of `function(x)` along `axis`.
fn graph<T: Element>(shape: &[usize], axis: i64, function: impl Fn(&Value) -> Value) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", T::DTYPE, shape).unwrap();
    let y = function(&x);
    let sum = b.reduce(ReduceOp::Add, b.convert(&y, DType::F64).unwrap(), axis).unwrap();
    b.finish(&[sum, b.reduce(ReduceOp::Max, &y, axis).unwrap()]).unwrap()
}

fn executables(graph: &Graph) -> impl Iterator<Item = Executable> {
    executors().map(|options| compile(graph, &options).unwrap())
}

fn arrays(results: Vec<Array>) -> Vec<Array> {
    results.to_vec()
}

/// Compares the executor with the evaluator on an array whose axes have this order in memory.
fn check<T: Element>(
    shape: &[usize],
    axis: usize,
    order: &[usize],
    of: impl Fn(f64) -> T,
    function: impl Fn(&Value) -> Value,
) {
    let stored: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let elements = numbers(stored.iter().product(), of);
    let stored = Array::from_data(stored, T::into_data(elements)).unwrap();
    // The same elements with the axes of `shape`.
    let b = GraphBuilder::new();
    let parameter = b.parameter("x", T::DTYPE, stored.shape()).unwrap();
    let mut permutation = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &axis)| permutation[axis] = place as i64);
    let view = b.transpose(parameter, &permutation).unwrap();
    let x = evaluate(&b.finish(&[view]).unwrap(), std::slice::from_ref(&stored)).unwrap().remove(0);
    let graph = graph::<T>(shape, axis as i64, function);
    let expected = evaluate(&graph, &[x]).unwrap();
    let bytes = stored.bytes().to_vec();
    let dense = row_major_byte_strides(stored.array_type());
    let strides = permutation.iter().map(|&place| dense[place as usize]).collect();
    let input = ArrayView::from_bytes(ArrayType::new(T::DTYPE, shape), strides, &bytes, 0).unwrap();
    for executable in executables(&graph) {
        let results = arrays(executable.run(std::slice::from_ref(&input)).unwrap());
        for (result, expected) in results.iter().zip(&expected) {
            let same = result == expected;
            assert!(
                same,
                "{shape:?} along {axis}, stored {order:?}: {result:?} is not {expected:?}"
            );
        }
    }
}

const LENGTHS: [usize; 17] =
    [2, 3, 4, 5, 16, 17, 31, 33, 64, 100, 255, 300, 511, 512, 513, 1025, 5000];

#[test]
fn rows_columns_and_middle_axes() {
    for length in LENGTHS {
        for others in [1, 2, 3, 40, 257, 600] {
            if length * others > 300_000 {
                continue;
            }
            for (shape, axis) in [(vec![others, length], 1), (vec![length, others], 0)] {
                check(&shape, axis, &[0, 1], |x| x as f32, |x| x.clone());
                check(&shape, axis, &[1, 0], |x| x, |x| x * x - 0.25);
            }
        }
        check(&[length], 0, &[0], |x| x as f32, |x| x.clone());
        check(&[length], 0, &[0], f16::from_f64, |x| x.exp());
    }
}

#[test]
fn middle_axes_in_every_order_of_memory() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for shape in [[3, 700, 5], [4, 20, 300], [30, 3, 40], [2, 1030, 33]] {
        for order in orders {
            for axis in 0..3 {
                check(&shape, axis, &order, |x| x as f32, |x| x.clone());
                check(&shape, axis, &order, |x| x, |x| 1.0 - x);
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let graph = graph::<f32>(&[2000, 3000], 1, |x| x * 0.5);
    let x = Array::new([2000, 3000], numbers(6_000_000, |x| x as f32)).unwrap();
    let input = [ArrayView::from(&x)];
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let by_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        arrays(pool.install(|| executable.run(&input)).unwrap())
    };
    let one = by_threads(1);
    for threads in [2, 7] {
        let several = by_threads(threads);
        assert!(one.iter().zip(&several).all(|(one, other)| one == other));
    }
}

/// Compares the results of 1, 2, 3 and 7 threads with the evaluator.
fn check_threads(graph: &Graph, x: &Array) {
    let expected = evaluate(graph, std::slice::from_ref(x)).unwrap();
    let executable = compile(graph, &CompileOptions::default()).unwrap();
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let input = [ArrayView::from(x)];
        let results = arrays(pool.install(|| executable.run(&input)).unwrap());
        for (result, expected) in results.iter().zip(&expected) {
            let shape = x.shape();
            assert!(result == expected, "{shape:?}, {threads} threads");
        }
    }
}

#[test]
fn long_axes_are_cut_into_nodes_of_the_tree() {
    let lengths = [8191, 8192, 8193, 8704, 16_384, 16_385, 66_000, 131_072, 524_289, 2_200_001];
    for length in lengths {
        let x = Array::new([length], numbers(length, |x| x as f32)).unwrap();
        check_threads(&graph::<f32>(&[length], 0, |x| x.clone()), &x);
        check_threads(&graph::<f32>(&[length], 0, |x| x * x - 0.25), &x);
    }
    for shape in [[500_001, 3], [40_000, 40], [3_000, 700], [1_537, 913]] {
        let x = Array::new(shape, numbers(shape[0] * shape[1], |x| x)).unwrap();
        check_threads(&graph::<f64>(&shape, 0, |x| x.clone()), &x);
        check_threads(&graph::<f64>(&shape, 0, |x| 1.0 - x), &x);
    }
}

#[test]
fn whole_arrays_and_arg_reductions_by_several_threads() {
    let shape = [700, 1300];
    let x = Array::new(shape, numbers(700 * 1300, |x| x as f32)).unwrap();
    let b = GraphBuilder::new();
    let p = b.parameter("x", DType::F32, shape).unwrap();
    let axis = |axis: i64| b.reduce(ReduceOp::ArgMax, &p, axis).unwrap();
    let rows = b.reduce(ReduceOp::Add, b.convert(&p, DType::F64).unwrap(), 1).unwrap();
    let sum = b.reduce(ReduceOp::Add, rows, 0).unwrap();
    check_threads(&b.finish(&[sum, axis(0), axis(1)]).unwrap(), &x);
}

#[test]
fn pieces_are_held_and_counted() {
    let executable = |length: usize| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [length]).unwrap();
        let graph = b.finish(&[b.reduce(ReduceOp::Add, x, 0).unwrap()]).unwrap();
        compile(&graph, &CompileOptions::default()).unwrap()
    };
    // A short axis is not cut; a longer one has at most 64 pieces, each with one sum.
    assert_eq!(executable(8192).forecast().temporary_bytes, 0);
    let bytes = executable(1 << 20).forecast().temporary_bytes;
    assert!((64 * 8..64 * 256).contains(&bytes), "{bytes} bytes");
    let zeros = vec![0f64; 1 << 20];
    let input = ArrayView::from_slice([1 << 20], &zeros).unwrap();
    let options = RunOptions::new().memory_limit(bytes);
    let refused = executable(1 << 20).run_with(&[input], &options).unwrap_err();
    assert_eq!(refused.code(), "memory-limit");
}

#[test]
fn a_complex_product_is_that_of_its_elements_alone() {
    // A product with 1 makes a NaN of an infinite part.
    for length in [3, 5, 40, 513] {
        let element = |index: usize| match index {
            1 => c128::new(f64::INFINITY, 0.0),
            _ => c128::new(1.0, -0.0),
        };
        let x = Array::new([2, length], (0..2 * length).map(element).collect()).unwrap();
        let b = GraphBuilder::new();
        let p = b.parameter("x", DType::C128, [2, length]).unwrap();
        let along = |axis: i64| b.reduce(ReduceOp::Mul, &p, axis).unwrap();
        check_threads(&b.finish(&[along(1), along(0)]).unwrap(), &x);
    }
}

#[test]
fn sums_of_narrow_floats_neither_stall_nor_overflow() {
    let ones = Array::new([1 << 20, 2], vec![1f32; 1 << 21]).unwrap();
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 20, 2]).unwrap();
    let x = b.broadcast_in_dim(x, &[1, 2], [32, 1 << 20, 2]).unwrap();
    let wide = b.convert(x, DType::F64).unwrap();
    let sum = b.reduce(ReduceOp::Add, b.reduce(ReduceOp::Add, wide, 1).unwrap(), 0).unwrap();
    let graph = b.finish(&[b.convert(sum, DType::F32).unwrap()]).unwrap();
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let result = arrays(executable.run(&[ArrayView::from(&ones)]).unwrap());
    assert_eq!(result[0].elements::<f32>(), Ok(&[33_554_432.0, 33_554_432.0][..]));
}

/// Reductions of a stack of slices along either axis, also if other nodes use the stack.
#[test]
fn stacks_are_reduced_in_the_order_of_the_tree() {
    for count in [1, 2, 3, 4, 5, 8, 9, 17, 32, 33] {
        for axis in [0, 1] {
            for is_used in [false, true] {
                let b = GraphBuilder::new();
                let x = b.parameter("x", DType::F32, [80]).unwrap();
                let part = |first: usize| {
                    let shown =
                        AxisSlice::python(Some(first as i64), Some(first as i64 + 40), None, 80);
                    let part = b.slice(&x, &[shown.unwrap()]).unwrap();
                    b.reshape(part, if axis == 0 { [1, 40] } else { [40, 1] }).unwrap()
                };
                let parts: Vec<Value> = (0..count).map(part).collect();
                let stack = b.concatenate(&parts, axis).unwrap();
                let wide = b.convert(&stack, DType::F64).unwrap();
                let reduced = |op, value: &Value| b.reduce(op, value, axis).unwrap();
                let mut outputs = vec![
                    reduced(ReduceOp::Add, &wide),
                    reduced(ReduceOp::Mul, &wide),
                    reduced(ReduceOp::Max, &stack),
                    reduced(ReduceOp::Min, &stack),
                ];
                if is_used {
                    outputs.push(reduced(ReduceOp::ArgMin, &stack));
                    outputs.push(b.reduce(ReduceOp::Max, &stack, 1 - axis).unwrap());
                }
                let graph = b.finish(&outputs).unwrap();
                let mut elements = numbers(80, |x| x as f32);
                elements[50] = f32::NAN;
                (elements[3], elements[4]) = (-0.0, 0.0);
                let x = Array::new([80], elements).unwrap();
                let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
                for executable in executables(&graph) {
                    let found = arrays(executable.run(&[ArrayView::from(&x)]).unwrap());
                    for (found, expected) in found.iter().zip(&expected) {
                        assert!(found == expected, "{executable:?}");
                    }
                }
            }
        }
    }
}

/// Checks `outputs` of a matrix by every executor, optimised or not.
fn check_outputs(name: &str, outputs: impl Fn(&GraphBuilder, &Value) -> Vec<Value>) {
    for length in [2, 3, 10, 100] {
        let x = Array::new([6, length], numbers(6 * length, |number| number as f32)).unwrap();
        let b = GraphBuilder::new();
        let p = b.parameter("x", DType::F32, [6, length]).unwrap();
        let graph = b.finish(&outputs(&b, &p)).unwrap();
        let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
        for options in executors() {
            for optimize in [false, true] {
                let options = options.clone().optimize(optimize);
                let executable = compile(&graph, &options).unwrap();
                let results = arrays(executable.run(&[ArrayView::from(&x)]).unwrap());
                assert_eq!(results, expected, "{name} of {length}, {options:?}");
            }
        }
    }
}

#[test]
fn an_arg_reduction_is_an_output_and_an_operand() {
    let argmax = |b: &GraphBuilder, x: &Value| b.reduce(ReduceOp::ArgMax, x, 1).unwrap();
    check_outputs("a sum of indices", |b, x| {
        let i = argmax(b, x);
        vec![i.clone(), b.reduce(ReduceOp::Add, i, 0).unwrap()]
    });
    check_outputs("a later nest of the same shape", |b, x| {
        let i = argmax(b, x);
        let largest = b.reduce(ReduceOp::Max, &i, 0).unwrap();
        let rest = b.numpy().sub(largest, &i).unwrap();
        vec![i, rest]
    });
    check_outputs("a part of a concatenation", |b, x| {
        let i = argmax(b, x);
        let sum = b.reduce(ReduceOp::Add, &i, 0).unwrap();
        vec![b.concatenate(&[i.clone(), i], 0).unwrap(), sum]
    });
}

#[test]
fn a_converted_reduction_is_read_before_and_after_its_conversion() {
    check_outputs("a wider sum of the narrow values", |b, x| {
        let largest = b.reduce(ReduceOp::Max, x, 1).unwrap();
        let wide = b.convert(largest, DType::F64).unwrap();
        vec![wide.clone(), b.reduce(ReduceOp::Add, wide, 0).unwrap()]
    });
    check_outputs("a sum of the rounded values", |b, x| {
        let sum = b.reduce(ReduceOp::Add, b.convert(x, DType::F64).unwrap(), 1).unwrap();
        let narrow = b.convert(sum, DType::F32).unwrap();
        vec![narrow.clone(), b.reduce(ReduceOp::Max, narrow, 0).unwrap()]
    });
}
