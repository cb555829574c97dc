//! Explanations of model files state the rule of each broadcast.
#![cfg(feature = "xla")]

use indim::formats::{InputBinding, LoadedModel, ReadOptions, SourceFile};

#[test]
fn the_rule_of_a_broadcast_is_that_of_the_operation_that_asks_for_it() {
    let text = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x3xf32>
  %2 = chlo.broadcast_multiply %1, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}";
    let source = SourceFile::new("a.mlir", text);
    let model = LoadedModel::from_source(source, &ReadOptions::default()).expect("a program");
    let types = model.inputs().iter().map(|input| input.array_type().expect("a type"));
    let types: Vec<InputBinding> = types.map(InputBinding::Type).collect();
    let explanation = model.explain(&types).expect("it compiles");
    let broadcasts = explanation.broadcasts();
    let rules: Vec<&[String]> = broadcasts.iter().map(|broadcast| broadcast.rules()).collect();
    let before = "stablehlo broadcast_in_dim dims=[1] of y, a.mlir:2:8".to_owned();
    // The product and the sum share one broadcast, which lists the rules of both.
    assert_eq!(rules, [&[before.clone()][..], &["numpy".to_owned(), before]]);
    let text = explanation.to_string();
    assert!(text.contains("\n  --> a.mlir:4:8\n  by numpy\n  by stablehlo"), "{text}");
}
