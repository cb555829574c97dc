//! The block executor against the reference evaluator, bit for bit, on random graphs: every level,
//! several thread counts, inputs and outputs of any strides, and outputs written over inputs.

use std::ptr::NonNull;

use indim_cpu::{ArrayView, ArrayViewMut, CompileOptions, Level, compile};
use indim_graph::{
    Array, ArrayData, ArrayType, Complex, DType, Graph, GraphBuilder, Op, Value, bf16, evaluate,
    f16,
};
use indim_shape::{RuleSet, Shape};
use proptest::prelude::*;
use proptest::test_runner::TestRng;

/// A source of choices for building a random graph.
struct Choices(TestRng);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Operations that run in chains.
const CHEAP: [Op; 21] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Max,
    Op::Min,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Neg,
    Op::Abs,
    Op::Square,
    Op::Sqrt,
    Op::Not,
    Op::Eq,
    Op::Ne,
    Op::Lt,
    Op::Le,
    Op::Gt,
    Op::Ge,
    Op::Select,
];

/// A shape that broadcasts to `full` under numpy: some sizes become 1, some leading axes vanish.
fn partial_shape(choices: &mut Choices, full: &[usize]) -> Shape {
    let dropped = if choices.chance(30) { choices.below(full.len() + 1) } else { 0 };
    full[dropped..].iter().map(|&size| if choices.chance(40) { 1 } else { size }).collect()
}

fn random_float(choices: &mut Choices) -> f64 {
    let infinity = f64::INFINITY;
    let special = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, f64::NAN, infinity, -infinity, 1e-42, 3e38];
    match choices.chance(30) {
        true => *choices.pick(&special),
        false => choices.below(20_001) as f64 / 1000.0 - 10.0,
    }
}

fn random_array(choices: &mut Choices, array_type: &ArrayType) -> Array {
    let count = array_type.shape.element_count().unwrap();
    macro_rules! elements {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match array_type.dtype {
                $(DType::$variant => {
                    ArrayData::$variant((0..count).map(|_| elements!(@one $class $type choices)).collect())
                })*
            }
        };
        (@one boolean $type:ident $choices:ident) => { $choices.chance(50) };
        (@one half $type:ident $choices:ident) => { $type::from_f64(random_float($choices)) };
        (@one float $type:ident $choices:ident) => { random_float($choices) as $type };
        (@one complex $type:ident $choices:ident) => {
            Complex::new(random_float($choices) as _, random_float($choices) as _)
        };
        (@one $class:ident $type:ident $choices:ident) => {
            match $choices.chance(20) {
                true => *$choices.pick(&[<$type>::MIN, <$type>::MAX, 0, 1]),
                false => $choices.below(41) as i64 as $type,
            }
        };
    }
    Array::from_data(array_type.shape.clone(), indim_graph::for_each_element!(elements)).unwrap()
}

/// A random graph over arrays that broadcast to one shape, and arguments for it.
fn random_graph(choices: &mut Choices) -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    let full = random_sizes(choices);
    // Trees of cheap operations on one type become chains.
    let only = choices.chance(50).then(|| *choices.pick(DType::ALL));
    let mut arguments = Vec::new();
    let mut values: Vec<Value<'_>> = Vec::new();
    for index in 0..1 + choices.below(4) {
        let dtype = only.unwrap_or(*choices.pick(DType::ALL));
        let array_type = ArrayType::new(dtype, partial_shape(choices, &full));
        arguments.push(random_array(choices, &array_type));
        let name = format!("p{index}");
        values.push(b.parameter(&name, array_type.dtype, array_type.shape).unwrap());
    }
    for _ in 0..1 + choices.below(24) {
        let value = match only {
            Some(only) => {
                let x = *choices.pick(&values);
                let x = b.convert(x, only).unwrap();
                random_operation(choices, &b, &values, x, &CHEAP)
            }
            None => random_node(choices, &b, &values),
        };
        values.push(value);
    }
    let outputs: Vec<Value<'_>> = (0..1 + choices.below(3))
        .map(|_| values[values.len() - 1 - choices.below(values.len().min(6))])
        .collect();
    (b.finish(&outputs).unwrap(), arguments)
}

/// The sizes of a shape of at most some ten thousand elements.
fn random_sizes(choices: &mut Choices) -> Vec<usize> {
    let mut count = 1;
    let mut sizes = Vec::new();
    for _ in 0..choices.below(5) {
        let size = *choices.pick(&[1, 2, 3, 4, 5, 17, 70, 300, 1100]);
        let size = if count * size > 30_000 { 2 } else { size };
        count *= size;
        sizes.push(if choices.chance(4) { 0 } else { size });
    }
    sizes
}

fn random_node<'b>(choices: &mut Choices, b: &'b GraphBuilder, values: &[Value<'b>]) -> Value<'b> {
    let x = *choices.pick(values);
    let x_type = x.array_type().unwrap();
    match choices.below(10) {
        0 => {
            let dtype = *choices.pick(DType::ALL);
            match choices.chance(50) {
                true => b.bitcast(x, dtype).unwrap_or(x),
                false => b.convert(x, dtype).unwrap(),
            }
        }
        1 => {
            let mut permutation: Vec<i64> = (0..x_type.shape.rank() as i64).collect();
            permutation.reverse();
            let transposed = b.transpose(x, &permutation).unwrap();
            // Back again, so that it still broadcasts with the others.
            let computed = b.under(RuleSet::Numpy).eq(transposed, transposed).unwrap();
            b.convert(b.transpose(computed, &permutation).unwrap(), x_type.dtype).unwrap()
        }
        2 => {
            let flat = b.reshape(x, [x_type.shape.element_count().unwrap()]).unwrap();
            b.reshape(flat, x_type.shape).unwrap()
        }
        3 if x_type.shape.rank() > 0 && x_type.dtype != DType::Bool => {
            let axis = choices.below(x_type.shape.rank()) as i64;
            b.iota(x_type.dtype, x_type.shape, axis).unwrap()
        }
        _ => random_operation(choices, b, values, x, Op::ALL),
    }
}

fn random_operation<'b>(
    choices: &mut Choices,
    b: &'b GraphBuilder,
    values: &[Value<'b>],
    x: Value<'b>,
    among: &[Op],
) -> Value<'b> {
    let dtype = x.array_type().unwrap().dtype;
    let takes: Vec<Op> = among.iter().copied().filter(|op| op.takes(dtype)).collect();
    let op = *choices.pick(&takes);
    let operands: Vec<Value<'b>> = (0..op.arity().count())
        .map(|index| {
            let operand = if index + 1 == op.arity().count() { x } else { *choices.pick(values) };
            b.convert(operand, op.operand_dtype(index, dtype)).unwrap()
        })
        .collect();
    b.elementwise(op, &operands, &RuleSet::Numpy).unwrap_or(x)
}

/// The elements of `array` laid out with gaps and random directions in `bytes`: strides and offset.
fn strided(choices: &mut Choices, array: &Array) -> (Vec<u8>, Vec<isize>, usize) {
    let size = array.dtype().size() as isize;
    let shape = array.shape();
    let mut order: Vec<usize> = (0..shape.rank()).collect();
    (1..order.len()).for_each(|last| order.swap(last, choices.below(last + 1)));
    let mut strides = vec![0; shape.rank()];
    let (mut stride, mut first) = (size, 0);
    for axis in order {
        let backwards = choices.chance(30) && shape[axis] > 0;
        strides[axis] = if backwards { -stride } else { stride };
        first += if backwards { stride * (shape[axis] as isize - 1) } else { 0 };
        stride *= shape[axis] as isize;
        stride += if choices.chance(30) { size } else { 0 };
    }
    let mut bytes = vec![0xAA; (stride + size) as usize];
    let dense = array.data().to_le_bytes();
    for (position, element) in dense.chunks(size as usize).enumerate() {
        let place = (first + offset(position, shape, &strides)) as usize;
        bytes[place..place + size as usize].copy_from_slice(element);
    }
    (bytes, strides, first as usize)
}

fn offset(mut position: usize, shape: &Shape, strides: &[isize]) -> isize {
    let mut offset = 0;
    for (axis, &size) in shape.iter().enumerate().rev() {
        offset += (position % size) as isize * strides[axis];
        position /= size;
    }
    offset
}

fn check(seed: u64) {
    let mut bytes = [7u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let algorithm = proptest::test_runner::RngAlgorithm::ChaCha;
    let mut choices = Choices(TestRng::from_seed(algorithm, &bytes));
    let (graph, arguments) = random_graph(&mut choices);
    let expected = evaluate(&graph, &arguments).unwrap();
    for &level in Level::available() {
        for optimize in [false, true] {
            let executable = compile(&graph, &CompileOptions { level, optimize }).unwrap();
            let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from_array).collect();
            let results = executable.run(&inputs).unwrap();
            for (result, expected) in results.iter().zip(&expected) {
                assert_eq!(result.to_array(), *expected, "dense, {level}, optimize {optimize}");
            }
            check_strided(&mut choices, &executable, &arguments, &expected);
            check_in_place(&mut choices, &executable, &arguments, &expected);
        }
    }
}

fn check_strided(
    choices: &mut Choices,
    executable: &indim_cpu::Executable,
    arguments: &[Array],
    expected: &[Array],
) {
    let layouts: Vec<_> = arguments.iter().map(|array| strided(choices, array)).collect();
    let inputs: Vec<ArrayView<'_>> = arguments
        .iter()
        .zip(&layouts)
        .map(|(array, (bytes, strides, first))| {
            ArrayView::from_bytes(array.array_type(), strides.clone(), bytes, *first).unwrap()
        })
        .collect();
    let mut memory: Vec<_> = expected.iter().map(|array| strided(choices, array)).collect();
    let untouched: Vec<Vec<u8>> = memory.iter().map(|(bytes, ..)| bytes.clone()).collect();
    let mut outputs: Vec<ArrayViewMut<'_>> = Vec::new();
    for (array, (bytes, strides, first)) in expected.iter().zip(&mut memory) {
        let (array_type, size) = (array.array_type(), array.dtype().size());
        // Everything but the gaps is overwritten, so the expected bytes are those of `strided`.
        let count = array_type.shape.element_count().unwrap();
        for position in 0..count {
            let place = (*first as isize + offset(position, &array_type.shape, strides)) as usize;
            bytes[place..place + size].fill(0x55);
        }
        outputs.push(ArrayViewMut::from_bytes(array_type, strides.clone(), bytes, *first).unwrap());
    }
    executable.run_into(&inputs, &mut outputs).unwrap();
    drop(outputs);
    for ((bytes, ..), untouched) in memory.iter().zip(&untouched) {
        assert_eq!(bytes, untouched, "strided output");
    }
}

/// Outputs written over inputs, wherever one is of an input's size and shape.
fn check_in_place(
    choices: &mut Choices,
    executable: &indim_cpu::Executable,
    arguments: &[Array],
    expected: &[Array],
) {
    let mut memory: Vec<_> = arguments.iter().map(|array| strided(choices, array)).collect();
    let mut apart: Vec<_> = expected.iter().map(|array| strided(choices, array)).collect();
    let mut is_taken = vec![false; arguments.len()];
    // The bytes that each output is written to: those of an input, or its own.
    let places: Vec<Option<usize>> = expected
        .iter()
        .map(|output| {
            let place = arguments.iter().zip(&is_taken).position(|(input, is_taken)| {
                let is_alike = input.dtype().size() == output.dtype().size();
                !is_taken && is_alike && input.shape() == output.shape()
            });
            place.inspect(|&place| is_taken[place] = true)
        })
        .collect();
    let pointer = |(bytes, strides, first): &mut (Vec<u8>, Vec<isize>, usize)| {
        let first = bytes.as_mut_ptr().wrapping_add(*first);
        (strides.clone(), NonNull::new(first).unwrap())
    };
    let input_pointers: Vec<_> = memory.iter_mut().map(pointer).collect();
    let output_pointers: Vec<_> = places
        .iter()
        .zip(&mut apart)
        .map(|(place, own)| {
            place.map_or_else(|| pointer(own), |place| input_pointers[place].clone())
        })
        .collect();
    let types = arguments.iter().map(Array::array_type);
    // SAFETY: the memory has these strides, lives until the end, and is used through these pointers.
    let inputs: Vec<ArrayView<'_>> = types
        .zip(&input_pointers)
        .map(|(of, (strides, first))| unsafe { ArrayView::from_raw(of, strides.clone(), *first) })
        .collect();
    let types = expected.iter().map(Array::array_type);
    // SAFETY: as above.
    let mut outputs: Vec<ArrayViewMut<'_>> = types
        .zip(&output_pointers)
        .map(|(of, (strides, first))| unsafe {
            ArrayViewMut::from_raw(of, strides.clone(), *first)
        })
        .collect();
    executable.run_into(&inputs, &mut outputs).unwrap();
    for (index, output) in expected.iter().enumerate() {
        let (bytes, strides, first) = match places[index] {
            Some(place) => &memory[place],
            None => &apart[index],
        };
        let (dense, size) = (output.data().to_le_bytes(), output.dtype().size());
        for (position, element) in dense.chunks(size).enumerate() {
            let place = (*first as isize + offset(position, output.shape(), strides)) as usize;
            assert_eq!(&bytes[place..place + size], element, "output {index} over {places:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_executor_gives_the_bits_of_the_reference(seed in any::<u64>()) {
        check(seed);
    }
}

#[test]
fn a_nest_reads_only_what_an_earlier_nest_has_written() {
    // `viewed` is kept for `sum`, and read by `expanded` too, whose shape sorts before its own.
    let b = GraphBuilder::new();
    let p = b.parameter("p", DType::F32, [1, 1, 4, 1]).unwrap();
    let viewed =
        b.transpose(b.exp(b.transpose(p, &[3, 2, 1, 0]).unwrap()).unwrap(), &[3, 2, 1, 0]).unwrap();
    let x = b.parameter("x", DType::F32, [1, 1, 4, 3]).unwrap();
    let expanded = b.neg(viewed).unwrap();
    let product = b.under(RuleSet::Numpy).mul(x, expanded).unwrap();
    let sum = b.under(RuleSet::Numpy).add(product, viewed).unwrap();
    let graph = b.finish(&[sum]).unwrap();
    let numbers: Vec<f32> = (0u8..12).map(|i| f32::from(i) * 0.25).collect();
    let arguments = [
        Array::new([1, 1, 4, 1], numbers[..4].to_vec()).unwrap(),
        Array::new([1, 1, 4, 3], numbers).unwrap(),
    ];
    let expected = evaluate(&graph, &arguments).unwrap();
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from_array).collect();
    for optimize in [false, true] {
        let options = CompileOptions { optimize, ..CompileOptions::default() };
        let results = compile(&graph, &options).unwrap().run(&inputs).unwrap();
        assert_eq!(results[0].to_array(), expected[0]);
    }
}

#[test]
fn an_empty_result_takes_no_memory_however_large_its_operands_could_be() {
    let b = GraphBuilder::new();
    let n = 1 << 32;
    let mut sum = None;
    for axis in 0..3 {
        let v = b.parameter(&format!("p{axis}"), DType::I8, [1 << 20]).unwrap();
        let wide = b.broadcast_in_dim(v, &[axis], [1 << 20, 1 << 20, 1 << 20, 0]).unwrap();
        sum = Some(match sum {
            None => wide,
            Some(sum) => b.add(sum, wide, &[]).unwrap(),
        });
    }
    let counted = b.iota(DType::I8, [n, 0], 0).unwrap();
    let graph = b.finish(&[sum.unwrap(), counted]).unwrap();
    let optimized = indim_graph::optimize(&graph);
    indim_graph::verify(&optimized).unwrap();
    let numbers = vec![0i8; 1 << 20];
    let inputs = [(); 3].map(|()| ArrayView::from_slice([1 << 20], &numbers).unwrap());
    let results = compile(&graph, &CompileOptions::default()).unwrap().run(&inputs).unwrap();
    assert_eq!(results[0].array_type().to_string(), "i8[1048576, 1048576, 1048576, 0]");
    assert!(results[1].bytes().is_empty());
}

#[test]
fn a_builder_keeps_its_values_after_a_graph_is_made() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let y = b.neg(x).unwrap();
    b.finish(&[y]).unwrap();
    b.parameter("q", DType::F64, [7]).unwrap();
    assert_eq!(b.neg(y).unwrap().array_type().unwrap().to_string(), "f32[3]");
}
