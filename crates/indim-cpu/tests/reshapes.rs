//! Reshapes of inputs and of outputs, in row-major memory and in other layouts, against the reference
//! evaluator: a run leaves out copies of whole arrays only where the layout allows it.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, ArrayViewMut, InPlace, RunOptions, compile};
use indim_graph::{Array, GraphError, TakeMode, evaluate};
use indim_ops::DType;

use executors::executors;

#[path = "executors/mod.rs"]
mod executors;

const SHAPE: [usize; 2] = [30, 20];

type Function = fn(&GraphBuilder, &Value) -> Result<Value, GraphError>;

/// Functions of a matrix whose results are matrices of `SHAPE`.
const FUNCTIONS: [(&str, Function); 8] = [
    ("an input", |b, x| b.reshape(b.reshape(x, [600])? * 2.0, SHAPE)),
    ("alone", |b, x| b.reshape(b.reshape(b.reshape(x, [600])?, [20, 30])?, SHAPE)),
    ("with units", |b, x| b.reshape(b.reshape(x, [1, 600, 1])?.exp(), SHAPE)),
    ("twice", |b, x| {
        let turned = b.reshape(x, [20, 30])?;
        b.reshape(b.transpose(&turned, &[1, 0])? + b.reshape(&turned + 1.0, SHAPE)?, [30, 20])
    }),
    ("a transposed result", |b, x| b.reshape(b.transpose(x, &[1, 0])? + 1.0, SHAPE)),
    ("a sort", |b, x| b.reshape(b.sort(b.reshape(x, [600])?, 0, false)?, SHAPE)),
    ("a scan", |b, x| {
        let flat = b.reshape(x, [600])?;
        b.reshape(b.scan(indim_ops::ReduceOp::Add, &flat, 0, false, false)?, SHAPE)
    }),
    ("an index out of range fails", |b, x| {
        let flat = b.reshape(x, [600])?;
        let indices = b.convert(flat.abs() * 0.1, DType::I64)?;
        b.reshape(b.take(&flat, &indices, 0, TakeMode::Error)? + 1.0, SHAPE)
    }),
];

fn numbers() -> Vec<f64> {
    (0..600).map(|index| ((index * 7919) % 1009) as f64 - 400.0).collect()
}

/// Strides, and elements between those of other rows, in the units of the elements.
const LAYOUTS: [[isize; 2]; 3] = [[20, 1], [1, 30], [23, 1]];

/// The elements of a matrix at these strides, and 0 between them.
fn laid_out(elements: &[f64], [down, along]: [isize; 2]) -> Vec<f64> {
    let mut memory = vec![0.0; 700];
    for (index, &element) in elements.iter().enumerate() {
        memory[index / 20 * down as usize + index % 20 * along as usize] = element;
    }
    memory
}

#[test]
fn every_layout_gives_the_bits_of_the_evaluator() {
    let x = Array::new(SHAPE, numbers()).unwrap();
    for (name, function) in FUNCTIONS {
        let b = GraphBuilder::new();
        let p = b.parameter("x", DType::F64, SHAPE).unwrap();
        let graph = b.finish(&[function(&b, &p).unwrap()]).unwrap();
        let expected = evaluate(&graph, core::slice::from_ref(&x)).unwrap().remove(0);
        let expected = expected.elements::<f64>().unwrap();
        for options in executors() {
            let executable = compile(&graph, &options).unwrap();
            for (from, to) in LAYOUTS.iter().flat_map(|&from| LAYOUTS.map(|to| (from, to))) {
                let input = laid_out(&numbers(), from);
                let input = ArrayView::from_strided(SHAPE, &from, &input, 0).unwrap();
                let mut result = vec![0.0; 700];
                let output = ArrayViewMut::from_strided(SHAPE, &to, &mut result, 0).unwrap();
                let run = RunOptions::new();
                executable.run_into_with(&[input], &mut [output], &run).unwrap();
                assert_eq!(result, laid_out(expected, to), "{name}, {from:?} to {to:?}");
            }
            let mut memory = numbers();
            let over = ArrayViewMut::from_slice(SHAPE, &mut memory).unwrap();
            executable.run_in_place(vec![InPlace::Overwrite(over)]).unwrap();
            assert_eq!(memory, expected, "{name} in place");
        }
    }
}

/// The check of indices is due before the nest of the copy that is left out.
#[test]
fn indices_out_of_range_of_a_reshaped_input_are_errors() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, SHAPE).unwrap();
    let indices = b.parameter("i", DType::I64, [2]).unwrap();
    let flat = b.reshape(&x, [600]).unwrap();
    let taken = b.take(&flat, &indices, 0, TakeMode::Error).unwrap();
    let graph = b.finish(&[taken]).unwrap();
    let (numbers, good, bad) = (numbers(), [-600_i64, 599], [0_i64, 600]);
    let x = ArrayView::from_slice(SHAPE, &numbers).unwrap();
    for options in executors() {
        let executable = compile(&graph, &options).unwrap();
        let run =
            |indices| executable.run(&[x.clone(), ArrayView::from_slice([2], indices).unwrap()]);
        assert_eq!(run(&good).unwrap()[0].elements::<f64>(), Ok(&[numbers[0], numbers[599]][..]));
        assert_eq!(run(&bad).unwrap_err().code(), "index-out-of-range");
    }
}

/// Short runs that a broadcast repeats, with few and many rows, and elements of every size.
#[test]
fn short_runs_are_repeated() {
    for dtype in [DType::I8, DType::F16, DType::F32, DType::F64, DType::C128] {
        for (rows, length) in [(1, 3), (2, 7), (500, 1), (700, 3), (300, 4), (90, 40)] {
            for count in [2, 3, 5] {
                let b = GraphBuilder::new();
                let x = b.parameter("x", dtype, [rows, length]).unwrap();
                let spread = |shape: [usize; 3], dims: &[i64]| {
                    let spread = b.broadcast_in_dim(&x, dims, shape).unwrap();
                    b.reshape(spread, [rows, count * length]).unwrap()
                };
                let tiled = spread([rows, count, length], &[0, 2]);
                let repeated = spread([rows, length, count], &[0, 1]);
                let graph = b.finish(&[tiled, repeated]).unwrap();
                let numbers: Vec<f64> =
                    (0..rows * length).map(|index| ((index * 31) % 127) as f64 - 63.0).collect();
                let constants = GraphBuilder::new();
                let numbers = constants.constant(Array::new([rows, length], numbers).unwrap());
                let converted = constants.convert(numbers, dtype).unwrap();
                let x = evaluate(&constants.finish(&[converted]).unwrap(), &[]).unwrap();
                let expected = evaluate(&graph, &x).unwrap();
                for options in executors() {
                    let executable = compile(&graph, &options).unwrap();
                    let results = executable.run(&[ArrayView::from(&x[0])]).unwrap();
                    for (found, expected) in results.iter().zip(&expected) {
                        let same = found.clone().to_le_bytes() == expected.clone().to_le_bytes();
                        assert!(same, "{dtype}[{rows}, {length}] {count} times");
                    }
                }
            }
        }
    }
}
