//! The oracle: each line has one verdict, a JSON object.

use std::collections::BTreeMap;

use indim_oracle::verdict;
use serde_json::value::RawValue;

/// Reads the bytes as a case.
pub fn run(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let text = verdict(&line);
    assert!(!text.contains('\n'), "{text}");
    // The verdict repeats the `id` of the case, which may be nested to any depth. So fields are not
    // parsed; the test compares their first characters.
    let answer: BTreeMap<String, &RawValue> = serde_json::from_str(&text).unwrap();
    let begins = |field: &str, with: char| answer[field].get().starts_with(with);
    match answer["ok"].get() {
        "true" => assert!(begins("dtype", '"') && begins("shape", '['), "{text}"),
        _ => assert!(begins("code", '"') && begins("message", '"'), "{text}"),
    }
    assert_eq!(verdict(&line), text);
}
