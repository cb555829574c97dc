//! Convolutions and pools compared with the reference evaluator, bit for bit, at every level, for one thread
//! and several: random sizes, strides, dilations, groups, paddings and orders of axes.

use indim_builder::{Convolution, ConvolutionAxes, GraphBuilder, PoolDivisor, Value};
use indim_cpu::{CompileOptions, Level, RunOptions, Threads, compile};
use indim_graph::{Array, Graph, PaddedWindow, evaluate};
use indim_loops::lower;
use indim_ops::{DType, ReduceOp};

/// A generator of random numbers (PCG).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let shifted = (((state >> 18) ^ state) >> 27) as u32;
        shifted.rotate_right((state >> 59) as u32)
    }

    /// A number from 1 to `end`.
    fn up_to(&mut self, end: usize) -> usize {
        1 + self.next() as usize % end
    }

    fn array(&mut self, dtype: DType, shape: &[usize]) -> Array {
        let count = shape.iter().product();
        let numbers: Vec<f32> =
            (0..count).map(|_| self.next() as i32 as f32 / (1_u32 << 24) as f32).collect();
        match dtype {
            DType::F32 => Array::new(shape, numbers),
            DType::F64 => {
                Array::new(shape, numbers.iter().map(|&it| f64::from(it) / 3.0).collect())
            }
            _ => Array::new(shape, numbers.iter().map(|&it| it as i8).collect()),
        }
        .unwrap()
    }
}

/// Compares all executions of a graph with the reference evaluator.
fn check(graph: &Graph, inputs: &[Array], what: &dyn core::fmt::Debug) {
    let expected = evaluate(graph, inputs).unwrap();
    let views: Vec<_> = inputs.iter().map(Array::view).collect();
    for &level in Level::available() {
        let executable = compile(graph, &CompileOptions::new().level(level)).unwrap();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let options = RunOptions::new().threads(Threads::Pool(&pool));
            let results = executable.run_with(&views, &options).unwrap();
            assert_eq!(results, expected, "{what:?} at {level} on {threads} threads");
        }
    }
}

/// The axes of an array in a random one of three orders.
fn axes(random: &mut Random, spatial: usize) -> ConvolutionAxes {
    match random.up_to(3) {
        1 => ConvolutionAxes { batch: 0, feature: spatial + 1, spatial: (1..=spatial).collect() },
        2 => ConvolutionAxes {
            batch: spatial + 1,
            feature: spatial,
            spatial: (0..spatial).collect(),
        },
        _ => ConvolutionAxes::leading(spatial),
    }
}

/// The shape of an array with these axes.
fn shape(axes: &ConvolutionAxes, batch: usize, feature: usize, spatial: &[usize]) -> Vec<usize> {
    let mut shape = vec![0; spatial.len() + 2];
    (shape[axes.batch], shape[axes.feature]) = (batch, feature);
    for (&axis, &size) in axes.spatial.iter().zip(spatial) {
        shape[axis] = size;
    }
    shape
}

fn window(random: &mut Random, size: usize) -> PaddedWindow {
    PaddedWindow {
        size,
        stride: random.up_to(2),
        dilation: random.up_to(2),
        base_dilation: if random.up_to(4) == 1 { 2 } else { 1 },
        low: random.up_to(3) as i64 - 1,
        high: random.up_to(3) as i64 - 1,
        is_reversed: random.up_to(4) == 1,
    }
}

#[test]
fn convolutions_have_the_bits_of_the_evaluator() {
    let mut random = Random(1);
    for round in 0..60 {
        let spatial = random.up_to(2);
        let sizes: Vec<usize> = (0..spatial).map(|_| 4 + random.up_to(16)).collect();
        let kernel: Vec<usize> = (0..spatial).map(|_| random.up_to(3)).collect();
        let windows = kernel.iter().map(|&size| window(&mut random, size)).collect();
        let groups = random.up_to(3);
        let channels = [1, random.up_to(9)][round % 2];
        let features = [1, random.up_to(12)][round / 2 % 2];
        let convolution = Convolution {
            operand: axes(&mut random, spatial),
            kernel: axes(&mut random, spatial),
            result: axes(&mut random, spatial),
            feature_groups: groups,
            ..Convolution::new(windows)
        };
        let dtype = [DType::F32, DType::F32, DType::F64, DType::I8][round % 4];
        let sum = (dtype == DType::I8).then_some(DType::I32);
        let x = shape(&convolution.operand, random.up_to(2), groups * channels, &sizes);
        let w = shape(&convolution.kernel, groups * features, channels, &kernel);
        let (x, w) = (random.array(dtype, &x), random.array(dtype, &w));
        let b = GraphBuilder::new();
        let operand = b.parameter("x", dtype, x.shape()).unwrap();
        // A constant kernel is transposed when it is compiled, a parameter in each run.
        let is_constant = random.up_to(2) == 1;
        let (kernel, inputs) = match is_constant {
            true => (b.constant(w), vec![x]),
            false => (b.parameter("w", dtype, w.shape()).unwrap(), vec![x, w]),
        };
        let result = b.convolution(&operand, &kernel, &convolution, sum).unwrap();
        check(&b.finish(&[result]).unwrap(), &inputs, &convolution);
    }
}

#[test]
fn pools_have_the_bits_of_the_evaluator() {
    let mut random = Random(2);
    for _ in 0..20 {
        let sizes = [random.up_to(2), random.up_to(3), 4 + random.up_to(20), 4 + random.up_to(20)];
        let windows: Vec<(usize, PaddedWindow)> = (2..4)
            .map(|axis| {
                let size = random.up_to(3);
                (axis, PaddedWindow { base_dilation: 1, ..window(&mut random, size) })
            })
            .collect();
        let x = random.array(DType::F32, &sizes);
        let b = GraphBuilder::new();
        let operand = b.parameter("x", DType::F32, x.shape()).unwrap();
        let max = b.reduce_window(&operand, ReduceOp::Max, None, &windows).unwrap();
        let mean = b.average_pool(&operand, &windows, PoolDivisor::Elements, &[]).unwrap();
        check(&b.finish(&[max, mean]).unwrap(), &[x], &windows);
    }
}

/// Bias, padding, depthwise convolution and activation run together on some channels at a time.
#[test]
fn depthwise_convolutions_in_tiles_have_the_bits_of_the_evaluator() {
    let mut random = Random(4);
    for round in 0..6 {
        let dtype = [DType::F32, DType::F32, DType::F64][round % 3];
        let (channels, sizes) = (40 + random.up_to(50), [0; 2].map(|_| 40 + random.up_to(20)));
        let windows: Vec<PaddedWindow> = (0..2)
            .map(|_| PaddedWindow {
                size: 3,
                stride: 1 + round % 2,
                dilation: random.up_to(2),
                low: random.up_to(3) as i64 - 1,
                high: random.up_to(3) as i64 - 1,
                ..PaddedWindow::default()
            })
            .collect();
        let convolution = Convolution { feature_groups: channels, ..Convolution::new(windows) };
        let x = random.array(dtype, &[random.0 as usize % 2 + 1, channels, sizes[0], sizes[1]]);
        let (kernel, bias) =
            (random.array(dtype, &[channels, 1, 3, 3]), random.array(dtype, &[channels]));
        let b = GraphBuilder::new();
        let operand = b.parameter("x", dtype, x.shape()).unwrap();
        let biased = |value: &Value| {
            let shape = value.array_type().unwrap().shape;
            let bias = b.broadcast_in_dim(b.constant(bias.clone()), &[1], shape).unwrap();
            (value + bias).clamp(-100, 60)
        };
        let once = b.convolution(biased(&operand), b.constant(kernel), &convolution, None).unwrap();
        let graph = b.finish(&[biased(&once)]).unwrap();
        let groups = compile(&graph, &CompileOptions::new()).unwrap().tiled_groups().count();
        // With more threads than tiles, each nest runs on all threads.
        let is_small = std::thread::available_parallelism().is_ok_and(|count| count.get() <= 4);
        assert!(groups == 1 || !is_small, "{groups} groups of {convolution:?}");
        check(&graph, &[x], &convolution);
    }
}

/// Padding of several axes is a concatenation of concatenations, each of whose parts is written once.
#[test]
fn padded_axes_are_written_once() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 5, 7]).unwrap();
    let zero = b.constant(Array::from_scalar(0.0_f32));
    let padded = |x: &Value| b.pad(x, &zero, &[(0, 0, 0), (1, 2, 0), (2, 1, 0)]).unwrap();
    let (inner, outer) = (padded(&x), padded(&(-&x)));
    // An inner concatenation that has another reader is in memory itself.
    let shared = b.concatenate(&[&x, &x], 0).unwrap();
    let joined = b.concatenate(&[&shared, &shared], 1).unwrap();
    let graph = b.finish(&[inner, outer, shared, joined]).unwrap();
    let input = Random(3).array(DType::F32, &[3, 5, 7]);
    check(&graph, &[input], &"pads");
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3, 5, 7]).unwrap();
    let zero = b.constant(Array::from_scalar(0.0_f32));
    let padded = b.pad(&x, &zero, &[(0, 0, 0), (1, 2, 0), (2, 1, 0)]).unwrap();
    let nests = lower(&b.finish(&[padded]).unwrap());
    let reads = nests.nests.iter().filter(|nest| nest.to_string().contains("parameter 0")).count();
    assert_eq!((reads, nests.temporaries.len()), (1, 0), "{nests}");
}
