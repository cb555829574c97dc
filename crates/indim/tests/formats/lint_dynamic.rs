//! Dynamic operations of StableHLO: shapes that a program computes give the open sizes.

use crate::lint::{found, lint};

/// The text of `jax.export` for `x + b` with an open batch, whose size is an argument of a function.
fn exported(second_call: &str) -> String {
    format!(
        "\
func.func public @main(%arg0: tensor<?x8xf32>, %arg1: tensor<8xf32>) -> tensor<?x8xf32> {{
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %1 = call @wrapped(%0, %arg0, %arg1) : (tensor<i32>, tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
{second_call}  return %1 : tensor<?x8xf32>
}}
func.func private @wrapped(%n: tensor<i32>, %x: tensor<?x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {{
  %c = stablehlo.constant dense<8> : tensor<1xi32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = stablehlo.dynamic_broadcast_in_dim %0, %2, dims = [0, 1] \
: (tensor<1x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %4 = stablehlo.add %x, %3 : tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}}
"
    )
}

#[test]
fn a_dynamic_broadcast_has_the_sizes_of_its_shape() {
    let report = lint("exported.mlir", exported(""));
    assert_eq!((found(&report), report.counts().legal), (vec![], 2), "{report}");
    let again = "  %2 = call @wrapped(%0, %arg0, %arg1) \
        : (tensor<i32>, tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>\n";
    // A second call may have other sizes.
    let report = lint("twice.mlir", exported(again));
    assert_eq!(found(&report), [("sizes-may-differ", "legal-if", "4".to_owned())], "{report}");
}

/// `x[start:n:stride, :4]` and the sum of the rows of `x`, on `n` rows.
fn sliced(start: i64, stride: i64, axis: &str) -> String {
    format!(
        "\
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {{
  %c = stablehlo.constant dense<4> : tensor<1xi32>
  %starts = stablehlo.constant dense<[{start}, 0]> : tensor<2xi32>
  %strides = stablehlo.constant dense<[{stride}, 1]> : tensor<2xi32>
  %n = {axis} : (tensor<?x8xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %limits = stablehlo.concatenate %n1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %left = stablehlo.real_dynamic_slice %x, %starts, %limits, %strides \
: (tensor<?x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] \
: (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
  %rows = stablehlo.dynamic_broadcast_in_dim %sum, %limits, dims = [0] \
: (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %y = stablehlo.add %left, %rows : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}}
"
    )
}

#[test]
fn a_dynamic_slice_has_the_sizes_of_its_bounds() {
    let pretty = "stablehlo.get_dimension_size %x, dim = 0";
    let generic = "\"stablehlo.get_dimension_size\"(%x) {dimension = 0 : i64}";
    for axis in [pretty, generic] {
        let report = lint("slice.mlir", sliced(0, 1, axis));
        assert_eq!((found(&report), report.counts().legal), (vec![], 1), "{report}");
    }
    // One row less never fits, and half of the rows only one row.
    let report = lint("shorter.mlir", sliced(1, 1, pretty));
    assert_eq!(report.counts().illegal, 1, "{report}");
    let report = lint("half.mlir", sliced(0, 2, pretty));
    assert_eq!(report.counts().legal_if, 1, "{report}");
}
