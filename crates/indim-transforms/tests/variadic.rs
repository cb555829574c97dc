//! Variadic reductions combine neighbours, and windows have the tree of a whole axis.

use indim_builder::{GraphBuilder, RegionBody, Value};
use indim_graph::{Array, PaddedWindow, evaluate};
use indim_ops::{ArrayType, DType};
use indim_transforms::VariadicReduction;

/// `3 a + 5 b`, whose result tells the order, and the smaller one of a second operand.
fn body(b: &GraphBuilder) -> RegionBody {
    let scalar = ArrayType::new(DType::I64, []);
    let (inner, s) = b.begin_region(&vec![scalar; 4]).unwrap();
    inner.end_region(&[&s[0] * 3 + &s[2] * 5, s[1].minimum(&s[3])]).unwrap()
}

/// The tree over `elements`: neighbours first, an odd last one is carried up.
fn tree(mut elements: Vec<i64>) -> i64 {
    while elements.len() > 1 {
        let pairs = elements.chunks(2).map(|pair| match *pair {
            [a, b] => a.wrapping_mul(3).wrapping_add(b.wrapping_mul(5)),
            _ => pair[0],
        });
        elements = pairs.collect();
    }
    elements[0]
}

fn results(shape: &[usize], reduce: impl Fn(&VariadicReduction<'_>) -> Vec<Value>) -> [Array; 2] {
    let count: usize = shape.iter().product();
    let elements: Vec<i64> = (0..count as i64).map(|at| at * at % 17 + 1).collect();
    let x = Array::new(shape, elements).unwrap();
    let b = GraphBuilder::new();
    let operands = ["x", "y"].map(|name| b.parameter(name, DType::I64, shape).unwrap());
    let initial = [b.scalar(7_i64), b.scalar(100_i64)];
    let body = body(&b);
    let reduction = VariadicReduction::new(&b, &body, &operands, &initial).unwrap();
    let graph = b.finish(&reduce(&reduction)).unwrap();
    let results = evaluate(&graph, &[x.clone(), x]).unwrap();
    results.try_into().unwrap()
}

fn elements(count: usize) -> Vec<i64> {
    (0..count as i64).map(|at| at * at % 17 + 1).collect()
}

#[test]
fn neighbours_are_combined_first() {
    for size in 1..40 {
        let [found, least] = results(&[size], |reduction| reduction.reduce(&[0]).unwrap());
        assert_eq!(found.scalar(), Ok(21 + 5 * tree(elements(size))), "{size}");
        assert_eq!(least.scalar(), Ok(elements(size).into_iter().min().unwrap()), "{size}");
    }
}

#[test]
fn the_last_axis_is_reduced_first() {
    let [found, _] = results(&[3, 2, 5], |reduction| reduction.reduce(&[0, -1]).unwrap());
    let all = elements(30);
    let row = |index: usize| tree(all[5 * index..5 * index + 5].to_vec());
    let column = |index: usize| 21 + 5 * tree(vec![row(index), row(index + 2), row(index + 4)]);
    assert_eq!(found.elements::<i64>(), Ok(&[column(0), column(1)][..]));
}

#[test]
fn windows_have_the_same_tree() {
    for size in 1..14 {
        for (stride, dilation, low, high) in
            [(1, 1, 0, 0), (1, 1, 9, 0), (2, 1, 1, 3), (3, 2, 13, 11)]
        {
            let window =
                PaddedWindow { size, stride, dilation, low, high, ..PaddedWindow::default() };
            let [found, _] =
                results(&[11], |reduction| reduction.reduce_windows(&[(0, window)]).unwrap());
            let mut padded = vec![7; low as usize];
            padded.extend(elements(11));
            padded.resize(11 + (low + high) as usize, 7);
            let of_window = |at: usize| {
                let own = (0..size).map(|step| padded[at * stride + step * dilation]);
                21 + 5 * tree(own.collect())
            };
            let expected: Vec<i64> = (0..window.positions(11)).map(of_window).collect();
            assert_eq!(found.elements::<i64>(), Ok(&expected[..]), "{window:?}");
        }
    }
}

#[test]
fn no_elements_give_the_initial_values() {
    let [found, least] = results(&[2, 0], |reduction| reduction.reduce(&[1]).unwrap());
    assert_eq!(found.elements::<i64>(), Ok(&[7, 7][..]));
    assert_eq!(least.elements::<i64>(), Ok(&[100, 100][..]));
    let [none, _] = results(&[0, 3], |reduction| reduction.reduce(&[1]).unwrap());
    assert_eq!(none.shape().to_vec(), [0]);
}

#[test]
fn a_body_may_use_outer_values_and_branch() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [5]).unwrap();
    let scale = b.parameter("scale", DType::F64, []).unwrap();
    let scalar = ArrayType::new(DType::F64, []);
    let (inner, s) = b.begin_region(&[scalar.clone(), scalar]).unwrap();
    let (a, c) = (s[0].clone(), s[1].clone() * inner.local(&scale).unwrap());
    let (of_a, of_c) = (a.clone(), c.clone());
    let chosen = inner.cond(
        &a.ge(&c),
        |branch| Ok(vec![branch.local(&of_a)?]),
        |branch| Ok(vec![branch.local(&of_c)?]),
    );
    let body = inner.end_region(&chosen.unwrap()).unwrap();
    let initial = [b.scalar(0.0)];
    let operands = [x];
    let reduction = VariadicReduction::new(&b, &body, &operands, &initial).unwrap();
    let graph = b.finish(&reduction.reduce(&[0]).unwrap()).unwrap();
    let x = Array::from(vec![1.0, 4.0, 2.0, 3.0, 1.0]);
    let found = evaluate(&graph, &[x, Array::from_scalar(1.0)]).unwrap();
    assert_eq!(found[0].scalar::<f64>(), Ok(4.0));
}

#[test]
fn mistakes_have_codes() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::I64, [3]).unwrap();
    let y = b.parameter("y", DType::I64, [4]).unwrap();
    let z = b.parameter("z", DType::F32, [3]).unwrap();
    let (one, array) = (b.scalar(1_i64), b.parameter("s", DType::I64, [1]).unwrap());
    let body = body(&b);
    let code = |operands: &[&Value], initial: &[&Value]| {
        let [operands, initial] =
            [operands, initial].map(|all| all.iter().map(|&it| it.clone()).collect::<Vec<_>>());
        VariadicReduction::new(&b, &body, &operands, &initial).map(drop).unwrap_err().code()
    };
    assert_eq!(code(&[&x, &y], &[&one, &one]), "argument-type");
    assert_eq!(code(&[&x, &x], &[&one, &array]), "argument-type");
    assert_eq!(code(&[&x, &x], &[&one]), "wrong-operand-count");
    assert_eq!(code(&[&z, &z], &[&b.scalar(0_f32), &b.scalar(0_f32)]), "region-type");
    assert_eq!(code(&[&x], &[&one]), "region-type");
    assert_eq!(code(&[], &[]), "region-type");
    let (operands, initial) = ([x.clone(), x], [one.clone(), one]);
    let reduction = VariadicReduction::new(&b, &body, &operands, &initial).unwrap();
    assert_eq!(reduction.reduce(&[1]).unwrap_err().code(), "axis-out-of-range");
    assert_eq!(reduction.reduce(&[0, -1]).unwrap_err().code(), "axes-not-unique");
    let window = PaddedWindow { size: 0, ..PaddedWindow::default() };
    assert_eq!(reduction.reduce_windows(&[(0, window)]).unwrap_err().code(), "bad-window");
    assert_eq!(reduction.reduce_windows(&[(1, window)]).unwrap_err().code(), "axis-out-of-range");
}
