//! Element-wise computation on n-dimensional arrays in which every broadcast is explicit, checked
//! and free.
//!
//! ```
//! use indim::{Array, evaluate};
//!
//! let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let v = Array::new([2], vec![10.0f32, 20.0])?;
//! let sum = evaluate("add(x, v, dims=[0])", [("x", &x), ("v", &v)])?;
//! assert_eq!(sum.into_vec::<f32>()?, [11.0, 12.0, 13.0, 24.0, 25.0, 26.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A graph is built once and run often. Values have operators, element-wise methods, and functions along
//! axes:
//!
//! ```
//! use indim::prelude::*;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F64, [2, 3])?;
//! let mean = x.mean(ReduceOptions::axes(1).keepdims(true));
//! let centred = b.numpy().sub(&x, &mean)?; // NumPy's rule; operators take equal shapes and scalars
//! let executable = compile(&b.finish(&[centred, x.max(())])?, &CompileOptions::default())?;
//!
//! let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let results = executable.run(&[ArrayView::from_slice([2, 3], &x)?])?;
//! assert_eq!(results[0].to_string(), "[[-1.  0.  1.]\n [-1.  0.  1.]]");
//! assert_eq!(results[1].scalar::<f64>()?, 6.0);
//!
//! // Into memory of your own, with any strides: here in column-major order.
//! let (mut centred, mut largest) = ([0.0; 6], [0.0]);
//! executable.run_into(
//!     &[ArrayView::from_slice([2, 3], &x)?],
//!     &mut [
//!         ArrayViewMut::from_strided([2, 3], &[1, 2], &mut centred, 0)?,
//!         ArrayViewMut::from_slice([], &mut largest)?,
//!     ],
//! )?;
//! assert_eq!(centred, [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Loops and branches are values too. Gradients and batches of a graph are graphs:
//!
//! ```
//! use indim::prelude::*;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F64, [])?;
//! // Newton's method. The body takes a builder, the step and the states, and returns the next states.
//! let root = b.fori_loop(0..6, &[x.clone()], |_, _, states| {
//!     let root = &states[0];
//!     Ok(vec![(root + &x / root) / 2])
//! })?;
//! let gradient = b.finish(&root)?.gradient(&["x"])?;
//! let of_batch = compile(&gradient.vmap(2, &[Some(0)], &[Some(0)])?, &CompileOptions::default())?;
//! let results = of_batch.run(&[ArrayView::from_slice([2], &[1.0, 4.0])?])?;
//! assert!(results[0].elements::<f64>()?.iter().zip([0.5, 0.25]).all(|(d, e)| (d - e).abs() < 1e-6));
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
//! The [`guide`] walks from here to rule sets, layouts, errors and limits. The root of the crate and the
//! [`prelude`] have the names that most programs use; all other names are in modules:
//!
//! | for | module |
//! |---|---|
//! | arrays, element types, views; `ndarray`, `half`, `num-complex`, `safetensors` | [`array`](mod@array) |
//! | graphs: builder, values, nodes, gradients | [`graph`] |
//! | compilation and runs, their options | [`run`] |
//! | rule sets, the explicit form; every rule with its label | [`broadcast`]; [`rules`] |
//! | shape errors, repairs, diagnostics, error codes | [`errors`] |
//! | expressions, graphs and arrays as text | [`text`]; [`literal`]; [`print`](mod@print) |
//! | files: `.npy`; `.npz`, `.safetensors`, Zarr, PNG, TIFF, CSV by features of these names | [`files`] |
//! | arrays larger than memory: programs over files, piece by piece | [`stream`] |
//! | models in files: `LoadedModel::open("m.onnx")?`; features `onnx`, `openvino`, `xla` | `formats` |
//! | explanations: pictures, loops, costs, also as SVG and JSON | [`explain`] |
//! | checks: one element at a time | [`reference`](mod@reference) |
//! | one call, checked when it is compiled | `eval!`, with the feature `macros` |
//!
//! - `array.rs`, `graph.rs`, `run.rs`, `broadcast.rs`, `errors.rs`, `text.rs`: the public names of the other
//!   crates, by subject; `prelude.rs`: those of most programs;
//! - `expression_cache.rs`: the cache of compiled expressions: programs for fixed shapes, and, from the
//!   second shape on, programs for all sizes;
//! - `error_page.rs`: the page of an error code, as the command and the Python package print it;
//! - `evaluate.rs`: an expression evaluated in one call;
//! - `formats/`: programs in the files of other systems: StableHLO, HLO, OpenVINO IR and ONNX;
//! - `input.rs`: the inputs of an expression: arrays and numbers of any owner;
//! - `internal_error.rs`: broken invariants as diagnostics: a front end catches panics here and never shows
//!   a bare one.
#![cfg_attr(not(test), warn(clippy::unwrap_used))]
#![warn(clippy::missing_errors_doc)]
#![forbid(unsafe_code)]

pub mod array;
pub mod broadcast;
mod error_page;
pub mod errors;
mod evaluate;
pub mod explain;
mod expression_cache;
#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "formats")]
pub mod formats;
pub mod graph;
pub mod guide;
mod input;
pub mod internal_error;
pub mod literal;
pub mod prelude;
pub mod reference;
pub mod run;
#[cfg(feature = "files")]
pub mod stream;
pub mod text;

pub use array::{Array, ArrayError, ArrayType, ArrayView, ArrayViewMut, DType, Element, Shape};
pub use broadcast::RuleSet;
pub use evaluate::{EvaluateError, evaluate, evaluate_all};
pub use graph::{Differentiate, Graph, GraphBuilder, GraphError, ReduceOptions, Value, Vectorize};
pub use indim_cpu::print;
#[cfg(feature = "macros")]
pub use indim_macros::eval;
pub use indim_shape::rules;
#[doc(hidden)]
pub use input::plain_name;
pub use input::{AsInput, Input};
pub use run::{CompileError, CompileOptions, Executable, RunError, RunOptions, compile};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
