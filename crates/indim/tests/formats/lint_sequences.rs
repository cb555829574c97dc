//! Types behind sequences, optional values and branches of one rank each, and the operators of `ai.onnx.ml`.

use crate::lint::{graph_attribute, lint, named, output};
use crate::support::onnx::{FLOAT, INT64, Message, Model, int, ints, list, node, tensor, value};

fn model(inputs: Vec<Message>, nodes: Vec<Message>) -> Vec<u8> {
    let initializers = vec![
        list("one", &[1]),
        tensor("two", INT64, &[]).packed(7, &[2]),
        list("parts", &[1, 3]),
        list("equal", &[2, 2]),
    ];
    Model { opset: 17, inputs, initializers, nodes, outputs: vec![named("y")], ..Model::default() }
        .encoded()
}

/// The type of `y` in a model with the inputs `a: f32[4, N]`, `b: f32[4, N]`, `c: f32[2, N]`.
#[track_caller]
fn typed(nodes: Vec<Message>, expected: &str) {
    let input = |name, rows| value(name, FLOAT, Some(&[rows, "N"]));
    let report = lint(
        "sequence.onnx",
        model(vec![input("a", "4"), input("b", "4"), input("c", "2")], nodes),
    );
    assert_eq!(output(&report), format!("y: {expected}"), "{report}");
    assert!(report.outline().values.iter().all(|value| value.value_type.is_known()), "{report}");
}

#[test]
fn elements_of_sequences_have_a_type() {
    let construct = |of: &[&str]| node("SequenceConstruct", of, &["s"], &[]);
    let at = || node("SequenceAt", &["s", "two"], &["y"], &[]);
    let concat =
        |new| node("ConcatFromSequence", &["s"], &["y"], &[int("axis", 0), int("new_axis", new)]);
    typed(vec![construct(&["a", "b"]), at()], "f32[4, N]");
    typed(vec![construct(&["a", "c"]), at()], "f32[s.each[0], N]");
    typed(vec![construct(&["a", "b"]), concat(0)], "f32[8, N]");
    typed(vec![construct(&["a", "b"]), concat(1)], "f32[2, 4, N]");
    // The sum of sizes that differ is none of them times their number.
    typed(vec![construct(&["a", "c"]), concat(0)], "f32[y[0], N]");
    let insert = node("SequenceInsert", &["e", "a"], &["s"], &[]);
    typed(vec![node("SequenceEmpty", &[], &["e"], &[]), insert, at()], "f32[4, N]");
    typed(
        vec![construct(&["a", "b"]), node("SequenceErase", &["s"], &["y"], &[])],
        "seq(f32[4, N])[1]",
    );
    let sized = vec![
        construct(&["a", "b"]),
        node("SequenceLength", &["s"], &["n"], &[]),
        node("Constant", &[], &["axes"], &[ints("value_ints", &[0])]),
        node("Unsqueeze", &["n", "axes"], &["shape"], &[]),
        node("ConstantOfShape", &["shape"], &["y"], &[]),
    ];
    typed(sized, "f32[2]");
}

#[test]
fn parts_of_an_array_are_a_sequence() {
    let split =
        |of: &[&str], attributes: &[Message]| node("SplitToSequence", of, &["s"], attributes);
    let at = || node("SequenceAt", &["s", "two"], &["y"], &[]);
    typed(vec![split(&["a"], &[]), at()], "f32[1, N]");
    typed(vec![split(&["a"], &[int("keepdims", 0)]), at()], "f32[N]");
    typed(vec![split(&["a", "two"], &[]), at()], "f32[2, N]");
    typed(vec![split(&["a", "equal"], &[]), at()], "f32[2, N]");
    typed(vec![split(&["a", "parts"], &[]), at()], "f32[s.each[0], N]");
    let columns = node("SplitToSequence", &["a", "two"], &["y"], &[int("axis", 1)]);
    typed(vec![columns], "seq(f32[4, y.each[1]])[floor((N + 1)/2)]");
}

#[test]
fn optional_values_have_the_type_of_their_value() {
    let nodes = vec![
        node("Optional", &["a"], &["o"], &[]),
        node("OptionalHasElement", &["o"], &["h"], &[]),
        node("OptionalGetElement", &["o"], &["y"], &[]),
    ];
    typed(nodes, "f32[4, N]");
}

#[test]
fn a_loop_that_fills_a_sequence() {
    let nodes = [
        node("Identity", &["on"], &["again"], &[]),
        node("SequenceInsert", &["state", "a"], &["next"], &[]),
    ];
    let mut graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
    graph = ["step", "on", "state"].iter().fold(graph, |graph, name| graph.bytes(11, named(name)));
    graph = ["again", "next"].iter().fold(graph, |graph, name| graph.bytes(12, named(name)));
    let body = Message::default().bytes(1, "body").bytes(6, graph).int(20, 5);
    let nodes = vec![
        node("SequenceEmpty", &[], &["e"], &[]),
        node("Loop", &["two", "", "e"], &["s"], &[body]),
        node("ConcatFromSequence", &["s"], &["y"], &[int("axis", 0), int("new_axis", 1)]),
    ];
    typed(nodes, "f32[s[0], 4, N]");
}

#[test]
fn a_finding_in_a_body_names_the_body_and_its_node() {
    let sum = node("Add", &["a", "c"], &["of_branch"], &[]);
    let branch = |name| graph_attribute(name, core::slice::from_ref(&sum), &["of_branch"]);
    let nodes =
        vec![node("If", &["flag"], &["y"], &[branch("then_branch"), branch("else_branch")])];
    let inputs = vec![
        value("a", FLOAT, Some(&["4", "3"])),
        value("c", FLOAT, Some(&["2", "3"])),
        value("flag", 9, Some(&[])),
    ];
    let report = lint("branch.onnx", model(inputs, nodes));
    let text = report.to_string();
    assert!(text.contains("node 0 (Add, opset 17), in then_branch of node 0 (If): "), "{text}");
}

/// The exporter's pattern: `If(shape[1] == 1)` squeezes the axis, else the identity.
fn squeezed(channels: &str) -> String {
    let input = value("x", FLOAT, Some(&["N", channels, "8"]));
    let branch = |name, inner: Message| graph_attribute(name, &[inner], &["of_branch"]);
    let squeeze = node("Squeeze", &["x", "one"], &["of_branch"], &[]);
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Gather", &["s", "one"], &["n"], &[]),
        node("Equal", &["n", "one"], &["is_one"], &[]),
        node(
            "If",
            &["is_one"],
            &["i"],
            &[
                branch("then_branch", squeeze),
                branch("else_branch", node("Identity", &["x"], &["of_branch"], &[])),
            ],
        ),
        node("Relu", &["i"], &["y"], &[]),
    ];
    let report = lint("if.onnx", model(vec![input], nodes));
    assert!(report.passes(true) || channels == "C", "{report}");
    output(&report)
}

#[test]
fn a_branch_that_sizes_choose_gives_its_type() {
    assert_eq!(squeezed("1"), "y: f32[N, 8]");
    // The squeeze of an axis of size 5 never runs, so it is no error.
    assert_eq!(squeezed("5"), "y: f32[N, 5, 8]");
    assert_eq!(squeezed("C"), "y: f32[...]");
}

#[test]
fn operators_of_machine_learning_have_types() {
    let typed = |operator: &str, operands: &[&str], results: &[&str], attributes: &[Message]| {
        let input = value("x", FLOAT, Some(&["N", "6"]));
        let indices = value("i", INT64, Some(&["1", "2"]));
        let words = value("t", 8, Some(&["N", "1"]));
        let operator = format!("ai.onnx.ml.{operator}");
        let nodes = vec![node(&operator, operands, results, attributes)];
        let report = lint("learning.onnx", model(vec![input, indices, words], nodes));
        let outline = report.outline();
        assert!(outline.nodes[0].is_opaque, "{operator} has no kernel");
        let types = outline.nodes[0].results.iter().flatten().map(|&it| outline.typed(it));
        types.collect::<Vec<String>>().join(", ")
    };
    let strings = |name: &str, texts: &[&str]| {
        let message = Message::default().bytes(1, name);
        texts.iter().fold(message, |message, text| message.bytes(9, text)).int(20, 8)
    };
    let labels = || ints("classlabels_int64s", &[0, 1, 2]);
    let one = |operator: &str, attributes: &[Message]| typed(operator, &["x"], &["y"], attributes);
    let both =
        |operator: &str, attributes: &[Message]| typed(operator, &["x"], &["y", "z"], attributes);
    assert_eq!(both("TreeEnsembleClassifier", &[labels()]), "y: i64[N], z: f32[N, 3]");
    assert_eq!(
        both("LinearClassifier", &[strings("classlabels_strings", &["a", "b"])]),
        "y: string[N], z: f32[N, 2]"
    );
    assert_eq!(
        both("SVMClassifier", &[ints("classlabels_ints", &[0, 1])]),
        "y: i64[N], z: f32[N, y[1]]"
    );
    assert_eq!(one("TreeEnsembleRegressor", &[int("n_targets", 2)]), "y: f32[N, 2]");
    assert_eq!(one("TreeEnsemble", &[int("n_targets", 2)]), "y: f32[N, 2]");
    assert_eq!(one("LinearRegressor", &[int("targets", 3)]), "y: f32[N, 3]");
    assert_eq!(one("SVMRegressor", &[]), "y: f32[N, 1]");
    for operator in ["Scaler", "Normalizer", "Imputer", "Binarizer"] {
        assert_eq!(one(operator, &[]), "y: f32[N, 6]");
    }
    assert_eq!(one("OneHotEncoder", &[ints("cats_int64s", &[1, 2, 3])]), "y: f32[N, 6, 3]");
    assert_eq!(
        typed("LabelEncoder", &["t"], &["y"], &[ints("values_int64s", &[1])]),
        "y: i64[N, 1]"
    );
    assert_eq!(typed("FeatureVectorizer", &["x", "x"], &["y"], &[]), "y: f32[N, 12]");
    assert_eq!(typed("ArrayFeatureExtractor", &["x", "i"], &["y"], &[]), "y: f32[N, 2]");
    assert_eq!(one("ZipMap", &[labels()]), "y: map(i64, f32)[N]");
}
