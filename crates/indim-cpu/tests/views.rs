//! Slices, concatenations and gathers, against index arithmetic by hand.

use indim_builder::{GraphBuilder, Index, PadMode, Value};
use indim_cpu::{ArrayView, ArrayViewMut, CompileOptions, Executable, RunError, compile};
use indim_graph::{AxisSlice, AxisWindow, TakeMode};
use indim_ops::{DType, ReduceOp};

fn executable(b: &GraphBuilder, outputs: &[Value], optimize: bool) -> Executable {
    let options = CompileOptions::new().optimize(optimize);
    compile(&b.finish(outputs).unwrap(), &options).unwrap()
}

/// The outputs for one parameter of i32, optimised and not.
fn results(
    shape: &[usize],
    x: &[i32],
    make: impl Fn(&GraphBuilder, &Value) -> Vec<Value>,
) -> Vec<Vec<i32>> {
    let run = |optimize| {
        let b = GraphBuilder::new();
        let parameter = b.parameter("x", DType::I32, shape).unwrap();
        let outputs = make(&b, &parameter);
        let input = ArrayView::from_slice(shape, x).unwrap();
        let results = executable(&b, &outputs, optimize).run(&[input]).unwrap();
        results.iter().map(|result| result.elements::<i32>().unwrap().to_vec()).collect()
    };
    let results: Vec<Vec<i32>> = run(true);
    assert_eq!(results, run(false));
    results
}

/// All slices of an axis of this size, with steps up to 3 either way.
fn slices(size: usize) -> Vec<AxisSlice> {
    let mut all = Vec::new();
    for (start, stop) in
        (0..=size as i64).flat_map(|start| (0..=size as i64).map(move |stop| (start, stop)))
    {
        for step in [-3, -2, -1, 1, 2, 3] {
            let slice = AxisSlice::python(Some(start), Some(stop), Some(step), size).unwrap();
            if !all.contains(&slice) {
                all.push(slice);
            }
        }
    }
    // Python writes no number for the end in front of the first element.
    all.extend((1..=3).map(|step| AxisSlice::python(None, None, Some(-step), size).unwrap()));
    all
}

#[test]
fn slices_of_slices_show_what_index_arithmetic_says() {
    for size in 1..=5usize {
        let x: Vec<i32> = (10..10 + size as i32).collect();
        for first in slices(size) {
            let later = slices(first.count());
            let found = results(&[size], &x, |b, x| {
                let shown = b.slice(x, &[first]).unwrap();
                let computed = b.slice(x + 1, &[first]).unwrap() * 2;
                let of = |value: &Value| {
                    later
                        .iter()
                        .map(|&slice| b.slice(value, &[slice]).unwrap())
                        .collect::<Vec<Value>>()
                };
                [of(&shown), of(&computed)].concat()
            });
            for (position, slice) in later.iter().enumerate() {
                let shown = (0..slice.count()).map(|k| x[first.index(slice.index(k))]);
                let shown: Vec<i32> = shown.collect();
                assert_eq!(found[position], shown, "{first} then {slice} of {size}");
                let computed: Vec<i32> = shown.iter().map(|x| (x + 1) * 2).collect();
                assert_eq!(
                    found[later.len() + position],
                    computed,
                    "{first} then {slice} of {size}"
                );
            }
        }
    }
}

#[test]
fn slices_of_two_axes_show_what_index_arithmetic_says() {
    for (rows, columns) in [(1, 3), (2, 3), (3, 2), (3, 3)] {
        let x: Vec<i32> = (0..(rows * columns) as i32).collect();
        for first in slices(rows) {
            let seconds = slices(columns);
            let found = results(&[rows, columns], &x, |b, x| {
                let seen = |&second: &AxisSlice| {
                    let shown = b.slice(x, &[first, second]).unwrap();
                    // An operand of an addition, and transposed.
                    let transposed = b.transpose(&shown, &[1, 0]).unwrap();
                    [
                        &shown + b.iota(DType::I32, [first.count(), second.count()], 1).unwrap(),
                        transposed,
                    ]
                };
                seconds.iter().flat_map(seen).collect()
            });
            for (position, second) in seconds.iter().enumerate() {
                let (n, m) = (first.count(), second.count());
                let at = |i: usize, j: usize| x[first.index(i) * columns + second.index(j)];
                let points = (0..n).flat_map(|i| (0..m).map(move |j| (i, j)));
                let counted: Vec<i32> = points.map(|(i, j)| at(i, j) + j as i32).collect();
                assert_eq!(found[2 * position], counted, "[{first}, {second}]");
                let points = (0..m).flat_map(|j| (0..n).map(move |i| (i, j)));
                let transposed: Vec<i32> = points.map(|(i, j)| at(i, j)).collect();
                assert_eq!(found[2 * position + 1], transposed, "[{first}, {second}]");
            }
        }
    }
}

#[test]
fn a_slice_costs_no_memory_and_no_loop() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1000]).unwrap();
    let at = |start| b.slice(&x, &[AxisSlice::new(start, 999, 1)]).unwrap();
    let executable = executable(&b, &[at(1) - at(0)], true);
    assert_eq!(executable.nests().len(), 1);
    assert_eq!(executable.forecast().temporary_bytes, 0);
    let listing = executable.nests()[0].to_string();
    assert!(listing.contains("[i0+1]") && listing.contains("[i0]"), "{listing}");
}

#[test]
fn operands_of_a_concatenation_are_written_in_place() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [4, 3]).unwrap();
    let y = b.parameter("y", DType::F32, [4, 2]).unwrap();
    let joined = b.concatenate(&[x.exp(), -y, x.sqrt()], 1).unwrap();
    let executable = executable(&b, &[joined], true);
    assert_eq!(executable.forecast().temporary_bytes, 0);
    // Operands of one shape share a nest.
    assert_eq!(executable.nests().len(), 2);
}

/// `make` of an array, written over a part of its memory.
fn over(memory: &mut [f64], from: usize, to: usize, size: usize, make: impl Fn(&Value) -> Value) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [size]).unwrap();
    let output = make(&x);
    let count = output.array_type().unwrap().shape[0];
    let executable = executable(&b, &[output], true);
    let bytes = memory.as_mut_ptr();
    // SAFETY: both lie in `memory`, which nobody else uses meanwhile.
    let (input, mut result) = unsafe {
        (
            ArrayView::from_raw(
                indim_ops::ArrayType::new(DType::F64, [size]),
                vec![8],
                core::ptr::NonNull::new(bytes.add(from).cast()).unwrap(),
            ),
            ArrayViewMut::from_raw(
                indim_ops::ArrayType::new(DType::F64, [count]),
                vec![8],
                core::ptr::NonNull::new(bytes.add(to).cast()).unwrap(),
            ),
        )
    };
    executable.run_into(&[input], core::slice::from_mut(&mut result)).unwrap();
}

#[test]
fn outputs_over_an_input_are_as_if_it_had_been_copied() {
    let size = 3000;
    let before: Vec<f64> = (0..size + 1).map(|i| f64::from((i * 7919 % 1009) as u16)).collect();
    let part = |x: &Value, slice| x.builder().slice(x, &[slice]).unwrap();
    let differences = |x: &Value| {
        part(x, AxisSlice::new(1, size - 1, 1)) - part(x, AxisSlice::new(0, size - 1, 1))
    };
    for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2)] {
        let mut memory = before.clone();
        over(&mut memory, from, to, size, differences);
        for i in 0..size - 1 {
            assert_eq!(memory[to + i], before[from + i + 1] - before[from + i], "{from} {to} {i}");
        }
    }
    for (from, to) in [(0, 0), (0, 1), (1, 0)] {
        let mut memory = before.clone();
        over(&mut memory, from, to, size, |x| x.builder().reverse(x, &[0]).unwrap() + 1);
        assert!((0..size).all(|i| memory[to + i] == before[from + size - 1 - i] + 1.0));
        let mut memory = before.clone();
        over(&mut memory, from, to, size, |x| x.builder().roll(x, 1, 0).unwrap());
        assert!((0..size).all(|i| memory[to + i] == before[from + (i + size - 1) % size]));
        let mut memory = before.clone();
        over(&mut memory, from, to, size, |x| {
            let windows = x.builder().window(x, 0, AxisWindow::sliding(3)).unwrap();
            x.builder().reduce(ReduceOp::Add, windows, 1).unwrap()
        });
        let sum = |i: usize| before[from + i..from + i + 3].iter().sum::<f64>();
        assert!((0..size - 2).all(|i| memory[to + i] == sum(i)));
        let mut memory = before.clone();
        over(&mut memory, from, to, size, |x| {
            let windows = x.builder().window(x, 0, AxisWindow::sliding(2)).unwrap();
            let part = |at| x.builder().index(&windows, &[Index::ALL, Index::At(at)]).unwrap();
            part(0) * 3 - part(1)
        });
        let difference = |i: usize| 3.0 * before[from + i] - before[from + i + 1];
        assert!((0..size - 1).all(|i| memory[to + i] == difference(i)));
        let mut memory = before.clone();
        over(&mut memory, from, to, size, |x| {
            let places = x.builder().iota(DType::I64, [size], 0).unwrap();
            let last = x.builder().reverse(&places, &[0]).unwrap();
            x.builder().take(x, last, 0, TakeMode::Error).unwrap()
        });
        assert!((0..size).all(|i| memory[to + i] == before[from + size - 1 - i]));
    }
}

#[test]
fn an_array_is_extended_as_index_arithmetic_says() {
    let source = |mode: PadMode, index: i64, n: i64| match mode {
        PadMode::Edge => index.clamp(0, n - 1),
        PadMode::Wrap => index.rem_euclid(n),
        PadMode::Symmetric => {
            let place = index.rem_euclid(2 * n);
            place.min(2 * n - 1 - place)
        }
        PadMode::Reflect => {
            let place = index.rem_euclid((2 * n - 2).max(1));
            place.min((2 * n - 2 - place).max(0))
        }
    };
    for n in 1..=4i64 {
        let x: Vec<i32> = (1..=n as i32).collect();
        for mode in PadMode::ALL {
            let max_padding = match mode {
                PadMode::Edge | PadMode::Wrap => 9,
                PadMode::Symmetric => n,
                PadMode::Reflect => n - 1,
            };
            let widths: Vec<(i64, i64)> = (0..=max_padding)
                .flat_map(|low| (0..=max_padding).map(move |high| (low, high)))
                .collect();
            let found = results(&[n as usize], &x, |b, x| {
                let extend = |&(low, high): &(i64, i64)| {
                    b.extend(x, &[(low as usize, high as usize)], mode).unwrap()
                };
                widths.iter().map(extend).collect()
            });
            for (&(low, high), found) in widths.iter().zip(&found) {
                let expected: Vec<i32> =
                    (-low..n + high).map(|index| x[source(mode, index, n) as usize]).collect();
                assert_eq!(*found, expected, "{mode:?} of {n} by ({low}, {high})");
            }
        }
    }
}

#[test]
fn xla_pads_as_index_arithmetic_says() {
    for n in 0..=3i64 {
        let x: Vec<i32> = (1..=n as i32).collect();
        for (low, high, interior) in (-2..=2)
            .flat_map(|low| (-2..=2).flat_map(move |high| (0..=2).map(move |k| (low, high, k))))
        {
            let spaced = if n == 0 { 0 } else { n + (n - 1) * interior };
            let is_refused = (-low).max(0) + (-high).max(0) > spaced;
            let b = GraphBuilder::new();
            let p = b.parameter("x", DType::I32, [n as usize]).unwrap();
            let padded = b.pad(&p, 9, &[(low, high, interior as usize)]);
            assert_eq!(padded.is_err(), is_refused, "{n} ({low}, {high}, {interior})");
            if is_refused {
                continue;
            }
            let at = |index: i64| match (0..spaced).contains(&index) && index % (interior + 1) == 0
            {
                true => x[(index / (interior + 1)) as usize],
                false => 9,
            };
            let expected: Vec<i32> = (-low..spaced + high).map(at).collect();
            let found = results(&[n as usize], &x, |b, x| {
                vec![b.pad(x, 9, &[(low, high, interior as usize)]).unwrap()]
            });
            assert_eq!(found[0], expected, "{n} ({low}, {high}, {interior})");
        }
    }
}

/// Every element type of indices, every mode, every axis of tables.
#[test]
fn gathers_follow_index_arithmetic() {
    let shape = [3, 5, 4];
    let x: Vec<i32> = (0..60).collect();
    for index in [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
    ] {
        for (axis, mode) in (0..3).flat_map(|axis| TakeMode::ALL.map(|mode| (axis, mode))) {
            let numbers: [i32; 6] = match (mode, index.name().starts_with('u')) {
                (TakeMode::Error, true) => [2, 0, 1, 1, 2, 0],
                (TakeMode::Error, false) => [-1, 0, -3, 1, 2, -2],
                (_, true) => [7, 0, 100, 3, 2, 5],
                (_, false) => [-7, 0, 100, -1, 2, 5],
            };
            let found = results(&shape, &x, |b, x| {
                let numbers =
                    b.constant(indim_graph::Array::new([2, 3], numbers.to_vec()).unwrap());
                let indices = b.convert(numbers, index).unwrap();
                // Gathered from an array, from a computed value, and from a view.
                let reversed = b.reverse(x, &[0, 1, 2]).unwrap();
                [x.clone(), x + 1, reversed]
                    .map(|x| b.take(x, &indices, axis as i64, mode).unwrap())
                    .to_vec()
            });
            let mut expected = [Vec::new(), Vec::new(), Vec::new()];
            let [before, size, after] = [
                shape[..axis].iter().product::<usize>(),
                shape[axis],
                shape[axis + 1..].iter().product(),
            ];
            for outer in 0..before {
                for number in numbers {
                    let place = mode.resolve(i128::from(number), size).unwrap();
                    for inner in 0..after {
                        let at = (outer * size + place) * after + inner;
                        let [found, computed, seen] = [x[at], x[at] + 1, 59 - x[at]];
                        expected
                            .iter_mut()
                            .zip([found, computed, seen])
                            .for_each(|(all, x)| all.push(x));
                    }
                }
            }
            assert_eq!(found, expected, "{index} axis {axis} {mode}");
        }
    }
}

#[test]
fn an_index_out_of_range_is_found_before_any_write() {
    for is_computed in [false, true] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [4]).unwrap();
        let given = b.parameter("i", DType::I64, [2, 3]).unwrap();
        let indices = if is_computed { &given * 2 } else { given };
        let taken = b.take(&x, indices, 0, TakeMode::Error).unwrap();
        // The first output has its own nest, which could run before.
        let executable = executable(&b, &[x.exp(), taken], true);
        let x = [1.0f32, 2.0, 3.0, 4.0];
        let (mut exponentials, mut taken) = ([-9.0f32; 4], [-9.0f32; 6]);
        for (indices, is_refused) in [([0i64, 1, -2, -1, 1, 0], false), ([0, 1, 1, 0, -6, 5], true)]
        {
            let inputs = [
                ArrayView::from_slice([4], &x).unwrap(),
                ArrayView::from_slice([2, 3], &indices).unwrap(),
            ];
            let mut outputs = [
                ArrayViewMut::from_slice([4], &mut exponentials).unwrap(),
                ArrayViewMut::from_slice([2, 3], &mut taken).unwrap(),
            ];
            let run = executable.run_into(&inputs, &mut outputs);
            if is_refused {
                let error = run.unwrap_err();
                assert_eq!(error.code(), "index-out-of-range");
                let RunError::IndexOutOfRange { index, position, axis, size, .. } = &error else {
                    panic!("{error}")
                };
                let index_found = if is_computed { -12 } else { -6 };
                assert_eq!((*index, &position[..], *axis, *size), (index_found, &[1, 1][..], 0, 4));
                assert!(executable.run(&inputs).is_err());
                assert!(exponentials.iter().chain(&taken).all(|&x| x == -9.0), "{is_computed}");
            } else {
                run.unwrap();
                (exponentials, taken) = ([-9.0; 4], [-9.0; 6]);
            }
        }
    }
}

#[test]
fn indices_that_cannot_be_out_of_range_are_not_checked() {
    let check_count = |index: DType, size: usize| {
        let b = GraphBuilder::new();
        let table = b.parameter("table", DType::F32, [size]).unwrap();
        let indices = b.parameter("indices", index, [100]).unwrap();
        let taken = b.take(table, indices, 0, TakeMode::Error).unwrap();
        executable(&b, &[taken], true).loops().checks.len()
    };
    assert_eq!(check_count(DType::U8, 256), 0);
    assert_eq!(check_count(DType::U8, 255), 1);
    assert_eq!(check_count(DType::I8, 128), 0);
    assert_eq!(check_count(DType::I64, 1 << 20), 1);
}

#[test]
fn pythons_indices_show_what_numpy_shows() {
    let all = Index::ALL;
    let slice = |start, stop, step| Index::Slice { start, stop, step };
    let x: Vec<i32> = (0..24).collect();
    let shown = |indices: &[Index]| {
        results(&[2, 3, 4], &x, |b, x| vec![b.index(x, indices).unwrap()]).remove(0)
    };
    assert_eq!(shown(&[Index::Ellipsis, Index::At(-1)]), [3, 7, 11, 15, 19, 23]);
    assert_eq!(
        shown(&[Index::At(1), Index::NewAxis, slice(None, None, Some(-2))]),
        [20, 21, 22, 23, 12, 13, 14, 15]
    );
    assert_eq!(
        shown(&[all.clone(), Index::At(0), slice(Some(-100), Some(2), None)]),
        [0, 1, 12, 13]
    );
    assert_eq!(shown(&[Index::At(0), Index::At(1), Index::At(2)]), [6]);
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2, 3, 4]).unwrap();
    let v = b.parameter("v", DType::I64, [7]).unwrap();
    let shape = |indices: &[Index]| {
        Ok(b.index(&x, indices).map_err(|e| e.code().to_owned())?.array_type().unwrap().to_string())
    };
    let elements = || Index::Elements(v.clone());
    assert_eq!(shape(&[Index::NewAxis, all.clone(), elements()]), Ok("f32[1, 2, 7, 4]".to_owned()));
    assert_eq!(shape(&[Index::At(0), elements()]), Ok("f32[7, 4]".to_owned()));
    let refused = |indices: &[Index], code: &str| {
        let found: Result<String, String> = shape(indices);
        assert_eq!(found, Err(code.to_owned()));
    };
    // A slice between an integer and an array puts the axes of the array first.
    assert_eq!(shape(&[Index::At(0), all, elements()]), Ok("f32[7, 3]".to_owned()));
    refused(&[Index::Ellipsis, Index::Ellipsis], "several-ellipses");
    refused(&[Index::At(0), Index::At(0), Index::At(0), Index::At(0)], "too-many-indices");
    refused(&[Index::At(2)], "index-out-of-range");
    refused(&[slice(None, None, Some(0))], "zero-step");
}
