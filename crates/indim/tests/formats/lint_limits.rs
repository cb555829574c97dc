//! Findings about large and unusual models of ONNX: many illegal nodes, chains of calls, sparse arrays; and
//! the counts of nodes that no rule judges.

use std::time::{Duration, Instant};

use indim::formats::{LintOptions, LintReport, LoadedModel, NodeCounts, SourceFile};
use indim::{Array, ArrayView};

use crate::lint::{found, lint, named};
use crate::support::onnx::{
    FLOAT, INT64, Message, Model, floats, function, list, node, tensor, value,
};

fn model(inputs: Vec<Message>, initializers: Vec<Message>, nodes: Vec<Message>) -> Model {
    Model { opset: 17, inputs, initializers, nodes, outputs: vec![named("y")], ..Model::default() }
}

/// Runs a task and checks that it ends soon: the bound is a multiple of the time without optimizations.
fn soon<T>(task: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = task();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    result
}

#[test]
fn ten_thousand_illegal_nodes_are_found_soon() {
    let nodes = (0..10_000).map(|number| {
        let result = if number == 0 { "y".to_owned() } else { format!("y{number}") };
        node("Add", &["x", "b"], &[&result], &[])
    });
    let inputs = vec![value("x", FLOAT, Some(&["2", "3", "4"])), value("b", FLOAT, Some(&["3"]))];
    let content = model(inputs, Vec::new(), nodes.collect()).encoded();
    let report = soon(|| lint("many.onnx", content));
    assert_eq!((report.counts().illegal, report.findings().len()), (10_000, 1000));
    let finding = &report.findings()[999];
    assert_eq!(finding.repair.as_deref(), Some("reshape b to f32[3, 1]"));
    let drawing = finding.drawing.as_ref().expect("a drawing").to_string();
    assert!(!drawing.contains("help"), "the reshape is the only repair: {drawing}");
}

/// A chain of functions; each calls the one before twice: 2^60 operations.
#[test]
fn a_chain_of_calls_that_doubles_is_refused_at_once() {
    let twice = |number: usize| {
        let (name, called) = (format!("F{number}"), format!("my.F{}", number - 1));
        let calls = [node(&called, &["p"], &["t"], &[]), node(&called, &["t"], &["q"], &[])];
        function(&name, &["p"], &["q"], &calls, &[], 17)
    };
    let first = function("F0", &["p"], &["q"], &[node("Relu", &["p"], &["q"], &[])], &[], 17);
    let functions = |count| std::iter::once(first.clone()).chain((1..count).map(twice)).collect();
    let called = |count: usize| {
        let nodes = vec![node(&format!("my.F{}", count - 1), &["x"], &["y"], &[])];
        let inputs = vec![value("x", FLOAT, Some(&["2"]))];
        Model { functions: functions(count), ..model(inputs, Vec::new(), nodes) }.encoded()
    };
    let start = Instant::now();
    let source = || SourceFile::new("chain.onnx", called(61));
    let linted = LintReport::new(source(), &LintOptions::default()).unwrap_err();
    let loaded = LoadedModel::from_bytes("chain.onnx", called(61)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!((linted.code(), loaded.code()), ("limit", "limit"));
    assert!(linted.to_string().contains("with calls inlined"), "{linted}");
    // 2^5 calls are few.
    assert_eq!(lint("chain.onnx", called(6)).outline().nodes.len(), 32);
}

/// The calls are in the branches of an `If`.
#[test]
fn calls_in_bodies_count() {
    use crate::lint::graph_attribute;
    let twice = |number: usize| {
        let called = format!("my.F{}", number - 1);
        let branch =
            |name: &str| graph_attribute(name, &[node(&called, &["p"], &["t"], &[])], &["t"]);
        let branches = [branch("then_branch"), branch("else_branch")];
        let body = [node("If", &["c"], &["q"], &branches)];
        function(&format!("F{number}"), &["p", "c"], &["q"], &body, &[], 17)
    };
    let relu = [node("Relu", &["p"], &["q"], &[])];
    let first = function("F0", &["p", "c"], &["q"], &relu, &[], 17);
    let nodes = vec![node("my.F25", &["x", "c"], &["y"], &[])];
    let inputs = vec![value("x", FLOAT, Some(&["2"])), value("c", 9, Some(&[]))];
    let functions = std::iter::once(first).chain((1..26).map(twice)).collect();
    let content = Model { functions, ..model(inputs, Vec::new(), nodes) }.encoded();
    let start = Instant::now();
    let error = LoadedModel::from_bytes("chain.onnx", content).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(error.code(), "limit");
}

/// A model with a sparse initializer `w`: `x + w`.
fn with_sparse(values: Message, indices: Message, dims: &[i64]) -> Vec<u8> {
    let inputs = vec![value("x", FLOAT, Some(&["2", "3"]))];
    let content = model(inputs, Vec::new(), vec![node("Add", &["x", "w"], &["y"], &[])]).encoded();
    let sparse = Message::default().bytes(1, values).bytes(2, indices);
    let sparse = dims.iter().fold(sparse, |sparse, &size| sparse.int(3, size));
    // Fields of a message that is appended join those of the one before.
    let graph = Message::default().bytes(15, sparse);
    [content, Message::default().bytes(7, graph).as_ref().to_vec()].concat()
}

/// The results are those of ONNX Runtime 1.27 for these models.
#[test]
fn sparse_initializers_are_dense_arrays() {
    let values = || floats("w", &[3], &[1.5, -2.0, 3.0]);
    let pairs = tensor("i", INT64, &[3, 2]).packed(7, &[0, 1, 1, 1, 1, 2]);
    for indices in [list("i", &[1, 4, 5]), pairs] {
        let content = with_sparse(values(), indices, &[2, 3]);
        let report = lint("sparse.onnx", content.clone());
        assert_eq!((report.counts().legal, found(&report)), (1, vec![]), "{report}");
        let model = LoadedModel::from_bytes("sparse.onnx", content).unwrap();
        let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let results = model.run(&[Some(ArrayView::from(&x))]).unwrap();
        let expected = [1.0f32, 3.5, 3.0, 4.0, 3.0, 9.0];
        assert_eq!(results[0].elements::<f32>().unwrap(), expected);
    }
    // A sparse array has a type, so its broadcast is judged.
    let report = lint("sparse.onnx", with_sparse(values(), list("i", &[0, 1, 2]), &[4]));
    assert_eq!(found(&report), [("size-mismatch", "illegal", "y".to_owned())]);
}

#[test]
fn damaged_sparse_initializers_are_refused() {
    let values = || floats("w", &[2], &[1.5, -2.0]);
    let code = |values: Message, indices: Message, dims: &[i64]| {
        LoadedModel::from_bytes("sparse.onnx", with_sparse(values, indices, dims)).unwrap_err()
    };
    for (indices, problem) in [
        (list("i", &[1, 6]), "are outside the array"),
        (list("i", &[-1, 2]), "are outside the array"),
        (list("i", &[4, 1]), "do not ascend"),
        (list("i", &[1, 1]), "do not ascend"),
        (tensor("i", INT64, &[1, 3]).packed(7, &[0, 1, 1]), "have neither one axis"),
    ] {
        let error = code(values(), indices, &[2, 3]);
        assert_eq!(error.code(), "attribute", "{error}");
        assert!(error.to_string().contains(problem), "{error}");
    }
    let error = code(floats("w", &[3], &[1.0, 2.0, 3.0]), list("i", &[1, 2]), &[2, 3]);
    assert!(error.to_string().contains("are not f32[2]"), "{error}");
    let error = code(floats("w", &[2], &[1.0]), list("i", &[1, 2]), &[2, 3]);
    assert_eq!(error.code(), "wrong-element-count", "{error}");
    // Few bytes do not fill the memory.
    let error = soon(|| code(values(), list("i", &[1, 2]), &[1 << 20, 1 << 12]));
    assert_eq!(error.code(), "limit", "{error}");
}

#[test]
fn nodes_that_no_rule_judges_are_counted_and_the_first_is_named() {
    let counts = |nodes: Vec<Message>, x: Option<&[&str]>| {
        let inputs = vec![value("x", FLOAT, x), value("w", FLOAT, Some(&["4", "5"]))];
        lint("counts.onnx", model(inputs, Vec::new(), nodes).encoded())
    };
    let product = || vec![node("MatMul", &["x", "w"], &["y"], &[])];
    let report = counts(product(), Some(&["2", "4"]));
    assert_eq!(report.node_counts(), NodeCounts::default());
    assert!(report.to_string().ends_with(" 0 unknown\n"), "{report}");
    assert_eq!(counts(product(), Some(&["2", "3"])).node_counts().illegal, 1);
    assert_eq!(counts(product(), Some(&["2", "N"])).node_counts().legal_if, 1);
    // The rank of an operand is unknown.
    let report = counts(product(), None);
    let last = "0 unknown; other nodes: 0 illegal, 0 legal if, 1 not judged (first MatMul)\n";
    assert!(report.to_string().ends_with(last), "{report}");
    let nodes = vec![
        node("com.acme.Foo", &["x"], &["f"], &[]),
        node("com.acme.Bar", &["x"], &["g"], &[]),
        node("Add", &["f", "w"], &["y"], &[]),
    ];
    let report = counts(nodes, Some(&["4", "5"]));
    let last = "1 unknown; other nodes: 0 illegal, 0 legal if, 2 not judged (first com.acme.Foo)\n";
    assert!(report.to_string().ends_with(last), "{report}");
}
