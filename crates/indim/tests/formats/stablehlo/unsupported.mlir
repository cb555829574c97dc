func.func @main(%x: tensor<2x2xf32>, %n: tensor<2x2xi4>) -> tensor<2x2xf32> {
  %0 = stablehlo.ragged_dot %x, %x, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1:2 = stablehlo.while(%i = %x, %j = %0) : tensor<2x2xf32>, tensor<2x2xf32>
   cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %k = stablehlo.cholesky %i : tensor<2x2xf32>
    stablehlo.return %i, %j : tensor<2x2xf32>, tensor<2x2xf32>
  }
  %2 = "stablehlo.sort"(%1#0) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = call @more(%2) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.custom_call @mine(%3) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.frobnicate %4 : tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}
func.func private @more(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.einsum %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.ragged_dot %x, %0, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
func.func private @unused(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.cholesky %x : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
