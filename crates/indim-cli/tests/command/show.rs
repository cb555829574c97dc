//! Printed results for people and programs; `indim ops`; completions and the manual.

use crate::run::{fails, indim, succeeds};

/// `indim eval` of one name bound to a literal.
fn eval(arguments: &[&str], source: &str) -> String {
    succeeds(&[&["eval", "x", source], arguments].concat())
}

#[test]
fn csv_is_rows_or_a_column() {
    let csv = |source: &str| eval(&["--format", "csv"], source);
    assert_eq!(csv("x=[[1, 2.5], [nan, -inf]]"), "1.0,2.5\nnan,-inf\n");
    assert_eq!(csv("x=f32[0.1, 1e20]"), "0.1\n1e+20\n");
    assert_eq!(csv("x=[1+2j, -0.5j]"), "(1+2j)\n-0.5j\n");
    assert_eq!(csv("x=[[True, False]]"), "True,False\n");
    assert_eq!(csv("x=7"), "7\n");
    let tables = succeeds(&["eval", "iota(i64, [2000], axis=0)", "--format", "csv"]);
    assert_eq!(tables.lines().count(), 2000);
    let message = fails(&["eval", "reshape(x, [1, 2, 1])", "x=[1, 2]", "--format", "csv"]);
    assert!(message.starts_with("error[format]: i64[1, 2, 1] has 3 axes"), "{message}");
    assert!(message.contains("reshape(…, [-1, 1])"), "{message}");
}

#[test]
fn json_reads_back_the_same_bits() {
    let json = |source: &str| eval(&["--format", "json"], source);
    assert_eq!(
        json("x=[[1, 2], [3, 4]]"),
        "{\"dtype\":\"i64\",\"shape\":[2,2],\"data\":[1,2,3,4]}\n"
    );
    assert_eq!(
        json("x=[nan, inf, -inf, -0.0]"),
        "{\"dtype\":\"f64\",\"shape\":[4],\"data\":[\"nan\",\"inf\",\"-inf\",-0.0]}\n"
    );
    assert_eq!(json("x=[True]"), "{\"dtype\":\"bool\",\"shape\":[1],\"data\":[true]}\n");
    assert_eq!(json("x=1-2j"), "{\"dtype\":\"c128\",\"shape\":[],\"data\":[[1.0,-2.0]]}\n");
    let numbers = [
        "0.1",
        "5e-324",
        "1.7976931348623157e308",
        "123456789012345680.0",
        "2.2250738585072014e-308",
    ];
    let text = json(&format!("x=[{}]", numbers.join(",")));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (found, number) in value["data"].as_array().unwrap().iter().zip(numbers) {
        let (found, number): (f64, f64) =
            (found.to_string().parse().unwrap(), number.parse().unwrap());
        assert_eq!(found.to_bits(), number.to_bits());
    }
    let whole: serde_json::Value =
        serde_json::from_str(&json("x=u64[18446744073709551615]")).unwrap();
    assert_eq!(whole["data"][0].as_u64(), Some(u64::MAX));
}

#[test]
fn text_in_full_and_to_so_many_digits() {
    let all = succeeds(&["eval", "iota(i64, [1500], axis=0)", "--print-all"]);
    assert!(!all.contains("...") && all.contains(" 700 "), "{all}");
    assert_eq!(eval(&["--precision", "3"], "x=[3.14159265, 1]"), "[3.142 1.   ]\n");
    assert_eq!(eval(&["--precision", "20"], "x=[0.1]"), "[0.1]\n");
    assert_eq!(eval(&["--precision", "2"], "x=3.14159265"), "3.14\n");
    assert_eq!(eval(&["--precision", "0"], "x=[1.5e-7, 1]"), "[1.e-07 1.e+00]\n");
    let message = fails(&["eval", "x", "x=1.5", "--format", "json", "--precision", "2"]);
    assert!(message.starts_with("error[format]: --precision is for --format text"), "{message}");
    let run = indim(&["eval", "x", "x=1.5", "--format", "csv", "-o", "x.npy"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}

#[test]
fn sizes_are_decimal_too() {
    let big = ["eval", "iota(f64, [1000000], axis=0)", "--memory-limit"];
    assert!(indim(&[&big[..], &["1GB"]].concat()).code == Some(0));
    assert!(fails(&[&big[..], &["0.001GB"]].concat()).starts_with("error[memory-limit]"));
}

#[test]
fn ops_lists_every_operation_and_shows_one() {
    let list = succeeds(&["ops"]);
    for word in [
        "add(x, y)",
        "elu(x, alpha=1.0)",
        "nan_to_num(x, nan=0.0, posinf=None, neginf=None)",
        "silu",
    ] {
        assert!(list.contains(word), "{word}\n{list}");
    }
    let sin = succeeds(&["ops", "sine"]);
    for word in ["sin(x)", "radians", "types", "F C", "f32 error", "ULP", "f64 error"] {
        assert!(sin.contains(word), "{word}\n{sin}");
    }
    let clip = succeeds(&["ops", "clip"]);
    assert!(clip.starts_with("clamp(x, y, z)"), "{clip}");
    let elu = succeeds(&["ops", "elu"]);
    assert!(elu.contains("alpha        a number, 1.0 if not given"), "{elu}");
    let pad = succeeds(&["ops", "pad"]);
    assert!(pad.starts_with("pad(x, pad_width, mode=constant, constant_values=0)"), "{pad}");
    for call in ["x[start:stop:step, ...]", "concatenate([x, y], axis=0)"] {
        assert!(list.contains(call), "{call}\n{list}");
    }
    let message = fails(&["ops", "sofplus"]);
    assert!(message.starts_with("error[unknown-operation]: no operation is called `sofplus`"));
    assert!(message.contains("did you mean `softplus`?"), "{message}");
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeeds(&["completions", shell]);
        assert!(script.contains("memory-limit") && script.contains("ops"), "{shell}");
    }
    assert_eq!(indim(&["completions", "tcsh"]).code, Some(2));
    let manual = succeeds(&["man"]);
    assert!(manual.contains(".TH indim 1") && manual.contains("completions"), "{manual}");
    let eval = succeeds(&["man", "eval"]);
    assert!(eval.contains(".TH indim-eval 1") && eval.contains("memory\\-limit"), "{eval}");
    assert_eq!(indim(&["man", "evil"]).code, Some(2));
}
