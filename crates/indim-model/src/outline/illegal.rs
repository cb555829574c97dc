//! The drawing of an illegal broadcast whose sizes may have names, and the reshapes that make it legal.

use indim_shape::{
    AnyRule, AxisOwner, Diagnostic, OperandLabel, Repair, ShapeError, SizedAxis,
    diagnose_named_sizes, diagnose_with_repairs, find_repairs,
};

use super::broadcast::{OutlineBroadcast, Placeholders, Verdict};
use super::size::SymbolicSize;
use super::value_type::ValueType;

/// Maximum number of reshapes that one message offers.
const MAX_RESHAPES: usize = 2;

/// A broadcast that no values of the names make legal.
pub(super) struct IllegalBroadcast<'b> {
    /// The error after the search for a legal case gave equal placeholders to some names.
    pub(super) error: &'b ShapeError,
    /// The error if each name has its own placeholder.
    pub(super) distinct: &'b ShapeError,
    pub(super) rule: &'b AnyRule,
    pub(super) operands: &'b [(String, ValueType)],
    pub(super) placeholders: &'b Placeholders,
}

impl IllegalBroadcast<'_> {
    /// The drawn error, with the reshapes that make the broadcast legal.
    pub(super) fn diagnostic(&self, operation: &str) -> Diagnostic {
        let labels: Vec<OperandLabel<'_>> = self
            .operands
            .iter()
            .map(|(name, value_type)| {
                OperandLabel::new(name, value_type.element.as_deref().unwrap_or(""))
            })
            .collect();
        let repairs = find_repairs(self.distinct);
        let reshapes = self.reshapes(&repairs);
        let mut diagnostic = match self.placeholders.has_symbols() {
            true => diagnose_named_sizes(self.error, operation, &labels, &|of| self.size_text(of)),
            false => {
                // A file has one rule, so repairs by other rules do not help.
                let shown = if reshapes.is_empty() { &repairs[..] } else { &[] };
                diagnose_with_repairs(self.error, operation, &labels, shown)
            }
        };
        if !reshapes.is_empty() {
            diagnostic.help(format!("reshape {}", reshapes.join(", or ")));
        }
        diagnostic
    }

    /// The size of an axis of an operand, or that for which a number of the result stands.
    fn size_text(&self, of: SizedAxis) -> Option<String> {
        let size = match of.owner {
            AxisOwner::Operand(operand) => {
                self.operands.get(operand)?.1.sizes.as_deref()?.get(of.axis)?.clone()
            }
            AxisOwner::Result => self.placeholders.size(of.size),
        };
        Some(size.with_bounds())
    }

    /// The reshapes of operands that make the broadcast legal under its own rule, the likeliest first.
    fn reshapes(&self, repairs: &[Repair]) -> Vec<String> {
        let of_rule = repairs.iter().filter(|repair| repair.rule == *self.rule);
        let mut reshapes: Vec<String> = Vec::new();
        for reshape in of_rule.filter_map(|repair| self.reshape(repair)) {
            if reshapes.len() < MAX_RESHAPES && !reshapes.contains(&reshape) {
                reshapes.push(reshape);
            }
        }
        reshapes
    }

    /// A repair as text, `b to f32[N, 1]`; `None` if it reshapes nothing, or is not legal for all sizes.
    fn reshape(&self, repair: &Repair) -> Option<String> {
        let mut operands = self.operands.to_vec();
        let mut texts = Vec::new();
        for (shape, (name, value_type)) in repair.reshapes.iter().zip(&mut operands) {
            let Some(shape) = shape else { continue };
            let sizes: Vec<SymbolicSize> =
                shape.iter().map(|&number| self.placeholders.size(number)).collect();
            let own = value_type.sizes.replace(sizes)?;
            if SymbolicSize::product(value_type.sizes.as_ref()?) != SymbolicSize::product(&own) {
                return None;
            }
            texts.push(format!("{name} to {value_type}"));
        }
        let is_legal = || {
            let tried = OutlineBroadcast::judge(repair.rule.clone(), operands, None, "repair");
            matches!(tried.verdict, Verdict::Legal(_))
        };
        let is_tried = !self.placeholders.has_symbols() || is_legal();
        (!texts.is_empty() && is_tried).then(|| texts.join(" and "))
    }
}
