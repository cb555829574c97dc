//! Vectorised graphs, compared with the unbatched graph for each element of the batch.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, Graph, GraphError, TakeMode, evaluate};
use indim_ops::{ArrayType, DType, ReduceOp, ScatterOp, SearchSide};
use indim_transforms::Vectorize;
use random::choices::{Choices, pseudo_random};
use random::{random_array, random_graph};

#[path = "../../indim-builder/tests/random/mod.rs"]
mod random;

/// The arrays stacked along a new axis.
fn stacked(arrays: &[Array], axis: i64) -> Array {
    let b = GraphBuilder::new();
    let parameter = |(index, array): (usize, &Array)| {
        let ArrayType { dtype, shape } = array.array_type().clone();
        b.parameter(&format!("x{index}"), dtype, shape).unwrap()
    };
    let parameters: Vec<Value> = arrays.iter().enumerate().map(parameter).collect();
    let graph = b.finish(&[b.stack(&parameters, axis).unwrap()]).unwrap();
    evaluate(&graph, arrays).unwrap().remove(0)
}

/// Compares the vectorised graph with the graph for each element of `elements`, which has the arguments of
/// each element; those without a batch axis are those of the first element. Returns whether both runs
/// succeed; they fail together.
#[track_caller]
fn check(graph: &Graph, elements: &[Vec<Array>], in_axes: &[Option<i64>], out_axis: i64) -> bool {
    let out_axes = vec![Some(out_axis); graph.outputs().len()];
    let vectorised = graph.vmap(elements.len(), in_axes, &out_axes).unwrap();
    let argument = |(index, axis): (usize, &Option<i64>)| match axis {
        None => elements[0][index].clone(),
        Some(axis) => {
            let arrays: Vec<Array> =
                elements.iter().map(|element| element[index].clone()).collect();
            stacked(&arrays, *axis)
        }
    };
    let arguments: Vec<Array> = in_axes.iter().enumerate().map(argument).collect();
    let run = |element: &Vec<Array>| {
        let shared = |(index, axis): (usize, &Option<i64>)| match axis {
            None => elements[0][index].clone(),
            Some(_) => element[index].clone(),
        };
        evaluate(graph, &in_axes.iter().enumerate().map(shared).collect::<Vec<Array>>())
    };
    let one_by_one = elements.iter().map(run).collect::<Result<Vec<Vec<Array>>, _>>();
    match (evaluate(&vectorised, &arguments), one_by_one) {
        (Ok(results), Ok(expected)) => {
            for (output, result) in results.iter().enumerate() {
                let of_output = expected.iter().map(|results| results[output].clone());
                assert_eq!(
                    *result,
                    stacked(&of_output.collect::<Vec<Array>>(), out_axis),
                    "{graph}"
                );
            }
            true
        }
        (Err(_), Err(_)) => false,
        (batched, one_by_one) => panic!("{batched:?}, but one by one {one_by_one:?}: {graph}"),
    }
}

fn ints<const COUNT: usize>(elements: [i64; COUNT]) -> Array {
    Array::new([COUNT], elements.to_vec()).unwrap()
}

#[test]
fn random_graphs_compute_each_element_of_a_batch() {
    let mut successes = 0;
    for seed in 0..3000 {
        let (graph, first) = random_graph(seed);
        let mut next = pseudo_random(seed + 1_000_000);
        let choices = &mut Choices(&mut next);
        let mut elements = vec![first];
        for _ in 0..choices.below(3) {
            let types = elements[0].iter().map(|array| array.array_type().clone());
            let types: Vec<ArrayType> = types.collect();
            elements.push(types.iter().map(|of| random_array(choices, of)).collect());
        }
        let in_axes: Vec<Option<i64>> = elements[0]
            .iter()
            .map(|array| {
                let rank = array.array_type().shape.rank();
                (!choices.chance(30)).then(|| choices.below(rank + 1) as i64)
            })
            .collect();
        successes += usize::from(check(&graph, &elements, &in_axes, 0));
    }
    assert!(successes > 2000, "{successes} runs without an error");
}

/// The indices of a gather, its table, or both belong to the batch.
#[test]
fn gathers_and_scatters_of_each_element() {
    for mode in [TakeMode::Clip, TakeMode::Wrap, TakeMode::Error] {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::I64, [2, 3, 2]).unwrap();
        let i = b.parameter("i", DType::I64, [2, 2]).unwrap();
        let v = b.parameter("v", DType::I64, [2, 2, 2, 2]).unwrap();
        let taken = b.take(&x, &i, 1, mode).unwrap();
        let added = b.scatter(ScatterOp::Add, &x, &i, &v, 1, mode).unwrap();
        let graph = b.finish(&[taken, added]).unwrap();
        let x = |from: i64| Array::new([2, 3, 2], (from..from + 12).collect()).unwrap();
        let i = |last: i64| Array::new([2, 2], vec![0, 1, -1, last]).unwrap();
        let v = |from: i64| Array::new([2, 2, 2, 2], (from..from + 16).collect()).unwrap();
        let element = |number: i64| vec![x(number * 100), i(number), v(number * 1000)];
        let elements = [element(0), element(1), element(2)];
        for bits in 1..8usize {
            let axis = |at: usize| (bits >> at & 1 == 1).then_some(at as i64);
            assert!(check(&graph, &elements, &[axis(0), axis(1), axis(2)], 1), "{bits} {mode:?}");
        }
    }
}

#[test]
fn searches_in_a_table_of_each_element() {
    let b = GraphBuilder::new();
    let table = b.parameter("table", DType::I64, [3]).unwrap();
    let x = b.parameter("x", DType::I64, [2]).unwrap();
    let found = b.search_sorted(&table, &x, SearchSide::Left).unwrap();
    let graph = b.finish(&[found]).unwrap();
    let elements = [vec![ints([1, 3, 5]), ints([3, 6])], vec![ints([0, 0, 9]), ints([0, 1])]];
    assert!(check(&graph, &elements, &[Some(0), Some(0)], 0));
    assert!(check(&graph, &elements, &[Some(0), None], 0));
}

/// Halves a number until it is below a bound; each element stops at a step of its own.
fn halvings() -> Graph {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, []).unwrap();
    let bound = b.parameter("bound", DType::I64, []).unwrap();
    let states = [x, b.scalar(0i64)];
    let looped = b.while_loop(
        &states,
        |_, s| Ok(s[0].ge(&bound)),
        |_, s| Ok(vec![&s[0] / 2i64, &s[1] + 1i64]),
    );
    b.finish(&looped.unwrap()).unwrap()
}

#[test]
fn loops_stop_for_each_element() {
    let scalars = |numbers: [i64; 2]| numbers.map(Array::from_scalar).to_vec();
    let elements = [scalars([100, 3]), scalars([1, 3]), scalars([7, 7])];
    for in_axes in [[Some(0), Some(0)], [Some(0), None], [None, Some(0)]] {
        assert!(check(&halvings(), &elements, &in_axes, 0));
    }
}

/// Two loops that differ in their limit alone are two loops.
#[test]
fn each_loop_keeps_its_limit() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, []).unwrap();
    let looped = |limit: u64| {
        let state = [x.clone()];
        b.while_loop_up_to(limit, &state, |_, s| Ok(s[0].lt(5i64)), |_, s| Ok(vec![&s[0] + 1i64]))
    };
    let results = [looped(10).unwrap().remove(0), looped(3).unwrap().remove(0)];
    let graph = b.finish(&results).unwrap();
    let element = |x: i64| vec![Array::from_scalar(x)];
    assert!(check(&graph, &[element(3), element(9)], &[Some(0)], 0));
    assert!(!check(&graph, &[element(0), element(9)], &[Some(0)], 0));
}

/// A search whose tables belong to the elements, and a loop that can fail.
#[test]
fn batches_without_elements() {
    let b = GraphBuilder::new();
    let table = b.parameter("table", DType::I64, [3]).unwrap();
    let x = b.parameter("x", DType::I64, []).unwrap();
    let found = b.search_sorted(&table, &x, SearchSide::Left).unwrap();
    let taken = |b: &GraphBuilder, s: &[Value]| b.take(&table, &s[0], 0, TakeMode::Error);
    let looped =
        b.while_loop(&[&x], |b, s| Ok(taken(b, s)?.lt(0i64)), |_, s| Ok(vec![&s[0] + 1i64]));
    let graph = b.finish(&[found, looped.unwrap().remove(0)]).unwrap();
    let empty = graph.vmap(0, &[Some(0), Some(0)], &[Some(0), Some(0)]).unwrap();
    let arguments = [Array::new([0, 3], Vec::<i64>::new()), Array::new([0], Vec::<i64>::new())];
    let results = evaluate(&empty, &arguments.map(Result::unwrap)).unwrap();
    assert!(results.iter().all(|result| result.array_type().shape.to_vec() == [0]));
}

/// An index is in range while an element's loop runs, and out of range after it.
#[test]
fn a_loop_that_has_ended_for_an_element_does_not_fail() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, [3]).unwrap();
    let count = b.parameter("count", DType::I64, []).unwrap();
    let states = [b.scalar(0i64), b.scalar(0i64)];
    let looped = b.while_loop(
        &states,
        |_, s| Ok(s[0].lt(&count)),
        |b, s| Ok(vec![&s[0] + 1i64, &s[1] + b.take(&x, &s[0], 0, TakeMode::Error)?]),
    );
    let graph = b.finish(&looped.unwrap()).unwrap();
    let element = |x: [i64; 3], count: i64| vec![ints(x), Array::from_scalar(count)];
    let elements = [element([1, 2, 3], 3), element([10, 20, 30], 1)];
    assert!(check(&graph, &elements, &[Some(0), Some(0)], 0));
    let elements = [element([1, 2, 3], 4), element([10, 20, 30], 1)];
    assert!(!check(&graph, &elements, &[Some(0), Some(0)], 0));
}

#[test]
fn branches_are_chosen_for_each_element() {
    let b = GraphBuilder::new();
    let index = b.parameter("index", DType::I32, []).unwrap();
    let x = b.parameter("x", DType::I64, [2]).unwrap();
    let i = b.parameter("i", DType::I64, []).unwrap();
    let chosen = b.switch(
        &index,
        &[&|_| Ok(vec![&x + 1i64, x.clone()]), &|_| Ok(vec![&x * 10i64, -&x]), &|_| {
            Ok(vec![x.clone(), &x / 2i64])
        }],
    );
    let safe = b.finish(&chosen.unwrap()).unwrap();
    let chosen = b.switch(
        &index,
        &[&|_| Ok(vec![x.clone()]), &|b| Ok(vec![&x + b.take(&x, &i, 0, TakeMode::Error)?])],
    );
    let fails = b.finish(&chosen.unwrap()).unwrap();
    let element = |index: i32, i: i64| {
        vec![Array::from_scalar(index), ints([i, 2 * i]), Array::from_scalar(i)]
    };
    let elements = [element(0, 5), element(1, 1), element(-3, 0), element(9, 1)];
    for in_axes in [[Some(0); 3], [Some(0), None, Some(0)], [None, Some(0), Some(0)]] {
        assert!(check(&safe, &elements, &in_axes, 0));
    }
    // The index 5 is out of range, and its branch does not run.
    assert!(check(&fails, &[element(0, 5), element(1, 1)], &[Some(0); 3], 0));
    assert!(!check(&fails, &[element(0, 5), element(1, 5)], &[Some(0); 3], 0));
}

#[test]
fn positions_of_the_batch_axis() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, [2, 3]).unwrap();
    let graph = b.finish(&[&x * 2i64]).unwrap();
    let shape = |in_axis: i64, out_axis: i64| {
        let graph = graph.vmap(5, &[Some(in_axis)], &[Some(out_axis)])?;
        let types = [graph.parameters()[0], graph.outputs()[0]];
        Ok::<_, GraphError>(types.map(|value| graph[value].array_type.shape.to_vec()))
    };
    assert_eq!(shape(0, -1), Ok([vec![5, 2, 3], vec![2, 3, 5]]));
    assert_eq!(shape(-2, 1), Ok([vec![2, 5, 3], vec![2, 5, 3]]));
    assert_eq!(shape(3, 0).unwrap_err().code(), "axis-out-of-range");
    assert_eq!(shape(0, -4).unwrap_err().code(), "axis-out-of-range");
}

#[test]
fn mistakes_are_errors() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [1 << 20]).unwrap();
    let y = b.parameter("y", DType::F32, []).unwrap();
    let sum = b.reduce(ReduceOp::Add, &x, 0).unwrap();
    let graph = b.finish(&[sum, y]).unwrap();
    let vmap = |size: usize, in_axes: &[Option<i64>], out_axes: &[Option<i64>]| {
        graph.vmap(size, in_axes, out_axes).map(|_| ()).map_err(|error| error.code())
    };
    let (batched, shared) = ([Some(0), None], [Some(0), None]);
    assert_eq!(vmap(2, &batched, &shared), Ok(()));
    assert_eq!(vmap(0, &batched, &shared), Ok(()));
    assert_eq!(vmap(2, &batched, &[None, None]), Err("batched-output"));
    assert_eq!(vmap(2, &[Some(0)], &shared), Err("wrong-operand-count"));
    assert_eq!(vmap(2, &batched, &[Some(0)]), Err("wrong-operand-count"));
    assert_eq!(vmap(usize::MAX / 4, &batched, &shared), Err("too-large"));
    let error = graph.vmap(2, &batched, &[None, None]).unwrap_err();
    assert!(error.draw().contains("out_axes"), "{}", error.draw());
    // Each error has the line of the caller.
    let errors = [
        (line!(), graph.vmap(2, &[Some(2), None], &shared).unwrap_err()),
        (line!(), graph.vmap(2, &batched, &[Some(7), None]).unwrap_err()),
        (line!(), graph.vmap(2, &batched, &[None, None]).unwrap_err()),
        (line!(), graph.vmap(2, &batched, &[]).unwrap_err()),
        (line!(), graph.vmap(usize::MAX / 4, &batched, &shared).unwrap_err()),
    ];
    for (line, error) in errors {
        let location = error.location.unwrap();
        assert_eq!((location.file(), location.line()), (file!(), line), "{error}");
    }
}
