//! A finding: its code, verdict, location, sentence, drawing and repair.

use core::fmt;

use indim_shape::{Diagnostic, ErrorCode};

use crate::error::Location;
use crate::outline::{Contradiction, Outline, OutlineNode, ValueType};

/// Maximum number of operands that a finding lists. Only a `Concat` or a call has more.
const MAX_OPERANDS: usize = 64;

/// A finding about a node of a model.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The code, by which a user can switch the finding off.
    pub code: ErrorCode,
    /// The verdict.
    pub verdict: FindingVerdict,
    /// Index of the node in the outline.
    pub node: Option<usize>,
    /// Label of the node.
    pub label: String,
    /// Operator of the node.
    pub operator: String,
    /// Names and types of the operands of the node.
    pub operands: Vec<(String, ValueType)>,
    /// Names of the results of the node.
    pub results: Vec<String>,
    /// Place in the file.
    pub location: Location,
    /// The fault in one sentence, with the reason why it matters.
    pub message: String,
    /// Drawing of an error.
    pub drawing: Option<Diagnostic>,
    /// A repair in one sentence, if one was found.
    pub repair: Option<String>,
}

/// The verdict of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingVerdict {
    /// No runtime can compute the node.
    Illegal,
    /// The file states another type than its nodes give.
    Contradiction,
    /// Legal, but probably not intended.
    Suspicious,
    /// Legal if sizes agree.
    LegalIf,
    /// Undecided, because the type of a value is unknown.
    Unknown,
    /// Legal; a simpler program does the same, or the fact is worth knowing.
    Advice,
}

/// The severity of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// Information, not a fault.
    Note,
    /// Probably a mistake.
    Warning,
    /// Certainly a mistake.
    Error,
}

impl FindingVerdict {
    /// `illegal`, `contradiction`, `suspicious`, `legal-if`, `unknown`, `advice`.
    pub const fn name(self) -> &'static str {
        match self {
            FindingVerdict::Illegal => "illegal",
            FindingVerdict::Contradiction => "contradiction",
            FindingVerdict::Suspicious => "suspicious",
            FindingVerdict::LegalIf => "legal-if",
            FindingVerdict::Unknown => "unknown",
            FindingVerdict::Advice => "advice",
        }
    }

    /// The severity.
    pub const fn level(self) -> FindingLevel {
        match self {
            FindingVerdict::Illegal | FindingVerdict::Contradiction => FindingLevel::Error,
            FindingVerdict::Suspicious => FindingLevel::Warning,
            FindingVerdict::LegalIf | FindingVerdict::Unknown | FindingVerdict::Advice => {
                FindingLevel::Note
            }
        }
    }
}

impl FindingLevel {
    /// `note`, `warning`, `error`.
    pub const fn name(self) -> &'static str {
        match self {
            FindingLevel::Note => "note",
            FindingLevel::Warning => "warning",
            FindingLevel::Error => "error",
        }
    }
}

impl Finding {
    /// A finding about a node.
    pub(super) fn new(
        outline: &Outline,
        node: usize,
        (code, verdict): (ErrorCode, FindingVerdict),
        message: String,
    ) -> Finding {
        let at: &OutlineNode = &outline.nodes[node];
        let name = |&index: &usize| indim_graph::terminal::printable(&outline.values[index].name);
        let typed = |&index: &usize| (name(&index), outline.values[index].value_type.clone());
        Finding {
            code,
            verdict,
            node: Some(node),
            label: outline.label(at),
            operator: at.operator.clone(),
            operands: at.operands.iter().flatten().take(MAX_OPERANDS).map(typed).collect(),
            results: at.results.iter().flatten().map(name).collect(),
            location: at.location.clone(),
            message,
            drawing: None,
            repair: None,
        }
    }

    /// A finding about a value that no node makes.
    pub(super) fn of_value(
        outline: &Outline,
        contradiction: &Contradiction,
        code: (ErrorCode, FindingVerdict),
    ) -> Finding {
        let value = &outline.values[contradiction.value];
        let name = indim_graph::terminal::printable(&value.name);
        let (code, verdict) = code;
        Finding {
            code,
            verdict,
            node: None,
            label: name.clone(),
            operator: String::new(),
            operands: Vec::new(),
            results: vec![name],
            location: contradiction.location.clone(),
            message: contradiction.message.clone(),
            drawing: None,
            repair: None,
        }
    }

    /// This finding with a repair.
    #[must_use]
    pub(super) fn with_repair(self, repair: Option<String>) -> Finding {
        Finding { repair, ..self }
    }
}

impl fmt::Display for FindingVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
