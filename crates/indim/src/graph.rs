//! Graphs: built from values, read node by node, differentiated.
//!
//! ```
//! use indim::graph::{GraphBuilder, NodeKind, ReduceOptions};
//! use indim::DType;
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [4, 3])?;
//! let mut h = x.clone();
//! for layer in 0..2 {
//!     let weight = b.parameter(&format!("w{layer}"), DType::F32, [3])?;
//!     h = b.numpy().mul(&h, &weight)?.tanh();
//! }
//! let mean = h.mean(ReduceOptions::axes(1).keepdims(true));
//! let graph = b.finish(&[h.softmax(-1), mean, h.max(())])?;
//! assert!(graph.iter().any(|(_, node)| matches!(node.kind, NodeKind::Reduce { .. })));
//! # Ok::<(), indim::GraphError>(())
//! ```

pub use indim_builder::{
    BranchBody, Composition, FourierOptions, GraphBuilder, Index, Initial, IntegerPromotion,
    Operand, PadMode, ReduceOptions, Reduction, RegionBody, RuleScope, StartedSlices, Value,
};
pub use indim_graph::parameter::Parameter;
pub use indim_graph::{
    AxisSlice, Graph, GraphError, GraphErrorKind, GuardError, Guards, Literal, Node, NodeKind,
    Operands, Region, RegionMismatch, ShapedGraph, Size, SizeFacts, SymbolicGraph, SymbolicShape,
    TakeMode, ValueId, VerifyError, VerifyErrorKind,
};
pub use indim_ops::fourier::function::{FourierNorm, FourierTransform};
pub use indim_ops::{Arity, Op, ReduceOp, UnknownOp};
pub use indim_transforms::{
    Differentiate, ParameterSelection, VariadicReduction, Vectorize, inline_gradients,
    jvp_with_facts, vmap_with_facts,
};
