//! Construction of a rule from its name and attributes, and errors of attributes. Front ends collect
//! attributes and call this module; nothing else makes a rule from a name.
//!
//! The table in `rule_set_name.rs` lists the attributes of each rule.

use crate::ErrorCode;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::axis_names::AxisNames;
use crate::rule::{AnyRule, RuleSet, TargetRule};
use crate::rule_set_name::{Attribute, RuleChoice, RuleSetName};
use crate::shape::Shape;

/// The attributes given with the name of a rule. Absent attributes have defaults.
///
/// ```
/// use indim_shape::{Attributes, RuleChoice, RuleSet};
///
/// let given = Attributes { dims: Some(vec![1]), ..Attributes::default() };
/// assert!(!given.is_empty());
/// let rule = RuleChoice::AsWritten.elementwise(&given)?;
/// assert_eq!(rule, RuleSet::Xla { dims: vec![1] });
/// assert_eq!(rule.attributes(), given);
/// # Ok::<(), indim_shape::AttributeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The result axis of each operand axis: `broadcast_dimensions` of xla, `axes_mapping` of explicit, and
    /// the like. Default: no entries.
    pub dims: Option<Vec<i64>>,
    /// The first result axis of an operand, under pdpd and onnx-legacy. Default: the operand is a suffix.
    pub axis: Option<i64>,
    /// Whether onnx-legacy broadcasts at all. Default: true.
    pub broadcast: Option<bool>,
    /// The shape to broadcast to.
    pub target: Option<Shape>,
    /// The axis names of each operand, under named.
    pub names: Option<Vec<AxisNames>>,
}

impl Attributes {
    /// The given attributes.
    fn given(&self) -> impl Iterator<Item = Attribute> {
        let all = [
            (Attribute::Dims, self.dims.is_some()),
            (Attribute::Axis, self.axis.is_some()),
            (Attribute::Broadcast, self.broadcast.is_some()),
            (Attribute::Target, self.target.is_some()),
            (Attribute::Names, self.names.is_some()),
        ];
        all.into_iter().filter_map(|(attribute, is_given)| is_given.then_some(attribute))
    }

    /// Whether no attribute is given.
    pub fn is_empty(&self) -> bool {
        self.given().next().is_none()
    }
}

impl RuleSet {
    /// The attributes that, with its name, construct this rule.
    pub fn attributes(&self) -> Attributes {
        let none = Attributes::default();
        match self {
            RuleSet::Xla { dims } if !dims.is_empty() => {
                Attributes { dims: Some(dims.clone()), ..none }
            }
            RuleSet::Pdpd { axis } => Attributes { axis: *axis, ..none },
            RuleSet::OnnxLegacy { broadcast, axis } => {
                Attributes { broadcast: Some(*broadcast), axis: *axis, ..none }
            }
            RuleSet::Named { names } if !names.is_empty() => {
                Attributes { names: Some(names.clone()), ..none }
            }
            _ => none,
        }
    }
}

impl TargetRule {
    /// The attributes that, with its name and a target, construct this rule.
    fn attributes(&self) -> Attributes {
        let none = Attributes::default();
        match self {
            TargetRule::Unidirectional | TargetRule::Bidirectional | TargetRule::XlaBroadcast => {
                none
            }
            TargetRule::Pdpd { axis } => Attributes { axis: *axis, ..none },
            TargetRule::Explicit { axes: dims }
            | TargetRule::XlaBroadcastInDim { dims }
            | TargetRule::StableHloBroadcastInDim { dims }
            | TargetRule::HloBroadcast { dims } => Attributes { dims: Some(dims.clone()), ..none },
        }
    }
}

impl AnyRule {
    /// The attributes that, with its name, construct this rule; a target rule also needs a target.
    ///
    /// ```
    /// use indim_shape::{AnyRule, TargetRule};
    ///
    /// let rule = AnyRule::from(TargetRule::Explicit { axes: vec![1] });
    /// assert_eq!(rule.attributes().dims, Some(vec![1]));
    /// ```
    pub fn attributes(&self) -> Attributes {
        match self {
            AnyRule::ExplicitForm => Attributes::default(),
            AnyRule::Elementwise(rule) => rule.attributes(),
            AnyRule::Target(rule) => rule.attributes(),
        }
    }
}

impl RuleSetName {
    /// The rule of this name with these attributes. With a `target`, a rule set of element-wise operations
    /// becomes the target rule of the same system.
    ///
    /// ```
    /// use indim_shape::{Attributes, RuleSetName};
    ///
    /// let axis = Attributes { axis: Some(1), ..Attributes::default() };
    /// assert_eq!(RuleSetName::Pdpd.with_attributes(&axis)?.to_string(), "rule pdpd axis=1");
    /// let error = RuleSetName::Numpy.with_attributes(&axis).unwrap_err();
    /// assert_eq!(error.to_string(), "rule numpy takes no `axis`");
    /// assert_eq!(
    ///     error.advice(),
    ///     "numpy takes no attributes; `axis` belongs to as-written, pdpd, onnx-legacy",
    /// );
    /// # Ok::<(), indim_shape::AttributeError>(())
    /// ```
    ///
    /// # Errors
    /// `foreign-attribute`; `missing-attribute` for a target rule without a target.
    pub fn with_attributes(self, given: &Attributes) -> Result<AnyRule, AttributeError> {
        let rule = self.target_rule().filter(|_| given.target.is_some()).unwrap_or(self);
        rule.check(given)?;
        if rule.is_target_rule() && given.target.is_none() {
            return Err(AttributeError::Missing { rule, attribute: Attribute::Target });
        }
        Ok(rule.of_attributes(given))
    }

    /// The rule of this name; ignores attributes that it does not take.
    fn of_attributes(self, given: &Attributes) -> AnyRule {
        let dims = given.dims.clone().unwrap_or_default();
        let axis = given.axis;
        let broadcast = given.broadcast.unwrap_or(true);
        match self {
            RuleSetName::None => RuleSet::None.into(),
            RuleSetName::Numpy => RuleSet::Numpy.into(),
            RuleSetName::Xla => RuleSet::Xla { dims }.into(),
            RuleSetName::StableHlo => RuleSet::StableHlo.into(),
            RuleSetName::Pdpd => RuleSet::Pdpd { axis }.into(),
            RuleSetName::OnnxLegacy => RuleSet::OnnxLegacy { broadcast, axis }.into(),
            RuleSetName::Named => {
                let names = given.names.clone().unwrap_or_default();
                RuleSet::Named { names }.into()
            }
            RuleSetName::Unidirectional => TargetRule::Unidirectional.into(),
            RuleSetName::Bidirectional => TargetRule::Bidirectional.into(),
            RuleSetName::Explicit => TargetRule::Explicit { axes: dims }.into(),
            RuleSetName::PdpdBroadcast => TargetRule::Pdpd { axis }.into(),
            RuleSetName::XlaBroadcast => TargetRule::XlaBroadcast.into(),
            RuleSetName::XlaBroadcastInDim => TargetRule::XlaBroadcastInDim { dims }.into(),
            RuleSetName::StableHloBroadcastInDim => {
                TargetRule::StableHloBroadcastInDim { dims }.into()
            }
            RuleSetName::HloBroadcast => TargetRule::HloBroadcast { dims }.into(),
        }
    }

    /// Refuses attributes that the rule does not have: a user who gives one expects an effect.
    fn check(self, given: &Attributes) -> Result<(), AttributeError> {
        match given.given().find(|attribute| !self.attributes().contains(attribute)) {
            Some(attribute) => Err(AttributeError::Foreign { rule: self, attribute }),
            None => Ok(()),
        }
    }
}

impl RuleChoice {
    /// The requested rule set. `AsWritten` selects the rule set that the attributes imply.
    ///
    /// # Errors
    /// `conflicting-attributes` if `dims` and `axis` imply two rules.
    pub fn name(self, given: &Attributes) -> Result<RuleSetName, AttributeError> {
        match (self, &given.dims, given.axis) {
            (RuleChoice::Named(name), ..) => Ok(name),
            (RuleChoice::AsWritten, Some(_), Some(_)) => Err(AttributeError::Conflicting),
            (RuleChoice::AsWritten, Some(_), None) => Ok(RuleSetName::Xla),
            (RuleChoice::AsWritten, None, Some(_)) => Ok(RuleSetName::Pdpd),
            (RuleChoice::AsWritten, None, None) => Ok(RuleSetName::Numpy),
        }
    }

    /// The requested rule with these attributes. `AsWritten` selects the rule that the attributes imply.
    ///
    /// # Errors
    /// Like [`RuleSetName::with_attributes`]; `conflicting-attributes` if `dims` and `axis` imply two rules.
    pub fn with_attributes(self, given: &Attributes) -> Result<AnyRule, AttributeError> {
        self.name(given)?.with_attributes(given)
    }

    /// The rule of an element-wise operation with these attributes.
    ///
    /// # Errors
    /// `foreign-attribute`, `conflicting-attributes`; `not-elementwise` for a target rule.
    pub fn elementwise(self, given: &Attributes) -> Result<RuleSet, AttributeError> {
        let name = self.name(given)?;
        name.check(given)?;
        match name.of_attributes(given) {
            AnyRule::Elementwise(rule) => Ok(rule),
            AnyRule::Target(_) | AnyRule::ExplicitForm => {
                Err(AttributeError::NotElementwise { rule: name })
            }
        }
    }

    /// The rule of all operations of an expression; `None` if each operation follows its own attributes.
    ///
    /// ```
    /// use indim_shape::{RuleChoice, RuleSet, RuleSetName};
    ///
    /// assert_eq!(RuleChoice::AsWritten.of_expression(), Ok(None));
    /// assert_eq!(RuleChoice::Named(RuleSetName::Numpy).of_expression(), Ok(Some(RuleSet::Numpy)));
    /// let error = RuleChoice::Named(RuleSetName::Explicit).of_expression().unwrap_err();
    /// assert_eq!(error.code(), "not-elementwise");
    /// ```
    ///
    /// # Errors
    /// `not-elementwise` for a target rule.
    pub fn of_expression(self) -> Result<Option<RuleSet>, AttributeError> {
        match self {
            RuleChoice::AsWritten => Ok(None),
            RuleChoice::Named(_) => self.elementwise(&Attributes::default()).map(Some),
        }
    }
}

/// The error for attributes that do not fit the rule.
///
/// ```
/// use indim_shape::{Attribute, Attributes, RuleSetName};
///
/// let error = RuleSetName::Explicit.with_attributes(&Attributes::default()).unwrap_err();
/// assert_eq!((error.code(), error.attribute()), ("missing-attribute", Some(Attribute::Target)));
/// assert_eq!(error.advice(), "give `target` too");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeError {
    /// The rule has no such attribute.
    Foreign {
        /// The rule.
        rule: RuleSetName,
        /// The attribute that was given.
        attribute: Attribute,
    },
    /// The rule needs the attribute.
    Missing {
        /// The rule.
        rule: RuleSetName,
        /// The attribute that was not given.
        attribute: Attribute,
    },
    /// `dims` and `axis` imply two rules.
    Conflicting,
    /// The rule broadcasts one operand to a target, and element-wise operations have no target.
    NotElementwise {
        /// The rule.
        rule: RuleSetName,
    },
}

impl AttributeError {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        self.error_code().as_str()
    }

    /// The same code with its explanation.
    pub const fn error_code(self) -> ErrorCode {
        match self {
            AttributeError::Foreign { .. } => ErrorCode::FOREIGN_ATTRIBUTE,
            AttributeError::Missing { .. } => ErrorCode::MISSING_ATTRIBUTE,
            AttributeError::Conflicting => ErrorCode::CONFLICTING_ATTRIBUTES,
            AttributeError::NotElementwise { .. } => ErrorCode::NOT_ELEMENTWISE,
        }
    }

    /// The foreign or missing attribute.
    pub const fn attribute(self) -> Option<Attribute> {
        match self {
            AttributeError::Foreign { attribute, .. }
            | AttributeError::Missing { attribute, .. } => Some(attribute),
            AttributeError::Conflicting | AttributeError::NotElementwise { .. } => None,
        }
    }

    /// The remedy: the attributes of the rule, and the rules that take the attribute.
    pub fn advice(self) -> String {
        match self {
            AttributeError::Foreign { rule, attribute } => {
                let accepting_rules = accepting_rules(attribute, rule.is_target_rule());
                format!(
                    "{rule} takes {}; `{attribute}` belongs to {accepting_rules}",
                    accepted_attributes(rule)
                )
            }
            AttributeError::Missing { attribute, .. } => format!("give `{attribute}` too"),
            AttributeError::Conflicting => String::from("give one of them"),
            AttributeError::NotElementwise { .. } => {
                format!("operations follow one of {}", list(RuleChoice::of_operations()))
            }
        }
    }
}

/// The attributes that a rule takes, for a message.
fn accepted_attributes(rule: RuleSetName) -> String {
    match rule.attributes() {
        [] => String::from("no attributes"),
        attributes => list(attributes.iter().map(|attribute| format!("`{attribute}`"))),
    }
}

/// The rules that take an attribute: those of the same kind (element-wise or target) if any takes it,
/// otherwise those of the other kind.
fn accepting_rules(attribute: Attribute, of_targets: bool) -> String {
    let takes = |choice: &RuleChoice| match choice {
        RuleChoice::AsWritten => matches!(attribute, Attribute::Dims | Attribute::Axis),
        RuleChoice::Named(name) => name.attributes().contains(&attribute),
    };
    let is_of_kind = |choice: &RuleChoice| match choice {
        RuleChoice::AsWritten => !of_targets,
        RuleChoice::Named(name) => name.is_target_rule() == of_targets,
    };
    let (same, other): (Vec<_>, Vec<_>) = RuleChoice::all().filter(takes).partition(is_of_kind);
    list(if same.is_empty() { other } else { same })
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for AttributeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttributeError::Foreign { rule, attribute } => {
                write!(formatter, "rule {rule} takes no `{attribute}`")
            }
            AttributeError::Missing { rule, attribute } => {
                write!(formatter, "rule {rule} needs `{attribute}`")
            }
            AttributeError::Conflicting => {
                formatter.write_str("`dims` implies rule xla, and `axis` rule pdpd")
            }
            AttributeError::NotElementwise { rule } => {
                write!(
                    formatter,
                    "rule {rule} broadcasts to a target, and operations have no target"
                )
            }
        }
    }
}

impl core::error::Error for AttributeError {}
