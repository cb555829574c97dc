//! Findings about the broadcasts of models, as `indim/_lint.py` returns them.

use indim::errors::{Diagnostic, ErrorCode};
use indim::formats::{
    LintOptions, LintReport, OutlineNode, OutlineOptions, ProgramPart, ReadOptions, SarifLog,
    SourceFile, ValueType,
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

/// A node that indim does not compute: operator, name, operands (`None` for a missing one) and results.
type ForeignNode = (String, String, Vec<Option<String>>, Vec<Option<String>>);

/// The names of the inputs of a program, and the nodes that the outputs of a part of it need and indim does
/// not compute, in their order.
#[pyfunction]
#[pyo3(signature = (path, content, function, part))]
pub(crate) fn _foreign_nodes(
    py: Python<'_>,
    path: &str,
    content: Option<Vec<u8>>,
    function: Option<String>,
    part: (Vec<String>, Vec<String>),
) -> PyResult<(Vec<String>, Vec<ForeignNode>)> {
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
        let name = |&index: &usize| outline.values[index].name.clone();
        let names =
            |values: &[Option<usize>]| values.iter().map(|it| it.as_ref().map(name)).collect();
        let needed = outline.needed_nodes(&ProgramPart { from: part.0, to: part.1 });
        let nodes = outline.nodes.iter().zip(needed);
        // A node of a region has no value at which a part may end.
        let is_foreign = |(node, is_needed): &(&OutlineNode, bool)| {
            *is_needed && node.is_opaque && node.region.is_empty()
        };
        let foreign = |node: &OutlineNode| {
            let (operator, own) = (node.operator.clone(), node.name.clone());
            (operator, own, names(&node.operands), names(&node.results))
        };
        let foreign = nodes.filter(is_foreign).map(|(node, _)| foreign(node)).collect();
        Ok((outline.inputs.iter().map(name).collect(), foreign))
    })
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
