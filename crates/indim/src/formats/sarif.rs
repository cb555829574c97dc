//! Findings as a SARIF log, which review tools read.

use core::fmt;

use indim_model::lint::Finding;
use indim_shape::{Diagnostic, ErrorCode};
use serde_json::{Value, json};

use super::lint::LintReport;

/// The version of the standard.
const VERSION: &str = "2.1.0";

/// The schema of the version.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The findings about several files as one SARIF 2.1.0 log. `Display` writes the log.
///
/// ```
/// use indim::formats::{LintOptions, LintReport, SarifLog, SourceFile};
///
/// let text = "
/// func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
///   %0 = stablehlo.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
///   return %0 : tensor<4x8xf32>
/// }";
/// let report = LintReport::new(SourceFile::new("bias.mlir", text), &LintOptions::default())?;
/// let mut log = SarifLog::default();
/// log.add(&report);
/// let log: serde_json::Value = serde_json::from_str(&log.to_string()).expect("JSON");
/// let result = &log["runs"][0]["results"][0];
/// assert_eq!(result["ruleId"], "shapes-differ");
/// assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 3);
/// # Ok::<(), indim::formats::LoadError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SarifLog {
    /// The codes of the results, in the order of their first occurrence.
    rules: Vec<ErrorCode>,
    results: Vec<Value>,
}

impl SarifLog {
    /// Adds the findings about a file.
    pub fn add(&mut self, report: &LintReport) {
        for finding in report.findings() {
            let result = self.finding(report, finding);
            self.results.push(result);
        }
    }

    /// Adds an error for a file that cannot be read.
    pub fn add_refused(&mut self, file: &str, error: &Diagnostic) {
        let location = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) } } });
        let result = json!({
            "ruleId": error.code.as_str(),
            "ruleIndex": self.rule(error.code),
            "level": "error",
            "message": { "text": error.headline },
            "locations": [location],
        });
        self.results.push(result);
    }

    fn finding(&mut self, report: &LintReport, finding: &Finding) -> Value {
        let mut physical = json!({ "artifactLocation": { "uri": uri(report.file()) } });
        if let Some([start, end]) = report.region(finding) {
            physical["region"] = json!({
                "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1,
            });
        }
        let operands = finding
            .operands
            .iter()
            .map(|(name, value_type)| json!({ "name": name, "type": value_type.to_string() }));
        let operands: Vec<Value> = operands.collect();
        json!({
            "ruleId": finding.code.as_str(),
            "ruleIndex": self.rule(finding.code),
            "level": finding.verdict.level().name(),
            "message": message(finding),
            "locations": [{
                "physicalLocation": physical,
                "logicalLocations": [{ "name": finding.label, "kind": "node" }],
            }],
            "properties": {
                "verdict": finding.verdict.name(),
                "operator": finding.operator,
                "operands": operands,
                "results": finding.results,
                "repair": finding.repair,
            },
        })
    }

    /// The index of a code in `rules`; a new code is appended.
    fn rule(&mut self, code: ErrorCode) -> usize {
        let known = self.rules.iter().position(|known| *known == code);
        known.unwrap_or_else(|| {
            self.rules.push(code);
            self.rules.len() - 1
        })
    }
}

impl fmt::Display for SarifLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = |code: &ErrorCode| {
            let entry = code.entry();
            let help =
                format!("`indim explain --code {code}` explains it, `--allow {code}` hides it.");
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": entry.title },
                "fullDescription": { "text": entry.explanation },
                "help": { "text": help },
            })
        };
        let rules: Vec<Value> = self.rules.iter().map(rule).collect();
        let driver =
            json!({ "name": "indim", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
        let run = json!({
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": self.results,
        });
        let log = json!({ "$schema": SCHEMA, "version": VERSION, "runs": [run] });
        write!(formatter, "{log}")
    }
}

/// The message of a finding: a sentence with axes and sizes, and the drawing as Markdown.
fn message(finding: &Finding) -> Value {
    let mut text = finding.message.clone();
    let marks = finding.drawing.iter().flat_map(|drawing| &drawing.lines);
    for mark in marks.filter_map(|line| line.mark.as_ref()).filter(|it| !it.message.is_empty()) {
        text += &format!(": {}", mark.message);
    }
    if let Some(repair) = &finding.repair {
        text += &format!(". Help: {repair}.");
    }
    match &finding.drawing {
        Some(drawing) => {
            let repair = finding.repair.iter().map(|repair| format!("   = help: {repair}\n"));
            let repair: String = repair.collect();
            let markdown = format!("```text\n{drawing}{repair}```");
            json!({ "text": text, "markdown": markdown })
        }
        None => json!({ "text": text }),
    }
}

/// The URI reference of a path: absolute paths become `file:` URIs, separators become slashes.
fn uri(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let is_drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    let mut uri = match (path.starts_with('/'), is_drive) {
        (true, _) => "file://".to_owned(),
        (_, true) => "file:///".to_owned(),
        _ => String::new(),
    };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_are_references_of_uris() {
        assert_eq!(uri("a folder/b:c#.onnx"), "a%20folder/b%3Ac%23.onnx");
        assert_eq!(uri("/tmp/ü.onnx"), "file:///tmp/%C3%BC.onnx");
    }
}
