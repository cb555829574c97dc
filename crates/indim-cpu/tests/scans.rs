//! Scans by the executable: any strides and numbers of threads, long lines in blocks, forecasts.

use std::sync::LazyLock;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, RunOptions, Threads, compile};
use indim_graph::{Graph, evaluate};
use indim_ops::{DType, ReduceOp, scan_accumulator};
use rayon::{ThreadPool, ThreadPoolBuilder};

#[path = "executors/mod.rs"]
mod executors;

/// Pseudo-random numbers (a linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    fn floats(&mut self, sizes: &[usize]) -> Array {
        let count: usize = sizes.iter().product();
        let number = |_| (self.below(2_000_001) as f32 - 1_000_000.0) / 700_001.0;
        Array::new(sizes, (0..count).map(number).collect::<Vec<f32>>()).unwrap()
    }
}

/// The scan of a parameter of this type.
fn scan_of(
    dtype: DType,
    sizes: &[usize],
    (op, axis, reverse, exclusive): (ReduceOp, i64, bool, bool),
) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", dtype, sizes).unwrap();
    let scan = b.scan(op, x, axis, reverse, exclusive).unwrap();
    b.finish(&[scan]).unwrap()
}

fn pools() -> [ThreadPool; 2] {
    [2, 7].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// The results on one, two and seven threads have these bits.
fn check(graph: &Graph, inputs: &[ArrayView<'_>], expected: &[Array], what: &str) {
    static POOLS: LazyLock<[ThreadPool; 2]> = LazyLock::new(pools);
    for executor in executors::EXECUTORS {
        let executable = compile(graph, &CompileOptions::new().executor(executor)).unwrap();
        assert_eq!(executable.run(inputs).unwrap(), expected, "{what}, one thread");
        for pool in POOLS.iter() {
            let run = RunOptions::default().threads(Threads::Pool(pool));
            let results = executable.run_with(inputs, &run).unwrap();
            assert_eq!(results, expected, "{what}, {} threads", pool.current_num_threads());
        }
    }
}

/// Lines short and long, few and many, along each axis: rows, wide and narrow strips, and blocks.
#[test]
fn shapes_and_directions() {
    let mut random = Random(1);
    let shapes: [&[usize]; 18] = [
        &[1],
        &[17],
        &[512],
        &[1500],
        &[40_001],
        &[270_000],
        &[3, 33_000],
        &[33_000, 2],
        &[33_000, 9],
        &[600, 130],
        &[70, 600],
        &[520, 1300],
        &[8, 5, 1100],
        &[3, 530, 9],
        &[5, 0, 3],
        &[6, 130, 3],
        &[201, 32],
        &[70, 33],
    ];
    for sizes in shapes {
        let x = random.floats(sizes);
        for axis in 0..sizes.len() as i64 {
            let directions = [(false, false), (true, true), (true, false), (false, true)];
            let count = if sizes.iter().product::<usize>() > 100_000 { 2 } else { 4 };
            for (reverse, exclusive) in directions.into_iter().take(count) {
                let graph = scan_of(DType::F32, sizes, (ReduceOp::Add, axis, reverse, exclusive));
                let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
                let what = format!("{sizes:?} along {axis}, {reverse}, {exclusive}");
                check(&graph, &[ArrayView::from(&x)], &expected, &what);
            }
        }
    }
}

#[test]
fn element_types_and_operations() {
    let mut random = Random(2);
    for &dtype in DType::ALL {
        for &op in ReduceOp::ALL.iter().filter(|op| scan_accumulator(**op, dtype).is_some()) {
            for (sizes, axis) in
                [(&[3, 700][..], 0), (&[700, 40], 0), (&[40_000], 0), (&[150, 9], 1)]
            {
                let b = GraphBuilder::new();
                let x = b.parameter("x", DType::F32, sizes).unwrap();
                let converted = b.convert(&x, dtype).unwrap();
                let scan = b.scan(op, &converted, axis, random.below(2) == 0, false).unwrap();
                let graph = b.finish(&[scan]).unwrap();
                let x = random.floats(sizes);
                let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
                check(&graph, &[ArrayView::from(&x)], &expected, &format!("{op} of {dtype}"));
            }
        }
    }
}

/// Transposed, reversed and spaced inputs, along each axis.
#[test]
fn any_strides() {
    for (rows, columns) in [(90, 700), (90, 20)] {
        check_strides(rows, columns);
    }
}

fn check_strides(rows: usize, columns: usize) {
    let mut random = Random(3);
    let bytes: Vec<u8> = random.floats(&[2 * rows * columns]).bytes().to_vec();
    let [row, column] = [columns as isize * 8, 8];
    let layouts = [
        ([row, column], 0),
        ([-row, column], (rows - 1) * columns * 8),
        ([row, -column], (columns - 1) * 8),
        ([4, rows as isize * 4], 0),
        ([-4, rows as isize * 4], (rows - 1) * 4),
        ([0, 4], 0),
        ([4, 0], 0),
    ];
    for (strides, first) in layouts {
        for axis in [0, 1] {
            let graph = scan_of(DType::F32, &[rows, columns], (ReduceOp::Add, axis, false, false));
            let array_type = graph[graph.parameters()[0]].array_type.clone();
            let view = ArrayView::from_bytes(array_type, strides.to_vec(), &bytes, first).unwrap();
            let at = |row: usize, column: usize| {
                let offset = row as isize * strides[0] + column as isize * strides[1];
                let place = (first as isize + offset) as usize;
                f32::from_le_bytes(bytes[place..place + 4].try_into().unwrap())
            };
            let elements = (0..rows * columns).map(|index| at(index / columns, index % columns));
            let dense = Array::new([rows, columns], elements.collect::<Vec<f32>>()).unwrap();
            let expected = evaluate(&graph, &[dense]).unwrap();
            check(&graph, &[view], &expected, &format!("{strides:?} along {axis}"));
        }
    }
}

/// Scans of computed values, of scans, and as parts of a concatenation.
#[test]
fn scans_among_other_nodes() {
    let mut random = Random(4);
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [300, 50]).unwrap();
    let sums = |x: &Value, axis| b.scan(ReduceOp::Add, x, axis, false, false).unwrap();
    let largest = b.scan(ReduceOp::Max, sums(&x.exp(), 0), 1, true, true).unwrap();
    let both = b.concatenate(&[sums(&x, 1), largest.clone()], 0).unwrap();
    let mean = (&sums(&x, 0) - &largest).mean(1);
    let graph = b.finish(&[both, mean, largest, sums(&x, 0)]).unwrap();
    let x = random.floats(&[300, 50]);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    check(&graph, &[ArrayView::from(&x)], &expected, "among others");
}

/// The forecast counts the states of blocks, which lie in shared memory of the run.
#[test]
fn the_forecast_counts_the_states_of_blocks() {
    let graph = scan_of(DType::F32, &[1 << 20], (ReduceOp::Add, 0, false, false));
    let executable = compile(&graph, &CompileOptions::default()).unwrap();
    let states = (1 << 20) / 512 * 16;
    assert_eq!(executable.forecast().temporary_bytes, states);
}
