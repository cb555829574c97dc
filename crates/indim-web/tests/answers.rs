//! The answers of the site's functions, in the fields that its page reads.

use indim_web::{broadcast, catalogue, expression, reduction};
use serde_json::{Value, json};

fn read(answer: &str) -> Value {
    serde_json::from_str(answer).expect("an answer is JSON")
}

fn drawn(request: &Value) -> Value {
    read(&broadcast(&request.to_string()))
}

fn two(rule: &str, first: &str, second: &str) -> Value {
    let operands = json!([{"name": "x", "shape": first}, {"name": "v", "shape": second}]);
    json!({"rule": rule, "operands": operands})
}

/// The request of a button: the offered state, with the operand names of the original request.
fn pressed(state: &Value) -> Value {
    let names = ["x", "v", "w"];
    let shapes = state["shapes"].as_array().expect("shapes").iter().zip(names);
    let operands: Vec<Value> =
        shapes.map(|(shape, name)| json!({"name": name, "shape": shape})).collect();
    let mut request = json!({"rule": state["rule"], "operands": operands});
    for attribute in ["dims", "axis", "broadcast", "target"] {
        if let Some(value) = state.get(attribute) {
            request[attribute] = value.clone();
        }
    }
    request
}

#[test]
fn a_broadcast_is_a_table() {
    let answer = drawn(&two("numpy", "2, 1, 4", "3x1"));
    assert_eq!((&answer["ok"], &answer["shape"]), (&json!(true), &json!([2, 3, 4])));
    let rows = answer["picture"]["rows"].as_array().expect("rows");
    let texts = |row: usize| -> Vec<&str> {
        rows[row]["cells"].as_array().unwrap().iter().map(|c| c["text"].as_str().unwrap()).collect()
    };
    assert_eq!(texts(0), ["2", "1 → 3", "4"]);
    assert_eq!(texts(1), ["× 2", "3", "1 → 4"]);
    assert_eq!(texts(2), ["2", "3", "4"]);
    assert_eq!(rows[1]["cells"][2]["says"], "axis 1 of size 1, expanded to 4");
    assert_eq!(answer["explicit"][1], "broadcast_in_dim(v [3, 1], dims=[1, 2]) -> [2, 3, 4]");
}

#[test]
fn axes_are_named_within_their_shapes() {
    let answer = drawn(&two("named", "lat: 3", "[time: 2, lat: 3]"));
    assert_eq!((&answer["shape"], &answer["maps"]), (&json!([3, 2]), &json!([[0], [1, 0]])));
    let refused = drawn(&two("named", "time: 2, lat: 3", "lat: 1"));
    assert_eq!((&refused["code"], &refused["label"]), (&json!("size-mismatch"), &json!("D3")));
    let repaired = drawn(&pressed(&refused["repairs"][0]["state"]));
    assert_eq!(repaired["shape"], json!([2, 3]), "{refused}");
    // The result has more axes than any operand.
    let wide = drawn(&two("named", "a: 2, b: 3", "c: 4, b: 1"));
    let cells = wide["picture"]["rows"][1]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2, "{wide}");
    assert_eq!(drawn(&two("numpy", "a: 2", "2"))["code"], "foreign-attribute");
}

#[test]
fn what_is_offered_says_the_same_or_is_legal() {
    let shapes = ["[]", "1", "2", "3", "2,3", "3,2", "1,3", "2,1,3", "0,1"];
    let mut repairs = 0;
    for rule in ["numpy", "xla", "pdpd", "onnx-legacy", "none"] {
        for (first, second) in shapes.iter().flat_map(|a| shapes.iter().map(move |b| (a, b))) {
            let answer = drawn(&two(rule, first, second));
            for offer in answer["same"].as_array().into_iter().flatten() {
                let redrawn = drawn(&pressed(&offer["state"]));
                assert_eq!(redrawn["shape"], answer["shape"], "{rule} {first} {second} {offer}");
            }
            for offer in answer["repairs"].as_array().into_iter().flatten() {
                let redrawn = drawn(&pressed(&offer["state"]));
                assert_eq!(redrawn["ok"], true, "{rule} {first} {second} {offer} {redrawn}");
                let gives = format!(" gives {}", redrawn["shape"].to_string().replace(',', ", "));
                assert!(offer["text"].as_str().unwrap().ends_with(&gives), "{offer} {redrawn}");
                repairs += 1;
            }
        }
    }
    assert!(repairs > 100, "{repairs}");
}

#[test]
fn a_mistake_is_drawn_with_both_axes() {
    let answer = drawn(&two("numpy", "1, 3, 224, 224", "3"));
    assert_eq!((&answer["code"], &answer["label"]), (&json!("size-mismatch"), &json!("N2")));
    let rows = &answer["picture"]["rows"];
    assert_eq!(
        (&rows[0]["cells"][3]["role"], &rows[1]["cells"][3]["role"]),
        (&json!("clashing"), &json!("guilty"))
    );
    assert_eq!(rows[1]["cells"][0]["role"], "empty");
    assert_eq!(answer["repairs"][0]["state"]["dims"], "1");
    assert_eq!(answer["repairs"][0]["reason"], "the only axis of x of size 3");
}

#[test]
fn a_field_is_blamed() {
    let answer = drawn(&two("numpy", "2, 3", "3,"));
    assert_eq!((&answer["field"], &answer["code"]), (&json!("operands.1"), &json!("bad-shape")));
    let mut request = two("xla", "2, 3", "3");
    request["dims"] = json!("one");
    assert_eq!(drawn(&request)["field"], "dims");
    let mut request = two("numpy", "2, 3", "3");
    request["axis"] = json!("1");
    let answer = drawn(&request);
    assert_eq!((&answer["field"], &answer["code"]), (&json!("axis"), &json!("foreign-attribute")));
    assert_eq!(drawn(&pressed(&answer["repairs"][0]["state"]))["ok"], true);
}

#[test]
fn the_catalogue_has_every_rule() {
    let catalogue = read(&catalogue());
    let rules = catalogue["rules"].as_array().unwrap();
    assert_eq!(rules.len(), indim_shape::RuleSetName::ALL.len() + 1);
    assert!(rules.iter().all(|rule| !rule["summary"].as_str().unwrap().is_empty()));
    let reductions = catalogue["reductions"].as_array().unwrap();
    assert_eq!(reductions.len(), indim_shape::ReductionRuleName::ALL.len());
    assert!(reductions.iter().all(|rule| !rule["summary"].as_str().unwrap().is_empty()));
}

#[test]
fn reductions_are_drawn_and_repaired() {
    let operand = json!({"name": "x", "shape": "4, 3"});
    let answer = |request: Value| read(&reduction(&request.to_string()));
    let keepdims_answer =
        answer(json!({"rule": "numpy", "axes": "-1", "keepdims": true, "operand": operand}));
    assert_eq!(
        (&keepdims_answer["shape"], &keepdims_answer["axes"]),
        (&json!([4, 1]), &json!([1]))
    );
    assert_eq!(keepdims_answer["picture"]["rows"][0]["cells"][1]["role"], "reduced");
    let refused = answer(json!({"rule": "xla", "axes": "-1", "operand": operand}));
    assert_eq!((&refused["code"], &refused["label"]), (&json!("axis-negative"), &json!("R2")));
    assert_eq!(refused["repairs"][0]["text"], "xla dimensions=[1] gives [4]");
    let misplaced =
        answer(json!({"rule": "onnx", "opset": "11", "axes_input": "1", "operand": operand}));
    assert_eq!(misplaced["label"], "R5");
    assert_eq!(misplaced["headline"], "The axes are in a place that this opset does not read");
    assert_eq!(misplaced["repairs"][0]["state"]["axes"], "1");
}

#[test]
fn a_repair_omits_the_attribute_that_the_rule_lacks() {
    let mut request = two("numpy", "lat: 3", "[time: 2, lat: 3]");
    request["target"] = json!("2, 3");
    let refused = drawn(&request);
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("foreign-attribute"), &json!("names"))
    );
    let repair = &refused["repairs"][0];
    assert_eq!(repair["text"], "numpy without `names`");
    assert_eq!(repair["state"]["shapes"], json!(["[3]", "[2, 3]"]), "{repair}");
    assert_eq!(repair["state"]["target"], "[2, 3]", "{repair}");
}

#[test]
fn inputs_of_expressions_have_names_of_axes() {
    let answer = |text: &str, x: &str, m: &str| {
        let inputs = json!([{"name": "x", "value": x}, {"name": "m", "value": m}]);
        let request = json!({"text": text, "rule": "named", "inputs": inputs});
        read(&expression(&request.to_string()))
    };
    let explained = answer("x - m", "f32[time: 8760, lat: 721]", "f32[time: 8760]");
    assert_eq!(explained["outputs"][0]["type"], "f32[8760, 721]", "{explained}");
    let computed = answer("x - m", "[[1, 2], [3, 4]][time, lat]", "[10, 20][time]");
    assert_eq!(computed["outputs"][0]["elements"], "[[ -9  -8]\n [-17 -16]]", "{computed}");
    let refused = answer("x - m", "[[1, 2], [3, 4]][time]", "[10, 20][time]");
    assert_eq!(refused["ok"], false, "{refused}");
}

#[test]
fn expressions_are_explained_and_computed() {
    let answer = |text: &str, inputs: Value| {
        read(&expression(&json!({"text": text, "inputs": inputs}).to_string()))
    };
    let types = json!([{"name": "x", "value": "f32[2, 3]"}, {"name": "v", "value": "f32[3]"}]);
    let explained = answer("exp(v) * x", types.clone());
    assert_eq!(explained["ok"], true, "{explained}");
    assert_eq!(explained["broadcasts"][0]["state"]["rule"], "numpy");
    assert_eq!(explained["outputs"][0]["type"], "f32[2, 3]");
    assert_eq!(explained["outputs"][0].get("elements"), None);
    assert!(explained["loops"].as_str().unwrap().contains("exp"));
    let arrays =
        json!([{"name": "x", "value": "[[1, 2], [3, 4]]"}, {"name": "v", "value": "[10, 20]"}]);
    let computed = answer("s = sum(x, axis=0); s + v, x", arrays);
    assert_eq!(computed["outputs"][0]["elements"], "[14 26]", "{computed}");
    assert_eq!(computed["outputs"][1]["name"], "x");
    assert_eq!(computed["reductions"][0]["axes"], json!([0]));
    let refused = answer("x + w", types.clone());
    assert_eq!((&refused["code"], &refused["names"]), (&json!("unknown-name"), &json!(["x", "w"])));
    let refused = answer("x + v[:2]", types);
    assert_eq!(
        (&refused["code"], &refused["label"]),
        (&json!("size-mismatch"), &json!("N2")),
        "{refused}"
    );
    assert_eq!(refused["repairs"][0]["state"]["rule"], "numpy");
}
