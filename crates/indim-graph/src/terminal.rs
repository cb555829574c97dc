//! Foreign text (names, paths, contents of files) escaped and cut for messages and terminals.
//!
//! [`is_printable`] classifies characters. Only this file measures the columns of text and cuts text by
//! them. A caller may first cut a long text to a number of characters.

use core::ops::Range;

use indim_shape::{Diagnostic, ErrorCode, Mark, MarkedLine, OperandLabel, is_printable};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Default maximum columns of a name or a path.
const MAX_TEXT_WIDTH: usize = 200;

/// Maximum columns of a drawn line of text.
const MAX_LINE_WIDTH: usize = 88;

/// Maximum columns of a line of a message; shapes with many axes fit.
const MAX_MESSAGE_WIDTH: usize = 2000;

/// The terminal columns of `text`: 2 for a wide character, 0 for a combining one.
///
/// ```
/// assert_eq!(indim_graph::terminal::width("größe"), 5);
/// assert_eq!(indim_graph::terminal::width("幅"), 2);
/// ```
pub fn width(text: &str) -> usize {
    text.width()
}

/// An operand of a drawing; `name` must be escaped already.
pub fn label<'a>(name: &'a str, element_type: &'a str) -> OperandLabel<'a> {
    OperandLabel { name, element_type, width: width(name) }
}

/// A foreign text as one line without control sequences: unprintable characters are escaped, and a long text
/// is cut.
///
/// ```
/// assert_eq!(indim_graph::terminal::printable("a\u{1b}[31m.npy"), "a\\u{1b}[31m.npy");
/// assert!(indim_graph::terminal::printable(&"x".repeat(900_000)).len() < 1000);
/// ```
pub fn printable(text: &str) -> String {
    printable_within(text, MAX_TEXT_WIDTH)
}

/// Like [`printable`], but cut to this number of columns and to four times as many bytes; `...` follows a cut
/// text.
pub fn printable_within(text: &str, columns: usize) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        if shown.len() > 4 * columns {
            break;
        }
        push_escaped(&mut shown, character);
    }
    let kept = head(&shown, columns).len();
    if kept < shown.len() {
        shown.truncate(kept);
        shown.push_str("...");
    }
    shown
}

/// A message of several lines without control sequences: only line breaks stay unescaped, and each line is
/// cut.
///
/// ```
/// assert_eq!(indim_graph::terminal::printable_lines("a\n\rb\u{202e}"), "a\n\\rb\\u{202e}");
/// ```
pub fn printable_lines(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| printable_within(line, MAX_MESSAGE_WIDTH)).collect();
    lines.join("\n")
}

/// An error in `text`, with the line in which `span` (in bytes) begins, marked by [`mark_line`].
pub fn diagnose_text(
    code: ErrorCode,
    headline: String,
    text: &str,
    span: &Range<usize>,
) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(code, headline);
    diagnostic.lines.extend(mark_line(text, span));
    diagnostic
}

/// The line of `text` in which `span` (in bytes) begins, with the span marked below it, both cut to the width
/// of a terminal; `None` for a blank text.
///
/// ```
/// let line = indim_graph::terminal::mark_line("幅 + höhe", &(6..11)).unwrap();
/// assert_eq!(line.to_string(), "   | 幅 + höhe\n   |      ^^^^\n");
/// ```
pub fn mark_line(text: &str, span: &Range<usize>) -> Option<MarkedLine> {
    if text.trim().is_empty() {
        return None;
    }
    let start = floor_char_boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = floor_char_boundary(text, span.end).clamp(start, line_end);

    let (before, marked) =
        (replace_unprintable(&text[line_start..start]), replace_unprintable(&text[start..end]));
    let rest = replace_unprintable(&text[end..line_end]);
    let left_room = MAX_LINE_WIDTH * 3 / 4 - width(&marked).min(MAX_LINE_WIDTH / 2);
    let left = tail(&before, left_room);
    let middle = head(&marked, MAX_LINE_WIDTH - width(left));
    let right = head(&rest, MAX_LINE_WIDTH.saturating_sub(width(left) + width(middle)));

    let front_dots = if left.len() < before.len() { "..." } else { "" };
    let shown = format!("{front_dots}{left}{middle}{right}");
    let is_cut = middle.len() + right.len() < marked.len() + rest.len();
    let dots = if is_cut { "..." } else { "" };
    let indent = width(front_dots) + width(left);
    let mark =
        Mark { margin: "   | ", indent, width: width(middle).max(1), message: String::new() };
    let number = match text.contains('\n') {
        true => (text[..start].matches('\n').count() + 1).to_string(),
        false => String::new(),
    };
    let text = format!("{number:>2} | {}", format!("{shown}{dots}").trim_end());
    Some(MarkedLine { text, mark: Some(mark) })
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The text with spaces for whitespace and U+FFFD, which takes one column, for unprintable characters.
fn replace_unprintable(text: &str) -> String {
    let visible = |character: char| match character {
        _ if character.is_whitespace() => ' ',
        _ if is_printable(character) => character,
        _ => '\u{fffd}',
    };
    text.chars().map(visible).collect()
}

/// The longest prefix of `text` of at most `columns` columns and four times as many bytes.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns || at + character.len_utf8() > 4 * columns {
            return &text[..at];
        }
    }
    text
}

/// The longest suffix of `text` of at most `columns` columns and four times as many bytes.
fn tail(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used > columns || text.len() - at > 4 * columns {
            return &text[at + character.len_utf8()..];
        }
    }
    text
}

fn push_escaped(text: &mut String, character: char) {
    match is_printable(character) {
        true => text.push(character),
        false => text.extend(character.escape_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::{mark_line, printable, printable_within};

    #[test]
    fn unprintable_characters_are_escaped() {
        let hostile =
            "\u{1b}]0;x\u{7}\n\t\u{9b}31m\u{202e}\u{feff}\u{fffe}\u{ffff}\u{e000}\u{200b}";
        let text = printable(hostile);
        assert!(text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{text}");
        for kept in ["it's \"x\" \\ y", "größe", "e\u{301}", "幅", "🦀"] {
            assert_eq!(printable(kept), kept);
        }
    }

    #[test]
    fn long_texts_are_cut_in_columns_and_in_bytes() {
        assert_eq!(printable_within("abcdef", 6), "abcdef");
        assert_eq!(printable_within("abcdefg", 6), "abcdef...");
        assert_eq!(printable_within("幅幅幅幅", 5), "幅幅...");
        let combining = format!("a{}", "\u{301}".repeat(100_000));
        assert!(printable_within(&combining, 40).len() < 200);
    }

    #[test]
    fn carets_are_below_the_marked_text() {
        let caret = |text: &str, marked: &str| {
            let start = text.find(marked).unwrap();
            let drawn = mark_line(text, &(start..start + marked.len())).unwrap().to_string();
            let (line, carets) = drawn.split_once('\n').unwrap();
            let column = super::width(&line[..line.find(marked).unwrap()]);
            let carets = carets.trim_end();
            assert_eq!(carets.find('^'), Some(column), "{drawn}");
            assert_eq!(carets.matches('^').count(), super::width(marked), "{drawn}");
        };
        caret("x + 幅 + y", "幅");
        caret("幅 + 幅幅 + y", "y");
        caret("e\u{301} + y", "y");
        caret(&format!("{} + y * 2 {}", "幅".repeat(300), " + z".repeat(300)), "y * 2");
        let steered = mark_line("x + \u{202e}y\u{1b}", &(4..7)).unwrap().to_string();
        assert!(!steered.contains(['\u{202e}', '\u{1b}']), "{steered}");
    }
}
