//! The smallest executor, an example for new ones: it evaluates one element at a time by the reference
//! evaluator. The tests show that `run/` needs no more of an executor. Holds unsafe code.

use core::fmt;
use core::ops::{ControlFlow, Range};
use std::sync::Arc;

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, Graph, evaluate};
use indim_loops::MemoryUse;
use indim_loops::loop_nest::{
    Access, InstructionKind, Local, LoopNest, NestInstruction, NestReduction,
};
use indim_loops::resize::{NestStrides, SizedNest};
use indim_loops::strides::AxisStrides;
use indim_ops::elements::*;
use indim_ops::{ArrayData, ArrayType, DType, Element, Op, for_each_element};
use indim_shape::RuleSet;

use indim_executors::{Bases, BoundNest, Executor, NestCode};
use indim_ops::Level;

#[path = "../../../indim-builder/tests/random/choices.rs"]
mod choices;

#[derive(Debug)]
struct Simple;

/// A graph for each instruction of a nest.
#[derive(Debug)]
struct SimpleCode {
    graphs: Vec<Graph>,
}

#[derive(Debug)]
struct BoundSimple {
    code: Arc<SimpleCode>,
    nest: Arc<LoopNest>,
    strides: Vec<AxisStrides>,
}

impl Executor for Simple {
    fn compile(&self, nest: &Arc<LoopNest>, _: &Arc<[Array]>, _: Level) -> Arc<dyn NestCode> {
        let graph = |instruction: &NestInstruction| graph(nest, instruction);
        let graphs = nest.instructions.iter().map(graph).collect();
        Arc::new(SimpleCode { graphs })
    }

    unsafe fn write_counter(&self, first: *mut u8, dtype: DType, length: usize, _: Level) {
        let b = GraphBuilder::new();
        let graph = b.finish(&[b.iota(dtype, [length], 0).unwrap()]).unwrap();
        let numbers = &evaluate(&graph, &[]).unwrap()[0];
        // SAFETY: the caller ensures room for `length` elements.
        unsafe { write(first, numbers) }
    }
}

impl NestCode for SimpleCode {
    fn bind(
        self: Arc<Self>,
        nest: &SizedNest<'_>,
        strides: NestStrides<'_>,
        _: &[bool],
    ) -> Option<Arc<dyn BoundNest>> {
        let bound = BoundSimple {
            strides: nest.list_strides(strides).into_owned(),
            nest: nest.to_nest(),
            code: self,
        };
        (bound.tiles() > 0).then(|| Arc::new(bound) as Arc<dyn BoundNest>)
    }

    fn cost(&self) -> usize {
        1000 * self.graphs.len()
    }

    fn thread_bytes(&self, _: &SizedNest<'_>) -> usize {
        0
    }

    fn list(
        &self,
        nest: &LoopNest,
        formatter: &mut fmt::Formatter<'_>,
        _: &dyn Fn(&Access) -> String,
    ) -> fmt::Result {
        writeln!(formatter, "one element at a time: {nest}")
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.graphs.iter().for_each(|graph| memory_use.add_graph(graph));
    }
}

impl BoundNest for BoundSimple {
    fn tiles(&self) -> usize {
        self.kept_sizes().iter().product()
    }

    fn tile_elements(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &Bases<'_>, tiles: Range<usize>) {
        for point in tiles {
            // SAFETY: the caller has the obligations for each of `tiles`.
            unsafe { self.run_point(bases, point) }
        }
    }

    fn count_bytes(&self, memory_use: &mut MemoryUse) {
        self.strides
            .iter()
            .for_each(|strides| memory_use.add_allocation::<isize>(strides.capacity()));
    }
}

impl BoundSimple {
    /// The iteration shape with size 1 for the reduced axis.
    fn kept_sizes(&self) -> Vec<usize> {
        let mut sizes = self.nest.shape.concrete().to_vec();
        self.nest.reduced.into_iter().for_each(|axis| sizes[axis] = 1);
        sizes
    }

    /// The address of an operand at a kept point and a step along the reduced axis.
    fn address(&self, bases: &Bases<'_>, operand: usize, point: usize, step: usize) -> *mut u8 {
        let along = self.nest.reduced.map_or(0, |axis| self.strides[operand][axis]);
        let offset = offset(point, &self.kept_sizes(), &self.strides[operand]);
        bases.operands[operand].wrapping_offset(offset + step as isize * along)
    }

    /// Computes the results of one kept point.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for one tile.
    unsafe fn run_point(&self, bases: &Bases<'_>, point: usize) {
        let nest = &self.nest;
        let steps = nest.reduced.map_or(1, |axis| nest.shape.concrete()[axis]);
        // SAFETY: the caller has the obligations for this tile, which has all steps.
        let values = (0..steps).map(|step| unsafe { self.values(bases, point, step) });
        let values: Vec<Vec<Array>> = values.collect();
        for (index, store) in nest.stores.iter().enumerate() {
            let along: Vec<&Array> = values.iter().map(|stored| &stored[index]).collect();
            let result = match store.reduction {
                Some(reduction) => reduced(reduction, &along, store.target.array_type.dtype),
                None => along[0].clone(),
            };
            // SAFETY: the caller ensures that the store is writable at this point.
            unsafe { write(self.address(bases, index, point, 0), &result) }
        }
    }

    /// The stored values at one point.
    ///
    /// # Safety
    /// Like [`BoundNest::run`], for one tile.
    unsafe fn values(&self, bases: &Bases<'_>, point: usize, step: usize) -> Vec<Array> {
        let nest = &self.nest;
        let read = |access: usize| {
            let dtype = nest.accesses[access].array_type.dtype;
            // SAFETY: the caller ensures that the access is readable at this point and step.
            unsafe { read(self.address(bases, nest.stores.len() + access, point, step), dtype) }
        };
        let read: Vec<Array> = (0..nest.accesses.len()).map(read).collect();
        let mut computed: Vec<Array> = Vec::new();
        for (instruction, graph) in nest.instructions.iter().zip(&self.code.graphs) {
            if let (InstructionKind::Take { mode, size }, &[Local::Access(table), indices]) =
                (instruction.kind, &instruction.operands[..])
            {
                let index = whole_number(value(&read, &computed, indices));
                let place = mode.resolve(index, size).unwrap() as isize;
                let operand = nest.stores.len() + table;
                let stride = self.strides[operand].get(nest.shape.rank()).unwrap_or(&0);
                let first = self.address(bases, operand, point, step);
                // SAFETY: the caller ensures a readable table; `mode.place` returns an index within the axis.
                computed.push(unsafe {
                    self::read(first.wrapping_offset(place * stride), instruction.dtype)
                });
                continue;
            }
            let operands = instruction.operands.iter().map(|&local| value(&read, &computed, local));
            let operands: Vec<Array> = operands.cloned().collect();
            computed.extend(evaluate(graph, &operands).unwrap());
        }
        nest.stores.iter().map(|store| value(&read, &computed, store.source).clone()).collect()
    }
}

/// The reduction of single elements, converted to `result`.
fn reduced(NestReduction { op, dtype }: NestReduction, along: &[&Array], result: DType) -> Array {
    let bytes: Vec<u8> = along.iter().flat_map(|element| element.to_le_bytes()).collect();
    let given = along[0].dtype();
    let elements =
        Array::from_data([along.len()], ArrayData::from_le_bytes(given, &bytes)).unwrap();
    let b = GraphBuilder::new();
    let values = b.convert(b.constant(elements), dtype).unwrap();
    let reduced = b.reduce(op, values, 0).unwrap();
    let graph = b.finish(&[b.convert(reduced, result).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}

fn value<'a>(read: &'a [Array], computed: &'a [Array], local: Local) -> &'a Array {
    match local {
        Local::Access(index) => &read[index],
        Local::Instruction(index) => &computed[index],
    }
}

fn whole_number(index: &Array) -> i128 {
    index.scalar_text().unwrap().parse().unwrap()
}

/// The graph of one instruction on single elements.
fn graph(nest: &LoopNest, instruction: &NestInstruction) -> Graph {
    let b = GraphBuilder::new();
    let parameter = |(index, &local): (usize, &Local)| {
        b.parameter(&format!("p{index}"), nest.dtype(local), []).unwrap()
    };
    let operands: Vec<Value> = instruction.operands.iter().enumerate().map(parameter).collect();
    let result = match instruction.kind {
        InstructionKind::Elementwise(op) => b.elementwise(op, &operands, &RuleSet::Numpy).unwrap(),
        InstructionKind::Convert => b.convert(&operands[0], instruction.dtype).unwrap(),
        // `values` gathers without a graph.
        InstructionKind::Take { .. } => operands[0].clone(),
        InstructionKind::Standalone(_) => {
            unreachable!("invariant: executors compile no nest that runs alone")
        }
        // A bitcast to the same type is a copy.
        InstructionKind::Bitcast if instruction.operand_dtype == instruction.dtype => {
            operands[0].clone()
        }
        InstructionKind::Bitcast => b.bitcast(&operands[0], instruction.dtype).unwrap(),
    };
    b.finish(&[result]).unwrap()
}

/// The offset in bytes of the point at this position, in row-major order.
fn offset(mut position: usize, sizes: &[usize], strides: &[isize]) -> isize {
    let mut offset = 0;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        offset += (position % size) as isize * stride;
        position /= size;
    }
    offset
}

/// # Safety
/// `place` is valid for reads of an element of type `dtype`.
unsafe fn read(place: *const u8, dtype: DType) -> Array {
    macro_rules! read {
        ($($variant:ident $type:ident $class:ident;)*) => {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: the caller ensures a readable element; any bits are a stored one.
                    let stored = unsafe { place.cast::<<$type as Element>::Storage>().read_unaligned() };
                    ArrayData::$variant(vec![<$type>::from_storage(stored)])
                })*
            }
        };
    }
    Array::from_data([], for_each_element!(read)).unwrap()
}

/// # Safety
/// `place` is valid for writes of all elements.
unsafe fn write(place: *mut u8, array: &Array) {
    let bytes = array.bytes().to_vec();
    // SAFETY: the caller ensures room for all elements, in memory apart from `bytes`.
    unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) }
}

mod tests {
    use super::choices::{
        Choices, partial_shape, pseudo_random, random_conversion, random_operation,
        random_reduction, random_view,
    };
    use super::*;
    use crate::Order;
    use crate::run::compile::{CompileOptions, compile_for};
    use crate::run::options::RunOptions;
    use indim_arrays::ArrayView;
    use indim_executors::Blocks;

    /// A random graph, and arguments for it.
    fn random_graph(choices: &mut Choices<'_>) -> (Graph, Vec<Array>) {
        let b = GraphBuilder::new();
        let full = [1 + choices.below(4), 1 + choices.below(3), choices.below(5)];
        let (mut values, mut arguments) = (Vec::new(), Vec::new());
        for name in ["x", "y", "z"] {
            let array_type =
                ArrayType::new(*choices.pick(DType::ALL), partial_shape(choices, &full));
            let bytes = array_type.shape.byte_count(array_type.dtype.size()).unwrap();
            let bytes: Vec<u8> = (0..bytes).map(|_| choices.below(256) as u8).collect();
            let data = ArrayData::from_le_bytes(array_type.dtype, &bytes);
            arguments.push(Array::from_data(array_type.shape.clone(), data).unwrap());
            values.push(b.parameter(name, array_type.dtype, array_type.shape).unwrap());
        }
        for _ in 0..8 {
            let x = choices.pick(&values).clone();
            let shape = x.array_type().unwrap().shape;
            values.push(match choices.below(8) {
                3 if shape.rank() > 0 => random_reduction(choices, &b, x),
                4 if shape.rank() > 0 => random_view(choices, &b, &values, x),
                0 => random_conversion(choices, &b, x),
                1 if (2..=3).contains(&shape.rank()) => {
                    b.transpose(x, &[1, 0, 2][..shape.rank()]).unwrap()
                }
                2 if shape.rank() > 0 => b.iota(DType::I32, shape, 0).unwrap(),
                _ => random_operation(choices, &b, &values, x, Op::ALL),
            });
        }
        let outputs: Vec<Value> = values.split_off(8);
        (b.finish(&outputs).unwrap(), arguments)
    }

    #[test]
    fn another_executor_gives_the_same_bits_behind_the_same_interface() {
        let executors: [&'static dyn Executor; 2] = [&Simple, &Blocks];
        for seed in 0..150 {
            let mut choices = pseudo_random(seed);
            let (graph, arguments) = random_graph(&mut Choices(&mut choices));
            let expected = evaluate(&graph, &arguments).unwrap();
            let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
            for (executor, order) in executors.into_iter().zip([Order::F, Order::C]) {
                let checkpoint = &mut || ControlFlow::Continue(());
                let options = CompileOptions::default();
                let executable = compile_for(executor, &graph, &options, checkpoint).unwrap();
                let options = RunOptions::new().order(order);
                let results = executable.run_with(&inputs, &options).unwrap();
                for (result, expected) in results.iter().zip(&expected) {
                    assert_eq!(result.clone(), *expected, "seed {seed}, {executor:?}");
                }
            }
        }
    }

    #[test]
    fn an_executor_has_a_listing_and_counts_its_memory() {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2]).unwrap();
        let graph = b.finish(&[-x]).unwrap();
        let checkpoint = &mut || ControlFlow::Continue(());
        let executable =
            compile_for(&Simple, &graph, &CompileOptions::default(), checkpoint).unwrap();
        assert!(
            executable.compiled_nests()[0]
                .to_string()
                .starts_with("one element at a time: for i in")
        );
        assert_eq!(executable.forecast().register_bytes, 0);
    }
}
