//! Shape errors, their repairs, and diagnostics: every error of the crate becomes one.
//!
//! ```
//! use indim::errors::{ErrorCode, find_repairs};
//! use indim::{RuleSet, Shape, evaluate};
//!
//! let error = RuleSet::Numpy.elaborate(&[Shape::from([3, 2]), Shape::from([3])]).unwrap_err();
//! assert_eq!((error.code(), error.label()), ("size-mismatch", "N2"));
//! assert!(!find_repairs(&error).is_empty());
//!
//! let error = evaluate("x + y", [("x", &[1.0f32])]).unwrap_err();
//! let diagnostic = error.diagnostic();
//! assert_eq!(error.error_code(), ErrorCode::UNKNOWN_NAME);
//! assert!(diagnostic.headline.contains('y'));
//! ```

pub use indim_shape::{
    AxisOwner, Diagnostic, DiagnosticPart, ErrorCode, ErrorEntry, ErrorExample, ErrorSection, Mark,
    MarkedLine, OperandLabel, Repair, RepairReason, ShapeError, SizedAxis, Violation,
    WriteDiagnosticPart, diagnose, draw_error, find_repairs,
};

pub use crate::error_page::error_page;
pub use crate::evaluate::EvaluateErrorKind;
