//! The rules that operations may follow, by their names in Python.

use indim::RuleSet;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The rule of every operation of an expression or a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// An operation with `dims=` follows xla, one with `axis=` pdpd, every other one numpy.
    AsWritten,
    /// Equal shapes only.
    None,
    /// XLA's.
    Xla,
    /// StableHLO's.
    StableHlo,
    /// Paddle's, as OpenVINO documents it.
    Pdpd,
    /// ONNX before opset 7, with `broadcast=1`.
    OnnxLegacy,
}

impl Rule {
    pub(crate) fn parse(text: &str) -> PyResult<Self> {
        match text {
            "numpy" => Ok(Rule::AsWritten),
            "none" => Ok(Rule::None),
            "xla" => Ok(Rule::Xla),
            "stablehlo" => Ok(Rule::StableHlo),
            "pdpd" => Ok(Rule::Pdpd),
            "onnx-legacy" => Ok(Rule::OnnxLegacy),
            _ => Err(PyValueError::new_err(format!(
                "`rule` is 'numpy', 'xla', 'stablehlo', 'pdpd', 'onnx-legacy' or 'none', not {text:?}"
            ))),
        }
    }

    /// The rule set of operations that state no attributes of their own.
    pub(crate) fn rule_set(self) -> Option<RuleSet> {
        match self {
            Rule::AsWritten => None,
            Rule::None => Some(RuleSet::None),
            Rule::Xla => Some(RuleSet::Xla { dims: Vec::new() }),
            Rule::StableHlo => Some(RuleSet::StableHlo),
            Rule::Pdpd => Some(RuleSet::Pdpd { axis: None }),
            Rule::OnnxLegacy => Some(RuleSet::OnnxLegacy { broadcast: true, axis: None }),
        }
    }
}
