//! Guards: for all sizes that meet them, the resized graph equals the graph elaborated for those sizes.
use std::sync::atomic::{AtomicU32, Ordering};

use indim_builder::GraphBuilder;
use indim_graph::{Graph, GraphAssembler, NodeKind, Size, SymbolicGraph, ValueId};
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::{Expression, ParseLimits};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The operands of the expressions, and their element types.
const NAMES: [(&str, DType); 5] = [
    ("x", DType::F32),
    ("y", DType::F32),
    ("v", DType::F32),
    ("i", DType::I32),
    ("c", DType::Bool),
];

type Shapes = Vec<Vec<usize>>;

/// The graph of a text for operands of these shapes; `None` if they are illegal.
fn symbolic(text: &str, shapes: &[Vec<usize>], rule: Option<&RuleSet>) -> Option<SymbolicGraph> {
    let b = GraphBuilder::new();
    let bind = |((name, dtype), shape): (&(&'static str, DType), &Vec<usize>)| {
        (*name, b.parameter(name, *dtype, &shape[..]).unwrap())
    };
    let bindings: Vec<_> = NAMES.iter().zip(shapes).map(bind).collect();
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let result = expression.build(&b, &bindings, rule).ok()?;
    Some(SymbolicGraph::new(&b.finish(&[result]).unwrap(), &b.size_facts()))
}

/// The graph as builders make it: with equal nodes shared, and without reshapes that keep the shape.
fn shared(graph: &Graph) -> Graph {
    let mut assembler = GraphAssembler::new();
    let mut renamed: Vec<ValueId> = Vec::new();
    for (_, node) in graph.iter() {
        let operands: Vec<ValueId> =
            node.operands.iter().map(|operand| renamed[operand.index()]).collect();
        let keeps_shape =
            |operand: &ValueId| graph[*operand].array_type.shape == node.array_type.shape;
        if node.kind == NodeKind::Reshape && node.operands.iter().all(keeps_shape) {
            renamed.push(operands[0]);
            continue;
        }
        let added = assembler.add(node.kind.clone(), &operands, node.array_type.clone());
        renamed.push(added.expect("a resized graph keeps every invariant"));
    }
    let outputs = graph.outputs().iter().map(|output| renamed[output.index()]).collect();
    assembler.finish(outputs).unwrap()
}

/// The symbolic shapes after all passes name each symbol where the nodes have its representative size.
fn check_shapes(symbolic: &SymbolicGraph) {
    let before = symbolic.shaped();
    let optimized = before.optimize();
    for graph in [&before, &*before.expand_for_loops(), &*optimized.expand_for_loops()] {
        graph.verify();
    }
}

/// Whether the guards accept the sizes; if so, both graphs must be equal.
fn check(text: &str, first: &[Vec<usize>], then: &[Vec<usize>], rule: Option<&RuleSet>) -> bool {
    let Some(symbolic_graph) = symbolic(text, first, rule) else { return false };
    check_shapes(&symbolic_graph);
    let shapes: Vec<&[usize]> = then.iter().map(Vec::as_slice).collect();
    let Ok(symbols) = symbolic_graph.guards().symbols(&shapes) else { return false };
    let resized = shared(&symbolic_graph.resized(&symbols));
    let Some(anew) = symbolic(text, then, rule) else {
        panic!("{text}: guards hold from {first:?} to {then:?}, but it is illegal there");
    };
    assert_eq!(resized, shared(anew.graph()), "{text}: from {first:?} to {then:?}");
    !symbols.is_empty()
}

/// Shapes that meet the guards, with some sizes changed, which may then violate them.
fn other_shapes(graph: &SymbolicGraph, sizes: &[usize], changed: usize) -> Shapes {
    let size = |size: &Size| match size {
        Size::Known(number) => *number,
        Size::Symbol(symbol) => sizes[symbol % sizes.len()],
    };
    let of_parameter = |parameter: &Vec<Size>| parameter.iter().map(size).collect();
    let mut shapes: Shapes = graph.guards().parameters().iter().map(of_parameter).collect();
    let all: Vec<&mut usize> = shapes.iter_mut().flatten().collect();
    if let Some(one) = all.into_iter().nth(changed) {
        *one = sizes[0];
    }
    shapes
}

fn rules() -> Vec<Option<RuleSet>> {
    let all = [
        RuleSet::None,
        RuleSet::Numpy,
        RuleSet::Xla { dims: vec![] },
        RuleSet::Xla { dims: vec![1] },
        RuleSet::StableHlo,
        RuleSet::Pdpd { axis: None },
        RuleSet::Pdpd { axis: Some(0) },
        RuleSet::OnnxLegacy { broadcast: false, axis: None },
        RuleSet::OnnxLegacy { broadcast: true, axis: None },
        RuleSet::OnnxLegacy { broadcast: true, axis: Some(0) },
    ];
    [None, None, None].into_iter().chain(all.into_iter().map(Some)).collect()
}

/// Expressions of one operand.
const OF_ONE: &[&str] = &[
    "exp(#)",
    "2 * #",
    "where(# > 1, #, 0)",
    "sum(#)",
    "sum(#, axis=-1)",
    "sum(#, axis=0, keepdims=True)",
    "mean(#, axis=-1)",
    "var(#, axis=0)",
    "softmax(#, axis=-1)",
    "max(#, axis=0, keepdims=True)",
    "argmax(#, axis=-1)",
    "argmax(#)",
    "std(#)",
    "cumulative(#)",
    "norm(#, axis=-1)",
    "#[1:]",
    "#[:2]",
    "#[:7]",
    "#[::-1]",
    "#[-1]",
    "#[0]",
    "#[None]",
    "#[..., None]",
    "#[:]",
    "#[..., 1:3]",
    "flip(#, axis=0)",
    "transpose(#)",
    "reshape(#, [-1])",
    "reshape(#, [6])",
    "reshape(#, [3, -1])",
    "reshape(#, [-1, 2])",
    "#[:-1]",
    "#[1::2]",
    "#[2:-1]",
    "#[1]",
    "#[1:] - #[:-1]",
    "#[::2][1:]",
    "#[-2:]",
    "#[-3:-1]",
    "#[::-2]",
    "#[::-1][1:]",
    "#[1:][::-1]",
    "#[::-1][::-1]",
    "#[-2:0:-1]",
    "# / #[-1]",
    "mean(#[1:], axis=0)",
    "concatenate([#[:1], #], axis=0)",
    "broadcast_to(#, [5, 3])",
    "broadcast_to(#, [3])",
    "roll(#, 3, axis=0)",
    "roll(#, 1)",
    "sliding_window_view(#, 1, axis=0)",
    "max(sliding_window_view(#, 2, axis=0), axis=-1)",
    "diff(#, axis=0)",
    "pad(#, [[0, 0]])",
    "pad(#, [[1, 0]])",
    "pad(#, [[2, 2]], mode=reflect)",
    "pad(#, [[1, 2]], mode=edge)",
    "pad(#, [[2, 0]], mode=wrap)",
    "pad(#, [[1, 1]], mode=symmetric)",
    "broadcast(#, [2])",
    "roll(#, -1, axis=0)",
    "squeeze(#)",
    "expand_dims(#, axis=0)",
    "ones_like(#)",
    "take(#, i, axis=0)",
    "take(#, [0, 1], axis=0)",
    "layer_norm(#, v, v)",
    "rms_norm(#, v)",
    "concatenate([#, #], axis=0)",
    "concatenate([#, #[1:], #], axis=0)",
    "concatenate([#, #], axis=0)[-2:]",
    "concatenate([#, #], axis=-1)",
    "stack([#, #], axis=0)",
    "logsumexp(#, axis=0)",
    "any(# > 0, axis=0)",
    "sum(#, where=c)",
    "mean(#, where=c)",
    "count_nonzero(#, where=c)",
    "sum(#, axis=[0, 1])",
    "nanmean(#)",
    "clip(#, -1, 1)",
    "# ** 2",
    "max(#, initial=0)",
    "count_nonzero(#, axis=0)",
    "nansum(#, axis=0)",
];

/// Expressions of two operands.
const OF_TWO: &[&str] = &[
    "(# + @)",
    "(# * @)",
    "where(c, #, @)",
    "maximum(#, @)",
    "add(#, @, dims=[1])",
    "sub(#, @, dims=[0])",
    "mul(#, @, axis=0)",
    "(# < @) * #",
    "concatenate([#, @], axis=0)",
    "vecdot(#, @)",
    "stack([#, @], axis=-1)",
];

fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(vec!["x", "y", "v", "x", "y", "v", "2.5"]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 2, |inner| {
        let of_one = (prop::sample::select(OF_ONE), inner.clone());
        let of_two = (prop::sample::select(OF_TWO), inner.clone(), inner);
        prop_oneof![
            of_one.prop_map(|(pattern, x)| pattern.replace('#', &x)),
            of_two.prop_map(|(pattern, x, y)| pattern.replace('#', &x).replace('@', &y)),
        ]
    })
}

/// Shapes that are compatible in most cases: some axes of one shape, some expanded.
fn shapes() -> impl Strategy<Value = Shapes> {
    let full = prop::collection::vec(prop::sample::select(vec![0, 1, 2, 3, 3, 5, 5]), 3);
    let partial = (0usize..4, prop::collection::vec(0usize..5, 3));
    (full, prop::collection::vec(partial, NAMES.len())).prop_map(|(full, partial)| {
        let shape = |(skipped, choices): &(usize, Vec<usize>)| {
            let axes = full.iter().zip(choices).skip(skipped % 4);
            axes.map(|(&size, &choice)| if choice == 0 { 1 } else { size }).collect()
        };
        partial.iter().map(shape).collect()
    })
}

const CASES: u32 = 4000;

#[test]
fn where_guards_hold_the_text_gives_the_resized_graph() {
    let sizes = prop::sample::select(vec![2usize, 3, 4, 5, 6, 7, 8, 100, 1, 0]);
    let sizes = prop::collection::vec(sizes, 4);
    let rule = prop::sample::select(rules());
    let case = (expression(), shapes(), sizes, 0usize..20, rule);
    let config = ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() };
    let reused = AtomicU32::new(0);
    let checked = TestRunner::new(config).run(&case, |(text, first, sizes, changed, rule)| {
        let rule = rule.as_ref();
        let is_text = Expression::parse(&text, &ParseLimits::default()).is_ok();
        if let Some(graph) = is_text.then(|| symbolic(&text, &first, rule)).flatten()
            && check(&text, &first, &other_shapes(&graph, &sizes, changed), rule)
        {
            reused.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    });
    checked.unwrap();
    let reused = reused.into_inner();
    // About 540 are. A tenth of the cases is five standard deviations below.
    assert!(reused > CASES / 10, "of {CASES} programs only {reused} are used for other sizes");
}

/// The guards of texts over `x`, `y`, `v`, `i` and `c`, without those of unused operands.
#[test]
fn guards_say_what_the_rules_relied_on() {
    let shapes: Shapes = vec![vec![4, 3], vec![4, 1], vec![3], vec![5], vec![4, 3]];
    let cases = [
        ("x + v", "x: [n, m], v: [m]"),
        ("x * y - 2.5", "x: [n, m], y: [n, 1]"),
        ("add(x, v, dims=[1])", "x: [n, m], v: [m]"),
        ("where(c, x, v)", "x: [n, m], v: [m], c: [n, m]"),
        ("softmax(x, axis=-1)", "x: [n, m]"),
        ("sum(x, axis=0)", "x: [n, m]"),
        ("mean(x, axis=-1)", "x: [n, m]"),
        ("std(x) / var(v, correction=1)", "x: [n, m], v: [m]"),
        ("var(v, correction=2)", "v: [3]"),
        ("layer_norm(x, v, v)", "x: [n, m], v: [m]"),
        ("ones_like(x)", "x: [n, m]"),
        ("count_nonzero(x, where=v > 0)", "x: [n, m], v: [m]"),
        ("x[None, :, 1:]", "x: [n, m]"),
        ("x[1:] - x[:-1]", "x: [n, m]"),
        ("x[0] + v", "x: [n, m], v: [m]"),
        ("x[-1] + v", "x: [n, m], v: [m]"),
        ("x[-3:]", "x: [n, m]"),
        ("x[-4:]", "x: [4, n]"),
        ("x[3] + x[-1]", "x: [4, n]"),
        ("x[-1:-1]", "x: [4, n]"),
        ("diff(x, axis=0)", "x: [n, m]"),
        ("flip(x)", "x: [n, m]"),
        ("x[::2]", "x: [n, m]"),
        ("x[::-1]", "x: [n, m]"),
        // The half of one symbol is no other symbol, although both are multiples of one number.
        ("c[::2]", "c: [n, m]"),
        ("v[:8]", "v: [3]"),
        ("transpose(x) + v[:, None]", "x: [n, m], v: [m]"),
        ("reshape(x, [-1])", "x: [n, m]"),
        ("reshape(x, [-1, 2])", "x: [n, m]"),
        ("reshape(reshape(x, [-1, 6]), [-1, 3]) * x", "x: [n, 3]"),
        ("reshape(x, [6, 2])", "x: [4, 3]"),
        ("concatenate([v[:1], v], axis=0)", "v: [n]"),
        ("broadcast_to(v, [3])", "v: [3]"),
        ("take(x, i, axis=0)", "x: [4, n], i: [m]"),
        ("concatenate([x, x], axis=0)", "x: [n, m]"),
        ("stack([x, x], axis=0)", "x: [n, m]"),
        ("roll(v, 3, axis=0)", "v: [3]"),
        ("roll(v, 1, axis=0)", "v: [n]"),
        ("roll(v, -4, axis=0)", "v: [3]"),
        ("roll(v, 1)", "v: [n]"),
        ("roll(x, 1)", "x: [n, m]"),
        ("pad(v, [[2, 1]])", "v: [n]"),
        ("pad(x, [[2, 1], [0, 3]])", "x: [n, m]"),
        ("pad(v, [[2, 1]], mode=reflect)", "v: [n]"),
        ("pad(x, [[1, 1], [0, 0]], mode=reflect)", "x: [n, m]"),
        ("pad(v, [[2, 1]], mode=edge)", "v: [n]"),
        ("broadcast(v, [3])", "v: [n]"),
        ("sliding_window_view(x, 2, axis=0)", "x: [4, n]"),
    ];
    for (text, expected) in cases {
        let symbolic = symbolic(text, &shapes, None).expect(text);
        let guards = symbolic.guards().to_string();
        let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
        let guards = guards.split(';').next().unwrap();
        for part in expected.split("], ") {
            let (name, sizes) = part.split_once(": ").unwrap();
            assert!(expression.mentions(name));
            let part = format!("{name}: {}]", sizes.trim_end_matches(']'));
            // Symbols are numbered over all operands, including unused ones.
            let sizes_of = |guards: &str, name: &str| {
                let start = guards.find(&format!("{name}: [")).unwrap() + name.len() + 2;
                guards[start..].split_inclusive(']').next().unwrap().to_owned()
            };
            let found = sizes_of(guards, name);
            let kinds = |sizes: &str| {
                let size = |size: &str| size.trim().parse::<usize>().ok();
                sizes.trim_matches(['[', ']']).split(", ").map(size).collect::<Vec<_>>()
            };
            assert_eq!(kinds(&found), kinds(part.split_once(": ").unwrap().1), "{text}: {guards}");
        }
    }
}

/// The sizes for which a graph was built meet its guards.
#[test]
fn the_sizes_of_the_graph_itself_meet_the_guards() {
    // On 32-bit machines an array of this many `f64` still fits.
    const LONG: usize = if usize::BITS < 64 { 1 << 27 } else { 1 << 31 };
    let shapes: [[&[usize]; 2]; 6] = [
        [&[0, LONG], &[LONG]],
        [&[0, 5], &[5]],
        [&[LONG, 0], &[0]],
        [&[0, LONG - 1], &[LONG - 1]],
        [&[0, LONG, LONG - 1], &[LONG - 1]],
        [&[0, 1 << 30, (1 << 30) + 1, 7], &[7]],
    ];
    for [x, v] in shapes {
        for text in ["x - 1", "x * v", "f64(x) + v", "sum(x, axis=0)", "argmax(x + v, axis=-1)"] {
            let b = GraphBuilder::new();
            let bind = |(name, shape)| (name, b.parameter(name, DType::F32, shape).unwrap());
            let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
            let Ok(result) = expression.build(&b, &[("x", x), ("v", v)].map(bind), None) else {
                // An arg-reduction without elements, and an array that is too large once axis 0 is reduced.
                assert!(!text.contains("x - 1") && !text.contains("x * v"), "{text}: {x:?}");
                continue;
            };
            let graph = b.finish(&[result]).unwrap();
            let symbolic = SymbolicGraph::new(&graph, &b.size_facts());
            let symbols = symbolic.guards().symbols(&[x, v]);
            let symbols = symbols.unwrap_or_else(|error| panic!("{text}: {x:?}: {error}"));
            assert_eq!(symbolic.resized(&symbols), graph, "{text}: {x:?}");
        }
    }
}

/// A reshape of no elements to three rows keeps the shape if there are three rows.
#[test]
fn a_reshape_that_keeps_the_shape_at_some_sizes_is_free() {
    let shapes = |rows: usize| vec![vec![], vec![1, 0], vec![rows, 0, 0], vec![], vec![0]];
    for text in ["reshape(norm(v, axis=-1), [3, -1])", "reshape(sum(v, axis=-1), [-1, 2])"] {
        for (first, then) in (2..=6).flat_map(|first| (2..=6).map(move |then| (first, then))) {
            check(text, &shapes(first), &shapes(then), None);
        }
    }
    let shapes = |rows: usize| vec![vec![], vec![1, 0], vec![rows, 2, 6], vec![], vec![0]];
    assert!(check("reshape(sum(v, axis=-1), [3, -1])", &shapes(6), &shapes(3), None));
}

#[test]
fn many_reshapes_to_one_number_keep_sizes_free() {
    let shapes: Shapes = vec![vec![4, 3], vec![4, 1], vec![3], vec![5], vec![4, 3]];
    let terms = (2..14).map(|factor| format!("sum(reshape(x * {factor}, [-1, 4]))"));
    let text = terms.collect::<Vec<String>>().join(" + ");
    let guards = symbolic(&text, &shapes, None).unwrap().guards().to_string();
    assert!(guards.starts_with("x: [n, m]"), "{guards}");
}

/// All sizes of an axis that meet the guards give the graph elaborated for them, from each first size.
#[test]
fn sizes_that_follow_from_others_are_those_of_a_fresh_graph() {
    let texts = [
        "v[1:]",
        "v[:-2]",
        "v[2:5]",
        "v[1:] - v[:-1]",
        "v[2:] - 2 * v[1:-1] + v[:-2]",
        "v[1:][1:] + v[:-1][:-1]",
        "v[::2]",
        "v[1::3]",
        "v[::2] + v[1::2]",
        "v[1:] + v",
        "v[0] * v[1]",
        "v[-1] * v[-2]",
        "v[-3:]",
        "v[-3:-1]",
        "v[-1] + v[4]",
        "v[::-1]",
        "v[::-2]",
        "v[::-1] - v",
        "v[::-1][::2][::-1]",
        "v[1:][-2:]",
        "v[::2][-1]",
        "v[::-1][-1]",
        "v[4:1:-1]",
        "v[-2:1:-1]",
        "v[:-4:-1]",
        "diff(v)",
        "diff(v, n=2) + diff(v)[1:]",
        "diff(v[::2])",
        "flip(diff(v))",
        "v[-1:-1]",
        "reshape(v, [-1, 4])",
        "reshape(v, [2, -1])",
        "reshape(reshape(v, [-1, 2]), [-1]) + v",
        "reshape(v[1:], [-1, 3])",
        "reshape(v[::2], [-1, 2])",
        "sum(reshape(v, [-1, 4]), axis=1)",
        "mean(v[1:])",
        "var(reshape(v, [2, -1]), axis=1)",
        "concatenate([v[:1], v[1:]], axis=0) + v",
        "roll(v, 2)",
        "roll(v, -1) + roll(v, 7)",
        "pad(v, [[2, 1]], mode=reflect)",
        "pad(v, [[1, 3]], mode=symmetric)",
        "pad(v, [[0, 2]], mode=edge)",
        "pad(v, [[3, 1]], mode=wrap)",
        "pad(pad(v, [[1, 0]]), [[0, 1]])[1:-1] + v",
        "concatenate([v, v], axis=0)[2:]",
        "concatenate([v, v[::-1]], axis=0)[::-1][:3]",
        "pad(v, [[1, 0]])[1:] - v",
        "v[1:][:, None] * v[None]",
    ];
    let mut reused = 0;
    for text in texts {
        for (first, then) in (0..=12).flat_map(|first| (0..=12).map(move |then| (first, then))) {
            let [first, then] = [first, then]
                .map(|length| vec![vec![2, 3], vec![1, 2, 3], vec![length], vec![5], vec![2, 3]]);
            reused += usize::from(check(text, &first, &then, None));
        }
    }
    // Equal lengths alone would be 8 %.
    assert!(reused > texts.len() * 169 / 5, "{reused} pairs");
}
