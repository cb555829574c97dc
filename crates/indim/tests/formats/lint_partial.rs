//! Findings where types are known only in part: behind opaque nodes, in branches with errors, in nests of
//! loops, and for names of sizes.

use indim::formats::{LintOptions, LintReport, SourceFile};

use crate::lint::{found, graph_attribute, lint, named, output};
use crate::onnx_control::body;
use crate::support::onnx::{BOOL, FLOAT, INT64, Message, Model, int, list, node, tensor, value};

fn model(inputs: Vec<Message>, initializers: Vec<Message>, nodes: Vec<Message>) -> Model {
    Model { opset: 17, inputs, initializers, nodes, outputs: vec![named("y")], ..Model::default() }
}

/// The target of a reshape gives the shape, even if the shape of the opaque node is unknown.
#[test]
fn a_reshape_ends_what_is_unknown_behind_an_opaque_node() {
    let reshaped = |count: i64| {
        let nodes = vec![
            node("com.acme.Foo", &["x"], &["f"], &[]),
            node("Reshape", &["f", "target"], &["r"], &[]),
            node("Add", &["r", "bias"], &["y"], &[]),
        ];
        let initializers = vec![list("target", &[2, 6]), tensor("bias", FLOAT, &[count])];
        let inputs = vec![value("x", FLOAT, Some(&["2", "3"]))];
        lint("foo.onnx", model(inputs, initializers, nodes).encoded())
    };
    assert_eq!(found(&reshaped(4)), [("size-mismatch", "illegal", "y".to_owned())]);
    let legal = reshaped(6);
    assert_eq!((found(&legal), legal.outline().counts().legal), (vec![], 1), "{legal}");
    assert_eq!(output(&legal), "y: f32[2, 6]");
}

#[test]
fn a_reshape_that_never_divides_is_an_error() {
    let reshaped = |size: i64| {
        let inputs = vec![value("x", FLOAT, Some(&["N", "6", "4"]))];
        let nodes = vec![node("Reshape", &["x", "target"], &["y"], &[])];
        lint("rest.onnx", model(inputs, vec![list("target", &[0, size, -1])], nodes).encoded())
    };
    let report = reshaped(5);
    assert_eq!(found(&report), [("operand-shapes", "illegal", "y".to_owned())]);
    assert!(report.to_string().contains("24*N elements do not divide by 5*N"), "{report}");
    let report = reshaped(8);
    assert_eq!((found(&report), output(&report)), (vec![], "y: f32[N, 8, 3]".to_owned()));
}

/// The branch with the error gives no type, which is no reason to know less about the next step.
#[test]
fn an_error_in_a_branch_inside_a_loop_is_reported() {
    let then = [node("Add", &["state", "rows"], &["sum"], &[])];
    let branches = [
        graph_attribute("then_branch", &then, &["sum"]),
        graph_attribute("else_branch", &[node("Neg", &["state"], &["neg"], &[])], &["neg"]),
    ];
    let looped = |condition: &str| {
        let choice = node("If", &[condition], &["next"], &branches);
        let steps = [node("Identity", &["c"], &["go"], &[]), choice];
        let body = body("body", &["i", "c", "state"], &steps, &["go", "next"]);
        let inputs = vec![
            value("x", FLOAT, Some(&["N", "4"])),
            value("n", INT64, Some(&[])),
            value("flag", BOOL, Some(&[])),
        ];
        let nodes = vec![node("Loop", &["n", "", "x"], &["y"], &[body])];
        lint("loop.onnx", model(inputs, vec![tensor("rows", FLOAT, &[3])], nodes).encoded())
    };
    let report = looped("flag");
    assert_eq!(found(&report), [("size-mismatch", "illegal", "sum".to_owned())], "{report}");
    assert_eq!(output(&report), "y: f32[N, 4]");
    // The condition of the loop is true in each step, so the branch without the error never runs.
    let report = looped("c");
    assert_eq!(found(&report), [("size-mismatch", "illegal", "sum".to_owned())], "{report}");
}

/// Each level of this nest doubles the walks of the innermost body.
#[test]
fn nests_of_loops_that_change_a_size_end() {
    let nest = |depth: usize| {
        let go = node("Identity", &["c"], &["go"], &[]);
        let mut step = node("Concat", &["state", "state"], &["next"], &[int("axis", 0)]);
        for _ in 0..depth {
            let body = body("body", &["i", "c", "state"], &[go.clone(), step], &["go", "next"]);
            step = node("Loop", &["i", "c", "state"], &["next"], &[body]);
        }
        let body = body("body", &["i", "c", "state"], &[go, step], &["go", "next"]);
        let inputs = vec![value("x", FLOAT, Some(&["N"])), value("n", INT64, Some(&[]))];
        let nodes = vec![node("Loop", &["n", "", "x"], &["y"], &[body])];
        let source = SourceFile::new("nest.onnx", model(inputs, vec![], nodes).encoded());
        LintReport::new(source, &LintOptions::default())
    };
    assert!(nest(3).is_ok_and(|report| report.findings().is_empty()));
    let error = nest(30).unwrap_err();
    assert_eq!(error.code(), "limit");
    assert!(error.to_string().contains("states that change their type"), "{error}");
}

/// A name has one size: `T` is `N` for the first value, and a larger number for the second.
#[test]
fn one_name_for_sizes_that_are_never_equal_is_an_error() {
    let stated = |first: &str, second: &str| {
        let inputs = vec![value("x", FLOAT, Some(&["N", "4"]))];
        let nodes = vec![
            node("Relu", &["x"], &["r"], &[]),
            node("Concat", &["r", "rows"], &["y"], &[int("axis", 0)]),
        ];
        let outputs =
            vec![value("r", FLOAT, Some(&[first, "4"])), value("y", FLOAT, Some(&[second, "4"]))];
        let rows = vec![tensor("rows", FLOAT, &[7, 4])];
        lint("names.onnx", Model { outputs, ..model(inputs, rows, nodes) }.encoded())
    };
    let error = ("type-mismatch", "contradiction", "y".to_owned());
    let report = stated("T", "T");
    assert_eq!(found(&report), std::slice::from_ref(&error));
    let message = "the size T is N on axis 0 of r, and N + 7 on axis 0 of y";
    assert!(report.to_string().contains(message), "{report}");
    assert_eq!(found(&stated("N", "N")), [error]);
    for (first, second) in [("T", "U"), ("N", "M"), ("N", "N + 7"), ("K", "L")] {
        assert!(stated(first, second).findings().is_empty(), "{first} {second}");
    }
}

/// A name has one size within a branch. Only one branch runs, so it has another size in the other branch.
#[test]
fn names_for_sizes_are_compared_within_a_branch() {
    let stated = |[relu, both, neg]: [&str; 3]| {
        let outputs = |results: [(&str, &str); 2]| {
            results.map(|(name, size)| value(name, FLOAT, Some(&[size, "4"])))
        };
        let branch = |name: &str, nodes: &[Message], results: [Message; 2]| {
            let graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
            let graph = results.iter().fold(graph, |graph, result| graph.bytes(12, result));
            Message::default().bytes(1, name).bytes(6, graph).int(20, 5)
        };
        let then = [node("Relu", &["x"], &["a"], &[]), node("Abs", &["a"], &["b"], &[])];
        let other = [
            node("Concat", &["x", "rows"], &["c"], &[int("axis", 0)]),
            node("Neg", &["x"], &["d"], &[]),
        ];
        let branches = [
            branch("then_branch", &then, outputs([("a", relu), ("b", relu)])),
            branch("else_branch", &other, outputs([("c", both), ("d", neg)])),
        ];
        let nodes = vec![node("If", &["flag"], &["y", "z"], &branches)];
        let inputs = vec![value("x", FLOAT, Some(&["N", "4"])), value("flag", BOOL, Some(&[]))];
        let rows = vec![tensor("rows", FLOAT, &[7, 4])];
        lint("names.onnx", model(inputs, rows, nodes).encoded())
    };
    assert_eq!(found(&stated(["T", "T", "U"])), []);
    let error = |label: &str| vec![("type-mismatch", "contradiction", label.to_owned())];
    assert_eq!(found(&stated(["T", "U", "U"])), error("d"));
    assert_eq!(found(&stated(["T", "N", "U"])), error("c"));
}

/// Operations with regions state types that follow from their operands.
#[test]
fn types_of_operations_with_regions_follow_from_their_operands() {
    let found_in = |name: &str, text: &str| found(&lint(name, text));
    let error = |label: &str| vec![("type-mismatch", "contradiction", label.to_owned())];
    let reduce = |result: &str| {
        let text = format!(
            "func.func @main(%x: tensor<4x8xf32>, %c: tensor<f32>) -> tensor<{result}> {{
  %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] \
             : (tensor<4x8xf32>, tensor<f32>) -> tensor<{result}>
  return %r : tensor<{result}>
}}"
        );
        found_in("reduce.mlir", &text)
    };
    assert_eq!(reduce("4xf32"), []);
    assert_eq!(reduce("8xf32"), error("r"));
    let branches = |other: &str| {
        let text = format!(
            "func.func @main(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<{other}>) -> tensor<4xf32> {{
  %r = \"stablehlo.if\"(%p) ({{
    stablehlo.return %x : tensor<4xf32>
  }}, {{
    stablehlo.return %y : tensor<{other}>
  }}) : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}}"
        );
        found_in("if.mlir", &text)
    };
    assert_eq!(branches("4xf32"), []);
    assert_eq!(branches("5xf32"), error("r"));
    let hlo = |result: &str| {
        let text = format!(
            "HloModule m

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

ENTRY main {{
  x = f32[4,8] parameter(0)
  c = f32[] constant(0)
  ROOT r = f32[{result}] reduce(x, c), dimensions={{0}}, to_apply=add
}}
"
        );
        found_in("reduce.hlo", &text)
    };
    assert_eq!(hlo("8"), []);
    assert_eq!(hlo("4"), error("r"));
}
