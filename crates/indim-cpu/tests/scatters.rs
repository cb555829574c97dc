//! Scatters, against the reference evaluator and index arithmetic by hand: every executor, level and number
//! of threads gives the same bits.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, RunError, compile};
use indim_graph::{Array, AxisSlice, Graph, ScatterMode, TakeMode, evaluate};
use indim_ops::{DType, ScatterOp};

use executors::executors;
use places::unravelled;

#[path = "executors/mod.rs"]
mod executors;
#[path = "places/mod.rs"]
mod places;

/// Numbers whose sums are rounded, converted to this type.
fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let list: Vec<f64> = (0..count).map(|at| (at * 7919 % 1009) as f64 / 7.0 - 60.0).collect();
    let b = GraphBuilder::new();
    let list = b.constant(Array::new(shape, list).unwrap());
    let graph = b.finish(&[b.convert(list, dtype).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}

/// Indices from `-size` to `size - 1`, most of them several times.
fn indices(shape: &[usize], size: usize) -> Array {
    let count: usize = shape.iter().product();
    let index = |at: usize| (at * at * 31 % (2 * size)) as i64 - size as i64;
    Array::new(shape, (0..count).map(index).collect::<Vec<i64>>()).unwrap()
}

fn run(graph: &Graph, options: &CompileOptions, arguments: &[Array]) -> Vec<Vec<u8>> {
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    let results = compile(graph, options).unwrap().run(&inputs).unwrap();
    results.iter().map(|result| result.clone().to_le_bytes()).collect()
}

fn assert_same_bits(graph: &Graph, arguments: &[Array], what: &str) {
    let expected = evaluate(graph, arguments).unwrap();
    let expected: Vec<Vec<u8>> = expected.iter().map(|it| it.to_le_bytes()).collect();
    for options in executors() {
        for optimize in [true, false] {
            let options = options.clone().optimize(optimize);
            let same = run(graph, &options, arguments) == expected;
            assert!(same, "{what}, {:?} {}", options.executor, options.level);
        }
    }
}

/// Shape, axis and indices: single elements, rows, axes before the indexed one, one index, no index.
const SHAPES: [(&[usize], usize, &[usize]); 9] = [
    (&[40], 0, &[900]),
    (&[40, 70], 0, &[30, 7]),
    (&[5, 2, 300], 0, &[9]),
    (&[6, 40], 1, &[100]),
    (&[3, 20, 17], 1, &[8, 3, 2]),
    (&[7, 3], 0, &[]),
    (&[7, 3], 0, &[0]),
    (&[7, 3], 1, &[2, 0]),
    (&[1, 1], 0, &[5]),
];

fn updates_shape(shape: &[usize], axis: usize, indices: &[usize]) -> Vec<usize> {
    [&shape[..axis], indices, &shape[axis + 1..]].concat()
}

#[test]
fn updates_of_one_target_are_added_in_row_major_order() {
    for (shape, axis, of_indices) in SHAPES {
        let of_updates = updates_shape(shape, axis, of_indices);
        let adds = |dtype: &DType| *dtype != DType::Bool && !dtype.is_storage();
        for dtype in DType::ALL.iter().copied().filter(adds) {
            let b = GraphBuilder::new();
            let x = b.parameter("x", dtype, shape).unwrap();
            let i = b.parameter("i", DType::I64, of_indices).unwrap();
            let u = b.parameter("u", dtype, &of_updates[..]).unwrap();
            let sum = b.scatter_add(&x, &i, &u, axis as i64, TakeMode::Error).unwrap();
            // An output, an operand, a part of a concatenation, and a scatter of computed updates.
            let wrapped = b.scatter_add(&x + &x, &i + 3, -&u, axis as i64, TakeMode::Wrap).unwrap();
            let both = b.concatenate(&[sum.clone(), wrapped.clone()], axis as i64).unwrap();
            let graph = b.finish(&[sum.clone(), &sum + &wrapped, both]).unwrap();
            let arguments = [
                numbers(dtype, shape),
                indices(of_indices, shape[axis]),
                numbers(dtype, &of_updates),
            ];
            assert_same_bits(&graph, &arguments, &format!("{dtype}{shape:?} axis {axis}"));
        }
    }
}

/// The definition, literally: sums in double precision that start from the element of the operand.
#[test]
fn a_sum_is_rounded_once_and_begins_with_the_operand() {
    let x = [1.0e8f32, -3.0, 0.5];
    let (i, u) = ([0i64, 2, 0, -3, 0, 2], [2.0f32, 0.25, 2.0, 2.0, 2.0, -0.75]);
    let mut expected = x.map(f64::from);
    for (&index, &update) in i.iter().zip(&u) {
        expected[index.rem_euclid(3) as usize] += f64::from(update);
    }
    let b = GraphBuilder::new();
    let [operand, updates] =
        [("x", 3), ("u", 6)].map(|(name, size)| b.parameter(name, DType::F32, [size]).unwrap());
    let index = b.parameter("i", DType::I64, [6]).unwrap();
    let sum = b.scatter_add(operand, index, updates, 0, TakeMode::Error).unwrap();
    let executable = compile(&b.finish(&[sum]).unwrap(), &CompileOptions::default()).unwrap();
    let inputs = [ArrayView::from(&x[..]), ArrayView::from(&u[..]), ArrayView::from(&i[..])];
    let found = executable.run(&inputs).unwrap();
    // In single precision the first sum would stay 1e8.
    assert_eq!(found[0].elements::<f32>().unwrap(), expected.map(|sum| sum as f32));
    assert_eq!(expected[0], 100_000_008.0);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (shape, of_indices) = ([5000, 40], [30_000]);
    let b = GraphBuilder::new();
    let i = b.parameter("i", DType::I64, of_indices).unwrap();
    let u = b.parameter("u", DType::F32, [30_000, 40]).unwrap();
    let zeros = b.broadcast_in_dim(b.scalar(0.0f32), &[], shape).unwrap();
    let graph = b.finish(&[b.scatter_add(zeros, i, u, 0, TakeMode::Error).unwrap()]).unwrap();
    let arguments = [indices(&of_indices, 5000), numbers(DType::F32, &[30_000, 40])];
    let expected = evaluate(&graph, &arguments).unwrap()[0].to_le_bytes();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| run(&graph, &CompileOptions::default(), &arguments));
        assert!(found == [expected.clone()], "{threads} threads");
    }
}

/// Work counts each array once, even if targets are much larger than updates: 1 MiB takes several threads.
#[test]
fn the_work_of_a_scatter_is_the_bytes_it_moves() {
    const MIB: usize = 1 << 20;
    // A target is read and written; an update is an index of 8 bytes and an `f32`.
    let moved = |places: usize, indices: usize, elements: usize| {
        4 * elements * (2 * places + indices) + 8 * indices
    };
    let shapes =
        [(1000, 60_000, 1), (1000, 90_000, 1), (60_000, 1000, 1), (300, 500, 200), (300, 900, 200)];
    for (places, indices, elements) in shapes {
        let b = GraphBuilder::new();
        let parameter = |name, dtype, shape: &[usize]| b.parameter(name, dtype, shape).unwrap();
        let x = parameter("x", DType::F32, &[places, elements]);
        let i = parameter("i", DType::I64, &[indices]);
        let u = parameter("u", DType::F32, &[indices, elements]);
        let graph = b.finish(&[b.scatter_add(x, i, u, 0, TakeMode::Wrap).unwrap()]).unwrap();
        let executable = compile(&graph, &CompileOptions::default()).unwrap();
        let is_parallel = moved(places, indices, elements) >= MIB;
        assert_eq!(executable.is_parallel(), is_parallel, "{places} places, {indices} indices");
    }
}

#[test]
fn operands_are_read_through_views() {
    for (shape, axis, of_indices) in SHAPES {
        let of_updates = updates_shape(shape, axis, of_indices);
        let backwards = |sizes: &[usize]| sizes.iter().rev().copied().collect::<Vec<usize>>();
        let b = GraphBuilder::new();
        let parameter = |name: &str, sizes: &[usize]| -> Value {
            let turned = b.parameter(name, DType::F32, backwards(sizes)).unwrap();
            let axes: Vec<i64> = (0..sizes.len() as i64).rev().collect();
            b.transpose(turned, &axes).unwrap()
        };
        let (x, u) = (parameter("x", shape), parameter("u", &of_updates));
        let i = b.parameter("i", DType::I64, of_indices).unwrap();
        let slice = |&size: &usize| AxisSlice::python(None, None, Some(-2), size).unwrap();
        let some: Vec<AxisSlice> = of_indices.iter().map(slice).collect();
        let of_updates_slices = |at: usize| match at.checked_sub(axis) {
            Some(index) if index < some.len() => some[index],
            _ => AxisSlice::whole(of_updates[at]),
        };
        let slices: Vec<AxisSlice> = (0..of_updates.len()).map(of_updates_slices).collect();
        let (some_i, some_u) = (b.slice(&i, &some).unwrap(), b.slice(&u, &slices).unwrap());
        let sum = b.scatter_add(&x, some_i, some_u, axis as i64, TakeMode::Error).unwrap();
        let again =
            b.scatter_add(b.reverse(&sum, &[0]).unwrap(), &i, &u, axis as i64, TakeMode::Clip);
        let graph = b.finish(&[sum, again.unwrap()]).unwrap();
        let arguments = [
            numbers(DType::F32, &backwards(shape)),
            numbers(DType::F32, &backwards(&of_updates)),
            indices(of_indices, shape[axis]),
        ];
        assert_same_bits(&graph, &arguments, &format!("{shape:?} axis {axis}"));
    }
}

#[test]
fn an_index_out_of_range_is_found_before_anything_is_written() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4]).unwrap();
    let i = b.parameter("i", DType::I64, [3]).unwrap();
    let updates = b.constant(Array::new([3], vec![0.5, 0.25, 8.0]).unwrap());
    let sum = b.scatter_add(&x, &i, updates, 0, TakeMode::Error);
    let executable =
        compile(&b.finish(&[sum.unwrap()]).unwrap(), &CompileOptions::default()).unwrap();
    let x = [1.0, 2.0, 3.0, 4.0];
    let error = executable
        .run(&[ArrayView::from(&x[..]), ArrayView::from(&[0i64, 4, -5][..])])
        .unwrap_err();
    assert_eq!(error.code(), "index-out-of-range");
    let RunError::IndexOutOfRange { index, position, .. } = &error else { panic!("{error}") };
    assert_eq!((*index, &position[..]), (4, &[1][..]));
}

#[test]
fn updates_have_the_shape_and_type_of_a_gather() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
    let i = b.parameter("i", DType::I64, [5]).unwrap();
    let code = |x: &Value, u: Value| match b.scatter_add(x, &i, u, 0, TakeMode::Error) {
        Ok(_) => "",
        Err(error) => error.code(),
    };
    let updates = |dtype, shape: [usize; 2]| b.constant(numbers(dtype, &shape));
    assert_eq!(code(&x, updates(DType::F32, [5, 3])), "");
    assert_eq!(code(&x, updates(DType::F32, [5, 4])), "scatter-shape");
    assert_eq!(code(&x, updates(DType::F64, [5, 3])), "element-type-mismatch");
    let truths = x.gt(0);
    assert_eq!(code(&truths, truths.clone()), "element-type-not-allowed");
}

/// The definition of each operation on numbers that `f64` holds exactly, one update after another.
fn combined(op: ScatterOp, element: f64, update: f64) -> f64 {
    match op {
        ScatterOp::Set => update,
        ScatterOp::Add => element + update,
        ScatterOp::Mul => element * update,
        _ if element.is_nan() || update.is_nan() => f64::NAN,
        ScatterOp::Min => element.min(update),
        ScatterOp::Max => element.max(update),
    }
}

#[test]
fn every_operation_combines_updates_in_order() {
    let (size, count) = (7, 60);
    let indices: Vec<i64> = (0..count).map(|at| (at * at * 31 % 17) - 5).collect();
    for (op, mode) in ScatterOp::ALL
        .into_iter()
        .flat_map(|op| ScatterMode::ALL[1..].iter().map(move |&m| (op, m)))
    {
        for of_row in [1, 3] {
            let x: Vec<f64> = (0..size * of_row).map(|at| f64::from(at) - 4.0).collect();
            let mut u: Vec<f64> =
                (0..count as i32 * of_row).map(|at| f64::from(at % 5 - 2) / 2.0).collect();
            u[17] = f64::NAN;
            let mut expected = x.clone();
            for (row, &index) in u.chunks(of_row as usize).zip(&indices) {
                let Some(target) = mode.resolve(index.into(), size as usize) else {
                    unreachable!()
                };
                for (column, &update) in row.iter().enumerate().filter(|_| target < size as usize) {
                    let element = &mut expected[target * of_row as usize + column];
                    *element = combined(op, *element, update);
                }
            }
            let b = GraphBuilder::new();
            let shape = [size as usize, of_row as usize];
            let operand = b.parameter("x", DType::F64, shape).unwrap();
            let i = b.parameter("i", DType::I64, [count as usize]).unwrap();
            let v = b.parameter("v", DType::F64, [count as usize, shape[1]]).unwrap();
            let graph = b.finish(&[b.scatter(op, operand, i, v, 0, mode).unwrap()]).unwrap();
            let arguments = [
                Array::new(shape, x).unwrap(),
                Array::new([count as usize], indices.clone()).unwrap(),
                Array::new([count as usize, shape[1]], u).unwrap(),
            ];
            let found = evaluate(&graph, &arguments).unwrap().remove(0);
            for (found, expected) in found.elements::<f64>().unwrap().iter().zip(&expected) {
                let same = found == expected || found.is_nan() && expected.is_nan();
                assert!(same, "{op} {mode}: {found} {expected}");
            }
            assert_same_bits(&graph, &arguments, &format!("{op} {mode} {of_row}"));
        }
    }
}

#[test]
fn every_operation_takes_every_type_it_says() {
    for op in ScatterOp::ALL {
        for &dtype in DType::ALL {
            for (shape, axis, of_indices) in [SHAPES[0], SHAPES[1], SHAPES[3], SHAPES[6]] {
                let of_updates = updates_shape(shape, axis, of_indices);
                let b = GraphBuilder::new();
                let x = b.parameter("x", dtype, shape).unwrap();
                let i = b.parameter("i", DType::I64, of_indices).unwrap();
                let u = b.parameter("u", dtype, &of_updates[..]).unwrap();
                let built = b.scatter(op, &x, &i, &u, axis as i64, ScatterMode::Drop);
                if !op.takes(dtype) {
                    assert_eq!(built.unwrap_err().code(), "element-type-not-allowed");
                    continue;
                }
                let graph = b.finish(&[built.unwrap()]).unwrap();
                let arguments = [
                    numbers(dtype, shape),
                    indices(of_indices, shape[axis]),
                    numbers(dtype, &of_updates),
                ];
                assert_same_bits(&graph, &arguments, &format!("{op} {dtype}{shape:?}"));
            }
        }
    }
}

/// Neighbours without updates are stored together.
#[test]
fn few_updates_leave_the_other_elements() {
    const SHAPES: [(&[usize], usize); 4] =
        [(&[300], 0), (&[3, 200], 1), (&[2, 65, 1], 1), (&[129, 2], 0)];
    for (shape, axis) in SHAPES {
        for list in [&[0_i64][..], &[64], &[-1], &[1000], &[63, 64], &[2, 64, 2], &[1000, 1000]] {
            let of_updates = updates_shape(shape, axis, &[list.len()]);
            for &dtype in DType::ALL {
                for op in ScatterOp::ALL.into_iter().filter(|op| op.takes(dtype)) {
                    let b = GraphBuilder::new();
                    let x = b.parameter("x", dtype, shape).unwrap();
                    let i = b.parameter("i", DType::I64, [list.len()]).unwrap();
                    let u = b.parameter("u", dtype, &of_updates[..]).unwrap();
                    let of = |x: &Value| {
                        b.scatter(op, x, &i, &u, axis as i64, ScatterMode::Drop).unwrap()
                    };
                    let reversed = b.reverse(&x, &[axis as i64]).unwrap();
                    let graph = b.finish(&[of(&x), of(&reversed)]).unwrap();
                    let arguments = [
                        numbers(dtype, shape),
                        Array::new([list.len()], list.to_vec()).unwrap(),
                        numbers(dtype, &of_updates),
                    ];
                    assert_same_bits(
                        &graph,
                        &arguments,
                        &format!("{op} {dtype}{shape:?} at {list:?}"),
                    );
                }
            }
        }
    }
}

#[test]
fn updates_of_an_axis_without_elements_are_dropped() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [0, 3]).unwrap();
    let i = b.parameter("i", DType::I64, [2]).unwrap();
    let u = b.parameter("u", DType::F32, [2, 3]).unwrap();
    let refused = b.scatter(ScatterOp::Set, &x, &i, &u, 0, TakeMode::Clip).unwrap_err();
    assert_eq!(refused.code(), "take-from-empty");
    let set = b.scatter(ScatterOp::Set, &x, &i, &u, 0, ScatterMode::Drop).unwrap();
    let graph = b.finish(&[set]).unwrap();
    let arguments = [numbers(DType::F32, &[0, 3]), indices(&[2], 4), numbers(DType::F32, &[2, 3])];
    assert_same_bits(&graph, &arguments, "nothing");
}

#[test]
fn no_indices_change_nothing_whatever_their_other_axes() {
    const LONG: usize = usize::MAX >> 24;
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [5]).unwrap();
    let i = b.parameter("i", DType::I64, [LONG, 0]).unwrap();
    let u = b.parameter("u", DType::F32, [LONG, 0]).unwrap();
    let sum = b.scatter(ScatterOp::Add, &x, &i, &u, 0, TakeMode::Error).unwrap();
    let graph = b.finish(&[sum]).unwrap();
    let x = numbers(DType::F32, &[5]);
    let arguments = [
        x.clone(),
        Array::new([LONG, 0], Vec::<i64>::new()).unwrap(),
        Array::new([LONG, 0], Vec::<f32>::new()).unwrap(),
    ];
    for options in executors() {
        assert_eq!(run(&graph, &options, &arguments)[0], x.to_le_bytes());
    }
}

fn flat_place(shape: &[usize], at: &[usize]) -> usize {
    at.iter().zip(shape).fold(0, |place, (&at, &size)| place * size + at)
}

/// Scatters with indices as vectors, and with an index for each element, by their definitions. A gather from
/// the same places then reads the last updates.
#[test]
fn scatters_of_other_systems_follow_their_definitions() {
    let (shape, of_vectors, of_elements) = ([3usize, 4, 5], [6usize, 2], [2usize, 6, 5]);
    let vectors: Vec<i64> = vec![0, 1, 2, -1, 0, 1, -3, 0, 1, 2, 2, 3];
    let along: Vec<i64> = (0..60).map(|at| at * at % 8 - 4).collect();
    let x: Vec<i32> = (0..60).collect();
    let [rows, elements] =
        [30, 60].map(|count| (0..count).map(|at| at * 7 - 50).collect::<Vec<i32>>());
    for op in [ScatterOp::Set, ScatterOp::Add] {
        let b = GraphBuilder::new();
        let operand = b.parameter("x", DType::I32, shape).unwrap();
        let i = b.parameter("i", DType::I64, of_vectors).unwrap();
        let e = b.parameter("e", DType::I64, of_elements).unwrap();
        let u = b.parameter("u", DType::I32, [6, 5]).unwrap();
        let v = b.parameter("v", DType::I32, of_elements).unwrap();
        let mode = TakeMode::Error;
        let by_vectors = b.scatter_nd(op, &operand, &i, u, mode).unwrap();
        let by_elements = b.scatter_elements(op, &operand, &e, v, 1, mode).unwrap();
        let outputs = [
            b.gather_nd(&by_vectors, i, 0, mode).unwrap(),
            b.gather_elements(&by_elements, e, 1, mode).unwrap(),
            by_vectors,
            by_elements,
        ];
        let graph = b.finish(&outputs).unwrap();
        let combine = |element: &mut i32, update: i32| match op {
            ScatterOp::Set => *element = update,
            _ => *element += update,
        };
        let [mut expected_rows, mut expected_elements] = [x.clone(), x.clone()];
        for (vector, update) in vectors.chunks(2).zip(rows.chunks(5)) {
            let at = [vector[0].rem_euclid(3) as usize, vector[1].rem_euclid(4) as usize, 0];
            for (column, &update) in update.iter().enumerate() {
                combine(&mut expected_rows[flat_place(&shape, &at) + column], update);
            }
        }
        for (number, &update) in elements.iter().enumerate() {
            let mut at = unravelled(number, &of_elements);
            at[1] = along[number].rem_euclid(4) as usize;
            combine(&mut expected_elements[flat_place(&shape, &at)], update);
        }
        let arguments = [
            Array::new(shape, x.clone()).unwrap(),
            Array::new(of_vectors, vectors.clone()).unwrap(),
            Array::new(of_elements, along.clone()).unwrap(),
            Array::new([6, 5], rows.clone()).unwrap(),
            Array::new(of_elements, elements.clone()).unwrap(),
        ];
        let found = evaluate(&graph, &arguments).unwrap();
        assert_eq!(found[2].elements::<i32>().unwrap(), expected_rows, "{op}");
        assert_eq!(found[3].elements::<i32>().unwrap(), expected_elements, "{op}");
        let read: Vec<i32> = vectors
            .chunks(2)
            .flat_map(|vector| {
                let at = [vector[0].rem_euclid(3) as usize, vector[1].rem_euclid(4) as usize, 0];
                let first = flat_place(&shape, &at);
                expected_rows[first..first + 5].to_vec()
            })
            .collect();
        assert_eq!(found[0].elements::<i32>().unwrap(), read);
        assert_same_bits(&graph, &arguments, op.name());
    }
}

#[test]
fn updates_with_an_index_out_of_range_on_any_axis_are_dropped() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [2, 3]).unwrap();
    let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I32, [5]).unwrap());
    let u = b.parameter("u", DType::I32, [5]).unwrap();
    let sum = b.scatter_at(ScatterOp::Add, x, &[0, 1], &[i, j], u, ScatterMode::Drop).unwrap();
    let graph = b.finish(&[sum]).unwrap();
    let list = |elements: [i32; 5]| Array::new([5], elements.to_vec()).unwrap();
    let arguments = [
        Array::new([2, 3], vec![0; 6]).unwrap(),
        // 0, 3 would be 1, 0 in the flattened axes.
        list([0, 1, 0, -1, 2]),
        list([0, 2, 3, 1, 0]),
        list([1, 10, 100, 1000, 10000]),
    ];
    let found = evaluate(&graph, &arguments).unwrap().remove(0);
    assert_eq!(found.elements::<i32>().unwrap(), [1, 0, 0, 0, 0, 10]);
    assert_same_bits(&graph, &arguments, "dropped");
}
