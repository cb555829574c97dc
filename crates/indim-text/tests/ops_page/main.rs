//! `docs/ops.md` matches the table of operations.

mod page;

#[test]
fn the_page_of_operations_is_up_to_date() {
    let page = page::page();
    let written = include_str!("../../../../docs/ops.md");
    assert!(page == written, "docs/ops.md is out of date: run `cargo xtask ops`");
}
