//! Scatters, against the reference evaluator and index arithmetic by hand: every executor, level and number
//! of threads gives the same bits.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, CompileOptions, RunError, compile};
use indim_graph::{Array, AxisSlice, Graph, TakeMode, evaluate};
use indim_ops::DType;

use executors::executors;

#[path = "executors/mod.rs"]
mod executors;

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
        for dtype in DType::ALL.iter().copied().filter(|&dtype| dtype != DType::Bool) {
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
