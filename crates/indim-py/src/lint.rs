//! Findings about the broadcasts of models, as `indim/_lint.py` returns them.

use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{
    LintOptions, LintReport, Outline, OutlineNode, OutlineOptions, ProgramPart, ReadOptions,
    SarifLog, SourceFile, ValueType,
};
use indim_graph::terminal::printable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::load_error;
use crate::internal_error::guard;

/// The findings as text, as JSON and as SARIF, and the outline of the model as text.
type LintTexts = (String, String, String, String);

/// The findings about the program in a file, or in `content`; messages then call it `path`. `declared` has
/// types of values by their names, `allowed` the codes of findings that are left out.
#[pyfunction]
#[pyo3(signature = (path, content, function, declared, allowed))]
pub(crate) fn _lint(
    py: Python<'_>,
    path: &str,
    content: Option<Vec<u8>>,
    function: Option<String>,
    declared: Vec<(String, String)>,
    allowed: Vec<String>,
) -> PyResult<LintTexts> {
    guard(py, || {
        let source = match content {
            Some(content) => SourceFile::new(path, content),
            None => py.detach(|| SourceFile::open(path))?,
        };
        let options = LintOptions::new()
            .read(ReadOptions::new().function(function))
            .outline(OutlineOptions::new().declared(types(declared)?))
            .allowed(codes(&allowed)?);
        let report = py.detach(|| LintReport::new(source, &options));
        Ok(texts(&report.map_err(|error| load_error(py, &error))?))
    })
}

/// A node that indim does not compute: operator, name, operands (`None` for a missing one) and results. A
/// loop or branch with such nodes in its bodies is one, too; its operands end with the other values
/// that its bodies read.
type ForeignNode = (String, String, Vec<Option<String>>, Vec<Option<String>>);

/// A node in the body of a loop or branch: operator, name, and the operator and name of that loop or branch.
type InnerNode = (String, String, String, String);

/// The names of the inputs of a program, and the nodes that the outputs of a part of it need and indim does
/// not compute, in their order: those whose results a run can start at, and those in bodies.
#[pyfunction]
#[pyo3(signature = (path, content, function, part))]
pub(crate) fn _foreign_nodes(
    py: Python<'_>,
    path: &str,
    content: Option<Vec<u8>>,
    function: Option<String>,
    part: (Vec<String>, Vec<String>),
) -> PyResult<(Vec<String>, Vec<ForeignNode>, Vec<InnerNode>)> {
    guard(py, || {
        let source = match content {
            Some(content) => SourceFile::new(path, content),
            None => py.detach(|| SourceFile::open(path))?,
        };
        let read = ReadOptions::new().function(function);
        let options = LintOptions::new().read(read);
        let report = py.detach(|| LintReport::new(source, &options));
        let report = report.map_err(|error| load_error(py, &error))?;
        let outline = report.outline();
        let part = ProgramPart { from: part.0, to: part.1 };
        let inputs = outline.inputs.iter().map(|&input| outline.values[input].name.clone());
        Ok((inputs.collect(), foreign_nodes(outline, &part), inner_nodes(outline, &part)))
    })
}

fn foreign_nodes(outline: &Outline, part: &ProgramPart) -> Vec<ForeignNode> {
    let name = |index: usize| outline.values[index].run_name().map(str::to_owned);
    let is_reached =
        |node: &OutlineNode| node.results.iter().flatten().all(|&it| name(it).is_some());
    let nodes = outline.nodes.iter().zip(outline.needed_nodes(part));
    let foreign = nodes.filter(|(node, is_needed)| {
        let is_foreign = node.is_opaque || outline.has_opaque_body(node);
        *is_needed && is_foreign && is_reached(node)
    });
    let described = |(node, _): (&OutlineNode, bool)| {
        let captured = node.captured.iter().copied().map(Some);
        let captured = captured.filter(|value| !node.operands.contains(value));
        let operands = node.operands.iter().copied().chain(captured);
        let operands = operands.map(|operand| name(operand?)).collect();
        let results = node.results.iter().map(|result| name((*result)?)).collect();
        (node.operator.clone(), name_of(outline, node), operands, results)
    };
    foreign.map(described).collect()
}

fn inner_nodes(outline: &Outline, part: &ProgramPart) -> Vec<InnerNode> {
    let mut inner = Vec::new();
    let mut end = outline.nodes.len();
    // A node follows those of its bodies, so the last node that contains a node is the outermost.
    for (outer, is_needed) in outline.nodes.iter().zip(outline.needed_nodes(part)).rev() {
        if outer.bodies.is_empty() || outer.bodies.end > end {
            continue;
        }
        end = outer.bodies.start;
        let nodes = outline.nodes[outer.bodies.clone()].iter();
        for node in nodes.filter(|node| is_needed && node.is_opaque) {
            let [own, around] = [node, outer].map(|node| name_of(outline, node));
            inner.push((node.operator.clone(), own, outer.operator.clone(), around));
        }
    }
    inner
}

/// The name of a node, or that of its first result if it has none.
fn name_of(outline: &Outline, node: &OutlineNode) -> String {
    let result = node.results.iter().flatten().next().map(|&it| outline.values[it].name.clone());
    match node.name.is_empty() {
        true => result.unwrap_or_default(),
        false => node.name.clone(),
    }
}

fn texts(report: &LintReport) -> LintTexts {
    let mut log = SarifLog::default();
    log.add(report);
    (report.to_string(), report.to_json(), log.to_string(), report.outline().to_string())
}

fn types(declared: Vec<(String, String)>) -> PyResult<Vec<(String, ValueType)>> {
    let parse = |(name, text): (String, String)| match ValueType::parse(&text, &name) {
        Some(value_type) => Ok((name, value_type)),
        None => {
            let message =
                format!("a declared type is one such as 'f32[2, N]': {}", printable(&text));
            Err(PyValueError::new_err(message))
        }
    };
    declared.into_iter().map(parse).collect()
}

fn codes(allowed: &[String]) -> PyResult<Vec<ErrorCode>> {
    let unknown = |code: &String| {
        let error = indim::errors::error_page(code).err();
        let text = error.map_or_else(String::new, |error: Diagnostic| error.to_string());
        PyValueError::new_err(text.trim_end().to_owned())
    };
    allowed.iter().map(|code| code.parse().map_err(|_| unknown(code))).collect()
}
