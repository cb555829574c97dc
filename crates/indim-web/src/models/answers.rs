//! The answers about a read model: its findings and counts, its nodes in parts, one node with drawings.

use indim::formats::{Finding, LintReport, Outline, OutlineBroadcast, OutlineNode};
use serde::{Deserialize, Serialize};

use super::{SkippedConstants, bad_request};
use crate::picture::Picture;
use crate::report::Refusal;

/// Maximum nodes of one answer.
const MAX_NODES: usize = 2000;

/// Maximum values in one list, such as the operands of a node or the inputs: as on the page of the command.
const MAX_LISTED: usize = 64;

/// Maximum bytes of a text to search for.
const MAX_SOUGHT_BYTES: usize = 200;

/// The whole model, without its nodes.
#[derive(Serialize)]
pub(super) struct ReportAnswer {
    ok: bool,
    file: String,
    format: &'static str,
    nodes: usize,
    opaque: usize,
    counts: Counts,
    /// The counts in words, as the command prints them.
    summary: String,
    findings: Vec<FindingAnswer>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    skipped: SkippedConstants,
}

#[derive(Serialize)]
struct Counts {
    legal: usize,
    illegal: usize,
    legal_if: usize,
    unknown: usize,
}

#[derive(Serialize)]
struct FindingAnswer {
    level: &'static str,
    code: &'static str,
    verdict: &'static str,
    label: String,
    place: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    drawing: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<usize>,
}

impl ReportAnswer {
    pub(super) fn new(
        report: &LintReport,
        format: &'static str,
        skipped: SkippedConstants,
    ) -> Self {
        let outline = report.outline();
        let counts = report.counts();
        let listed = |values: &[usize]| list(outline, values.iter().map(|&value| Some(value)));
        ReportAnswer {
            ok: true,
            file: indim_graph::terminal::printable(report.file()),
            format,
            nodes: outline.nodes.len(),
            opaque: outline.nodes.iter().filter(|node| node.is_opaque).count(),
            counts: Counts {
                legal: counts.legal,
                illegal: counts.illegal,
                legal_if: counts.legal_if,
                unknown: counts.unknown,
            },
            summary: outline.counts_text(),
            findings: report.findings().iter().map(|it| FindingAnswer::new(report, it)).collect(),
            inputs: listed(&outline.inputs),
            outputs: listed(&outline.outputs),
            skipped,
        }
    }
}

impl FindingAnswer {
    fn new(report: &LintReport, finding: &Finding) -> Self {
        let drawing = finding.drawing.as_ref().map(|drawing| {
            let text = drawing.to_string();
            text.lines().skip(1).collect::<Vec<_>>().join("\n")
        });
        FindingAnswer {
            level: finding.verdict.level().name(),
            code: finding.code.as_str(),
            verdict: finding.verdict.name(),
            label: finding.label.clone(),
            place: report.place(finding),
            message: finding.message.clone(),
            drawing: drawing.filter(|text| !text.is_empty()),
            repair: finding.repair.clone(),
            node: finding.node,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodesRequest {
    first: usize,
    count: usize,
}

/// Some of the nodes, each in a line.
#[derive(Serialize)]
pub(super) struct NodesAnswer {
    ok: bool,
    first: usize,
    nodes: Vec<NodeLine>,
}

#[derive(Serialize)]
struct NodeLine {
    label: String,
    operator: String,
    /// The first result with its type.
    result: String,
    is_opaque: bool,
    /// Whether the node is in a region or function.
    is_inner: bool,
    is_illegal: bool,
}

impl NodesAnswer {
    pub(super) fn new(report: &LintReport, request: NodesRequest) -> Result<Self, Box<Refusal>> {
        let outline = report.outline();
        let nodes = outline.nodes.iter().skip(request.first).take(request.count.min(MAX_NODES));
        let nodes = nodes.map(|node| NodeLine::new(outline, node)).collect();
        Ok(NodesAnswer { ok: true, first: request.first, nodes })
    }
}

impl NodeLine {
    fn new(outline: &Outline, node: &OutlineNode) -> Self {
        let result = node.results.iter().flatten().next();
        NodeLine {
            label: outline.label(node),
            operator: indim_graph::terminal::printable(&node.operator),
            result: result.map_or(String::new(), |&result| outline.typed(result)),
            is_opaque: node.is_opaque,
            is_inner: !node.region.is_empty(),
            is_illegal: node.is_illegal(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeRequest {
    node: usize,
}

/// One node.
#[derive(Serialize)]
pub(super) struct NodeAnswer {
    ok: bool,
    place: String,
    region: String,
    operands: Vec<String>,
    results: Vec<String>,
    attributes: Vec<String>,
    /// The broadcasts with their explicit form.
    broadcasts: Vec<DrawnBroadcast>,
    /// The verdicts in words, as the command prints them.
    verdicts: String,
}

#[derive(Serialize)]
struct DrawnBroadcast {
    title: String,
    picture: Picture,
}

impl NodeAnswer {
    pub(super) fn new(report: &LintReport, request: NodeRequest) -> Result<Self, Box<Refusal>> {
        let outline = report.outline();
        let Some(node) = outline.nodes.get(request.node) else {
            return Err(bad_request("the model has no such node"));
        };
        let attribute = |(name, text): &(String, String)| format!("{name}={text}");
        let drawn = |broadcast: &OutlineBroadcast| {
            let picture = Picture::of_outlined(broadcast)?;
            Some(DrawnBroadcast { title: format!("broadcast by {}", broadcast.rule), picture })
        };
        Ok(NodeAnswer {
            ok: true,
            place: report.place_of(node),
            region: node.region.to_string(),
            operands: list(outline, node.operands.iter().copied()),
            results: list(outline, node.results.iter().copied()),
            attributes: node.attributes.iter().take(MAX_LISTED).map(attribute).collect(),
            broadcasts: node.broadcasts.iter().filter_map(drawn).collect(),
            verdicts: outline.verdict_text(node),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRequest {
    text: String,
}

/// The nodes that contain a text.
#[derive(Serialize)]
pub(super) struct SearchAnswer {
    ok: bool,
    found: Vec<usize>,
}

impl SearchAnswer {
    pub(super) fn new(report: &LintReport, request: SearchRequest) -> Result<Self, Box<Refusal>> {
        let outline = report.outline();
        let sought = request.text.trim().to_lowercase();
        if sought.len() > MAX_SOUGHT_BYTES {
            return Err(bad_request("the text to search for is too long"));
        }
        let nodes = outline.nodes.iter().enumerate();
        let found = nodes.filter(|(_, node)| contains(report, node, &sought));
        let found = found.map(|(index, _)| index).collect();
        Ok(SearchAnswer { ok: true, found })
    }
}

/// Whether the page of a node contains a text in lower case.
fn contains(report: &LintReport, node: &OutlineNode, sought: &str) -> bool {
    let outline = report.outline();
    let has = |text: &str| text.to_lowercase().contains(sought);
    let values = || node.operands.iter().chain(&node.results).flatten();
    has(&outline.label(node))
        || has(&node.operator)
        || has(&node.region)
        || values().any(|&value| has(&outline.typed(value)))
        || node.attributes.iter().any(|(name, text)| has(&format!("{name}={text}")))
        || has(&report.place_of(node))
        || has(&outline.verdict_text(node))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextRequest {
    form: Form,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    /// The page that `indim explain --html` writes.
    Html,
    /// The drawing that `indim explain --svg` writes.
    Svg,
    /// The text that `indim lint` prints.
    Text,
}

/// The model as a file.
#[derive(Serialize)]
pub(super) struct TextAnswer {
    ok: bool,
    text: String,
}

impl TextAnswer {
    pub(super) fn new(report: &LintReport, request: TextRequest) -> Result<Self, Box<Refusal>> {
        let text = match request.form {
            Form::Html => report.to_html(),
            Form::Svg => report.to_svg(),
            Form::Text => report.to_string(),
        };
        Ok(TextAnswer { ok: true, text })
    }
}

/// The values with their types, at most [`MAX_LISTED`].
fn list(outline: &Outline, values: impl Iterator<Item = Option<usize>>) -> Vec<String> {
    let mut values = values;
    let text = |value: Option<usize>| value.map_or("-".to_owned(), |value| outline.typed(value));
    let mut listed: Vec<String> = values.by_ref().take(MAX_LISTED).map(text).collect();
    match values.count() {
        0 => {}
        more => listed.push(format!("and {more} more")),
    }
    listed
}
