//! A model as one HTML page, with its nodes, types, broadcasts and findings, and a search; or as a drawing.

use core::fmt::{self, Write as _};

use indim_graph::terminal::printable;
use indim_model::lint::Finding;
use indim_model::outline::{Outline, OutlineNode, ValueIndex};

use super::lint::LintReport;

/// Maximum number of values in one list of the page, such as the operands of a node or the inputs.
const MAX_LISTED: usize = 64;

/// The head of the page. Its content security policy forbids every request, so the page sends nothing.
const HEAD: &str = "\
<!DOCTYPE html>
<html lang=\"en\"><head><meta charset=\"utf-8\"/>
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'\"/>
<meta name=\"viewport\" content=\"width=device-width\"/>
";

/// The style sheet. `content-visibility` skips the layout of nodes outside the window, so a long page scrolls
/// smoothly.
const STYLE: &str = "\
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; \
color: #1d2733; background: #fff }
header { position: sticky; top: 0; background: #fff; padding-bottom: .5rem; border-bottom: 1px solid #d5dce4 }
h1 { font-size: 1.2rem; margin: 0 } h2 { font-size: 1rem; margin: 1rem 0 .3rem }
input { width: 100%; box-sizing: border-box; font: inherit; padding: .3rem }
code, pre { font: 13px/1.4 ui-monospace, monospace } pre { overflow-x: auto; margin: .3rem 0 }
ol { padding-left: 1.5rem } li.error, .illegal { color: #a3111c } li.warning { color: #8a5200 }
.node { content-visibility: auto; contain-intrinsic-size: auto 2rem; margin: 2px 0; padding: .15rem .5rem; \
background: #f4f7fb; border-left: 4px solid #7fa6d6 }
.opaque { border-left-color: #b9802f; background: #fbf6ec } .inner { margin-left: 2rem }
.node:target { outline: 2px solid #2f6fc4 } .hidden { display: none } summary i { color: #5a6877 }
";

/// The search, which hides nodes without the text, and the links of findings, which open and show their
/// nodes, also those that the search hides.
const SCRIPT: &str = "\
const nodes = [...document.querySelectorAll('.node')];
const texts = nodes.map(node => node.textContent.toLowerCase());
const count = document.getElementById('count');
document.getElementById('search').addEventListener('input', event => {
  const sought = event.target.value.toLowerCase();
  let found = 0;
  nodes.forEach((node, at) => {
    const is = texts[at].includes(sought);
    node.classList.toggle('hidden', !is);
    found += is;
  });
  count.textContent = found + ' of ' + nodes.length + ' nodes';
});
const open = () => {
  const node = document.getElementById(location.hash.slice(1));
  if (!node) return;
  node.open = true;
  node.classList.remove('hidden');
  node.scrollIntoView({ block: 'center' });
};
addEventListener('hashchange', open);
addEventListener('click', event => { if (event.target.hash === location.hash) open(); });
open();
";

impl LintReport {
    /// The model as one HTML page without external resources: a collapsible entry for each node with its
    /// types and broadcasts, a search, and the findings with links to their nodes. Opaque nodes are marked.
    ///
    /// ```
    /// use indim::formats::{LintOptions, LintReport, SourceFile};
    ///
    /// let text = "
    /// func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    ///   %0 = stablehlo.mine %x : (tensor<4xf32>) -> tensor<4xf32>
    ///   return %0 : tensor<4xf32>
    /// }";
    /// let report = LintReport::new(SourceFile::new("mine.mlir", text), &LintOptions::default())?;
    /// assert!(report.to_html().contains("<details class=\"node opaque\" id=\"n0\">"));
    /// # Ok::<(), indim::formats::LoadError>(())
    /// ```
    pub fn to_html(&self) -> String {
        let mut page = HEAD.to_owned();
        // Writing to a `String` does not fail.
        let _ = self.body(&mut page);
        page
    }

    /// The model as an SVG document: opaque nodes as boxes with their types, and the broadcasts that repeat
    /// elements, that have conditions, or that are illegal or unknown.
    ///
    /// ```
    /// use indim::formats::{LintOptions, LintReport, SourceFile};
    ///
    /// let text = "
    /// func.func @main(%x: tensor<4xf32>) -> tensor<2x4xf32> {
    ///   %0 = stablehlo.mine %x : (tensor<4xf32>) -> tensor<4xf32>
    ///   %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    ///   return %1 : tensor<2x4xf32>
    /// }";
    /// let report = LintReport::new(SourceFile::new("mine.mlir", text), &LintOptions::default())?;
    /// let drawing = report.to_svg();
    /// assert!(drawing.contains("opaque 0 (stablehlo.mine)") && drawing.contains("× 2"));
    /// # Ok::<(), indim::formats::LoadError>(())
    /// ```
    pub fn to_svg(&self) -> String {
        crate::explain::outline_document(self.outline())
    }

    fn body(&self, page: &mut String) -> fmt::Result {
        let outline = self.outline();
        let name = escaped(&printable(self.file()));
        let opaque = outline.nodes.iter().filter(|node| node.is_opaque).count();
        writeln!(page, "<title>{name}</title><style>{STYLE}</style></head><body>")?;
        writeln!(page, "<header><h1>{name}</h1>")?;
        let nodes = outline.nodes.len();
        writeln!(
            page,
            "<p>{nodes} nodes, {opaque} opaque; {}</p>",
            escaped(&outline.counts_text())
        )?;
        writeln!(
            page,
            "<input id=\"search\" type=\"search\" placeholder=\"Search nodes and types\"/>"
        )?;
        writeln!(page, "<span id=\"count\"></span></header>")?;
        writeln!(page, "<h2>Findings ({})</h2>\n<ol>", self.findings().len())?;
        self.findings().iter().try_for_each(|finding| write_finding(page, finding))?;
        writeln!(page, "</ol>\n<h2>Inputs</h2>")?;
        write_values(page, outline, outline.inputs.iter().map(|&input| Some(input)))?;
        writeln!(page, "<h2>Nodes</h2>")?;
        for (number, node) in outline.nodes.iter().enumerate() {
            self.write_node(page, number, node)?;
        }
        writeln!(page, "<h2>Outputs</h2>")?;
        write_values(page, outline, outline.outputs.iter().map(|&output| Some(output)))?;
        writeln!(page, "<script>{SCRIPT}</script></body></html>")
    }

    fn write_node(&self, page: &mut String, number: usize, node: &OutlineNode) -> fmt::Result {
        let outline = self.outline();
        let opaque = if node.is_opaque { " opaque" } else { "" };
        let inner = if node.region.is_empty() { "" } else { " inner" };
        let mark = if node.is_illegal() { " <b class=\"illegal\">illegal</b>" } else { "" };
        let label = escaped(&outline.label(node));
        let operator = escaped(&printable(&node.operator));
        let result = node.results.iter().flatten().next();
        let result = result.map_or(String::new(), |&result| escaped(&outline.typed(result)));
        writeln!(page, "<details class=\"node{opaque}{inner}\" id=\"n{number}\"><summary>")?;
        writeln!(page, "<b>{label}</b> <i>{operator}</i> <code>{result}</code>{mark}</summary>")?;
        writeln!(page, "<p>{}</p>", escaped(&self.place_of(node)))?;
        if !node.region.is_empty() {
            writeln!(page, "<p>in <code>{}</code></p>", escaped(&node.region))?;
        }
        write_values(page, outline, node.operands.iter().copied())?;
        writeln!(page, "<pre>gives</pre>")?;
        write_values(page, outline, node.results.iter().copied())?;
        let attributes = node.attributes.iter().map(|(name, text)| format!("{name}={text}"));
        let attributes: Vec<String> = attributes.collect();
        if !attributes.is_empty() {
            writeln!(page, "<pre>{}</pre>", escaped(&attributes.join("\n")))?;
        }
        let verdicts = outline.verdict_text(node);
        if !verdicts.is_empty() {
            writeln!(page, "<pre>{}</pre>", escaped(&verdicts))?;
        }
        writeln!(page, "</details>")
    }
}

fn write_finding(page: &mut String, finding: &Finding) -> fmt::Result {
    let level = finding.verdict.level().name();
    let label = escaped(&finding.label);
    let node = finding.node.map_or(String::new(), |node| format!("#n{node}"));
    let message = escaped(&finding.message);
    write!(page, "<li class=\"{level}\"><a href=\"{node}\">{label}</a> ")?;
    write!(page, "<code>{level}[{}]</code> {}: {message}", finding.code, finding.verdict)?;
    if let Some(repair) = &finding.repair {
        write!(page, "<br/>help: {}", escaped(repair))?;
    }
    writeln!(page, "</li>")
}

fn write_values(
    page: &mut String,
    outline: &Outline,
    values: impl Iterator<Item = Option<ValueIndex>>,
) -> fmt::Result {
    write!(page, "<pre>")?;
    let mut values = values;
    for value in values.by_ref().take(MAX_LISTED) {
        let text = value.map_or("-".to_owned(), |value| outline.typed(value));
        writeln!(page, "{}", escaped(&text))?;
    }
    match values.count() {
        0 => writeln!(page, "</pre>"),
        more => writeln!(page, "and {more} more</pre>"),
    }
}

/// Escapes the special characters of HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
