//! Rule sets, the explicit form into which their broadcasts are elaborated, and conversion of that form to
//! another rule set. The page [`rules`](mod@crate::rules) has every rule, with its label.
//!
//! ```
//! use indim::broadcast::{RuleSet, RuleSetName, convert_broadcast};
//! use indim::Shape;
//!
//! let operands = [Shape::from([8, 3, 32, 32]), Shape::from([3])];
//! let broadcast = RuleSet::Pdpd { axis: Some(1) }.elaborate(&operands)?;
//! assert_eq!(broadcast.maps()[1].to_string(), "[1]");
//! let in_numpy = convert_broadcast(&broadcast, RuleSetName::Numpy)?;
//! assert_eq!(in_numpy.to_string(), "numpy, operand 1 reshaped to [3, 1, 1]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use indim_shape::{
    AnyRule, Attribute, AttributeError, Attributes, AxisMap, AxisNames, Broadcast, OuterProduct,
    RuleChoice, RuleConversion, RuleConversionError, RuleSet, RuleSetName, TargetRule,
    UnknownRuleSet, convert_broadcast, draw_broadcast, surprising_outer_product,
};
