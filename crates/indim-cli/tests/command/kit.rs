//! `indim oracle --kit`: the files of a kit, and their expected results, which `indim run` reproduces.

use std::fs;

use serde_json::{Value, json};

use crate::run::{indim, indim_with_input};

#[test]
fn a_kit_is_answered_by_the_oracle_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let kit = folder.path().join("kit");
    let path = kit.to_str().unwrap();
    let arguments = ["oracle", "--kit", path, "--rule", "pdpd", "--cases", "12", "--seed", "3"];
    let run = indim(&[&arguments[..], &["--files", "openvino"]].concat());
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));

    let lines = fs::read_to_string(kit.join("cases.jsonl")).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 12);
    let cases: String = lines.iter().map(|line| format!("{}\n", line["case"])).collect();
    let answers = indim_with_input(&["oracle"], cases.as_bytes());
    let mut legal = 0;
    for (index, (line, answer)) in lines.iter().zip(answers.stdout.lines()).enumerate() {
        assert_eq!(serde_json::from_str::<Value>(answer).unwrap(), line["expected"]);
        let file = |name: &str| kit.join(format!("{index:04}/{name}"));
        assert!(file("model.xml").exists());
        assert_eq!(file("expected_0.npy").exists(), line["expected"]["ok"] == json!(true));
        if !file("expected_0.npy").exists() {
            assert!(!file("input_0.npy").exists(), "an illegal case is its model alone");
            continue;
        }
        let inputs = (0..).map(|input| file(&format!("input_{input}.npy")));
        let inputs: Vec<_> = inputs.take_while(|path| path.exists()).collect();
        let (model, result) = (file("model.xml"), file("result.npy"));
        let mut arguments = vec!["run", model.to_str().unwrap(), "-o", result.to_str().unwrap()];
        arguments.extend(inputs.iter().map(|path| path.to_str().unwrap()));
        let run = indim(&arguments);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(fs::read(result).unwrap(), fs::read(file("expected_0.npy")).unwrap());
        legal += 1;
    }
    assert!((1..12).contains(&legal), "{legal} are legal");
}

#[test]
fn a_rule_that_the_format_has_not_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kit");
    let path = path.to_str().unwrap();
    let run = indim(&["oracle", "--kit", path, "--rule", "xla", "--files", "onnx"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("error[rule-not-in-format]"), "{}", run.stderr);
    assert!(run.stderr.contains("it has numpy, onnx-legacy, bidirectional"), "{}", run.stderr);
    assert_eq!(indim(&["oracle", "--kit", path]).code, Some(2), "which rule?");
}
