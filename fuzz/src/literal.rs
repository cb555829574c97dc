//! Array literals.

use indim::literal::parse_literal;

/// Reads the bytes as a literal.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse_literal(&text) {
        Ok(array) => {
            // Each element takes at least one byte of the text.
            assert!(array.shape().element_count().unwrap() <= text.len());
            let typed = format!("{}({text})", array.dtype());
            if array.shape().is_scalar() && !text.contains(['(', '[']) {
                assert_eq!(parse_literal(&typed), Ok(array), "{typed}");
            }
        }
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error:?}");
            assert!(error.draw(&text).starts_with("error["), "{error:?}");
        }
    }
}
