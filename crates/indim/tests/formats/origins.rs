//! The source operation and the broadcast rule of each value.

use crate::support;
use crate::support::ir::Network;
use crate::support::onnx::{self, FLOAT, INT64, int};
use indim::formats::{InputBinding, Model, SourceFile};
use indim_ops::{ArrayType, DType};

/// The rules in the order of the program, with their locations.
fn rules(model: &dyn Model, source: &SourceFile, shapes: &[&[usize]]) -> Vec<(String, String)> {
    let bound = |shape: &&[usize]| InputBinding::Type(ArrayType::new(DType::F32, shape.to_vec()));
    let program = model.build(&shapes.iter().map(bound).collect::<Vec<_>>()).expect("a program");
    let with_rule = program.origins.iter().filter_map(|origin| {
        Some((origin.rule.as_ref()?.to_string(), model.location(origin.number).shown(source)))
    });
    with_rule.collect()
}

fn rules_of_text(name: &str, text: &str) -> Vec<(String, String)> {
    let model = support::read(name, text).expect("a program");
    let types = model.inputs().iter().map(|input| input.array_type().expect("a type"));
    let shapes: Vec<Vec<usize>> = types.map(|t| t.shape.sizes().to_vec()).collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    rules(&*model, &SourceFile::new(name, text.to_owned()), &shapes)
}

#[test]
fn stablehlo_says_dimensions_and_chlo_is_numpys() {
    let text = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
  %2 = chlo.broadcast_multiply %1, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}";
    let expected = [
        ("stablehlo broadcast_in_dim dims=[1]", "a.mlir:2:8"),
        ("stablehlo", "a.mlir:3:8"),
        ("numpy", "a.mlir:4:8"),
    ];
    let found = rules_of_text("a.mlir", text);
    let found: Vec<(&str, &str)> = found.iter().map(|(r, p)| (r.as_str(), p.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn hlo_says_dimensions() {
    let text = "ENTRY e {
  x = f32[3] parameter(0)
  ROOT b = f32[2,3] broadcast(x), dimensions={1}
}";
    let expected = [("hlo broadcast dims=[1]".to_owned(), "a.hlo:3:21".to_owned())];
    assert_eq!(rules_of_text("a.hlo", text), expected);
}

#[test]
fn onnx_says_an_axis_before_opset_7() {
    let source = SourceFile::new("a.onnx", "");
    for (opset, attributes, expected) in [
        (6, vec![int("broadcast", 1), int("axis", 0)], "onnx-legacy broadcast=1 axis=0"),
        (13, vec![], "numpy"),
    ] {
        let model = onnx::Model::of_node(opset, "Add", &[FLOAT, FLOAT], &attributes, 1).encoded();
        let model = support::read("a.onnx", &model).expect("a model");
        let shapes: [&[usize]; 2] = if opset == 6 { [&[2, 3], &[2]] } else { [&[2, 3], &[3]] };
        let place = format!("a.onnx: node 0 (Add, opset {opset})");
        assert_eq!(rules(&*model, &source, &shapes), [(expected.to_owned(), place)]);
    }
    let model = onnx::Model::of_node(13, "Expand", &[FLOAT, INT64], &[], 1).encoded();
    let model = support::read("a.onnx", &model).expect("a model");
    let shape = indim_graph::Array::new([2], vec![2i64, 3]).expect("two");
    let given =
        [InputBinding::Type(ArrayType::new(DType::F32, [3])), InputBinding::Elements(shape)];
    let program = model.build(&given).expect("a program");
    let found = program.origins.iter().find_map(|origin| origin.rule.clone());
    assert_eq!(found.map(|rule| rule.to_string()).as_deref(), Some("bidirectional"));
}

#[test]
fn openvino_says_which_rule() {
    for (attributes, shape, expected) in [
        ("auto_broadcast=\"numpy\"", "3", Some("numpy")),
        ("auto_broadcast=\"none\"", "2,3", Some("none")),
        (
            "auto_broadcast=\"pdpd\" auto_broadcast.auto_broadcast_axis=\"0\"",
            "2",
            Some("pdpd axis=0"),
        ),
    ] {
        let mut network = Network::default();
        let x = network.parameter("f32", "2,3", "FP32 2 3").to_string();
        let y = network.parameter("f32", shape, &format!("FP32 {}", shape.replace(',', " ")));
        let sum = network.add("Add-1", attributes, &[&x, &y.to_string()], &["FP32 2 3"]);
        network.result(&sum.to_string());
        let model = network.read().expect("a model");
        let sizes: Vec<usize> =
            shape.split(',').map(|size| size.parse().expect("a size")).collect();
        let found = rules(&*model, &SourceFile::new("model.xml", ""), &[&[2, 3], &sizes]);
        assert_eq!(found.first().map(|(rule, _)| rule.as_str()), expected);
        assert!(found[0].1.ends_with("layer 2 `l2` (Add, opset1)"), "{}", found[0].1);
    }
}
