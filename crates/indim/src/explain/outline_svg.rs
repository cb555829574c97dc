//! Outlines of models, which list every node, as an SVG document: also of models with nodes that indim does
//! not compute.

use indim_graph::terminal::{printable, width};
use indim_model::outline::{
    NamedCondition, Outline, OutlineBroadcast, OutlineNode, SymbolicSize, ValueType, Verdict,
};

use super::svg::{Diagram, DiagramCell, document_of, message, operand_cell};

/// Maximum number of operands that are drawn for a node, and maximum number of results.
const MAX_ROWS: usize = 32;

/// A document about a model with opaque or illegal nodes. It draws the broadcasts that repeat elements, that
/// have conditions, or that are unknown, each opaque node as a box with its types, and each illegal node as a
/// box with its error.
pub(crate) fn outline_document(outline: &Outline) -> String {
    let pictures: Vec<Diagram> =
        outline.nodes.iter().flat_map(|node| Diagram::of_node(outline, node)).collect();
    match pictures.is_empty() {
        true => message("nothing is broadcast"),
        false => document_of(pictures, false),
    }
}

impl Diagram {
    /// The diagrams of a node of an outline.
    fn of_node(outline: &Outline, node: &OutlineNode) -> Vec<Diagram> {
        let label = format!("{} ({})", outline.label(node), printable(&node.operator));
        if node.is_illegal() {
            return Diagram::of_errors(&label, node);
        }
        if node.is_opaque {
            let title = format!("opaque {label}");
            let mut diagram = Diagram::of_values(outline, title, node);
            diagram.surround = Some("opaque");
            return vec![diagram];
        }
        let is_drawn = |it: &&OutlineBroadcast| {
            let operands = 0..it.operands.len();
            !matches!(it.verdict, Verdict::Legal(_))
                || operands.into_iter().any(|operand| it.expands(operand))
        };
        let drawn = node.broadcasts.iter().filter(is_drawn);
        drawn.map(|it| Diagram::of_outlined(outline, &label, node, it)).collect()
    }

    /// The diagram of a broadcast whose sizes may be symbolic; without cells if the explicit form is
    /// unknown.
    fn of_outlined(
        outline: &Outline,
        label: &str,
        node: &OutlineNode,
        broadcast: &OutlineBroadcast,
    ) -> Diagram {
        let verdict = match &broadcast.verdict {
            Verdict::Legal(_) => "legal".to_owned(),
            Verdict::LegalIf(_, conditions) => {
                let conditions: Vec<String> =
                    conditions.iter().map(NamedCondition::shown).collect();
                format!("legal if {}", conditions.join(" and "))
            }
            Verdict::Illegal(_) => "illegal".to_owned(),
            Verdict::Unknown => "unknown".to_owned(),
        };
        let title = format!("{label}, {}: {verdict}", broadcast.rule);
        let Some(form) = broadcast.form() else { return Diagram::of_values(outline, title, node) };
        let row = |(index, (name, value_type)): (usize, &(String, ValueType))| {
            let sizes = value_type.sizes.as_deref().unwrap_or_default();
            let map = form.maps.get(index).map_or(&[][..], |map| &map[..]);
            let cell = |(axis, size): (usize, &SymbolicSize)| {
                operand_cell(map.iter().position(|&to| to == axis).map(|from| &sizes[from]), size)
            };
            (format!("{name} : {value_type}"), form.result.iter().enumerate().map(cell).collect())
        };
        let mut rows: Vec<(String, Vec<DiagramCell>)> =
            broadcast.operands.iter().take(MAX_ROWS).enumerate().map(row).collect();
        let result: Vec<String> = form.result.iter().map(ToString::to_string).collect();
        let label = format!("result : [{}]", result.join(", "));
        rows.push((label, result.into_iter().map(|size| ("result", size)).collect()));
        let cells = rows.iter().flat_map(|(_, cells)| cells);
        let widest = cells.map(|(_, size)| width(size)).max().unwrap_or(0);
        Diagram::new(title, rows, widest)
    }

    /// The diagrams of an illegal node: its errors with their drawings.
    fn of_errors(label: &str, node: &OutlineNode) -> Vec<Diagram> {
        let of_broadcasts = node.broadcasts.iter().filter_map(|it| match &it.verdict {
            Verdict::Illegal(diagnostic) => Some(&**diagnostic),
            _ => None,
        });
        let opaque = if node.is_opaque { "opaque " } else { "" };
        let drawn = of_broadcasts.chain(&node.problems).map(|diagnostic| {
            let mut diagram = Diagram::new(format!("{opaque}{label}: illegal"), Vec::new(), 0);
            diagram.lines = diagnostic.to_string().lines().map(str::to_owned).collect();
            diagram.surround = Some("illegal");
            diagram
        });
        drawn.collect()
    }

    /// A diagram with the types of operands and results, without cells.
    fn of_values(outline: &Outline, title: String, node: &OutlineNode) -> Diagram {
        let operands = node.operands.iter().flatten().map(|&it| outline.typed(it));
        let results = node.results.iter().flatten().map(|&it| format!("→ {}", outline.typed(it)));
        let rows = operands.take(MAX_ROWS).chain(results.take(MAX_ROWS));
        Diagram::new(title, rows.map(|label| (label, Vec::new())).collect(), 0)
    }
}
