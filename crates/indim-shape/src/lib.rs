//! The broadcasting rules of XLA, StableHLO, NumPy, OpenVINO, Paddle and ONNX, each elaborated into
//! one explicit form: a result shape, and for each operand an axis map that names the result axis of
//! each of its axes.
//!
//! ```
//! use indim_shape::{RuleSet, Shape};
//!
//! let operands = [Shape::from([2, 3]), Shape::from([3])];
//! let broadcast = RuleSet::Xla { dims: vec![1] }.elaborate(&operands)?;
//! assert_eq!(broadcast.result().sizes(), [2, 3]);
//! assert_eq!(broadcast.maps()[1].to_string(), "[1]");
//!
//! let error = RuleSet::Xla { dims: vec![] }.elaborate(&operands).unwrap_err();
//! assert_eq!((error.code(), error.label()), ("rank-mismatch-without-dims", "X4"));
//! # Ok::<(), indim_shape::ShapeError>(())
//! ```
//!
//! The page [`rules`] lists the rules with their labels. [`RuleChoice::with_attributes`] makes a rule from
//! its name and attributes.
//!
//! `explicit.rs` alone decides whether a broadcast is legal. `rule_set.rs` and `target_rule.rs` elaborate
//! rules into the explicit form; `convert.rs` converts the form back to a rule. An error is a [`ShapeError`]:
//! data with a stable code and the label of the rule (`violation.rs`, `error.rs`), its message
//! (`message.rs`), a drawing (`picture.rs`) and repairs (`repair.rs`).
//!
//! - `attributes.rs`: construction of a rule from its name and attributes, and errors of attributes;
//! - `axis_map.rs`: axis maps: the result axis of each operand axis;
//! - `axis_names.rs`: axis names, by which `RuleSet::Named` matches axes;
//! - `broadcast_picture.rs`: the table that draws a legal broadcast: one column for each axis of the result,
//!   one row for each operand;
//! - `conditional.rs`: broadcasts of shapes with unknown sizes, legal under conditions;
//! - `contraction_error.rs`: errors in products of two operands: typed data, one code and one label each;
//! - `contraction_form.rs`: elaboration of products of two operands: the explicit form of each rule;
//! - `contraction_rule.rs`: the rules of products of two operands with their attributes, as data;
//! - `einsum.rs`: NumPy's `einsum`: the equation, and its elaboration into products of two operands;
//! - `einsum_error.rs`: errors of `einsum`: typed data, one code and one label each;
//! - `lint.rs`: a lint for legal broadcasts that are seldom intended;
//! - `named_repair.rs`: repairs under rule `named`: renamed axes, or an axis of size 1 removed;
//! - `placement.rs`: the search for placements of one shape's axes on those of another;
//! - `rank_limit.rs`: the maximal rank of a shape from a text, a file or Python;
//! - `reduction_convert.rs`: conversion of a reduction from its explicit form to a rule with attributes;
//! - `reduction_error.rs`: errors in the axes of a reduction: typed data, one code and one label each;
//! - `reduction_form.rs`: elaboration of reductions: the reduced axes under each rule;
//! - `reduction_picture.rs`: the table that draws a reduction: one column for each axis of the operand;
//! - `reduction_repair.rs`: repairs of a reduction error: the same rule with other attributes, each tried;
//! - `reduction_rule.rs`: the reduction rules of each system with their attributes, as data;
//! - `rule.rs`: broadcasting rules with their attributes, as data;
//! - `rule_set_name.rs`: the table of rule sets: name, attributes, summary;
//! - `shape.rs`: shapes: the size of each axis, and dense strides;
//! - `sort_few.rs`: stable sorts of a few items, such as axes.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod attributes;
mod axis_map;
mod axis_names;
mod broadcast_picture;
mod conditional;
mod contraction_error;
mod contraction_form;
mod contraction_rule;
mod convert;
mod einsum;
mod einsum_error;
mod error;
mod explicit;
mod lint;
mod message;
mod named_repair;
mod picture;
mod placement;
mod rank_limit;
mod reduction_convert;
mod reduction_error;
mod reduction_form;
mod reduction_picture;
mod reduction_repair;
mod reduction_rule;
mod repair;
mod rule;
mod rule_set;
mod rule_set_name;
mod shape;
mod sort_few;
mod target_rule;
mod violation;

#[doc = include_str!("rules.md")]
pub mod rules {}

pub use attributes::{AttributeError, Attributes};
pub use axis_map::AxisMap;
pub use axis_names::AxisNames;
pub use broadcast_picture::draw_broadcast;
pub use conditional::{ConditionalBroadcast, SizeCondition, UnknownSizes};
pub use contraction_error::{ContractionError, ContractionViolation};
pub use contraction_form::ContractionForm;
pub use contraction_rule::{ContractionRule, DotDimensions};
pub use convert::{RuleConversion, RuleConversionError, convert_broadcast};
pub use einsum::{Einsum, EinsumOperand, EinsumPlan, EinsumProduct};
pub use einsum_error::{EinsumError, EinsumViolation};
pub use error::ShapeError;
pub use explicit::{Broadcast, check_broadcast_in_dim, unify};
pub use indim_errors::{
    Diagnostic, DiagnosticPart, ErrorCode, ErrorEntry, ErrorExample, ErrorSection, Mark,
    MarkedLine, UnknownErrorCode, WriteDiagnosticPart, is_printable,
};
pub use lint::{OuterProduct, surprising_outer_product};
pub use message::{OperandLabel, SizeTexts};
pub use picture::{
    aligned_axes, diagnose, diagnose_named_sizes, diagnose_with_repairs, draw_error,
};
pub use rank_limit::{MAX_RANK, RankLimitError};
pub use reduction_convert::{
    ReductionConversion, ReductionConversionError, ReductionRuleName, UnknownReductionRule,
    convert_reduction,
};
pub use reduction_error::{ReductionError, ReductionViolation};
pub use reduction_form::ReductionForm;
pub use reduction_picture::draw_reduction;
pub use reduction_repair::find_reduction_repairs;
pub use reduction_rule::{OnnxAxes, OnnxReduction, ReductionRule};
pub use repair::{Repair, RepairReason, find_repairs};
pub use rule::{AnyRule, RuleSet, TargetRule};
pub use rule_set_name::{Attribute, RuleChoice, RuleSetName, UnknownRuleSet};
pub use shape::{Shape, saturating_size};
pub use sort_few::{sort_few_by, sort_few_by_key};
pub use violation::{AxisOwner, SizedAxis, Violation};
