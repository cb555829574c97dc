//! Models in files of other systems: StableHLO, HLO, OpenVINO IR and ONNX.
//!
//! Load a file once; it is compiled for each set of input types and cached.
//!
//! ```
//! use indim::formats::LoadedModel;
//! use indim::{Array, ArrayView};
//!
//! let text = "
//! func.func @main(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
//!   %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
//!   %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
//!   return %1 : tensor<2x3xf32>
//! }";
//! let model = LoadedModel::from_bytes("add.mlir", text)?;
//! let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let v = Array::new([3], vec![10.0f32, 20.0, 30.0])?;
//! let results = model.run(&[Some(ArrayView::from(&x)), Some(ArrayView::from(&v))])?;
//! assert_eq!(results[0].elements::<f32>().unwrap(), [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - `check.rs`: comparison of results with expected results;
//! - `compare.rs`: comparison of a model with the values that another runtime computed;
//! - `data_node.rs`: nodes whose sizes depend on data, which end the stages of a model;
//! - `error.rs`: errors of loading, compiling and running;
//! - `lint.rs`: findings about the broadcasts of a model;
//! - `loaded.rs`: a loaded model, and its programs for sets of input types;
//! - `open_model.rs`: opens model files, without the large constants of ONNX;
//! - `outline_json.rs`: a model with all its nodes as JSON;
//! - `page.rs`: a model as one HTML page, or as a drawing;
//! - `registry.rs`: the formats of this build, each with its reader and writer;
//! - `sarif.rs`: findings as a SARIF log;
//! - `save.rs`: saves a written model with its external file;
//! - `staged.rs`: models with sizes that depend on data, run in stages;
//! - `suppression.rs`: the choice of boxes by `NonMaxSuppression`.

mod check;
mod compare;
mod data_node;
mod error;
mod lint;
mod loaded;
mod open_model;
#[cfg(feature = "json")]
mod outline_json;
mod page;
mod registry;
#[cfg(feature = "json")]
mod sarif;
#[cfg(feature = "files")]
mod save;
mod staged;
mod suppression;

pub use check::{CheckFailure, CheckReport};
pub use compare::{ComparedValue, DumpComparison, OpaqueValue};
pub use error::{LoadError, LoadErrorKind};
pub use indim_model::lint::{Finding, FindingLevel, FindingVerdict};
pub use indim_model::outline::{
    NodeCounts, NodeRole, Outline, OutlineBroadcast, OutlineNode, OutlineOptions, OutlineValue,
    SymbolicSize, TypeSource, ValueType, Verdict, VerdictCounts,
};
pub use indim_model::{
    DeclaredSize, Decomposition, Distance, Expectation, Folder, FormatError, FormatErrorKind,
    FormatLimits, InputBinding, Location, Mismatch, Model, ModelFormat, ModelInput, ModelProgram,
    ProgramPart, ReadOptions, SourceFile, Tolerance, Unsupported, WriteOptions, WrittenModel,
};
#[cfg(feature = "onnx")]
pub use indim_onnx::read_onnx_tensor;
pub use lint::{LintOptions, LintReport};
pub use loaded::{LoadedModel, LoadedProgram};
pub use open_model::open_model;
pub use registry::{operations, read, read_as, write};
#[cfg(feature = "json")]
pub use sarif::SarifLog;
#[cfg(feature = "files")]
pub use save::save;
pub use staged::StagedModel;
