//! indim leaves `serde_json` as its users know it: features are on for a whole program, so those that
//! change what it does may not be on because of indim.

use indim::explain::ExplainedBroadcast;
use indim::oracle::{Kit, verdict};
use indim::{RuleSet, RuleSetName, Shape};
use serde::Deserialize;

#[derive(Deserialize)]
struct Inner {
    x: f64,
}

#[derive(Deserialize)]
struct Outer {
    #[serde(flatten)]
    inner: Inner,
}

/// With `arbitrary_precision` numbers arrive in flattened fields as maps.
#[test]
fn floats_can_be_flattened() {
    let outer: Outer = serde_json::from_str(r#"{"x": 1.5}"#).expect("numbers are numbers");
    assert_eq!(outer.inner.x, 1.5);
}

/// With `preserve_order` maps keep the order of the text. The library that reads Zarr asks for it, so
/// that it is on with the feature `zarr`, as `docs/decisions/stores.md` says.
#[cfg(not(feature = "zarr"))]
#[test]
fn maps_are_sorted() {
    let map: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(r#"{"b": 1, "a": 2}"#).expect("a map");
    assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "b"]);
}

/// What indim writes and reads as JSON is the same with those features and without: its fields stand in the
/// order of its own types, and it reads numbers from their digits.
#[test]
fn what_is_written_does_not_depend_on_features() {
    // Without `float_roundtrip` some of these are read as a neighbour of the nearest double.
    let numbers = "0.1,2.2250738585072011e-308,8.988465674311582e307,6.631236846766476e-316";
    #[cfg(not(feature = "zarr"))]
    assert!(numbers.split(',').any(|text| {
        serde_json::from_str::<f64>(text).expect("a number") != text.parse::<f64>().expect("one")
    }));
    let operand = format!(r#"{{"dtype":"f64","shape":[4],"data":[{numbers}]}}"#);
    let case =
        format!(r#"{{"rule":"numpy","op":"abs","id":{{"b":1,"a":2}},"operands":[{operand}]}}"#);
    let verdict = verdict(&case);
    let expected: Vec<String> =
        numbers.split(',').map(|text| format!("{:?}", text.parse::<f64>().unwrap())).collect();
    let data = format!(r#""data":[{}]"#, expected.join(","));
    assert_eq!(
        verdict,
        format!(
            r#"{{"id":{{"b":1,"a":2}},"ok":true,"dtype":"f64","shape":[4],"maps":[[0]],{data}}}"#
        )
    );
    let shapes = [Shape::from([2, 1]), Shape::from([1])];
    let form = RuleSet::Numpy.elaborate(&shapes).expect("legal");
    let explained = ExplainedBroadcast::new("neg", vec![("x".into(), "f32".into()); 2], form);
    let text = explained.to_json();
    let x = r#"{"name":"x","dtype":"f32","shape":"#;
    let operands = format!(r#"{x}[2,1],"map":[0,1]}},{x}[1],"map":[1]}}"#);
    let start =
        format!(r#"{{"operation":"neg","operands":[{operands}],"result":[2,1],"rules":[{{"rule":"#);
    assert!(text.starts_with(&start) && text.ends_with(r#","warning":null}"#), "{text}");
    let kit = Kit::new(RuleSetName::Numpy, 1).next().expect("a case").line();
    let places = [
        "{\"case\":{\"id\":",
        ",\"rule\":\"numpy\"",
        ",\"op\":",
        ",\"operands\":[{\"dtype\":",
        ",\"shape\":[",
    ];
    let places: Vec<usize> = places.iter().map(|key| kit.find(key).expect(key)).collect();
    assert!(places.is_sorted() && places[0] == 0, "{kit}");
}
