//! The registry of error codes is complete and has each code once.

use std::collections::BTreeSet;

use indim_errors::{ErrorCode, ErrorExample};

#[test]
fn each_code_has_one_row() {
    let codes: BTreeSet<&str> = ErrorCode::all().map(ErrorCode::as_str).collect();
    assert_eq!(codes.len(), ErrorCode::all().count());
    let rows: usize = ErrorCode::sections().iter().map(|section| section.entries.len()).sum();
    assert_eq!(codes.len(), rows);
    for code in codes {
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        assert!(code.split('-').all(is_part), "{code}");
    }
}

#[test]
fn each_title_belongs_to_one_code() {
    let mut titles = BTreeSet::new();
    for entry in ErrorCode::all().map(ErrorCode::entry) {
        assert!(titles.insert(entry.title), "{}: the title of another code", entry.code);
    }
}

#[test]
fn rows_are_filled() {
    for entry in ErrorCode::sections().iter().flat_map(|section| section.entries) {
        let code = entry.code;
        assert!(!entry.title.is_empty() && !entry.title.ends_with('.'), "{code}: {}", entry.title);
        assert!(entry.explanation.ends_with('.'), "{code}: {}", entry.explanation);
        match entry.example {
            ErrorExample::Command(lines) => {
                let last = lines.last().expect("a line");
                assert!(last.contains("indim "), "{code}: {last}");
                assert!(lines.iter().all(|line| !line.contains('\n')), "{code}");
            }
            ErrorExample::Words(text) => assert!(text.ends_with(['.', '`']), "{code}: {text}"),
            _ => panic!("{code}: an example of another kind"),
        }
    }
}

#[test]
fn pages_show_the_example() {
    let page = ErrorCode::SIZE_MISMATCH.entry().to_string();
    assert!(page.contains("\nexample\n  indim explain "), "{page}");
    for code in ErrorCode::all() {
        let page = code.entry().to_string();
        assert!(page.contains("\nexample\n  "), "{page}");
        assert!(page.contains("\nraised by\n  "), "{page}");
    }
}

#[test]
fn pages_of_findings_have_their_level() {
    let page = |code: &str| code.parse::<ErrorCode>().unwrap().entry().to_string();
    assert!(page("needless-expand").starts_with("note[needless-expand]: "));
    assert!(page("rank-promoted").starts_with("warning[rank-promoted]: "));
    assert!(page("operand-shapes").starts_with("error[operand-shapes]: "));
}
