//! The drawing of an error below the text.

use indim_graph::terminal::mark_line;
use indim_shape::Diagnostic;

use crate::shorten::shorten;

use super::error::{ExprError, ExprErrorKind};

impl ExprError {
    /// The drawing: headline, the line of the parsed `text` with the span marked, the aligned shapes for an
    /// error of shapes, and help.
    pub fn draw(&self, text: &str) -> String {
        self.diagnostic(text).to_string()
    }

    /// The diagnostic that [`draw`](Self::draw) prints.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        let mut diagnostic = match &self.kind {
            ExprErrorKind::Graph(error) => error.diagnostic(),
            _ => Diagnostic::new(self.error_code(), self.to_string()),
        };
        diagnostic.lines.splice(0..0, mark_line(text, &self.span));
        if let Some(help) = self.help().or_else(|| self.named_array(text)) {
            diagnostic.help(help);
        }
        diagnostic
    }

    /// The help text for an array literal in an expression: bind it to a name.
    fn named_array(&self, text: &str) -> Option<String> {
        let ExprErrorKind::Unexpected { found, expected: "a value" } = &self.kind else {
            return None;
        };
        let rest = text.get(self.span.start..).filter(|_| found == "[")?;
        let list = &rest[..closing_bracket(rest)?];
        let mut names = ["x", "y", "z", "array"].into_iter().filter(|name| !text.contains(name));
        let name = names.next()?;
        let (before, after) = (&text[..self.span.start], &rest[list.len()..]);
        let written = shorten(&format!("{}{name}{}", before.trim(), after.trim_end()));
        Some(format!("arrays have names: write {written}, and give {name}={}", shorten(list)))
    }
}

/// The length in bytes of the bracketed list at the start of a text.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at + c.len_utf8())
    })
}
