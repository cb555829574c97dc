//! Explanations: the broadcasts that they list, and the names of values in them.

use indim::explain::{Explanation, message_svg};
use indim::text::{Expression, ParseLimits};
use indim::{CompileOptions, DType, GraphBuilder, Value};

/// The explanation of an expression over `x: f32[2, 3, 4]`, `v: f32[3]` and `m: f32[3, 2]`.
fn explanation(text: &str) -> Explanation {
    let b = GraphBuilder::new();
    let parameter = |name: &'static str, shape: &[usize]| -> (&'static str, Value) {
        (name, b.parameter(name, DType::F32, shape).unwrap())
    };
    let bindings = [parameter("x", &[2, 3, 4]), parameter("v", &[3]), parameter("m", &[3, 2])];
    let expression = Expression::parse(text, &ParseLimits::default()).unwrap();
    let graph = b.finish(&[expression.build(&b, &bindings, None).unwrap()]).unwrap();
    Explanation::new(&graph, &CompileOptions::default()).unwrap()
}

fn titles(text: &str) -> Vec<String> {
    explanation(text).broadcasts().iter().map(|broadcast| broadcast.title()).collect()
}

#[test]
fn an_explicit_broadcast_is_shown_like_all_others() {
    let explanation = explanation("broadcast_in_dim(v, shape=[2,3,4], dims=[1])");
    let text = explanation.to_string();
    let expected = "\
broadcast_in_dim(v)
result axis  0  1  2
v : f32      .  3  .
result       2  3  4
";
    let without_spaces = |text: &str| text.replace(' ', "");
    assert!(without_spaces(&text).starts_with(&without_spaces(expected)), "{text}");
    let drawing = explanation.to_svg();
    assert!(drawing.contains("broadcast_in_dim(v)") && drawing.contains("× 2"), "{drawing}");
}

#[test]
fn a_broadcast_is_shown_once_and_a_transposition_is_none() {
    let broadcast = "broadcast_in_dim(v, shape=[2,3,4], dims=[1])";
    assert_eq!(titles(broadcast), ["broadcast_in_dim(v)"]);
    assert_eq!(titles(&format!("x + {broadcast}")), ["add(x, v)"]);
    assert_eq!(titles(&format!("reshape({broadcast}, [24])")), ["broadcast_in_dim(v)"]);
    assert_eq!(titles("broadcast_to(v, [1,3])"), ["broadcast_in_dim(v)"]);
    assert_eq!(titles("broadcast_to(1.5, [2])"), ["broadcast_in_dim(1.5)"]);
    assert_eq!(titles("transpose(m, [1,0])"), [""; 0]);
    assert_eq!(titles("x + 1"), [""; 0]);
}

#[test]
fn values_within_are_called_by_their_piece_of_the_expression() {
    let long = format!("add(x * 2, {}, dims=[1])", vec!["tanh(v) * v"; 20].join(" + "));
    for title in titles(&long) {
        assert!(title.starts_with("add(x * 2, ... ") && !title.contains('%'), "{title}");
    }
    assert_eq!(titles(&long).len(), 1);
}

#[test]
fn drawings_are_xml_whatever_the_text() {
    let hostile: String = ('\0'..='\u{20}')
        .chain('\u{7f}'..='\u{9f}')
        .chain(['\u{fffe}', '\u{ffff}', '<', '&'])
        .collect();
    let drawing = message_svg(&format!("error[x]: {hostile}"));
    let is_allowed =
        |c: char| matches!(c, '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    assert!(drawing.chars().all(is_allowed), "{drawing:?}");
    assert!(!drawing.contains("<&"), "{drawing:?}");
}

#[test]
fn reductions_are_drawn_with_the_axes_that_go() {
    let explained = explanation("mean(x, axis=[0, 2], keepdims=true) + sum(m)");
    let titles: Vec<String> = explained.reductions().iter().map(|r| r.title()).collect();
    assert_eq!(titles, ["reduce_add(x)", "reduce_add(m)"]);
    let form = explained.reductions()[0].form();
    assert_eq!((form.axes(), form.result().sizes()), (&[0, 2][..], &[3][..]));
    let text = explained.to_string();
    let expected = "\
operand axis  0   1  2
x : f32       2*  3  4*
result        .   3  .
";
    let without_spaces = |text: &str| text.replace(' ', "");
    assert!(without_spaces(&text).contains(&without_spaces(expected)), "{text}");
    assert!(text.contains("explicit form\n   axes [0, 2] of [2, 3, 4] go: [3]\n"), "{text}");
    assert!(text.contains("   onnx opset=18 input axes=[0, 2] keepdims=0\n"), "{text}");
    let drawing = explained.to_svg();
    assert!(
        drawing.contains("class=\"reduced\"") && drawing.contains("reduce_add(m)"),
        "{drawing}"
    );
}

#[cfg(feature = "json")]
#[test]
fn reductions_are_in_the_json() {
    let json = explanation("sum(m) + sum(x, axis=0)").to_json();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["reductions"][0]["axes"], serde_json::json!([0, 1]));
    assert_eq!(json["reductions"][0]["rules"][2]["attributes"], "xla dimensions=[0, 1]");
}

#[test]
fn reductions_that_others_use_are_shown_by_themselves() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4, 3]).unwrap();
    let rows = b.reduce(indim::graph::ReduceOp::Add, x, 1).unwrap();
    let all = b.reduce(indim::graph::ReduceOp::Add, &rows, 0).unwrap();
    let graph = b.finish(&[rows, all]).unwrap();
    let explained = Explanation::new(&graph, &CompileOptions::default()).unwrap();
    let axes: Vec<&[usize]> = explained.reductions().iter().map(|r| r.form().axes()).collect();
    assert_eq!(axes, [&[1], &[0]]);
}
