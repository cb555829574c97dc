//! The numbers of broadcasts and of other nodes with each verdict.

use core::fmt;

use super::broadcast::Verdict;
use super::node::{OutlineNode, TypeSource};
use super::{Outline, operator_label};

/// The number of broadcasts with each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerdictCounts {
    /// Legal for all sizes.
    pub legal: usize,
    /// Illegal.
    pub illegal: usize,
    /// Legal under conditions.
    pub legal_if: usize,
    /// Unknown.
    pub unknown: usize,
}

/// The number of nodes without broadcasts that are not simply legal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeCounts {
    /// Nodes whose operands do not fit their operator.
    pub illegal: usize,
    /// Nodes that are legal under conditions, such as products of open sizes.
    pub legal_if: usize,
    /// Nodes that no rule judges: no rule knows the operator, or an operand has an unknown rank.
    pub not_judged: usize,
    /// The first node that no rule judges: its operator, and its name if it has one.
    pub first_not_judged: Option<String>,
}

impl Outline {
    /// The number of broadcasts with each verdict.
    pub fn counts(&self) -> VerdictCounts {
        let mut counts = VerdictCounts::default();
        for broadcast in self.nodes.iter().flat_map(|node| &node.broadcasts) {
            match broadcast.verdict {
                Verdict::Legal(_) => counts.legal += 1,
                Verdict::LegalIf(..) => counts.legal_if += 1,
                Verdict::Illegal(_) => counts.illegal += 1,
                Verdict::Unknown => counts.unknown += 1,
            }
        }
        counts
    }

    /// The number of nodes without broadcasts that are illegal, legal under conditions, or not judged.
    ///
    /// ```
    /// use indim_model::outline::{Outline, OutlineNode};
    ///
    /// let node = OutlineNode { operator: "my.Foo".into(), is_opaque: true, ..OutlineNode::default() };
    /// let outline = Outline { nodes: vec![node], ..Outline::default() };
    /// assert_eq!(outline.node_counts().not_judged, 1);
    /// let last = "0 broadcasts: 0 legal, 0 illegal, 0 legal if, 0 unknown; \
    ///     other nodes: 0 illegal, 0 legal if, 1 not judged (first my.Foo)";
    /// assert_eq!(outline.counts_text(), last);
    /// ```
    pub fn node_counts(&self) -> NodeCounts {
        let mut counts = NodeCounts::default();
        for node in self.nodes.iter().filter(|node| node.broadcasts.is_empty()) {
            if !node.problems.is_empty() {
                counts.illegal += 1;
            } else if !node.conditions.is_empty() {
                counts.legal_if += 1;
            } else if !self.is_judged(node) {
                counts.not_judged += 1;
                let label = || operator_label(&node.operator, &node.name);
                counts.first_not_judged.get_or_insert_with(label);
            }
        }
        counts
    }

    /// The counts of both as one sentence; that of the nodes only if one of its numbers is not 0.
    pub fn counts_text(&self) -> String {
        format!("{}{}", self.counts(), self.node_counts())
    }

    /// Whether a rule gave the results of a node: it knows the operator and the ranks of the operands.
    fn is_judged(&self, node: &OutlineNode) -> bool {
        let mut results = node.results.iter().flatten().map(|&result| &self.values[result]);
        match node.is_opaque {
            true => results.any(|value| value.source == TypeSource::Rule),
            false => !results.any(|value| {
                matches!(value.source, TypeSource::UnknownBecauseOf(_))
                    && value.value_type.sizes.is_none()
            }),
        }
    }
}

impl fmt::Display for VerdictCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VerdictCounts { legal, illegal, legal_if, unknown } = self;
        let all = legal + illegal + legal_if + unknown;
        let noun = if all == 1 { "broadcast" } else { "broadcasts" };
        write!(
            formatter,
            "{all} {noun}: {legal} legal, {illegal} illegal, {legal_if} legal if, {unknown} unknown"
        )
    }
}

impl fmt::Display for NodeCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeCounts { illegal, legal_if, not_judged, first_not_judged } = self;
        if illegal + legal_if + not_judged == 0 {
            return Ok(());
        }
        write!(
            formatter,
            "; other nodes: {illegal} illegal, {legal_if} legal if, {not_judged} not judged"
        )?;
        match first_not_judged {
            Some(first) => {
                write!(formatter, " (first {})", indim_graph::terminal::printable(first))
            }
            None => Ok(()),
        }
    }
}
