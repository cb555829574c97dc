//! Texts of several statements: assignments, results, the end of a statement.

use indim_builder::GraphBuilder;
use indim_graph::{Array, evaluate};
use indim_ops::DType;
use indim_text::{Binding, ExprError, Expression, ParseLimits};

fn parse(text: &str) -> Expression {
    Expression::parse(text, &ParseLimits::default())
        .unwrap_or_else(|error| panic!("{}", error.draw(text)))
}

/// Names and elements of the results over `x = [1, 2, 3, 6]` and `k = 2`.
fn results(text: &str) -> Vec<(Option<String>, Vec<f64>)> {
    values(&parse(text))
}

fn values(expression: &Expression) -> Vec<(Option<String>, Vec<f64>)> {
    let b = GraphBuilder::new();
    let x = Binding::Array(b.parameter("x", DType::F64, [4]).unwrap());
    let bindings = [("x", x), ("k", Binding::Number(indim_graph::Literal::Int(2)))];
    let values = expression
        .build_results(&b, &bindings, None)
        .unwrap_or_else(|error| panic!("{}", error.draw(expression.text())));
    let graph = b.finish(&values).unwrap();
    let arrays = evaluate(&graph, &[Array::new([4], vec![1.0, 2.0, 3.0, 6.0]).unwrap()]).unwrap();
    let elements = arrays.iter().map(|array| match array.elements::<f64>() {
        Ok(elements) => elements.to_vec(),
        Err(_) => array.elements::<i64>().unwrap().iter().map(|&element| element as f64).collect(),
    });
    let names = expression.results();
    names.into_iter().map(|name| name.map(str::to_owned)).zip(elements).collect()
}

fn unnamed(elements: &[f64]) -> (Option<String>, Vec<f64>) {
    (None, elements.to_vec())
}

fn named(name: &str, elements: &[f64]) -> (Option<String>, Vec<f64>) {
    (Some(name.to_owned()), elements.to_vec())
}

#[test]
fn the_last_statement_gives_the_results() {
    let centred = [-2.0, -1.0, 0.0, 3.0];
    for text in [
        "m = mean(x); x - m",
        "m = mean(x)\nx - m",
        "\n  # Centred.\n  m = mean(x)  # one number\n\n  x - m  # the result\n",
        "m = mean(x);;\n; x - m;",
        "m = mean(\n  x,\n  axis=0\n)\nx - m",
        "m =\n  mean(x)\nx -\n  m",
        "m = mean(x)\n(x\n - m)",
        "m = mean(x)\r\nx - m\r\n",
    ] {
        assert_eq!(results(text), [unnamed(&centred)], "{text}");
    }
    assert_eq!(results("m = mean(x); d = x - m"), [named("d", &centred)]);
}

#[test]
fn several_results_are_in_order_and_named_where_they_are_names() {
    let (low, high) = (named("low", &[1.0]), named("high", &[6.0]));
    assert_eq!(results("low, high = min(x), max(x)"), [low.clone(), high.clone()]);
    assert_eq!(results("low = min(x); high = max(x); high, low"), [high.clone(), low.clone()]);
    assert_eq!(
        results("high = max(x)\n(high), high - 1, x"),
        [high, unnamed(&[5.0]), named("x", &[1.0, 2.0, 3.0, 6.0])]
    );
    assert_eq!(results("1, 2,\n3"), [unnamed(&[1.0]), unnamed(&[2.0]), unnamed(&[3.0])]);
    // The right side uses the values that the names had before the statement.
    assert_eq!(results("a, b = 1, 2; c, d = b, a"), [named("c", &[2.0]), named("d", &[1.0])]);
}

#[test]
fn a_number_that_is_assigned_adapts_as_one_that_is_written() {
    let b = GraphBuilder::new();
    let h = Binding::Array(b.parameter("h", DType::F16, [4]).unwrap());
    let results = parse("third = 1 / 3; two = 2; h * third, elu(h, alpha=two)");
    for value in results.build_results(&b, &[("h", h)], None).unwrap() {
        assert_eq!(value.array_type().unwrap().to_string(), "f16[4]");
    }
}

#[test]
fn a_name_on_the_next_line_is_not_called() {
    assert_eq!(results("a = k\n(x + a)"), [unnamed(&[3.0, 4.0, 5.0, 8.0])]);
    assert_eq!(results("a = k\n-a"), [unnamed(&[-2.0])]);
}

#[test]
fn names_of_inputs_and_of_statements() {
    let expression = parse("m = mean(x); pi = 3; s = std(y); (x - m) / s * pi * inf");
    assert_eq!(expression.names(), ["x", "y"]);
    assert_eq!(expression.constants(), ["inf"]);
    assert!(expression.assigns("m") && !expression.mentions("m"));
    assert!(expression.mentions("x") && !expression.assigns("x"));
}

#[test]
fn results_are_asked_for_by_name() {
    let text = "low = min(x); high = max(x); range = high - low; x / range";
    let ask = |names: &[&str]| parse(text).with_results(names);
    assert_eq!(
        values(&ask(&["high", "low"]).unwrap()),
        [named("high", &[6.0]), named("low", &[1.0])]
    );
    assert_eq!(ask(&["low"]).unwrap().unused(), ["high", "range"]);
    assert_eq!(ask(&["range"]).unwrap().unused(), [""; 0]);
    let error = ask(&["rang"]).unwrap_err();
    assert_eq!((error.code(), &text[error.span.clone()]), ("unknown-result", "x / range"));
    assert!(error.draw(text).contains("did you mean `range`?"), "{}", error.draw(text));
    // An input is a result only if the last statement names it.
    assert_eq!(parse("x").with_results(&["x"]).map(|of| values(&of).len()), Ok(1));
    assert_eq!(ask(&["x"]).map_err(|error| error.code()), Err("unknown-result"));
}

#[test]
fn what_no_result_depends_on_is_checked_but_not_in_the_way() {
    let expression = parse("a = x + 1; b = a * 2; c = x - 1; c");
    assert_eq!(expression.unused(), ["a", "b"]);
    assert_eq!(values(&expression), [named("c", &[0.0, 1.0, 2.0, 5.0])]);
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [4]).unwrap();
    let wrong = "a = reshape(x, [3]); x";
    assert_eq!(code(parse(wrong).build(&b, &[("x", x)], None)), "reshape-element-count");
}

fn code<T: core::fmt::Debug>(result: Result<T, ExprError>) -> &'static str {
    result.unwrap_err().code()
}

#[test]
fn nothing_is_bound_to_a_name_that_is_assigned() {
    let b = GraphBuilder::new();
    let parameter = |name| b.parameter(name, DType::F64, [4]).unwrap();
    let text = "m = 2\nx - m";
    let error =
        parse(text).build(&b, &[("x", parameter("x")), ("m", parameter("m"))], None).unwrap_err();
    assert_eq!((error.code(), error.span.clone()), ("assigned-input", 0..1));
    assert!(error.draw(text).contains(" 1 | m = 2\n   | ^\n"), "{}", error.draw(text));
}

#[test]
fn messages_call_values_by_their_names() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F64, [2, 3]).unwrap();
    let text = "m = mean(x, axis=1)\nx - m";
    let drawn = parse(text).build(&b, &[("x", x)], None).unwrap_err().draw(text);
    assert!(drawn.contains("`sub` cannot broadcast `m` onto `x`"), "{drawn}");
    assert!(drawn.contains(" 2 | x - m\n   |   ^\n"), "{drawn}");
}

#[test]
fn limits_hold_over_the_whole_text() {
    let limits = ParseLimits::new().nodes(5);
    let parse = |text: &str| Expression::parse(text, &limits);
    assert!(parse("a = x + 1; a").is_ok());
    assert_eq!(code(parse("a = x + 1; a * a")), "too-many-nodes");
    // The depth limit applies to each statement.
    let limits = ParseLimits::new().depth(2);
    assert!(Expression::parse("a = ((x)); ((a))", &limits).is_ok());
    assert_eq!(code(Expression::parse("a = x; (((a)))", &limits)), "too-deep");
}

#[test]
fn a_long_chain_of_statements_does_not_recurse() {
    let mut text = "v0 = x + 1\n".to_owned();
    for step in 1..20_000 {
        text += &format!("v{step} = v{} + k\n", step - 1);
    }
    let value = values(&parse(&text));
    assert_eq!(value, [named("v19999", &[40_000.0, 40_001.0, 40_002.0, 40_005.0])]);
    let many = "x, ".repeat(30_000) + "x";
    assert_eq!(parse(&many).results().len(), 30_001);
}
