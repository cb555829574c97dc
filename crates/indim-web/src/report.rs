//! The answer for an error: the parts of the report, and the wrong field of the form.

use indim_shape::{Diagnostic, MarkedLine};
use serde::Serialize;

use crate::picture::Picture;
use crate::state::FormOffer;

/// The answer to a request with a mistake.
#[derive(Serialize)]
pub(crate) struct Refusal {
    ok: bool,
    code: &'static str,
    /// The label of the broken rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<&'static str>,
    /// The wrong field: `dims`, `operands.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    headline: String,
    lines: Vec<Line>,
    remarks: Vec<Remark>,
    /// The aligned shapes, with the axes that clash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) picture: Option<Picture>,
    /// The repairs.
    pub(crate) repairs: Vec<FormOffer>,
    /// The input names of an expression that parses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<String>>,
    /// The whole report.
    text: String,
}

#[derive(Serialize)]
struct Line {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<DrawnMark>,
}

#[derive(Serialize)]
struct DrawnMark {
    /// The column of the mark in its line, in characters.
    indent: usize,
    width: usize,
    message: String,
}

#[derive(Serialize)]
struct Remark {
    title: String,
    text: String,
}

impl Refusal {
    /// A report without the optional fields.
    pub(crate) fn new(diagnostic: &Diagnostic) -> Box<Self> {
        let remark =
            |(title, text): &(String, String)| Remark { title: title.clone(), text: text.clone() };
        Box::new(Refusal {
            ok: false,
            code: diagnostic.code.as_str(),
            label: None,
            field: None,
            headline: diagnostic.headline.clone(),
            lines: diagnostic.lines.iter().map(line).collect(),
            remarks: diagnostic.remarks.iter().map(remark).collect(),
            picture: None,
            repairs: Vec::new(),
            names: None,
            text: diagnostic.to_string(),
        })
    }

    /// The refusal without the operation in its headline, for requests that name only a rule.
    pub(crate) fn of_no_operation(mut self: Box<Self>) -> Box<Self> {
        let after_operation = self.headline.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        let message = after_operation
            .map_or(&*self.headline, |(_, message)| message.trim_start_matches([':', ' ']));
        if let Some(first) = message.chars().next() {
            let rest = &message[first.len_utf8()..];
            self.headline = first.to_uppercase().chain(rest.chars()).collect();
        }
        self
    }

    /// A report with the wrong field.
    pub(crate) fn of_field(diagnostic: &Diagnostic, field: impl Into<String>) -> Box<Self> {
        let mut refusal = Refusal::new(diagnostic);
        refusal.field = Some(field.into());
        refusal
    }
}

fn line(line: &MarkedLine) -> Line {
    let mark = line.mark.as_ref().map(|mark| DrawnMark {
        indent: mark.margin.chars().count() + mark.indent,
        width: mark.width,
        message: mark.message.clone(),
    });
    Line { text: line.text.clone(), mark }
}
