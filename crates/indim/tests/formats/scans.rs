//! Scans: read from the files of other systems; written, and read back with the same results.

use crate::support;
use crate::support::ir::{self, Network};
use crate::support::onnx::{FLOAT, INT64, Message, Model, int, node, tensor, value};
use indim::formats::{
    FormatError, FormatErrorKind, ModelFormat, WriteOptions, WrittenModel, write,
};
use indim_builder::GraphBuilder;
use indim_graph::{Array, Graph, evaluate};
use indim_ops::{DType, ReduceOp, scan_accumulator};

fn written(format: ModelFormat, graph: &Graph) -> Result<WrittenModel, FormatError> {
    write(format, graph, &["output0".to_owned()], &WriteOptions::default())
}

/// The result of a written model.
fn read_back(format: ModelFormat, written: &WrittenModel, argument: &Array) -> Array {
    let content = &written.content;
    let model = match &written.external_file {
        Some((_, constants)) if format == ModelFormat::OpenVino => {
            ir::read(std::str::from_utf8(content).unwrap(), constants)
        }
        _ => support::read("written", content),
    };
    let run = model.and_then(|model| support::run(&*model, std::slice::from_ref(argument)));
    run.unwrap_or_else(|error| panic!("{format}: {error}\n{}", String::from_utf8_lossy(content)))
        .remove(0)
}

fn numbers(dtype: DType, sizes: &[usize]) -> Array {
    let count = sizes.iter().product::<usize>();
    let numbers: Vec<f64> =
        (0..count).map(|index| ((index * 7) % 11) as f64 * 0.75 - 3.0).collect();
    let b = GraphBuilder::new();
    let numbers = b.constant(Array::new(sizes, numbers).unwrap());
    let graph = b.finish(&[b.convert(numbers, dtype).unwrap()]).unwrap();
    evaluate(&graph, &[]).unwrap().remove(0)
}

#[test]
fn scans_come_back_with_their_bits() {
    let formats =
        [ModelFormat::StableHlo, ModelFormat::Hlo, ModelFormat::OpenVino, ModelFormat::Onnx];
    let mut count = 0;
    for op in [ReduceOp::Add, ReduceOp::Mul, ReduceOp::Max, ReduceOp::And, ReduceOp::Or] {
        for dtype in
            [DType::F32, DType::F16, DType::F64, DType::I32, DType::I8, DType::U8, DType::Bool]
        {
            if scan_accumulator(op, dtype).is_none() {
                continue;
            }
            for (sizes, axis) in
                [(vec![5], 0), (vec![3, 4], 1), (vec![3, 1, 4], 1), (vec![4, 3], 0)]
            {
                for (reverse, exclusive) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    let b = GraphBuilder::new();
                    let x = b.parameter("x", dtype, &sizes[..]).unwrap();
                    let scan = b.scan(op, x, axis, reverse, exclusive).unwrap();
                    let graph = b.finish(&[scan]).unwrap();
                    let x = numbers(dtype, &sizes);
                    let expected = evaluate(&graph, std::slice::from_ref(&x)).unwrap().remove(0);
                    for format in formats {
                        let is_xla = matches!(format, ModelFormat::StableHlo | ModelFormat::Hlo);
                        match written(format, &graph) {
                            Ok(file) => {
                                let found = read_back(format, &file, &x);
                                assert_eq!(found, expected, "{format} {op} {dtype} {sizes:?}");
                                count += 1;
                            }
                            Err(error) => {
                                assert!(!is_xla && op != ReduceOp::Add, "{format} {op}: {error}");
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(count > 500);
}

/// JAX's cumulative sum along an axis, as jax 0.10.2 writes it.
const JAX: &str = r#"
module @jit_cumsum {
  func.func public @main(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>,
        padding = dense<[[0, 0], [LOW, HIGH]]> : tensor<2x2xi64>,
        window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>,
        window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    return %1 : tensor<2x3xf32>
  }
}
"#;

/// The same in HLO.
const HLO: &str = r"
HloModule cumsum

region {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[2,3]{1,0} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[2,3]{1,0} reduce-window(x, zero), window={size=1x3 pad=0_0xLOW_HIGH}, to_apply=region
}
";

#[test]
fn windows_as_long_as_an_axis_are_scans() {
    let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    for text in [JAX, HLO] {
        let read = |low: &str, high: &str| {
            let text = text.replace("LOW", low).replace("HIGH", high);
            let model = support::read("scan", &text)?;
            support::run(&*model, std::slice::from_ref(&x))
        };
        let forwards = read("2", "0").unwrap().remove(0);
        assert_eq!(forwards.elements::<f32>().unwrap(), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
        let backwards = read("0", "2").unwrap().remove(0);
        assert_eq!(backwards.elements::<f32>().unwrap(), [6.0, 5.0, 3.0, 15.0, 11.0, 6.0]);
        // A window that is no scan.
        let centred = read("1", "1").unwrap().remove(0);
        assert_eq!(centred.elements::<f32>().unwrap(), [3.0, 6.0, 5.0, 9.0, 15.0, 11.0]);
    }
}

#[test]
fn onnx_cumsum() {
    let x = Array::new([2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let run = |axis: i64, attributes: &[Message]| {
        let model = Model {
            opset: 14,
            inputs: vec![value("x", FLOAT, None)],
            initializers: vec![tensor("axis", INT64, &[]).packed(7, &[axis])],
            nodes: vec![node("CumSum", &["x", "axis"], &["y"], attributes)],
            outputs: vec![value("y", FLOAT, None)],
            ..Model::default()
        };
        let model = support::read("test.onnx", model.encoded())?;
        support::run(&*model, std::slice::from_ref(&x))
    };
    let forwards = run(1, &[]).unwrap().remove(0);
    assert_eq!(forwards.elements::<f32>().unwrap(), [1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    let rest = run(-1, &[int("exclusive", 1), int("reverse", 1)]).unwrap().remove(0);
    assert_eq!(rest.elements::<f32>().unwrap(), [5.0, 3.0, 0.0, 11.0, 6.0, 0.0]);
    let columns = run(-2, &[int("exclusive", 1)]).unwrap().remove(0);
    assert_eq!(columns.elements::<f32>().unwrap(), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(run(2, &[]).unwrap_err().code(), "axis-out-of-range");
}

#[test]
fn openvino_cumsum() {
    let x = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let mut network = Network::default();
    let given = network.parameter("f32", "2,2", "FP32 2 2").to_string();
    let attributes = "exclusive=\"true\" reverse=\"false\"";
    let sums = network.add("CumSum-3", attributes, &[&given], &["FP32 2 2"]).to_string();
    network.result(&sums);
    let model = network.read().unwrap();
    let found = support::run(&*model, &[x]).unwrap().remove(0);
    assert_eq!(found.elements::<f32>().unwrap(), [0.0, 0.0, 1.0, 2.0]);
}

#[test]
fn extremes_have_no_operator_in_onnx_and_openvino() {
    let b = GraphBuilder::new();
    let x = b.parameter("x", DType::F32, [3]).unwrap();
    let graph = b.finish(&[b.scan(ReduceOp::Max, x, 0, false, false).unwrap()]).unwrap();
    for format in [ModelFormat::Onnx, ModelFormat::OpenVino] {
        let Err(error) = written(format, &graph) else {
            panic!("{format} has no scan of extremes")
        };
        assert!(matches!(error.kind, FormatErrorKind::UnsupportedOperations(_)), "{error}");
    }
}
