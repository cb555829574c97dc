//! Programs for all sizes give the bits of programs compiled for fixed sizes.

use indim::graph::{Size, SymbolicGraph};
use indim::run::compile_symbolic;
use indim::text::{Expression, ParseLimits};
use indim::{
    Array, ArrayView, CompileOptions, DType, Executable, GraphBuilder, Shape, Value, compile,
};

/// Expressions over `x` of rank 2, `v` of its last axis, and `w` with an axis of size 1.
const TEXTS: &[&str] = &[
    "x * v + 2.5",
    "x - w",
    "mean(x)",
    "x - mean(x, axis=0)",
    "(x - mean(x, axis=1, keepdims=true)) / std(x, axis=1, keepdims=true)",
    "var(x, axis=0, correction=1)",
    "std(v, correction=1) + sum(x * x)",
    "mean(x, axis=1) * std(x, axis=1) + mean(v)",
    "softmax(x, axis=-1)",
    "log_softmax(x, axis=0)",
    "layer_norm(x, v, v)",
    "rms_norm(x, v) - 2",
    "nanmean(where(x > 0.3, x, nan), axis=1)",
    "mean(x, axis=1, where=x > 0)",
    "argmax(x, axis=1)",
    "sum(x, axis=0) + mean(v)",
    "norm(x, axis=1)",
    "x[:, None] * w",
    "transpose(x) * v[:, None]",
    "m = mean(x, axis=0); d = x - m; mean(d * d, axis=0)",
    "mean(x, axis=0) / 3 + mean(v) / 5",
    "x - x[-1]",
    "x[::-1] - x[:, ::-1] * v[::-1]",
    "x[-1:] * v",
    "x[::-1][-1:] / x[-1, -2]",
    "x[-1, ::-1][::-1] + sum(x, axis=0)",
    "softmax(flip(x), axis=-1)",
    "argmax(x[::-1], axis=0) + mean(x[-1:])",
    "sum(x[::-1, -1:], axis=0)",
    "vecdot(x[::-1], v[::-1])",
    "roll(x, 1, axis=0) - x",
    "roll(v, -1) * x",
    "pad(x, [[1, 1], [0, 1]]) * 2",
    "pad(x, [[1, 0], [0, 1]], mode=edge)",
    "pad(v, [[1, 1]], mode=wrap) * 3",
    "concatenate([x, w], axis=1) - 1",
    "broadcast(v, [3]) * v",
];

fn types([rows, columns]: [usize; 2]) -> [(&'static str, Shape); 3] {
    [
        ("x", Shape::from([rows, columns])),
        ("v", Shape::from([columns])),
        ("w", Shape::from([rows, 1])),
    ]
}

/// The graph of a text for these sizes, with the parameters that it names.
fn built(text: &str, sizes: [usize; 2]) -> (GraphBuilder, Vec<Value>) {
    let b = GraphBuilder::new();
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let bind = |(name, shape): (&'static str, Shape)| {
        (name, b.parameter(name, DType::F32, shape).unwrap())
    };
    let bindings: Vec<(&str, Value)> = types(sizes).map(bind).into_iter().collect();
    let result = expression.build(&b, &bindings, None).expect(text);
    (b, vec![result])
}

fn arrays(sizes: [usize; 2]) -> Vec<Array> {
    let mut seed = 1u32;
    let mut number = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32 - 0.4
    };
    let mut array = |shape: Shape| {
        let count = shape.element_count().unwrap();
        let numbers: Vec<f32> = (0..count).map(|_| number()).collect();
        Array::new(shape, numbers).unwrap()
    };
    types(sizes).into_iter().map(|(_, shape)| array(shape)).collect()
}

fn bytes_of(executable: &Executable, sizes: [usize; 2]) -> Vec<u8> {
    let arrays = arrays(sizes);
    let views: Vec<ArrayView<'_>> = arrays.iter().map(ArrayView::from).collect();
    let result = executable.run(&views).unwrap().swap_remove(0);
    // Into new memory, and into an existing array.
    let mut given = executable.run(&views).unwrap().swap_remove(0);
    executable.run_into(&views, &mut [given.view_mut()]).unwrap();
    assert!(result.bytes() == given.bytes());
    given.bytes().to_vec()
}

#[test]
fn bound_programs_give_the_bits_of_those_compiled_for_the_sizes() {
    let options = CompileOptions::default();
    let all = [[2, 2], [4, 3], [3, 4], [7, 7], [2, 513], [600, 2], [33, 1030], [150, 150], [5, 2]];
    for text in TEXTS {
        let (b, results) = built(text, [5, 3]);
        let symbolic = SymbolicGraph::new(&b.finish(&results).unwrap(), &b.size_facts());
        let mut sizes_of_x = symbolic.guards().parameters()[0].iter();
        assert!(sizes_of_x.all(|size| matches!(size, Size::Symbol(_))), "{text}");
        let program = compile_symbolic(&symbolic, &options).unwrap();
        for sizes in all {
            let (b, results) = built(text, sizes);
            let alone = compile(&b.finish(&results).unwrap(), &options).unwrap();
            let shapes = types(sizes).map(|(_, shape)| shape);
            let bound = program.bind(&shapes.each_ref().map(Shape::sizes));
            // A part of one element of two needs a program of its own.
            let Ok(bound) = bound else {
                assert!(text.contains("roll(") && sizes.contains(&2), "{text}: {sizes:?}");
                continue;
            };
            assert_eq!(bound.parameters(), alone.parameters(), "{text}");
            assert!(bytes_of(&bound, sizes) == bytes_of(&alone, sizes), "{text}: {sizes:?}");
        }
    }
}

#[test]
fn a_stream_of_a_thousand_lengths_is_one_program() {
    let text = "(x - mean(x)) / (k * std(x))";
    for length in 2..1002usize {
        let x: Vec<f64> = (0..length).map(|i| (i * i % 17) as f64).collect();
        let k = length as f64 / 8.0;
        let inputs = [("x", indim::Input::from(&x[..])), ("k", indim::Input::from(k))];
        let result = indim::evaluate(text, inputs).unwrap();
        let b = GraphBuilder::new();
        let parameter = b.parameter("x", DType::F64, [length]).unwrap();
        let alone =
            Expression::parse(&text.replace('k', &format!("{k:?}")), &ParseLimits::default());
        let alone = alone.unwrap().build(&b, &[("x", parameter)], None).unwrap();
        let graph = b.finish(&[alone]).unwrap();
        if length % 97 == 2 {
            let alone = compile(&graph, &CompileOptions::default()).unwrap();
            let expected = alone.run(&[ArrayView::from_slice([length], &x).unwrap()]).unwrap();
            assert!(result.bytes() == expected[0].bytes(), "{length}");
        }
    }
}
