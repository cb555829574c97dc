//! Sorts are limited to the positions that later nests read.

#![allow(clippy::unwrap_used)]

use indim_builder::{GraphBuilder, Index, Value};
use indim_graph::{AxisSlice, Graph, SymbolicGraph, TakeMode};
use indim_loops::loop_nest::{LoopNests, SortedRange, StandaloneInstruction};
use indim_loops::{lower, lower_shaped};
use indim_ops::{DType, ReduceOp};

/// The ranges of the sorts of a program.
fn ranges(program: &LoopNests) -> Vec<SortedRange> {
    let sorts = program.nests.iter().filter_map(|nest| match nest.standalone_instruction() {
        Some((StandaloneInstruction::Sort { read, .. }, _)) => Some(read),
        _ => None,
    });
    sorts.collect()
}

/// The program over a sorted matrix of `[8, 100]`.
fn sorted(readers: impl Fn(&GraphBuilder, Value) -> Vec<Value>) -> LoopNests {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [8, 100]).unwrap();
    let sorted = b.sort(x, 1, false).unwrap();
    lower(&b.finish(&readers(&b, sorted)).unwrap())
}

fn part(b: &GraphBuilder, x: &Value, slice: AxisSlice) -> Value {
    b.slice(x, &[AxisSlice::whole(8), slice]).unwrap()
}

#[test]
fn a_sort_is_limited_to_all_slices_of_it() {
    let program = sorted(|b, x| vec![part(b, &x, AxisSlice::new(0, 10, 1))]);
    assert_eq!(ranges(&program), [SortedRange::FromStart { start: 0, end: 10 }]);
    assert!(program.to_string().contains("sort.ascending.values.f32 along i1 of 0..10 a0"));
    let program = sorted(|b, x| {
        let turned = b.transpose(part(b, &x, AxisSlice::new(70, 20, -3)), &[1, 0]).unwrap();
        vec![turned, part(b, &x, AxisSlice::new(71, 2, 4)) + 1.0]
    });
    assert_eq!(ranges(&program), [SortedRange::FromStart { start: 13, end: 76 }]);
}

#[test]
fn a_sort_that_is_read_otherwise_is_whole() {
    let first = |b: &GraphBuilder, x: &Value| part(b, x, AxisSlice::new(0, 10, 1));
    let indices = |b: &GraphBuilder| b.parameter("i", DType::I64, [3]).unwrap();
    let readers: [&dyn Fn(&GraphBuilder, Value) -> Vec<Value>; 6] = [
        &|b, x| vec![first(b, &x), x],
        &|b, x| vec![first(b, &x), &x + 1.0],
        &|b, x| vec![first(b, &x), b.scan(ReduceOp::Add, &x, 1, false, false).unwrap()],
        &|b, x| vec![first(b, &x), b.take(&x, indices(b), 1, TakeMode::Clip).unwrap()],
        &|b, x| {
            let flat = b.reshape(&x, [800]).unwrap();
            vec![b.slice(flat, &[AxisSlice::new(0, 5, 1)]).unwrap()]
        },
        &|b, x| {
            let joined = b.concatenate(&[x.clone(), x], 1).unwrap();
            vec![first(b, &joined)]
        },
    ];
    for (index, reader) in readers.iter().enumerate() {
        assert_eq!(ranges(&sorted(reader)), [SortedRange::Whole], "{index}");
    }
}

/// A loop reads whole arrays.
#[test]
fn a_sort_that_is_the_state_of_a_loop_is_whole() {
    let program = sorted(|b, x| {
        let first = part(b, &x, AxisSlice::new(0, 1, 1));
        let looped =
            b.while_loop(&[x], |b, _| Ok(b.scalar(false)), |_, states| Ok(vec![&states[0] * 2.0]));
        let states = looped.unwrap();
        vec![first, states[0].clone()]
    });
    assert_eq!(ranges(&program), [SortedRange::Whole]);
}

#[test]
fn slices_of_axes_of_any_size_limit_a_sort() {
    let program = |slices: &[[Option<i64>; 2]]| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [100]).unwrap();
        let sorted = b.sort(x, 0, false).unwrap();
        let parts = slices.iter().map(|&[start, stop]| {
            b.index(&sorted, &[Index::Slice { start, stop, step: None }]).unwrap()
        });
        let parts: Vec<Value> = parts.collect();
        let graph: Graph = b.finish(&parts).unwrap();
        ranges(&lower_shaped(&SymbolicGraph::new(&graph, &b.size_facts()).shaped()))
    };
    let (first, last) = ([None, Some(7)], [Some(-9), None]);
    assert_eq!(program(&[first]), [SortedRange::FromStart { start: 0, end: 7 }]);
    let found = program(&[last, [Some(-12), Some(-10)]]);
    assert_eq!(found, [SortedRange::FromEnd { start: 12, end: 0 }]);
    assert_eq!(found[0].positions(50), 38..50);
    assert_eq!(found[0].to_string(), " of n-12..n");
    assert_eq!(program(&[first, last]), [SortedRange::Whole]);
}
