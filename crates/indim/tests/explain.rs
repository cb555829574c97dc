//! Explanations: which broadcasts they show, and what values are called in them.

use indim::explain::{Explanation, message_svg};
use indim::{CompileOptions, DType, Expression, GraphBuilder, Limits, Value};

/// The explanation of an expression over `x: f32[2, 3, 4]`, `v: f32[3]` and `m: f32[3, 2]`.
fn explanation(text: &str) -> Explanation {
    let b = GraphBuilder::new();
    let parameter = |name: &'static str, shape: &[usize]| -> (&'static str, Value) {
        (name, b.parameter(name, DType::F32, shape).unwrap())
    };
    let bindings = [parameter("x", &[2, 3, 4]), parameter("v", &[3]), parameter("m", &[3, 2])];
    let expression = Expression::parse(text, &Limits::default()).unwrap();
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
