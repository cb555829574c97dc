//! The table of rule sets: name, attributes, summary.
//!
//! `rule.rs` defines the rules with their attributes; `attributes.rs` makes a rule from a name and
//! attributes.

use core::fmt;
use core::str::FromStr;

/// The name of a rule set, without attributes: first the rule sets of element-wise operations, then the
/// target rules, which broadcast one operand to a target.
///
/// ```
/// use indim_shape::{Attribute, RuleSetName};
///
/// let name: RuleSetName = "pdpd-broadcast".parse()?;
/// assert_eq!((name, name.as_str()), (RuleSetName::PdpdBroadcast, "pdpd-broadcast"));
/// assert_eq!(name.attributes(), [Attribute::Axis, Attribute::Target]);
/// assert!(name.is_target_rule());
/// assert_eq!(name.summary(), "To a target: from `axis` on, only the data expands");
/// assert!(RuleSetName::ALL.contains(&name));
/// # Ok::<(), indim_shape::UnknownRuleSet>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleSetName {
    /// [`crate::RuleSet::None`].
    None,
    /// [`crate::RuleSet::Numpy`].
    Numpy,
    /// [`crate::RuleSet::Xla`].
    Xla,
    /// [`crate::RuleSet::StableHlo`].
    StableHlo,
    /// [`crate::RuleSet::Pdpd`].
    Pdpd,
    /// [`crate::RuleSet::OnnxLegacy`].
    OnnxLegacy,
    /// [`crate::RuleSet::Named`].
    Named,
    /// [`crate::TargetRule::Unidirectional`].
    Unidirectional,
    /// [`crate::TargetRule::Bidirectional`].
    Bidirectional,
    /// [`crate::TargetRule::Explicit`].
    Explicit,
    /// [`crate::TargetRule::Pdpd`].
    PdpdBroadcast,
    /// [`crate::TargetRule::XlaBroadcast`].
    XlaBroadcast,
    /// [`crate::TargetRule::XlaBroadcastInDim`].
    XlaBroadcastInDim,
    /// [`crate::TargetRule::StableHloBroadcastInDim`].
    StableHloBroadcastInDim,
    /// [`crate::TargetRule::HloBroadcast`].
    HloBroadcast,
}

/// The attributes of rule sets.
///
/// ```
/// assert_eq!(indim_shape::Attribute::Dims.to_string(), "dims");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attribute {
    /// `dims`: the result axis of each operand axis.
    Dims,
    /// `axis`: the first result axis of an operand.
    Axis,
    /// `broadcast`: whether ONNX before opset 7 broadcasts at all.
    Broadcast,
    /// `target`: the shape to broadcast to.
    Target,
    /// `names`: the axis names of each operand.
    Names,
}

impl Attribute {
    /// The keyword.
    pub const fn as_str(self) -> &'static str {
        match self {
            Attribute::Dims => "dims",
            Attribute::Axis => "axis",
            Attribute::Broadcast => "broadcast",
            Attribute::Target => "target",
            Attribute::Names => "names",
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The table row of a rule set.
struct RuleSetRow {
    name: RuleSetName,
    text: &'static str,
    /// The letters with which the labels of its rules begin.
    label_prefix: &'static str,
    attributes: &'static [Attribute],
    /// The target rule of the same system.
    target_rule: Option<RuleSetName>,
    /// A summary in one line.
    summary: &'static str,
}

const fn row(
    name: RuleSetName,
    text: &'static str,
    label_prefix: &'static str,
    attributes: &'static [Attribute],
    target_rule: Option<RuleSetName>,
    summary: &'static str,
) -> RuleSetRow {
    RuleSetRow { name, text, label_prefix, attributes, target_rule, summary }
}

/// A row for each rule set, in the order of the variants.
#[rustfmt::skip]
const ROWS: [RuleSetRow; 15] = {
    use Attribute::{Axis, Broadcast, Dims, Names, Target};
    use RuleSetName as R;
    [
        row(R::None, "none", "O", &[], None,
            "Equal shapes only"),
        row(R::Numpy, "numpy", "N", &[], Some(R::Unidirectional),
            "Axes are right-aligned, sizes of 1 expand, types are promoted as in NumPy 2"),
        row(R::Xla, "xla", "X", &[Dims], Some(R::XlaBroadcastInDim),
            "XLA: explicit `dims`, scalars, and sizes of 1 between equal ranks"),
        row(R::StableHlo, "stablehlo", "S", &[], Some(R::StableHloBroadcastInDim),
            "StableHLO: equal shapes; bounds of `clamp` and the predicate of `select` may be scalars"),
        row(R::Pdpd, "pdpd", "P", &[Axis], Some(R::PdpdBroadcast),
            "Paddle: the second operand is broadcast onto the first, from `axis` on"),
        row(R::OnnxLegacy, "onnx-legacy", "L", &[Axis, Broadcast], None,
            "ONNX before opset 7: like pdpd, and a single element broadcasts to any shape"),
        row(R::Named, "named", "D", &[Names], None,
            "xarray: axes match by name, in any order, and no size of 1 expands"),
        row(R::Unidirectional, "unidirectional", "T", &[Target], None,
            "To a target: right-aligned, only the data expands"),
        row(R::Bidirectional, "bidirectional", "T", &[Target], None,
            "To a target: numpy between data and target"),
        row(R::Explicit, "explicit", "T", &[Dims, Target], None,
            "To a target: `dims` names the target axis of each data axis, in order"),
        row(R::PdpdBroadcast, "pdpd-broadcast", "T", &[Axis, Target], None,
            "To a target: from `axis` on, only the data expands"),
        row(R::XlaBroadcast, "xla-broadcast", "T", &[Target], None,
            "XLA's Broadcast: prepends the target's sizes to the data's"),
        row(R::XlaBroadcastInDim, "xla-broadcast-in-dim", "T", &[Dims, Target], None,
            "XLA's BroadcastInDim: `dims` names the target axis of each data axis, in order"),
        row(R::StableHloBroadcastInDim, "stablehlo-broadcast-in-dim", "T", &[Dims, Target], None,
            "StableHLO's broadcast_in_dim: `dims` may permute"),
        row(R::HloBroadcast, "hlo-broadcast", "T", &[Dims, Target], None,
            "HLO's broadcast: `dims` may permute, and no size expands"),
    ]
};

impl RuleSetName {
    /// Every rule set.
    pub const ALL: [RuleSetName; ROWS.len()] = {
        let mut all = [RuleSetName::None; ROWS.len()];
        let mut index = 0;
        while index < ROWS.len() {
            all[index] = ROWS[index].name;
            index += 1;
        }
        all
    };

    const fn row(self) -> &'static RuleSetRow {
        &ROWS[self as usize]
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.row().text
    }

    /// A summary in one line.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The attributes that the rule set takes.
    pub const fn attributes(self) -> &'static [Attribute] {
        self.row().attributes
    }

    /// Whether the rule set broadcasts one operand to a target shape.
    pub fn is_target_rule(self) -> bool {
        self.attributes().contains(&Attribute::Target)
    }

    /// The target rule: the rule set itself, or the target rule of the same system, if it has one.
    ///
    /// ```
    /// use indim_shape::RuleSetName;
    ///
    /// assert_eq!(RuleSetName::Numpy.target_rule(), Some(RuleSetName::Unidirectional));
    /// assert_eq!(RuleSetName::Bidirectional.target_rule(), Some(RuleSetName::Bidirectional));
    /// assert_eq!(RuleSetName::None.target_rule(), None);
    /// ```
    pub fn target_rule(self) -> Option<RuleSetName> {
        if self.is_target_rule() { Some(self) } else { self.row().target_rule }
    }

    /// The letter with which the labels of its rules begin. It is the label of errors that no numbered rule
    /// covers.
    pub(crate) const fn label_prefix(self) -> &'static str {
        self.row().label_prefix
    }
}

impl fmt::Display for RuleSetName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for RuleSetName {
    type Err = UnknownRuleSet;
    fn from_str(text: &str) -> Result<Self, UnknownRuleSet> {
        let known = RuleSetName::ALL.into_iter().find(|name| name.as_str() == text);
        known.ok_or(UnknownRuleSet { takes_as_written: false })
    }
}

/// The requested rule: one rule set, or for each operation the one that its attributes imply.
///
/// `numpy` differs from `as-written`: an operation with `dims` or `axis` follows xla or pdpd as written, and
/// is an error under `numpy`.
///
/// ```
/// use indim_shape::{RuleChoice, RuleSetName};
///
/// assert_eq!("as-written".parse(), Ok(RuleChoice::AsWritten));
/// assert_eq!("numpy".parse(), Ok(RuleChoice::Named(RuleSetName::Numpy)));
/// assert_eq!(RuleChoice::default().as_str(), "as-written");
/// let explicit = RuleChoice::Named(RuleSetName::Explicit);
/// assert!(RuleChoice::all().any(|choice| choice == explicit));
/// assert!(!RuleChoice::of_operations().any(|choice| choice == explicit));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RuleChoice {
    /// `as-written`: an operation with `dims` follows xla, one with `axis` pdpd, every other one numpy.
    #[default]
    AsWritten,
    /// One rule set.
    Named(RuleSetName),
}

impl RuleChoice {
    /// All choices.
    pub fn all() -> impl Iterator<Item = RuleChoice> {
        let named = RuleSetName::ALL.into_iter().map(RuleChoice::Named);
        core::iter::once(RuleChoice::AsWritten).chain(named)
    }

    /// The choices for element-wise operations: all except the target rules.
    pub fn of_operations() -> impl Iterator<Item = RuleChoice> {
        let takes_target = |choice: &RuleChoice| match choice {
            RuleChoice::AsWritten => false,
            RuleChoice::Named(name) => name.is_target_rule(),
        };
        RuleChoice::all().filter(move |choice| !takes_target(choice))
    }

    /// The name.
    pub const fn as_str(self) -> &'static str {
        match self {
            RuleChoice::AsWritten => "as-written",
            RuleChoice::Named(name) => name.as_str(),
        }
    }

    /// A summary in one line.
    pub const fn summary(self) -> &'static str {
        match self {
            RuleChoice::AsWritten => {
                "An operation with `dims` follows xla, one with `axis` pdpd, every other one numpy"
            }
            RuleChoice::Named(name) => name.summary(),
        }
    }
}

impl fmt::Display for RuleChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for RuleChoice {
    type Err = UnknownRuleSet;
    fn from_str(text: &str) -> Result<Self, UnknownRuleSet> {
        let known = RuleChoice::all().find(|choice| choice.as_str() == text);
        known.ok_or(UnknownRuleSet { takes_as_written: true })
    }
}

/// The error for a text that names no rule set.
///
/// ```
/// let error = "nunpy".parse::<indim_shape::RuleSetName>().unwrap_err();
/// assert!(error.to_string().starts_with("no such rule set; the names are none, numpy, xla"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownRuleSet {
    /// Whether `as-written` is also a valid name here.
    takes_as_written: bool,
}

impl fmt::Display for UnknownRuleSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no such rule set; the names are")?;
        let known = RuleChoice::all().skip(usize::from(!self.takes_as_written));
        for (position, name) in known.enumerate() {
            write!(formatter, "{} {name}", if position == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownRuleSet {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_in_the_order_of_the_variants() {
        for name in RuleSetName::ALL {
            assert_eq!(name.row().name, name);
            assert_eq!(name.as_str().parse(), Ok(name));
            assert_eq!(name.as_str().parse(), Ok(RuleChoice::Named(name)));
            assert!(name.target_rule().is_none_or(RuleSetName::is_target_rule));
        }
        assert_eq!("as-written".parse(), Ok(RuleChoice::AsWritten));
        assert!("as-written".parse::<RuleSetName>().is_err());
    }
}
