//! Drawing an error under the text it points at.

use super::error::{ExprError, ExprErrorKind};
use crate::terminal::{mark_line, shown_within};

/// Names and found text are cut to so many columns in messages.
const NAME_WIDTH: usize = 40;

/// A piece of the text in one line, with dots in place of what is too long for a message.
pub(super) fn shorten(text: &str) -> String {
    let in_one_line = |c: char| if c.is_whitespace() { ' ' } else { c };
    // No more than what can be shown is looked at, and a bit, so that it is seen to go on.
    let text: String = text.chars().take(4 * NAME_WIDTH + 1).map(in_one_line).collect();
    shown_within(&text, NAME_WIDTH)
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
