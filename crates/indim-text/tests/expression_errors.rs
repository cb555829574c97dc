//! Every mistake in an expression has a code and points at its place in the text.

use std::collections::BTreeSet;

use indim_builder::{GraphBuilder, Value};
use indim_ops::{DType, Op};
use indim_shape::RuleSet;
use indim_text::{ExprError, Expression, ParseLimits};

const SMALL: ParseLimits = ParseLimits::new().text_bytes(60).depth(6).nodes(12).rank(4);

/// Parses and builds over `x: f32[2, 3]`, `v: f32[3]`, `w: f32[2]`, `i: i32[2, 3]`, `u: u8[3]`, `c:
/// bool[3]`, `h: bf16[3]`.
fn error(text: &str, limits: &ParseLimits, rule: Option<&RuleSet>) -> ExprError {
    let b = GraphBuilder::new();
    let parameter = |name: &'static str, dtype, shape: &[usize]| -> (&'static str, Value) {
        (name, b.parameter(name, dtype, shape).unwrap())
    };
    let bindings = [
        parameter("x", DType::F32, &[2, 3]),
        parameter("v", DType::F32, &[3]),
        parameter("w", DType::F32, &[2]),
        parameter("i", DType::I32, &[2, 3]),
        parameter("u", DType::U8, &[3]),
        parameter("c", DType::Bool, &[3]),
        parameter("h", DType::Bf16, &[3]),
    ];
    let result = Expression::parse(text, limits).and_then(|e| e.build(&b, &bindings, rule));
    result.map(|value| value.array_type().unwrap()).expect_err(text)
}

fn drawing(text: &str) -> String {
    error(text, &ParseLimits::default(), None).draw(text)
}

/// `(text, rule, code, marked text)`: at least one case for each code.
const CASES: &[(&str, Option<RuleSet>, &str, &str)] = &[
    ("", None, "empty-expression", ""),
    (" \n ", None, "empty-expression", ""),
    ("x + y0", None, "unknown-name", "y0"),
    ("x $ v", None, "unexpected-character", "$"),
    ("x + 'v'", None, "string-literal", "'"),
    ("2x", None, "bad-number", "2x"),
    (
        "x + 999999999999999999999999999999999999999999",
        None,
        "number-too-large",
        "999999999999999999999999999999999999999999",
    ),
    ("reshape(x, [99999999999999999999])", None, "number-too-large", "99999999999999999999"),
    ("x +", None, "unexpected-token", ""),
    ("x v", None, "unexpected-token", "v"),
    ("* x", None, "unexpected-token", "*"),
    ("x)", None, "unexpected-token", ")"),
    ("x, v", None, "several-results", "x, v"),
    ("(x, v)", None, "unexpected-token", ","),
    ("()", None, "unexpected-token", ")"),
    ("add(x,,v)", None, "unexpected-token", ","),
    ("add(x v)", None, "unexpected-token", "v"),
    ("add(x, [1])", None, "unexpected-token", "["),
    ("convert(x, f33)", None, "unexpected-token", "f33"),
    ("elu(x, alpha=v)", None, "bad-argument", "v"),
    ("elu(x, True)", None, "bad-argument", "True"),
    ("round(x, 1 + 0.5)", None, "bad-argument", "1 + 0.5"),
    ("isclose(x, v, equal_nan=1)", None, "bad-argument", "1"),
    ("elu(x, alpha=)", None, "unexpected-token", ")"),
    ("elu(x, 1, 2)", None, "wrong-operand-count", "elu"),
    ("elu(x, 1, alpha=2)", None, "duplicate-keyword", "alpha"),
    ("gelu(x, beta=2)", None, "unknown-keyword", "beta"),
    ("gelu(x, dims=[0])", None, "unknown-keyword", "dims"),
    ("reduce_precision(x, 5)", None, "missing-argument", "reduce_precision"),
    ("positive(c)", None, "not-defined-in-numpy", "positive"),
    ("heaviside(x, v)", Some(RuleSet::None), "shapes-differ", "heaviside"),
    ("reshape(x, [2 3])", None, "unexpected-token", "3"),
    ("reshape(x, [v])", None, "unexpected-token", "v"),
    ("iota(f32, [3] v)", None, "unexpected-token", "v"),
    ("x.shape", None, "unexpected-token", ".shape"),
    ("x.T", None, "foreign-spelling", ".T"),
    ("np.exp(x)", None, "foreign-spelling", ".exp"),
    ("np.pi * x", None, "foreign-spelling", ".pi"),
    ("np.convolve(x, v)", None, "unknown-function", ".convolve"),
    ("x.exp()", None, "foreign-spelling", ".exp"),
    ("x + 1jj", None, "bad-number", "1jj"),
    ("x if c else v", None, "foreign-spelling", "if"),
    ("c ? x : v", None, "foreign-spelling", "?"),
    ("unsqueeze(v, 0)", None, "foreign-spelling", "unsqueeze"),
    ("trace(x)", None, "not-element-wise", "trace"),
    ("np.trace(x)", None, "not-element-wise", ".trace"),
    ("cumsum(x, axis=[0, 1])", None, "scan-axes", "cumsum"),
    ("cumsum(x, axis=2)", None, "axis-out-of-range", "cumsum"),
    ("cumsum(x, keepdims=true)", None, "unknown-keyword", "keepdims"),
    ("linear_recurrence(x, x, axis=[0, 1])", None, "scan-axes", "linear_recurrence"),
    ("linear_recurrence(x)", None, "wrong-operand-count", "linear_recurrence"),
    ("x.max()", None, "foreign-spelling", ".max"),
    ("sum(x, axis=2)", None, "axis-out-of-range", "sum"),
    ("sum(x, axis=[0, -2])", None, "axes-not-unique", "sum"),
    ("sum(x, dims=[0])", None, "unknown-keyword", "dims"),
    ("sum(x, keepdims=2)", None, "bad-argument", "2"),
    ("max(x, v, keepdims=true)", None, "unknown-keyword", "keepdims"),
    ("softmax(x, keepdims=true)", None, "unknown-keyword", "keepdims"),
    ("x @ x", None, "size-mismatch", "@"),
    ("x @ 2", None, "too-few-axes", "@"),
    ("mm(x, x)", None, "foreign-spelling", "mm"),
    ("matmul(x)", None, "wrong-operand-count", "matmul"),
    ("einsum(ij, x)", None, "unexpected-token", "ij"),
    ("einsum(\"ij->j\" x)", None, "unexpected-token", "x"),
    ("einsum(\"ij->j\"", None, "unclosed", "("),
    ("einsum(\"ij->k\", x)", None, "einsum-equation", "einsum"),
    ("einsum(\"ijk\", x)", None, "einsum-rank", "einsum"),
    ("einsum(\"ij,j\", x)", None, "wrong-operand-count", "einsum"),
    ("sum(\"x\")", None, "string-literal", "\""),
    ("tensordot(x, x, axes=[[0, 1], [0]])", None, "axis-count-mismatch", "tensordot"),
    ("tensordot(x, x, axes=3)", None, "axis-out-of-range", "tensordot"),
    ("tensordot(x, x, axes=[0])", None, "unexpected-token", "]"),
    ("x.astype f32", None, "unexpected-token", "f32"),
    ("x.astype(f32, v)", None, "unexpected-token", ","),
    ("a = b = x", None, "foreign-spelling", "="),
    ("sqrt(x) = v", None, "foreign-spelling", "="),
    ("x \\\n + v", None, "foreign-spelling", "\\"),
    ("a = x; a += v", None, "foreign-spelling", "+="),
    ("a = x; a **= 2", None, "foreign-spelling", "**="),
    ("x + = v", None, "foreign-spelling", "+ ="),
    ("a = x; a = v", None, "assigned-twice", "a"),
    ("a, a = x, v", None, "assigned-twice", "a"),
    ("x = 2 * v", None, "assigned-input", "x"),
    ("a = b; b = x", None, "assigned-input", "b"),
    ("a = a + 1", None, "assigned-input", "a"),
    ("mean = mean(x)", None, "assigned-function", "mean"),
    ("x; v", None, "unnamed-statement", "x"),
    ("x\n+ v", None, "unnamed-statement", "x"),
    ("a, b = x", None, "wrong-value-count", "a, b"),
    ("a = x, v", None, "wrong-value-count", "a"),
    ("a = x; aa + 1", None, "unknown-name", "aa"),
    ("x +; v", None, "unexpected-token", ";"),
    ("(x; v)", None, "unclosed", "("),
    ("x,", None, "unexpected-token", ""),
    ("; # nothing\n;", None, "empty-expression", ""),
    ("(x + v", None, "unclosed", "("),
    ("sqrt(x", None, "unclosed", "("),
    ("iota(f32", None, "unclosed", "("),
    ("reshape(x, [2", None, "unclosed", "["),
    ("v < x < 3", None, "chained-comparison", "<"),
    ("v == x != 3", None, "chained-comparison", "!="),
    ("c and c", None, "foreign-operator", "and"),
    ("and c", None, "foreign-operator", "and"),
    ("not (c) & c", None, "foreign-operator", "not"),
    ("not c", None, "foreign-operator", "not"),
    ("c || c", None, "foreign-operator", "||"),
    ("!c", None, "foreign-operator", "!"),
    ("v[9]", None, "index-out-of-range", "[9]"),
    ("v[0.5]", None, "bad-index", "0.5"),
    ("squeeze(x, axis=0)", None, "squeezed-size", "squeeze"),
    ("convolve(x, v)", None, "unknown-function", "convolve"),
    ("x + sqrt(v, axes=1)", None, "unknown-keyword", "axes"),
    ("add(x, v, sizes=[1])", None, "unknown-keyword", "sizes"),
    ("add(x, v, dims=[1], dims=[1])", None, "duplicate-keyword", "dims=[1]"),
    ("broadcast(x, [2], sizes=[2])", None, "duplicate-keyword", "sizes=[2]"),
    ("sqrt()", None, "wrong-operand-count", "sqrt"),
    ("where(c, x)", None, "wrong-operand-count", "where"),
    ("f32(x, v)", None, "wrong-operand-count", "f32"),
    ("broadcast_in_dim(v, shape=[2, 3])", None, "missing-argument", "broadcast_in_dim"),
    ("iota(f32, [2, 3])", None, "missing-argument", "iota"),
    ("add(x, w, dims=[0])", Some(RuleSet::Numpy), "foreign-attribute", "dims=[0]"),
    ("add(x, w, axis=0)", Some(RuleSet::Xla { dims: Vec::new() }), "foreign-attribute", "axis=0"),
    ("add(x, w, dims=[0])", Some(RuleSet::Pdpd { axis: None }), "foreign-attribute", "dims=[0]"),
    ("add(x, w, dims=[0], axis=0)", None, "conflicting-attributes", "axis=0"),
    ("mod(x, x)", Some(RuleSet::None), "ambiguous-function", "mod"),
    ("reshape(x, [-2, 3])", None, "negative-size", "[-2, 3]"),
    ("broadcast(x, -1)", None, "negative-size", "-1"),
    ("reshape(x, [-1, 4])", None, "size-not-inferable", "reshape"),
    ("reshape(x, [-1, -1])", None, "size-not-inferable", "reshape"),
    ("u + 300", None, "literal-out-of-range", "300"),
    ("u8(-1)", None, "literal-out-of-range", "-1"),
    ("i * 1.5", Some(RuleSet::None), "literal-kind", "*"),
    ("c & 1", Some(RuleSet::None), "literal-kind", "&"),
    ("where(1, x, x)", Some(RuleSet::None), "literal-kind", "where"),
    ("1.5 | 2", None, "literal-not-whole", "|"),
    ("~1.5", None, "literal-not-whole", "~"),
    ("2 ** 200", None, "literal-overflow", "**"),
    ("1 << 200", None, "literal-overflow", "<<"),
    ("1 // 0", None, "literal-division-by-zero", "//"),
    ("0 ** -1", None, "literal-division-by-zero", "**"),
    ("1.0 % 0", None, "literal-division-by-zero", "%"),
    ("1 << -1", None, "literal-negative-shift", "<<"),
    ("h + v", None, "no-promotion", "+"),
    ("c - c", None, "not-defined-in-numpy", "-"),
    ("-c", None, "not-defined-in-numpy", "-"),
    ("+c", None, "not-defined-in-numpy", "+"),
    ("i & v", None, "not-defined-in-numpy", "&"),
    ("i ** -1", None, "negative-integer-power", "**"),
    ("x + w", None, "size-mismatch", "+"),
    ("x * v", Some(RuleSet::None), "shapes-differ", "*"),
    ("x * v", Some(RuleSet::Xla { dims: Vec::new() }), "rank-mismatch-without-dims", "*"),
    ("multiply(x, w, dims=[1])", None, "dim-size-mismatch", "multiply"),
    ("x + w", Some(RuleSet::Pdpd { axis: None }), "size-mismatch", "+"),
    ("x + i", Some(RuleSet::None), "element-type-mismatch", "+"),
    ("logical_and(x, x)", Some(RuleSet::None), "element-type-not-allowed", "logical_and"),
    ("popcnt(x)", None, "element-type-not-allowed", "popcnt"),
    ("transpose(x, [0, 0])", None, "not-a-permutation", "transpose"),
    ("iota(f32, [3], axis=1)", None, "axis-out-of-range", "iota"),
    ("reshape(x, [7])", None, "reshape-element-count", "reshape"),
    ("broadcast(x, [9223372036854775807])", None, "too-large", "broadcast"),
];

#[test]
fn every_mistake_has_its_code_and_its_place() {
    for (text, rule, code, marked) in CASES {
        let error = error(text, &ParseLimits::default(), rule.as_ref());
        assert_eq!((error.code(), &text[error.span.clone()]), (*code, *marked), "{text}: {error}");
        let message = error.to_string();
        assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
        assert!(error.draw(text).starts_with(&format!("error[{code}]: ")), "{}", error.draw(text));
    }
}

#[test]
fn what_to_write_instead_is_said() {
    for (text, help) in [
        ("x.T", "write transpose(x)"),
        ("np.exp(x)", "write exp(...)"),
        ("x if c else v", "write where(condition, x, y)"),
        ("median(x)", "and reduces along axes: compute `median` where the arrays come from"),
        ("x.max()", "write max(x, ...)"),
        ("x ^ 2", "a power is written x ** 2"),
        ("c64(x) < c64(v)", "complex numbers have no order: compare real(x), imag(x) or abs(x)"),
        ("x.astype('f4')", "write names without quotes"),
        ("x[c]", "where(c, x, y)"),
    ] {
        let drawing = drawing(text);
        let line = drawing.lines().last().expect("a line");
        assert!(line.contains("= help: ") && line.contains(help), "{drawing}");
    }
}

#[test]
fn every_code_of_the_language_has_a_case() {
    let sources = [
        (include_str!("../src/expression/error.rs"), "K::"),
        (include_str!("../src/expression/statement_error.rs"), "StatementError::"),
    ];
    let codes = sources
        .into_iter()
        .flat_map(|(source, prefix)| source.lines().map(move |line| (line, prefix)))
        .filter_map(|(line, prefix)| line.trim().strip_prefix(prefix)?.split_once("=> ErrorCode::"))
        .filter_map(|(_, rest)| rest.strip_suffix(','))
        .map(|constant| constant.to_lowercase().replace('_', "-"))
        .collect::<BTreeSet<_>>();
    let cases: BTreeSet<_> = CASES.iter().map(|(_, _, code, _)| (*code).to_owned()).collect();
    let elsewhere = BTreeSet::from([
        "axis-or-operand",
        "text-too-long",
        "too-deep",
        "too-many-nodes",
        "unknown-result",
    ]);
    let missing: Vec<_> =
        codes.difference(&cases).filter(|code| !elsewhere.contains(code.as_str())).collect();
    assert!(codes.len() > 35 && missing.is_empty(), "no case for {missing:?}");
}

#[test]
fn the_limits_are_errors_of_their_own() {
    let code = |text: &str| error(text, &SMALL, None).code();
    assert_eq!(code(&" ".repeat(61)), "text-too-long");
    assert_eq!(code("((((((( x )))))))"), "too-deep");
    assert_eq!(code("-------x"), "too-deep");
    assert_eq!(code("sqrt(sqrt(sqrt(sqrt(sqrt(sqrt(sqrt(x)))))))"), "too-deep");
    assert_eq!(code("v+v+v+v+v+v+v"), "too-many-nodes");
    assert!(Expression::parse("v+v+v+v+v+v", &SMALL).is_ok());
    assert!(Expression::parse("((((((x))))))", &SMALL).is_ok());
}

#[test]
fn deep_and_long_texts_neither_overflow_the_stack_nor_take_long() {
    let parse = |text: &str| Expression::parse(text, &ParseLimits::default());
    let deep = "(".repeat(100_000) + "x" + &")".repeat(100_000);
    assert_eq!(parse(&deep).unwrap_err().code(), "too-deep");
    for prefix in ["-", "~", "sqrt(", "2**", "add(x, ", "reshape(("] {
        assert!(parse(&prefix.repeat(50_000)).is_err(), "{prefix}");
    }
    assert_eq!(parse(&"x".repeat((1 << 20) + 1)).unwrap_err().code(), "text-too-long");

    let unlimited = ParseLimits::new().text_bytes(usize::MAX).depth(usize::MAX).nodes(usize::MAX);
    let expression = Expression::parse(&deep, &unlimited).unwrap();
    assert_eq!(expression.names(), ["x"]);
    let minus = "-".repeat(100_000) + "x";
    drop(Expression::parse(&minus, &unlimited).unwrap());

    let sum = vec!["x"; 5_000].join(" + ");
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let result = parse(&sum).unwrap().build(&b, &[("x", x)], None).unwrap();
    assert_eq!(result.array_type().unwrap().to_string(), "f32[2]");
}

#[test]
fn the_rank_of_every_array_is_limited() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [2]).unwrap();
    let wide = b.parameter("wide", DType::F32, vec![1; 65]).unwrap();
    let build = |text: &str, limits: &ParseLimits| {
        Expression::parse(text, limits)
            .and_then(|expression| {
                let values = [("x", x.clone()), ("wide", wide.clone())];
                expression.build(&b, &values, None)
            })
            .map_err(|error| (error.code(), text[error.span].to_owned()))
    };
    let ones = |rank: usize| vec!["1"; rank].join(",");
    let limits = ParseLimits::default();
    assert!(build(&format!("broadcast(x, [{}])", ones(63)), &limits).is_ok());
    // Lists beyond the limit, and lists within it that raise the rank of an operand beyond it.
    let list = format!("[{}]", ones(65));
    for call in
        ["reshape(x, shape={})", "broadcast(x, {})", "add(x, x, dims={})", "transpose(x, {})"]
    {
        let error = build(&call.replace("{}", &list), &limits).unwrap_err();
        assert_eq!(error, ("rank-limit", list[..list.len() - 1].to_owned()), "{call}");
    }
    assert_eq!(build("x + wide", &limits).unwrap_err(), ("rank-limit", "wide".to_owned()));
    let twice = format!("broadcast(x, [{}])", ones(64));
    assert_eq!(build(&twice, &limits).unwrap_err(), ("rank-limit", "broadcast".to_owned()));
    // Callers from Rust can raise the limit.
    let higher = limits.rank(200);
    assert_eq!(build(&format!("broadcast({twice}, [{}])", ones(64)), &higher).map(drop), Ok(()));
    assert_eq!(build("x + wide", &higher).map(drop), Ok(()));
    assert_eq!(build("reshape(x, [1,2,1,1,1])", &SMALL).unwrap_err().0, "rank-limit");
}

#[test]
fn drawings_show_the_place_and_what_would_work() {
    assert_eq!(
        drawing("x + sqrtt(v)"),
        "error[unknown-function]: there is no function `sqrtt`\n   \
         | x + sqrtt(v)\n   \
         |     ^^^^^\n   \
         = help: did you mean `sqrt`?\n"
    );
    assert_eq!(
        drawing("0 < x < 1"),
        "error[chained-comparison]: comparisons do not chain\n   \
         | 0 < x < 1\n   \
         |       ^\n   \
         = help: write (a < b) & (b < c)\n"
    );
    assert_eq!(
        drawing("x +\n  größe *\n  2"),
        "error[unknown-name]: nothing is bound to `größe`\n \
         2 |   größe *\n   \
         |   ^^^^^\n"
    );
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let text = format!("{} + y0 + {}", vec!["x"; 200].join(" + "), vec!["v"; 200].join(" + "));
    let drawing = drawing(&text);
    let lines: Vec<&str> = drawing.lines().collect();
    assert!(lines[1].starts_with("   | ...") && lines[1].ends_with("..."), "{drawing}");
    assert!(lines.iter().all(|line| line.chars().count() < 110), "{drawing}");
    let column = lines[2].find('^').unwrap();
    assert_eq!(&lines[1][column..column + 2], "y0", "{drawing}");
    assert_eq!(lines[2].matches('^').count(), 2);
}

#[test]
fn shape_errors_are_followed_by_the_picture_of_the_shapes() {
    let error = error("x * 2 + (w - 1)", &ParseLimits::default(), None);
    let indim_text::ExprErrorKind::Graph(graph_error) = &error.kind else { panic!("{error}") };
    let names: Vec<&str> = graph_error.operands.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x * 2", "(w - 1)"]);
    let drawing = error.draw("x * 2 + (w - 1)");
    let mut lines = drawing.lines();
    assert!(lines.next().unwrap().starts_with("error[size-mismatch]"), "{drawing}");
    assert_eq!(lines.next(), Some("   | x * 2 + (w - 1)"));
    assert_eq!(lines.next(), Some("   |       ^"));
    // The rest is the builder's picture.
    let picture = graph_error.draw();
    assert!(drawing.ends_with(picture.split_once('\n').unwrap().1), "{drawing}");
}

#[test]
fn a_bias_on_the_wrong_axis_is_drawn_with_what_would_work() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [1, 3, 224, 224]).unwrap();
    let bias = b.parameter("bias", DType::F32, [3]).unwrap();
    let expression = Expression::parse("x + bias", &ParseLimits::default()).unwrap();
    let error = expression.build(&b, &[("x", x), ("bias", bias)], None).unwrap_err();
    let expected = "\
error[size-mismatch]: `add` cannot broadcast `bias` onto `x` under rule numpy
   | x + bias
   |   ^
   x    : f32[1, 3, 224, 224]
   bias : f32[             3]
                           ^ axis 0 of `bias` is 3, axis 3 of `x` is 224
   = rule N2: right-aligned axes must be equal, or one of them 1
   = help: broadcast_dimensions=[1] gives f32[1, 3, 224, 224] (the only axis of `x` of size 3)
   = help: pdpd axis=1 gives the same; so does bias reshaped to [3, 1, 1] under numpy
";
    assert_eq!(error.draw("x + bias"), expected);
}

#[test]
fn every_operation_is_a_function_by_its_name_and_aliases() {
    for op in Op::ALL {
        let names = core::iter::once(op.name()).chain(op.aliases().iter().copied());
        for name in names {
            let operands = vec!["x"; op.arity().count()].join(", ");
            let code = Expression::parse(&format!("{name}({operands})"), &ParseLimits::default())
                .map_err(|error| error.code());
            // `not` is Python's keyword and has another precedence; the help names `logical_not` and `~`.
            let expected = if name == "not" { Some("foreign-operator") } else { None };
            assert_eq!(code.err(), expected, "{name}");
        }
    }
}

#[test]
fn what_is_found_is_not_echoed_whole() {
    let long = "s".repeat(900_000);
    for text in [
        format!("{long}(x)"),
        format!("x + {long}"),
        format!("add(x, x, {long}=1)"),
        format!("x.{long}"),
        format!("x {long}"),
    ] {
        let error = error(&text, &ParseLimits::default(), None);
        let shown = [error.to_string(), error.draw(&text)];
        assert!(shown.iter().all(|shown| shown.len() < 1000), "{:.80}: {:.1000}", text, shown[1]);
    }
}

#[test]
fn exchanged_letters_are_a_slip_of_the_hand() {
    for (text, meant) in [("x + srqt(x)", "sqrt"), ("maxmium(x, v)", "maximum")] {
        let drawing = drawing(text);
        assert!(drawing.contains(&format!("did you mean `{meant}`?")), "{drawing}");
    }
}

#[test]
fn wide_names_do_not_shift_what_stands_behind_them() {
    let b = GraphBuilder::new();
    let wide = b.parameter("幅", DType::F32, [2]).unwrap();
    let y = b.parameter("y", DType::F32, [3]).unwrap();
    let text = "幅 + y";
    let parsed = Expression::parse(text, &ParseLimits::default()).unwrap();
    let error = parsed.build(&b, &[("幅", wide), ("y", y)], None).unwrap_err();
    let drawing = error.draw(text);
    let expected = "   | 幅 + y\n   |    ^\n   幅 : f32[2]\n            ^ axis 0 of `幅` is 2";
    let other = "   y  : f32[3]\n            ^ axis 0 of `y` is 3";
    assert!(drawing.contains(expected) || drawing.contains(other), "{drawing}");
}

#[test]
fn values_without_names_go_by_what_computes_them() {
    type Make = fn(&GraphBuilder, &Value, &Value) -> Value;
    let cases: [(Make, &str); 9] = [
        (|_, x, y| x * y + 2, "x * y + 2"),
        (|_, x, y| (x + y) * x, "(x + y) * x"),
        (|_, x, y| x - (y - x), "x - (y - x)"),
        (|b, x, y| b.pow(b.pow(x, y, &[]).unwrap(), y, &[]).unwrap(), "(x ** y) ** y"),
        (|_, x, y| (-x).exp() * y, "exp(-x) * y"),
        (|b, x, y| b.maximum(x, y, &[]).unwrap(), "max(x, y)"),
        (|_, x, _| x.convert(DType::F64), "f64(x)"),
        (|b, x, _| b.reshape(x, [3, 2]).unwrap(), "reshape(x, [3, 2])"),
        (
            |_, x, y| (0..9).fold(x.clone(), |sum, _| (sum * y).tanh() + x) / y,
            "(tanh(... * y) + x) / y",
        ),
    ];
    for (make, expected) in cases {
        let b = GraphBuilder::new();
        let x = b.parameter("x", DType::F32, [2, 3]).unwrap();
        let y = b.parameter("y", DType::F32, [2, 3]).unwrap();
        let other = b.parameter("other", DType::F32, [77]).unwrap();
        let error = b.add(make(&b, &x, &y), other, &[]).unwrap_err();
        assert_eq!(error.operands[0].0, expected);
    }
}

#[test]
fn an_axis_of_numexpr_is_no_operand() {
    let check = |text: &str| {
        let expression = Expression::parse(text, &ParseLimits::default()).expect(text);
        expression.check_axes_of_numexpr().map_err(|error| (error.code(), error.draw(text)))
    };
    for text in ["max(x, 1)", "v + min(x * 2, 0)", "max(x, True)", "max(x, 1 + 1)", "max(x, -0)"] {
        let (code, drawn) = check(text).expect_err(text);
        assert_eq!(code, "axis-or-operand", "{text}");
        assert!(drawn.contains("has two meanings: numexpr and NumPy reduce along axis"), "{drawn}");
    }
    let (_, drawn) = check("v + min(x * 2, 0)").unwrap_err();
    assert!(drawn.contains("write min(x * 2, axis=0) to reduce, or minimum(x * 2, 0)"), "{drawn}");
    for text in
        ["maximum(x, 1)", "max(x, axis=1)", "max(x, v)", "max(x, -1)", "max(1, x)", "min(x, 0.0)"]
    {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}
