//! Operands that a loop packs for its steps: memory, and the bits of the results.

use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Graph, evaluate};
use indim_ops::DType;

use crate::run::executable::Executable;
use crate::{Array, ArrayView, ArrayViewMut, CompileOptions, Level, RunOptions, Threads, compile};

/// Elements of either sign whose products need more bits than an `f32` has.
fn array(sizes: &[usize], seed: u32) -> Array {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (f64::from(state) / f64::from(u32::MAX) - 0.5) as f32 * 0.3
    };
    Array::new(sizes, (0..sizes.iter().product()).map(|_| next()).collect()).unwrap()
}

const ROWS: usize = 20;
const SIZE: usize = 100;

/// Bytes of the weights of a step.
const WEIGHTS: usize = SIZE * SIZE * 4;

/// A loop of `n` steps with the weights `w` and `v`, which are an operand and a state that never changes, and
/// a state `u` that changes.
fn looped() -> (Graph, Vec<Array>) {
    let b = GraphBuilder::new();
    let n = b.parameter("n", DType::I64, []).unwrap();
    let x = b.parameter("x", DType::F32, [ROWS, SIZE]).unwrap();
    let [w, v, u] =
        ["w", "v", "u"].map(|name| b.parameter(name, DType::F32, [SIZE, SIZE]).unwrap());
    let initial = [&b.scalar(0i64), &x, &v, &u];
    let states = b.while_loop(
        &initial,
        |_, s| Ok(s[0].lt(&n)),
        |b, s| {
            let product = b.inner(b.inner(&s[1], &w)?, &s[2])?;
            Ok(vec![&s[0] + 1, b.matmul(product, &s[3])? * 4.0, s[2].clone(), &s[3] * 0.5])
        },
    );
    let graph = b.finish(&states.unwrap()[1..]).unwrap();
    let square = [SIZE, SIZE];
    (graph, vec![array(&[ROWS, SIZE], 1), array(&square, 2), array(&square, 3), array(&square, 4)])
}

/// Runs with `spare` bytes of spare memory. Returns the results, and the maximum of the bytes in use.
fn run(
    executable: &Executable,
    inputs: &[ArrayView<'_>],
    spare: usize,
    threads: Threads<'_>,
) -> (Vec<Array>, usize) {
    let (spare_bytes, used) = (AtomicUsize::new(spare), AtomicUsize::new(0));
    let progress = |_| {
        used.fetch_max(spare - spare_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let options = RunOptions::new().threads(threads).progress(&progress);
    let options = RunOptions { spare_bytes: Some(&spare_bytes), ..options };
    let zeros = |of: &indim_ops::ArrayType| {
        Array::new(of.shape.clone(), vec![0.0f32; of.shape.iter().product()]).unwrap()
    };
    let mut results: Vec<Array> = executable.outputs().iter().map(zeros).collect();
    let mut outputs: Vec<ArrayViewMut<'_>> = results.iter_mut().map(Array::view_mut).collect();
    executable.program.run(inputs, &mut outputs, &[], &options).unwrap();
    drop(outputs);
    assert_eq!(spare_bytes.into_inner(), spare, "the loop frees its panels");
    (results, used.into_inner())
}

#[test]
fn steps_share_panels_of_operands_that_do_not_change() {
    let (graph, weights) = looped();
    for &level in Level::available() {
        let options = CompileOptions::new().level(level);
        let executable = compile(&graph, &options).unwrap();
        for steps in [0i64, 1, 2, 3, 8] {
            let n = Array::from_scalar(steps);
            let arguments: Vec<Array> = [&n].into_iter().chain(&weights).cloned().collect();
            let expected = evaluate(&graph, &arguments).unwrap();
            let inputs: Vec<ArrayView<'_>> = arguments.iter().map(Array::view).collect();
            let (results, all) = run(&executable, &inputs, usize::MAX, Threads::Caller);
            assert_eq!(results, expected, "{steps} steps at {level}");
            // The first step packs nothing for others.
            if steps < 2 {
                assert_eq!(all, 0);
                continue;
            }
            assert!((2 * WEIGHTS..5 * WEIGHTS).contains(&all), "{all}, {steps} steps at {level}");
            // Memory for one of the two weights, and for none.
            for (spare, packed) in [(all - 1, all / 2), (all / 2 - 1, 0)] {
                let (results, used) = run(&executable, &inputs, spare, Threads::Caller);
                assert_eq!(results, expected, "{steps} steps at {level}");
                assert_eq!(used, packed, "{spare} spare bytes, {steps} steps at {level}");
            }
            for threads in [2, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (results, _) = run(&executable, &inputs, usize::MAX, Threads::Pool(&pool));
                assert_eq!(results, expected, "{steps} steps at {level} on {threads} threads");
            }
        }
    }
}

#[test]
fn weights_with_any_strides() {
    let (graph, weights) = looped();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let n = Array::from_scalar(4i64);
    let arguments: Vec<Array> = [&n].into_iter().chain(&weights).cloned().collect();
    let expected = evaluate(&graph, &arguments).unwrap();
    // Column-major weights: element `i, j` at `j * SIZE + i`.
    let columns = |array: &Array| {
        let elements = array.elements::<f32>().unwrap();
        (0..SIZE * SIZE).map(|at| elements[at % SIZE * SIZE + at / SIZE]).collect::<Vec<f32>>()
    };
    let turned: Vec<Vec<f32>> = weights[1..].iter().map(columns).collect();
    let strides = [1, SIZE as isize];
    let turned = turned
        .iter()
        .map(|stored| ArrayView::from_strided([SIZE, SIZE], &strides, stored, 0).unwrap());
    let inputs: Vec<ArrayView<'_>> =
        [n.view(), weights[0].view()].into_iter().chain(turned).collect();
    let (results, used) = run(&executable, &inputs, usize::MAX, Threads::Caller);
    assert_eq!(results, expected);
    assert!(used >= WEIGHTS, "{used}");
}

/// The inner loop packs the weights in each run and frees them; the outer step has weights too.
#[test]
fn loops_in_loops() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [ROWS, SIZE]).unwrap();
    let [w, v] = ["w", "v"].map(|name| b.parameter(name, DType::F32, [SIZE, SIZE]).unwrap());
    let states = b.fori_loop(0..3, &[&x], |b, _, s| {
        let scale = |value: Value| value * 2.0;
        let inner = b.fori_loop(0..3, &[&s[0]], |b, _, s| Ok(vec![scale(b.inner(&s[0], &w)?)]));
        Ok(vec![scale(b.inner(&inner?[0], &v)?)])
    });
    let graph = b.finish(&states.unwrap()).unwrap();
    let arguments = [array(&[ROWS, SIZE], 5), array(&[SIZE, SIZE], 6), array(&[SIZE, SIZE], 7)];
    let expected = evaluate(&graph, &arguments).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let inputs: Vec<ArrayView<'_>> = arguments.iter().map(Array::view).collect();
    let (results, all) = run(&executable, &inputs, usize::MAX, Threads::Caller);
    assert_eq!(results, expected);
    assert!((2 * WEIGHTS..5 * WEIGHTS).contains(&all), "{all}");
    for (spare, packed) in [(all - 1, all / 2), (0, 0)] {
        let (results, used) = run(&executable, &inputs, spare, Threads::Caller);
        assert_eq!((results, used), (expected.clone(), packed), "{spare} spare bytes");
    }
}

/// A constant without panels for all runs is packed for the loop; the second run has those of all runs.
#[test]
fn the_first_run_packs_constants_for_the_loop() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [ROWS, SIZE]).unwrap();
    let w = b.constant(array(&[SIZE, SIZE], 8));
    let states = b.fori_loop(0..5, &[&x], |b, _, s| Ok(vec![b.inner(&s[0], &w)? * 2.0]));
    let graph = b.finish(&states.unwrap()).unwrap();
    let x = array(&[ROWS, SIZE], 9);
    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap();
    let executable = compile(&graph, &CompileOptions::new()).unwrap();
    let (results, used) = run(&executable, &[x.view()], usize::MAX, Threads::Caller);
    assert_eq!(results, expected);
    assert!((WEIGHTS..3 * WEIGHTS).contains(&used), "{used}");
    executable.program.compiled.packed_constants.pack(&mut { usize::MAX });
    let (results, used) = run(&executable, &[x.view()], usize::MAX, Threads::Caller);
    assert_eq!((results, used), (expected, 0));
}

/// A product of one row reads the weights in place, until many steps have run.
#[test]
fn many_steps_pack_the_weights_of_one_row() {
    for rows in [1, 3] {
        let b = GraphBuilder::new();
        let n = b.parameter("n", DType::I64, []).unwrap();
        let x = b.parameter("x", DType::F32, [rows, SIZE]).unwrap();
        let w = b.parameter("w", DType::F32, [SIZE, SIZE]).unwrap();
        let states = b.while_loop(
            &[&b.scalar(0i64), &x],
            |_, s| Ok(s[0].lt(&n)),
            |b, s| Ok(vec![&s[0] + 1, b.inner(&s[1], &w)? * 2.0]),
        );
        let graph = b.finish(&states.unwrap()[1..]).unwrap();
        for &level in Level::available() {
            let executable = compile(&graph, &CompileOptions::new().level(level)).unwrap();
            for (steps, is_packed) in [(8i64, false), (30, true)] {
                let arguments =
                    [Array::from_scalar(steps), array(&[rows, SIZE], 10), array(&[SIZE, SIZE], 11)];
                let expected = evaluate(&graph, &arguments).unwrap();
                let inputs: Vec<ArrayView<'_>> = arguments.iter().map(Array::view).collect();
                for spare in [usize::MAX, WEIGHTS - 1] {
                    let (results, used) = run(&executable, &inputs, spare, Threads::Caller);
                    assert_eq!(results, expected, "{rows} rows, {steps} steps at {level}");
                    let is_packed = is_packed && spare == usize::MAX;
                    assert_eq!(used > 0, is_packed, "{rows} rows, {steps} steps at {level}");
                }
            }
        }
    }
}
