//! Prints the page `docs/errors.md`; `cargo xtask errors` writes it.

#[path = "../tests/errors_page/page.rs"]
mod page;

#[allow(clippy::print_stdout, reason = "the page is what this program is for")]
fn main() {
    print!("{}", page::page());
}
