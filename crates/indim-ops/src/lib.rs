//! Operations: the element types, the table of operations, and the definition of each operation.
//!
//! Read in this order: `dtype.rs` (the element types), `op.rs` (the table of operations) and `meaning/`
//! (the definitions, in the algebra of `indim-lanes`). `element.rs`, `half.rs`,
//! `complex.rs` and `storage.rs` hold the Rust types of elements, `element_lanes.rs` maps them to lanes.
//!
//! - `accuracy.rs`: measured accuracy of the functions;
//! - `apply.rs`: dynamic dispatch of operations and conversions on lanes of any back end;
//! - `fourier/`: the functions of Fourier transforms, and the constants that compose them;
//! - `level.rs`: the instruction sets of this processor, for kernels and machine code;
//! - `operator.rs`: operators of expressions, as in Python: the symbol, the precedence and the operation of
//!   each;
//! - `promotion.rs`: NumPy's promotion of element types;
//! - `reduction.rs`: the table of reductions, and code generated from it.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod accuracy;
mod apply;
mod complex;
mod dtype;
mod element;
mod element_lanes;
pub mod fourier;
mod half;
#[cfg(feature = "std")]
mod level;
pub mod meaning;
mod op;
mod operator;
mod promotion;
mod reduction;
mod storage;

pub use accuracy::{Accuracy, accuracies};
pub use complex::{Complex, c64, c128};
pub use dtype::{ArrayType, DType, DTypeClass, UnknownDType};
pub use element::{ArrayData, Element, elements};
pub use element_lanes::{AnyLane, ElementLanes, FromWide, NarrowElement};
pub use half::{Bf16, F16, bf16, f16};
pub use indim_lanes::{ScalarBackend, lane};
#[cfg(feature = "std")]
pub use level::{InstructionSet, Level, UnknownLevel};
pub use meaning::contraction::{
    ContractionElement, contract, contraction_dtype, contraction_widens,
};
pub use meaning::convert::{ConvertTo, ConvertVisitor, conversion_through, visit_convert};
pub use meaning::scan::{ScanCarry, ScanElement, ScanVisitor, scan, scan_accumulator, visit_scan};
pub use meaning::scatter::{LastUpdate, ScatterFold, ScatterOp, ScatterVisitor};
pub use meaning::sort::{SearchSide, SortOrder, search_sorted, sort_positions};
pub use op::{
    Arity, Binary, Fact, Op, OpType, OpVisitor, Ternary, Unary, UnknownOp, is_called, operations,
};
pub use operator::{BinaryOperator, UNARY_PRECEDENCE, shift_right};
pub use promotion::{float_for, promote, promote_all};
pub use reduction::{Fold, FoldVisitor, ReduceOp, fold};
pub use storage::{
    E4m3b11fnuz, E4m3fn, E4m3fnuz, E5m2, E5m2fnuz, F8E4m3b11fnuz, F8E4m3fn, F8E4m3fnuz, F8E5m2,
    F8E5m2fnuz, Float8, I4, Signed4, SpecialValues, StorageElement, U4, Unsigned4, f8e4m3b11fnuz,
    f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, i4, u4,
};
