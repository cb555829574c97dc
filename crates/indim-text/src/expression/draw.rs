//! Drawing an error under the text it points at.

use indim_graph::terminal::mark_line;

use super::error::{ExprError, ExprErrorKind};

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
