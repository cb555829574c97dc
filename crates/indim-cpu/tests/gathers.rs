//! Gathers of rows and of single elements, against the reference evaluator: rows of every length and stride,
//! indices of every layout, alone and within other work, by every executor and level.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, compile};
use indim_graph::{Array, AxisSlice, Graph, TakeMode, evaluate};
use indim_ops::{ArrayData, DType};

use executors::executors;

#[path = "executors/mod.rs"]
mod executors;

/// Elements whose bytes differ from those of adjacent elements; no NaN, because its bits may change.
fn table(dtype: DType, shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    let bytes = (0..count * dtype.size()).map(|at| match at % dtype.size() {
        last if last + 1 == dtype.size() => 3 + (at / dtype.size() % 50) as u8,
        other => (at / dtype.size() * 37 + other * 11) as u8,
    });
    let data = ArrayData::from_le_bytes(dtype, &bytes.collect::<Vec<u8>>());
    Array::from_data(shape, data).unwrap()
}

/// Indices into `size` elements, some of them negative if the mode allows that.
fn indices(shape: &[usize], size: usize, has_negative: bool) -> Array {
    let count: usize = shape.iter().product();
    let index = |at: usize| {
        let place = (at * 7919 + at / 3) % size;
        if has_negative && at % 5 == 2 { place as i64 - size as i64 } else { place as i64 }
    };
    Array::new(shape, (0..count).map(index).collect::<Vec<i64>>()).unwrap()
}

fn assert_same_bits(graph: &Graph, arguments: &[Array], what: &str) {
    let expected = evaluate(graph, arguments).unwrap();
    for options in executors() {
        let executable = compile(graph, &options).unwrap();
        let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
        // The second run may use machine code.
        for _ in 0..2 {
            let found = executable.run(&inputs).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                let bytes = found.clone().to_le_bytes();
                let same = bytes == expected.to_le_bytes();
                assert!(same, "{what}, {:?} {}", options.executor, options.level);
            }
        }
    }
}

/// Table, axis and indices: pieces of rows longer than a tile, whole rows, rows of 1 to 4 elements, single
/// elements, tables with axes before the indexed one.
const SHAPES: [(&[usize], usize, &[usize]); 10] = [
    (&[12, 1300], 0, &[9]),
    (&[12, 4, 300], 0, &[7]),
    (&[50, 64], 0, &[5, 20]),
    (&[50, 3], 0, &[30, 11]),
    (&[50, 2], 0, &[700]),
    (&[40, 4], 0, &[3]),
    (&[9, 1], 0, &[4]),
    (&[700], 0, &[1500]),
    (&[6, 300], 1, &[700]),
    (&[3, 20, 17], 1, &[40]),
];

#[test]
fn gathers_give_the_bits_of_the_reference() {
    for (shape, axis, of_indices) in SHAPES {
        for dtype in [DType::U8, DType::F16, DType::I32, DType::F64, DType::C128] {
            let b = GraphBuilder::new();
            let t = b.parameter("t", dtype, shape).unwrap();
            let i = b.parameter("i", DType::I64, of_indices).unwrap();
            let taken = b.take(&t, &i, axis as i64, TakeMode::Error).unwrap();
            let graph = b.finish(&[taken.clone(), &taken + &taken]).unwrap();
            let arguments = [table(dtype, shape), indices(of_indices, shape[axis], true)];
            assert_same_bits(&graph, &arguments, &format!("{dtype}{shape:?} axis {axis}"));
        }
    }
}

/// A gather of `t` along `axis`, added to a function of `x`, which has the shape of the gather.
fn within_work(b: &GraphBuilder, t: &Value, i: &Value, axis: usize) -> Vec<Value> {
    let taken = b.take(t, i, axis as i64, TakeMode::Error).unwrap();
    let taken_again = b.take(&(t * 2), i, axis as i64, TakeMode::Clip).unwrap();
    let shape = taken.array_type().unwrap().shape;
    let x = b.iota(DType::F32, shape, axis as i64).unwrap();
    vec![(x - &taken) / (&taken_again + 1)]
}

#[test]
fn tables_and_indices_are_read_through_views() {
    for (shape, axis, of_indices) in SHAPES {
        let rank = shape.len() as i64;
        let b = GraphBuilder::new();
        let t = b.parameter("t", DType::F32, shape).unwrap();
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let turned = b.parameter("turned", DType::F32, reversed).unwrap();
        let turned = b.transpose(turned, &(0..rank).rev().collect::<Vec<i64>>()).unwrap();
        let i = b.parameter("i", DType::I64, of_indices).unwrap();
        // Indices through a slice, repeated, and from an expression.
        let slice = |&size: &usize| AxisSlice::python(None, None, Some(-2), size).unwrap();
        let every_second =
            b.slice(&i, &of_indices.iter().map(slice).collect::<Vec<AxisSlice>>()).unwrap();
        let first = b.reshape(b.index(&i, &first_of(of_indices)).unwrap(), [1]).unwrap();
        let repeated = b.broadcast_in_dim(first, &[0], [600]).unwrap();
        let computed = b.convert(b.abs(&i).unwrap(), DType::I16).unwrap().rem(2);
        let mut outputs = Vec::new();
        for table in [&t, &turned, &b.reverse(&t, &[axis as i64]).unwrap()] {
            for indices in [&i, &every_second, &repeated, &computed] {
                outputs.extend(within_work(&b, table, indices, axis));
            }
        }
        let graph = b.finish(&outputs).unwrap();
        let turned = table(DType::F32, &shape.iter().rev().copied().collect::<Vec<usize>>());
        let arguments = [table(DType::F32, shape), turned, indices(of_indices, shape[axis], true)];
        assert_same_bits(&graph, &arguments, &format!("{shape:?} axis {axis}"));
    }
}

fn first_of(shape: &[usize]) -> Vec<indim_builder::Index> {
    shape.iter().map(|_| indim_builder::Index::At(0)).collect()
}

/// The check without comparisons, at the ends of each type of indices.
#[test]
fn the_first_index_out_of_range_is_found_at_any_position() {
    let checked = |dtype: DType, list: &[i64], size: usize| {
        let b = GraphBuilder::new();
        let t = b.parameter("t", DType::F32, [size, 2]).unwrap();
        let i = b.parameter("i", dtype, [list.len()]).unwrap();
        let graph = b.finish(&[b.take(&t, &i, 0, TakeMode::Error).unwrap()]).unwrap();
        let list = Array::new([list.len()], list.to_vec()).unwrap();
        let b = GraphBuilder::new();
        let converted = b.finish(&[b.convert(b.constant(list), dtype).unwrap()]).unwrap();
        let list = evaluate(&converted, &[]).unwrap().remove(0);
        let arguments = [table(DType::F32, &[size, 2]), list];
        let expected = evaluate(&graph, &arguments).is_ok();
        let executable = compile(&graph, &executors().next().unwrap()).unwrap();
        let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
        assert_eq!(executable.run(&inputs).is_ok(), expected, "{dtype} {inputs:?} of {size}");
        expected
    };
    let ends = [i64::MIN, i64::MIN + 1, -101, -100, -1, 0, 99, 100, 101, 127, 128, i64::MAX];
    let types = [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U64];
    for (dtype, end) in types.into_iter().flat_map(|dtype| ends.map(|end| (dtype, end))) {
        for at in [0, 1, 16, 39] {
            let mut list = [5; 40];
            list[at] = end;
            checked(dtype, &list, 100);
        }
    }
    assert!(checked(DType::I64, &[-100, 99], 100));
    assert!(!checked(DType::I64, &[0, 0, 0, -101], 100));
    assert!(!checked(DType::U64, &[0, -1], 100));
}
