//! Findings about the broadcasts of a model in a file, also of a model with nodes that indim does not
//! compute.

use core::fmt;

use indim_model::lint::{Finding, FindingLevel, FindingVerdict, findings};
#[cfg(feature = "json")]
use indim_model::outline::ValueType;
use indim_model::outline::{NodeCounts, Outline, OutlineNode, OutlineOptions, VerdictCounts};
use indim_model::{FormatError, FormatErrorKind, ReadOptions, SourceFile};
use indim_shape::ErrorCode;

use super::error::LoadError;
use super::registry::outline;

/// The nodes of a model with their types, and the findings about them.
///
/// ```
/// use indim::formats::{LintOptions, LintReport, SourceFile};
///
/// let text = "
/// func.func @main(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
///   %0 = stablehlo.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
///   return %0 : tensor<4x8xf32>
/// }";
/// let report = LintReport::new(SourceFile::new("bias.mlir", text), &LintOptions::default())?;
/// assert_eq!(report.counts().illegal, 1);
/// assert!(report.to_string().contains("bias.mlir:3:"));
/// # Ok::<(), indim::formats::LoadError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LintReport {
    source: SourceFile,
    outline: Outline,
    findings: Vec<Finding>,
}

/// Options of a lint.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintOptions {
    /// Options of reading.
    pub read: ReadOptions,
    /// Types that the caller declares for values of the file.
    pub outline: OutlineOptions,
    /// Codes of findings that are switched off.
    pub allowed: Vec<ErrorCode>,
}

impl LintOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Options of reading.
    pub fn read(self, read: ReadOptions) -> Self {
        LintOptions { read, ..self }
    }

    /// Types that the caller declares for values of the file.
    pub fn outline(self, outline: OutlineOptions) -> Self {
        LintOptions { outline, ..self }
    }

    /// Codes of findings that are switched off.
    pub fn allowed(self, codes: impl Into<Vec<ErrorCode>>) -> Self {
        LintOptions { allowed: codes.into(), ..self }
    }
}

impl LintReport {
    /// Finds illegal and unknown broadcasts in a file, and legal ones that are probably unintended. Nothing
    /// is computed, and weights are not read.
    ///
    /// # Errors
    /// Errors of the file itself: `unknown-format`, `damaged`, `limit`, `undefined`, `duplicate`, `cycle`,
    /// `wrong-element-count`; `undefined` also for a declared type of a value that the file lacks.
    pub fn new(source: SourceFile, options: &LintOptions) -> Result<LintReport, LoadError> {
        match outline(&source, &options.read, &options.outline) {
            Ok(outline) => {
                check_declared(&outline, &options.outline)
                    .map_err(|error| LoadError::new(error, &source))?;
                let findings = findings(&outline, &options.allowed);
                Ok(LintReport { source, outline, findings })
            }
            Err(error) => Err(LoadError::new(error, &source)),
        }
    }

    /// The nodes with their types.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The findings, in the order of the nodes.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The number of broadcasts with each verdict.
    pub fn counts(&self) -> VerdictCounts {
        self.outline.counts()
    }

    /// The number of other nodes that are illegal, legal under conditions, or that no rule judges.
    pub fn node_counts(&self) -> NodeCounts {
        self.outline.node_counts()
    }

    /// Whether no finding is an error, nor, if `strict`, about an unknown type. Findings that are switched
    /// off do not count.
    pub fn passes(&self, strict: bool) -> bool {
        let is_bad = |finding: &Finding| {
            finding.verdict.level() == FindingLevel::Error
                || (strict && finding.verdict == FindingVerdict::Unknown)
        };
        !self.findings.iter().any(is_bad)
    }

    /// The place of a finding: `model.onnx: node 4 ...` or `model.mlir:14:10`.
    pub fn place(&self, finding: &Finding) -> String {
        finding.location.shown(&self.source)
    }

    /// The place of a node within the file: `node 4 ...` or `line 14`.
    pub fn place_of(&self, node: &OutlineNode) -> String {
        match (&node.location.described, &node.location.span) {
            (Some(described), _) => described.clone(),
            (None, Some(span)) => format!("line {}", self.source.line_and_column(span.start).0),
            (None, None) => String::new(),
        }
    }

    /// Line and column of a finding in a text, counted from 1.
    pub fn line_and_column(&self, finding: &Finding) -> Option<(usize, usize)> {
        let span = finding.location.span.as_ref()?;
        Some(self.source.line_and_column(span.start))
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// Line and column of the start and of the end of a finding in a text, counted from 1.
    pub fn region(&self, finding: &Finding) -> Option<[(usize, usize); 2]> {
        let span = finding.location.span.as_ref()?;
        Some([span.start, span.end].map(|position| self.source.line_and_column(position)))
    }

    /// The findings and the counts as one JSON object.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        self.json().to_string()
    }

    #[cfg(feature = "json")]
    pub(super) fn json(&self) -> serde_json::Value {
        let findings = self.findings.iter().map(|finding| self.finding_json(finding));
        let (counts, nodes) = (self.counts(), self.node_counts());
        serde_json::json!({
            "file": indim_graph::terminal::printable(self.source.name()),
            "findings": findings.collect::<Vec<_>>(),
            "broadcasts": {
                "legal": counts.legal,
                "illegal": counts.illegal,
                "legal_if": counts.legal_if,
                "unknown": counts.unknown,
            },
            "other_nodes": {
                "illegal": nodes.illegal,
                "legal_if": nodes.legal_if,
                "not_judged": nodes.not_judged,
                "first_not_judged": nodes.first_not_judged,
            },
        })
    }

    #[cfg(feature = "json")]
    fn finding_json(&self, finding: &Finding) -> serde_json::Value {
        let position = self.line_and_column(finding);
        let operand = |(name, value_type): &(String, ValueType)| {
            let text = value_type.to_string();
            serde_json::json!({ "name": name, "type": text })
        };
        serde_json::json!({
            "code": finding.code.as_str(),
            "verdict": finding.verdict.name(),
            "level": finding.verdict.level().name(),
            "node": finding.label,
            "operator": finding.operator,
            "operands": finding.operands.iter().map(operand).collect::<Vec<_>>(),
            "results": finding.results,
            "place": self.place(finding),
            "line": position.map(|(line, _)| line),
            "column": position.map(|(_, column)| column),
            "message": finding.message,
            "drawing": finding.drawing.as_ref().map(ToString::to_string),
            "repair": finding.repair,
        })
    }
}

/// Checks that the file has each value whose type the caller declares.
fn check_declared(outline: &Outline, options: &OutlineOptions) -> Result<(), FormatError> {
    let is_missing = |name: &str| !outline.values.iter().any(|value| value.name == name);
    match options.declared.iter().find(|(name, _)| is_missing(name)) {
        Some((name, _)) => {
            let (what, name) = ("value", name.clone());
            Err(FormatErrorKind::Undefined { what, name }.without_location())
        }
        None => Ok(()),
    }
}

impl fmt::Display for LintReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            let (level, code) = (finding.verdict.level().name(), finding.code);
            writeln!(formatter, "{}: {}", self.place(finding), finding.label)?;
            writeln!(formatter, "  {level}[{code}] {}: {}", finding.verdict, finding.message)?;
            if let Some(drawing) = &finding.drawing {
                for line in drawing.to_string().lines().skip(1) {
                    writeln!(formatter, "  {line}")?;
                }
            }
            if let Some(repair) = &finding.repair {
                writeln!(formatter, "   = help: {repair}")?;
            }
        }
        writeln!(
            formatter,
            "{}: {}",
            indim_graph::terminal::printable(self.source.name()),
            self.outline.counts_text()
        )
    }
}
