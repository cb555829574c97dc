//! Random legal graphs and arguments for them, from a seed.

use indim_graph::{
    Array, ArrayData, ArrayType, Complex, DType, Graph, GraphBuilder, Op, Value, bf16, f16,
};
use indim_shape::{RuleSet, Shape};

/// A source of choices (SplitMix64): the same seed makes the same graph on every machine.
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
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
        // Any bits: subnormals, infinities and every NaN among them.
        (@one float $type:ident $choices:ident) => {
            match $choices.chance(50) {
                true => $type::from_bits($choices.next() as _),
                false => *$choices.pick(&[0.0, -0.0, 1.5, $type::NAN, -$type::NAN, $type::INFINITY, -1e-40]),
            }
        };
        (@one half $type:ident $choices:ident) => { $type::from_bits($choices.next() as _) };
        (@one complex c64 $choices:ident) => {
            Complex::new(elements!(@one float f32 $choices), elements!(@one float f32 $choices))
        };
        (@one complex c128 $choices:ident) => {
            Complex::new(elements!(@one float f64 $choices), elements!(@one float f64 $choices))
        };
        (@one $class:ident $type:ident $choices:ident) => { $choices.next() as $type };
    }
    Array::from_data(&array_type.shape, indim_graph::for_each_element!(elements)).unwrap()
}

/// A shape that broadcasts to `full` under numpy: some sizes are 1, some leading axes missing.
fn partial_shape(choices: &mut Choices, full: &[usize]) -> Shape {
    let dropped = if choices.chance(30) { choices.below(full.len() + 1) } else { 0 };
    full[dropped..].iter().map(|&size| if choices.chance(40) { 1 } else { size }).collect()
}

/// A random graph with several outputs, in which every operand may be partial; and arguments.
pub(crate) fn random_graph(seed: u64) -> (Graph, Vec<Array>) {
    let choices = &mut Choices(seed);
    let b = GraphBuilder::new();
    let rank = choices.below(7);
    let full: Vec<usize> =
        (0..rank).map(|_| if choices.chance(4) { 0 } else { 1 + choices.below(3) }).collect();
    let mut arguments = Vec::new();
    let mut values: Vec<Value<'_>> = Vec::new();
    for index in 0..1 + choices.below(4) {
        let array_type = ArrayType::new(*choices.pick(DType::ALL), partial_shape(choices, &full));
        arguments.push(random_array(choices, &array_type));
        let name = ["x", "a \"b\" \\", "tab\tline\n", "ü"][index];
        values.push(b.parameter(name, array_type.dtype, array_type.shape).unwrap());
    }
    for _ in 0..1 + choices.below(12) {
        values.push(random_node(choices, &b, &values, &full));
    }
    let outputs: Vec<Value<'_>> =
        (0..1 + choices.below(3)).map(|_| *choices.pick(&values)).collect();
    (b.finish(&outputs).unwrap(), arguments)
}

fn random_node<'b>(
    choices: &mut Choices,
    b: &'b GraphBuilder,
    values: &[Value<'b>],
    full: &[usize],
) -> Value<'b> {
    let x = *choices.pick(values);
    let x_type = x.array_type().unwrap();
    let rank = x_type.shape.rank();
    match choices.below(10) {
        0 => {
            let dtype = *choices.pick(DType::ALL);
            match choices.chance(50) {
                true => b.bitcast(x, dtype).unwrap_or(x),
                false => b.convert(x, dtype).unwrap(),
            }
        }
        1 => {
            let mut permutation: Vec<i64> = (0..rank as i64).collect();
            (1..rank).for_each(|last| permutation.swap(last, choices.below(last + 1)));
            b.transpose(x, &permutation).unwrap()
        }
        2 => b.reshape(x, [x_type.shape.element_count().unwrap()]).unwrap(),
        3 if rank > 0 && x_type.dtype != DType::Bool => {
            b.iota(x_type.dtype, x_type.shape, choices.below(rank) as i64).unwrap()
        }
        4 => {
            let dtype = *choices.pick(DType::ALL);
            let array_type = ArrayType::new(dtype, partial_shape(choices, full));
            b.constant(random_array(choices, &array_type))
        }
        _ => random_operation(choices, b, values, x),
    }
}

fn random_operation<'b>(
    choices: &mut Choices,
    b: &'b GraphBuilder,
    values: &[Value<'b>],
    x: Value<'b>,
) -> Value<'b> {
    let dtype = x.array_type().unwrap().dtype;
    let takes: Vec<Op> = Op::ALL.iter().copied().filter(|op| op.takes(dtype)).collect();
    let op = *choices.pick(&takes);
    let operands: Vec<Value<'b>> = (0..op.arity().count())
        .map(|index| {
            let operand = if index + 1 == op.arity().count() { x } else { *choices.pick(values) };
            b.convert(operand, op.operand_dtype(index, dtype)).unwrap()
        })
        .collect();
    // Shapes that do not broadcast together, after a transposition say, leave `x` as it was.
    b.elementwise(op, &operands, &RuleSet::Numpy).unwrap_or(x)
}
