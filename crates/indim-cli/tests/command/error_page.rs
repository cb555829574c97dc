//! `indim explain --code`: the pages of error codes.

use crate::run::indim as run;

#[test]
fn a_code_has_a_page_an_unknown_one_a_suggestion_and_list_all() {
    let page = run(&["explain", "--code", "size-mismatch"]);
    assert_eq!(page.code, Some(0));
    assert!(page.stdout.starts_with("error[size-mismatch]: Two sizes that have to agree differ\n"));
    assert_eq!(run(&["explain", "--code", "error[size-mismatch]"]).stdout, page.stdout);

    let unknown = run(&["explain", "--code", "size-mismach"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("error[unknown-error-code]"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("did you mean `size-mismatch`?"), "{}", unknown.stderr);

    let list = run(&["explain", "--code", "list"]);
    for code in ::indim::errors::ErrorCode::all() {
        assert!(list.stdout.contains(code.as_str()), "{code}");
    }
}
