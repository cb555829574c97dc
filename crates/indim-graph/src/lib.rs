//! Graphs of array operations: nodes, verification, rewriting passes, and the reference evaluator.
//! `indim-builder` builds graphs.
//!
//! Read in this order: `graph.rs` (values and nodes), `verify.rs` (invariants), `signature.rs` (operand and
//! result types of each kind of node), `passes/` (rewriting), `eval.rs` (the reference evaluator), `sizes/`
//! (symbolic sizes).
//!
//! - `assemble.rs`: graphs from nodes with stated types: for builders and for readers of texts and files;
//! - `describe.rs`: names of values in messages: the expression that computes each;
//! - `element_text.rs`: text of constants' elements, exact to the bit;
//! - `error.rs`: errors of graphs: typed data with a stable code, and the drawn report;
//! - `named_values.rs`: names of axes, propagated from the operands of a node to its result;
//! - `output_parameters.rs`: graphs that compute outputs and also take them as inputs;
//! - `literal.rs`: numbers without an element type, from a text or as an operand;
//! - `parameter.rs`: numeric parameters of functions: names, defaults and types;
//! - `print.rs`: printing graphs;
//! - `reduce.rs`: operand and result types of reductions along one axis, scans, and contractions;
//! - `regions/`: the graphs inside loops and branches: checks and reference evaluation;
//! - `sorting.rs`: sorts and searches in sorted tables: checks and reference evaluation;
//! - `terminal.rs`: foreign text (names, paths, contents of files) escaped and cut for messages and
//!   terminals;
//! - `type_text.rs`: shapes and types in one line: `f32[2, 3]`, `[2, 3]`, `2,3`, `2x3`, `f32[]`;
//! - `views/`: slices, windows, concatenations, gathers and scatters.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod assemble;
mod describe;
pub mod element_text;
mod error;
mod eval;
mod graph;
pub mod literal;
mod named_values;
mod output_parameters;
pub mod parameter;
mod passes;
mod print;
mod reduce;
mod regions;
pub mod signature;
mod sizes;
mod sorting;
pub mod terminal;
pub mod type_text;
mod verify;
mod views;

pub use assemble::GraphAssembler;
pub use error::{GraphError, GraphErrorKind, RegionMismatch};
pub use eval::{EvalError, evaluate};
pub use graph::{Graph, Node, NodeKind, Operands, ValueId};
pub use indim_arrays::Array;
pub use literal::Literal;
pub use named_values::NamedValues;
pub use passes::{
    drop_bitcast_pairs, expand_for_loops, expand_windows, live_values, optimize, remove_unused,
};
pub use regions::check::{check_branch, check_while};
pub use regions::limits::{
    DEFAULT_STEP_LIMIT, MAX_REGION_DEPTH, MAX_REGION_NODES, MAX_REGION_OPERANDS,
};
pub use regions::{Region, chosen_branch, loop_step};
pub use sizes::{
    GuardError, Guards, ShapedGraph, Size, SizeFacts, SizeOrigin, SliceBounds, SlicePadding,
    SymbolicCount, SymbolicGraph, SymbolicShape, ValueAxis, count_of,
};
pub use sorting::SortResult;
pub use verify::{VerifyError, VerifyErrorKind, verify};
pub use views::{AxisSlice, AxisWindow, PaddedWindow, ScatterMode, SymbolicStart, TakeMode};
