//! `indim explain --code`: the page of an error code.

use std::fmt::Write;

use indim::errors::{ErrorCode, error_page};

use crate::failure::Failure;
use crate::output::print;

/// Prints the page of `code`; for `list` every code with its title.
pub(crate) fn explain_code(code: &str) -> Result<(), Failure> {
    let page = match code {
        "list" => list(),
        _ => error_page(code)?,
    };
    print(page.as_bytes())?;
    Ok(())
}

/// One line for each code, by section.
fn list() -> String {
    let mut text = String::new();
    for section in ErrorCode::sections() {
        let _ = writeln!(text, "{}", section.title);
        for entry in section.entries {
            let _ = writeln!(text, "  {:<28} {}", entry.code, entry.title);
        }
    }
    text
}
