//! Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
//! and free.
//!
//! ```
//! use indim::{Array, evaluate};
//!
//! let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let v = Array::new([2], vec![10.0f32, 20.0])?;
//! let sum = evaluate("add(x, v, dims=[0])", [("x", &x), ("v", &v)])?;
//! assert_eq!(sum.into_vec::<f32>().unwrap(), [11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! In a debug build of your crate Cargo compiles indim without optimisation too. Two lines of your
//! `Cargo.toml` prevent that:
//!
//! ```toml
//! [profile.dev.package."*"]
//! opt-level = 3
//! ```
//!
//! The [`guide`] walks from here to rule sets, layouts, errors and limits. What there is:
//!
//! | for | take |
//! |---|---|
//! | one call | [`evaluate`] with an expression and [`inputs!`]; [`evaluate_all`]; [`EvaluateError`] |
//! | one call, checked when it is compiled | `eval!`, with the feature `macros` |
//! | arrays | [`Array`], [`ArrayView`], [`ArrayViewMut`], [`Buffer`]; [`ArrayType`], [`DType`], [`Shape`] |
//! | element types | [`Element`]: Rust's numbers, [half](crate::f16) floats, [`bf16`], [`c64`], [`c128`] |
//! | other crates' arrays | features `ndarray`, `half`, `num-complex`, `safetensors`; [`as_elements`] |
//! | graphs | [`GraphBuilder`], [`Value`], [`Op`], [`ReduceOp`], [`Composition`]; [`Graph`]; [`GraphError`] |
//! | gradients | [`Differentiate`]: the graph that computes them, of a [`Graph`] |
//! | running | [`compile`], [`Executable`], [`RunOptions`], [`InPlace`], [`Forecast`]; [`RunError`] |
//! | rules | [`RuleSet`], [`TargetRule`], [`Broadcast`], [`convert_broadcast`]; [`rules`]: all, with labels |
//! | what is wrong with shapes | [`ShapeError`], its [`Violation`], [`find_repairs`] |
//! | how a mistake is drawn | [`Diagnostic`], [`draw_error`] |
//! | text | [`Expression`] and its [`ParseLimits`], [`parse_graph`]; [`literal`] for arrays |
//! | files | [`files`]: `.npy`; `.npz`, `.safetensors`, Zarr, PNG, TIFF, CSV by features of these names |
//! | arrays as text | [`print`](mod@print): text, CSV, JSON; [`literal`]: read |
//! | arrays larger than memory | [`stream`]: programs over files, piece by piece |
//! | other systems' files | `formats`: StableHLO, HLO, OpenVINO IR, ONNX, with features of these names |
//! | explanations | [`explain`]: pictures, loops, costs, also as SVG and JSON |
//! | to check against | [`reference`](mod@reference): one element at a time |
//!
//! - `expression_cache.rs`: expressions that are kept compiled: for the shapes of a first call, and, once
//!   there have been others, for all sizes;
//! - `error_page.rs`: the page of an error code, as the command and the Python package print it;
//! - `formats/`: programs in the files of other systems: StableHLO, HLO, OpenVINO IR and ONNX;
//! - `input.rs`: the inputs of an expression: arrays and numbers of any owner;
//! - `internal_error.rs`: broken invariants as diagnostics: a front end catches panics here and never shows
//!   a bare one.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

mod error_page;
mod evaluate;
pub mod explain;
mod expression_cache;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "formats")]
pub mod formats;
pub mod guide;
mod input;
pub mod internal_error;
pub mod literal;
pub mod reference;
#[cfg(feature = "files")]
pub mod stream;

// One call.
pub use error_page::error_page;
pub use evaluate::{EvaluateError, EvaluateErrorKind, evaluate, evaluate_all};
#[cfg(feature = "macros")]
pub use indim_macros::eval;
#[doc(hidden)]
pub use input::plain_name;
pub use input::{AsInput, Input};

// Arrays and their element types, and those of other crates.
pub use indim_cpu::{
    ArrayError, ArrayView, ArrayViewMut, Buffer, IntoElementsError, MappedFile, Order, print,
    row_major_strides, set_memory_pool_limit,
};
pub use indim_cpu::{ElementLayout, as_elements, as_elements_mut, from_elements};
pub use indim_graph::{Array, WrongElementCount};
pub use indim_ops::{
    ArrayData, ArrayType, Complex, DType, DTypeClass, Element, UnknownDType, bf16, c64, c128, f16,
};
pub use indim_shape::{MAX_RANK, RankLimitError, Shape};

// Graphs: made by the builder, read node by node.
pub use indim_builder::{
    Composition, Differentiate, GraphBuilder, Index, Initial, IntegerPromotion, Operand, PadMode,
    Parameter, ReduceOptions, Reduction, RuleScope, Value,
};
pub use indim_graph::{AxisSlice, Graph, GraphError, GraphErrorKind, Literal, TakeMode};
pub use indim_graph::{Node, NodeKind, Operands, ValueId, VerifyError, VerifyErrorKind};
pub use indim_ops::{Arity, Op, ReduceOp, UnknownOp};

// Compiling and running.
pub use indim_cpu::{
    CompileError, CompileOptions, ExecutorChoice, Level, UnknownExecutor, UnknownLevel, compile,
    compile_with,
};
// Programs for arrays of any sizes.
pub use indim_cpu::{
    Executable, Forecast, InPlace, MemoryPiece, Progress, RunError, RunOptions, Threads,
};
pub use indim_cpu::{SymbolicExecutable, compile_symbolic, compile_symbolic_with};
// Texts become graphs in it.
#[doc(hidden)]
pub use indim_cpu::in_default_float_environment;
pub use indim_graph::{GuardError, Guards, Size, SizeFacts, SymbolicGraph};

// Rules, and what is wrong with shapes. The page `rules` has them all, with their labels.
pub use indim_shape::rules;
pub use indim_shape::{
    AnyRule, Attribute, AttributeError, Attributes, AxisMap, AxisNames, Broadcast, OuterProduct,
    RuleChoice, RuleConversion, RuleConversionError, RuleSet, RuleSetName, TargetRule,
    UnknownRuleSet, convert_broadcast, surprising_outer_product,
};
pub use indim_shape::{
    AxisOwner, Diagnostic, DiagnosticPart, ErrorCode, ErrorEntry, ErrorExample, ErrorSection, Mark,
    MarkedLine, OperandLabel, Repair, RepairReason, ShapeError, SizedAxis, Violation,
    WriteDiagnosticPart, diagnose, draw_broadcast, draw_error, find_repairs,
};

// Text: expressions, and the text form of graphs.
pub use indim_text::{
    Binding, ExprError, ExprErrorKind, Expression, LimitError, Number, NumberProgram, Numbers,
    ParseLimits, StatementError, promote,
};
pub use indim_text::{ParseError, ParseErrorKind, parse_graph, parse_graph_up_to_rank};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
