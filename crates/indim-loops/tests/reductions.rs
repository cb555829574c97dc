//! Nests of reductions, and the values that they materialise.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{AxisSlice, optimize};
use indim_loops::strides::AxisStrides;
use indim_loops::walk::reduction::{NestPartition, ReducedAxes, ReductionNest, UnitForm};
use indim_loops::{loop_nest::LoopNests, lower};
use indim_ops::{DType, Op, ReduceOp};
use indim_shape::RuleSet;

/// The nests of `function(x)`, after the passes.
fn nests(function: impl Fn(&GraphBuilder, &Value) -> Value) -> LoopNests {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [8, 9]).unwrap();
    lower(&optimize(&b.finish(&[function(&b, &x)]).unwrap()))
}

/// The sums along the rows, as a column.
fn row_sums(b: &GraphBuilder, x: &Value) -> Value {
    b.reshape(b.reduce(ReduceOp::Add, x, 1).unwrap(), [8, 1]).unwrap()
}

#[test]
fn a_producer_is_computed_inside_the_reducing_nest() {
    let program = nests(|b, x| b.reduce(ReduceOp::Add, (x - 1.0) * x, 0).unwrap());
    assert_eq!(program.nests.len(), 1);
    assert_eq!((program.nests[0].reduced, program.nests[0].instructions.len()), (Some(0), 2));
    assert!(program.temporaries.is_empty());
}

#[test]
fn cheap_values_are_recomputed_and_others_materialized() {
    let numpy = RuleSet::Numpy;
    // x - 1 twice: in the sum and in the division.
    let cheap = nests(|b, x| {
        let y = x - 1.0;
        b.under(numpy.clone()).div(&y, row_sums(b, &y)).unwrap()
    });
    assert_eq!((cheap.nests.len(), cheap.temporaries.len()), (2, 1));
    // exp once: it is materialised for the division.
    let expensive = nests(|b, x| {
        let y = x.exp();
        b.under(numpy.clone()).div(&y, row_sums(b, &y)).unwrap()
    });
    assert_eq!((expensive.nests.len(), expensive.temporaries.len()), (3, 2));
}

#[test]
fn reductions_along_one_axis_share_a_nest() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [8, 9]).unwrap();
    let along = |op, axis| b.reduce(op, &x, axis).unwrap();
    let results = [along(ReduceOp::Add, 1), along(ReduceOp::Max, 1), along(ReduceOp::Max, 0)];
    let program = lower(&b.finish(&results).unwrap());
    let stores: Vec<usize> = program.nests.iter().map(|nest| nest.stores.len()).collect();
    assert_eq!(stores, [1, 2]);
}

#[test]
fn arg_reductions_have_nests_of_their_own() {
    let arg_reductions = |function: &dyn Fn(&GraphBuilder, &Value) -> Value, length: usize| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [length, 9]).unwrap();
        let y = function(&b, &x);
        let along = |op| b.reduce(op, &y, 0).unwrap();
        let results = [along(ReduceOp::Max), along(ReduceOp::ArgMax), along(ReduceOp::ArgMin)];
        let nests = lower(&b.finish(&results).unwrap()).nests;
        let arg_reductions = nests.iter().filter(|nest| nest.is_arg_reduction());
        arg_reductions.map(|nest| (nest.stores.len(), nest.instructions.len())).collect::<Vec<_>>()
    };
    let (all, reversed) = (|_: &GraphBuilder, x: &Value| x.clone(), [0i64]);
    for length in [2, 63, 64] {
        assert_eq!(arg_reductions(&all, length), [(2, 0)]);
        assert_eq!(arg_reductions(&|b, x| b.reverse(x, &reversed).unwrap(), length), [(2, 0)]);
    }
    // The index of a single element is a constant.
    assert_eq!(arg_reductions(&all, 1), []);
    // A cheap operand is recomputed in the arg-reduction; another is materialised, because max reads it too.
    assert_eq!(arg_reductions(&|_, x| x * x, 64), [(2, 1)]);
    assert_eq!(arg_reductions(&|_, x| x.exp(), 64), [(2, 0)]);
}

#[test]
fn a_narrow_float_is_widened_where_it_is_summed() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8, 9]).unwrap();
    let sum = b.reduce(ReduceOp::Add, b.convert(x, DType::F64).unwrap(), 1).unwrap();
    let program = lower(&b.finish(&[b.convert(sum, DType::F32).unwrap()]).unwrap());
    assert!(program.nests[0].instructions.is_empty());
    assert_eq!(program.nests[0].accesses[0].array_type.dtype, DType::F32);
}

#[test]
fn an_axis_of_one_element_or_none_needs_no_reduction() {
    for shape in [[4, 1], [4, 0]] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, shape).unwrap();
        let graph = b.finish(&[b.reduce(ReduceOp::Add, x, 1).unwrap()]).unwrap();
        let nests = lower(&graph).nests;
        assert!(nests.iter().all(|nest| nest.reduced.is_none()), "{shape:?}");
    }
}

/// Each value has two uses: a reduction and the next value.
#[test]
fn recomputed_instructions_stay_proportional_to_the_graph() {
    for steps in [10, 2000] {
        let b = GraphBuilder::new();
        let mut v = b.parameter("x", DType::F64, [9]).unwrap();
        for _ in 0..steps {
            let sum = b.reduce(ReduceOp::Add, &v, 0).unwrap();
            v = b.elementwise(Op::Mul, &[v, sum], &RuleSet::Numpy).unwrap();
        }
        let graph = b.finish(&[v]).unwrap();
        let nests = lower(&graph).nests;
        let instructions: usize = nests.iter().map(|nest| nest.instructions.len()).sum();
        // The short chain is recomputed for each of its sums, which is cheaper than to materialise it.
        match steps {
            10 => assert_eq!(instructions, 10 + (0..10).sum::<usize>()),
            _ => assert!(instructions <= 8 * graph.len(), "{instructions} of {}", graph.len()),
        }
    }
}

#[test]
fn a_stack_that_is_only_reduced_is_not_written() {
    let stacked = |count: i64, is_returned: bool| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F64, [100]).unwrap();
        let part = |first: i64| {
            let shown = AxisSlice::python(Some(first), Some(first + 60), None, 100).unwrap();
            b.reshape(b.slice(&x, &[shown]).unwrap(), [60, 1]).unwrap()
        };
        let stack = b.concatenate(&(0..count).map(part).collect::<Vec<_>>(), 1).unwrap();
        let along = |op| b.reduce(op, &stack, 1).unwrap();
        let mut outputs = vec![along(ReduceOp::Add), along(ReduceOp::Max)];
        outputs.extend(is_returned.then(|| stack.clone()));
        let program = lower(&optimize(&b.finish(&outputs).unwrap()));
        (program.nests.len(), program.temporaries.len())
    };
    assert_eq!(stacked(5, false), (1, 0));
    assert_eq!(stacked(32, false), (1, 0));
    // More parts than lanes, and a stack that is an output, are written.
    assert_eq!(stacked(33, false).1, 1);
    assert!(stacked(5, true).0 > 1);
}

/// The forms of the units of `x + y` reduced along an axis, and the results of a tile's steps. `x` and the
/// result are dense arrays of 4-byte elements; `y` has one element for each index of the first axis.
fn units(sizes: [usize; 3], reduced: usize) -> Vec<(UnitForm, usize)> {
    let strides = |sizes: [usize; 3]| -> AxisStrides {
        let after = |axis: usize| sizes[axis + 1..].iter().product::<usize>();
        (0..3).map(|axis| (4 * after(axis)) as isize).collect()
    };
    let mut of_result = sizes;
    of_result[reduced] = 1;
    let mut result = strides(of_result);
    result[reduced] = 0;
    let of_y = [4, 0, 0].into_iter().collect();
    let axes = ReducedAxes::new(&sizes, reduced, &[result, strides(sizes), of_y], 1).unwrap();
    let nest = ReductionNest {
        axes: &axes,
        element_sizes: &[4, 4, 4],
        targets: 1,
        block: 1024,
        minimum_row: None,
        is_direct: false,
        folds: false,
        has_row_kernels: true,
        has_lanes: false,
        joins_axes: true,
    };
    let form =
        |partition: &NestPartition| (partition.form, partition.results(partition.walk.tile_steps));
    nest.partitions().iter().map(form).collect()
}

#[test]
fn units_cover_several_short_axes() {
    let (columns, row) = (UnitForm::Columns, UnitForm::Row);
    assert_eq!(units([1000, 2, 3], 2), [(columns(250), 250)]);
    // Units that do not divide the axis leave one of fewer columns.
    assert_eq!(units([1003, 2, 3], 2), [(columns(252), 252), (columns(242), 242)]);
    assert_eq!(units([1000, 3, 2], 1), [(columns(250), 250)]);
    assert_eq!(units([1001, 7, 12], 2), [(row(12), 84)]);
    // An axis is long enough alone.
    assert_eq!(units([1000, 3, 200], 1), [(columns(200), 200)]);
    assert_eq!(units([1000, 40, 12], 2), [(row(12), 40)]);
}
