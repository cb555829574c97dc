//! Random graphs with arguments, and the comparison of all executors with the reference evaluator on
//! them. `differential.rs` makes the choices from seeds, the fuzz target `graph` from its input.

use std::ptr::NonNull;

use indim_builder::{GraphBuilder, Value};
use indim_cpu::{
    ArrayView, ArrayViewMut, CompileOptions, RunOptions, Threads, compile, compile_symbolic,
};
use indim_graph::{Array, Graph, SizeFacts, SymbolicGraph, ValueId, evaluate};
use indim_ops::elements::*;
use indim_ops::{ArrayData, ArrayType, Complex, DType, Op};
use indim_shape::{RuleSet, Shape};

pub(crate) use choices::{Choices, pseudo_random};
use choices::{
    computable, partial_shape, random_conversion, random_operation, random_reduction, random_view,
};
use executors::{EXECUTORS, executors};
use product::random_product;
use region::random_region;
use scan::random_scan;
use sort::random_sort;

#[path = "../../../indim-builder/tests/random/choices.rs"]
mod choices;
#[path = "../executors/mod.rs"]
mod executors;
#[path = "../../../indim-builder/tests/random/product.rs"]
mod product;
#[path = "../../../indim-builder/tests/random/region.rs"]
mod region;
#[path = "../../../indim-builder/tests/random/scan.rs"]
mod scan;
#[path = "../../../indim-builder/tests/random/sort.rs"]
mod sort;

/// Operations that cost no more than their operands cost to move.
const CHEAP: [Op; 22] = [
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
    Op::Conj,
];

fn random_float(choices: &mut Choices<'_>) -> f64 {
    let infinity = f64::INFINITY;
    let special = [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, f64::NAN, infinity, -infinity, 1e-42, 3e38];
    match choices.chance(30) {
        true => *choices.pick(&special),
        false => choices.below(20_001) as f64 / 1000.0 - 10.0,
    }
}

fn random_array(choices: &mut Choices<'_>, array_type: &ArrayType) -> Array {
    let count = array_type.shape.element_count().unwrap();
    // One seed decides all values, so that the few bytes of a fuzzer decide the structure.
    let mut elements = pseudo_random(choices.below(256) as u64);
    let choices = &mut Choices(&mut elements);
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
        (@one float8 $type:ident $choices:ident) => { $type::from_bits($choices.below(256) as u8) };
        (@one nibble $type:ident $choices:ident) => { $type::from_bits($choices.below(16) as u8) };
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
    Array::from_data(array_type.shape.clone(), indim_ops::for_each_element!(elements)).unwrap()
}

/// Like [`random_array`], but the elements may repeat along some axes.
fn random_argument(choices: &mut Choices<'_>, array_type: &ArrayType) -> Array {
    if !choices.chance(40) {
        return random_array(choices, array_type);
    }
    let sizes = array_type.shape.iter();
    let once: Shape = sizes.map(|&size| if choices.chance(50) { 1 } else { size }).collect();
    let once = random_array(choices, &ArrayType::new(array_type.dtype, once));
    let b = GraphBuilder::new();
    let x = b.parameter("x", once.dtype(), once.shape()).unwrap();
    let dims: Vec<i64> = (0..once.shape().rank() as i64).collect();
    let repeated = b.broadcast_in_dim(x, &dims, &array_type.shape).unwrap();
    evaluate(&b.finish(&[repeated]).unwrap(), &[once]).unwrap().remove(0)
}

/// A random graph over arrays that broadcast to one shape, and arguments for it.
fn random_graph(choices: &mut Choices<'_>, full: &[usize]) -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    // Trees of cheap operations on one type, with conditions of bools and u8.
    let only = choices.chance(50).then(|| *choices.pick(DType::ALL));
    let mut arguments = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for index in 0..1 + choices.below(4) {
        let dtype = match only {
            Some(only) if choices.chance(70) => only,
            Some(_) => *choices.pick(&[DType::Bool, DType::U8]),
            None => *choices.pick(DType::ALL),
        };
        let array_type = ArrayType::new(dtype, partial_shape(choices, full));
        arguments.push(random_argument(choices, &array_type));
        let name = format!("p{index}");
        values.push(b.parameter(&name, array_type.dtype, array_type.shape).unwrap());
    }
    // Reductions of reductions are rare among all kinds of nodes.
    let reduced = *choices.pick(&[0, 20, 60]);
    for _ in 0..1 + choices.below(24) {
        let x = recent(choices, &values);
        let rank = x.array_type().unwrap().shape.rank();
        let value = match only {
            _ if rank > 0 && choices.chance(reduced) => random_reduction(choices, &b, x),
            Some(only) => random_cheap_node(choices, &b, &values, x, only),
            None => random_node(choices, &b, &values, x),
        };
        values.push(value);
    }
    (with_outputs(choices, &b, &values), arguments)
}

/// The last value, or any value.
fn recent(choices: &mut Choices<'_>, values: &[Value]) -> Value {
    match choices.chance(45) {
        true => values[values.len() - 1].clone(),
        false => choices.pick(values).clone(),
    }
}

/// A cheap operation, a reduction or a view of `x`, which is often converted to this type before.
fn random_cheap_node(
    choices: &mut Choices<'_>,
    b: &GraphBuilder,
    values: &[Value],
    x: Value,
    only: DType,
) -> Value {
    let x = if choices.chance(60) { b.convert(x, only).unwrap() } else { x };
    let rank = x.array_type().unwrap().shape.rank();
    if rank > 0 && choices.chance(10) {
        return random_reduction(choices, b, x);
    }
    if rank > 0 && choices.chance(15) {
        return random_view(choices, b, values, x);
    }
    if rank > 0 && choices.chance(8) {
        return random_product(choices, b, values, x);
    }
    if rank > 0 && choices.chance(5) {
        return random_scan(choices, b, x);
    }
    if rank > 0 && choices.chance(5) {
        return random_sort(choices, b, values, x);
    }
    if choices.chance(4) {
        return random_region(choices, b, values, x);
    }
    random_operation(choices, b, values, x, &CHEAP)
}

/// The graph that returns some of the last values, or any of its nodes, so that each kind of node is an
/// output and an operand of each other kind.
fn with_outputs(choices: &mut Choices<'_>, b: &GraphBuilder, values: &[Value]) -> Graph {
    if choices.chance(50) {
        let count = 1 + choices.below(3);
        let last = |_| values[values.len() - 1 - choices.below(values.len().min(6))].clone();
        let outputs: Vec<Value> = (0..count).map(last).collect();
        return b.finish(&outputs).unwrap();
    }
    let graph = b.finish(&values[values.len() - 1..]).unwrap();
    let percent = *choices.pick(&[10, 30, 70]);
    let mut outputs = graph.outputs().to_vec();
    outputs.extend(graph.iter().map(|(value, _)| value).filter(|_| choices.chance(percent)));
    Graph::from_nodes(graph.iter().map(|(_, node)| node.clone()).collect(), outputs).unwrap()
}

/// The sizes of a shape of at most some ten thousand elements.
fn random_sizes(choices: &mut Choices<'_>) -> Vec<usize> {
    let mut count = 1;
    let mut sizes = Vec::new();
    for _ in 0..choices.below(5) {
        let size = *choices.pick(&[1, 2, 3, 4, 5, 10, 17, 64, 70, 128, 256, 300, 1100]);
        let size = if count * size > 30_000 { 2 } else { size };
        count *= size;
        sizes.push(if choices.chance(4) { 0 } else { size });
    }
    sizes
}

fn random_node(choices: &mut Choices<'_>, b: &GraphBuilder, values: &[Value], x: Value) -> Value {
    let x_type = x.array_type().unwrap();
    match choices.below(13) {
        0 => random_conversion(choices, b, x),
        12 => random_region(choices, b, values, x),
        10 if x_type.shape.rank() > 0 => random_product(choices, b, values, x),
        7 if x_type.shape.rank() > 0 => random_scan(choices, b, x),
        11 if x_type.shape.rank() > 0 => random_sort(choices, b, values, x),
        1 => {
            let rank = x_type.shape.rank();
            let mut permutation: Vec<i64> = (0..rank as i64).collect();
            if choices.chance(50) {
                (1..rank).for_each(|last| permutation.swap(last, choices.below(last + 1)));
                return b.transpose(x, &permutation).unwrap();
            }
            permutation.reverse();
            let transposed = b.transpose(x, &permutation).unwrap();
            // Back again, so that it still broadcasts with the others.
            let compared = computable(b, transposed);
            let computed = b.under(RuleSet::Numpy).eq(&compared, &compared).unwrap();
            b.convert(b.transpose(computed, &permutation).unwrap(), x_type.dtype).unwrap()
        }
        2 => {
            let flat = b.reshape(x, [x_type.shape.element_count().unwrap()]).unwrap();
            b.reshape(flat, x_type.shape).unwrap()
        }
        3 if x_type.shape.rank() > 0
            && x_type.dtype != DType::Bool
            && !x_type.dtype.is_storage() =>
        {
            let axis = choices.below(x_type.shape.rank()) as i64;
            b.iota(x_type.dtype, x_type.shape, axis).unwrap()
        }
        5 if x_type.shape.rank() > 0 => random_reduction(choices, b, x),
        6 if x_type.shape.rank() > 0 => random_view(choices, b, values, x),
        4 if choices.chance(50) => {
            let dtype = *choices.pick(DType::ALL);
            let shape = partial_shape(choices, &x_type.shape);
            b.constant(random_array(choices, &ArrayType::new(dtype, shape)))
        }
        _ => random_operation(choices, b, values, x, Op::ALL),
    }
}

/// Bytes, strides and the offset of the first element.
type Layout = (Vec<u8>, Vec<isize>, usize);

/// The elements of `array` laid out with gaps, in a random order of axes and in random directions.
/// Axes that repeat may get a stride of zero when the array is only read.
fn strided(choices: &mut Choices<'_>, array: &Array, is_read_only: bool) -> Layout {
    let size = array.dtype().size() as isize;
    let shape = array.shape();
    let dense = array.bytes().to_vec();
    let mut order: Vec<usize> = (0..shape.rank()).collect();
    (1..order.len()).for_each(|last| order.swap(last, choices.below(last + 1)));
    let mut strides = vec![0; shape.rank()];
    let (mut stride, mut first) = (size, 0);
    for axis in order {
        if is_read_only && repeats(&dense, size as usize, shape, axis) && choices.chance(70) {
            continue;
        }
        let backwards = choices.chance(30) && shape[axis] > 0;
        strides[axis] = if backwards { -stride } else { stride };
        first += if backwards { stride * (shape[axis] as isize - 1) } else { 0 };
        stride *= shape[axis] as isize;
        stride += if choices.chance(30) { size } else { 0 };
    }
    let mut bytes = vec![0xAA; (stride + size) as usize];
    for (position, element) in dense.chunks(size as usize).enumerate() {
        let place = (first + offset(position, shape, &strides)) as usize;
        bytes[place..place + size as usize].copy_from_slice(element);
        // Every byte except 0 is true.
        if array.dtype() == DType::Bool && is_read_only && element != [0] {
            bytes[place] = 1 + choices.below(255) as u8;
        }
    }
    (bytes, strides, first as usize)
}

fn views<'a>(arguments: &[Array], layouts: &'a [Layout]) -> Vec<ArrayView<'a>> {
    let view = |(array, (bytes, strides, first)): (&Array, &'a Layout)| {
        ArrayView::from_bytes(array.array_type().clone(), strides.clone(), bytes, *first).unwrap()
    };
    arguments.iter().zip(layouts).map(view).collect()
}

/// Whether the elements of a dense array are the same all along `axis`.
fn repeats(dense: &[u8], size: usize, shape: &Shape, axis: usize) -> bool {
    let inner: usize = shape[axis + 1..].iter().product::<usize>() * size;
    let slabs = dense.chunks((inner * shape[axis]).max(1));
    slabs.into_iter().all(|slab| slab.chunks(inner.max(1)).all(|part| part == &slab[..inner]))
}

fn offset(mut position: usize, shape: &Shape, strides: &[isize]) -> isize {
    let mut offset = 0;
    for (axis, &size) in shape.iter().enumerate().rev() {
        offset += (position % size) as isize * strides[axis];
        position /= size;
    }
    offset
}

/// All executors give the bits of the reference evaluator, optimised or not, dense and strided.
pub(crate) fn check(choices: &mut Choices<'_>) {
    let full = random_sizes(choices);
    let (graph, arguments) = random_graph(choices, &full);
    let expected = evaluate(&graph, &arguments).unwrap();
    for options in executors() {
        for optimize in [false, true] {
            let options = options.clone().optimize(optimize);
            let executable = compile(&graph, &options).unwrap();
            check_executable(choices, &options, &executable, &arguments, &expected);
        }
    }
}

/// Like [`check`], by one of the executors, for more graphs in the same time.
#[allow(dead_code, reason = "the fuzz target tries every executor")]
pub(crate) fn check_once(choices: &mut Choices<'_>) {
    let full = random_sizes(choices);
    let (graph, arguments) = random_graph(choices, &full);
    let expected = evaluate(&graph, &arguments).unwrap();
    let options = choices.pick(&executors().collect::<Vec<CompileOptions>>()).clone();
    let options = options.optimize(choices.chance(50));
    let executable = compile(&graph, &options).unwrap();
    check_executable(choices, &options, &executable, &arguments, &expected);
}

/// The program compiled with these options gives these results, dense, strided and in place.
fn check_executable(
    choices: &mut Choices<'_>,
    options: &CompileOptions,
    executable: &indim_cpu::Executable,
    arguments: &[Array],
    expected: &[Array],
) {
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    let results = executable.run(&inputs).unwrap();
    for (result, expected) in results.iter().zip(expected) {
        assert_eq!(result.clone(), *expected, "dense, {options:?}");
    }
    check_strided(choices, executable, arguments, expected);
    check_in_place(choices, executable, arguments, expected);
}

/// The symbolic shapes after all passes name each symbol where the nodes have its representative size.
#[allow(dead_code, reason = "the fuzz target searches for wrong bits of one program at a time")]
fn check_shapes(symbolic: &SymbolicGraph) {
    let before = symbolic.shaped();
    let optimized = before.optimize();
    for graph in [&before, &*before.expand_for_loops(), &*optimized.expand_for_loops()] {
        graph.verify();
    }
}

/// A program bound to other sizes than those of its graph gives the bits of the reference evaluator. Returns
/// whether it was bound.
#[allow(dead_code, reason = "the fuzz target searches for wrong bits of one program at a time")]
pub(crate) fn check_symbolic(choices: &mut Choices<'_>) -> bool {
    let full = random_sizes(choices);
    let (graph, _) = random_graph(choices, &full);
    let symbolic = SymbolicGraph::new(&graph, &SizeFacts::default());
    check_shapes(&symbolic);
    let count = symbolic.guards().symbol_count();
    let sizes = [2, 2, 3, 5, 7, 33, 64, 130, 1025];
    let mut symbols: Vec<usize> = (0..count).map(|_| *choices.pick(&sizes)).collect();
    let elements = |graph: &Graph| {
        let shapes = graph.iter().map(|(_, node)| node.array_type.shape.element_count().unwrap());
        shapes.max().unwrap_or(0)
    };
    while symbols.iter().any(|&size| size > 2) && elements(&symbolic.resized(&symbols)) > 40_000 {
        symbols.iter_mut().for_each(|size| *size = (*size / 2).max(2));
    }
    let mut next = symbols.clone();
    next.last_mut().into_iter().for_each(|size| *size = if *size == 2 { 3 } else { 2 });
    // Machine code for some sizes runs for others; a binding reuses nests whose sizes are equal.
    let bound = [vec![3; count], symbols, next].map(|symbols| {
        let resized = symbolic.resized(&symbols);
        indim_graph::verify(&resized).unwrap();
        let of_parameter = |parameter: &ValueId| resized[*parameter].array_type.clone();
        let types = resized.parameters().iter().map(of_parameter);
        let arguments: Vec<Array> = types.map(|of| random_argument(choices, &of)).collect();
        let expected = evaluate(&resized, &arguments).unwrap();
        (arguments, expected)
    });
    for options in executors() {
        for optimize in [false, true] {
            let options = options.clone().optimize(optimize);
            let program = compile_symbolic(&symbolic, &options).unwrap();
            for (arguments, expected) in &bound {
                let shapes: Vec<&[usize]> =
                    arguments.iter().map(|array| array.shape().sizes()).collect();
                let executable = program.bind(&shapes).unwrap();
                check_executable(choices, &options, &executable, arguments, expected);
            }
        }
    }
    count > 0
}

/// Several threads give the bits of one, on graphs that mostly have enough work for several.
///
/// Returns whether the graph has.
#[allow(dead_code, reason = "the fuzz target has one thread per input")]
pub(crate) fn check_threads(choices: &mut Choices<'_>, pools: &[rayon::ThreadPool]) -> bool {
    let sizes = [
        vec![900_000],
        vec![17, 50_000],
        vec![180_000, 5],
        vec![5, 400, 400],
        vec![2, 3, 7, 22_000],
    ];
    let full = choices.pick(&sizes).clone();
    let (graph, arguments) = random_graph(choices, &full);
    let layouts: Vec<_> = arguments.iter().map(|array| strided(choices, array, true)).collect();
    let inputs = views(&arguments, &layouts);
    let executables = EXECUTORS.map(|executor| {
        let options = CompileOptions::new().executor(executor);
        compile(&graph, &options).unwrap()
    });
    let alone = RunOptions::new().threads(Threads::Caller);
    let expected = executables[0].run_with(&inputs, &alone).unwrap();
    let runs = executables.iter().flat_map(|it| pools.iter().map(move |pool| (it, pool)));
    for (executable, pool) in runs {
        let outside = RunOptions::new().threads(Threads::Pool(pool));
        let within = pool.install(|| executable.run(&inputs)).unwrap();
        let outside = executable.run_with(&inputs, &outside).unwrap();
        for (result, expected) in within.iter().chain(&outside).zip(expected.iter().cycle()) {
            assert!(result.bytes() == expected.bytes(), "{} threads", pool.current_num_threads());
        }
    }
    executables[0].is_parallel()
}

fn check_strided(
    choices: &mut Choices<'_>,
    executable: &indim_cpu::Executable,
    arguments: &[Array],
    expected: &[Array],
) {
    let layouts: Vec<_> = arguments.iter().map(|array| strided(choices, array, true)).collect();
    let inputs = views(arguments, &layouts);
    let mut memory: Vec<_> = expected.iter().map(|array| strided(choices, array, false)).collect();
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
        outputs.push(
            ArrayViewMut::from_bytes(array_type.clone(), strides.clone(), bytes, *first).unwrap(),
        );
    }
    executable.run_into(&inputs, &mut outputs).unwrap();
    drop(outputs);
    for ((bytes, ..), untouched) in memory.iter().zip(&untouched) {
        assert_eq!(bytes, untouched, "strided output");
    }
}

/// Outputs written over inputs of the same size and shape.
fn check_in_place(
    choices: &mut Choices<'_>,
    executable: &indim_cpu::Executable,
    arguments: &[Array],
    expected: &[Array],
) {
    let mut memory: Vec<_> = arguments.iter().map(|array| strided(choices, array, false)).collect();
    let mut apart: Vec<_> = expected.iter().map(|array| strided(choices, array, false)).collect();
    let mut is_taken = vec![false; arguments.len()];
    // The bytes of each output: those of an input, or new ones.
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
    let pointer = |(bytes, strides, first): &mut Layout| {
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
        .map(|(of, (strides, first))| unsafe {
            ArrayView::from_raw(of.clone(), strides.clone(), *first)
        })
        .collect();
    let types = expected.iter().map(Array::array_type);
    // SAFETY: as above.
    let mut outputs: Vec<ArrayViewMut<'_>> = types
        .zip(&output_pointers)
        .map(|(of, (strides, first))| unsafe {
            ArrayViewMut::from_raw(of.clone(), strides.clone(), *first)
        })
        .collect();
    executable.run_into(&inputs, &mut outputs).unwrap();
    for (index, output) in expected.iter().enumerate() {
        let (bytes, strides, first) = match places[index] {
            Some(place) => &memory[place],
            None => &apart[index],
        };
        let (dense, size) = (output.bytes().to_vec(), output.dtype().size());
        for (position, element) in dense.chunks(size).enumerate() {
            let place = (*first as isize + offset(position, output.shape(), strides)) as usize;
            assert_eq!(&bytes[place..place + size], element, "output {index} over {places:?}");
        }
    }
}
