//! Syntax and functions of NumPy, PyTorch and C, with their replacements.
//!
//! The lexer and the parser name the replacements in errors.

use super::Expression;
use super::error::{ExprError, ExprErrorKind};
use super::function::Function;
use super::syntax::{NodeIndex, SyntaxNode, SyntaxNodeKind, UnaryOperator};
use indim_graph::Literal;

/// Functions that are neither element-wise nor reductions.
const NOT_ELEMENTWISE: &[&str] = &["conv", "cross", "gather", "median", "trace", "unique"];

/// Functions of other systems, with their replacements.
const REPLACEMENTS: &[(&str, &str)] = &[
    ("arange", "iota(i64, [10])"),
    ("unsqueeze", "expand_dims(v, axis=1), or v[:, None]"),
    ("mm", "x @ y"),
    ("bmm", "x @ y"),
    ("mv", "x @ y"),
    ("tile", "concatenate([x, x])"),
    ("ravel", "reshape(x, -1)"),
    ("flatten", "reshape(x, -1)"),
    ("view", "reshape(x, [3, 2])"),
    ("permute", "transpose(x, [1, 0])"),
    ("swapaxes", "transpose(x, [1, 0])"),
    ("moveaxis", "transpose(x, [1, 0])"),
    ("expand", "broadcast_to(v, [2, 3])"),
    ("zeros", "the number 0: a number broadcasts to any shape"),
    ("ones", "the number 1: a number broadcasts to any shape"),
    ("full", "the number alone: a number broadcasts to any shape"),
    ("to", "f32(x)"),
    ("float", "f32(x) or f64(x)"),
    ("int", "i32(x) or i64(x)"),
];

/// Module names before the dot of a function in Python.
const MODULES: &[&str] = &["np", "numpy", "jnp", "torch", "math", "xp", "tf", "cp", "lax", "F"];

/// The replacement of a function of another system.
pub(super) fn function_replacement(name: &str) -> Option<ExprErrorKind> {
    if NOT_ELEMENTWISE.contains(&name) {
        return Some(ExprErrorKind::NotElementwise { name: name.to_owned() });
    }
    let (_, instead) = REPLACEMENTS.iter().find(|(known, _)| *known == name)?;
    Some(foreign_spelling(name, instead))
}

/// The replacement of `owner.name`; `owner` is `None` if it is not a name.
pub(super) fn member_replacement(owner: Option<&str>, name: &str) -> Option<ExprErrorKind> {
    if let Some(known) = function_replacement(name) {
        return Some(known);
    }
    let is_function = Function::from_name(name).is_some();
    // Any other owner is an array, and `name` a method.
    match owner.filter(|owner| MODULES.contains(owner)) {
        Some(module) if is_function => {
            Some(foreign_spelling(&format!("{module}.{name}"), &format!("{name}(...)")))
        }
        Some(module) if Literal::constant(name).is_some() => {
            Some(foreign_spelling(&format!("{module}.{name}"), name))
        }
        Some(_) => Some(ExprErrorKind::UnknownFunction { name: name.to_owned(), suggestion: None }),
        None if matches!(name, "T" | "mT") => {
            Some(foreign_spelling(&format!(".{name}"), "transpose(x)"))
        }
        None if is_function => {
            Some(foreign_spelling(&format!(".{name}"), &format!("{name}(x, ...)")))
        }
        _ => None,
    }
}

/// The replacement of a character that begins no token.
pub(super) fn character_replacement(character: char) -> Option<ExprErrorKind> {
    match character {
        '?' => Some(use_where("?")),
        '\\' => Some(foreign_spelling("\\", "parentheses around an expression of several lines")),
        _ => None,
    }
}

/// The replacement of a token that cannot follow an operand.
pub(super) fn operator_replacement(found: &str) -> Option<ExprErrorKind> {
    match found {
        "if" => Some(use_where("if")),
        "=" => Some(foreign_spelling(
            "=",
            "== to compare; a statement gives values names, as in m = mean(x)",
        )),
        _ => None,
    }
}

/// The replacement of `+=` and similar operators, which would reassign a name.
pub(super) fn augmented_assignment(found: &str) -> ExprErrorKind {
    foreign_spelling(found, "a value with a name of its own, as in n = m + 1")
}

impl Expression {
    /// Refuses `max(x, 1)` and `min(x, 1)`: numexpr and NumPy reduce along axis 1, but an expression
    /// compares each element with 1.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    ///
    /// let parse = |text| Expression::parse(text, &ParseLimits::default());
    /// assert_eq!(parse("max(x, 1)")?.check_axes_of_numexpr().unwrap_err().code(), "axis-or-operand");
    /// assert!(parse("maximum(x, 1) + max(x, axis=1) + max(x, 1.0)")?.check_axes_of_numexpr().is_ok());
    /// # Ok::<(), indim_text::ExprError>(())
    /// ```
    ///
    /// # Errors
    /// `axis-or-operand`.
    pub fn check_axes_of_numexpr(&self) -> Result<(), ExprError> {
        let mut are_whole = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            are_whole.push(self.is_whole_number(node, &are_whole));
            let SyntaxNodeKind::Call { operands, attributes, .. } = &node.kind else { continue };
            let function = match node.mark.of(&self.text) {
                "max" => "max",
                "min" => "min",
                _ => continue,
            };
            let &[operand, number] = operands.as_slice() else { continue };
            if are_whole[number] && attributes.is_empty() {
                let text = |node: NodeIndex| self.nodes[node].extent.of(&self.text).to_owned();
                let number = match text(number).as_str() {
                    "True" => "1".to_owned(),
                    "False" => "0".to_owned(),
                    number => number.to_owned(),
                };
                let operand = text(operand);
                let kind = ExprErrorKind::AxisOrOperand { function, operand, number };
                return Err(ExprError::new(kind, node.mark));
            }
        }
        Ok(())
    }

    /// Whether numexpr reads a node as an axis: a whole number, or an operation on whole numbers. numexpr has
    /// no negative axes.
    fn is_whole_number(&self, node: &SyntaxNode, are_whole: &[bool]) -> bool {
        match &node.kind {
            SyntaxNodeKind::Literal(Literal::Int(value)) => *value >= 0,
            SyntaxNodeKind::Literal(Literal::Bool(_)) => true,
            SyntaxNodeKind::Name(name) => matches!(self.names[*name].as_str(), "True" | "False"),
            SyntaxNodeKind::Unary { operator: UnaryOperator::Negate, operand } => {
                matches!(self.nodes[*operand].kind, SyntaxNodeKind::Literal(Literal::Int(0)))
            }
            SyntaxNodeKind::Unary { operand, .. } => are_whole[*operand],
            SyntaxNodeKind::Binary { operands, .. } => {
                operands.iter().all(|&operand| are_whole[operand])
            }
            _ => false,
        }
    }
}

fn use_where(found: &str) -> ExprErrorKind {
    foreign_spelling(found, "where(condition, x, y)")
}

fn foreign_spelling(found: &str, instead: &str) -> ExprErrorKind {
    ExprErrorKind::ForeignSpelling { found: found.to_owned(), instead: instead.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParseLimits;

    #[test]
    fn foreign_names_are_no_functions_of_expressions() {
        let names = REPLACEMENTS.iter().map(|(name, _)| name).chain(NOT_ELEMENTWISE);
        let stale: Vec<&&str> = names.filter(|name| Function::from_name(name).is_some()).collect();
        assert!(stale.is_empty(), "functions of expressions: {stale:?}");
    }

    #[test]
    fn replacements_are_expressions() {
        for (name, instead) in
            REPLACEMENTS.iter().filter(|(_, instead)| !instead.contains(": a number "))
        {
            for instead in instead.split(" or ") {
                let instead = instead.trim_end_matches(',');
                let parsed = Expression::parse(instead, &ParseLimits::default());
                assert!(parsed.is_ok(), "{name}: {parsed:?}");
            }
        }
    }
}
