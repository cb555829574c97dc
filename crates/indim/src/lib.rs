//! Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
//! and free.
//!
//! - One call: [`evaluate`] computes an expression over named arrays.
//! - A graph, compiled once and run often: [`GraphBuilder`], [`Value`], [`compile`], [`Executable`].
//! - The rules themselves: [`RuleSet`], [`TargetRule`], [`Broadcast`], [`express`].
//! - To check against: [`reference`](mod@reference), and `oracle`.
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
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![forbid(unsafe_code)]

mod evaluate;
pub mod explain;
#[cfg(feature = "files")]
pub mod files;
pub mod literal;
#[cfg(feature = "json")]
pub mod oracle;
pub mod print;

/// The reference evaluator: one element at a time, by the definitions that the kernels are made of.
pub mod reference {
    pub use indim_graph::{EvalError, evaluate};
}

pub use evaluate::{EvaluateError, EvaluateErrorKind, Input, evaluate};
pub use indim_cpu::*;
pub use indim_graph::*;
pub use indim_ops::*;
pub use indim_shape::*;
pub use indim_text::*;

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
