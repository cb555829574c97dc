//! Gathers of rows and of single elements, against the reference evaluator: rows of every length and stride,
//! indices of every layout, alone and within other work, by every executor and level.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{ArrayView, compile};
use indim_graph::{Array, AxisSlice, Graph, TakeMode, evaluate};
use indim_ops::{ArrayData, DType, ScatterOp};

use executors::executors;
use places::unravelled;

#[path = "executors/mod.rs"]
mod executors;
#[path = "places/mod.rs"]
mod places;

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

/// Shape of the table, indexed axes, shapes of their indices, and the shape of the result.
type Several = (&'static [usize], &'static [usize], &'static [&'static [usize]], &'static [usize]);

const SEVERAL: [Several; 6] = [
    (&[7, 9], &[0, 1], &[&[600], &[600]], &[600]),
    (&[7, 9], &[1, 0], &[&[30, 1], &[1, 40]], &[30, 40]),
    (&[5, 6, 4], &[0, 2], &[&[11], &[]], &[11, 6]),
    (&[5, 6, 4], &[1, 2], &[&[3], &[8, 1]], &[5, 8, 3]),
    (&[5, 1, 4, 300], &[0, 1, 2], &[&[8], &[1], &[8]], &[8, 300]),
    (&[1, 1], &[0, 1], &[&[4], &[3, 1]], &[3, 4]),
];

/// The element of a row-major array of `shape` at an index; the index broadcasts to the shape.
fn broadcast_element(elements: &[i64], shape: &[usize], at: &[usize]) -> i64 {
    let at = &at[at.len() - shape.len()..];
    let place =
        |place, (&size, &at): (&usize, &usize)| place * size + if size == 1 { 0 } else { at };
    elements[shape.iter().zip(at).fold(0, place)]
}

/// A gather by its definition: each element of the result by its indices.
fn gathered(table: &[i32], case: Several, indices: &[Vec<i64>]) -> Vec<i32> {
    let (shape, axes, of_indices, result) = case;
    let first = *axes.iter().min().unwrap();
    let rank = result.len() + axes.len() - shape.len();
    let element = |number| {
        let at = unravelled(number, result);
        let (own, kept) = (&at[first..first + rank], [&at[..first], &at[first + rank..]].concat());
        let mut kept = kept.into_iter();
        let place =
            (0..shape.len()).map(|axis| match axes.iter().position(|&named| named == axis) {
                Some(k) => {
                    let index = broadcast_element(&indices[k], of_indices[k], own);
                    index.rem_euclid(shape[axis] as i64) as usize
                }
                None => kept.next().unwrap(),
            });
        table[place.zip(shape).fold(0, |sum, (place, &size)| sum * size + place)]
    };
    (0..result.iter().product()).map(element).collect()
}

#[test]
fn several_axes_are_gathered_together() {
    for case in SEVERAL {
        let (shape, axes, of_indices, result) = case;
        let b = GraphBuilder::new();
        let t = b.parameter("t", DType::I32, shape).unwrap();
        let name = |k: usize| format!("i{k}");
        let given: Vec<Value> = (0..axes.len())
            .map(|k| b.parameter(&name(k), DType::I64, of_indices[k]).unwrap())
            .collect();
        let signed: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let taken = b.gather(&t, &signed, &given, TakeMode::Error).unwrap();
        let wrapped: Vec<Value> = given.iter().map(|i| i + 1000).collect();
        let wrapped = b.gather(&t, &signed, &wrapped, TakeMode::Wrap).unwrap();
        let graph = b.finish(&[taken.clone(), wrapped, &taken * 2]).unwrap();
        let elements: Vec<i32> =
            (0..shape.iter().product::<usize>() as i32).map(|n| n * 3).collect();
        let of_axis = |k: usize| indices(of_indices[k], shape[axes[k]], true);
        let index_arrays: Vec<Array> = (0..axes.len()).map(of_axis).collect();
        let index_elements: Vec<Vec<i64>> =
            index_arrays.iter().map(|array| array.elements::<i64>().unwrap().to_vec()).collect();
        let later = |index: &Vec<i64>| index.iter().map(|i| i + 1000).collect();
        let later: Vec<Vec<i64>> = index_elements.iter().map(later).collect();
        let mut arguments = vec![Array::new(shape, elements.clone()).unwrap()];
        arguments.extend(index_arrays);
        let found = evaluate(&graph, &arguments).unwrap();
        assert_eq!(found[0].shape().to_vec(), result, "{case:?}");
        assert_eq!(found[0].elements::<i32>().unwrap(), gathered(&elements, case, &index_elements));
        assert_eq!(found[1].elements::<i32>().unwrap(), gathered(&elements, case, &later));
        assert_same_bits(&graph, &arguments, &format!("{case:?}"));
    }
}

/// Shape of the table, shape of the indices, axis, and the shape of the result.
type AlongAxis = (&'static [usize], &'static [usize], usize, &'static [usize]);

#[test]
fn indices_along_an_axis_have_one_for_each_element() {
    let cases: [AlongAxis; 6] = [
        (&[20, 30], &[20, 7], 1, &[20, 7]),
        (&[20, 30], &[41, 30], 0, &[41, 30]),
        (&[20, 30], &[1, 50], 1, &[20, 50]),
        (&[1, 30, 4], &[6, 5, 1], 1, &[6, 5, 4]),
        (&[3, 1, 4], &[3, 2, 4], 1, &[3, 2, 4]),
        (&[700], &[900], 0, &[900]),
    ];
    for (shape, of_indices, axis, result) in cases {
        let b = GraphBuilder::new();
        let t = b.parameter("t", DType::I32, shape).unwrap();
        let i = b.parameter("i", DType::I64, of_indices).unwrap();
        let taken = b.take_along_axis(&t, &i, axis as i64, TakeMode::Error).unwrap();
        let graph = b.finish(&[taken.clone(), -&taken]).unwrap();
        let elements: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
        let index_array = indices(of_indices, shape[axis], true);
        let index_elements = index_array.elements::<i64>().unwrap().to_vec();
        let expected: Vec<i32> = (0..result.iter().product())
            .map(|number| {
                let at = unravelled(number, result);
                let index = broadcast_element(&index_elements, of_indices, &at);
                let along = |(other, &size): (usize, &usize)| match other == axis {
                    true => index.rem_euclid(size as i64) as usize,
                    false => at[other].min(size - 1),
                };
                let place = shape.iter().enumerate().map(along);
                elements[place.zip(shape).fold(0, |sum, (place, &size)| sum * size + place)]
            })
            .collect();
        let arguments = [Array::new(shape, elements).unwrap(), index_array];
        let found = evaluate(&graph, &arguments).unwrap().remove(0);
        assert_eq!(found.shape().to_vec(), result);
        assert_eq!(found.elements::<i32>().unwrap(), expected, "{shape:?} {of_indices:?} {axis}");
        assert_same_bits(&graph, &arguments, &format!("{shape:?} {of_indices:?} {axis}"));
    }
}

#[test]
fn an_index_out_of_range_is_reported_with_its_own_axis() {
    let b = GraphBuilder::new();
    let t = b.parameter("t", DType::I32, [4, 5, 6]).unwrap();
    let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, [2]).unwrap());
    let graph = b.finish(&[b.gather(&t, &[0, 2], &[i, j], TakeMode::Error).unwrap()]).unwrap();
    let run = |i: i64, j: i64| {
        let pair = |index| Array::new([2], vec![0, index]).unwrap();
        let arguments = [Array::new([4, 5, 6], vec![0; 120]).unwrap(), pair(i), pair(j)];
        let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
        let messages = executors().map(|options| {
            let error = compile(&graph, &options).unwrap().run(&inputs).unwrap_err();
            error.to_string()
        });
        let messages: Vec<String> = messages.collect();
        assert!(messages.windows(2).all(|pair| pair[0] == pair[1]), "{messages:?}");
        (evaluate(&graph, &arguments).unwrap_err().to_string(), messages[0].clone())
    };
    // 6 is a valid position in the flattened axes, but not along axis 2.
    let (reference, message) = run(0, 6);
    for text in ["index 6", "axis 2", "size 6"] {
        assert!(reference.contains(text) && message.contains(text), "{reference}\n{message}");
    }
    assert!(message.contains("`j`"), "{message}");
    let (_, message) = run(-5, 0);
    for text in ["index -5", "axis 0", "size 4", "`i`"] {
        assert!(message.contains(text), "{message}");
    }
}

/// Indices of several axes, one of them with a single element; and indices of an axis of one element.
#[test]
fn an_index_out_of_range_of_one_element_is_reported() {
    let b = GraphBuilder::new();
    let t = b.parameter("t", DType::I32, [1, 3]).unwrap();
    let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, [2]).unwrap());
    let u = b.parameter("u", DType::I64, [2, 3]).unwrap();
    let several = b.gather(&t, &[0, 1], &[i.clone(), j.clone()], TakeMode::Error).unwrap();
    let updates = b.broadcast(b.scalar(1i32), &[2]).unwrap();
    let mode = TakeMode::Error;
    let added = b.scatter_at(ScatterOp::Add, &t, &[0, 1], &[i, j], &updates, mode).unwrap();
    let along = b.take_along_axis(&t, &u, 0, TakeMode::Error).unwrap();
    for (result, along_axis) in [(several, false), (added, false), (along, true)] {
        let graph = b.finish(&[result]).unwrap();
        for index in [0, 1, -1, -2] {
            let pair = |index: i64| Array::new([2], vec![0, index]).unwrap();
            let (i, last) = if along_axis { (0, index) } else { (index, 0) };
            let u = Array::new([2, 3], vec![0, 0, 0, 0, 0, last]).unwrap();
            let t = Array::new([1, 3], vec![5, 6, 7]).unwrap();
            let arguments = [t, pair(i), pair(2), u];
            let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
            let is_in_range = matches!(index, 0 | -1);
            assert_eq!(evaluate(&graph, &arguments).is_ok(), is_in_range, "{index}");
            for options in executors() {
                let found = compile(&graph, &options).unwrap().run(&inputs);
                assert_eq!(found.is_ok(), is_in_range, "{index}, {options:?}");
            }
        }
    }
}

#[test]
fn gathers_are_refused_for_their_reason() {
    let b = GraphBuilder::new();
    let t = b.parameter("t", DType::I32, [4, 0, 6]).unwrap();
    let i = b.parameter("i", DType::I64, [2]).unwrap();
    let f = b.parameter("f", DType::F32, [2]).unwrap();
    let code = |axes: &[i64], indices: &[&Value]| {
        let indices: Vec<Value> = indices.iter().map(|&index| index.clone()).collect();
        b.gather(&t, axes, &indices, TakeMode::Error).unwrap_err().code()
    };
    assert_eq!(code(&[0, 1], &[&i, &i]), "take-from-empty");
    assert_eq!(code(&[0, 2], &[&i]), "wrong-operand-count");
    assert_eq!(code(&[0, 0], &[&i, &i]), "axes-not-unique");
    assert_eq!(code(&[0, 3], &[&i, &i]), "axis-out-of-range");
    assert_eq!(code(&[0, 2], &[&i, &f]), "element-type-not-allowed");
    let none = b.parameter("none", DType::I64, [0]).unwrap();
    let empty = b.gather(&t, &[0, 1], &[none.clone(), none], TakeMode::Error).unwrap();
    assert_eq!(empty.array_type().unwrap().to_string(), "i32[0, 6]");
    assert_eq!(b.take_along_axis(&t, &i, 0, TakeMode::Clip).unwrap_err().code(), "index-rank");
}

/// One function call computes these nests: it reads each row in place. The rows of a reversed table, and of
/// every second column, are not contiguous, so those are gathered.
#[test]
fn one_row_of_each_table_within_work() {
    for (length, step) in [(1, 1), (7, 1), (64, 1), (300, 1), (64, -1), (32, 2)] {
        for mode in [TakeMode::Clip, TakeMode::Wrap] {
            for dtype in [DType::F32, DType::F64, DType::I32] {
                let b = GraphBuilder::new();
                let t = b.parameter("t", dtype, [9, 300]).unwrap();
                let u = b.parameter("u", dtype, [5, 300]).unwrap();
                let x = b.parameter("x", dtype, [length]).unwrap();
                let [i, j] = ["i", "j"].map(|name| b.parameter(name, DType::I64, []).unwrap());
                let start = if step < 0 { 299 } else { 0 };
                let columns = AxisSlice::new(start, length, step);
                let row = |table: &Value, index: &Value, rows| {
                    let part = b.slice(table, &[AxisSlice::whole(rows), columns])?;
                    b.take(part, index, 0, mode)
                };
                let (first, second) = (row(&t, &i, 9).unwrap(), row(&u, &j, 5).unwrap());
                let graph = b.finish(&[&x * &x + &first, &first - &second * &x]).unwrap();
                for [i, j] in [[0i64, 4], [8, 0], [3, 3], [-1, 7], [i64::MIN, i64::MAX]] {
                    let arguments = [
                        table(dtype, &[9, 300]),
                        table(dtype, &[5, 300]),
                        table(dtype, &[length]),
                        Array::from_scalar(i),
                        Array::from_scalar(j),
                    ];
                    let what = format!("{dtype}, {length} columns by {step}, {mode:?}, {i} {j}");
                    assert_same_bits(&graph, &arguments, &what);
                }
            }
        }
    }
}
