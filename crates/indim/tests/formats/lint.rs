//! Findings about models: verdicts, places, repairs; regions, functions, damaged and hostile files.

use indim::formats::{
    Finding, FindingVerdict, LintOptions, LintReport, OutlineOptions, ProgramPart, SourceFile,
    ValueType,
};

use crate::onnx_control::body;
use crate::support::onnx::{
    BOOL, FLOAT, INT64, Message, Model, floats, function, int, ints, list, node, tensor, value,
};

fn options(declared: &[(&str, &str)]) -> LintOptions {
    let one = |(name, text): &(&str, &str)| {
        ((*name).to_owned(), ValueType::parse(text, name).expect("a type"))
    };
    let declared: Vec<_> = declared.iter().map(one).collect();
    LintOptions::new().outline(OutlineOptions::new().declared(declared))
}

pub(super) fn lint(name: &str, content: impl Into<Vec<u8>>) -> LintReport {
    LintReport::new(SourceFile::new(name, content.into()), &LintOptions::default()).unwrap()
}

pub(super) fn named(name: &str) -> Message {
    Message::default().bytes(1, name)
}

pub(super) fn graph_attribute(name: &str, nodes: &[Message], outputs: &[&str]) -> Message {
    let graph = nodes.iter().fold(Message::default(), |graph, node| graph.bytes(1, node));
    let graph = outputs.iter().fold(graph, |graph, output| graph.bytes(12, named(output)));
    Message::default().bytes(1, name).bytes(6, graph).int(20, 5)
}

pub(super) fn model(
    inputs: Vec<Message>,
    initializers: Vec<Message>,
    nodes: Vec<Message>,
) -> Vec<u8> {
    let outputs = vec![named("y")];
    Model { opset: 17, inputs, initializers, nodes, outputs, ..Model::default() }.encoded()
}

/// Code, verdict and node of each finding.
pub(super) fn found(report: &LintReport) -> Vec<(&'static str, &'static str, String)> {
    let one = |finding: &indim::formats::Finding| {
        (finding.code.as_str(), finding.verdict.name(), finding.label.clone())
    };
    report.findings().iter().map(one).collect()
}

pub(super) fn output(report: &LintReport) -> String {
    report.outline().typed(report.outline().outputs[0])
}

#[test]
fn a_bias_without_axes_is_illegal_and_its_repair_is_tried() {
    let inputs = vec![value("x", FLOAT, Some(&["1", "3", "8", "8"]))];
    let weights = tensor("w", FLOAT, &[16, 3, 3, 3]);
    let bias = tensor("b", FLOAT, &[16]);
    let nodes = vec![
        node("Conv", &["x", "w"], &["c"], &[ints("pads", &[1, 1, 1, 1])]),
        node("Add", &["c", "b"], &["y"], &[]),
    ];
    let report = lint("bias.onnx", model(inputs, vec![weights, bias], nodes));
    assert_eq!(found(&report), [("size-mismatch", "illegal", "y".to_owned())]);
    assert!(!report.passes(false));
    let finding = &report.findings()[0];
    assert_eq!(finding.repair.as_deref(), Some("reshape b to f32[16, 1, 1]"));
    assert!(report.to_string().contains("axis 0 of `b` is 16, axis 3 of `c` is 8"), "{report}");
}

#[test]
fn a_bias_on_the_width_is_suspicious_if_the_width_is_the_number_of_channels() {
    let case = |shape: &[i64]| {
        let inputs = vec![value("x", FLOAT, Some(&["1", "3", "16", "16"]))];
        let arrays = vec![tensor("w", FLOAT, &[16, 3, 3, 3]), tensor("b", FLOAT, shape)];
        let nodes = vec![
            node("Conv", &["x", "w"], &["c"], &[ints("pads", &[1, 1, 1, 1])]),
            node("Relu", &["c"], &["r"], &[]),
            node("Add", &["r", "b"], &["y"], &[]),
        ];
        found(&lint("width.onnx", model(inputs, arrays, nodes)))
    };
    assert_eq!(case(&[16]), [("wrong-axis", "suspicious", "y".to_owned())]);
    assert!(case(&[16, 1, 1]).is_empty());
    assert!(case(&[1, 16, 1, 1]).is_empty());
}

#[test]
fn a_column_against_a_vector_is_suspicious_unless_the_program_makes_the_column() {
    let inputs = || {
        let x = value("x", FLOAT, Some(&["32", "10"]));
        vec![x, value("t", FLOAT, Some(&["32"]))]
    };
    let weights = tensor("w", FLOAT, &[10, 1]);
    let nodes =
        vec![node("MatMul", &["x", "w"], &["p"], &[]), node("Sub", &["p", "t"], &["y"], &[])];
    let report = lint("loss.onnx", model(inputs(), vec![weights], nodes));
    assert_eq!(found(&report), [("rank-promoted", "suspicious", "y".to_owned())]);
    assert!(report.passes(true), "a warning does not fail");
    let repair = report.findings()[0].repair.as_deref();
    assert_eq!(repair, Some("reshape t to f32[32, 1]: the result is then [32, 1]"));

    let pairs =
        vec![node("Unsqueeze", &["t", "axes"], &["c"], &[]), node("Sub", &["c", "t"], &["y"], &[])];
    let report = lint("pairs.onnx", model(inputs(), vec![list("axes", &[1])], pairs));
    assert_eq!(found(&report), []);
}

#[test]
fn masks_of_rows_and_columns_are_no_alarm() {
    let inputs = vec![
        value("causal", BOOL, Some(&["1", "1", "S", "S"])),
        value("padding", BOOL, Some(&["N", "1", "1", "S"])),
    ];
    let nodes = vec![node("And", &["causal", "padding"], &["y"], &[])];
    let report = lint("masks.onnx", model(inputs, vec![], nodes));
    assert_eq!(found(&report), []);
    assert_eq!(output(&report), "y: bool[N, 1, S, S]");
}

#[test]
fn sizes_with_names_give_conditions() {
    let inputs = vec![value("a", FLOAT, Some(&["N", "6"])), value("b", FLOAT, Some(&["M", "6"]))];
    let nodes = vec![
        node("Add", &["a", "b"], &["c"], &[]),
        node("Mul", &["a", "b"], &["d"], &[]),
        node("Add", &["c", "d"], &["y"], &[]),
    ];
    let report = lint("two.onnx", model(inputs, vec![], nodes));
    assert_eq!(found(&report), [("sizes-may-differ", "legal-if", "c".to_owned())]);
    assert!(report.findings()[0].message.contains("M = N or M = 1 or N = 1"), "{report}");
    assert_eq!(
        report.counts().to_string(),
        "3 broadcasts: 1 legal, 0 illegal, 2 legal if, 0 unknown"
    );
}

#[test]
fn shape_subgraphs_are_evaluated_with_names() {
    let inputs = vec![value("x", FLOAT, Some(&["batch", "length", "24"]))];
    let first = || int("axis", 0);
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Gather", &["s", "zero"], &["n"], &[first()]),
        node("Gather", &["s", "one"], &["l"], &[first()]),
        node("Unsqueeze", &["n", "zeros"], &["n1"], &[]),
        node("Unsqueeze", &["l", "zeros"], &["l1"], &[]),
        node("Concat", &["n1", "l1", "heads"], &["target"], &[first()]),
        node("Reshape", &["x", "target"], &["split"], &[]),
        node("Transpose", &["split"], &["y"], &[ints("perm", &[0, 2, 1, 3])]),
    ];
    let scalar = |name: &str, number: i64| tensor(name, INT64, &[]).packed(7, &[number]);
    let arrays =
        vec![scalar("zero", 0), scalar("one", 1), list("zeros", &[0]), list("heads", &[4, -1])];
    let report = lint("heads.onnx", model(inputs, arrays, nodes));
    assert_eq!(output(&report), "y: f32[batch, 4, length, 6]");
}

#[test]
fn unknown_types_have_one_cause_and_a_declaration_ends_it() {
    let inputs = vec![value("x", FLOAT, Some(&["2", "8"]))];
    let arrays = || vec![tensor("b", FLOAT, &[8])];
    let nodes = vec![
        node("com.acme.Foo", &["x"], &["f"], &[]),
        node("Add", &["f", "b"], &["g"], &[]),
        node("Mul", &["g", "b"], &["y"], &[]),
    ];
    let content = model(inputs, arrays(), nodes);
    let report = lint("foo.onnx", content.clone());
    assert_eq!(found(&report), [("unknown-type", "unknown", "f".to_owned())]);
    assert!(report.passes(false) && !report.passes(true));
    assert!(report.findings()[0].message.contains("broadcasts of g, y are unknown"), "{report}");
    let outline = report.outline();
    let provided: Vec<String> = outline
        .values_to_provide(&ProgramPart::default())
        .iter()
        .map(|&it| outline.typed(it))
        .collect();
    assert_eq!(provided, ["f: ?[...]"]);

    let source = SourceFile::new("foo.onnx", content);
    let report = LintReport::new(source, &options(&[("f", "f32[2, N]")])).unwrap();
    assert_eq!(
        report.counts().to_string(),
        "2 broadcasts: 1 legal, 0 illegal, 1 legal if, 0 unknown"
    );
}

#[test]
fn what_the_file_states_is_compared() {
    let inputs = vec![value("x", FLOAT, Some(&["5", "6"]))];
    let nodes = vec![node("MatMul", &["x", "w"], &["y"], &[])];
    let outputs = vec![value("y", FLOAT, Some(&["5", "9"]))];
    let initializers = vec![tensor("w", FLOAT, &[6, 8])];
    let stated = Model { opset: 17, inputs, initializers, nodes, outputs, ..Model::default() };
    let report = lint("stated.onnx", stated.encoded());
    assert_eq!(found(&report), [("type-mismatch", "contradiction", "y".to_owned())]);
    assert!(!report.passes(false));

    let inputs = vec![value("a", FLOAT, Some(&["256"])), value("b", FLOAT, Some(&["440"]))];
    let nodes = vec![node("Relu", &["a"], &["y"], &[]), node("Relu", &["b"], &["z"], &[])];
    let outputs = vec![value("y", FLOAT, Some(&["N"])), value("z", FLOAT, Some(&["N"]))];
    let one_name = Model { opset: 17, inputs, nodes, outputs, ..Model::default() };
    let report = lint("name.onnx", one_name.encoded());
    assert_eq!(found(&report), [("type-mismatch", "contradiction", "z".to_owned())]);
    assert!(report.findings()[0].message.contains("N is 256 on axis 0 of y, and 440"), "{report}");
}

#[test]
fn operands_that_do_not_fit_are_drawn() {
    let case = |operator: &str, a: &[&str], b: &[&str], attributes: &[Message]| {
        let inputs = vec![value("a", FLOAT, Some(a)), value("b", FLOAT, Some(b))];
        let nodes = vec![node(operator, &["a", "b"], &["y"], attributes)];
        found(&lint("fit.onnx", model(inputs, vec![], nodes)))
    };
    let illegal = [("operand-shapes", "illegal", "y".to_owned())];
    assert_eq!(case("MatMul", &["5", "8"], &["6", "4"], &[]), illegal);
    assert_eq!(case("Conv", &["1", "3", "8", "8"], &["4", "2", "3", "3"], &[]), illegal);
    assert_eq!(case("Concat", &["1", "8"], &["2", "8"], &[int("axis", 1)]), illegal);
    assert_eq!(case("Gemm", &["5", "8"], &["8", "4"], &[int("transB", 1)]), illegal);
    assert!(case("MatMul", &["5", "8"], &["8", "4"], &[]).is_empty());
}

#[test]
fn a_tile_that_a_broadcast_does_is_advice() {
    let inputs = vec![value("x", FLOAT, Some(&["2", "16", "32"]))];
    let arrays = vec![floats("t", &[1, 1, 32], &[0.5; 32]), list("n", &[2, 16, 1])];
    let nodes = |user: &str| {
        vec![node("Tile", &["t", "n"], &["r"], &[]), node(user, &["x", "r"], &["y"], &[])]
    };
    let report = lint("tile.onnx", model(inputs.clone(), arrays.clone(), nodes("Add")));
    assert_eq!(found(&report), [("needless-expand", "advice", "r".to_owned())]);
    let report = lint("tile.onnx", model(inputs, arrays, nodes("com.acme.Foo")));
    assert!(found(&report).is_empty());
}

#[test]
fn an_expansion_is_found_behind_a_slice_of_positions() {
    let inputs = || vec![value("x", FLOAT, Some(&["2", "16", "32"]))];
    let arrays = || {
        let table = tensor("t", FLOAT, &[1, 64, 32]);
        vec![
            table,
            list("n", &[2, 64, 32]),
            list("from", &[0]),
            list("to", &[16]),
            list("one", &[1]),
        ]
    };
    let nodes = |axes: &str| {
        vec![
            node("Expand", &["t", "n"], &["r"], &[]),
            node("Slice", &["r", "from", "to", axes], &["s"], &[]),
            node("Add", &["x", "s"], &["y"], &[]),
        ]
    };
    let report = lint("positions.onnx", model(inputs(), arrays(), nodes("one")));
    assert_eq!(found(&report), [("needless-expand", "advice", "r".to_owned())]);
    // A slice of the repeated axis needs the repetition.
    let cut = vec![
        node("Expand", &["t", "n"], &["r"], &[]),
        node("Slice", &["r", "from", "one", "from"], &["s"], &[]),
        node("Slice", &["s", "from", "to", "one"], &["u"], &[]),
        node("Add", &["x", "u"], &["y"], &[]),
    ];
    assert_eq!(found(&lint("cut.onnx", model(inputs(), arrays(), cut))), []);
}

#[test]
fn reshapes_that_cancel_and_ties_are_advice() {
    let inputs = || vec![value("x", FLOAT, Some(&["2", "3"]))];
    let nodes = vec![
        node("Unsqueeze", &["x", "axes"], &["wide"], &[]),
        node("Squeeze", &["wide", "axes"], &["y"], &[]),
    ];
    let report = lint("pair.onnx", model(inputs(), vec![list("axes", &[1])], nodes));
    assert_eq!(found(&report), [("cancelling-reshapes", "advice", "y".to_owned())]);

    let nodes = vec![node("TopK", &["x", "k"], &["y", "places"], &[])];
    let report = lint("ties.onnx", model(inputs(), vec![list("k", &[2])], nodes));
    assert_eq!(found(&report), [("runtime-dependent", "advice", "y".to_owned())]);
    assert_eq!(output(&report), "y: f32[2, 2]");
}

/// Sizes with names that must be large enough: a number of elements, and the other axes of indices.
#[test]
fn sizes_that_must_be_large_enough_are_conditions() {
    let sized = |name: &str, element: i64, sizes: &[&str]| value(name, element, Some(sizes));
    let shown = |inputs: Vec<Message>, k: i64, node: Message| {
        let report = lint("sizes.onnx", model(inputs, vec![list("k", &[k])], vec![node]));
        let conditions = report.outline().nodes[0].conditions.iter();
        conditions.map(|condition| condition.shown()).collect::<Vec<String>>()
    };
    let largest = || node("TopK", &["x", "k"], &["y", "places"], &[]);
    assert_eq!(shown(vec![sized("x", FLOAT, &["2", "N"])], 5, largest()), ["N >= 5"]);
    assert!(shown(vec![sized("x", FLOAT, &["N", "7"])], 5, largest()).is_empty());
    assert!(shown(vec![sized("x", FLOAT, &["N", "M"])], 0, largest()).is_empty());
    let gather = || node("GatherElements", &["x", "i"], &["y"], &[int("axis", 1)]);
    let inputs = |data: &str, indices: &str| {
        vec![sized("x", FLOAT, &[data, "3"]), sized("i", INT64, &[indices, "K"])]
    };
    assert_eq!(shown(inputs("N", "4"), 1, gather()), ["N >= 4"]);
    assert_eq!(shown(inputs("N", "M"), 1, gather()), ["M <= N"]);
    assert!(shown(inputs("N", "N"), 1, gather()).is_empty());
    let report = lint("wide.onnx", model(inputs("3", "4"), vec![], vec![gather()]));
    assert!(report.outline().nodes[0].is_illegal());
}

/// An opaque node on which no output depends does not keep the model from running.
#[test]
fn opaque_nodes_off_the_way_are_left_out() {
    let nodes = vec![
        node("com.acme.Foo", &["x"], &["f"], &[]),
        node("Neg", &["f"], &["unused"], &[]),
        node("Neg", &["x"], &["y"], &[]),
    ];
    let inputs = || vec![value("x", FLOAT, Some(&["3"]))];
    let runs = model(inputs(), vec![], nodes);
    assert!(crate::support::read("unused.onnx", runs).is_ok());
    let nodes = vec![node("com.acme.Foo", &["x"], &["f"], &[]), node("Neg", &["f"], &["y"], &[])];
    let error = crate::support::read("used.onnx", model(inputs(), vec![], nodes)).err();
    assert_eq!(error.map(|error| error.code()), Some("unsupported-op"));
}

#[test]
fn branches_and_loops_are_walked_in_their_own_scopes() {
    let add = |result: &str| node("Add", &["x", "rows"], &[result], &[]);
    let then = graph_attribute("then_branch", &[add("sum")], &["sum"]);
    let other = graph_attribute("else_branch", &[node("Neg", &["x"], &["sum"], &[])], &["sum"]);
    let inputs = vec![value("x", FLOAT, Some(&["3", "4"])), value("flag", BOOL, Some(&[]))];
    let nodes = vec![node("If", &["flag"], &["y"], &[then, other])];
    let report = lint("if.onnx", model(inputs, vec![tensor("rows", FLOAT, &[3])], nodes));
    assert_eq!(found(&report), [("size-mismatch", "illegal", "sum".to_owned())]);
    let region = &report.outline().nodes[0].region;
    assert_eq!(&**region, "/If_0.then_branch");
}

/// Both branches of an `If` add the same operands: two findings, one in each.
#[test]
fn equal_findings_in_two_branches_are_two() {
    let branch =
        |name: &str| graph_attribute(name, &[node("Add", &["x", "rows"], &["sum"], &[])], &["sum"]);
    let inputs = vec![value("x", FLOAT, Some(&["N", "4"])), value("flag", BOOL, Some(&[]))];
    let branches = [branch("then_branch"), branch("else_branch")];
    let nodes = vec![node("If", &["flag"], &["y"], &branches)];
    let report = lint("if.onnx", model(inputs, vec![tensor("rows", FLOAT, &[3])], nodes));
    let expected = ("size-mismatch", "illegal", "sum".to_owned());
    assert_eq!(found(&report), [expected.clone(), expected], "{report}");
}

/// The first step has the types of the initial state; the walk for later steps must not hide its error.
#[test]
fn the_error_of_the_first_step_of_a_loop_is_reported() {
    let steps =
        [node("Identity", &["c"], &["go"], &[]), node("Add", &["state", "rows"], &["next"], &[])];
    let body = body("body", &["i", "c", "state"], &steps, &["go", "next"]);
    let inputs = vec![value("x", FLOAT, Some(&["N", "4"])), value("n", INT64, Some(&[]))];
    let nodes = vec![node("Loop", &["n", "", "x"], &["y"], &[body])];
    let report = lint("loop.onnx", model(inputs, vec![tensor("rows", FLOAT, &[3])], nodes));
    assert_eq!(found(&report), [("size-mismatch", "illegal", "next".to_owned())], "{report}");
}

/// An error that does not depend on sizes is found for any batch.
#[test]
fn wrong_element_types_and_axes_are_found_for_any_batch() {
    let illegal = |nodes: Vec<Message>, expected: (&'static str, &str)| {
        for batch in ["2", "N"] {
            let inputs = vec![value("x", FLOAT, Some(&[batch, "2"]))];
            let constants = vec![tensor("w", 11, &[2, 3]), list("axes", &[1])];
            let report = lint("any.onnx", model(inputs, constants, nodes.clone()));
            let [finding] = report.findings() else { panic!("{report}") };
            assert_eq!((finding.code.as_str(), &*finding.label), expected, "{report}");
            let text = report.to_string();
            assert!(!text.contains("60") && !text.contains("constant"), "{report}");
        }
    };
    // The weights are f64.
    illegal(vec![node("MatMul", &["x", "w"], &["y"], &[])], ("element-type-mismatch", "y"));
    let with_sizes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Unsqueeze", &["s", "axes"], &["column"], &[]),
        node("MatMul", &["x", "column"], &["y"], &[]),
    ];
    illegal(with_sizes, ("element-type-mismatch", "y"));
    illegal(vec![node("Softmax", &["x"], &["y"], &[int("axis", 3)])], ("axis-out-of-range", "y"));
    // 35 channels do not divide by 9, but other numbers do.
    let inputs = vec![value("x", FLOAT, Some(&["1", "C", "4", "4"]))];
    let nodes = vec![node("DepthToSpace", &["x"], &["y"], &[int("blocksize", 3)])];
    let report = lint("any.onnx", model(inputs, Vec::new(), nodes));
    assert_eq!(found(&report), []);
}

/// A stack of all steps has the trip count as size unless a condition may end the loop before.
#[test]
fn stacks_of_loops_have_the_size_of_the_steps_that_run() {
    let stack = |trips: i64, condition: &str, goes_on: Message| {
        let steps = [goes_on, node("Identity", &["x"], &["step"], &[])];
        let body = body("body", &["i", "c"], &steps, &["go", "step"]);
        let inputs = vec![value("x", FLOAT, Some(&["3"])), value("flag", BOOL, Some(&[]))];
        let truth = |name: &str, is: i64| tensor(name, BOOL, &[]).packed(5, &[is]);
        let constants = vec![
            tensor("n", INT64, &[]).packed(7, &[trips]),
            tensor("two", INT64, &[]).packed(7, &[2]),
            truth("true", 1),
            truth("false", 0),
        ];
        let nodes = vec![node("Loop", &["n", condition], &["y"], &[body])];
        output(&lint("loop.onnx", model(inputs, constants, nodes)))
    };
    let same = || node("Identity", &["c"], &["go"], &[]);
    let all = "y: f32[4, 3]";
    assert_eq!(stack(4, "", same()), all);
    assert_eq!(stack(4, "true", same()), all);
    assert_eq!(stack(4, "", node("Identity", &["true"], &["go"], &[])), all);
    assert_eq!(stack(-4, "", same()), "y: f32[0, 3]");
    // A condition of the body, or of the node, that may become false.
    let open = "y: f32[y[0], 3]";
    assert_eq!(stack(4, "", node("Less", &["i", "two"], &["go"], &[])), open);
    assert_eq!(stack(4, "", node("Identity", &["false"], &["go"], &[])), open);
    assert_eq!(stack(4, "", node("Not", &["c"], &["go"], &[])), open);
    assert_eq!(stack(4, "flag", same()), open);
    assert_eq!(stack(4, "false", same()), open);
    assert_eq!(stack(4, "true", node("Identity", &["flag"], &["go"], &[])), open);
}

#[test]
fn functions_are_walked_and_cycles_are_errors() {
    let body = [node("Add", &["a", "b"], &["c"], &[])];
    let twice = Model {
        opset: 17,
        inputs: vec![value("x", FLOAT, Some(&["2", "3"])), value("v", FLOAT, Some(&["4"]))],
        nodes: vec![node("my.F", &["x", "v"], &["y"], &[])],
        outputs: vec![named("y")],
        functions: vec![function("F", &["a", "b"], &["c"], &body, &[], 17)],
        ..Model::default()
    };
    let report = lint("function.onnx", twice.encoded());
    assert_eq!(report.findings()[0].verdict, FindingVerdict::Illegal);
    let place = "node 0 (Add, opset 17), in the function my.F, called by the node of `y`";
    assert!(report.to_string().contains(place), "{report}");

    let itself = [node("my.F", &["a", "b"], &["c"], &[])];
    let functions = vec![function("F", &["a", "b"], &["c"], &itself, &[], 17)];
    let source = SourceFile::new("cycle.onnx", Model { functions, ..twice }.encoded());
    let error = LintReport::new(source, &LintOptions::default()).unwrap_err();
    assert_eq!(error.code(), "cycle");
}

#[test]
fn hostile_files_end() {
    // Regions within regions.
    let mut inner = node("Relu", &["x"], &["y"], &[]);
    for _ in 0..10_000 {
        let branch = graph_attribute("then_branch", &[inner], &["y"]);
        inner = node("If", &["flag"], &["y"], &[branch]);
    }
    let inputs = vec![value("x", FLOAT, Some(&["3"])), value("flag", BOOL, Some(&[]))];
    let source = SourceFile::new("deep.onnx", model(inputs, vec![], vec![inner]));
    let error = LintReport::new(source, &LintOptions::default()).unwrap_err();
    assert_eq!(error.code(), "limit");

    // Sizes that would double with each node.
    let inputs = vec![value("x", FLOAT, Some(&["A", "B", "C", "D"]))];
    let mut nodes = vec![node("Flatten", &["x"], &["f0"], &[int("axis", 2)])];
    for step in 0..60 {
        let (from, to) = (format!("f{step}"), format!("f{}", step + 1));
        nodes.push(node("Concat", &[&from, &from], &[&to], &[int("axis", 1)]));
    }
    nodes.push(node("Flatten", &["f60"], &["y"], &[int("axis", 0)]));
    let report = lint("grow.onnx", model(inputs, vec![], nodes));
    assert!(output(&report).len() < 1000, "{}", output(&report));
}

#[test]
fn damaged_files_are_errors_at_their_place() {
    let inputs = vec![value("x", FLOAT, Some(&["3"]))];
    let content = model(inputs, vec![], vec![node("Relu", &["x"], &["y"], &[])]);
    for end in 0..content.len() {
        let source = SourceFile::new("cut.onnx", content[..end].to_vec());
        // A cut may leave a smaller model; it never panics.
        drop(LintReport::new(source, &LintOptions::default()));
    }
    let unknown = model(vec![], vec![], vec![node("Relu", &["x"], &["y"], &[])]);
    let source = SourceFile::new("undefined.onnx", unknown);
    let error = LintReport::new(source, &LintOptions::default()).unwrap_err();
    assert_eq!(error.code(), "undefined");
    assert!(error.draw().contains("node 0 (Relu, opset 17)"), "{error}");
}

#[test]
fn stablehlo_is_checked_around_operations_of_unknown_syntax() {
    let text = "\
func.func @main(%x: tensor<8x1xf32>, %a: tensor<8x8xf32>, %step: tensor<8xf32>) -> tensor<8x1xf32> {
  %n = stablehlo.constant dense<5> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %s = %x) : tensor<i32>, tensor<8x1xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %a, %s, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %2 = stablehlo.add %1, %step : (tensor<8x1xf32>, tensor<8xf32>) -> tensor<8x1xf32>
    stablehlo.return %i, %2 : tensor<i32>, tensor<8x1xf32>
  }
  return %0#1 : tensor<8x1xf32>
}
";
    let report = lint("loop.mlir", text);
    let illegal: Vec<_> =
        report.findings().iter().filter(|it| it.verdict == FindingVerdict::Illegal).collect();
    assert_eq!(illegal.len(), 1, "{report}");
    assert_eq!(report.line_and_column(illegal[0]).map(|(line, _)| line), Some(10));
    assert_eq!(output(&report), "0#1: f32[8, 1]");
}

#[test]
fn hlo_is_checked_around_opcodes_without_a_kernel() {
    let hlo = "\
HloModule m

ENTRY main {
  x = f32[4,16] parameter(0)
  w = f32[16,8] parameter(1)
  b = f32[8] parameter(2)
  d = f32[4,8] mine(x, w), depth={1}
  ROOT a = f32[4,8] add(d, b)
}
";
    let report = lint("add.hlo", hlo);
    assert_eq!(report.findings()[0].verdict, FindingVerdict::Illegal);
    assert_eq!(report.line_and_column(&report.findings()[0]).map(|(line, _)| line), Some(8));
    assert_eq!(report.outline().nodes.iter().filter(|node| node.is_opaque).count(), 1);
}

/// A file states the type of a product whose operands do not fit; also in a body, and behind an operation
/// that indim does not compute.
#[test]
fn operations_of_xla_that_do_not_fit_are_errors() {
    let dot = "%d = stablehlo.dot_general %f, %w, contracting_dims = [1] x [0] : \
        (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x3xf32>";
    let sum =
        "%s = chlo.broadcast_add %x, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>";
    let batches =
        "%s = chlo.broadcast_add %n, %b : (tensor<?x8xf32>, tensor<4xf32>) -> tensor<?x8xf32>";
    let joined = "%j = stablehlo.concatenate %x, %w, dim = 1 : \
        (tensor<4x8xf32>, tensor<7x3xf32>) -> tensor<4x11xf32>";
    for (operation, code) in [
        (dot, "size-mismatch"),
        (sum, "size-mismatch"),
        (batches, "size-mismatch"),
        (joined, "concatenate-shape"),
    ] {
        let text = format!(
            "func.func @main(%x: tensor<4x8xf32>, %w: tensor<7x3xf32>, %b: tensor<4xf32>,
                             %n: tensor<?x8xf32>) -> tensor<4x8xf32> {{
               %f = stablehlo.custom_call @foreign(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
               {operation}
               return %x : tensor<4x8xf32>
             }}"
        );
        let report = lint("wrong.mlir", text);
        let [finding] = report.findings() else { panic!("{operation}: {report}") };
        assert_eq!((finding.code.as_str(), finding.verdict.name()), (code, "illegal"), "{report}");
        assert_eq!(report.line_and_column(finding).map(|(line, _)| line), Some(4));
    }
    let text = "HloModule m
        ENTRY main {
          x = f32[4,8] parameter(0)
          w = f32[7,3] parameter(1)
          ROOT d = f32[4,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }";
    assert_eq!(found(&lint("wrong.hlo", text)), [("size-mismatch", "illegal", "d".to_owned())]);
}

/// A mask `[8, 64, 32]` with these elements, added to an input.
fn masked(nodes: Vec<Message>, element: impl Fn(usize, usize, usize) -> f32) -> LintReport {
    let mut raw = Vec::new();
    for a in 0..8 {
        for b in 0..64 {
            (0..32).for_each(|c| raw.extend(element(a, b, c).to_le_bytes()));
        }
    }
    let mask = tensor("mask", FLOAT, &[8, 64, 32]).bytes(9, raw);
    let inputs = vec![value("x", FLOAT, Some(&["8", "64", "32"]))];
    lint("mask.onnx", model(inputs, vec![mask], nodes))
}

#[test]
fn a_constant_that_repeats_its_elements_has_the_smaller_one_as_repair() {
    let add = || vec![node("Add", &["x", "mask"], &["y"], &[])];
    let report = masked(add(), |_, b, _| b as f32);
    assert_eq!(found(&report), [("repeated-constant", "advice", "y".to_owned())]);
    let finding = &report.findings()[0];
    assert_eq!(finding.repair.as_deref(), Some("store mask as f32[1, 64, 1]"));
    assert!(finding.message.contains("along axes 0, 2") && finding.message.contains("saves 65280"));
    // Every element counts, and a constant that another node needs whole is not smaller.
    let last = |a, b, c| if (a, b, c) == (7, 63, 31) { 1. } else { 0. };
    assert_eq!(found(&masked(add(), last)), []);
    let mut nodes = vec![node("Neg", &["mask"], &["n"], &[])];
    nodes.extend(add());
    assert_eq!(found(&masked(nodes, |_, b, _| b as f32)), []);
}

#[test]
fn open_sizes_of_stablehlo_go_through_the_operations_that_keep_them() {
    let program = |last: &str| {
        format!(
            "func.func @main(%x: tensor<?x4x?xf32>, %k: tensor<?x4x?xf32>) -> tensor<?x4x?xf32> {{
  %0 = stablehlo.exponential %x : tensor<?x4x?xf32>
  %1 = stablehlo.transpose %0, dims = [2, 1, 0] : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %2 = stablehlo.transpose %1, dims = [2, 1, 0] : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %3 = stablehlo.add %2, %x : tensor<?x4x?xf32>
  %4 = stablehlo.dot_general %3, %x, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<?x4x?xf32>, tensor<?x4x?xf32>) -> tensor<?x4x4xf32>
  %5 = stablehlo.dot_general %4, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1]
    : (tensor<?x4x4xf32>, tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %6 = stablehlo.add %5, {last} : tensor<?x4x?xf32>
  return %6 : tensor<?x4x?xf32>
}}"
        )
    };
    assert_eq!(found(&lint("open.mlir", program("%x"))), []);
    // The operands of StableHLO's sums have one shape, so that no size may be 1 instead.
    let report = lint("open.mlir", program("%k"));
    let finding = ("sizes-may-differ", "legal-if", "6".to_owned());
    assert_eq!(found(&report), [finding.clone(), finding]);
    let message = |index: usize| report.findings()[index].message.as_str();
    assert!(message(0).contains("is legal if k[0] = x[0];"), "{}", message(0));
    assert!(message(1).contains("is legal if k[2] = x[2];"), "{}", message(1));
}

#[test]
fn a_value_that_stablehlo_uses_before_its_definition_is_an_error() {
    let error = |operand: &str, name: &str| {
        let text = format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.add {operand}, %x : tensor<4xf32>
  %1 = stablehlo.{name} %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}}"
        );
        let source = SourceFile::new("order.mlir", text);
        LintReport::new(source, &LintOptions::default()).err().map(|error| error.to_string())
    };
    assert_eq!(error("%x", "negate"), None);
    for operand in ["%1", "%2"] {
        let message = error(operand, "negate").expect("an error");
        assert!(message.contains("undefined"), "{message}");
        assert!(message.contains("order.mlir:2:22"), "{message}");
        // An operation of unknown syntax may define values that the parser does not see.
        assert_eq!(error(operand, "mine"), None);
    }
}

/// Operands of open sizes are no arrays for the lowering, but their known axes are compared.
#[test]
fn known_axes_of_stablehlo_are_compared_beside_open_ones() {
    let lines = |operation: &str, types: &str| {
        let text = format!(
            "func.func @main(%x: tensor<?x6x8x8xf32>, %w: {types}) -> tensor<?x6x8x8xf32> {{
  %0 = {operation} : (tensor<?x6x8x8xf32>, {types}) -> tensor<?x6x8x8xf32>
  return %0 : tensor<?x6x8x8xf32>
}}"
        );
        let report = lint("open.mlir", text);
        let message = |it: &Finding| (it.verdict.name(), it.message.clone());
        report.findings().iter().map(message).collect::<Vec<_>>()
    };
    let illegal = |message: &str| [("illegal", format!("stablehlo.{message}"))];
    let product =
        "stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [3] x [1]";
    assert_eq!(lines(product, "tensor<?x8x8xf32>").len(), 1, "the batches may differ");
    let inner = "dot_general 0: axis 3 of `x` (8) meets axis 1 of `w` (7)";
    assert_eq!(lines(product, "tensor<?x7x8xf32>"), illegal(inner));
    let joined = "stablehlo.concatenate %x, %w, dim = 1";
    let condition = "the node is legal if w[0] = x[0]; the file does not say that this holds";
    let legal_if = [("legal-if", condition.to_owned())];
    assert_eq!(lines(joined, "tensor<?x2x8x8xf32>"), legal_if);
    let other = "concatenate 0: axis 3 of `x` (8) meets axis 3 of `w` (5)";
    assert_eq!(lines(joined, "tensor<?x2x8x5xf32>"), illegal(other));
    let convolution = |groups: u8| {
        format!(
            "stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = \
             {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}"
        )
    };
    assert_eq!(lines(&convolution(1), "tensor<6x6x3x3xf32>"), []);
    assert_eq!(lines(&convolution(2), "tensor<6x3x3x3xf32>"), []);
    let features = "convolution 0: axis 1 of `x` (6) meets axis 1 of `w` (4)";
    assert_eq!(lines(&convolution(1), "tensor<6x4x3x3xf32>"), illegal(features));
}

#[test]
fn an_expansion_to_a_negative_size_ends_without_elements() {
    let shape = tensor("s", INT64, &[1]).bytes(9, (-1i64).to_le_bytes());
    let one = tensor("one", INT64, &[]).bytes(9, 3i64.to_le_bytes());
    let nodes = vec![node("Expand", &["one", "s"], &["y"], &[])];
    let content = model(Vec::new(), vec![shape, one], nodes);
    // The verdict is not the subject; the report ends.
    drop(LintReport::new(SourceFile::new("expand.onnx", content), &LintOptions::default()));
}

/// Inputs of these sizes, and one node with all of them as operands.
fn one_node(operator: &str, sizes: &[&[&str]], attributes: &[Message]) -> LintReport {
    let name = |index: usize| format!("x{index}");
    let names: Vec<String> = (0..sizes.len()).map(name).collect();
    let inputs = names.iter().zip(sizes).map(|(name, sizes)| value(name, FLOAT, Some(sizes)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let nodes = vec![node(operator, &names, &["y"], attributes)];
    lint("one.onnx", model(inputs.collect(), vec![], nodes))
}

#[test]
fn a_size_that_cannot_be_two_numbers_may_be_one() {
    let report = one_node("Add", &[&["N", "N"], &["3", "4"]], &[]);
    assert_eq!(found(&report), [("sizes-may-differ", "suspicious", "y".to_owned())]);
    assert!(report.findings()[0].message.contains("legal only if N = 1"), "{report}");
    assert!(report.passes(false));
    assert_eq!(output(&report), "y: f32[3, 4]");
}

#[test]
fn sizes_that_are_never_equal_are_a_warning() {
    for (sizes, only) in [("S + 1", "S = 1"), ("2*S", "S = 1")] {
        let doubled = sizes == "2*S";
        let inputs = vec![value("a", FLOAT, Some(&["S"])), value("b", FLOAT, Some(&["S + 1"]))];
        let mut nodes = vec![node("Add", &["a", "b"], &["y"], &[])];
        if doubled {
            let twice = node("Concat", &["a", "a"], &["c"], &[int("axis", 0)]);
            nodes = vec![twice, node("Add", &["a", "c"], &["y"], &[])];
        }
        let report = lint("never.onnx", model(inputs, vec![], nodes));
        assert_eq!(
            found(&report),
            [("sizes-may-differ", "suspicious", "y".to_owned())],
            "{report}"
        );
        let message = &report.findings()[0].message;
        assert!(message.ends_with(&format!("legal only if {only}")), "{message}");
        assert_eq!(output(&report), format!("y: f32[{sizes}]"));
    }
}

#[test]
fn inner_sizes_of_products_and_sizes_of_concatenations_are_conditions() {
    let condition = |report: &LintReport| {
        assert_eq!(found(report), [("sizes-may-differ", "legal-if", "y".to_owned())], "{report}");
        report.findings()[0].message.clone()
    };
    let product = one_node("MatMul", &[&["B", "D"], &["256", "8"]], &[]);
    assert!(condition(&product).starts_with("the node is legal if D = 256;"), "{product}");
    assert!(product.outline().to_string().contains("sizes: legal if D = 256"));
    let joined = one_node("Concat", &[&["N", "A"], &["M", "A"]], &[int("axis", 1)]);
    assert!(condition(&joined).starts_with("the node is legal if M = N;"), "{joined}");
    let certain = one_node("Concat", &[&["N", "A"], &["N", "B"]], &[int("axis", 1)]);
    assert!(found(&certain).is_empty(), "{certain}");
    let never = one_node("Concat", &[&["A", "6"], &["A + 1", "6"]], &[int("axis", 1)]);
    assert_eq!(found(&never), [("operand-shapes", "illegal", "y".to_owned())]);
}

#[test]
fn a_reshape_that_is_legal_only_without_elements_is_an_error() {
    let inputs = vec![value("x", FLOAT, Some(&["N", "8"]))];
    let nodes = vec![
        node("Shape", &["x"], &["s"], &[]),
        node("Gather", &["s", "zeros"], &["n"], &[int("axis", 0)]),
        node("Concat", &["n", "nine"], &["target"], &[int("axis", 0)]),
        node("Reshape", &["x", "target"], &["y"], &[]),
    ];
    let lists = vec![list("zeros", &[0]), list("nine", &[9])];
    let report = lint("reshape.onnx", model(inputs, lists, nodes));
    assert_eq!(found(&report), [("operand-shapes", "illegal", "y".to_owned())], "{report}");
    let message = &report.findings()[0].message;
    assert!(message.ends_with("8*N elements do not fill a shape of 9*N"), "{report}");
}

#[test]
fn one_name_for_two_sizes_is_an_error() {
    let inputs = vec![
        value("x", FLOAT, Some(&["B", "D"])),
        value("a", FLOAT, Some(&["256", "8"])),
        value("b", FLOAT, Some(&["440", "8"])),
    ];
    let nodes = vec![
        node("MatMul", &["x", "a"], &["p"], &[]),
        node("MatMul", &["x", "b"], &["q"], &[]),
        node("Add", &["p", "q"], &["y"], &[]),
    ];
    let report = lint("two.onnx", model(inputs, vec![], nodes));
    assert!(!report.passes(false), "{report}");
    let error = ("type-mismatch", "contradiction", "q".to_owned());
    assert!(found(&report).contains(&error), "{report}");
    let message = "the size D must be 256 for the nodes from p on, and 440 for this node";
    assert!(report.to_string().contains(message), "{report}");
}

/// The code of the error that refuses an ONNX model with one input `x: f32[2]`, which is added to `w`.
fn refused(initializers: Vec<Message>, options: &LintOptions) -> String {
    let inputs = vec![value("x", FLOAT, Some(&["2"]))];
    let nodes = vec![node("Add", &["x", "w"], &["y"], &[])];
    let content = model(inputs, initializers, nodes);
    let report = LintReport::new(SourceFile::new("refused.onnx", content), options);
    report.expect_err("an error").diagnostic().code.as_str().to_owned()
}

#[test]
fn damaged_initializers_are_errors() {
    let default = LintOptions::default();
    let two = vec![tensor("w", FLOAT, &[2]), tensor("w", FLOAT, &[2])];
    assert_eq!(refused(two, &default), "duplicate");
    assert_eq!(refused(vec![tensor("w", FLOAT, &[-1])], &default), "attribute");
    let short = tensor("w", FLOAT, &[1 << 40, 1 << 20]).bytes(9, [0; 4]);
    assert_eq!(refused(vec![short], &default), "wrong-element-count");
}

#[test]
fn a_declared_value_that_the_file_lacks_is_an_error() {
    let weights = || vec![tensor("w", FLOAT, &[2])];
    assert_eq!(refused(weights(), &options(&[("nope", "f32[N, 32]")])), "undefined");
}

#[test]
fn a_finding_that_is_allowed_does_not_fail_a_strict_lint() {
    let inputs = vec![value("x", FLOAT, Some(&["2"]))];
    let foreign = node("Foo", &["x"], &["f"], &[]).bytes(7, "com.acme");
    let nodes = vec![foreign, node("Add", &["x", "f"], &["y"], &[])];
    let source = SourceFile::new("foreign.onnx", model(inputs, vec![], nodes));
    let passes = |options: &LintOptions| {
        let report = LintReport::new(source.clone(), options).unwrap();
        assert_eq!(report.counts().unknown, 1);
        report.passes(true)
    };
    assert!(!passes(&LintOptions::new()));
    assert!(passes(&LintOptions::new().allowed([indim::errors::ErrorCode::UNKNOWN_TYPE])));
}

#[test]
fn coordinates_of_an_axis_are_no_wrong_axis() {
    let case = |elements: &[f32]| {
        let inputs = vec![value("x", FLOAT, Some(&["N", "3", "4", "4"]))];
        let coordinates = elements.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
        let arrays =
            vec![tensor("w", FLOAT, &[4, 3, 1, 1]), tensor("c", FLOAT, &[4]).bytes(9, coordinates)];
        let nodes =
            vec![node("Conv", &["x", "w"], &["h"], &[]), node("Mul", &["h", "c"], &["y"], &[])];
        found(&lint("coordinates.onnx", model(inputs, arrays, nodes)))
    };
    assert!(case(&[-1.0, -0.333_333_34, 0.333_333_34, 1.0]).is_empty());
    assert_eq!(case(&[-1.0, 0.5, 0.25, 1.0]), [("wrong-axis", "suspicious", "y".to_owned())]);
}

#[test]
fn distances_of_all_pairs_are_no_promotion() {
    let nodes = |last: Message| {
        vec![
            node("Mul", &["x", "x"], &["q"], &[]),
            node("ReduceSum", &["q", "one"], &["column"], &[int("keepdims", 1)]),
            node("ReduceSum", &["q", "one"], &["row"], &[int("keepdims", 0)]),
            node("Transpose", &["x"], &["t"], &[ints("perm", &[1, 0])]),
            node("Add", &["column", "row"], &["s"], &[]),
            node("MatMul", &["x", "t"], &["p"], &[]),
            last,
        ]
    };
    let report = |last: Message| {
        let inputs = vec![value("x", FLOAT, Some(&["N", "16"]))];
        found(&lint("pairs.onnx", model(inputs, vec![list("one", &[1])], nodes(last))))
    };
    let distances = report(node("Sub", &["s", "p"], &["y"], &[]));
    assert_eq!(distances, [("outer-product", "advice", "s".to_owned())]);
    // A square of the promoted matrix says nothing about its sizes.
    let square = report(node("Mul", &["s", "s"], &["y"], &[]));
    assert_eq!(square, [("rank-promoted", "suspicious", "s".to_owned())]);
}

/// Both products of a cross-entropy promote their operands, so that neither explains the other.
#[test]
fn a_sum_of_two_promotions_explains_none_of_them() {
    let inputs = vec![value("p", FLOAT, Some(&["N", "1"])), value("t", FLOAT, Some(&["N"]))];
    let nodes = vec![
        node("Log", &["p"], &["a"], &[]),
        node("Mul", &["t", "a"], &["hit"], &[]),
        node("Neg", &["t"], &["u"], &[]),
        node("Mul", &["u", "p"], &["miss"], &[]),
        node("Add", &["hit", "miss"], &["y"], &[]),
    ];
    let promoted = |label: &str| ("rank-promoted", "suspicious", label.to_owned());
    let report = found(&lint("cross.onnx", model(inputs, Vec::new(), nodes)));
    assert_eq!(report, [promoted("hit"), promoted("miss")]);
}

/// The products of all pairs of rows, coordinate by coordinate.
#[test]
fn a_sum_over_all_pairs_of_rows_is_no_promotion() {
    let one = list("one", &[1]);
    let inputs = vec![value("b", FLOAT, Some(&["N", "2"]))];
    let nodes = vec![
        node("Split", &["b"], &["p", "q"], &[int("axis", 1)]),
        node("Squeeze", &["p", "one"], &["u"], &[]),
        node("Squeeze", &["q", "one"], &["v"], &[]),
        node("Mul", &["p", "u"], &["s"], &[]),
        node("Mul", &["q", "v"], &["t"], &[]),
        node("Add", &["s", "t"], &["y"], &[]),
    ];
    let report = found(&lint("pairs.onnx", model(inputs, vec![one], nodes)));
    assert!(report.iter().all(|(code, ..)| *code != "rank-promoted"), "{report:?}");
}

/// A bias of 16 channels in front of an image that is 16 wide, in both texts of XLA.
#[test]
fn an_expanded_bias_on_the_width_is_suspicious() {
    let stablehlo = |axis: usize| {
        format!(
            "func.func @main(%x: tensor<8x3x16x16xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>) \
             -> tensor<8x16x16x16xf32> {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = \
             {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<8x3x16x16xf32>, tensor<16x3x3x3xf32>) -> tensor<8x16x16x16xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [{axis}] : (tensor<16xf32>) -> tensor<8x16x16x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x16x16x16xf32>
  return %2 : tensor<8x16x16x16xf32>
}}"
        )
    };
    let hlo = |axis: usize| {
        format!(
            "HloModule m

ENTRY main {{
  x = f32[8,3,16,16] parameter(0)
  w = f32[16,3,3,3] parameter(1)
  c = f32[8,16,16,16] convolution(x, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=bf01_oi01->bf01
  b = f32[16] constant({{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17}})
  e = f32[8,16,16,16] broadcast(b), dimensions={{{axis}}}
  ROOT a = f32[8,16,16,16] add(c, e)
}}"
        )
    };
    for (name, right, wrong) in
        [("bias.mlir", stablehlo(1), stablehlo(3)), ("bias.hlo", hlo(1), hlo(3))]
    {
        assert_eq!(found(&lint(name, right)), []);
        let report = lint(name, wrong);
        let [finding] = report.findings() else { panic!("{report}") };
        assert_eq!(finding.code.as_str(), "wrong-axis");
        assert_eq!(finding.repair.as_deref(), Some("broadcast b along axis 1"));
    }
    // A mask of columns.
    let mask = stablehlo(3).replace("stablehlo.add", "stablehlo.multiply");
    assert_eq!(found(&lint("mask.mlir", mask)), []);
}

#[test]
fn repeated_constants_are_found_for_any_batch() {
    let case = |operand: &[&str], sizes: &[i64], element: &dyn Fn(usize) -> f32| {
        let inputs = vec![value("x", FLOAT, Some(operand))];
        let count = sizes.iter().product::<i64>() as usize;
        let elements = (0..count).flat_map(|it| element(it).to_le_bytes()).collect::<Vec<u8>>();
        let arrays = vec![tensor("c", FLOAT, sizes).bytes(9, elements)];
        let nodes = vec![node("Add", &["x", "c"], &["y"], &[])];
        let report = lint("repeated.onnx", model(inputs, arrays, nodes));
        report.findings().iter().filter_map(|it| it.repair.clone()).collect::<Vec<_>>()
    };
    let rows = |at: usize| (at % 64) as f32 * (at % 3) as f32;
    let row = |at: usize| rows(at % 64);
    let symbolic = case(&["N", "2", "64", "64"], &[1, 2, 64, 64], &row);
    assert_eq!(symbolic, ["store c as f32[1, 1, 1, 64]"]);
    assert_eq!(case(&["4", "2", "64", "64"], &[64, 64], &row), ["store c as f32[1, 64]"]);
    assert!(case(&["4", "2", "64", "64"], &[64, 64], &|at| at as f32).is_empty());
    // Weights that are all 1 before training.
    assert!(case(&["N", "2048"], &[2048], &|_| 1.0).is_empty());
}

#[test]
fn nodes_of_one_name_have_their_own_findings() {
    let twin = |result: &str| node("Add", &["x", "b"], &[result], &[]).bytes(3, "twin");
    let branch = |name: &str| graph_attribute(name, &[twin("t")], &["t"]);
    let choice = |result: &str| {
        let branches = [branch("then_branch"), branch("else_branch")];
        node("If", &["flag"], &[result], &branches).bytes(3, "choice")
    };
    let inputs = vec![value("x", FLOAT, Some(&["2", "3"])), value("flag", BOOL, Some(&[]))];
    let nodes = vec![twin("first"), twin("second"), choice("third"), choice("y")];
    let report = lint("twins.onnx", model(inputs, vec![tensor("b", FLOAT, &[2])], nodes));
    let illegal = |finding: &&indim::formats::Finding| finding.label == "twin";
    let mut places: Vec<String> =
        report.findings().iter().filter(illegal).map(|it| report.place(it)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 6, "{report}");
}
