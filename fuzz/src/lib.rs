//! The fuzz targets: functions that take any bytes, and panic if a property of indim does not hold.
//!
//! The binaries in `fuzz_targets/` run them under libFuzzer (`cargo xtask fuzz`). `tests/bounded.rs`
//! runs them on the committed corpus, on mutations of it, and on pseudo-random bytes (`cargo xtask
//! test`).
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a panic is how a target reports")]

#[allow(unsafe_code)]
mod allocations;
pub mod calls;
mod choices;
mod engine;
pub mod expression;
pub mod formats;
pub mod graph;
pub mod graph_text;
pub mod literal;
pub mod npy;
pub mod npz;
pub mod oracle;
pub mod rules;
pub mod skip_weights;
pub mod stores;

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: [(&str, Target); 18] = [
    ("calls", calls::run),
    ("expression", expression::run),
    ("graph", graph::run),
    ("graph_text", graph_text::run),
    ("hlo", formats::hlo),
    ("literal", literal::run),
    ("npy", npy::run),
    ("npz", npz::run),
    ("onnx", formats::onnx),
    ("openvino", formats::openvino),
    ("oracle", oracle::run),
    ("png", stores::png),
    ("rules", rules::run),
    ("safetensors", stores::safetensors),
    ("skip_weights", skip_weights::run),
    ("stablehlo", formats::stablehlo),
    ("tiff", stores::tiff),
    ("zarr", stores::zarr),
];
