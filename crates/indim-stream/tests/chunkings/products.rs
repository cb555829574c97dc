//! Products whose summed axis is cut.

use indim_builder::{GraphBuilder, Value};
use indim_graph::Graph;
use indim_ops::{ArrayType, DType};
use indim_shape::Shape;

use crate::harness::{Choices, Counting, Run, random_array, run_in_pieces, whole};

/// Sizes of the kept axes and of the summed axis.
struct Sizes {
    rows: usize,
    columns: usize,
    summed: usize,
}

/// A product of `x` and `y`, with its name.
fn random_program(choices: &mut Choices, sizes: &Sizes, dtype: DType) -> (&'static str, Graph) {
    let b = GraphBuilder::new();
    let &Sizes { rows, columns, summed } = sizes;
    let parameter = |name: &str, shape: &[usize]| b.parameter(name, dtype, shape).unwrap();
    let (name, product): (_, Value) = match choices.below(5) {
        0 => {
            let [x, y] = [parameter("x", &[rows, summed]), parameter("y", &[summed, columns])];
            ("matrix product", b.matmul(&x, &y).unwrap())
        }
        1 => {
            let [x, y] = [parameter("x", &[summed, rows]), parameter("y", &[summed, columns])];
            ("transposed product", b.tensordot(&x, &y, &[0], &[0]).unwrap())
        }
        2 => {
            let [x, y] = [parameter("x", &[summed, rows]), parameter("y", &[summed, rows])];
            ("dot of columns", b.vecdot(&x, &y, 0).unwrap())
        }
        3 => {
            let [x, y] = [parameter("x", &[summed, rows]), parameter("y", &[summed, columns])];
            let mean = b.along(indim_builder::Reduction::Mean, &x, 0).unwrap();
            let deviations = b.numpy().sub(&x, b.convert(&mean, dtype).unwrap()).unwrap();
            ("covariance", b.tensordot(&deviations, &y, &[0], &[0]).unwrap())
        }
        _ => {
            let [x, y] = [parameter("x", &[rows, summed]), parameter("y", &[summed])];
            ("product of a matrix and a vector, scaled", b.matmul(&x, &y).unwrap() * 3)
        }
    };
    (name, b.finish(&[product]).unwrap())
}

/// The bits are those of one run over the whole, for any chunks. With enough memory, each chunk is decoded
/// once per pass.
#[test]
fn products_can_be_cut_along_the_summed_axis() {
    let (mut refused, mut run, mut cut) = (0, 0, 0);
    for seed in 0..200 {
        let choices = &mut Choices(seed);
        let mut pick = |of: &[usize]| choices.pick(of);
        let sizes = Sizes {
            rows: pick(&[1, 3, 17]),
            columns: pick(&[1, 4, 9]),
            summed: pick(&[1, 60, 511, 513, 576, 1100, 2100, 5000, 20_000]),
        };
        let dtype = choices.pick(&[DType::F32, DType::F64, DType::I32]);
        let (name, graph) = random_program(choices, &sizes, dtype);
        let types: Vec<&ArrayType> =
            graph.parameters().iter().map(|&value| &graph[value].array_type).collect();
        let arguments: Vec<_> =
            types.iter().map(|array_type| random_array(choices, array_type)).collect();
        let arguments: Vec<_> = arguments.iter().collect();
        let expected = whole(&graph, &arguments);
        let chunks = |shape: &Shape| -> Vec<usize> {
            let chunk = |&size: &usize| match size {
                0..20 => size,
                _ => Choices(seed).pick(&[24, 100, 365, 512, 1024]).min(size),
            };
            shape.iter().map(chunk).collect()
        };
        for memory_limit in [1 << 30, 1_000_000, 400_000] {
            let sources: Vec<Counting> = arguments
                .iter()
                .map(|argument| Counting::new(argument, &chunks(&argument.array_type().shape)))
                .collect();
            let sources: Vec<&Counting> = sources.iter().collect();
            let Some(Run { plan, results }) = run_in_pieces(&graph, &sources, memory_limit) else {
                refused += 1;
                continue;
            };
            let what = format!("{seed}: {name} of {types:?}: {plan}");
            assert_eq!(results[0].bytes(), expected[0].bytes(), "{what}");
            let is_whole = memory_limit > 1 << 20;
            assert!(!is_whole || plan.max_decodings() <= 1.0, "{what}");
            run += 1;
            cut += usize::from(plan.to_string().contains("combined along axis"));
        }
    }
    assert!(cut > 60 && refused < run / 3, "{cut} {refused} {run}");
}

/// A product of matrices whose summed axis is long needs little memory.
#[test]
fn a_long_summed_axis_takes_little_memory() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [40_000, 16]).unwrap();
    let graph = b.finish(&[b.tensordot(&x, &x, &[0], &[0]).unwrap()]).unwrap();
    let array_type = ArrayType::new(DType::F32, [40_000, 16]);
    let argument = random_array(&mut Choices(7), &array_type);
    let source = Counting::new(&argument, &[1000, 16]);
    let Run { plan, results } = run_in_pieces(&graph, &[&source], 1_000_000).unwrap();
    assert_eq!(results[0].bytes(), whole(&graph, &[&argument])[0].bytes());
    assert!(plan.max_decodings() < 2.0, "{plan}");
}
