//! All executors against the reference evaluator, bit for bit, on random graphs: blocks at every level, and
//! machine code; several thread counts, inputs and outputs of any strides, and outputs written over inputs.

mod random;

use indim_builder::GraphBuilder;
use indim_cpu::{ArrayView, CompileOptions, compile};
use indim_graph::{Array, evaluate};
use indim_ops::DType;
use indim_shape::RuleSet;
use proptest::prelude::*;
use random::Choices;

fn check(seed: u64) {
    random::check(&mut Choices(&mut random::pseudo_random(seed)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 800,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_executor_gives_the_bits_of_the_reference(seed in any::<u64>()) {
        check(seed);
    }
}

#[test]
fn many_graphs_by_one_executor_each() {
    (0..8000).for_each(|seed| {
        random::check_once(&mut Choices(&mut random::pseudo_random(seed ^ 0x0a11)));
    });
}

#[test]
fn programs_bound_to_other_sizes_give_the_bits_of_the_reference() {
    let seeds = 0..600;
    let bound = seeds.clone().filter(|&seed| {
        random::check_symbolic(&mut Choices(&mut random::pseudo_random(seed ^ 0x5123)))
    });
    let bound = bound.count();
    assert!(bound > seeds.count() / 4, "only {bound} graphs have symbols");
}

#[test]
fn several_threads_give_the_bits_of_one() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let pools = [1, 2, 7].map(pool);
    let check =
        |seed: &u64| random::check_threads(&mut Choices(&mut random::pseudo_random(*seed)), &pools);
    let parallel = (0..40).filter(check).count();
    assert!(parallel >= 10, "only {parallel} of 40 graphs are work for several threads");
}

#[test]
fn a_nest_reads_only_what_an_earlier_nest_has_written() {
    // `viewed` is materialised for `sum`; `expanded` reads it too, and its shape sorts first.
    let b = GraphBuilder::new();
    let p = b.parameter("p", DType::F32, [1, 1, 4, 1]).unwrap();
    let viewed =
        b.transpose(b.exp(b.transpose(p, &[3, 2, 1, 0]).unwrap()).unwrap(), &[3, 2, 1, 0]).unwrap();
    let x = b.parameter("x", DType::F32, [1, 1, 4, 3]).unwrap();
    let expanded = b.neg(&viewed).unwrap();
    let product = b.under(RuleSet::Numpy).mul(x, expanded).unwrap();
    let sum = b.under(RuleSet::Numpy).add(product, viewed).unwrap();
    let graph = b.finish(&[sum]).unwrap();
    let numbers: Vec<f32> = (0u8..12).map(|i| f32::from(i) * 0.25).collect();
    let arguments = [
        Array::new([1, 1, 4, 1], numbers[..4].to_vec()).unwrap(),
        Array::new([1, 1, 4, 3], numbers).unwrap(),
    ];
    let expected = evaluate(&graph, &arguments).unwrap();
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(ArrayView::from).collect();
    for optimize in [false, true] {
        let options = CompileOptions::new().optimize(optimize);
        let results = compile(&graph, &options).unwrap().run(&inputs).unwrap();
        assert_eq!(results[0].clone(), expected[0]);
    }
}

#[test]
fn an_empty_result_takes_no_memory_however_large_its_operands_could_be() {
    let b = GraphBuilder::new();
    let n = 1 << (usize::BITS / 2);
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
    b.finish(&[&y]).unwrap();
    b.parameter("q", DType::F64, [7]).unwrap();
    assert_eq!(b.neg(y).unwrap().array_type().unwrap().to_string(), "f32[3]");
}

#[test]
fn the_bits_of_a_whole_number_are_no_conversion() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I32, [100]).unwrap();
    let one = b.constant(Array::new([], vec![1.0f32]).unwrap());
    let sum = b.add(b.bitcast(x, DType::F32).unwrap(), one, &[]).unwrap();
    let graph = b.finish(&[sum]).unwrap();
    let bits = (0u8..100).map(|i| (f32::from(i) * 0.25).to_bits().cast_signed()).collect();
    let arguments = [Array::new([100], bits).unwrap()];
    let expected = evaluate(&graph, &arguments).unwrap();
    let inputs = [ArrayView::from(&arguments[0])];
    let results = compile(&graph, &CompileOptions::default()).unwrap().run(&inputs).unwrap();
    assert_eq!(results[0].clone(), expected[0]);
}
