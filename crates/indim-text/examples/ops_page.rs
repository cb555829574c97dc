//! Prints the page `docs/ops.md`; `cargo xtask ops` writes it.

#[path = "../tests/ops_page/page.rs"]
mod page;

#[allow(clippy::print_stdout, reason = "the page is what this program is for")]
fn main() {
    print!("{}", page::page());
}
