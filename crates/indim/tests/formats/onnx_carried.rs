//! ONNX models with nodes that indim lacks, written as ONNX: with the operator defined as a function, the
//! written model computes what the source computes.

use std::collections::BTreeSet;

use crate::support::onnx::{
    FLOAT, Message, Model, array, float, floats, function, int, ints, list, node, reference,
    tensor, value,
};
use indim::formats::{
    LintOptions, LintReport, LoadedModel, ModelFormat, ReadOptions, SourceFile, StagedModel,
    WriteOptions, WrittenModel,
};
use indim::{Array, ArrayView};

use crate::onnx_control::body;

const ONNX: ModelFormat = ModelFormat::Onnx;

fn source(content: &[u8]) -> SourceFile {
    SourceFile::new("model.onnx", content.to_vec())
}

fn model(nodes: Vec<Message>, functions: Vec<Message>, results: &[&str]) -> Vec<u8> {
    let rows = Some(&["2", "3"][..]);
    Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, rows)],
        initializers: vec![floats("w", &[3], &[0.5, -1.0, 2.0]), list("one", &[1])],
        nodes,
        outputs: results.iter().map(|name| value(name, FLOAT, rows)).collect(),
        functions,
    }
    .encoded()
}

/// A node of an operator that indim lacks.
fn foreign(operand: &str, result: &str, factor: Message) -> Message {
    node("my.Foreign", &[operand], &[result], &[factor])
}

/// The model with the operator as a function: `Foreign(p) = p * factor + p²`.
fn with_operator(content: &[u8]) -> Vec<u8> {
    let nodes = [
        node("Constant", &[], &["f"], &[reference("value_float", "factor")]),
        node("Mul", &["p", "f"], &["m"], &[]),
        node("Mul", &["p", "p"], &["s"], &[]),
        node("Add", &["m", "s"], &["q"], &[]),
    ];
    let default = float("factor", 1.0);
    let operator = function("Foreign", &["p"], &["q"], &nodes, &[default], 18);
    // Fields of a protobuf that are appended join its lists.
    [content.to_vec(), Message::default().bytes(25, operator).as_ref().to_vec()].concat()
}

/// The model as ONNX, around the nodes that indim lacks.
fn written(content: &[u8], format: ModelFormat) -> Result<WrittenModel, String> {
    let (source, options) = (source(content), ReadOptions::default());
    let write = |model: &LoadedModel| {
        let inputs = model.declared().unwrap_or_else(|error| panic!("{error}"));
        model.write(format, &inputs, &WriteOptions::default())
    };
    let loaded = LoadedModel::from_source(source.clone(), &options);
    let error = match loaded.and_then(|model| write(&model)) {
        Ok(written) => return Ok(written),
        Err(error) => error,
    };
    let Some(carrying) = LoadedModel::carrying(source, &options, format, &error) else {
        return Err(error.draw());
    };
    carrying.and_then(|model| write(&model)).map_err(|error| error.draw())
}

fn run(content: &[u8]) -> Vec<Array> {
    let model = StagedModel::from_source(source(content), &ReadOptions::default());
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    let x = Array::new([2, 3], vec![0.5f32, -1.5, 2.0, 0.0, 3.0, -0.25]).unwrap();
    model.run(&[Some(ArrayView::from(&x))]).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes the model, and compares the results of both; the operators of the nodes that are as in the source.
fn carried(content: &[u8]) -> Vec<(String, usize)> {
    let first = written(content, ONNX).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run(&with_operator(&first.content)), run(&with_operator(content)));
    let second = written(&first.content, ONNX).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(second.carried, first.carried);
    assert_eq!(run(&with_operator(&second.content)), run(&with_operator(content)));
    let findings = |content: &[u8]| {
        let report = LintReport::new(source(content), &LintOptions::new());
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        // A function that is called twice gives each finding once, its inlined nodes one each.
        report.findings().iter().map(|finding| finding.code.as_str()).collect::<BTreeSet<_>>()
    };
    assert_eq!(findings(&first.content), findings(content));
    first.carried
}

fn times(operator: &str, count: usize) -> (String, usize) {
    (operator.to_owned(), count)
}

fn factor(number: f32) -> Message {
    float("factor", number)
}

#[test]
fn a_node_without_types_takes_the_nodes_behind_it_along() {
    let nodes = vec![
        node("Abs", &["x"], &["a"], &[]),
        foreign("a", "b", factor(3.0)),
        node("Add", &["b", "w"], &["c"], &[]),
        node("Exp", &["a"], &["e"], &[]),
        node("Mul", &["c", "e"], &["y"], &[]),
    ];
    let all = [times("Add", 1), times("Mul", 1), times("my.Foreign", 1)];
    assert_eq!(carried(&model(nodes, Vec::new(), &["y"])), all);
}

#[test]
fn a_called_function_is_inlined_at_each_call() {
    let nodes = [
        node("Mul", &["p", "q"], &["t"], &[]),
        node("my.Foreign", &["t"], &["u"], &[reference("factor", "alpha")]),
        node("Sub", &["u", "p"], &["r"], &[]),
    ];
    let outer = [
        node("my.Inner", &["p", "q"], &["t"], &[reference("alpha", "beta")]),
        node("Neg", &["t"], &["r"], &[]),
    ];
    let functions = vec![
        function("Inner", &["p", "q"], &["r"], &nodes, &[float("alpha", 0.5)], 18),
        function("Outer", &["p", "q"], &["r", "p"], &outer, &[float("beta", 1.5)], 18),
    ];
    let nodes = vec![
        node("my.Outer", &["x", "w"], &["t", "copy"], &[]),
        node("Tanh", &["t"], &["u"], &[]),
        node("my.Outer", &["u", "copy"], &["y"], &[float("beta", 0.25)]),
    ];
    let found = carried(&model(nodes, functions, &["y"]));
    assert!(found.contains(&times("my.Foreign", 2)), "{found:?}");
}

#[test]
fn a_branch_is_carried_with_the_values_that_it_captures() {
    for threshold in [-100.0, 100.0] {
        let inner = [foreign("p", "t", factor(2.0)), node("Sub", &["t", "p"], &["r"], &[])];
        let functions = vec![function("Inner", &["p"], &["r"], &inner, &[], 18)];
        let then_nodes = [
            foreign("a", "t", factor(0.5)),
            node("my.Inner", &["t"], &["v0"], &[]),
            node("Mul", &["v0", "w"], &["v1"], &[]),
        ];
        let else_nodes = [node("Sub", &["e", "one_float"], &["t"], &[])];
        let branches = [
            body("then_branch", &[], &then_nodes, &["v1"]),
            body("else_branch", &[], &else_nodes, &["t"]),
        ];
        let limit = floats("", &[], &[threshold]);
        let nodes = vec![
            node("Constant", &[], &["limit"], &[array("value", &limit)]),
            node("Cast", &["one"], &["one_float"], &[int("to", FLOAT)]),
            node("Abs", &["x"], &["a"], &[]),
            node("Exp", &["x"], &["e"], &[]),
            node("ReduceSum", &["x"], &["s"], &[int("keepdims", 0)]),
            node("Greater", &["s", "limit"], &["c"], &[]),
            node("If", &["c"], &["i"], &branches),
            node("Add", &["a", "e"], &["z"], &[]),
            node("Mul", &["i", "z"], &["y"], &[]),
        ];
        let found = carried(&model(nodes, functions, &["y"]));
        assert_eq!(found, [times("If", 1), times("Mul", 1)]);
    }
}

#[test]
fn a_loop_in_a_called_function_keeps_its_names_apart() {
    let steps = [
        node("my.Foreign", &["s"], &["f"], &[reference("factor", "alpha")]),
        node("Mul", &["f", "t"], &["so"], &[]),
        node("Identity", &["ci"], &["co"], &[]),
        node("ReduceMax", &["so"], &["m"], &[int("keepdims", 0)]),
    ];
    let inputs = ["k", "ci", "s"];
    let inner = [
        node("Sigmoid", &["p"], &["t"], &[]),
        node(
            "Loop",
            &["n", "", "p"],
            &["r", "stacked"],
            &[body("body", &inputs, &steps, &["co", "so", "m"])],
        ),
    ];
    let functions =
        vec![function("Steps", &["p", "n"], &["r", "stacked"], &inner, &[float("alpha", 0.5)], 18)];
    let count = list("", &[2]);
    let nodes = vec![
        node("Constant", &[], &["n"], &[array("value", &count)]),
        node("my.Steps", &["x", "n"], &["a"], &[]),
        node("Tanh", &["a"], &["t"], &[]),
        node("my.Steps", &["t", "n"], &["y"], &[float("alpha", 0.125)]),
    ];
    let found = carried(&model(nodes, functions, &["y"]));
    assert!(found.contains(&times("Loop", 2)), "{found:?}");
}

#[test]
fn loops_that_only_run_are_carried_too() {
    let steps = [node("Mul", &["s", "a"], &["so"], &[]), node("Identity", &["ci"], &["co"], &[])];
    let steps = body("body", &["k", "ci", "s"], &steps, &["co", "so"]);
    let nodes = vec![
        node("Sigmoid", &["x"], &["a"], &[]),
        node("Loop", &["one", "", "x"], &["l"], &[steps]),
        node("Sub", &["l", "a"], &["y"], &[]),
    ];
    assert_eq!(carried(&model(nodes, Vec::new(), &["y"])), [times("Loop", 1)]);
}

#[test]
fn names_of_carried_nodes_are_not_those_of_written_ones() {
    let nodes = vec![
        node("Abs", &["x"], &["v1"], &[]),
        node("Mul", &["v1", "w"], &["c0"], &[]),
        foreign("c0", "v0", factor(2.0)),
        foreign("v0", "v2", factor(2.0)),
        foreign("w", "v3", factor(2.0)),
        node("Add", &["x", "one_float"], &["d"], &[]),
        node("Cast", &["one"], &["one_float"], &[int("to", FLOAT)]),
    ];
    let (mut nodes, last) = (nodes, 5);
    nodes[last..].reverse();
    nodes.push(node("Mul", &["v2", "v3"], &["y"], &[]));
    nodes.push(node("Mul", &["d", "d"], &["z"], &[]));
    let found = carried(&model(nodes, Vec::new(), &["y", "z"]));
    assert_eq!(found, [times("Mul", 1), times("my.Foreign", 3)]);
}

#[test]
fn strings_and_sequences_pass_through() {
    let nodes = vec![
        node("Neg", &["x"], &["a"], &[]),
        node("my.Named", &["a", "words"], &["b"], &[]),
        node("SequenceConstruct", &["b", "a"], &["s"], &[]),
        node("SequenceAt", &["s", "one"], &["y"], &[]),
    ];
    let words = tensor("words", 8, &[2]).bytes(6, "first word").bytes(6, "second");
    let content = Model {
        opset: 18,
        inputs: vec![value("x", FLOAT, Some(&["N", "3"]))],
        initializers: vec![words, list("one", &[1])],
        nodes,
        outputs: vec![value("y", FLOAT, Some(&["N", "3"]))],
        functions: Vec::new(),
    };
    let declared = indim::formats::ValueType::parse("f32[4, 3]", "x").unwrap();
    let options = ReadOptions::new().declared([("x".to_owned(), declared)]);
    let source = source(&content.encoded());
    let error = LoadedModel::from_source(source.clone(), &options).unwrap_err();
    let model = LoadedModel::carrying(source, &options, ONNX, &error).unwrap().unwrap();
    let x = indim::ArrayType::new(indim::DType::F32, [4, 3]);
    let inputs = [indim::formats::InputBinding::Type(x)];
    let written = model.write(ONNX, &inputs, &WriteOptions::default()).unwrap();
    let has = |text: &[u8]| written.content.windows(text.len()).any(|part| part == text);
    assert!(has(b"first word") && has(b"second"));
    let all = [times("SequenceAt", 1), times("SequenceConstruct", 1), times("my.Named", 1)];
    assert_eq!(written.carried, all);
}

#[test]
fn an_operator_that_another_opset_changes_is_not_carried() {
    let model = |operator: &str, attribute: Message| {
        let nodes =
            vec![foreign("x", "f", factor(1.0)), node(operator, &["f"], &["y"], &[attribute])];
        Model {
            opset: 13,
            inputs: vec![value("x", FLOAT, Some(&["2", "3"]))],
            nodes,
            outputs: vec![value("y", FLOAT, None)],
            ..Model::default()
        }
        .encoded()
    };
    let axes = ints("axes", &[0]);
    let error = written(&model("ReduceMax", axes), ONNX).unwrap_err();
    assert!(error.contains("ReduceMax of opset 13 in a model of opset 18"), "{error}");
    let written = written(&model("Softmax", int("axis", 0)), ONNX).unwrap();
    assert_eq!(written.carried, [times("Softmax", 1), times("my.Foreign", 1)]);
}

/// ONNX has no `Upsample` since opset 10, and writes opset 18 or later.
#[test]
fn an_operator_that_the_written_opset_lacks_is_not_carried() {
    let rows = Some(&["2", "3"][..]);
    let content = Model {
        opset: 9,
        inputs: vec![value("x", FLOAT, rows)],
        initializers: vec![floats("scales", &[2], &[2.0, 2.0])],
        nodes: vec![
            foreign("x", "f", factor(1.0)),
            node("Upsample", &["f", "scales"], &["y"], &[]),
        ],
        outputs: vec![value("y", FLOAT, None)],
        ..Model::default()
    };
    let error = written(&content.encoded(), ONNX).unwrap_err();
    assert!(error.contains("Upsample of opset 9 in a model of opset 18"), "{error}");
}

/// An input that no node reads, with the name that the writer gives its first value; and an array that is an
/// output, and that a carried node reads.
#[test]
fn inputs_and_arrays_keep_their_names() {
    let rows = Some(&["2", "3"][..]);
    let content = Model {
        opset: 18,
        inputs: ["x", "v0", "v1", "v2"].map(|name| value(name, FLOAT, rows)).to_vec(),
        initializers: vec![floats("w", &[3], &[0.5, -1.0, 2.0])],
        nodes: vec![
            node("Abs", &["x"], &["a"], &[]),
            node("Exp", &["a"], &["e"], &[]),
            node("my.Foreign", &["w"], &["f"], &[factor(2.0)]),
            node("my.Foreign", &["e"], &["y"], &[factor(2.0)]),
        ],
        outputs: vec![value("y", FLOAT, rows), value("w", FLOAT, Some(&["3"]))],
        functions: Vec::new(),
    };
    let content = content.encoded();
    let first = written(&content, ONNX).unwrap_or_else(|error| panic!("{error}"));
    // A name that is defined twice is an error of the reader.
    let second = written(&first.content, ONNX).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(second.carried, first.carried);
}

#[test]
fn another_format_names_each_node() {
    let nodes = vec![
        foreign("x", "a", factor(1.0)),
        node("my.Other", &["a"], &["b"], &[]),
        foreign("b", "y", factor(1.0)),
    ];
    let content = model(nodes, Vec::new(), &["y"]);
    let error = written(&content, ModelFormat::OpenVino).unwrap_err();
    assert!(error.starts_with("error[unsupported-op]"), "{error}");
    for place in ["node 0 (my.Foreign", "node 1 (my.Other"] {
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn calls_and_bodies_end_at_the_limits() {
    // Each function calls the one before it twice.
    let call = |at: usize, operand: &str, result: &str| {
        node(&format!("my.F{at}"), &[operand], &[result], &[])
    };
    let mut functions =
        vec![function("F0", &["p"], &["r"], &[foreign("p", "r", factor(1.0))], &[], 18)];
    for at in 1..40 {
        let nodes = [call(at - 1, "p", "t"), call(at - 1, "t", "r")];
        functions.push(function(&format!("F{at}"), &["p"], &["r"], &nodes, &[], 18));
    }
    let carrying = |content: &[u8]| {
        let read = ReadOptions::new().carries(true);
        LoadedModel::from_source(source(content), &read).map_err(|error| error.code())
    };
    let many = model(vec![call(39, "x", "y")], functions, &["y"]);
    assert_eq!(carrying(&many).unwrap_err(), "limit");
    let nodes = [node("my.Own", &["p"], &["r"], &[])];
    let own = function("Own", &["p"], &["r"], &nodes, &[], 18);
    let cyclic = model(vec![node("my.Own", &["x"], &["y"], &[])], vec![own], &["y"]);
    assert_eq!(carrying(&cyclic).unwrap_err(), "cycle");
    let mut deep = foreign("x", "y", factor(1.0));
    for _ in 0..2000 {
        let inside = [deep];
        deep = node("If", &["one"], &["y"], &[body("then_branch", &[], &inside, &["y"])]);
    }
    assert_eq!(carrying(&model(vec![deep], Vec::new(), &["y"])).unwrap_err(), "limit");
    let damaged =
        Message::default().bytes(1, "x").bytes(2, "y").bytes(4, "Foo").bytes(5, b"\x32\x7f");
    assert_eq!(carrying(&model(vec![damaged], Vec::new(), &["y"])).unwrap_err(), "damaged");
}
