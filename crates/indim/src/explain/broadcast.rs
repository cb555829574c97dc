//! The explanation of a broadcast: picture, explicit form, and the equivalent attributes under other rule
//! sets.

use core::fmt;

use indim_graph::terminal::label;
use indim_shape::{
    Broadcast, OperandLabel, OuterProduct, RuleConversion, RuleConversionError, RuleSetName,
    convert_broadcast, draw_broadcast, surprising_outer_product,
};

/// A broadcast of several operands gives a warning if its result has more than this many times the
/// elements of its largest operand.
const SURPRISING_FACTOR: usize = 16;

/// The origin of a value in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueOrigin {
    /// Location of its operation in the file.
    pub place: String,
    /// The broadcast rule of the operation, if any: `pdpd axis=1`.
    pub rule: Option<String>,
}

/// A broadcast with the names of its operands.
///
/// ```
/// use indim::explain::ExplainedBroadcast;
/// use indim::{RuleSet, Shape};
///
/// let form = RuleSet::Numpy.elaborate(&[Shape::from([2, 3]), Shape::from([3])])?;
/// let labels = ["x", "v"].map(|name| (name.to_owned(), "f32".to_owned()));
/// let explained = ExplainedBroadcast::new("add", labels.to_vec(), form);
/// assert_eq!(explained.title(), "add(x, v)");
/// assert_eq!((explained.operation(), explained.labels()[1].0.as_str()), ("add", "v"));
/// assert!(explained.to_string().contains("numpy"));
/// assert!(explained.to_svg().starts_with("<svg"));
/// assert_eq!(explained.outer_product_warning(), None);
///
/// let bare = ExplainedBroadcast::of_rule("numpy", labels.to_vec(), explained.form().clone());
/// assert_eq!(bare.title(), "numpy: x, v");
/// let (_, in_xla) = bare.under_other_rules().into_iter().find(|(rule, _)| rule.as_str() == "xla").unwrap();
/// assert_eq!(in_xla, Ok("xla broadcast_dimensions=[1]".to_owned()));
/// # Ok::<(), indim::errors::ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExplainedBroadcast {
    operation: String,
    labels: Vec<(String, String)>,
    form: Broadcast,
    /// Place of the operation in its file, if it comes from one.
    place: Option<String>,
    /// The rules in the file that broadcast the operands; see [`ExplainedBroadcast::rules`].
    rules: Vec<String>,
    /// Whether `operation` is the text of a bare rule, which is applied to shapes without an operation.
    is_bare_rule: bool,
}

impl ExplainedBroadcast {
    /// A broadcast for `operation`, with a name and an element type (or nothing) for each operand.
    pub fn new(
        operation: impl Into<String>,
        labels: Vec<(String, String)>,
        form: Broadcast,
    ) -> Self {
        ExplainedBroadcast {
            operation: operation.into(),
            labels,
            form,
            place: None,
            rules: Vec::new(),
            is_bare_rule: false,
        }
    }

    /// A broadcast of shapes alone, under `rule` with its attributes.
    pub fn of_rule(
        rule: impl Into<String>,
        labels: Vec<(String, String)>,
        form: Broadcast,
    ) -> Self {
        ExplainedBroadcast { is_bare_rule: true, ..ExplainedBroadcast::new(rule, labels, form) }
    }

    /// Adds the place of the operation in a file, and its rules.
    #[must_use]
    pub fn with_origin(self, place: String, rules: Vec<String>) -> Self {
        ExplainedBroadcast { place: Some(place), rules, ..self }
    }

    /// Place of the operation in its file, if it comes from one.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// The rules in the file, with attributes: the rule of the operation, `pdpd axis=1`, and the rules of the
    /// operations that broadcast its operands before, with operand and place.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// `add(x, v)`; for a bare rule `numpy: x, v`.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.labels.iter().map(|(name, _)| name.as_str()).collect();
        match self.is_bare_rule {
            true => format!("{}: {}", self.operation, names.join(", ")),
            false => format!("{}({})", self.operation, names.join(", ")),
        }
    }

    /// The operation, or the bare rule.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Name and element type of each operand.
    pub fn labels(&self) -> &[(String, String)] {
        &self.labels
    }

    /// The explicit form.
    pub fn form(&self) -> &Broadcast {
        &self.form
    }

    /// The lint for outer products: the result is far larger than every operand.
    pub fn surprising_outer_product(&self) -> Option<OuterProduct> {
        surprising_outer_product(&self.form, SURPRISING_FACTOR)
    }

    /// The lint as a sentence, with the operation and the names of the operands.
    pub fn outer_product_warning(&self) -> Option<String> {
        let OuterProduct { largest_operand, largest_count, result_count } =
            self.surprising_outer_product()?;
        Some(format!(
            "`{}` is an outer product: every operand expands; the result has {result_count} \
             elements, `{}`, the largest operand, {largest_count}",
            self.operation,
            self.name(largest_operand)
        ))
    }

    /// For each rule set with this number of operands: its attributes, or why it cannot express the
    /// broadcast.
    pub fn under_other_rules(&self) -> Vec<(RuleSetName, Result<String, String>)> {
        let is_target = self.form.operands().len() == 1;
        RuleSetName::ALL
            .into_iter()
            .filter(|name| name.is_target_rule() == is_target)
            .map(|name| match convert_broadcast(&self.form, name) {
                Ok(conversion) => (name, Ok(self.attributes(&conversion))),
                Err(reason) => (name, Err(self.reason(&reason))),
            })
            .collect()
    }

    fn name(&self, operand: usize) -> &str {
        &self.labels[operand].0
    }

    /// The attributes under a rule set, and the reshapes of operands that the rule set needs.
    fn attributes(&self, conversion: &RuleConversion) -> String {
        let unshaped = RuleConversion {
            reshapes: vec![None; conversion.reshapes.len()],
            ..conversion.clone()
        };
        let mut text = unshaped.to_string();
        for (operand, shape) in conversion.reshapes.iter().enumerate() {
            if let Some(shape) = shape {
                text += &format!(", {} reshaped to {shape}", self.name(operand));
            }
        }
        text
    }

    /// Why a rule set cannot express the broadcast, with the names of the operands. The name of the rule set
    /// precedes this text.
    fn reason(&self, reason: &RuleConversionError) -> String {
        match *reason {
            RuleConversionError::OperandCount { given, .. } => {
                format!("does not take {given} operands")
            }
            RuleConversionError::Permutes { operand, .. } => {
                format!("keeps the order of axes; transpose {} first", self.name(operand))
            }
            RuleConversionError::Reorders { operand, axis, .. } => {
                let name = self.name(operand);
                format!(
                    "has axes in the order of their first operand; {name} brings axis {axis} too early"
                )
            }
            RuleConversionError::Expands { operand, axis, size, .. } => {
                let name = self.name(operand);
                format!("does not expand {name} to {size} on axis {axis} of the result")
            }
            _ => reason.to_string(),
        }
    }

    /// A drawing as an SVG document.
    pub fn to_svg(&self) -> String {
        super::svg::document(core::slice::from_ref(self), &[])
    }

    /// The explanation as one JSON object.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        super::json::broadcast(self)
    }
}

impl fmt::Display for ExplainedBroadcast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.title())?;
        if let Some(place) = &self.place {
            writeln!(formatter, "  --> {place}")?;
        }
        self.rules.iter().try_for_each(|rule| writeln!(formatter, "  by {rule}"))?;
        let labels: Vec<OperandLabel<'_>> =
            self.labels.iter().map(|(name, element_type)| label(name, element_type)).collect();
        writeln!(formatter, "{}", draw_broadcast(&self.form, &labels))?;
        writeln!(formatter, "explicit form")?;
        for ((name, _), (shape, map)) in
            self.labels.iter().zip(self.form.operands().iter().zip(self.form.maps()))
        {
            let result = self.form.result();
            writeln!(formatter, "   broadcast_in_dim({name} {shape}, dims={map}) -> {result}")?;
        }
        self.write_rules(formatter)
    }
}

impl ExplainedBroadcast {
    /// Writes the rule sets that express the broadcast, then each reason with the rule sets that it excludes.
    fn write_rules(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        writeln!(formatter, "the same under")?;
        for (rule, conversion) in self.under_other_rules() {
            match conversion {
                Ok(text) => writeln!(formatter, "   {text}")?,
                Err(reason) => match reasons.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, rules)) => rules.push(rule.as_str()),
                    None => reasons.push((reason, vec![rule.as_str()])),
                },
            }
        }
        if !reasons.is_empty() {
            writeln!(formatter, "not under")?;
        }
        for (reason, rules) in reasons {
            writeln!(formatter, "   {}: {reason}", rules.join(", "))?;
        }
        Ok(())
    }
}
