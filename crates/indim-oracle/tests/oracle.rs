//! The oracle, compared with recorded answers of XLA, StableHLO, OpenVINO, ONNX and NumPy; and hostile lines.
//!
//! The corpora in `corpora/` hold a case and the expected verdict in each line; `README.md` there says
//! how they were made. A key that is absent from the expectation is not compared.

use std::path::Path;

use indim_oracle::{verdict, write_verdict};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The bits of the fraction and the least exponent of a float type.
fn format(dtype: &str) -> Option<(i32, i32)> {
    match dtype {
        "f16" => Some((10, -14)),
        "bf16" => Some((7, -126)),
        "f32" => Some((23, -126)),
        "f64" => Some((52, -1022)),
        _ => None,
    }
}

/// The distance of two floats of a type in ULP. The inputs are decimals, and two decimals can denote the same
/// float. `None` if the distance is undefined: only one is a NaN or infinite, or the signs of two zeros
/// differ.
fn ulp_distance(
    expected: &Value,
    given: &Value,
    (fraction, min_exponent): (i32, i32),
) -> Option<f64> {
    let decimal = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64(),
    };
    let (expected, given): (f64, f64) = (decimal(expected)?, decimal(given)?);
    if !expected.is_finite() || !given.is_finite() || expected == 0.0 && given == 0.0 {
        let is_same_sign = expected.is_sign_negative() == given.is_sign_negative();
        let is_same = expected == given && is_same_sign || expected.is_nan() && given.is_nan();
        return is_same.then_some(0.0);
    }
    let unit = |value: f64| {
        let biased = (value.abs().to_bits() >> 52) as i32;
        f64::from((biased - 1023).max(min_exponent) - fraction).exp2()
    };
    // The nearest float of the type to the decimal.
    let float = |value: f64| (value / unit(value)).round() * unit(value);
    let (expected, given) = (float(expected), float(given));
    let distance = (expected - given).abs() / unit(expected).min(unit(given));
    Some(distance.ceil())
}

fn is_same_element(expected: &Value, given: &Value, dtype: &str, ulp: u64) -> bool {
    let part = match dtype {
        "c64" => "f32",
        "c128" => "f64",
        _ => dtype,
    };
    match (format(part), expected, given) {
        (Some(_), Value::Array(expected), Value::Array(given)) => {
            let same = |(a, b)| is_same_element(a, b, part, ulp);
            expected.len() == given.len() && expected.iter().zip(given).all(same)
        }
        (Some(format), expected, given) => {
            ulp_distance(expected, given, format).is_some_and(|distance| distance <= ulp as f64)
        }
        (None, expected, given) => expected == given,
    }
}

/// The first difference between a verdict and the expected one.
fn difference(expected: &Value, given: &Value) -> Option<String> {
    let ulp = expected["ulp"].as_u64().unwrap_or(0);
    for (key, value) in expected.as_object().expect("an expectation is an object") {
        let is_same = match key.as_str() {
            "ulp" => true,
            "data" => {
                let (value, data) = (value.as_array()?, given["data"].as_array()?);
                let dtype = given["dtype"].as_str()?;
                let same = |(a, b)| is_same_element(a, b, dtype, ulp);
                value.len() == data.len() && value.iter().zip(data).all(same)
            }
            // The axis of a single element is `null` in the corpus if the rules leave it open.
            "maps" => {
                let (value, maps) = (value.as_array()?, given["maps"].as_array()?);
                let same = |(a, b): (&Value, &Value)| a.is_null() || a == b;
                value.len() == maps.len() && value.iter().zip(maps).all(same)
            }
            key => given.get(key) == Some(value),
        };
        if !is_same {
            return Some(format!("{key}: expected {value}, given {}", given[key]));
        }
    }
    None
}

/// A line of a corpus. The case keeps its text, because a number that is parsed and printed again may change.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    case: &'a RawValue,
    expect: Value,
}

fn check_corpus(name: &str, cases: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(name);
    let text = std::fs::read_to_string(&path).expect("the corpus is in the repository");
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let line: Line<'_> = serde_json::from_str(line).expect("a line of the corpus is JSON");
        let given = verdict(line.case.get());
        let given: Value = serde_json::from_str(&given).expect("a verdict is JSON");
        if let Some(difference) = difference(&line.expect, &given) {
            wrong.push(format!("{}\n    {difference}\n    {given}", line.case));
        }
        count += 1;
    }
    let shown = wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} cases of {name} differ:\n{shown}", wrong.len());
    assert!(count >= cases, "{name} has {count} cases");
}

#[test]
fn numpy_shapes() {
    check_corpus("numpy_shapes.jsonl", 500);
}

#[test]
fn numpy_values() {
    check_corpus("numpy_values.jsonl", 500);
}

#[test]
fn xla_shapes() {
    check_corpus("xla_shapes.jsonl", 600);
}

#[test]
fn xla_values() {
    check_corpus("xla_values.jsonl", 400);
}

#[test]
fn xla_broadcasts() {
    check_corpus("xla_broadcasts.jsonl", 250);
}

#[test]
fn stablehlo_shapes() {
    check_corpus("stablehlo_shapes.jsonl", 400);
}

#[test]
fn openvino_shapes() {
    check_corpus("openvino_shapes.jsonl", 450);
}

#[test]
fn openvino_values() {
    check_corpus("openvino_values.jsonl", 300);
}

#[test]
fn onnx_shapes() {
    check_corpus("onnx_shapes.jsonl", 250);
}

#[test]
fn the_comparison_sees_differences() {
    let given =
        json!({"ok": true, "dtype": "f32", "shape": [2], "maps": [[0]], "data": [1.0, "nan"]});
    let differs = |expected: Value| difference(&expected, &given).is_some();
    assert!(!differs(json!({"ok": true, "maps": [[0]], "data": [1.0, "nan"]})));
    assert!(!differs(json!({"maps": [null], "data": [1.0000001, "nan"], "ulp": 1})));
    assert!(differs(json!({"data": [1.0000001, "nan"]})));
    assert!(differs(json!({"data": [1.0000002, "nan"], "ulp": 1})));
    assert!(differs(json!({"data": [1.0, "inf"], "ulp": 9})));
    assert!(differs(json!({"data": [1.0]})));
    assert!(differs(json!({"shape": [3]})));
    assert!(differs(json!({"code": "size-mismatch"})));
    assert!(differs(json!({"maps": [[1]]})));
    let distance = |a: Value, b: Value, dtype| ulp_distance(&a, &b, format(dtype).unwrap());
    assert_eq!(distance(json!(0.0), json!(-0.0), "f32"), None);
    assert_eq!(distance(json!("nan"), json!(1.0), "f32"), None);
    assert_eq!(distance(json!("inf"), json!("-inf"), "f32"), None);
    assert_eq!(distance(json!("inf"), json!(3e38), "f32"), None);
    assert_eq!(distance(json!("-inf"), json!("-inf"), "f32"), Some(0.0));
    assert_eq!(distance(json!(1e-45), json!(-1e-45), "f32"), Some(2.0));
    assert_eq!(distance(json!(5e-324), json!(0.0), "f64"), Some(1.0));
    assert_eq!(distance(json!(1.0), json!(1.0009766), "f16"), Some(1.0));
    assert_eq!(distance(json!(0.1), json!(0.099976), "f16"), Some(0.0));
    assert_eq!(distance(json!(0.1), json!(0.100098), "bf16"), Some(0.0));
    assert!(is_same_element(&json!([1.0, "nan"]), &json!([1.0, "nan"]), "c64", 0));
    assert!(!is_same_element(&json!([1.0, 0.0]), &json!([1.0, -0.0]), "c128", 1));
}

/// The code of the verdict on a line; "" when the case is legal.
fn code(line: &str) -> String {
    let given: Value = serde_json::from_str(&verdict(line)).expect("a verdict is JSON");
    let code = given["code"].as_str().unwrap_or_default().to_owned();
    assert_eq!(given["ok"], json!(code.is_empty()), "{given}");
    assert_eq!(given["message"].is_string(), !code.is_empty(), "{given}");
    code
}

#[test]
fn what_is_not_a_case_is_a_bad_request() {
    let lines = [
        "",
        "not json",
        "{",
        "[]",
        "null",
        "5",
        "\"x\"",
        "\0",
        "\u{feff}{}",
        "{}",
        r#"{"rule":"numpy"}"#,
        r#"{"operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","operands":{}}"#,
        r#"{"rule":"numpy","operands":[]}"#,
        r#"{"rule":"numpy","operands":[{}]}"#,
        r#"{"rule":"numpy","operands":[5]}"#,
        // Field lists without the key names.
        r#"["numpy",null,[{"shape":[2]}],null,null,null,null,null,null]"#,
        r#"{"rule":"numpy","operands":[["f32",[2],null]]}"#,
        r#"{"rule":"numpy","operands":[{"shape":"x"}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":null}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[-1]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[1.5]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[1e3]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[true]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[99999999999999999999999]}]}"#,
        r#"{"rule":"numpy","operands":[{"dtype":"f33","shape":[2]}]}"#,
        r#"{"rule":"numpy","operands":[{"dtype":5,"shape":[2]}]}"#,
        r#"{"rule":"bogus","operands":[{"shape":[2]}]}"#,
        r#"{"rule":5,"operands":[{"shape":[2]}]}"#,
        r#"{"rule":"\ud800","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","op":"bogus","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","op":[],"operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[2]}],"extra":1}"#,
        r#"{"rule":"numpy","rule":"xla","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[2],"shape":[3]}]}"#,
        r#"{"rule":"numpy","operands":[{"shape":[2]}]} {}"#,
        r#"{"rule":"xla","operands":[{"shape":[2]},{"shape":[2]}],"dims":"0"}"#,
        r#"{"rule":"xla","operands":[{"shape":[2]},{"shape":[2]}],"dims":[1e30]}"#,
        r#"{"rule":"xla","operands":[{"shape":[2]},{"shape":[2]}],"dims":[9223372036854775808]}"#,
        r#"{"rule":"pdpd","operands":[{"shape":[2]},{"shape":[2]}],"axis":"1"}"#,
        r#"{"rule":"pdpd","operands":[{"shape":[2]},{"shape":[2]}],"axis":1.0}"#,
        r#"{"rule":"onnx-legacy","operands":[{"shape":[2]},{"shape":[2]}],"broadcast":2}"#,
        // Operations under rules that lack them, and missing attributes.
        r#"{"rule":"none","op":"broadcast","operands":[{"shape":[2]}],"target":[2]}"#,
        r#"{"rule":"unidirectional","op":"add","operands":[{"shape":[2]},{"shape":[2]}]}"#,
        r#"{"rule":"bidirectional","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"xla","op":"broadcast_in_dim","operands":[{"shape":[2]}],"dims":[0]}"#,
        r#"{"rule":"numpy","op":"broadcast","operands":[{"shape":[2]},{"shape":[2]}],"target":[2]}"#,
        r#"{"rule":"numpy","op":"convert","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","op":"convert","to":"q","operands":[{"shape":[2]}]}"#,
        r#"{"rule":"numpy","op":"convert","to":"f64","operands":[{"shape":[2]},{"shape":[2]}]}"#,
    ];
    for line in lines {
        assert_eq!(code(line), "bad-request", "{line}");
    }
    let deep = 200_000;
    let open = [
        "[".repeat(deep),
        r#"{"a":"#.repeat(deep),
        format!(r#"{{"rule":"numpy","id":{}"#, "[".repeat(deep)),
        format!(r#"{{"rule":"numpy","operands":[{{"shape":[1],"data":{}"#, "[".repeat(deep)),
    ];
    for line in open {
        assert_eq!(code(&line), "bad-request", "{} ...", &line[..40]);
    }
}

/// The code of `add` under numpy, of one operand with this type, size and data, and a scalar zero.
fn with_data(dtype: &str, size: u64, data: &str) -> String {
    let zero = if dtype == "bool" { "false" } else { "0" };
    format!(
        r#"{{"rule":"numpy","op":"add","operands":[{{"dtype":"{dtype}","shape":[{size}],"data":{data}}},
            {{"dtype":"{dtype}","shape":[],"data":[{zero}]}}]}}"#
    )
}

#[test]
fn data_of_the_wrong_length_or_type_is_a_bad_request() {
    let wrong = [
        ("f32", 2, "[1]"),
        ("f32", 2, "[1,2,3]"),
        ("f32", 1 << 10, "[1]"),
        ("f32", 1, "1"),
        ("f32", 1, r#"["1"]"#),
        ("f32", 1, r#"["NaN "]"#),
        ("f32", 1, "[[1]]"),
        ("f32", 1, "[null]"),
        ("f32", 1, "[true]"),
        ("f64", 1, "[{}]"),
        ("i32", 1, "[1.5]"),
        ("i32", 1, "[1e3]"),
        ("i32", 1, r#"["nan"]"#),
        ("i32", 1, "[2147483648]"),
        ("i64", 1, "[9223372036854775808]"),
        ("u8", 1, "[-1]"),
        ("u64", 1, "[18446744073709551616]"),
        ("bool", 1, "[2]"),
        ("bool", 1, "[0.0]"),
    ];
    for (dtype, size, data) in wrong {
        assert_eq!(code(&with_data(dtype, size, data)), "bad-request", "{dtype} {size} {data}");
    }
    let right = [
        ("f32", 3, r#"["nan","inf","-inf"]"#),
        ("f32", 1, "[1e400]"),
        ("f64", 1, "[-0.0]"),
        ("i64", 2, "[-9223372036854775808,9223372036854775807]"),
        ("u64", 1, "[18446744073709551615]"),
        ("bool", 2, "[true,0]"),
        ("f32", 0, "[]"),
    ];
    for (dtype, size, data) in right {
        assert_eq!(code(&with_data(dtype, size, data)), "", "{dtype} {size} {data}");
    }
}

fn shapes_only(rule: &str, op: &str, dtype: &str, shapes: &[&[u64]]) -> String {
    let operands: Vec<Value> =
        shapes.iter().map(|shape| json!({"dtype": dtype, "shape": shape})).collect();
    json!({"rule": rule, "op": op, "operands": operands}).to_string()
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn nothing_overflows() {
    let check = |rule, op, dtype, shapes: &[&[u64]], expected: &str| {
        assert_eq!(
            code(&shapes_only(rule, op, dtype, shapes)),
            expected,
            "{op} {dtype} {shapes:?}"
        );
    };
    let large = 1 << 32;
    check("numpy", "add", "f32", &[&[large, 1], &[large]], "too-large");
    check("numpy", "add", "f32", &[&[1 << 63], &[1]], "too-large");
    check("none", "add", "f32", &[&[u64::MAX], &[u64::MAX]], "too-large");
    check("numpy", "add", "f32", &[&[1 << 40; 60], &[1]], "too-large");
    // The limit counts bytes of the result's type.
    check("numpy", "add", "i8", &[&[(1 << 63) - 1], &[1]], "");
    check("numpy", "add", "f32", &[&[1 << 61], &[1]], "too-large");
    check("numpy", "add", "f32", &[&[(1 << 61) - 1], &[1]], "");
    check("numpy", "lt", "f32", &[&[1 << 61], &[1]], "");
    // A shape without elements is never too large; a mismatch is reported before the size.
    check("numpy", "add", "f32", &[&[large, large, 0], &[1]], "");
    check("numpy", "add", "f32", &[&[large, large, 3], &[2]], "size-mismatch");
    let axis = |axis: i64| {
        code(
            &json!({"rule": "pdpd", "operands": [{"shape": [2]}, {"shape": [2]}], "axis": axis})
                .to_string(),
        )
    };
    assert_eq!(
        (axis(i64::MIN), axis(i64::MAX)),
        ("axis-out-of-range".into(), "axis-out-of-range".into())
    );
    let dims = |dims: i64| {
        let operands = json!([{"shape": [2, 3]}, {"shape": [2]}]);
        code(&json!({"rule": "xla", "operands": operands, "dims": [dims]}).to_string())
    };
    assert_eq!((dims(i64::MIN), dims(i64::MAX)), ("dim-negative".into(), "dim-too-large".into()));
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn a_short_line_cannot_ask_for_much_memory() {
    for target in [1u64 << 33, 1 << 40, 1 << 62] {
        let one = json!({"dtype": "u8", "shape": [1], "data": [1]});
        let case =
            json!({"rule": "numpy", "op": "broadcast", "operands": [one], "target": [target]});
        assert_eq!(code(&case.to_string()), "element-limit");
    }
    let column: Vec<u8> = vec![1; 20_000];
    let operand = |shape: &[u64]| json!({"dtype": "f32", "shape": shape, "data": column});
    let operands = [operand(&[20_000, 1]), operand(&[20_000])];
    let case = json!({"rule": "numpy", "op": "add", "operands": operands});
    assert_eq!(code(&case.to_string()), "element-limit");
}

#[test]
fn results_are_computed_up_to_the_limit() {
    let case = concat!(
        r#"{"id":1,"rule":"numpy","op":"broadcast","target":[4],"#,
        r#""operands":[{"shape":[1],"data":[0.5]}]}"#,
    );
    let given = |limit| {
        let mut text = Vec::new();
        write_verdict(case, limit, &mut text).expect("memory can be written to");
        String::from_utf8(text).expect("JSON is UTF-8")
    };
    assert!(given(4).ends_with(r#""maps":[[0]],"data":[0.5,0.5,0.5,0.5]}"#), "{}", given(4));
    assert!(given(3).starts_with(r#"{"id":1,"ok":false,"code":"element-limit""#), "{}", given(3));
}

/// A writer that accepts only the head of a verdict.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        match self.0 < 200 {
            true => Ok(bytes.len()),
            false => Err(std::io::ErrorKind::StorageFull.into()),
        }
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn elements_are_written_as_they_come() {
    let case = r#"{"rule":"numpy","op":"broadcast","target":[100000],"operands":[{"shape":[1],"data":[1]}]}"#;
    let mut output = Full(0);
    assert!(write_verdict(case, 1 << 20, &mut output).is_err());
    assert!(output.0 < 400, "{} bytes were gathered before they were written", output.0);
}

#[test]
fn the_rank_is_limited_and_the_number_of_operands_is_not() {
    let largest = vec![1; 64];
    let case = shapes_only("numpy", "add", "f32", &[&largest, &[2]]);
    let given: Value = serde_json::from_str(&verdict(&case)).expect("a verdict is JSON");
    assert_eq!(given["shape"].as_array().map(Vec::len), Some(64));
    assert_eq!(given["maps"][1], json!([63]));
    let long = vec![1; 65];
    assert_eq!(code(&shapes_only("numpy", "add", "f32", &[&long, &[2]])), "rank-limit");
    let very_long = vec![1; 50_000];
    assert_eq!(code(&shapes_only("none", "add", "f32", &[&very_long, &very_long])), "rank-limit");
    let operands = vec![json!({"shape": [1]}); 50_000];
    assert_eq!(code(&json!({"rule": "numpy", "operands": operands}).to_string()), "");
    let onto = |operand: usize, target: usize, dims: usize| {
        let operand = json!({"shape": vec![1; operand]});
        let dims: Vec<usize> = (0..dims).collect();
        let target = vec![1; target];
        let case = json!({
            "rule": "xla", "op": "broadcast_in_dim", "operands": [operand], "target": target, "dims": dims,
        });
        code(&case.to_string())
    };
    assert_eq!(onto(63, 64, 63), "");
    assert_eq!(onto(63, 65, 63), "rank-limit");
    assert_eq!(onto(63, 64, 20_000), "rank-limit");
    // The operands are within the limit, the result is not.
    let prepended =
        json!({"rule": "xla", "op": "broadcast", "operands": [{"shape": largest}], "target": [2]});
    assert_eq!(code(&prepended.to_string()), "rank-limit");
}

#[test]
fn types_are_checked_before_shapes() {
    let operands = json!([{"dtype": "f32", "shape": [2]}, {"dtype": "i32", "shape": [3, 4]}]);
    for (rule, label) in [("xla", "X1"), ("numpy", "TY2")] {
        let case = json!({"rule": rule, "op": "add", "operands": operands});
        let given: Value = serde_json::from_str(&verdict(&case.to_string())).expect("JSON");
        let answer = (given["code"].as_str(), given["rule"].as_str());
        assert_eq!(answer, (Some("element-type-mismatch"), Some(label)));
    }
    for (op, dtype) in [("sin", "i32"), ("neg", "bool"), ("neg", "pred"), ("not", "f32")] {
        assert_eq!(code(&shapes_only("numpy", op, dtype, &[&[2]])), "element-type-not-allowed");
    }
    assert_eq!(code(&shapes_only("numpy", "add", "f32", &[&[2]])), "wrong-operand-count");
}

#[test]
fn a_target_without_an_operation_is_a_broadcast() {
    let given = |rule: &str, dims: &[i64]| {
        let mut case = json!({"rule": rule, "operands": [{"shape": [3]}], "target": [3, 4]});
        if !dims.is_empty() {
            case["dims"] = json!(dims);
        }
        verdict(&case.to_string())
    };
    let onto_first = r#"{"ok":true,"dtype":"f32","shape":[3,4],"maps":[[0]]}"#;
    for rule in ["xla", "stablehlo", "explicit"] {
        assert_eq!(given(rule, &[0]), onto_first, "{rule}");
    }
    assert!(given("numpy", &[]).contains("T1"));
    assert!(given("pdpd", &[]).contains("P5"));
    assert!(given("none", &[]).contains("bad-request"));
}

#[test]
fn the_name_of_a_case_comes_back() {
    let case = r#"{"id":[7,"x"],"rule":"none","operands":[{"shape":[]}]}"#;
    assert_eq!(verdict(case), r#"{"id":[7,"x"],"ok":true,"dtype":"f32","shape":[],"maps":[[]]}"#);
    let case = r#"{"id":8,"rule":"bogus","operands":[{"shape":[]}]}"#;
    assert!(verdict(case).starts_with(r#"{"id":8,"ok":false,"code":"bad-request""#));
}

#[test]
fn the_name_comes_back_with_every_refusal_of_a_field() {
    for rest in [
        r#""rule":"none","operands":[{"shape":[]}],"extra":1"#,
        r#""rule":"none","operands":[{"shape":[]}],"axis":"1""#,
        r#""rule":"none","operands":[{"shape":[],"extra":1}]"#,
        r#""rule":"none","operands":[{"shape":["x"]}]"#,
        r#""rule":"none","operands":{}"#,
        r#""rule":5,"operands":[{"shape":[]}]"#,
        r#""rule":"none","rule":"none","operands":[{"shape":[]}]"#,
        r#""operands":[{"shape":[]}]"#,
    ] {
        for case in [format!(r#"{{"id":8,{rest}}}"#), format!(r#"{{{rest},"id":8}}"#)] {
            let given = verdict(&case);
            let expected = r#"{"id":8,"ok":false,"code":"bad-request""#;
            assert!(given.starts_with(expected), "{case}\n{given}");
        }
    }
}

#[test]
fn any_name_comes_back_as_it_was_written() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let names = ["null", "12345678901234567890123", "1e400", "0.10", r#"{"b":1,"a":[]}"#, &deep];
    for name in names {
        let case = format!(r#"{{"rule":"none","operands":[{{"shape":[]}}],"id":{name}}}"#);
        let expected = format!(r#"{{"id":{name},"ok":true,"#);
        assert!(verdict(&case).starts_with(&expected), "{}", &name[..20.min(name.len())]);
    }
    let broken = "{\"rule\":\"none\",\"operands\":[{\"shape\":[]}],\"id\":[1,\n2]}";
    assert!(!verdict(broken).contains('\n'));
}

#[test]
fn attributes_that_do_not_belong_are_refused() {
    let message = |fields: &str, operands: usize| {
        let operands = vec![r#"{"shape":[2]}"#; operands].join(",");
        let given = verdict(&format!(r#"{{{fields},"operands":[{operands}]}}"#));
        let given: Value = serde_json::from_str(&given).expect("a verdict is JSON");
        given["message"].as_str().unwrap_or_default().to_owned()
    };
    let foreign = [
        (r#""rule":"numpy","axis":0"#, "axis"),
        (r#""rule":"numpy","op":"add","axis":0"#, "axis"),
        (r#""rule":"numpy","dims":[0]"#, "dims"),
        (r#""rule":"numpy","dims":[]"#, "dims"),
        (r#""rule":"none","broadcast":1"#, "broadcast"),
        (r#""rule":"pdpd","op":"add","dims":[0]"#, "dims"),
        (r#""rule":"pdpd","op":"add","axis":0,"broadcast":1"#, "broadcast"),
        (r#""rule":"xla","op":"add","axis":0"#, "axis"),
        (r#""rule":"xla","op":"add","target":[2]"#, "target"),
        (r#""rule":"stablehlo","op":"add","dims":[0]"#, "dims"),
        (r#""rule":"onnx-legacy","op":"add","to":"f64""#, "to"),
    ];
    for (fields, attribute) in foreign {
        let given = message(fields, 2);
        assert!(given.contains(&format!("takes no `{attribute}`")), "{fields}: {given}");
    }
    let foreign_to_targets = [
        (r#""rule":"numpy","op":"broadcast","target":[2],"axis":0"#, "axis"),
        (r#""rule":"xla","op":"broadcast","target":[2],"dims":[0]"#, "dims"),
        (r#""rule":"bidirectional","target":[2],"to":"f64""#, "to"),
        (r#""rule":"pdpd","op":"broadcast","target":[2],"dims":[0]"#, "dims"),
    ];
    for (fields, attribute) in foreign_to_targets {
        let given = message(fields, 1);
        assert!(given.contains(&format!("takes no `{attribute}`")), "{fields}: {given}");
    }
    for fields in [
        r#""rule":"numpy","axis":null"#,
        r#""rule":"xla","op":"add","dims":[]"#,
        r#""rule":"pdpd","axis":0"#,
        r#""rule":"onnx-legacy","broadcast":1,"axis":0"#,
    ] {
        assert_eq!(message(fields, 2), "", "{fields}");
    }
}

#[test]
fn long_fields_are_not_echoed_whole() {
    let long = "x".repeat(900_000);
    for case in [
        format!(r#"{{"rule":"{long}","operands":[{{"shape":[2]}}]}}"#),
        format!(r#"{{"rule":"numpy","op":"{long}","operands":[{{"shape":[2]}}]}}"#),
        format!(r#"{{"rule":"numpy","axis":"{long}","operands":[{{"shape":[2]}}]}}"#),
        format!(r#"{{"rule":"numpy","{long}":1,"operands":[{{"shape":[2]}}]}}"#),
        format!(r#"{{"rule":"numpy","operands":[{{"dtype":"{long}","shape":[2]}}]}}"#),
    ] {
        let given = verdict(&case);
        assert!(given.len() < 2000, "{} bytes for {}", given.len(), &case[..40]);
    }
}

#[test]
fn reductions_go_by_their_rule() {
    let answer =
        |case: Value| -> Value { serde_json::from_str(&verdict(&case.to_string())).unwrap() };
    let x = json!({"dtype": "i8", "shape": [2, 3], "data": [100, 100, 1, 2, 3, 4]});
    let sum = |rule: &str| json!({"rule": rule, "op": "sum", "operands": [x], "axes": [1]});
    let numpy = answer(sum("numpy"));
    assert_eq!(
        numpy,
        json!({"ok": true, "dtype": "i64", "shape": [2], "axes": [1], "data": [201, 9]})
    );
    assert_eq!(answer(sum("xla"))["data"], json!([-55, 9]));
    let onnx = |opset: u32, key: &str, axes: Value| {
        let mut case = json!({"rule": "onnx", "op": "max", "operands": [x], "opset": opset});
        case[key] = axes;
        answer(case)
    };
    assert_eq!(onnx(18, "axes_input", json!([-1]))["shape"], json!([2, 1]));
    assert_eq!(onnx(17, "axes", json!([-1]))["data"], json!([100, 4]));
    assert_eq!(onnx(18, "axes", json!([0]))["code"], "axes-misplaced");
    assert_eq!(onnx(10, "axes", json!([-1]))["rule"], "R2");
    assert_eq!(onnx(18, "keepdims", json!(0))["shape"], json!([]));
    let nothing = json!({"shape": [0], "data": []});
    let empty = |rule: &str| answer(json!({"rule": rule, "op": "max", "operands": [nothing]}));
    assert_eq!(empty("xla")["data"], json!(["-inf"]));
    assert_eq!(empty("numpy")["code"], "empty-reduction");
    let foreign = json!({"rule": "numpy", "op": "add", "operands": [x, x], "axes": [1]});
    assert_eq!(answer(foreign)["code"], "bad-request");
    let foreign = json!({"rule": "xla", "op": "sum", "operands": [x], "keepdims": true});
    assert_eq!(answer(foreign)["code"], "bad-request");
    let twice = json!({"rule": "openvino", "op": "mean", "operands": [x], "axes": [1, -1]});
    assert_eq!(answer(twice)["code"], "axes-not-unique");
}
