//! indim does not change how `serde_json` works for its users. Cargo enables a feature for the whole program,
//! so indim enables none that changes behaviour.

use indim::explain::ExplainedBroadcast;
use indim::{RuleSet, Shape};
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

/// With `arbitrary_precision`, numbers in flattened fields are parsed as maps.
#[test]
fn floats_can_be_flattened() {
    let outer: Outer = serde_json::from_str(r#"{"x": 1.5}"#).expect("numbers are numbers");
    assert_eq!(outer.inner.x, 1.5);
}

/// With `preserve_order`, maps keep the order of the text. The library that reads Zarr enables it, so indim's
/// feature `zarr` does too; see `docs/decisions/stores.md`.
#[cfg(not(feature = "zarr"))]
#[test]
fn maps_are_sorted() {
    let map: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(r#"{"b": 1, "a": 2}"#).expect("a map");
    assert_eq!(map.keys().collect::<Vec<_>>(), ["a", "b"]);
}

/// indim writes the same JSON with those features and without: fields have the order of its own types.
#[test]
fn fields_of_explanations_are_in_order() {
    let shapes = [Shape::from([2, 1]), Shape::from([1])];
    let form = RuleSet::Numpy.elaborate(&shapes).expect("legal");
    let explained = ExplainedBroadcast::new("neg", vec![("x".into(), "f32".into()); 2], form);
    let text = explained.to_json();
    let x = r#"{"name":"x","dtype":"f32","shape":"#;
    let operands = format!(r#"{x}[2,1],"map":[0,1]}},{x}[1],"map":[1]}}"#);
    let start =
        format!(r#"{{"operation":"neg","operands":[{operands}],"result":[2,1],"rules":[{{"rule":"#);
    assert!(text.starts_with(&start) && text.ends_with(r#","warning":null}"#), "{text}");
}
