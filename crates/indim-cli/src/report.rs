//! An error in the input: the text for people, and the facts in it for programs.
//!
//! Every text begins with `error[code]: message`; code and message are read from there.

use indim::{
    AnyRule, AxisOf, CompileError, ExprError, ExprErrorKind, GraphError, GraphErrorKind,
    OperandLabel, Party, ShapeError, draw_error,
};
use indim_graph::terminal::label;
use serde::Serialize;

/// How a line of a drawn error begins that says what would work.
const HELP: &str = "   = help: ";

/// What is wrong with the input.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The whole report: headline, picture, what would work.
    text: String,
    rule: Option<&'static str>,
    facts: Box<Facts>,
}

/// What is known of the operands.
#[derive(Debug, Default)]
struct Facts {
    /// The guilty operand, and its axis.
    operand: Option<String>,
    axis: Option<usize>,
    operands: Vec<OperandFacts>,
    sizes: Option<[SizeFacts; 2]>,
}

/// An operand of the operation that is refused.
#[derive(Debug, Serialize)]
struct OperandFacts {
    name: String,
    dtype: Option<String>,
    shape: Vec<usize>,
}

/// One of two axes whose sizes clash.
#[derive(Debug, Serialize)]
struct SizeFacts {
    of: String,
    axis: usize,
    size: usize,
}

/// The fields of an error for programs; null or empty where there is nothing to say.
#[derive(Serialize)]
struct ErrorFacts<'a> {
    code: &'a str,
    rule: Option<&'static str>,
    operand: Option<&'a str>,
    axis: Option<usize>,
    message: &'a str,
    operands: &'a [OperandFacts],
    /// The guilty axis first.
    sizes: Option<&'a [SizeFacts; 2]>,
    help: Vec<&'a str>,
}

#[derive(Serialize)]
struct ErrorDocument<'a> {
    error: ErrorFacts<'a>,
}

impl Report {
    /// A mistake in the shapes of `operands`, which are given as name and element type.
    pub(crate) fn of_shapes(
        error: &ShapeError,
        operation: &str,
        operands: &[(String, String)],
    ) -> Report {
        let labels: Vec<OperandLabel<'_>> =
            operands.iter().map(|(name, element_type)| label(name, element_type)).collect();
        let facts =
            operands.iter().zip(error.shapes()).map(|((name, dtype), shape)| OperandFacts {
                name: name.clone(),
                dtype: Some(dtype.clone()).filter(|dtype| !dtype.is_empty()),
                shape: shape.to_vec(),
            });
        let text = draw_error(error, operation, &labels);
        let facts = Facts::new(facts.collect(), error.operand(), Some(error));
        Report { text, rule: Some(error.label()), facts: Box::new(facts) }
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

    /// For programs: one object with the fields of [`ErrorFacts`].
    pub(crate) fn to_json(&self) -> String {
        let headline = self.text.lines().next().unwrap_or_default();
        let (code, message) = headline
            .strip_prefix("error[")
            .and_then(|rest| rest.split_once("]: "))
            .unwrap_or(("error", headline));
        let error = ErrorFacts {
            code,
            rule: self.rule,
            operand: self.facts.operand.as_deref(),
            axis: self.facts.axis,
            message,
            operands: &self.facts.operands,
            sizes: self.facts.sizes.as_ref(),
            help: self.text.lines().filter_map(|line| line.strip_prefix(HELP)).collect(),
        };
        serde_json::to_string(&ErrorDocument { error })
            .expect("invariant: texts and numbers have a form in JSON")
    }
}

impl Facts {
    /// What is known of operands, one of which may be guilty, and of the mistake in their shapes.
    fn new(
        operands: Vec<OperandFacts>,
        guilty: Option<usize>,
        error: Option<&ShapeError>,
    ) -> Facts {
        let name = |operand: usize| operands.get(operand).map(|facts| facts.name.clone());
        let clash = error.and_then(|error| Some((error, error.violation().clash()?)));
        let sizes = clash.map(|(error, (this, other))| {
            [this, other].map(|AxisOf { party, axis, size }| {
                let of = match party {
                    Party::Operand(operand) => name(operand).unwrap_or_default(),
                    Party::Result if matches!(error.rule(), AnyRule::Target(_)) => "target".into(),
                    Party::Result => "result".into(),
                };
                SizeFacts { of, axis, size }
            })
        });
        let (operand, axis) = (guilty.and_then(name), error.and_then(ShapeError::axis));
        Facts { operand, axis, operands, sizes }
    }
}

impl From<String> for Report {
    fn from(text: String) -> Self {
        Report { text, ..Report::default() }
    }
}

impl From<CompileError> for Report {
    fn from(error: CompileError) -> Self {
        Report::from(format!("error[{}]: {error}", error.code()))
    }
}

impl From<&GraphError> for Report {
    fn from(error: &GraphError) -> Self {
        let operands = error.operands.iter().map(|(name, array_type)| OperandFacts {
            name: name.clone(),
            dtype: Some(array_type.dtype.name().to_owned()),
            shape: array_type.shape.to_vec(),
        });
        let shape_error = match &error.kind {
            GraphErrorKind::Shape(shape) => Some(&**shape),
            _ => None,
        };
        let facts = Facts::new(operands.collect(), error.operand(), shape_error);
        Report { text: error.draw(), rule: error.label(), facts: Box::new(facts) }
    }
}
