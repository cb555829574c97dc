//! Random legal graphs and arguments for them, from a seed.

use choices::{
    Choices, partial_shape, pseudo_random, random_conversion, random_operation, random_reduction,
    random_view,
};
use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, Graph};
use indim_ops::elements::*;
use indim_ops::{ArrayData, ArrayType, Complex, DType, Op};
use product::random_product;
use region::random_region;
use scan::random_scan;
use sort::random_sort;

pub(crate) mod choices;
mod product;
mod region;
mod scan;
mod sort;

fn random_bits(choices: &mut Choices<'_>) -> u64 {
    (0..4).fold(0, |bits, _| bits << 16 | choices.below(1 << 16) as u64)
}

pub(crate) fn random_array(choices: &mut Choices<'_>, array_type: &ArrayType) -> Array {
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
        // Any bits, including subnormals, infinities and every NaN.
        (@one float $type:ident $choices:ident) => {
            match $choices.chance(50) {
                true => $type::from_bits(random_bits($choices) as _),
                false => *$choices.pick(&[0.0, -0.0, 1.5, $type::NAN, -$type::NAN, $type::INFINITY, -1e-40]),
            }
        };
        (@one float8 $type:ident $choices:ident) => { $type::from_bits(random_bits($choices) as _) };
        (@one nibble $type:ident $choices:ident) => { $type::from_bits(random_bits($choices) as u8 & 0xf) };
        (@one half $type:ident $choices:ident) => { $type::from_bits(random_bits($choices) as _) };
        (@one complex c64 $choices:ident) => {
            Complex::new(elements!(@one float f32 $choices), elements!(@one float f32 $choices))
        };
        (@one complex c128 $choices:ident) => {
            Complex::new(elements!(@one float f64 $choices), elements!(@one float f64 $choices))
        };
        (@one $class:ident $type:ident $choices:ident) => { random_bits($choices) as $type };
    }
    Array::from_data(&array_type.shape, indim_ops::for_each_element!(elements)).unwrap()
}

/// A random graph with several outputs, whose operands may need broadcasts; and arguments for it.
pub(crate) fn random_graph(seed: u64) -> (Graph, Vec<Array>) {
    let mut next = pseudo_random(seed);
    let choices = &mut Choices(&mut next);
    let b = GraphBuilder::new();
    let rank = choices.below(7);
    let full: Vec<usize> =
        (0..rank).map(|_| if choices.chance(4) { 0 } else { 1 + choices.below(3) }).collect();
    let mut arguments = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for index in 0..1 + choices.below(4) {
        let array_type = ArrayType::new(*choices.pick(DType::ALL), partial_shape(choices, &full));
        arguments.push(random_array(choices, &array_type));
        let name = ["x", "a \"b\" \\", "tab\tline\n", "ü"][index];
        values.push(b.parameter(name, array_type.dtype, array_type.shape).unwrap());
    }
    for _ in 0..1 + choices.below(12) {
        values.push(random_node(choices, &b, &values, &full));
    }
    let outputs: Vec<Value> =
        (0..1 + choices.below(3)).map(|_| choices.pick(&values).clone()).collect();
    (b.finish(&outputs).unwrap(), arguments)
}

fn random_node(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    full: &[usize],
) -> Value {
    let x = choices.pick(values).clone();
    let x_type = x.array_type().unwrap();
    let rank = x_type.shape.rank();
    match choices.below(13) {
        12 => random_region(choices, b, values, x),
        10 if rank > 0 => random_product(choices, b, values, x),
        7 if rank > 0 => random_scan(choices, b, x),
        11 if rank > 0 => random_sort(choices, b, values, x),
        0 => random_conversion(choices, b, x),
        1 => {
            let mut permutation: Vec<i64> = (0..rank as i64).collect();
            (1..rank).for_each(|last| permutation.swap(last, choices.below(last + 1)));
            b.transpose(x, &permutation).unwrap()
        }
        2 => b.reshape(x, [x_type.shape.element_count().unwrap()]).unwrap(),
        3 if rank > 0 && x_type.dtype != DType::Bool && !x_type.dtype.is_storage() => {
            b.iota(x_type.dtype, x_type.shape, choices.below(rank) as i64).unwrap()
        }
        5 if rank > 0 => random_reduction(choices, b, x),
        6 if rank > 0 => random_view(choices, b, values, x),
        4 => {
            let dtype = *choices.pick(DType::ALL);
            let array_type = ArrayType::new(dtype, partial_shape(choices, full));
            b.constant(random_array(choices, &array_type))
        }
        _ => random_operation(choices, b, values, x, Op::ALL),
    }
}
