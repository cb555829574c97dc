//! Random texts: every text gives a result or an error, never a panic.
use indim_builder::GraphBuilder;
use indim_ops::DType;
use indim_shape::RuleSet;
use indim_text::{ExprError, Expression, ParseLimits};
use proptest::prelude::*;

/// Parses and builds; the error's place must lie within the text, and its drawing must not fail.
fn read(text: &str, rule: Option<&RuleSet>) -> Result<(), ExprError> {
    let b = GraphBuilder::new();
    let bindings = [
        ("x", b.parameter("x", DType::F32, [2, 3]).unwrap()),
        ("i", b.parameter("i", DType::I8, [3]).unwrap()),
        ("k", b.parameter("k", DType::U64, [2, 1]).unwrap()),
        ("c", b.parameter("c", DType::Bool, [3]).unwrap()),
        ("z", b.parameter("z", DType::C64, []).unwrap()),
    ];
    let result = Expression::parse(text, &ParseLimits::default())
        .and_then(|expression| expression.build(&b, &bindings, rule));
    result.map(|value| drop(value.array_type().unwrap())).inspect_err(|error| {
        assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}");
        assert!(error.draw(text).starts_with("error["), "{text:?}");
    })
}

fn rules() -> Vec<Option<RuleSet>> {
    let (dims, axis) = (Vec::new(), Some(0));
    let all = [
        RuleSet::None,
        RuleSet::Numpy,
        RuleSet::Xla { dims },
        RuleSet::StableHlo,
        RuleSet::Pdpd { axis },
        RuleSet::OnnxLegacy { broadcast: true, axis: None },
    ];
    core::iter::once(None).chain(all.into_iter().map(Some)).collect()
}

/// Pieces of the language, joined in random order.
const PIECES: &[&str] = &[
    "x",
    "i",
    "k",
    "c",
    "z",
    "y",
    "1",
    "2.5",
    "-1",
    "300",
    "True",
    "inf",
    "0x1f",
    "1e400",
    "9e",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "~",
    "<",
    "<=",
    "==",
    "!=",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    ".",
    ".astype(",
    "sqrt(",
    "add(",
    "where(",
    "clip(",
    "convert(",
    "reshape(",
    "broadcast_in_dim(",
    "iota(",
    "transpose(",
    "logical_and(",
    "f32(",
    "u8(",
    "f32",
    "dims=",
    "axis=",
    "shape=",
    "[0,1]",
    "[-1]",
    "and",
    "not",
    "\n",
    "\u{1F980}",
    "é",
    "'",
    "\u{0}",
];

/// Expressions that parse: an operand, or operations on smaller ones.
fn expression() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(vec!["x", "i", "k", "c", "z", "1", "0", "-3", "300", "2.5", "True"]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 40, 3, |inner| {
        let operator = prop::sample::select(
            "+ - * / // % ** & | ^ << >> < <= > >= == !=".split(' ').collect::<Vec<_>>(),
        );
        let function =
            prop::sample::select(vec!["sqrt", "-", "~", "+", "f64", "i8", "floor", "logical_not"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(x, operator, y)| format!("({x}) {operator} ({y})")),
            (function, inner.clone()).prop_map(|(function, x)| format!("{function}({x})")),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(x, y, z)| format!("where({x}, {y}, {z})")),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_gives_an_answer_or_an_error(text in any::<String>()) {
        let _ = read(&text, None);
    }

    #[test]
    fn any_bytes_that_are_text_give_an_answer_or_an_error(bytes in prop::collection::vec(0u8..128, 0..80)) {
        let _ = read(std::str::from_utf8(&bytes).unwrap(), None);
    }

    #[test]
    fn any_pieces_of_the_language_give_an_answer_or_an_error(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24),
        rule in prop::sample::select(rules()),
    ) {
        let _ = read(&pieces.concat(), rule.as_ref());
        let _ = read(&pieces.join(" "), rule.as_ref());
    }

    /// Random expressions may have wrong types, shapes and literals, but their grammar is right.
    #[test]
    fn well_formed_expressions_parse(text in expression(), rule in prop::sample::select(rules())) {
        prop_assert!(Expression::parse(&text, &ParseLimits::default()).is_ok(), "{}", text);
        let _ = read(&text, rule.as_ref());
    }

    /// Parentheses around the whole text, and more spaces, change nothing.
    #[test]
    fn parentheses_around_an_expression_change_nothing(text in expression()) {
        let outcome = |text: &str| read(text, None).map_err(|error| error.code());
        prop_assert_eq!(outcome(&text), outcome(&format!("( {text}\n)")));
    }
}
