//! Typed access to the attributes of a layer; the file stores text.

use core::str::FromStr;

use indim_model::FormatErrorKind;
use indim_ops::DType;
use indim_shape::RuleSet;

use crate::element_type::element_type;
use crate::layer::Layer;

/// The value of an attribute, or its error.
type AttributeResult<T> = Result<T, FormatErrorKind>;

impl Layer {
    /// The text of a required attribute.
    pub(super) fn text(&self, name: &str) -> AttributeResult<&str> {
        self.attribute(name).ok_or_else(|| FormatErrorKind::attribute(name, "is missing"))
    }

    fn parsed<T: FromStr>(&self, name: &str, text: &str, what: &str) -> AttributeResult<T> {
        let wrong = |_| FormatErrorKind::attribute(name, format!("is no {what}"));
        text.trim().parse().map_err(wrong)
    }

    /// A boolean. Without a default the attribute is required.
    pub(super) fn flag(&self, name: &str, default: Option<bool>) -> AttributeResult<bool> {
        let Some(text) = self.attribute(name) else {
            return default.ok_or_else(|| FormatErrorKind::attribute(name, "is missing"));
        };
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(FormatErrorKind::attribute(name, "is neither true nor false")),
        }
    }

    /// A number.
    pub(super) fn float(&self, name: &str) -> AttributeResult<f64> {
        self.parsed(name, self.text(name)?, "number")
    }

    /// An integer. Without a default the attribute is required.
    pub(super) fn integer(&self, name: &str, default: Option<i64>) -> AttributeResult<i64> {
        match (self.attribute(name), default) {
            (None, Some(default)) => Ok(default),
            _ => self.parsed(name, self.text(name)?, "whole number"),
        }
    }

    /// A list of integers; empty if the attribute is absent.
    pub(super) fn integers(&self, name: &str) -> AttributeResult<Vec<i64>> {
        let text = self.attribute(name).unwrap_or_default().trim();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        text.split(',').map(|number| self.parsed(name, number, "list of whole numbers")).collect()
    }

    /// A word, in lower case.
    pub(super) fn word(&self, name: &str, default: &str) -> String {
        self.attribute(name).unwrap_or(default).trim().to_ascii_lowercase()
    }

    /// An element type.
    pub(super) fn element_type(&self, name: &str) -> AttributeResult<DType> {
        let open = || FormatErrorKind::attribute(name, "says no element type");
        element_type(self.text(name)?.trim())?.ok_or_else(open)
    }

    /// The broadcast rule of the operands.
    pub(super) fn rule(&self) -> AttributeResult<RuleSet> {
        match self.word("auto_broadcast", "numpy").as_str() {
            "numpy" => Ok(RuleSet::Numpy),
            "none" | "explicit" => Ok(RuleSet::None),
            "pdpd" => Ok(RuleSet::Pdpd { axis: self.pdpd_axis(PDPD_AXIS)? }),
            _ => Err(FormatErrorKind::attribute("auto_broadcast", "names no rule")),
        }
    }

    /// The axis of the PDPD rule, from the first of these attributes that the layer has. `None` if it has
    /// none: the rule then takes -1, as OpenVINO documents.
    pub(super) fn pdpd_axis(&self, names: &[&str]) -> AttributeResult<Option<i64>> {
        let given = names.iter().find(|name| self.attribute(name).is_some());
        given.map(|name| self.integer(name, None)).transpose()
    }

    /// Whether the axis of the PDPD rule is absent: OpenVINO's result then differs from its documentation.
    pub(super) fn is_without_pdpd_axis(&self) -> bool {
        let (attribute, names) = match self.is("Broadcast") {
            true => ("mode", PDPD_AXIS_OF_BROADCAST),
            false => ("auto_broadcast", PDPD_AXIS),
        };
        let is_pdpd = self.word(attribute, "") == "pdpd";
        is_pdpd && names.iter().all(|name| self.attribute(name).is_none())
    }
}

/// The attribute with the axis of the PDPD rule.
const PDPD_AXIS: &[&str] = &["auto_broadcast.auto_broadcast_axis"];
/// The attributes of `Broadcast` with the axis, by version.
pub(super) const PDPD_AXIS_OF_BROADCAST: &[&str] = &["mode.mode.axis", "mode.auto_broadcast_axis"];
