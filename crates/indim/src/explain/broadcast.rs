//! One broadcast explained: the picture, the explicit form, and how the other rule sets say it.

use core::fmt;

use indim_shape::{
    Broadcast, OperandLabel, OuterProduct, RuleSetName, draw_broadcast, express,
    surprising_outer_product,
};

/// A result that has this many times the elements of its largest operand is worth a warning.
const SURPRISING_FACTOR: usize = 16;

/// A broadcast with the names of its operands.
#[derive(Debug, Clone)]
pub struct ExplainedBroadcast {
    operation: String,
    labels: Vec<(String, String)>,
    form: Broadcast,
}

impl ExplainedBroadcast {
    /// A broadcast for `operation`, with a name and an element type (or nothing) for each operand.
    pub fn new(
        operation: impl Into<String>,
        labels: Vec<(String, String)>,
        form: Broadcast,
    ) -> Self {
        ExplainedBroadcast { operation: operation.into(), labels, form }
    }

    /// What is done with the operands.
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

    /// The lint: whether the result is far larger than every operand.
    pub fn surprising_outer_product(&self) -> Option<OuterProduct> {
        surprising_outer_product(&self.form, SURPRISING_FACTOR)
    }

    /// For each rule set that speaks of this many operands, its attributes, or why it cannot say it.
    pub fn under_other_rules(&self) -> Vec<(RuleSetName, Result<String, String>)> {
        let is_target = self.form.operands().len() == 1;
        RuleSetName::ALL
            .into_iter()
            .filter(|name| name.is_target_rule() == is_target)
            .map(|name| {
                let said = express(&self.form, name).map(|said| said.to_string());
                (name, said.map_err(|reason| reason.to_string()))
            })
            .collect()
    }

    /// A drawing as an SVG document.
    pub fn to_svg(&self) -> String {
        super::svg::document(core::slice::from_ref(self))
    }

    /// The explanation as one JSON object.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        super::json::broadcast(self).to_string()
    }
}

impl fmt::Display for ExplainedBroadcast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |(name, _): &(String, String)| name.clone();
        let names: Vec<String> = self.labels.iter().map(name).collect();
        writeln!(formatter, "{}({})", self.operation, names.join(", "))?;
        let labels: Vec<OperandLabel<'_>> = self
            .labels
            .iter()
            .map(|(name, element_type)| OperandLabel { name, element_type })
            .collect();
        writeln!(formatter, "{}", draw_broadcast(&self.form, &labels))?;
        writeln!(formatter, "explicit form")?;
        for ((name, _), (shape, map)) in
            self.labels.iter().zip(self.form.operands().iter().zip(self.form.maps()))
        {
            writeln!(
                formatter,
                "   broadcast_in_dim({name} {shape}, dims={map}) -> {}",
                self.form.result()
            )?;
        }
        writeln!(formatter, "the same under")?;
        for (rule, said) in self.under_other_rules() {
            match said {
                Ok(said) => writeln!(formatter, "   {said}")?,
                Err(reason) => writeln!(formatter, "   {rule}: no, {reason}")?,
            }
        }
        Ok(())
    }
}
