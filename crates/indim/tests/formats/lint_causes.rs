//! Alarms that would be false, causes of unknown types, and repairs of sizes with names.

use indim::formats::{LintOptions, LintReport, SourceFile};

use crate::lint::{found, lint, model};
use crate::support::onnx::{FLOAT, ints, list, node, value};

/// A convolution whose sums along three axes a called computation returns, plus a small number.
const NORMALISATION: &str = "HloModule m

add_f {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

sums {
  y = f32[2,8,8,16]{3,2,1,0} parameter(0)
  z = f32[] constant(0)
  ROOT v = f32[16]{0} reduce(y, z), dimensions={0,1,2}, to_apply=add_f
}

ENTRY main {
  x = f32[2,8,8,3]{3,2,1,0} parameter(0)
  w = f32[1,1,3,16]{3,2,1,0} parameter(1)
  c = f32[2,8,8,16]{3,2,1,0} convolution(x, w), window={size=1x1}, dim_labels=b01f_01io->b01f
  v = f32[16]{0} call(c), to_apply=sums
  e = f32[] constant(1e-05)
  b = f32[16]{0} broadcast(e), dimensions={}
  ROOT r = f32[16]{0} add(v, b)
}
";

/// A call of one operand is no element-wise operation: its result has another rank, and no channel axis.
#[test]
fn a_call_has_the_axes_of_its_computation() {
    assert_eq!(found(&lint("norm.hlo", NORMALISATION)), []);
}

/// The distances of all pairs, a time embedding, and scores of a graph network.
#[test]
fn axes_that_a_program_inserts_are_meant_to_expand() {
    let inputs = || vec![value("x", FLOAT, Some(&["N"])), value("f", FLOAT, Some(&["8"]))];
    let embedding = vec![
        node("Unsqueeze", &["x", "one"], &["c"], &[]),
        node("Neg", &["c"], &["n"], &[]),
        node("Mul", &["n", "f"], &["y"], &[]),
    ];
    assert_eq!(
        found(&lint("embedding.onnx", model(inputs(), vec![list("one", &[1])], embedding))),
        []
    );
    let inputs =
        || vec![value("h", FLOAT, Some(&["N", "4"])), value("a", FLOAT, Some(&["4", "1"]))];
    let scores = |second: &str| {
        vec![
            node("MatMul", &["h", "a"], &["s"], &[]),
            node("Transpose", &["s"], &["t"], &[ints("perm", &[1, 0])]),
            node("Identity", &["row"], &["r"], &[]),
            node("Add", &["s", second], &["y"], &[]),
        ]
    };
    let found_in = |second: &str| {
        let inputs = [inputs(), vec![value("row", FLOAT, Some(&["1", "M"]))]].concat();
        found(&lint("scores.onnx", model(inputs, vec![], scores(second))))
    };
    assert_eq!(found_in("t"), []);
    assert_eq!(found_in("r"), [("outer-product", "advice", "y".to_owned())]);
}

/// The repair that a finding offers makes the broadcast known.
#[test]
fn the_cause_of_an_unknown_type_is_the_last_opaque_node_or_an_input() {
    let repair = |inputs, nodes| {
        let report = lint("unknown.onnx", model(inputs, vec![], nodes));
        let findings = report.findings();
        assert_eq!(findings.len(), 1, "{report}");
        (findings[0].label.clone(), findings[0].repair.clone().unwrap())
    };
    let x = || vec![value("x", FLOAT, Some(&["2", "3"]))];
    let chain = vec![
        node("Foo", &["x"], &["f"], &[]).bytes(7, "com.acme"),
        node("Bar", &["f"], &["b"], &[]).bytes(7, "com.acme"),
        node("Relu", &["b"], &["r"], &[]),
        node("Add", &["r", "x"], &["y"], &[]),
    ];
    let state = |name: &str| format!("state the type: --declare '{name}=f32[2, N]'");
    assert_eq!(repair(x(), chain), ("b".to_owned(), state("b")));
    let add = vec![node("Relu", &["z"], &["r"], &[]), node("Add", &["r", "x"], &["y"], &[])];
    let inputs = [x(), vec![value("z", FLOAT, None)]].concat();
    assert_eq!(repair(inputs, add), ("r".to_owned(), state("z")));
}

#[test]
fn functions_that_call_themselves_are_errors() {
    let function = |name: &str, callee: &str| {
        format!(
            "func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = call @{callee}(%x) : \
             (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}}\n"
        )
    };
    let text = function("main", "f") + &function("f", "g") + &function("g", "f");
    let source = SourceFile::new("recursive.mlir", text.into_bytes());
    let error = LintReport::new(source, &LintOptions::default()).expect_err("an error");
    assert_eq!(
        (error.code(), error.to_string().contains("@f depends on itself")),
        ("cycle", true),
        "{error}"
    );
}

/// A vector for each batch and channel lies on height and width.
#[test]
fn illegal_broadcasts_of_named_sizes_are_drawn_and_repaired() {
    let inputs = vec![
        value("x", FLOAT, Some(&["batch", "16", "32", "32"])),
        value("t", FLOAT, Some(&["batch", "16"])),
    ];
    let report =
        lint("time.onnx", model(inputs, vec![], vec![node("Add", &["x", "t"], &["y"], &[])]));
    let finding = &report.findings()[0];
    assert_eq!(finding.repair.as_deref(), Some("reshape t to f32[batch, 16, 1, 1]"));
    let text = report.to_string();
    assert!(text.contains("t : f32[           batch, 16]"), "{text}");
    assert!(text.contains("^^ axis 1 of `t` is 16, axis 3 of `x` is 32"), "{text}");
}
