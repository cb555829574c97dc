//! Nests larger than the caches, with non-temporal stores: outputs at any alignment, and row by row.

mod executors;

use executors::executors;
use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, ArrayViewMut, compile};
use indim_graph::Graph;
use indim_ops::{ArrayType, DType};

const ROWS: usize = 1_100;
const COLUMNS: usize = 8_001;
const ELEMENT: usize = size_of::<f32>();

/// `x * c + x` with a column `c`, of 70 million bytes.
fn graph() -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [ROWS, COLUMNS]).unwrap();
    let c = b.parameter("c", DType::F32, [ROWS]).unwrap();
    let sum = b.add(b.mul(&x, c, &[0]).unwrap(), x, &[]).unwrap();
    b.finish(&[sum]).unwrap()
}

/// Whole numbers: sums of them are exact.
fn number(index: usize) -> f32 {
    f32::from(u16::try_from(index % 1_000).unwrap())
}

#[test]
fn large_results_are_complete_at_any_alignment() {
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(number).collect();
    let c: Vec<f32> = (0..ROWS).map(number).collect();
    let inputs = [
        ArrayView::from_slice([ROWS, COLUMNS], &x).unwrap(),
        ArrayView::from_slice([ROWS], &c).unwrap(),
    ];
    // Dense, or with a gap after each row, so that rows begin at every offset in a cache line.
    let layouts = [(0, 0), (4, 0), (20, 0), (60, 0), (2, 0), (20, 4), (1, 7)];
    let (first, gap) = *layouts.iter().max().unwrap();
    let mut memory = vec![0u8; first + 60 + ROWS * (COLUMNS * ELEMENT + gap + 7)];
    for options in executors() {
        let executable = compile(&graph(), &options).unwrap();
        let by = format!("{} {}", options.executor, options.level);
        for (first, gap) in layouts {
            memory.fill(0xAA);
            let row_bytes = COLUMNS * ELEMENT + gap;
            let strides = vec![row_bytes as isize, ELEMENT as isize];
            let array_type = ArrayType::new(DType::F32, [ROWS, COLUMNS]);
            let output = ArrayViewMut::from_bytes(array_type, strides, &mut memory, first).unwrap();
            executable.run_into(&inputs, &mut [output]).unwrap();
            assert!(memory[..first].iter().all(|&byte| byte == 0xAA), "{first} {gap} {by}");
            for row in 0..ROWS {
                let bytes = &memory[first + row * row_bytes..][..row_bytes];
                let (elements, gap_bytes) = bytes.split_at(COLUMNS * ELEMENT);
                let is_right = |(element, x): (&[u8], &f32)| {
                    f32::from_ne_bytes(element.try_into().unwrap()) == x * c[row] + x
                };
                let expected = &x[row * COLUMNS..][..COLUMNS];
                let mut pairs = elements.chunks_exact(ELEMENT).zip(expected);
                assert!(pairs.all(is_right), "row {row} {first} {gap} {by}");
                assert!(gap_bytes.iter().all(|&byte| byte == 0xAA), "{first} {gap} {by}");
            }
            let end = first + ROWS * row_bytes;
            assert!(memory[end..].iter().all(|&byte| byte == 0xAA), "{first} {gap} {by}");
        }
    }
}
