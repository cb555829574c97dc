//! Dynamic slices: random shapes, sizes and starts of every type against their definition, and refusals.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, evaluate};
use indim_ops::DType;

/// A sequence of pseudo-random numbers.
struct Random(u64);

impl Random {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
}

/// The element type of starts, and an array of one start.
fn scalar(dtype: DType, start: i64) -> (Array, i128) {
    let array = match dtype {
        DType::I8 => Array::new([], vec![start as i8]),
        DType::U8 => Array::new([], vec![start as u8]),
        DType::I32 => Array::new([], vec![start as i32]),
        DType::U64 => Array::new([], vec![start as u64]),
        _ => Array::new([], vec![start]),
    };
    let value = match dtype {
        DType::I8 => i128::from(start as i8),
        DType::U8 => i128::from(start as u8),
        DType::I32 => i128::from(start as i32),
        DType::U64 => i128::from(start as u64),
        _ => i128::from(start),
    };
    (array.unwrap(), value)
}

/// Row-major positions of the slice in its array, and the indices that were clamped to.
fn positions(shape: &[usize], sizes: &[usize], starts: &[i128]) -> Vec<usize> {
    let count: usize = sizes.iter().product();
    let mut found = Vec::with_capacity(count);
    for number in 0..count {
        let (mut rest, mut position, mut stride) = (number, 0, 1);
        for axis in (0..shape.len()).rev() {
            let last = (shape[axis] - sizes[axis]) as i128;
            let start = starts[axis].max(0).min(last) as usize;
            position += (start + rest % sizes[axis]) * stride;
            rest /= sizes[axis];
            stride *= shape[axis];
        }
        found.push(position);
    }
    found
}

#[test]
fn slices_are_those_of_the_definition() {
    let mut random = Random(1);
    let types = [DType::I8, DType::U8, DType::I32, DType::I64, DType::U64];
    for round in 0..200 {
        let rank = random.below(4);
        let shape: Vec<usize> =
            (0..rank).map(|_| random.below(if round < 20 { 300 } else { 6 })).collect();
        let shape = if rank > 2 { shape.iter().map(|size| size % 7).collect() } else { shape };
        let sizes: Vec<usize> = shape.iter().map(|&size| random.below(size + 1)).collect();
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::I32, shape.clone()).unwrap();
        let update = b.parameter("update", DType::I32, sizes.clone()).unwrap();
        let (mut starts, mut given, mut numbers) = (Vec::<Value>::new(), Vec::new(), Vec::new());
        for axis in 0..rank {
            let dtype = types[random.below(types.len())];
            starts.push(b.parameter(&format!("s{axis}"), dtype, []).unwrap());
            let start = match random.below(8) {
                0 => i64::MIN,
                1 => i64::MAX,
                _ => random.below(16) as i64 - 6,
            };
            let (array, number) = scalar(dtype, start);
            given.push(array);
            numbers.push(number);
        }
        let slice = b.dynamic_slice(&x, &starts, &sizes).unwrap();
        let updated = b.dynamic_update_slice(&x, &update, &starts).unwrap();
        let graph = b.finish(&[slice, updated]).unwrap();
        let count: usize = shape.iter().product();
        let elements: Vec<i32> = (0..count as i32).collect();
        let positions = positions(&shape, &sizes, &numbers);
        let new: Vec<i32> = (0..positions.len() as i32).map(|number| -1 - number).collect();
        let mut arguments = vec![
            Array::new(shape.clone(), elements.clone()).unwrap(),
            Array::new(sizes.clone(), new.clone()).unwrap(),
        ];
        arguments.extend(given);
        let found = evaluate(&graph, &arguments).unwrap();
        let expected: Vec<i32> = positions.iter().map(|&at| at as i32).collect();
        let case = format!("{shape:?} {sizes:?} {numbers:?}");
        assert_eq!(found[0].elements::<i32>(), Ok(&expected[..]), "{case}");
        let mut expected = elements;
        for (&at, &element) in positions.iter().zip(&new) {
            expected[at] = element;
        }
        assert_eq!(found[1].elements::<i32>(), Ok(&expected[..]), "{case}");
    }
}

#[test]
fn wrong_slices_are_refused() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 4]).unwrap();
    let start = b.parameter("start", DType::I32, []).unwrap();
    let float = b.parameter("float", DType::F32, []).unwrap();
    let list = b.parameter("list", DType::I32, [2]).unwrap();
    let starts = [&start, &start];
    let code =
        |starts: &[&Value], sizes: &[usize]| b.dynamic_slice(&x, starts, sizes).unwrap_err().code();
    assert_eq!(code(&starts, &[3]), "slice-rank");
    assert_eq!(code(&starts[1..], &[3, 4]), "wrong-operand-count");
    assert_eq!(code(&starts, &[3, 5]), "slice-out-of-range");
    assert_eq!(code(&[&start, &float], &[3, 4]), "element-type-not-allowed");
    assert!(b.dynamic_slice(&x, &[&start, &list], &[3, 3]).is_err());
    let update = b.parameter("update", DType::F64, [1, 1]).unwrap();
    let error = b.dynamic_update_slice(&x, &update, &starts).unwrap_err();
    assert_eq!(error.code(), "element-type-mismatch");
    let update = b.parameter("large", DType::F32, [4, 1]).unwrap();
    let error = b.dynamic_update_slice(&x, &update, &starts).unwrap_err();
    assert_eq!(error.code(), "slice-out-of-range");
    assert_eq!(b.starts_from_end(&float, 3).unwrap_err().code(), "element-type-not-allowed");
}

#[test]
fn starts_may_count_from_the_end() {
    let b = GraphBuilder::new();
    let start = b.parameter("start", DType::I8, [4]).unwrap();
    let wide = b.parameter("wide", DType::U64, [1]).unwrap();
    let results = [b.starts_from_end(&start, 300).unwrap(), b.starts_from_end(&wide, 3).unwrap()];
    let graph = b.finish(&results).unwrap();
    let start = Array::new([4], vec![-1i8, 0, 127, -128]).unwrap();
    let wide = Array::new([1], vec![u64::MAX]).unwrap();
    let found = evaluate(&graph, &[start, wide]).unwrap();
    assert_eq!(found[0].elements::<i64>(), Ok(&[299, 0, 127, 172][..]));
    assert_eq!(found[1].elements::<u64>(), Ok(&[u64::MAX][..]));
}
