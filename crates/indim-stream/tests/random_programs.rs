//! Random programs in random pieces give the bits of one run over whole arrays.

use std::sync::Mutex;

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_cpu::{Array, ArrayError, CompileOptions, compile};
use indim_graph::{AxisSlice, Graph};
use indim_io::{ArrayRegion, MemoryResult, MemorySink, MemorySource, Sink, Source, StoreError};
use indim_ops::{ArrayType, DType, Op, ReduceOp, SearchSide};
use indim_shape::{RuleSet, Shape};
use indim_stream::{Plan, StorageInfo, StreamError, StreamInput, StreamOptions};

/// Numbers from a seed.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

fn random_array(choices: &mut Choices, array_type: &ArrayType) -> Array {
    let (dtype, size) = (array_type.dtype, array_type.dtype.size());
    let is_column_major = choices.chance(25);
    let fill = |bytes: &mut [u8]| {
        for element in bytes.chunks_exact_mut(size) {
            let number = choices.below(4001) as f64 / 8.0 - 250.0;
            match dtype {
                DType::F32 => element.copy_from_slice(&(number as f32 / 3.0).to_ne_bytes()),
                DType::F64 => element.copy_from_slice(&(number / 3.0).to_ne_bytes()),
                DType::I32 => element.copy_from_slice(&(number as i32).to_ne_bytes()),
                _ => element[0] = number as u8,
            }
        }
        Ok::<(), ArrayError>(())
    };
    match is_column_major {
        true => Array::filled_column_major(array_type.clone(), fill).unwrap(),
        false => Array::filled(array_type.clone(), fill).unwrap(),
    }
}

/// Sizes of one long axis, around multiples of a block of the summation tree.
fn random_sizes(choices: &mut Choices) -> Vec<usize> {
    let rank = 1 + choices.below(3);
    let mut sizes: Vec<usize> = (0..rank).map(|_| *choices.pick(&[1, 2, 3, 5])).collect();
    let long = choices.below(rank);
    sizes[long] = *choices.pick(&[400, 513, 1024, 1500, 2049, 4000]);
    sizes
}

fn random_graph(choices: &mut Choices) -> (Graph, Vec<Array>) {
    let full = random_sizes(choices);
    let b = GraphBuilder::new();
    let (mut values, mut arguments): (Vec<Value>, Vec<Array>) = (Vec::new(), Vec::new());
    for index in 0..1 + choices.below(3) {
        let dtype = *choices.pick(&[DType::F32, DType::F64, DType::I32, DType::U8]);
        let size = |&size: &usize| if choices.chance(20) { 1 } else { size };
        let array_type = ArrayType::new(dtype, full.iter().map(size).collect::<Shape>());
        arguments.push(random_array(choices, &array_type));
        values.push(b.parameter(&format!("p{index}"), dtype, array_type.shape).unwrap());
    }
    for _ in 0..1 + choices.below(8) {
        let next = random_node(choices, &b, &values, full.len());
        values.push(next);
    }
    let outputs = (0..1 + choices.below(3)).map(|_| choices.pick(&values).clone());
    let outputs: Vec<Value> = outputs.collect();
    (b.finish(&outputs).unwrap(), arguments)
}

/// A value of the full rank, so that any two values align axis by axis.
fn random_node(choices: &mut Choices, b: &GraphBuilder, values: &[Value], rank: usize) -> Value {
    let x = choices.pick(values).clone();
    let ArrayType { dtype, shape } = x.array_type().unwrap();
    let dims: Vec<i64> = (0..rank as i64).collect();
    match choices.below(22) {
        // Products of vectors along an axis, which stays with size 1.
        20..=21 => {
            let axis = choices.below(rank);
            let y = b.convert(choices.pick(values), dtype).unwrap();
            // An axis of size 1 is not expanded for a product.
            let Ok(product) = b.vecdot(&x, y, axis as i64) else { return x };
            let mut sizes = product.array_type().unwrap().shape.to_vec();
            sizes.insert(axis, 1);
            b.reshape(product, sizes).unwrap()
        }
        // A reduction, followed by insertion of its axis with size 1.
        0..=6 => {
            let axis = choices.below(rank);
            let ops = [
                ReduceOp::Add,
                ReduceOp::Mul,
                ReduceOp::Max,
                ReduceOp::Min,
                ReduceOp::ArgMax,
                ReduceOp::ArgMin,
            ];
            let op = *choices.pick(&ops);
            // Sums are computed in f64.
            let is_exact = !matches!(op, ReduceOp::Add | ReduceOp::Mul) || dtype != DType::F32;
            let x = if is_exact { x } else { b.convert(x, DType::F64).unwrap() };
            let reduced = b.reduce(op, &x, axis as i64).unwrap();
            let mut sizes = shape.to_vec();
            sizes[axis] = 1;
            b.reshape(reduced, sizes).unwrap()
        }
        7..=8 => b.convert(x, *choices.pick(&[DType::F32, DType::F64, DType::I32])).unwrap(),
        // Slices are shorter, so the other operands are sliced too.
        10..=11 if shape.contains(&5) || shape.iter().any(|&size| size > 300) => {
            let axis = shape.iter().position(|&size| size >= 5).unwrap();
            let [first, second] = [0, 1 + choices.below(3)].map(|start| {
                let along = |(of, &size): (usize, &usize)| match of == axis {
                    true => AxisSlice::new(start, size - 3, 1),
                    false => AxisSlice::whole(size),
                };
                let slices: Vec<AxisSlice> = shape.iter().enumerate().map(along).collect();
                b.slice(&x, &slices).unwrap()
            });
            let met = b.elementwise(Op::Sub, &[second, first], &RuleSet::None).unwrap();
            // Restores the size, so that the value aligns with the others.
            let mut sizes = shape.to_vec();
            sizes[axis] = 1;
            let reduced = b.reduce(ReduceOp::Max, met, axis as i64).unwrap();
            b.reshape(reduced, sizes).unwrap()
        }
        // An arg-reduction over several axes, which stay with size 1.
        12 => {
            let mut axes: Vec<i64> = dims.clone();
            for _ in 0..choices.below(rank) {
                axes.remove(choices.below(axes.len()));
            }
            let along = ReduceOptions::axes(&axes).keepdims(true);
            let function = *choices.pick(&[Reduction::ArgMax, Reduction::ArgMin]);
            b.along(function, &x, &along).unwrap()
        }
        // A slice of a reduction.
        13 if rank > 1 => {
            let axis = choices.below(rank);
            let sums = b.reduce(ReduceOp::Add, b.convert(x, DType::F64).unwrap(), axis as i64);
            let mut sums = sums.unwrap();
            let mut cut = choices.below(rank - 1);
            let mut sizes = shape.to_vec();
            sizes[axis] = 1;
            let of_x = cut + usize::from(cut >= axis);
            if choices.chance(50) {
                // Inserts the reduced axis with size 1.
                (sums, cut) = (b.reshape(sums, &sizes[..]).unwrap(), of_x);
            }
            sizes[of_x] = 1;
            let left = sums.array_type().unwrap().shape;
            let along = |(of, &size): (usize, &usize)| match of == cut {
                true => AxisSlice::new(size / 2, size - size / 2, 1),
                false => AxisSlice::whole(size),
            };
            let slices: Vec<AxisSlice> = left.iter().enumerate().map(along).collect();
            let some = b.slice(sums, &slices).unwrap();
            b.reshape(b.reduce(ReduceOp::Max, some, cut as i64).unwrap(), sizes).unwrap()
        }
        // A counter.
        9 => b.iota(DType::F32, shape, choices.below(rank) as i64).unwrap(),
        _ => {
            let y = b.convert(choices.pick(values), dtype).unwrap();
            let y_shape = y.array_type().unwrap().shape;
            let meet = |(a, b): (&usize, &usize)| if *a == 1 { *b } else { *a };
            let met: Shape = shape.iter().zip(y_shape.iter()).map(meet).collect();
            let to = |value: Value| b.broadcast_in_dim(value, &dims, &met).unwrap();
            let op = *choices.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Max]);
            b.elementwise(op, &[to(x), to(y)], &RuleSet::None).unwrap()
        }
    }
}

/// A source that must be read in the order of its elements, like a compressed file.
#[derive(Debug)]
struct InOrder {
    source: MemorySource,
    /// The positions of open readers. A read continues at the nearest one before it, or starts again.
    readings: Mutex<Readings>,
}

#[derive(Debug, Default)]
struct Readings {
    ends: Vec<usize>,
    begun: usize,
    read: usize,
}

impl InOrder {
    fn new(argument: &Array) -> Self {
        let source = MemorySource::new(argument.to_row_major().unwrap()).unwrap();
        InOrder { source, readings: Mutex::default() }
    }
}

impl Source for InOrder {
    fn array_type(&self) -> &ArrayType {
        self.source.array_type()
    }

    fn is_sequential(&self) -> bool {
        true
    }

    fn read(&self, region: &ArrayRegion) -> Result<Array, StoreError> {
        let shape = &self.array_type().shape;
        let place = |index: &[usize]| -> usize {
            index.iter().zip(shape.iter()).fold(0, |place, (&index, &size)| place * size + index)
        };
        let last: Vec<usize> = region.ranges().map(|range| range.end.saturating_sub(1)).collect();
        let (start, end) = (place(region.starts()), place(&last) + 1);
        let mut readings = self.readings.lock().unwrap();
        readings.read += 1;
        let before = readings.ends.iter_mut().filter(|at| **at <= start);
        match before.max() {
            Some(at) => *at = end,
            None => {
                readings.begun += 1;
                readings.ends.push(end);
            }
        }
        drop(readings);
        self.source.read(region)
    }
}

/// The storage that a source or a sink declares.
fn random_chunks(choices: &mut Choices, shape: &Shape) -> Option<Vec<usize>> {
    let chunk = |&size: &usize| match size {
        0..7 => size.max(1),
        _ => *choices.pick(&[1, 4, 7, 31, 64, 100, 365, 512]),
    };
    let chunks = shape.iter().map(chunk).collect();
    choices.chance(50).then_some(chunks)
}

fn random_sink(choices: &mut Choices, array_type: &ArrayType) -> (Box<dyn Sink>, MemoryResult) {
    let (sink, result) = MemorySink::new(array_type.clone()).unwrap();
    match random_chunks(choices, &array_type.shape) {
        Some(chunks) => (Box::new(sink.with_chunks(chunks)), result),
        None => (Box::new(sink), result),
    }
}

fn random_source(choices: &mut Choices, argument: &Array) -> MemorySource {
    let source = MemorySource::new(argument.to_row_major().unwrap()).unwrap();
    match random_chunks(choices, &argument.array_type().shape) {
        Some(chunks) => source.with_chunks(chunks),
        None => source,
    }
}

/// The results of a streamed run, with the plan; `None` if the memory limit is too low.
fn streamed(
    choices: &mut Choices,
    graph: &Graph,
    arguments: &[Array],
    memory_limit: usize,
) -> Option<(Plan, Vec<Array>)> {
    let sources: Vec<MemorySource> =
        arguments.iter().map(|argument| random_source(choices, argument)).collect();
    let mut inputs: Vec<StreamInput<'_>> = Vec::new();
    for (source, argument) in sources.iter().zip(arguments) {
        inputs.push(match choices.chance(25) {
            true => StreamInput::InMemory(argument.view()),
            false => StreamInput::Stored(source as &dyn Source),
        });
    }
    let outputs = graph.outputs().iter().map(|&output| &graph[output].array_type);
    let (mut sinks, results): (Vec<_>, Vec<_>) =
        outputs.map(|array_type| random_sink(choices, array_type)).unzip();
    let stored: Vec<StorageInfo> = inputs.iter().map(StorageInfo::input).collect();
    // The results in these sinks do not count as memory of the run.
    let unheld = |sink: &dyn Sink| StorageInfo { scratch_bytes: 0, ..StorageInfo::output(sink) };
    let stored_outputs: Vec<StorageInfo> = sinks.iter().map(|sink| unheld(&**sink)).collect();
    let options = StreamOptions::new().memory_limit(memory_limit);
    let plan = match Plan::new(graph, &stored, &stored_outputs, &options) {
        Ok(plan) => plan,
        Err(StreamError::MemoryLimit { enough, limit, .. }) => {
            let enough = enough.expect("a limit that does");
            assert!(enough > limit);
            let options = options.memory_limit(enough);
            assert!(Plan::new(graph, &stored, &stored_outputs, &options).is_ok());
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    assert!(plan.held_bytes() <= memory_limit, "{plan}");
    plan.run(&inputs, &mut sinks, &options).unwrap();
    sinks.into_iter().for_each(|sink| sink.finish().unwrap());
    Some((plan, results.iter().map(|result| result.take().unwrap()).collect()))
}

/// The results of one run over whole arrays, row-major.
fn whole(graph: &Graph, arguments: &[Array]) -> Vec<Array> {
    let executable = compile(graph, &CompileOptions::default()).unwrap();
    let views: Vec<_> = arguments.iter().map(Array::view).collect();
    let results = executable.run(&views).unwrap();
    results.iter().map(|result| result.to_row_major().unwrap()).collect()
}

fn check(results: &[Array], whole: &[Array], of_what: impl Fn() -> String) {
    assert_eq!(results.len(), whole.len());
    for (result, expected) in results.iter().zip(whole) {
        assert_eq!(result.bytes(), expected.bytes(), "{}", of_what());
    }
}

/// The sorted axis stays whole, and so does the table of a search.
#[test]
fn sorts_are_cut_along_other_axes() {
    for (shape, axis) in [([400, 300], 0), ([300, 400], 1)] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, shape).unwrap();
        let table = b.parameter("table", DType::F64, [50]).unwrap();
        let sorted = b.sort(&x, axis, false).unwrap();
        let places = b.search_sorted(b.sort(&table, 0, false).unwrap(), &sorted, SearchSide::Left);
        let order = b.argsort(b.neg(&x).unwrap(), axis, true).unwrap();
        let graph = b.finish(&[sorted, places.unwrap(), order]).unwrap();
        let choices = &mut Choices(7);
        let types = [ArrayType::new(DType::F64, shape), ArrayType::new(DType::F64, [50])];
        let arguments = types.map(|array_type| random_array(choices, &array_type));
        // Input and results are 3.8 MB.
        let mut limits = (7..20).map(|limit| limit * 100_000);
        let (plan, results) =
            limits.find_map(|limit| streamed(choices, &graph, &arguments, limit)).unwrap();
        check(&results, &whole(&graph, &arguments), || plan.to_string());
    }
}

/// A sequential source is read again only by a later pass.
#[test]
fn what_is_to_be_read_in_order_is() {
    let (mut cut, mut refused, mut pieces, mut begun) = (0, 0, 0, 0);
    for seed in 0..200 {
        let (graph, arguments) = random_graph(&mut Choices(seed));
        let whole = whole(&graph, &arguments);
        for memory_limit in [300_000, 150_000, 100_000] {
            let sources: Vec<InOrder> = arguments.iter().map(InOrder::new).collect();
            let inputs: Vec<StreamInput<'_>> =
                sources.iter().map(|source| StreamInput::Stored(source as &dyn Source)).collect();
            let outputs = graph.outputs().iter().map(|&output| &graph[output].array_type);
            let sinks = outputs.map(|of| MemorySink::new(of.clone()).unwrap());
            let (sinks, results): (Vec<_>, Vec<_>) = sinks.unzip();
            let mut sinks: Vec<Box<dyn Sink>> =
                sinks.into_iter().map(|sink| Box::new(sink) as Box<dyn Sink>).collect();
            let stored: Vec<StorageInfo> = inputs.iter().map(StorageInfo::input).collect();
            let unheld = vec![StorageInfo::default(); sinks.len()];
            let options = StreamOptions::new().memory_limit(memory_limit);
            let Ok(plan) = Plan::new(&graph, &stored, &unheld, &options) else {
                refused += 1;
                continue;
            };
            plan.run(&inputs, &mut sinks, &options).unwrap();
            sinks.into_iter().for_each(|sink| sink.finish().unwrap());
            let results: Vec<Array> = results.iter().map(|result| result.take().unwrap()).collect();
            check(&results, &whole, || format!("seed {seed}: {plan}\n{graph}"));
            cut += usize::from(plan.pieces() > plan.passes());
            for source in &sources {
                let readings = source.readings.lock().unwrap();
                pieces += readings.read;
                begun += readings.begun;
                // Each slice of the input is read separately.
                assert!(
                    readings.begun <= 6 * plan.passes(),
                    "seed {seed}: {readings:?} {plan}\n{graph}"
                );
            }
        }
    }
    assert!(cut > 30 && refused > 10 && pieces > 4 * begun, "{cut} {refused} {pieces} {begun}");
}

#[test]
fn pieces_give_the_bits_of_the_whole() {
    let (mut cut, mut in_passes, mut refused) = (0, 0, 0);
    for seed in 0..200 {
        let choices = &mut Choices(seed);
        let (graph, arguments) = random_graph(choices);
        let whole = whole(&graph, &arguments);
        for limit in [1 << 30, 300_000, 150_000, 100_000] {
            let Some((plan, results)) = streamed(choices, &graph, &arguments, limit) else {
                refused += 1;
                continue;
            };
            cut += usize::from(plan.pieces() > plan.passes().max(1));
            in_passes += usize::from(plan.passes() > 1);
            check(&results, &whole, || format!("seed {seed}, {limit}: {plan}\n{graph}"));
        }
    }
    // Most refused programs have an operation that needs a whole axis.
    assert!(cut > 100 && in_passes > 50 && refused > 10, "{cut}, {in_passes}, {refused}");
}
