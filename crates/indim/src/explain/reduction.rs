//! The explanation of a reduction: axes, explicit form, and the attributes under the rules for reductions.

use core::fmt;

use indim_graph::terminal::label;
use indim_graph::{Graph, NodeKind, ValueId};
use indim_ops::ReduceOp;
use indim_shape::{
    ReductionForm, ReductionRule, ReductionRuleName, convert_reduction, draw_reduction,
};

/// A reduction with the name of its operand.
///
/// ```
/// use indim::explain::reductions;
/// use indim::{DType, GraphBuilder, ReduceOptions};
/// use indim::graph::Reduction;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3])?;
/// let graph = b.finish(&[b.along(Reduction::Sum, x, [0])?])?;
/// let explained = &reductions(&graph)[0];
/// assert_eq!(explained.title(), "reduce_add(x)");
/// assert_eq!(explained.form().to_string(), "axes [0] of [4, 3] go: [3]");
/// assert!(explained.to_string().contains("xla dimensions=[0]"));
/// # Ok::<(), indim::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExplainedReduction {
    op: ReduceOp,
    label: (String, String),
    form: ReductionForm,
}

impl ExplainedReduction {
    /// `reduce_add(x)`.
    pub fn title(&self) -> String {
        format!("{}({})", self.op, self.label.0)
    }

    /// The reduction operation.
    pub fn op(&self) -> ReduceOp {
        self.op
    }

    /// Name and element type of the operand.
    pub fn label(&self) -> &(String, String) {
        &self.label
    }

    /// The explicit form.
    pub fn form(&self) -> &ReductionForm {
        &self.form
    }

    /// For each rule for reductions: its attributes, or why it cannot express the reduction.
    pub fn under_rules(&self) -> Vec<(ReductionRuleName, Result<String, String>)> {
        let converted = |name: ReductionRuleName| match convert_reduction(&self.form, name) {
            Ok(conversion) => (name, Ok(conversion.to_string())),
            Err(reason) => (name, Err(reason.to_string())),
        };
        ReductionRuleName::ALL.iter().copied().map(converted).collect()
    }
}

impl fmt::Display for ExplainedReduction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, element_type) = &self.label;
        writeln!(formatter, "{}", self.title())?;
        writeln!(formatter, "{}", draw_reduction(&self.form, Some(label(name, element_type))))?;
        writeln!(formatter, "explicit form\n   {}", self.form)?;
        writeln!(formatter, "the same under")?;
        for (_, conversion) in self.under_rules() {
            match conversion {
                Ok(text) => writeln!(formatter, "   {text}")?,
                Err(reason) => writeln!(formatter, "   not: {reason}")?,
            }
        }
        Ok(())
    }
}

/// Every reduction of a graph, in order. Consecutive reductions by one operation count as one.
///
/// ```
/// use indim::explain::reductions;
/// use indim::{DType, GraphBuilder, ReduceOptions};
/// use indim::graph::Reduction;
///
/// let b = GraphBuilder::new();
/// let x = b.parameter("x", DType::F32, [4, 3, 2])?;
/// let graph = b.finish(&[b.along(Reduction::Max, x, [0, 2])?])?;
/// let axes: Vec<Vec<usize>> = reductions(&graph).iter().map(|r| r.form().axes().to_vec()).collect();
/// assert_eq!(axes, [[0, 2]]);
/// # Ok::<(), indim::GraphError>(())
/// ```
pub fn reductions(graph: &Graph) -> Vec<ExplainedReduction> {
    let is_merged = merged_reductions(graph);
    let explained = graph.iter().filter_map(|(value, node)| match node.kind {
        NodeKind::Reduce { op, .. } if !is_merged[value.index()] => {
            Some(explain(graph, value, op, &is_merged))
        }
        _ => None,
    });
    explained.collect()
}

/// For each value, whether it is a reduction that merges with its user: the only user reduces it by the same
/// operation. An arg-reduction never merges.
fn merged_reductions(graph: &Graph) -> Vec<bool> {
    let mut is_merged = vec![false; graph.len()];
    for (_, node) in graph.iter() {
        if let (NodeKind::Reduce { op, .. }, Some(operand)) = (&node.kind, node.operands.first()) {
            let is_same =
                matches!(&graph[*operand].kind, NodeKind::Reduce { op: inner, .. } if inner == op);
            is_merged[operand.index()] |= is_same && !op.is_arg_reduction();
        }
    }
    let uses = graph.use_counts().into_iter();
    uses.zip(is_merged).map(|(uses, is_merged)| is_merged && uses == 1).collect()
}

/// Explains a chain of reductions that ends in `last`.
fn explain(graph: &Graph, last: ValueId, op: ReduceOp, is_merged: &[bool]) -> ExplainedReduction {
    let (mut value, mut steps) = (last, Vec::new());
    while let NodeKind::Reduce { axis, .. } = graph[value].kind
        && (value == last || is_merged[value.index()])
    {
        steps.push(axis);
        value = graph[value].operands[0];
    }
    let operand = &graph[value].array_type;
    let mut left: Vec<i64> = (0..operand.shape.rank() as i64).collect();
    let dimensions = steps.iter().rev().map(|&axis| left.remove(axis)).collect();
    let form = ReductionRule::Xla { dimensions }
        .elaborate(&operand.shape)
        .expect("invariant: a graph's reductions are legal");
    // An operand that is converted for the sum keeps its name.
    let named = match graph[value].kind {
        NodeKind::Convert => graph[value].operands[0],
        _ => value,
    };
    let label = (graph.value_name(named), graph[named].array_type.dtype.name().to_owned());
    ExplainedReduction { op, label, form }
}
