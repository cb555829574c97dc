//! The meaning of expressions: precedence, types of literals, the rule of each operation.

use indim_builder::{GraphBuilder, Value};
use indim_graph::{Array, NodeKind, evaluate};
use indim_ops::{ArrayData, DType};
use indim_shape::RuleSet;
use indim_text::{Expression, ParseLimits};

fn parse(text: &str) -> Expression {
    Expression::parse(text, &ParseLimits::default()).expect(text)
}

/// The printed value of an expression of literals.
fn literal(text: &str) -> String {
    let b = GraphBuilder::new();
    let result = parse(text).build(&b, &[], None).expect(text);
    let graph = b.finish(&[result]).unwrap();
    let result = evaluate(&graph, &[]).unwrap().remove(0);
    format!("{:?}", ArrayData::from_le_bytes(result.dtype(), &result.to_le_bytes()))
}

#[test]
fn operators_group_as_in_python() {
    // Each pair was evaluated by Python 3.11 to the same value.
    for (text, value) in [
        ("1 + 2 * 3", "I64([7])"),
        ("(1 + 2) * 3", "I64([9])"),
        ("10 - 4 - 3", "I64([3])"),
        ("-2 ** 2", "I64([-4])"),
        ("2 ** -1", "F64([0.5])"),
        ("2 ** 3 ** 2", "I64([512])"),
        ("-2 ** -2 ** 2", "F64([-0.0625])"),
        ("2 * -3 + 1", "I64([-5])"),
        ("--3", "I64([3])"),
        ("~1 + 2", "I64([0])"),
        ("-~1", "I64([2])"),
        ("7 // 2 * 2", "I64([6])"),
        ("7 / 2", "F64([3.5])"),
        ("-7 // 2", "I64([-4])"),
        ("-7 % 3", "I64([2])"),
        ("7 % -3", "I64([-2])"),
        ("7 // -2", "I64([-4])"),
        ("-8 // -2", "I64([4])"),
        ("7.5 // 2", "F64([3.0])"),
        ("-7.5 % 2", "F64([0.5])"),
        ("1 << 2 + 1", "I64([8])"),
        ("1 + 1 << 2", "I64([8])"),
        ("-5 >> 1", "I64([-3])"),
        ("-5 >> 500", "I64([-1])"),
        ("6 & 3 << 1", "I64([6])"),
        ("1 | 6 & 3 ^ 1", "I64([3])"),
        ("5 & 3 == 1", "Bool([true])"),
        ("1 < 2 | 4", "Bool([true])"),
        ("1 + 1 == 2", "Bool([true])"),
        ("True + True", "I64([2])"),
        ("True & False", "Bool([false])"),
        ("(-1) ** 99999999999", "I64([-1])"),
        ("0xff + 0b11", "I64([258])"),
        ("1e3", "F64([1000.0])"),
    ] {
        assert_eq!(literal(text), value, "{text}");
    }
}

/// The type of a result over `x: f32[2, 3]`, `v: f32[3]`, `w: f32[2]`, `i: i32[2, 3]`, `c: bool[2, 3]`.
fn array_type(text: &str, rule: Option<&RuleSet>) -> Result<String, &'static str> {
    let b = GraphBuilder::new();
    let bindings = [
        ("x", b.parameter("x", DType::F32, [2, 3]).unwrap()),
        ("v", b.parameter("v", DType::F32, [3]).unwrap()),
        ("w", b.parameter("w", DType::F32, [2]).unwrap()),
        ("i", b.parameter("i", DType::I32, [2, 3]).unwrap()),
        ("c", b.parameter("c", DType::Bool, [2, 3]).unwrap()),
    ];
    let value = parse(text).build(&b, &bindings, rule).map_err(|error| error.code())?;
    Ok(value.array_type().unwrap().to_string())
}

#[test]
fn each_operation_follows_its_attributes_when_no_rule_is_asked_for() {
    let without = |text| array_type(text, None);
    assert_eq!(without("x + v"), Ok("f32[2, 3]".into()));
    assert_eq!(without("add(x, w, dims=[0]) + v"), Ok("f32[2, 3]".into()));
    assert_eq!(without("add(x, w, broadcast_dimensions=[0])"), Ok("f32[2, 3]".into()));
    assert_eq!(without("multiply(add(x, w, axis=0), v)"), Ok("f32[2, 3]".into()));
    assert_eq!(without("add(i, x, dims=[])"), Err("element-type-mismatch"));
    assert_eq!(without("add(w, x, axis=0)"), Err("rank-too-large"));
    assert_eq!(without("where(c, x, w)"), Err("size-mismatch"));
    assert_eq!(without("where(c, x, w, axis=0)"), Ok("f32[2, 3]".into()));
}

#[test]
fn a_rule_asked_for_holds_everywhere() {
    let xla = |text| array_type(text, Some(&RuleSet::Xla { dims: Vec::new() }));
    assert_eq!(xla("x + 2"), Ok("f32[2, 3]".into()));
    assert_eq!(xla("x + v"), Err("rank-mismatch-without-dims"));
    assert_eq!(xla("add(x, v, dims=[1])"), Ok("f32[2, 3]".into()));
    assert_eq!(xla("i / 2"), Ok("i32[2, 3]".into()));
    assert_eq!(xla("x * i"), Err("element-type-mismatch"));
    assert_eq!(xla("i + 0.5"), Err("literal-kind"));
    assert_eq!(xla("where(c, x, 0)"), Ok("f32[2, 3]".into()));
    assert_eq!(xla("sqrt(i)"), Err("element-type-not-allowed"));
    assert_eq!(
        xla("broadcast_in_dim(x, shape=[3, 2], dims=[1, 0])"),
        Err("dims-not-strictly-increasing")
    );

    let pdpd = |text| array_type(text, Some(&RuleSet::Pdpd { axis: None }));
    assert_eq!(pdpd("x + v"), Ok("f32[2, 3]".into()));
    assert_eq!(pdpd("v + x"), Err("rank-too-large"));
    assert_eq!(pdpd("2 - x"), Ok("f32[2, 3]".into()));
    assert_eq!(pdpd("add(x, w, axis=0)"), Ok("f32[2, 3]".into()));

    let none = |text| array_type(text, Some(&RuleSet::None));
    assert_eq!(none("2 * x - 1 / x"), Ok("f32[2, 3]".into()));
    assert_eq!(none("where(x > 0, x, 0)"), Ok("f32[2, 3]".into()));
    assert_eq!(none("clamp(0, x, 1)"), Ok("f32[2, 3]".into()));
    assert_eq!(none("x + v"), Err("shapes-differ"));

    let numpy = |text| array_type(text, Some(&RuleSet::Numpy));
    assert_eq!(numpy("x + v * i"), Ok("f64[2, 3]".into()));
    assert_eq!(numpy("add(x, v, dims=[1])"), Err("foreign-attribute"));
}

#[test]
fn attributes_asked_for_the_whole_expression_do_not_reach_numbers() {
    let rules = [
        RuleSet::Pdpd { axis: Some(0) },
        RuleSet::OnnxLegacy { broadcast: true, axis: Some(0) },
        RuleSet::Xla { dims: vec![0] },
    ];
    for rule in &rules {
        for text in ["x + w", "x * 2", "2 - x", "x ** 2", "2 ** x", "-x", "(x + w) * 2 - 1"] {
            assert_eq!(array_type(text, Some(rule)), Ok("f32[2, 3]".into()), "{text} under {rule}");
        }
    }
    assert_eq!(array_type("sqrt(2) * sqrt(3)", Some(&rules[0])), Ok("f64[]".into()));
    let pdpd = |axis| array_type("where(x > 0, x, 0)", Some(&RuleSet::Pdpd { axis }));
    assert_eq!(pdpd(Some(0)), Ok("f32[2, 3]".into()));
    let xla = RuleSet::Xla { dims: Vec::new() };
    assert_eq!(array_type("add(x, 2, dims=[0])", Some(&xla)), Err("dims-length-mismatch"));
    assert_eq!(array_type("add(x, 2, axis=1)", None), Ok("f32[2, 3]".into()));
    assert_eq!(
        array_type("x * 2 - 1", Some(&RuleSet::Pdpd { axis: Some(1) })),
        Ok("f32[2, 3]".into())
    );
    assert_eq!(
        array_type("x ** 2", Some(&RuleSet::Pdpd { axis: Some(1) })),
        Ok("f32[2, 3]".into())
    );
    assert_eq!(
        array_type("clamp(0, x, 1)", Some(&RuleSet::Pdpd { axis: Some(1) })),
        Ok("f32[2, 3]".into())
    );
}

#[test]
fn structural_functions_take_positions_and_keywords() {
    for (text, expected) in [
        ("f64(x)", "f64[2, 3]"),
        ("int32(x)", "i32[2, 3]"),
        ("convert(x, f64)", "f64[2, 3]"),
        ("convert(x, dtype=f64)", "f64[2, 3]"),
        ("x.astype(u8) + 1", "u8[2, 3]"),
        ("(x + 1).astype(i8).astype(f32)", "f32[2, 3]"),
        ("broadcast_in_dim(v, shape=[2, 3], dims=[1])", "f32[2, 3]"),
        ("broadcast_in_dim(v, [2, 3], [1])", "f32[2, 3]"),
        ("broadcast_in_dim(x, shape=[3, 2], dims=[1, 0])", "f32[3, 2]"),
        ("broadcast(v, sizes=[4, 5])", "f32[4, 5, 3]"),
        ("broadcast(v, 4)", "f32[4, 3]"),
        ("broadcast_to(v, (2, 3,))", "f32[2, 3]"),
        ("reshape(x, [3, 2])", "f32[3, 2]"),
        ("reshape(x, -1)", "f32[6]"),
        ("reshape(x, [2, -1, 1])", "f32[2, 3, 1]"),
        ("transpose(x, [1, 0])", "f32[3, 2]"),
        ("transpose(x)", "f32[3, 2]"),
        ("iota(i32, [4])", "i32[4]"),
        ("iota(f32, [2, 3], axis=1) * x", "f32[2, 3]"),
        ("iota(dtype=f32, shape=[2, 3], axis=0)", "f32[2, 3]"),
        ("reshape(3, [1, 1])", "i64[1, 1]"),
        ("f32(2)", "f32[]"),
        ("add(x, v,)", "f32[2, 3]"),
    ] {
        assert_eq!(array_type(text, None), Ok(expected.into()), "{text}");
    }
}

#[test]
fn names_come_in_the_order_of_first_use_and_bindings_win_over_constants() {
    let expression = parse("b * pi + sqrt(a) - b + inf");
    assert_eq!(expression.names(), ["b", "a"]);
    assert!(expression.mentions("pi") && !expression.mentions("sqrt"));

    let b = GraphBuilder::new();
    let pi: Value = b.scalar(3i32);
    let result = parse("pi + 1").build(&b, &[("pi", pi)], None).unwrap();
    let graph = b.finish(&[result]).unwrap();
    assert_eq!(evaluate(&graph, &[]).unwrap(), [Array::from_scalar(4i32)]);
}

#[test]
fn a_function_and_an_array_may_share_a_name() {
    let b = GraphBuilder::new();
    let max = b.parameter("max", DType::F32, [2]).unwrap();
    assert!(parse("max(max, 0)").build(&b, &[("max", max)], None).is_ok());
}

#[test]
fn conversions_are_nodes_of_the_graph() {
    let b = GraphBuilder::new();
    let u = b.parameter("u", DType::U8, [2]).unwrap();
    let f = b.parameter("f", DType::F32, [2]).unwrap();
    let result = parse("u + f").build(&b, &[("u", u), ("f", f)], None).unwrap();
    let graph = b.finish(&[result]).unwrap();
    let converts = graph.iter().filter(|(_, node)| node.kind == NodeKind::Convert).count();
    assert_eq!(converts, 1);
}

#[test]
fn a_literal_takes_the_value_that_numpy_gives_it() {
    let b = GraphBuilder::new();
    let k = b.parameter("k", DType::U64, [1]).unwrap();
    let result = parse("k + 0xffffffffffffffff").build(&b, &[("k", k)], None).unwrap();
    let graph = b.finish(&[result]).unwrap();
    let one = Array::new([1], vec![3u64]).unwrap();
    assert_eq!(evaluate(&graph, &[one]).unwrap()[0].elements::<u64>(), Ok(&[2u64][..]));
    assert_eq!(literal("f32(0.1)"), "F32([0.1])");
    assert_eq!(literal("i32(2.9) + i32(-2.9)"), "I32([0])");
    assert_eq!(literal("u8(inf)"), "U8([255])");
    assert_eq!(literal("f32(16777217)"), "F32([16777216.0])");
}

/// The lines `expression -> result` of the fenced examples.
fn examples(page: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.strip_prefix("expressions\n"))
        .flat_map(str::lines)
        .map(|line| line.split_once(" -> ").expect(line))
}

#[test]
fn the_examples_of_the_documentation_are_true() {
    let mut count = 0;
    for (text, expected) in examples(include_str!("../../../docs/expressions.md")) {
        let b = GraphBuilder::new();
        let bindings = [
            ("x", b.parameter("x", DType::F32, [2, 3]).unwrap()),
            ("v", b.parameter("v", DType::F32, [3]).unwrap()),
            ("w", b.parameter("w", DType::F32, [2]).unwrap()),
            ("i", b.parameter("i", DType::I32, [2, 3]).unwrap()),
            ("u", b.parameter("u", DType::U8, [3]).unwrap()),
            ("c", b.parameter("c", DType::Bool, [3]).unwrap()),
        ];
        let result = Expression::parse(text, &ParseLimits::default())
            .and_then(|expression| expression.build(&b, &bindings, None));
        let outcome = match result {
            Ok(value) => value.array_type().unwrap().to_string(),
            Err(error) => format!("error[{}]", error.code()),
        };
        assert_eq!(outcome, expected, "{text}");
        count += 1;
    }
    assert!(count > 40, "{count} examples");
}
