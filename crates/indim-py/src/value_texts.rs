//! The expression text of each value of a recording, for messages.
//!
//! A recording names its values `_0`, `_1`, ... The user has not written these names, so messages do not
//! contain them.

use core::ops::Range;
use std::collections::HashMap;

use indim::text::{ExprError, ExprErrorKind};
use indim_graph::terminal::printable_within;

use crate::error::ComputationError;

/// Maximum width of the text of a value, in columns; a longer one is cut.
const MAX_COLUMNS: usize = 40;

/// The expression text of each value of a recording that the user has not named.
#[derive(Debug, Clone, Default)]
pub(crate) struct ValueTexts(HashMap<String, String>);

impl ValueTexts {
    /// Records that `name` is the value of `text`, an expression over earlier names; returns its text for
    /// messages.
    pub(crate) fn insert(&mut self, name: &str, text: &str) -> String {
        let (value_text, _) = self.substitute(text, &(0..0));
        let value_text = printable_within(&value_text, MAX_COLUMNS);
        self.0.insert(name.to_owned(), value_text.clone());
        value_text
    }

    /// The error of a definition, with texts in place of the recording's names.
    pub(crate) fn with_value_texts(&self, error: ComputationError) -> ComputationError {
        match error {
            ComputationError::Definition { text, mut error } => {
                let (text, span) = self.substitute(&text, &error.span);
                error.span = span;
                self.name_operands(&mut error);
                ComputationError::Definition { text, error }
            }
            other => other,
        }
    }

    fn name_operands(&self, error: &mut ExprError) {
        if let ExprErrorKind::Graph(graph) = &mut error.kind {
            for (name, _) in &mut graph.operands {
                *name = self.substitute(name, &(0..0)).0;
            }
        }
    }

    /// `text` with texts in place of the recording's names, in parentheses if needed, and the position of
    /// `span` in it.
    fn substitute(&self, text: &str, span: &Range<usize>) -> (String, Range<usize>) {
        let mut written = String::new();
        let mut new_span = 0..0;
        let mut position = 0;
        while position < text.len() {
            let token = first_token(&text[position..]);
            let end = position + token.len();
            let start_written = written.len();
            match self.0.get(token) {
                Some(value_text) if is_alone(text, position..end) || !value_text.contains(' ') => {
                    written += value_text
                }
                Some(value_text) => written += &format!("({value_text})"),
                None => written += token,
            }
            let is_unchanged = written.len() - start_written == token.len();
            if (position..end).contains(&span.start) {
                new_span.start =
                    start_written + if is_unchanged { span.start - position } else { 0 };
            }
            if position < span.end && span.end <= end {
                new_span.end =
                    if is_unchanged { start_written + span.end - position } else { written.len() };
            }
            position = end;
        }
        (written, new_span)
    }
}

/// A name or a number, or one character of anything else.
fn first_token(text: &str) -> &str {
    let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
    let length = text.find(|c| !is_in_name(c)).unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    &text[..length.max(first)]
}

/// Whether the token needs no parentheses: each of its neighbours is an end of the text, a comma, or a
/// parenthesis that opens before the token or closes after it.
fn is_alone(text: &str, token: Range<usize>) -> bool {
    let before = text[..token.start].trim_end().chars().next_back();
    let after = text[token.end..].trim_start().chars().next();
    matches!(before, None | Some('(' | ',')) && matches!(after, None | Some(')' | ','))
}
