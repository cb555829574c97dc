//! Results of an expression: the values of its last statement, or the requested names.

use std::collections::HashMap;

use indim_builder::{GraphBuilder, Index, Value};
use indim_shape::RuleSet;

use super::elaborate::elaborate;
use super::error::ExprError;
use super::statement::Output;
use super::statement_error::StatementError;
use super::syntax::{AttributeValue, NodeIndex, SyntaxNodeKind};
use super::{Binding, Expression};
use crate::span::Span;
use crate::suggest::closest;

impl Expression {
    /// The names of the results, in order; `None` for a result without a name.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    ///
    /// let expression = Expression::parse("m = mean(x); m, x - m", &ParseLimits::default())?;
    /// assert_eq!(expression.results(), [Some("m"), None]);
    /// assert_eq!(expression.names(), ["x"]);
    /// assert!(expression.assigns("m"));
    /// # Ok::<(), indim_text::ExprError>(())
    /// ```
    pub fn results(&self) -> Vec<Option<&str>> {
        self.outputs.iter().map(|output| output.name.as_deref()).collect()
    }

    /// Whether a statement assigns `name`. Such a name cannot be bound.
    pub fn assigns(&self, name: &str) -> bool {
        self.assignments.iter().any(|assignments| assignments.name == name)
    }

    /// Replaces the results by the values of these names, in this order.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    ///
    /// let text = "m = mean(x, axis=0); s = std(x, axis=0); z = (x - m) / s";
    /// let expression = Expression::parse(text, &ParseLimits::default())?;
    /// assert_eq!(expression.results(), [Some("z")]);
    /// assert_eq!(expression.with_results(&["s", "m"])?.results(), [Some("s"), Some("m")]);
    /// # Ok::<(), indim_text::ExprError>(())
    /// ```
    ///
    /// # Errors
    /// `unknown-result` for a name that no statement assigns.
    pub fn with_results(mut self, names: &[impl AsRef<str>]) -> Result<Self, ExprError> {
        let named = |output: &Output| Some((output.name.clone()?, output.node));
        let mut known: HashMap<String, NodeIndex> = self
            .assignments
            .iter()
            .map(|assignments| (assignments.name.clone(), assignments.node))
            .collect();
        known.extend(self.outputs.iter().filter_map(named));
        let output = |name: &str| match known.get(name) {
            Some(&node) => Ok(Output { name: Some(name.to_owned()), node }),
            None => {
                let suggestion = closest(name, known.keys().map(String::as_str)).map(str::to_owned);
                let error = StatementError::UnknownResult { name: name.to_owned(), suggestion };
                Err(ExprError::statement(error, self.extent_of(&self.outputs)))
            }
        };
        self.outputs = names.iter().map(|name| output(name.as_ref())).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Refuses an expression with several results.
    ///
    /// # Errors
    /// `several-results`.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    ///
    /// let expression = Expression::parse("min(x), max(x)", &ParseLimits::default())?;
    /// assert_eq!(expression.check_single_result().unwrap_err().code(), "several-results");
    /// # Ok::<(), indim_text::ExprError>(())
    /// ```
    pub fn check_single_result(&self) -> Result<(), ExprError> {
        match self.outputs.as_slice() {
            [_] => Ok(()),
            outputs => {
                let error = StatementError::SeveralResults { count: outputs.len() };
                Err(ExprError::statement(error, self.extent_of(outputs)))
            }
        }
    }

    /// The assigned names that no result depends on. Programs do not compute their values.
    ///
    /// ```
    /// use indim_text::{Expression, ParseLimits};
    ///
    /// let expression = Expression::parse("m = mean(x); d = x - m; m", &ParseLimits::default())?;
    /// assert_eq!(expression.unused(), ["d"]);
    /// # Ok::<(), indim_text::ExprError>(())
    /// ```
    pub fn unused(&self) -> Vec<&str> {
        let mut is_used = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|output| is_used[output.node] = true);
        // Operands precede their uses.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if is_used[index] {
                for_each_operand(&node.kind, |operand| is_used[operand] = true);
            }
        }
        let unused = self.assignments.iter().filter(|assignments| !is_used[assignments.node]);
        unused.map(|assignments| assignments.name.as_str()).collect()
    }

    /// Like [`build_bound`](Self::build_bound), for any number of results, in order.
    ///
    /// ```
    /// use indim_text::{Binding, Expression, ParseLimits};
    /// use indim_builder::GraphBuilder;
    /// use indim_ops::DType;
    ///
    /// let b = GraphBuilder::new();
    /// let x = b.parameter("x", DType::F32, [3])?;
    /// let expression = Expression::parse("low, high = min(x), max(x)", &ParseLimits::default())?;
    /// let results = expression.build_results(&b, &[("x", Binding::Array(x))], None)?;
    /// assert_eq!(results.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`build`](Self::build), without `several-results`; `assigned-input` if a value is bound to an
    /// assigned name.
    pub fn build_results(
        &self,
        builder: &GraphBuilder,
        bindings: &[(&str, Binding)],
        rule: Option<&RuleSet>,
    ) -> Result<Vec<Value>, ExprError> {
        let elaborator = elaborate(self, builder, bindings, rule)?;
        self.outputs.iter().map(|output| elaborator.value(output.node)).collect()
    }

    /// Like [`build_results`](Self::build_results), but a result that depends on numbers only stays a number.
    ///
    /// # Errors
    /// Like [`build_results`](Self::build_results).
    pub fn build_bindings(
        &self,
        builder: &GraphBuilder,
        bindings: &[(&str, Binding)],
        rule: Option<&RuleSet>,
    ) -> Result<Vec<Binding>, ExprError> {
        let elaborator = elaborate(self, builder, bindings, rule)?;
        let binding = |output: &Output| elaborator.operands[output.node].clone().into();
        Ok(self.outputs.iter().map(binding).collect())
    }

    fn extent_of(&self, outputs: &[Output]) -> Span {
        let extents = outputs.iter().map(|output| self.nodes[output.node].extent);
        let both = |x: Span, y: Span| Span::new(x.start.min(y.start), x.end.max(y.end));
        extents.reduce(both).unwrap_or_default()
    }
}

fn for_each_operand(kind: &SyntaxNodeKind, mut visit: impl FnMut(NodeIndex)) {
    match kind {
        SyntaxNodeKind::Literal(_) | SyntaxNodeKind::Name(_) => {}
        SyntaxNodeKind::LocalName(operand) | SyntaxNodeKind::Unary { operand, .. } => {
            visit(*operand)
        }
        SyntaxNodeKind::Binary { operands, .. } => operands.iter().copied().for_each(visit),
        SyntaxNodeKind::Index { operand, items } => {
            visit(*operand);
            for item in items {
                if let Index::Elements(node) = item {
                    visit(*node);
                }
            }
        }
        SyntaxNodeKind::Call { operands, attributes, .. } => {
            operands.iter().copied().for_each(&mut visit);
            for attribute in attributes {
                if let AttributeValue::Number(node) = attribute.value {
                    visit(node);
                }
            }
        }
    }
}
