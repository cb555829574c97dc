func.func @main(%x: tensor<2x3xi32>) -> (tensor<1x2xi32>, tensor<1x2xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<3x2xi32>, tensor<2x2x3xi32>, tensor<2x4xi32>) {
  %z = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<1x2xi32>
  %1 = "stablehlo.slice"(%x) {start_indices = dense<[1, 0]> : tensor<2xi64>, limit_indices = dense<[2, 3]> : tensor<2xi64>, strides = dense<[1, 2]> : tensor<2xi64>} : (tensor<2x3xi32>) -> tensor<1x2xi32>
  %2 = stablehlo.pad %x, %z, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %3 = "stablehlo.pad"(%x, %z) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 1, 0>}> : (tensor<2x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %5 = stablehlo.broadcast %x, sizes = [2] : (tensor<2x3xi32>) -> tensor<2x2x3xi32>
  %s = stablehlo.slice %x [0:2, 2:3] : (tensor<2x3xi32>) -> tensor<2x1xi32>
  %6 = stablehlo.concatenate %x, %s, dim = 1 : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x2xi32>, tensor<1x2xi32>, tensor<4x3xi32>, tensor<4x3xi32>, tensor<3x2xi32>, tensor<2x2x3xi32>, tensor<2x4xi32>
}
