//! Model files of every format: read, written, and compared with the results of other systems.

mod extreme_numbers;
mod hlo;
mod hlo_proto;
mod lint;
mod lint_openvino;
mod loops;
mod onnx_control;
mod onnx_control_random;
mod onnx_models;
mod onnx_operators;
mod onnx_recurrent;
mod onnx_windows;
mod onnx_write;
mod openvino;
mod openvino_control;
mod openvino_hostile;
mod openvino_indices;
mod openvino_windows;
mod openvino_write;
mod operators_page;
mod origins;
mod parts;
mod products;
#[path = "../../../indim-builder/tests/random/mod.rs"]
mod random;
mod samples_hlo;
mod samples_onnx;
mod samples_openvino;
mod samples_stablehlo;
mod scans;
mod sorts;
mod stablehlo;
mod support;
mod xla_gathers;
mod xla_windows;
mod xla_write;
