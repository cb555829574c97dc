//! Sorts and searches in sorted tables, against the reference evaluator and orders by hand: every executor,
//! level and number of threads gives the same bits.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, RunOptions, Threads, compile};
use indim_graph::{Array, AxisSlice, Graph, evaluate};
use indim_ops::{DType, SearchSide, f16};

use executors::executors;
use sort_numbers::{bits, numbers};

#[path = "executors/mod.rs"]
mod executors;
#[path = "sort_numbers/mod.rs"]
mod sort_numbers;

fn run(graph: &Graph, options: &CompileOptions, arguments: &[Array]) -> Vec<Vec<u8>> {
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    bits(&compile(graph, options).unwrap().run(&inputs).unwrap())
}

fn assert_same_bits(graph: &Graph, arguments: &[Array], what: &str) {
    let expected = bits(&evaluate(graph, arguments).unwrap());
    for options in executors() {
        let same = run(graph, &options, arguments) == expected;
        assert!(same, "{what}, {:?} {}", options.executor, options.level);
    }
}

/// Rows that take a comparison sort and a radix sort, columns, and axes between others.
const SHAPES: [(&[usize], usize); 10] = [
    (&[1], 0),
    (&[7], 0),
    (&[300], 0),
    (&[2500], 0),
    (&[40, 9], 1),
    (&[9, 70], 0),
    (&[600, 5], 0),
    (&[3, 50, 4], 1),
    (&[2, 3, 1, 120], 3),
    (&[0, 4], 1),
];

#[test]
fn every_type_is_sorted_along_every_axis() {
    for (shape, axis) in SHAPES {
        for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, shape).unwrap();
            let mut outputs = Vec::new();
            for descending in [false, true] {
                outputs.push(b.sort(&x, axis as i64, descending).unwrap());
                outputs.push(b.argsort(&x, axis as i64, descending).unwrap());
            }
            let graph = b.finish(&outputs).unwrap();
            let what = format!("{dtype}{shape:?} axis {axis}");
            assert_same_bits(&graph, &[numbers(dtype, shape, 60)], &what);
        }
    }
}

/// Rows that a network sorts together, if they have no -0 and no two NaNs that differ.
#[test]
fn short_rows_are_sorted_together() {
    let shapes: [(&[usize], usize); 8] = [
        (&[3, 30], 1),
        (&[70, 2], 1),
        (&[200, 10], 1),
        (&[90, 100], 1),
        (&[100, 37], 0),
        (&[5, 33, 7], 1),
        (&[40, 1024], 1),
        (&[17, 1025], 1),
    ];
    for (shape, axis) in shapes {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::Bf16, DType::I8, DType::U64] {
            for specials in [0, 1, 2] {
                let b = GraphBuilder::new();
                let x = b.parameter("x", dtype, shape).unwrap();
                let outputs = [false, true].map(|down| b.sort(&x, axis as i64, down).unwrap());
                let graph = b.finish(&outputs).unwrap();
                let what = format!("{dtype}{shape:?} axis {axis}, {specials} special elements");
                assert_same_bits(&graph, &[few_specials(dtype, shape, specials)], &what);
            }
        }
    }
}

/// Numbers without -0, with this many NaNs of one payload, and a -0 after the second.
fn few_specials(dtype: DType, shape: &[usize], specials: usize) -> Array {
    let count: usize = shape.iter().product();
    let mut numbers: Vec<f64> =
        (0..count).map(|index| ((index * 7919) % 1009) as f64 * 0.125 - 63.0).collect();
    for index in 0..specials {
        let place = count * (index + 1) / 3;
        numbers[place] = f64::NAN;
        if index > 0 {
            numbers[place + 1] = -0.0;
        }
    }
    let b = GraphBuilder::new();
    let numbers = b.constant(Array::new(shape, numbers).unwrap());
    let graph = b.finish(&[b.convert(numbers, dtype).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}

/// The documented order: numbers, then NaN; equal elements by position.
#[test]
fn zeros_and_nans_keep_their_order() {
    let nan = |payload: u32| f32::from_bits(0x7fc0_0000 | payload);
    let x = [0.0f32, nan(1), -0.0, 2.0, f32::from_bits(0xffc0_0002), f32::INFINITY, -3.0, 0.0];
    let b = GraphBuilder::new();
    let p = b.parameter("x", DType::F32, [8]).unwrap();
    let sorts = [false, true].map(|descending| {
        [b.sort(&p, 0, descending).unwrap(), b.argsort(&p, 0, descending).unwrap()]
    });
    let graph = b.finish(sorts.as_flattened()).unwrap();
    let orders = [[6, 0, 2, 7, 3, 5, 1, 4], [1, 4, 5, 3, 0, 2, 7, 6]];
    for options in executors() {
        let results = compile(&graph, &options).unwrap().run(&[ArrayView::from(&x[..])]).unwrap();
        for (found, order) in results.chunks(2).zip(orders) {
            assert_eq!(found[1].elements::<i64>().unwrap(), order.map(|at| at as i64));
            let found = found[0].elements::<f32>().unwrap();
            let found: Vec<u32> = found.iter().map(|it| it.to_bits()).collect();
            assert_eq!(found, order.map(|at: usize| x[at].to_bits()));
        }
    }
}

#[test]
fn long_rows_have_the_same_bits_for_any_number_of_threads() {
    for (shape, axis) in [(&[70_000][..], 0), (&[33_000, 3], 0), (&[40, 2000], 1)] {
        for dtype in [DType::F32, DType::U16, DType::F64, DType::C128] {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, shape).unwrap();
            let axis = axis as i64;
            let sorts = [b.sort(&x, axis, true).unwrap(), b.argsort(&x, axis, false).unwrap()];
            let graph = b.finish(&sorts).unwrap();
            let argument = numbers(dtype, shape, 1 << 40);
            let expected = bits(&evaluate(&graph, core::slice::from_ref(&argument)).unwrap());
            let executable = compile(&graph, &CompileOptions::default()).unwrap();
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let options = RunOptions::default().threads(Threads::Pool(&pool));
                let results = executable.run_with(&[ArrayView::from(&argument)], &options).unwrap();
                assert!(bits(&results) == expected, "{dtype}{shape:?}, {threads} threads");
            }
        }
    }
}

/// Keys that are farther apart than a word with a position has bits for, and differ in the lowest bits.
#[test]
fn positions_of_keys_far_apart_are_exact() {
    for length in [2_usize, 100, 128, 150] {
        let key = |index: usize| match index % 3 {
            0 => i64::MIN + (index * 7 % 5) as i64,
            1 => i64::MAX - (index * 11 % 7) as i64,
            _ => (index * 13 % 3) as i64,
        };
        let keys: Vec<i64> = (0..13 * length).map(key).collect();
        let mut expected = Vec::new();
        for row in keys.chunks(length) {
            let mut positions: Vec<i64> = (0..length as i64).collect();
            positions.sort_by_key(|&position| row[position as usize]);
            expected.extend(positions);
        }
        let x = Array::new([13, length], keys).unwrap();
        let b = GraphBuilder::new();
        let v = b.parameter("x", DType::I64, [13, length]).unwrap();
        let graph = b.finish(&[b.argsort(v, 1, false).unwrap()]).unwrap();
        let expected = bits(&[Array::new([13, length], expected).unwrap()]);
        assert_eq!(run(&graph, &CompileOptions::default(), &[x]), expected, "{length}");
    }
}

#[test]
fn several_keys_order_what_is_equal_in_those_before() {
    let shape = [6, 50];
    let b = GraphBuilder::new();
    let keys: Vec<Value> = [("a", DType::Bool), ("b", DType::F16), ("c", DType::I32)]
        .into_iter()
        .map(|(name, dtype)| b.parameter(name, dtype, shape).unwrap())
        .collect();
    let sorts: Vec<Value> = [(0, false), (1, false), (1, true)]
        .into_iter()
        .map(|(axis, descending)| b.argsort_by(&keys, axis, descending).unwrap())
        .collect();
    let graph = b.finish(&sorts).unwrap();
    let arguments = [(DType::Bool, 2), (DType::F16, 3), (DType::I32, 5)]
        .map(|(dtype, few)| numbers(dtype, &shape, few));
    assert_same_bits(&graph, &arguments, "three keys");

    // Tuples have the lexicographic order.
    let expected = evaluate(&graph, &arguments).unwrap();
    let a = arguments[0].elements::<bool>().unwrap();
    let c = arguments[2].elements::<i32>().unwrap();
    let f = arguments[1].elements::<f16>().unwrap();
    // A NaN is greater than infinity.
    let number = |at: usize| if f[at].is_nan() { f32::MAX } else { f[at].to_f32().min(1e30) + 0.0 };
    for row in 0..6 {
        let mut order: Vec<usize> = (0..50).collect();
        order.sort_by(|&x, &y| {
            let [x, y] = [x, y].map(|at| row * 50 + at);
            let of_numbers = number(x).partial_cmp(&number(y)).unwrap();
            a[x].cmp(&a[y]).then(of_numbers).then(c[x].cmp(&c[y]))
        });
        let found = &expected[1].elements::<i64>().unwrap()[row * 50..][..50];
        assert_eq!(found, order.iter().map(|&at| at as i64).collect::<Vec<i64>>());
    }
}

#[test]
fn computed_keys_are_sorted_and_sorted_values_are_read() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [30, 20]).unwrap();
    let turned = b.transpose(&x * 2.0, &[1, 0]).unwrap();
    let sorted = b.sort(&turned, 1, false).unwrap();
    let backwards = [AxisSlice::whole(20), AxisSlice::reversed(30)];
    let greatest = b.slice(&sorted, &backwards).unwrap();
    let both = b.concatenate(&[sorted.clone(), &greatest + 1.0], 0).unwrap();
    let argsorted = b.argsort(b.reshape(&greatest, [600]).unwrap(), 0, true).unwrap();
    let graph = b.finish(&[both, argsorted, sorted]).unwrap();
    assert_same_bits(&graph, &[numbers(DType::F32, &[30, 20], 900)], "computed keys");
}

#[test]
fn searches_find_the_positions_of_the_definition() {
    for &dtype in DType::ALL.iter().filter(|dtype| !dtype.is_storage()) {
        for length in [0, 1, 2, 7, 100] {
            let b = GraphBuilder::new();
            let table = b.parameter("table", dtype, [length]).unwrap();
            let values = b.parameter("values", dtype, [3, 70]).unwrap();
            let sorted = b.sort(&table, 0, false).unwrap();
            let turned = b.transpose(&values, &[1, 0]).unwrap();
            let sides = [SearchSide::Left, SearchSide::Right];
            let mut searches = Vec::new();
            for side in sides {
                searches.push(b.search_sorted(&sorted, &values, side).unwrap());
                searches.push(b.search_sorted(&table, &turned, side).unwrap());
            }
            let graph = b.finish(&searches).unwrap();
            let arguments = [numbers(dtype, &[length], 40), numbers(dtype, &[3, 70], 50)];
            assert_same_bits(&graph, &arguments, &format!("{dtype} in {length}"));
        }
    }
}

/// The position is the number of elements before the value.
#[test]
fn a_search_counts_the_elements_before_a_value() {
    let table = numbers(DType::F64, &[777], 300);
    let values = numbers(DType::F64, &[50_000], 400);
    let b = GraphBuilder::new();
    let t = b.sort(b.parameter("table", DType::F64, [777]).unwrap(), 0, false).unwrap();
    let v = b.parameter("values", DType::F64, [50_000]).unwrap();
    let sides = [SearchSide::Left, SearchSide::Right];
    let searches = sides.map(|side| b.search_sorted(&t, &v, side).unwrap());
    let executable = compile(&b.finish(&searches).unwrap(), &CompileOptions::default()).unwrap();
    let inputs = [ArrayView::from(&table), ArrayView::from(&values)];
    let [one, two] = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        executable.run_with(&inputs, &RunOptions::default().threads(Threads::Pool(&pool))).unwrap()
    });
    assert_eq!(bits(&one), bits(&two));
    let table = table.elements::<f64>().unwrap();
    for (index, value) in values.elements::<f64>().unwrap().iter().enumerate().step_by(97) {
        let less = |x: &&f64| *x < value || value.is_nan() && !x.is_nan();
        let equal = |x: &&f64| *x == value || value.is_nan() && x.is_nan();
        let before = table.iter().filter(less).count();
        let [left, right] = [0, 1].map(|side: usize| one[side].elements::<i64>().unwrap()[index]);
        assert_eq!(left as usize, before);
        assert_eq!(right as usize, before + table.iter().filter(equal).count());
    }
}

#[test]
fn the_memory_of_a_sort_is_forecast() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1 << 20]).unwrap();
    let [sort, copy] = [b.sort(&x, 0, false).unwrap(), b.neg(&x).unwrap()].map(|output| {
        let graph = b.finish(&[output]).unwrap();
        let executable = compile(&graph, &CompileOptions::default()).unwrap();
        executable.forecast().register_bytes
    });
    // The elements, and a second list between the passes of the radix sort.
    assert!(sort >= copy + (8 << 20), "{sort} and {copy} bytes");
}

#[test]
fn wrong_keys_and_tables_are_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    let y = b.parameter("y", DType::F32, [4]).unwrap();
    let code = |result: Result<Value, indim_graph::GraphError>| result.unwrap_err().code();
    assert_eq!(code(b.sort(&x, 2, false)), "axis-out-of-range");
    assert_eq!(code(b.argsort_by(&[], 0, false)), "wrong-operand-count");
    assert_eq!(code(b.argsort_by(&[x.clone(), y.clone()], 0, false)), "shapes-differ");
    assert_eq!(code(b.search_sorted(&x, &y, SearchSide::Left)), "table-rank");
    let i = b.parameter("i", DType::I32, [4]).unwrap();
    assert_eq!(code(b.search_sorted(&y, &i, SearchSide::Left)), "element-type-mismatch");
    assert_eq!(b.top_k(&x, 5, 1, true).unwrap_err().code(), "slice-out-of-range");
}
