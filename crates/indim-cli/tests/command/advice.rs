//! The advice in errors removes them: each test follows it.

use crate::run::{Folder, f32_bytes, fails, npy, succeeds};

/// Asserts that a run fails with this advice.
#[track_caller]
fn advises(arguments: &[&str], advice: &str) {
    let message = fails(arguments);
    assert!(message.contains(&format!("   = help: {advice}\n")), "{message}");
}

#[test]
fn a_list_in_an_expression_gets_a_name() {
    let advice = "arrays have names: write min(x), and give x=[1,2,3]";
    advises(&["eval", "min([1,2,3])"], advice);
    assert_eq!(succeeds(&["eval", "min(x)", "x=[1,2,3]"]), "1\n");
    // A name that does not occur in the text.
    let advice = "arrays have names: write max(y) + x, and give y=[[1], [2]]";
    advises(&["eval", "max([[1], [2]]) + x", "x=1"], advice);
    assert!(!fails(&["eval", "min([1,2"]).contains("arrays have names"));
}

#[test]
fn a_source_gets_the_name_that_is_not_bound() {
    let folder = Folder::new();
    let file = folder.bind("x", "x.npy", &npy("<f4", false, "(2,)", &f32_bytes(&[1.0, 2.0])));
    let path = file.strip_prefix("x=").expect("a binding");
    advises(&["eval", "mean(u)", path], &format!("write the name that it stands for: u={path}"));
    advises(&["eval", "u + v", "u=1", "3"], "write the name that it stands for: v=3");
    advises(&["eval", "1 + 1", "3"], "write the name that it stands for: x=3");
}

#[test]
fn a_number_beyond_its_type_is_written_in_another() {
    let advice =
        "write it as u64, as in u64(9223372036854775808), or as a float: 9223372036854775808.0";
    advises(&["eval", "2 ** 63"], advice);
    assert_eq!(succeeds(&["eval", "u64(9223372036854775808)"]), "9223372036854775808\n");
    assert_eq!(succeeds(&["eval", "9223372036854775808.0"]), "9.223372036854776e+18\n");
    let advice = "no integer type holds it: write it as a float, 18446744073709551616.0";
    advises(&["eval", "2 ** 64"], advice);
    advises(&["eval", "x + 300", "x=u8[1]"], "use a wider type, as in i64(x)");
}
