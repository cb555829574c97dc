//! Programs over arrays larger than memory, computed piece by piece from sources to sinks.
//!
//! [`run`] cuts a graph into passes and pieces that fit into a memory limit. Reading, computing and writing
//! overlap. Results appear complete or not at all, and have the same bits as one run over the whole arrays.
//! [`Plan`] tells the number of passes and the memory before the run.
//!
//! ```
//! use indim::files::{ArrayFile, NpySink, NpySource, write_npy};
//! use indim::stream::{StreamInput, Sink, StreamOptions, run};
//! use indim::{ArrayType, DType, GraphBuilder};
//! use indim::text::{Expression, ParseLimits};
//!
//! let folder = tempfile::tempdir()?;
//! let (x, y) = (folder.path().join("x.npy"), folder.path().join("y.npy"));
//! let array_type = ArrayType::new(DType::F32, [4096, 25]); // may be as large as the disk
//! write_npy(&x, &array_type, &[0; 4 * 4096 * 25])?;
//!
//! let b = GraphBuilder::new();
//! let values = [("x", b.parameter("x", array_type.dtype, array_type.shape.clone())?)];
//! let expression = Expression::parse("cos(x - mean(x, axis=0))", &ParseLimits::default())?;
//! let graph = b.finish(&[expression.build(&b, &values, None)?])?;
//!
//! let source = NpySource::open(&x)?;
//! let sink: Box<dyn Sink> = Box::new(NpySink::create(&y, &array_type)?);
//! let options = StreamOptions::new().memory_limit(1 << 20);
//! let plan = run(&graph, &[StreamInput::Stored(&source)], vec![sink], &options)?;
//! assert_eq!(plan.passes(), 2);
//! assert_eq!(ArrayFile::open(&y)?.bytes()[..4], 1.0f32.to_ne_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use indim_stores::{ArrayRegion, CompleteResult, Sink, Source, StoreError, StoreErrorKind};
pub use indim_stores::{MemoryResult, MemorySink, MemorySource};
pub use indim_stream::{Obstacle, Plan, StorageInfo, StreamError, StreamInput, StreamOptions, run};
