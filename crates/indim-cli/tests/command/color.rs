//! Colours of messages, and completions of shells.

use crate::run::{command, finish, indim, succeeds};

const WRONG: [&str; 4] = ["eval", "x + y", "x=[1,2]", "y=[1,2,3]"];

/// Standard error of a failing command, with these arguments before its own, and these environment variables.
fn message(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = command();
    command.args(arguments).args(WRONG).envs(variables.iter().copied());
    finish(&mut command).stderr
}

/// The text without ANSI escapes.
fn plain(text: &str) -> String {
    let parts = text.split("\u{1b}[").enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or("", |it| it.1) })
        .collect()
}

#[test]
fn errors_are_coloured_where_that_is_asked_for() {
    let drawn = message(&[], &[]);
    assert!(drawn.starts_with("error[size-mismatch]: ") && !drawn.contains('\u{1b}'), "{drawn:?}");
    let coloured = message(&["--color", "always"], &[]);
    assert!(
        coloured.contains("\u{1b}[1m\u{1b}[31merror[size-mismatch]\u{1b}[0m: "),
        "{coloured:?}"
    );
    assert_eq!(plain(&coloured), drawn);
    assert_eq!(message(&["--color=never"], &[("CLICOLOR_FORCE", "1")]), drawn);
    // Without the option, the environment decides.
    assert_eq!(message(&[], &[("CLICOLOR_FORCE", "1")]), coloured);
    assert_eq!(message(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), drawn);
    assert_eq!(message(&["--color", "always"], &[("NO_COLOR", "1")]), coloured);
}

#[test]
fn nothing_in_a_coloured_message_steers() {
    let binding = "\u{1b}]0;owned\u{7}=1";
    let run = indim(&["--color", "always", "eval", "x", "x=1", binding]);
    assert!(run.stderr.contains("\\u{1b}]0;owned"), "{:?}", run.stderr);
    assert!(
        !plain(&run.stderr).contains(|c: char| c.is_control() && c != '\n'),
        "{:?}",
        run.stderr
    );
}

#[test]
fn usage_and_notes_have_a_coloured_title() {
    let run = indim(&["eval", "--color", "always", "--no-such-option"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.starts_with("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: "), "{:?}", run.stderr);
    assert_eq!(indim(&["--color", "sometimes", "ops"]).code, Some(2));
}

#[test]
fn completions_have_the_names_of_operations() {
    let listed = succeeds(&["ops"]);
    let names: Vec<&str> =
        listed.lines().filter_map(|line| Some(line.split_once('(')?.0)).collect();
    assert!(names.len() > 100 && names.contains(&"softplus"), "{names:?}");
    for shell in ["bash", "zsh", "fish"] {
        let text = succeeds(&["completions", shell]);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = text.split(|c| !is_word(c)).collect();
        for name in &names {
            assert!(words.contains(name), "{shell}: {name}");
        }
    }
    // A misspelt operation is answered by indim's own message, not by the parser of arguments.
    assert!(indim(&["ops", "sofplus"]).stderr.contains("did you mean `softplus`?"));
}
