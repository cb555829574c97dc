//! The reference evaluator: computes a graph one element at a time. It uses the same definitions of
//! operations as the kernels, so its bits equal those of an [`Executable`](crate::Executable). It serves
//! for checks: its code is short and slow.
//!
//! ```
//! use indim::{Array, ArrayView, CompileOptions, DType, GraphBuilder, compile, reference};
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [2, 3])?;
//! let v = b.parameter("v", DType::F32, [3])?;
//! let graph = b.finish(&[b.add(x, v, &[1])?.tanh()])?;
//!
//! let x = Array::new([2, 3], vec![0.1f32, 0.2, 0.3, 0.4, 0.5, 0.6])?;
//! let v = Array::new([3], vec![1.0f32, 2.0, 3.0])?;
//! let expected = reference::evaluate(&graph, &[x.clone(), v.clone()])?.remove(0);
//!
//! let executable = compile(&graph, &CompileOptions::default())?;
//! let computed = executable.run(&[ArrayView::from(&x), ArrayView::from(&v)])?.remove(0);
//! assert_eq!(computed.elements::<f32>(), expected.elements::<f32>());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use indim_graph::{EvalError, evaluate};
