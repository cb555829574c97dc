//! Derivatives through loops and branches: against finite differences, and against the same program with its
//! loops written out and its branches as `select`.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, EvalError, Graph, GraphError, NodeKind, TakeMode, evaluate, verify};
use indim_ops::{DType, ReduceOp, ScatterOp};
use indim_transforms::{Differentiate, Vectorize};

use super::{
    Argument, F64, Function, check, dot, lists, noise, pullback, pushforward, slope, value,
};

fn sum(b: &GraphBuilder, x: &Value) -> Value {
    b.reduce(ReduceOp::Add, x, 0).unwrap()
}

/// The derivative of `loss` at `at`, a list of numbers, is that of the finite differences.
#[track_caller]
fn check_all(cases: &[(&str, Function<'_>)], arguments: &[Argument<f64>]) {
    for (name, function) in cases {
        check(name, *function, arguments);
    }
}

#[test]
fn counted_loops_have_the_derivatives_of_their_steps() {
    let cases: [(&str, Function<'_>); 7] = [
        ("a state", &|v| {
            let b = v[0].builder();
            b.fori_loop(0..5, &[&v[0]], |_, _, s| Ok(vec![s[0].sin()])).unwrap().remove(0)
        }),
        ("a value from outside", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![(&s[0] * &v[1]).sin()]);
            b.fori_loop(0..4, &[&v[0]], step).unwrap().remove(0)
        }),
        ("the counter", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, i: &Value, s: &[Value]| {
                Ok(vec![&s[0] * i.convert(F64) + s[0].square()])
            };
            b.fori_loop(-2..3, &[&v[0]], step).unwrap().remove(0)
        }),
        ("states that change places, and one that stays", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, _: &Value, s: &[Value]| {
                Ok(vec![&s[1] * &s[2], s[0].exp(), s[2].clone()])
            };
            let initial = [&v[0], &v[1], &v[2]];
            let results = b.fori_loop(0..3, &initial, step).unwrap();
            &results[0] + &results[1] * &results[2]
        }),
        ("a value from outside as the next state", &|v| {
            let b = v[0].builder();
            let step =
                |b: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![b.local(&v[1])?, &s[0] * &s[1]]);
            let results = b.fori_loop(0..3, &[&v[0], &v[2]], step).unwrap();
            &results[0] * &results[1]
        }),
        ("no steps", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![&s[0] * &v[1]]);
            b.fori_loop(3..3, &[&v[0]], step).unwrap().remove(0).sin()
        }),
        ("a loop in a loop", &|v| {
            let b = v[0].builder();
            let outer = |b: &GraphBuilder, _: &Value, s: &[Value]| {
                let inner = |_: &GraphBuilder, _: &Value, t: &[Value]| {
                    Ok(vec![(&t[0] * &v[1]).sin() + &t[1], &t[1] * &t[0]])
                };
                b.fori_loop(0..3, s, inner)
            };
            let results = b.fori_loop(0..2, &[&v[0], &v[2]], outer).unwrap();
            &results[0] + &results[1]
        }),
    ];
    check_all(&cases, &lists(&[&noise(1, 3), &noise(2, 3), &noise(3, 3)]));
}

/// An initial value and numbers to compare with: the counter takes each other number from 9 down to -1, and
/// such.
#[test]
fn loops_with_any_counter_of_known_length_are_differentiated() {
    type Counter = (DType, i64, fn(&Value) -> Value, fn(&Value) -> Value);
    let counters: [Counter; 9] = [
        (DType::I32, 0, |i| i.lt(4), |i| i + 1),
        (DType::I64, 9, |i| i.gt(-2), |i| i - 2),
        (DType::U8, 250, |i| i.le(253), |i| i + 2),
        (DType::I16, 7, |i| i.ge(1), |i| i + -3),
        (DType::I64, 12, |i| i.ne(0), |i| i - 4),
        (DType::U64, 3, |i| i.gt(0), |i| i - 1),
        (DType::I32, 0, |i| i.convert(DType::I64).lt(3), |i| 1 + i),
        (DType::I8, -128, |i| i.lt(20), |i| i + 60),
        (DType::I64, 5, |i| i.builder().lt(i.builder().scalar(9i64), i, &[]).unwrap(), |i| i - 1),
    ];
    for (dtype, start, condition, next) in counters {
        let looped = |v: &[Value]| {
            let b = v[0].builder();
            let counter = b.convert(b.scalar(start), dtype).unwrap();
            let body = |_: &GraphBuilder, s: &[Value]| {
                let factor = s[0].convert(F64) * 0.01 + 1.0;
                Ok(vec![next(&s[0]), (&s[1] * factor).sin()])
            };
            b.while_loop(&[counter, v[0].clone()], |_, s| Ok(condition(&s[0])), body).unwrap()[1]
                .clone()
        };
        check(&format!("{dtype} from {start}"), &looped, &lists(&[&noise(1, 3)]));
    }
}

#[test]
fn loops_of_unknown_length_have_tangents_only() {
    // Newton's iteration for the square root.
    let root: Function<'_> = &|v| {
        let b = v[0].builder();
        let error = |s: &[Value]| (&s[0] * &s[0] - &v[0]).abs();
        let body = |_: &GraphBuilder, s: &[Value]| Ok(vec![(&s[0] + &v[0] / &s[0]) * 0.5]);
        let one = b.scalar(1.0f64);
        b.while_loop(&[one], |_, s| Ok(error(s).gt(1e-12)), body).unwrap().remove(0)
    };
    let at = |x: f64| vec![Argument(vec![], vec![x])];
    for x in [0.25, 2.0, 9.0, 1e6] {
        let tangent = pushforward::<f64, f64>(root, &at(x), &[vec![1.0]]);
        let expected = 0.5 / x.sqrt();
        assert!((tangent[0] - expected).abs() <= 1e-12 * expected, "{x}: {tangent:?}");
    }
    let error = super::graph(root, &at(2.0)).gradient(&[0]).unwrap_err();
    assert_eq!(error.code(), "not-differentiable");
    let drawn = error.draw();
    assert!(drawn.contains("fori_loop") && drawn.contains("jvp"), "{drawn}");
}

#[test]
fn scans_have_the_derivatives_of_their_steps() {
    // A recurrent network: weights from outside, inputs along axis 0, results of all steps.
    let network = |reverse: bool| {
        move |v: &[Value]| {
            let b = v[0].builder();
            let [weights, inputs, initial] = [&v[0], &v[1], &v[2]];
            let step = |b: &GraphBuilder, s: &[Value], x: &[Value]| {
                let mixed = b.matmul(&s[0], weights)?;
                let next = (mixed + &x[0]).tanh();
                Ok((vec![next.clone()], vec![next.square()]))
            };
            let (last, all) = b.scan_loop(4, &[initial], &[inputs], reverse, step).unwrap();
            b.concatenate(&[b.reshape(&last[0], [1, 3]).unwrap(), all[0].clone()], 0).unwrap()
        }
    };
    let arguments = [
        Argument(vec![3, 3], noise(1, 9)),
        Argument(vec![4, 3], noise(2, 12)),
        Argument(vec![3], noise(3, 3)),
    ];
    check("forward", &network(false), &arguments);
    check("reverse", &network(true), &arguments);
    let no_steps = |v: &[Value]| {
        let b = v[0].builder();
        let step = |_: &GraphBuilder, s: &[Value], _: &[Value]| {
            Ok((vec![s[0].square()], vec![s[0].clone()]))
        };
        let (last, all) = b.scan_loop(0, &[&v[0]], &[] as &[Value], false, step).unwrap();
        &last[0] + sum(b, &all[0])
    };
    check("no steps", &no_steps, &arguments[2..]);
}

#[test]
fn branches_have_the_derivatives_of_the_region_that_runs() {
    let cases: [(&str, Function<'_>); 4] = [
        ("cond", &|v| {
            let b = v[0].builder();
            let is_positive = sum(b, &v[1]).gt(0);
            let on_true = |_: &GraphBuilder| Ok(vec![&v[0] * v[1].sin()]);
            b.cond(&is_positive, on_true, |_| Ok(vec![v[2].exp()])).unwrap().remove(0)
        }),
        ("cond of the negated value", &|v| {
            let b = v[0].builder();
            let is_positive = sum(b, &v[1]).le(0);
            let on_true = |_: &GraphBuilder| Ok(vec![&v[0] * v[1].sin(), v[0].square()]);
            let on_false = |b: &GraphBuilder| Ok(vec![v[2].exp(), b.local(&v[1])?]);
            let results = b.cond(&is_positive, on_true, on_false).unwrap();
            &results[0] * &results[1]
        }),
        ("switch in a loop", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                b.switch(
                    i,
                    &[
                        &|_| Ok(vec![s[0].sin() * &v[1]]),
                        &|b: &GraphBuilder| b.fori_loop(0..2, s, |_, _, t| Ok(vec![&t[0] * &v[2]])),
                        &|_| Ok(vec![&s[0] + v[1].square()]),
                    ],
                )
            };
            b.fori_loop(0..4, &[&v[0]], step).unwrap().remove(0)
        }),
        ("cond of the state in a scan", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, s: &[Value], x: &[Value]| {
                let next = b.cond(
                    &s[0].gt(&x[0]),
                    |_| Ok(vec![&s[0] * &x[0]]),
                    |_| Ok(vec![&x[0] - s[0].sin()]),
                )?;
                Ok((next.clone(), next))
            };
            let zero = b.scalar(0.3f64);
            let (_, all) = b.scan_loop(3, &[zero], &[&v[0]], false, step).unwrap();
            all[0].clone()
        }),
    ];
    check_all(&cases, &lists(&[&noise(4, 3), &noise(5, 3), &noise(6, 3)]));
}

/// Bodies that use rows of an array from outside, chosen by the counter and by data, also in a branch and in
/// an inner loop.
#[test]
fn gathers_from_outside_are_added_in_place() {
    let cases: [(&str, Function<'_>); 4] = [
        ("rows", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                let row = b.take(&v[0], i, 0, TakeMode::Clip)?;
                let again = b.take(&v[0], i * 2 - 1, 0, TakeMode::Wrap)?;
                Ok(vec![(&s[0] * row + again).sin()])
            };
            b.fori_loop(0..4, &[&v[1]], step).unwrap().remove(0)
        }),
        ("rows in a branch", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                let row = |b: &GraphBuilder, i: Value| b.take(&v[0], i, 0, TakeMode::Wrap);
                let chosen = b.cond(
                    &i.gt(1),
                    |b| Ok(vec![row(b, i + 1)?.sin(), s[0].clone()]),
                    |b| Ok(vec![row(b, i * 2)?, row(b, i + 2)? * &s[0]]),
                )?;
                Ok(vec![(&chosen[0] + &chosen[1] * row(b, i.clone())?).sin()])
            };
            b.fori_loop(0..4, &[&v[1]], step).unwrap().remove(0)
        }),
        ("rows in a branch that may not use them", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                b.cond(
                    &i.gt(1),
                    |b| Ok(vec![b.take(&v[0], i, 0, TakeMode::Wrap)? * &s[0]]),
                    |_| Ok(vec![s[0].sin()]),
                )
            };
            b.fori_loop(0..4, &[&v[1]], step).unwrap().remove(0)
        }),
        ("rows in an inner loop", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, i: &Value, s: &[Value]| {
                let last = b.take(&v[0], i, 0, TakeMode::Wrap)?;
                let inner = b.fori_loop(0..2, s, |b, j, t| {
                    let row = b.take(&v[0], b.local(i)? + j, 0, TakeMode::Wrap)?;
                    Ok(vec![(&t[0] * row).sin()])
                })?;
                Ok(vec![&inner[0] + last])
            };
            b.fori_loop(0..4, &[&v[1]], step).unwrap().remove(0)
        }),
    ];
    let arguments = [Argument(vec![3, 2], noise(1, 6)), Argument(vec![2], noise(2, 2))];
    check_all(&cases, &arguments);
    for (name, looped) in cases {
        let derived = super::graph(looped, &arguments).vjp(&[0]).unwrap();
        assert_eq!(whole_additions(&derived), 0, "{name}: {derived}");
    }
}

/// How many nodes add to a whole array of the shape `[3, 2]`.
fn whole_additions(graph: &Graph) -> usize {
    let mut additions = 0;
    visit(graph, &mut |graph| {
        for (_, node) in graph.iter() {
            let is_addition = match node.kind {
                NodeKind::Elementwise(op) => op == indim_ops::Op::Add,
                NodeKind::Scatter { op, .. } => op == ScatterOp::Add,
                _ => false,
            };
            additions += usize::from(node.array_type.shape[..] == [3, 2] && is_addition);
        }
    });
    additions
}

/// A value from outside that a loop and a branch use, as an initial state too, and that is used after them.
#[test]
fn values_from_outside_are_used_around_loops_and_branches() {
    let cases: [(&str, Function<'_>); 2] = [
        ("loop", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![(&s[0] * &v[0]).sin()]);
            let outer = |b: &GraphBuilder, _: &Value, s: &[Value]| {
                let inner = b.fori_loop(0..2, &[b.local(&v[0])?], step)?;
                Ok(vec![&inner[0] * &v[0] + &s[0]])
            };
            b.fori_loop(0..2, &[&v[0]], outer).unwrap().remove(0) * v[0].exp()
        }),
        ("branch", &|v| {
            let b = v[0].builder();
            let on_false = |b: &GraphBuilder| Ok(vec![b.local(&v[0])?, &v[0] * &v[1]]);
            let results = b
                .cond(&sum(b, &v[1]).gt(100), |b| Ok(vec![v[1].sin(), b.local(&v[1])?]), on_false)
                .unwrap();
            (&results[0] + &results[1]) * &v[0] * v[0].exp()
        }),
    ];
    check_all(&cases, &lists(&[&noise(1, 3), &noise(2, 3)]));
}

/// `nextafter` has no derivative; no cotangent arrives at these loops.
#[test]
fn loops_without_cotangents_need_no_rule() {
    let cases: [(&str, Function<'_>); 2] = [
        ("compared", &|v| {
            let looped = neighbour(&v[0]);
            v[0].builder().select(looped.gt(0), v[0].sin(), &v[0] * &v[1]).unwrap()
        }),
        ("compared in a loop", &|v| {
            let b = v[0].builder();
            let step = |b: &GraphBuilder, _: &Value, s: &[Value]| {
                let is_positive = neighbour(&s[0]).gt(0);
                Ok(vec![b.select(is_positive, s[0].sin(), &s[0] * &v[1])?])
            };
            b.fori_loop(0..2, &[&v[0]], step).unwrap().remove(0)
        }),
    ];
    let arguments = lists(&[&noise(1, 3), &noise(2, 3)]);
    check_all(&cases, &arguments);
    let rounded: Function<'_> = &|v| neighbour(&v[0]).floor() + &v[0] * &v[1];
    let gradients = pullback(rounded, &arguments, &[1.0; 3]);
    assert_eq!(gradients, [noise(2, 3), noise(1, 3)]);
    let refused = super::graph(&|v| neighbour(&v[0]), &arguments[..1]);
    assert_eq!(refused.vjp(&[0]).unwrap_err().code(), "not-differentiable");
    // Such a loop saves no states either.
    let compared: Function<'_> = &|v| {
        let b = v[0].builder();
        let looped = b.fori_loop(0..5, &[&v[0]], |_, _, s| Ok(vec![s[0].sin()])).unwrap();
        b.select(looped[0].gt(0), v[0].sin(), v[0].square()).unwrap()
    };
    let derived = super::graph(compared, &lists(&[&noise(1, 3)])).vjp(&[0]).unwrap();
    visit(&derived, &mut |graph| {
        for (_, node) in graph.iter() {
            assert!(!matches!(node.kind, NodeKind::Scatter { .. }), "{derived}");
        }
    });
}

/// The next greater number, three times.
fn neighbour(x: &Value) -> Value {
    let b = x.builder();
    let step =
        |b: &GraphBuilder, _: &Value, s: &[Value]| Ok(vec![b.nextafter(&s[0], &s[0] + 1, &[])?]);
    b.fori_loop(0..3, &[x], step).unwrap().remove(0)
}

/// Calls `each` for a graph and the graphs of its regions.
fn visit(graph: &Graph, each: &mut dyn FnMut(&Graph)) {
    each(graph);
    for (_, node) in graph.iter() {
        node.kind.regions().for_each(|region| visit(region.graph(), each));
    }
}

/// The stack of a scan is a state, and its rule does not use it. So the derivative, and the derivative of the
/// derivative, save no stack of stacks.
#[test]
fn stacks_are_not_saved() {
    let length = 50;
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [length]).unwrap();
    let step = |_: &GraphBuilder, s: &[Value], x: &[Value]| {
        let next = (&s[0] * &x[0]).sin();
        Ok((vec![next.clone()], vec![next]))
    };
    let (_, all) = b.scan_loop(length, &[b.scalar(1.0f64)], &[&x], false, step).unwrap();
    let graph = b.finish(&[sum(&b, &all[0])]).unwrap();
    let gradient = graph.gradient(&[0]).unwrap();
    let derived = [gradient.vjp(&[0]).unwrap(), gradient.jvp(&[0]).unwrap(), gradient];
    for graph in derived {
        verify(&graph).unwrap();
        visit(&graph, &mut |graph| {
            for (_, node) in graph.iter() {
                let count = node.array_type.shape.element_count().unwrap();
                assert!(count <= length, "{}", node.array_type);
            }
        });
    }
}

/// The gradient of a weighted sum of the gradient, against finite differences of the gradient.
#[test]
fn gradients_of_loops_have_gradients_and_tangents() {
    let once: [(&str, Function<'_>); 3] = [
        ("scan", &|v| {
            let b = v[0].builder();
            let step = |_: &GraphBuilder, s: &[Value], x: &[Value]| {
                let next = (&s[0] * &x[0]).sin() + &x[0];
                Ok((vec![next.clone()], vec![next.square()]))
            };
            let (last, all) = b.scan_loop(3, &[b.scalar(0.5f64)], &[&v[0]], false, step).unwrap();
            &last[0] + sum(b, &all[0])
        }),
        ("fori_loop of fori_loop", &|v| {
            let b = v[0].builder();
            let outer = |b: &GraphBuilder, _: &Value, s: &[Value]| {
                b.fori_loop(0..2, s, |_, _, t| Ok(vec![(&t[0] * &v[0]).sin()]))
            };
            sum(b, &b.fori_loop(0..3, &[&v[0]], outer).unwrap()[0])
        }),
        ("cond", &|v| {
            let b = v[0].builder();
            let total = sum(b, &v[0].sin());
            let on_true = |_: &GraphBuilder| Ok(vec![&total * &total * &total]);
            b.cond(&total.gt(-10), on_true, |b| Ok(vec![b.local(&total)?])).unwrap().remove(0)
        }),
    ];
    let (point, direction, weights) = (noise(8, 3), noise(9, 3), noise(10, 3));
    for (name, function) in once {
        let graph = super::graph(function, &lists(&[&point]));
        let first = graph.gradient(&[0]).unwrap();
        let array = |elements: Vec<f64>| Array::new([3], elements).unwrap();
        let along = |step: f64| {
            let moved = point.iter().zip(&direction).map(|(x, u)| x + step * u).collect();
            let gradient = evaluate(&first, &[array(moved)]).unwrap();
            dot(gradient[0].elements().unwrap(), &weights)
        };
        let expected = slope(along, 1e-4);
        let reverse = first.vjp(&[0]).unwrap();
        let forward = first.jvp(&[0]).unwrap();
        verify(&reverse).unwrap();
        verify(&forward).unwrap();
        let reverse = evaluate(&reverse, &[array(point.clone()), array(weights.clone())]).unwrap();
        let forward =
            evaluate(&forward, &[array(point.clone()), array(direction.clone())]).unwrap();
        let reverse = dot(reverse[0].elements().unwrap(), &direction);
        let forward = dot(forward[1].elements().unwrap(), &weights);
        for found in [reverse, forward] {
            let error = (found - expected).abs();
            assert!(error <= 1e-8 * (1.0 + expected.abs()), "{name}: {found} against {expected}");
        }
    }
}

/// The gradient for each element of a batch, and the gradient of a batch, through loops.
#[test]
fn gradients_and_batches_combine() {
    let looped: Function<'_> = &|v| {
        let b = v[0].builder();
        let step = |_: &GraphBuilder, s: &[Value], x: &[Value]| {
            let next = (&s[0] * &x[0] + &v[1]).sin();
            Ok((vec![next.clone()], vec![next]))
        };
        let (last, all) = b.scan_loop(3, &[b.scalar(0.5f64)], &[&v[0]], false, step).unwrap();
        &last[0] + sum(b, &all[0].square())
    };
    let arguments = [Argument(vec![3], noise(1, 3)), Argument(vec![], vec![0.3])];
    let graph = super::graph(looped, &arguments);
    let gradient = graph.gradient(&[0, 1]).unwrap();
    let (x, c) = (noise(3, 12), Array::from_scalar(0.3));
    let rows = Array::new([4, 3], x.clone()).unwrap();
    let batched = gradient.vmap(4, &[Some(0), None], &[Some(0), Some(0)]).unwrap();
    let batched = evaluate(&batched, &[rows.clone(), c.clone()]).unwrap();
    let batch = graph.vmap(4, &[Some(0), None], &[Some(0)]).unwrap();
    let ones = Array::new([4], vec![1.0; 4]).unwrap();
    let of_batch = evaluate(&batch.vjp(&[0, 1]).unwrap(), &[rows, c.clone(), ones]).unwrap();
    let mut total = 0.0;
    for (row, x) in x.chunks(3).enumerate() {
        let single = [Array::new([3], x.to_vec()).unwrap(), c.clone()];
        let single = evaluate(&gradient, &single).unwrap();
        let expected = single[0].elements::<f64>().unwrap();
        assert_eq!(&batched[0].elements::<f64>().unwrap()[3 * row..][..3], expected);
        for (found, expected) in
            of_batch[0].elements::<f64>().unwrap()[3 * row..].iter().zip(expected)
        {
            assert!((found - expected).abs() <= 1e-14, "{found} against {expected}");
        }
        total += single[1].scalar::<f64>().unwrap();
    }
    assert!((of_batch[1].scalar::<f64>().unwrap() - total).abs() <= 1e-13);
}

#[test]
fn values_of_loops_keep_their_bits() {
    let looped: Function<'_> = &|v| {
        let b = v[0].builder();
        b.fori_loop(0..7, &[&v[0]], |_, _, s| Ok(vec![(&s[0] * 1.7).sin()])).unwrap().remove(0)
    };
    let arguments = lists(&[&noise(1, 5)]);
    let graph = super::graph(looped, &arguments);
    let (x, one) = (arguments[0].array(), Array::new([5], vec![1.0; 5]).unwrap());
    let expected = evaluate(&graph, core::slice::from_ref(&x)).unwrap();
    let derived = graph.value_and_vjp(&[0]).unwrap();
    assert_eq!(evaluate(&derived, &[x.clone(), one.clone()]).unwrap()[0], expected[0]);
    assert_eq!(evaluate(&graph.jvp(&[0]).unwrap(), &[x, one]).unwrap()[0], expected[0]);
    // The loop runs once to compute the values and to save the states.
    let loops = |graph: &Graph| {
        let is_loop = |kind: &NodeKind| matches!(kind, NodeKind::While { .. });
        let mut operands: Vec<_> = graph
            .iter()
            .filter(|(_, node)| is_loop(&node.kind))
            .map(|(_, node)| &node.operands)
            .collect();
        operands.dedup();
        operands.len()
    };
    assert_eq!(loops(&derived), 2, "{derived}");
}

#[test]
fn saved_states_must_fit_into_memory() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, [1 << 20]).unwrap();
    // 64 times as many elements as there are addresses.
    let steps = 1 << (usize::BITS - 14);
    let last = b.fori_loop(0..steps, &[&x], |_, _, s| Ok(vec![s[0].sin()])).unwrap();
    let error: GraphError = b.finish(&last).unwrap().vjp(&[0]).unwrap_err();
    assert_eq!(error.code(), "too-large");
}

/// A gradient fails like its loop if the steps exceed the limit, also if it uses no state.
#[test]
fn gradients_have_the_limit_of_the_steps() {
    let steps: [fn(&Value) -> Value; 2] = [|x| x.sin(), |x| x * 2.0];
    for step in steps {
        for (limit, is_enough) in [(3, false), (4, true), (5, true)] {
            let b = GraphBuilder::new();
            let x = b.parameter("x", F64, []).unwrap();
            let body = |_: &GraphBuilder, s: &[Value]| Ok(vec![&s[0] + 1, step(&s[1])]);
            let states = [b.scalar(0i64), x];
            let last = b.while_loop_up_to(limit, &states, |_, s| Ok(s[0].lt(4)), body).unwrap();
            let graph = b.finish(&[&last[1]]).unwrap();
            let one = [Array::from_scalar(1.0)];
            for graph in [graph.gradient(&[0]).unwrap(), graph] {
                match evaluate(&graph, &one) {
                    Ok(_) => assert!(is_enough, "{limit}"),
                    Err(error) => {
                        assert_eq!(error, EvalError::StepLimit { limit });
                        assert!(!is_enough, "{limit}");
                    }
                }
            }
        }
    }
}

/// Each step of four nested loops passes the dependence on `x` to one more state.
#[test]
fn dependence_passes_through_nested_loops() {
    fn nest(b: &GraphBuilder, depth: usize, states: &[Value]) -> Result<Vec<Value>, GraphError> {
        b.fori_loop(0..2, states, |b, _, s| {
            let inner = if depth == 0 { s.to_vec() } else { nest(b, depth - 1, s)? };
            Ok(inner[1..].iter().chain(&inner[3..]).cloned().collect())
        })
    }
    let b = GraphBuilder::new();
    let x = b.parameter("x", F64, []).unwrap();
    let mut states = vec![b.scalar(0.5f64); 3];
    states.push(x);
    let results = nest(&b, 3, &states).unwrap();
    let graph = b.finish(&[&results[0]]).unwrap();
    let arguments = [2.0, 3.0].map(Array::from_scalar);
    let tangent = evaluate(&graph.jvp(&[0]).unwrap(), &arguments).unwrap();
    assert_eq!(tangent[1].scalar::<f64>(), Ok(3.0));
    let gradient = evaluate(&graph.vjp(&[0]).unwrap(), &arguments).unwrap();
    assert_eq!(gradient[0].scalar::<f64>(), Ok(3.0));
}

/// A random program of `states` next states. `is_straight` writes loops out, and branches as `select`.
fn program(
    b: &GraphBuilder,
    (seed, depth): (u64, usize),
    pool: &[Value],
    is_straight: bool,
) -> Result<Vec<Value>, GraphError> {
    let mut pool = pool.iter().map(|value| b.local(value)).collect::<Result<Vec<Value>, _>>()?;
    let choices = noise(seed, 40);
    let mut choices = choices.iter();
    let mut choose = |count: usize| {
        let number = choices.next().copied().unwrap_or(0.0);
        (((number + 1.0) / 2.0) * count as f64) as usize % count
    };
    for number in 0..5 {
        let (x, y) = (pool[choose(pool.len())].clone(), pool[choose(pool.len())].clone());
        let inner = (seed * 31 + number + 1, depth.saturating_sub(1));
        let kind = if depth == 0 { choose(5) } else { choose(8) };
        let next = match kind {
            0 => x.sin(),
            1 => &x * &y,
            2 => (&x - &y).tanh(),
            3 => b.mul(sum(b, &x), &y, &[])?,
            4 => &x * 0.5 + y.cos(),
            5 | 6 => {
                let (steps, shared) = (choose(4), pool.clone());
                let all = |states: &[Value]| [states, &shared[..]].concat();
                match is_straight {
                    true => {
                        let mut states = vec![x, y];
                        for _ in 0..steps {
                            states = program(b, inner, &all(&states), true)?;
                        }
                        &states[0] + &states[1]
                    }
                    false => {
                        let looped = b.fori_loop(0..steps as i64, &[x, y], |b, _, states| {
                            program(b, inner, &all(states), false)
                        })?;
                        &looped[0] + &looped[1]
                    }
                }
            }
            _ => {
                let (is_positive, other) = (sum(b, &x).gt(0), (inner.0 + 7, inner.1));
                match is_straight {
                    true => {
                        let on_true = program(b, inner, &pool, true)?;
                        let on_false = program(b, other, &pool, true)?;
                        let mask = b.broadcast_like(&is_positive, &[], &on_true[0])?;
                        b.select(&mask, &on_true[0], &on_false[0])?
                            + b.select(&mask, &on_true[1], &on_false[1])?
                    }
                    false => {
                        let results = b.cond(
                            &is_positive,
                            |b| program(b, inner, &pool, false),
                            |b| program(b, other, &pool, false),
                        )?;
                        &results[0] + &results[1]
                    }
                }
            }
        };
        pool.push((next * 0.7).tanh());
    }
    let count = pool.len();
    Ok(vec![pool[count - 1].clone(), pool[count - 2].clone()])
}

/// Gradients and tangents of random programs equal those of the straight programs, up to rounding.
#[test]
fn random_programs_have_the_derivatives_of_straight_ones() {
    let arguments = lists(&[&noise(31, 3), &noise(32, 3)]);
    let (cotangent, directions) = (noise(33, 3), vec![noise(34, 3), noise(35, 3)]);
    let mut with_control = 0;
    for seed in 0..60 {
        let of = |is_straight: bool| {
            move |v: &[Value]| {
                let results = program(v[0].builder(), (seed, 2), v, is_straight).unwrap();
                &results[0] + &results[1]
            }
        };
        let (looped, straight) = (of(false), of(true));
        let graph = super::graph(&looped, &arguments);
        with_control += usize::from(graph.iter().any(|(_, node)| node.kind.regions().count() > 0));
        assert_eq!(
            value::<f64, f64>(&looped, &arguments),
            value::<f64, f64>(&straight, &arguments),
            "{seed}"
        );
        let compare = |found: &[f64], expected: &[f64]| {
            for (found, expected) in found.iter().zip(expected) {
                let error = (found - expected).abs();
                assert!(
                    error <= 1e-12 * (1.0 + expected.abs()),
                    "{seed}: {found} against {expected}"
                );
            }
        };
        let found = pullback(&looped, &arguments, &cotangent);
        let expected = pullback(&straight, &arguments, &cotangent);
        found.iter().zip(&expected).for_each(|(found, expected)| compare(found, expected));
        compare(
            &pushforward::<f64, f64>(&looped, &arguments, &directions),
            &pushforward::<f64, f64>(&straight, &arguments, &directions),
        );
    }
    assert!(with_control > 40, "{with_control} of 60 programs have loops or branches");
}
