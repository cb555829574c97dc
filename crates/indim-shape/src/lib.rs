//! The broadcasting rules of XLA, StableHLO, NumPy, OpenVINO, Paddle and ONNX, each elaborated into
//! one explicit form: a result shape, and for each operand the result axis on which each of its
//! axes lands.
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
//! The rules with their labels are written down in [`rules`]. From a name and attributes to a rule leads
//! [`RuleChoice::with_attributes`].
//!
//! `explicit.rs` is the only place that decides whether a broadcast is legal; `rule_set.rs` and
//! `target_rule.rs` translate into it, `convert.rs` out of it. A refusal is a [`ShapeError`]: data with
//! a stable code and the label of the rule (`violation.rs`, `error.rs`), words (`message.rs`), a drawing
//! (`picture.rs`) and what would work instead (`repair.rs`).
//!
//! - `attributes.rs`: from a rule's name and its attributes to the rule, or the error that says which
//!   attribute does not belong;
//! - `axis_map.rs`: axis maps: the result axis of each operand axis;
//! - `axis_names.rs`: the names of an operand's axes, by which `RuleSet::Named` matches them;
//! - `broadcast_picture.rs`: the drawing of a legal broadcast as text: the result's axes as columns, under
//!   each of them the operands' axes that land there;
//! - `diagnostic.rs`: the diagnostic of any error, and its one renderer;
//! - `error_code/`: the codes of all errors, in one table: every crate takes its codes from here;
//! - `lint.rs`: a lint: legal broadcasts that are seldom meant;
//! - `named_repair.rs`: repairs of a broadcast that axis names refuse: other names for axes, or no axis of
//!   size 1;
//! - `placement.rs`: the search for places where the axes of one shape could land on those of another;
//! - `printable.rs`: classification of printable characters;
//! - `rank_limit.rs`: the maximal rank of a shape from a text, a file or Python;
//! - `reduction_convert.rs`: from the explicit form of a reduction back to a rule: its attributes, or the
//!   reason why it cannot say it;
//! - `reduction_error.rs`: errors in the axes of a reduction: typed data, one code and one label each;
//! - `reduction_form.rs`: elaboration of reductions: the reduced axes under each rule;
//! - `reduction_picture.rs`: the drawing of a reduction as text: the operand's axes as columns, and what is
//!   left of each;
//! - `reduction_repair.rs`: repairs of a refused reduction: the same rule with other attributes, found by
//!   trying;
//! - `reduction_rule.rs`: reductions as systems write them: each rule with its attributes, as data;
//! - `rule.rs`: the rules with their attributes, as data;
//! - `rule_set_name.rs`: the names of the rule sets, as people write them, and what is known of each by its
//!   name: one table;
//! - `shape.rs`: shapes: the size of each axis, and dense strides.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod attributes;
mod axis_map;
mod axis_names;
mod broadcast_picture;
mod convert;
mod diagnostic;
mod error;
mod error_code;
mod explicit;
mod lint;
mod message;
mod named_repair;
mod picture;
mod placement;
mod printable;
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
mod target_rule;
mod violation;

#[doc = include_str!("rules.md")]
pub mod rules {}

pub use attributes::{AttributeError, Attributes};
pub use axis_map::AxisMap;
pub use axis_names::AxisNames;
pub use broadcast_picture::draw_broadcast;
pub use convert::{Expressed, Inexpressible, express};
pub use diagnostic::{Diagnostic, Mark, MarkedLine, Piece, WritePiece};
pub use error::ShapeError;
pub use error_code::{ErrorCode, ErrorEntry, ErrorExample, ErrorSection, UnknownErrorCode};
pub use explicit::{Broadcast, check_broadcast_in_dim, unify};
pub use lint::{OuterProduct, surprising_outer_product};
pub use message::OperandLabel;
pub use picture::{aligned_axes, diagnose, draw_error};
pub use printable::is_printable;
pub use rank_limit::{MAXIMUM_RANK, RankLimit};
pub use reduction_convert::{
    ExpressedReduction, NoAxes, ReductionRuleName, UnknownReductionRule, express_reduction,
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
pub use violation::{AxisOf, Party, Violation};
