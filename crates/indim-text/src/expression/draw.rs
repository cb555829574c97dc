//! Drawing an error under the text it points at.

use indim_graph::terminal::mark_line;
use indim_shape::Diagnostic;

use super::error::{ExprError, ExprErrorKind};

impl ExprError {
    /// The whole report: headline, the line of `text` with the place marked, for a mistake about
    /// shapes their picture, and what would work.
    ///
    /// `text` is the expression that was parsed.
    pub fn draw(&self, text: &str) -> String {
        self.diagnostic(text).to_string()
    }

    /// The same report in its parts.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        let mut diagnostic = match &self.kind {
            ExprErrorKind::Graph(error) => error.diagnostic(),
            _ => Diagnostic::new(self.code(), self.to_string()),
        };
        diagnostic.lines.splice(0..0, mark_line(text, &self.span));
        if let Some(help) = self.help() {
            diagnostic.help(help);
        }
        diagnostic
    }
}
