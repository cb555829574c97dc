//! Drawing an error under the text it points at.

use core::ops::Range;

use super::error::{ExprError, ExprErrorKind};

/// A line of text is cut to so many characters.
const WIDTH: usize = 88;

/// Names and found text are cut to so many characters in messages.
const NAME_WIDTH: usize = 40;

/// `text`, with dots in place of what is too long for a message.
pub(super) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().map(visible).take(NAME_WIDTH).collect();
    if text.chars().nth(NAME_WIDTH).is_some() {
        short.push_str("...");
    }
    short
}

/// Control characters would break the line, or the terminal.
fn visible(character: char) -> char {
    match character {
        _ if character.is_whitespace() => ' ',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    }
}

impl ExprError {
    /// The whole report: headline, the line of `text` with the place marked, for a mistake about
    /// shapes their picture, and what would work.
    ///
    /// `text` is the expression that was parsed.
    pub fn draw(&self, text: &str) -> String {
        let picture = match &self.kind {
            ExprErrorKind::Graph(error) => error.draw(),
            _ => format!("error[{}]: {self}\n", self.code()),
        };
        let (headline, shapes) = picture.split_once('\n').unwrap_or((&picture, ""));
        let mut report = format!("{headline}\n{}{shapes}", mark_line(text, &self.span));
        if let Some(help) = self.help() {
            report.push_str(&format!("   = help: {help}\n"));
        }
        report
    }
}

/// The line of `text` in which `span` begins, with the span marked below it.
pub(super) fn mark_line(text: &str, span: &Range<usize>) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let start = floor_char_boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = floor_char_boundary(text, span.end).clamp(start, line_end);

    let before = text[line_start..start].chars().count();
    let marked = text[start..end].chars().count().max(1);
    // Half of the room is for what comes before the mark.
    let from = (before + marked.min(WIDTH / 2)).saturating_sub(WIDTH * 3 / 4);
    let mut characters = text[line_start..line_end].chars().map(visible).skip(from);
    let mut shown: String = characters.by_ref().take(WIDTH).collect();
    if characters.next().is_some() {
        shown.push_str("...");
    }
    let dots = if from > 0 { "..." } else { "" };
    let indent = before - from + dots.len();
    let carets = "^".repeat(marked.min(WIDTH.saturating_sub(before - from)).max(1));
    let number = match text.contains('\n') {
        true => (text[..start].matches('\n').count() + 1).to_string(),
        false => String::new(),
    };
    format!("{number:>2} | {dots}{}\n   | {:indent$}{carets}\n", shown.trim_end(), "")
}

fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
