//! The names that most programs use, for `use indim::prelude::*`.
//!
//! ```
//! use indim::prelude::*;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F64, [3])?;
//! let gradient = b.finish(&[x.square().sum(())])?.gradient(&["x"])?;
//! let executable = compile(&gradient, &CompileOptions::default())?;
//! let x = Array::new([3], vec![1.0, 2.0, 3.0])?;
//! assert_eq!(executable.run(&[ArrayView::from(&x)])?[0].to_string(), "[2. 4. 6.]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "macros")]
pub use crate::eval;
pub use crate::run::Threads;
pub use crate::{
    Array, ArrayType, ArrayView, ArrayViewMut, CompileOptions, DType, Differentiate, Element,
    Executable, Graph, GraphBuilder, Input, ReduceOptions, RuleSet, RunOptions, Shape, Value,
    Vectorize, compile, evaluate, evaluate_all, inputs,
};
