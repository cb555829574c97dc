//! An outline as text: each node with its types and broadcasts, then the count of verdicts.

use core::fmt;

use super::broadcast::{OutlineBroadcast, Verdict};
use super::node::{OutlineNode, TypeSource};
use super::{Outline, ValueIndex};

/// Maximum operands and attributes of one line; more do not help the reader.
const MAX_LISTED: usize = 8;

impl Outline {
    /// `x: f32[N, 3]`.
    pub fn typed(&self, index: ValueIndex) -> String {
        let value = &self.values[index];
        let name = match value.name.is_empty() {
            true => format!("#{index}"),
            false => indim_graph::terminal::printable(&value.name),
        };
        format!("{name}: {}", value.value_type)
    }

    fn list(&self, values: &[Option<ValueIndex>]) -> String {
        let text = |value: &Option<ValueIndex>| value.map_or("-".to_owned(), |it| self.typed(it));
        let mut listed: Vec<String> = values.iter().take(MAX_LISTED).map(text).collect();
        if values.len() > MAX_LISTED {
            listed.push(format!("and {} more", values.len() - MAX_LISTED));
        }
        listed.join(", ")
    }

    fn node_text(&self, node: &OutlineNode, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if node.is_opaque { "opaque " } else { "" };
        let region = match node.region.is_empty() {
            true => String::new(),
            false => format!(" in {}", node.region),
        };
        let operator = indim_graph::terminal::printable(&node.operator);
        writeln!(formatter, "{kind}{} ({operator}){region}", self.label(node))?;
        writeln!(formatter, "  {} -> {}", self.list(&node.operands), self.list(&node.results))?;
        if node.is_opaque && !node.attributes.is_empty() {
            let attribute = |(name, text): &(String, String)| format!("{name}={text}");
            let texts: Vec<String> =
                node.attributes.iter().take(MAX_LISTED).map(attribute).collect();
            writeln!(formatter, "  {}", texts.join(", "))?;
        }
        write!(formatter, "{}", VerdictText { outline: self, node })
    }

    fn broadcast_text(
        &self,
        node: &OutlineNode,
        broadcast: &OutlineBroadcast,
        formatter: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let rule = &broadcast.rule;
        match &broadcast.verdict {
            Verdict::Legal(form) => {
                let maps: Vec<String> = form.maps.iter().map(ToString::to_string).collect();
                write!(formatter, "  {rule}: legal, axes {}", maps.join(" "))?;
                match broadcast.repeated_bytes() {
                    Some(0) | None => writeln!(formatter),
                    Some(bytes) => writeln!(formatter, ", repeats {bytes} bytes"),
                }
            }
            Verdict::LegalIf(_, conditions) => {
                let texts: Vec<String> = conditions.iter().map(|it| it.shown()).collect();
                writeln!(formatter, "  {rule}: legal if {}", texts.join("; and if "))
            }
            Verdict::Illegal(diagnostic) => {
                writeln!(formatter, "  {rule}: illegal")?;
                write_indented(&diagnostic.to_string(), formatter)
            }
            Verdict::Unknown => {
                let because = self.cause_of(node).map(|cause| self.label(&self.nodes[cause]));
                let because = because.map_or(String::new(), |it| format!(" because of {it}"));
                writeln!(formatter, "  {rule}: unknown{because}")
            }
        }
    }

    /// The broadcasts of a node with their verdicts, its conditions and its errors; empty for a node without
    /// any.
    pub fn verdict_text(&self, node: &OutlineNode) -> String {
        VerdictText { outline: self, node }.to_string()
    }

    /// The first node that makes the shape of an operand unknown.
    pub fn cause_of(&self, node: &OutlineNode) -> Option<usize> {
        node.operands.iter().flatten().find_map(|&operand| {
            let value = &self.values[operand];
            match value.source {
                TypeSource::UnknownBecauseOf(cause) if value.value_type.sizes.is_none() => {
                    Some(cause)
                }
                _ => None,
            }
        })
    }
}

/// The broadcasts of a node with their verdicts, its conditions and its errors.
struct VerdictText<'o> {
    outline: &'o Outline,
    node: &'o OutlineNode,
}

impl fmt::Display for VerdictText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VerdictText { outline, node } = self;
        for broadcast in &node.broadcasts {
            outline.broadcast_text(node, broadcast, formatter)?;
        }
        for condition in &node.conditions {
            writeln!(formatter, "  sizes: legal if {}", condition.shown())?;
        }
        node.problems.iter().try_for_each(|problem| write_indented(&problem.to_string(), formatter))
    }
}

fn write_indented(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(formatter, "    {line}"))
}

impl fmt::Display for Outline {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &input in &self.inputs {
            writeln!(formatter, "input {}", self.typed(input))?;
        }
        for node in &self.nodes {
            self.node_text(node, formatter)?;
        }
        for contradiction in &self.contradictions {
            writeln!(formatter, "contradiction: {}", contradiction.message)?;
        }
        for &output in &self.outputs {
            writeln!(formatter, "output {}", self.typed(output))?;
        }
        let opaque = self.nodes.iter().filter(|node| node.is_opaque).count();
        writeln!(formatter, "{} nodes, {opaque} opaque", self.nodes.len())?;
        writeln!(formatter, "{}", self.counts_text())
    }
}
