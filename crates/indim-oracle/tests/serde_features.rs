//! Verdicts and kits do not depend on the features of `serde_json`, which are on for a whole program: fields
//! are in the order of the crate's own types, and numbers are read from their digits.

use indim_oracle::{Kit, verdict};
use indim_shape::RuleSetName;

#[test]
fn verdicts_and_kits_do_not_depend_on_features() {
    // Without `float_roundtrip`, `serde_json` reads some of these as a neighbour of the nearest double.
    let numbers = "0.1,2.2250738585072011e-308,8.988465674311582e307,6.631236846766476e-316";
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
