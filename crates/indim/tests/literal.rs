//! Array literals: parsed elements, and errors with their place.

use indim::array::{ArrayData, c64, c128, f16};
use indim::literal::{LiteralError, LiteralErrorKind, parse_literal};
use indim::{Array, DType, Element};
use proptest::prelude::*;

#[track_caller]
fn array(text: &str) -> Array {
    parse_literal(text).unwrap_or_else(|error| panic!("{}", error.draw(text)))
}

#[track_caller]
fn error(text: &str) -> LiteralError {
    let error = parse_literal(text).expect_err(text);
    // The error can be drawn for any text.
    assert!(error.draw(text).starts_with(&format!("error[{}]: {error}\n", error.code())));
    error
}

/// The error's code, and the part of the text that it marks.
#[track_caller]
fn refusal(text: &str) -> (&'static str, &str) {
    let error = error(text);
    (error.code(), &text[error.span])
}

fn type_of(text: &str) -> String {
    array(text).array_type().to_string()
}

#[test]
fn types_without_a_name_are_those_of_numpy() {
    assert_eq!(type_of("[1, -2, +3]"), "i64[3]");
    assert_eq!(type_of("[1, 2.0]"), "f64[2]");
    assert_eq!(type_of("[1, 1e3]"), "f64[2]");
    assert_eq!(type_of("[1, inf]"), "f64[2]");
    assert_eq!(type_of("[True, false]"), "bool[2]");
    assert_eq!(type_of("[]"), "f64[0]");
    assert_eq!(type_of("7"), "i64[]");
    assert_eq!(type_of("-7.5"), "f64[]");
    assert_eq!(type_of("true"), "bool[]");
}

#[test]
fn types_with_a_name() {
    assert_eq!(type_of("f32[1, 2]"), "f32[2]");
    assert_eq!(type_of("float32 [[1], [2]]"), "f32[2, 1]");
    assert_eq!(type_of("u8(7)"), "u8[]");
    assert_eq!(type_of(" pred ( [1, 0, True] ) "), "bool[3]");
    assert_eq!(type_of("i16[]"), "i16[0]");
    for dtype in DType::ALL {
        assert_eq!(type_of(&format!("{dtype}[0, 1]")), format!("{dtype}[2]"));
    }
}

#[test]
fn shapes_come_from_the_brackets() {
    assert_eq!(type_of("[[1, 2, 3], [4, 5, 6]]"), "i64[2, 3]");
    assert_eq!(type_of("[[[1],[2]],[[3],[4]],[[5],[6]]]"), "i64[3, 2, 1]");
    assert_eq!(type_of("[[], []]"), "f64[2, 0]");
    assert_eq!(type_of("[[[]]]"), "f64[1, 1, 0]");
    assert_eq!(type_of("[[[], []], [[], []], [[], []]]"), "f64[3, 2, 0]");
    assert_eq!(type_of("[[1, 2,], [3, 4,],]"), "i64[2, 2]");
    assert_eq!(type_of("[\n  [1,\t2],\n  [3, 4]\n]\n"), "i64[2, 2]");
    assert_eq!(array("[[1, 2], [3, 4]]").elements::<i64>().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn numbers_as_python_spells_them() {
    let floats = array("f64[1_000, .5, 5., -1e-3, 1E+2, inf, -inf, Infinity, 1e999, -0.0]");
    let expected = [1e3, 0.5, 5.0, -1e-3, 1e2, f64::INFINITY, -f64::INFINITY, f64::INFINITY];
    assert_eq!(floats.elements::<f64>().unwrap()[..8], expected);
    assert_eq!(floats.elements::<f64>().unwrap()[8], f64::INFINITY);
    assert!(floats.elements::<f64>().unwrap()[9].is_sign_negative());
    assert!(array("f32[nan, NaN, -nan]").elements::<f32>().unwrap().iter().all(|x| x.is_nan()));
    // The nearest f32, rounded once; rounding through f64 would give its neighbour.
    let nearest = array("f32(1.00000017881393432617187499)");
    assert_eq!(nearest.elements::<f32>().unwrap(), [1.000_000_1_f32]);
    assert_eq!(array("u64[18446744073709551615]").elements::<u64>().unwrap(), [u64::MAX]);
    assert_eq!(array("[-9223372036854775808]").elements::<i64>().unwrap(), [i64::MIN]);
}

#[test]
fn complex_numbers_as_python_spells_them() {
    assert_eq!(type_of("[1, 2.5j]"), "c128[2]");
    assert_eq!(type_of("-1e-3-2E+5J"), "c128[]");
    assert_eq!(type_of("c64[1, inf]"), "c64[2]");
    let numbers = array("c64[1+2j, -.5-1_0.5j, 3, 4j, -infj, 1e1+1e-1j]");
    let expected =
        [(1.0, 2.0), (-0.5, -10.5), (3.0, 0.0), (0.0, 4.0), (0.0, f32::NEG_INFINITY), (10.0, 0.1)];
    assert_eq!(numbers.elements::<c64>().unwrap(), expected.map(|(re, im)| c64::new(re, im)));
    let code = "wrong-element";
    for word in ["j", "1+j", "1+2", "1j+2", "1jj", "+-1j", "1+-2j", "1e+j", "1+2i", "true"] {
        assert_eq!(refusal(&format!("c128[{word}]")), (code, word));
    }
    assert_eq!(refusal("f64[1j]"), (code, "1j"));
    assert_eq!(refusal("[1j, x]"), (code, "x"));
    assert_eq!(refusal("[1 + 2j]"), ("bad-literal", "+"));
    assert_eq!(refusal("[1j, True]"), ("mixed-elements", "True"));
}

#[test]
fn numbers_that_do_not_fit() {
    let code = "element-does-not-fit";
    assert_eq!(refusal("u8[255, 256]"), (code, "256"));
    assert_eq!(refusal("u8[-1]"), (code, "-1"));
    assert_eq!(refusal("i8[[127], [-129]]"), (code, "-129"));
    assert_eq!(refusal("[9223372036854775808]"), (code, "9223372036854775808"));
    assert_eq!(refusal("u64(18446744073709551616)"), (code, "18446744073709551616"));
    let digits = "9".repeat(100_000);
    assert_eq!(refusal(&digits), (code, &digits[..]));
}

#[test]
fn words_that_are_no_elements() {
    let code = "wrong-element";
    assert_eq!(refusal("i32[1, 2.5]"), (code, "2.5"));
    assert_eq!(refusal("i32[true]"), (code, "true"));
    assert_eq!(refusal("f32[true]"), (code, "true"));
    assert_eq!(refusal("bool[2]"), (code, "2"));
    assert_eq!(refusal("bool[yes]"), (code, "yes"));
    assert_eq!(refusal("[x]"), (code, "x"));
    assert_eq!(refusal("[1, 0x10]"), (code, "0x10"));
    assert_eq!(refusal("[1-2]"), (code, "1-2"));
    assert_eq!(refusal("[--1]"), (code, "--1"));
    assert_eq!(refusal("[1, -]"), (code, "-"));
    assert_eq!(refusal("[é]"), (code, "é"));
    for word in ["_1", "1_", "1__0", "1_.0", "1._0", "1e_5", "i_n_f", "_"] {
        assert_eq!(refusal(word), (code, word));
    }
}

#[test]
fn truth_values_beside_numbers() {
    assert_eq!(refusal("[1, True, 2]"), ("mixed-elements", "True"));
    assert_eq!(refusal("[[false], [0.5]]"), ("mixed-elements", "false"));
}

#[test]
fn lists_that_differ() {
    let ragged = |axis, size, found| LiteralErrorKind::Ragged { axis, size, found };
    let cases = [
        ("[[1, 2, 3], [4, 5]]", "[4, 5]", ragged(1, 3, 2)),
        ("[[1], [2, 3]]", "[2, 3]", ragged(1, 1, 2)),
        ("[[[1], [2]], [[3]]]", "[[3]]", ragged(1, 2, 1)),
        ("[[], [1]]", "[1]", ragged(1, 0, 1)),
        ("[[1], []]", "[]", ragged(1, 1, 0)),
        ("[[[1]], []]", "[]", ragged(1, 1, 0)),
        ("[[[]], []]", "[]", ragged(1, 1, 0)),
    ];
    for (text, place, kind) in cases {
        let error = error(text);
        assert_eq!((&text[error.span], error.kind), (place, kind), "{text}");
    }
    let message = error("[[1, 2, 3], [4, 5]]").to_string();
    assert_eq!(message, "this list has 2 items, the first one along axis 1 has 3");
}

#[test]
fn elements_nested_unevenly() {
    let cases = [
        ("[1, [2]]", "[", 1),
        ("[[1], 2]", "2", 2),
        ("[[1, 2], 3]", "3", 2),
        ("[[[1]], [2]]", "2", 3),
        ("[[], [[]]]", "[", 2),
        ("[[], 1]", "1", 2),
        ("[[1, [2]]]", "[", 2),
    ];
    for (text, place, rank) in cases {
        let error = error(text);
        let kind = LiteralErrorKind::UnevenDepth { rank };
        assert_eq!((&text[error.span], error.kind), (place, kind), "{text}");
    }
}

#[test]
fn texts_that_are_no_literal() {
    let item = "a number, a truth value or `[`";
    let cases = [
        ("", item, 0),
        ("   ", item, 3),
        ("[", item, 1),
        ("[,]", item, 1),
        ("[1,,2]", item, 3),
        ("[[1],,]", item, 5),
        ("[1", "`,` or `]`", 2),
        ("[1 2]", "`,` or `]`", 3),
        ("[[1] [2]]", "`,` or `]`", 5),
        ("[[1]", "`,` or `]`", 4),
        ("[1}", "`,` or `]`", 2),
        ("[1]]", "the end of the literal", 3),
        ("[1],", "the end of the literal", 3),
        ("1, 2", "the end of the literal", 1),
        ("[1] é", "the end of the literal", 4),
        ("]", item, 0),
        ("f32([1]", "`)`", 7),
        ("f32[1])", "the end of the literal", 6),
        ("(1)", item, 0),
        ("'x.npy'", item, 0),
        ("{1}", item, 0),
    ];
    for (text, expected, position) in cases {
        let error = error(text);
        assert_eq!(error.kind, LiteralErrorKind::Expected(expected), "{text}");
        assert_eq!((error.code(), error.span.start), ("bad-literal", position), "{text}");
    }
}

#[test]
fn types_that_are_none() {
    assert_eq!(refusal("f33[1]"), ("unknown-element-type", "f33"));
    assert_eq!(refusal("1[2]"), ("unknown-element-type", "1"));
}

#[test]
fn nesting_has_a_limit_and_takes_no_stack() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(array(&nested(64)).shape().rank(), 64);
    for text in [nested(65), nested(100_000), "[".repeat(100_000), "[]".repeat(100_000)] {
        let code = error(&text).code();
        assert!(["rank-limit", "bad-literal"].contains(&code), "{code}");
    }
    let error = error(&nested(65));
    assert_eq!((error.code(), error.span), ("rank-limit", 64..65));
    assert_eq!(refusal(&"]".repeat(100_000)), ("bad-literal", "]"));
}

#[test]
fn long_literals_are_read() {
    let text = format!("[{}]", "[0, 1, 2, 3],".repeat(100_000));
    assert_eq!(type_of(&text), "i64[100000, 4]");
}

#[test]
fn drawings_show_the_place() {
    let text = "[[1, 2, 3], [4, 5]]";
    let expected = "\
error[ragged-literal]: this list has 2 items, the first one along axis 1 has 3
   | [[1, 2, 3], [4, 5]]
   |             ^^^^^^
";
    assert_eq!(error(text).draw(text), expected);
    let text = "[\n\t1 2]";
    assert!(
        error(text).draw(text).ends_with(" 2 |  1 2]\n   |    ^\n"),
        "{}",
        error(text).draw(text)
    );
    let text = format!("[{} 1 2]", "é, ".repeat(1_000));
    assert!(error(&text).draw(&text).lines().all(|line| line.chars().count() < 110));
    let wide = "[\"幅幅\", 1]";
    assert!(error(wide).draw(wide).contains("   |  ^"), "{}", error(wide).draw(wide));
}

/// An array as a literal, with the shortest floats that parse to the same value.
fn written(array: &Array, comma: &str, is_named: bool) -> String {
    macro_rules! words {
        ($($variant:ident),*; $($complex:ident),*) => {
            match ArrayData::from_le_bytes(array.dtype(), &array.to_le_bytes()) {
                $(ArrayData::$variant(elements) => elements.iter().map(|x| format!("{x:?}")).collect(),)*
                $(ArrayData::$complex(elements) => elements.iter().map(|x| x.to_string()).collect(),)*
                other => panic!("the test makes no elements of type {}", other.dtype()),
            }
        };
    }
    let mut items: Vec<String> = words!(Bool, I8, I64, U64, F16, F32, F64; C64, C128);
    for &size in array.shape().iter().rev() {
        let lists = items.chunks(size.max(1));
        items = lists.map(|list| format!("[{}]", list.join(comma))).collect();
    }
    match is_named {
        true => format!("{}({})", array.dtype(), items[0]),
        false => items.remove(0),
    }
}

/// Arrays without axes of size 0: an empty list hides the axes after it.
fn arrays() -> impl Strategy<Value = Array> {
    let of = |shape: Vec<usize>| {
        let count = shape.iter().product::<usize>();
        macro_rules! of {
            ($type:ty) => {{
                let shape = shape.clone();
                prop::collection::vec(any::<$type>(), count)
                    .prop_map(move |elements| Array::new(shape.clone(), elements).unwrap())
            }};
        }
        // A literal can express only one NaN.
        macro_rules! canonical {
            ($type:ty, $elements:expr) => {{
                let shape = shape.clone();
                prop::collection::vec($elements, count).prop_map(move |elements| {
                    let elements: Vec<$type> =
                        elements.into_iter().map(Element::canonical).collect();
                    Array::new(shape.clone(), elements).unwrap()
                })
            }};
        }
        let complex =
            (prop::num::f64::ANY, prop::num::f64::ANY).prop_map(|(re, im)| c128::new(re, im));
        let small =
            (prop::num::f32::ANY, prop::num::f32::ANY).prop_map(|(re, im)| c64::new(re, im));
        prop_oneof![
            of!(bool),
            of!(i8),
            of!(i64),
            of!(u64),
            canonical!(f16, any::<u16>().prop_map(f16::from_bits)),
            canonical!(f32, prop::num::f32::ANY),
            canonical!(f64, prop::num::f64::ANY),
            canonical!(c64, small),
            canonical!(c128, complex),
        ]
    };
    prop::collection::vec(1usize..4, 0..5).prop_flat_map(of)
}

proptest! {
    #[test]
    fn what_is_written_is_read(array in arrays(), comma in "[ \t\n]{0,2},[ \n]{0,2}") {
        let text = written(&array, &comma, true);
        prop_assert_eq!(parse_literal(&text).unwrap(), array);
    }

    #[test]
    fn types_are_found_again(array in arrays()) {
        let found = parse_literal(&written(&array, ", ", false));
        if matches!(array.dtype(), DType::Bool | DType::I64 | DType::F64 | DType::C128) {
            prop_assert_eq!(found.unwrap(), array);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in r"(\[|\]|,| |1|2\.5|true|é|f32|\(|\)|-|_){0,30}") {
        if let Err(error) = parse_literal(&text) {
            prop_assert!(error.draw(&text).contains(error.code()));
        }
    }

    #[test]
    fn damage_is_read_or_refused(
        array in arrays(), at in any::<prop::sample::Index>(), with in any::<char>(),
    ) {
        let mut characters: Vec<char> = written(&array, ", ", true).chars().collect();
        let at = at.index(characters.len());
        characters[at] = with;
        let text: String = characters.into_iter().collect();
        if let Err(error) = parse_literal(&text) {
            prop_assert!(error.draw(&text).contains(error.code()));
        }
    }
}
