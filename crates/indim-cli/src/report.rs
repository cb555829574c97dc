//! An error in the input, for people and for programs.

use indim::GraphError;
use indim::broadcast::AnyRule;
use indim::errors::{AxisOwner, Diagnostic, OperandLabel, ShapeError, SizedAxis, diagnose};
use indim::graph::GraphErrorKind;
use indim::text::{ExprError, ExprErrorKind};
use indim_graph::terminal::label;
use serde::Serialize;

/// An error of the input.
#[derive(Debug)]
pub(crate) struct Report {
    /// The text for people: headline, picture, repairs.
    diagnostic: Diagnostic,
    facts: Box<ShapeFacts>,
}

/// Further fields for programs: the rule and the known operands.
#[derive(Debug, Default)]
struct ShapeFacts {
    /// The label of the broken rule.
    rule: Option<&'static str>,
    /// The operand at fault, and its axis.
    operand: Option<String>,
    axis: Option<usize>,
    operands: Vec<OperandFacts>,
    sizes: Option<[ClashingSize; 2]>,
}

/// An operand of the refused operation.
#[derive(Debug, Serialize)]
struct OperandFacts {
    name: String,
    dtype: Option<String>,
    shape: Vec<usize>,
}

/// One of two axes whose sizes clash.
#[derive(Debug, Serialize)]
struct ClashingSize {
    of: String,
    axis: usize,
    size: usize,
}

/// The fields of an error for programs; null or empty if unknown.
#[derive(Serialize)]
struct ErrorFacts<'a> {
    code: &'a str,
    rule: Option<&'static str>,
    operand: Option<&'a str>,
    axis: Option<usize>,
    message: &'a str,
    operands: &'a [OperandFacts],
    /// The guilty axis first.
    sizes: Option<&'a [ClashingSize; 2]>,
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
        let diagnostic = diagnose(error, operation, &labels);
        let facts =
            ShapeFacts::new(Some(error.label()), facts.collect(), error.operand(), Some(error));
        Report { diagnostic, facts: Box::new(facts) }
    }

    /// A mistake in the expression that is written in `source`.
    pub(crate) fn of_expression(error: &ExprError, source: &str) -> Report {
        let diagnostic = error.diagnostic(source);
        match &error.kind {
            ExprErrorKind::Graph(graph) => Report { diagnostic, ..Report::from(&**graph) },
            _ => Report::from(diagnostic),
        }
    }

    /// The same, with further help.
    pub(crate) fn with_help(mut self, text: String) -> Report {
        self.diagnostic.help(text);
        self
    }

    /// The text for people.
    pub(crate) fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostic
    }

    /// The text for people, without colours.
    pub(crate) fn text(&self) -> String {
        self.diagnostic.to_string()
    }

    /// For programs: one object with the fields of [`ErrorFacts`].
    pub(crate) fn to_json(&self) -> String {
        let Diagnostic { code, headline, remarks, .. } = &self.diagnostic;
        let helps = remarks.iter().filter(|(title, _)| title == "help");
        let error = ErrorFacts {
            code: code.as_str(),
            rule: self.facts.rule,
            operand: self.facts.operand.as_deref(),
            axis: self.facts.axis,
            message: headline,
            operands: &self.facts.operands,
            sizes: self.facts.sizes.as_ref(),
            help: helps.map(|(_, text)| &**text).collect(),
        };
        serde_json::to_string(&ErrorDocument { error })
            .expect("invariant: texts and numbers have a form in JSON")
    }
}

impl Report {
    /// The object of [`Report::to_json`], with the members of another object in front.
    pub(crate) fn to_json_with(&self, object: &str) -> String {
        let (own, others) = (self.to_json(), object.trim_end());
        match others.strip_suffix('}') {
            Some(members) => format!("{members},{}", own.trim_start_matches('{')),
            None => own,
        }
    }
}

impl ShapeFacts {
    /// The broken rule, the known facts about the operands and the guilty one, and the clash of their
    /// shapes.
    fn new(
        rule: Option<&'static str>,
        operands: Vec<OperandFacts>,
        guilty: Option<usize>,
        error: Option<&ShapeError>,
    ) -> ShapeFacts {
        let name = |operand: usize| operands.get(operand).map(|facts| facts.name.clone());
        let clash = error.and_then(|error| Some((error, error.violation().clash()?)));
        let sizes = clash.map(|(error, (this, other))| {
            [this, other].map(|SizedAxis { owner, axis, size }| {
                let of = match owner {
                    AxisOwner::Operand(operand) => name(operand).unwrap_or_default(),
                    AxisOwner::Result if matches!(error.rule(), AnyRule::Target(_)) => {
                        "target".into()
                    }
                    AxisOwner::Result => "result".into(),
                };
                ClashingSize { of, axis, size }
            })
        });
        let (operand, axis) = (guilty.and_then(name), error.and_then(ShapeError::axis));
        ShapeFacts { rule, operand, axis, operands, sizes }
    }
}

impl From<Diagnostic> for Report {
    fn from(diagnostic: Diagnostic) -> Self {
        Report { diagnostic, facts: Box::default() }
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
        let facts =
            ShapeFacts::new(error.label(), operands.collect(), error.operand(), shape_error);
        Report { diagnostic: error.diagnostic(), facts: Box::new(facts) }
    }
}
