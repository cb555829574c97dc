//! Sums over arrays in chunks: each chunk is decoded as often as the plan states, and at most once per pass
//! if the limit permits.

use indim_builder::{GraphBuilder, ReduceOptions, Reduction, Value};
use indim_graph::Graph;
use indim_io::{MemorySink, Sink};
use indim_ops::{ArrayType, DType, ReduceOp};
use indim_shape::Shape;
use indim_stream::{Plan, StorageInfo, StreamInput, StreamOptions};

use crate::harness::{Choices, Counting, Run, random_array, run_in_pieces, whole};

/// A program that sums `x`; its name, and how often it must read `x`.
fn random_program(choices: &mut Choices, array_type: &ArrayType) -> (&'static str, usize, Graph) {
    let b = GraphBuilder::new();
    let x = b.parameter("x", array_type.dtype, array_type.shape.clone()).unwrap();
    let rank = array_type.shape.rank() as i64;
    let axis = choices.below(rank as usize) as i64;
    let kept = |axes: &[i64]| ReduceOptions::axes(axes).keepdims(true);
    let along = |of: Reduction, x: &Value, axes: &[i64]| b.along(of, x, kept(axes)).unwrap();
    let mean_of = |x: &Value| along(Reduction::Mean, x, &[axis]);
    let mean = || mean_of(&x);
    let flat = || b.along(Reduction::Mean, &x, axis).unwrap();
    let is_complex = array_type.dtype == DType::C128;
    // Means of integers are numbers of another type.
    let doubles = b.convert(&x, if is_complex { DType::C128 } else { DType::F64 }).unwrap();
    let (name, passes, outputs) = match choices.below(if is_complex { 4 } else { 9 }) {
        0 => ("mean", 1, vec![mean()]),
        1 => ("sum", 1, vec![along(Reduction::Sum, &x, &[axis])]),
        2 => ("product", 1, vec![along(Reduction::Prod, &x, &[axis])]),
        3 => ("anomaly", 2, vec![b.numpy().sub(&doubles, mean_of(&doubles)).unwrap()]),
        4 => ("deviation", 2, vec![along(Reduction::Std, &x, &[axis])]),
        5 => {
            let centred = b.numpy().sub(&doubles, mean_of(&doubles)).unwrap();
            let deviation = along(Reduction::Std, &doubles, &[axis]);
            ("standardised", 3, vec![b.numpy().div(&centred, &deviation).unwrap()])
        }
        6 => {
            let maximum = b.reduce(ReduceOp::Max, &x, axis).unwrap();
            ("mean and maximum", 1, vec![flat(), maximum])
        }
        7 => {
            let place = b.reduce(ReduceOp::ArgMax, &x, axis).unwrap();
            ("mean and place", 1, vec![flat(), place])
        }
        _ => ("sum of all", 1, vec![along(Reduction::Sum, &x, &(0..rank).collect::<Vec<_>>())]),
    };
    (name, passes, b.finish(&outputs).unwrap())
}

#[test]
fn any_chunks_give_the_bits_of_the_whole() {
    let (mut carried, mut refused, mut run, mut once) = (0, 0, 0, 0);
    for seed in 0..400 {
        let choices = &mut Choices(seed);
        let rank = 1 + choices.below(3);
        let mut sizes: Vec<usize> = (0..rank).map(|_| choices.pick(&[1, 2, 6, 11])).collect();
        let long = choices.below(rank);
        sizes[long] = choices.pick(&[33, 365, 512, 513, 600, 1024, 1461, 2100]);
        let dtype = choices.pick(&[DType::F32, DType::F64, DType::I32, DType::C128]);
        let array_type = ArrayType::new(dtype, Shape::from(&sizes[..]));
        let argument = random_array(choices, &array_type);
        let (name, passes, graph) = random_program(choices, &array_type);
        let expected = whole(&graph, &[&argument]);
        let chunk = |&size: &usize| match size {
            0..12 => choices.pick(&[1, 2, 3, size]).min(size),
            _ => choices
                .pick(&[1, 2, 4, 5, 8, 16, 24, 31, 32, 37, 64, 100, 365, 512, size])
                .min(size),
        };
        let chunks: Vec<usize> = sizes.iter().map(chunk).collect();
        for memory_limit in [1 << 30, 400_000, 200_000, 120_000] {
            let source = Counting::new(&argument, &chunks);
            let what = format!("{seed}: {name} of {array_type} in {chunks:?}");
            let Some(Run { plan, results }) = run_in_pieces(&graph, &[&source], memory_limit)
            else {
                refused += 1;
                continue;
            };
            for (result, expected) in results.iter().zip(&expected) {
                assert_eq!(result.bytes(), expected.bytes(), "{what}: {plan}");
            }
            let planned = plan.decodings()[0].1;
            let decoded = source.average();
            assert!((planned - decoded).abs() < 0.02 * planned, "{what}: {plan} {planned}");
            run += 1;
            carried += usize::from(plan.to_string().contains("carried"));
            once += usize::from(planned < 1.01 * passes as f64);
            if memory_limit > 1 << 20 {
                assert!(planned <= 1.01 * passes as f64, "{what}: {plan} {planned}");
            }
        }
    }
    assert!(
        carried > 150 && refused < run / 3 && once > run / 2,
        "{carried} {refused} {run} {once}"
    );
}

/// In a mean over time, with one chunk per map, each map is read once under any memory limit.
#[test]
fn maps_of_one_time_each_are_read_once() {
    let array_type = ArrayType::new(DType::F32, [600, 40, 60]);
    let argument = random_array(&mut Choices(1), &array_type);
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [600, 40, 60]).unwrap();
    let mean = b.along(Reduction::Mean, &x, 0).unwrap();
    let graph = b.finish(&[mean]).unwrap();
    let expected = whole(&graph, &[&argument]);
    for chunk in [1, 2, 4, 8] {
        let source = Counting::new(&argument, &[chunk, 40, 60]);
        let inputs = [StreamInput::Stored(&source)];
        let (sink, result) = MemorySink::new(ArrayType::new(DType::F32, [40, 60])).unwrap();
        let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(sink)];
        // All 32 lanes of the map take 614,400 bytes.
        let memory_limit = 600_000 + chunk * 80_000;
        let options = StreamOptions::new().memory_limit(memory_limit);
        let stored = [StorageInfo::input(&inputs[0])];
        let plan = Plan::new(&graph, &stored, &[StorageInfo::default()], &options).unwrap();
        plan.run(&inputs, &mut sinks, &options).unwrap();
        sinks.into_iter().for_each(|sink| sink.finish().unwrap());
        assert_eq!(result.take().unwrap().bytes(), expected[0].bytes());
        assert_eq!(source.average(), 1.0, "{chunk}: {plan}");
    }
}
