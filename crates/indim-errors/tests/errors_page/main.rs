//! `docs/errors.md` matches the registry of error codes.

mod page;

#[test]
fn the_page_of_errors_is_up_to_date() {
    let page = page::page();
    let written = include_str!("../../../../docs/errors.md");
    assert!(page == written, "docs/errors.md is out of date: run `cargo xtask errors`");
}
