//! Sorts of which a part is read, and sorts of few distinct elements, against the reference evaluator, which
//! sorts whole rows.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, RunOptions, Threads, compile};
use indim_graph::{Array, AxisSlice, Graph, evaluate};
use indim_ops::DType;

use sort_numbers::{bits, numbers};

#[path = "sort_numbers/mod.rs"]
mod sort_numbers;

fn assert_same_bits(graph: &Graph, arguments: &[Array], what: &str) {
    let expected = bits(&evaluate(graph, arguments).unwrap());
    let executable = compile(graph, &CompileOptions::default()).unwrap();
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = RunOptions::default().threads(Threads::Pool(&pool));
        let found = bits(&executable.run_with(&inputs, &options).unwrap());
        assert!(found == expected, "{what}, {threads} threads");
    }
}

/// The elements `slice` along an axis of `x`, which has this shape.
fn part(b: &GraphBuilder, x: &Value, shape: &[usize], axis: usize, slice: AxisSlice) -> Value {
    let mut slices: Vec<AxisSlice> = shape.iter().map(|&size| AxisSlice::whole(size)).collect();
    slices[axis] = slice;
    b.slice(x, &slices).unwrap()
}

/// Slices of an axis of `n` elements: the first and the last ones, some of them backwards or with gaps, and
/// those in the middle.
fn slices(n: usize) -> Vec<AxisSlice> {
    let first =
        [0, 1, 2, 7, n / 17, n / 16, n / 4, n / 3, n].map(|count| AxisSlice::new(0, count, 1));
    let last = [1, 5, n / 10].map(|count| AxisSlice::new(n - count, count, 1));
    let one = [0, 3, n / 2, n - 2, n - 1].map(|position| AxisSlice::new(position, 1, 1));
    let others = [
        AxisSlice::new(4, 6, 1),
        AxisSlice::new(1, 5, 3),
        AxisSlice::new(9, 10, -1),
        AxisSlice::new(n - 1, 4, -2),
        AxisSlice::new(n - 12, 4, 2),
    ];
    first.into_iter().chain(last).chain(one).chain(others).collect()
}

/// Rows, columns and axes between others, longer than a part that is read at once, and shorter.
const SHAPES: [(&[usize], usize); 5] =
    [(&[5000], 0), (&[3, 700], 1), (&[1100, 70], 0), (&[2, 600, 3], 1), (&[20, 512], 1)];

#[test]
fn parts_of_sorted_axes_have_the_bits_of_whole_sorts() {
    for dtype in [DType::F32, DType::I16, DType::F64] {
        for (shape, axis) in SHAPES {
            for slice in slices(shape[axis]) {
                let b = GraphBuilder::new();
                let x = b.parameter("x", dtype, shape).unwrap();
                let mut outputs = Vec::new();
                for descending in [false, true] {
                    let sorted = b.sort(&x, axis as i64, descending).unwrap();
                    let positions = b.argsort(&x, axis as i64, descending).unwrap();
                    outputs.push(part(&b, &sorted, shape, axis, slice));
                    outputs.push(part(&b, &positions, shape, axis, slice));
                }
                let graph = b.finish(&outputs).unwrap();
                let what = format!("{dtype}{shape:?} axis {axis} {slice:?}");
                assert_same_bits(&graph, &[numbers(dtype, shape, 900)], &what);
            }
        }
    }
}

#[test]
fn elements_of_every_type_are_selected() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        for (shape, axis) in SHAPES {
            let n = shape[axis];
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, shape).unwrap();
            let mut outputs = b.top_k(&x, n / 20, axis as i64, true).unwrap().to_vec();
            outputs.extend(b.top_k(&x, 3, axis as i64, false).unwrap());
            let sorted = b.sort(&x, axis as i64, false).unwrap();
            outputs.push(part(&b, &sorted, shape, axis, AxisSlice::new(n - 10, 10, 1)));
            let graph = b.finish(&outputs).unwrap();
            for few in [20, 1 << 40] {
                let what = format!("{dtype}{shape:?} axis {axis} {few}");
                assert_same_bits(&graph, &[numbers(dtype, shape, few)], &what);
            }
        }
    }
}

/// Quartiles and the last position, which tells whether a row has NaNs; and both ends.
#[test]
fn several_ranges_of_a_sorted_axis_are_selected() {
    for (shape, axis) in SHAPES {
        let n = shape[axis];
        let quartiles = [n / 4, n / 2, 3 * n / 4, n - 1].map(|at| AxisSlice::new(at, 1, 1));
        let ends = [AxisSlice::new(0, 9, 1), AxisSlice::new(n - 7, 7, 1)];
        let all = [&ends[..], &quartiles[1..2]].concat();
        for slices in [&quartiles[..], &quartiles[1..2], &ends, &all] {
            let b = GraphBuilder::new();
            let x = b.parameter("x", DType::F32, shape).unwrap();
            let sorted = b.sort(&x, axis as i64, false).unwrap();
            let positions = b.argsort(&x, axis as i64, true).unwrap();
            let of = |x| slices.iter().map(move |&slice| (x, slice));
            let parts = of(&sorted).chain(of(&positions));
            let outputs: Vec<Value> =
                parts.map(|(x, slice)| part(&b, x, shape, axis, slice)).collect();
            let graph = b.finish(&outputs).unwrap();
            for few in [30, 1 << 40] {
                let what = format!("{shape:?} axis {axis} {slices:?}");
                assert_same_bits(&graph, &[numbers(DType::F32, shape, few)], &what);
            }
        }
    }
}

/// Orders in which each element becomes a candidate, or none but the first ones.
#[test]
fn sorted_and_equal_rows_are_selected() {
    for length in [512, 2047, 2048, 2049, 9000] {
        let rising = (0..length).map(|index| index as i32);
        let rows: Vec<i32> = rising
            .clone()
            .chain(rising.map(|index| -index))
            .chain((0..length).map(|_| 7))
            .collect();
        let x = Array::new([3, length], rows).unwrap();
        for count in [1, 10, length / 16, length / 4] {
            for first in [0, length / 2, length - count] {
                let b = GraphBuilder::new();
                let p = b.parameter("x", DType::I32, [3, length]).unwrap();
                let outputs = [false, true].map(|descending| {
                    let positions = b.argsort(&p, 1, descending).unwrap();
                    let slice = AxisSlice::new(first, count, 1);
                    part(&b, &positions, &[3, length], 1, slice)
                });
                let graph = b.finish(&outputs).unwrap();
                let what = format!("{count} of {length} from {first} on");
                assert_same_bits(&graph, core::slice::from_ref(&x), &what);
            }
        }
    }
}

/// Readers of other kinds than slices, several readers, and a result that is an output too.
#[test]
fn every_reader_of_a_sort_finds_its_elements() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 600]).unwrap();
    let turned = b.transpose(&x, &[1, 0]).unwrap();
    let sorted = b.sort(&turned, 0, false).unwrap();
    let back = b.transpose(&sorted, &[1, 0]).unwrap();
    let few = part(&b, &back, &[4, 600], 1, AxisSlice::new(2, 9, 1));
    let sum = &part(&b, &sorted, &[600, 4], 0, AxisSlice::new(0, 2, 1)) * 2.0;
    let order = b.argsort_by(&[x.clone(), &x * 2.0], 1, true).unwrap();
    let of_two = part(&b, &order, &[4, 600], 1, AxisSlice::new(0, 7, 1));
    let whole = b.sort(&x, 1, true).unwrap();
    let of_whole = part(&b, &whole, &[4, 600], 1, AxisSlice::new(0, 7, 1));
    let other = b.sort(&x * 3.0, 1, true).unwrap();
    let flat = b.reshape(&other, [2400]).unwrap();
    let of_flat = part(&b, &flat, &[2400], 0, AxisSlice::new(0, 5, 1));
    let joined = b.concatenate(&[b.sort(&x * 4.0, 1, true).unwrap(), whole.clone()], 1).unwrap();
    let of_joined = part(&b, &joined, &[4, 1200], 1, AxisSlice::new(0, 5, 1));
    let outputs = [few, sum, of_two, whole, of_whole, of_flat, of_joined];
    let graph = b.finish(&outputs).unwrap();
    assert_same_bits(&graph, &[numbers(DType::F32, &[4, 600], 5000)], "several readers");
}

/// Few distinct elements, with and without elements that are equal but differ in their bits.
#[test]
fn few_distinct_elements_are_sorted() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        for distinct in [1, 2, 40, 63, 64, 65, 200] {
            for shape in [&[6000][..], &[2100, 2]] {
                let b = GraphBuilder::new();
                let x = b.parameter("x", dtype, shape).unwrap();
                let mut outputs = Vec::new();
                for descending in [false, true] {
                    outputs.push(b.sort(&x, 0, descending).unwrap());
                    outputs.push(b.argsort(&x, 0, descending).unwrap());
                    outputs.push(b.argsort_by(&[x.clone(), x.clone()], 0, descending).unwrap());
                }
                let graph = b.finish(&outputs).unwrap();
                let what = format!("{distinct} distinct of {dtype}{shape:?}");
                assert_same_bits(&graph, &[few_numbers(dtype, shape, distinct)], &what);
                assert_same_bits(&graph, &[numbers(dtype, shape, distinct)], &what);
            }
        }
    }
}

/// The last distinct elements come late, so the table of distinct elements overflows late.
#[test]
fn a_table_of_distinct_elements_may_overflow_late() {
    let length = 40_000;
    let x: Vec<f32> = (0..length)
        .map(|index| if index + 80 < length { (index * 7 % 10) as f32 } else { index as f32 })
        .collect();
    let b = GraphBuilder::new();
    let p = b.parameter("x", DType::F32, [length]).unwrap();
    let outputs = [b.sort(&p, 0, true).unwrap(), b.argsort(&p, 0, false).unwrap()];
    let graph = b.finish(&outputs).unwrap();
    assert_same_bits(&graph, &[Array::new([length], x).unwrap()], "late elements");
}

/// Numbers without special values, this many of them distinct.
fn few_numbers(dtype: DType, shape: &[usize], distinct: u64) -> Array {
    let count: usize = shape.iter().product();
    let number = |index: u64| (index * index * 7919 % 1_000_003 % distinct) as i64 - 20;
    let numbers: Vec<i64> = (0..count as u64).map(number).collect();
    let b = GraphBuilder::new();
    let numbers = b.constant(Array::new(shape, numbers).unwrap());
    let graph = b.finish(&[b.convert(numbers, dtype).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}
