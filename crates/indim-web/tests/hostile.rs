//! Hostile requests: each is answered, in little time and memory.

use indim_web::{MAX_REQUEST_BYTES, broadcast, expression, reduction};
use serde_json::{Value, json};

type Function = fn(&str) -> String;
const FUNCTIONS: [Function; 3] = [broadcast, reduction, expression];

fn refused(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).expect("an answer is JSON");
    assert_eq!(answer["ok"], false, "{answer}");
    assert!(!answer["code"].as_str().unwrap_or_default().is_empty(), "{answer}");
    answer
}

#[test]
fn what_is_no_request_is_refused() {
    let deep = "[".repeat(50_000);
    let long = format!("\"{}\"", "x".repeat(MAX_REQUEST_BYTES));
    let texts = [
        "",
        "{",
        "null",
        "[]",
        "{}",
        "\u{0}",
        "{\"rule\": 7}",
        "{\"rule\":\"numpy\",\"more\":1}",
        &deep,
        &long,
    ];
    for (function, text) in FUNCTIONS.iter().flat_map(|f| texts.iter().map(move |text| (f, text))) {
        assert_eq!(refused(&function(text))["code"], "bad-request");
    }
}

#[test]
fn shapes_are_bounded() {
    let ones = |rank: usize| vec!["1"; rank].join(",");
    let operands = |count: usize, shape: &str| {
        let operand = json!({"name": "x".repeat(60), "shape": shape});
        json!({"rule": "numpy", "operands": vec![operand; count]}).to_string()
    };
    for (count, shape, code) in [
        (17, "2", "too-many-operands"),
        (2, &*ones(65), "rank-limit"),
        (1, "99999999999999999999", "bad-shape"),
        (1, &*vec!["4294967295"; 64].join(","), "too-large"),
        (1, "nan", "bad-shape"),
        (1, "[[1]]", "bad-shape"),
        (1, "-1", "bad-shape"),
    ] {
        assert_eq!(refused(&broadcast(&operands(count, shape)))["code"], code, "{shape:.80}");
    }
    assert!(broadcast(&operands(16, &ones(64))).starts_with("{\"ok\":true"));
    let long = json!({"rule": "numpy", "operands": [{"name": "x".repeat(65), "shape": "1"}]});
    assert_eq!(refused(&broadcast(&long.to_string()))["code"], "name-too-long");
}

#[test]
fn fields_without_a_meaning_are_refused() {
    let operands = json!([{"name": "x", "shape": "2"}]);
    let request = json!({"rule": "pdpd", "operands": operands, "axis": "one"});
    assert_eq!(refused(&broadcast(&request.to_string()))["code"], "bad-field");
    let request = json!({"rule": "numpi", "operands": operands});
    assert_eq!(refused(&broadcast(&request.to_string()))["code"], "unknown-rule");
}

#[test]
fn mistakes_of_many_axes_are_drawn() {
    let shape = |size: usize| vec![size.to_string(); 64].join(",");
    let operands: Vec<Value> =
        (0..16).map(|k| json!({"name": format!("x{k}"), "shape": shape(k + 2)})).collect();
    let answer = refused(&broadcast(&json!({"rule": "numpy", "operands": operands}).to_string()));
    assert_eq!(answer["picture"]["columns"], 64);
    let list = vec!["-9223372036854775808"; 64].join(",");
    for rule in ["xla", "explicit", "hlo-broadcast", "as-written"] {
        let target = (rule.contains('e')).then(|| shape(2));
        let operands = json!([{"name": "x", "shape": shape(3)}]);
        let request = json!({"rule": rule, "operands": operands, "dims": list, "target": target});
        refused(&broadcast(&request.to_string()));
    }
    let operand = json!({"name": "x", "shape": shape(1)});
    let request = json!({"rule": "numpy", "axes": list, "operand": operand});
    assert_eq!(refused(&reduction(&request.to_string()))["code"], "axis-out-of-range");
}

#[test]
fn expressions_are_bounded() {
    let ask = |text: &str, value: &str| {
        let inputs = json!([{"name": "x", "value": value}]);
        expression(&json!({"text": text, "inputs": inputs}).to_string())
    };
    for (text, code) in [
        ("(".repeat(5000), "too-deep"),
        ("x+".repeat(2000) + "x", "too-many-nodes"),
        ("x".repeat(20_000), "text-too-long"),
        ("x +".to_owned(), "unexpected-end"),
        (String::new(), "unexpected-end"),
    ] {
        let answer = refused(&ask(&text, "f32[2]"));
        assert_eq!(answer["field"], "text");
        if code != "unexpected-end" {
            assert_eq!(answer["code"], code, "{text:.60}");
        }
    }
    for value in ["", "f32[", "f99[2]", "[[1], [2, 3]]", &"[".repeat(10_000), "x = 3", "f32[-1]"] {
        assert_eq!(refused(&ask("x", value))["field"], "inputs.0", "{value:.60}");
    }
    // A result of terabytes is explained, not computed.
    let answer: Value =
        serde_json::from_str(&ask("x[:, None] * x[None, :]", "f32[1000000]")).unwrap();
    assert_eq!(answer["ok"], true, "{answer}");
    let long = format!("[{}0]", "0,".repeat(3000));
    let answer: Value = serde_json::from_str(&ask("x[:, None] * x[None, :]", &long)).unwrap();
    assert!(answer["note"].as_str().unwrap().contains("1048576"), "{answer}");
}

#[test]
fn any_change_of_a_good_request_is_answered() {
    let good: [(Function, &str); 3] = [
        (
            broadcast,
            r#"{"rule":"xla","dims":"0,1","target":"2,3","operands":[{"name":"x","shape":"2,3"}]}"#,
        ),
        (
            reduction,
            r#"{"rule":"onnx","axes":"-1","opset":"11","operand":{"name":"x","shape":"4,3"}}"#,
        ),
        (
            expression,
            r#"{"text":"x + v","inputs":[{"name":"x","value":"f32[2,3]"},{"name":"v","value":"[1,2,3]"}]}"#,
        ),
    ];
    for (function, text) in good {
        for at in 0..text.len() {
            for other in ["", "9", "-", "[", "\u{202e}", "999999999999", "\\u0000"] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                let answer = function(&changed);
                assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{changed} {answer}");
            }
        }
    }
}
