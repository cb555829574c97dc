//! The oracle: whatever the line, there is one verdict, a JSON object.

use indim::oracle::verdict;
use serde_json::Value;

/// Reads the bytes as a case.
pub fn run(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let text = verdict(&line);
    assert!(!text.contains('\n'), "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    match answer["ok"].as_bool().unwrap() {
        true => assert!(answer["dtype"].is_string() && answer["shape"].is_array(), "{text}"),
        false => assert!(answer["code"].is_string() && answer["message"].is_string(), "{text}"),
    }
    assert_eq!(verdict(&line), text);
}
