//! Generates the page `docs/errors.md` from the registry of error codes.
//!
//! The test `main.rs` here compares the page, and `examples/errors_page.rs` prints it.

use std::fmt::Write;

use indim_errors::{ErrorCode, ErrorEntry, ErrorExample};

const BEGINNING: &str = "\
# Errors

Every error of indim has a stable code, printed as `error[code]`. In Python the exception has it as
`code`, in Rust the error type as `code()`. `indim explain --code CODE` and `indim.explain_error(\"CODE\")`
print an entry of this page.

The command exits with 1 for an error in the input, with 2 for wrong usage, and with 70 for a broken
invariant (`internal-error`), where Python raises `indim.InternalError`.

`cargo xtask errors` generates this page from the registry in `crates/indim-errors/src/registry/`.
";

/// The page.
pub(crate) fn page() -> String {
    let mut page = BEGINNING.to_owned();
    for section in ErrorCode::sections() {
        let _ = writeln!(page, "\n## {}", section.title);
        section.entries.iter().for_each(|entry| write_entry(&mut page, entry));
    }
    page
}

fn write_entry(page: &mut String, entry: &ErrorEntry) {
    let ErrorEntry { code, title, explanation, example, .. } = entry;
    let _ = writeln!(page, "\n### {code}\n\n**{title}.** {explanation}");
    let _ = match example {
        ErrorExample::Command(lines) => writeln!(page, "\n```sh\n{}\n```\n", lines.join("\n")),
        ErrorExample::Words(text) => writeln!(page, "Example: {text}"),
        other => unreachable!("an example of another kind: {other:?}"),
    };
    let raised_by: Vec<String> = entry.raised_by.iter().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(page, "Raised by {}.", raised_by.join(", "));
}
