//! Expressions, and the text form of graphs.
//!
//! ```
//! use indim::text::{Expression, ParseLimits, parse_graph};
//! use indim::{DType, GraphBuilder};
//!
//! let expression = Expression::parse("x - mean(x)", &ParseLimits::default()).unwrap();
//! assert_eq!(expression.names(), ["x"]);
//!
//! let b = GraphBuilder::new();
//! let x = b.parameter("x", DType::F32, [3])?;
//! let graph = b.finish(&[x.exp()])?;
//! assert_eq!(parse_graph(&graph.to_string()).unwrap(), graph);
//! # Ok::<(), indim::GraphError>(())
//! ```

pub use indim_text::{
    Binding, ExprError, ExprErrorKind, Expression, LimitError, Number, NumberProgram, Numbers,
    ParseError, ParseErrorKind, ParseLimits, StatementError, parse_graph, parse_graph_up_to_rank,
    promote,
};
