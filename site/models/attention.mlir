// Scores of attention. The mask is broadcast as StableHLO demands; the bias is not.
func.func @main(%scores: tensor<8x128x128xf32>, %mask: tensor<128xf32>,
                %bias: tensor<128x128xf32>) -> tensor<8x128x128xf32> {
  %0 = stablehlo.broadcast_in_dim %mask, dims = [2] : (tensor<128xf32>) -> tensor<8x128x128xf32>
  %1 = stablehlo.add %scores, %0 : tensor<8x128x128xf32>
  %2 = stablehlo.add %1, %bias : (tensor<8x128x128xf32>, tensor<128x128xf32>) -> tensor<8x128x128xf32>
  return %2 : tensor<8x128x128xf32>
}
