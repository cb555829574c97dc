//! Argmax and argmin, compared with a plain search: ties, NaNs and zeros of either sign, rows and columns of
//! every layout, blocks and pieces, every level, several threads.

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{Array, ArrayView, CompileOptions, Executable, Level, compile};
use indim_graph::{AxisSlice, Graph, TakeMode};
use indim_ops::{ArrayType, DType, Element, Op, ReduceOp, bf16, f16};
use indim_shape::RuleSet;

#[path = "executors/mod.rs"]
mod executors;

/// A name for some elements, and the element at each index of memory.
type Pattern = (&'static str, fn(usize) -> f64);

const PATTERNS: [Pattern; 6] = [
    ("ties", |index| (mixed(index) % 7) as f64),
    ("rising", |index| (index % 1_000 / 8) as f64),
    ("falling", |index| -((index % 1_000 / 8) as f64)),
    ("zeros", |index| if mixed(index).is_multiple_of(2) { -0.0 } else { 0.0 }),
    ("one alone", |index| if mixed(index) % 997 == 5 { 9.0 } else { (mixed(index) % 3) as f64 }),
    ("a NaN here and there", |index| match mixed(index) {
        number if number % 1_009 == 5 => f64::NAN,
        number => (number % 100) as f64,
    }),
];

fn mixed(index: usize) -> u64 {
    let number = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

/// An array with any strides.
struct StridedArray<T> {
    elements: Vec<T>,
    shape: Vec<usize>,
    /// Strides, in elements.
    strides: Vec<isize>,
    first: usize,
}

impl<T: Element> StridedArray<T> {
    /// An array whose axes have this order in memory, outermost first; the axes in `reversed` are reversed.
    fn new(
        shape: &[usize],
        order: &[usize],
        reversed: &[usize],
        element: impl Fn(usize) -> T,
    ) -> Self {
        let mut strides = vec![0; shape.len()];
        let (mut count, mut first) = (1, 0);
        for &axis in order.iter().rev() {
            strides[axis] = count as isize;
            if reversed.contains(&axis) {
                first += (shape[axis] - 1) * count;
                strides[axis] = -strides[axis];
            }
            count *= shape[axis];
        }
        StridedArray {
            elements: (0..count).map(element).collect(),
            shape: shape.to_vec(),
            strides,
            first,
        }
    }

    fn get(&self, index: &[usize]) -> T {
        let along = |(&index, &stride): (&usize, &isize)| index as isize * stride;
        let offset: isize = index.iter().zip(&self.strides).map(along).sum();
        self.elements[self.first.wrapping_add_signed(offset)]
    }

    fn array_type(&self) -> ArrayType {
        ArrayType::new(T::DTYPE, &self.shape[..])
    }

    /// The indices of the extremes along `axis`, in row-major order.
    fn places(
        &self,
        axis: usize,
        is_further: impl Fn(f64, f64) -> bool,
        of: impl Fn(T) -> f64,
    ) -> Vec<i64> {
        let kept: Vec<usize> = (0..self.shape.len()).filter(|&other| other != axis).collect();
        let count: usize = kept.iter().map(|&axis| self.shape[axis]).product();
        let place = |mut position: usize| {
            let mut index = vec![0; self.shape.len()];
            for &axis in kept.iter().rev() {
                index[axis] = position % self.shape[axis];
                position /= self.shape[axis];
            }
            let mut best = (0, of(self.get(&index)));
            for step in 1..self.shape[axis] {
                index[axis] = step;
                let x = of(self.get(&index));
                if !best.1.is_nan() && (x.is_nan() || is_further(x, best.1)) {
                    best = (step, x);
                }
            }
            best.0 as i64
        };
        (0..count).map(place).collect()
    }

    /// Runs an executable over the elements.
    fn run(&self, executable: &Executable) -> Vec<Array> {
        let bytes =
            Array::from_data([self.elements.len()], T::into_data(self.elements.clone())).unwrap();
        let bytes = bytes.bytes().to_vec();
        let size = T::DTYPE.size();
        let strides = self.strides.iter().map(|&stride| stride * size as isize).collect();
        let input = ArrayView::from_bytes(self.array_type(), strides, &bytes, self.first * size);
        let lowest = Array::identity(ReduceOp::Max, T::DTYPE).unwrap().bytes().to_vec();
        let rows = ArrayType::new(T::DTYPE, [self.shape[self.shape.len() - 1]]);
        let lowest = ArrayView::from_bytes(rows, vec![0], &lowest, 0);
        let inputs = [input.unwrap(), lowest.unwrap()];
        let results = executable.run(&inputs[..executable.parameters().len()]).unwrap();
        results.to_vec()
    }
}

/// Argmax and argmin of `x` along `axis`.
fn arg_reductions(array_type: ArrayType, axis: usize) -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", array_type.dtype, array_type.shape).unwrap();
    let arg_reduce = |op| b.reduce(op, &x, axis as i64).unwrap();
    b.finish(&[arg_reduce(ReduceOp::ArgMax), arg_reduce(ReduceOp::ArgMin)]).unwrap()
}

/// Argmax and argmin of a computed value with the same elements: the maximum of `x` and of the least element.
fn computed_arg_reductions(array_type: ArrayType, axis: usize) -> Graph {
    let b = GraphBuilder::new();
    let ArrayType { dtype, shape } = array_type;
    let last = shape.rank() - 1;
    let x = b.parameter("x", dtype, shape.clone()).unwrap();
    let lowest = b.parameter("lowest", dtype, [shape[last]]).unwrap();
    let lowest = b.broadcast_in_dim(lowest, &[last as i64], shape).unwrap();
    let y = b.elementwise(Op::Max, &[x, lowest], &RuleSet::Numpy).unwrap();
    let arg_reduce = |op| b.reduce(op, &y, axis as i64).unwrap();
    b.finish(&[arg_reduce(ReduceOp::ArgMax), arg_reduce(ReduceOp::ArgMin)]).unwrap()
}

fn executables(graph: &Graph) -> impl Iterator<Item = Executable> {
    let options = |&level: &Level| CompileOptions::new().level(level);
    Level::available().iter().map(move |level| compile(graph, &options(level)).unwrap())
}

/// Executables of arg-reductions of arrays and of computed values, by kernels and by machine code.
fn all_executables(array_type: ArrayType, axis: usize) -> Vec<Executable> {
    let computed = computed_arg_reductions(array_type.clone(), axis);
    let by = |executor| compile(&computed, &CompileOptions::new().executor(executor)).unwrap();
    executables(&arg_reductions(array_type, axis)).chain(executors::EXECUTORS.map(by)).collect()
}

fn check<T: Element>(stored: &StridedArray<T>, axis: usize, of: impl Fn(T) -> f64, what: &str) {
    check_with(&all_executables(stored.array_type(), axis), stored, axis, of, what);
}

fn check_with<T: Element>(
    executables: &[Executable],
    stored: &StridedArray<T>,
    axis: usize,
    of: impl Fn(T) -> f64,
    what: &str,
) {
    let expected = [
        stored.places(axis, |x, best| x > best, &of),
        stored.places(axis, |x, best| x < best, &of),
    ];
    for executable in executables {
        for (result, expected) in stored.run(executable).iter().zip(&expected) {
            let StridedArray { shape, strides, .. } = stored;
            let found = result.elements::<i64>().unwrap();
            assert!(
                found == expected,
                "{what}: {} {shape:?} by {strides:?} along {axis}: {executable:?}",
                T::DTYPE
            );
        }
    }
}

/// Every pattern in every order of axes, forwards and reversed, along the longer axis.
fn check_layouts<T: Element>(shape: [usize; 2], from: fn(f64) -> T, of: fn(T) -> f64) {
    check_layouts_along(shape, usize::from(shape[1] >= shape[0]), from, of);
}

/// Like [`check_layouts`], along this axis.
fn check_layouts_along<T: Element>(
    shape: [usize; 2],
    axis: usize,
    from: fn(f64) -> T,
    of: fn(T) -> f64,
) {
    let executables = all_executables(ArrayType::new(T::DTYPE, shape), axis);
    for (what, pattern) in PATTERNS {
        for (order, reversed) in [([0, 1], &[][..]), ([1, 0], &[]), ([0, 1], &[0]), ([0, 1], &[1])]
        {
            let stored = StridedArray::new(&shape, &order, reversed, |index| from(pattern(index)));
            check_with(&executables, &stored, axis, of, what);
        }
    }
}

#[test]
fn rows_and_columns_in_blocks() {
    for length in [63, 64, 65, 511, 512, 513, 1024, 1025, 2100] {
        for others in [1, 2, 3, 31, 33, 62] {
            check_layouts([length, others], |x| x as f32, f64::from);
            check_layouts([others, length], |x| x as f32, f64::from);
        }
    }
}

#[test]
fn short_rows_are_transposed() {
    for length in [1, 2, 3, 4, 5, 8, 9, 16, 31, 33, 63] {
        for others in [1, 5, 31, 32, 33, 300, 1100] {
            check_layouts_along([length, others], 0, |x| x as f32, f64::from);
            check_layouts_along([others, length], 1, |x| x as f32, f64::from);
        }
        check_layouts_along([70, length], 1, |x| x, |x| x);
        check_layouts_along([70, length], 1, |x| x > 4.0, f64::from);
        check_layouts_along([length, 70], 0, |x| x as u8, f64::from);
        check_layouts_along([70, length], 1, |x| x as i16, f64::from);
        check_layouts_along([70, length], 1, |x| x as i64, |x| x as f64);
        check_layouts_along([70, length], 1, f16::from_f64, |x| f64::from(x.to_f32()));
        check_layouts_along([length, 70], 0, bf16::from_f64, |x| f64::from(x.to_f32()));
    }
}

#[test]
fn short_axes_between_others() {
    for shape in [[40, 10, 3], [3, 10, 90], [7, 33, 40], [300, 3, 2]] {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0]] {
            for (what, pattern) in [PATTERNS[0], PATTERNS[3], PATTERNS[5]] {
                let stored = StridedArray::new(&shape, &order, &[2], |index| pattern(index) as f32);
                check(&stored, 1, f64::from, what);
            }
        }
    }
}

/// The first NaN along a short axis, of either sign. Infinities are not NaNs.
#[test]
fn nothing_replaces_a_nan_of_16_bits() {
    let elements = [0x7c00u16, 0xfc00, 0xfe01, 0x7e00, 0x0000, 0x8000, 0x3c00, 0xbc00];
    for first in 0..elements.len() {
        let stored = StridedArray::new(&[40, 8], &[0, 1], &[], |index| {
            f16::from_bits(elements[(first + index + index / 8 * 3) % elements.len()])
        });
        check(&stored, 1, |x| f64::from(x.to_f32()), "NaNs");
        check(&stored, 0, |x| f64::from(x.to_f32()), "NaNs");
    }
}

/// The index of an extreme, as an output and as an operand of other nodes.
#[test]
fn indices_are_outputs_and_operands() {
    for length in [1, 2, 3, 10, 63, 64, 100] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [50, length]).unwrap();
        let found = b.reduce(ReduceOp::ArgMax, &x, 1).unwrap();
        let sum = b.reduce(ReduceOp::Add, &found, 0).unwrap();
        let floats = b.convert(&found, DType::F64).unwrap();
        let graph = b.finish(&[found.clone(), sum, floats, &found * 2i64, found]).unwrap();
        let elements: Vec<f64> = (0..50 * length).map(PATTERNS[5].1).collect();
        let x = Array::new([50, length], elements).unwrap();
        let expected = indim_graph::evaluate(&graph, std::slice::from_ref(&x)).unwrap();
        for executable in executables(&graph) {
            let results = executable.run(&[ArrayView::from(&x)]).unwrap();
            for (result, expected) in results.iter().zip(&expected) {
                assert!(result == expected, "{graph}");
            }
        }
    }
}

#[test]
fn more_columns_than_a_unit() {
    for (rows, columns) in [(64, 600), (100, 513), (130, 1025)] {
        for (what, pattern) in PATTERNS {
            let stored = |reversed: &[usize]| {
                StridedArray::new(&[rows, columns], &[0, 1], reversed, |index| {
                    pattern(index) as f32
                })
            };
            check(&stored(&[]), 0, f64::from, what);
            check(&stored(&[0, 1]), 0, f64::from, what);
        }
    }
}

#[test]
fn every_element_type() {
    for shape in [[3, 1100], [40, 70], [1100, 3]] {
        check_layouts(shape, |x| x > 4.0, f64::from);
        check_layouts(shape, |x| x as i8, f64::from);
        check_layouts(shape, |x| x as i16, f64::from);
        check_layouts(shape, |x| x as i32, f64::from);
        check_layouts(shape, |x| x as i64, |x| x as f64);
        check_layouts(shape, |x| x as u8, f64::from);
        check_layouts(shape, |x| x as u16, f64::from);
        check_layouts(shape, |x| x as u32, f64::from);
        check_layouts(shape, |x| x as u64, |x| x as f64);
        check_layouts(shape, f16::from_f64, |x| f64::from(x.to_f32()));
        check_layouts(shape, bf16::from_f64, |x| f64::from(x.to_f32()));
        check_layouts(shape, |x| x, |x| x);
    }
}

#[test]
fn middle_axes_in_every_order_of_memory() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for shape in [[3, 700, 5], [4, 100, 300], [2, 1030, 33]] {
        for order in orders {
            for (what, pattern) in [PATTERNS[0], PATTERNS[5]] {
                let stored = StridedArray::new(&shape, &order, &[2], |index| pattern(index) as f32);
                check(&stored, 1, f64::from, what);
            }
        }
    }
}

/// Compares the results of 1, 2 and 7 threads.
fn check_threads(shape: [usize; 2], axis: usize) {
    let executables = all_executables(ArrayType::new(DType::F32, shape), axis);
    for (what, pattern) in PATTERNS {
        let stored = StridedArray::new(&shape, &[0, 1], &[], |index| pattern(index) as f32);
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let what = format!("{what}, {threads} threads");
            pool.install(|| check_with(&executables, &stored, axis, f64::from, &what));
        }
    }
}

#[test]
fn long_axes_are_cut_into_pieces() {
    for length in [8_191, 16_385, 66_000, 2_500_001] {
        check_threads([1, length], 1);
    }
    for (shape, axis) in
        [([800_001, 3], 0), ([60_000, 40], 0), ([1_537, 1_513], 0), ([5, 400_001], 1)]
    {
        check_threads(shape, axis);
    }
}

#[test]
fn an_extreme_is_found_in_every_block_and_piece() {
    const LENGTH: usize = 40_000;
    let executables = all_executables(ArrayType::new(DType::F32, [LENGTH]), 0);
    for place in (0..LENGTH).step_by(499).chain([LENGTH - 1]) {
        for (element, other) in [(1.0, 0.0), (f32::NAN, 0.0), (f32::INFINITY, f32::NEG_INFINITY)] {
            let stored = StridedArray::new(&[LENGTH], &[0], &[], |index| {
                if index == place { element } else { other }
            });
            for executable in &executables {
                let found = stored.run(executable)[0].elements::<i64>().unwrap()[0];
                assert_eq!(found, place as i64, "{element} among {other}");
            }
        }
    }
}

/// The indices from the executor and from the reference evaluator, in `function` of an array.
fn check_view(shape: &[usize], function: impl Fn(&GraphBuilder, Value) -> Value) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, shape).unwrap();
    let y = function(&b, x);
    let arg_reduce = |op| b.reduce(op, &y, 0).unwrap();
    let largest = b.reduce(ReduceOp::Max, &y, 0).unwrap();
    let outputs = [arg_reduce(ReduceOp::ArgMax), arg_reduce(ReduceOp::ArgMin), largest];
    let graph = b.finish(&outputs).unwrap();
    let count = shape.iter().product();
    let x = Array::new(shape, (0..count).map(PATTERNS[4].1).collect::<Vec<f64>>()).unwrap();
    let expected = indim_graph::evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    for executable in executables(&graph) {
        let results = executable.run(&[ArrayView::from(&x)]).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            assert!(result == expected, "{graph}");
        }
    }
}

#[test]
fn arg_reductions_read_views_and_computed_values() {
    check_view(&[700, 90], |_, x| x);
    check_view(&[90, 700], |b, x| b.transpose(x, &[1, 0]).unwrap());
    check_view(&[700, 90], |b, x| b.reshape(x, [63_000]).unwrap());
    check_view(&[90], |b, x| b.broadcast_in_dim(x, &[1], [200, 90]).unwrap());
    check_view(&[700], |b, x| b.broadcast_in_dim(x, &[0], [700, 40]).unwrap());
    check_view(&[700, 90], |b, x| b.concatenate(&[x.clone(), x], 0).unwrap());
    check_view(&[700, 90], |b, x| b.reduce(ReduceOp::Min, x, 1).unwrap());
    check_view(&[700, 90], |b, x| b.reverse(x, &[0, 1]).unwrap());
    check_view(&[700, 90], |b, x| {
        let every = |step, size| AxisSlice::python(Some(1), None, Some(step), size).unwrap();
        b.slice(x, &[every(3, 700), every(2, 90)]).unwrap()
    });
    check_view(&[700, 90], |_, x| x.exp() - 2.0);
    check_view(&[90, 700], |b, x| b.transpose(x * 2.0, &[1, 0]).unwrap());
    check_view(&[700, 90], |b, x| {
        let sums = b.reduce(ReduceOp::Add, &x, 1).unwrap();
        x - b.broadcast_in_dim(sums, &[0], [700, 90]).unwrap()
    });
    check_view(&[700, 90], |b, x| {
        let indices =
            b.constant(Array::new([100], (0..100).map(|i| i * 7 % 64i64).collect()).unwrap());
        b.take(x, indices, 0, TakeMode::Clip).unwrap()
    });
}

/// The argmax of a value, the value, its sum, and the argmax of another value and of `x`.
#[test]
fn operands_of_arg_reductions_have_other_readers() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [300, 40]).unwrap();
    let values = [x.exp() - 3.0, &x * &x, x];
    let mut outputs = vec![values[0].clone()];
    for (axis, value) in [0, 0, 0, 1, 1, 1].into_iter().zip(values.iter().cycle()) {
        for op in [ReduceOp::ArgMax, ReduceOp::ArgMin, ReduceOp::Add] {
            outputs.push(b.reduce(op, value, axis).unwrap());
        }
    }
    let graph = b.finish(&outputs).unwrap();
    let x = Array::new([300, 40], (0..12_000).map(PATTERNS[5].1).collect::<Vec<f64>>()).unwrap();
    let expected = indim_graph::evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    for executable in executables(&graph) {
        let results = executable.run(&[ArrayView::from(&x)]).unwrap();
        for (result, expected) in results.iter().zip(&expected) {
            assert!(result == expected, "{graph}");
        }
    }
}

#[test]
fn pieces_are_held_and_counted() {
    for graph_of in [arg_reductions, computed_arg_reductions] {
        let graph = graph_of(ArrayType::new(DType::F64, [1 << 20]), 0);
        let executable = compile(&graph, &CompileOptions::default()).unwrap();
        let bytes = executable.forecast().temporary_bytes;
        assert!((2 * 64 * 16..2 * 64 * 512).contains(&bytes), "{bytes} bytes");
    }
}
