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
