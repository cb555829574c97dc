//! The page `docs/errors.md`, from the registry of error codes.
//!
//! Used by the test `main.rs` here and by `examples/errors_page.rs`, which prints the page.

use std::fmt::Write;

use indim_shape::ErrorCode;

const BEGINNING: &str = "\
# Errors

Every error of indim has a stable code, printed as `error[code]`. In Python the exception has it as `code`, in Rust the error type as `code()`.
`indim explain --code CODE` and `indim.explain_error(\"CODE\")` print an entry of this page.

The command exits with 1 for an error in the input, with 2 for wrong usage, and with 70 for a broken invariant (`internal-error`), where Python
raises `indim.InternalError`.

This page is written by `cargo xtask errors` from the table in `crates/indim-shape/src/error_code/`.
";

/// The page.
pub(crate) fn page() -> String {
    let mut page = BEGINNING.to_owned();
    for section in ErrorCode::sections() {
        let _ = writeln!(page, "\n## {}", section.title);
        for entry in section.entries {
            let raised_by: Vec<String> =
                entry.raised_by.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(
                page,
                "\n### {}\n\n**{}.** {}",
                entry.code, entry.title, entry.explanation
            );
            let _ = writeln!(page, "Raised by {}.", raised_by.join(", "));
        }
    }
    page
}
