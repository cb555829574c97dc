//! An error in the input: the text for people, and the facts in it for programs.
//!
//! Every text begins with `error[code]: message`; code and message are read from there.

use indim::{
    ExprError, ExprErrorKind, GraphError, GraphErrorKind, OperandLabel, ShapeError, draw_error,
};
use serde_json::json;

/// What is wrong with the input.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The whole report: headline, picture, what would work.
    text: String,
    rule: Option<&'static str>,
    operand: Option<String>,
    axis: Option<usize>,
}

impl Report {
    /// A mistake in the shapes of `operands`, which are given as name and element type.
    pub(crate) fn of_shapes(
        error: &ShapeError,
        operation: &str,
        operands: &[(String, String)],
    ) -> Report {
        let labels: Vec<OperandLabel<'_>> = operands
            .iter()
            .map(|(name, element_type)| OperandLabel { name, element_type })
            .collect();
        let name = |operand: usize| operands.get(operand).map(|(name, _)| name.clone());
        Report {
            text: draw_error(error, operation, &labels),
            rule: Some(error.label()),
            operand: error.operand().and_then(name),
            axis: error.axis(),
        }
    }

    /// A mistake in the expression that is written in `source`.
    pub(crate) fn of_expression(error: &ExprError, source: &str) -> Report {
        let text = error.draw(source);
        match &error.kind {
            ExprErrorKind::Graph(graph) => Report { text, ..Report::from(&**graph) },
            _ => Report::from(text),
        }
    }

    /// For people.
    pub(crate) fn text(&self) -> &str {
        self.text.trim_end()
    }

    /// For programs: one object with the keys `code`, `rule`, `operand`, `axis` and `message`, null where
    /// there is nothing to say.
    pub(crate) fn to_json(&self) -> String {
        let headline = self.text.lines().next().unwrap_or_default();
        let (code, message) = headline
            .strip_prefix("error[")
            .and_then(|rest| rest.split_once("]: "))
            .unwrap_or(("error", headline));
        let error = json!({
            "code": code,
            "rule": self.rule,
            "operand": self.operand,
            "axis": self.axis,
            "message": message,
        });
        json!({ "error": error }).to_string()
    }
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Report { text, ..Report::default() }
    }
}

impl From<&GraphError> for Report {
    fn from(error: &GraphError) -> Self {
        let name = |operand: usize| error.operands.get(operand).map(|(name, _)| name.clone());
        let axis = match &error.kind {
            GraphErrorKind::Shape(shape) => shape.axis(),
            _ => None,
        };
        let operand = error.operand().and_then(name);
        Report { text: error.draw(), rule: error.label(), operand, axis }
    }
}
