//! The examples of the rules page and of the site's gallery, each run through the oracle; every label has a
//! section, and every link leads to one.

use indim_oracle::verdict;
use serde_json::{Map, Value, json};

const OPERATIONS: [&str; 5] = ["add", "select", "clamp", "broadcast", "broadcast_in_dim"];

/// The case and the expected verdict of a line such as `xla add [2,3] [3] dims=[1] -> [2,3] maps [0,1] [1]`.
fn read_example(line: &str) -> (Value, Map<String, Value>) {
    let (question, answer) = line.split_once(" -> ").expect("an example has an arrow");
    let list = |text: &str| serde_json::from_str::<Value>(text).expect("a list or a number");
    let mut words = question.split_whitespace();
    let mut case = json!({"rule": words.next(), "operands": []});
    for word in words {
        match word.split_once('=') {
            Some((attribute, value)) => case[attribute] = list(value),
            None if OPERATIONS.contains(&word) => case["op"] = json!(word),
            None => {
                let operands = case["operands"].as_array_mut().expect("a list");
                operands.push(json!({"dtype": "f32", "shape": list(word)}));
            }
        }
    }
    if case["op"] == "select" {
        case["operands"][0]["dtype"] = json!("bool");
    }
    let mut expected = Map::new();
    let words: Vec<&str> = answer.split_whitespace().collect();
    match words[..] {
        [shape] => expected.insert("shape".into(), list(shape)),
        [shape, "maps", ref maps @ ..] => {
            expected.insert("shape".into(), list(shape));
            expected.insert("maps".into(), maps.iter().map(|map| list(map)).collect())
        }
        [label, code] => {
            expected.insert("rule".into(), json!(label));
            expected.insert("code".into(), json!(code))
        }
        _ => panic!("no answer: {line}"),
    };
    (case, expected)
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "sizes of words of 64 bits")]
fn every_example_of_the_pages_holds() {
    let pages =
        [include_str!("../../indim-shape/src/rules.md"), include_str!("../../../site/gallery.md")];
    let mut count = 0;
    for block in pages.iter().flat_map(|page| page.split("```rules\n").skip(1)) {
        let (examples, _) = block.split_once("```").expect("a block ends");
        for line in examples.lines() {
            let (case, expected) = read_example(line);
            let given = verdict(&case.to_string());
            let given: Value = serde_json::from_str(&given).expect("a verdict is JSON");
            for (key, value) in expected {
                assert_eq!(given[&key], value, "{line}\n{given}");
            }
            count += 1;
        }
    }
    assert!(count > 120, "{count} examples were found");
}

#[test]
fn the_page_has_every_label() {
    let page = include_str!("../../indim-shape/src/rules.md");
    for label in ["E", "N", "X", "P"]
        .into_iter()
        .zip([5, 2, 9, 5])
        .flat_map(|(letter, count)| (1..=count).map(move |number| format!("| {letter}{number} |")))
    {
        assert!(page.contains(&label), "{label}");
    }
}

/// The name by which a link finds a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_to_the_rules_find_their_sections() {
    let page = include_str!("../../indim-shape/src/rules.md");
    let anchors: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor).collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../indim-shape/src");
    let mut count = 0;
    let entries = std::fs::read_dir(folder).expect("the crate's sources");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    for file in paths.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).expect("text");
        for link in text.split("crate::rules#").skip(1) {
            let (link, _) = link.split_once(')').expect("a link ends");
            assert!(anchors.iter().any(|anchor| anchor == link), "{link} is none of {anchors:?}");
            count += 1;
        }
    }
    assert!(count > 15, "{count} links were found");
}

#[test]
fn the_page_and_the_stubs_of_python_have_every_name() {
    let page = include_str!("../../indim-shape/src/rules.md");
    let stubs = include_str!("../../indim-py/__init__.pyi.in");
    for rule in indim::broadcast::RuleChoice::all() {
        assert!(page.contains(&format!("`{rule}`")), "{rule}");
        assert!(stubs.contains(&format!("\"{rule}\"")), "{rule}");
    }
}
