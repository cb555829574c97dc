//! Sorts are limited to the positions that later nests read.

#![allow(clippy::unwrap_used)]

use indim_builder::{GraphBuilder, Index, Value};
use indim_graph::{AxisSlice, Graph, SymbolicGraph, TakeMode};
use indim_loops::loop_nest::{LoopNests, SortedRange, StandaloneInstruction};
use indim_loops::{lower, lower_shaped};
use indim_ops::{DType, ReduceOp};

/// The ranges of each sort of a program; none for a whole sort.
fn ranges(program: &LoopNests) -> Vec<Vec<SortedRange>> {
    let sorts = program.nests.iter().filter_map(|nest| match nest.standalone_instruction() {
        Some((StandaloneInstruction::Sort { read, .. }, _)) => Some(read.ranges().collect()),
        _ => None,
    });
    sorts.collect()
}

/// Makes the outputs of a program from a sorted matrix.
type Readers<'a> = dyn Fn(&GraphBuilder, Value) -> Vec<Value> + 'a;

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
    assert_eq!(ranges(&program), [[SortedRange::FromStart { start: 0, end: 10 }]]);
    assert!(program.to_string().contains("sort.ascending.values.f32 along i1 of 0..10 a0"));
    let program = sorted(|b, x| {
        let turned = b.transpose(part(b, &x, AxisSlice::new(70, 20, -3)), &[1, 0]).unwrap();
        vec![turned, part(b, &x, AxisSlice::new(71, 2, 4)) + 1.0]
    });
    assert_eq!(ranges(&program), [[SortedRange::FromStart { start: 13, end: 76 }]]);
}

#[test]
fn a_sort_is_limited_to_several_ranges() {
    let found = |starts: &[usize]| {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [1000]).unwrap();
        let sorted = b.sort(x, 0, false).unwrap();
        let part = |&start: &usize| b.slice(&sorted, &[AxisSlice::new(start, 1, 1)]).unwrap();
        let parts: Vec<Value> = starts.iter().map(part).collect();
        let ranges = ranges(&lower(&b.finish(&parts).unwrap())).remove(0);
        ranges.iter().map(|range| range.positions(1000)).collect::<Vec<_>>()
    };
    assert_eq!(found(&[50, 99, 999]), [50..100, 999..1000]);
    assert_eq!(found(&[999, 499, 500]), [999..1000, 499..501]);
    assert_eq!(found(&[250, 500, 750, 999]), [250..251, 500..501, 750..751, 999..1000]);
    assert_eq!(found(&[200, 400, 600, 800, 999]), [200..1000, 400..401, 600..601, 800..801]);
}

#[test]
fn a_sort_that_is_read_otherwise_is_whole() {
    let first = |b: &GraphBuilder, x: &Value| part(b, x, AxisSlice::new(0, 10, 1));
    let indices = |b: &GraphBuilder| b.parameter("i", DType::I64, [3]).unwrap();
    let readers: [&Readers<'_>; 6] = [
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
        assert_eq!(ranges(&sorted(reader)), [[]], "{index}");
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
    assert_eq!(ranges(&program), [[]]);
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
    assert_eq!(program(&[first]), [[SortedRange::FromStart { start: 0, end: 7 }]]);
    let found = program(&[last, [Some(-12), Some(-10)]]);
    assert_eq!(found, [[SortedRange::FromEnd { start: 12, end: 0 }]]);
    assert_eq!(found[0][0].positions(50), 38..50);
    let [start, end] =
        [SortedRange::FromStart { start: 0, end: 7 }, SortedRange::FromEnd { start: 9, end: 0 }];
    assert_eq!(program(&[first, last]), [[start, end]]);
}
